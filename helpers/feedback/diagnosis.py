"""Which known mistakes explain an answer: the smallest set of patches that reproduces what it did on every case."""

from .running import same_outcome
from .twins import twins_of
from .values import tolerance_of


def diagnose(exercise, outcomes, wrong, among=None):
    """Smallest sets of known mistakes that did exactly what the answer did.

    outcomes: the answer's Outcome on each case. wrong: indices of the cases it got wrong.
    among: indices of the cases to explain; all of them for None.
    Returns a list of frozensets of mistake ids, all of one size; empty when nothing known fits.
    """
    search = _Search(exercise, outcomes)
    order = [*wrong, *(i for i in (range(len(outcomes)) if among is None else among) if i not in wrong)]
    for size in range(1, search.twins.exercise.max_mistakes + 1):
        found = [ids for ids in search.sets(size, order[0]) if all(search.fits(ids, i) for i in order)]
        if found:
            return found
    return []


def partly(exercise, outcomes, wrong):
    """Sets that explain the first wrong case, half of the wrong ones and half of all: (sets, how many wrong ones)."""
    search = _Search(exercise, outcomes)
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

    def __init__(self, exercise, outcomes):
        self.twins, self.outcomes = twins_of(exercise), outcomes
        cases = self.twins.exercise.cases
        self.expected = [self.twins.outcome(frozenset(), i) for i in range(len(cases))]
        self.tolerance = [tolerance_of(case, o.value) for case, o in zip(cases, self.expected, strict=True)]

    def fits(self, ids, i):
        return same_outcome(self.outcomes[i], self.twins.outcome(ids, i), self.tolerance[i])

    def differs(self, ids, i):
        """Whether the twin does anything wrong on this case."""
        return not same_outcome(self.twins.outcome(ids, i), self.expected[i], self.tolerance[i])

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
