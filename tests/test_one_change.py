"""The one change that would make an answer right: where it is, what to look at, never what to write."""

import ast
import itertools
import math

import numpy as np
import pytest
import shared_attempts
import torch

from helpers.feedback import edits, one_change, two_changes, variants
from helpers.feedback.edits_of_functions import edits_of
from helpers.feedback.judging import judge
from helpers.feedback.registry import get
from tools.attempts_report import Trial, defined


def trial_of(exercise, code):
    return Trial(get(exercise), defined(dict(id=f"test {exercise}", exercise=exercise, code=code)))


def trial_report(exercise, code):
    return judge(get(exercise), defined(dict(id=f"report {exercise}", exercise=exercise, code=code)))


def sentence_for(exercise, code):
    change = trial_of(exercise, code).change
    return change and change.sentence


SOFTMAX = """
def softmax(x, axis=-1):
    m = np.max(x, axis=axis, keepdims=True)
    e = np.exp(x - m)
    return e / np.sum(e, axis=axis, keepdims=True)
"""

LEAKS = """
def leaks_future(attend, x):
    state = torch.get_rng_state()
    before = attend(x)
    for t in range(1, len(x)):
        changed = x.clone()
        changed[t:] += 1
        torch.set_rng_state(state)
        after = attend(changed)
        if (after[:t] - before[:t]).abs().max() > 1e-5:
            return True
    return False
"""

SCORES = """
def general_scores(Q, K, W):
    scores = np.zeros((len(Q), len(K)))
    for i in range(len(Q)):
        for j in range(len(K)):
            scores[i, j] = Q[i] @ W @ K[j]
    return scores
"""


@pytest.mark.parametrize(
    ("exercise", "code", "old", "new", "line", "look"),
    [
        ("2.1", SOFTMAX, "np.sum(e, axis=axis", "np.sum(e, axis=0", 4, "the axis of `sum`"),
        ("2.1", SOFTMAX, "np.sum(e, axis=axis, keepdims=True)", "np.sum(e, axis=axis)", 4, "the shape that `sum` leaves"),
        ("2.1", SOFTMAX, "x - m", "x + m", 3, "the operator `+`"),
        ("2.1", SOFTMAX, "np.max(x", "np.min(x", 2, "whether `min` is the function you need"),
        ("2.1", SOFTMAX, "axis=-1)", "axis=0)", 1, "the default value of `axis`"),
        ("2.5", SCORES, "range(len(K))", "range(1, len(K))", 4, "where that `range` begins and ends"),
        ("2.5", SCORES, "    return scores", "        return scores", 6, "how far `return` is indented"),
        ("2.5", SCORES, "Q[i] @ W @ K[j]", "K[j] @ W @ Q[i]", 5, "which comes first at `@`"),
        ("1.4", "\ndef dot_product_scores(Q, K):\n    return Q @ np.swapaxes(K, -1, -2)\n", "np.swapaxes(K, -1, -2)", "K.T", 2, "`.T`"),
        ("2.1", SOFTMAX, "    m = np.max(x, axis=axis, keepdims=True)\n    e = np.exp(x - m)\n", "    e = np.exp(x)\n    e = e - np.max(e, axis=axis, keepdims=True)\n", (2, 3), "which step comes first?"),
        ("2.1", SOFTMAX, "(x - m)", "(x - 1000)", 3, "the number 1000"),
        ("2.1", "\ndef softmax(x, axis=-1):\n    x = np.moveaxis(x, axis, -1)\n    e = np.exp(x - x.max(axis=-1, keepdims=True))\n    w = e / e.sum(axis=-1, keepdims=True)\n    return np.moveaxis(w, -1, axis)\n", "return np.moveaxis(w, -1, axis)", "return w", 5, "line 2 moves axes"),
        ("5.3", LEAKS, "range(1, len(x))", "(1, 3, 7, 15)", 4, "that loop"),
        ("5.3", LEAKS, "(after[:t] - before[:t])", "(after[0] - before[0])", 9, "one, or several?"),
        ("7.2", "\ndef projection_flops(T, d_model):\n    return 8 * T * d_model**2\n", "8 *", "4 *", 2, "the number 4"),
    ],
)  # fmt: skip
def test_it_names_the_line_and_what_to_look_at(exercise, code, old, new, line, look):
    assert code.count(old) == 1
    said = sentence_for(exercise, code.replace(old, new))
    where = f"in line {line}" if isinstance(line, int) else f"in lines {line[0]} and {line[1]}"
    assert f"{where} " in said and look in said


