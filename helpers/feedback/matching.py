"""When two values of an answer and of the reference are the same, nearly the same, or plainly related."""

import numpy as np

LARGEST = 200_000  # entries of an array that is compared


def kept(value):
    """A copy of a value, as it is now, or None where it is nothing to compare."""
    if hasattr(value, "detach"):
        return value.detach().clone() if value.numel() <= LARGEST else None
    if isinstance(value, np.ndarray):
        return value.copy() if value.size <= LARGEST and value.dtype.kind in "fiub" else None
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        return value
    return None


def copied(value):
    return value.clone() if hasattr(value, "clone") else value.copy() if isinstance(value, np.ndarray) else value


def array_of(value):
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.float() if str(value.dtype) in ("torch.bfloat16", "torch.float16") else value
        return value.numpy()
    return np.asarray(value)


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


def equal(a, b):
    if a is None or b is None:
        return False
    a, b = array_of(a), array_of(b)
    if a.shape != b.shape or (a.dtype.kind == "b") != (b.dtype.kind == "b"):
        return False
    if a.dtype.kind == "b":
        return bool((a == b).all())
    relative, absolute = (1e-4, 1e-5) if any(x.dtype == np.float32 for x in (a, b)) else (1e-7, 1e-9)
    a, b = a.astype(float), b.astype(float)
    finite = np.abs(b[np.isfinite(b)])
    scale = max(float(finite.max(initial=0.0)), 1e-30)
    with np.errstate(all="ignore"):
        return bool(np.isclose(a, b, rtol=relative, atol=absolute * scale, equal_nan=True).all())


def same_kind(a, b):
    """Whether two values both hold truth values, or both numbers."""
    return (array_of(a).dtype.kind == "b") == (array_of(b).dtype.kind == "b")


def nearly(ours, theirs):
    """How a value is nearly another: "times" a factor, but for its "signs", "transposed", "opposite", as "numbers"."""
    ours, theirs = array_of(ours), array_of(theirs)
    if theirs.dtype.kind == "b":
        if ours.shape == theirs.shape:
            if ours.dtype.kind != "b" and (ours == theirs).all():
                yield "numbers"
            elif (ours == ~theirs).all():
                yield "opposite"
        return
    if ours.dtype.kind == "b":
        return
    if ours.ndim >= 2 and equal(np.swapaxes(ours, -1, -2), theirs):
        yield "transposed"
    if ours.shape != theirs.shape or not ours.ndim:
        return
    if equal(np.abs(ours), np.abs(theirs)):
        yield "signs"
    ours, theirs = ours.astype(float), theirs.astype(float)
    at = np.unravel_index(np.argmax(np.abs(theirs)), theirs.shape)
    if np.isfinite(ours).all() and np.isfinite(theirs).all() and theirs[at] and ours[at]:
        if equal(ours, theirs * (ours[at] / theirs[at])):
            yield "times"


def relations(ours, theirs, sizes):
    """What can be said of our value beside the right one, most telling first."""
    ours, theirs = array_of(ours), array_of(theirs)
    if ours.dtype.kind == "b" or theirs.dtype.kind == "b":
        comparable = ours.shape == theirs.shape and ours.dtype.kind == theirs.dtype.kind
        opposite = comparable and (ours == ~theirs).all()
        return ["its opposite, True for False"] if opposite else []
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
    return found
