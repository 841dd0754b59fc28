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
            "9.4",
            "def next_token_loss(logits, tokens, pad_id=None):\n"
            "    return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())",
            "Yours is wrong exactly where `pad_id` is given.",
        ),
        (
            "7.4",
            "def score_matrix_bytes(B, H, T, itemsize=4):\n    return B * H * T * T * (4 if T < 1e6 else 5)",
            None,  # wrong in two cases that have nothing in common
        ),
        ("2.2", ATTENTION.format("scores * 2"), None),  # wrong everywhere
    ],
)
def test_the_argument_that_parts_wrong_cases_from_right_ones(exercise, code, words):
    assert said(exercise, code) == words


def test_two_arguments_that_come_together_part_nothing():
    code = "def rope(x, base=10000.0, offset=0):\n    from helpers.positions import rope\n    return rope(x)"
    assert said("6.4", code) is None
