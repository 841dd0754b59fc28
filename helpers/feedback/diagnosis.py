"""Which known mistakes explain an answer: the smallest set of patches that reproduces what it did on every case."""

import functools
import inspect
import itertools

import numpy as np

from . import running
from .exercise import get
from .running import as_array, close, is_array, is_number


class Twins:
    """Faulty twins of an exercise's reference: its source with mistakes patched in, compiled and run at most once."""

    def __init__(self, exercise):
        self.exercise = exercise
        self.mistakes = {mistake.id: mistake for mistake in exercise.mistakes}
        self.spans = {m.id: _spans(exercise, m) for m in exercise.mistakes if m.source is None}
        self._compiled, self._outcomes = {}, {}

    def source(self, ids):
        """The reference's source with these mistakes in it. ids: a frozenset of mistake ids."""
        if len(ids) == 1 and self.mistakes[next(iter(ids))].source is not None:
            return self.mistakes[next(iter(ids))].source
        text = self.exercise.source
        for start, end, new in sorted((span for id in ids for span in self.spans[id]), reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def twin(self, ids):
        """The compiled function or class with these mistakes in it; the reference itself for none."""
        if not ids:
            return self.exercise.reference
        if ids not in self._compiled:
            self._compiled[ids] = build(self.exercise, self.source(ids))
        return self._compiled[ids]

    def outcome(self, ids, index):
        """Outcome of the twin on one case."""
        if (ids, index) not in self._outcomes:
            self._outcomes[ids, index] = running.run_quietly(self.exercise, self.twin(ids), self.exercise.cases[index])
        return self._outcomes[ids, index]

    @functools.cache  # noqa: B019
    def visible(self, id, index, tolerance):
        """Whether this mistake alone changes what comes out on one case."""
        alone, none = self.outcome(frozenset({id}), index), self.outcome(frozenset(), index)
        return not running.same_outcome(alone, none, tolerance)

    def sets(self, size):
        """Sets of that many mistakes whose patches do not touch each other; all mistakes alone for size 1."""
        if size == 1:
            yield from (frozenset({id}) for id in self.mistakes)
            return
        candidates = [id for id in self.spans if size == 2 or not self.mistakes[id].rare]
        for ids in itertools.combinations(candidates, size):
            if all(self._apart(a, b) for a, b in itertools.combinations(ids, 2)):
                yield frozenset(ids)

    @functools.cache  # noqa: B019 (one Twins per exercise, kept for the whole session)
    def _apart(self, a, b):
        return all(
            x_end <= y_start or y_end <= x_start
            for x_start, x_end, _ in self.spans[a]
            for y_start, y_end, _ in self.spans[b]
        )


@functools.cache
def twins_of(exercise_id):
    return Twins(get(exercise_id))


def build(exercise, source):
    """Compile a variant of the reference in a copy of its module's names."""
    space = dict(vars(inspect.getmodule(exercise.reference)))
    exec(compile(source, f"<variant of {exercise.id}>", "exec"), space)
    return space[exercise.name]


def _spans(exercise, mistake):
    text, spans = exercise.source, []
    for old, new in mistake.patches:
        if text.count(old) != 1:
            raise ValueError(
                f"mistake {mistake.id!r} of {exercise.id}: {old!r} occurs {text.count(old)} times, not once"
            )
        spans.append((text.index(old), text.index(old) + len(old), new))
    return spans


def diagnose(exercise_id, outcomes, wrong, among=None):
    """Smallest sets of known mistakes that did exactly what the answer did.

    outcomes: the answer's Outcome on each case. wrong: indices of the cases it got wrong.
    among: indices of the cases to explain; all of them for None.
    Returns a list of frozensets of mistake ids, all of one size; empty when nothing known fits.
    """
    search = _Search(exercise_id, outcomes)
    order = [*wrong, *(i for i in (range(len(outcomes)) if among is None else among) if i not in wrong)]
    for size in range(1, search.twins.exercise.max_mistakes + 1):
        found = [ids for ids in search.sets(size, order[0]) if all(search.fits(ids, i) for i in order)]
        if found:
            return found
    return []


def partly(exercise_id, outcomes, wrong):
    """Sets that explain the first wrong case, half of the wrong ones and half of all: (sets, how many wrong ones)."""
    search = _Search(exercise_id, outcomes)
    for size in range(1, min(2, search.twins.exercise.max_mistakes) + 1):
        found = [
            ids for ids in search.sets(size, wrong[0]) if search.differs(ids, wrong[0]) and search.fits(ids, wrong[0])
        ]
        counts = {ids: sum(search.fits(ids, i) for i in wrong) for ids in found}
        most = max(counts.values(), default=0)
        best = [ids for ids in found if counts[ids] == most]
        best = [ids for ids in best if 2 * sum(search.fits(ids, i) for i in range(len(outcomes))) >= len(outcomes)]
        if most * 2 >= len(wrong) and best:
            return best, most
    return [], 0


class _Search:
    """One answer's outcomes against those of the twins."""

    def __init__(self, exercise_id, outcomes):
        self.twins, self.outcomes = twins_of(exercise_id), outcomes
        cases = self.twins.exercise.cases
        self.expected = [self.twins.outcome(frozenset(), i) for i in range(len(cases))]
        self.tolerance = [running.tolerance_of(case, o.value) for case, o in zip(cases, self.expected, strict=True)]

    def fits(self, ids, i):
        return running.same_outcome(self.outcomes[i], self.twins.outcome(ids, i), self.tolerance[i])

    def differs(self, ids, i):
        """Whether the twin does anything wrong on this case."""
        return not running.same_outcome(self.twins.outcome(ids, i), self.expected[i], self.tolerance[i])

    def sets(self, size, first):
        """Sets of a size worth trying, given what the answer did on one case.

        From three mistakes on, those that leave that case as it is are set aside: what is left has been run already.
        """
        if size < 3:
            yield from self.twins.sets(size)
            return
        for ids in self.twins.sets(size):
            visible = frozenset(id for id in ids if self._visible(id, first))
            if len(visible) == size or self.fits(visible, first):
                yield ids

    def _visible(self, id, i):
        return self.twins.visible(id, i, self.tolerance[i])


# When no known mistake fits: the most useful true thing ---------------------------------------------------------------


def relation(expected, got, dims):
    """How one numeric result relates to the right one, as a clause ("the expected values negated"), or None."""
    expected, got = as_array(expected), as_array(got)
    if expected.dtype.kind == "b":
        opposite = got.dtype.kind == "b" and expected.size and (got == ~expected).all()
        if opposite:
            return "exactly the opposite of the expected values: True and False are exchanged"
    if expected.size < 2 or expected.dtype.kind not in "fiu" or got.dtype.kind not in "fiu":
        return None
    expected, got = expected.astype(float), got.astype(float)
    if not (np.isfinite(expected).all() and np.isfinite(got).all()):
        return None

    def equal(a, b):
        return a.shape == b.shape and close(a, b, 1e-5).all()

    if expected.shape == got.shape and close(got, expected, 1e-3).all():
        return None
    if expected.ndim >= 2 and equal(np.swapaxes(got, -1, -2), expected):
        return "the expected values with the last two axes exchanged (transposed)"
    if equal(-got, expected):
        return "the expected values with the opposite sign"
    for axis in range(expected.ndim):
        if expected.shape[axis] > 1 and equal(np.flip(got, axis), expected):
            return f"the expected values in reverse order along axis {axis}"
        if _permuted(expected, got, axis):
            return f"the expected values in another order along axis {axis}"
    shift = got - expected
    if equal(shift, np.full_like(shift, shift.flat[0])):
        return f"the expected values with {shift.flat[0]:.4g} added everywhere"
    nonzero = np.abs(expected) > 1e-9 * np.abs(expected).max()
    if nonzero.any():
        factor = np.median(got[nonzero] / expected[nonzero])
        if factor != 0 and equal(got, factor * expected):
            return f"{factor:.4g} times the expected values everywhere{_factor_name(factor, dims)}"
    return None


def _permuted(expected, got, axis):
    a, b = (np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1) for x in (expected, got))
    if len(a) < 3:
        return False
    a, b = (x[np.lexsort(np.round(x, 6).T)] for x in (a, b))
    return bool(close(a, b, 1e-5).all())


