"""Lesson 04: several heads in PyTorch."""
import contextlib
import functools
import re

import numpy as np
import torch
from torch import nn

from ... import multi_head
from ..exercise import AnswerProblem, Case, Exercise, Mistake, Prediction, pairs
from ..modules import built, filled, gradients_reach_every_parameter, looked_at
from ..values import as_array
from .common import (
    alone,
    another_divisor,
    blocked_keys,
    columns_sum_to_one,
    keeps_dtype,
    keeps_names,
    keeps_nothing,
    nearly_right,
    negative_weights,
)

# Inputs ---------------------------------------------------------------------------------------------------------------


def _normal(rng, *shape, dtype=torch.float32):
    return torch.from_numpy(rng.normal(size=shape)).to(dtype)


def _mask(rng, *shape):
    """Boolean, not symmetric, different in every leading entry, with a True in every row."""
    mask = rng.random(shape) < 0.5
    mask[..., range(shape[-1]), rng.permutation(shape[-1])] = True
    return torch.from_numpy(mask)


def _numbers(*shape):
    return torch.arange(int(np.prod(shape)), dtype=torch.float32).view(shape)


# 4.1 and 4.2 ----------------------------------------------------------------------------------------------------------


def _split_case(name, B, T, n_heads, d_k, dtype=torch.float32):
    dims = {"B": B, "h": n_heads, "T": T, "d_k": d_k, "d_model": n_heads * d_k}
    return Case(name, lambda: (_numbers(B, T, n_heads * d_k).to(dtype), n_heads), dims)


def _merge_case(name, B, T, n_heads, d_k, dtype=torch.float32):
    dims = {"B": B, "h": n_heads, "T": T, "d_k": d_k, "d_model": n_heads * d_k}
    return Case(name, lambda: (_numbers(B, n_heads, T, d_k).to(dtype),), dims)


SPLIT = Exercise(
    id="4.1",
    keeps_dtype=True,
    reference=multi_head.split_heads,
    properties=(keeps_dtype(_numbers(2, 3, 8).double(), 4),),
    results=("heads",),
    covers="batches, one head, heads of one feature, one position",
    cases=(
        _split_case("three sentences of five words, two heads", 3, 5, 2, 4),
        _split_case("two sentences of seven words, three heads", 2, 7, 3, 4),
        _split_case("one head", 2, 3, 1, 4),
        _split_case("heads of one feature", 2, 5, 3, 1),
        _split_case("one position", 3, 1, 2, 4),
        _split_case("float64", 2, 5, 3, 7, torch.float64),
    ),
    mistakes=(
        Mistake("split-no-transpose",
            edits=(("x.reshape(B, T, n_heads, d_k)", "x.reshape(B, n_heads, T, d_k)"), ("x.transpose(1, 2)", "x")),
            message="The shape is right but each head holds pieces of different words: going straight to (B, h, T, d_k) only cuts"
            " the row of numbers anew. First give the features two axes, (B, T, h, d_k), then exchange the axes T and h."),
        Mistake("head-axis-not-moved", old="x.transpose(1, 2)", new="x",
            message="The features are split, but the head axis still stands behind the positions, (B, T, h, d_k): move it before"
            " them, so that each head has all T words to itself."),
        Mistake("folded-into-batch", old="return x.transpose(1, 2)",
            new="return x.transpose(1, 2).reshape(B * n_heads, T, d_k)",
            message="You folded the heads into the batch axis, (B·h, T, d_k); keep them as an axis of their own, (B, h, T, d_k)."),
        Mistake("folded-without-transpose",
            edits=(("x.reshape(B, T, n_heads, d_k)", "x.reshape(B * n_heads, T, d_k)"), ("return x.transpose(1, 2)", "return x")),
            message="You cut x straight into (B·h, T, d_k): the heads are folded into the batch axis, and each holds pieces of"
            " different words. Give the features two axes first, (B, T, h, d_k), then exchange the axes T and h."),
        Mistake("every-h-th-feature", old="x.reshape(B, T, n_heads, d_k)",
            new="x.reshape(B, T, d_k, n_heads).transpose(2, 3)",
            message="Head i got every h-th feature, i, i + h, i + 2h …; here it holds d_k neighbours, features i·d_k to (i+1)·d_k − 1:"
            " split d_model as (h, d_k), the head first."),
        Mistake("h-and-d_k-exchanged", old="x.reshape(B, T, n_heads, d_k)", new="x.reshape(B, T, d_k, n_heads)",
            message="The number of heads and the features of a head are exchanged: you made d_k = {d_k} heads of h = {h} features."),
        Mistake("positions-last", old="x.transpose(1, 2)", new="x.transpose(1, 3)",
            message="You exchanged the axes of positions and features (1 and 3); exchange those of positions and heads, 1 and 2."),
        Mistake("positions-split",
            source="def split_heads(x, n_heads):\n    B, T, d_model = x.shape\n"
            "    return x.reshape(B, n_heads, T // n_heads, d_model)",
            message="You divided the words among the heads; divide the features: every head sees all T words."),
        alone("transpose-as-in-numpy", "PyTorch's transpose exchanges two axes, transpose(1, 2); an order of all axes is permute's, permute(0, 2, 1, 3).",
            ("x.transpose(1, 2)", "x.transpose(0, 2, 1, 3)")),
        alone("features-before-positions", "Positions and features of each head are exchanged, (B, h, d_k, T): the features come last.", ("x.transpose(1, 2)", "x.permute(0, 2, 3, 1)")),
        alone("heads-in-front-of-the-batch", "The heads stand in front of the batch, (h, B, T, d_k): they belong behind it, torch.stack(…, dim=1).", ("x.transpose(1, 2)", "x.movedim(2, 0)")),
        alone("heads-one-after-the-other", "You laid the heads one after the other along the positions; they need an axis of their own: torch.stack(…, dim=1), or reshape and transpose.",
            ("x.transpose(1, 2)", "x.transpose(1, 2).reshape(B, n_heads * T, d_k)")),
        alone("batch-and-positions-exchanged", "You exchanged batch and positions (axes 0 and 1); exchange positions and heads, 1 and 2.", ("x.transpose(1, 2)", "x.transpose(0, 1)")),
        alone("last-two-exchanged", "You exchanged heads and features (the last two axes); exchange positions and heads, 1 and 2.", ("x.transpose(1, 2)", "x.transpose(-1, -2)")),
        alone("two-heads-always", "You made two heads whatever n_heads says.", ("n_heads\n    x", "2\n    x"), ("x.reshape(B, T, n_heads, d_k)", "x.reshape(B, T, 2, d_k)")),
        alone("d_k-not-whole", "Plain division gives a float, and no axis can have 4.0 entries: `//` gives a whole number.", ("//", "/")),
        alone("words-cut-into-features", "The row of numbers is cut into (B, h, d_k, T) first, which deals words and features out alike: the last axis of x holds the features, so split that one, (B, T, h, d_k).",
            ("x.reshape(B, T, n_heads, d_k)", "x.reshape(B, n_heads, d_k, T)"), ("x.transpose(1, 2)", "x.transpose(2, 3)")),
        alone("copied-for-every-head", "Every head got all d_model features; deal them out, d_k = {d_k} to each.", ("x.reshape(B, T, n_heads, d_k)", "x[:, :, None].repeat(1, 1, n_heads, 1)")),
        alone("first-head-only", "Only the first head is there: all n_heads = {h} are wanted.", ("x.transpose(1, 2)", "x.transpose(1, 2)[:, :1]")),
        alone("list-of-heads", "The heads are in a Python list; torch.stack(heads, dim=1) makes one tensor of them.", ("x.transpose(1, 2)", "list(x.unbind(2))")),
    ),
    alternatives=(
        "def split_heads(x, n_heads):\n    B, T, d_model = x.shape\n    return x.view(B, T, n_heads, -1).permute(0, 2, 1, 3)",
        "def split_heads(x, n_heads):\n    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)",
        "def split_heads(x, n_heads):\n    return x.unflatten(-1, (n_heads, -1)).swapaxes(1, 2)",
        "def split_heads(x, n_heads):\n    d_k = x.shape[-1] // n_heads\n"
        "    out = x.new_empty(x.shape[0], n_heads, x.shape[1], d_k)\n"
        "    for i in range(n_heads):\n        out[:, i] = x[:, :, i * d_k : (i + 1) * d_k]\n    return out",
        "def split_heads(x, n_heads):\n    B, T, d_model = x.shape\n"
        "    return x.transpose(1, 2).reshape(B, n_heads, d_model // n_heads, T).transpose(2, 3)",
    ),
)


