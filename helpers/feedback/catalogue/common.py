"""What the catalogues of several lessons share: mistakes that stand alone, and remarks on results no known mistake explains."""

import inspect

import numpy as np

from ..exercise import Finding, Mistake
from ..matching import copied
from ..values import as_array, is_array, is_tensor, same


def normal(seed, *shapes, dtype=float):
    """A tuple of arrays of standard normal numbers, the same for the same seed and shapes."""
    rng = np.random.default_rng(seed)
    return tuple(rng.normal(size=shape).astype(dtype) for shape in shapes)


def whole(seed, *shapes, but=()):
    """A tuple of arrays of small whole numbers, such as a lesson writes by hand. but: places of those with fractions."""
    rng = np.random.default_rng(seed)
    return tuple(
        rng.normal(size=shape) if place in but else rng.integers(-3, 4, size=shape) for place, shape in enumerate(shapes)
    )


def alone(id, message, *edits, **more):
    """A mistake that is looked for alone, which keeps the search for sets short: edits are pairs (old, new) of text."""
    return Mistake(id, message, edits=edits, together=1, **more)


def _floats(expected, got):
    """Pairs of arrays of real numbers of one shape among two results."""
    sides = [x if isinstance(x, (tuple, list)) else (x,) for x in (expected, got)]
    for e, g in zip(*sides, strict=False):
        if is_array(e) and is_array(g):
            e, g = as_array(e), as_array(g)
            if e.shape == g.shape and e.dtype.kind == g.dtype.kind == "f" and e.size:
                yield e, g


def nearly_right(case, expected, got):
    """Values that were rounded, or that are right to a few digits only."""
    for e, g in _floats(expected, got):
        held, wanted = g.dtype, e.dtype
        e, g = e.astype(float), g.astype(float)
        if not (np.isfinite(e).all() and np.isfinite(g).all()):
            continue
        off, size = np.abs(g - e).max(), np.abs(e).max()
        if off <= 1e-9 * size:
            continue
        digits = next((n for n in range(1, 7) if g.any() and np.allclose(g, np.round(e, n), rtol=0, atol=1e-12)), None)
        if digits:
            return f"Yours are the right numbers, rounded to {digits} decimal{'s' if digits > 1 else ''}: return them as they are."
        if off < 2e-3 * size:
            why = (
                f"you give back {held} where {wanted} is wanted"
                if held.itemsize < wanted.itemsize
                else "is a small constant added somewhere, a number rounded, or held in a coarser float type?"
            )
            return f"Yours is right to about {-np.log10(off / size):.0f} digits and no further: {why}{'' if why.endswith('?') else '.'}"
    return None


def another_divisor(right="√d_k is {sqrt_d_k:.3g}"):
    """An `explain` for weights that belong to the right scores divided by another number than the right one.

    right: how the sentence ends; {sqrt_d_k} is filled in from the case's dims.
    """

    def explain(case, expected, got):
        wanted, weights = (as_array(x[1] if isinstance(x, (tuple, list)) else x) for x in (expected, got))
        if wanted.shape != weights.shape or weights.dtype.kind != "f" or wanted.ndim < 1:
            return None
        factor = _factor_of_scores(wanted.astype(float), weights.astype(float))
        if factor is None or abs(factor - 1) < 1e-4:
            return None
        if factor < 0:
            return "The weights are those of scores with the opposite sign: the key that fits worst gets the most."
        root = case.dims.get("d_k", 1) ** 0.5
        sizes = {size: name for name, size in case.dims.items()}
        names = {size**0.5: f"√{name}" for size, name in sizes.items()} | sizes
        divisor = root / factor
        name = next(
            (f", which is {name}" for size, name in names.items() if size > 1 and np.isclose(size, divisor, rtol=1e-4)),
            "",
        )
        return f"The weights are those of scores divided by {divisor:.3g}{name}; {right.format(sqrt_d_k=root)}."

    return explain


def _factor_of_scores(wanted, weights):
    """The number that the scores behind some weights are times those behind the wanted ones; None if there is none."""
    seen = (wanted > 1e-9) & (weights > 1e-9)
    counts = seen.sum(axis=-1, keepdims=True)
    if counts.max(initial=0) < 2:
        return None
    # The logarithms of softmax weights are the scores, but for a constant in each row.
    a, b = (np.log(np.where(seen, x, 1.0)) for x in (wanted, weights))
    a, b = (np.where(seen, x - x.sum(axis=-1, keepdims=True) / np.maximum(counts, 1), 0.0) for x in (a, b))
    factor = (a * b).sum() / max((a * a).sum(), 1e-12)
    return factor if abs(factor) > 1e-6 and np.allclose(b, factor * a, rtol=1e-3, atol=1e-3) else None


def negative_weights(case, expected, got):
    """Weights below zero, which no softmax gives."""
    weights = as_array(got[1] if isinstance(got, (tuple, list)) else got)
    if weights.dtype.kind == "f" and (weights < 0).any():
        return "Some weights are negative, and a softmax gives none: are they scores, or logarithms?"
    return None


