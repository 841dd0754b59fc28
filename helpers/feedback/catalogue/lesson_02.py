"""Lesson 02: softmax, attention and other scores in NumPy."""
import dataclasses
import itertools

import numpy as np

from ... import numpy_attention
from ..exercise import Case, Exercise, Mistake, Prediction, pairs
from .common import (
    alone,
    another_divisor,
    blocked_keys,
    columns_sum_to_one,
    keeps_names,
    nearly_right,
    negative_weights,
    normal,
    whole,
)

# 2.1 Softmax ----------------------------------------------------------------------------------------------------------


def _softmax_case(name, x, **axis):
    x = np.asarray(x)
    return Case(name, lambda: (x.copy(), *axis.values()), dict(zip(("rows", "columns"), x.shape, strict=False)) if x.ndim == 2 else {})


_three_by_five, _square, _batch, _single = normal(1, (3, 5), (4, 4), (2, 3, 5), (1, 6))


SOFTMAX = Exercise(
    id="2.1",
    reference=numpy_attention.softmax,
    results=("weights",),
    covers="any axis, large scores, rows far apart, −inf, one entry, float32",
    cases=(
        _softmax_case("three rows of five", 3 * _three_by_five),
        _softmax_case("one row", np.array([2.0, 1.0, 0.0])),
        _softmax_case("down the columns, axis=0", 2 * _three_by_five, axis=0),
        _softmax_case("a square", _square),
        _softmax_case("three axes", _batch),
        _softmax_case("three axes, axis=1", _batch, axis=1),
        _softmax_case("scores of a thousand", np.array([[1000.0, 1001.0, 999.0], [-1000.0, -1002.0, -1001.0]])),
        _softmax_case("two rows far apart", np.array([[-901.0, -900.0], [900.0, 901.0], [0.0, 3.0]])),
        _softmax_case("one score of 800 beside zeros", np.array([[800.0, 0.0, 0.0], [0.0, 1.0, 2.0]])),
        _softmax_case("some scores minus infinity", np.array([[0.5, -np.inf, 1.0], [-np.inf, 2.0, -np.inf]])),
        _softmax_case("a row of one entry", np.array([[3.0], [-2.0]])),
        _softmax_case("float32", (4 * _single).astype(np.float32)),
        _softmax_case("whole numbers", np.array([[2, 1, 0, -1], [3, 3, 1, 0], [0, 2, 0, 5]])),
    ),
    mistakes=(
        Mistake("no-max", old="x - highest", new="x", hides_others=True,
            message="exp overflows for large scores, and inf/inf is NaN: subtract the maximum of the row before exp; it changes no weight."),
        Mistake("global-max", old="np.max(x, axis=axis, keepdims=True)", new="np.max(x)",
            message="You subtracted one maximum for the whole array; a row far below it underflows to 0/0 = NaN. Take the maximum along the axis, with keepdims=True."),
        Mistake("global-sum", old="np.sum(exps, axis=axis, keepdims=True)", new="np.sum(exps)",
            message="The whole array sums to 1 instead of each row: pass `axis` and `keepdims=True` to the sum."),
        Mistake("axis-zero", edits=(("x, axis=axis", "x, axis=0"), ("exps, axis=axis", "exps, axis=0")),
            message="You always normalise along axis 0, so columns sum to 1: use the axis that was asked for, the last one by default."),
        Mistake("sum-over-axis-zero", old="exps, axis=axis", new="exps, axis=0",
            message="Your sum runs down axis 0, so columns sum to 1: sum along the axis that was asked for, the last one by default."),
        Mistake("axis-ignored", edits=(("x, axis=axis", "x, axis=-1"), ("exps, axis=axis", "exps, axis=-1")),
            message="You always normalise along the last axis: use the argument `axis`."),
        Mistake("axis-one", edits=(("x, axis=axis", "x, axis=1"), ("exps, axis=axis", "exps, axis=1")),
            message="You always normalise along axis 1, which is the last one for a matrix only: use the argument `axis`."),
        Mistake("sum-without-keepdims", old="exps, axis=axis, keepdims=True", new="exps, axis=axis",
            message="Your sum drops its axis, so it lines up with the columns when you divide (or does not fit at all): add `keepdims=True` to the sum."),
        Mistake("max-without-keepdims", old="x, axis=axis, keepdims=True", new="x, axis=axis",
            message="Your maximum drops its axis, so it lines up with the columns when you subtract (or does not fit at all): add `keepdims=True` to the maximum."),
        Mistake("changes-its-input", old="np.exp(x - highest)", new="np.exp(np.subtract(x, highest, out=x))",
            message="Your function changed the array it was given (`x -= …` works in place): write `x = x - …`, which makes a new one."),
        Mistake("minus-mean", old="np.max(x", new="np.mean(x",
            message="You subtracted the mean; only the maximum guarantees that no exponential overflows."),
        Mistake("divided-by-maximum", old="x - highest", new="x / highest", together=2,
            message="You divided by the maximum; subtract it. Only subtracting leaves every share as it is."),
        Mistake("minus-minimum", old="np.max(x", new="np.min(x",
            message="You subtracted the minimum, which makes large scores no smaller: subtract the maximum."),
        Mistake("sign-reversed", old="x - highest", new="highest - x",
            message="Your exponent has the wrong sign: the largest score gets the least weight (and the smallest may overflow)."),
        Mistake("no-exponential", source="def softmax(x, axis=-1):\n    return x / np.sum(x, axis=axis, keepdims=True)", hides_others=True,
            message="You divided the scores themselves by their sum; negative scores then give negative weights. Take the exponential first."),
        Mistake("absolute-values", source="def softmax(x, axis=-1):\n    a = np.abs(x)\n    return a / np.sum(a, axis=axis, keepdims=True)",
            message="You divided absolute values by their sum; take exponentials, which keep the order of the scores."),
        Mistake("base-two", old="np.exp(", new="np.exp2(",
            message="You took powers of 2; softmax takes powers of e: `np.exp`."),
        Mistake("not-normalised", old="return exps / total", new="return exps", hides_others=True,
            message="Your weights are the exponentials themselves (or divided by their maximum): divide by their sum along the axis, so that they sum to 1."),
        Mistake("mean-instead-of-sum", old="np.sum(exps", new="np.mean(exps",
            message="You divided by the mean of the exponentials, so the weights sum to their number; divide by the sum."),
        Mistake("log-softmax", old="return exps / total", new="return np.log(exps / total)",
            message="You returned the logarithms of the weights; the weights themselves are wanted."),
        Mistake("squared-length", old="np.sum(exps, axis=axis, keepdims=True)", new="np.sqrt(np.sum(exps**2, axis=axis, keepdims=True))",
            message="You divided by the length of the vector of exponentials, so their squares sum to 1; divide by their sum."),
        alone("default-axis-zero", "Where no axis is given, yours takes axis 0; the last one is asked for: `axis=-1` in the first line.", ("(x, axis=-1)", "(x, axis=0)")),
        alone("default-axis-one", "Where no axis is given, yours takes axis 1, which is the last one for a matrix only: `axis=-1` in the first line.", ("(x, axis=-1)", "(x, axis=1)")),
        alone("default-axis-none", "Where no axis is given, yours runs over the whole array; the last axis is asked for: `axis=-1` in the first line.", ("(x, axis=-1)", "(x, axis=None)")),
        alone("maximum-of-first-row", "You subtracted the first row's maximum from all rows: `[0]` takes the first row here, not the values, as it would of PyTorch's max."
            " Leave it out; NumPy's max gives values only.", ("keepdims=True)\n    exps", "keepdims=True)[0]\n    exps")),
        alone("shift-below-only", "The maximum is taken off in the sum, but not in what is divided by it: both need the same exponentials.", ("exps / total", "np.exp(x) / total")),
        alone("shift-above-only", "The maximum is taken off in what is divided, but not in the sum: both need the same exponentials.", ("np.sum(exps,", "np.sum(np.exp(x),")),
        Mistake("row-by-row", source="def softmax(x, axis=-1):\n    rows = []\n    for row in x:\n        exps = np.exp(row - np.max(row))\n"
            "        rows.append(exps / np.sum(exps))\n    return np.array(rows)",
            message="Your loop goes through the first axis and gives each part one softmax of its own: right for the rows of a matrix, wrong for one row alone,"
            " for three axes, and for another `axis`. NumPy does it without a loop: `axis=axis, keepdims=True`."),
        alone("python-max", "The built-in `max` compares whole rows, which NumPy refuses: `np.max` with `axis=axis, keepdims=True`.",
            ("np.max(x, axis=axis, keepdims=True)", "max(x)")),
        alone("python-max-and-sum", "The built-in `max` compares whole rows, which NumPy refuses: `np.max` with `axis=axis, keepdims=True`.",
            ("np.max(x, axis=axis, keepdims=True)", "max(x)"), ("np.sum(exps, axis=axis, keepdims=True)", "sum(exps)")),
        alone("new-axis-at-the-end", "`[..., None]` puts the axis back at the end, which is right for the last one only: `keepdims=True` keeps it where it was.",
            ("np.max(x, axis=axis, keepdims=True)", "np.max(x, axis=axis)[..., None]"), ("np.sum(exps, axis=axis, keepdims=True)", "np.sum(exps, axis=axis)[..., None]")),
        Mistake("sigmoid", source="def softmax(x, axis=-1):\n    return 1 / (1 + np.exp(-x))",
            message="That is the logistic function, which looks at each score alone; softmax divides each exponential by the sum of all in its row."),
        alone("clipped", "You clipped the scores to stay clear of overflow, so scores beyond become equal. Subtracting the maximum does it without changing any share.",
            ("x - highest", "np.clip(x, -700, 700)")),
        alone("infinity-removed", "You replaced −∞ by an ordinary number. It stands for “no weight” and needs no care: exp(−∞) is 0.",
            ("highest = np.max(x", "x = np.where(np.isinf(x), 0.0, x)\n    highest = np.max(x")),
    ),
    explain=(nearly_right, another_divisor("softmax takes the scores as they are"), negative_weights),
    properties=(keeps_names("axis"),),
    indistinguishable=(
        # Only the case of large scores tells these apart, and there both overflow.
        *pairs("no-max", "axis-zero", "sum-over-axis-zero", "sum-without-keepdims", "base-two"),
        ("global-max", "sum-without-keepdims"),
        *itertools.product(("minus-mean", "minus-minimum"), ("sign-reversed", "base-two")),
    ),
    alternatives=(
        "def softmax(x, axis=-1):\n    x = x - x.max(axis=axis, keepdims=True)\n    e = np.exp(x)\n    e /= e.sum(axis=axis, keepdims=True)\n    return e",
        "def softmax(x, axis=-1):\n    m = np.expand_dims(np.max(x, axis), axis)\n    log_sum = m + np.log(np.sum(np.exp(x - m), axis=axis, keepdims=True))\n"
        "    return np.exp(x - log_sum)",
        "def softmax(x, axis=-1):\n    def row(r):\n        e = np.exp(r - r.max())\n        return e / e.sum()\n    return np.apply_along_axis(row, axis, x)",
        "def softmax(x, axis=-1):\n    moved = np.moveaxis(x, axis, 0)\n    e = np.exp(moved - moved.max(0))\n    return np.moveaxis(e / e.sum(0), 0, axis)",
    ),
)

