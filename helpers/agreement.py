"""Lesson 10: sentences in which a verb has one subject and another noun stands by, and what heads make of them.

In each sentence the two nouns differ in number. The nouns of the two halves are disjoint, so that a head chosen on one
half is tried on words it was not chosen for.
"""

from dataclasses import dataclass
from functools import cached_property

import torch

from helpers.encoder import N_HEADS, N_LAYERS

PLACES = {  # half of the sentences: things, and where they lie
    "choosing": (("book", "letter", "picture", "bottle", "coat", "map"), ("shelf", "table", "box", "wall", "drawer", "roof")),
    "testing": (("song", "ship", "flower", "stone", "phone", "game"), ("garden", "street", "room", "bag", "house", "car")),
}
IRREGULAR = {"shelf": "shelves", "box": "boxes"}
"""Plurals that do not just take an s."""

# The subject is {s}, the other noun {o}, {be} agrees with the subject.
STRAIGHT = (
    "the {s} on the {o} {be} old",
    "the {s} near the {o} {be} very small",
    "the {s} behind the {o} {be} not new",
    "my {s} in the {o} {be} here",
    "the red {s} under the old {o} {be} heavy",
    "the {s} that I saw in the {o} {be} lost",
    "we think the {s} beside the {o} {be} nice",
    "the {s} from the {o} {be} made of glass",
)
TURNED = (
    "near the {o} the {s} {be} old",
    "in the {o} , the {s} {be} very small",
)
