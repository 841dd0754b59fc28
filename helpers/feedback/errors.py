"""Errors and shapes in the learner's terms: what two shapes would have to share, and whose name is missing."""

import difflib
import itertools
import re

from .messages import message_of
from .registry import functions_until, get
from .running import place_of
from .values import axis_names


def told(error, candidate, exercise, dims=None):
    """One or two sentences: the line that stopped, with what error, and what that means. dims: sizes by name."""
    if isinstance(error, (SystemExit, KeyboardInterrupt)):
        kind = "SystemExit (exit was called)" if isinstance(error, SystemExit) else "KeyboardInterrupt"
    else:
        kind = type(error).__name__
    place = place_of(error, candidate) if candidate is not None else None
    meaning = explained(error, place, exercise, dims)
    if place is None:
        return f"The call stopped with {kind}: {meaning or message_of(error)}"
    arrays = " and ".join(f"{name} {shape}" for name, shape in place.arrays)
    shapes = f" for {arrays}" if arrays else ""
    return f"Line {place.line}, `{place.text}`, stopped with {kind}{shapes}: {meaning or message_of(error)}"


def explained(error, place, exercise, dims=None):
    """What an error means, in words that fit its kind; None where its own words are the best there are."""
    dims = dims or {}
    text = message_of(error)
    for ask in _QUESTIONS:
        found = ask(error, text, place, exercise, dims)
        if found:
            return found
    return None


def _inner_sizes(error, text, place, exercise, dims):
    """A matrix product of shapes that do not fit: no gufunc signatures, the two sizes that had to be equal."""
    sizes = (
        re.search(r"matmul.*size (\d+) is different from (\d+)", text)
        or re.search(r"not aligned: \(.*?\) \(dim \d\) != .*", text)
        or re.search(r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)", text)
        or re.search(r"batch2 tensor to be: \[\d+, (\d+)\] but got: \[\d+, (\d+)\]", text)
    )
    if not sizes:
        return None
    numbers = [int(n) for n in sizes.groups() or re.findall(r"(\d+) \(dim \d\)", text)]
    if len(numbers) == 4:
        numbers = numbers[1:3]
    if len(numbers) != 2:
        return None
    first, second = sorted(numbers) if not place else _in_order(numbers, place)
    rule = "in a product A @ B the last axis of A and the last but one of B must be equally long"
    return f"{rule}; here they are {first} and {second}.{_between(place, {first, second})}"


def _between(place, sizes):
    """An argument that was not read so far and whose two sizes are those that do not fit."""
    unread = () if place is None else place.unread
    fitting = [(name, shape) for name, shape in unread if len(shape) == 2 and set(shape) == sizes]
    if len(fitting) != 1:
        return ""
    name, shape = fitting[0]
    return f" `{name}`, of shape {shape}, has just these two sizes: does it belong in between?"


def _in_order(numbers, place):
    shapes = [shape for _, shape in _arrays(place)]
    if len(shapes) == 2:
        last = shapes[0][-1]
        if last in numbers:
            other = numbers[1] if numbers[0] == last else numbers[0]
            return last, other
    return sorted(numbers)


def _broadcast(error, text, place, exercise, dims):
    found = re.search(r"could not be broadcast together with shapes? ((?:\([\d,]*\) ?)+)", text)
    if found:
        shapes = [tuple(map(int, re.findall(r"\d+", s))) for s in re.findall(r"\([\d,]*\)", found[1])]
        shapes = [f"({', '.join(map(str, s))}{',' if len(s) == 1 else ''})" for s in shapes]
        rule = "counted from the last axis, sizes must be equal or 1"
        return f"the shapes {' and '.join(shapes[:2])} do not line up; {rule}."
    found = re.search(r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\).*dimension (\d+)", text)
    if found:
        sizes = " and ".join(_named(int(size), dims) for size in found.groups()[:2])
        return (
            f"the sizes {sizes} do not line up on axis {found[3]}; "
            f"counted from the last axis, sizes must be equal or 1.{_fewer_axes(place)}"
        )
    return None


def _named(size, dims):
    """A size with its name, "13 (max_len)", where it has one name and no other."""
    names = [name for name, other in dims.items() if other == size]
    return f"{size} ({names[0]})" if len(names) == 1 else f"{size}"


def _arrays(place):
    """(name, shape) of the arrays that the line names, those with axes."""
    return [(name, shape) for name, shape in place.arrays if shape] if place else []


def _fewer_axes(place):
    """Of two arrays of which one has fewer axes: which axes meet, as a sentence; "" for all others."""
    ranks = sorted(((len(shape), name) for name, shape in _arrays(place)), reverse=True)
    if len(ranks) != 2 or ranks[0][0] == ranks[1][0] or ranks[1][0] == 1:
        return ""
    (more, larger), (fewer, smaller) = ranks
    meets = f"so axis 0 of `{smaller}` meets axis {more - fewer} of `{larger}`"
    return f" `{larger}` has {more} axes and `{smaller}` {fewer}, {meets}."


