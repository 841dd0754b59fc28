"""Attempts of a learner who makes mistakes are rejected, and the report says what helps: a mistake by name, or a phrase."""

import inspect

import pytest
from own_attempts import ATTEMPTS
from truthful import untruths

from helpers import check
from helpers.feedback.registry import get

# Answers whose mistakes the catalogue knows, and whose report points at their lines in place of a name: what it says.
POINTED_AT = {
    "0.1-sums-before-product": ("look at what comes first, the * or sum",),  # it divides, so "you did not divide" is untrue
    "3.1-sizes-exchanged": ("look at the axis of sum",),  # drawn at random: numbers name nothing
}


def defined(exercise_id, source, folder):
    """An answer from a file of its own, as from a notebook's cell, so that its lines can be shown."""
    file = folder / "cell.py"
    file.write_text(source, encoding="utf-8")
    space = dict(vars(inspect.getmodule(get(exercise_id).reference)))
    exec(compile(source, str(file), "exec"), space)
    return space[get(exercise_id).name]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name, exercise_id, named, phrase, source", ATTEMPTS, ids=[f"{entry[1]}-{entry[0]}" for entry in ATTEMPTS]
)
def test_attempt_is_rejected_and_the_report_helps(name, exercise_id, named, phrase, source, tmp_path):
    candidate = defined(exercise_id, source, tmp_path)
    report = check(exercise_id, candidate)
    assert not report.passed, "a wrong answer is accepted"
    assert not untruths(report, get(exercise_id), candidate)
    found, pointed_at = {mistake.id for mistake in report.mistakes}, POINTED_AT.get(f"{exercise_id}-{name}")
    for words in pointed_at or (phrase,):
        assert words in str(report), str(report)
    if named and not pointed_at:  # the change that would mend an answer may be told beside its mistake
        assert found - {"one-change"} == set(named), str(report)


def test_pointed_at_are_attempts():
    assert set(POINTED_AT) < {f"{exercise_id}-{name}" for name, exercise_id, named, *_ in ATTEMPTS if named}


def test_every_lesson_has_a_dozen_attempts_and_no_two_are_alike():
    for lesson in "01245":
        assert sum(entry[1].startswith(lesson) for entry in ATTEMPTS) >= 12
    assert len({(entry[1], entry[4]) for entry in ATTEMPTS}) == len({entry[:2] for entry in ATTEMPTS}) == len(ATTEMPTS)


def test_right_answer_that_later_cells_could_not_call_is_sent_back(tmp_path):
    source = get("2.1").source.replace("axis=-1", "dim=-1").replace("axis=axis", "axis=dim")
    report = check("2.1", defined("2.1", source, tmp_path))
    assert [found.id for found in report.mistakes] == ["argument-renamed"]
    assert "axis by name, and yours has x, dim" in str(report)


def test_module_called_without_forward_passes_with_a_note(tmp_path):
    source = "import math, torch\nfrom torch import nn\n" + get("4.3").source.replace("def forward", "def __call__")
    report = check("4.3", defined("4.3", source, tmp_path))
    assert report.passed and "PyTorch's way is forward" in str(report)
