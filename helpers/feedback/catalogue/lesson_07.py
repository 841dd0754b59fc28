"""Lesson 07: FLOPs, the crossing, bytes, exponents."""

import numpy as np

from ... import cost
from ..exercise import Case, Exercise, Mistake, Prediction, pairs

# 7.1 ----------------------------------------------------------------------------------------------------------------


def _flops_case(name, T_q, T_k, d_k, d_v):
    return Case(name, lambda: (T_q, T_k, d_k, d_v), {"T_q": T_q, "T_k": T_k, "d_k": d_k, "d_v": d_v})


def _something_added_for_each_score(case, expected, got):
    """The softmax, or the scale, counted too."""
    extra = got - expected
    per_score = extra / (case.dims["T_q"] * case.dims["T_k"])
    if per_score > 0 and per_score == int(per_score) <= 10:
        operations = "operation" if per_score == 1 else "operations"
        return (
            f"Your count is {int(per_score)} {operations} a score too high: have you counted the scale or the softmax? "
            "Only the two matrix products are wanted."
        )


def _times_too_high(case, expected, got):
    """A multiply-add taken for four FLOPs, or heads counted where none belong."""
    factor = got / expected
    if factor == 2:
        return "Twice the right count: one multiplication and one addition make 2 FLOPs, and yours come to 4."
    if "d_model" in case.dims and 2 < factor <= 128 and factor == int(factor):
        return f"Is {int(factor)} a number of heads? They share the d_model columns out, so their number changes nothing."


