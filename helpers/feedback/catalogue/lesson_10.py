"""Lesson 10: BERT's attention, a head's share of agreement, mean pooling, search."""
from types import SimpleNamespace

import numpy as np
import torch

from ... import agreement, encoder, search
from ..exercise import Case, Exercise, Mistake, Prediction, pairs
from ..values import as_array
from .common import alone, another_divisor, blocked_keys, columns_sum_to_one, nearly_right, negative_weights


def _normal(seed, *shape, dtype=torch.float64):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


# 10.1 BERT's self-attention -------------------------------------------------------------------------------------------

_NAMES = ("W_q", "b_q", "W_k", "b_k", "W_v", "b_v", "W_o", "b_o")


def _run_attention(candidate, x, n_heads, mask, *tensors):
    """Hand the eight tensors over as the layer they belong to."""
    return candidate(x, SimpleNamespace(**dict(zip(_NAMES, tensors, strict=True))), n_heads, mask)


def _attention_case(name, seed, B, T, n_heads, d_k, mask=None, scale=1.0, dtype=torch.float64, far_below=0.0, tolerance=None):
    """mask: None, "padding", "pairs", "heads" or "heads alone". far_below: every score lies about d_k * far_below² under zero."""
    d_model = n_heads * d_k

    def make():
        x = scale * _normal(seed, B, T, d_model, dtype=dtype)
        tensors = []
        for i, part in enumerate(_NAMES):
            shape = (d_model, d_model) if part.startswith("W") else (d_model,)
            tensors.append(_normal(1000 * seed + i, *shape, dtype=dtype) / (d_model**0.5 if part.startswith("W") else 1.0))
        if far_below:
            tensors[1], tensors[3] = tensors[1] + far_below, tensors[3] - far_below
        return x, n_heads, _mask(mask, seed, B, n_heads, T), *tensors

    dims = {"B": B, "T": T, "h": n_heads, "d_k": d_k, "d_model": d_model, "sqrt_d_k": d_k**0.5, "sqrt_d_model": d_model**0.5}
    return Case(name, make, dims, tolerance)


def _mask(kind, seed, B, n_heads, T):
    if kind is None:
        return None
    if kind == "padding":
        lengths = 1 + np.random.default_rng(seed).integers(T, size=B)
        lengths[0] = T
        return torch.from_numpy(np.arange(T) < lengths[:, None])[:, None, None, :]  # (B, 1, 1, T)
    shape = {"pairs": (B, 1, T, T), "heads": (B, n_heads, T, T), "heads alone": (n_heads, T, T)}[kind]
    seen = np.random.default_rng(seed).random(shape) > 0.4
    seen[..., np.arange(T), (2 * np.arange(T) + 1) % T] = True  # every row has a True
    return torch.from_numpy(seen)


def _who_gets_weight(case, expected, got):
    mask = case.make()[2]
    weights = as_array(got[1])
    return blocked_keys(weights, mask) if mask is not None and weights.shape == as_array(expected[1]).shape else None


def _key_bias_unused(candidate):
    """A word on an answer without b_k, which no output can tell from one with it."""
    case = ATTENTION.cases[0]
    x, n_heads, mask, *tensors = case.make()
    tensors[3] = torch.full_like(tensors[3], torch.nan)
    out, _ = _run_attention(candidate, x, n_heads, mask, *tensors)
    if bool(torch.isfinite(out).all()):
        return "Your keys have no bias, and nothing shows it: b_k adds the same number to every score of a row, which softmax does not see. The file has it all the same."
    return None


_FILL = "scores.masked_fill(~mask, -torch.inf)"
_SOFTMAX = "weights = scores.softmax(dim=-1)"
_ROOT = "math.sqrt(Q.shape[-1])"
_SPLIT = "(split_heads(z, n_heads) for z in (Q, K, V))"
_STORED = "they are stored as (out, in), as nn.Linear keeps them, and x stands on the left: transpose"


