"""The one change in a learner's own code that would make it right: where, what to look at, never what to write."""

import ast
from dataclasses import dataclass

from . import reading
from .edits import made
from .messages import Told, makes_right
from .variants import quiet_libraries

FUNCTION_LIMIT, CLASS_LIMIT = 400, 340  # edits that are tried
SILENCES = 6  # edits that fit of which it is asked whether they only take away what another line does
AFTER_A_FIND = 150  # more edits that are tried once one fits, to see whether others fit as well


@dataclass(frozen=True)
class Change:
    """A single change that makes an answer right, by line and kind.

    lines: lines of the cell. kind: a word for it ("axis"). what_to_look_at: a clause ("the axis of `sum`").
    """

    lines: tuple[int, ...]
    kind: str
    what_to_look_at: str

    @property
    def line(self):
        return self.lines[0]

    @property
    def sentence(self):
        """What a report says of it."""
        return _sentence((self,))


@dataclass(frozen=True)
class Changes(Told):
    """Several single changes, each of which makes an answer right by itself; at most two are spoken of."""

    options: tuple[Change, ...]

    @property
    def line(self):
        return self.options[0].line

    @property
    def kind(self):
        return self.options[0].kind

    def told(self, values_alone=False):
        return _sentence(self.options, values_alone)


def find(tree, build, fits, edits, limit=None, tried=None, silences=None):
    """The single change that makes an answer right, as Changes, or None if none of those tried does.

    tree: the answer, from `variants.parse`; it is the same again on return. build: a `variants.Builder`.
    fits: whether such a variant is right on every case; guarded by the caller, the first wrong case tried first.
    edits: all of the tree, from `edits_of`. limit: how many are tried; FUNCTION_LIMIT or CLASS_LIMIT for None.
    tried: called with every edit after it was tried. silences: whether an edit takes away what another line does.
    """
    limit = limit or (CLASS_LIMIT if isinstance(tree.body[0], ast.ClassDef) else FUNCTION_LIMIT)
    found, left = [], limit
    with quiet_libraries():
        for edit in edits[:limit]:
            left -= 1
            if left < 0 or build.exhausted or found and edit.rank > found[0].rank + 1:
                break
            with made(edit):
                fine = fits_when_built(tree, build, fits)
            if tried:
                tried(edit)
            if fine:
                found.append(edit)
                left = min(left, AFTER_A_FIND) if len(found) == 1 else left
    if not found:
        return None
    return Changes(options(found, tree, silences))


def fits_when_built(tree, build, fits):
    """Whether what a tree defines is right on every case; False where it defines nothing."""
    variant = build.attempt(tree)
    return variant is not None and fits(variant)


def options(found, tree, silences=None):
    """At most two Changes that stand for edits of a tree that work, each by itself.

    silences: whether an edit only takes away what another line does: then others come first, if there are any.
    """
    if silences is not None and len(found) > 1:
        found = [edit for n, edit in enumerate(found) if n >= SILENCES or not silences(edit)] or found
    return _options(found, {remark.line for remark in reading.remarks(tree)})


def _options(found, suspected):
    """At most two changes out of those that work: in lines that look odd by themselves, or the likeliest."""
    best = [edit for edit in found if edit.rank == found[0].rank]
    left_out = [e for e in found if e.look.startswith("whether that `if` is") and e.lines == best[0].lines]
    best = left_out or best  # a condition that must never hold
    odd = [edit for edit in found if set(edit.lines) & suspected]
    best = [edit for edit in odd if edit.rank == odd[0].rank] or best
    changes = list(dict.fromkeys(Change(edit.lines, edit.kind, edit.look) for edit in best))
    return tuple(changes[:2]) if len(changes) <= 3 else _shared(changes)


def _shared(changes):
    """What many changes have in common: their line, with the first two things to look at there."""
    lines = [change for change in changes if change.lines == changes[0].lines]
    return tuple(lines[:2])


def looks_of(options):
    """What to look at, one thing or two, with the sign that ends the sentence."""
    looks = list(dict.fromkeys(option.what_to_look_at for option in options))
    return " Or: at ".join(look if look.endswith("?") else f"{look}." for look in looks)


def _sentence(options, values_alone=False):
    first, look = options[0], looks_of(options)
    right = makes_right(values_alone)
    if any(option.lines != first.lines for option in options):
        places = [f"{in_lines(option.lines)} (look at {option.what_to_look_at})" for option in options]
        return f"One change {right}, {' or '.join(places)}."
    single = len(first.lines) == 1 or first.kind == "order of lines"
    what = "One change" if single else "The same change"
    return f"{what} {in_lines(first.lines)} {right}: look at {look}"


def in_lines(lines):
    """Lines as a sentence has them: "in line 3", "in lines 3, 4 and 6"."""
    *others, last = [str(line) for line in lines]
    return f"in lines {', '.join(others)} and {last}" if others else f"in line {last}"
