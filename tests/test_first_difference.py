"""How far an answer is right, told from its values; and several wrong values at once."""

import ast
import itertools
import sys

import numpy as np
import pytest
import shared_attempts

from helpers.feedback import borrowing, matching, variants, watching
from helpers.feedback.registry import get
from tools.attempts_report import Trial, defined


def trial_of(exercise, code):
    return Trial(get(exercise), defined(dict(id=f"test {exercise}", exercise=exercise, code=code)))


ATTENTION = """
def scaled_dot_product_attention(Q, K, V, mask=None):
    s = Q @ np.swapaxes(K, -1, -2)
    s = s / math.sqrt(Q.shape[-1])
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    w = softmax(s, axis=-1)
    o = w @ V
    return o, w
"""


def test_the_last_right_value_and_the_first_wrong_one_are_named():
    found = trial_of("2.2", ATTENTION.replace("softmax(s, axis=-1)", "softmax(s, axis=-2)")).difference
    assert (found.right[-1].label, found.right[-1].line) == ("s", 3)
    assert (found.wrong.label, found.wrong.line) == ("w", 6)
    assert found.sentence == (
        "Your `s` in line 3 is right (the course's `scores`). `w` in line 6 is the first that is not:"
        " it should be the course's `weights`. `w[0, 2]` is 0.60 and should be 0.38. With that put right, every case passes."
    )


def test_an_unknown_value_between_the_last_right_one_and_the_wrong_one_is_not_passed_over():
    code = """
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * (keys @ query)
    scores = np.clip(scores, -50, 50)
    weights = np.exp(scores) / np.exp(scores).sum()
    return weights @ values, weights
"""
    found = trial_of("1.2", code).difference
    assert (found.right[-1].line, found.since, found.wrong.line) == (2, 3, 4)
    assert "first that is not" not in found.sentence and "Look at lines 3 to 4." in found.sentence


def test_what_is_right_in_the_wrong_values_own_line_does_not_hide_what_came_before():
    code = next(attempt["code"] for attempt in shared_attempts.ATTEMPTS if attempt["id"] == "6.7-j")
    found = trial_of("6.7", code).difference
    assert (found.right[-1].line, found.since, found.wrong.line) == (2, 3, 8)


def test_a_phrase_of_the_exercise_takes_the_place_of_the_references_name():
    trial = trial_of("2.2", ATTENTION.replace("softmax(s, axis=-1)", "softmax(s, axis=-2)"))
    trial.values.phrases = {"scores": "the scaled scores", "weights": "the weights"}
    assert "`s` in line 3 is right (the scaled scores)" in trial.difference.sentence


def test_a_value_on_its_way_is_said_to_be_so():
    found = trial_of("2.2", ATTENTION.replace("    s = s / math.sqrt(Q.shape[-1])\n", "    s = s * 3.7\n")).difference
    assert found.right[-1].line == 2 and found.right[-1].phrase.endswith("so far")


def test_the_relation_to_the_right_value_is_named_when_it_holds_on_several_cases():
    trial = trial_of("2.2", ATTENTION.replace("Q.shape[-1])\n", "Q.shape[-1])\n    s = s * math.sqrt(Q.shape[-1])\n", 1))
    assert trial.difference.relation == "√d_k times that"


def test_a_right_value_under_anothers_name_is_found():
    code = "\ndef project(X, W_q, W_k, W_v):\n    Q = X @ W_q\n    V = X @ W_k\n    K = X @ W_v\n    return Q, K, V\n"
    found = trial_of("1.3", code).difference
    assert found.sentence == "Your `V` in line 3 holds the course's `K`, and `K` in line 4 holds the course's `V`."


def test_a_name_that_is_only_used_on_the_way_is_not_called_misnamed():
    code = ATTENTION.replace("s = ", "weights = ").replace("(s, ", "(weights, ").replace("mask, s,", "mask, weights,").replace("s / ", "weights / ")
    found = trial_of("2.2", code.replace("axis=-1", "axis=-2")).difference
    assert not found.misnamed and found.wrong.label == "w"


def test_parts_of_one_long_line_are_matched_too():
    code = """
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum() @ V, e / e.sum()
"""
    found = trial_of("2.2", code).difference
    assert found is None or "scores" in found.sentence


def test_nothing_is_claimed_of_helper_values_that_the_reference_does_not_have():
    """A right answer on another road, with one mistake at its end: its own helper values are called neither right nor wrong."""
    code = """
def softmax(x, axis=-1):
    half = np.exp(0.5 * (x - np.max(x, axis=axis, keepdims=True)))
    squared = half * half
    return squared / np.sum(half, axis=axis, keepdims=True)
"""
    found = trial_of("2.1", code).difference
    assert "half" not in found.sentence
    assert found.wrong is None and found.right[-1].label == "squared"


def test_loops_are_judged_by_what_they_leave():
    code = """
def general_scores(Q, K, W):
    scores = np.zeros((len(Q), len(K)))
    for i in range(len(Q)):
        for j in range(len(K)):
            scores[i, j] = Q[i] @ W @ K[j]
    out = scores + 1
    return out
"""
    found = trial_of("2.5", code).difference
    assert found.sentence == "`scores` in line 5 already is what should be returned. Look at what comes after it."