ATTENTION = Exercise(
    id="10.1",
    reference=encoder.bert_self_attention,
    results=("out", "weights"),
    sums_to_one=("weights",),
    covers="padding, masks that differ per head, one head, one token, large and far negative scores, float32",
    run=_run_attention,
    max_mistakes=2,
    cases=(
        _attention_case("two heads of four", 1, 5, 11, 2, 4),
        _attention_case("padding", 2, 3, 10, 2, 4, "padding"),
        _attention_case("another mask for every pair of words", 3, 2, 7, 3, 4, "pairs"),
        _attention_case("another mask for every head", 4, 4, 7, 2, 6, "heads"),
        _attention_case("a mask of three axes, one for each head", 12, 2, 5, 3, 4, "heads alone"),
        _attention_case("one head", 5, 2, 5, 1, 4, "padding"),
        _attention_case("one token", 6, 3, 1, 2, 5),
        _attention_case("large scores", 7, 2, 5, 2, 6, "padding", scale=30.0),
        _attention_case("scores far below zero", 8, 3, 7, 2, 4, "padding", far_below=1e5, tolerance=1e-3),
        _attention_case("float32", 9, 2, 9, 3, 5, "padding", dtype=torch.float32),
    ),
    mistakes=(
        Mistake("no-biases", edits=((" + layer.b_q  #", "  #"), (" + layer.b_k  #", "  #"), (" + layer.b_v  #", "  #"), (" + layer.b_o  #", "  #")),
            message="There are no biases in yours: after each product, add the vector that belongs to it."),
        Mistake("no-bias-before-the-heads", edits=((" + layer.b_q  #", "  #"), (" + layer.b_k  #", "  #"), (" + layer.b_v  #", "  #")),
            message="Queries, keys and values have no bias in yours; only the output has. Add b_q, b_k and b_v right after their products."),
        Mistake("no-b_q", old=" + layer.b_q", new="", message="The queries lack their bias b_q."),
        Mistake("no-b_v", old=" + layer.b_v", new="", message="The values lack their bias b_v."),
        Mistake("no-b_o", old=" + layer.b_o", new="", message="The output lacks its bias b_o: it is added last, after W_o."),
        Mistake("biases-exchanged", edits=(("+ layer.b_q", "+ layer.b_k"), ("+ layer.b_k", "+ layer.b_q")), together=2,
            message="The biases b_q and b_k are exchanged: each bias belongs to the matrix with the same letter."),
        Mistake("b_q-for-the-values", old="+ layer.b_v", new="+ layer.b_q", together=2,
            message="The values get b_q. Each of the four products has a bias of its own: b_v belongs to the values."),
        Mistake("bias-subtracted", edits=(("+ layer.b_q", "- layer.b_q"), ("+ layer.b_k", "- layer.b_k"), ("+ layer.b_v", "- layer.b_v"), ("+ layer.b_o", "- layer.b_o")), together=1,
            message="You subtracted the biases; they are added."),
        Mistake("not-transposed", edits=(("layer.W_q.T", "layer.W_q"), ("layer.W_k.T", "layer.W_k"), ("layer.W_v.T", "layer.W_v"), ("layer.W_o.T", "layer.W_o")),
            message=f"The four matrices are used as they come. But {_STORED} each of them."),
        Mistake("not-transposed-before-the-heads", edits=(("layer.W_q.T", "layer.W_q"), ("layer.W_k.T", "layer.W_k"), ("layer.W_v.T", "layer.W_v")),
            message=f"W_q, W_k and W_v are used as they come. But {_STORED} them, as you did with W_o."),
        Mistake("W_q-not-transposed", old="layer.W_q.T", new="layer.W_q", together=2, message=f"W_q is used as it comes. The matrices: {_STORED} it like the others."),
        Mistake("W_k-not-transposed", old="layer.W_k.T", new="layer.W_k", together=2, message=f"W_k is used as it comes. The matrices: {_STORED} it like the others."),
        Mistake("W_v-not-transposed", old="layer.W_v.T", new="layer.W_v", together=2, message=f"W_v is used as it comes. The matrices: {_STORED} it like the others."),
        Mistake("W_o-not-transposed", old="layer.W_o.T", new="layer.W_o", together=2, message=f"W_o is used as it comes. The matrices: {_STORED} it like the others. (A single head owns columns of it, not rows.)"),
        Mistake("no-scale", old="scores = scores / math.sqrt(Q.shape[-1])", new="pass",
            message="You left out the scale: divide the scores by √d_k = {sqrt_d_k}."),
        Mistake("divide-by-d_k", old=_ROOT, new="Q.shape[-1]", message="You divided the scores by d_k = {d_k}, not by √d_k = {sqrt_d_k} (or by √d_k twice, which is the same)."),
        Mistake("scale-by-d_model", old=_ROOT, new="math.sqrt(x.shape[-1])",
            message="You divided by √d_model = {sqrt_d_model}. One head's scores are sums of d_k = {d_k} products, so it is √d_k = {sqrt_d_k}."),
        Mistake("scale-by-length", old=_ROOT, new="math.sqrt(K.shape[-2])", together=2,
            message="You divided by the root of the number of tokens; divide by √d_k = {sqrt_d_k}."),
        Mistake("mask-ignored", old="mask is not None", new="False", hides_others=True,
            message="Your weights do not depend on the mask: padding gets its share. Fill the scores where the mask is False before the softmax, and assign the result: `masked_fill` changes nothing in place."),
        Mistake("mask-inverted", old="~mask", new="mask", message="You hid what may be seen: True in the mask means *may attend*."),
        Mistake("mask-after-softmax", edits=((f"        scores = {_FILL}", "        pass"), (_SOFTMAX, f"{_SOFTMAX}\n    if mask is not None:\n        weights = weights.masked_fill(~mask, 0.0)")),
            message="You masked after the softmax: hidden tokens have already taken their share, and the rows no longer sum to 1."),
        Mistake("mask-added", old=_FILL, new="scores + mask", together=2,
            message="You added the mask to the scores, where True counts as 1 and False as 0, and nothing is hidden. What may not be seen gets the score −∞."),
        Mistake("mask-as-zero", old="-torch.inf", new="0.0",
            message="Hidden scores became 0, and e⁰ = 1: they still get weight. Minus infinity gives none."),
        Mistake("mask-on-queries", old=_FILL, new="scores.masked_fill(~mask.transpose(-2, -1), -torch.inf)", hides_others=True,
            message="You turned the mask onto the tokens that look; it hides the tokens that are looked at, the last axis, as it comes."),
        Mistake("finite-fill", old="-torch.inf", new="-1e9",
            message="You hide tokens with a finite number. Real scores may lie far below it, and then just the hidden tokens are attended to: minus infinity is below every score."),
        Mistake("number-added", old=_FILL, new="scores + torch.where(mask, 0.0, -10_000.0)", together=1,
            message="You hide tokens by adding a finite number to their scores. Scores may differ by more than that, and then a hidden token wins: minus infinity is below every score."),
        Mistake("softmax-over-queries", old="softmax(dim=-1)", new="softmax(dim=-2)",
            message="The softmax runs over the tokens that look, so that each column sums to 1. Each row should: the last axis."),
        Mistake("softmax-over-heads", old="softmax(dim=-1)", new="softmax(dim=1)",
            message="The softmax runs over the heads: they share the weight out among themselves. Each head's rows should sum to 1, the last axis."),
        Mistake("one-head", edits=((_SPLIT, "(split_heads(z, 1) for z in (Q, K, V))"),), hides_others=True,
            message="All features are in one head: the weights have one head where h = {h} are wanted. Split with n_heads."),
        Mistake("wrong-split", old=_SPLIT, new="(z.reshape(len(z), n_heads, -1, z.shape[-1] // n_heads) for z in (Q, K, V))", together=2,
            message="You cut the features by one reshape to (B, h, T, d_k), which mixes tokens: reshape to (B, T, h, d_k) first and transpose, as `split_heads` does."),
        Mistake("wrong-merge", old="merge_heads(heads)", new="heads.reshape(x.shape)", together=2,
            message="You joined the heads by a reshape alone, so that one token's row holds pieces of others: `merge_heads` moves the head axis back first."),
        Mistake("keys-through-W_q", old="K = x @ layer.W_k.T", new="K = x @ layer.W_q.T", together=2, message="The keys are made with W_q: they have a matrix of their own, W_k."),
        Mistake("values-through-W_k", old="V = x @ layer.W_v.T", new="V = x @ layer.W_k.T", together=2, message="The values are made with W_k: they have a matrix of their own, W_v."),
        Mistake("keys-as-values", old="weights @ V", new="weights @ K", together=2, message="The weights mix the keys; what is fetched are the values."),
        Mistake("scores-transposed", old="Q @ K.transpose(-2, -1)", new="K @ Q.transpose(-2, -1)", together=2,
            message="You multiplied K by Q transposed, so the rows belong to the keys; each row must belong to a token that looks."),
        Mistake("no-W_o", old="merge_heads(heads) @ layer.W_o.T + layer.b_o", new="merge_heads(heads)", hides_others=True,
            message="The heads are joined but never mixed: the last product, W_o with its bias, is missing."),
        Mistake("scale-before-b_q", edits=((" + layer.b_q", " / math.sqrt(x.shape[-1] // n_heads) + layer.b_q"), ("scores / math.sqrt(Q.shape[-1])", "scores")), together=2,
            message="The queries are divided by √d_k before their bias is added, so b_q comes in at full size, √d_k = {sqrt_d_k} times too large. The bias belongs to the queries: add it first, then scale."),
        alone("scale-shared-before-the-biases", "Queries and keys are each divided by the root of √d_k before their biases are added, so b_q comes in too large. Add the biases first, then scale.",
            (" + layer.b_q", " / (x.shape[-1] // n_heads) ** 0.25 + layer.b_q"), (" + layer.b_k", " / (x.shape[-1] // n_heads) ** 0.25 + layer.b_k"), ("scores / math.sqrt(Q.shape[-1])", "scores")),
        Mistake("b_o-for-every-head", old="+ layer.b_o", new="+ n_heads * layer.b_o", together=2,
            message="The output's bias b_o is added once for each head, so it counts h = {h} times. The heads' parts are summed first; then b_o is added, once."),
        Mistake("b_o-shared-out", old="+ layer.b_o", new="+ layer.b_o / n_heads", together=2,
            message="The output's bias b_o is divided by the number of heads, as if each had a part of it. It is added whole, once."),
        Mistake("residual-added", old="    return out, weights", new="    return x + out, weights",
            message="You added x to the output. The layer does so around the attention; this function returns the attention alone."),
        Mistake("results-swapped", old="return out, weights", new="return weights, out", hides_others=True, message="You returned (weights, out); (out, weights) is wanted."),
        Mistake("weights-averaged", old="    return out, weights", new="    return out, weights.mean(dim=1)", hides_others=True,
            message="You averaged the weights over the heads; those of every head are wanted, (B, h, T, T)."),
        Mistake("b_o-before-W_o", old="merge_heads(heads) @ layer.W_o.T + layer.b_o", new="(merge_heads(heads) + layer.b_o) @ layer.W_o.T", together=2,
            message="You added b_o before W_o. A bias follows its product."),
        Mistake("b_v-twice", old="merge_heads(heads) @", new="(merge_heads(heads) + layer.b_v) @", together=2,
            message="The same numbers come out if b_v is added twice: it belongs to the values, before the split, once."),
        Mistake("scores-returned", old="    return out, weights", new="    return out, scores", hides_others=True,
            message="The second result holds the scores; the weights are wanted, after the softmax."),
    ),
    explain=(another_divisor(), columns_sum_to_one, _who_gets_weight, negative_weights, nearly_right),
    notes=(_key_bias_unused,),
    indistinguishable=(
        # A softmax over the queries does not see b_q, as one over the keys does not see b_k.
        *pairs("no-b_q", "scores-transposed", "softmax-over-queries"),
        *pairs("scale-before-b_q", "scores-transposed", "softmax-over-queries"),
        # Without the biases no score lies far below zero; several of them missing are named together.
        *pairs("finite-fill", "no-b_q", "no-bias-before-the-heads", "no-biases"),
        *pairs("no-b_o", "no-b_q", "no-bias-before-the-heads"),
        ("no-b_q", "no-b_v"),
        ("W_o-not-transposed", "not-transposed-before-the-heads"),
        # The values are not used, or two patches are the same as a third one.
        *pairs("keys-as-values", "b_q-for-the-values", "W_v-not-transposed", "no-b_v", "no-bias-before-the-heads", "no-biases", "values-through-W_k"),
        *pairs("values-through-W_k", "no-bias-before-the-heads", "no-biases"),
        *pairs("b_v-twice", "no-bias-before-the-heads", "no-biases"),
        *pairs("keys-through-W_q", "biases-exchanged", "scores-transposed"),
        ("mask-after-softmax", "mask-ignored"),
    ),
    alternatives=(
        "def bert_self_attention(x, layer, n_heads, mask=None):\n    linear = torch.nn.functional.linear\n    B, T, d = x.shape\n"
        "    q = linear(x, layer.W_q, layer.b_q).view(B, T, n_heads, -1)\n    k = linear(x, layer.W_k, layer.b_k).view(B, T, n_heads, -1)\n"
        "    v = linear(x, layer.W_v, layer.b_v).view(B, T, n_heads, -1)\n    s = torch.einsum('bqhd,bkhd->bhqk', q, k) * (d // n_heads) ** -0.5\n"
        "    if mask is not None:\n        s = torch.where(mask, s, -torch.inf)\n    w = torch.softmax(s, -1)\n"
        "    return linear(torch.einsum('bhqk,bkhd->bqhd', w, v).reshape(B, T, d), layer.W_o, layer.b_o), w",
        "def bert_self_attention(x, layer, n_heads, mask=None):\n    Q, K, V = (split_heads(x @ W.mT + b, n_heads) for W, b in\n"
        "        ((layer.W_q, layer.b_q), (layer.W_k, layer.b_k), (layer.W_v, layer.b_v)))\n    scores = Q @ K.mT / K.shape[-1] ** 0.5\n"
        "    mask = torch.ones(1, dtype=torch.bool) if mask is None else mask\n    weights = torch.softmax(scores.masked_fill(mask == False, float('-inf')), dim=3)\n"
        "    return merge_heads(weights @ V) @ layer.W_o.mT + layer.b_o, weights",
        # No key bias: softmax does not see it. Heads one by one.
        "def bert_self_attention(x, layer, n_heads, mask=None):\n    d_k = x.shape[-1] // n_heads\n    Q, K, V = x @ layer.W_q.T + layer.b_q, x @ layer.W_k.T, x @ layer.W_v.T\n"
        "    outs, all_weights = [], []\n    for h in range(n_heads):\n        part = slice(h * d_k, (h + 1) * d_k)\n        s = Q[..., part] @ K[..., part].mT / math.sqrt(d_k)\n"
        "        if mask is not None:\n            s = s.masked_fill(~mask.expand(len(x), n_heads, x.shape[1], x.shape[1])[:, h], -torch.inf)\n        w = s.softmax(-1)\n"
        "        outs.append(w @ V[..., part] + layer.b_v[part])\n        all_weights.append(w)\n"
        "    return torch.cat(outs, dim=-1) @ layer.W_o.T + layer.b_o, torch.stack(all_weights, dim=1)",
    ),
)