def test_what_would_stand_there_is_never_said():
    said = sentence_for("7.2", "def projection_flops(T, d_model):\n    return 8 * T * d_model^2\n")
    assert "line 2" in said and "`^`" in said and "**" not in said


def test_the_same_change_in_several_lines_is_one():
    code = """
def project(X, W_q, W_k, W_v):
    Q = np.maximum(X @ W_q, 0)
    K = np.maximum(X @ W_k, 0)
    V = np.maximum(X @ W_v, 0)
    return Q, K, V
"""
    said = sentence_for("1.3", code)
    assert said == "The same change in lines 2, 3 and 4 would make this right: look at whether `maximum` belongs there."


def test_the_words_of_one_place_do_not_stand_for_all():
    code = """
def similarities(query, keys):
    q = query - query.mean()
    k = keys - keys.mean(axis=1, keepdims=True)
    return k @ q
"""
    said = sentence_for("1.1", code)
    assert said == "The same change in lines 2 and 3 would make this right: look at whether the `-` and what follows it belong there."


def test_numbers_of_a_list_are_left_alone():
    tree = variants.parse("def f(x):\n    for t in (1, 3, 7):\n        x = x + t\n    return x\n")
    assert not [edit for edit in edits_of(tree, {}) if edit.kind == "number"]


def test_nothing_is_said_where_two_changes_are_needed():
    wrong_twice = SOFTMAX.replace("x - m", "x + m").replace("np.sum(e, axis=axis", "np.sum(e, axis=0")
    assert sentence_for("2.1", wrong_twice) is None


def test_the_same_answer_gets_the_same_sentence_and_keeps_its_tree():
    trial = trial_of("2.1", SOFTMAX.replace("x - m", "x * m"))
    before = ast.dump(trial.answer.tree)
    said = [one_change.find(trial.answer.tree, trial.answer.builder(), trial.answer.fits, trial.answer.edits).sentence for _ in range(2)]
    assert said[0] == said[1]
    assert ast.dump(trial.answer.tree) == before


def test_every_edit_is_undone():
    tree = variants.parse(SCORES.replace("scores[i, j] =", "scores[i, j] +=").strip())
    before = ast.dump(tree)
    found = edits_of(tree, {"np": np})
    assert len(found) > 200
    for edit in found:
        with edits.made(edit):
            assert ast.dump(tree) != before, edit
        assert ast.dump(tree) == before, edit


def test_a_variant_that_loops_for_ever_is_stopped_without_a_clock():
    tree = variants.parse("def f(n):\n    while True:\n        n = n + 1\n")
    with pytest.raises(variants.TooManyOperations):
        variants.Builder({})(tree)(0)


def test_all_variants_together_may_do_only_so_much():
    tree = variants.parse("def f(n):\n    for i in range(n):\n        n = n + 1\n    return n\n")
    build = variants.Builder({})
    assert build(tree)(10) == 20
    for _ in range(100):
        if build.exhausted:
            break
        with pytest.raises(variants.TooManyOperations):
            build(tree)(10**9)
    assert build.exhausted


def test_a_comprehension_that_never_ends_is_stopped_too():
    tree = variants.parse("def f(n):\n    return [n + i for i in itertools.count()]\n")
    with pytest.raises(variants.TooManyOperations):
        variants.Builder({"itertools": itertools})(tree)(0)
    assert "__count__" not in ast.unparse(tree)


def test_a_variant_is_counted_as_much_as_the_answer_took_and_its_loops_only_beyond_that():
    tree = variants.parse("def f(n):\n    for i in range(n):\n        n = n + 1\n    return n\n")
    costs = variants.Costs.of(tree, variants.Watch(calls=900, entries=3, in_loops=60, kinds={}), [60])
    build = variants.Builder({}, costs, in_all=100_000)
    f, before = build(tree), build.left
    f(5)
    assert before - build.left == costs.for_a_call, "five rounds are what is usual"
    before = build.left
    f(500)
    assert before - build.left == costs.for_a_call + 500 * 2 * costs.for_each - costs.in_loops


