"""Whole numbers beside fractions: whoever takes the dtype of the one for the other cuts fractions off."""

import inspect
import itertools

import numpy as np
import pytest

from helpers.course import LESSONS
from helpers.feedback.judging import judge
from helpers.feedback.registry import get


def arrays_of(exercise):
    """Places of arguments that are arrays of numbers, in exercises of NumPy that take several."""
    arguments = exercise.cases[0].make()
    found = [i for i, x in enumerate(arguments) if isinstance(x, np.ndarray) and x.dtype.kind in "fiu"]
    return found if len(found) > 1 and not exercise.is_class and not exercise.judge else []


IDS = [info.id for lesson in LESSONS[:4] for info in lesson.exercises]
PLACES = [(id, i) for id in IDS for i in arrays_of(get(id)) if id != "3.4"]  # weights and gradients are fractions


def cast(value, dtype):
    if isinstance(value, tuple):
        return tuple(cast(part, dtype) for part in value)
    return value.astype(dtype) if isinstance(value, (np.ndarray, np.floating)) else value


def test_there_are_such_exercises():
    assert len(PLACES) > 20


@pytest.mark.parametrize(("id", "place"), PLACES)
def test_a_result_in_the_dtype_of_one_argument_is_refused(id, place):
    exercise = get(id)

    def candidate(*arguments, **named):
        return cast(exercise.reference(*arguments, **named), arguments[place].dtype)

    candidate.__signature__ = inspect.signature(exercise.reference)
    report = judge(exercise, candidate)
    assert not report.passed and "whole numbers" in str(report)


def test_a_promised_dtype_is_asked_for():
    promising = [info.id for lesson in LESSONS for info in lesson.exercises if get(info.id).keeps_dtype]
    assert len(promising) >= 6
    for id in promising:
        exercise = get(id)
        doc = inspect.getdoc(exercise.reference)
        assert "dtype" in doc, id

        def candidate(*arguments, _reference=exercise.reference, **named):
            return _reference(*arguments, **named).double()

        candidate.__signature__ = inspect.signature(exercise.reference)
        report = judge(exercise, candidate)
        assert not report.passed and "is promised" in str(report), id


def test_who_promises_a_dtype_is_asked_for_it():
    for info in itertools.chain.from_iterable(lesson.exercises for lesson in LESSONS):
        exercise = get(info.id)
        doc = inspect.getdoc(exercise.reference) or ""
        returns = doc.partition("Returns")[2]
        if "dtype" in returns and not exercise.is_class and not exercise.run:
            assert exercise.keeps_dtype, info.id
