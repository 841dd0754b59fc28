"""Lesson 08: tiles and their merge, windows, linear attention, a cache, groups of heads, and bytes."""

import functools

import torch

from ... import cache, groups, linear, tiled, window
from ...measure import peak_bytes
from ...multi_head import MultiHeadAttention
from ..exercise import AnswerProblem, Case, Exercise, Finding, Mistake, Prediction, pairs
from ..modules import filled
from .common import alone, keeps_names, nearly_right


def _normal(seed, *shapes, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype) for shape in shapes)


# 8.1 Merge ------------------------------------------------------------------------------------------------------------


def _merge_all(candidate, *tensors):
    """The parts (maximum, total, out, maximum, total, out, ...) merged one after the other."""
    parts = [tensors[i : i + 3] for i in range(0, len(tensors), 3)]
    return functools.reduce(candidate, parts)


def _merge_case(name, seed, sizes, lead=(), T_q=5, d_v=3, scale=1.0, shift=0.0, hidden=(), dtype=torch.float64):
    """sizes: keys in each part. hidden: (part, query) pairs that see nothing there."""

    def make():
        scores, V = _normal(seed, (*lead, T_q, sum(sizes)), (*lead, sum(sizes), d_v))
        scores = scale * scores + shift
        parts = []
        for n, (s, v) in enumerate(zip(scores.split(sizes, dim=-1), V.split(sizes, dim=-2), strict=True)):
            maximum, total, out = (x.clone() for x in tiled.state_of(s, v))
            for part, query in hidden:
                if part == n:
                    maximum[..., query, :], total[..., query, :], out[..., query, :] = -torch.inf, 0.0, 0.0
            parts += [maximum, total, out]
        return tuple(x.to(dtype) for x in parts)

    return Case(name, make, {"T_q": T_q, "d_v": d_v})


def _on_paper():
    """The lesson's own row: the scores of "are", in two parts."""
    scores = torch.tensor([[0.0, 3, 0, 0, 2, 1, 0]])
    values = torch.tensor([[0.0], [1], [0], [0], [-1], [1], [0]])
    return (*tiled.state_of(scores[:, :4], values[:4]), *tiled.state_of(scores[:, 4:], values[4:]))


_RESCALE = "Each part measured its numbers against its own maximum. Once the two share one maximum, {what} must shrink by exp(own maximum − common maximum) first."
_NOT_DIVIDED_YET = "`out` is a sum, not yet divided by the total, so that parts can simply be added once they have one measure; the division comes after the last part."

_ADDED_UP = "They are sums over keys, and those of two parts are added up, each times exp(own maximum − common maximum). Nothing is divided here."
_SHARES = f"You took a softmax of the two maxima and mixed the parts by these shares, so total and sum are too small by the same factor. {_ADDED_UP}"
_FACTOR = "factor_2 = torch.exp(maximum_2 - anchor)"
_SHARED = "\n    both = factor_1 + factor_2\n    factor_1, factor_2 = (factor_1 / both){0}, (factor_2 / both){0}"

MERGE = Exercise(
    id="8.1",
    reference=tiled.merge,
    results=("the maximum", "the total", "the sum of values"),
    covers="two to four parts, parts with nothing visible on either side and on both, a batch with heads, scores × 60, scores far below zero, float32",
    run=_merge_all,
    max_mistakes=2,
    explain=(nearly_right,),
    words={"factor_1": "the factor of the first part", "factor_2": "the factor of the second part", "maximum": "the common maximum"},
    cases=(
        Case("the two parts of the lesson's row", _on_paper, {"T_q": 1, "d_v": 1}),
        _merge_case("two parts", 1, [6, 4]),
        _merge_case("four parts", 2, [4, 1, 7, 2]),
        _merge_case("three parts of a batch with heads", 3, [4, 6, 9], lead=(2, 7), T_q=5, d_v=3),
        _merge_case("three parts, scores × 60", 4, [6, 4, 8], scale=60.0),
        _merge_case("scores far below zero", 5, [6, 4], shift=-900.0),
        _merge_case("nothing visible to some queries in the first part", 6, [4, 6], hidden=[(0, 0), (0, 3)]),
        _merge_case("nothing visible to some queries in the second part", 7, [4, 6], hidden=[(1, 1), (1, 4)]),
        _merge_case("nothing visible to one query in either part", 8, [4, 6], hidden=[(0, 2), (1, 2), (1, 0)]),
        _merge_case("float32", 9, [6, 4, 8], dtype=torch.float32),
    ),
    mistakes=(
        Mistake("out-not-rescaled", old="out_1 * factor_1 + out_2 * factor_2", new="out_1 + out_2",
            message=_RESCALE.replace("{what}", "each sum of values")),
        Mistake("total-not-rescaled", old="total_1 * factor_1 + total_2 * factor_2", new="total_1 + total_2",
            message=_RESCALE.replace("{what}", "each total")),
        Mistake("first-out-not-rescaled", old="out_1 * factor_1", new="out_1",
            message="The first part's sum of values was not rescaled, only the second's. Where the second part brings a larger maximum, the old sum must shrink, as the old total does."),
        Mistake("first-total-not-rescaled", old="total_1 * factor_1", new="total_1",
            message="The first part's total was not rescaled, only the second's. Where the second part brings a larger maximum, the old total must shrink too."),
        Mistake("second-out-not-rescaled", old="out_2 * factor_2", new="out_2",
            message="The second part's sum of values was not rescaled, only the first's. Where the first part has the larger maximum, the new sum must shrink."),
        Mistake("second-total-not-rescaled", old="total_2 * factor_2", new="total_2",
            message="The second part's total was not rescaled, only the first's. Where the first part has the larger maximum, the new total must shrink."),
        alone("factors-inverted",
            "You multiply by exp(common maximum − own maximum), which is at least 1. It is the part with the smaller maximum that must shrink: own maximum − common maximum, never above 0.",
            ("torch.exp(maximum_1 - anchor)", "torch.exp(anchor - maximum_1)"), ("torch.exp(maximum_2 - anchor)", "torch.exp(anchor - maximum_2)")),
        alone("first-factor-inverted",
            "You divide the first part by its correction factor, or multiply by exp(common maximum − own maximum): it must shrink, so the exponent is own maximum − common maximum.",
            ("torch.exp(maximum_1 - anchor)", "torch.exp(anchor - maximum_1)")),
        alone("factors-exchanged", "The two factors are exchanged: each part has its own maximum, and its own factor.",
            ("factor_1 = torch.exp(maximum_1", "factor_1 = torch.exp(maximum_2"), ("factor_2 = torch.exp(maximum_2", "factor_2 = torch.exp(maximum_1")),
        alone("factors-without-exp", "The totals and sums hold exponentials, so the correction is exp of a difference of maxima, not the difference itself.",
            ("torch.exp(maximum_1 - anchor)", "(maximum_1 - anchor)"), ("torch.exp(maximum_2 - anchor)", "(maximum_2 - anchor)")),
        alone("nan-of-nothing", "A query that has seen nothing has maximum −∞ in both parts, and −∞ − (−∞) is NaN. Treat that case, so that nothing merged with nothing is nothing.",
            ("maximum.masked_fill(maximum == -torch.inf, 0.0)", "maximum")),
        Mistake("one-maximum-for-all-queries", old="torch.maximum(maximum_1, maximum_2)", new="(maximum_1 if maximum_1.max() >= maximum_2.max() else maximum_2)", together=2,
            message="One comparison decides for all queries which part's maximum is kept. Each query has its own: take the larger one entry by entry."),
        alone("one-maximum-for-all-queries-nan", "One comparison decides for all queries which part's maximum is kept. Each query has its own: take the larger one entry by entry. And where a query has seen nothing in either part, −∞ − (−∞) is NaN.",
            ("torch.maximum(maximum_1, maximum_2)", "(maximum_1 if maximum_1.max() >= maximum_2.max() else maximum_2)"), ("maximum.masked_fill(maximum == -torch.inf, 0.0)", "maximum")),
        alone("minimum", "You took the smaller of the two maxima. Then the other part's factor is above 1, and for large scores it overflows: everything is measured against the larger one.",
            ("torch.maximum(maximum_1, maximum_2)", "torch.minimum(maximum_1, maximum_2)")),
        alone("first-as-anchor", "You measure both parts against the first part's maximum. Then the second part's factor is above 1 wherever its scores are larger, and the total does not belong to the maximum you return: measure against the larger of the two.",
            ("anchor = maximum.masked_fill(maximum == -torch.inf, 0.0)", "anchor = maximum_1")),
        alone("logarithm-of-the-sum", "You return the logarithm of the sum of all exponentials in place of the maximum, and measure everything against it. The weights come out right, and the state is another: it holds the largest score.",
            ("torch.maximum(maximum_1, maximum_2)", "torch.logaddexp(maximum_1 + total_1.log(), maximum_2 + total_2.log())")),
        alone("starts-at-zero", "Your common maximum is never below 0. Where all scores are far below zero, every exponential rounds to 0 and the row is lost: nothing seen means −∞, not 0.",
            ("torch.maximum(maximum_1, maximum_2)", "torch.maximum(maximum_1, maximum_2).clamp(min=0.0)")),
        alone("finite-nothing", "You put a finite number such as −1e9 or −1e4 in the place of −∞ in the maximum you return. Let it stay −∞ where nothing was seen.",
            ("    return maximum,", "    maximum = maximum.clamp(min=-1e9)\n    return maximum,")),
        alone("first-maximum-kept", "You return the first part's maximum. The next merge needs the maximum of both.",
            ("return maximum, total", "return maximum_1, total")),
        alone("second-maximum-kept", "You return the second part's maximum. The next merge needs the maximum of both.",
            ("return maximum, total", "return maximum_2, total")),
        alone("maxima-added", "You added the two maxima; wanted is the larger of the two, for each query.",
            ("torch.maximum(maximum_1, maximum_2)", "maximum_1 + maximum_2")),
        alone("one-maximum-for-all", "You took one maximum for all queries. Each query has a maximum of its own, and one with much smaller scores would round to nothing beside the others.",
            ("torch.maximum(maximum_1, maximum_2)", "torch.maximum(maximum_1, maximum_2).amax().expand_as(maximum_1)")),
        alone("divided-already", _NOT_DIVIDED_YET, ("return maximum, total, out", "return maximum, total, out / total")),
        alone("parts-divided", _NOT_DIVIDED_YET, ("out_1 * factor_1 + out_2 * factor_2", "out_1 / total_1 * factor_1 + out_2 / total_2 * factor_2")),
        alone("weighed-by-totals", "You weighed each sum of values by its total, as one would two averages. They are sums already: " + _NOT_DIVIDED_YET[0].lower() + _NOT_DIVIDED_YET[1:],
            ("out_1 * factor_1 + out_2 * factor_2", "(out_1 * total_1 * factor_1 + out_2 * total_2 * factor_2) / total")),
        alone("halved", "You took the mean of the two parts. Sums of exponentials add up; dividing comes at the very end, by the total.",
            ("total_1 * factor_1 + total_2 * factor_2", "(total_1 * factor_1 + total_2 * factor_2) / 2"), ("out_1 * factor_1 + out_2 * factor_2", "(out_1 * factor_1 + out_2 * factor_2) / 2")),
        alone("concatenated", "You laid the two parts side by side. They belong to the same queries, so they are added.",
            ("out_1 * factor_1 + out_2 * factor_2", "torch.cat([out_1 * factor_1, out_2 * factor_2], dim=-2)")),
        alone("shares-of-maxima", _SHARES, (_FACTOR, _FACTOR + _SHARED.format(".nan_to_num(0.0)"))),
        alone("shares-of-maxima-nan", f"Where a query has seen nothing, your softmax of the two maxima is NaN, and elsewhere total and sum are too small by the same factor. {_ADDED_UP}", (_FACTOR, _FACTOR + _SHARED.format(""))),
        alone("out-in-shares-of-maxima", f"The totals are right, and the sums of values are mixed by shares that sum to 1. {_ADDED_UP}",
            ("out_1 * factor_1 + out_2 * factor_2", "((out_1 * factor_1 + out_2 * factor_2) / (factor_1 + factor_2)).nan_to_num(0.0)")),
        alone("total-in-shares-of-maxima", f"The sums of values are right, and the totals are mixed by shares that sum to 1. {_ADDED_UP}",
            ("total_1 * factor_1 + total_2 * factor_2", "((total_1 * factor_1 + total_2 * factor_2) / (factor_1 + factor_2)).nan_to_num(0.0)")),
        alone("shares-of-totals", f"You mixed the sums of values by each part's share of the total. {_ADDED_UP}",
            ("out_1 * factor_1 + out_2 * factor_2", "((out_1 * total_1 + out_2 * total_2) / (total_1 + total_2)).nan_to_num(0.0)")),
        alone("another-order", "The triple comes back in another order: the maximum first, then the total, then the sum of values.",
            ("return maximum, total, out", "return maximum, out, total")),
        alone("second-only", "You return the second part alone, rescaled. What was seen before must be kept.",
            ("total_1 * factor_1 + total_2 * factor_2", "total_2 * factor_2"), ("out_1 * factor_1 + out_2 * factor_2", "out_2 * factor_2")),
    ),
    indistinguishable=(
        # Both together are the mistake of rescaling neither.
        ("first-out-not-rescaled", "second-out-not-rescaled"),
        ("first-total-not-rescaled", "second-total-not-rescaled"),
    ),
    alternatives=(
        "def merge(first, second):\n    m = torch.where(first[0] > second[0], first[0], second[0])\n"
        "    a, b = (torch.nan_to_num(torch.exp(part[0] - m)) for part in (first, second))\n"
        "    return m, a * first[1] + b * second[1], a * first[2] + b * second[2]",
        "def merge(first, second):\n    m1, l1, o1 = first\n    m2, l2, o2 = second\n    m = torch.cat([m1, m2], dim=-1).amax(dim=-1, keepdim=True)\n"
        "    a = torch.where(m1.isinf(), torch.zeros_like(m1), (m1 - m).exp())\n    b = torch.where(m2.isinf(), torch.zeros_like(m2), (m2 - m).exp())\n"
        "    return (m, l1 * a + l2 * b, o1 * a + o2 * b)",
    ),
)

