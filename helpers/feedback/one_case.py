"""One case of an exercise: is what the answer did right, and if not, what is wrong with it, in a sentence."""

import inspect
import re
from dataclasses import dataclass

import numpy as np

from . import errors
from .exercise import AnswerProblem
from .inputs import tolerance_of
from .tables import Comparison
from .values import (
    arrays,
    as_array,
    axis_names,
    describe,
    dtype_name,
    in_a_sentence,
    is_array,
    is_number,
    is_tensor,
    same,
    shown,
    worst,
)


@dataclass(frozen=True)
class Problem:
    """What is wrong in one case.

    kind: "error", "missing error", "kind", "shape", "value", "dtype", "changed" or "judged".
    """

    kind: str
    text: str


def problem(answer, i):
    """The Problem of an answer on case i, or None if it is right there."""
    outcome, expected, case = answer.outcomes[i], answer.expected[i], answer.exercise.cases[i]
    return _problem(answer.exercise, case, expected, outcome, answer.candidate)


def is_right(exercise, case, expected, outcome):
    """Whether an outcome is right on a case: what `_problem` asks, without the sentences, of thousands of variants."""
    if expected.error is not None:
        return _wrong_error(outcome, expected.error) is None
    if outcome.error is not None:
        return False
    if exercise.judge:
        return not exercise.judge(outcome.value, case)
    return not (
        outcome.changed
        or _wrong_kind(exercise, expected.value, outcome.value)
        or _wrong_shape(exercise, expected.value, outcome.value, case)
        or next(_off(exercise, expected.value, outcome.value, case), None)
        or _wrong_dtype(exercise, expected.value, outcome.value)
    )


def _problem(exercise, case, expected, outcome, candidate):
    if expected.error is not None:
        return _wrong_error(outcome, expected.error)
    if outcome.error is not None:
        return Problem("error", raised(exercise, outcome.error, candidate, case.dims))
    if exercise.judge:
        findings = exercise.judge(outcome.value, case)
        return Problem("judged", " ".join(finding.message for finding in findings)) if findings else None
    return (
        _wrong_kind(exercise, expected.value, outcome.value)
        or _wrong_shape(exercise, expected.value, outcome.value, case)
        or _wrong_values(exercise, expected.value, outcome.value, case)
        or _wrong_dtype(exercise, expected.value, outcome.value)
        or changed_inputs(exercise, outcome)
    )


def _wrong_error(outcome, expected):
    name = type(expected).__name__
    if outcome.error is None:
        text = f"No error came for input that cannot work; {name} is wanted, saying which values do not fit."
        return Problem("missing error", text)
    if not isinstance(outcome.error, type(expected)):
        came = f"{type(outcome.error).__name__} came: {errors.message_of(outcome.error)}"
        text = f"For input that cannot work, {name} is wanted, saying which values do not fit; {came}"
        return Problem("missing error", text)
    wanted, said = (re.findall(r"\d+", errors.message_of(error)) for error in (expected, outcome.error))
    if not set(wanted) <= set(said):
        text = f"The {name} should name the values that do not fit, {' and '.join(wanted)}; it says: "
        return Problem("missing error", text + errors.message_of(outcome.error))
    return None


def raised(exercise, error, candidate, dims=None):
    """Where and how an answer stopped, in a sentence. dims: sizes by name, such as {"T": 5}."""
    if isinstance(error, AnswerProblem):
        return error.finding.message
    return errors.told(error, candidate, exercise, dims)


# Kind and shape -------------------------------------------------------------------------------------------------------


def parts(exercise, value):
    """A result as (name, value) pairs, in the order in which it is returned."""
    if isinstance(value, (tuple, list)) and len(exercise.results) == len(value) != 1:
        return tuple(zip(exercise.results, value, strict=True))
    return ((exercise.results[0] if exercise.results else "the result", value),)


def pairs(exercise, expected, got):
    """(name, expected, got) of every result."""
    names = [name for name, _ in parts(exercise, expected)]
    if len(names) == 1:
        return [(names[0], expected, got)]
    return list(zip(names, expected, got, strict=True))


def called(exercise, name):
    """A result's name as a sentence has it: marked as code where the exercise names its results."""
    return f"`{name}`" if name in exercise.results else name


