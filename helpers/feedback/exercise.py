"""What an exercise is made of, the registry that finds one by its number, and the decorator learners write.

Nothing here knows what attention is: subjects live in `catalogue`.
"""

import ast
import difflib
import functools
import importlib
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .catalogue import LESSONS


@dataclass(frozen=True)
class Case:
    """One set of inputs that an answer is tried on.

    name: how a report speaks of it ("a mask that differs per example").
    make: returns a fresh tuple of arguments, the same at every call.
    dims: sizes by axis name, {"T_q": 5, "d_k": 4}; they name axes and constants in reports.
    tolerance: relative error allowed; None takes it from the inputs' precision.
    aspect: a side of the exercise that is right or wrong by itself ("dropout"); diagnosis may take such cases apart.
    """

    name: str
    make: Callable[[], tuple]
    dims: Mapping[str, int] = field(default_factory=dict)
    tolerance: float | None = None
    aspect: str = ""


@dataclass(frozen=True)
class Mistake:
    """A known mistake, as a patch of the reference's own source.

    old, new: text that occurs exactly once, and what stands there instead. edits: several such pairs.
    source: a whole other algorithm instead of a patch; it takes no part in combinations.
    rare: it is looked for alone and in pairs, not among three at once, which keeps that search short.
    hides_others: it stops the code, or overwrites what others did, so that a second mistake may leave no trace
    until this one is mended.
    message: what the learner reads; {d_k}, {sqrt_d_k} and the like are filled in from the case's dims.
    """

    id: str
    message: str
    old: str | None = None
    new: str | None = None
    edits: tuple[tuple[str, str], ...] = ()
    source: str | None = None
    rare: bool = False
    hides_others: bool = False

    @property
    def patches(self):
        return self.edits if self.old is None else ((self.old, self.new), *self.edits)


def pairs(one, *others):
    """Pairs of one mistake with each of the others, for `Exercise.indistinguishable`."""
    return tuple((one, other) for other in others)


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with an answer, in the learner's words."""

    id: str
    message: str


class AnswerProblem(Exception):
    """Raised by an exercise's own `run` when an answer cannot even be tried; `finding` says why."""

    def __init__(self, id, message):
        super().__init__(message)
        self.finding = Finding(id, message)


@dataclass(frozen=True)
class Exercise:
    """Everything needed to judge an answer.

    reference: the right function or class; mistakes patch its source.
    results: names of the returned values, in order. covers: what the cases cover, for the passing report.
    alternatives: sources of other right answers; a test proves that they pass.
    run: run(candidate, *arguments) -> result, where calling it is not enough (classes).
    judge: judge(result, case) -> findings, where many answers are right; replaces comparison with the reference.
    explain: functions (case, expected, got) -> sentence or None, tried when no known mistake fits.
    properties: functions (candidate) -> Finding or None, asked once the values are right.
    notes: functions (candidate) -> sentence or None, added to a passing report.
    sums_to_one: names of results whose last axis sums to 1.
    starts_with: ids of mistakes that the learner's cell begins with (a debugging exercise).
    indistinguishable: pairs of mistakes that no input can tell from a smaller or another set.
    max_mistakes: how many mistakes at once diagnosis looks for.
    """

    id: str
    reference: Callable
    cases: tuple[Case, ...]
    results: tuple[str, ...] = ()
    mistakes: tuple[Mistake, ...] = ()
    alternatives: tuple[str, ...] = ()
    covers: str = ""
    run: Callable | None = None
    judge: Callable | None = None
    explain: tuple[Callable, ...] = ()
    properties: tuple[Callable, ...] = ()
    notes: tuple[Callable, ...] = ()
    sums_to_one: tuple[str, ...] = ()
    starts_with: tuple[str, ...] = ()
    indistinguishable: tuple[tuple[str, str], ...] = ()
    max_mistakes: int = 3

    @property
    def name(self):
        return self.reference.__name__

    @property
    def is_class(self):
        return inspect.isclass(self.reference)

    @property
    def source(self):
        """The reference's source, dedented."""
        return source_of(self.reference)


@dataclass(frozen=True)
class Prediction:
    """A question answered before the cell that shows it.

    answer: a number, or one of `choices`. tolerance: relative, for numbers. why: the reason, in a sentence or two.
    """

    id: str
    answer: float | str
    why: str
    choices: tuple[str, ...] = ()
    tolerance: float = 0.05


@functools.cache
def source_of(definition):
    """Dedented source of a function or class."""
    return textwrap.dedent(inspect.getsource(definition))


@functools.cache
def _lesson_catalogue(number):
    return importlib.import_module(f"helpers.feedback.catalogue.lesson_{number}")


def get(exercise_id):
    """The Exercise with this number, "2.2". Raises ValueError, with what exists, for any other value."""
    known = [info.id for lesson in LESSONS for info in lesson.exercises]
    if exercise_id not in known:
        close = difflib.get_close_matches(str(exercise_id), known, n=3, cutoff=0.5)
        raise ValueError(f"there is no exercise {exercise_id!r}; did you mean {' or '.join(close or known)}?")
    for lesson in LESSONS:
        if any(info.id == exercise_id for info in lesson.exercises):
            found = {exercise.id: exercise for exercise in _lesson_catalogue(lesson.number).EXERCISES}
            return found[exercise_id]


def get_prediction(prediction_id):
    """The Prediction with this name. Raises ValueError for any other value."""
    known = {}
    for lesson in LESSONS:
        if prediction_id in lesson.predictions:
            known = {prediction.id: prediction for prediction in _lesson_catalogue(lesson.number).PREDICTIONS}
            return known[prediction_id]
    names = [name for lesson in LESSONS for name in lesson.predictions]
    close = difflib.get_close_matches(str(prediction_id), names, n=3)
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise ValueError(f"there is no prediction {prediction_id!r}{hint}")


def starting_source(exercise_id):
    """Source of the faulty function a debugging exercise begins with, or None for all others."""
    from .diagnosis import twins_of

    found = get(exercise_id)
    return twins_of(exercise_id).source(frozenset(found.starts_with)) if found.starts_with else None


def starting_body(exercise_id):
    """Body, after the docstring and dedented, of the function a debugging exercise begins with; None for all others."""
    source = starting_source(exercise_id)
    if source is None:
        return None
    body = ast.parse(source).body[0].body
    first = body[1] if ast.get_docstring(ast.parse(source).body[0]) else body[0]
    return textwrap.dedent("\n".join(source.splitlines()[first.lineno - 1 :]))


def exercise(exercise_id):
    """Judge the function or class defined beneath, show the report, and hand on something that works.

    `@exercise("2.2")` returns the learner's own object when it is right, and the course's version when it is not,
    so that the cells below run either way. Raises ValueError for a number that does not exist.
    """
    if not isinstance(exercise_id, str):
        raise TypeError('write the exercise\'s number: @exercise("2.2")')
    found = get(exercise_id)

    def judge(candidate):
        from . import compare, judging, progress, report

        verdict = judging.check(exercise_id, candidate)
        compare.remember(exercise_id, candidate)
        progress.record(verdict)
        report.show(verdict)
        return candidate if verdict.passed else found.reference

    return judge