# 8.2 Tiles ------------------------------------------------------------------------------------------------------------


def _tiled_case(name, seed, lead=(), T_q=13, T_k=None, d_k=4, d_v=2, tile=5, causal=False, shape=None, dtype=torch.float64):
    """shape: what to do with queries and keys, a function of both, for scores of an unusual size."""
    T_k = T_q if T_k is None else T_k

    def make():
        Q, K, V = _normal(seed, (*lead, T_q, d_k), (*lead, T_k, d_k), (*lead, T_k, d_v))
        if shape:
            Q, K = shape(Q, K)
        return Q.to(dtype), K.to(dtype), V.to(dtype), tile, causal

    return Case(name, make, {"T_q": T_q, "T_k": T_k, "d_k": d_k, "d_v": d_v, "tile": tile, "last tile": T_k % tile or tile})


def _far_below(Q, K):
    return 60 * Q.abs() + 30, -60 * K.abs() - 30


def _growing(Q, K):
    return 4 * Q.abs(), 4 * K.abs() * torch.arange(K.shape[-2])[:, None] / K.shape[-2]


def _large(Q, K):
    return 60 * Q.abs(), 60 * K.abs()


def _makes_no_matrix(candidate):
    """Values are right: is the memory too?"""
    T, d = 256, 4
    Q, K, V = _normal(0, (T, d), (T, d), (T, d), dtype=torch.float32)
    peak, matrix = peak_bytes(candidate, Q, K, V, 32), 4 * T * T
    if peak >= matrix:
        return Finding(
            "whole-matrix",
            f"The numbers are right, and the memory is not: for {T} words in tiles of 32, {peak / 1e6:.2f} MB were alive at once, "
            f"where one matrix of all scores takes {matrix / 1e6:.2f} MB. Look at one tile of scores at a time, and keep only the states.",
        )


def _whole_rows(candidate):
    """A remark for an answer that cuts the queries only."""
    Q, K, V = _normal(0, (32, 4), (2048, 4), (2048, 4), dtype=torch.float32)
    if peak_bytes(candidate, Q, K, V, 32) >= 4 * 32 * 2048:
        return "Yours makes all scores of a tile of queries at once. That is linear in T too, and needs no merge; it stops fitting when a whole row of scores no longer does."


_NO_TRACE = "which needs a merge that knows the maximum"
_ONLINE = """def tiled_attention(Q, K, V, tile, causal=False):
    T_q, T_k = Q.shape[-2], K.shape[-2]
    rows = []
    for i in range(0, T_q, tile):
        q = Q[..., i : i + tile, :] * (1 / math.sqrt(Q.shape[-1]))
        m = torch.full_like(q[..., :1], -torch.inf)
        l = torch.zeros_like(m)
        acc = torch.zeros(*q.shape[:-1], V.shape[-1], dtype=Q.dtype)
        for j in range(0, T_k, tile):
            s = q @ K[..., j : j + tile, :].mT
            if causal:
                seen = torch.arange(T_q)[i : i + tile, None] >= torch.arange(T_k)[j : j + tile]
                s = s.masked_fill(~seen, -torch.inf)
            m_new = torch.maximum(m, s.amax(dim=-1, keepdim=True))
            safe = m_new.masked_fill(m_new.isinf(), 0.0)
            p = torch.exp(s - safe)
            fix = torch.exp(m - safe)
            l = l * fix + p.sum(dim=-1, keepdim=True)
            acc = acc * fix + p @ V[..., j : j + tile, :]
            m = m_new
        rows.append(acc / l)
    return torch.cat(rows, dim=-2)
"""


def _online(id, message, *edits):
    """A mistake in a solution that writes the merge out inside the loop."""
    source = _ONLINE
    for old, new in edits:
        if source.count(old) != 1:
            raise ValueError(f"mistake {id!r}: {old!r} occurs {source.count(old)} times, not once")
        source = source.replace(old, new)
    return Mistake(id, message, source=source, combines=True)