# 2.2 Scaled dot-product attention -------------------------------------------------------------------------------------


def _attention_case(name, seed, lead, T_q, T_k, d_k, d_v, *, mask=None, large=1.0, low=0.0, dtype=float):
    """A case; mask: "shared" (T_q, T_k), "each" (one an example), "keys" (one an example, the same for all queries), or "causal"."""

    def make():
        Q, K, V = normal(seed, (*lead, T_q, d_k), (*lead, T_k, d_k), (*lead, T_k, d_v), dtype=dtype)
        if low:  # queries and keys that point in opposite directions: every score is far below zero
            Q, K = np.abs(Q) * dtype(low) + dtype(low), -np.abs(K) - 1
        return (Q * dtype(large), K, V) if mask is None else (Q * dtype(large), K, V, _mask(mask, seed, lead, T_q, T_k))

    names = {1: ("B",), 2: ("B", "h")}.get(len(lead), ())
    return Case(name, make, {"T_q": T_q, "T_k": T_k, "d_k": d_k, "d_v": d_v} | dict(zip(names, lead, strict=True)))


def _by_hand(name, seed, axes, but, **sizes):
    """A case with whole numbers, such as a learner types. axes: of each array, by name. but: places of those with fractions."""
    shapes = [tuple(sizes[axis] for axis in of_one.split()) for of_one in axes.split(",")]
    return Case(name, lambda: whole(seed, *shapes, but=but), sizes)


_QKV = "T_q d_k, T_k d_k, T_k d_v"


def _mask(kind, seed, lead, T_q, T_k):
    if kind == "causal":
        return np.tril(np.ones((T_q, T_k), dtype=bool))
    rng = np.random.default_rng([seed, 7])
    shape = (T_q, T_k) if kind == "shared" else (*lead[:1], *(1,) * (len(lead) - 1), 1 if kind == "keys" else T_q, T_k)
    mask = rng.random(shape) < 0.55
    mask[..., rng.integers(T_k)] = True  # every row has somewhere to look
    return mask


ATTENTION_CASES = (
    _attention_case("five queries, seven keys", 1, (), 5, 7, 4, 6),
    _attention_case("a mask", 2, (), 5, 7, 6, 3, mask="shared"),
    _attention_case("a causal mask, equal lengths", 3, (), 6, 6, 3, 4, mask="causal"),
    _attention_case("a batch of three", 4, (3,), 5, 7, 4, 2),
    _attention_case("a batch, another mask for each example", 5, (3,), 5, 7, 6, 4, mask="each"),
    _attention_case("a batch, a mask of keys alone", 11, (3,), 5, 7, 4, 6, mask="keys"),
    _attention_case("a batch with two heads, one mask for all", 6, (3, 2), 5, 7, 4, 9, mask="shared"),
    _attention_case("all sizes equal", 7, (), 5, 5, 5, 5, mask="shared"),
    _attention_case("a batch of two, all other sizes equal", 12, (2,), 4, 4, 4, 4, mask="each"),
    _attention_case("very large scores", 13, (), 5, 7, 3, 6, large=5e3, mask="shared"),
    _attention_case("scores far below zero", 14, (), 5, 7, 4, 6, mask="shared", low=2e4),
    _attention_case("one query, one feature", 9, (2,), 1, 7, 1, 3),
    _attention_case("float32", 10, (2,), 5, 7, 8, 3, mask="each", dtype=np.float32),
    _by_hand("queries with fractions, the rest whole numbers", 16, _QKV, (0,), T_q=5, T_k=7, d_k=4, d_v=6),
    _by_hand("queries of whole numbers, the rest with fractions", 17, _QKV, (1, 2), T_q=5, T_k=7, d_k=6, d_v=3),
)