def _factor_name(factor, dims):
    for name, size in dims.items():
        if size < 2:
            continue
        candidates = ((f"√{name}", size**0.5), (name, size), (f"1/√{name}", size**-0.5), (f"1/{name}", 1 / size))
        for label, value in candidates:
            if np.isclose(abs(factor), value, rtol=1e-4):
                return f"; {label} is {value:.4g}"
    return ""


def axis_names(shape, dims):
    """Names of a shape's axes by their sizes, "(T_q, T_k)", or "" when a size has no name of its own."""
    names = {}
    for name, size in dims.items():
        names.setdefault(size, name)
    found = [names.get(size) for size in shape]
    return f"({', '.join(found)}{',' if len(found) == 1 else ''})" if found and all(found) else ""


def worst(expected, got):
    """Index of the entry that is furthest off, NaN first."""
    expected, got = as_array(expected), as_array(got)
    if expected.dtype.kind in "bUS":
        distance = (expected != got).astype(float)
    else:
        with np.errstate(all="ignore"):
            distance = np.abs(got.astype(float) - expected.astype(float))
        distance = np.where(got == expected, 0.0, np.where(np.isnan(distance), np.inf, distance))
    return tuple(int(i) for i in np.unravel_index(np.argmax(distance), distance.shape))


def parts(exercise, value):
    """A result as (name, value) pairs, in the order in which it is returned."""
    if isinstance(value, (tuple, list)) and len(exercise.results) == len(value) != 1:
        return tuple(zip(exercise.results, value, strict=True))
    return ((exercise.results[0] if exercise.results else "the result", value),)


def shown(x):
    """A value as a report writes it."""
    if isinstance(x, (bool, np.bool_)) or not is_number(x) and not is_array(x):
        return str(x)
    x = x if isinstance(x, int) else as_array(x)[()]
    if isinstance(x, (int, np.integer)):
        return str(x)
    return f"{x:.2f}" if 0.01 <= abs(x) < 1000 or x == 0 else f"{x:.3g}"
