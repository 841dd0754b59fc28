"""Finds an exercise by its number and a prediction by its name, and loads no other lesson for it."""

import difflib
import functools
import importlib

from ..course import LESSONS


@functools.cache
def _catalogue(number):
    return importlib.import_module(f"{__package__}.catalogue.lesson_{number}")


def get(exercise_id):
    """The Exercise with this number, "2.2". Raises ValueError, with what exists, for any other value."""
    for lesson in LESSONS:
        for info in lesson.exercises:
            if info.id == exercise_id:
                exercise = _found(_catalogue(lesson.number).EXERCISES, exercise_id, lesson)
                if exercise.name != info.name:
                    said = f"asks for `{exercise.name}`, and for `{info.name}` in the course table"
                    raise LookupError(f"{exercise_id} {said}")
                return exercise
    known = [info.id for lesson in LESSONS for info in lesson.exercises]
    close = difflib.get_close_matches(str(exercise_id), known, n=3, cutoff=0.5)
    raise ValueError(f"there is no exercise {exercise_id!r}; did you mean {' or '.join(close or known)}?")


def get_prediction(prediction_id):
    """The Prediction with this name. Raises ValueError for any other value."""
    for lesson in LESSONS:
        if prediction_id in lesson.predictions:
            return _found(_catalogue(lesson.number).PREDICTIONS, prediction_id, lesson)
    names = [name for lesson in LESSONS for name in lesson.predictions]
    close = difflib.get_close_matches(str(prediction_id), names, n=3)
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise ValueError(f"there is no prediction {prediction_id!r}{hint}")


def _found(entries, id, lesson):
    """The entry of a catalogue with this id; LookupError, for whoever writes the catalogue, where it was left out."""
    for entry in entries:
        if entry.id == id:
            return entry
    raise LookupError(f"{id!r} is in the course table under lesson {lesson.number}, and its catalogue does not list it")


def functions_until(exercise_id):
    """Names of the functions and classes that the course has built up to this exercise, each with its exercise."""
    found = {}
    for lesson in LESSONS:
        for info in lesson.exercises:
            if info.id == exercise_id:
                return found
            found[info.name] = info.id
    return found