_SCALE = (
    Mistake("no-scale", old=" / math.sqrt(d_k)", new="", hides_others=True,
        message="You left out the scale: divide the scores by √d_k = {sqrt_d_k}, or the softmax comes out too sharp."),
    Mistake("divide-by-d_k", old="math.sqrt(d_k)", new="d_k",
        message="You divided the scores by d_k = {d_k}, not by √d_k = {sqrt_d_k} (or by √d_k twice, which is the same). The weights come out too even."),
    Mistake("multiply-by-sqrt", old="/ math.sqrt(d_k)", new="* math.sqrt(d_k)",
        message="You multiplied the scores by √d_k = {sqrt_d_k} (dividing by d_k ** -0.5 does that too); divide by it. The weights come out almost one-hot."),
    Mistake("scale-fourth-root", old="math.sqrt(d_k)", new="d_k**0.25", together=2,
        message="You divided by the fourth root of d_k: √√d_k. If each of Q and K is to be scaled, both need it, so that together they give √d_k."),
    Mistake("scale-of-the-example", old="math.sqrt(d_k)", new="np.sqrt(2)", hides_others=True, together=2,
        message="You divided by √2, which is √d_k in the lesson's example only; here d_k = {d_k}: read it from `Q.shape[-1]`."),
    Mistake("scale-by-logarithm", old="math.sqrt(d_k)", new="np.log(d_k)", together=2,
        message="You divided by the logarithm of d_k; the scale is its square root."),
    Mistake("scale-by-d_v", old="{first}.shape[-1]", new="V.shape[-1]",
        message="You took the width of the values for the scale. The dot product runs over the features of the keys: d_k = {d_k}, not d_v = {d_v}."),
    Mistake("scale-by-number-of-keys", old="{first}.shape[-1]", new="K.shape[-2]", together=2,
        message="You took the number of keys, T_k = {T_k}, for the scale. It is the number of features that a dot product adds up: d_k = {d_k}."),
    Mistake("scale-by-number-of-queries", old="{first}.shape[-1]", new="Q.shape[-2]", together=2,
        message="You took the number of queries, T_q = {T_q}, for the scale. It is the number of features that a dot product adds up: d_k = {d_k}."),
    Mistake("scale-by-first-axis", old="{first}.shape[-1]", new="Q.shape[0]", together=2,
        message="You took the first axis of Q for the scale, which is the number of queries, or the batch. The features are the last axis: d_k = {d_k}."),
    Mistake("scale-by-axis-one", old="{first}.shape[-1]", new="Q.shape[1]", together=2,
        message="You took axis 1 of Q for the scale. It holds the features only as long as there is no batch: use the last axis, `shape[-1]`."),
)
_MASK = (
    Mistake("mask-inverted", old="np.where(mask, scores, -np.inf)", new="np.where(mask, -np.inf, scores)",
        message="The mask is inverted: True must mean “may look”, and you blocked exactly the allowed positions."),
    Mistake("mask-inverted-finite", old="np.where(mask, scores, -np.inf)", new="np.where(mask, -1e9, scores)", together=2,
        message="The mask is inverted: True must mean “may look”, and you blocked exactly the allowed positions."),
    Mistake("mask-inverted-added", old="np.where(mask, scores, -np.inf)", new="scores + mask * -1e9", together=2,
        message="The mask is inverted: True must mean “may look”, and you blocked exactly the allowed positions."),
    Mistake("mask-ignored", old="np.where(mask, scores, -np.inf)", new="scores",
        message="Your function takes a mask but gives the same answer with and without it: apply it to the scores before the softmax."),
    Mistake("mask-score-zero", old="np.where(mask, scores, -np.inf)", new="np.where(mask, scores, 0.0)",
        message="You set blocked scores to 0 (or multiplied the scores by the mask, or wrote −1e-9, which is next to 0). exp(0) = 1, so blocked keys still get weight: use minus infinity."),
    Mistake("mask-added", old="np.where(mask, scores, -np.inf)", new="scores + mask", together=2,
        message="You added the mask to the scores, so True counts as 1 and False as 0; blocked scores must become minus infinity."),
    Mistake("mask-positive-infinity", old="np.where(mask, scores, -np.inf)", new="np.where(mask, scores, np.inf)",
        message="Blocked scores must become minus infinity; yours became plus infinity (or NaN), and NaN then spreads over the whole row."),
    Mistake("mask-nan-everywhere", old="np.where(mask, scores, -np.inf)", new="scores + np.where(mask, np.nan, -np.inf)", hides_others=True, together=2,
        message="You multiplied a mask by infinity: 0 · inf is NaN, just where the key may be seen. Use np.where, which picks and does not multiply."),
    Mistake("mask-minus-one", old="-np.inf)", new="-1.0)", together=2,
        message="You filled blocked scores with −1. That is an ordinary score, and exp(−1) = 0.37 still gives weight: use minus infinity."),
    Mistake("mask-not-negative-enough", old="-np.inf)", new="-1e2)", together=2,
        message="Your blocked scores are negative, but some ordinary ones are more so, in the thousands, and then blocked keys take all the weight: only minus infinity is below every score."),
    Mistake("mask-transposed", old="np.where(mask,", new="np.where(np.swapaxes(mask, -1, -2),", hides_others=True,
        message="You transposed the mask: its rows belong to queries and its columns to keys, like those of the scores."),
    Mistake("mask-after-softmax", edits=(("np.where(mask, scores, -np.inf)", "scores"), ("    out = ", "    if mask is not None:\n        weights = weights * mask\n    out = ")),
        message="You masked after the softmax: blocked keys already took their share, so the rest of each row sums to less than 1. Mask the scores, before the softmax."),
    Mistake("mask-after-softmax-minus-inf", edits=(("np.where(mask, scores, -np.inf)", "scores"), ("    out = ", "    if mask is not None:\n        weights = np.where(mask, weights, -np.inf)\n    out = ")), together=2,
        message="You put minus infinity into the weights; it belongs into the scores, before the softmax turns it into 0."),
    Mistake("mask-as-index", old="scores = np.where(mask, scores, -np.inf)", new="scores[~mask] = -np.inf", hides_others=True,
        message="Indexing with the mask needs one of exactly the scores' shape, and a mask may be broadcast over the batch: use np.where."),
    Mistake("mask-as-inverted-index", old="scores = np.where(mask, scores, -np.inf)", new="scores[mask] = -np.inf", hides_others=True, together=2,
        message="Two things in one line: the mask is inverted (True must mean “may look”), and indexing needs a mask of exactly the scores' shape where np.where broadcasts."),
)
_SOFTMAX = (
    Mistake("softmax-over-queries", old="softmax(scores, axis=-1)", new="softmax(scores, axis=-2)",
        message="The softmax runs down the columns, so each key's shares sum to 1 over the queries; each query's row should: use the last axis."),
    Mistake("softmax-over-axis-zero", old="softmax(scores, axis=-1)", new="softmax(scores, axis=0)", together=2,
        message="The softmax runs along axis 0, over the queries or, with a batch, over the examples; each query's row should sum to 1: use the last axis."),
    Mistake("softmax-over-axis-one", old="softmax(scores, axis=-1)", new="softmax(scores, axis=1)", together=2,
        message="The softmax runs along axis 1. That is right for one sequence and wrong as soon as there is a batch: use the last axis."),
    Mistake("softmax-over-everything", old="softmax(scores, axis=-1)", new="np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()", hides_others=True,
        message="One softmax runs over all scores together, so the whole array sums to 1; each query's row should: use the last axis."),
    Mistake("no-softmax", old="softmax(scores, axis=-1)", new="scores", hides_others=True,
        message="There is no softmax: scores were used as weights. Each query's row of weights should be positive and sum to 1."),
    Mistake("naive-exponential", old="softmax(scores, axis=-1)", new="np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)",
        message="exp overflows for large scores, and inf/inf is NaN: use the softmax of exercise 2.1, which subtracts the maximum first."),
    Mistake("weights-not-normalised", old="softmax(scores, axis=-1)", new="np.exp(scores)",
        message="You took the exponential but did not divide by its sum: each query's row of weights should sum to 1."),
    Mistake("no-exponential", old="softmax(scores, axis=-1)", new="scores / scores.sum(axis=-1, keepdims=True)", hides_others=True,
        message="You divided the scores by their sum, without the exponential: use softmax."),
    Mistake("softmax-twice", old="softmax(scores, axis=-1)", new="softmax(softmax(scores, axis=-1), axis=-1)", together=2,
        message="The softmax is applied twice; the second one makes the weights nearly even and gives blocked keys weight again."),
    Mistake("hard-attention", old="softmax(scores, axis=-1)", new="(scores == scores.max(axis=-1, keepdims=True)).astype(float)", hides_others=True, together=2,
        message="Each query looks at its best key alone; the softmax gives every key a share."),
)
_RESULTS = (
    Mistake("results-swapped", old="return out, weights", new="return weights, out",
        message="You returned (weights, out); the order asked for is out, weights."),
    Mistake("scores-returned", old="return out, weights", new="return out, scores", together=2,
        message="You returned the scores as the second result; the weights are wanted, after the softmax."),
    Mistake("weights-not-returned", old="return out, weights", new="return out", hides_others=True,
        message="You returned the output alone; the weights are wanted too: out, weights."),
    Mistake("scale-on-output", edits=(("scores / math.sqrt(d_k)", "scores"), ("    return ", "    out = out / np.sqrt(d_k)\n    return ")), together=2,
        message="You divided the output by √d_k; the scale belongs to the scores, before the softmax."),
    Mistake("scale-after-softmax", edits=(("scores / math.sqrt(d_k)", "scores"), ("    out = ", "    weights = weights / np.sqrt(d_k)\n    out = ")), together=2,
        message="You divided the weights by √d_k, so their rows no longer sum to 1; the scale belongs to the scores, before the softmax."),
)


