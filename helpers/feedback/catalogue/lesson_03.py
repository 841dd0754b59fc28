"""Lesson 03: dot products of random vectors, entropy, the softmax Jacobian and the backward pass without it."""

import functools
import itertools
import tracemalloc

import numpy as np

from ... import scaling
from ...numpy_attention import softmax
from ..exercise import AnswerProblem, Case, Exercise, Finding, Mistake, Prediction, pairs
from ..values import describe, in_a_sentence, is_array
from .common import normal


def _of_rank(shape):
    """Names of the sizes of an array (..., n), as far as a report can use them."""
    return dict(zip(("T_q", "n"), shape, strict=True)) if len(shape) == 2 else {"n": shape[-1]}


# 3.1 Sample dot products ----------------------------------------------------------------------------------------------

_FIXED = "`rng` makes no difference to your numbers, every call gives the same ones: draw from it, not from a generator of your own."
_GLOBAL = "`rng` does not decide your numbers, two calls with equal generators give different ones: draw from it only, not from NumPy's global generator or a fresh one."
_CENTRED = "Your dot products have a mean of exactly 0, which no chance gives: return them as they come, nothing subtracted."
_SHARED = "Too few random numbers are drawn for queries and keys of their own, 2·n·d_k in all, so some are used twice or missing. (Has every query and every key d_k numbers of its own? Or are the keys made from the queries?) Draw both in full."
N_CALLS = 120
_PCG64_MULTIPLIER = 47026247687942121848144207491837523525  # O'Neill 2014: each step is state * multiplier + inc


def _described(sample, n, d_k, seed):
    """What can be told of a sampler whatever order it draws in: spread, mean, shape of the distribution, how calls differ."""
    rng = np.random.default_rng(seed)
    before = rng.bit_generator.state["state"]
    drawn = sample(n, d_k, rng)
    if drawn is ...:
        return drawn
    if drawn is None:
        raise AnswerProblem("nothing-returned", "Nothing was returned: is the `return` line missing?")
    if not is_array(drawn) or drawn.shape != (n,) or drawn.dtype.kind not in "fiu":
        shapes = {(n, d_k): "(n, d_k)", (n, n): "(n, n)", (d_k,): "(d_k,)", (n, 1): "(n, 1)"}
        name = shapes.get(drawn.shape, drawn.shape) if is_array(drawn) else describe(drawn)
        raise AnswerProblem("wrong-shape", f"An array of shape (n,) is wanted, one number per pair; {name} came.")
    if not np.array_equal(drawn, sample(n, d_k, np.random.default_rng(seed))):
        raise AnswerProblem("not-from-rng", _GLOBAL)
    needed = n * d_k if drawn.dtype == np.float32 else 2 * n * d_k  # one draw gives one float64, or two float32
    numbers = _numbers_drawn(before, rng.bit_generator.state["state"], needed)
    rng = np.random.default_rng([seed, 1])
    calls = np.array([sample(n, d_k, rng) for _ in range(N_CALLS)], dtype=float)  # (N_CALLS, n)
    if (calls == calls[0]).all():
        raise AnswerProblem("ignores-rng", _FIXED)
    if d_k > 1 and (np.abs(calls.mean(axis=1)) < 1e-9 * calls.std()).all():
        raise AnswerProblem("mean-subtracted", _CENTRED)
    size = np.sqrt(np.mean(calls**2, axis=1))  # one number a call
    centred = calls - calls.mean()
    return (
        float(calls.std() / np.sqrt(d_k)),
        float(1 + calls.mean() / np.sqrt(d_k)),
        float((np.abs(centred).mean() / calls.std()) ** 4),  # 0.16 for a product of two normals, 0.41 for one normal
        float(1 + (size**2).std() / (size**2).mean()),
        numbers / needed,
    )


def _numbers_drawn(before, after, at_most):
    """How many numbers of 64 bits a PCG64 generator gave between two of its states, or at_most if there were more."""
    state, n = before["state"], 0
    while state != after["state"] and n < at_most:
        state, n = (state * _PCG64_MULTIPLIER + before["inc"]) % 2**128, n + 1
    return n


@functools.cache
def _right(n, d_k, seed):
    return _described(scaling.sample_dot_products, n, d_k, seed)


def _judge_samples(result, case):
    expected = _right(*case.make())
    d_k = case.dims["d_k"]
    off = [abs(r - e) > case.tolerance * e for r, e in zip(result, expected, strict=True)]
    spread, mean = result[0] * np.sqrt(d_k), (result[1] - 1) * np.sqrt(d_k)
    if not np.isfinite(result).all():
        return (Finding("not-finite", "Some of your dot products are NaN or infinite."),)
    if off[1] and abs(mean) > case.tolerance * spread:
        return (Finding("mean-not-0", f"The mean of your dot products is {in_a_sentence(mean, '.2f')} at d_k = {d_k}; it should be near 0. Do the features have mean 0, and do all products keep their sign?"),)
    if off[0]:
        return (Finding("wrong-spread", f"The spread of your dot products is {spread:.2f} at d_k = {d_k}; {np.sqrt(d_k):.2f} is right. Have the features variance 1, and does each product count once?"),)
    if off[3]:
        return (Finding("not-independent", "Your dot products are not independent of each other: does one vector take part in several of them?"),)
    if off[4]:
        return (Finding("numbers-shared", _SHARED),)
    if off[2]:
        return (Finding("not-normal", "Mean and spread are right, but the distribution is another: the features should be standard normal."),)
    return ()


def _sample_case(n, d_k, seed):
    return Case(f"d_k = {d_k}", lambda: (n, d_k, seed), {"n": n, "d_k": d_k}, tolerance=0.1)


_QUERIES, _KEYS = ("queries = rng.standard_normal((n, d_k))", "keys = rng.standard_normal((n, d_k))")


def _both_drawn(new):
    return ((_QUERIES, f"queries = {new}"), (_KEYS, f"keys = {new}"))


