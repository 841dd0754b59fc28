"""Lesson 01: soft lookup, projections, scores for all pairs."""
import numpy as np

from ... import query_key_value
from ...query_key_value import embed, words
from ..exercise import Case, Exercise, Finding, Mistake, Prediction, pairs
from .common import alone, another_divisor, keeps_names, normal, whole

# 1.1 ----------------------------------------------------------------------------------------------------------------


def _similarities_case(name, seed, n, d, dtype=float):
    return Case(name, lambda: normal(seed, (d,), (n, d), dtype=dtype), {"n": n, "d": d})


SIMILARITIES = Exercise(
    id="1.1",
    reference=query_key_value.similarities,
    results=("similarities",),
    covers="few and many keys, as many keys as features, one key, float32",
    cases=(
        _similarities_case("five keys of three features", 1, 5, 3),
        _similarities_case("two keys of six features", 2, 2, 6),
        _similarities_case("as many keys as features", 3, 4, 4),
        _similarities_case("one key", 4, 1, 3),
        _similarities_case("float32", 5, 6, 2, np.float32),
        Case("whole numbers", lambda: whole(6, (4,), (6, 4)), {"n": 6, "d": 4}),
        Case("a query with fractions, keys of whole numbers", lambda: whole(7, (4,), (7, 4), but=(0,)), {"n": 7, "d": 4}),
        Case("a query of whole numbers, keys with fractions", lambda: whole(8, (5,), (3, 5), but=(1,)), {"n": 3, "d": 5}),
    ),
    mistakes=(
        Mistake("not-summed", old="keys @ query", new="keys * query",
            message="You multiplied feature by feature but did not add the products up: a dot product is one number per key."),
        Mistake("wrong-axis", old="keys @ query", new="(keys * query).sum(axis=0)",
            message="You added up over the keys (axis 0), which leaves one number per feature; add up over the features, for one number per key."),
        Mistake("cosine", old="keys @ query", new="keys @ query / (np.linalg.norm(keys, axis=1) * np.linalg.norm(query))",
            message="You divided by the lengths of both vectors, which is the cosine; the plain dot product is wanted, in which length counts."),
        Mistake("divided-by-key-length", old="keys @ query", new="keys @ query / np.linalg.norm(keys, axis=1)",
            message="You divided by the length of each key; the plain dot product is wanted, in which length counts."),
        Mistake("divided-by-query-length", old="keys @ query", new="keys @ query / np.linalg.norm(query)",
            message="You divided by the length of the query; the plain dot product is wanted, in which length counts."),
        Mistake("mean-of-products", old="keys @ query", new="(keys * query).mean(axis=1)",
            message="You took the mean of the products; a dot product is their sum."),
        Mistake("scaled", old="keys @ query", new="keys @ query / np.sqrt(len(query))",
            message="You divided by √d; that comes in lesson 02. Here the plain dot product is wanted."),
        Mistake("distance", old="keys @ query", new="np.linalg.norm(keys - query, axis=1)",
            message="You measured the distance between query and keys; the dot product is wanted, which is large where they agree."),
        Mistake("negative-distance", old="keys @ query", new="-np.linalg.norm(keys - query, axis=1)",
            message="You took minus the distance between query and keys; the dot product is wanted."),
        Mistake("one-total", old="keys @ query", new="(keys * query).sum()",
            message="You added up everything into one number; one number per key is wanted, so add up over the features only."),
        Mistake("query-first", old="keys @ query", new="query @ keys",
            message="You multiplied `query @ keys`: the features of the query meet the rows of keys there. The last axis of keys holds the features: `keys` first, then `query`."),
        Mistake("query-as-column", old="keys @ query", new="keys @ query[:, None]",
            message="You made the query a column, (d, 1), so the result is a column too, (n, 1): a matrix times a plain vector, (d,), gives (n,)."),
        Mistake("turned-round", old="keys @ query", new="keys @ query[::-1]", together=1,
            message="One of the two vectors is turned round before you multiply, as `np.convolve` does: the first feature meets the last. Multiply feature by feature, in the same order."),
        Mistake("loop-over-features", source="def similarities(query, keys):\n    result = np.zeros(len(keys))\n    for i in range(len(query)):\n"
            "        result[i] = keys[i] @ query\n    return result",
            message="Your loop makes as many rounds as the query has features; one round per key is wanted: `len(keys)`."),
        Mistake("sorted", old="keys @ query", new="np.sort(keys @ query)",
            message="You sorted the similarities; they must stay in the order of the keys, or nobody knows whose they are."),
        Mistake("best-key-only", old="keys @ query", new="np.argmax(keys @ query)",
            message="You returned the place of the best key; the similarity with every key is wanted, n numbers."),
        Mistake("softmax-applied", old="keys @ query", new="np.exp(keys @ query) / np.exp(keys @ query).sum()",
            message="You went on to shares, which exercise 1.2 makes of them; here the plain dot products are wanted."),
        Mistake("keys-with-keys", old="keys @ query", new="keys @ keys.T",
            message="You compared keys with keys; one query is to be compared with every key."),
        Mistake("first-key-only", old="keys @ query", new="keys[0] @ query",
            message="You compared the query with the first key only; one number for each key is wanted."),
        Mistake("return-inside-loop", old="keys @ query", new="keys[:1] @ query",
            message="Only the first key was compared: does `return` stand inside your loop? Move it behind the loop."),
        Mistake("absolute", old="keys @ query", new="np.abs(keys @ query)",
            message="You took absolute values: a key that points the other way must count as unlike, with a negative number."),
    ),
    alternatives=(
        "def similarities(query, keys):\n    return (keys * query).sum(axis=-1)",
        "def similarities(query, keys):\n    return query @ keys.T",
        "def similarities(query, keys):\n    return np.array([sum(q * k for q, k in zip(query, key)) for key in keys])",
        'def similarities(query, keys):\n    return np.einsum("d,nd->n", query, keys)',
    ),
)

