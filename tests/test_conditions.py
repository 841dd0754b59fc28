"""What is given in all wrong cases and in no right one."""

import pytest

from helpers.feedback import conditions
from helpers.feedback.answer import Answer
from helpers.feedback.registry import get
from tools.attempts_report import defined


def said(exercise, code):
    exercise = get(exercise)
    answer = Answer(exercise, defined(dict(id="condition", exercise=exercise.id, code=code)))
    for i in range(len(exercise.cases)):
        answer.run(i)
    answer.judge_cases()
    return conditions.find(answer)


ATTENTION = """
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    weights = softmax({0})
    return weights @ V, weights
"""


@pytest.mark.parametrize(
    ("exercise", "code", "words"),
    [
        ("2.2", ATTENTION.format("scores"), "Yours is wrong exactly where `mask` is given."),
        (
            "2.2",
            ATTENTION.format("np.where(True if mask is None else mask, scores, -np.inf) + (mask is None) * scores"),
            "Yours is wrong exactly where `mask` is not given.",
        ),
        (
            "8.4",
            "def linear_attention(Q, K, V, causal=False):\n    q, k = F.elu(Q) + 1, F.elu(K) + 1\n    weights = q @ k.mT\n"
            "    return weights / weights.sum(dim=-1, keepdim=True) @ V",
            "Yours is wrong exactly where `causal` is True.",
        ),
        ("2.2", ATTENTION.format("scores * 2"), None),  # wrong everywhere
    ],
)
def test_the_argument_that_parts_wrong_cases_from_right_ones(exercise, code, words):
    assert said(exercise, code) == words


def test_two_arguments_that_come_together_part_nothing():
    code = "def rope(x, base=10000.0, offset=0):\n    from helpers.positions import rope\n    return rope(x)"
    assert said("6.4", code) is None