ATTENTION_FLOPS = Exercise(
    id="7.1",
    reference=cost.attention_flops,
    results=("the count",),
    covers="as many queries as keys and not, one query, values wider and narrower than keys",
    cases=(
        _flops_case("five queries, seven keys", 5, 7, 4, 9),
        _flops_case("seven words looking at each other", 7, 7, 6, 2),
        _flops_case("one query", 1, 9, 5, 8),
        _flops_case("twice the queries and keys", 10, 14, 4, 9),
        _flops_case("a long text", 5000, 3000, 64, 128),
    ),
    explain=(_something_added_for_each_score, _times_too_high),
    mistakes=(
        Mistake("multiply-adds", edits=(("scoring = 2 * ", "scoring = "), ("mixing = 2 * ", "mixing = ")),
            message="You counted multiply-adds as one. A multiplication and an addition are two floating-point operations, so your number must be doubled."),
        Mistake("scoring-multiply-adds", edits=(("scoring = 2 * ", "scoring = "), ("mixing = 2 * ", "mixing = 2 * ")),
            message="In Q Kᵀ you counted a multiply-add as one FLOP, in the mixing as two. It is two in both."),
        Mistake("mixing-multiply-adds", edits=(("scoring = 2 * ", "scoring = 2 * "), ("mixing = 2 * ", "mixing = ")),
            message="In the mixing of values you counted a multiply-add as one FLOP, in Q Kᵀ as two. It is two in both."),
        Mistake("one-addition-fewer",
            edits=(("2 * T_q * T_k * d_k", "T_q * T_k * (2 * d_k - 1)"), ("2 * T_q * T_k * d_v", "T_q * d_v * (2 * T_k - 1)")),
            message="You counted one addition fewer than products in each sum, which is right if the sum starts with its first product. The convention, which PyTorch's counter follows too, lets it start from zero: every product is also added, 2 FLOPs each."),
        Mistake("projections-instead",
            source="def attention_flops(T_q, T_k, d_k, d_v):\n    return 2 * T_q * d_k * d_k + 2 * T_k * d_k * d_k + 2 * T_k * d_v * d_v",
            message="You counted projections: your number doubles when both lengths double. The score matrix has T_q · T_k entries, so the products must grow four times."),
        Mistake("keys-forgotten", edits=(("scoring = 2 * T_q * T_k", "scoring = 2 * T_q"), ("mixing = 2 * T_q * T_k", "mixing = 2 * T_q")),
            message="Your count does not grow with the number of keys: each of the {T_q} queries is compared with all {T_k} keys."),
        Mistake("queries-forgotten", edits=(("scoring = 2 * T_q * T_k", "scoring = 2 * T_k"), ("mixing = 2 * T_q * T_k", "mixing = 2 * T_k")),
            message="Your count does not grow with the number of queries: each key is compared with all {T_q} queries."),
        Mistake("lengths-added", edits=(("scoring = 2 * T_q * T_k", "scoring = 2 * (T_q + T_k)"), ("mixing = 2 * T_q * T_k", "mixing = 2 * (T_q + T_k)")),
            message="You added T_q and T_k; every query meets every key, so there are T_q · T_k pairs."),
        Mistake("queries-squared", edits=(("scoring = 2 * T_q * T_k", "scoring = 2 * T_q * T_q"), ("mixing = 2 * T_q * T_k", "mixing = 2 * T_q * T_q")),
            message="You squared T_q. With another number of keys the pairs are T_q · T_k: {T_q} · {T_k} here."),
        Mistake("keys-squared", edits=(("scoring = 2 * T_q * T_k", "scoring = 2 * T_k * T_k"), ("mixing = 2 * T_q * T_k", "mixing = 2 * T_k * T_k")),
            message="You squared T_k. With another number of queries the pairs are T_q · T_k: {T_q} · {T_k} here."),
        Mistake("d_v-ignored", old="T_k * d_v", new="T_k * d_k",
            message="You took d_k for the width of the values: mixing adds up vectors of d_v = {d_v} numbers, not {d_k}."),
        Mistake("d_k-ignored", old="T_k * d_k", new="T_k * d_v",
            message="You took d_v for the width of the keys: a score is a sum over d_k = {d_k} products, not {d_v}."),
        Mistake("mixing-forgotten", old="scoring + mixing", new="scoring",
            message="You counted Q Kᵀ alone. The second product, weights times V, is wanted too.", hides_others=True),
        Mistake("scoring-forgotten", old="scoring + mixing", new="mixing",
            message="You counted the mixing of values alone. The first product, Q Kᵀ, is wanted too.", hides_others=True),
        Mistake("widths-multiplied", source="def attention_flops(T_q, T_k, d_k, d_v):\n    return 2 * T_q * T_k * d_k * d_v",
            message="You multiplied d_k by d_v. They belong to two separate products, one after the other, so their costs add up: d_k + d_v."),
    ),
    indistinguishable=(
        # With one width counted twice, or one product left out, half of what remains has several explanations.
        *pairs("d_k-ignored", "mixing-forgotten", "mixing-multiply-adds", "multiply-adds", "scoring-multiply-adds"),
        *pairs("d_v-ignored", "scoring-forgotten", "mixing-multiply-adds", "multiply-adds", "scoring-multiply-adds"),
        *pairs("mixing-forgotten", "multiply-adds", "scoring-multiply-adds"),
        *pairs("scoring-forgotten", "multiply-adds", "mixing-multiply-adds"),
    ),
    alternatives=(
        "def attention_flops(T_q, T_k, d_k, d_v):\n    return 2 * T_q * T_k * (d_k + d_v)",
        "def attention_flops(T_q, T_k, d_k, d_v):\n    pairs = T_q * T_k\n    return float(pairs * 2 * d_k + pairs * 2 * d_v)",
        "def attention_flops(T_q, T_k, d_k, d_v):\n    per_query = T_k * 2 * d_k + d_v * 2 * T_k\n    return np.int64(T_q) * per_query",
    ),
)

# 7.2 ----------------------------------------------------------------------------------------------------------------


def _projection_case(name, T, d_model):
    return Case(name, lambda: (T, d_model), {"T": T, "d_model": d_model})