# 10.2 Who finds the subject? ------------------------------------------------------------------------------------------


def _share_case(name, seed, N, *heads, T, dtype=torch.float32, coarse=False):
    """coarse: weights in quarters, so that many tie."""

    def make():
        rng = np.random.default_rng(seed)
        weights = rng.dirichlet(np.ones(T), size=(N, *heads, T))
        if coarse:
            weights = rng.integers(0, 3, size=weights.shape) / 4
        places = np.array([rng.permutation(T)[:3] for _ in range(N)]).T  # verb, subject, other, all different
        return torch.from_numpy(weights).to(dtype), *(torch.from_numpy(row.copy()) for row in places)

    dims = {"N": N, "T": T} | dict(zip(("layers", "h")[2 - len(heads) :], heads, strict=True))
    return Case(name, make, dims)


_ROW = "w[..., v, s] > w[..., v, o]"


def _a_number_too_many(case, expected, got):
    got, expected = as_array(got), as_array(expected)
    if got.shape == expected.shape and got.dtype.kind == "f" and got.size and (got > 1).any():
        factor = got[expected > 0] / expected[expected > 0]
        if factor.size and np.allclose(factor, case.dims["N"], rtol=1e-4):
            return f"Yours are counts, N = {case.dims['N']} times the share: divide by the number of sentences."
    return None