# 1.2 ----------------------------------------------------------------------------------------------------------------


def _lookup_case(name, seed, n, d, d_v, *, scale=1.0, dtype=float, **sharpness):
    def make():
        query, keys, values = normal(seed, (d,), (n, d), (n, d_v), dtype=dtype)
        return (query * dtype(scale), keys, values, *sharpness.values())

    return Case(name, make, {"n": n, "d": d, "d_v": d_v})


SOFT_LOOKUP = Exercise(
    id="1.2",
    reference=query_key_value.soft_lookup,
    results=("value", "weights"),
    sums_to_one=("weights",),
    covers="sharpness 0, 0.5, 1 and 3, large scores, one key, float32",
    cases=(
        _lookup_case("sharpness 1", 1, 5, 4, 3),
        _lookup_case("sharpness 3", 2, 7, 4, 2, sharpness=3.0),
        _lookup_case("sharpness 0", 3, 4, 3, 2, sharpness=0.0),
        _lookup_case("sharpness a half", 4, 4, 2, 5, sharpness=0.5),
        _lookup_case("very large scores", 5, 5, 3, 4, scale=1e4, sharpness=2.0),
        _lookup_case("one key", 6, 1, 3, 2, sharpness=2.0),
        _lookup_case("as many keys as features", 7, 4, 4, 4, sharpness=1.5),
        _lookup_case("float32", 8, 7, 3, 2, dtype=np.float32, sharpness=2.0),
        Case("whole numbers", lambda: (*whole(9, (4,), (6, 4), (6, 3)), 0.5), {"n": 6, "d": 4, "d_v": 3}),
        Case("a query with fractions, the rest whole numbers", lambda: (*whole(10, (4,), (7, 4), (7, 2), but=(0,)), 0.5), {"n": 7, "d": 4, "d_v": 2}),
        Case("a query of whole numbers, the rest with fractions", lambda: (*whole(11, (3,), (5, 3), (5, 4), but=(1, 2)), 2), {"n": 5, "d": 3, "d_v": 4}),
    ),
    mistakes=(
        Mistake("weights-not-normalised", old="exps / exps.sum()", new="exps",
            message="Your weights do not sum to 1: divide the exponentials by their sum."),
        Mistake("divided-by-count", old="exps / exps.sum()", new="exps / len(exps)",
            message="You divided by the number of keys; divide by the sum of the exponentials, so that the weights sum to 1."),
        Mistake("divided-by-length", old="exps / exps.sum()", new="exps / np.linalg.norm(exps)",
            message="You divided by the length of the vector of exponentials, so their squares sum to 1; the weights themselves should."),
        Mistake("argmax-of-plain-scores", old="exps / exps.sum()", new="np.eye(len(exps))[similarities(query, keys).argmax()]", hides_others=True,
            message="You gave all the weight to the best key: that is the hard lookup again. Every key should get a share, in proportion to exp(sharpness · score)."),
        Mistake("raw-weights-returned", old="return value, weights", new="return value, exps",
            message="The weights that came back are the exponentials before they were divided by their sum."),
        Mistake("argmax", old="exps / exps.sum()", new="np.eye(len(exps))[scores.argmax()]",
            message="You gave all the weight to the best key: that is the hard lookup again. Every key should get a share, in proportion to exp(sharpness · score)."),
        Mistake("sharpness-ignored", old="sharpness * similarities", new="similarities",
            message="Sharpness changes nothing in your answer: multiply the scores by it before the exponential."),
        Mistake("sharpness-after-exp", edits=(("sharpness * similarities", "similarities"), ("exps = np.exp", "exps = sharpness * np.exp")),
            message="You multiplied the exponentials by sharpness; dividing by their sum takes that out again. Multiply the scores, before the exponential."),
        Mistake("sharpness-on-weights", edits=(("sharpness * similarities", "similarities"), ("weights = exps", "weights = sharpness * exps")),
            message="You multiplied the weights by sharpness, so they no longer sum to 1. Multiply the scores, before the exponential."),
        Mistake("sharpness-divides", old="sharpness * similarities(query, keys)", new="similarities(query, keys) / sharpness",
            message="You divided the scores by sharpness, as one would by a temperature; multiply by it: sharper means larger differences."),
        Mistake("overflow", old="scores - scores.max()", new="scores",
            message="For large scores the exponential overflows and inf/inf is NaN: subtract the largest of the numbers that go into it (with sharpness in them already), which changes no weight."),
        Mistake("largest-absolute-score", old="scores - scores.max()", new="scores - np.abs(scores).max()", together=1,
            message="You subtracted the largest score without its sign. Where all scores are far below zero, that makes them smaller still, and every exponential rounds to 0: subtract the largest score, with its sign."),
        Mistake("scores-clipped", old="scores - scores.max()", new="np.clip(scores, -700, 700)", together=2,
            message="You clipped the scores to stay clear of overflow, so scores beyond become equal. Subtract the largest score: that changes no weight."),
        Mistake("no-exponential", old="np.exp(scores - scores.max())", new="scores",
            message="You divided the scores themselves by their sum; negative scores then give negative weights. Take the exponential first."),
        Mistake("exponential-of-minus", old="np.exp(scores - scores.max())", new="np.exp(scores.min() - scores)",
            message="Your exponential has a minus sign in it, so the worst key gets the most weight."),
        Mistake("plain-mean-of-values", old="weights @ values", new="values.mean(axis=0)",
            message="You averaged the values without the weights: each value must count as much as its key's weight says."),
        Mistake("plain-sum-of-values", old="weights @ values", new="values.sum(axis=0)",
            message="You added up the values without the weights: multiply each value by its key's weight first."),
        Mistake("best-value-only", old="weights @ values", new="values[weights.argmax()]",
            message="You returned the value of the best key alone; the answer is the mean of all values, counted by their weights."),
        Mistake("values-not-summed", old="weights @ values", new="weights[:, None] * values",
            message="You weighted each value but did not add them up: the answer is one value vector."),
        Mistake("divided-mean", old="weights @ values", new="(weights[:, None] * values).mean(axis=0)",
            message="You took the mean of the weighted values. The weights already sum to 1, so adding up is enough; the mean divides by n once more."),
        Mistake("keys-as-values", old="weights @ values", new="weights @ keys",
            message="You averaged the keys: keys decide the weights, values are what the lookup returns."),
        Mistake("values-first", old="weights @ values", new="values @ weights",
            message="You multiplied `values @ weights`, where features meet weights. There is one weight per key, and the keys run along the first axis of values: weights first."),
        Mistake("results-swapped", old="return value, weights", new="return weights, value",
            message="You returned (weights, value); the order asked for is value, weights."),
        Mistake("weights-not-returned", old="return value, weights", new="return value",
            message="You returned the value alone; the weights are wanted too: value, weights."),
        Mistake("scores-returned", old="return value, weights", new="return value, scores",
            message="You returned the scores as the second result; the weights are wanted."),
        Mistake("sharpness-twice", old="sharpness * similarities", new="sharpness**2 * similarities", together=2,
            message="Sharpness went in twice (on the scores, and again in the exponential): once is enough."),
        alone("weights-to-the-sharpness", "You raised the finished weights to the power of sharpness, so they no longer sum to 1. Multiply the scores by it, before the exponential.",
            ("sharpness * similarities", "similarities"), ("exps / exps.sum()", "(exps / exps.sum()) ** sharpness")),
        alone("divided-by-the-maximum", "You divided the scores by the largest one; subtract it. Only subtracting leaves every weight as it is.",
            ("scores - scores.max()", "scores / scores.max()")),
        alone("zero-taken-for-missing", "Sharpness 0 was taken for “not given”: 0 counts as False in `sharpness or …` and `if sharpness`. At 0 the lookup is a plain average.",
            ("sharpness * similarities", "(sharpness or 1.0) * similarities")),
        alone("default-of-ten", "Where no sharpness is given yours takes 10; the default is 1: `sharpness=1.0`.", ("sharpness=1.0", "sharpness=10.0")),
        alone("last-value-only", "Only the last value is in your result: each round of the loop throws away the sum so far. Add to it with `+=`.",
            ("weights @ values", "weights[-1] * values[-1]")),
        alone("first-value-only", "Only the first value is in your result: does `return` stand inside the loop?", ("weights @ values", "weights[0] * values[0]")),
        alone("weights-not-as-column", "`weights * values` lines the weights up with the features. Each weight belongs to a row of values:"
            " make the weights a column, `weights[:, None]`, or use `weights @ values`.", ("weights @ values", "(weights * values).sum(axis=0)")),
        alone("summed-over-features", "You added up along the features (axis 1); add up over the keys, axis 0, so that one value vector is left.",
            ("weights @ values", "(weights[:, None] * values).sum(axis=1)")),
        alone("one-total", "You added up everything into one number; add up over the keys only, axis 0, so that a value vector is left.",
            ("weights @ values", "(weights[:, None] * values).sum()")),
        alone("average-without-axis", "`np.average` must be told along which axis the weights run: `axis=0`, the keys.", ("weights @ values", "np.average(values, weights=weights)")),
    ),
    explain=(another_divisor("only sharpness is to scale them"),),
    properties=(keeps_names("sharpness"),),
    indistinguishable=(
        # All the weight on the best key, whatever made it best: what else happened to the weights leaves no trace.
        *pairs("argmax", "scores-clipped", "best-value-only", "exponential-of-minus", "no-exponential", "overflow", "scores-returned"),
        *pairs("argmax", "sharpness-after-exp", "sharpness-divides", "sharpness-ignored", "sharpness-twice", "weights-not-returned"),
        *pairs("best-value-only", "scores-returned", "weights-not-returned"),
        *pairs("no-exponential", "sharpness-divides", "sharpness-twice"),
        # Exponentials instead of weights can come out of the last line or of the one before.
        *pairs("raw-weights-returned", "weights-not-normalised", "plain-mean-of-values", "plain-sum-of-values", "best-value-only"),
        *pairs("raw-weights-returned", "divided-by-count", "argmax", "no-exponential"),
        *pairs("weights-not-normalised", "plain-mean-of-values", "plain-sum-of-values", "best-value-only", "divided-mean"),
        ("no-exponential", "scores-returned"),
        # It stops with an error in all cases but one, where the other mistake does not show.
        *pairs("values-first", "scores-clipped", "overflow", "sharpness-after-exp", "sharpness-ignored"),
    ),
    alternatives=(
        "def soft_lookup(query, keys, values, sharpness=1.0):\n    s = [sharpness * float(k @ query) for k in keys]\n"
        "    e = [np.exp(x - max(s)) for x in s]\n    w = np.array(e) / sum(e)\n    return sum(w_i * v for w_i, v in zip(w, values)), w",
        "def soft_lookup(query, keys, values, sharpness=1.0):\n    logits = keys @ (query * sharpness)\n    logits = logits - np.max(logits)\n"
        "    p = np.exp(logits)\n    p /= p.sum()\n    return values.T @ p, p",
        'def soft_lookup(query, keys, values, sharpness=1.0):\n    x = sharpness * np.einsum("nd,d->n", keys, query)\n'
        "    m = x.max()\n    w = np.exp(x - (m + np.log(np.exp(x - m).sum())))\n    return (w[:, None] * values).sum(axis=0), w",
    ),
)