def test_two_wrong_values_are_found_together():
    code = """
def project(X, W_q, W_k, W_v):
    Q = X @ W_q
    K = X @ W_k
    V = X @ W_v
    Q = Q / np.linalg.norm(Q, axis=-1, keepdims=True)
    K = K + K.mean(axis=-1, keepdims=True)
    return Q, K, V
"""
    found = borrowing.find(trial_of("1.3", code).values)
    assert [(value.label, value.line) for value in found.values] == [("Q", 5), ("K", 6)]


def test_an_answer_is_watched_without_tracing():
    """Debuggers and coverage keep their trace function, and what is noted is what the code computed."""
    seen = []
    tree, steps = watching.watched(variants.parse("def f(x):\n    y = x + 1\n    return y * 2\n"))
    before = sys.gettrace(), sys.getprofile()
    function = variants.Builder({})(tree, lambda i, value: seen.append((steps[i].label, value)) or value)
    assert function(3) == 8
    assert seen == [("x", 3), ("y", 4), ("y * 2", 8)]
    assert (sys.gettrace(), sys.getprofile()) == before


@pytest.mark.parametrize("exercise", ["1.2", "1.3", "2.1", "2.2", "2.4", "3.3", "3.4", "4.1", "4.3", "5.6", "5.7", "6.2", "6.4", "6.7"])
def test_watching_changes_no_right_answer(exercise):
    found = get(exercise)
    tree = variants.parse(found.source)
    before = ast.dump(tree)
    watched, steps = watching.watched(tree)
    assert ast.dump(tree) == before and len(steps) > 3
    variant = variants.Builder(variants.globals_of(found.reference))(watched, lambda i, value: value)
    trial = trial_of_reference(found)
    assert all(trial.answer.right(variant, i) for i in range(len(found.cases)))


def trial_of_reference(exercise):
    return Trial(exercise, exercise.reference)


def test_values_too_plain_to_tell_are_not_matched():
    assert not matching.telling(7)
    assert not matching.telling(__import__("numpy").ones(5))
    assert matching.telling(__import__("numpy").arange(5.0))


def test_a_truth_value_is_never_said_to_be_a_number():
    """Weights in place of a mask may give the right result, since what is not 0 counts as True: no reason to say so."""
    code = """
def self_attention(X, W_q, W_k, W_v, mask=None):
    Q, K, V = X @ W_q, X @ W_k, X @ W_v
    if mask is not None:
        mask = ~mask
    return scaled_dot_product_attention(Q, K, V, mask)
"""
    found = trial_of("2.3", code).difference
    assert found.wrong is None or found.wrong.label != "mask"


def test_nothing_comes_after_a_value_that_is_returned():
    code = "\ndef softmax(x, axis=-1):\n    x -= x.max(axis=axis, keepdims=True)\n    x = np.exp(x)\n    x = x / x.sum(axis=axis, keepdims=True)\n    return x\n"
    assert trial_of("2.1", code).difference is None


def test_a_value_that_lacks_a_sum_is_told_so():
    code = ATTENTION.replace("Q @ np.swapaxes(K, -1, -2)", "Q[..., :, None, :] * K[..., None, :, :]")
    found = trial_of("2.2", code).difference
    assert found.sentence == (
        "`s` in line 2 would be right as the course's `scores` so far if it were summed over its last axis."
    )


def test_a_value_that_is_right_in_the_first_call_only_is_not_called_right():
    code = """
def attend_with_cache(layer, x_new, cache):
    past = cache["K"].shape[2]
    q, k, v = (split_heads(f(x_new), layer.n_heads) for f in (layer.W_q, layer.W_k, layer.W_v))
    q, k = rope(q, offset=past), rope(k, offset=past)
    cache["K"] = torch.cat((cache["K"], k), dim=2)
    cache["V"] = torch.cat((cache["V"], v), dim=2)
    heads = F.scaled_dot_product_attention(q, cache["K"], cache["V"], is_causal=x_new.shape[1] > 1)
    return layer.W_o(merge_heads(heads))
"""
    difference = trial_of("8.5", code).difference
    assert [value.label for value in difference.right] == ["k"]
    assert difference.wrong.label == "heads" and difference.wrong.line == 7


def test_what_is_told_apart_by_sums_is_what_entries_tell_apart():
    generator = np.random.default_rng(0)
    a = generator.normal(size=(4, 4))
    holes = np.where(a > 1, np.nan, a)
    values = [a, a.T, -a, 3.5 * a, np.abs(a), holes, holes.T, np.where(a > 1, -np.inf, a), a + 1e-12, a + 1e-3, a[:3],
              a > 0, ~(a > 0), (a > 0) * 1.0, a.astype(np.float32), a[::-1], np.zeros((4, 4)), np.array(7.0), a[:0]]  # fmt: skip
    for x, y in itertools.product(values, repeat=2):
        how = matching.matched(matching.Measured(x), matching.Measured(y))
        assert (how == [""]) == (np.shape(x) == np.shape(y) and matching.equal(x, y))
    named = {name: matching.matched(matching.Measured(x), matching.Measured(a)) for name, x in
             {"transposed": a.T, "signs": -a, "times": 3.5 * a, "": a}.items()}  # fmt: skip
    assert all(name in how for name, how in named.items())
    assert matching.matched(matching.Measured(~(a > 0)), matching.Measured(a > 0)) == ["opposite"]


def test_an_axis_of_size_1_that_goes_is_no_step():
    column, rows = np.arange(5.0)[:, None], np.arange(15.0).reshape(5, 3)
    assert matching.step_between([(column, column[:, 0])] * 2) == ""
    assert matching.step_between([(rows, rows.sum(-1))] * 2) == "summed over its last axis"
