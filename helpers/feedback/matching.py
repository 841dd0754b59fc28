"""When two values of an answer and of the reference are the same, nearly the same, or plainly related."""

import functools
import itertools

import numpy as np

from .values import as_array, in_a_sentence, is_tensor

LARGEST = 200_000  # entries of an array that is compared
MOST_AXES = 4  # of an array whose axes are put in other orders


def kept(value):
    """A copy of a value, as it is now, or None where it is nothing to compare."""
    if is_tensor(value):
        return value.detach().clone() if value.numel() <= LARGEST else None
    if isinstance(value, np.ndarray):
        return value.copy() if value.size <= LARGEST and value.dtype.kind in "fiub" else None
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        return value
    return None


def copied(value):
    return value.clone() if hasattr(value, "clone") else value.copy() if isinstance(value, np.ndarray) else value


def array_of(value):
    """A value as a NumPy array; a tensor of half precision as float32, which leaves room for its rounding."""
    if not is_tensor(value):
        return np.asarray(value)
    array = as_array(value)
    return array.astype(np.float32) if array.dtype == np.float16 else array


def telling(value):
    """Whether equality with a value says anything: an array of different entries, or a number that is no small size."""
    if value is None:
        return False
    array = array_of(value)
    if array.dtype.kind not in "fib" or not array.size:
        return False
    if array.ndim == 0:
        return array.dtype.kind != "b" and abs(float(array)) > 100
    return array.size >= 2 and bool((array != array.flat[0]).any())


def _tolerances(*arrays):
    """What entries may differ by: relative to themselves, and to the largest."""
    return (1e-4, 1e-5) if any(x.dtype == np.float32 for x in arrays) else (1e-7, 1e-9)


def equal(a, b):
    if a is None or b is None:
        return False
    a, b = array_of(a), array_of(b)
    if a.shape != b.shape or (a.dtype.kind == "b") != (b.dtype.kind == "b"):
        return False
    if a.dtype.kind == "b":
        return bool((a == b).all())
    relative, absolute = _tolerances(a, b)
    a, b = a.astype(float), b.astype(float)
    with np.errstate(all="ignore"):
        size = np.abs(b)
        scale = max(float(size.max(initial=0.0, where=size < np.inf)), 1e-30)
        near = np.abs(a - b) <= absolute * scale + relative * size
        return bool((near & (size < np.inf) | (a == b) | np.isnan(a) & np.isnan(b)).all())


def same_kind(a, b):
    """Whether two values both hold truth values, or both numbers."""
    return (array_of(a).dtype.kind == "b") == (array_of(b).dtype.kind == "b")


class Measured:
    """An array, and what tells it from most others before they are compared entry by entry.

    total, size: the sum of its finite entries and that of their absolute values. odd: how many are not finite.
    """

    def __init__(self, value):
        self.array = array_of(value)
        relative, absolute = _tolerances(self.array)
        self.room = relative + absolute * self.array.size
        numbers = self.array.astype(float)
        sizes, finite = np.abs(numbers), np.isfinite(numbers)
        self.odd = numbers.size - int(np.count_nonzero(finite))
        with np.errstate(over="ignore"):
            self.total, self.size = float(numbers.sum(where=finite)), float(sizes.sum(where=finite))
        self.largest = np.unravel_index(np.argmax(sizes), sizes.shape) if sizes.size else None

    def as_large(self, other, factor=1.0):
        """Whether the entries may be those of the other times a factor, but for their signs and their places."""
        return self.odd == other.odd and not abs(self.size - factor * other.size) > self._room(other, factor)

    def as_much(self, other):
        """Whether the entries may be those of the other, but for their places."""
        return self.as_large(other) and not abs(self.total - other.total) > self._room(other)

    def _room(self, other, factor=1.0):
        """What `equal` allows all entries together, and more."""
        return 2 * max(self.room, other.room) * max(self.size, factor * other.size)


def matched(ours, theirs):
    """How a value is another (both Measured): [""] if equal; else whether nearly, as a list.

    "times" a factor, but for its "signs", "transposed", "opposite", as "numbers".
    """
    if ours.as_much(theirs) and equal(ours.array, theirs.array):
        return [""]
    return list(_nearly(ours, theirs))


def _nearly(ours, theirs):
    a, b = ours.array, theirs.array
    if b.dtype.kind == "b":
        if a.shape == b.shape:
            if a.dtype.kind != "b" and (a == b).all():
                yield "numbers"
            elif (a == ~b).all():
                yield "opposite"
        return
    if a.dtype.kind == "b":
        return
    if a.ndim >= 2 and ours.as_much(theirs) and equal(np.swapaxes(a, -1, -2), b):
        yield "transposed"
    if a.shape != b.shape or not a.ndim:
        return
    if ours.as_large(theirs) and equal(np.abs(a), np.abs(b)):
        yield "signs"
    at = theirs.largest
    if ours.odd == theirs.odd == 0 and b[at] and a[at]:
        factor = float(a[at]) / float(b[at])
        if ours.as_large(theirs, abs(factor)) and equal(a.astype(float), b.astype(float) * factor):
            yield "times"