PROJECTION_FLOPS = Exercise(
    id="7.2",
    reference=cost.projection_flops,
    results=("the count",),
    covers="short and long texts, narrow and wide layers, one word",
    explain=(_times_too_high,),
    cases=(
        _projection_case("seven words, width 128", 7, 128),
        _projection_case("one word", 1, 64),
        _projection_case("a page, width 768", 500, 768),
        _projection_case("longer than wide", 5000, 192),
    ),
    mistakes=(
        Mistake("multiply-adds", old="2 * T * d_model", new="T * d_model",
            message="You counted multiply-adds as one. A multiplication and an addition are two floating-point operations, so your number must be doubled."),
        Mistake("W_o-forgotten", old="4 * one_projection", new="3 * one_projection",
            message="You counted three projections. After the heads are merged, W_o mixes them: it is the fourth, and as dear as the others."),
        Mistake("one-projection", old="4 * one_projection", new="one_projection",
            message="You counted one projection; there are four of the same size: W_q, W_k, W_v and W_o."),
        Mistake("one-addition-fewer", old="2 * T * d_model * d_model", new="T * d_model * (2 * d_model - 1)",
            message="You counted one addition fewer than products in each sum. The convention lets the sum start from zero: every product is also added, 2 FLOPs each."),
        Mistake("eight-heads-counted", old="4 * one_projection", new="4 * 8 * one_projection",
            message="Your number is eight times too large: have you counted each of eight heads as a full projection? The heads share the d_model columns out among themselves, so their number changes nothing."),
        Mistake("heads-of-64-counted", old="4 * one_projection", new="4 * (d_model // 64) * one_projection",
            message="You multiplied by a number of heads (d_model / 64). The heads share the d_model columns out among themselves, so their number changes nothing."),
        Mistake("parameters", old="2 * T * d_model * d_model", new="d_model * d_model",
            message="You counted the parameters of the matrices. Every one of the T words is multiplied by all of them, two FLOPs each."),
        Mistake("length-forgotten", old="2 * T * d_model * d_model", new="2 * d_model * d_model",
            message="Your count is that of a single word: it must grow with T."),
        Mistake("length-squared", old="2 * T * d_model * d_model", new="2 * T * T * d_model",
            message="You squared T. A projection treats every word by itself, so it grows with T only; it is d_model that counts twice."),
        Mistake("both-squared", old="2 * T * d_model * d_model", new="2 * T * T * d_model * d_model",
            message="You squared T as well as d_model. A projection treats every word by itself, so it grows with T only."),
        Mistake("width-once", old="2 * T * d_model * d_model", new="2 * T * d_model",
            message="d_model must count twice: each of the d_model outputs of a word is a sum over its d_model inputs."),
        Mistake("bias-counted", old="2 * T * d_model * d_model", new="2 * T * d_model * d_model + T * d_model",
            message="You added a bias to each output. These projections have none, and matrix products alone are counted here."),
    ),
    alternatives=(
        "def projection_flops(T, d_model):\n    return 8 * T * d_model**2",
        "def projection_flops(T, d_model):\n    return sum(2.0 * T * d_model * d_model for _ in ('q', 'k', 'v', 'o'))",
    ),
)

# 7.3 ----------------------------------------------------------------------------------------------------------------


def _crossover_case(d_model):
    return Case(f"width {d_model}", lambda: (d_model,), {"d_model": d_model})


