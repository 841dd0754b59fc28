"""What is said where nothing explains an answer: one step more, a change of some cases, a value's own numbers."""

import numpy as np
import pytest

from helpers.feedback import changed_whole, reading, remarks, variants
from helpers.feedback.judging import judge
from helpers.feedback.matching import part_of
from helpers.feedback.registry import get
from tools.attempts_report import Trial, defined


def told(exercise, code):
    return str(judge(get(exercise), defined(dict(id=f"likely cause {exercise}", exercise=exercise, code=code))))


@pytest.mark.parametrize(
    ("exercise", "code", "words"),
    [
        (
            "0.1",
            "def weighted_average(values, weights):\n    parts = []\n    for v, w in zip(values, weights):\n"
            "        parts.append(v * w / sum(weights))\n    return parts",
            "would be right with its parts added up.",
        ),
        (
            "1.4",
            "def dot_product_scores(Q, K):\n    if Q.ndim > 2:\n        return [dot_product_scores(q, k) for q, k in zip(Q, K)]\n"
            "    return [[sum(a * b for a, b in zip(q, k)) for k in K] for q in Q]",
            "would be right as one array instead of a list.",
        ),
    ],
)
def test_one_step_more_is_named(exercise, code, words):
    assert words in told(exercise, code)


def test_a_step_that_mends_only_some_cases_is_not_named():
    code = (
        "def weighted_average(values, weights):\n    parts = []\n    for v, w in zip(values, weights):\n"
        "        parts.append(v * w / 4)\n    return parts"
    )
    assert "added up" not in told("0.1", code)  # the weights sum to 4 in the first case alone


TWO_MISTAKES = """
def self_attention(X, W_q, W_k, W_v, mask=None):
    q = X @ W_q
    k = X @ W_k
    v = X @ W_v
    s = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    a = np.exp(s) / np.exp(s).sum(axis=-2, keepdims=True)
    return a @ v, a
"""


def test_a_change_that_mends_some_cases_says_which_stay_wrong():
    text = told("2.3", TWO_MISTAKES)
    assert "would make 4 of the 8 wrong cases right: look at the axis of sum. “a mask” and 3 more" in text
    assert "mask is never used" in text


def test_a_wrong_value_is_told_with_its_own_numbers():
    code = (
        "def alibi_bias(n_heads, T):\n    slopes = torch.tensor([2 ** (-8 / i) for i in range(1, n_heads + 1)])\n"
        "    position = torch.arange(T)\n    distance = (position[:, None] - position[None, :]).abs()\n"
        "    return -slopes[:, None, None] * distance[None]"
    )
    assert "slopes[0] is 0.00391 and should be 0.25" in told("6.5", code)


def test_the_same_entry_is_not_told_twice():
    assert told("2.3", TWO_MISTAKES).count("is 0.06 and should be 0.99") == 1


@pytest.mark.parametrize(("read", "fits"), [(False, True), (True, False)])
def test_an_argument_that_fits_between_is_named_if_nothing_has_read_it(read, fits):
    before = "    W = W * 1.0\n" if read else ""
    text = told("2.5", f"def general_scores(Q, K, W):\n{before}    return (Q @ K.T) * W")
    assert ("W, of shape (4, 3), has just these two sizes" in text) == fits


def test_a_mistake_behind_one_that_lets_nothing_run_is_named_too():
    source = get("4.3").source.replace("bias=False", "bias=True").replace("softmax(dim=-1)", "softmax(dim=-2)")
    text = told("4.3", source)
    assert "Two things are wrong." in text and "There are biases" in text and "over the queries" in text


# Where right and wrong cases part ---------------------------------------------------------------------------------------

LOST_ROWS = """
def entropy(weights):
    p = np.asarray(weights)
    if np.any(p == 0):
        return np.zeros(p.shape[:-1])
    return np.einsum('...n,...n->...', p, -np.log(p))
"""
SKIPPED = """
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        masked = np.where(mask, scores, -np.inf)
    weights = softmax(masked)
    return weights @ V, weights
"""