SAMPLES = Exercise(
    id="3.1",
    reference=scaling.sample_dot_products,
    results=("spread", "mean", "tails", "independence", "share of the random numbers needed"),
    run=_described,
    judge=_judge_samples,
    covers="d_k = 1, 4 and 20; any way of drawing",
    # Seeds whose draws are typical, so that other right answers stay far within the tolerance.
    cases=(_sample_case(150, 4, 4), _sample_case(300, 1, 3), _sample_case(80, 20, 27)),
    max_mistakes=2,
    mistakes=(
        Mistake("normal-at-once", source="def sample_dot_products(n, d_k, rng):\n    return rng.standard_normal(n) * np.sqrt(d_k)",
            message="You drew the dot products themselves, as normal numbers of the right spread. They are not normal: for small d_k they crowd near 0, with far outliers. Draw queries and keys, and multiply them."),
        # One key for all gives numbers of the same distribution, so this stands for both.
        Mistake("one-query-for-all", old=_QUERIES, new="queries = rng.standard_normal(d_k)",
            message="One and the same vector takes part in all your dot products, so they are not independent: draw n queries and n keys, two arrays (n, d_k)."),
        Mistake("query-is-key", old=_KEYS, new="keys = queries",
            message="Query and key are the same vector, so each dot product is a sum of squares, near d_k: draw the keys on their own."),
        Mistake("keys-from-queries", old=_KEYS, new="keys = np.roll(queries, 1, axis=0)",
            message="Your keys are the queries in another order, so every vector takes part in two of the dot products: draw the keys too."),
        Mistake("uniform", edits=_both_drawn("rng.random((n, d_k))"),
            message="Your features are uniform between 0 and 1: their mean is not 0, so the dot products drift to d_k/4. Draw standard normal features."),
        Mistake("uniform-centred", edits=_both_drawn("rng.uniform(-1, 1, (n, d_k))"),
            message="Your features are uniform between −1 and 1, with variance 1/3: draw standard normal features, of variance 1."),
        Mistake("uniform-of-width-one", edits=_both_drawn("rng.random((n, d_k)) - 0.5"),
            message="Your features are uniform between −½ and ½, with variance 1/12: draw standard normal features, of variance 1."),
        Mistake("uniform-unit-variance", edits=_both_drawn("rng.uniform(-(3**0.5), 3**0.5, (n, d_k))"),
            message="Your features are uniform: mean and variance are right, but standard normal features are wanted."),
        Mistake("signs", edits=_both_drawn("rng.choice([-1.0, 1.0], (n, d_k))"),
            message="Your features are only signs, −1 and 1: mean and variance are right, but standard normal features are wanted."),
        Mistake("mean-instead-of-sum", old="np.sum(", new="np.mean(",
            message="You took the mean of the products; a dot product is their sum. The mean divides by d_k, so your spread shrinks where it should grow."),
        Mistake("scaled", old="np.sum(products, axis=-1)", new="np.sum(products, axis=-1) / np.sqrt(d_k)",
            message="You divided by √d_k already; here the plain dot products are wanted, to see why one would."),
        Mistake("cosine", old="np.sum(products, axis=-1)", new="np.sum(products, axis=-1) / np.linalg.norm(queries, axis=-1) / np.linalg.norm(keys, axis=-1)",
            message="You divided by the lengths of both vectors, which is the cosine; the plain dot products are wanted."),
        Mistake("absolute", old="np.sum(products, axis=-1)", new="np.abs(np.sum(products, axis=-1))",
            message="You took absolute values: a dot product of random vectors is as often negative as positive."),
        Mistake("sum-of-vectors", old="queries * keys", new="queries + keys",
            message="You added queries and keys; multiply them feature by feature, then add up."),
        Mistake("unit-queries", old="keys = rng", new="queries = queries / np.linalg.norm(queries, axis=-1, keepdims=True)\n    keys = rng",
            message="You divided the vectors on one side by their lengths; draw features of variance 1 and leave the vectors as long as they are."),
        Mistake("squared-distance", old="queries * keys", new="(queries - keys) ** 2",
            message="You added up squared differences, which gives a squared distance; a dot product adds up products."),
        Mistake("mean-subtracted", old="return np.sum(products, axis=-1)", new="drawn = np.sum(products, axis=-1)\n    return drawn - drawn.mean()",
            hides_others=True, message=_CENTRED),
        Mistake("not-summed", old="np.sum(products, axis=-1)", new="products", hides_others=True,
            message="You multiplied feature by feature but did not add the products up: one number per pair is wanted."),
        Mistake("wrong-axis", old="axis=-1", new="axis=0", hides_others=True,
            message="You added up over the pairs (axis 0), which leaves one number per feature; add up over the features, the last axis."),
        Mistake("one-total", old="np.sum(products, axis=-1)", new="np.sum(products)", hides_others=True,
            message="You added up everything into one number; add up over the features only, for one number per pair."),
        Mistake("all-pairs", old="np.sum(products, axis=-1)", new="queries @ keys.T", hides_others=True,
            message="You compared every query with every key, n × n numbers that share their vectors; only the pairs at equal positions are wanted, n numbers."),
        Mistake("drawn-directly", old="np.sum(products, axis=-1)", new="rng.normal(0, np.sqrt(d_k), n)", together=1,
            message="You drew the dot products themselves from a normal distribution of spread √d_k, which presumes what is to be measured: draw queries and keys, and multiply."),
        Mistake("own-generator", edits=_both_drawn("np.random.default_rng(0).standard_normal((n, d_k))"), hides_others=True, message=_FIXED),
        Mistake("global-generator", edits=_both_drawn("np.random.standard_normal((n, d_k))"), hides_others=True, message=_GLOBAL),
    ),
    indistinguishable=(
        # A cosine is between −1 and 1 whatever the vectors, and a sum of squares or of positive products has no sign to lose.
        *pairs("cosine", "one-query-for-all", "keys-from-queries", "uniform-centred", "uniform-of-width-one", "uniform-unit-variance", "signs"),
        *pairs("absolute", "query-is-key", "uniform"),
        ("sum-of-vectors", "uniform-unit-variance"),
        ("all-pairs", "one-query-for-all"),
        ("mean-instead-of-sum", "signs"),
        *pairs("unit-queries", "cosine"),
        *pairs("squared-distance", "query-is-key", "absolute", "uniform", "uniform-of-width-one"),  # a difference does not see their mean
    ),
    alternatives=(
        "def sample_dot_products(n, d_k, rng):\n    return np.array([rng.normal(size=d_k) @ rng.normal(size=d_k) for _ in range(n)])",
        "def sample_dot_products(n, d_k, rng):\n    Q, K = rng.standard_normal((2, n, d_k))\n    return (Q * K).sum(1)",
        'def sample_dot_products(n, d_k, rng):\n    k, q = rng.normal(0, 1, (d_k, n)), rng.normal(0, 1, (d_k, n))\n    return np.einsum("dn,dn->n", q, k)',
        "def sample_dot_products(n, d_k, rng):\n    total = np.zeros(n)\n    for _ in range(d_k):\n        total += rng.standard_normal(n) * rng.standard_normal(n)\n    return total",
        "def sample_dot_products(n, d_k, rng):\n    q, k = (rng.standard_normal((n, 1, d_k)), rng.standard_normal((n, d_k, 1)))\n    return (q @ k)[:, 0, 0]",
    ),
)