_PRODUCTS = {"@": ("Q @ np.swapaxes(K, -1, -2)", "weights @ V"),
             "einsum": ('np.einsum("...qd,...kd->...qk", Q, K)', 'np.einsum("...qk,...kv->...qv", weights, V)')}


def _products(first):
    """Mistakes in the two matrix products; the text to patch differs between the exercises."""
    qk, wv = _PRODUCTS[first]
    return (
        Mistake("keys-not-transposed", old=qk, new="Q @ K", hides_others=True,
            message="`Q @ K` lets the features of Q meet the positions of K. To compare every query with every key, the last axis of both must meet: K needs its last two axes swapped."),
        Mistake("full-transpose", old=qk, new="Q @ K.T", hides_others=True,
            message="`K.T` reverses all axes, the batch axis too; swap only the last two: `np.swapaxes(K, -1, -2)`."),
        Mistake("transpose-as-in-torch", old=qk, new="Q @ K.transpose(-2, -1)", hides_others=True, together=2,
            message="`K.transpose(-2, -1)` is PyTorch's way; NumPy's transpose takes the new order of all axes. `np.swapaxes(K, -1, -2)` exchanges the last two."),
        Mistake("transpose-as-in-torch-reversed", old=qk, new="Q @ K.transpose(-1, -2)", hides_others=True, together=2,
            message="`K.transpose(-1, -2)` is PyTorch's way; NumPy's transpose takes the new order of all axes, and fails once there is a batch. `np.swapaxes(K, -1, -2)` exchanges the last two."),
        Mistake("scores-transposed", old=qk, new="K @ np.swapaxes(Q, -1, -2)", hides_others=True,
            message="You multiplied K by Q transposed, so the rows of the scores belong to keys; each row must belong to a query."),
        Mistake("same-position-only", old=qk, new="Q * K", hides_others=True, together=2,
            message="You multiplied Q and K entry by entry; every query must meet every key: a matrix product."),
        Mistake("queries-with-queries", old=qk, new="Q @ np.swapaxes(Q, -1, -2)", hides_others=True, together=2,
            message="You compared queries with queries: the scores are Q times K transposed."),
        Mistake("keys-with-keys", old=qk, new="K @ np.swapaxes(K, -1, -2)", hides_others=True, together=2,
            message="You compared keys with keys: the scores are Q times K transposed."),
        Mistake("queries-with-values", old=qk, new="Q @ np.swapaxes(V, -1, -2)", hides_others=True, together=2,
            message="You compared queries with values: the keys are what a query is compared with."),
        Mistake("keys-as-values", old=wv, new="weights @ K",
            message="You multiplied the weights by K: the weights say where to look, the values say what to fetch."),
        Mistake("queries-as-values", old=wv, new="weights @ Q", hides_others=True, together=2,
            message="You multiplied the weights by Q: the weights say where to look, the values say what to fetch."),
        Mistake("weights-transposed", old=wv, new="np.swapaxes(weights, -1, -2) @ V", hides_others=True,
            message="The weights were transposed before they met the values: row i of the output must be the mixture chosen by query i."),
        Mistake("scores-times-values", old=wv, new="scores @ V",
            message="You multiplied the values by the scores; the weights are what the softmax made of them."),
        Mistake("values-times-weights", old=wv, new="V @ weights", hides_others=True, together=2,
            message="You multiplied `V @ weights`: each row of weights must meet the values, so the weights come first."),
        Mistake("values-unweighted", old=wv, new="np.broadcast_to(V.mean(axis=-2, keepdims=True), (*scores.shape[:-1], V.shape[-1])).copy()", hides_others=True, together=2,
            message="Every query got the plain mean of the values: the weights must decide how much each value counts."),
    )


def _alone(reference, products):
    """Mistakes that are looked for alone, so that the search for pairs and threes stays short."""
    qk, wv = _PRODUCTS[products]
    where, blend, unmasked = "np.where(mask, scores, -np.inf)", "    out = ", "    scores = scores / math.sqrt(d_k)\n"

    def one(id, message, *edits):
        return alone(id, message, *edits)

    mistakes = (
        one("scale-precedence", "You divided by d_k and then by 2: in `d_k ** 1 / 2` the power is taken first. Write `d_k ** 0.5`, or the square root.", ("/ math.sqrt(d_k)", "/ d_k ** 1 / 2")),
        one("half-of-d_k", "You divided by half of d_k; the square root is wanted: √d_k = {sqrt_d_k}.", ("math.sqrt(d_k)", "(d_k / 2)")),
        one("scale-by-first-axis-of-keys", "You took the first axis of K for the scale, which is the number of keys, or the batch. The features are the last axis: d_k = {d_k}.",
            ("math.sqrt(d_k)", "math.sqrt(K.shape[0])")),
        one("scale-by-axis-one-of-keys", "You took axis 1 of K for the scale. It holds the features only as long as there is no batch: use the last axis, `shape[-1]`.",
            ("math.sqrt(d_k)", "math.sqrt(K.shape[1])")),
        one("output-before-mask", "The weights you return are masked, but the output was made with others, from before the mask: mask the scores first, then weights, then the output.",
            (unmasked, unmasked + "    early = softmax(scores, axis=-1)\n"), (wv, wv.replace("weights", "early"))),
        one("weights-before-mask", "The output is right, but the weights you return are those from before the mask.",
            (unmasked, unmasked + "    early = softmax(scores, axis=-1)\n"), ("return out, weights", "return out, early")),
        one("softmax-only-with-a-mask", "Without a mask there are no weights: the softmax stands inside the `if`, one step too far to the right.",
            ("    weights = softmax", "        weights = softmax")),
        one("mask-with-an-axis-in-front", "You gave the mask another axis in front, and it spread to the results. The mask broadcasts as it comes.", (where, "np.where(mask[None], scores, -np.inf)")),
        one("mask-with-an-axis-inside", "You gave the mask another axis, `mask[:, None]`, which moves the others out of place. The mask broadcasts as it comes.",
            (where, "np.where(mask[:, None], scores, -np.inf)")),
        one("renormalised-after-mask", "You masked after the softmax and divided by what was left. Beside a blocked key with a far larger score nothing is left: all others have"
            " underflowed to 0, and 0/0 is NaN. Mask the scores, before the softmax.",
            (f"scores = {where}", "pass"), (blend, "    if mask is not None:\n        weights = weights * mask\n        weights = weights / weights.sum(axis=-1, keepdims=True)\n" + blend)),
        one("mask-asked-without-looking", "`mask.any()` fails where there is no mask: ask `mask is not None` first.", ("mask is not None", "mask.any()")),
        one("mask-as-condition", "`if mask` asks a whole array for one truth value. To ask whether a mask was given, write `if mask is not None`.", ("mask is not None", "mask")),
        one("masked-fill-as-in-torch", "`masked_fill` belongs to PyTorch; in NumPy `np.where(mask, scores, -np.inf)` picks between the two.", (where, "scores.masked_fill(~mask, -np.inf)")),
        one("mask-picks", "`scores[mask]` picks the allowed scores out into one long row; `np.where` keeps their places and fills the others.", (where, "scores[mask]")),
        one("causal-without-a-mask", "Where no mask is given yours hides the future; without a mask every query may look at every key. (The causal mask comes in lesson 05.)",
            ("    if mask is not None:\n", "    if mask is None:\n        mask = np.tril(np.ones(scores.shape[-2:], dtype=bool))\n    if mask is not None:\n")),
    )
    if products == "einsum":
        return mistakes
    return (
        *mistakes,
        one("dot-on-a-batch", "`np.dot` (like `np.inner`) pairs every example of the batch with every other one; `@` keeps the examples apart.",
            (qk, "np.dot(Q, np.swapaxes(K, -1, -2))"), (wv, "np.dot(weights, V)")),
        one("dot-with-the-values", "`np.dot` (or `weights.dot(V)`) pairs every example of the batch with every other one; `@` keeps the examples apart.", (wv, "np.dot(weights, V)")),
        one("first-axes-swapped", "You swapped axes 0 and 1, which are positions and features only as long as there is no batch: swap the last two, `np.swapaxes(K, -1, -2)`.",
            (qk, "Q @ np.swapaxes(K, 0, 1)")),
        one("axes-one-and-two-swapped", "Axes 1 and 2 are the last two only where there is exactly one axis in front: count from the end, −1 and −2.", (qk, "Q @ np.swapaxes(K, 1, 2)")),
        one("transpose-for-three-axes", "`transpose(0, 2, 1)` fits three axes exactly: it fails for a single pair of matrices and for heads. `np.swapaxes(K, -1, -2)` fits any number.",
            (qk, "Q @ K.transpose(0, 2, 1)")),
        one("values-first", "You multiplied V, transposed, by the weights: each row of weights must meet the values, so the weights come first, `weights @ V`.",
            (wv, "np.swapaxes(V, -1, -2) @ weights")),
        Mistake("query-by-query-for-two-axes", source=_QUERY_BY_QUERY,
            message="Your loop takes the first axis of Q for the queries, which is so only without a batch: matrix products on the last two axes serve any number of axes."),
    )


