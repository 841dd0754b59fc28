"""What kind of thing a value is, how a report describes it, and when two values are the same."""

import decimal
import math
import numbers
import re
import sys
import types

import numpy as np


def is_tensor(x):
    """Whether x is a tensor that holds numbers: those on PyTorch's "meta" device have a shape and nothing else."""
    module = type(x).__module__
    return (module == "torch" or module[:6] == "torch.") and hasattr(x, "detach") and not getattr(x, "is_meta", False)


def is_layer(x):
    """Whether x is one of PyTorch's modules, which is not loaded for that."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.nn.Module)


def is_array(x):
    return isinstance(x, np.ndarray) or is_tensor(x)


def is_number(x):
    return isinstance(x, (numbers.Number, np.number)) and not isinstance(x, (bool, np.bool_))


def is_real_number(x):
    """Whether x is a finite number that a float can hold."""
    try:
        return is_number(x) and not isinstance(x, complex) and math.isfinite(float(x))
    except (OverflowError, TypeError, ValueError):
        return False


def as_array(x):
    """A NumPy view of an array, tensor or number."""
    if is_tensor(x):
        x = x.detach()
        try:
            return x.numpy()
        except (TypeError, RuntimeError):  # a kind of tensor that NumPy does not know
            x = x.cpu().resolve_conj().resolve_neg()
            x = x.to_dense() if "sparse" in str(x.layout) else x
            x = x.float() if str(x.dtype).startswith(("torch.bfloat", "torch.float8")) else x
            return x.numpy()
    if isinstance(x, (numbers.Rational, decimal.Decimal)) and not isinstance(x, (bool, np.generic)):
        x = x if isinstance(x, int) and -(2**63) <= x < 2**63 else _as_float(x)
    return np.asarray(x)


def _as_float(x):
    """A number as a float; infinity where it is too large for one."""
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf
    except ValueError:  # a signalling NaN
        return math.nan


def dtype_name(x):
    return str(x.dtype).removeprefix("torch.")


def bits_of(dtype):
    """The number in a dtype's name: 16 for "bfloat16"."""
    return int((re.findall(r"\d+", dtype) or ["0"])[0])


def describe(x):
    """A value's kind in a few words, for reports."""
    if x is None:
        return "nothing (None)"
    if is_array(x):
        kind = "tensor" if is_tensor(x) else "array"
        return f"{'a' if kind == 'tensor' else 'an'} {kind} of shape {tuple(x.shape)}"
    if isinstance(x, (tuple, list)):
        return f"a {type(x).__name__} of {len(x)}"
    if isinstance(x, (bool, np.bool_)) or is_number(x):
        return f"the number {_brief(x)}" if is_number(x) else f"the value {x}"
    if isinstance(x, str):
        return f"the text {x[:40]!r}"
    if isinstance(x, _CALLED_FOR):
        return f"the function `{x.__name__}` itself (are the parentheses of a call missing?)"
    return f"an object of type {type(x).__name__}"


_CALLED_FOR = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)


def in_a_sentence(x, form=""):
    """A number as a sentence has it: with the minus sign of the tables. What is read as code keeps its hyphen."""
    text = f"{x:{form}}"
    return f"−{text[1:]}" if text.startswith("-") else text


def _brief(x):
    """A number in six digits; Fractions and whole numbers beyond all floats too."""
    if isinstance(x, int) and abs(x) >= 10**300:
        return f"10^{math.floor(x.bit_length() * math.log10(2))}" if x > 0 else f"−{_brief(-x)}"
    return in_a_sentence(x if isinstance(x, (int, float, complex, np.number)) else _as_float(x), ".6g")


def arrays(x, numbers=False):
    """All arrays in a nested result; with numbers=True, all single numbers and truth values too."""
    if is_array(x) or isinstance(x, np.generic) or (numbers and isinstance(x, (int, float))):
        yield x
    elif isinstance(x, (tuple, list)):
        for part in x:
            yield from arrays(part, numbers)


def same(a, b, tolerance):
    """Whether two results are equal within a relative tolerance; shapes are compared before values, NaN equals NaN."""
    if isinstance(a, (tuple, list)) or isinstance(b, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(same(x, y, tolerance) for x, y in zip(a, b, strict=True))
    numeric = [is_array(x) or is_number(x) or isinstance(x, (bool, np.bool_)) for x in (a, b)]
    if not all(numeric):
        return type(a) is type(b) and (a is b or a == b if not any(numeric) else False)
    a, b = as_array(a), as_array(b)
    if a.shape != b.shape or a.dtype.kind == "O" or b.dtype.kind == "O":
        return False
    if (a.dtype.kind == "b") != (b.dtype.kind == "b"):
        return False
    return bool(close(a, b, tolerance).all())


def close(a, b, tolerance):
    """Where two arrays of one shape agree, entry by entry."""
    if a.dtype.kind in "bUS" or tolerance == 0.0:
        equal = a == b
        return equal | ((a != a) & (b != b)) if a.dtype.kind in "fc" else equal
    a, b = (x.astype(np.result_type(x, np.float64), copy=False) for x in (a, b))
    with np.errstate(all="ignore"):
        finite, size = np.isfinite(b), np.abs(b)
        # Entries that cancel to nearly 0 are judged by their neighbours.
        scale = size.max(initial=1e-3, where=finite)
        near = np.abs(a - b) <= 0.1 * tolerance * scale + tolerance * size
        return near & finite | (a == b) | (a != a) & (b != b)


def axis_names(shape, dims):
    """Names of a shape's axes by their sizes, "(T_q, T_k)", or "" when a size has no name or more than one."""
    names = {}
    for name, size in dims.items():
        names.setdefault(size, []).append(name)
    found = [names.get(size, ()) for size in shape]
    if not found or any(len(n) != 1 for n in found):
        return ""
    return f"({', '.join(n[0] for n in found)}{',' if len(found) == 1 else ''})"


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


def shown(x):
    """A value as a report writes it."""
    if isinstance(x, (bool, np.bool_)) or not is_number(x) and not is_array(x):
        return str(x)
    x = x if isinstance(x, int) else as_array(x)[()]
    if isinstance(x, int) and abs(x) >= 10**300:
        return _brief(x)
    if isinstance(x, (int, np.integer)):
        return in_a_sentence(x)
    return in_a_sentence(x, ".2f" if 0.01 <= abs(x) < 1000 or x == 0 else ".3g")