# 3.2 Entropy ----------------------------------------------------------------------------------------------------------


def _weights_case(name, weights, dims=None, tolerance=None):
    weights = np.asarray(weights)
    return Case(name, lambda: (weights.copy(),), _of_rank(weights.shape) if dims is None else dims, tolerance)


def _weights(seed, *shape, sharpness=2.0, dtype=float):
    return softmax(sharpness * normal(seed, shape)[0]).astype(dtype)


_ZEROS = np.array([[0.5, 0.0, 0.25, 0.25], [0.0, 0.0, 0.3, 0.7], [0.1, 0.2, 0.3, 0.4]])


def _entropy_hint(case, expected, got):
    if np.shape(got) != np.shape(expected) or not np.isfinite(got).all():
        return None
    off = np.abs(np.asarray(got) - expected)
    small = (case.make()[0] < 0.01).any(axis=-1)
    if (np.round(got, 3) == got).all() and 0 < off.max() < 0.05:
        return "Your numbers are rounded: return them as they come."
    if 0 < off.max() < 1e-3:
        return "Your numbers are off by very little: did you add a small number inside the logarithm? It is not needed if zeros are replaced before."
    if small.any() and off[small].max() > 1e-6 and (small.all() or off[~small].max() < 1e-6):
        return "Only rows with very small weights are off: replace the zeros and leave all other weights as they are."
    if (np.asarray(got) < -1e-9).any():
        return "An entropy is never negative: no weight is above 1, so no logarithm is above 0."
    return None


_ENTRY_BY_ENTRY = "`@` and `np.dot` combine every row with every other. Multiply entry by entry, and add up along the last axis."