def _wrong_kind(exercise, expected, got):
    text = _kind_of_all(exercise, expected, got)
    return Problem("kind", text) if text else None


def _kind_of_all(exercise, expected, got):
    names = exercise.results
    if got is None:
        return "Nothing was returned: is the `return` line missing, or is its value printed instead?"
    if inspect.isasyncgen(got) or inspect.isawaitable(got):
        return "The function is an `async` one, which gives a promise and no value: write plain `def`."
    if inspect.isgenerator(got):
        return "The function gives a generator: write `return`, not `yield`."
    if isinstance(expected, tuple):
        wanted = " and ".join(names) if len(names) == len(expected) else f"{len(expected)} values"
        if not isinstance(got, (tuple, list)):
            return f"One value came back, {describe(got)}; {len(expected)} are wanted: {wanted}, in this order."
        if len(got) != len(expected):
            return f"{len(got)} values came back; {len(expected)} are wanted: {wanted}, in this order."
        found = zip(parts(exercise, expected), got, strict=True)
        texts = (_kind_problem(called(exercise, name), part, g) for (name, part), g in found)
        return next((text for text in texts if text), None)
    return _kind_problem(called(exercise, parts(exercise, expected)[0][0]), expected, got)


def _kind_problem(name, expected, got):
    if is_array(expected) and as_array(expected).ndim == 0 and is_number(got):
        return None
    if is_array(expected) and is_array(got):
        return _array_problem(name, expected, got)
    if isinstance(expected, (bool, np.bool_)):
        single = is_array(got) and as_array(got).ndim == 0 and as_array(got).dtype.kind == "b"
        fine = single or isinstance(got, (bool, np.bool_))
        return None if fine else f"True or False is wanted; {describe(got)} came back."
    if is_number(expected):
        single = is_array(got) and as_array(got).ndim == 0 and as_array(got).dtype.kind in "fiu"
        fine = single or is_number(got) and not isinstance(got, complex)
        return None if fine else f"A number is wanted; {describe(got)} came back."
    if is_array(expected) or isinstance(expected, str) != isinstance(got, str):
        return f"{name} is {describe(got)}; {describe(expected)} is wanted."
    return None


def _array_problem(name, expected, got):
    if is_tensor(expected) != is_tensor(got):
        wanted = "a PyTorch tensor" if is_tensor(expected) else "a NumPy array"
        return f"{name} is {describe(got)}; {wanted} is wanted."
    wanted, kind = (as_array(x).dtype.kind for x in (expected, got))
    if wanted == "b" and kind != "b":
        return f"{name} holds {dtype_name(got)}; True and False are wanted (dtype bool)."
    if wanted in "fiu" and kind not in "fiub":
        return f"{name} holds {dtype_name(got)}; numbers are wanted."
    return f"{name} holds True and False; numbers are wanted." if wanted == "f" and kind == "b" else None


def _wrong_shape(exercise, expected, got, case):
    for name, e, g in pairs(exercise, expected, got):
        if is_array(e) and as_array(g).shape != as_array(e).shape:
            e_shape, g_shape = as_array(e).shape, as_array(g).shape
            wanted = axis_names(e_shape, case.dims)
            wanted = f"{wanted} = {e_shape}" if wanted else f"{e_shape}"
            text = f"{called(exercise, name)} has the wrong shape: {wanted} expected, {g_shape} returned"
            why = errors.shape_remark(e_shape, g_shape, case.dims)
            return Problem("shape", f"{text}{why}.")
    return None


# Values ---------------------------------------------------------------------------------------------------------------


def tolerance(expected, got, case):
    coarse = any(dtype_name(x) == "float32" for x in arrays(got))
    return max(tolerance_of(case, expected), 2e-5 if coarse else 0.0)


def off(exercise, expected, got, case):
    """(name, expected, got) of the results that are wrong, those whose rows sum to 1 first: they say more."""
    return sorted(_off(exercise, expected, got, case), key=lambda part: part[0] not in exercise.sums_to_one)


def _off(exercise, expected, got, case):
    room = tolerance(expected, got, case)
    return ((n, e, g) for n, e, g in pairs(exercise, expected, got) if not same(_plain(e), _plain(g), room))


