"""Two changes in a learner's own code that together would make it right.

All pairs of changes would be too many. A first change is taken up only if it makes a value of the learner's equal to
one of the reference's that was missing before; then a second change is looked for as `one_change` does.
"""

import ast
from dataclasses import dataclass, replace

from . import one_change
from .edits import made
from .edits_of_functions import edits_of
from .messages import Told, makes_right
from .variants import quiet_libraries
from .watching import Watched, watched

FIRST, SECOND, TAKEN_UP = 140, 90, 2  # first changes; second ones for each; first ones that get second ones
FIRST_OF_CLASSES, SECOND_OF_CLASSES = 70, 60  # the same of classes
DEAR, FIRST_OF_DEAR, SECOND_OF_DEAR = 1200, 70, 60  # and where a call takes so many function calls (see variants)
REST, FEW_OF_REST = 300, 120  # second changes where the first one makes some cases right; of what is dear, or a class


@dataclass(frozen=True)
class TwoChanges(Told):
    """Two changes, in the order of their lines."""

    changes: tuple[one_change.Change, one_change.Change]

    @property
    def line(self):
        return self.changes[0].line

    def told(self, values_alone=False):
        first, second = self.changes
        right = makes_right(values_alone)
        if first.lines == second.lines:
            begin = f"Two changes {one_change.in_lines(first.lines)} {right}"
            if first.what_to_look_at == second.what_to_look_at:
                return f"{begin}: look at {first.what_to_look_at} in both places."
            end = "" if second.what_to_look_at.endswith("?") else "."
            return f"{begin}: look at {first.what_to_look_at.removesuffix('?')}, and at {second.what_to_look_at}{end}"
        said = [f"{one_change.in_lines(c.lines).capitalize()}, look at {c.what_to_look_at}" for c in self.changes]
        said = [text if text.endswith("?") else f"{text}." for text in said]
        return f"Two changes together {right}. {' '.join(said)}"


def find(tree, space, edits, search, fits, stopping=()):
    """The two changes, or None.

    space: the names that the answer's code sees. search: its `first_difference.Values`. stopping: edits that are
    no first change, as they stop the answer. Others as for `one_change.find`.
    """
    if search.theirs is None:
        return None
    of_class = isinstance(tree.body[0], ast.ClassDef)
    first_limit, second_limit, taken_up = _limits(of_class, search.build.costs.for_a_call > DEAR)
    before, copied = _matched(search), Watched(tree)
    steps = search.telling_steps()
    wrong_lines = {search.steps[k].line for k in steps if search.same(k) is None}
    settled = {search.steps[k].line for k in steps if search.steps[k].name} - wrong_lines
    promising = []
    with quiet_libraries():
        for edit in edits[:first_limit]:
            if search.build.exhausted:
                break
            if set(edit.lines) <= settled or edit in stopping:
                continue
            new = _gained(tree, copied, edit, search) - before
            if new:
                promising.append((max(match[:2] for match in new), edit))
    promising.sort(key=lambda pair: pair[0], reverse=True)
    for _, edit in promising[:taken_up]:
        with made(edit):
            found = one_change.find(tree, search.build, fits, edits_of(tree, space), second_limit)
        if found:
            return _together(edit, found, tree)
    return None


def of_parts(search):
    """The two changes of which one makes some wrong cases right and the other the rest, or None."""
    if search.partly is not None or search.part is None:
        return None  # a known mistake that explains some cases says more of them
    answer, (edits, mended) = search.answer, search.part
    left = [i for i in search.wrong if i not in mended]
    order = [*left, *(i for i in search.order if i not in left)]
    first, build = edits[0], answer.builder()
    limit = FEW_OF_REST if search.exercise.is_class or build.costs.for_a_call > DEAR else REST

    def fits(variant):
        return all(answer.right(variant, i) for i in order)

    with quiet_libraries(), made(first):
        edits = edits_of(answer.tree, answer.space, kinds=answer.kinds)
        found = one_change.find(answer.tree, build, fits, edits, limit)
    return _together(first, found, answer.tree) if found else None


def _limits(of_class, dear):
    """How many first changes, second ones for each, and first ones that get second ones."""
    if of_class:
        return FIRST_OF_CLASSES, SECOND_OF_CLASSES, TAKEN_UP
    return (FIRST_OF_DEAR, SECOND_OF_DEAR, 1) if dear else (FIRST, SECOND, TAKEN_UP)


def _together(first, second, tree):
    """The TwoChanges of an edit and of what was found (Changes) once it was made. tree: the code as it was before."""
    both = one_change.Change(first.lines, first.kind, first.look), _as_it_was(second.options[0], ast.unparse(tree))
    return TwoChanges(tuple(sorted(both, key=lambda change: change.lines)))


def _as_it_was(change, text):
    """The second change, without words that only the first one has put into the learner's code."""
    quoted = change.what_to_look_at.split("`")[1::2]
    if all(words in text for words in quoted):
        return change
    return replace(change, what_to_look_at="what else is calculated there")


def _matched(search):
    """What of the reference's values an answer reaches, exactly or nearly: (2, key), or (1, key, how nearly)."""
    return {match for k in search.telling_steps() for match in search.matches_on_first(k)}


def _gained(tree, copied, edit, search):
    """What of the reference's values the changed answer reaches."""
    places = tuple(copied.place(*place) for place in edit.places)
    try:
        if None in places:
            with made(edit):
                return _matched(search.of_variant(*watched(tree)))
        with made(replace(edit, places=places)):
            return _matched(search.of_variant(copied.tree, copied.steps))
    except Exception:  # the edit left something that cannot be compiled or defined
        return set()