ENTROPY = Exercise(
    id="3.2",
    reference=scaling.entropy,
    results=("entropies",),
    covers="weights of 0, one word alone, equal weights, leading axes, float32",
    explain=(_entropy_hint,),
    cases=(
        _weights_case("three rows of five", _weights(1, 3, 5), tolerance=1e-6),
        _weights_case("one row", [0.5, 0.3, 0.2], tolerance=1e-6),
        _weights_case("a square", _weights(2, 4, 4), tolerance=1e-6),
        _weights_case("leading axes", _weights(3, 2, 3, 7), {"B": 2, "T_q": 3, "n": 7}, tolerance=1e-6),
        _weights_case("some weights are 0", _ZEROS, tolerance=1e-6),
        _weights_case("one word has everything", np.eye(3)[[1, 0]], tolerance=1e-3),  # of 0: lets 1e-8 in the log pass
        _weights_case("equal weights", np.full((2, 8), 1 / 8), tolerance=1e-6),
        _weights_case("rows of one weight", np.ones((3, 1)), tolerance=1e-3),
        _weights_case("float32", _weights(4, 3, 7, dtype=np.float32)),
    ),
    mistakes=(
        Mistake("missing-minus", old="return -np.sum", new="return np.sum",
            message="The minus sign is missing: logarithms of weights are negative, and an entropy is never below 0."),
        Mistake("base-two", old="np.log(safe)", new="np.log2(safe)",
            message="You took logarithms to base 2, which gives bits; nats are wanted: the natural logarithm, `np.log`."),
        Mistake("base-ten", old="np.log(safe)", new="np.log10(safe)",
            message="You took logarithms to base 10; the natural logarithm is wanted, `np.log`."),
        Mistake("nan-at-zero", old="np.where(weights > 0, weights, 1.0)", new="weights",
            message="At a weight of 0 you compute 0 · log 0 = 0 · (−∞) = NaN; a weight of 0 should add nothing. Replace zeros before the logarithm."),
        Mistake("where-exchanged", old="np.where(weights > 0, weights, 1.0)", new="np.where(weights > 0, 1.0, weights)", hides_others=True,
            message="The two choices of your `np.where` are exchanged: where the weight is positive it should stay, and 1 should stand where it is 0."),
        Mistake("log-of-one-plus", old="np.log(safe)", new="np.log(1 + weights)",
            message="You took the logarithm of 1 + weight, which is no longer that of the weight; only the zeros need replacing."),
        Mistake("wrong-axis", old="axis=-1", new="axis=0",
            message="You added up along the first axis, over the rows; each row has its own entropy: the last axis."),
        Mistake("one-total", old="np.sum(terms, axis=-1)", new="np.sum(terms)",
            message="You added up everything into one number; each row has its own entropy: add up along the last axis only."),
        Mistake("mean-of-terms", old="np.sum(terms", new="np.mean(terms",
            message="You took the mean of the terms. The weights already do the averaging, since they sum to 1: add up."),
        Mistake("weights-forgotten", old="weights * logs", new="logs",
            message="You added up the logarithms alone; each counts as much as its weight: multiply by the weights first."),
        Mistake("axis-kept", old="axis=-1", new="axis=-1, keepdims=True",
            message="Your result keeps an axis of length 1; one number per row is wanted: no `keepdims`."),
        Mistake("not-summed", old="-np.sum(terms, axis=-1)", new="-terms",
            message="You computed −w log w for every weight but did not add up along the row."),
        Mistake("effective-number", old="-np.sum(terms, axis=-1)", new="np.exp(-np.sum(terms, axis=-1))",
            message="You returned exp(entropy), the effective number of words; the entropy itself is wanted here."),
        Mistake("divided-by-log-n", old="-np.sum(terms, axis=-1)", new="-np.sum(terms, axis=-1) / np.log(weights.shape[-1])",
            message="You divided by log n, which makes 1 the largest value (and 0/0 of a single weight); the plain entropy is wanted."),
        Mistake("binary-entropy", old="weights * logs", new="weights * logs + (1 - weights) * np.log(np.where(weights < 1, 1 - weights, 1.0))",
            message="You also added (1 − w) log(1 − w), as for yes-or-no questions; a row is one choice among n: only w log w."),
        Mistake("softmax-again", old="safe = np.where", new="weights = softmax(weights)\n    safe = np.where",
            message="You applied softmax to the weights; they are weights already, and their rows sum to 1."),
        Mistake("zeros-overwritten", old="safe = np.where(weights > 0, weights, 1.0)", new="weights[weights == 0] = 1.0\n    safe = weights",
            message="Your function wrote over the zeros of the array it was given; `np.where` makes a new array and leaves the old one alone."),
        Mistake("axis-one", old="axis=-1", new="axis=1",
            message="You add up along axis 1, which is the last one for a matrix only: count from the end, with a negative axis."),
        Mistake("axis-before-last", old="axis=-1", new="axis=-2",
            message="You added up along the last axis but one, over the rows; each row has its own entropy: the last axis."),
        Mistake("log-of-the-zeros", edits=(("np.log(safe)", "np.log(weights)"), ("weights * logs", "safe * logs")),
            message="You replaced the zeros, but took the logarithm of the old array, zeros and all: it is the logarithm that needs the harmless number."),
        Mistake("exponential", old="np.log(safe)", new="np.exp(safe)",
            message="You took the exponential; the logarithm is wanted."),
        Mistake("normalised-over-everything", old="safe = np.where", new="weights = weights / np.sum(weights)\n    safe = np.where",
            message="You divided by the sum of the whole array; each row sums to 1 already, and nothing needs dividing."),
        Mistake("loop-over-rows", source="def entropy(weights):\n    total = 0.0\n    for w in weights:\n        if w > 0:\n            total = total - w * np.log(w)\n    return total",
            message="A loop over `weights` meets whole rows where there are several, and `if` cannot ask a whole row. Work on the array at once, and add up along the last axis."),
        Mistake("matrix-product", source="def entropy(weights):\n    safe = np.where(weights > 0, weights, 1.0)\n    return -weights @ np.log(safe).T",
            message=_ENTRY_BY_ENTRY),
        Mistake("matrix-product-untransposed", source="def entropy(weights):\n    safe = np.where(weights > 0, weights, 1.0)\n    return -weights @ np.log(safe)",
            message=_ENTRY_BY_ENTRY),
        Mistake("collision", source="def entropy(weights):\n    return -np.log(np.sum(weights**2, axis=-1))",
            message="You returned −log Σ w², another measure of spread (it weighs large weights more); the entropy adds up −w log w."),
        Mistake("participation", source="def entropy(weights):\n    return 1 / np.sum(weights**2, axis=-1)",
            message="You returned 1 / Σ w², another way of counting effective words; the entropy adds up −w log w."),
        Mistake("gini", source="def entropy(weights):\n    return 1 - np.sum(weights**2, axis=-1)",
            message="You returned 1 − Σ w², which decision trees use; the entropy adds up −w log w."),
        Mistake("smallest-surprise", source="def entropy(weights):\n    return -np.log(np.max(weights, axis=-1))",
            message="You took the logarithm of the largest weight alone; all weights count, each by its own share."),
        Mistake("distance-from-equal", source="def entropy(weights):\n    safe = np.where(weights > 0, weights, 1.0)\n    return np.log(weights.shape[-1]) + np.sum(weights * np.log(safe), axis=-1)",
            message="You returned log n minus the entropy, which says how far the weights are from equal; the entropy itself is wanted."),
        Mistake("sum-of-squares", old="logs = np.log(safe)", new="logs = safe",
            message="You left out the logarithm, which gives a sum of squares: each weight is multiplied by its own logarithm."),
    ),
    indistinguishable=(
        # Without a logarithm, and where no weight is 0, nothing becomes NaN or infinite.
        *pairs("nan-at-zero", "log-of-one-plus", "sum-of-squares", "exponential", "log-of-the-zeros"),
        *pairs("log-of-the-zeros", "softmax-again", "zeros-overwritten"),
        ("log-of-one-plus", "where-exchanged"),
    ),
    alternatives=(
        "def entropy(weights):\n    w = np.asarray(weights)\n    with np.errstate(divide='ignore', invalid='ignore'):\n        terms = np.where(w == 0, 0.0, w * np.log(w))\n    return -terms.sum(axis=-1)",
        "def entropy(weights):\n    return (weights * np.log(1 / np.where(weights == 0, 1, weights))).sum(-1)",
        "def entropy(weights):\n    return -(weights * np.log(weights + 1e-12)).sum(axis=-1)",
        "def entropy(weights):\n    return -np.einsum('...n,...n->...', weights, np.log(np.clip(weights, 1e-300, None)))",
        "def entropy(weights):\n    return -np.nansum(np.log(weights) * weights, axis=-1)",
        "def entropy(weights):\n    rows = weights.reshape(-1, weights.shape[-1])\n    found = [sum(-w * np.log(w) for w in row if w > 0) for row in rows]\n"
        "    return np.array(found).reshape(weights.shape[:-1])",
    ),
)