def step_between(pairs):
    """The step that turns the first value of each pair into the second, as a clause; "" where no simple one does.

    pairs: values of different shapes, ours and the right one, on several cases.
    """
    first = array_of(pairs[0][0])
    for axis in range(-1, -first.ndim - 1, -1):
        if all(array_of(ours).ndim >= -axis and array_of(ours).shape[axis] == 1 for ours, _ in pairs):
            continue  # nothing is summed there: the shape alone is another
        for clause, function in reductions(axis):
            if all(_equal_after(ours, theirs, function) for ours, theirs in pairs):
                return clause
    for order, last_two in axis_orders(first.ndim):
        if all(_equal_after(ours, theirs, np.transpose, axes=order) for ours, theirs in pairs):
            return "turned, its last two axes exchanged" if last_two else f"turned, its axes in the order {order}"
    return ""


_AXES = {-1: "its last axis", -2: "its last axis but one", -3: "its last axis but two"}


def axis_called(axis):
    """What a sentence calls an axis, counted from the end."""
    return _AXES.get(axis, f"axis {axis}")


def reductions(axis):
    """(clause, function of an array) for what takes an axis away: "summed over its last axis"."""
    for name, function in (("summed", np.sum), ("averaged", np.mean)):
        yield f"{name} over {axis_called(axis)}", functools.partial(function, axis=axis)


def axis_orders(ndim):
    """(order, whether only the last two are exchanged) for every other order of an array's axes, if they are few."""
    as_they_are = tuple(range(ndim))
    for order in itertools.permutations(as_they_are) if 2 <= ndim <= MOST_AXES else ():
        if order != as_they_are:
            yield order, order == (*as_they_are[:-2], ndim - 1, ndim - 2)


def not_finite(value):
    """"NaN" or "infinity" where a value holds such; "" for none. Minus infinity is what masks are made with."""
    array = array_of(value) if value is not None else np.zeros(())
    if array.dtype.kind != "f":
        return ""
    return "NaN" if np.isnan(array).any() else "infinity" if np.isposinf(array).any() else ""


def part_of(ours, theirs):
    """(axis, place) where an array is one entry along an axis of another, 0 or −1, its axis kept or not; or None."""
    ours, theirs = array_of(ours), array_of(theirs)
    for axis in range(theirs.ndim):
        shape = (*theirs.shape[:axis], 1, *theirs.shape[axis + 1 :])
        if theirs.shape[axis] > 1 and ours.shape in (shape, shape[:axis] + shape[axis + 1 :]):
            for place in (0, -1):
                if equal(ours.reshape(shape), np.take(theirs, [place], axis)):
                    return axis, place
    return None


def _equal_after(ours, theirs, function, **options):
    try:
        return equal(function(array_of(ours), **options), theirs)
    except ValueError:  # a case in which the value has other axes
        return False


def relations(ours, theirs, sizes):
    """What can be said of our value beside the right one, most telling first."""
    ours, theirs = array_of(ours), array_of(theirs)
    if ours.dtype.kind == "b" or theirs.dtype.kind == "b":
        comparable = ours.shape == theirs.shape and ours.dtype.kind == theirs.dtype.kind
        opposite = comparable and (ours == ~theirs).all()
        return ["its opposite, True for False"] if opposite else _parts_off(ours, theirs) if comparable else []
    ours, theirs = ours.astype(float), theirs.astype(float)
    found = []
    if theirs.ndim >= 2 and equal(np.swapaxes(ours, -1, -2), theirs):
        found.append("that with its last two axes exchanged")
    if ours.shape != theirs.shape:
        return found
    if equal(-ours, theirs):
        found.append("that with the opposite sign")
    for name, size in sizes.items():
        for text, factor in ((f"√{name}", size**0.5), (name, size)):
            if size > 1:
                found += [f"{text} times that"] if equal(ours, theirs * factor) else []
                found += [f"that divided by {text}"] if equal(ours, theirs / factor) else []
    return [*found, *_infinite(ours, theirs), *_functions(ours, theirs, sizes), *_parts_off(ours, theirs)]


def _infinite(ours, theirs):
    """Minus infinity that is missing."""
    blocked = np.isneginf(theirs)
    if blocked.any() and not blocked.all() and np.isfinite(ours[blocked]).all():
        alike = equal(np.where(blocked, 0.0, ours), np.where(blocked, 0.0, theirs))
        yield "that but for the places of −∞, where yours is finite" if alike else "finite where that holds −∞"