TILES = Exercise(
    id="8.2",
    reference=tiled.tiled_attention,
    results=("out",),
    covers="lengths that are no multiple of the tile, tiles of one and of everything, causal and not, more keys than queries, a batch with heads, scores far below zero, float32, and memory",
    max_mistakes=2,
    explain=(nearly_right,),
    properties=(keeps_names("tile", "causal"), _makes_no_matrix),
    notes=(_whole_rows,),
    words={"scores": "the scores of one tile", "state": "the state", "q": "the scaled queries"},
    cases=(
        _tiled_case("13 words in tiles of 5", 1),
        _tiled_case("13 words in tiles of 5, causal", 2, causal=True),
        _tiled_case("12 words in tiles of 4, causal", 3, T_q=12, tile=4, d_k=7, d_v=2, causal=True),
        _tiled_case("5 queries, 11 keys, tiles of 4", 4, T_q=5, T_k=11, d_k=8, d_v=6, tile=4),
        _tiled_case("17 queries, 9 keys, tiles of 5", 5, T_q=17, T_k=9, d_k=8, d_v=6, tile=5),
        _tiled_case("a batch with heads, causal", 6, lead=(2, 5), T_q=11, d_k=9, d_v=7, tile=4, causal=True),
        _tiled_case("tiles of one word", 7, T_q=7, d_v=6, tile=1, causal=True),
        _tiled_case("one tile for everything", 8, T_q=7, d_v=6, tile=16, causal=True),
        _tiled_case("scores far below zero", 9, tile=4, shape=_far_below),
        _tiled_case("scores far below zero, causal", 10, tile=4, causal=True, shape=_far_below),
        _tiled_case("scores that grow towards the last keys", 11, tile=4, shape=_growing),
        _tiled_case("large scores", 13, tile=4, shape=_large),
        _tiled_case("float32", 12, causal=True, dtype=torch.float32),
    ),
    mistakes=(
        Mistake("not-scaled", old="1 / math.sqrt(Q.shape[-1])", new="1.0",
            message="The scores are not scaled: divide by √d_k = {sqrt_d_k}, as in lesson 02."),
        Mistake("scaled-by-d_k", old="math.sqrt(Q.shape[-1])", new="Q.shape[-1]",
            message="You divided the scores by d_k = {d_k}, not by √d_k = {sqrt_d_k}."),
        Mistake("last-keys-lost", old="range(0, T_k, tile)", new="range(0, T_k // tile * tile, tile)",
            message="The last, shorter tile of keys is left out. Let the loop start a tile at every multiple of the tile below T_k; a slice may end early by itself."),
        alone("last-keys-lost-if-not-alone",
            "The last, shorter tile of keys is left out. Let the loop start a tile at every multiple of the tile below T_k; a slice may end early by itself.",
            ("range(0, T_k, tile)", "range(0, max(T_k // tile * tile, 1), tile)")),
        Mistake("last-tiles-lost", edits=(("range(0, T_q, tile)", "range(0, T_q // tile * tile, tile)"), ("range(0, T_k, tile)", "range(0, T_k // tile * tile, tile)")), together=2,
            message="The number of tiles is rounded down, so the last, shorter tile is lost: its queries get no output, and its keys are never seen. Start a tile at every multiple of the tile below the length; a slice may end early by itself."),
        Mistake("diagonal-unmasked", old="if causal and j == i:", new="if False:",
            message="Nothing is hidden in the tiles on the diagonal, and there a query still meets keys that come after it. (`masked_fill` returns a new tensor: keep what it returns.)"),
        Mistake("last-tile-wins", old="state = merge(state, part)", new="state = part", hides_others=True,
            message="Only the last tile of keys is left in your output: each tile must be merged into the state of those before it."),
        Mistake("not-divided", old="rows.append(out / total)", new="rows.append(out)",
            message="The sum of values was never divided by the total, so your weights do not sum to 1."),
        alone("divided-in-every-tile", "You divided by the total at every tile of keys, and the next tile is merged with what is divided already. A state holds the plain sum: divide once, after the loop over the keys.",
            ("state = merge(state, part)", "state = merge(state, part)\n            state = state[0], state[1], state[2] / state[1]"), ("rows.append(out / total)", "rows.append(out)")),
        alone("divided-in-every-tile-and-after", "You divided by the total at every tile of keys, and the next tile is merged with what is divided already. A state holds the plain sum: divide once, after the loop over the keys.",
            ("state = merge(state, part)", "state = merge(state, part)\n            state = state[0], state[1], state[2] / state[1]")),
        alone("scaled-by-d_v", "You scaled by √d_v; scores are sums over d_k = {d_k} products.", ("math.sqrt(Q.shape[-1])", "math.sqrt(V.shape[-1])")),
        alone("scale-compounds", "The scale is applied again at every tile of keys: the first tile is scaled once, the second twice. Apply it once, before the loop over the keys.",
            ("q = Q[..., i : i + tile, :] * scale", "q = Q[..., i : i + tile, :]"), ("            scores = q @", "            q = q * scale\n            scores = q @")),
        alone("last-queries-lost", "The last, shorter tile of queries is left out: your output has fewer rows than there are queries.",
            ("range(0, T_q, tile)", "range(0, T_q - tile + 1, tile)")),
        alone("diagonal-skipped", "You skip the tiles on the diagonal as well. They hold each word's own key, and the first words see nothing else.",
            ("if causal and j > i:", "if causal and j >= i:")),
        alone("triangle-in-every-tile", "You laid the triangle over every tile. Below the diagonal a tile lies wholly in the past and needs no mask; the triangle belongs where j = i.",
            ("if causal and j == i:", "if causal:"), ("~causal_mask(scores.shape[-1])", "~torch.ones(scores.shape[-2:], dtype=torch.bool).tril()")),
        alone("square-triangle-in-every-tile", "You laid the triangle over every tile. Below the diagonal a tile lies wholly in the past and needs no mask; the triangle belongs where j = i.",
            ("if causal and j == i:", "if causal:")),
        alone("future-tiles-computed", "Tiles above the diagonal lie in the future, and yours are computed and merged without a mask: words see what comes after.",
            ("            if causal and j > i:\n                break\n", "")),
        alone("causal-ignored", "`causal=True` changes nothing in yours: later words must not be seen.",
            ("            if causal and j > i:\n                break\n", ""), ("if causal and j == i:", "if False:")),
        alone("future-instead-of-past", "Yours sees the future and not the past: a tile is skipped if its keys come after its queries, j > i.",
            ("            if causal and j > i:\n                break\n", "            if causal and j < i:\n                continue\n"), ("~causal_mask(scores.shape[-1])", "~causal_mask(scores.shape[-1]).T")),
        alone("triangle-upside-down", "The triangle on the diagonal is upside down: there, each query sees only what comes after it.",
            ("~causal_mask(scores.shape[-1])", "~causal_mask(scores.shape[-1]).T")),
        alone("triangle-of-a-full-tile", "Your triangle has the size of a full tile, {tile} × {tile}. The last tile may be smaller: make the triangle as large as the scores it is laid on.",
            ("~causal_mask(scores.shape[-1])", "~causal_mask(tile)")),
        alone("mask-inverted", "On the diagonal you hid what may be seen: `causal_mask` is True where a query may look.",
            ("masked_fill(~causal_mask", "masked_fill(causal_mask")),
        alone("hidden-score-zero", "A hidden score of 0 is not nothing: exp(0) = 1, so hidden keys get weight. Write −∞.",
            ("(scores.shape[-1]), -torch.inf)", "(scores.shape[-1]), 0.0)")),
        alone("big-negative-number", "−1e9, −1e4 or the like is an ordinary number beside scores far below zero, and hidden keys get weight: write −∞.",
            ("(scores.shape[-1]), -torch.inf)", "(scores.shape[-1]), -1e3)")),
        alone("state-not-reset", "Each tile of queries needs a state of its own: yours goes on with the state of the queries before.",
            ("        state = nothing_seen(q, V)\n", "        state = nothing_seen(q, V) if i == 0 else state\n")),
        alone("only-own-tile", "Each query sees only the keys of its own tile. It needs all tiles of keys, one after the other.",
            ("            if causal and j > i:", "            if j != i:\n                continue\n            if causal and j > i:")),
        alone("keys-as-values", "You mixed the keys and not the values: the last product is with V.", ("state_of(scores, V[", "state_of(scores, K[")),
        alone("first-values", "The values of the first tile are used for every tile: their slice must move with the keys'.", ("V[..., j : j + tile, :]", "V[..., : scores.shape[-1], :]")),
        alone("values-of-the-queries", "The values are cut with the queries' index i; they belong to the keys, j.", ("V[..., j : j + tile, :]", "V[..., i : i + tile, :]")),
        alone("wrong-axis-joined", "You joined the tiles of queries along another axis than the words: dim=-2.", ("torch.cat(rows, dim=-2)", "torch.cat(rows, dim=-1)")),
        alone("first-axis-joined", "You joined the tiles along the first axis. With a batch that is the batch: words are at dim=-2.", ("torch.cat(rows, dim=-2)", "torch.cat(rows, dim=0)")),
        Mistake("softmax-in-each-tile",
            source="def tiled_attention(Q, K, V, tile, causal=False):\n    rows = []\n    for i in range(0, Q.shape[-2], tile):\n        out = 0.0\n"
            "        for j in range(0, K.shape[-2], tile):\n            if causal and j > i:\n                break\n"
            "            scores = Q[..., i : i + tile, :] @ K[..., j : j + tile, :].mT / math.sqrt(Q.shape[-1])\n            if causal and j == i:\n"
            "                scores = scores.masked_fill(~causal_mask(scores.shape[-1]), -torch.inf)\n            out = out + scores.softmax(dim=-1) @ V[..., j : j + tile, :]\n"
            "        rows.append(out)\n    return torch.cat(rows, dim=-2)",
            message="Each tile has a softmax of its own, and the results are added: the weights of a query then sum to the number of tiles. Carry maximum, total and sum from tile to tile, and divide once."),
        Mistake("softmax-in-each-tile-averaged",
            source="def tiled_attention(Q, K, V, tile, causal=False):\n    rows = []\n    for i in range(0, Q.shape[-2], tile):\n        out, n = 0.0, 0\n"
            "        for j in range(0, K.shape[-2], tile):\n            if causal and j > i:\n                break\n"
            "            scores = Q[..., i : i + tile, :] @ K[..., j : j + tile, :].mT / math.sqrt(Q.shape[-1])\n            if causal and j == i:\n"
            "                scores = scores.masked_fill(~causal_mask(scores.shape[-1]), -torch.inf)\n            out = out + scores.softmax(dim=-1) @ V[..., j : j + tile, :]\n            n += 1\n"
            "        rows.append(out / n)\n    return torch.cat(rows, dim=-2)",
            message="Each tile has a softmax of its own, and the results are averaged: a tile without anything of interest counts as much as any other. A tile counts by its total, which the merge carries along."),
        _online("hidden-tile-nan", "A tile in which a query sees nothing has the maximum −∞ there, and −∞ − (−∞) is NaN. Skip the tiles that lie wholly in the future, or treat that case.",
            ("safe = m_new.masked_fill(m_new.isinf(), 0.0)", "safe = s.amax(dim=-1, keepdim=True)"), ("p = torch.exp(s - safe)", "p = torch.exp(s - safe)\n            safe = m_new"), ("p.sum(dim=-1, keepdim=True)", "p.sum(dim=-1, keepdim=True) * torch.exp(s.amax(dim=-1, keepdim=True) - m_new)"),
            ("p @ V[..., j : j + tile, :]", "p @ V[..., j : j + tile, :] * torch.exp(s.amax(dim=-1, keepdim=True) - m_new)")),
        _online("out-not-rescaled", "When a later tile raises the maximum, the sum of values so far must shrink by exp(old maximum − new maximum), as the total does. Yours is added to as it is.",
            ("acc = acc * fix + p", "acc = acc + p")),
        _online("total-not-rescaled", "When a later tile raises the maximum, the total so far must shrink by exp(old maximum − new maximum), as the sum of values does. Yours is added to as it is.",
            ("l = l * fix + p", "l = l + p")),
        _online("nothing-rescaled", "When a later tile raises the maximum, both the total and the sum of values so far must shrink by exp(old maximum − new maximum). Yours are added to as they are.",
            ("acc = acc * fix + p", "acc = acc + p"), ("l = l * fix + p", "l = l + p")),
        _online("correction-inverted", "You divide the sum of values so far by the correction factor exp(old maximum − new maximum), which is at most 1, so it grows. It must shrink: multiply.",
            ("acc = acc * fix + p", "acc = torch.where(fix > 0, acc / fix.clamp(min=1e-300), 0.0) + p")),
        _online("starts-at-zero", "Your running maximum starts at 0. Where all scores are far below zero it stays there, and every exponential rounds to 0: start at −∞.",
            ("torch.full_like(q[..., :1], -torch.inf)", "torch.zeros_like(q[..., :1])"), ("acc / l", "acc / l.clamp(min=1e-300)")),
        _online("starts-at-zero-nan", "Your running maximum starts at 0. Where all scores are far below zero it stays there, every exponential rounds to 0, and 0/0 is NaN: start at −∞.",
            ("torch.full_like(q[..., :1], -torch.inf)", "torch.zeros_like(q[..., :1])")),
        _online("no-maximum", "You exponentiate scores as they are. Far below zero every exponential rounds to 0, and large scores overflow: subtract the largest score so far, and rescale when it grows.",
            ("m_new = torch.maximum(m, s.amax(dim=-1, keepdim=True))", "m_new = torch.zeros_like(m)"), ("fix = torch.exp(m - safe)", "fix = 1.0")),
        _online("maximum-not-kept", "The running maximum is never moved on, so every tile is corrected against the start and all tiles but the last are lost.",
            ("            m = m_new\n", "")),
    ),
    alternatives=(
        _ONLINE,
        "def tiled_attention(Q, K, V, tile, causal=False):\n    outs = []\n    for i in range(0, Q.shape[-2], tile):\n        q = Q[..., i:i + tile, :]\n"
        "        n = min(i + tile, K.shape[-2]) if causal else K.shape[-2]\n        s = q @ K[..., :n, :].transpose(-2, -1) * Q.shape[-1] ** -0.5\n"
        "        if causal:\n            s = s.masked_fill(torch.arange(n) > torch.arange(i, i + q.shape[-2])[:, None], float('-inf'))\n"
        "        outs.append(torch.softmax(s, -1) @ V[..., :n, :])\n    return torch.cat(outs, -2)",
        "def tiled_attention(Q, K, V, tile, causal=False):\n    out = Q.new_empty(*Q.shape[:-1], V.shape[-1])\n    for i in range(0, Q.shape[-2], tile):\n"
        "        q = Q[..., i : i + tile, :] / Q.shape[-1] ** 0.5\n        state = None\n        for j in reversed(range(0, i + 1 if causal else K.shape[-2], tile)):\n"
        "            s = q @ K[..., j : j + tile, :].mT\n            if causal and i == j:\n                s = s + torch.full(s.shape[-2:], -torch.inf, dtype=s.dtype).triu(1)\n"
        "            part = state_of(s, V[..., j : j + tile, :])\n            state = merge(part, state) if state else part\n"
        "        out[..., i : i + tile, :] = state[2] / state[1]\n    return out",
    ),
)