# 1.3 ----------------------------------------------------------------------------------------------------------------


def _project_case(name, seed, T, d_model, d_k, d_v, dtype=float):
    shapes = ((T, d_model), (d_model, d_k), (d_model, d_k), (d_model, d_v))
    return Case(name, lambda: normal(seed, *shapes, dtype=dtype), {"T": T, "d_model": d_model, "d_k": d_k, "d_v": d_v})


def _each_projection(new):
    return tuple((f"X @ W_{name}", new.format(f"W_{name}")) for name in "qkv")


PROJECT = Exercise(
    id="1.3",
    reference=query_key_value.project,
    results=("Q", "K", "V"),
    covers="wide and narrow projections, all sizes equal, one word, float32",
    cases=(
        _project_case("seven words", 1, 7, 6, 3, 5),
        _project_case("all sizes equal", 2, 4, 4, 4, 4),
        _project_case("wide projections", 3, 5, 3, 6, 8),
        _project_case("one word", 4, 1, 4, 2, 3),
        _project_case("narrow values", 8, 9, 5, 6, 2),
        _project_case("float32", 5, 6, 5, 3, 4, np.float32),
        Case("fractions and whole numbers", lambda: (*normal(6, (7, 6)), *whole(6, (6, 3), (6, 3), (6, 5))), {"T": 7, "d_model": 6, "d_k": 3, "d_v": 5}),
        Case("whole numbers and fractions", lambda: whole(7, (7, 6), (6, 3), (6, 3), (6, 5), but=(1, 2, 3)), {"T": 7, "d_model": 6, "d_k": 3, "d_v": 5}),
    ),
    mistakes=(
        Mistake("weights-transposed", edits=_each_projection("X @ {}.T"),
            message="You transposed the weight matrices. Each has shape (d_model, d_k), so `X @ W` fits as it is."),
        Mistake("weights-first", edits=_each_projection("{} @ X"),
            message="You multiplied `W @ X`. Each word is a row of X, so X comes first: `X @ W`."),
        Mistake("weights-first-transposed", edits=_each_projection("{}.T @ X.T"),
            message="You multiplied `W.T @ X.T`, which gives one column per word; one row per word is wanted: `X @ W`."),
        Mistake("elementwise", edits=_each_projection("X * {}"),
            message="You multiplied entry by entry with `*`; a projection is a matrix product: `@`."),
        Mistake("one-matrix-for-all", edits=(("X @ W_k", "X @ W_q"), ("X @ W_v", "X @ W_q")),
            message="Queries, keys and values all came from W_q: use W_k for the keys and W_v for the values."),
        Mistake("values-from-keys", old="X @ W_v", new="X @ W_k",
            message="Your values came from W_k, the keys' matrix: use W_v."),
        Mistake("keys-from-values-matrix", old="X @ W_k", new="X @ W_v",
            message="Your keys came from W_v, the values' matrix: use W_k."),
        Mistake("words-not-projected", old="X @ W_v", new="X",
            message="Your values are the words themselves: project them with W_v."),
        Mistake("queries-and-keys-swapped", old="return Q, K, V", new="return K, Q, V",
            message="Queries and keys are exchanged: Q comes from W_q, K from W_k, and the order asked for is Q, K, V."),
        Mistake("keys-and-values-swapped", old="return Q, K, V", new="return Q, V, K",
            message="Keys and values are exchanged: the order asked for is Q, K, V."),
        Mistake("order-reversed", old="return Q, K, V", new="return V, K, Q",
            message="You returned V, K, Q; the order asked for is Q, K, V."),
        Mistake("order-rotated", old="return Q, K, V", new="return K, V, Q",
            message="You returned K, V, Q; the order asked for is Q, K, V."),
        Mistake("order-rotated-back", old="return Q, K, V", new="return V, Q, K",
            message="You returned V, Q, K; the order asked for is Q, K, V."),
        alone("projected-in-a-chain", "You projected what was projected already, the keys from the queries, the values from the keys: each of the three begins with X.",
            ("X @ W_k", "Q @ W_k"), ("X @ W_v", "K @ W_v")),
        alone("x-overwritten", "Keys and values came from the queries: X itself was overwritten by `X @ W_q`. Give each result a name of its own.",
            ("X @ W_k", "Q @ W_k"), ("X @ W_v", "Q @ W_v")),
        alone("keys-from-queries-matrix", "Your keys came from W_q, the queries' matrix: use W_k.", ("X @ W_k", "X @ W_q")),
        alone("queries-from-keys-matrix", "Your queries came from W_k, the keys' matrix: use W_q.", ("X @ W_q", "X @ W_k")),
        alone("weights-first-transposed-words-not", "You multiplied `W.T @ X`. Each word is a row of X, so X comes first: `X @ W`.",
            *_each_projection("{}.T @ X")),
        alone("queries-scaled", "You divided the queries by √d_k; that comes in lesson 02, and on the scores. Here the plain projections are wanted.",
            ("X @ W_q", "X @ W_q / np.sqrt(W_q.shape[1])")),
        alone("tanh-added", "There is a tanh too many: a projection is a matrix product, and nothing else.", *_each_projection("np.tanh(X @ {})")),
        alone("first-word-only", "You projected the first word only; X holds T words, and all are projected by one product.", *_each_projection("X[0] @ {}")),
        alone("stacked", "You stacked the three into one array, which fails as soon as d_v is not d_k: return a tuple, `Q, K, V`.",
            ("return Q, K, V", "return np.array([Q, K, V])")),
        alone("columns-made-unit", "You divided every column of the matrices by its length. Take the matrices as they are given: how long a column is counts too.",
            *_each_projection("X @ ({0} / np.linalg.norm({0}, axis=0))")),
        alone("words-made-unit", "You divided every word's features by their length. Take X as it is given: how long a word's vector is counts too.",
            *_each_projection("X / np.linalg.norm(X, axis=1, keepdims=True) @ {}")),
        alone("cut-into-equal-parts", "You cut one product into three equal parts. V has d_v columns, and Q and K have d_k: cut at d_k and at 2 d_k.",
            ("    Q = X @ W_q", "    all_three = X @ np.concatenate([W_q, W_k, W_v], axis=1)\n    cut = all_three.shape[1] // 3\n    Q = all_three[:, :cut]"), ("X @ W_k", "all_three[:, cut : 2 * cut]"), ("X @ W_v", "all_three[:, 2 * cut :]")),
        alone("cut-into-uneven-parts", "You cut one product into three parts as equal as can be. V has d_v columns, and Q and K have d_k: cut at d_k and at 2 d_k.",
            ("    Q = X @ W_q", "    Q, K, V = np.array_split(X @ np.concatenate([W_q, W_k, W_v], axis=1), 3, axis=1)"), ("    K = X @ W_k", ""), ("    V = X @ W_v", "")),
        alone("cut-into-widths-of-d_k", "You cut one product into three parts of d_k columns. V has d_v columns, which may be more or fewer: take all that are left from 2 d_k on.",
            ("    Q = X @ W_q", "    all_three = X @ np.concatenate([W_q, W_k, W_v], axis=1)\n    cut = W_q.shape[1]\n    Q = all_three[:, :cut]"), ("X @ W_k", "all_three[:, cut : 2 * cut]"), ("X @ W_v", "all_three[:, 2 * cut : 3 * cut]")),
        alone("called-like-a-layer", "W_q is a matrix, not a function or a layer: multiply, `X @ W_q`.", *_each_projection("{}(X)")),
    ),
    indistinguishable=(
        # Results that are equal to begin with can be returned in any order.
        *pairs("one-matrix-for-all", "keys-and-values-swapped", "order-reversed", "order-rotated", "order-rotated-back", "queries-and-keys-swapped"),
        *pairs("keys-from-values-matrix", "values-from-keys", "keys-and-values-swapped", "queries-and-keys-swapped"),
        *pairs("keys-from-values-matrix", "order-reversed", "order-rotated", "order-rotated-back"),
        *pairs("values-from-keys", "keys-and-values-swapped", "order-reversed", "order-rotated", "order-rotated-back", "queries-and-keys-swapped"),
    ),
    alternatives=(
        "def project(X, W_q, W_k, W_v):\n    return tuple(np.dot(X, W) for W in (W_q, W_k, W_v))",
        "def project(X, W_q, W_k, W_v):\n    everything = X @ np.concatenate([W_q, W_k, W_v], axis=1)\n"
        "    d_k = W_q.shape[1]\n    return everything[:, :d_k], everything[:, d_k:2 * d_k], everything[:, 2 * d_k:]",
        'def project(X, W_q, W_k, W_v):\n    return [np.einsum("tm,mk->tk", X, W) for W in (W_q, W_k, W_v)]',
    ),
)