# 3.3 The softmax Jacobian ---------------------------------------------------------------------------------------------


def _rows_sum_to_0(case, expected, got):
    if np.shape(got) != np.shape(expected) or not np.isfinite(got).all():
        return None
    sums = np.abs(np.asarray(got, dtype=float).sum(axis=-1))
    if sums.max() > 1e-4:
        return f"Each row should sum to 0, because raising all scores together changes no weight; one of yours sums to {sums.max():.2g} in size."


def _nearly(case, expected, got):
    if np.shape(got) == np.shape(expected) and np.abs(np.asarray(got) - expected).max() < 1e-4 * np.abs(expected).max():
        return "Your numbers are right to several digits only: a difference quotient, or single precision? The formula gives all digits."


def _which_entries(case, expected, got):
    if np.shape(got) != np.shape(expected) or not np.isfinite(got).all() or np.shape(got)[-1] == 1 or _nearly(case, expected, got):
        return None
    wrong = np.abs(np.asarray(got) - expected) > 1e-6
    on_diagonal = np.eye(np.shape(got)[-1], dtype=bool)
    if not wrong[..., on_diagonal].any():
        return "Your diagonal is right; the other entries are not."
    if not wrong[..., ~on_diagonal].any():
        return "Only your diagonal is wrong."


_BACK = "return diagonal - outer"
_PART, _OTHER = "p[..., :, None] * identity", "p[..., :, None] * p[..., None, :]"
_ONE_NUMBER = "You subtracted Σ p_i², one number per row; every entry needs a product of its own, p_i p_j: a column times a row."
_ONE_FACTOR = "You subtracted the weights themselves; each entry needs the product of two of them, p_i p_j."

JACOBIAN = Exercise(
    id="3.3",
    reference=scaling.softmax_jacobian,
    results=("J",),
    covers="one row, leading axes, as many rows as weights, weights of 0, one weight, float32",
    explain=(_nearly, _which_entries, _rows_sum_to_0),
    cases=(
        _weights_case("three rows of five", _weights(1, 3, 5)),
        _weights_case("one row", [0.5, 0.3, 0.2]),
        _weights_case("a square", _weights(2, 4, 4)),
        _weights_case("leading axes", _weights(3, 2, 3, 7), {"B": 2, "T_q": 3, "n": 7}),
        _weights_case("some weights are 0", _ZEROS),
        _weights_case("rows of one weight", np.ones((3, 1))),
        _weights_case("float32", _weights(4, 3, 7, dtype=np.float32)),
    ),
    mistakes=(
        Mistake("no-outer-product", old=_BACK, new="return diagonal", hides_others=True,
            message="You returned diag(p) alone. Every weight also falls when another score rises: the products p_i p_j have to be subtracted."),
        Mistake("diagonal-only", old=_BACK, new="return (diagonal - outer) * identity",
            message="Only your diagonal is filled, with p_i (1 − p_i). The weights share one sum, so weight i also moves with every other score: −p_i p_j off the diagonal."),
        Mistake("elementwise", old=_BACK, new="return p * (1 - p)", hides_others=True,
            message="You returned p (1 − p), one number a weight: that is the slope of a sigmoid, whose outputs do not share a sum. Each weight depends on all n scores: (n, n) numbers per row."),
        Mistake("p-times-one-minus-p-everywhere", old=_BACK, new="return p[..., :, None] * (1 - p[..., None, :])", hides_others=True,
            message="You have p_i (1 − p_j) everywhere; the 1 belongs on the diagonal only, where i = j."),
        Mistake("p-times-one-minus-p-transposed", old=_BACK, new="return p[..., None, :] * (1 - p[..., :, None])", hides_others=True,
            message="You have p_j (1 − p_i) everywhere; the 1 belongs on the diagonal only, where i = j."),
        Mistake("off-diagonal-positive", old=_BACK, new="return diagonal + outer - 2 * outer * identity",
            message="Your diagonal is right, but the other entries have the wrong sign: when one score rises, the other weights fall."),
        Mistake("plus", old=_BACK, new="return diagonal + outer",
            message="You added the two parts; subtract: when one score rises, the other weights fall."),
        Mistake("sign-reversed", old=_BACK, new="return outer - diagonal",
            message="Your signs are reversed: a weight rises with its own score, so the diagonal is positive."),
        Mistake("outer-only", old=_BACK, new="return -outer", hides_others=True,
            message="Only the products −p_i p_j are there; diag(p) is missing, and with it what a weight gains from its own score."),
        Mistake("softmax-again", old="n = p.shape[-1]", new="p = softmax(p)\n    n = p.shape[-1]",
            message="You applied softmax to `p`; the argument holds the weights already, not the scores."),
        Mistake("ones-on-the-diagonal", old="p[..., :, None] * identity", new="np.ones_like(p)[..., :, None] * identity",
            message="Your diagonal part is the identity; it should hold the weights: diag(p)."),
        Mistake("squares-by-column", old="p[..., :, None] * p[..., None, :]", new="p[..., None, :] * p[..., None, :]",
            message="You multiplied every weight with itself, p_j p_j; row i, column j needs p_i p_j: one of the two as a column, the other as a row."),
        Mistake("squares-by-row", old="p[..., :, None] * p[..., None, :]", new="p[..., :, None] * p[..., :, None]",
            message="You multiplied every weight with itself, p_i p_i; row i, column j needs p_i p_j: one of the two as a column, the other as a row."),
        Mistake("diagonal-without-axis", old="p[..., :, None] * identity", new="p * identity",
            message="`p` times the identity matrix lines the rows of p up with those of the identity, which works for a single row only: give p a new last axis first."),
        Mistake("outer-without-axis", old="p[..., :, None] * p[..., None, :]", new="p[..., :, None] * p",
            message="A column times plain `p` lines up different rows, which works for a single row only: the second factor needs a new axis too, before its last."),
        Mistake("outer-over-all-rows", old="p[..., :, None] * p[..., None, :]", new="p.T @ p",
            message="`p.T @ p` adds the products of all rows together; every row of weights has an outer product of its own."),
        Mistake("diag-of-a-matrix", old=_PART, new="np.diag(p)", hides_others=True,
            message="`np.diag` makes a matrix of a single row only; of several rows it takes a diagonal out. Give p a new axis, and let the identity choose the diagonal."),
        Mistake("first-axes", old=_OTHER, new="p[:, None] * p[None, :]", together=2,
            message="`p[:, None] * p[None, :]` makes the new axes at the front, which pairs rows with rows; put them at the end, after `...`."),
        Mistake("dot-for-outer", old=_OTHER, new="np.dot(p, p)", together=2,
            message=_ONE_NUMBER.replace("subtracted Σ p_i²", "subtracted a dot product, which for a row is Σ p_i²")),
        Mistake("rows-with-rows", old=_OTHER, new="p @ p.T", together=2,
            message="`p @ p.T` compares rows with rows, and of a single row makes one number. Every row needs an outer product of its own: a column times a row."),
        Mistake("sum-of-squares", old=_OTHER, new="np.sum(p**2, axis=-1)[..., None, None]", together=2, message=_ONE_NUMBER),
        Mistake("row-alone", old=_OTHER, new="p[..., None, :]", together=2, message=_ONE_FACTOR),
        Mistake("column-alone", old=_OTHER, new="p[..., :, None]", together=2, message=_ONE_FACTOR),
        Mistake("n-from-the-first-axis", old="n = p.shape[-1]", new="n = p.shape[0]", hides_others=True,
            message="Your identity has as many rows as there are rows of weights; it needs one for each weight: the length of the last axis."),
        Mistake("all-rows-in-one", source="def softmax_jacobian(p):\n    return np.diagflat(p) - np.outer(p, p)",
            message="You made one large matrix of all rows together; every row of weights has a matrix of its own. Use axes that broadcast."),
        Mistake("diag-and-outer", source="def softmax_jacobian(p):\n    return np.diag(p) - np.outer(p, p)",
            message="`np.diag` and `np.outer` know a single row only: of a matrix, diag takes the diagonal out, and outer pairs all its numbers. Use axes that broadcast instead."),
    ),
    indistinguishable=(
        *pairs("diagonal-only", "squares-by-column", "squares-by-row"),
        # Where p - p leaves 0 on the diagonal, only the sign beside it can be seen.
        *itertools.product(("off-diagonal-positive", "sign-reversed"), ("row-alone", "column-alone")),
    ),
    alternatives=(
        'def softmax_jacobian(p):\n    return np.einsum("...i,ij->...ij", p, np.eye(p.shape[-1])) - np.einsum("...i,...j->...ij", p, p)',
        "def softmax_jacobian(p):\n    return p[..., :, None] * (np.eye(p.shape[-1]) - p[..., None, :])",
        "def softmax_jacobian(p):\n    J = -p[..., :, None] @ p[..., None, :]\n    i = np.arange(p.shape[-1])\n    J[..., i, i] += p\n    return J",
        "def softmax_jacobian(p):\n    rows = p.reshape(-1, p.shape[-1])\n    J = np.stack([np.diag(row) - np.outer(row, row) for row in rows])\n    return J.reshape(*p.shape, p.shape[-1])",
        "def softmax_jacobian(p):\n    n = p.shape[-1]\n    J = np.zeros((*p.shape, n))\n    for i in range(n):\n        for j in range(n):\n"
        "            J[..., i, j] = p[..., i] * ((i == j) - p[..., j])\n    return J",
    ),
)