def _missing_name(error, text, place, exercise, dims):
    if not isinstance(error, NameError) or isinstance(error, UnboundLocalError):
        return None
    name = getattr(error, "name", None) or (re.findall(r"'(\w+)'", text) or [""])[0]
    owners = functions_until(exercise.id)
    if name in owners:
        return _of_an_exercise(name, owners[name], exercise)
    if name in ("np", "torch", "nn", "F", "math"):
        return f"the name `{name}` is not known: run the lesson's first cell, and see there what this lesson imports."
    known = [*owners, *(place.names if place else ())]
    close = [other for other in known if other.lower() == name.lower()]
    close = close or difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    hint = f" Is `{close[0]}` meant?" if close else f" {_nothing_gives(name, place)}"
    return f"the name `{name}` is not known.{hint}"


def _unbound(error, text, place, exercise, dims):
    """A name that gets its value on lines that were not reached."""
    if not isinstance(error, UnboundLocalError) or place is None:
        return None
    name = getattr(error, "name", None) or (re.findall(r"'(\w+)'", text) or [""])[0]
    lines = sorted(dict(place.stored).get(name, ()))
    before = [line for line in lines if line < place.line]
    if place.line in lines and not before:
        return f"this line is the first to give `{name}` a value, and reads it before."
    if not lines:
        return None
    where = f"line {lines[0]}" if len(lines) == 1 else f"lines {', '.join(map(str, lines[:-1]))} and {lines[-1]}"
    if not before:
        return f"`{name}` gets its value only in {where}, further down."
    return f"`{name}` gets its value only in {where}, and this case does not come by there."


def _missing_module(error, text, place, exercise, dims):
    if not isinstance(error, ModuleNotFoundError):
        return None
    return f"`{error.name}` is not installed with the course. What the lesson's first cell imports is enough."


def _one_input_only(error, text, place, exercise, dims):
    """An nn.Sequential that is given more than one value."""
    if not re.search(r"Sequential\.forward\(\) (takes 2 positional arguments|got an unexpected keyword)", text):
        return None
    return "an nn.Sequential takes one value and hands it on: it has no place for a second one, such as a mask."


def _unequal_parts(error, text, place, exercise, dims):
    """An axis cut into parts that do not add up."""
    if "array split does not result in an equal division" in text:
        return "an axis is to be cut into equal parts, and its size is no multiple of their number."
    found = re.search(r"split_sizes to sum exactly to (\d+).*split_sizes=\[([\d, ]+)\]", text)
    if not found:
        return None
    total = sum(map(int, re.findall(r"\d+", found[2])))
    return f"the parts are {found[2]} wide, {total} in all, and the axis that is cut has {found[1]}."


def _fewer_repeats(error, text, place, exercise, dims):
    if "dimensions of repeat dims can not be smaller" not in text:
        return None
    of = [f"`{name}` has {len(shape)}" for name, shape in _arrays(place) if len(shape) > 1]
    has = f"; {of[0]}" if len(of) == 1 else ""
    return f"`repeat` takes a number for each axis of what it repeats, and here come fewer numbers than axes{has}."


def _one_row_only(error, text, place, exercise, dims):
    if "Expected more than 1 value per channel when training" not in text:
        return None
    return "a BatchNorm that is in train mode was given a single row, and it takes the mean and the spread of several."


def _negative_step(error, text, place, exercise, dims):
    if "step must be greater than zero" not in text:
        return None
    return "a slice of a tensor takes no negative step; `flip` turns an axis round, and sorting can go downwards."


def _no_truth_values(error, text, place, exercise, dims):
    if "operator.invert" not in text and "ufunc 'invert' not supported" not in text:
        return None
    return "`~` turns True and False round, and what it was given holds floats. A mask is of dtype bool."


def _nothing_gives(name, place):
    """Why a name is not known: no line gives it a value, or one spells it otherwise."""
    if place is None:
        return "Is it spelt as where it gets its value?"
    return "It is no argument, and no line above gives it a value."


def _of_an_exercise(name, owner, exercise):
    """Where a function of an exercise comes from: its cell in the same lesson, an import in a later one."""
    if owner.split(".")[0] == exercise.id.split(".")[0]:
        return f"`{name}` is your function of exercise {owner}: run that cell first, or Run All Above."
    module = get(owner).reference.__module__
    return f"`{name}` is the function of exercise {owner}. In this lesson: `from {module} import {name}`."


def _missing_attribute(error, text, place, exercise, dims):
    """A name after `self.` that nothing in the class gives a value."""
    found = re.match(rf"'{exercise.name}' object has no attribute '(\w+)'", text)
    if not found or not exercise.is_class:
        return None
    return f"nothing has given `self.{found[1]}` a value by then. Attributes get theirs in `__init__`."