_FUNCTIONS = (
    ("the exponential of that", np.exp),
    ("the logarithm of that", np.log),
    ("the root of that", np.sqrt),
    ("that squared", np.square),
    ("that without its sign", np.abs),
    ("1 divided by that", np.reciprocal),
    ("tanh of that", np.tanh),
    ("that with its negative entries set to 0", lambda x: np.maximum(x, 0.0)),
    ("the running total of that", lambda x: np.cumsum(x, axis=-1)),
)


def _functions(ours, theirs, sizes):
    """A function of all entries that was applied, or that is missing."""
    if not (np.isfinite(ours).all() and np.isfinite(theirs).all()) or not theirs.ndim:
        return
    with np.errstate(all="ignore"):
        for text, function in _FUNCTIONS:
            if equal(ours, function(theirs)) and not equal(ours, theirs):
                yield text
    shift = ours - theirs
    if theirs.size > 2 and equal(shift, np.full_like(shift, shift.flat[0])) and shift.flat[0]:
        yield f"that with {in_a_sentence(shift.flat[0], '.3g')} added everywhere"
    for axis in range(theirs.ndim):
        if theirs.shape[axis] > 1 and equal(np.flip(ours, axis), theirs):
            yield f"that in reverse order along axis {axis}"
        elif theirs.shape[axis] > 1 and constant_along(ours, axis) and not constant_along(theirs, axis):
            names = [name for name, size in sizes.items() if size == theirs.shape[axis]]
            yield from [f"the same all along axis {axis}, {name}" for name in names]
            yield f"the same all along axis {axis}"


def constant_along(x, axis):
    """Whether all entries along an axis are finite and alike."""
    return bool(np.isfinite(x).all() and np.allclose(x, np.take(x, [0], axis), rtol=1e-5, atol=1e-7))


def _parts_off(ours, theirs):
    part = part_off(ours, theirs)
    return [f"that but for {part}"] if part else []


def part_off(ours, theirs):
    """The simple part of an array that alone is wrong ("its first row"), or "". Both: NumPy arrays of one shape."""
    if ours.shape != theirs.shape or ours.ndim < 1 or theirs.size < 4:
        return ""
    with np.errstate(all="ignore"):
        off = ~np.isclose(ours.astype(float), theirs.astype(float), rtol=1e-4, atol=1e-6, equal_nan=True)
    if not off.any():
        return ""
    for text, inside in _regions(off.shape):
        fine = theirs[~inside]
        if inside.any() and fine.size > 1 and (fine != fine.flat[0]).any():  # what is right there says something
            if not off[~inside].any() and 2 * off[inside].sum() > inside.sum():
                return text
    return ""


def _regions(shape):
    """Parts of an array, the smallest first, as (text, where)."""
    n = shape[-1]
    column = np.arange(n)
    if len(shape) == 1:
        if n >= 4:
            yield "its first entry", column == 0
            yield "its last entry", column == n - 1
        return
    row = np.arange(shape[-2])[:, None]
    for text, inside in (
        ("its diagonal", row == column),
        ("its first row", row == 0),
        ("its last row", row == shape[-2] - 1),
        ("its first column", column == 0),
        ("its last column", column == n - 1),
        ("what lies above its diagonal", row < column),
        ("what lies below its diagonal", row > column),
        ("its even columns, 0, 2, …", column % 2 == 0),
        ("its odd columns, 1, 3, …", column % 2 == 1),
    ):
        yield text, np.broadcast_to(inside, shape)
    if len(shape) > 2:
        first = np.arange(shape[0]).reshape(-1, *[1] * (len(shape) - 1))
        yield "all after the first along axis 0", np.broadcast_to(first > 0, shape)


def row_factors(ours, theirs):
    """The factor of each row, where every row is the right one times a number of its own; None elsewhere."""
    ours, theirs = array_of(ours), array_of(theirs)
    if ours.shape != theirs.shape or not theirs.ndim or theirs.dtype.kind != "f" or ours.dtype.kind != "f":
        return None
    ours, theirs = ours.astype(float), theirs.astype(float)
    if not (np.isfinite(ours).all() and np.isfinite(theirs).all()) or theirs.shape[-1] < 2:
        return None
    at = np.argmax(np.abs(theirs), axis=-1)[..., None]
    largest = np.take_along_axis(theirs, at, -1)
    if (largest == 0).any():
        return None
    factors = np.take_along_axis(ours, at, -1) / largest
    if not (factors != 0).all() or np.allclose(factors, 1) or not equal(ours, theirs * factors):
        return None
    return factors[..., 0]