_QUERY_BY_QUERY = """
def scaled_dot_product_attention(Q, K, V, mask=None):
    weights = np.zeros((len(Q), len(K)))
    for i, q in enumerate(Q):
        scores = K @ q / np.sqrt(len(q))
        weights[i] = softmax(scores if mask is None else np.where(mask[i], scores, -np.inf))
    return weights @ V, weights
"""


def _attention_mistakes(first, products):
    scale = tuple(
        dataclasses.replace(mistake, old=mistake.old.replace("{first}", first)) for mistake in _SCALE
    )
    return (*scale, *_MASK, *_SOFTMAX, *_products(products), *_RESULTS)


def _blocked_keys_get_weight(case, expected, got):
    inputs = case.make()
    if len(inputs) < 4 or not isinstance(got, (tuple, list)) or np.shape(got[1]) != np.shape(expected[1]):
        return None
    return blocked_keys(got[1], inputs[3])


def _row_with_nothing_to_see(candidate):
    """What an answer does where this exercise makes no demand: a row without a single True. Lesson 05 comes back to it."""
    Q, K, V = normal(11, (2, 4), (3, 4), (3, 2))
    try:
        with np.errstate(all="ignore"):
            weights = np.asarray(candidate(Q, K, V, np.array([[True, True, False], [False, False, False]]))[1])
    except Exception:
        return None
    lesson = "No row here is like that, and lesson 05 comes back to it."
    if np.isnan(weights[1]).any():
        return f"for a row with nothing to look at, yours gives NaN, as PyTorch's softmax does. {lesson}"
    if weights[1].sum() > 0.5:
        return f"for a row with nothing to look at, yours gives weight to every blocked key: a finite number stands for minus infinity. {lesson}"


# Where one mistake stops the code in every case but those with equal sizes, some others look alike in what is left.
_ALIKE = (
    *itertools.product(
        ("scores-transposed", "queries-with-queries", "queries-as-values", "weights-transposed"),
        ("scale-by-number-of-keys", "scale-by-number-of-queries"),
    ),
    *pairs("full-transpose", "scale-by-first-axis", "scale-by-number-of-queries", "softmax-over-axis-zero", "softmax-over-queries"),
    *itertools.product(
        ("mask-inverted", "mask-as-inverted-index"),
        ("keys-not-transposed", "full-transpose", "queries-with-values", "transpose-as-in-torch", "transpose-as-in-torch-reversed"),
    ),
    *itertools.product(
        ("softmax-over-axis-zero", "softmax-over-queries"), ("transpose-as-in-torch", "transpose-as-in-torch-reversed")
    ),
    *pairs("transpose-as-in-torch-reversed", "scale-by-first-axis", "scale-by-number-of-queries"),
    *pairs("softmax-over-everything", "mask-nan-everywhere", "mask-positive-infinity"),
    # Without a softmax, a score of 0 and a weight of 0 are the same thing, and so are scores and weights.
    *pairs("no-softmax", "mask-score-zero", "mask-after-softmax", "values-unweighted", "weights-not-returned"),
    *pairs("scores-returned", "values-unweighted", "scores-times-values"),
    ("scores-times-values", "weights-not-returned"),
    # Not negative enough shows among very large scores only, and there these overflow or hide it.
    *pairs("mask-not-negative-enough", "hard-attention", "weights-not-normalised"),
    ("hard-attention", "mask-minus-one"),
)

ATTENTION = Exercise(
    id="2.2",
    reference=numpy_attention.scaled_dot_product_attention,
    results=("out", "weights"),
    covers="batches, heads, masks, large scores, one query, float32",
    sums_to_one=("weights",),
    explain=(another_divisor(), columns_sum_to_one, _blocked_keys_get_weight, negative_weights, nearly_right),
    notes=(_row_with_nothing_to_see,),
    cases=ATTENTION_CASES,
    mistakes=(*_attention_mistakes("Q", "@"), *_alone(numpy_attention.scaled_dot_product_attention, "@")),
    indistinguishable=_ALIKE,
    alternatives=(
        'def scaled_dot_product_attention(Q, K, V, mask=None):\n    s = np.einsum("...qd,...kd->...qk", Q, K) * Q.shape[-1] ** -0.5\n'
        "    if mask is not None:\n        s = np.where(mask, s, -np.inf)\n    w = np.exp(s - s.max(-1, keepdims=True))\n"
        '    w /= w.sum(-1, keepdims=True)\n    return np.einsum("...qk,...kd->...qd", w, V), w',
        "def scaled_dot_product_attention(Q, K, V, mask=None):\n    s = (Q / np.sqrt(K.shape[-1])) @ K.swapaxes(-2, -1)\n"
        "    if mask is not None:\n        s = s + np.where(mask, 0.0, -np.inf)\n    w = softmax(s)\n    return w @ V, w",
        "def scaled_dot_product_attention(Q, K, V, mask=None):\n    scores = (Q @ np.swapaxes(K, -1, -2)).astype(float) / np.sqrt(Q.shape[-1])\n"
        "    if mask is not None:\n        scores[~np.broadcast_to(mask, scores.shape)] = -1e9\n    weights = softmax(scores)\n"
        "    return np.matmul(weights, V), weights",
        "def scaled_dot_product_attention(Q, K, V, mask=None):\n    shape = (*Q.shape[:-1], K.shape[-2])\n    weights = np.zeros(shape)\n"
        "    seen = np.broadcast_to(True if mask is None else mask, shape)\n    for place in np.ndindex(*Q.shape[:-1]):\n"
        "        lead = place[:-1]\n        scores = np.array([Q[place] @ key for key in K[lead]]) / Q.shape[-1] ** 0.5\n"
        "        weights[place] = softmax(np.where(seen[place], scores, -np.inf))\n    return weights @ V, weights",
        "def scaled_dot_product_attention(Q, K, V, mask=None):\n    weights = softmax(np.where(True if mask is None else mask, "
        "Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1]), -np.inf))\n    return [weights @ V, weights]",
    ),
)

# 2.3 Self-attention ---------------------------------------------------------------------------------------------------


def _self_case(name, seed, lead, T, d_model, d_k, d_v, *, mask=None, dtype=float):
    def make():
        arrays = normal(seed, (*lead, T, d_model), (d_model, d_k), (d_model, d_k), (d_model, d_v), dtype=dtype)
        return arrays if mask is None else (*arrays, _mask(mask, seed, lead, T, T))

    return Case(name, make, {"T": T, "d_model": d_model, "d_k": d_k, "d_v": d_v} | ({"B": lead[0]} if lead else {}))


_X_AND_MATRICES = "T d_model, d_model d_k, d_model d_k, d_model d_v"
_ATTEND = "return scaled_dot_product_attention(Q, K, V, mask)"