SHARE = Exercise(
    id="10.2",
    reference=agreement.agreement_share,
    results=("shares",),
    covers="several layers, one layer, a single head, ties, one sentence, float64",
    cases=(
        _share_case("13 sentences, two layers of four heads", 1, 13, 2, 4, T=7),
        _share_case("one layer of five heads", 2, 11, 5, T=7),
        _share_case("a single head", 3, 17, T=6),
        _share_case("weights that tie", 4, 19, 2, 5, T=8, coarse=True),
        _share_case("one sentence", 5, 1, 3, 4, T=9),
        _share_case("float64", 6, 12, 3, 5, T=7, dtype=torch.float64),
        _share_case("as many sentences as tokens", 7, 9, 4, T=9),
    ),
    mistakes=(
        Mistake("rows-and-columns-exchanged", old=_ROW, new="w[..., s, v] > w[..., o, v]",
            message="You asked how much the nouns look at the verb. The verb looks: its place is the row, the noun's the column."),
        Mistake("ties-count", old="w[..., v, s] > w", new="w[..., v, s] >= w", together=2,
            message="A tie counts as a win in yours; the subject must get more."),
        Mistake("other-wins", old=_ROW, new="w[..., v, s] < w[..., v, o]", message="You counted the sentences in which the other noun wins."),
        Mistake("nouns-compared", old=_ROW, new="w[..., s, v] > w[..., s, o]", together=1,
            message="You compared two weights of the subject's row; the verb's row is asked, once for each noun."),
        Mistake("verb-against-itself", old=_ROW, new="w[..., v, s] > w[..., v, v]", together=1,
            message="You compared the subject with the verb itself; the other noun is its rival."),
        Mistake("largest-of-all", old=_ROW, new="w[..., v, :].argmax(dim=-1) == s", together=2,
            message="You asked for the largest weight of the whole row. Here the subject need only beat the other noun."),
        Mistake("half-of-the-row", old=_ROW, new="w[..., v, s] > 0.5", together=1, message="You asked for more than half of the row. The subject need only beat the other noun."),
        Mistake("weights-and-not-wins", old=_ROW, new="w[..., v, s]", together=1,
            message="Yours is the mean weight of the subject. A share of sentences is wanted: in how many does it beat the other noun?"),
        Mistake("differences-averaged", old=_ROW, new="w[..., v, s] - w[..., v, o]", together=1,
            message="You averaged by how much the subject wins. The share is wanted: in how many sentences it wins."),
        Mistake("parts-averaged", old=_ROW, new="w[..., v, s] / (w[..., v, s] + w[..., v, o] + 1e-12)", together=1,
            message="You averaged the subject's part of the two weights. The share of sentences in which it is the larger is wanted."),
        Mistake("means-compared",
            source="def agreement_share(weights, verb, subject, other):\n    mine = torch.stack([w[..., v, s] for w, v, s in zip(weights, verb, subject)])\n"
            "    rival = torch.stack([w[..., v, o] for w, v, o in zip(weights, verb, other)])\n    return (mine.mean(dim=0) > rival.mean(dim=0)).float()",
            message="You averaged over the sentences first and compared the means, which gives 0 or 1 for each head. Compare in each sentence, then average."),
        Mistake("counted-not-shared", old=".mean(dim=0)", new=".sum(dim=0)", message="You counted the sentences; divide by their number N = {N}, or take the mean."),
        Mistake("one-number", old=".mean(dim=0)", new=".mean()", message="You averaged over the heads as well; each head has its own share, so only the sentences' axis goes."),
        Mistake("over-the-heads", old=".mean(dim=0)", new=".mean(dim=-1)", message="You averaged over the heads and kept the sentences; average over the sentences, the first axis."),
        Mistake("not-averaged", old=".float().mean(dim=0)", new=".float()", hides_others=True, message="Yours still has an entry for every sentence: take the mean over the first axis."),
        Mistake("yes-or-no", old=".float().mean(dim=0)", new="", hides_others=True, message="Yours holds True and False for every sentence: turn them into numbers and take the mean over the sentences."),
        Mistake("mean-of-bool", old=".float().mean(dim=0)", new=".mean(dim=0)", hides_others=True,
            message="True and False have no mean in PyTorch: turn them into numbers first, with `.float()`."),
        Mistake("list-of-wins", old="torch.stack(wins).float().mean(dim=0)", new="wins", hides_others=True, message="The wins are in a Python list: stack them and take the mean."),
        Mistake("percent", old=".mean(dim=0)", new=".mean(dim=0) * 100", together=1, message="Yours are percentages; a share lies between 0 and 1."),
        Mistake("first-sentence-only", old="return torch.stack(wins).float().mean(dim=0)", new="return wins[0].float()", together=1,
            message="Only the first sentence is asked. Is the `return` inside the loop?"),
        Mistake("places-of-the-first", old=_ROW, new="w[..., verb[0], subject[0]] > w[..., verb[0], other[0]]", together=1,
            message="The places of the first sentence are used for all of them; every sentence has its own."),
        Mistake("first-axis-of-a-sentence", old=_ROW, new="w[v, s] > w[v, o]", together=1,
            message="`w[v, s]` takes the first two axes of a sentence's weights, which are layers and heads. The tokens are the last two: `w[..., v, s]`."),
        Mistake("all-pairs-of-sentences", source="def agreement_share(weights, verb, subject, other):\n    return (weights[..., verb, subject] > weights[..., verb, other]).float().mean(dim=0)",
            message="`weights[..., verb, subject]` takes every sentence's places in *every* sentence. Sentence n goes with its own places only: loop, or index the first axis too."),
        Mistake("all-pairs-averaged", source="def agreement_share(weights, verb, subject, other):\n    return (weights[..., verb, subject] > weights[..., verb, other]).float().mean(dim=(0, -1))",
            message="`weights[..., verb, subject]` takes every sentence's places in *every* sentence, and all of these pairs are in your mean. Sentence n goes with its own places only: loop, or index the first axis too."),
    ),
    explain=(_a_number_too_many, nearly_right),
    indistinguishable=(),
    alternatives=(
        "def agreement_share(weights, verb, subject, other):\n    n = torch.arange(len(weights))\n    rows = weights.movedim((-2, -1), (1, 2))[n, verb]\n"
        "    return (rows[n, subject] > rows[n, other]).to(torch.float32).mean(0)",
        "def agreement_share(weights, verb, subject, other):\n    count = torch.zeros(weights.shape[1:-2])\n    for n in range(len(weights)):\n"
        "        count = count + (weights[n][..., verb[n], subject[n]] > weights[n][..., verb[n], other[n]])\n    return count / len(weights)",
        "def agreement_share(weights, verb, subject, other):\n    n = torch.arange(weights.shape[0])\n"
        "    return (weights[n, ..., verb, subject] - weights[n, ..., verb, other] > 0).double().mean(dim=0)",
    ),
)