# 1.4 ----------------------------------------------------------------------------------------------------------------


def _scores_case(name, seed, lead, T_q, T_k, d_k, dtype=float):
    dims = dict(zip(("B", "h"), lead, strict=False)) | {"T_q": T_q, "T_k": T_k, "d_k": d_k}
    return Case(name, lambda: normal(seed, (*lead, T_q, d_k), (*lead, T_k, d_k), dtype=dtype), dims)


def _scores(id, message, keys):
    return alone(id, message, ("np.swapaxes(K, -1, -2)", keys))


SCORES = Exercise(
    id="1.4",
    reference=query_key_value.dot_product_scores,
    results=("scores",),
    covers="one pair of sequences, batches, heads, equal lengths, one query, float32",
    cases=(
        _scores_case("five queries, seven keys", 1, (), 5, 7, 4),
        _scores_case("as many queries as keys", 2, (), 5, 5, 3),
        _scores_case("a batch of three", 3, (3,), 5, 7, 4),
        _scores_case("a batch of two with three heads", 4, (2, 3), 5, 7, 4),
        _scores_case("one query", 5, (), 1, 6, 2),
        _scores_case("float32", 6, (3,), 4, 6, 5, np.float32),
        Case("whole numbers", lambda: whole(7, (5, 4), (7, 4)), {"T_q": 5, "T_k": 7, "d_k": 4}),
        Case("queries with fractions, keys of whole numbers", lambda: whole(8, (5, 4), (7, 4), but=(0,)), {"T_q": 5, "T_k": 7, "d_k": 4}),
        Case("queries of whole numbers, keys with fractions", lambda: whole(9, (5, 4), (7, 4), but=(1,)), {"T_q": 5, "T_k": 7, "d_k": 4}),
    ),
    mistakes=(
        Mistake("operands-swapped", old="Q @ np.swapaxes(K, -1, -2)", new="K @ np.swapaxes(Q, -1, -2)",
            message="Your scores are the transpose of what was asked: row i must belong to query i, so multiply Q by K transposed, not K by Q transposed."),
        Mistake("full-transpose", old="np.swapaxes(K, -1, -2)", new="K.T",
            message="`K.T` reverses all axes, the batch axis too; swap only the last two: `np.swapaxes(K, -1, -2)`."),
        Mistake("not-transposed", old="np.swapaxes(K, -1, -2)", new="K",
            message="`Q @ K` lets the features of Q meet the positions of K. To compare every query with every key, features must meet features: K needs its last two axes swapped."),
        Mistake("same-position-only", old="Q @ np.swapaxes(K, -1, -2)", new="(Q * K).sum(axis=-1)",
            message="Each query was compared only with the key at its own position; every query must meet every key: use a matrix product."),
        Mistake("same-position-copied", old="Q @ np.swapaxes(K, -1, -2)", new="np.repeat((Q * K).sum(axis=-1)[..., None], K.shape[-2], axis=-1)",
            message="Each query was compared only with the key at its own position, and that score copied along the row; every query must meet every key: use a matrix product."),
        Mistake("features-not-positions", old="Q @ np.swapaxes(K, -1, -2)", new="np.swapaxes(Q, -1, -2) @ K",
            message="You transposed Q instead of K, which compares features with features, (d_k, d_k); positions should meet positions, (T_q, T_k)."),
        Mistake("reshaped-not-transposed", old="np.swapaxes(K, -1, -2)", new="K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2])",
            message="`reshape` keeps the numbers in their order and only breaks the rows elsewhere, so features of different keys get mixed; `np.swapaxes(K, -1, -2)` transposes."),
        Mistake("first-axes-swapped", old="np.swapaxes(K, -1, -2)", new="np.swapaxes(K, 0, 1)",
            message="You swapped axes 0 and 1, which are positions and features only as long as there is no batch: swap the last two, `np.swapaxes(K, -1, -2)`."),
        Mistake("transpose-for-three-axes", old="np.swapaxes(K, -1, -2)", new="K.transpose(0, 2, 1)",
            message="`transpose(0, 2, 1)` fits three axes exactly: it fails for a single pair of matrices and for heads. `np.swapaxes(K, -1, -2)` fits any number."),
        Mistake("softmax-applied", old="return Q @ np.swapaxes(K, -1, -2)", new="scores = Q @ np.swapaxes(K, -1, -2)\n    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))\n    return exps / exps.sum(axis=-1, keepdims=True)",
            message="You went on to the weights: the scores themselves are wanted, before any softmax."),
        Mistake("dot-on-a-batch", old="Q @ np.swapaxes(K, -1, -2)", new="np.dot(Q, np.swapaxes(K, -1, -2))",
            message="`np.dot` (like `np.inner` and `np.tensordot`) pairs every example of the batch with every other one; `@` keeps the examples apart."),
        _scores("transpose-as-in-torch", "`K.transpose(-1, -2)` is PyTorch's way; NumPy's transpose takes the new order of all axes, and fails once there is a batch."
            " `np.swapaxes(K, -1, -2)` exchanges the last two.", "K.transpose(-1, -2)"),
        _scores("transpose-as-in-torch-reversed", "`K.transpose(-2, -1)` is PyTorch's way; NumPy's transpose takes the new order of all axes, so this leaves K as it is."
            " `np.swapaxes(K, -1, -2)` exchanges the last two.", "K.transpose(-2, -1)"),
        _scores("axes-one-and-two-swapped", "Axes 1 and 2 are the last two only where there is exactly one axis in front: count from the end, −1 and −2.", "np.swapaxes(K, 1, 2)"),
        _scores("features-moved-to-the-front", "You moved the features to the very front, before the batch; they should change places with the positions only:"
            " `np.swapaxes(K, -1, -2)`.", "np.moveaxis(K, -1, 0)"),
        Mistake("loop-over-the-batch", source="def dot_product_scores(Q, K):\n    return np.array([q @ k.T for q, k in zip(Q, K)])",
            message="Your loop over the first axis takes it for a batch: for two plain matrices it pairs query i with key i only, and with heads it stops too early."
            " One product with the last two axes swapped serves all."),
        Mistake("loop-for-two-axes", source="def dot_product_scores(Q, K):\n    scores = np.zeros((len(Q), len(K)))\n    for i in range(len(Q)):\n"
            "        for j in range(len(K)):\n            scores[i, j] = Q[i] @ K[j]\n    return scores",
            message="Your loops take the first axis for the positions, which is so only without a batch: one product, `Q` with the last two axes of K swapped, serves any number of axes."),
        Mistake("row-by-row-for-two-axes", source="def dot_product_scores(Q, K):\n    return np.array([K @ q for q in Q])",
            message="Your loop takes the first axis of Q for the positions, which is so only without a batch: one product, `Q` with the last two axes of K swapped, serves any number of axes."),
        Mistake("counted-from-one", source="def dot_product_scores(Q, K):\n    scores = Q @ np.swapaxes(K, -1, -2)\n    scores[..., 0, :] = 0\n    scores[..., :, 0] = 0\n    return scores",
            message="The first row and the first column are zero: places are counted from 0, so a loop must start there."),
        Mistake("keys-with-keys", source="def dot_product_scores(Q, K):\n    return K @ np.swapaxes(K, -1, -2)", message="You compared keys with keys; rows belong to queries: Q comes first."),
        Mistake("queries-with-queries", source="def dot_product_scores(Q, K):\n    return Q @ np.swapaxes(Q, -1, -2)", message="You compared queries with queries; each query is to meet every key."),
        Mistake("tensordot-keys-first", old="Q @ np.swapaxes(K, -1, -2)", new="np.tensordot(K, Q, axes=(-1, -1))", together=1,
            message="Keys come first in yours, so row i belongs to key i: rows are to belong to queries. And `tensordot` does not go through a batch side by side: it pairs each sentence with every other one. `@` keeps the leading axes together."),
        _scores("divided-by-number-of-keys", "You divided by the number of keys; the plain dot products are wanted.", "np.swapaxes(K, -1, -2) / K.shape[-2]"),
        Mistake("entry-by-entry", source="def dot_product_scores(Q, K):\n    return Q * K",
            message="You multiplied entry by entry; every query must meet every key, and the products be added up: a matrix product, `@`."),
        Mistake("scaled", old="(K, -1, -2)", new="(K, -1, -2) / np.sqrt(Q.shape[-1])",
            message="You divided by √d_k; that comes in lesson 02. Here the plain dot products are wanted."),
        Mistake("cosine", old="Q @ np.swapaxes(K, -1, -2)",
            new="(Q / np.linalg.norm(Q, axis=-1, keepdims=True)) @ np.swapaxes(K / np.linalg.norm(K, axis=-1, keepdims=True), -1, -2)",
            message="You divided by the lengths of the vectors, which is the cosine; the plain dot products are wanted."),
        Mistake("not-summed", old="Q @ np.swapaxes(K, -1, -2)", new="Q[..., :, None, :] * K[..., None, :, :]",
            message="You paired every query with every key but did not add up over the features: one number per pair is wanted."),
    ),
    alternatives=(
        'def dot_product_scores(Q, K):\n    return np.einsum("...qd,...kd->...qk", Q, K)',
        "def dot_product_scores(Q, K):\n    return (Q[..., :, None, :] * K[..., None, :, :]).sum(axis=-1)",
        "def dot_product_scores(Q, K):\n    return np.matmul(Q, np.moveaxis(K, -1, -2))",
        "def dot_product_scores(Q, K):\n    scores = np.zeros((*Q.shape[:-1], K.shape[-2]))\n    for i in range(Q.shape[-2]):\n"
        "        for j in range(K.shape[-2]):\n            scores[..., i, j] = (Q[..., i, :] * K[..., j, :]).sum(axis=-1)\n    return scores",
    ),
)