CROSSOVER = Exercise(
    id="7.3",
    reference=cost.crossover_length,
    results=("the length",),
    covers="narrow and wide layers",
    cases=tuple(_crossover_case(d_model) for d_model in (64, 100, 768, 12288)),
    mistakes=(
        Mistake("width-itself", old="8 * d_model**2", new="4 * d_model**2",
            message="You returned d_model; the crossing is further out. Four projections cost 8 · T · d_model², both products together 4 · T² · d_model. Is a factor 2 for multiply-adds on one side only?"),
        Mistake("one-product", old="products = 4", new="products = 2",
            message="You returned 4 · d_model, which is right for one of the two products. Scoring and mixing count both: 4 · T² · d_model together."),
        Mistake("W_o-forgotten", old="8 * d_model**2", new="6 * d_model**2",
            message="You returned 1.5 · d_model: with W_q, W_k and W_v alone that would be right. W_o is the fourth projection."),
        Mistake("W_o-and-one-product-forgotten", edits=(("8 * d_model**2", "6 * d_model**2"), ("products = 4", "products = 2")),
            message="You returned 3 · d_model: three projections against one product. W_o is the fourth projection, and scoring and mixing are two products."),
        Mistake("crossing-of-768", source="def crossover_length(d_model):\n    return 1536",
            message="You returned 1,536, where layers of width 768 cross. Every width has a crossing of its own: the function must use d_model."),
        Mistake("powers-of-two", source="def crossover_length(d_model):\n    T = 1\n    while 4 * T**2 * d_model < 8 * T * d_model**2:\n        T *= 2\n    return T",
            message="You tried powers of two only, and took the first that is long enough. Most widths cross between two of them: set the two costs equal and solve for T."),
        Mistake("one-projection", old="8 * d_model**2", new="2 * d_model**2",
            message="You compared with a single projection; there are four: W_q, W_k, W_v and W_o."),
        Mistake("eight-heads-in-products", old="products = 4", new="products = 8 * 4",
            message="You multiplied scoring and mixing by eight heads. Each head is only d_model / 8 wide, so all heads together cost what one of full width does."),
        Mistake("eight-heads-in-projections", old="8 * d_model**2", new="8 * 8 * d_model**2",
            message="You counted eight heads in the projections, or one head of eight in the products. The number of heads cancels: h heads of width d_model / h cost what one of width d_model does."),
        Mistake("one-head-of-64", old="4 * d_model ", new="4 * 64 ",
            message="You counted scoring and mixing of one head of width 64 only: take all heads together, d_model wide."),
        Mistake("first-length-beyond", old="projections // products", new="projections // products + 1",
            message="You returned the first length at which scoring and mixing cost more; the length at which both cost the same is one before it."),
        Mistake("last-length-below", old="projections // products", new="projections // products - 1",
            message="You returned the last length at which the projections still cost more; the length at which both cost the same is one after it."),
        Mistake("upside-down", old="projections // products", new="products / projections",
            message="You divided the wrong way round: T · products = projections, so T is projections / products."),
        Mistake("width-not-cancelled", old="8 * d_model**2", new="8 * d_model**3",
            message="One factor d_model is left over: it stands squared in the projections and once in the products, so one remains, not two."),
        Mistake("no-width", old="8 * d_model**2", new="8 * d_model",
            message="Your length does not depend on d_model. It stands squared in the projections and once in the products, so one remains."),
        Mistake("costs-not-divided-by-T", old="projections // products", new="projections",
            message="You returned a number of FLOPs, not a length: set both costs equal and solve for T."),
    ),
    max_mistakes=1,  # every answer is a factor times d_model, and factors of two mistakes give that of a third
    alternatives=(
        "def crossover_length(d_model):\n    return 2 * d_model",
        "def crossover_length(d_model):\n    return 8 * d_model**2 / (4 * d_model)",
        "def crossover_length(d_model):\n    T = 1\n    while attention_flops(T, T, d_model, d_model) < projection_flops(T, d_model):\n        T += 1\n    return T",
    ),
)

# 7.4 ----------------------------------------------------------------------------------------------------------------


def _bytes_case(name, B, H, T, *itemsize):
    return Case(name, lambda: (B, H, T, *itemsize), {"B": B, "H": H, "T": T})


