"""Wrong answers to lesson 09 that nobody tuned a catalogue to are rejected, and the report says what helps."""

import pytest
from attempts_09 import ATTEMPTS
from test_own_attempts import defined

from helpers import check


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("exercise_id, name, words, source", ATTEMPTS, ids=[f"{a[0]}-{a[1]}" for a in ATTEMPTS])
def test_attempt_is_rejected_and_the_report_says_what_helps(exercise_id, name, words, source, tmp_path):
    report = check(exercise_id, defined(exercise_id, source, tmp_path))
    assert not report.passed, "a wrong answer is accepted"
    assert any(word in str(report) for word in words), str(report)


def test_there_are_attempts_at_every_exercise_and_no_two_are_alike():
    assert {entry[0] for entry in ATTEMPTS} == {f"9.{n}" for n in range(1, 7)}
    assert len({entry[3] for entry in ATTEMPTS}) == len(ATTEMPTS) >= 30