# 1.5 ----------------------------------------------------------------------------------------------------------------


def _weights_of(word, W_q, W_k):
    scores = embed(words) @ W_k @ (embed([word])[0] @ W_q)
    exps = np.exp(scores - scores.max())
    return exps / exps.sum()


def _judge_design(result, case):
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        return (Finding("not-a-pair", "Two matrices are wanted, W_q and W_k, in this order."),)
    try:
        W_q, W_k = (np.asarray(W, dtype=float) for W in result)
    except (TypeError, ValueError, OverflowError, RuntimeError):  # numbers beyond all floats; a tensor with a gradient
        return (Finding("not-numbers", "W_q and W_k must hold numbers, in rows of equal length."),)
    if W_q.ndim != 2 or W_k.ndim != 2 or len(W_q) != 4 or len(W_k) != 4 or W_q.shape[1] != W_k.shape[1]:
        guess = ""
        if W_q.ndim == W_k.ndim == 2 and len(W_q) == len(W_k):
            if len(W_q) == len(words):
                guess = " Are these queries and keys already, one row per word? The two matrices themselves are wanted."
            elif W_q.shape[1] == W_k.shape[1] == 4:
                guess = " Are they transposed? Features are rows here: noun, verb, adjective, number."
        shapes = f"W_q {W_q.shape} and W_k {W_k.shape} came"
        return (Finding("wrong-shape", f"Each matrix needs 4 rows, one a feature, and both as many columns as the other; {shapes}.{guess}"),)
    if not (np.isfinite(W_q).all() and np.isfinite(W_k).all()):
        return (Finding("not-finite", "W_q or W_k holds NaN or infinity."),)
    if not (embed(words) @ W_k).any():
        return (Finding("nothing-can-be-found", "Every key is zero, so all scores are 0: W_k says by which features a word is found, a noun, say, and its number."),)
    rows = {word: _weights_of(word, W_q, W_k) for word in ("are", "old")}
    books, shelf = words.index("books"), words.index("shelf")
    if all(row[books] >= 0.8 for row in rows.values()):
        return ()
    if all(_weights_of(word, W_k, W_q)[books] >= 0.8 for word in rows):
        return (Finding("projections-swapped", "W_q and W_k are exchanged: with the two the other way round your design works."),)
    asks = {word: bool((embed([word]) @ W_q).any()) for word in rows}
    return tuple(finding for word, row in rows.items() if (finding := _look_of(word, row, books, shelf, asks[word])))