def test_the_costliest_case_says_what_is_allowed_and_others_are_not_asked_once_it_is_most():
    tree = variants.parse("def f(n):\n    for i in range(n):\n        n = n + 1\n    return n\n")
    asked = []

    def in_loops(*counts):
        for count in counts:
            asked.append(count)
            yield count

    seen = variants.Watch(calls=10, entries=1, in_loops=10, kinds={})
    allowed = variants.Costs.of(tree, seen, in_loops(10, 300, 20)).allowed
    assert allowed == variants.AT_LEAST + variants.TIMES * 300 * variants.OPERATION and asked == [10, 300, 20]
    asked.clear()
    assert variants.Costs.of(tree, seen, in_loops(10, 10**6, 20)).allowed == variants.CALLS and asked == [10, 10**6]


def seen_in(code, *given, **names):
    """The Watch of code that defines one function, called with some arguments."""
    build = variants.Builder(names)
    f = build(variants.parse(code))
    return variants.watch(lambda: f(*given), build)


def test_functions_of_pytorch_count_several_times():
    x = torch.ones(3)
    calls = [
        seen_in(f"def f(x):\n    return {what}\n", x, torch=torch, math=math)[1].calls
        for what in ("math.exp(1)", "torch.exp(x)", "x.sum()")
    ]
    assert calls[1] - calls[0] == variants.TENSOR_CALL - 1
    assert calls[2] == calls[1]


def test_kinds_of_names_are_those_they_had_at_the_end_of_every_call():
    code = """
def f(x, n=3, mask=None):
    size, table, total = x.shape[0], {}, x.sum()
    if n:
        f(x, 0)
        size = x
    return x
"""
    value, seen = seen_in(code.strip(), np.ones(4))
    assert value.shape == (4,) and seen.entries == 2
    held = {name: seen.kinds.get(("f", name)) for name in "x n mask size table total".split()}
    assert held == {"x": "array", "n": "number", "mask": "", "size": None, "table": "mapping", "total": "number"}


def test_layers_are_no_numbers_and_no_arrays():
    code = """
def forward(self, x):
    return self.W(x) * self.scale
"""

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.W, self.scale = torch.nn.Linear(4, 3), 2.0

    _, seen = seen_in(code.strip(), Model(), torch.ones(5, 4))
    held = {name: kind for (_, name), kind in seen.kinds.items()}
    assert held["self"] == held["self.W"] == "layer" and held["x"] == "array" and held["self.scale"] == "number"


def test_a_source_that_cannot_be_read_is_no_tree():
    assert variants.parse("return 3 +") is None
    assert variants.parse("f = lambda x: x") is None


def test_a_source_too_long_or_too_deep_is_no_tree():
    assert variants.parse("def f(x):\n    return " + " + ".join(["x"] * 3000)) is None
    assert variants.parse("def f(x):\n" + "    x = x + 1\n" * 1000) is None


def test_a_definition_that_fails_is_no_fit():
    tree = variants.parse("@missing\ndef f(x):\n    return x\n")
    assert one_change.find(tree, variants.Builder({}), lambda variant: True, edits_of(tree, {})) is None


def test_the_course_decorator_is_left_out_and_others_stay():
    tree = variants.parse('@exercise("2.1")\n@torch.no_grad()\ndef f(x):\n    return x\n', first_line=4)
    assert [ast.unparse(d) for d in tree.body[0].decorator_list] == ["torch.no_grad()"]
    assert tree.body[0].lineno == 6


# Two changes ----------------------------------------------------------------------------------------------------------


def two_for(exercise, code):
    trial = trial_of(exercise, code)
    assert trial.change is None
    return two_changes.find(trial.answer.tree, trial.answer.space, trial.answer.edits, trial.values, trial.answer.fits)


def test_two_changes_are_found_where_the_first_uncovers_a_right_value():
    code = """
def dot_product_scores(Q, K):
    return K @ np.swapaxes(Q, -1, -2) / np.sqrt(K.shape[-1])
"""
    found = two_for("1.4", code)
    assert found.line == 2
    assert "belongs there" in found.sentence and "Q.shape" not in found.sentence  # the learner's own words only