MERGE = Exercise(
    id="4.2",
    keeps_dtype=True,
    reference=multi_head.merge_heads,
    properties=(keeps_dtype(_numbers(2, 4, 3, 2).double()),),
    results=("x",),
    covers="batches, one head, heads of one feature, one position",
    cases=(
        _merge_case("three sentences of five words, two heads", 3, 5, 2, 4),
        _merge_case("two sentences of seven words, three heads", 2, 7, 3, 4),
        _merge_case("one head", 2, 3, 1, 4),
        _merge_case("heads of one feature", 2, 5, 3, 1),
        _merge_case("one position", 3, 1, 2, 4),
        _merge_case("float64", 2, 5, 3, 7, torch.float64),
    ),
    mistakes=(
        Mistake("merge-no-transpose", old="x.transpose(1, 2)", new="x",
            message="The head axis was not moved back before the heads were joined, so the row of one word holds pieces of other"
            " words: exchange the axes of heads and positions first, to (B, T, h, d_k)."),
        Mistake("view-after-transpose", old="x.reshape(B", new="x.view(B",
            message="After transpose the numbers no longer lie in memory in the order of the axes, and view refuses to copy:"
            " use reshape (or .contiguous() before view)."),
        Mistake("joined-along-positions", old="(B, T, n_heads * d_k)", new="(B, T * n_heads, d_k)",
            message="You joined the heads along the positions, which gives T·h rows of d_k features; join them along the features:"
            " T rows of h·d_k = {d_model}."),
        Mistake("features-interleaved", old="x.transpose(1, 2)", new="x.permute(0, 2, 3, 1)",
            message="The features of the heads are shuffled into each other: the head axis must stand before d_k when the two are"
            " joined, (B, T, h, d_k), so that head 0's features come first."),
        Mistake("features-before-positions", old="x.transpose(1, 2)", new="x.transpose(1, 3)",
            message="You exchanged the axes of heads and features (1 and 3); exchange those of heads and positions, 1 and 2."),
        Mistake("heads-averaged", old="x.reshape(B, T, n_heads * d_k)", new="x.mean(dim=2)",
            message="You averaged the heads, which mixes what they were made to keep apart; lay them side by side along the features."),
        Mistake("heads-added", old="x.reshape(B, T, n_heads * d_k)", new="x.sum(dim=2)",
            message="You added the heads up, which mixes what they were made to keep apart; lay them side by side along the features."),
        alone("heads-one-after-the-other", "You laid the heads one after the other along the positions, T·h rows of d_k features; lay them side by side along the features, the last axis.",
            ("return x.reshape(B, T, n_heads * d_k)", "return torch.cat(x.unbind(dim=2), dim=1)")),
        alone("transpose-as-in-numpy", "PyTorch's transpose exchanges two axes, transpose(1, 2); an order of all axes is permute's, permute(0, 2, 1, 3).",
            ("x.transpose(1, 2)", "x.transpose(0, 2, 1, 3)")),
        alone("flattened-too-early", "You flattened positions, heads and features into one axis; the positions stay: flatten from axis 2 on.",
            ("x.reshape(B, T, n_heads * d_k)", "x.flatten(1)")),
        alone("batch-joined", "You joined the sentences of the batch, not the heads: the heads are axis 1 of x, `x.unbind(1)` gives them one by one.",
            ("return x.reshape(B, T, n_heads * d_k)", "return torch.cat(list(x.transpose(1, 2)), dim=-1)")),
        alone("first-head-only", "Only the first head is in your result: lay all of them side by side.", ("return x.reshape(B, T, n_heads * d_k)", "return x[:, :, 0]")),
        alone("batch-axis-lost", "`squeeze` drops every axis of length 1, so a single word (or a batch of one) loses its axis: leave it out.",
            ("x.reshape(B, T, n_heads * d_k)", "x.reshape(B, T, n_heads * d_k).squeeze()")),
        alone("last-two-exchanged", "You exchanged positions and features (the last two axes); exchange heads and positions, 1 and 2.", ("x.transpose(1, 2)", "x.transpose(-1, -2)")),
        alone("axes-misnamed", "You read the shape as (B, T, h, d_k), but x comes as (B, h, T, d_k): the head axis is the second.",
            ("B, n_heads, T, d_k = x.shape", "B, T, n_heads, d_k = x.shape")),
        alone("batch-and-positions-exchanged", "The axes are moved to (T, B, h, d_k) before they are joined, so sentences change places with words: exchange axes 1 and 2 only.",
            ("x.transpose(1, 2)", "x.permute(2, 0, 1, 3)")),
        alone("heads-in-reverse", "The heads stand in the wrong order: head 0's features come first.", ("x.transpose(1, 2)", "x.transpose(1, 2).flip(2)")),
        alone("not-joined", "Heads and positions have changed places, (B, T, h, d_k), but the last two axes are still two: join them, `reshape(B, T, h·d_k)`.",
            ("x.reshape(B, T, n_heads * d_k)", "x")),
    ),
    indistinguishable=(
        ("merge-no-transpose", "view-after-transpose"),
        ("merge-no-transpose", "joined-along-positions"),  # heads laid one after the other, which has a name of its own
    ),
    alternatives=(
        "def merge_heads(x):\n    return x.transpose(1, 2).flatten(2)",
        "def merge_heads(x):\n    return torch.cat(x.unbind(dim=1), dim=-1)",
        "def merge_heads(x):\n    B, h, T, d_k = x.shape\n    return x.permute(0, 2, 1, 3).contiguous().view(B, T, h * d_k)",
        "def merge_heads(x):\n    B, h, T, d_k = x.shape\n    out = x.new_empty(B, T, h * d_k)\n"
        "    for i in range(h):\n        out[:, :, i * d_k : (i + 1) * d_k] = x[:, i]\n    return out",
    ),
)