# 8.3 Window -----------------------------------------------------------------------------------------------------------


def _window_case(T, window):
    return Case(f"{T} words, a window of {window}", lambda: (T, window), {"T": T, "window": window})


_NEAR = "return not_ahead & near"
_FROM_THE_END = "For the first words the oldest place of the window, i − window + 1, is negative, and in a slice Python counts that from the end: these words see nothing, or too little. Nothing comes before place 0, so let no bound be below it."

_INDEX = "For the first words the place to mark is negative, and Python counts such an index from the end, so the first words see the last ones (or the index is out of range). Go back no further than place 0."


def _rows(line):
    """Text that fills a mask row by row."""
    return f"mask = torch.zeros(T, T, dtype=torch.bool)\n    for i in range(T):\n        {line}\n    return mask"


WINDOW = Exercise(
    id="8.3",
    reference=window.window_mask,
    results=("the mask",),
    covers="windows narrower and wider than the text, a window of one word, one word",
    max_mistakes=2,
    properties=(keeps_names("T", "window"),),
    words={"back": "the distances back"},
    cases=(_window_case(7, 3), _window_case(6, 1), _window_case(9, 4), _window_case(5, 8), _window_case(32, 8), _window_case(1, 2)),
    mistakes=(
        Mistake("one-too-wide", old="back < window", new="back <= window",
            message="Each word sees {window} words before it and itself, one too many: the window counts the word's own place."),
        Mistake("one-too-narrow", old="back < window", new="back < window - 1",
            message="Each word sees one place too few: a window of {window} is the word itself and {window} − 1 places before it."),
        Mistake("sees-future", old="not_ahead & near", new="(back.abs() < window)",
            message="Your window opens to both sides, so words see what comes after them. This one looks back only."),
        alone("half-a-window-on-either-side", "Your window lies around each word, half of it behind and half ahead. This one looks back only: it ends with the word itself.",
            ("not_ahead & near", "(back.abs() <= window // 2)")),
        alone("half-a-window-on-either-side-and-less", "Your window lies around each word, half of it behind and half ahead. This one looks back only: it ends with the word itself.",
            ("not_ahead & near", "(2 * back.abs() < window)")),
        Mistake("or-instead-of-and", old="not_ahead & near", new="not_ahead | near",
            message="You joined the two conditions with OR. Both must hold for a key that may be seen: not ahead AND near enough."),
        Mistake("no-window", old="not_ahead & near", new="not_ahead",
            message="This is the causal mask: every word sees the whole past. Keys further back than the window must be hidden."),
        alone("or-with-both-sides", "You joined the two conditions with OR. Both must hold for a key that may be seen: not ahead AND near enough.",
            ("not_ahead & near", "not_ahead | (back.abs() < window)")),
        alone("own-place-hidden", "Words do not see themselves. A distance of 0 belongs to the window.", ("back >= 0", "back > 0")),
        alone("transposed", "Your mask is transposed: queries are the rows, so row i is True at and before column i.", ("return not_ahead & near", "return (not_ahead & near).T")),
        alone("inverted", "Your mask is True where a key is hidden. In this course True means *may attend*.", ("return not_ahead & near", "return ~(not_ahead & near)")),
        alone("far-instead-of-near", "You allow what lies outside the window, and hide what lies in it.", ("back < window", "back >= window")),
        alone("not-bool", "The mask should hold True and False (dtype torch.bool), not numbers.", ("return not_ahead & near", "return (not_ahead & near).float()")),
        alone("blocks", "You cut the text into blocks of {window} words. A window moves along: it ends at each word's own place.",
            ("not_ahead & near", "not_ahead & (positions[:, None] // window == positions // window)")),
        alone("first-places", "Every word sees the first {window} places. The window ends at the word's own place.", ("near = back < window", "near = positions < window")),
        alone("additive", "This is a mask to add to the scores, 0 and −∞. Wanted is a boolean one, True = may attend.",
            ("return not_ahead & near", "return torch.zeros(T, T).masked_fill(~(not_ahead & near), -torch.inf)")),
        alone("negative-start", _FROM_THE_END, (_NEAR, _rows("mask[i, i - window + 1 : i + 1] = True"))),
        alone("negative-start-own-place-left-out", f"{_FROM_THE_END} And the window ends with the word's own place, so the stop is i + 1.", (_NEAR, _rows("mask[i, i - window : i] = True"))),
        alone("negative-start-one-too-wide", f"{_FROM_THE_END} And the window counts the word's own place, so yours is one too wide.", (_NEAR, _rows("mask[i, i - window : i + 1] = True"))),
        alone("negative-stop", _FROM_THE_END,
            (_NEAR, "mask = not_ahead.clone()\n    for i in range(T):\n        mask[i, : i - window + 1] = False\n    return mask")),
        alone("index-from-the-end", _INDEX,
            (_NEAR, _rows("for k in range(window):\n            mask[i, i - k] = True"))),
        alone("index-from-the-end-of-a-list", _INDEX, (_NEAR, "rows = [[False] * T for _ in range(T)]\n    for i in range(T):\n        for j in range(i - window + 1, i + 1):\n            rows[i][j] = True\n    return torch.tensor(rows)")),
        alone("rolled-round", "`roll` moves what falls off the left edge in again at the right, so the first words see the last ones. Nothing comes before place 0.",
            (_NEAR, "mask = torch.zeros(T, T, dtype=torch.bool)\n    for k in range(window):\n        mask = mask | torch.eye(T, dtype=torch.bool).roll(-k, dims=1)\n    return mask")),
        alone("triu-off-by-one", "Each word sees {window} places before it and not all of its own window: look at the two ends of a row, the oldest place and the word's own.",
            ("back >= 0", "back >= 1"), ("back < window", "back <= window")),
    ),
    alternatives=(
        "def window_mask(T, window):\n    ones = torch.ones(T, T, dtype=torch.bool)\n    return ones.tril() & ones.triu(1 - window)",
        "def window_mask(T, window):\n    return torch.ones(T, T).tril().triu(-(window - 1)) == 1",
        "def window_mask(T, window):\n    mask = torch.zeros(T, T, dtype=torch.bool)\n    for i in range(T):\n        mask[i, max(0, i - window + 1):i + 1] = True\n    return mask",
        "def window_mask(T, window):\n    i, j = torch.arange(T)[:, None], torch.arange(T)[None, :]\n    return (j <= i) & (j > i - window)",
    ),
    indistinguishable=(
        *pairs("no-window", "one-too-wide", "one-too-narrow"),
        *pairs("sees-future", "one-too-wide", "one-too-narrow"),
        *pairs("or-instead-of-and", "one-too-wide", "one-too-narrow"),
    ),
)

# 8.4 Linear attention -------------------------------------------------------------------------------------------------


def _linear_case(name, seed, lead=(), T_q=11, T_k=None, d_k=4, d_v=3, causal=False, scale=1.0, shift=0.0, ones=False, dtype=torch.float64):
    T_k = T_q if T_k is None else T_k

    def make():
        Q, K, V = _normal(seed, (*lead, T_q, d_k), (*lead, T_k, d_k), (*lead, T_k, d_v))
        Q, K = scale * Q + shift, scale * K + shift
        return Q.to(dtype), K.to(dtype), (torch.ones_like(V) if ones else V).to(dtype), causal

    return Case(name, make, {"T_q": T_q, "T_k": T_k, "d_k": d_k, "d_v": d_v}, tolerance=1e-6 if dtype == torch.float64 else None)


def _linear_memory(candidate):
    """Values are right: is there a matrix of all pairs?"""
    T, d = 512, 4
    Q, K, V = _normal(0, (T, d), (T, d), (T, d), dtype=torch.float32)
    for causal in (False, True):
        peak, matrix = peak_bytes(candidate, Q, K, V, causal), 4 * T * T
        if peak >= matrix:
            return Finding(
                "whole-matrix",
                f"The numbers are right, but the memory still grows with T²: for {T} words with causal={causal}, {peak / 1e6:.2f} MB were alive "
                f"at once, where one matrix of all pairs takes {matrix / 1e6:.2f} MB. Multiply φ(K)ᵀ with V first; "
                "causal, keep the running sums of these products.",
            )


_NORMALISER = "the sum of φ(q)·φ(k) over the keys that the query may see"

