"""Wrong answers that no catalogue was written for: none is accepted, and what their reports named they still name."""

import blind_attempts
import crowd_attempts
import pytest
import reader_attempts
import shared_attempts
import stranger_attempts
import unseen_attempts
from truthful import untruths

from helpers.course import LESSONS
from helpers.feedback.judging import judge
from helpers.feedback.registry import get
from tools.attempts_report import Trial, defined

FILES = (shared_attempts, unseen_attempts, blind_attempts, reader_attempts, crowd_attempts, stranger_attempts)
ATTEMPTS = [attempt for file in FILES for attempt in file.ATTEMPTS]
GRADES = ("NAMED", "PARTLY", "GENERIC", "FALSE")


def test_there_are_attempts_for_every_exercise_and_each_is_graded():
    assert len({attempt["id"] for attempt in ATTEMPTS}) == len(ATTEMPTS)
    exercises = {info.id for lesson in LESSONS for info in lesson.exercises}
    for file in (unseen_attempts, blind_attempts, crowd_attempts, stranger_attempts):
        assert {attempt["exercise"] for attempt in file.ATTEMPTS} | {"0.1"} == exercises
    assert all(attempt["today"] in GRADES for attempt in ATTEMPTS)
    assert all(bool(attempt.get("words")) == (attempt["today"] == "NAMED") for attempt in ATTEMPTS)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt["id"])
def test_a_wrong_answer_is_not_accepted_and_what_was_named_is_named(attempt):
    exercise, candidate = get(attempt["exercise"]), defined(attempt)
    if attempt.get("slow") or not attempt.get("words"):  # nothing of what is said is asserted
        assert Trial(exercise, candidate).answer.wrong
        return
    report = judge(exercise, candidate)
    assert not report.passed, "a wrong answer is accepted"
    assert not untruths(report, exercise, candidate)
    missing = [word for word in attempt.get("words", ()) if word not in str(report)]
    assert not missing, f"{missing} not in\n{report}"
