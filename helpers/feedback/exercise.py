"""What an exercise is made of: plain data.

Nothing here knows what attention is: subjects live in `catalogue`.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .sources import source_of


@dataclass(frozen=True, eq=False)
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
    source: a whole other algorithm instead of a patch. It takes no part in combinations, unless it combines: then
    each other mistake whose texts occur exactly once in it, too, is looked for beside it.
    together: among how many mistakes at once it is looked for: 3, 2, or 1 for alone; less keeps the search short.
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
    together: int = 3
    hides_others: bool = False
    combines: bool = False

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


@dataclass(frozen=True, eq=False)
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
    keeps_dtype: the docstring promises results of an input's dtype, and others are wrong.
    starts_with: ids of mistakes that the learner's cell begins with (a debugging exercise).
    indistinguishable: pairs of mistakes that no input can tell from a smaller or another set.
    max_mistakes: how many mistakes at once diagnosis looks for.
    words: what the reference's own variables are called in a sentence, {"scores": "the scaled scores"}.
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
    keeps_dtype: bool = False
    starts_with: tuple[str, ...] = ()
    indistinguishable: tuple[tuple[str, str], ...] = ()
    max_mistakes: int = 3
    words: Mapping[str, str] = field(default_factory=dict)

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