def _look_of(word, row, books, shelf, asks):
    if row[books] >= 0.8:
        return None
    best, share = words[int(row.argmax())], f"{row[books]:.2f}"
    if np.allclose(row, row[0]) and asks:
        return Finding(f"{word}-finds-nothing", f"*{word}* gives every word the same weight: what it asks for is in no key. Do W_q and W_k use the same columns?")
    if np.allclose(row, row[0]):
        return Finding(f"{word}-asks-nothing", f"*{word}* gives every word the same weight: its query is zero. Which feature of *{word}* could ask for a plural noun?")
    tied = [other for other, weight in zip(words, row, strict=True) if np.isclose(weight, row.max()) and other != "books"]
    if np.isclose(row[books], row.max()) and tied not in ([], ["shelf"]):
        others = " and ".join(f"*{other}*" for other in dict.fromkeys(tied))
        return Finding(f"{word}-cannot-tell", f"*{word}* gives *books* and {others} the same weight, {share}: nothing in its query tells them apart yet.")
    if np.isclose(row[books], row.max()) and np.isclose(row[books], row[shelf]):
        return Finding(f"{word}-ignores-number", f"*{word}* gives *books* and *shelf* the same weight, {share}: it asks for a noun, not yet for a plural one.")
    if row.argmax() == words.index(word):
        return Finding(f"{word}-looks-at-itself", f"*{word}* looks most at itself ({row.max():.2f}) and gives *books* only {share}: it asks for its own kind. It should ask for a noun, and plural.")
    if row.argmax() == books:
        return Finding(f"{word}-too-flat", f"*{word}* already prefers *books*, with {share} of its weight; 0.8 is wanted. Larger numbers make the choice sharper.")
    return Finding(f"{word}-looks-elsewhere", f"*{word}* looks most at *{best}* ({row.max():.2f}) and gives *books* only {share}.")


