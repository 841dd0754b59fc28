"""What is said where nothing explains an answer: one step more, a change of some cases, a value's own numbers."""

import pytest

from helpers.feedback.judging import judge
from helpers.feedback.registry import get
from tools.attempts_report import defined


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
    assert "would make 2 of the 5 wrong cases right: look at the axis of sum. “a mask” and 2 more" in text
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