SELF_ATTENTION = Exercise(
    id="2.3",
    reference=numpy_attention.self_attention,
    results=("out", "weights"),
    sums_to_one=("weights",),
    covers="one sequence, batches, masks, all widths equal, one word, float32",
    cases=(
        _self_case("seven words", 1, (), 7, 5, 6, 3),
        _self_case("a mask", 2, (), 7, 5, 6, 3, mask="shared"),
        _self_case("all widths equal", 3, (), 6, 4, 4, 4),
        _self_case("a batch of three, a mask for each", 4, (3,), 7, 5, 6, 4, mask="each"),
        _self_case("a batch of three, a mask of keys alone", 9, (3,), 7, 5, 6, 4, mask="keys"),
        _self_case("one word", 5, (), 1, 4, 3, 2),
        _self_case("float32", 6, (2,), 6, 5, 7, 4, mask="causal", dtype=np.float32),
        _by_hand("words with fractions, matrices of whole numbers", 7, _X_AND_MATRICES, (0,), T=7, d_model=5, d_k=6, d_v=3),
        _by_hand("words of whole numbers, matrices with fractions", 8, _X_AND_MATRICES, (1, 2, 3), T=7, d_model=5, d_k=6, d_v=3),
    ),
    mistakes=(
        Mistake("one-matrix-for-all", edits=(("X @ W_k", "X @ W_q"), ("X @ W_v", "X @ W_q")), hides_others=True,
            message="Queries, keys and values all came from W_q: use W_k for the keys and W_v for the values."),
        Mistake("keys-from-W_q", old="X @ W_k", new="X @ W_q", hides_others=True,
            message="Your keys came from W_q: use W_k. With one matrix for both, the scores come out symmetric."),
        Mistake("queries-from-W_k", old="X @ W_q", new="X @ W_k", hides_others=True,
            message="Your queries came from W_k: use W_q. With one matrix for both, the scores come out symmetric."),
        Mistake("values-from-W_k", old="X @ W_v", new="X @ W_k", hides_others=True,
            message="Your values came from W_k: use W_v."),
        Mistake("values-from-W_q", old="X @ W_v", new="X @ W_q", hides_others=True,
            message="Your values came from W_q: use W_v."),
        Mistake("words-as-values", old="X @ W_v", new="X",
            message="Your values are the words themselves: project them with W_v."),
        Mistake("nothing-projected", edits=(("X @ W_q", "X"), ("X @ W_k", "X"), ("X @ W_v", "X")), hides_others=True,
            message="X went into attention three times, without a projection: queries, keys and values are X times W_q, W_k and W_v."),
        Mistake("mask-not-passed-on", old="(Q, K, V, mask)", new="(Q, K, V)",
            message="The mask was not passed on: your function takes it but attention never sees it."),
        Mistake("mask-inverted", old="(Q, K, V, mask)", new="(Q, K, V, None if mask is None else ~mask)",
            message="You inverted the mask on its way: True already means “may look”."),
        Mistake("queries-and-keys-swapped", old="(Q, K, V, mask)", new="(K, Q, V, mask)",
            message="Keys and queries went into attention in the wrong order: Q, K, V."),
        Mistake("keys-and-values-swapped", old="(Q, K, V, mask)", new="(Q, V, K, mask)",
            message="Values and keys went into attention in the wrong order: Q, K, V."),
        Mistake("order-reversed", old="(Q, K, V, mask)", new="(V, K, Q, mask)",
            message="Projections went into attention in the order V, K, Q; the order is Q, K, V."),
        Mistake("weights-transposed", edits=(("X @ W_q", "X @ W_q.T"), ("X @ W_k", "X @ W_k.T"), ("X @ W_v", "X @ W_v.T")), hides_others=True,
            message="You transposed the weight matrices. Each has shape (d_model, d_k), so `X @ W` fits as it is."),
        Mistake("weights-first", edits=(("X @ W_q", "W_q @ X"), ("X @ W_k", "W_k @ X"), ("X @ W_v", "W_v @ X")), hides_others=True,
            message="You multiplied `W @ X`. Each word is a row of X, so X comes first: `X @ W`."),
        Mistake("results-swapped", old="return scaled_dot_product_attention(Q, K, V, mask)", new="return scaled_dot_product_attention(Q, K, V, mask)[::-1]",
            message="You returned (weights, out); the order asked for is out, weights."),
        Mistake("weights-not-returned", old="return scaled_dot_product_attention(Q, K, V, mask)", new="return scaled_dot_product_attention(Q, K, V, mask)[0]", hides_others=True,
            message="You returned the output alone; the weights are wanted too: out, weights."),
        alone("matrices-passed-on", "The weight matrices themselves went into attention; queries, keys and values are X times each of them.",
            (_ATTEND, "return scaled_dot_product_attention(W_q, W_k, W_v, mask)")),
        alone("projected-in-a-chain", "You projected what was projected already, the keys from the queries, the values from the keys: each of the three begins with X.",
            ("X @ W_k", "Q @ W_k"), ("X @ W_v", "K @ W_v")),
        alone("x-overwritten", "Keys and values came from the queries: X itself was overwritten by `X @ W_q`. Give each result a name of its own.",
            ("X @ W_k", "Q @ W_k"), ("X @ W_v", "Q @ W_v")),
        alone("queries-not-projected", "The queries are X itself: project them with W_q.", ("X @ W_q", "X")),
        alone("keys-not-projected", "The keys are X itself: project them with W_k.", ("X @ W_k", "X")),
        alone("whole-mask-for-each-sentence", "Each sentence of the batch is given the whole mask. Where every sentence has a mask of its own, it then meets those of the others too, which leaves an axis too many.",
            (_ATTEND, "if X.ndim == 2:\n        return scaled_dot_product_attention(Q, K, V, mask)\n    found = [scaled_dot_product_attention(q, k, v, mask) for q, k, v in zip(Q, K, V)]\n    return tuple(np.stack(part) for part in zip(*found))")),
        alone("residual-added", "You added X to the output. Blocks do so, around the attention; this function returns the attention alone.",
            (_ATTEND, "out, weights = scaled_dot_product_attention(Q, K, V, mask)\n    return X + out, weights")),
        alone("scaled-once-more", "You divided by √d_k here as well; scaled_dot_product_attention does it already, and twice makes the weights too even.",
            ("X @ W_q", "X @ W_q / np.sqrt(W_q.shape[-1])")),
        alone("softmax-once-more", "You took a softmax of the weights; they have been through it already.",
            (_ATTEND, "out, weights = scaled_dot_product_attention(Q, K, V, mask)\n    return out, softmax(weights)")),
        alone("values-averaged-twice", "You multiplied the output by the weights once more; scaled_dot_product_attention has averaged the values already.",
            (_ATTEND, "out, weights = scaled_dot_product_attention(Q, K, V, mask)\n    return weights @ out, weights")),
        alone("always-causal", "You made a causal mask of your own; the mask to use is the one that comes in, or none. (The causal mask comes in lesson 05.)",
            (_ATTEND, "mask = np.tril(np.ones((X.shape[-2], X.shape[-2]), dtype=bool))\n    " + _ATTEND)),
        alone("mask-under-another-name", "`attn_mask` is the name PyTorch gives it; your scaled_dot_product_attention calls it `mask`, its fourth argument.",
            ("(Q, K, V, mask)", "(Q, K, V, attn_mask=mask)")),
    ),
    explain=(another_divisor(), negative_weights, nearly_right),
    indistinguishable=(
        # Exchanging what is equal changes nothing, and two exchanges can make a third.
        *pairs("keys-from-W_q", "queries-from-W_k", "values-from-W_q", "values-from-W_k"),
        *pairs("queries-from-W_k", "one-matrix-for-all", "values-from-W_q"),
        ("queries-and-keys-swapped", "values-from-W_q"),
        ("keys-and-values-swapped", "values-from-W_q"),
        ("order-reversed", "values-from-W_k"),
    ),
    alternatives=(
        "def self_attention(X, W_q, W_k, W_v, mask=None):\n    return scaled_dot_product_attention(*(X @ W for W in (W_q, W_k, W_v)), mask=mask)",
        "def self_attention(X, W_q, W_k, W_v, mask=None):\n    scores = X @ (W_q @ W_k.T) @ np.swapaxes(X, -1, -2) / np.sqrt(W_q.shape[1])\n"
        "    if mask is not None:\n        scores = np.where(mask, scores, -np.inf)\n    weights = softmax(scores)\n    return (weights @ X) @ W_v, weights",
        'def self_attention(X, W_q, W_k, W_v, mask=None):\n    Q, K, V = (np.einsum("...tm,md->...td", X, W) for W in (W_q, W_k, W_v))\n'
        "    out, weights = scaled_dot_product_attention(Q, K, V, mask)\n    return out, weights",
    ),
)

