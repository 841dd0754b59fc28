"""What code did on one case, and whether two pieces of code did the same."""

import functools
import math
import re
from dataclasses import dataclass

import numpy as np

from .exercise import AnswerProblem
from .messages import message_of
from .values import arrays, as_array, same


@dataclass(frozen=True, eq=False)
class Outcome:
    """What happened on one case: a value, or an error, and what else was seen."""

    value: object = None
    error: BaseException | None = None
    changed: tuple[int, ...] = ()  # positions of arguments that were changed in place
    printed: str = ""
    warned: tuple[str, ...] = ()

    @functools.cached_property
    def digest(self):
        """Shape, count of NaN, sum and sum of absolute values of each array: they tell most outcomes apart quickly."""
        return tuple(_digest(x) for x in arrays(self.value, numbers=True))


def same_outcome(a, b, tolerance, changed=True):
    """Whether two pieces of code did the same on one case: same values, or the same error for the same reason.

    changed: whether it counts which inputs they changed.
    """
    if a.error is not None or b.error is not None:
        return a.error is not None and b.error is not None and _reason(a.error) == _reason(b.error)
    if changed and a.changed != b.changed:
        return False
    return _alike(a.digest, b.digest, tolerance) and same(a.value, b.value, tolerance)


def refused_in_place(error):
    """Whether an error is NumPy's, of an operation in place that would put fractions among whole numbers."""
    return error is not None and "same_kind" in message_of(error)


def _digest(x):
    x = as_array(x)
    if x.dtype.kind not in "fiub":
        return x.shape, 0, 0.0, 0.0
    x = x.astype(float)
    finite = x[np.isfinite(x)]
    return x.shape, x.size - finite.size, float(finite.sum()), float(np.abs(finite).sum())


def _alike(a, b, tolerance):
    """False where two digests rule out that the values agree within the tolerance."""
    if len(a) != len(b):
        return False
    for (shape, odd, total, size), (other_shape, other_odd, other_total, other_size) in zip(a, b, strict=True):
        room = 4 * (tolerance + 1e-12) * (max(size, other_size) + math.prod(shape) * 1e-3)
        if shape != other_shape or odd != other_odd or abs(total - other_total) > room:
            return False
    return True


def _reason(error):
    """Type and wording of an error, whatever the order of its words: a * b and b * a fail alike."""
    if isinstance(error, AnswerProblem):
        return AnswerProblem, message_of(error)
    text = message_of(error)
    inner = re.search(r"matmul.*size (\d+) is different from (\d+)|not aligned: (\d+) \(dim \d\) != (\d+)", text)
    if inner:  # `@` and np.dot say the same in other words
        return type(error), sorted(size for size in inner.groups() if size)
    return type(error), sorted(re.findall(r"\w+", text))
