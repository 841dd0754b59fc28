"""Sixty wrong answers that no catalogue was written for: none of them is right on all cases."""

import pytest
from fresh_attempts import ATTEMPTS

from helpers.feedback.registry import get
from tools.attempts_report import Trial, defined


def test_there_are_sixty_for_every_part_of_the_course():
    assert len(ATTEMPTS) == len({attempt["id"] for attempt in ATTEMPTS}) == 60
    assert {attempt["exercise"][0] for attempt in ATTEMPTS} == set("01234567")


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt["id"])
def test_a_wrong_answer_is_wrong_on_some_case(attempt):
    assert Trial(get(attempt["exercise"]), defined(attempt)).answer.wrong