# 3.4 Backwards without the Jacobian -----------------------------------------------------------------------------------


def _backward_case(name, seed, *shape, dims=None, size=1.0, masked=False, dtype=float):
    def make():
        scores, d_weights = normal(seed, shape, shape)
        if masked:
            scores[..., 1::2] = -np.inf
        return softmax(2 * scores).astype(dtype), (size * d_weights).astype(dtype)

    return Case(name, make, _of_rank(shape) if dims is None else dims)


def _all_zero(case, expected, got):
    if np.shape(got) == np.shape(expected) and np.abs(got).max() < 1e-9 * np.abs(expected).max():
        return "All you return is 0: in the sum over j, does the gradient of j stand, or that of i?"


def _builds_the_jacobian(candidate):
    weights = np.full((2, 1500), 1 / 1500)
    tracing = tracemalloc.is_tracing()
    tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        candidate(weights, np.ones_like(weights))
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        if not tracing:
            tracemalloc.stop()
    if peak > 100 * weights.nbytes:
        return Finding("builds-the-jacobian",
            f"The values are right, but a matrix (n, n) is built on the way: {peak / 1e6:.0f} MB for two rows of 1,500 weights that take 0.02 MB. "
            "Take p_i out of the sum on paper: what is left is one number per row.")


_ONE_MEAN = "Your mean is one number for the whole array; every row has a mean of its own: the last axis, with its axis kept."
_ONCE_TOO_MANY = "You multiplied by the weights once too many: take the mean off the gradient itself, then multiply."
_IN_PLACE = "Your function changed `d_weights` in place (`-=`, `*=`, `out=`): write the result to a new array."

