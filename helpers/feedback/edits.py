"""A single change of an answer's syntax tree: made, and undone.

An edit says where it is and what to look at there, never what should stand there instead.
"""

import contextlib
from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Edit:
    """One change of a tree.

    rank: 1 for the likeliest. kind: a word for it ("axis"). look: what to look at, after "look at".
    key: edits with the same key are the same change in different places. lines: where.
    places: (node, field, index, new) with index None where the field holds no list.
    """

    rank: int
    kind: str
    look: str
    key: tuple
    lines: tuple
    places: tuple


@contextlib.contextmanager
def made(edit):
    """The tree with an edit made, and as it was before on leaving."""
    before = []
    for node, field, index, new in edit.places:
        before.append((node, field, index, _put(node, field, index, new)))
    try:
        yield
    finally:
        for node, field, index, old in reversed(before):
            _put(node, field, index, old)


def _put(node, field, index, new):
    """Put something into a node's field, or into a list there; returns what stood there."""
    if index is None:
        old = getattr(node, field)
        setattr(node, field, new)
    else:
        held = getattr(node, field)
        old, held[index] = held[index], new
    return old