def _recursion(error, text, place, exercise, dims):
    if isinstance(error, RecursionError):
        return "the function calls itself without end."
    return None


def _not_implemented(error, text, place, exercise, dims):
    found = re.search(r"\"(\w+)\" not implemented for '(\w+)'", text)
    if not found:
        return None
    kind = {"Bool": "True and False", "Long": "whole numbers", "Int": "whole numbers", "Half": "half precision"}
    what = kind.get(found[2], found[2])
    return f"PyTorch cannot do this with {what}: turn them into floats first, or, for a mask, use it to choose."


_QUESTIONS = (
    _inner_sizes,
    _broadcast,
    _unbound,
    _missing_name,
    _missing_module,
    _missing_attribute,
    _one_input_only,
    _unequal_parts,
    _fewer_repeats,
    _one_row_only,
    _negative_step,
    _no_truth_values,
    _recursion,
    _not_implemented,
)


def shape_remark(expected, got, dims):
    """What a wrong shape is, in named sizes, as the end of a sentence: " (20 = T·d_k: …)"; "" where nothing is sure."""
    named = axis_names(got, dims)
    if sorted(expected) == sorted(got) and len(got) > 1:
        last_two = got == (*expected[:-2], expected[-1], expected[-2])
        moved = "the last two axes are exchanged" if last_two else "the axes stand in another order"
        return f", which is {named}: {moved}" if named else f": {moved}"
    if len(got) == len(expected) - 1:
        for axis in range(len(expected)):
            if got == expected[:axis] + expected[axis + 1 :] and expected[axis] != 1:
                name = axis_names((expected[axis],), dims).strip("(,)") or f"of size {expected[axis]}"
                return f": the axis {name} is gone"
    if len(got) == len(expected) + 1 and 1 in got:
        kept = list(got)
        kept.remove(1)
        if tuple(kept) == tuple(expected):
            return ": there is one axis of size 1 too many"
    merged = _merged(expected, got, dims)
    if merged:
        return f": {merged}"
    return f", which is {named}" if named else ""


def _merged(expected, got, dims):
    """A size that is the product of two neighbours of the expected shape: which axes were folded into one."""
    names = {}
    for name, size in dims.items():
        names.setdefault(size, name)
    for size in got:
        if size in expected or size in names:
            continue
        for a, b in itertools.combinations(dims, 2):
            if dims[a] > 1 and dims[b] > 1 and dims[a] * dims[b] == size:
                return f"{size} = {a}·{b}, so two axes were folded into one"
    return ""


def advice(error):
    """What to do about an error whose own words do not say it; an empty list where nothing is known, or no error."""
    return [] if error is None else [text for words, text in _ADVICE if words in message_of(error)][:1]


# Advice on errors whose wording does not say what to do.
_ADVICE = (
    (
        "truth value of a",
        "An array is neither true nor false as a whole: to ask whether an argument was given, write `is not None`; "
        "to choose entry by entry or to find a maximum, use NumPy's functions.",
    ),
    (
        "Boolean value of Tensor",
        "A tensor is neither true nor false as a whole: to ask whether it was given, write `is not None`.",
    ),
    ("Cannot interpret", "A shape goes into one pair of parentheses: `np.zeros((2, 3))`."),
    (
        "math range error",
        "`math.exp` stops where its result is too large for a float, from about exp(710) on. "
        "Can the numbers be made smaller before the exponential, without changing the result?",
    ),
    ("has no attribute 'randn'", "A Generator draws normal numbers with `rng.normal` or `rng.standard_normal`."),
    ("keyword argument 'dim'", "NumPy calls it `axis`; `dim` is PyTorch's word."),
    ("keyword argument 'keepdim'", "NumPy calls it `keepdims`; `keepdim` is PyTorch's word."),
    ("no attribute 'matmul'", "An array has no method `matmul`: write `A @ B` or `np.matmul(A, B)`."),
    (
        "'Tensor' object is not callable",
        "A tensor cannot be called as a layer can: a product of matrices is `x @ W.T`, or `F.linear(x, W, b)`.",
    ),
    ("object is not callable", "What stands before the parentheses is a value, and no function."),
    ("builtin_function_or_method", "A method is named but not called: are its parentheses missing?"),
    ("torch.return_types.max", "`torch.max` along a dim returns values and places; take `.values`, or use `amax`."),
    ("einstein sum", "With `...` in front of the subscripts, einsum takes any leading axes."),
    ("einsum()", "With `...` in front of the subscripts, einsum takes any leading axes."),
    (
        "axes don't match",
        "NumPy's transpose takes the order of *all* axes; `np.swapaxes(x, -1, -2)` exchanges the last two.",
    ),
)