BACKWARD = Exercise(
    id="3.4",
    reference=scaling.softmax_backward,
    results=("d_scores",),
    covers="one row, leading axes, as many rows as weights, masked weights, large gradients, float32, no matrix (n, n)",
    explain=(_nearly, _all_zero, _rows_sum_to_0),
    properties=(_builds_the_jacobian,),
    cases=(
        _backward_case("five rows of seven", 1, 5, 7),
        _backward_case("one row", 2, 6),
        _backward_case("a square", 3, 4, 4),
        _backward_case("leading axes", 4, 3, 2, 5, 7, dims={"B": 3, "h": 2, "T_q": 5, "n": 7}),
        _backward_case("masked weights are 0", 5, 3, 8, masked=True),
        _backward_case("large gradients", 6, 4, 5, size=1e6),
        _backward_case("rows of one weight", 7, 3, 1),
        _backward_case("float32", 8, 3, 6, dtype=np.float32),
    ),
    mistakes=(
        Mistake("row-sum-missing", old="d_weights - mean", new="d_weights", hides_others=True,
            message="You multiplied the gradient by the weights and stopped there: that is diag(p) alone. The weights share one sum, so each row's mean gradient has to be taken off first."),
        Mistake("over-the-queries", old="axis=-1", new="axis=-2",
            message="Your mean runs down the columns, over the queries; the scores of one row compete with each other: the last axis."),
        Mistake("over-the-first-axis", old="axis=-1", new="axis=0",
            message="Your mean runs along the first axis; the scores of one row compete with each other: the last axis."),
        Mistake("over-everything", old="np.sum(products, axis=-1, keepdims=True)", new="np.sum(products)",
            message=_ONE_MEAN),
        Mistake("average-of-everything", old="np.sum(products, axis=-1, keepdims=True)", new="np.average(d_weights, weights=weights)", together=2, hides_others=True,
            message=_ONE_MEAN),
        Mistake("axis-dropped", old=", keepdims=True", new="",
            message="Your sum drops its axis, so it lines up with the columns when you subtract (or does not fit at all): add `keepdims=True`."),
        Mistake("last-weights-missing", old="weights * centred", new="centred",
            message="You multiplied by the weights once too few: the difference from the mean still has to be multiplied by the weights, so that a key nobody looks at gets no gradient."),
        Mistake("sum-not-weighted", old="weights * d_weights", new="d_weights",
            message="You subtracted the plain sum of the gradients; it should be their mean under the weights: multiply by the weights before you add up."),
        Mistake("plain-mean", edits=(("weights * d_weights", "d_weights"), ("np.sum(products", "np.mean(products")),
            message="You subtracted the plain mean of the gradients; it should be the mean under the weights, Σ_j p_j g_j."),
        Mistake("mean-of-products", old="np.sum(products", new="np.mean(products",
            message="You took the mean of weight times gradient, which divides by n once more. The weights already do the averaging: add up."),
        Mistake("plus", old="d_weights - mean", new="d_weights + mean",
            message="You added the mean; subtract it: only what differs from the mean moves a score."),
        Mistake("sign-reversed", old="d_weights - mean", new="mean - d_weights",
            message="Your signs are reversed: a score whose weight has a larger gradient than the mean should get a positive gradient."),
        Mistake("sum-not-multiplied", edits=(("d_weights - mean", "products - mean"), ("weights * centred", "centred")),
            message="You subtracted the row's sum from weight times gradient; that sum, too, has to be multiplied by the weights."),
        Mistake("weights-once-too-many", old="d_weights - mean", new="products - mean",
            message=_ONCE_TOO_MANY),
        Mistake("weights-twice-at-the-end", old="weights * centred", new="weights * weights * centred", together=2, message=_ONCE_TOO_MANY),
        Mistake("divided-at-the-end", old="weights * centred", new="centred / weights", together=2,
            message="You divided by the weights at the end; multiply, so that a key nobody looks at gets no gradient."),
        Mistake("times-mean", old="d_weights - mean", new="d_weights * mean", together=2,
            message="You multiplied by the mean; subtract it: only what differs from the mean moves a score."),
        Mistake("over-axis-one", old="axis=-1", new="axis=1", together=2,
            message="Your mean runs along axis 1, which is the last one for a matrix only: count from the end, with a negative axis."),
        Mistake("one-minus-mean", old="d_weights - mean", new="d_weights * (1 - mean)", together=2,
            message="You multiplied by 1 − mean; the mean has to be subtracted from the gradient, which is where the 1 of δ_ij ends up."),
        Mistake("weights-subtracted", old="d_weights - mean", new="d_weights - weights", together=2, hides_others=True,
            message="You subtracted the weights from the gradient; what belongs there is the gradient's mean under the weights."),
        Mistake("weights-squared", old="weights * d_weights", new="weights * weights", together=2,
            message="Your sum is that of squared weights; it should add up weight times gradient."),
        Mistake("second-part-only", old="weights * centred", new="weights * mean", together=2, hides_others=True,
            message="Only the part with the mean is there; the gradient itself, from which it is subtracted, is missing."),
        Mistake("minus-second-part-only", old="weights * centred", new="-weights * mean", together=2, hides_others=True,
            message="Only the part with the mean is there; the gradient itself, from which it is subtracted, is missing."),
        Mistake("diagonal-only", old="d_weights - mean", new="d_weights - products", hides_others=True,
            message="You used only the Jacobian's diagonal, p (1 − p), as for a sigmoid; weight i also moves with every other score."),
        Mistake("gradient-twice", old="weights * centred", new="d_weights * centred",
            message="You multiplied by the gradient at the end; multiply by the weights."),
        Mistake("arguments-exchanged", old="def softmax_backward(weights, d_weights)", new="def softmax_backward(d_weights, weights)",
            message="Weights and gradient are exchanged: the weights come first."),
        Mistake("softmax-again", old="products = weights", new="weights = softmax(weights)\n    products = weights",
            message="You applied softmax to the weights; the first argument holds the weights already, not the scores."),
        Mistake("matrix-product", old="np.sum(products, axis=-1, keepdims=True)", new="weights @ d_weights", hides_others=True,
            message="`weights @ d_weights` is a dot product for a single row only; with several rows it is a matrix product. Multiply entry by entry and add up along the last axis."),
        Mistake("first-part-not-weighted", edits=(("d_weights - mean", "d_weights - weights * mean"), ("weights * centred", "centred")),
            message="Only the mean is multiplied by the weights; the gradient itself must be too."),
        Mistake("mean-returned", old="return weights * centred", new="return mean", hides_others=True,
            message="You returned the mean of each row alone; take it off the gradient and multiply by the weights."),
        Mistake("changes-its-input", old="centred = d_weights - mean", new="centred = np.subtract(d_weights, mean, out=d_weights)",
            message=_IN_PLACE),
        Mistake("changes-its-input-first", source="def softmax_backward(weights, d_weights):\n    d_weights *= weights\n    return d_weights - weights * np.sum(d_weights, axis=-1, keepdims=True)",
            message=_IN_PLACE),
        Mistake("all-rows-with-all-rows", old="np.sum(products, axis=-1, keepdims=True)", new="weights @ d_weights.T", together=2, hides_others=True,
            message="`weights @ d_weights.T` multiplies every row with every row. Each row needs its own sum only: multiply entry by entry and add up along the last axis."),
        Mistake("jacobian-times-matrix", source="def softmax_backward(weights, d_weights):\n    n = weights.shape[-1]\n"
            "    J = weights[..., :, None] * np.eye(n) - weights[..., :, None] * weights[..., None, :]\n    return J @ d_weights",
            message="You multiplied each row's Jacobian with the whole of `d_weights`, where it meets its own row only. And no Jacobian is needed: take p_i out of the sum on paper."),
        Mistake("outer-product", source="def softmax_backward(weights, d_weights):\n    return weights * d_weights - np.outer(weights, weights) @ d_weights",
            message="`np.outer` knows a single row only, and it builds the matrix (n, n) that is to be avoided: take p_i out of the sum on paper, and one number per row is left."),
        Mistake("p-minus-y", source="def softmax_backward(weights, d_weights):\n    return weights - d_weights",
            message="You returned weights − d_weights. That form, p − y, is the gradient of cross-entropy, with y the right answers; here a gradient with respect to the weights is given, and the Jacobian has to be multiplied onto it."),
        Mistake("handed-on", source="def softmax_backward(weights, d_weights):\n    return d_weights.copy()",
            message="You handed the gradient on as it came; softmax stands between weights and scores, so its Jacobian has to be multiplied onto it."),
        Mistake("plainly-centred", source="def softmax_backward(weights, d_weights):\n    return d_weights - np.mean(d_weights, axis=-1, keepdims=True)",
            message="The weights do not occur in your result: the mean is one under the weights, Σ_j p_j g_j, and the difference from it is multiplied by the weights."),
        Mistake("gradient-of-i", source="def softmax_backward(weights, d_weights):\n    out = np.zeros_like(weights)\n    n = weights.shape[-1]\n    for i in range(n):\n        for j in range(n):\n"
            "            out[..., i] += weights[..., i] * ((i == j) - weights[..., j]) * d_weights[..., i]\n    return out",
            message="In your sum over j stands the gradient of i, and everything cancels to 0: entry j of the gradient belongs there. (And the sum can be had without a double loop.)"),
    ),
    indistinguishable=(
        # The same formula reached on two ways, or one that cancels part of the other.
        *pairs("sum-not-weighted", "last-weights-missing", "mean-of-products", "sum-not-multiplied", "weights-once-too-many", "diagonal-only"),
        *pairs("plain-mean", "last-weights-missing", "sum-not-multiplied", "weights-once-too-many", "diagonal-only"),
        *pairs("weights-once-too-many", "last-weights-missing", "gradient-twice", "arguments-exchanged"),
        ("arguments-exchanged", "sum-not-multiplied"),
        ("axis-dropped", "over-the-first-axis"),
        ("last-weights-missing", "row-sum-missing"),
        *pairs("arguments-exchanged", "one-minus-mean", "times-mean", "second-part-only"),
        ("last-weights-missing", "times-mean"),
    ),
    alternatives=(
        "def softmax_backward(weights, d_weights):\n    g = weights * d_weights\n    return g - weights * g.sum(axis=-1, keepdims=True)",
        'def softmax_backward(weights, d_weights):\n    return weights * (d_weights - np.einsum("...n,...n->...", weights, d_weights)[..., None])',
        "def softmax_backward(weights, d_weights):\n    mean = (weights[..., None, :] @ d_weights[..., :, None])[..., 0]\n    return weights * (d_weights - mean)",
        "def softmax_backward(weights, d_weights):\n    out = np.empty_like(weights)\n    for i in np.ndindex(weights.shape[:-1]):\n        p, g = weights[i], d_weights[i]\n"
        "        out[i] = p * (g - p @ g)\n    return out",
        "def softmax_backward(weights, d_weights):\n    d = d_weights - d_weights[..., :1]\n    return weights * (d - (weights * d).sum(-1)[..., None])",
    ),
)