LINEAR = Exercise(
    id="8.4",
    reference=linear.linear_attention,
    results=("out",),
    covers="causal and not, more keys than queries, a batch with heads, values of all ones, small features, float32, and memory",
    max_mistakes=2,
    explain=(nearly_right,),
    properties=(keeps_names("causal"), _linear_memory),
    words={"q": "φ(Q)", "k": "φ(K)", "states": "the running states", "totals": "the sums of φ(k)", "sums": "the sums of values"},
    cases=(
        _linear_case("all words see all words", 1),
        _linear_case("causal", 2, causal=True),
        _linear_case("5 queries, 9 keys", 3, T_q=5, T_k=9, d_k=6, d_v=4),
        _linear_case("a batch with heads", 4, lead=(2, 7), T_q=5, T_k=11, d_k=6, d_v=4),
        _linear_case("a batch with heads, causal", 5, lead=(3, 2), T_q=13, d_k=4, d_v=7, causal=True),
        _linear_case("values of all ones", 6, T_q=5, T_k=9, ones=True),
        _linear_case("values of all ones, causal", 7, causal=True, ones=True),
        _linear_case("one word, causal", 8, T_q=1, causal=True),
        _linear_case("features far below zero", 9, scale=0.5, shift=-14.0),
        _linear_case("features far below zero, causal", 10, scale=0.5, shift=-14.0, causal=True),
        _linear_case("float32, causal", 11, causal=True, dtype=torch.float32),
    ),
    mistakes=(
        Mistake("no-normaliser", old="return sums / normaliser", new="return sums",
            message="The weights do not sum to 1: divide by " + _NORMALISER + ". With values of all ones the output must be 1."),
        Mistake("future-in-sums", old="products.cumsum(dim=-3)", new="products.sum(dim=-3, keepdim=True)",
            message="With causal=True your sums of values hold all words, later ones too: each word needs the running sum up to itself."),
        Mistake("future-in-normaliser", old="k.cumsum(dim=-2)", new="k.sum(dim=-2, keepdim=True)",
            message="With causal=True your normaliser sums over all keys, later ones too, so the future shows through the denominator. It needs a running sum as well."),
        Mistake("q-not-mapped", old="q = F.elu(Q) + 1", new="q = Q", message="φ was applied to the keys and not to the queries: weights can then be negative."),
        Mistake("k-not-mapped", old="k = F.elu(K) + 1", new="k = K", message="φ was applied to the queries and not to the keys: weights can then be negative."),
        alone("normaliser-multiplied", "You multiplied by the normaliser instead of dividing by it. With values of all ones the output must be 1, since it is a weighted mean.",
            ("sums / normaliser", "sums * normaliser")),
        alone("all-seen-when-causal", "`causal=True` changes nothing in yours, so outputs depend on later words. Take running sums in the place of sums.",
            ("    if causal:", "    if False:")),
        alone("always-causal", "Yours is causal whether it is asked for or not. Without causal, every query sees all keys.",
            ("    if causal:", "    if Q.shape[-2] == K.shape[-2]:")),
        alone("totals-over-features", "The running sum of φ(k) goes along the features; it must go along the words, dim=-2.", ("k.cumsum(dim=-2)", "k.cumsum(dim=-1)")),
        alone("products-over-features", "The running sum of the products goes along the features; it must go along the words, the third axis from the end.",
            ("products.cumsum(dim=-3)", "products.cumsum(dim=-2)")),
        alone("products-over-values", "The running sum of the products goes along the values' numbers; it must go along the words, the third axis from the end.",
            ("products.cumsum(dim=-3)", "products.cumsum(dim=-1)")),
        alone("own-word-late", "Each word's own key and value come into the running sums one word late: a word sees itself too.",
            ("products.cumsum(dim=-3)", "(products.cumsum(dim=-3) - products)"), ("k.cumsum(dim=-2)", "(k.cumsum(dim=-2) - k)")),
        alone("own-word-late-but-the-first", "Each word's own key and value come into the running sums one word late, but for the first: a word sees itself too.",
            ("products.cumsum(dim=-3)", "torch.cat([products[..., :1, :, :], products.cumsum(dim=-3)[..., :-1, :, :]], dim=-3)"), ("k.cumsum(dim=-2)", "torch.cat([k[..., :1, :], k.cumsum(dim=-2)[..., :-1, :]], dim=-2)")),
        alone("no-plus-one", "φ is elu + 1. Without the 1, features fall below zero, and weights become negative.",
            ("q = F.elu(Q) + 1", "q = F.elu(Q)"), ("k = F.elu(K) + 1", "k = F.elu(K)")),
        alone("not-mapped", "φ was applied neither to the queries nor to the keys: φ(x) = elu(x) + 1 makes all weights positive.",
            ("q = F.elu(Q) + 1", "q = Q"), ("k = F.elu(K) + 1", "k = K")),
        alone("relu", "φ is elu + 1, and yours fits relu: relu makes every negative feature 0, so keys fall out altogether, and a query of zeros gives 0/0.",
            ("q = F.elu(Q) + 1", "q = F.relu(Q)"), ("k = F.elu(K) + 1", "k = F.relu(K)")),
        alone("relu-plus-one", "φ is elu + 1, and yours fits relu + 1: below zero, φ(x) is exp(x) and not 1.",
            ("q = F.elu(Q) + 1", "q = F.relu(Q) + 1"), ("k = F.elu(K) + 1", "k = F.relu(K) + 1")),
        alone("exp", "φ is elu + 1, and yours fits exp: above zero, φ(x) is x + 1.", ("q = F.elu(Q) + 1", "q = torch.exp(Q)"), ("k = F.elu(K) + 1", "k = torch.exp(K)")),
        alone("features-softmaxed", "φ is elu + 1, and yours fits a softmax over the features.", ("q = F.elu(Q) + 1", "q = Q.softmax(dim=-1)"), ("k = F.elu(K) + 1", "k = K.softmax(dim=-1)")),
        alone("phi-of-scores", "You applied φ to the scores q·k. It belongs to the queries and to the keys, before their product: φ(q)·φ(k).",
            ("    return sums / normaliser", "    w = F.elu(Q @ K.mT) + 1\n    w = w.tril() if causal else w\n    return w / w.sum(dim=-1, keepdim=True) @ V")),
        alone("phi-of-scaled-scores", "You applied φ to the scores q·k / √d_k. It belongs to the queries and to the keys, before their product: φ(q)·φ(k).",
            ("    return sums / normaliser", "    w = F.elu(Q @ K.mT / Q.shape[-1] ** 0.5) + 1\n    w = w.tril() if causal else w\n    return w / w.sum(dim=-1, keepdim=True) @ V")),
        alone("scaled", "The queries were divided by √d_k before φ. There is no softmax here that the scale would protect; linear attention has none.",
            ("q = F.elu(Q) + 1", "q = F.elu(Q / Q.shape[-1] ** 0.5) + 1")),
        alone("scaled-both", "Queries and keys were scaled before φ. There is no softmax here that the scale would protect; linear attention has none.",
            ("q = F.elu(Q) + 1", "q = F.elu(Q / Q.shape[-1] ** 0.25) + 1"), ("k = F.elu(K) + 1", "k = F.elu(K / K.shape[-1] ** 0.25) + 1")),
        alone("normaliser-from-raw-queries", "The normaliser is made from Q and not from φ(Q): numerator and denominator must use the same weights.",
            ("(q * totals)", "(Q * totals)")),
        alone("normaliser-without-query", "You divided by the sum of φ(k) alone. The weights are φ(q)·φ(k), so the normaliser is " + _NORMALISER + ".",
            ("(q * totals).sum", "totals.expand_as(q).sum")),
        alone("divided-by-number-of-keys", "You divided by the number of keys. The weights are not equal, so the normaliser is " + _NORMALISER + ".",
            ("sums / normaliser", "sums / K.shape[-2]")),
        alone("epsilon", "Something is added to the normaliser, such as 1e-6. Where features are small, that is as large as the normaliser itself; all weights are positive here, so nothing needs adding.",
            ("sums / normaliser", "sums / (normaliser + 1e-6)")),
        alone("values-mapped", "φ was applied to the values too: they are mixed as they are.", ("    k = F.elu(K) + 1", "    V = F.elu(V) + 1\n    k = F.elu(K) + 1")),
        alone("small-features-lost", "Your small features have become 0: elu(x) + 1 in float16 is −1 + 1 where x is far below zero. Keep the inputs' precision.",
            ("q = F.elu(Q) + 1", "q = (F.elu(Q.half()) + 1).to(Q.dtype)"), ("k = F.elu(K) + 1", "k = (F.elu(K.half()) + 1).to(K.dtype)")),
        alone("softmax-attention", "These are softmax's weights, exp(q·k / √d_k). Linear attention takes φ(q)·φ(k) instead, which is what lets the product be reordered.",
            ("    return sums / normaliser", "    s = Q @ K.mT / Q.shape[-1] ** 0.5\n    return (s.masked_fill(~torch.ones_like(s).bool().tril(), -torch.inf) if causal else s).softmax(-1) @ V")),
    ),
    indistinguishable=(
        # Both together are a mistake of their own; without a normaliser, its own mistakes do not show.
        ("future-in-normaliser", "future-in-sums"),
        ("k-not-mapped", "q-not-mapped"),
        ("future-in-normaliser", "no-normaliser"),
    ),
    alternatives=(
        "def linear_attention(Q, K, V, causal=False):\n    phi = lambda x: torch.where(x > 0, x + 1, torch.exp(x))\n    q, k = phi(Q), phi(K)\n"
        "    if not causal:\n        return (q @ (k.transpose(-2, -1) @ V)) / (q @ k.sum(-2).unsqueeze(-1))\n"
        "    S = torch.cumsum(torch.einsum('...td,...te->...tde', k, V), dim=-3)\n    z = torch.cumsum(k, dim=-2)\n"
        "    return torch.einsum('...td,...tde->...te', q, S) / torch.einsum('...td,...td->...t', q, z).unsqueeze(-1)",
        "def linear_attention(Q, K, V, causal=False):\n    q, k = F.elu(Q) + 1, F.elu(K) + 1\n    if not causal:\n        k_sum = k.sum(dim=-2)\n"
        "        return (q @ (k.mT @ V)) / (q * k_sum[..., None, :]).sum(-1, keepdim=True)\n    state, total, outs = 0, 0, []\n"
        "    for t in range(q.shape[-2]):\n        kt, vt, qt = k[..., t, :], V[..., t, :], q[..., t, :]\n        state = state + kt[..., :, None] * vt[..., None, :]\n"
        "        total = total + kt\n        outs.append((qt[..., None, :] @ state)[..., 0, :] / (qt * total).sum(-1, keepdim=True))\n    return torch.stack(outs, dim=-2)",
    ),
)

# 8.5 Cache ------------------------------------------------------------------------------------------------------------


def _through_cache(candidate, layer, x, pieces, texts=1, shared=False):
    """All outputs of a text that comes in pieces, and how much the cache then holds; the last text of several is judged.

    shared: every other piece, the first among them, goes through the course's function, by way of the same cache.
    """
    for _ in range(texts):
        kept, outs = cache.empty_cache(layer, x.shape[0]), []
        with torch.no_grad():
            for n, piece in enumerate(x.split(list(pieces), dim=1)):
                outs.append(_by_the_course(layer, piece, kept) if shared and n % 2 == 0 else candidate(layer, piece, kept))
    missing = [name for name in ("K", "V") if not torch.is_tensor(kept.get(name))]
    if missing:
        raise AnswerProblem("cache-without-entry", f'The cache must still hold tensors under "K" and "V"; {missing[0]!r} does not hold one.')
    bad = next((out for out in outs if not torch.is_tensor(out)), None)
    if bad is not None:
        return bad
    return torch.cat(outs, dim=1), kept["K"].shape[-2], kept["V"].shape[-2]


def _by_the_course(layer, piece, kept):
    try:
        return cache.attend_with_cache(layer, piece, kept)
    except Exception as problem:
        what = "The course's own function cannot go on with the cache that yours leaves behind"
        raise AnswerProblem("cache-unusable", f"{what}: {type(problem).__name__}, {problem}") from problem


def _cache_case(name, pieces, B=3, h=2, d_k=4, texts=1, shift=0.0, dtype=torch.float64, shared=False):
    T = sum(pieces)

    def make():
        template = MultiHeadAttention(h * d_k, h)
        layer = filled(MultiHeadAttention(h * d_k, h), template).to(dtype)
        if shift:  # all scores far below zero: keys point away from queries
            with torch.no_grad():
                layer.W_k.weight.copy_(-layer.W_q.weight * shift)
        (x,) = _normal(len(pieces), (B, T, h * d_k), dtype=dtype)
        return layer, x, tuple(pieces), texts, shared

    return Case(name, make, {"B": B, "T": T, "h": h, "d_k": d_k, "d_model": h * d_k}, tolerance=1e-7 if dtype == torch.float64 else None)


_TOP_LEFT = "Your mask starts at the top left, as if the new words were the first ones: one new word then sees the first key only. New word n stands at place T_old + n and may see everything up to there."