DESIGN = Exercise(
    id="1.5",
    reference=query_key_value.design_projections,
    results=("W_q", "W_k"),
    judge=_judge_design,
    cases=(Case("the running example", lambda: (), {"features": 4}),),
    max_mistakes=1,
    mistakes=(
        Mistake("old-too-flat", old="asks = 5.0", new="asks = 0.7",
            message="Both words already prefer *books*, but give it less than 0.8 of their weight: larger numbers make the choice sharper."),
        Mistake("old-asks-nothing", old="[[0, 0], [1, 1], [1, 1], [0, 0]]", new="[[0, 0], [1, 1], [0, 0], [0, 0]]",
            message="*old* gives every word the same weight: its query is zero. Which feature of *old* could ask for a plural noun?"),
        Mistake("old-ignores-number", old="[[0, 0], [1, 1], [1, 1], [0, 0]]", new="[[0, 0], [1, 1], [1, 0], [0, 0]]",
            message="*old* gives *books* and *shelf* the same weight: it asks for a noun, not yet for a plural one."),
        Mistake("are-looks-elsewhere", old="[[0, 0], [1, 1], [1, 1], [0, 0]]", new="[[0, 0], [1, -1], [1, 1], [0, 0]]",
            message="*are* looks at *shelf*: the sign of what it asks for is the singular's."),
        Mistake("projections-swapped", old="return W_q, W_k", new="return W_k, W_q",
            message="W_q and W_k are exchanged: with the two the other way round your design works."),
    ),
    alternatives=(
        "def design_projections():\n    W_q = np.array([[0.0], [1], [1], [0]]) * 9\n    W_k = np.array([[0.4], [0], [0], [0.6]])\n    return W_q, W_k",
        "def design_projections():\n    W_q = np.zeros((4, 4))\n    W_q[[1, 2], 0] = 6\n    W_q[[1, 2], 3] = 6\n    return W_q, np.eye(4)",
    ),
)