EXERCISES = (SAMPLES, ENTROPY, JACOBIAN, BACKWARD)
PREDICTIONS = (
    Prediction(
        "spread-at-64", 8.0, tolerance=0.15,
        why="64 products of variance 1 add up to variance 64, whose square root is 8.",
    ),
    Prediction(
        "largest-at-1024", "above nine tenths", choices=("close to 1/16", "about a third", "above nine tenths"),
        why="The spread is 32 there, so the best score often leads by ten or more, and e¹⁰ is already a factor of 22,000. On average the largest weight is 0.96.",
    ),
    Prediction(
        "silent-at-1024", "about two thirds", choices=("about none", "about a third", "about two thirds"),
        why="Where one key has nearly all the weight, p_i (1 − p_i) and p_i p_j are nearly 0 for every i and j, and most rows are like this.",
    ),
    Prediction(
        "largest-first-loss", "no scale", choices=("no scale", "÷ √d_k", "÷ d_k"),
        why="Untrained, attention without a scale picks one value at random and with confidence. Its error is about twice as large as that of the plain average.",
    ),
    Prediction(
        "larger-rate", "below a hundredth", choices=("still near 0.8", "about a half", "below a hundredth"),
        why="The weights were too even because the steps were too small, not because nothing could move them.",
    ),
    Prediction(
        "unscaled-on-scores", "it learns", choices=("it fails again", "it learns"),
        why="The gradient of cross-entropy on the scores is p − y: the weights minus the right answer. It is largest where a row is sure and wrong.",
    ),
)
