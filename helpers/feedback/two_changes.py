"""Two changes in a learner's own code that together would make it right.

All pairs of changes would be too many. A first change is taken up only if it makes a value of the learner's equal to
one of the reference's that was missing before; then a second change is looked for as `one_change` does.
"""

from dataclasses import dataclass

from . import one_change
from .edits import edits_of, made
from .first_difference import Values
from .variants import quiet_libraries

FIRST_LIMIT, SECOND_LIMIT, TAKEN_UP = 260, 220, 3  # first changes, second ones for each, first ones taken up


@dataclass(frozen=True)
class TwoChanges:
    """Two changes, in the order of their lines."""

    changes: tuple[one_change.Change, one_change.Change]

    @property
    def line(self):
        return self.changes[0].line

    @property
    def sentence(self):
        """What a report says of it."""
        first, second = self.changes
        if first.lines == second.lines:
            looks = [first.what_to_look_at, second.what_to_look_at]
            end = "" if looks[1].endswith("?") else "."
            return f"Two changes {one_change.in_lines(first.lines)} would make this right: look at {looks[0]}, and at {looks[1]}{end}"
        said = [f"{one_change.in_lines(c.lines).capitalize()}, look at {c.what_to_look_at}" for c in self.changes]
        said = [text if text.endswith("?") else f"{text}." for text in said]
        return f"Two changes together would make this right. {' '.join(said)}"


def find(tree, space, search, fits):
    """The two changes, or None. search: the answer's `first_difference.Values`. Others as for `one_change.find`."""
    if search.theirs is None:
        return None
    before = _matched(search)
    steps = search.telling_steps()
    wrong_lines = {search.steps[k].line for k in steps if search.same(k) is None}
    settled = {search.steps[k].line for k in steps if search.steps[k].name} - wrong_lines
    promising = []
    with quiet_libraries():
        for edit in edits_of(tree, space)[:FIRST_LIMIT]:
            if set(edit.lines) <= settled:
                continue
            with made(edit):
                new = _gained(tree, search, before)
            if new:
                promising.append((max(match[:2] for match in new), edit))
    promising.sort(key=lambda pair: pair[0], reverse=True)
    for _, edit in promising[:TAKEN_UP]:
        with made(edit):
            found = one_change.find(tree, search.build, fits, space, SECOND_LIMIT)
        if found:
            first = one_change.Change(edit.lines, edit.kind, edit.look)
            return TwoChanges(tuple(sorted((first, found.options[0]), key=lambda change: change.lines)))
    return None


def _matched(search):
    """What of the reference's values an answer reaches, exactly or nearly: (2, key), or (1, key, how nearly)."""
    return {match for k in search.telling_steps() for match in search.matches_on_first(k)}


def _gained(tree, search, before):
    """What of the reference's values the changed answer reaches and the answer as it was does not."""
    try:
        changed = Values.of_variant(tree, search)
        return _matched(changed) - before
    except Exception:  # the edit left something that cannot be compiled or defined
        return set()