SCORE_MATRIX_BYTES = Exercise(
    id="7.4",
    reference=cost.score_matrix_bytes,
    results=("the number of bytes",),
    covers="batches, many heads and one, half and double precision, a million words",
    cases=(
        _bytes_case("three sequences, two heads", 3, 2, 7),
        _bytes_case("half precision", 5, 12, 10, 2),
        _bytes_case("double precision", 2, 3, 9, 8),
        _bytes_case("one head, one word", 6, 1, 1),
        _bytes_case("a million words", 1, 16, 1_000_000),
    ),
    mistakes=(
        Mistake("heads-forgotten", old="B * H * T * T", new="B * T * T",
            message="The number of heads is not in it: every head has a T × T matrix of its own, {H} of them here."),
        Mistake("batch-forgotten", old="B * H * T * T", new="H * T * T",
            message="The batch is not in it: every one of the {B} sequences has its own scores."),
        Mistake("batch-and-heads-forgotten", old="B * H * T * T", new="T * T",
            message="You counted a single matrix. There is one for each of the {H} heads of each of the {B} sequences."),
        Mistake("batch-and-heads-added", old="B * H * T * T", new="(B + H) * T * T",
            message="You added B and H; each of the {B} sequences has {H} heads, so there are B · H matrices."),
        Mistake("heads-share", old="B * H * T * T", new="B * T * T // H",
            message="You divided by the number of heads. Heads share the features out, not the pairs: each scores all T × T of them."),
        Mistake("length-once", old="B * H * T * T", new="B * H * T",
            message="The length counts twice: every word has a score for every word."),
        Mistake("triangle", old="B * H * T * T", new="B * H * (T * (T + 1) // 2)",
            message="You counted the lower triangle. A causal mask hides the rest, but the matrix is stored in full, T × T."),
        Mistake("two-matrices", old="B * H * T * T", new="2 * B * H * T * T",
            message="You counted two matrices, scores and weights; the scores alone are asked for."),
        Mistake("bits", old="entries * itemsize", new="entries * itemsize * 8",
            message="You counted bits: itemsize is already in bytes, 4 for a float32."),
        Mistake("itemsize-forgotten", old="entries * itemsize", new="entries",
            message="You counted the numbers, not their bytes: each takes itemsize bytes."),
        Mistake("itemsize-fixed", old="entries * itemsize", new="entries * 4",
            message="You took 4 bytes a number, whatever itemsize says."),
        Mistake("itemsize-eight", old="entries * itemsize", new="entries * 8",
            message="You took 8 bytes a number, as NumPy does by default; use itemsize, which is 4 for a float32."),
        Mistake("itemsize-as-bits", old="entries * itemsize", new="entries * itemsize / 8",
            message="You divided by 8 as if itemsize were in bits; it is in bytes already."),
        Mistake("kilobytes", old="entries * itemsize", new="entries * itemsize / 1000",
            message="You returned kilobytes; bytes are asked for."),
        Mistake("kibibytes", old="entries * itemsize", new="entries * itemsize / 1024",
            message="You returned kibibytes (1,024 bytes); bytes are asked for."),
        Mistake("megabytes", old="entries * itemsize", new="entries * itemsize / 1e6",
            message="You returned megabytes; bytes are asked for."),
        Mistake("mebibytes", old="entries * itemsize", new="entries * itemsize / 2**20",
            message="You returned mebibytes (1,024² bytes); bytes are asked for."),
        Mistake("gigabytes", old="entries * itemsize", new="entries * itemsize / 1e9",
            message="You returned gigabytes; bytes are asked for."),
        Mistake("gibibytes", old="entries * itemsize", new="entries * itemsize / 2**30",
            message="You returned gibibytes (1,024³ bytes); bytes are asked for."),
    ),
    indistinguishable=(("itemsize-fixed", "two-matrices"),),  # twice four bytes are eight
    alternatives=(
        "def score_matrix_bytes(B, H, T, itemsize=4):\n    return itemsize * B * H * T**2",
        "def score_matrix_bytes(B, H, T, itemsize=4):\n    return float(np.prod([B, H, T, T, itemsize], dtype=np.int64))",
    ),
)

# 7.5 ----------------------------------------------------------------------------------------------------------------


def _power_law(name, seed, sizes, p, c, noise=0.0, overhead=0.0, kind=np.array):
    def make():
        rng = np.random.default_rng(seed)
        costs = (c * np.array(sizes, dtype=float) ** p + overhead) * np.exp(noise * rng.normal(size=len(sizes)))
        return kind(sizes), kind(costs.tolist())

    return Case(name, make, {"n": len(sizes)})


def _other_base(name, base):
    """Logarithms of two different bases; both lines are touched, so that no second such mistake can undo the first."""
    changed = {"sizes": ("np.log(sizes)", "np.log(costs)"), "costs": ("np.log(costs)", "np.log(sizes)")}[name]
    return ((changed[0], f"np.{base}({name})"), (changed[1], changed[1]))


def _rounded(case, expected, got):
    if any(got == round(expected, digits) for digits in range(1, 7)):
        return "You rounded. Return the number as it is; rounding is for printing."