CACHE = Exercise(
    id="8.5",
    reference=cache.attend_with_cache,
    results=("the output", "the number of cached keys", "the number of cached values"),
    covers="one pass, word by word, pieces of 5 and 7 words, two texts one after the other, a cache shared with the course's function, float32",
    run=_through_cache,
    max_mistakes=2,
    explain=(nearly_right,),
    words={"Q": "the new queries", "K": "the new keys", "allowed": "the mask", "T_old": "the number of words in the cache"},
    cases=(
        _cache_case("one pass", (17,)),
        _cache_case("word by word", (1,) * 11),
        _cache_case("pieces of 5, 7 and 1 words", (5, 7, 1)),
        _cache_case("pieces of 5, 7 and 7 words, one sentence", (5, 7, 7), B=1, h=3, d_k=6),
        _cache_case("two texts, one after the other", (5, 7), d_k=8, texts=2),
        _cache_case("scores far below zero", (5, 7, 1), shift=400.0),
        _cache_case("float32", (5, 7, 1), dtype=torch.float32),
        _cache_case("every other piece by the course's function, through the same cache", (5, 7, 1, 6), shared=True),
    ),
    mistakes=(
        Mistake("not-scaled", old=" / math.sqrt(Q.shape[-1])", new="", message="The scores are not scaled: divide by √d_k = {sqrt_d_k}."),
        Mistake("no-W_o", old="layer.W_o(merge_heads(heads))", new="merge_heads(heads)",
            message="The heads were merged, but not mixed by W_o."),
        Mistake("no-mask", old=".masked_fill(~allowed, -torch.inf)", new="",
            message="Nothing is hidden. That is right for one new word, which may see everything; in a piece of several, each must not see those after it."),
        Mistake("top-left-mask", old="positions <= positions[T_old:, None]", new="positions <= torch.arange(Q.shape[-2])[:, None]", message=_TOP_LEFT),
        alone("top-left-mask-for-pieces", "Your mask starts at the top left, and only a single new word is spared it (PyTorch's `is_causal` does so). In a later piece new word n then sees n + 1 keys of the whole text; it may see all up to place T_old + n.",
            ("positions <= positions[T_old:, None]", "positions <= torch.arange(Q.shape[-2])[:, None] + (T_old if Q.shape[-2] == 1 else 0)")),
        alone("masked-in-the-first-piece-only", "Nothing is hidden as soon as something is cached. In a later piece of several words each must not see those after it: new word n may see up to place T_old + n.",
            ("positions <= positions[T_old:, None]", "positions <= positions[T_old:, None] + (positions[-1] if T_old else 0)")),
        Mistake("no-offset", edits=(("rope(Q, offset=T_old)", "rope(Q)"), ("rope(K, offset=T_old)", "rope(K)")),
            message="Every piece is turned as if it began at place 0: the new words stand after those in the cache, so RoPE needs their number as its offset."),
        alone("keys-stored-as-they-were", 'The cache is to hold keys that are turned. Yours stores them as they were and turns all of them anew at every call: whoever else reads this cache, or has filled it, finds the wrong keys, and the work grows with the text.',
            ("    K = rope(K, offset=T_old)\n", ""), ('Q @ cache["K"].mT', 'Q @ rope(cache["K"]).mT')),
        alone("cached-keys-turned-again", "The keys in the cache have been turned already, and yours are turned again with every piece: turn the new keys only, by their own places, and then append them.",
            ("    K = rope(K, offset=T_old)\n", ""), ('cache["K"] = torch.cat([cache["K"], K], dim=-2)', 'cache["K"] = rope(torch.cat([cache["K"], K], dim=-2))')),
        Mistake("values-not-grown", old='cache["V"] = torch.cat([cache["V"], V], dim=-2)', new='cache["V"] = V', hides_others=True,
            message="The cache keeps the newest values only. There must be one value per key, so both grow."),
        alone("keys-not-grown", "The cache keeps the newest keys only. Words before them must be seen too, so both grow.",
            ('cache["K"] = torch.cat([cache["K"], K], dim=-2)', 'cache["K"] = K')),
        alone("nothing-grown", "The cache keeps the newest piece only, so words before it are forgotten: append keys and values to what is there.",
            ('cache["K"] = torch.cat([cache["K"], K], dim=-2)', 'cache["K"] = K'), ('cache["V"] = torch.cat([cache["V"], V], dim=-2)', 'cache["V"] = V'),
            ("positions <= positions[T_old:, None]", "positions <= positions[:, None]")),
        alone("cache-left-as-it-was", "Old and new keys are joined for this call, but the cache is as empty as before: store the longer tensors in it.",
            ('    T_old = cache["K"].shape[-2]\n', '    T_old = cache["K"].shape[-2]\n    cache = dict(cache)\n')),
        alone("no-offset-of-queries", "The queries are turned as if they began at place 0; they stand where the new words do, after those in the cache.", ("rope(Q, offset=T_old)", "rope(Q)")),
        alone("no-offset-of-keys", "The new keys are turned as if they began at place 0; they stand after those in the cache.", ("rope(K, offset=T_old)", "rope(K)")),
        alone("no-rope", "Queries and keys are not turned by RoPE at all, so the order of the words is lost.", ("rope(Q, offset=T_old)", "Q"), ("rope(K, offset=T_old)", "K")),
        alone("turned-before-the-split", "RoPE came before the heads were split, so its pairs and frequencies are those of d_model = {d_model} columns. Each head is turned by itself, over its d_k = {d_k} columns.",
            ("rope(Q, offset=T_old)", "split_heads(rope(merge_heads(Q), offset=T_old), layer.n_heads)"), ("rope(K, offset=T_old)", "split_heads(rope(merge_heads(K), offset=T_old), layer.n_heads)")),
        alone("queries-not-turned", "The keys are turned by RoPE, the queries are not: their distance shows only if both are.", ("rope(Q, offset=T_old)", "Q")),
        alone("keys-not-turned", "The queries are turned by RoPE, the keys are not: their distance shows only if both are.", ("rope(K, offset=T_old)", "K")),
        alone("keys-turned-twice", "Cached keys are turned again at every call. Turn each key once, when it is new.",
            ('cache["K"] = torch.cat([cache["K"], K], dim=-2)', 'cache["K"] = rope(torch.cat([cache["K"], K], dim=-2))')),
        alone("keys-turned-twice-when-read", "The keys in the cache are turned already, and yours are turned again when they are read: one of the two.",
            ('scores = Q @ cache["K"].mT', 'scores = Q @ rope(cache["K"]).mT')),
        alone("values-turned", "The values are turned too. RoPE belongs to queries and keys, whose product then shows the distance.", ("    K = rope(K, offset=T_old)\n", "    K = rope(K, offset=T_old)\n    V = rope(V, offset=T_old)\n")),
        alone("offset-after-growing", "The offset counts the new words too: take the number of words in the cache before they are added.",
            ("rope(Q, offset=T_old)", "rope(Q, offset=T_old + Q.shape[-2])"), ("rope(K, offset=T_old)", "rope(K, offset=T_old + K.shape[-2])")),
        alone("new-words-in-front", "New keys and values are put in front of the old ones. Word by word nobody notices, because nothing is hidden there; in pieces, the mask then hides the wrong words.",
            ('torch.cat([cache["K"], K], dim=-2)', 'torch.cat([K, cache["K"]], dim=-2)'), ('torch.cat([cache["V"], V], dim=-2)', 'torch.cat([V, cache["V"]], dim=-2)')),
        alone("values-in-front", "New values are put in front of the old ones, and new keys behind: each key then gives another word's value.",
            ('torch.cat([cache["V"], V], dim=-2)', 'torch.cat([V, cache["V"]], dim=-2)')),
        alone("own-word-hidden", "A new word must see itself: <= and not <.", ("positions <= positions[T_old:, None]", "positions < positions[T_old:, None]")),
        alone("mask-inverted", "Your mask hides what may be seen.", ("masked_fill(~allowed", "masked_fill(allowed")),
        alone("old-words-hidden", "The new words see each other and nothing in the cache.", ("positions <= positions[T_old:, None]", "(positions <= positions[T_old:, None]) & (positions >= T_old)")),
        alone("future-of-new-words-hidden-late", "The mask lets each new word see one word ahead.", ("positions <= positions[T_old:, None]", "positions <= positions[T_old:, None] + 1")),
        alone("big-negative-number", "−1e9, −1e4 or the like is an ordinary number beside scores far below zero, and hidden words get weight: write −∞.", ("-torch.inf", "-1e3")),
        alone("softmax-over-queries", "The softmax runs over the new words; it belongs over the keys, dim=-1.", ("softmax(dim=-1)", "softmax(dim=-2)")),
        alone("scaled-by-d_k", "You divided the scores by d_k = {d_k}, not by √d_k = {sqrt_d_k}.", ("math.sqrt(Q.shape[-1])", "Q.shape[-1]")),
        alone("scaled-by-d_model", "You divided the scores by √d_model. Each head has its own scores, sums over d_k = {d_k} products.", ("math.sqrt(Q.shape[-1])", "math.sqrt(x_new.shape[-1])")),
        alone("keys-as-values", "The weights mix the keys and not the values.", ('weights @ cache["V"]', 'weights @ cache["K"]')),
        alone("kept-between-texts", "Your keys and values outlive the text: the second one still hears the first. Keep them in the `cache` that you are given and nowhere else (a default argument or a global lives on).",
            ("def attend_with_cache(layer, x_new, cache):", "def attend_with_cache(layer, x_new, cache, own={}):"),
            ('    T_old = cache["K"].shape[-2]\n', '    given, cache = cache, own.setdefault(layer, dict(cache))\n    T_old = cache["K"].shape[-2]\n'),
            ("    return layer.W_o", "    given.update(cache)\n    return layer.W_o")),
        alone("whole-text-out", "You return an output for every word in the cache; wanted are those of the new words.",
            ('weights @ cache["V"]', 'torch.cat([cache["V"][:, :, :T_old], weights @ cache["V"]], dim=-2)')),
    ),
    indistinguishable=(("no-mask", "top-left-mask"),),  # what is not laid on cannot be wrong
    alternatives=(
        "def attend_with_cache(layer, x_new, cache):\n    h = layer.n_heads\n    q, k, v = split_heads(layer.W_q(x_new), h), split_heads(layer.W_k(x_new), h), split_heads(layer.W_v(x_new), h)\n"
        "    start, n = cache['K'].size(2), x_new.size(1)\n    k = torch.cat((cache['K'], rope(k, offset=start)), 2)\n    v = torch.cat((cache['V'], v), 2)\n    cache.update(K=k, V=v)\n"
        "    mask = torch.ones(n, start + n, dtype=torch.bool).tril(start)\n    out = torch.nn.functional.scaled_dot_product_attention(rope(q, offset=start), k, v, attn_mask=mask)\n"
        "    return layer.W_o(merge_heads(out))",
        "def attend_with_cache(layer, x_new, cache):\n    q, k, v = (split_heads(W(x_new), layer.n_heads) for W in (layer.W_q, layer.W_k, layer.W_v))\n"
        "    start = cache['K'].shape[2]\n    cache['K'] = torch.cat([cache['K'], rope(k, offset=start)], dim=2)\n    cache['V'] = torch.cat([cache['V'], v], dim=2)\n"
        "    scores = rope(q, offset=start) @ cache['K'].mT / q.shape[-1] ** 0.5\n    scores = scores + torch.full(scores.shape[-2:], -torch.inf, dtype=scores.dtype).triu(start + 1)\n"
        "    return layer.W_o(merge_heads(scores.softmax(-1) @ cache['V']))",
    ),
)

