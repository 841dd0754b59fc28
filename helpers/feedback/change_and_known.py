"""Two mistakes, one of them known: with one change in the learner's code, the answer does what the known one does."""

import ast
import itertools
from dataclasses import dataclass

import numpy as np

from . import evidence, one_change
from .edits import made
from .exercise import AnswerProblem
from .outcomes import same_outcome
from .values import arrays, as_array
from .variants import quiet_libraries

# Of all places where a mistake does harm, how many may be right by chance: of numbers, of True and False.
SPARED, SPARED_OF_TWO = 0.1, 0.36
VERIFIED = 400  # variants that are run on further cases
UNSEEN = 40  # of them, for a mistake that only numbers show
TOO_MUCH = ("names", "order of lines")  # kinds of edits that may turn an answer into another mistake
OF_OTHER_SHAPE = (*TOO_MUCH, "name", "line", "if")  # the same, where the answer's shape says nothing of how near it is


@dataclass(frozen=True)
class ChangeAndKnown:
    """A known mistake (a set of one id), and the changes any one of which leaves nothing else wrong."""

    ids: frozenset
    changes: tuple[one_change.Change, ...]

    @property
    def sentence(self):
        """What a report says of the change."""
        return f"{self._where.capitalize()}, look at {one_change.looks_of(self.changes)}"

    @property
    def for_the_rest(self):
        """The same, where the mistake alone does what the answer did in most wrong cases."""
        return f"With one change {self._where} they would in all: look at {one_change.looks_of(self.changes)}"

    @property
    def _where(self):
        return one_change.in_lines(self.changes[0].lines)


def find(search):
    """The ChangeAndKnown of an answer, or None. search: its Search, whose `change` was sought and not found."""
    cannot_be_tried = isinstance(search.outcomes[search.order[0]].error, AnswerProblem)
    if search.says_little and not cannot_be_tried or search.exercise.judge or not search.tried:
        return None
    answer = search.answer
    build, source, left = answer.builder(), ast.unparse(answer.tree), VERIFIED
    with quiet_libraries():
        for ids, edits in _candidates(search):
            fine, cases = [], _most_telling_first(search, ids)
            for edit in edits:
                left -= 1
                if left < 0:
                    return None
                if _does_the_same(search, build, source, edit, ids, cases):
                    fine.append(edit)
            if fine:
                best = [edit for edit in fine if edit.rank == fine[0].rank]
                changes = one_change.options(best, answer.tree)
                changes = [change for change in changes if change.lines == changes[0].lines]
                return ChangeAndKnown(ids, tuple(changes))
    return None


def _candidates(search):
    """(ids, edits) of known mistakes that may be one of two, and of edits that leave nothing else in the first case.

    Those that the source shows plainly come first, then those that the numbers of several cases show.
    """
    first, room = search.order[0], search.answer.tolerances[search.order[0]]
    right = [i for i in search.order if i not in search.wrong]
    seen = [ids for ids in search.twins.sets(1) if search.plainly_seen(ids)]
    others = (ids for ids in search.twins.sets(1) if ids not in seen and search.explains_some(ids))
    for ids in itertools.chain(seen, others):
        twin = search.twins.outcome(ids, first)
        alike = [edit for edit, outcome in search.tried if twin.error is None and same_outcome(outcome, twin, room)]
        if not alike or not any(search.differs(ids, i) for i in search.wrong):
            continue
        # Who is right where a mistake would do harm has not made it; a change from there might make it.
        if any(search.differs(ids, i) for i in right):
            continue
        nearer = _nearer(search, ids)
        if nearer is False or _spares(search, ids):
            continue
        too_much = OF_OTHER_SHAPE if nearer is None else TOO_MUCH
        yield ids, [edit for edit in (alike if ids in seen else alike[:UNSEEN]) if edit.kind not in too_much]


def _nearer(search, ids):
    """Whether the mistakes alone come nearer to what is right than the answer does; None where shapes say nothing.

    Else the change would not mend one of two mistakes: it would make another one.
    """
    nearer = farther = 0
    for i in search.wrong:
        right = search.answer.expected[i].value
        outcomes = search.outcomes[i], search.twins.outcome(ids, i)
        ours, theirs = (_distance(right, outcome.value) for outcome in outcomes)
        nearer += theirs <= ours < np.inf
        farther += ours < theirs
    return None if not nearer and not farther else nearer >= farther


def _spares(search, ids):
    """Whether the answer is right at places where it would be wrong with these mistakes: then it has not made them."""
    spared = spoilt = 0
    most = SPARED
    for i in search.wrong:
        values = (search.answer.expected[i].value, search.outcomes[i].value, search.twins.outcome(ids, i).value)
        for right, ours, theirs in zip(*(arrays(value, numbers=True) for value in values), strict=False):
            right, ours, theirs = as_array(right), as_array(ours), as_array(theirs)
            if right.shape == ours.shape == theirs.shape and ours.dtype.kind in "fiub":
                room = search.answer.tolerances[i]
                most = SPARED_OF_TWO if right.dtype.kind == "b" else most
                wrong = ~np.isclose(theirs, right, rtol=room, atol=room, equal_nan=True)
                spared += int((wrong & np.isclose(ours, right, rtol=room, atol=room, equal_nan=True)).sum())
                spoilt += int(wrong.sum())
    return spared > most * spoilt


def _distance(right, value):
    """The sum of all differences; infinity where shapes differ or numbers are not finite."""
    total = 0.0
    right, value = [*arrays(right, numbers=True)], [*arrays(value, numbers=True)]
    if len(right) != len(value):
        return np.inf
    for wanted, got in zip(right, value, strict=True):
        wanted, got = as_array(wanted), as_array(got)
        if wanted.shape != got.shape or got.dtype.kind not in "fiub":
            return np.inf
        with np.errstate(all="ignore"):
            off = np.where(wanted == got, 0.0, np.abs(wanted.astype(float) - got.astype(float)))
        total += float(np.nan_to_num(off, nan=np.inf).sum())
    return total


def _most_telling_first(search, ids):
    """All cases, first those where the answer as it is does something else than the mistake."""
    return sorted(search.order, key=lambda i: search.fits(ids, i))


def _does_the_same(search, build, source, edit, ids, cases):
    """Whether the answer with an edit does on every case what the reference with these mistakes does.

    source: the answer's as it is. cases: indices, in the order in which they are tried.
    """
    answer = search.answer
    with made(edit):
        after = ast.unparse(answer.tree)
        if any(evidence.brought_in(search.twins.mistakes[id], search.exercise.source, source, after) for id in ids):
            return False
        variant = build.attempt(answer.tree)
    return variant is not None and all(
        same_outcome(answer.run_variant(variant, i), search.twins.outcome(ids, i), answer.tolerances[i])
        for i in cases
    )