FIT_EXPONENT = Exercise(
    id="7.5",
    reference=cost.fit_exponent,
    results=("the exponent",),
    covers="exact and noisy laws, overheads, falling costs, two points, tiny units, plain lists",
    explain=(_rounded,),
    cases=(
        _power_law("an exact cube, uneven steps", 1, [3, 5, 20, 31, 100], 3.0, 0.7),
        _power_law("noisy, lengths doubling", 2, [64, 128, 256, 512, 1024], 1.6, 3e-6, noise=0.3),
        _power_law("noisy, uneven steps, not in order", 3, [90, 7, 300, 15, 42, 1000], 2.4, 5.0, noise=0.5),
        _power_law("with overhead", 4, [10, 20, 70, 160], 2.0, 1.0, overhead=500.0),
        _power_law("falling costs", 5, [1, 2, 3, 8], -1.0, 12.0, noise=0.1),
        _power_law("two points", 6, [2, 9], 0.7, 4.0),
        _power_law("plain lists", 7, [4, 6, 9, 30], 3.0, 1e-9, noise=0.2, kind=list),
    ),
    mistakes=(
        Mistake("no-logs", edits=(("np.log(sizes)", "np.asarray(sizes)"), ("np.log(costs)", "np.asarray(costs)")),
            message="You fitted a straight line to the numbers themselves: its slope is cost per word. The exponent is the slope after taking logarithms of both."),
        Mistake("sizes-not-logged", old="np.log(sizes)", new="np.asarray(sizes)",
            message="You took the logarithm of the costs only, which gives the rate of an exponential. A power law is straight when both are logarithms."),
        Mistake("costs-not-logged", old="np.log(costs)", new="np.asarray(costs)",
            message="You took the logarithm of the sizes only. A power law is straight when both are logarithms."),
        Mistake("axes-swapped", old="polyfit(x, y, 1)", new="polyfit(y, x, 1)",
            message="You fitted sizes against costs; the exponent is the slope of the costs (y) over the sizes (x)."),
        Mistake("last-two-points", old="polyfit(x, y, 1)", new="polyfit(x[-2:], y[-2:], 1)",
            message="You used the last two points only: then one unlucky measurement decides. The line should be the best for all points."),
        Mistake("first-two-points", old="polyfit(x, y, 1)", new="polyfit(x[:2], y[:2], 1)",
            message="You used the first two points only. The line should be the best for all points."),
        Mistake("first-and-last-point", old="polyfit(x, y, 1)", new="polyfit(x[[0, -1]], y[[0, -1]], 1)",
            message="You joined the first point to the last and ignored all between. The line should be the best for all points."),
        Mistake("first-point-dropped", old="polyfit(x, y, 1)", new="polyfit(x[1:], y[1:], 1) if len(x) > 2 else (0.0, 0.0)",
            message="The first point is missing from your fit. Which points to leave out is for the caller to say; use all that came."),
        Mistake("mean-of-local-exponents", old="np.polyfit(x, y, 1)", new="np.mean(np.diff(y) / np.diff(x)), 0.0",
            message="You took the mean of the slopes from each point to the next. The least-squares line through all points is wanted: it trusts no short step more than it deserves."),
        Mistake("median-of-local-exponents", old="np.polyfit(x, y, 1)", new="np.median(np.diff(y) / np.diff(x)), 0.0",
            message="You took the median of the slopes from each point to the next; the least-squares line through all points is wanted."),
        Mistake("through-the-origin", old="np.polyfit(x, y, 1)", new="x @ y / (x @ x), 0.0",
            message="Your line is forced through the origin, which means c = 1 in cost = c · sizes^p. Let the line have an intercept."),
        Mistake("ratio-of-logs", old="np.polyfit(x, y, 1)", new="np.mean(y / x) if x.all() else np.inf, 0.0",
            message="You averaged log cost / log size, which has the unit of the costs mixed in. The slope of the line is wanted."),
        Mistake("parabola", old="slope, intercept = np.polyfit(x, y, 1)", new="slope, _, intercept = np.polyfit(x, y, 2)",
            message="You fitted a parabola (degree 2); a straight line is of degree 1."),
        Mistake("covariance-over-another-variance", old="np.polyfit(x, y, 1)", new="np.cov(x, y)[0, 1] / np.var(x), 0.0",
            message="`np.cov` divides by n − 1 and `np.var` by n, so your slope is too steep by n / (n − 1). Let both divide by the same."),
        Mistake("correlation", old="np.polyfit(x, y, 1)", new="np.corrcoef(x, y)[0, 1], 0.0",
            message="You returned the correlation, which says how straight the points lie; the slope is wanted.", hides_others=True),
        Mistake("cost-per-word", old="np.log(costs)", new="np.log(np.divide(costs, sizes))",
            message="You divided the costs by the sizes first, so the exponent comes out smaller by 1."),
        Mistake("sizes-in-log10", edits=_other_base("sizes", "log10"),
            message="Your two logarithms have different bases, 10 for the sizes and e for the costs. Any base will do, the same for both."),
        Mistake("costs-in-log10", edits=_other_base("costs", "log10"),
            message="Your two logarithms have different bases, e for the sizes and 10 for the costs. Any base will do, the same for both."),
        Mistake("sizes-in-log2", edits=_other_base("sizes", "log2"),
            message="Your two logarithms have different bases, 2 for the sizes and e for the costs. Any base will do, the same for both."),
        Mistake("costs-in-log2", edits=_other_base("costs", "log2"),
            message="Your two logarithms have different bases, e for the sizes and 2 for the costs. Any base will do, the same for both."),
        Mistake("intercept-returned", old="slope, intercept = np.", new="intercept, slope = np.",
            message="You returned the intercept, log c; `np.polyfit` gives the slope first, and the slope is the exponent."),
        Mistake("constant-returned", edits=(("slope, intercept = np.", "intercept, slope = np."), ("float(slope)", "float(np.exp(slope))")),
            message="You returned the constant c of cost = c · sizes^p; the exponent p is wanted, the slope."),
        Mistake("both-returned", old="float(slope)", new="slope, intercept",
            message="You returned slope and intercept; the slope alone is wanted."),
        Mistake("coefficients-returned", edits=(("slope, intercept = np.", "slope = np."), ("float(slope)", "slope")),
            message="You returned both coefficients, slope and intercept; the slope alone is wanted, a single number."),
        Mistake("exponential-of-slope", old="float(slope)", new="float(np.exp(slope))",
            message="You took the exponential of the slope. The slope is the exponent already; only the intercept would need it, to give c."),
        Mistake("rounded", old="float(slope)", new="float(round(slope))",
            message="You rounded to a whole number. Measured exponents are not whole, and the difference is what lesson 07 is about."),
        Mistake("sign-dropped", old="float(slope)", new="abs(float(slope))",
            message="You dropped the sign: costs that fall have a negative exponent."),
        Mistake("sign-turned", old="float(slope)", new="-float(slope)",
            message="Your sign is the wrong way round: costs that grow have a positive exponent."),
    ),
    indistinguishable=(
        ("costs-not-logged", "sizes-not-logged"),  # no logarithms at all
        # Where the line meets the axis does not depend on the unit of its slope.
        *pairs("intercept-returned", "cost-per-word", "sizes-in-log10", "sizes-in-log2", "exponential-of-slope"),
        *pairs("constant-returned", "cost-per-word", "sizes-in-log10", "sizes-in-log2"),
        # Rounding hides small differences between one wrong line and another.
        *pairs("rounded", "first-two-points", "mean-of-local-exponents", "median-of-local-exponents", "parabola", "sizes-not-logged"),
    ),
    alternatives=(
        "def fit_exponent(sizes, costs):\n    x, y = np.log2(sizes), np.log2(costs)\n    x = x - x.mean()\n    return x @ (y - y.mean()) / (x @ x)",
        "def fit_exponent(sizes, costs):\n    x, y = np.log10(np.array(sizes)), np.log10(np.array(costs))\n    return np.cov(x, y)[0, 1] / np.var(x, ddof=1)",
        "def fit_exponent(sizes, costs):\n    A = np.stack([np.log(sizes), np.ones(len(sizes))], axis=1)\n    return np.linalg.lstsq(A, np.log(costs), rcond=None)[0][0]",
        "def fit_exponent(sizes, costs):\n    return np.polynomial.Polynomial.fit(np.log(sizes), np.log(costs), 1).convert().coef[1]",
    ),
)