# 2.4 Additive scores --------------------------------------------------------------------------------------------------


def _additive_case(name, seed, T_q, T_k, d, m, scale=1.0, dtype=float):
    def make():
        Q, K, W_q, W_k, v = normal(seed, (T_q, d), (T_k, d), (d, m), (d, m), (m,), dtype=dtype)
        return Q * dtype(scale), K, W_q, W_k, v

    return Case(name, make, {"T_q": T_q, "T_k": T_k, "d": d, "m": m})


_FOR_ADDITIVE = "T_q d, T_k d, d m, d m, m"


ADDITIVE = Exercise(
    id="2.4",
    reference=numpy_attention.additive_scores,
    results=("scores",),
    covers="equal and unequal lengths, one query, saturated and gentle inputs, float32",
    cases=(
        _additive_case("five queries, seven keys", 1, 5, 7, 4, 3),
        _additive_case("equal lengths", 2, 6, 6, 4, 3),
        _additive_case("one query", 3, 1, 5, 3, 6),
        _additive_case("all sizes equal", 4, 4, 4, 4, 4, scale=0.5),
        _additive_case("large inputs", 5, 3, 5, 4, 6, scale=50.0),
        _additive_case("float32", 6, 4, 6, 3, 5, dtype=np.float32),
        _by_hand("words with fractions, matrices of whole numbers", 7, _FOR_ADDITIVE, (0, 1), T_q=5, T_k=8, d=4, m=3),
        _by_hand("words of whole numbers, matrices with fractions", 8, _FOR_ADDITIVE, (2, 3, 4), T_q=5, T_k=8, d=4, m=3),
    ),
    mistakes=(
        Mistake("no-tanh", old="np.tanh(from_query + from_key)", new="(from_query + from_key)",
            message="There is no tanh. Without it the score splits into a query part plus a key part, and after softmax every query looks the same way."),
        Mistake("tanh-on-the-score", edits=(("np.tanh(from_query + from_key)", "(from_query + from_key)"), ("return hidden @ v", "return np.tanh(hidden @ v)")),
            message="The tanh sits on the finished score; it belongs on the hidden units, before v adds them up."),
        Mistake("tanh-on-each-part", old="np.tanh(from_query + from_key)", new="np.tanh(from_query) + np.tanh(from_key)",
            message="The tanh was taken of query and key part separately; add the two first: only then do query and key meet."),
        Mistake("sigmoid", old="np.tanh(from_query + from_key)", new="1 / (1 + np.exp(-(from_query + from_key)))",
            message="You used the logistic function; the paper's nonlinearity is tanh."),
        Mistake("relu", old="np.tanh(from_query + from_key)", new="np.maximum(from_query + from_key, 0)",
            message="You used a ReLU; the paper's nonlinearity is tanh."),
        Mistake("product-instead-of-sum", old="from_query + from_key", new="from_query * from_key",
            message="You multiplied query part and key part; additive scores add them."),
        Mistake("difference-instead-of-sum", old="from_query + from_key", new="from_query - from_key",
            message="You subtracted the key part; additive scores add it."),
        Mistake("no-v", old="hidden @ v", new="hidden.sum(axis=-1)",
            message="You summed the hidden units; the score is their dot product with the learned vector v."),
        Mistake("mean-of-hidden", old="hidden @ v", new="hidden.mean(axis=-1)",
            message="You averaged the hidden units; the score is their dot product with the learned vector v."),
        Mistake("hidden-not-summed", old="hidden @ v", new="hidden * v",
            message="You multiplied the hidden units by v but did not add them up: one score per pair is wanted."),
        Mistake("same-position-only", edits=(("(Q @ W_q)[:, None, :]", "Q @ W_q"), ("(K @ W_k)[None, :, :]", "K @ W_k")), hides_others=True,
            message="Query i was added only to key i. Give the queries a new axis, `[:, None, :]`, and the keys another, `[None, :, :]`, so that every pair is scored."),
        Mistake("pairs-transposed", edits=(("[:, None, :]", "[None, :, :]"), ("(K @ W_k)[None, :, :]", "(K @ W_k)[:, None, :]")),
            message="Your scores are transposed: rows should be queries, so the queries keep the first axis, `[:, None, :]`."),
        Mistake("joined-along-positions", old="np.tanh(from_query + from_key)", new="np.tanh(np.concatenate([Q @ W_q, K @ W_k]))", hides_others=True,
            message="You joined queries and keys along the positions; each query must be added to each key, on two axes of their own."),
        Mistake("one-matrix-for-both", old="K @ W_k", new="K @ W_q",
            message="Your keys went through W_q: use W_k for them."),
        Mistake("other-matrix-for-both", old="Q @ W_q", new="Q @ W_k",
            message="Your queries went through W_k: use W_q for them."),
        Mistake("pairs-key-by-key", old="np.tanh(from_query + from_key)", new="np.tanh(from_query + from_key).swapaxes(0, 1).reshape(len(Q), len(K), -1)", together=2,
            message="Your pairs come key by key, and the table is filled query by query, so most scores stand at the wrong place. All keys of the first query come first, then those of the second."),
        Mistake("scaled", old="hidden @ v", new="hidden @ v / np.sqrt(Q.shape[-1])",
            message="You divided by √d; additive scores are not scaled, since tanh keeps each hidden unit between −1 and 1."),
        alone("v-first", "You multiplied `v @ hidden`, where v meets the keys. The hidden units are the last axis, so v comes last: `hidden @ v`.", ("hidden @ v", "v @ hidden")),
        alone("softmax-applied", "You went on to the weights: the scores themselves are wanted, before any softmax.", ("hidden @ v", "softmax(hidden @ v)")),
        alone("same-new-axis-for-both", "Queries and keys got their new axis at the same place, so they still meet position by position: `[:, None, :]` for the queries, `[None, :, :]` for the keys.",
            ("[None, :, :]", "[:, None, :]")),
        alone("queries-without-a-new-axis", "The queries have no axis of their own, so they line up with the keys: `[:, None, :]` gives them one.", ("(Q @ W_q)[:, None, :]", "Q @ W_q")),
        alone("joined-along-features", "You joined queries and keys along the features, position by position; each query must be added to each key, on two axes of their own.",
            ("np.tanh(from_query + from_key)", "np.tanh(np.concatenate([Q @ W_q, K @ W_k], axis=-1))")),
        alone("tangent", "`np.tan` is the tangent of an angle; the hyperbolic tangent is `np.tanh`.", ("np.tanh", "np.tan")),
        alone("dot-product-in-tanh", "You took the tanh of dot products; additive scores add the two projections, take the tanh of the sum, and weight the hidden units with v.",
            ("return hidden @ v", "return np.tanh((Q @ W_q) @ (K @ W_k).T)")),
        alone("matrices-transposed", "You transposed W_q and W_k. Each has shape (d, m), so `Q @ W_q` fits as it is.", ("Q @ W_q", "Q @ W_q.T"), ("K @ W_k", "K @ W_k.T")),
        alone("tanh-of-queries-only", "The tanh was taken of the query part alone; add the key part first.", ("np.tanh(from_query + from_key)", "np.tanh(from_query) + from_key")),
        alone("tanh-of-keys-only", "The tanh was taken of the key part alone; add the query part first.", ("np.tanh(from_query + from_key)", "from_query + np.tanh(from_key)")),
        alone("tanh-before-the-matrices", "The tanh was taken of queries and keys before the matrices; it belongs after them, on the sum of the two projections.",
            ("(Q @ W_q)", "(np.tanh(Q) @ W_q)"), ("(K @ W_k)", "(np.tanh(K) @ W_k)"), ("np.tanh(from_query + from_key)", "(from_query + from_key)")),
        alone("summed-over-keys", "You added up over the keys (axis 1); add up over the hidden units, the last axis.", ("hidden @ v", "(hidden * v).sum(axis=1)")),
    ),
    alternatives=(
        "def additive_scores(Q, K, W_q, W_k, v):\n    return np.array([[v @ np.tanh(q @ W_q + k @ W_k) for k in K] for q in Q])",
        "def additive_scores(Q, K, W_q, W_k, v):\n    q, k = Q @ W_q, K @ W_k\n    return (np.tanh(np.expand_dims(q, 1) + k) * v).sum(-1)",
        "def additive_scores(Q, K, W_q, W_k, v):\n    Qs, Ks = np.repeat(Q, len(K), axis=0), np.tile(K, (len(Q), 1))\n"
        "    joined = np.concatenate([Qs, Ks], axis=1) @ np.concatenate([W_q, W_k])\n    return (np.tanh(joined) @ v).reshape(len(Q), len(K))",
    ),
)