def _wrong_values(exercise, expected, got, case):
    wrong = off(exercise, expected, got, case)
    if not wrong:
        return None
    name, e, g = wrong[0]
    where = worst(e, g) if is_array(e) else ()
    label = f"`{name}[{', '.join(map(str, where))}]`" if where else called(exercise, name)
    e_value, g_value = (as_array(x)[where] if is_array(x) else x for x in (e, g))
    names = [n for n, *_ in wrong]
    right = [n for n, *_ in pairs(exercise, expected, got) if n not in names]
    fine = f" {' and '.join(f'`{n}`' for n in right)} {'is' if len(right) == 1 else 'are'} right." if right else ""
    shown_e, shown_g = _distinct(e_value, g_value)
    cut = f" Yours holds whole numbers ({dtype_name(g)}), which cuts fractions off." if _cut_off(e, g) else ""
    return Problem("value", f"{label} is {shown_g} and should be {shown_e}.{cut}{fine}")


def _cut_off(expected, got):
    """Whether an array that should hold fractions holds the same numbers without them."""
    e, g = (as_array(x) if is_array(x) else None for x in (expected, got))
    if e is None or g is None or e.dtype.kind != "f" or g.dtype.kind not in "iu" or e.shape != g.shape:
        return False
    return bool(np.array_equal(np.trunc(e), g))


def _wrong_dtype(exercise, expected, got):
    """The Problem of right values in another kind of float than the exercise promises, or None."""
    if not exercise.keeps_dtype:
        return None
    for name, e, g in pairs(exercise, expected, got):
        if is_array(e) and is_array(g) and dtype_name(e) != dtype_name(g):
            text = f"{called(exercise, name)} is {dtype_name(g)}; {dtype_name(e)} is promised, the dtype that comes in."
            return Problem("dtype", f"{text} The values are right.")
    return None


def _plain(x):
    """A number or truth value as NumPy has it; arrays, tensors and the rest as they are."""
    return x if not (is_array(x) or is_number(x) or isinstance(x, (bool, np.bool_))) else as_array(x)


def _distinct(a, b):
    """Two values with as many digits as it takes to tell them apart."""
    a_text, b_text = shown(a), shown(b)
    return (a_text, b_text) if a_text != b_text else tuple(in_a_sentence(float(x), ".8g") for x in (a, b))


def changed_inputs(exercise, outcome):
    """The Problem of an answer that changed what it was given, or None."""
    if not outcome.changed:
        return None
    names = list(inspect.signature(exercise.reference).parameters)
    given = [names[i] if i < len(names) and not exercise.run else f"argument {i + 1}" for i in outcome.changed]
    listed = " and ".join(f"`{name}`" if name in names else name for name in given)
    return Problem("changed", f"The function changed its input {listed} in place; work on a new array.")


# A small picture ------------------------------------------------------------------------------------------------------


def same_structure(answer, i):
    """Whether as many results came back in case i as are wanted, each of the kind that is wanted."""
    expected, outcome = answer.expected[i], answer.outcomes[i]
    if expected.error is not None or outcome.error is not None:
        return False
    return not _wrong_kind(answer.exercise, expected.value, outcome.value)


def same_shapes(answer, i):
    """Whether the result of case i has the kinds and shapes that are wanted, so that values can be compared."""
    expected, got, case = answer.expected[i].value, answer.outcomes[i].value, answer.exercise.cases[i]
    return same_structure(answer, i) and not _wrong_shape(answer.exercise, expected, got, case)


def comparison(answer, i):
    """The 2-D slice around the worst entry of case i, when small enough to read; None otherwise."""
    if not same_shapes(answer, i):
        return None
    case = answer.exercise.cases[i]
    expected, got = answer.expected[i].value, answer.outcomes[i].value
    for name, e, g in off(answer.exercise, expected, got, case):
        if is_array(e) and as_array(e).ndim >= 1 and as_array(e).size:
            lead = worst(e, g)[:-2]
            e_slice, g_slice = (np.atleast_2d(as_array(x)[lead]) for x in (e, g))
            if max(e_slice.shape) <= 10 and e_slice.size > 1:
                label = f"`{name}`" if not lead else f"`{name}[{', '.join(map(str, lead))}]`"
                return Comparison(f"{label} in the case “{case.name}”", e_slice, g_slice)
    return None