def test_a_branch_that_wrong_cases_take_is_told():
    assert "Every wrong case goes through line 4, and 1 of the 8 right ones." in told("3.2", LOST_ROWS)
    said = told("3.2", LOST_ROWS.replace("return np.zeros(p.shape[:-1])", "p = np.cos(p)"))
    assert "The wrong cases are exactly those that go through line 4." in said


def test_a_branch_that_wrong_cases_miss_is_told_and_no_agreed_default_blamed():
    said = told("2.2", SKIPPED)
    assert "`masked` gets its value only in line 4, and this case does not come by there." in said.replace("masked gets", "`masked` gets")
    assert "The wrong cases are exactly those that do not go through line 4." in said
    assert "default" not in said


def test_nothing_is_said_of_branches_where_all_cases_are_wrong():
    said = told("3.2", LOST_ROWS.replace("-np.log(p)", "-np.log(p) ** 3"))
    assert "go through" not in said and "goes through" not in said


# What the source shows ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("exercise", "code", "words"),
    [
        (
            "10.2",
            "wins = []\n\ndef agreement_share(weights, verb, subject, other):\n    for n in range(len(weights)):\n"
            "        row = weights[n][..., verb[n], :]\n"
            "        wins.append((row[..., subject[n]] > row[..., other[n]]).float())\n    return torch.stack(wins).mean(0)",
            "wins stands outside the function, so it still holds what earlier calls have put there.",
        ),
        (
            "1.1",
            "def similarities(query, keys):\n    found = []\n    for feature, key in zip(query, keys):\n"
            "        found.append(sum(feature * number for number in key))\n    return np.array(found)",
            "It pairs the first of query with the first of keys, and so on, and stops with the shorter one.",
        ),
        (
            "7.3",
            "def crossover_length(d_model):\n    for T in range(1, 300):\n        if T * T > 4 * d_model * d_model:\n            return T - 1",
            "Line 2: below this line the function ends without a return, and then gives None.",
        ),
        (
            "5.6",
            "def masked_softmax(scores, mask):\n    seen = mask.expand_as(scores)\n    weights = torch.zeros_like(scores)\n"
            "    weights[seen] = scores[seen].softmax(dim=-1)\n    return weights",
            "All entries of weights together sum to 1, where each row should.",
        ),
    ],
)
def test_what_the_source_or_the_numbers_show_is_told(exercise, code, words):
    assert words in told(exercise, code)


def test_a_search_that_always_returns_is_not_said_to_give_none():
    code = "def crossover_length(d_model):\n    for T in range(1, 10**6):\n        if T > 3 * d_model:\n            return T"
    assert "gives None" not in told("7.3", code)


def test_what_is_missing_is_named_by_an_operation_that_the_course_has():
    code = (
        "def merge(first, second):\n    top = torch.maximum(first[0], second[0])\n"
        "    return top, first[1] + second[1], first[2] * second[2]"
    )
    said = told("8.1", code)
    assert "takes a tanh" not in said, "the course's way takes an exponential there, and no tanh"


def test_arguments_of_one_length_may_be_gone_through_side_by_side():
    code = "def weighted_average(values, weights):\n    return sum(v * w * w for v, w in zip(values, weights))"
    assert "It pairs" not in told("0.1", code)


OVERFLOWS = """
def softmax(x, axis=-1):
    total = np.log(np.sum(np.exp(x), axis=axis, keepdims=True))
    return np.exp(x - total)
"""


def test_the_place_where_infinity_comes_up_is_told():
    said = told("2.1", OVERFLOWS)
    assert "There is infinity in weights in the case “scores of a thousand”. The first infinity comes up in line 2, in np.exp(x)." in said
    assert "never divides" not in said, "a difference of logarithms is a division"