# 8.6 Groups -----------------------------------------------------------------------------------------------------------


def _groups_case(name, seed, B=11, h=6, g=3, T_q=5, T_k=7, d_k=4, d_v=9, mask=None, below=False, dtype=torch.float64):
    """mask: shape of a mask, or None. below: all visible scores far below zero."""

    def make():
        Q, K, V = _normal(seed, (B, h, T_q, d_k), (B, g, T_k, d_k), (B, g, T_k, d_v))
        if below:
            Q, K = _far_below(Q, K)
        Q, K, V = (x.to(dtype) for x in (Q, K, V))
        if mask is None:
            return Q, K, V
        allowed = _normal(seed + 100, mask)[0] > 0
        allowed[..., seed % T_k] = True
        return Q, K, V, allowed

    return Case(name, make, {"B": B, "h": h, "g": g, "T_q": T_q, "T_k": T_k, "d_k": d_k, "d_v": d_v})


_TURNS = "Heads take their turn at the keys: head 0 the first, head 1 the second, and so on (`repeat` does that). Heads that share keys are neighbours: heads 0 to h/g − 1 the first, the next h/g the second."
_TOGETHER = "together = Q.reshape(B, g, h // g * T_q, d_k)"
_EXPANDED = "together = {}.expand(-1, -1, h // g, -1, -1).reshape(B, g, h // g * T_q, d_k)"
_ONE_QUERY = "The queries of a group are {} to one, so heads that share keys also ask the same. Only keys and values are shared; each of the h heads keeps its own queries."


def _by_turns(together):
    """Edits after which heads take their turn at the keys. together: the line that groups the queries."""
    turned = ".transpose(1, 2).reshape"
    return (
        (_TOGETHER, together),
        ("scores = scores.reshape(B, h, T_q, T_k)", f"scores = scores.reshape(B, g, h // g, T_q, T_k){turned}(B, h, T_q, T_k)"),
        ("weights = scores.softmax(dim=-1).reshape(B, g, h // g * T_q, T_k)", f"weights = scores.softmax(dim=-1).reshape(B, h // g, g, T_q, T_k){turned}(B, g, h // g * T_q, T_k)"),
        ("return out.reshape(B, h, T_q, V.shape[-1])", f"return out.reshape(B, g, h // g, T_q, V.shape[-1]){turned}(B, h, T_q, V.shape[-1])"),
    )


_SHARE = """def grouped_query_attention(Q, K, V, mask=None):
    n = Q.shape[1] // K.shape[1]
    K = K.repeat_interleave(n, dim=1)
    V = V.repeat_interleave(n, dim=1)
    scores = Q @ K.mT / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(dim=-1) @ V
"""


def _copied(id, message, *edits, combines=True):
    source = _SHARE
    for old, new in edits:
        source = source.replace(old, new)
    return Mistake(id, message, source=source, combines=combines)


def _copies_keys(candidate):
    """A remark for an answer that copies keys and values."""
    Q, K, V = _normal(0, (1, 8, 1, 16), (1, 2, 512, 16), (1, 2, 512, 16), dtype=torch.float32)
    if peak_bytes(candidate, Q, K, V) >= 4 * 4 * K.numel():
        return "Yours copies keys and values for every head, so nothing is saved while it runs. The lesson measures that below, beside a way without copies."


GROUPS = Exercise(
    id="8.6",
    reference=groups.grouped_query_attention,
    results=("out",),
    covers="two to six heads for each head of keys, masks of fewer axes, scores far below zero, one query, float32",
    max_mistakes=2,
    explain=(nearly_right,),
    properties=(keeps_names("mask"),),
    notes=(_copies_keys,),
    words={"scores": "the scores", "together": "the queries that share keys"},
    cases=(
        _groups_case("6 heads, 3 of keys", 1),
        _groups_case("8 heads, 2 of keys, a mask for each head", 2, B=3, h=8, g=2, T_q=5, T_k=7, d_k=11, mask=(3, 8, 5, 7)),
        _groups_case("6 heads, 2 of keys, one mask for all", 3, h=6, g=2, mask=(5, 7)),
        _groups_case("6 heads, 3 of keys, a padding mask", 10, mask=(11, 1, 1, 7)),
        _groups_case("as many queries as keys", 5, T_q=7, mask=(7, 7)),
        _groups_case("one query, 8 heads, 4 of keys", 6, B=3, h=8, g=4, T_q=1, d_k=5),
        _groups_case("scores far below zero, a mask", 7, mask=(11, 1, 5, 7), below=True),
        _groups_case("8 heads, 4 of keys, a mask of three axes", 12, B=3, h=8, g=4, d_k=11, mask=(8, 5, 7)),
        _groups_case("float32", 8, h=6, g=2, mask=(5, 7), dtype=torch.float32),
    ),
    mistakes=(
        Mistake("not-scaled", old=" / math.sqrt(d_k)", new="", message="The scores are not scaled: divide by √d_k = {sqrt_d_k}."),
        Mistake("mask-by-head", old="scores.masked_fill(~mask, -torch.inf)", new="torch.stack([scores[:, i].masked_fill(~mask[:, i], -torch.inf) for i in range(Q.shape[1])], dim=1)", together=2,
            message="You take `mask[:, i]` for head i, as if the mask had an axis for every head. It need only be broadcastable, and may have one head's axis or none: expand it first, or let it broadcast."),
        Mistake("mask-ignored", old="    if mask is not None:\n        scores = scores.masked_fill(~mask, -torch.inf)\n", new="",
            message="The mask hides nothing: write −∞ into the scores of hidden keys. (`masked_fill` returns a new tensor: keep what it returns.)"),
        Mistake("softmax-over-queries", old="softmax(dim=-1)", new="softmax(dim=-2)", message="The softmax runs over the queries; it belongs over the keys, dim=-1."),
        alone("scaled-by-d_k", "You divided the scores by d_k = {d_k}, not by √d_k = {sqrt_d_k}.", ("math.sqrt(d_k)", "d_k")),
        alone("mask-inverted", "You hid what may be seen: True means *may attend*.", ("masked_fill(~mask", "masked_fill(mask")),
        alone("big-negative-number", "−1e9, −1e4 or the like is an ordinary number beside scores far below zero, and hidden keys get weight: write −∞.", ("-torch.inf", "-1e3")),
        alone("hidden-score-zero", "A hidden score of 0 is not nothing: exp(0) = 1, so hidden keys get weight. Write −∞.", ("-torch.inf", "0.0")),
        alone("heads-and-words-mixed", "The output was reshaped to (h, T_q) in the wrong order: heads and words are mixed up. Undo the reshaping of the queries exactly.",
            ("return out.reshape(B, h, T_q, V.shape[-1])", "return out.reshape(B, T_q, h, V.shape[-1]).transpose(1, 2)")),
        alone("queries-mixed-by-turns", _TURNS, *_by_turns("together = Q.reshape(B, h // g, g, T_q, d_k).transpose(1, 2).reshape(B, g, h // g * T_q, d_k)")),
        _copied("keys-by-turns", "The keys are dealt out by turns, and the values to neighbours: each head scores with one group's keys and mixes another's values. Use the same order for both.",
            ("K = K.repeat_interleave(n, dim=1)", "K = K.repeat(1, n, 1, 1)")),
        _copied("values-by-turns", "The values are dealt out by turns, and the keys to neighbours: each head scores with one group's keys and mixes another's values. Use the same order for both.",
            ("V = V.repeat_interleave(n, dim=1)", "V = V.repeat(1, n, 1, 1)")),
        _copied("first-group-only", "Every head uses the first head of keys and values; the others are never read.",
            ("K.repeat_interleave(n, dim=1)", "K[:, :1]"), ("V.repeat_interleave(n, dim=1)", "V[:, :1]")),
        _copied("mean-of-groups", "The heads of keys and values were averaged into one. Each group of heads has its own.",
            ("K.repeat_interleave(n, dim=1)", "K.mean(dim=1, keepdim=True)"), ("V.repeat_interleave(n, dim=1)", "V.mean(dim=1, keepdim=True)")),
        _copied("repeated-g-times", "You repeated each head of keys g times. There are h heads and g of keys, so each is needed h / g times.", ("Q.shape[1] // K.shape[1]", "K.shape[1]"), combines=False),
        _copied("divided-by-g", "Head i takes the keys of head i // g in yours. h / g heads share one head of keys, so it is i // (h / g); with g, some heads of keys are never read, or there are not enough.",
            ("K.repeat_interleave(n, dim=1)", "torch.stack([K[:, i // K.shape[1]] for i in range(Q.shape[1])], dim=1)"),
            ("V.repeat_interleave(n, dim=1)", "torch.stack([V[:, i // V.shape[1]] for i in range(Q.shape[1])], dim=1)")),
        _copied("not-shared", "Q has h = {h} heads and K has g = {g}, and the product of the two cannot line them up: heads of queries must share heads of keys. (Heads are dim=1.)",
            ("K.repeat_interleave(n, dim=1)", "K"), ("V.repeat_interleave(n, dim=1)", "V"), combines=False),
        Mistake("queries-averaged", old=_TOGETHER, new=_EXPANDED.format("Q.reshape(B, g, h // g, T_q, d_k).mean(dim=2, keepdim=True)"), message=_ONE_QUERY.format("averaged")),
        Mistake("queries-added", old=_TOGETHER, new=_EXPANDED.format("Q.reshape(B, g, h // g, T_q, d_k).sum(dim=2, keepdim=True)"), together=2, message=_ONE_QUERY.format("added up")),
        Mistake("first-query-of-each-group", old=_TOGETHER, new=_EXPANDED.format("Q.reshape(B, g, h // g, T_q, d_k)[:, :, :1]"), together=2,
            message="All heads of a group ask with the queries of its first head. Only keys and values are shared; each of the h heads keeps its own queries."),
        alone("queries-averaged-by-turns", f"{_ONE_QUERY.format('averaged')} Besides, heads that share keys are neighbours, and yours are h/g apart.", *_by_turns(_EXPANDED.format("Q.reshape(B, h // g, g, T_q, d_k).mean(dim=1)[:, :, None]"))),
        alone("queries-in-groups-output-by-turns", "The queries of neighbours were put together, and the output is dealt out by turns (`repeat` does that): heads get each other's rows. Undo the grouping in the order in which it was made.",
            ("return out.reshape(B, h, T_q, V.shape[-1])", "return out.reshape(B, g, h // g, T_q, V.shape[-1]).transpose(1, 2).reshape(B, h, T_q, V.shape[-1])")),
        alone("queries-averaged-output-repeated-by-turns", f"{_ONE_QUERY.format('averaged')} And the output is dealt out by turns, as `repeat` does, where heads that share keys are neighbours.",
            (_TOGETHER, _EXPANDED.format("Q.reshape(B, g, h // g, T_q, d_k).mean(dim=2, keepdim=True)")),
            ("return out.reshape(B, h, T_q, V.shape[-1])", "return out.reshape(B, g, h // g, T_q, V.shape[-1]).transpose(1, 2).reshape(B, h, T_q, V.shape[-1])")),
        alone("mask-meets-five-axes", "Your scores have five axes when they meet the mask, (B, g, h/g, T_q, T_k), and it broadcasts to four, (B, h, T_q, T_k): its sentences line up with g, its heads with h/g. Bring the scores to four axes first.",
            ("scores = scores.reshape(B, h, T_q, T_k)", "scores = scores.reshape(B, g, h // g, T_q, T_k)")),
        Mistake("output-of-g-heads",
            source="def grouped_query_attention(Q, K, V, mask=None):\n    Q = Q[:, :: Q.shape[1] // K.shape[1]]\n    return (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(dim=-1) @ V",
            message="Your output has as many heads as there are keys, g. Every one of the h heads of queries gets an output of its own."),
    ),
    alternatives=(
        _SHARE,
        "def grouped_query_attention(Q, K, V, mask=None):\n    return torch.nn.functional.scaled_dot_product_attention(Q, K, V, attn_mask=mask, enable_gqa=True)",
        "def grouped_query_attention(Q, K, V, mask=None):\n    B, h, T_q, d = Q.shape\n    g = K.shape[1]\n    q = Q.view(B, g, h // g, T_q, d)\n"
        "    s = torch.einsum('bgrqd,bgkd->bgrqk', q, K) / d ** 0.5\n    s = s.flatten(1, 2)\n    if mask is not None:\n        s = s.masked_fill(mask == 0, float('-inf'))\n"
        "    w = torch.softmax(s, dim=-1).unflatten(1, (g, h // g))\n    return torch.einsum('bgrqk,bgkd->bgrqd', w, V).flatten(1, 2)",
        "def grouped_query_attention(Q, K, V, mask=None):\n    heads = []\n    n = Q.shape[1] // K.shape[1]\n    for i in range(Q.shape[1]):\n        s = Q[:, i] @ K[:, i // n].mT / Q.shape[-1] ** 0.5\n"
        "        if mask is not None:\n            m = mask.expand(Q.shape[0], Q.shape[1], Q.shape[2], K.shape[2])[:, i]\n            s = s.masked_fill(~m, -torch.inf)\n"
        "        heads.append(s.softmax(-1) @ V[:, i // n])\n    return torch.stack(heads, dim=1)",
    ),
)