# 4.3 ------------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _new_layers_hold(value):
    """Let new layers start at one value everywhere for a while: quicker, and a forgotten one is told by it, not by chance."""
    drawn = nn.Linear.reset_parameters
    nn.Linear.reset_parameters = lambda layer: [p.data.fill_(value) for p in layer.parameters()] and None
    try:
        yield
    finally:
        nn.Linear.reset_parameters = drawn


@contextlib.contextmanager
def _no_new_layers():
    """A layer made while `forward` runs raises AnswerProblem."""
    drawn = nn.Linear.reset_parameters

    def refuse(layer):
        raise AnswerProblem(
            "layer-made-in-forward",
            "A layer is made in `forward`: it is new at every call, with new random numbers, and training never sees it."
            " Make it in `__init__`, as an attribute of self, and only use it in `forward`.",
        )

    nn.Linear.reset_parameters = refuse
    try:
        yield
    finally:
        nn.Linear.reset_parameters = drawn


@functools.cache
def _reference(d_model, n_heads):
    return multi_head.MultiHeadAttention(d_model, n_heads)


def _run_attention(candidate, d_model, n_heads, dropout, seen, x, mask):
    """Build, fill by name and call. seen: "eval", or what is looked at in train mode: "weights" or "dropped"."""
    try:
        with _new_layers_hold(0.5):
            module = built(candidate, (d_model, n_heads, dropout) if dropout else (d_model, n_heads))
    except ValueError as problem:
        if {str(d_model), str(n_heads)} <= set(re.findall(r"\d+", str(problem))):
            raise ValueError(f"{d_model} and {n_heads}") from problem  # any wording that names both numbers will do
        raise
    if d_model % n_heads == 0:
        module = filled(module, _reference(d_model, n_heads))
    module = module.to(x.dtype).train(seen != "eval")
    with torch.no_grad(), torch.random.fork_rng(devices=[], enabled=dropout > 0):
        if dropout:
            torch.default_generator.manual_seed(0)  # torch.manual_seed walks the stack, which costs more than the module
        if seen == "dropped":
            module.W_o.weight.copy_(torch.eye(d_model))
        with _no_new_layers():
            result = module(x, mask) if mask is not None else module(x)
        if seen == "eval" or not (isinstance(result, tuple) and len(result) == 2):
            return result
        out, weights = result
        if seen == "weights":
            return torch.zeros(()), weights
        # T = 1: each head gives its value times 0 or 1 / (1 - p), whole.
        share = (out / module.W_v(x)).reshape(-1, d_model // n_heads)  # (B h, d_k)
        kinds = torch.stack((share.amin(dim=-1), share.amax(dim=-1)), dim=-1)  # (B h, 2)
        kinds = kinds.mul(100).round().div(100).add(0.0)  # + 0.0: no negative zero
        kinds = np.unique(kinds.numpy().astype(np.float64).view(np.complex128))  # pairs, as complex numbers
        times = [f"{k.real:.3g}" if k.real == k.imag else f"{k.real:.3g} to {k.imag:.3g}" for k in kinds[:4]]
        more = f" or … ({len(kinds)} different factors)" if len(kinds) > 4 else ""
        return f"every head's values times {' or '.join(times)}{more}", weights


def _attention_case(name, seed, B, T, d_model, n_heads, mask=None, dtype=torch.float32, scale=1.0, dropout=0.0, seen="eval"):
    dims = {"B": B, "h": n_heads, "T": T, "d_model": d_model, "d_k": d_model // n_heads}

    def make():
        rng = np.random.default_rng(seed)
        x = scale * _normal(rng, B, T, d_model, dtype=dtype)
        return d_model, n_heads, dropout, seen, x, None if mask is None else _mask(rng, *mask)

    aspect = "dropout" if dropout else "check" if d_model % n_heads else ""
    return Case(name, make, dims, aspect=aspect)


def _who_gets_weight(case, expected, got):
    mask = case.make()[-1]
    return None if mask is None or as_array(got[1]).dtype.kind != "f" else blocked_keys(got[1], mask)


def _share_dropped(case, expected, got):
    """How much is dropped in train mode, where whole look-ups are dropped at all."""
    kept = re.fullmatch(r"every head's values times 0 or ([\d.]+)", got[0]) if isinstance(got[0], str) else None
    if kept and float(kept[1]) > 1:
        return (
            f"Yours drops {100 - 100 / float(kept[1]):.0f} % of the weights, and 25 % were asked for:"
            " the share comes in as the argument `dropout`, and nn.Dropout takes it as it is."
        )


def _forward_by_its_name(candidate):
    if "__call__" in vars(candidate):
        return "you wrote `__call__`; PyTorch's way is `forward`, which nn.Module's own call wraps (hooks need that)."


def _inputs_for_gradients():
    return (_normal(np.random.default_rng(20), 3, 5, 12),)


# The four layers of every alternative below, made in another order than the reference makes them.
_INIT = """
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads do not divide {d_model} features")
        self.h = n_heads
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)
"""

def _built_and_filled(candidate):
    return filled(built(candidate, (12, 2)), _reference(12, 2)).eval()


def _call(seed, B, T, mask=None):
    """A function that makes the arguments of one call of a module."""

    def make():
        rng = np.random.default_rng(seed)
        x = _normal(rng, B, T, 12)
        return (x,) if mask is None else (x, _mask(rng, *mask))

    return make


_OVER_HEADS = (
    ("split_heads(z, self.n_heads)", "z.reshape(len(x), x.shape[1], self.n_heads, -1)"),
    ("merge_heads(heads)", "heads.reshape(x.shape)"),
)
_OVER_HEADS_MESSAGE = (
    "The weights are heads × heads for each word, (B, T, h, h): the heads look at each other. Move the head axis before the"
    " positions, (B, h, T, d_k), so that words look at words."
)

ATTENTION = Exercise(
    id="4.3",
    reference=multi_head.MultiHeadAttention,
    results=("out", "weights"),
    covers="masks for all, for each sentence and for each head, B = h, large scores, float16 to float64, dropout",
    run=_run_attention,
    sums_to_one=("weights",),
    properties=(
        keeps_names("d_model", "n_heads", "dropout"),
        gradients_reach_every_parameter(multi_head.MultiHeadAttention, (12, 2), _inputs_for_gradients),
        keeps_nothing(
            _built_and_filled,
            ("without a mask", _call(30, 3, 5)),
            ("with a mask", _call(30, 3, 5, (5, 5))),
            ("without a mask", _call(30, 3, 5)),
            ("with another mask", _call(31, 3, 5, (3, 1, 5, 5))),
            ("with fewer words", _call(32, 2, 4)),
            ("with more words and a mask", _call(33, 3, 7, (7, 7))),
        ),
    ),
    explain=(_share_dropped, another_divisor(), columns_sum_to_one, _who_gets_weight, negative_weights, nearly_right),
    notes=(_forward_by_its_name,),
    max_mistakes=2,
    cases=(
        _attention_case("no mask", 0, 4, 5, 12, 2),
        _attention_case("one mask (T, T) for all", 21, 4, 5, 12, 2, mask=(5, 5)),
        _attention_case("a mask (B, 1, T, T) for each sentence", 2, 4, 5, 12, 2, mask=(4, 1, 5, 5)),
        _attention_case("a mask for each sentence, with B = h", 3, 2, 5, 12, 2, mask=(2, 1, 5, 5)),
        _attention_case("a mask for each head, float64", 4, 2, 4, 15, 5, mask=(1, 5, 4, 4), dtype=torch.float64),
        _attention_case("large scores", 5, 2, 7, 12, 4, mask=(7, 7), scale=30.0),
        _attention_case("scores far below zero", 13, 4, 5, 12, 2, mask=(4, 1, 5, 5), scale=1e3),
        _attention_case("a mask of three axes, one (T, T) for each head", 14, 3, 5, 8, 4, mask=(4, 5, 5), dtype=torch.float64),
        _attention_case("half precision with a mask", 6, 4, 5, 12, 2, mask=(4, 1, 5, 5), dtype=torch.float16),
        _attention_case("one head", 7, 3, 4, 6, 1, mask=(4, 4)),
        _attention_case("one position", 8, 4, 1, 12, 2),
        _attention_case("d_model = 10 and three heads", 9, 3, 5, 10, 3),
        _attention_case("weights in train mode with dropout", 10, 4, 5, 12, 2, dropout=0.25, seen="weights"),
        _attention_case("what dropout drops in train mode", 11, 200, 1, 12, 2, dropout=0.25, seen="dropped"),
        _attention_case("dropout is off in eval mode", 12, 4, 5, 12, 2, dropout=0.25),
    ),
    mistakes=(
        # layers
        Mistake("keys-from-W_q", old="self.W_k(x)", new="self.W_q(x)",
            message="The keys come from W_q: what a word asks and what it is found by are then the same. Keys have a layer of their own, W_k."),
        Mistake("values-from-W_k", old="self.W_v(x)", new="self.W_k(x)",
            message="The heads average keys instead of values: what a word gives comes from W_v."),
        Mistake("values-from-W_q", together=1, edits=(("self.W_v(x)", "self.W_q(x)"),),
            message="The values come from W_q, the queries' layer; what a word gives comes from W_v."),
        Mistake("values-not-projected", together=1, edits=(("self.W_v(x)", "x"),),
            message="The heads average the inputs themselves; what a word gives comes from W_v."),
        Mistake("queries-and-keys-exchanged", together=1, edits=(("self.W_q(x), self.W_k(x)", "self.W_k(x), self.W_q(x)"),),
            message="Queries and keys are exchanged (or Q Kᵀ is the other way round): row i of the scores must hold the query of"
            " position i against every key."),
        Mistake("keys-and-values-exchanged", together=1, edits=(("self.W_k(x), self.W_v(x)", "self.W_v(x), self.W_k(x)"),),
            message="Keys and values are exchanged: queries are compared with W_k's result, and W_v's is averaged."),
        # splitting and merging
        Mistake("split-no-transpose", old="split_heads(z, self.n_heads)", new="z.reshape(len(x), self.n_heads, x.shape[1], -1)",
            message="Reshaping straight to (B, h, T, d_k) mixes words into heads: first (B, T, h, d_k), then exchange the axes T and h;"
            " or call split_heads."),
        Mistake("every-h-th-feature", together=1, edits=(("split_heads(z, self.n_heads)", "z.unflatten(-1, (-1, self.n_heads)).movedim(-1, 1)"),),
            message="Head i got every h-th feature; here it holds d_k neighbours: split d_model as (h, d_k), the head first."),
        Mistake("attends-over-heads", together=1, edits=(*_OVER_HEADS,), message=_OVER_HEADS_MESSAGE),
        Mistake("attends-over-heads-unmasked", together=1, edits=(*_OVER_HEADS, ("if mask is not None", "if False")),
            message=_OVER_HEADS_MESSAGE),
        Mistake("merge-no-transpose", old="merge_heads(heads)", new="heads.reshape(x.shape)",
            message="What each head found is right, but the heads were joined without moving their axis back, so the row of one word"
            " holds pieces of other words: go to (B, T, h, d_k) first, or call merge_heads."),
        Mistake("features-interleaved", together=1, edits=(("merge_heads(heads)", "heads.permute(0, 2, 3, 1).reshape(x.shape)"),),
            message="What each head found is right, but the features of the heads are shuffled into each other when joined:"
            " head 0's d_k features come first, then head 1's."),
        Mistake("view-after-transpose", old="merge_heads(heads)", new="heads.transpose(1, 2).view(x.shape)", hides_others=True,
            message="After transpose the numbers no longer lie in memory in the order of the axes, and view refuses to copy:"
            " use reshape, or merge_heads."),
        Mistake("heads-not-joined", together=1, edits=(("merge_heads(heads)", "heads.mean(dim=1)"),),
            message="W_o received d_k = {d_k} features for each word: lay the heads side by side first, h·d_k = d_model = {d_model} of them."),
        # scores
        Mistake("keys-not-transposed", together=1, edits=(("K.transpose(-2, -1)", "K"),),
            message="To compare every query with every key, the last axis of both must meet: exchange the last two axes of K."),
        Mistake("no-scale", old=" / math.sqrt(Q.shape[-1])", new="",
            message="The scores are not divided by √d_k = {sqrt_d_k}, so the weights come out too sharp."),
        Mistake("scale-by-d_model", old="Q.shape[-1]", new="x.shape[-1]",
            message="You divided by √d_model = {sqrt_d_model}; a head's dot product has only d_k = d_model / h = {d_k} terms: divide by √d_k = {sqrt_d_k}."),
        Mistake("divide-by-d_k", old="math.sqrt(Q.shape[-1])", new="Q.shape[-1]",
            message="You divided the scores by d_k = {d_k} itself, not by √d_k = {sqrt_d_k}."),
        Mistake("times-sqrt-d_k", together=1, edits=(("/ math.sqrt", "* math.sqrt"),),
            message="You multiplied the scores by √d_k = {sqrt_d_k}; divide by it."),
        Mistake("scale-by-h", together=1, edits=(("Q.shape[-1]", "self.n_heads"),),
            message="You divided by the square root of the number of heads; divide by √d_k = {sqrt_d_k}, the root of the features of one head."),
        Mistake("scale-by-T", together=1, edits=(("Q.shape[-1]", "Q.shape[-2]"),),
            message="You divided by √T, the root of the number of words; divide by √d_k = {sqrt_d_k}, the root of the features of one head."),
        # mask
        Mistake("mask-inverted", old="~mask", new="mask",
            message="The mask is inverted: here True means “may look”, so it is where the mask is False that the score becomes −inf."),
        Mistake("mask-without-effect", old="scores = scores.masked_fill(~mask, -torch.inf)", new="scores.masked_fill(~mask, -torch.inf)",
            message="The mask has no effect. masked_fill returns a new tensor and leaves the old one alone: keep its result, and see"
            " that it goes into the softmax."),
        Mistake("mask-as-zero", old="-torch.inf", new="0.0",
            message="A score of 0 is not “no weight”, exp(0) = 1: hidden positions need −inf before the softmax."),
        Mistake("mask-as-plus-inf", together=1, edits=(("-torch.inf", "torch.inf"),),
            message="Hidden positions were given +inf, the highest score there is; −inf gives them no weight."),
        Mistake("mask-as-minus-1e9", old="-torch.inf", new="-1e9",
            message="−1e9 does not fit in half precision, so the module stops there; −torch.inf fits everywhere and is what is meant."),
        alone("three-axes-taken-for-sentences", "You give a mask of three axes another one for the heads, as if its first were the sentences. By broadcasting three axes are (h, T, T), a mask for each head: use it as it comes.",
            ("scores.masked_fill(~mask, -torch.inf)", "scores.masked_fill(~(mask[:, None] if mask.dim() == 3 else mask), -torch.inf)")),
        Mistake("mask-added", together=1, edits=(("scores.masked_fill(~mask, -torch.inf)", "scores + mask"),),
            message="You added the mask to the scores, which adds 1 where looking is allowed; fill the others with −inf."),
        Mistake("mask-after-softmax",
            edits=(("scores = scores.masked_fill(~mask, -torch.inf)", "pass"),
                   ("scores.softmax(dim=-1)", "scores.softmax(dim=-1).masked_fill(~mask if mask is not None else scores.isnan(), 0.0)")),
            message="The mask comes after the softmax: hidden positions have already taken their share, and the rows no longer sum to 1."
            " Put −inf into the scores before it."),
        Mistake("mask-loses-head-axis", old="~mask", new="~mask.squeeze(1)", hides_others=True,
            message="A mask (B, 1, T, T) lost its head axis, so its sentences line up with the heads: it stops where B ≠ h, and where"
            " B = h every sentence gets the wrong mask, without a word. Use the mask as it comes; it broadcasts."),
        Mistake("mask-gets-another-axis", together=1, edits=(("~mask", "~mask.unsqueeze(1)"),),
            message="The mask already broadcasts to (B, h, T, T); adding a head axis to it moves the others out of place. Use it as it comes."),
        Mistake("mask-transposed", together=1, edits=(("~mask", "~mask.transpose(-2, -1)"),),
            message="The mask is transposed: mask[i, j] says whether position i may look at j, and rows of the scores are who looks."),
        # softmax
        Mistake("softmax-over-queries", old="dim=-1", new="dim=-2",
            message="The softmax runs over the queries, so each key's shares sum to 1; each query's should: the last axis."),
        Mistake("softmax-over-heads", old="dim=-1", new="dim=1",
            message="The softmax runs over the heads (axis 1 of four), so the heads share one weight; within each head, each query's"
            " weights should sum to 1: the last axis."),
        Mistake("naive-exponential", old="scores.softmax(dim=-1)", new="scores.exp() / scores.exp().sum(dim=-1, keepdim=True)",
            message="exp of a large score overflows, and inf/inf is NaN: use PyTorch's softmax, or take the row's maximum off first."),
        # dropout
        Mistake("no-dropout", old="self.dropout(weights)", new="weights", hides_others=True,
            message="Dropout has no effect in train mode: apply it to the weights before they average the values."),
        Mistake("weights-after-dropout",
            edits=(("scores.softmax(dim=-1)", "self.dropout(scores.softmax(dim=-1))"), ("self.dropout(weights)", "weights")),
            message="The weights you return have already gone through dropout, so in train mode their rows do not sum to 1: return the"
            " weights from before it."),
        Mistake("dropout-on-scores",
            edits=(("scores.softmax(dim=-1)", "self.dropout(scores).softmax(dim=-1)"), ("self.dropout(weights)", "weights")),
            message="Dropout sets scores to 0, which hides nothing, exp(0) = 1: apply it to the weights, after the softmax."),
        Mistake("dropout-on-features", together=1, edits=(("self.dropout(weights) @ V", "weights @ self.dropout(V)"),),
            message="Dropout falls on single features, of the values or of the output; apply it to the weights, so that whole"
            " look-ups are dropped."),
        Mistake("dropout-always-on", together=1, edits=(("self.dropout(weights)", "nn.functional.dropout(weights, self.dropout.p)"),),
            message="Dropout stays on in eval mode: nn.functional.dropout must be told training=self.training. An nn.Dropout layer knows, if __init__ makes it; one made in forward is new, and in train mode, at every call."),
        Mistake("dropout-as-share-kept", together=1, edits=(("nn.Dropout(dropout)", "nn.Dropout(1 - dropout)"),),
            message="dropout is the share that is dropped, not the share that is kept: nn.Dropout takes it as it is."),
        # results
        Mistake("no-output-layer", old="self.W_o(", new="(",
            message="The heads were joined but never mixed: pass the result through W_o."),
        Mistake("input-added", together=1, edits=(("self.W_o(", "x + self.W_o("),),
            message="You added the input to the output. That residual connection belongs to the block around attention, not in here."),
        Mistake("results-swapped", old="out, weights", new="weights, out", hides_others=True,
            message="The two results are exchanged: the output comes first, then the weights."),
        Mistake("weights-averaged", old="return out, weights", new="return out, weights.mean(dim=1)",
            message="You returned the mean of the heads' weights, (B, T, T); each head's own are wanted, (B, h, T, T)."),
        Mistake("scores-returned", together=1, edits=(("return out, weights", "return out, scores"),),
            message="The second result holds the scores; the weights, after the softmax, are wanted."),
        # __init__
        Mistake("no-check", old="d_model % n_heads != 0", new="False", hides_others=True,
            message="d_model = 10 with 3 heads is accepted and stops only later: when h does not divide d_model, __init__ should raise"
            " ValueError and name both numbers."),
        Mistake("another-error", together=1, edits=(("raise ValueError", "raise AssertionError"),),
            message="When h does not divide d_model, raise ValueError: an assert disappears under python -O, and callers expect ValueError."),
        Mistake("check-the-other-way-round", together=1, edits=(("d_model % n_heads", "n_heads % d_model"),),
            message="The check is the other way round: h must divide d_model, so look at the remainder d_model % n_heads."),
        Mistake("check-inverted", together=1, edits=(("d_model % n_heads != 0", "d_model % n_heads == 0"),),
            message="The error comes just where h does divide d_model: raise it if the remainder is not 0."),
        # more about scale and mask, of the kind that is looked for alone
        Mistake("scale-of-the-example", together=1, edits=(("math.sqrt(Q.shape[-1])", "math.sqrt(2)"),),
            message="You divided by √2, which is √d_k in the lesson's example only; here d_k = {d_k}: read it from `Q.shape[-1]`."),
        Mistake("half-of-d_k", together=1, edits=(("math.sqrt(Q.shape[-1])", "(Q.shape[-1] / 2)"),),
            message="You divided by half of d_k; the square root is wanted: √d_k = {sqrt_d_k}."),
        Mistake("always-causal", together=1, edits=(("        weights = scores", "        scores = scores.masked_fill(scores.new_ones(scores.shape[-2:]).triu(1) > 0, -torch.inf)\n        weights = scores"),),
            message="The future is always hidden in yours; the mask to use is the one that comes in, or none. (The causal mask comes in lesson 05.)"),
        Mistake("mask-as-for-tokens", together=1, edits=(("~mask", "~mask[:, None, None, :]"),),
            message="You gave the mask two axes, as if it came as (B, T); it comes broadcastable to (B, h, T, T) already. Use it as it is."),
        Mistake("mask-of-the-first-sentence", together=1, edits=(("~mask", "~mask[0]"),),
            message="You took the first entry of the mask alone: the first sentence's mask for all, or the first row for all words. Use the mask as it comes."),
        Mistake("mask-as-condition", together=1, edits=(("mask is not None", "mask"),),
            message="`if mask` asks a whole tensor for one truth value. To ask whether a mask was given, write `if mask is not None`."),
        Mistake("full-transpose", together=1, edits=(("K.transpose(-2, -1)", "K.T"),),
            message="`K.T` reverses all four axes; exchange the last two: `K.transpose(-2, -1)`, or `K.mT`."),
        Mistake("merged-twice", together=1, edits=(("merge_heads(heads)", "merge_heads(heads.transpose(1, 2))"),),
            message="You exchanged heads and positions before merge_heads, which does it itself: hand it (B, h, T, d_k)."),
        Mistake("layer-on-split-heads", together=1, edits=(("self.W_o(merge_heads(heads))", "merge_heads(self.W_o(heads))"),),
            message="A layer received one head's d_k = {d_k} features. Each of the four takes all d_model = {d_model}: W_q, W_k and W_v come before the split, W_o after the heads are merged."),
        Mistake("before-super", together=1, edits=(("        super().__init__()\n", ""),),
            message="`super().__init__()` is missing: nn.Module sets itself up there, and no layer can be attached before."),
    ),
    indistinguishable=pairs("view-after-transpose", "no-dropout", "dropout-on-scores"),
    alternatives=(
        # in one einsum a step, masks by torch.where
        _INIT + """
    def forward(self, x, mask=None):
        Q, K, V = (W(x).unflatten(-1, (self.h, -1)) for W in (self.W_q, self.W_k, self.W_v))
        scores = torch.einsum("bqhd,bkhd->bhqk", Q, K) / Q.shape[-1] ** 0.5
        if mask is not None:
            scores = torch.where(mask, scores, -torch.inf)
        weights = torch.softmax(scores, dim=3)
        out = torch.einsum("bhqk,bkhd->bqhd", self.dropout(weights), V)
        return self.W_o(out.flatten(2)), weights
""",
        # PyTorch's own attention for the output
        _INIT + """
    def forward(self, x, mask=None):
        Q, K, V = (W(x).unflatten(-1, (self.h, -1)).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v))
        scores = Q @ K.mT * Q.shape[-1] ** -0.5
        if mask is not None:
            scores = scores.masked_fill(mask.logical_not(), float("-inf"))
        p = self.dropout.p if self.training else 0.0
        out = nn.functional.scaled_dot_product_attention(Q, K, V, attn_mask=mask, dropout_p=p)
        return self.W_o(out.transpose(1, 2).flatten(2)), scores.softmax(-1)
""",
        # one head after another, on slices
        _INIT + """
    def forward(self, x, mask=None):
        Q, K, V = self.W_q(x), self.W_k(x), self.W_v(x)
        B, T, d_model = x.shape
        d_k = d_model // self.h
        if mask is not None:
            mask = mask.expand(B, self.h, T, T)
        heads, maps = [], []
        for i in range(self.h):
            own = slice(i * d_k, (i + 1) * d_k)
            scores = Q[..., own] @ K[..., own].transpose(1, 2) / math.sqrt(d_k)
            if mask is not None:
                scores = scores.masked_fill(~mask[:, i], -math.inf)
            maps.append(torch.softmax(scores, dim=2))
            heads.append(self.dropout(maps[-1]) @ V[..., own])
        return self.W_o(torch.cat(heads, dim=-1)), torch.stack(maps, dim=1)
""",
        # chunk and stack; the scale on the queries; the smallest finite number for what is hidden
        _INIT + """
    def split(self, z):
        return torch.stack(z.chunk(self.h, dim=-1), dim=1)

    def forward(self, x, mask=None):
        Q, K, V = self.split(self.W_q(x)), self.split(self.W_k(x)), self.split(self.W_v(x))
        scores = Q / math.sqrt(Q.size(-1)) @ K.transpose(2, 3)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
        weights = nn.functional.softmax(scores, dim=-1)
        heads = nn.functional.dropout(weights, self.dropout.p, self.training) @ V
        return self.W_o(torch.cat(heads.unbind(1), dim=-1)), weights
""",
        # the three projections in one product, heads folded into the batch inside, an additive mask
        _INIT + """
    def forward(self, x, mask=None):
        B, T, D = x.shape
        W = torch.cat((self.W_q.weight, self.W_k.weight, self.W_v.weight))
        Q, K, V = nn.functional.linear(x, W).view(B, T, 3, self.h, D // self.h).permute(2, 0, 3, 1, 4).reshape(3, B * self.h, T, -1)
        scores = torch.bmm(Q, K.transpose(1, 2)).view(B, self.h, T, T) / math.sqrt(D // self.h)
        if mask is not None:
            scores = scores + torch.zeros(mask.shape, dtype=x.dtype).masked_fill(~mask, -torch.inf)
        weights = scores.softmax(-1)
        heads = torch.bmm(self.dropout(weights).view(B * self.h, T, T), V).view(B, self.h, T, -1)
        return self.W_o(heads.transpose(1, 2).reshape(B, T, D)), weights
""",
    ),
)

# 4.4 ------------------------------------------------------------------------------------------------------------------


def _run_from_torch(candidate, mha, x):
    with _new_layers_hold(0.5):
        ours = candidate(mha)
    if isinstance(ours, nn.MultiheadAttention):
        raise AnswerProblem("torch-module-returned", "PyTorch's module came back; a MultiHeadAttention of ours is wanted, with its weights.")
    if (mha.in_proj_weight == 0.5).all() or (mha.out_proj.weight == 0.5).all():  # what new layers hold here
        raise AnswerProblem(
            "copied-backwards", "The weights of `mha` have changed: copy from it into your module, `ours.W_q.weight.copy_(W_q)`, not the other way round."
        )
    if ours is None or not isinstance(ours, nn.Module):
        return ours
    d_model = mha.embed_dim
    reference = _reference(d_model, mha.num_heads)
    looked_at(ours, reference)
    weights = {name: parameter.detach().clone() for name, parameter in ours.named_parameters()}
    with torch.no_grad():
        kept = [p.clone() for p in mha.parameters()]
        for p in mha.parameters():
            p.zero_()
        shared = sum(not torch.equal(p, weights[name]) for name, p in ours.named_parameters())
        for p, before in zip(mha.parameters(), kept, strict=True):
            p.copy_(before)
        _, shares = ours.eval()(x.to(ours.W_q.weight.dtype))
    dtype = str(ours.W_q.weight.dtype)
    return (*(weights[f"W_{role}.weight"] for role in "qkvo"), shares, _dropped_share(ours), shared, dtype)


def _dropped_share(ours):
    """The share of weights that a module drops in training: a lone word's look-up is lost, or multiplied by 1 / (1 - p)."""
    ours, weight = ours.train(), ours.W_o.weight
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        before = weight.clone()
        weight.copy_(torch.eye(len(weight)))
        x = torch.ones(40, 1, len(weight), dtype=ours.W_v.weight.dtype)
        factors = ours(x)[0] / ours.W_v(x)  # (40, 1, d_model)
        weight.copy_(before)
    return round(1 - 1 / float(factors.max()), 2)


def _from_torch_case(name, seed, d_model, n_heads, dtype=torch.float32, dropout=0.0):
    def make():
        rng = np.random.default_rng(seed)
        with _new_layers_hold(0.5):
            mha = nn.MultiheadAttention(d_model, n_heads, dropout, bias=False, batch_first=True, dtype=dtype)
        with torch.no_grad():
            for parameter in mha.parameters():
                parameter.copy_(_normal(rng, *parameter.shape, dtype=torch.float64))
        return mha, _normal(rng, 7, 9, d_model, dtype=dtype)

    return Case(name, make, {"B": 7, "T": 9, "h": n_heads, "d_model": d_model, "3·d_model": 3 * d_model})


def _what_was_copied(case, expected, got):
    """Weights that were never filled, or that share memory."""
    roles = ("W_q", "W_k", "W_v", "W_o")
    untouched = [f"`{role}`" for role, weight in zip(roles, got, strict=False) if torch.is_tensor(weight) and (weight == 0.5).all()]
    if untouched:
        verb = "still hold the numbers they were" if len(untouched) > 1 else "still holds the numbers it was"
        return f"{' and '.join(untouched)} {verb} made with. (`name = tensor` binds a name and fills nothing; `weight.copy_(tensor)` fills.)"
    if got[-2]:
        return (
            f"{got[-2]} of the four weights of your module {'lies' if got[-2] == 1 else 'lie'} in `mha`'s memory (a slice, a chunk, detach() and .data all do), so that training one module"
            " would change the other: copy the numbers, with copy_ or clone()."
        )


FROM_TORCH = Exercise(
    id="4.4",
    reference=multi_head.from_torch,
    results=("W_q.weight", "W_k.weight", "W_v.weight", "W_o.weight", "weights", "the share dropped in training", "the number of shared parameters", "dtype"),
    covers="two, three and one heads, float32 and float64, dropout",
    run=_run_from_torch,
    cases=(
        _from_torch_case("two heads", 0, 4, 2),
        _from_torch_case("three heads, float64, dropout", 1, 6, 3, torch.float64, dropout=0.25),
        _from_torch_case("one head, dropout", 2, 5, 1, dropout=0.5),
    ),
    mistakes=(
        Mistake("queries-and-keys-exchanged", edits=(("ours.W_q.weight", "ours.W_k.weight"), ("ours.W_k.weight", "ours.W_q.weight")),
            message="W_q and W_k are exchanged: in in_proj_weight the queries' rows come first, then the keys', then the values'."),
        Mistake("keys-and-values-exchanged", edits=(("ours.W_k.weight", "ours.W_v.weight"), ("ours.W_v.weight", "ours.W_k.weight")),
            message="W_k and W_v are exchanged: in in_proj_weight the queries' rows come first, then the keys', then the values'."),
        Mistake("queries-and-values-exchanged", edits=(("ours.W_q.weight", "ours.W_v.weight"), ("ours.W_v.weight", "ours.W_q.weight")),
            message="W_q and W_v are exchanged: in in_proj_weight the queries' rows come first, then the keys', then the values'."),
        Mistake("order-moved-on",
            edits=(("ours.W_q.weight", "ours.W_k.weight"), ("ours.W_k.weight", "ours.W_v.weight"), ("ours.W_v.weight", "ours.W_q.weight")),
            message="The three matrices are in another order: in in_proj_weight the queries' rows come first, then the keys', then the values'."),
        Mistake("order-moved-back",
            edits=(("ours.W_q.weight", "ours.W_v.weight"), ("ours.W_k.weight", "ours.W_q.weight"), ("ours.W_v.weight", "ours.W_k.weight")),
            message="The three matrices are in another order: in in_proj_weight the queries' rows come first, then the keys', then the values'."),
        Mistake("keys-from-queries", old="ours.W_k.weight.copy_(W_k)", new="ours.W_k.weight.copy_(W_q)",
            message="W_k got the queries' rows; they are the first d_model of in_proj_weight, and the keys' are the next."),
        Mistake("values-from-keys", old="ours.W_v.weight.copy_(W_v)", new="ours.W_v.weight.copy_(W_k)",
            message="W_v got the keys' rows; the values' are the last d_model of in_proj_weight."),
        Mistake("values-from-queries", old="ours.W_v.weight.copy_(W_v)", new="ours.W_v.weight.copy_(W_q)",
            message="W_v got the queries' rows; the values' are the last d_model of in_proj_weight."),
        Mistake("projections-transposed", edits=(("copy_(W_q)", "copy_(W_q.T)"), ("copy_(W_k)", "copy_(W_k.T)"), ("copy_(W_v)", "copy_(W_v.T)")),
            message="W_q, W_k and W_v are transposed: both modules keep their matrices as nn.Linear does, (out, in), so copy them as they are."),
        Mistake("output-transposed", old="mha.out_proj.weight)", new="mha.out_proj.weight.T)",
            message="W_o is transposed: both modules keep their matrices as nn.Linear does, (out, in), so copy it as it is."),
        Mistake("cut-by-columns", old="mha.in_proj_weight.chunk(3)", new="mha.in_proj_weight.reshape(-1, 3, mha.embed_dim).unbind(1)",
            message="You took every third row of in_proj_weight; the queries' d_model rows stand together at the top, then the keys', then the values'."),
        alone("rows-of-each-head-together", "You unpacked in_proj_weight as if each head's queries, keys and values stood together, (h, 3, d_k, d_model), as some models store them. PyTorch has all rows of W_q first, then those of W_k, then those of W_v.",
            ("mha.in_proj_weight.chunk(3)", "mha.in_proj_weight.reshape(mha.num_heads, 3, -1, mha.embed_dim).transpose(0, 1).flatten(1, 2)")),
        alone("rows-of-each-head-together-features-first", "You unpacked in_proj_weight as (h, d_k, 3, d_model), so every third row went to the same matrix. PyTorch has all rows of W_q first, then those of W_k, then those of W_v.",
            ("mha.in_proj_weight.chunk(3)", "mha.in_proj_weight.reshape(mha.num_heads, -1, 3, mha.embed_dim).permute(2, 1, 0, 3).flatten(1, 2)")),
        alone("rows-dealt-out-to-the-heads", "The rows within W_q, W_k and W_v are dealt out to the heads by turns. They need no other order: head 0's d_k rows come first in PyTorch's matrices as in ours.",
            ("mha.in_proj_weight.chunk(3)", "mha.in_proj_weight.reshape(3, -1, mha.num_heads, mha.embed_dim).transpose(1, 2).flatten(1, 2)")),
        alone("columns-dealt-out-to-the-heads", "The columns of W_o are dealt out to the heads by turns. They need no other order: head 0's d_k columns come first in PyTorch's matrix as in ours.",
            ("copy_(mha.out_proj.weight)", "copy_(mha.out_proj.weight.unflatten(1, (-1, mha.num_heads)).transpose(1, 2).flatten(1))")),
        Mistake("chunks-along-columns",
            source="def from_torch(mha):\n    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads)\n"
            "    W_q, W_k, W_v = mha.in_proj_weight.chunk(3, dim=1)\n    with torch.no_grad():\n        ours.W_q.weight.copy_(W_q)",
            message="You cut in_proj_weight, (3·d_model, d_model), along its columns; its rows are what the three matrices share out: dim 0."),
        Mistake("output-forgotten", old="ours.W_o.weight.copy_(mha.out_proj.weight)", new="pass",
            message="W_o still holds the random numbers it was made with: mha.out_proj.weight belongs there."),
        Mistake("output-from-values", old="copy_(mha.out_proj.weight)", new="copy_(W_v)",
            message="W_o got the values' rows; its weights are in mha.out_proj.weight."),
        Mistake("one-head", old="mha.num_heads", new="1",
            message="Your module has one head, PyTorch's has {h}: take the number from mha.num_heads."),
        Mistake("shared-memory", hides_others=True,
            edits=(("ours.W_q.weight.copy_(W_q)", "ours.W_q.weight.data = W_q"), ("ours.W_k.weight.copy_(W_k)", "ours.W_k.weight.data = W_k"),
                   ("ours.W_v.weight.copy_(W_v)", "ours.W_v.weight.data = W_v"),
                   ("ours.W_o.weight.copy_(mha.out_proj.weight)", "ours.W_o.weight.data = mha.out_proj.weight.data")),
            message="The two modules share their memory, so training one would change the other: copy the numbers (copy_, clone, or"
            " load_state_dict)."),
        Mistake("dtype-lost", old="ours = ours.to(mha.in_proj_weight.dtype)", new="pass",
            message="Your module stays in float32 although mha may hold float64, so the weights are rounded and float64 inputs refused:"
            " move yours to the dtype of mha.in_proj_weight first."),
        Mistake("dropout-lost", old=", mha.dropout", new="",
            message="Your module drops no weights in training, but `mha` may drop some: hand on `mha.dropout` when you make yours."),
        alone("head_dim-as-heads", "mha.head_dim is the number of features of one head; the number of heads is mha.num_heads = {h}.", ("mha.num_heads", "mha.head_dim")),
        alone("tensor-as-parameter", "A parameter cannot be replaced by a plain tensor: fill the one that is there, with `copy_` under torch.no_grad().",
            ("ours.W_q.weight.copy_(W_q)", "ours.W_q.weight = W_q")),
        alone("outside-no-grad", "A parameter is filled in place here, which autograd allows only under `torch.no_grad()`.", ("with torch.no_grad():", "if True:")),
        alone("separate-matrices", "mha.q_proj_weight is None: PyTorch keeps the three apart only where keys or values have a width of their own. Here all are in mha.in_proj_weight.",
            ("copy_(W_q)", "copy_(mha.q_proj_weight)")),
        Mistake("state-dict-as-it-is", source="def from_torch(mha):\n    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads)\n    ours.load_state_dict(mha.state_dict())\n    return ours",
            message="The two modules name their weights differently: mha holds `in_proj_weight`, three matrices one above the other, and `out_proj.weight`."
            " Cut and copy them one by one."),
        alone("sizes-exchanged", "The sizes are exchanged: MultiHeadAttention(d_model, n_heads), so mha.embed_dim comes first.",
            ("mha.embed_dim, mha.num_heads", "mha.num_heads, mha.embed_dim")),
        alone("layer-not-weight", "`ours.W_q` is a layer; the matrix in it is `ours.W_q.weight`.", ("ours.W_q.weight", "ours.W_q")),
        alone("last-row-left-out", "The values' rows end one short: a slice up to −1 leaves the last row out, `[2 * d_model :]` goes to the end.", ("copy_(W_v)", "copy_(W_v[:-1])")),
    ),
    explain=(_what_was_copied, nearly_right),
    alternatives=(
        """
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout).to(mha.out_proj.weight)
    names = ("W_q.weight", "W_k.weight", "W_v.weight")
    state = dict(zip(names, mha.in_proj_weight.chunk(3, dim=0)))
    ours.load_state_dict(state | {"W_o.weight": mha.out_proj.weight})
    return ours
""",
        """
def from_torch(mha):
    d = mha.embed_dim
    ours = MultiHeadAttention(d, mha.num_heads, dropout=mha.dropout)
    W = mha.in_proj_weight.detach()
    ours.W_q.weight = nn.Parameter(W[:d].clone())
    ours.W_k.weight = nn.Parameter(W[d : 2 * d].clone())
    ours.W_v.weight = nn.Parameter(W[2 * d :].clone())
    ours.W_o.weight = nn.Parameter(mha.out_proj.weight.detach().clone())
    return ours
""",
        """
def from_torch(mha):
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout)
    parts = mha.in_proj_weight.view(3, mha.embed_dim, mha.embed_dim)
    for layer, weight in zip((ours.W_q, ours.W_k, ours.W_v, ours.W_o), (*parts, mha.out_proj.weight)):
        layer.weight.data = weight.data.clone()
    return ours
""",
    ),
)

EXERCISES = (SPLIT, MERGE, ATTENTION, FROM_TORCH)

PREDICTIONS = (
    Prediction("view-without-transpose", answer="2 and 3", choices=("4 and 5", "2 and 3", "6 and 7"),
        why="`view` reads the numbers in the order in which they lie in memory, 0, 1, 2, 3 …, and cuts after every two. So 2 and 3"
        " come second, although they are the last two features of word 0."),
    Prediction("weight-of-on", answer=1 / 7, tolerance=0.05,
        why="A query of zeros scores 0 with every key, so all seven words get the same weight, 1/7 = 0.14."),
    Prediction("one-head-loss", answer="about a half", choices=("about 0", "about a half", "about 1"),
        why="Take weight a on the first word and b on the second, in any proportion. Of the features that are wanted from the first word,"
        " the share b²/(a² + b²) of the variance stays unknown; of the others it is a²/(a² + b²). The two shares sum to 1, so their"
        " mean is a half."),
    Prediction("forgotten-tilde", answer="every word sees only itself",
        choices=("PyTorch raises an error", "every word sees only itself", "nothing is hidden"),
        why="PyTorch's module reads True as “may not”. Our mask is True everywhere but on the diagonal, so only the diagonal is left."),
    Prediction("parameters-of-eight-heads", answer=16384, tolerance=0.0,
        why="The columns of the same four matrices are dealt out to the heads. There are no more of them than before."),
    Prediction("mask-without-head-axis", answer="each head gets a sentence's mask",
        choices=("it raises an error", "each sentence gets its mask", "each head gets a sentence's mask"),
        why="Broadcasting lines axes up from the right: (2, 7, 7) is read as (1, 2, 7, 7). So the axis of sentences meets the axis"
        " of heads, and both are 2."),
)