# 10.3 Mean pooling ----------------------------------------------------------------------------------------------------


def _pool_case(name, seed, B, T, d, dtype=torch.float64, full=False, filled=1.0, holes=False):
    """filled: size of what stands in the padding. holes: False anywhere, not only at the end."""

    def make():
        rng = np.random.default_rng(seed)
        lengths = np.arange(T) < (np.full(B, T) if full else 1 + rng.permutation(T)[:B])[:, None]
        mask = rng.random((B, T)) > 0.5 if holes else lengths
        mask[:, T // 2] |= ~mask.any(axis=1)
        hidden = rng.normal(loc=0.5, size=(B, T, d))
        hidden[~mask] *= filled
        return torch.from_numpy(hidden).to(dtype), torch.from_numpy(mask)

    return Case(name, make, {"B": B, "T": T, "d": d}, tolerance=2e-5 if dtype is torch.float32 else 1e-6)


def _like_another_pooling(case, expected, got):
    hidden, mask = case.make()
    got = as_array(got)
    if got.shape == as_array(expected).shape and np.allclose(got, as_array(hidden.max(dim=1).values)):
        return "Yours are the largest entries over the tokens; the mean is wanted."
    return None


POOL = Exercise(
    id="10.3",
    keeps_dtype=True,
    reference=encoder.mean_pool,
    results=("vectors",),
    covers="padding with large numbers in it, gaps in the middle, no padding at all, one token, one text, float32",
    cases=(
        _pool_case("four texts of different length", 1, 4, 11, 6),
        _pool_case("large numbers in the padding", 2, 3, 7, 5, filled=1000.0),
        _pool_case("no padding", 3, 3, 8, 4, full=True),
        _pool_case("gaps in the middle", 4, 5, 9, 2, holes=True),
        _pool_case("one text", 5, 1, 7, 4),
        _pool_case("one token each", 6, 4, 1, 3, full=True),
        _pool_case("as many texts as features", 7, 5, 8, 5),
        _pool_case("float32", 8, 3, 10, 4, torch.float32, filled=50.0),
        _pool_case("as many tokens as features", 9, 4, 7, 7),
    ),
    mistakes=(
        Mistake("no-mask", source="def mean_pool(hidden, mask):\n    return hidden.mean(dim=1)",
            message="Padding is in your mean: it counts as a token, in the sum and in the number that you divide by."),
        Mistake("first-rows", source="def mean_pool(hidden, mask):\n    counts = mask.sum(dim=1).tolist()\n    return torch.stack([rows[:n].mean(dim=0) for rows, n in zip(hidden, counts)])",
            message="You took the first rows of each text, as many as it has tokens. Padding may stand in front of tokens and between them, too: which rows are tokens, only the mask says."),
        Mistake("divided-by-T", old="mask.sum(dim=1, keepdim=True)", new="mask.shape[1]",
            message="You divided every text by T = {T} (a plain mean over zeros does that too); each has its own number of tokens, the True entries of its row."),
        Mistake("padding-in-the-sum", old="hidden * mask[:, :, None]", new="hidden",
            message="You divided by the right numbers, but padding is still in the sum."),
        Mistake("first-token", source="def mean_pool(hidden, mask):\n    return hidden[:, 0]",
            message="Yours is the vector of the first token, [CLS]; the mean over all tokens is wanted."),
        Mistake("last-token", source="def mean_pool(hidden, mask):\n    return hidden[torch.arange(len(hidden)), mask.sum(dim=1) - 1]",
            message="Yours is the vector of the last token; the mean over all tokens is wanted."),
        Mistake("largest", source="def mean_pool(hidden, mask):\n    return hidden.masked_fill(~mask[:, :, None], -torch.inf).amax(dim=1)",
            message="Yours are the largest entries over the tokens; the mean is wanted."),
        Mistake("not-divided", old="kept.sum(dim=1) / counts", new="kept.sum(dim=1)", hides_others=True,
            message="Yours are sums: divide each text by its number of tokens."),
        Mistake("mask-inverted", edits=(("hidden * mask[:, :, None]", "hidden * ~mask[:, :, None]"), ("mask.sum(dim=1", "(~mask).sum(dim=1")), together=1,
            message="You averaged the padding: True in the mask means a token."),
        Mistake("sum-inverted", old="hidden * mask[:, :, None]", new="hidden * ~mask[:, :, None]",
            message="Your sum runs over the padding: True in the mask means a token."),
        Mistake("counts-of-columns", old="mask.sum(dim=1, keepdim=True)", new="mask.sum(dim=0)[:, None]", together=2,
            message="You counted how many texts have a token at each place; count the tokens of each text, along dim=1."),
        Mistake("counts-everything", old="mask.sum(dim=1, keepdim=True)", new="mask.sum()",
            message="You divided by the tokens of all texts together; each text has its own number."),
        Mistake("counts-not-a-column", old="mask.sum(dim=1, keepdim=True)", new="mask.sum(dim=1)", together=2,
            message="Your counts have shape (B,), which lines up with the features; keep them as a column, (B, 1), with keepdim=True."),
        Mistake("over-the-batch", old="kept.sum(dim=1)", new="kept.sum(dim=0)", hides_others=True,
            message="You summed over the texts; sum over the tokens of each text, axis 1."),
        Mistake("over-the-features", old="kept.sum(dim=1)", new="kept.sum(dim=-1)", hides_others=True,
            message="You summed over the features; sum over the tokens, axis 1, so that (B, d) remains."),
        Mistake("normalised", old="kept.sum(dim=1) / counts", new="torch.nn.functional.normalize(kept.sum(dim=1) / counts, dim=-1)", together=2,
            message="Your vectors have length 1. The mean itself is wanted; the search divides by the norms."),
        Mistake("root-of-counts", old="kept.sum(dim=1) / counts", new="kept.sum(dim=1) / counts.sqrt()", together=2,
            message="You divided by the square root of the number of tokens; a mean divides by the number."),
        Mistake("count-one-less", old="keepdim=True)", new="keepdim=True) - 1", together=2, message="You divided by one token too few."),
        Mistake("without-the-marks", together=1, old="kept = hidden * mask[:, :, None]  # (B, T, d)",
            new="inner = mask & (mask.cumsum(dim=1) > 1) & (mask.flip(1).cumsum(dim=1).flip(1) > 1)\n    kept, mask = hidden * inner[:, :, None], inner",
            message="You left out the first and the last token of each text. [CLS] and [SEP] count like the others here: the mask is True for them."),
        Mistake("mask-not-widened", old="mask[:, :, None]", new="mask", together=1,
            message="The mask is (B, T) and hidden (B, T, d): give the mask a last axis of length 1, `mask[:, :, None]`."),
        Mistake("one-list", together=1, source="def mean_pool(hidden, mask):\n    return [h[m].mean(dim=0) for h, m in zip(hidden, mask)]",
            message="The vectors are in a Python list: torch.stack makes one tensor of them."),
        Mistake("all-texts-together", together=1, source="def mean_pool(hidden, mask):\n    return hidden[mask].mean(dim=0)",
            message="`hidden[mask]` lays the tokens of all texts in one row, and yours is the mean of them all; each text has a mean of its own."),
    ),
    explain=(_like_another_pooling, nearly_right),
    indistinguishable=(
        ("divided-by-T", "padding-in-the-sum"),  # together they are no-mask
        *pairs("normalised", "divided-by-T", "counts-everything"),  # a norm of 1 hides the number divided by
    ),
    alternatives=(
        "def mean_pool(hidden, mask):\n    weights = mask.to(hidden.dtype)\n    return torch.einsum('bt,btd->bd', weights, hidden) / weights.sum(1)[:, None]",
        "def mean_pool(hidden, mask):\n    return torch.stack([h[m].mean(0) for h, m in zip(hidden, mask)])",
        "def mean_pool(hidden, mask):\n    m = mask.unsqueeze(-1).expand(hidden.shape).to(hidden.dtype)\n    return (hidden * m).sum(1) / m.sum(1).clamp(min=1e-9)",
        "def mean_pool(hidden, mask):\n    shares = mask / mask.sum(dim=1, keepdim=True)\n    return (shares[:, None, :].to(hidden.dtype) @ hidden)[:, 0]",
        "def mean_pool(hidden, mask):\n    return hidden.masked_fill(~mask[..., None], 0).sum(dim=-2) / mask.sum(dim=-1, keepdim=True)",
    ),
)

# 10.4 Search ----------------------------------------------------------------------------------------------------------


def _search_case(name, seed, n, d, k, dtype=torch.float64, opposite=False):
    """The rows' norms differ by a factor of ten. opposite: every cosine is negative."""

    def make():
        rng = np.random.default_rng(seed)
        corpus = rng.normal(size=(n, d)) * 10 ** rng.uniform(-0.5, 0.5, size=(n, 1))
        query = 3 * rng.normal(size=d)
        if opposite:
            corpus *= -np.sign(corpus @ query)[:, None]
        return torch.from_numpy(query).to(dtype), torch.from_numpy(corpus).to(dtype), k

    return Case(name, make, {"n": n, "d": d, "k": k})


_FOUND = "cosines.topk(k)"
SEARCH = Exercise(
    id="10.4",
    reference=search.search,
    results=("indices", "cosines"),
    covers="rows of very different norm, one hit, all rows, negative cosines only, as many rows as features, float32",
    cases=(
        _search_case("eleven rows, three wanted", 1, 11, 5, 3),
        _search_case("one wanted", 2, 13, 4, 1),
        _search_case("all rows", 3, 7, 4, 7),
        _search_case("negative cosines only", 4, 12, 5, 4, opposite=True),
        _search_case("as many rows as features", 5, 9, 9, 4),
        _search_case("many rows, float32", 6, 200, 24, 10, torch.float32),
        _search_case("two features", 7, 17, 2, 6),
    ),
    mistakes=(
        Mistake("dot-products", edits=(("query / query.norm()", "query"), ("corpus / corpus.norm(dim=1, keepdim=True)", "corpus")),
            message="Yours are dot products: a long vector wins whatever its direction. Divide the query and each row by its norm."),
        Mistake("query-not-normalised", old="query / query.norm()", new="query",
            message="The order is right, but these are not cosines: the query keeps its norm. Divide it by that."),
        Mistake("corpus-not-normalised", old="corpus / corpus.norm(dim=1, keepdim=True)", new="corpus",
            message="Only the query is normalised, which changes no order: long rows still win. Divide each row of the corpus by its norm."),
        Mistake("norm-of-everything", old="corpus.norm(dim=1, keepdim=True)", new="corpus.norm()",
            message="You divided the corpus by one norm, that of the whole matrix, so long rows still win; each row has its own."),
        Mistake("nearest-points", source="def search(query, corpus, k):\n    distances = (corpus - query).norm(dim=1)\n    indices = distances.topk(k, largest=False).indices\n    rows = corpus[indices]\n    return indices, rows @ query / (rows.norm(dim=1) * query.norm())",
            message="You looked for the rows that lie nearest to the query. A long row in exactly its direction lies far away: only the direction counts, so rank by cosines."),
        Mistake("norms-of-columns", old="corpus.norm(dim=1, keepdim=True)", new="corpus.norm(dim=0, keepdim=True)",
            message="You divided by the norms of the columns, the features; each row, dim=1, has its own norm."),
        Mistake("norms-not-a-column", old="dim=1, keepdim=True", new="dim=1", together=2,
            message="Your norms have shape (n,), which lines up with the features; keep them as a column, (n, 1), with keepdim=True."),
        Mistake("squared-norms", edits=(("query.norm()", "query.norm() ** 2"), ("corpus.norm(dim=1, keepdim=True)", "corpus.norm(dim=1, keepdim=True) ** 2")), together=1,
            message="You divided by the squares of the norms; the norm itself makes a vector's length 1."),
        Mistake("largest-number", edits=(("query.norm()", "query.abs().max()"), ("corpus.norm(dim=1, keepdim=True)", "corpus.abs().amax(dim=1, keepdim=True)")), together=1,
            message="You divided by the largest entry; a vector's length is the root of the sum of its squares."),
        Mistake("sums-for-norms", edits=(("query.norm()", "query.sum()"), ("corpus.norm(dim=1, keepdim=True)", "corpus.sum(dim=1, keepdim=True)")), together=1,
            message="You divided by the sums of the entries; a vector's length is the root of the sum of its squares."),
        Mistake("smallest-first", old=_FOUND, new="cosines.topk(k, largest=False)", message="These are the k least similar rows; the most similar are wanted."),
        Mistake("order-reversed", old="return indices, cosines", new="return indices.flip(0), cosines.flip(0)",
            message="The right rows come in the wrong order: the largest cosine first."),
        Mistake("results-swapped", old="return indices, cosines", new="return cosines, indices", hides_others=True,
            message="You returned (cosines, indices), as topk does; (indices, cosines) is wanted."),
        Mistake("topk-as-it-comes", old="    cosines, indices = cosines.topk(k)\n    return indices, cosines", new="    return cosines.topk(k)", hides_others=True,
            message="You returned what topk gives: (cosines, indices). Here (indices, cosines) is wanted."),
        Mistake("not-cut", old=_FOUND, new="cosines.sort(descending=True)", message="Yours returns all n = {n} rows; only the best k = {k} are wanted."),
        Mistake("not-sorted", old="cosines, indices = cosines.topk(k)", new="indices = cosines.topk(k).indices.sort().values\n    cosines = cosines[indices]", together=2,
            message="The right rows, in the corpus's order: the largest cosine comes first."),
        Mistake("first-k-rows", old="cosines, indices = cosines.topk(k)", new="cosines, indices = cosines[:k], torch.arange(k)", together=1,
            message="These are the first k rows of the corpus, whatever their cosines."),
        Mistake("all-cosines", old="cosines, indices = cosines.topk(k)", new="indices = cosines.topk(k).indices", together=2,
            message="The rows are right, but all n cosines come back; those of the k rows are wanted, in the same order."),
        Mistake("absolute", old=_FOUND, new="cosines.abs().topk(k)", together=1,
            message="You took absolute values: a vector that points the other way counts as similar."),
        Mistake("absolute-order", old="cosines, indices = cosines.topk(k)", new="indices = cosines.abs().topk(k).indices\n    cosines = cosines[indices]", together=1,
            message="You ranked by absolute value: a vector that points the other way counts as similar."),
        Mistake("distances", together=1, source="def search(query, corpus, k):\n    distances = (corpus - query).norm(dim=1)\n    found = distances.topk(k, largest=False)\n    return found.indices, found.values",
            message="Yours are distances, which depend on the norms; the cosine asks for the direction alone."),
        Mistake("softmaxed", old="cosines = corpus @ query", new="cosines = (corpus @ query).softmax(dim=0)", together=1,
            message="You applied a softmax: the order is right, but the values are shares and no cosines."),
        Mistake("as-distance", old="return indices, cosines", new="return indices, 1 - cosines", together=2,
            message="You returned 1 minus the cosine, a distance; the cosine itself is wanted."),
        Mistake("rows-returned", old="return indices, cosines", new="return corpus[indices], cosines", hides_others=True,
            message="You returned the rows themselves; their places are wanted."),
        Mistake("indices-only", old="return indices, cosines", new="return indices", hides_others=True, message="The cosines are missing: return indices and cosines."),
    ),
    explain=(nearly_right,),
    indistinguishable=(
        ("corpus-not-normalised", "query-not-normalised"),  # together they are dot-products
        *pairs("indices-only", "dot-products", "corpus-not-normalised", "norm-of-everything"),  # the same order
    ),
    alternatives=(
        "def search(query, corpus, k):\n    c = torch.nn.functional.cosine_similarity(corpus, query[None], dim=1)\n    order = torch.argsort(c, descending=True)[:k]\n    return order, c[order]",
        "def search(query, corpus, k):\n    dots = corpus @ query / (corpus.pow(2).sum(-1).sqrt() * query.pow(2).sum().sqrt())\n    values, places = torch.sort(dots, descending=True)\n    return places[:k], values[:k]",
        "def search(query, corpus, k):\n    unit = torch.nn.functional.normalize\n    top = torch.topk(unit(corpus, dim=-1) @ unit(query, dim=0), k)\n    return top.indices, top.values",
        "def search(query, corpus, k):\n    cosines = torch.stack([row @ query / row.norm() / query.norm() for row in corpus])\n    best = sorted(range(len(corpus)), key=lambda i: -cosines[i].item())[:k]\n    return torch.tensor(best), cosines[best]",
    ),
)

EXERCISES = (ATTENTION, SHARE, POOL, SEARCH)
PREDICTIONS = (
    Prediction(
        "most-numbers", "vectors of the words", choices=("vectors of the words", "attention", "feed-forward"),
        why="30,522 vectors of 384 numbers make 11.7 million, more than half. The feed-forward parts hold twice as many as attention, 8 · d² against 4 · d² per layer.",
    ),
    Prediction(
        "key-bias", "not at all", choices=("not at all", "a little", "a lot"),
        why="q · (k + b) = q · k + q · b, and q · b is the same for every key of a row. Softmax sees differences within a row only, so this bias was trained for nothing.",
    ),
    Prediction(
        "shuffled-labels", 0.84, tolerance=0.06,
        why="The best of 72 tries at guessing ten coins gets about 0.84 right, though each alone gets 0.5. That is why a head is chosen on one half and tested on the other.",
    ),
    Prediction(
        "wrong-verb", "nobody clearly", choices=("the books, as before", "the shelf, which agrees", "nobody clearly"),
        why="*is* spreads its weight over *the*, *old* and *books*. With *are*, number and order point at the same word; here they do not, and the head finds neither.",
    ),
    Prediction(
        "head-removed", "further down", choices=("among the first five", "further down", "last"),
        why="The vector hardly turns: other heads, and the words themselves, carry the meaning of the sentence. A striking picture of weights does not say that the output depends on them.",
    ),
    Prediction(
        "longer-vector", "short paragraphs", choices=("short paragraphs", "long paragraphs", "no difference"),
        why="The more different vectors are averaged, the more of them cancels out. So the norm says how long a text is, and the direction says what it is about.",
    ),
)