EXERCISES = (SIMILARITIES, SOFT_LOOKUP, PROJECT, SCORES, DESIGN)
PREDICTIONS = (
    Prediction(
        "longer-arrow", "shelf", choices=("books", "shelf"),
        why="A dot product grows with the length of an arrow. 2 · 0.8 = 1.6 is more than 1.2, although *books* points in a better direction.",
    ),
    Prediction(
        "sharpness-zero", "the plain average", choices=("the plain average", "the best value", "zero"),
        why="At sharpness 0 every score becomes 0. So every exponential is 1, and every weight is 1/n.",
    ),
    Prediction(
        "sharpness-large", "the best value", choices=("the plain average", "the best value", "zero"),
        why="The larger the sharpness, the larger the share of the best key. In the limit it gets everything, as in a hard lookup.",
    ),
    Prediction(
        "score-both-ways", "something else", choices=("the same", "something else"),
        why="The query of *books* is (0, 1) and the key of *are* is (0, 1): the score is 1. To look and to be looked at are different roles, with different matrices.",
    ),
    Prediction(
        "other-values", "no", choices=("yes", "no"),
        why="Weights are made of queries and keys alone. Values are what the weights mix, so they change only the result.",
    ),
    Prediction(
        "who-does-is-find", "shelf", choices=("books", "shelf", "both alike"),
        why="Only the number in the verb's features changed, from +1 to −1. The query changed with it, and now it fits the singular noun.",
    ),
    Prediction(
        "rnn-influence", "it dies out", choices=("it dies out", "it stays", "it grows without end"),
        why="Large inputs push the tanh to where it is nearly flat. There each step shrinks the influence by more than the factor 1.2 makes up for.",
    ),
)
