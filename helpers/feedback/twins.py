"""Faulty twins: an exercise's reference with known mistakes patched into its source."""

import functools
import inspect
import itertools

from . import running
from .outcomes import same_outcome


class Twins:
    """Faulty twins of an exercise's reference: its source with mistakes patched in, compiled and run at most once."""

    def __init__(self, exercise):
        self.exercise = exercise
        self.mistakes = {mistake.id: mistake for mistake in exercise.mistakes}
        self.spans = {m.id: _spans(exercise, m) for m in exercise.mistakes if m.source is None}
        self._compiled, self._outcomes = {}, {}

    def source(self, ids):
        """The reference's source with these mistakes in it. ids: a frozenset of mistake ids."""
        whole = next((id for id in ids if self.mistakes[id].source is not None), None)
        if whole is not None:
            return _patched(self.mistakes[whole].source, (self.mistakes[id] for id in ids - {whole}))
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
        return not same_outcome(alone, none, tolerance)

    def sets(self, size):
        """Sets of that many mistakes whose patches do not touch each other; all mistakes alone for size 1."""
        if size == 1:
            yield from (frozenset({id}) for id in self.mistakes)
            return
        candidates = [id for id in self.spans if self.mistakes[id].together >= size]
        for ids in itertools.combinations(candidates, size):
            if all(self.apart(a, b) for a, b in itertools.combinations(ids, 2)):
                yield frozenset(ids)
        if size == 2:
            yield from self._beside_whole_ones(candidates)

    def _beside_whole_ones(self, candidates):
        """Pairs of a mistake that is a whole algorithm, and combines, with each that fits it as a patch."""
        for whole in (mistake.id for mistake in self.mistakes.values() if mistake.combines):
            yield from (frozenset({whole, id}) for id in candidates if self.apart(whole, id))

    def pairs(self, candidates):
        """Pairs of these mistakes (ids) whose patches do not touch each other."""
        return [frozenset(pair) for pair in itertools.combinations(candidates, 2) if self.apart(*pair)]

    @functools.cache  # noqa: B019 (one Twins per exercise, kept for the whole session)
    def apart(self, a, b):
        """Whether two mistakes (ids) can be made together: apart in the reference, or one fits a whole source."""
        for whole, other in ((self.mistakes[a], self.mistakes[b]), (self.mistakes[b], self.mistakes[a])):
            if whole.source is not None:
                texts = [old for old, _ in other.patches]
                return whole.combines and other.source is None and all(whole.source.count(old) == 1 for old in texts)
        return all(
            x_end <= y_start or y_end <= x_start
            for x_start, x_end, _ in self.spans[a]
            for y_start, y_end, _ in self.spans[b]
        )


@functools.cache
def twins_of(exercise):
    """The Twins of an Exercise, made once a session."""
    return Twins(exercise)


def starting_source(exercise):
    """Source of the faulty function a debugging exercise begins with, or None for all others."""
    return twins_of(exercise).source(frozenset(exercise.starts_with)) if exercise.starts_with else None


def build(exercise, source, names=None):
    """Compile a variant of the reference in a copy of its module's names. names: some of them, exchanged for others."""
    space = dict(vars(inspect.getmodule(exercise.reference))) | (names or {})
    exec(_compiled(source, exercise.id), space)
    return space[exercise.name]


@functools.lru_cache(maxsize=8)  # the same reference again and again, with other names
def _compiled(source, id):
    return compile(source, f"<variant of {id}>", "exec")


def _patched(source, mistakes):
    for mistake in mistakes:
        for old, new in mistake.patches:
            source = source.replace(old, new)
    return source


def _spans(exercise, mistake):
    text, spans = exercise.source, []
    for old, new in mistake.patches:
        if text.count(old) != 1:
            raise ValueError(
                f"mistake {mistake.id!r} of {exercise.id}: {old!r} occurs {text.count(old)} times, not once"
            )
        spans.append((text.index(old), text.index(old) + len(old), new))
    return spans