ROW_BY_ROW = """
def softmax(x, axis=-1):
    rows = []
    for row in x:
        rows.append(np.exp(row) / np.exp(row).sum())
    return np.stack(rows)
"""


def test_the_place_where_infinity_comes_up_is_told_of_loops_too():
    trial = Trial(get("2.1"), defined(dict(id="row by row", exercise="2.1", code=ROW_BY_ROW)))
    large = next(i for i in trial.answer.wrong if trial.answer.exercise.cases[i].name == "scores of a thousand")
    assert trial.values.arises(large) == "The first infinity comes up in line 4, in `np.exp(row)`."


def test_an_axis_counted_from_the_front_is_no_matter_where_nothing_has_a_batch():
    tree = variants.parse("def f(Q, K):\n    return torch.softmax(Q @ K.T, dim=1)\n")
    assert [remark.sentence for remark in reading.remarks(tree)] == [
        "Line 2: look at `dim=1` of the softmax. Axis 1 is counted from the front, and a batch moves it."
    ]
    assert reading.remarks(tree, batches=False) == []
    answer = Trial(get("6.7"), defined(dict(id="no batch", exercise="6.7", code=NO_BATCH))).answer
    assert not any("batch" in remark.sentence for remark in remarks.remarks_on(answer))


NO_BATCH = """
def rope_attention(X, W_q, W_k, W_v):
    scores = rope(X @ W_q) @ (X @ W_k).T
    return torch.softmax(scores, dim=1) @ X @ W_v
"""


def test_a_quoted_line_has_no_comment():
    code = "def softmax(x, axis=-1):\n    return x + '# 1'  # of text\n"
    assert "Line 2, x + '# 1', stopped" in told("2.1", code).replace("return ", "")


def test_one_entry_of_what_is_wanted_is_recognised():
    whole = np.arange(24.0).reshape(2, 3, 4)
    assert part_of(whole[:, -1:], whole) == (1, -1)
    assert part_of(whole[0], whole) == (0, 0)
    assert part_of(whole[:, 1:2], whole) is None
    assert part_of(whole, whole) is None


def test_where_only_the_kind_is_wrong_nothing_else_is_blamed():
    said = told("5.2", "import numpy as np\n\n\ndef causal_mask(T):\n    return np.tril(np.ones((T, T), dtype=bool))")
    assert "mask is an array of shape (5, 5); a PyTorch tensor is wanted." in said
    assert "same numbers" not in said


def test_one_layer_under_several_names_is_told():
    code = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{d_model} and {n_heads}")
        self.n_heads = n_heads
        self.W_q = self.W_k = self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
"""
    assert "W_q, W_k and W_v are one and the same layer." in told("4.3", code)


def test_a_mistake_that_right_cases_rule_out_is_not_named_beside_a_change():
    code = "def crossover_length(d_model):\n    for T in range(1, 300):\n        if T * T > 4 * d_model * d_model:\n            return T - 1"
    assert "does not depend on d_model" not in told("7.3", code), "it is right for two widths"


OWN_SOFTMAX = """
def scaled_dot_product_attention(Q, K, V):
    scores = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V, weights
"""


def test_functions_that_are_called_are_looked_into_only_where_the_answer_has_its_own():
    """A course's function that an answer calls is right: its mistakes explain nothing."""
    with_softmax = "def scaled_dot_product_attention(Q, K, V):\n    w = softmax(Q @ K.T)\n    return w @ V, w\n"
    callees = [changed_whole.callees(Trial(get("2.2"), defined(dict(id="callee", exercise="2.2", code=code))).answer) for code in (OWN_SOFTMAX, with_softmax)]
    assert callees == [{"softmax": "2.1"}, {}]


def test_a_function_that_a_reference_only_speaks_of_is_not_looked_into():
    """3.3's text says "softmax", and nothing in it calls the course's."""
    assert "softmax" in get("3.3").source
    assert changed_whole.callees(Trial(get("3.3"), get("3.3").reference).answer) == {}
