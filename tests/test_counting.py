"""Counts with letters for the sizes: the terms that differ, and a formula that is right but for a number."""

import pytest

from helpers.feedback import counting
from helpers.feedback.judging import judge
from helpers.feedback.registry import get
from tools.attempts_report import Trial, defined

HEADS = {
    "7.1": "def attention_flops(T_q, T_k, d_k, d_v):\n    return ",
    "7.2": "def projection_flops(T, d_model):\n    return ",
    "7.4": "def score_matrix_bytes(B, H, T, itemsize=4):\n    return ",
    "8.8": "def reach(n_layers, window):\n    return ",
}


def formula_of(exercise, code):
    code = HEADS[exercise] + code if "def " not in code else code
    return counting.find(Trial(get(exercise), defined(dict(id="counting", exercise=exercise, code=code))).answer)


@pytest.mark.parametrize(
    ("exercise", "code", "text", "points"),
    [
        ("7.1", "T_q * d_k * T_k + T_k * d_v", "T_k·d_v + T_q·T_k·d_k", ("the size `T_q` is missing", "half of what")),
        ("7.1", "T_q * T_k * d_k + T_q * T_q * d_v", "T_q²·d_v", ("`T_q` stands where `T_k` belongs", "half")),
        ("7.1", "2 * T_q * T_k * (d_k + d_v) + T_q * T_k", "T_q·T_k + 2·", ("`T_q·T_k` is not wanted",)),
        ("7.4", "3 * B * H * T * itemsize", "3·B·H·T·itemsize", ("`T` belongs once more", "3 times what")),
        ("7.4", "B * H * T**3 * itemsize", "B·H·T³·itemsize", ("`T` is one factor too many",)),
        ("7.2", "2 * T * (d_model + d_model ** 2) * 4", "8·T·d_model", ("`T·d_model` is not wanted",)),
        ("7.2", "6 * T * d_model**2 + 2 * d_model**2", "2·d_model² + 6·T·d_model²", ("the size `T` is missing",)),
        ("7.2", "4 * T * d_model**2 + 4 * d_model**2", "4·d_model²", ("`d_model²` is not wanted", "half of what")),
        ("8.8", "n_layers * window + 2 - n_layers", "n_layers·window", ("twice what",)),
    ],
)
def test_a_term_that_differs_goes_unnamed(exercise, code, text, points):
    formula = formula_of(exercise, code)
    assert text in formula.text and len(formula.points) == len(points)
    for point, words in zip(formula.points, points, strict=True):
        assert words in point


@pytest.mark.parametrize(("code", "words"), [("T * d_model**2", "an eighth of"), ("24 * T * d_model**2", "3 times")])
def test_a_missing_number_goes_unnamed(code, words):
    formula = formula_of("7.2", code)
    assert words in formula.factor and not formula.points


@pytest.mark.parametrize(
    ("exercise", "code"),
    [
        ("7.2", "8 * T * d_model ** d_model"),  # no sum of products of powers
        ("7.2", "8 * T // 3 * d_model ** 2"),
        ("7.2", "int(str(T)) * d_model"),
        ("7.2", "undefined * T"),
        ("7.1", "def attention_flops(T_q, T_k, d_k, d_v):\n    n = 0\n    for i in range(T_q):\n        n += 1\n    return n"),
    ],
)
def test_what_is_no_formula_is_taken_for_one(exercise, code):
    assert formula_of(exercise, code) is None


def test_the_report_does_not_say_what_the_letters_show():
    code = HEADS["7.1"] + "T_q * d_k * T_k + T_k * d_v"
    report = judge(get("7.1"), defined(dict(id="counting report", exercise="7.1", code=code)))
    assert "With letters for the sizes" in str(report) and "is missing" in str(report)
    assert {finding.id for finding in report.mistakes} == {"formula"}
