"""When no known mistake fits: how a result relates to the right one, as a clause."""

import numpy as np

from .values import as_array, close, is_array, is_number


def relation(expected, got, dims):
    """How one numeric result relates to the right one, as a clause ("the expected values negated"), or None."""
    expected, got = as_array(expected), as_array(got)
    if expected.dtype.kind == "b":
        opposite = got.dtype.kind == "b" and expected.size and (got == ~expected).all()
        if opposite:
            return "exactly the opposite of the expected values: True and False are exchanged"
    if expected.size < 2 or expected.dtype.kind not in "fiu" or got.dtype.kind not in "fiu":
        return None
    expected, got = expected.astype(float), got.astype(float)
    if not (np.isfinite(expected).all() and np.isfinite(got).all()):
        return None

    def equal(a, b):
        return a.shape == b.shape and close(a, b, 1e-5).all()

    if expected.shape == got.shape and close(got, expected, 1e-3).all():
        return None
    if expected.ndim >= 2 and equal(np.swapaxes(got, -1, -2), expected):
        return "the expected values with the last two axes exchanged (transposed)"
    if equal(-got, expected):
        return "the expected values with the opposite sign"
    for axis in range(expected.ndim):
        if expected.shape[axis] > 1 and equal(np.flip(got, axis), expected):
            return f"the expected values in reverse order along axis {axis}"
        if _permuted(expected, got, axis):
            return f"the expected values in another order along axis {axis}"
    shift = got - expected
    if equal(shift, np.full_like(shift, shift.flat[0])):
        return f"the expected values with {shift.flat[0]:.4g} added everywhere"
    nonzero = np.abs(expected) > 1e-9 * np.abs(expected).max()
    if nonzero.any():
        factor = np.median(got[nonzero] / expected[nonzero])
        if factor != 0 and equal(got, factor * expected):
            return f"{factor:.4g} times the expected values everywhere{_factor_name(factor, dims)}"
    return None


def _permuted(expected, got, axis):
    a, b = (np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1) for x in (expected, got))
    if len(a) < 3:
        return False
    a, b = (x[np.lexsort(np.round(x, 6).T)] for x in (a, b))
    return bool(close(a, b, 1e-5).all())


def _factor_name(factor, dims):
    for name, size in dims.items():
        if size < 2:
            continue
        candidates = ((f"√{name}", size**0.5), (name, size), (f"1/√{name}", size**-0.5), (f"1/{name}", 1 / size))
        for label, value in candidates:
            if np.isclose(abs(factor), value, rtol=1e-4):
                return f"; {label} is {value:.4g}"
    return ""


def axis_names(shape, dims):
    """Names of a shape's axes by their sizes, "(T_q, T_k)", or "" when a size has no name of its own."""
    names = {}
    for name, size in dims.items():
        names.setdefault(size, name)
    found = [names.get(size) for size in shape]
    return f"({', '.join(found)}{',' if len(found) == 1 else ''})" if found and all(found) else ""


def worst(expected, got):
    """Index of the entry that is furthest off, NaN first."""
    expected, got = as_array(expected), as_array(got)
    if expected.dtype.kind in "bUS":
        distance = (expected != got).astype(float)
    else:
        with np.errstate(all="ignore"):
            distance = np.abs(got.astype(float) - expected.astype(float))
        distance = np.where(got == expected, 0.0, np.where(np.isnan(distance), np.inf, distance))
    return tuple(int(i) for i in np.unravel_index(np.argmax(distance), distance.shape))


def parts(exercise, value):
    """A result as (name, value) pairs, in the order in which it is returned."""
    if isinstance(value, (tuple, list)) and len(exercise.results) == len(value) != 1:
        return tuple(zip(exercise.results, value, strict=True))
    return ((exercise.results[0] if exercise.results else "the result", value),)


def shown(x):
    """A value as a report writes it."""
    if isinstance(x, (bool, np.bool_)) or not is_number(x) and not is_array(x):
        return str(x)
    x = x if isinstance(x, int) else as_array(x)[()]
    if isinstance(x, (int, np.integer)):
        return str(x)
    return f"{x:.2f}" if 0.01 <= abs(x) < 1000 or x == 0 else f"{x:.3g}"