def test_two_changes_in_two_lines_are_told_line_by_line():
    wrong_twice = SOFTMAX.replace("np.max(x", "np.max(np.abs(x)").replace("e / np.sum(e, axis=axis, keepdims=True)", "np.round(e / np.sum(e, axis=axis, keepdims=True), 3)")
    found = two_for("2.1", wrong_twice)
    assert [change.lines for change in found.changes] == [(2,), (4,)]


def test_classes_are_read_too():
    code = '''
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"d_model={d_model} is not divisible by n_heads={n_heads}")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        Q, K, V = (split_heads(w(x), self.n_heads) for w in (self.W_q, self.W_k, self.W_v))
        scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(mask, -torch.inf)
        weights = scores.softmax(dim=-1)
        return self.W_o(merge_heads(self.dropout(weights) @ V)), weights
'''
    said = sentence_for("4.3", code)
    assert "in line 17 " in said and "the condition of `masked_fill`" in said


def test_a_line_that_looks_odd_is_preferred_where_several_changes_serve():
    tree = variants.parse("def f(a, b):\n    c = a + b\n    return (a - c).max() < 1e-5\n")
    found = one_change.find(tree, variants.Builder({}), lambda variant: True, edits_of(tree, {}))
    assert {option.lines for option in found.options} == {(3,)}


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_every_edit_leaves_something_that_can_be_compiled():
    """An edit whose nodes have no place in the cell is never tried, and nobody hears of it."""
    for attempt in shared_attempts.ATTEMPTS[::6]:
        tree = variants.parse(attempt["code"].strip("\n") + "\n")
        for edit in edits_of(tree, {"softmax": None}) if tree else ():
            with edits.made(edit):
                try:
                    compile(tree, "<edit>", "exec")
                except SyntaxError:  # such as a keyword that is there already
                    pass


def test_a_branch_that_must_never_be_taken_is_to_go():
    code = """
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * (keys @ query)
    if sharpness == 0:
        return values.mean(axis=0), np.ones(len(keys))
    weights = np.exp(scores - scores.max())
    weights = weights / weights.sum()
    return weights @ values, weights
"""
    assert "in line 3 would make this right: look at whether that `if` is needed, with what it does" in sentence_for("1.2", code)


def test_of_two_branches_the_other_one_is_always_taken():
    code = """
def soft_lookup(query, keys, values, sharpness=1.0):
    scores = sharpness * (keys @ query)
    if sharpness == 0:
        weights = np.ones(len(keys))
    else:
        weights = np.exp(scores - scores.max())
        weights = weights / weights.sum()
    return weights @ values, weights
"""
    assert "in line 3 would make this right: look at whether that `if` is needed." in sentence_for("1.2", code)


def test_steps_done_in_the_wrong_order_are_exchanged_with_their_numbers():
    tree = variants.parse("def f(x, s, b):\n    return x / s + b\n")
    looks = [ast.unparse(e.places[0][3]) for e in edits_of(tree, {}) if e.kind == "order"]
    assert "(x + b) / s" in looks


def test_a_default_that_the_exercise_gives_is_left_alone():
    code = """
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        masked = np.where(mask, scores, -np.inf)
    weights = softmax(masked)
    return weights @ V, weights
"""
    assert sentence_for("2.2", code) is None
    changed = code.replace("mask=None", "mask=True").replace("softmax(masked)", "softmax(scores)")
    kinds = {edit.kind for edit in trial_of("2.2", changed).answer.edits}
    assert "default" in kinds


def test_lines_of_a_long_expression_stay_where_they_are():
    tree = variants.parse("def f(a, b, c):\n    return (a\n            + b\n            * c)\n")
    before = ast.dump(tree, include_attributes=True)
    edits_of(tree, {})
    assert ast.dump(tree, include_attributes=True) == before


def test_a_change_of_an_answer_that_writes_into_its_input_is_one_of_its_values():
    code = """
def softmax(x, axis=-1):
    x -= x.max(axis=axis, keepdims=True)
    e_x = np.exp(x)
    return e_x / e_x.sum(axis=-1, keepdims=True)
"""
    report = str(trial_report("2.1", code))
    assert "in line 4 would make the values right: look at the axis of sum" in report
    assert "Besides, the function changed its input x in place" in report
