"""Changes of whole results and whole arguments that people make in every exercise, named once for all of them.

Each is tried on the reference and on its faulty twins: the numbers that come out either are the learner's or are not.
Nothing here reads the learner's source, so nothing is said but that the same numbers come out.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .values import as_array, is_array, is_tensor


@dataclass(frozen=True)
class Transform:
    """A change of one array. what: a clause after "if", with {name} for what is changed.

    apply: the change. Or size and power: multiplication by a size of the case, by its name, to a power.
    """

    id: str
    what: str
    apply: Callable | None = None
    size: str = ""
    power: float = 1.0

    def function(self, dims):
        """The change as a function of one value, for a case with these sizes; None where the case lacks the size."""
        if not self.size:
            return self.apply
        factor = dims.get(self.size)
        return None if factor is None else lambda x: x * factor**self.power


def results_of(dims):
    """Transforms of a result, the likely ones first. dims: sizes by name, which name factors."""
    return (*_RESULTS, *_scaled(dims))


def _scaled(dims):
    for name, size in dims.items():
        if size > 1:
            yield Transform(f"over-root-{name}", f"{{name}} is divided by √{name}", size=name, power=-0.5)
            yield Transform(f"times-root-{name}", f"{{name}} is multiplied by √{name}", size=name, power=0.5)
            yield Transform(f"over-{name}", f"{{name}} is divided by {name}", size=name, power=-1.0)
            yield Transform(f"times-{name}", f"{{name}} is multiplied by {name}", size=name, power=1.0)


def _like(x, values):
    """NumPy values as the kind of array that x is."""
    if is_tensor(x):
        import torch

        return torch.from_numpy(np.ascontiguousarray(values))
    return values


def _softmax(axis):
    def apply(x):
        a = as_array(x).astype(float)
        exps = np.exp(a - a.max(axis=axis, keepdims=True))
        return _like(x, exps / exps.sum(axis=axis, keepdims=True))

    return apply


def _by_numpy(function):
    return lambda x: _like(x, function(as_array(x)))


def _needs(axes, function):
    """A transform that makes sense from a number of axes on; elsewhere it gives nothing."""
    return lambda x: _like(x, function(as_array(x))) if as_array(x).ndim >= axes else None


def _masked(keep):
    return _needs(2, lambda a: keep(a))


def _without(end):
    def apply(a):
        a = a.copy()
        a[..., end] = 0
        return a

    return apply


_RESULTS = (
    Transform("transposed", "the last two axes of {name} are exchanged", _needs(2, lambda a: np.swapaxes(a, -1, -2))),
    Transform("negated", "{name} has the opposite sign", _by_numpy(lambda a: ~a if a.dtype.kind == "b" else -a)),
    Transform("softmaxed", "a softmax is taken of {name}", _needs(1, lambda a: _softmax(-1)(a))),
    Transform("softmaxed-down", "a softmax is taken down the columns of {name}", _needs(2, lambda a: _softmax(-2)(a))),
    Transform("logged", "the logarithm of {name} is returned", _by_numpy(np.log)),
    Transform("exponential", "the exponential of {name} is returned", _by_numpy(np.exp)),
    Transform("relu", "negative entries of {name} are set to 0", _by_numpy(lambda a: np.maximum(a, 0))),
    Transform("tanh", "tanh is taken of {name}", _by_numpy(np.tanh)),
    Transform("abs", "the sign of {name} is thrown away", _by_numpy(np.abs)),
    Transform("squared", "{name} is squared", _by_numpy(np.square)),
    Transform("root", "the root of {name} is taken", _by_numpy(np.sqrt)),
    Transform("reciprocal", "1 divided by {name} is returned", _by_numpy(lambda a: 1 / a)),
    Transform("rounded-down", "{name} is cut off to whole numbers", _by_numpy(np.trunc)),
    Transform("rounded", "{name} is rounded to whole numbers", _by_numpy(np.round)),
    Transform("doubled", "{name} is doubled", _by_numpy(lambda a: 2 * a)),
    Transform("halved", "{name} is halved", _by_numpy(lambda a: a / 2)),
    Transform("one-more", "1 is added to {name}", _by_numpy(lambda a: a + 1)),
    Transform("one-less", "1 is subtracted from {name}", _by_numpy(lambda a: a - 1)),
    Transform("complement", "{name} is subtracted from 1", _by_numpy(lambda a: 1 - a)),
    Transform("running-total", "a running total is taken of {name}", _needs(1, lambda a: np.cumsum(a, axis=-1))),
    Transform("running-total-down", "a running total is taken down the rows of {name}", _needs(2, lambda a: np.cumsum(a, axis=-2))),
    Transform("lower-triangle", "only the lower triangle of {name} is kept", _masked(np.tril)),
    Transform("upper-triangle", "only the upper triangle of {name} is kept", _masked(np.triu)),
    Transform("first-zeroed", "the first entry of every row of {name} is 0", _needs(1, _without(0))),
    Transform("last-zeroed", "the last entry of every row of {name} is 0", _needs(1, _without(-1))),
    Transform("reversed", "the rows of {name} come in reverse order", _needs(2, lambda a: a[..., ::-1, :])),
    Transform("reversed-entries", "the entries of every row of {name} come in reverse order", _needs(1, lambda a: a[..., ::-1])),
    Transform("moved-on", "the rows of {name} are moved on by one", _needs(2, lambda a: np.roll(a, 1, axis=-2))),
    Transform("sorted", "the entries of every row of {name} are sorted", _needs(1, lambda a: np.sort(a, axis=-1))),
    Transform("sum-of-rows", "{name} is summed over its last axis", _needs(1, lambda a: a.sum(axis=-1))),
    Transform("sum-of-columns", "{name} is summed over its last axis but one", _needs(2, lambda a: a.sum(axis=-2))),
    Transform("mean-of-rows", "{name} is averaged over its last axis", _needs(1, lambda a: a.mean(axis=-1))),
    Transform("mean-of-columns", "{name} is averaged over its last axis but one", _needs(2, lambda a: a.mean(axis=-2))),
    Transform("total", "{name} is summed to one number", _needs(1, np.sum)),
    Transform("average", "{name} is averaged to one number", _needs(1, np.mean)),
    Transform("rows-sum-to-one", "every row of {name} is divided by its sum", _needs(1, lambda a: a / a.sum(axis=-1, keepdims=True))),
    Transform("all-sum-to-one", "{name} is divided by the sum of all its entries", _needs(1, lambda a: a / a.sum())),
    Transform("unit-rows", "every row of {name} is divided by its length", _needs(1, lambda a: a / np.linalg.norm(a, axis=-1, keepdims=True))),
    Transform("largest-row-is-one", "every row of {name} is divided by its largest entry", _needs(1, lambda a: a / a.max(axis=-1, keepdims=True))),
    Transform("centred", "the mean of every row is subtracted from {name}", _needs(1, lambda a: a - a.mean(axis=-1, keepdims=True))),
    Transform("axis-kept", "a summed axis of {name} is kept", _by_numpy(lambda a: a[..., None])),
    Transform("axis-in-front", "{name} has an axis of size 1 in front", _by_numpy(lambda a: a[None])),
    Transform("only-the-first", "only the first of the batch comes back for {name}", _needs(2, lambda a: a[0])),
    Transform("only-the-last-row", "only the last row of {name} comes back", _needs(2, lambda a: a[..., -1, :])),
    Transform("flattened", "{name} is flattened into one axis", _needs(2, lambda a: a.reshape(-1))),
    Transform("whole-numbers", "{name} is turned into whole numbers", _by_numpy(lambda a: a.astype(int))),
    Transform("truth-values", "{name} is turned into True and False", _by_numpy(lambda a: a.astype(bool))),
    Transform("numbers", "True and False in {name} are turned into numbers", _by_numpy(lambda a: a.astype(float) if a.dtype.kind == "b" else a)),
    Transform("largest-only", "only the largest entry of every row of {name} is kept, as 1", _needs(1, lambda a: (a == a.max(axis=-1, keepdims=True)).astype(a.dtype))),
)  # fmt: skip


_ARGUMENTS = (
    Transform("unit-length", "every row of {name} is divided by its length first", _needs(1, lambda a: a / np.linalg.norm(a, axis=-1, keepdims=True))),
    Transform("centred", "the mean of every row is subtracted from {name} first", _needs(1, lambda a: a - a.mean(axis=-1, keepdims=True))),
    Transform("largest-taken-off", "the largest entry of {name} is subtracted first", _needs(1, lambda a: a - a.max())),
    Transform("negated", "{name} is taken with the opposite sign", _by_numpy(lambda a: ~a if a.dtype.kind == "b" else -a)),
    Transform("transposed", "the last two axes of {name} are exchanged first", _needs(2, lambda a: np.swapaxes(a, -1, -2))),
    Transform("cut-off", "{name} is turned into whole numbers first", _by_numpy(lambda a: np.trunc(a))),
    Transform("softmaxed", "a softmax is taken of {name} first", _needs(1, lambda a: _softmax(-1)(a))),
    Transform("squared", "{name} is squared first", _by_numpy(np.square)),
    Transform("abs", "the sign of {name} is thrown away first", _by_numpy(np.abs)),
    Transform("doubled", "{name} counts twice", _by_numpy(lambda a: 2 * a)),
    Transform("ones", "{name} is not used, as if it were all ones", _by_numpy(np.ones_like)),
    Transform("zeros", "{name} is not used, as if it were all zeros", _by_numpy(np.zeros_like)),
    Transform("mean-of-rows", "every row of {name} is replaced by the mean of its rows", _needs(2, lambda a: np.broadcast_to(a.mean(axis=-2, keepdims=True), a.shape).copy())),
    Transform("first-row", "the first row of {name} stands for all of its rows", _needs(2, lambda a: np.broadcast_to(a[..., :1, :], a.shape).copy())),
    Transform("first-of-the-batch", "the first of the batch in {name} stands for all", _needs(3, lambda a: np.broadcast_to(a[:1], a.shape).copy())),
    Transform("without-the-last-feature", "the last feature of {name} is left out", _needs(1, _without(-1))),
    Transform("without-the-first-feature", "the first feature of {name} is left out", _needs(1, _without(0))),
    Transform("two-features", "only the first two features of {name} are used", _needs(1, lambda a: np.concatenate([a[..., :2], np.zeros_like(a[..., 2:])], axis=-1))),
    Transform("without-the-last-row", "the last row of {name} is left out of the sums", _needs(2, lambda a: np.concatenate([a[..., :-1, :], np.zeros_like(a[..., -1:, :])], axis=-2))),
    Transform("reversed", "the rows of {name} are taken in reverse order", _needs(2, lambda a: a[..., ::-1, :].copy())),
)  # fmt: skip


# Those that are tried on a single number.
OF_NUMBERS = frozenset(
    "negated doubled halved one-more one-less reciprocal squared root whole-numbers logged".split()
)


def arguments_of(names, inputs):
    """(id, clause, change of a tuple of arguments) for arguments: changed alone, exchanged, one used for another.

    names: the arguments' names. inputs: one case's arguments, which tell what can be changed.
    """
    arrays = [i for i, x in enumerate(inputs) if is_array(x) and i < len(names)]
    for a in arrays:
        for b in arrays:
            if a < b:
                yield f"exchanged-{names[a]}-{names[b]}", f"`{names[a]}` and `{names[b]}` are exchanged", _exchange(a, b)
            if a != b:
                yield f"{names[b]}-for-{names[a]}", f"`{names[b]}` stands where `{names[a]}` belongs", _replace(a, b)
    for i in arrays:
        for transform in _ARGUMENTS:
            clause = transform.what.replace("{name}", f"`{names[i]}`")
            yield f"{transform.id}-{names[i]}", clause, _change(i, transform.apply)
    for i, x in enumerate(inputs):
        if i < len(names) and x is not None and isinstance(x, (int, float)) and not isinstance(x, bool):
            yield f"one-more-{names[i]}", f"`{names[i]}` is 1 larger", _change(i, lambda v: v + 1)
            yield f"one-less-{names[i]}", f"`{names[i]}` is 1 smaller", _change(i, lambda v: v - 1)
            yield f"twice-{names[i]}", f"`{names[i]}` counts twice", _change(i, lambda v: 2 * v)
            yield f"half-{names[i]}", f"`{names[i]}` is halved", _change(i, lambda v: v / 2)


def _exchange(a, b):
    def change(inputs):
        inputs = list(inputs)
        inputs[a], inputs[b] = inputs[b], inputs[a]
        return tuple(inputs)

    return change


def _replace(a, b):
    return lambda inputs: (*inputs[:a], inputs[b], *inputs[a + 1 :])


def _change(i, function):
    return lambda inputs: (*inputs[:i], function(inputs[i]), *inputs[i + 1 :])
