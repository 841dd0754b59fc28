"""The decorator that learners write above an answer."""

import dataclasses

from . import compare, judging, progress, report, store
from .registry import get


def exercise(exercise_id):
    """Judge the function or class defined beneath, show the report, and hand on something that works.

    `@exercise("2.2")` returns the learner's own object when it is right, and the course's version when it is not,
    so that the cells below run either way. Raises ValueError for a number that does not exist.
    """
    if not isinstance(exercise_id, str):
        raise TypeError('write the exercise\'s number: @exercise("2.2")')
    found = get(exercise_id)

    def judge(candidate):
        verdict = judging.judge(found, candidate)
        compare.remember(exercise_id, candidate)
        store.record(verdict)
        report.show(_with_standing(verdict))
        return candidate if verdict.passed else found.reference

    return judge


def _with_standing(verdict):
    """A passing report with how many of the lesson's exercises are solved, and what comes next."""
    if not verdict.passed or not report.in_notebook() or store.in_solutions():
        return verdict
    solved, total, following = progress.standing(verdict.exercise_id)
    more = f"Next: exercise {following}." if following else "That was the last exercise of this lesson."
    return dataclasses.replace(
        verdict, standing=f", {solved} of {total} in this lesson", footer=f"Run the next cell to go on. {more}"
    )