def columns_sum_to_one(case, expected, got):
    """Weights that sum to 1 over the queries and not over the keys."""
    weights = as_array(got[1])
    if weights.dtype.kind != "f" or weights.ndim < 2:
        return None
    rows, columns = (np.allclose(weights.astype(float).sum(axis=axis), 1, atol=1e-3) for axis in (-1, -2))
    return (
        "The columns of the weights sum to 1, and the rows do not: the softmax runs over the queries."
        if columns and not rows
        else None
    )


def blocked_keys(weights, mask):
    """What is wrong with who gets weight under a mask (True = may attend), as a sentence, or None.

    weights, mask: arrays or tensors; mask is broadcastable to weights.
    """
    weights, mask = as_array(weights).astype(float), as_array(mask)
    if not np.isfinite(weights).all():
        return None
    hidden = ~np.broadcast_to(mask, weights.shape)
    most = weights[hidden].max(initial=0.0)
    if most <= 1e-6:
        return None
    if weights[~hidden].max(initial=0.0) <= 1e-6:
        return "The mask works the wrong way round: just the keys that it allows get no weight."
    return f"Keys that the mask blocks still get weight, up to {most:.2g}."


def keeps_dtype(*arguments):
    """A property: the result has the dtype of the first argument, here a float64. arguments: what to call with."""

    def ask(candidate):
        result = candidate(*arguments)
        wanted, found = (str(x.dtype).removeprefix("torch.") for x in (arguments[0], result))
        if found == wanted:
            return None
        return Finding(
            "another-dtype",
            f"The values are right, but from {wanted} your result comes back as {found}: what you make yourself, such as"
            " a tensor of zeros, must take the dtype of the input.",
        )

    return ask


def keeps_gradient(make):
    """A property: what comes back can be trained through. make() gives arguments, float tensors among them."""

    def ask(candidate):
        arguments = make()
        for argument in arguments:
            if is_tensor(argument) and argument.is_floating_point():
                argument.requires_grad_()
        result = candidate(*arguments)
        if is_tensor(result) and result.requires_grad:
            return None
        what = "a plain number" if not is_tensor(result) else "cut off from the inputs"
        return Finding(
            "gradient-lost",
            f"The values are right, but no gradient gets through: your result is {what} (`.item()`, `.detach()`, NumPy and"
            " `no_grad` do that). Training needs the tensor itself.",
        )

    return ask


def keeps_names(*names):
    """A property: the lesson's own cells pass these arguments by name, so an answer must call them so."""

    def ask(candidate):
        try:
            parameters = inspect.signature(candidate).parameters.values()
        except (TypeError, ValueError):
            return None
        if any(p.kind is p.VAR_KEYWORD for p in parameters):
            return None
        own = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        missing = [f"`{name}`" for name in names if name not in own]
        if missing:
            return Finding(
                "argument-renamed",
                f"The values are right, but cells below call this with {' and '.join(missing)} by name, and yours has"
                f" {', '.join(f'`{name}`' for name in own)}: leave the names in the first line as they were.",
            )

    return ask


def keeps_nothing(build, *calls):
    """A property: a module answers each call from its arguments alone, whatever it was called with before.

    build: function of a class, gives a module that is ready to be called, the same one at every time.
    calls: pairs (what a call is, "with a mask"; function that makes its arguments). One module gets them one after the
    other, and must answer as a new one does.
    """

    def ask(candidate):
        used, before, changing = build(candidate), "", []
        for said, make in calls:
            alone, held = build(candidate)(*make()), _held(used)
            try:
                what = "" if same(used(*make()), alone, 1e-4) else "gives other numbers than it does in a new module"
            except Exception as problem:
                what = f"stops with {type(problem).__name__}, and in a new module it does not"
            if what and before:
                where = f", `self.{'` and `self.'.join(changing[:3])}`" if changing else ""
                return Finding(
                    "keeps-something",
                    f"The first call of a module is right, but after a call {before}, a call {said} {what}. So yours keeps"
                    f" something from one call to the next{where}. What comes out may depend on the arguments and on the"
                    " parameters only, not on earlier calls.",
                )
            before, changing = said, [name for name, value in _held(used).items() if not _unchanged(held.get(name), value)]
        return None

    return ask


def _held(model):
    """What a module and the modules inside it hold as attributes, buffers too, by the name behind `self.`."""
    held = {}
    for path, module in model.named_modules():
        own = {name: value for name, value in vars(module).items() if not name.startswith("_")}
        own |= dict(module.named_buffers(recurse=False))
        held |= {f"{path}.{name}" if path else name: _copied(value) for name, value in own.items()}
    return held


def _copied(value):
    return value.copy() if isinstance(value, (list, dict, set)) else copied(value)


def _unchanged(before, now):
    if is_array(now):
        return is_array(before) and same(now, before, 0.0)
    try:
        return before is now or bool(before == now)
    except (TypeError, ValueError, RuntimeError):  # containers of arrays have no plain answer
        return False
