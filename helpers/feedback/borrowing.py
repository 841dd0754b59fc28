"""Several values that are wrong: the smallest set of lines with whose right values all else in an answer is right.

The right values are borrowed from the reference while the learner's own code runs, so neither names nor the way in
which the rest is written need to be alike.
"""

import itertools
from dataclasses import dataclass

from .differences import Value
from .messages import Told, all_right

STEPS, KEYS, TRIED, TOGETHER = 7, 2, 90, (2, 3)  # steps, values for each, sets tried, sizes of sets


@dataclass(frozen=True)
class Borrowed(Told):
    """Values that are wrong, each with what it should be; with all of them the rest of the answer is right."""

    values: tuple[Value, ...]

    @property
    def line(self):
        return self.values[0].line

    def told(self, values_alone=False):
        should = ["" if value.plain else f", which should be {value.phrase}" for value in self.values]
        said = [f"`{v.label}` in line {v.line}{more}" for v, more in zip(self.values, should, strict=True)]
        count = {2: "Two", 3: "Three"}[len(said)]
        listed = f"{', '.join(said[:-1])}, and {said[-1]}"
        return f"{count} values are not right yet: {listed}. With these put right, {all_right(values_alone)}."


def find(search):
    """The smallest set of wrong values, or None. search: a `first_difference.Values`; no single value does for it."""
    if search.theirs is None:
        return None
    steps = [k for k in search.telling_steps() if not search.steps[k].last and search.steps[k].name]
    wrong = [k for k in steps if search.same(k) is None][:STEPS]
    tried = 0
    for size in TOGETHER:
        for together in itertools.combinations(wrong, size):
            if len({search.steps[k].line for k in together}) < size:
                continue
            for keys in itertools.product(*(search.keys_for(k)[:KEYS] for k in together)):
                tried += 1
                if tried > TRIED:
                    return None
                if search.right_with(dict(zip(together, keys, strict=True))):
                    return Borrowed(tuple(search.value(k, key) for k, key in zip(together, keys, strict=True)))
    return None