EXERCISES = (ATTENTION_FLOPS, PROJECTION_FLOPS, CROSSOVER, SCORE_MATRIX_BYTES, FIT_EXPONENT)
PREDICTIONS = (
    Prediction(
        "bert-share-512", 10, tolerance=0.34,
        why="Scoring and mixing cost 4 · T² · d FLOPs, the projections 8 · T · d² and the feed-forward part 16 · T · d². At T = 512 and d = 768 the first is a tenth of the sum; within the attention sublayer alone it would be a quarter.",
    ),
    Prediction(
        "book-gigabytes", 480,
        why="12 heads · 100,000² pairs · 4 bytes = 480 · 10⁹ bytes, in every layer.",
    ),
    Prediction(
        "exponent-of-all", "smaller", choices=("smaller", "the same", "larger"),
        why="Short calls are mostly overhead, which hardly grows with the length. So the points on the left lie too high, and they make the line flatter.",
    ),
    Prediction(
        "deaf-layer", "CNN", choices=("RNN", "CNN", "attention"),
        why="One convolution of width 3 sees the last three words and nothing else, so the gradient of all other words is exactly zero. The influence in the RNN becomes very small, but not zero.",
    ),
    Prediction(
        "fused-memory", 2,
        why="The fused kernel keeps its output and one number per row, and never a T × T matrix: twice the length needs twice the memory. Its time still grows by a factor of four, because every pair is still compared.",
    ),
)
