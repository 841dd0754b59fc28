"""The decorator that learners write above an answer."""

from . import compare, judging, progress, report
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
        progress.record(verdict)
        report.show(verdict)
        return candidate if verdict.passed else found.reference

    return judge
