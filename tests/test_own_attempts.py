"""Attempts of a learner who makes mistakes are rejected, and the report says what helps: a mistake by name, or a phrase."""

import inspect

import pytest
from own_attempts import ATTEMPTS

from helpers import check
from helpers.feedback.registry import get


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
    report = check(exercise_id, defined(exercise_id, source, tmp_path))
    assert not report.passed, "a wrong answer is accepted"
    found = tuple(mistake.id for mistake in report.mistakes)
    # The change that would mend an answer may be told beside the mistake, or in place of several.
    assert set(named) <= set(found) or {"one-change", "several-changes"} & set(found), str(report)
    assert phrase in str(report) or {"one-change", "several-changes"} & set(found), str(report)


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
