"""What a learner returns is right but for one step more: parts to be added up or joined, axes to be moved.

Each step is done to what the learner returned, and the result is compared with the right one on every case.
"""

import itertools
import warnings

import numpy as np

from .matching import axis_called, axis_orders, reductions
from .outcomes import Outcome, same_outcome
from .values import as_array, is_array, is_number, is_tensor


def find(search):
    """What is to be done to the answer's result so that it is right on every case: a clause, or None.

    The clause follows "what you return would be right", as "summed over its last axis" does.
    """
    answer = search.answer
    if any(o.error is not None for o in (*answer.outcomes, *answer.expected)):
        return None
    first = search.order[0]
    for clause, step in _steps(answer.outcomes[first].value, answer.expected[first].value):
        if all(_is_right_after(answer, i, step) for i in search.order):
            return clause
    return None


def _is_right_after(answer, i, step):
    expected, ours = answer.expected[i].value, answer.outcomes[i].value
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            value = step(ours, expected)
        except Exception:  # a result that this step does not suit
            return False
    return value is not None and same_outcome(Outcome(value), Outcome(_plain(expected)), answer.tolerances[i])


def _plain(value):
    """A result in NumPy's kinds, so that only its values and shapes are compared."""
    if isinstance(value, (tuple, list)):
        return tuple(_plain(part) for part in value)
    return as_array(value) if is_array(value) or is_number(value) else value


def _steps(ours, expected):
    """(clause, function of our result and the right one) for what may suit the first wrong case."""
    if isinstance(ours, (tuple, list)):
        if isinstance(expected, (tuple, list)):
            yield from _of_results(ours, expected)
        elif is_array(expected) or is_number(expected):
            if len(ours) == 1:
                yield f"without the {type(ours).__name__} around it", lambda x, _: as_array(x[0])
            yield from _of_parts("tensor" if is_tensor(expected) else "array")
    elif is_array(ours) and (is_array(expected) or is_number(expected)):
        yield from _of_array(np.ndim(as_array(ours)), as_array(ours).shape == np.shape(as_array(expected)))


def _of_results(ours, expected):
    """Several results, in another order."""
    if len(ours) == len(expected) <= 3:
        for order in itertools.permutations(range(len(ours))):
            if order != tuple(range(len(ours))):
                text = ", ".join(_ORDINALS[i] for i in order)
                yield f"in another order: your {text}", lambda x, _, o=order: _plain([x[i] for i in o])


_ORDINALS = ("first", "second", "third")


def _of_parts(kind):
    """A list or a tuple where one value is wanted. kind: "array" or "tensor"."""
    yield "with its parts added up", lambda x, _: sum(as_array(part).astype(float) for part in x)
    yield f"as one {kind} instead of a list", lambda x, _: np.stack([_numbers(part) for part in x])
    yield "with its parts joined along the first axis", lambda x, _: np.concatenate([as_array(p) for p in x], axis=0)
    yield "with its parts joined along the last axis", lambda x, _: np.concatenate([as_array(p) for p in x], axis=-1)
    yield "with its parts stacked on a new last axis", lambda x, _: np.stack([as_array(part) for part in x], axis=-1)
    for i, name in ((0, "first"), (1, "second"), (-1, "last")):
        yield f"if it were the {name} of its parts alone", lambda x, _, i=i: as_array(x[i])
    yield "with its parts averaged", lambda x, _: np.mean([as_array(part) for part in x], axis=0)


def _numbers(part):
    if isinstance(part, (list, tuple)):
        return np.stack([_numbers(inner) for inner in part])
    return as_array(part)


def _of_array(ndim, same_shape):
    """An array of another shape than is wanted, or of the same one, that a step of its own makes right."""
    for axis in range(-1, -ndim - 1, -1):
        for clause, function in reductions(axis):
            yield clause, lambda x, _, f=function: f(as_array(x))
        for place, what in ((0, "first"), (-1, "last")):
            clause = f"if only the {what} entry along {axis_called(axis)} were taken"
            yield clause, lambda x, _, a=axis, p=place: np.take(as_array(x), p, axis=a)
    if ndim:
        yield "summed to one number", lambda x, _: as_array(x).sum()
        yield "averaged to one number", lambda x, _: as_array(x).mean()
    for order, last_two in axis_orders(ndim):
        clause = "last two axes exchanged" if last_two else f"axes in the order {', '.join(map(str, order))}"
        yield f"with its {clause}", lambda x, _, o=order: as_array(x).transpose(o)
    if not same_shape:
        yield "in another shape, its numbers in the same order", lambda x, right: as_array(x).reshape(np.shape(right))
        yield "repeated along the axes that it lacks", _repeated
    yield "after an exponential", lambda x, _: np.exp(as_array(x))
    yield "after a logarithm", lambda x, _: np.log(as_array(x))
    yield "with every row divided by its sum", lambda x, _: as_array(x) / as_array(x).sum(axis=-1, keepdims=True)


def _repeated(ours, right):
    ours, shape = as_array(ours), as_array(right).shape
    return None if ours.shape == shape else np.broadcast_to(ours, shape)
