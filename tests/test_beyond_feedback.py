"""Lesson 08's reports: mistakes that people really made, and wrong answers written without the catalogue at hand."""

import inspect

import later_mistakes_08
import pytest
from attempts_08 import ATTEMPTS

from helpers import check
from helpers.feedback.registry import get


def defined(exercise_id, source, folder):
    """An answer from a file of its own, as from a notebook's cell, so that its lines can be shown."""
    file = folder / "cell.py"
    file.write_text(source, encoding="utf-8")
    space = dict(vars(inspect.getmodule(get(exercise_id).reference)))
    exec(compile(source, str(file), "exec"), space)
    return space[get(exercise_id).name]


@pytest.mark.parametrize("exercise_id, source", later_mistakes_08.RIGHT, ids=lambda x: x if len(x) < 5 else "")
def test_what_the_mistakes_are_made_from_is_right(exercise_id, source, tmp_path):
    report = check(exercise_id, defined(exercise_id, source, tmp_path))
    assert report.passed, str(report)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "mistake, exercise_id, evidence, words, source",
    later_mistakes_08.REPORTED,
    ids=[entry[0] for entry in later_mistakes_08.REPORTED],
)
def test_mistake_that_people_really_made_is_rejected_and_named(
    mistake, exercise_id, evidence, words, source, tmp_path
):
    report = check(exercise_id, defined(exercise_id, source, tmp_path))
    assert not report.passed, "a mistake people really made is accepted"
    assert words.casefold() in str(report).casefold(), str(report)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name, exercise_id, words, source", ATTEMPTS, ids=[f"{entry[1]}-{entry[0]}" for entry in ATTEMPTS]
)
def test_attempt_is_rejected_and_the_report_holds_the_decisive_words(name, exercise_id, words, source, tmp_path):
    report = check(exercise_id, defined(exercise_id, source, tmp_path))
    assert not report.passed, "a wrong answer is accepted"
    assert words.casefold() in str(report).casefold(), str(report)
