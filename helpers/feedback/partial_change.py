"""One change in the learner's own code that makes several of the wrong cases right, where none makes all of them so.

An answer with two mistakes often has cases in which only one of them shows.
"""

from dataclasses import dataclass

from . import one_change
from .edits import made
from .messages import Told

FEWEST = 3  # wrong cases, from which on it says something that some become right
VERIFIED = 40  # edits that are run on all cases
SECOND_LOOK = 220  # edits that are run on another kind of case
MEANS_LITTLE = ("line", "if", "names", "order of lines")  # kinds that may make a case right by taking things away


@dataclass(frozen=True)
class PartialChange(Told):
    """The changes any one of which makes some wrong cases right, and the names of cases that stay wrong."""

    changes: tuple[one_change.Change, ...]
    mended: int
    wrong: int
    left: tuple[str, ...]

    def told(self, values_alone=False):
        where = one_change.in_lines(self.changes[0].lines)
        look = one_change.looks_of(self.changes)
        others = "" if len(self.left) == 1 else f" and {len(self.left) - 1} more"
        stays = f"“{self.left[0]}”{others} would still be wrong."
        right = f"{self.mended} of the {self.wrong} wrong cases right{' in their values' if values_alone else ''}"
        return f"One change {where} would make {right}: look at {look} {stays}"


def find(search):
    """The PartialChange of an answer, or None. search: its Search, whose `change` was sought and not found."""
    if search.part is None:
        return None
    edits, mended = search.part
    changes = one_change.options(edits, search.answer.tree)
    changes = tuple(change for change in changes if change.lines == changes[0].lines)
    left = tuple(search.exercise.cases[i].name for i in search.wrong if i not in mended)
    return PartialChange(changes, len(mended), len(search.wrong), left)


def part(search):
    """(edits, cases): edits of an answer each of which makes the same wrong cases right, as many as any; or None."""
    answer = search.answer
    if search.says_little or search.exercise.judge or len(search.wrong) < FEWEST or not search.tried:
        return None
    first = search.order[0]
    fine = [edit for edit, outcome in search.tried if _means_much(edit) and answer.would_be_right(first, outcome)]
    build = answer.builder()
    best = _best(answer, build, fine[:VERIFIED])
    if best is None:
        probe = _another_kind(search)
        edits = [] if probe is None else [edit for edit, _ in search.tried if _means_much(edit)][:SECOND_LOOK]
        fine = [edit for edit in edits if _mends(answer, build, edit, (probe,))]
        best = _best(answer, build, fine[:VERIFIED])
    return best


def _means_much(edit):
    likely = edit.rank <= 2 or edit.kind == "name"
    return likely and edit.kind not in MEANS_LITTLE and "needed" not in edit.look


def _another_kind(search):
    """The first wrong case that goes wrong in another way than the first, or that was given other arguments."""
    kinds = {i: (search.answer.problems[i].kind, search.answer.given(i)) for i in search.wrong}
    return next((i for i in search.wrong if kinds[i] != kinds[search.order[0]]), None)


def _mends(answer, build, edit, cases):
    """Those of some cases that an edit makes right."""
    with made(edit):
        variant = build.attempt(answer.tree)
    return () if variant is None else tuple(i for i in cases if answer.right(variant, i))


def _best(answer, build, edits):
    """(edits, cases): the edits that make most wrong cases right, at least a third, and none wrong; or None."""
    everywhere, wrong, found = range(len(answer.outcomes)), set(answer.wrong), {}
    for edit in edits:
        right = set(_mends(answer, build, edit, everywhere))
        if len(right & wrong) >= max(2, len(wrong) / 3) and set(everywhere) - wrong <= right:
            found.setdefault(frozenset(right & wrong), []).append(edit)
    if not found:
        return None
    cases = max(found, key=len)
    rank = min(edit.rank for edit in found[cases])
    return [edit for edit in found[cases] if edit.rank == rank], cases