# 8.7 Bytes of a cache -------------------------------------------------------------------------------------------------


def _bytes_case(name, n_layers, n_kv_heads, d_head, n_tokens, *itemsize):
    dims = {"n_layers": n_layers, "n_kv_heads": n_kv_heads, "d_head": d_head, "n_tokens": n_tokens}
    return Case(name, lambda: (n_layers, n_kv_heads, d_head, n_tokens, *itemsize), dims)


BYTES = Exercise(
    id="8.7",
    reference=cache.cache_bytes,
    results=("the bytes",),
    covers="small and published sizes, one token and many, 8, 16 and 32 bits",
    max_mistakes=2,
    properties=(keeps_names("itemsize"),),
    cases=(
        _bytes_case("a small model", 3, 5, 7, 11),
        _bytes_case("one token of GPT-2 small", 12, 12, 64, 1),
        _bytes_case("Llama-3-8B, 8,192 tokens", 32, 8, 128, 8192),
        _bytes_case("float32", 5, 3, 16, 100, 4),
        _bytes_case("8 bits", 5, 3, 16, 100, 1),
    ),
    mistakes=(
        Mistake("keys-only", old="2 * n_layers", new="n_layers", message="Your number is half of what is wanted: both keys and values are kept, in the same shapes."),
        Mistake("layers-forgotten", old="* n_layers ", new="", message="Your number does not grow with the number of layers: each of the {n_layers} layers has a cache of its own."),
        Mistake("heads-forgotten", old=" * n_kv_heads", new="", message="Your number does not grow with the heads: each of the {n_kv_heads} heads has keys and values of its own."),
        Mistake("width-forgotten", old=" * d_head", new="", message="You counted each key and each value as one number; each is a vector of d_head = {d_head}."),
        Mistake("tokens-forgotten", old=" * n_tokens", new="", message="This is the size per token; {n_tokens} tokens are kept."),
        Mistake("itemsize-forgotten", old=" * itemsize", new="", message="This is how many numbers are kept; each takes `itemsize` bytes."),
        alone("bits", "This is the number of bits, eight times the bytes: `itemsize` is in bytes.", (" * itemsize", " * itemsize * 8")),
        alone("itemsize-two-always", "Your number does not change with `itemsize`: use the argument.", (" * itemsize", " * 2")),
        alone("queries-too", "You counted three tensors per head. Queries are not kept: a query is used once, by its own word.", ("2 * n_layers", "3 * n_layers")),
        alone("tokens-squared", "You counted a matrix of scores, which grows with n_tokens². The cache keeps one key and one value per token.", ("* n_tokens", "* n_tokens**2")),
        alone("sizes-added", "You added keys and values of all sizes together where they multiply: every layer has every head for every token.", ("2 * n_layers * n_kv_heads * d_head", "2 * (n_layers + n_kv_heads + d_head)")),
        alone("width-squared", "You counted d_head². Those are the weights of a projection, not the keys that it makes.", ("* d_head", "* d_head**2")),
        alone("in-megabytes", "This is in megabytes or mebibytes: wanted are bytes.", ("return numbers_per_token * n_tokens * itemsize", "return numbers_per_token * n_tokens * itemsize / 1e6")),
    ),
    alternatives=(
        "def cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, itemsize=2):\n    shape = (n_layers, 2, n_kv_heads, n_tokens, d_head)\n    return math.prod(shape) * itemsize",
        "def cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, itemsize=2):\n    one = torch.empty(n_kv_heads, d_head).numel()\n    return float(n_layers * n_tokens * (one + one) * itemsize)",
    ),
)

# 8.8 Reach ------------------------------------------------------------------------------------------------------------


def _reach_case(n_layers, window):
    return Case(f"{n_layers} layers, a window of {window}", lambda: (n_layers, window), {"n_layers": n_layers, "window": window})


REACH = Exercise(
    id="8.8",
    reference=window.reach,
    results=("the number of words",),
    covers="one layer and many, narrow and wide windows, a window of one, no layer",
    max_mistakes=2,
    cases=(
        _reach_case(1, 8), _reach_case(2, 8), _reach_case(3, 5), _reach_case(4, 128), _reach_case(4, 1), _reach_case(0, 6), _reach_case(7, 2),
    ),
    mistakes=(
        Mistake("own-place-forgotten", old=" + 1", new="", message="This is how far back the stack reaches, {n_layers} · ({window} − 1) steps; the last word itself is heard too."),
        Mistake("full-windows", edits=(("window - 1", "window"), (" + 1", "")), message="You multiplied the layers by the window. Neighbouring windows share a place: each layer adds only {window} − 1 new ones."),
        Mistake("full-windows-and-one", old="window - 1", new="window", message="You let each layer go back {window} places; the window counts the word's own, so it is {window} − 1."),
        alone("one-layer", "This is the reach of one layer: each further layer hears what the words it sees have heard.", ("n_layers * steps_back + 1", "steps_back + 1")),
        alone("power", "You let the reach multiply from layer to layer. The windows overlap: each layer adds the same number of places. (Windows with growing gaps, as in dilated convolutions, would multiply it.)", ("n_layers * steps_back + 1", "window**n_layers")),
        alone("no-layer-hears-a-window", "A stack of 0 layers mixes nothing: only the word itself is heard, 1. Yours hears a whole window even then. Begin with the word itself, and let every layer add its steps.", ("n_layers * steps_back + 1", "max(n_layers, 1) * steps_back + 1")),
        alone("one-more-layer", "You counted one layer too many.", ("n_layers * steps_back", "(n_layers + 1) * steps_back")),
        alone("one-layer-less", "You counted one layer too few: the first layer looks back as well.", ("n_layers * steps_back", "(n_layers - 1) * steps_back")),
        alone("one-per-layer", "You took one place off for the whole stack, or added one for each layer: every layer shares just one place with the next.", ("n_layers * steps_back + 1", "n_layers * window - 1")),
        alone("added", "You added layers and window; each layer goes back by the same number of steps, so they multiply.", ("n_layers * steps_back + 1", "n_layers + steps_back")),
        alone("both-sides", "You counted both sides. This window looks back only.", ("n_layers * steps_back + 1", "2 * n_layers * steps_back + 1")),
    ),
    indistinguishable=(("full-windows-and-one", "own-place-forgotten"),),  # together they are full-windows
    alternatives=(
        "def reach(n_layers, window):\n    heard = 1\n    for _ in range(n_layers):\n        heard += window - 1\n    return heard",
        "def reach(n_layers, window):\n    return n_layers * window - n_layers + 1",
        "def reach(n_layers, window):\n    return window + (n_layers - 1) * (window - 1)",
    ),
)

EXERCISES = (MERGE, TILES, WINDOW, LINEAR, CACHE, GROUPS, BYTES, REACH)

PREDICTIONS = (
    Prediction(
        "tiles-in-training", "more", choices=("less", "as much", "more"),
        why="Autograd keeps what each operation needs for its gradient: the scores of every tile for the maximum, and their exponentials for the rest. Added up over all tiles, that is two matrices and the states.",
    ),
    Prediction(
        "two-windows", 15,
        why="The last word hears 8 places in its own layer. The oldest of them, 7 places back, has itself heard 7 more: 1 + 7 + 7.",
    ),
    Prediction(
        "linear-recall", "linear, narrow keys", choices=("softmax", "linear, narrow keys", "linear, wide keys"),
        why="Linear attention adds all pairs into one state of d_k × d_v numbers and a total. With more pairs than d_k = 16 directions they overlap; softmax keeps every pair apart.",
    ),
    Prediction(
        "keys-without-cache", 128.5,
        why="Without a cache, word t makes t keys: 1 + 2 + … + 256 = 32,896. With one, each word makes its own: 256.",
    ),
    Prediction(
        "smaller-cache", "the 70B model", choices=("the 7B model", "the 70B model"),
        why="The larger model has 80 layers, but its 64 heads share 8 heads of keys: 80 · 8 · 128 numbers against 32 · 32 · 128, each twice.",
    ),
)  # fmt: skip