# 2.5 General scores ---------------------------------------------------------------------------------------------------


def _general_case(name, seed, T_q, T_k, d_q, d_k, dtype=float):
    return Case(
        name, lambda: normal(seed, (T_q, d_q), (T_k, d_k), (d_q, d_k), dtype=dtype), {"T_q": T_q, "T_k": T_k, "d_q": d_q, "d_k": d_k}
    )


_FOR_GENERAL = "T_q d_q, T_k d_k, d_q d_k"
_GENERAL_SCORES = "Q @ W @ np.swapaxes(K, -1, -2)"

GENERAL = Exercise(
    id="2.5",
    reference=numpy_attention.general_scores,
    results=("scores",),
    covers="queries and keys of different widths, equal widths, one query, float32",
    cases=(
        _general_case("queries wider than keys", 1, 5, 7, 4, 3),
        _general_case("equal widths", 2, 5, 7, 4, 4),
        _general_case("all sizes equal", 3, 4, 4, 4, 4),
        _general_case("one query", 4, 1, 6, 2, 5),
        _general_case("float32", 5, 4, 6, 5, 3, np.float32),
        _by_hand("queries with fractions, the rest whole numbers", 6, _FOR_GENERAL, (0,), T_q=5, T_k=8, d_q=4, d_k=3),
        _by_hand("queries of whole numbers, the rest with fractions", 7, _FOR_GENERAL, (1, 2), T_q=5, T_k=8, d_q=4, d_k=3),
    ),
    mistakes=(
        Mistake("w-transposed", old="Q @ W @", new="Q @ W.T @",
            message="You used W transposed. W leads from query features to key features, (d_q, d_k): Q @ W first, then the keys."),
        Mistake("w-ignored", old="Q @ W @", new="Q @",
            message="W is not used: the scores are plain dot products, which also need queries and keys of one width."),
        Mistake("keys-not-transposed", old="np.swapaxes(K, -1, -2)", new="K", hides_others=True,
            message="K needs its last two axes swapped, so that features meet features."),
        Mistake("scores-transposed", old="Q @ W @ np.swapaxes(K, -1, -2)", new="K @ W.T @ np.swapaxes(Q, -1, -2)", hides_others=True,
            message="Your scores are transposed: rows should belong to queries, so Q comes first."),
        Mistake("keys-first", old="Q @ W @ np.swapaxes(K, -1, -2)", new="K @ W @ np.swapaxes(Q, -1, -2)",
            message="You began with K: W stands between queries on its left and keys on its right, and rows belong to queries."),
        Mistake("scaled", old="np.swapaxes(K, -1, -2)", new="np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])",
            message="You divided by √d_k; general scores are not scaled, since W can learn any scale."),
        Mistake("tanh-added", old="Q @ W @ np.swapaxes(K, -1, -2)", new="np.tanh(Q @ W @ np.swapaxes(K, -1, -2))",
            message="There is a tanh too many; it belongs to additive scores. General scores are two matrix products."),
        Mistake("elementwise", old="Q @ W @", new="Q * W @",
            message="You multiplied Q and W entry by entry with `*`; a matrix product, `@`, is wanted."),
        alone("softmax-applied", "You went on to the weights: the scores themselves are wanted, before any softmax.", (_GENERAL_SCORES, f"softmax({_GENERAL_SCORES})")),
        alone("keys-entry-by-entry", "You multiplied by the keys entry by entry with `*`; every query must meet every key: `@`, with the last two axes of K swapped.", (_GENERAL_SCORES, "(Q @ W) * K")),
        alone("w-last", "W stands between query and key, q W kᵀ: Q first, then W, then the keys.", (_GENERAL_SCORES, "Q @ np.swapaxes(K, -1, -2) @ W")),
        alone("w-on-both-sides", "You applied W to queries and to keys; it stands between them once.", (_GENERAL_SCORES, "(Q @ W) @ np.swapaxes(K @ W, -1, -2)")),
        alone("reshaped-not-transposed", "`reshape` keeps the numbers in their order and only breaks the rows elsewhere, so features of different keys get mixed; `np.swapaxes(K, -1, -2)` transposes.",
            ("np.swapaxes(K, -1, -2)", "K.reshape(K.shape[-1], K.shape[-2])")),
        alone("same-position-only", "Each query was compared only with the key at its own position; every query must meet every key.", (_GENERAL_SCORES, "((Q @ W) * K).sum(axis=-1)")),
    ),
    alternatives=(
        'def general_scores(Q, K, W):\n    return np.einsum("qa,ab,kb->qk", Q, W, K)',
        "def general_scores(Q, K, W):\n    return Q @ (K @ W.T).T",
        "def general_scores(Q, K, W):\n    return np.array([[q @ W @ k for k in K] for q in Q])",
    ),
)

# 2.6 Debug clinic -----------------------------------------------------------------------------------------------------

# Which mistakes are looked for among three at once: the products are right to begin with, and an axis may be mended wrongly.
_IN_THE_CLINIC = ("softmax-over-axis-zero", "softmax-over-axis-one", "scale-fourth-root", "mask-minus-one", "mask-inverted-finite", "mask-not-negative-enough")
_NOT_IN_THE_CLINIC = (
    "keys-not-transposed", "full-transpose", "scores-transposed", "mask-as-index", "no-exponential", "results-swapped", "weights-not-returned",
    "weights-transposed", "keys-as-values",
)

DEBUG_CLINIC = Exercise(
    id="2.6",
    reference=numpy_attention.debugged_attention,
    results=("out", "weights"),
    covers="the cases of exercise 2.2",
    sums_to_one=("weights",),
    explain=(another_divisor(), columns_sum_to_one, _blocked_keys_get_weight, negative_weights, nearly_right),
    cases=ATTENTION_CASES,
    mistakes=(
        *(dataclasses.replace(mistake, together=3 if mistake.id in _IN_THE_CLINIC else 2 if mistake.id in _NOT_IN_THE_CLINIC else mistake.together)
          for mistake in _attention_mistakes("K", "einsum")),
        *_alone(numpy_attention.debugged_attention, "einsum"),
    ),
    indistinguishable=_ALIKE,
    starts_with=("divide-by-d_k", "mask-score-zero", "softmax-over-queries"),
    alternatives=ATTENTION.alternatives and tuple(
        source.replace("scaled_dot_product_attention", "debugged_attention") for source in ATTENTION.alternatives
    ),
)

EXERCISES = (SOFTMAX, ATTENTION, SELF_ATTENTION, ADDITIVE, GENERAL, DEBUG_CLINIC)
PREDICTIONS = (
    Prediction(
        "exp-of-1000", "nan", choices=("the right weights", "nan", "an exception"),
        why="exp(1000) is too large for a float and becomes infinity. Infinity divided by infinity is not a number. NumPy only warns.",
    ),
    Prediction(
        "blocked-score-zero", "more than 0", choices=("exactly 0", "more than 0", "less than 0"),
        why="The exponential of 0 is 1, so a score of 0 gets a weight like any other. Only minus infinity has the exponential 0.",
    ),
    Prediction(
        "shuffle-keys-and-values", "the columns of the weights", choices=("everything", "the columns of the weights", "the outputs"),
        why="Each weight moves with its key, and each value moves with its weight. A sum does not depend on the order of its terms.",
    ),
    Prediction(
        "general-is-dot", "the identity", choices=("all ones", "the identity", "all zeros"),
        why="The identity leaves the query as it is, so q W kᵀ is q · k.",
    ),
)
