"""Lesson 09: a block, a tiny GPT, its loss and its writing."""

import functools
import inspect

import numpy as np
import torch
from torch import nn

from ... import gpt
from ..exercise import AnswerProblem, Case, Exercise, Finding, Mistake, Prediction, pairs
from ..modules import built, filled, gradients_reach_every_parameter
from .common import alone, keeps_gradient, keeps_names, keeps_nothing, nearly_right

# Inputs ---------------------------------------------------------------------------------------------------------------


def _normal(seed, *shape, dtype=torch.float32, scale=1.0):
    return torch.from_numpy(scale * np.random.default_rng(seed).normal(size=shape)).to(dtype)


def _tokens(seed, B, T, n_tokens):
    return torch.from_numpy(np.random.default_rng(seed).integers(n_tokens, size=(B, T)))


# 9.1 ------------------------------------------------------------------------------------------------------------------

_MEAN, _VARIANCE = "x.mean(dim=-1, keepdim=True)", "x.var(dim=-1, keepdim=True, correction=0)"


def _norm_case(name, seed, *shape, dtype=torch.float32, spread=2.0, eps=1e-5):
    sizes = dict(zip(("B", "T"), shape[:-1], strict=False)) if len(shape) == 3 else {}

    def make():
        # Positions and sentences differ in mean and in spread, so that mixing them shows.
        x = spread * _normal(seed, *shape, dtype=dtype)
        x = x * torch.linspace(0.5, 2.0, x[..., 0].numel(), dtype=dtype).view(shape[:-1])[..., None]
        x = x + spread * torch.linspace(-1.0, 3.0, x[..., 0].numel(), dtype=dtype).view(shape[:-1])[..., None]
        return x, _normal(seed + 50, shape[-1], dtype=dtype), _normal(seed + 90, shape[-1], dtype=dtype), eps

    return Case(name, make, sizes | {"d": shape[-1]})


def _over(dims):
    """Edits that take mean and variance over other axes."""
    return ((_MEAN, f"x.mean(dim={dims}, keepdim=True)"), (_VARIANCE, f"x.var(dim={dims}, keepdim=True, correction=0)"))


LAYER_NORM = Exercise(
    id="9.1",
    keeps_dtype=True,
    reference=gpt.layer_norm,
    covers="batches, single rows, float64, rows that are nearly constant, a large eps",
    words={"mean": "the mean of each row", "variance": "the variance of each row", "normed": "the rows before scale and shift"},
    explain=(nearly_right,),
    properties=(
        keeps_names("x", "scale", "shift", "eps"),
        keeps_gradient(lambda: (torch.arange(6.0).reshape(2, 3), torch.ones(3), torch.zeros(3), 1e-5)),
    ),
    cases=(
        _norm_case("three sentences of five words", 0, 3, 5, 7),
        Case("the row (1, 3) of the text", lambda: (torch.tensor([[1.0, 3.0]]), torch.ones(2), torch.zeros(2)), {"d": 2}),
        _norm_case("float64", 1, 5, 2, 11, dtype=torch.float64),
        _norm_case("one row alone", 2, 1, 9),
        _norm_case("rows that are nearly constant", 3, 3, 5, 7, dtype=torch.float64, spread=1e-3),
        _norm_case("a large eps", 4, 3, 5, 7, eps=0.5),
        Case("a mean of 1000", lambda: (1000 + _normal(6, 5, 7), torch.ones(7), torch.zeros(7)), {"T": 5, "d": 7}, tolerance=2e-3),
        Case("no eps given", lambda: (_normal(5, 5, 3, scale=0.01), torch.ones(3), torch.zeros(3)), {"T": 5, "d": 3}),
    ),
    mistakes=(
        Mistake("norm-over-positions", edits=_over(-2), hides_others=True,
            message="Mean and variance run over the positions (axis −2): each word is then normed by its neighbours, later ones"
            " included, which leaks the future. Norm each position's own features, the last axis."),
        Mistake("norm-over-batch", edits=_over(0), hides_others=True,
            message="Mean and variance run over the first axis, so sentences are mixed (that is near to batch norm). Norm each"
            " position's own features, the last axis."),
        Mistake("norm-over-all-but-batch", edits=_over("tuple(range(1, x.ndim))"),
            message="You normed positions and features together, the whole sentence at once: each position is normed by itself,"
            " over the last axis only."),
        Mistake("norm-over-everything", edits=((_MEAN, "x.mean()"), (_VARIANCE, "x.var(correction=0)")),
            message="Mean and variance are one number for everything: each position has its own, over the last axis."),
        Mistake("unbiased-variance", old=", correction=0", new="",
            message="Your variance divides by d − 1, as `var` and `std` do unless told otherwise; layer norm divides by d: `correction=0`."
            " Training would not show it."),
        Mistake("mean-of-squares", old=_VARIANCE, new="(x * x).mean(dim=-1, keepdim=True) - mean**2", together=2,
            message="Your variance is the mean of the squares minus the square of the mean. Where the mean is large, two nearly equal numbers are subtracted and most digits are lost: take the mean of the squared differences."),
        Mistake("eps-outside-root", old="torch.sqrt(variance + eps)", new="(torch.sqrt(variance) + eps)",
            message="You added eps to the standard deviation. It belongs under the root, added to the variance; rows that are nearly"
            " constant show the difference."),
        Mistake("no-eps", old="torch.sqrt(variance + eps)", new="torch.sqrt(variance)",
            message="eps is missing, so a constant row would divide 0 by 0: add it to the variance, under the root."),
        Mistake("eps-fixed", old="variance + eps", new="variance + 1e-5",
            message="eps is written as a fixed number; use the argument."),
        Mistake("not-the-root", old="torch.sqrt(variance + eps)", new="(variance + eps)",
            message="You divided by the variance; divide by its root, the standard deviation."),
        Mistake("squared-not-rooted", old="torch.sqrt(variance + eps)", new="(variance + eps) ** 2",
            message="You divided by the variance squared; divide by its root: the power is 0.5, not 2."),
        Mistake("multiplied-by-the-deviation", old="(x - mean) /", new="(x - mean) *",
            message="You multiplied by the standard deviation; divide by it."),
        Mistake("mean-not-subtracted", old="(x - mean)", new="x",
            message="The mean is not subtracted: a row should have mean 0 before scale and shift."),
        Mistake("rms-norm", edits=((_MEAN, "0.0"), (_VARIANCE, "x.square().mean(dim=-1, keepdim=True)")),
            message="The mean is never subtracted, and the spread is measured around 0: that is RMS norm, which some newer models use."
            " Layer norm subtracts the mean first."),
        Mistake("mean-added", old="(x - mean)", new="(x + mean)", message="The mean is added; subtract it."),
        Mistake("no-scale", old="scale * normed", new="normed", message="`scale` is not used: multiply each feature by its own entry of it."),
        Mistake("no-shift", old=" + shift", new="", message="`shift` is not used: add it at the end, to each feature its own entry."),
        alone("scale-and-shift-exchanged", "scale and shift have changed places: `scale` multiplies, `shift` is added.",
            ("scale * normed + shift", "shift * normed + scale")),
        alone("shift-scaled", "The shift is multiplied by the scale too: multiply first, then add `shift` as it is.",
            ("scale * normed + shift", "scale * (normed + shift)")),
        alone("divided-by-scale", "You divided by `scale`; multiply by it.", ("scale * normed", "normed / scale")),
        alone("no-keepdim", "Mean and variance lost the last axis, so they do not line up with the rows of x: keep it, `keepdim=True`.",
            (_MEAN, "x.mean(dim=-1)"), (_VARIANCE, "x.var(dim=-1, correction=0)")),
    ),
    indistinguishable=pairs("rms-norm", "mean-not-subtracted", "mean-added"),
    alternatives=(
        "def layer_norm(x, scale, shift, eps=1e-5):\n    return F.layer_norm(x, x.shape[-1:], scale, shift, eps)",
        "def layer_norm(x, scale, shift, eps=1e-5):\n    x = x - x.mean(-1, keepdim=True)\n"
        "    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * scale + shift",
        "def layer_norm(x, scale, shift, eps=1e-5):\n    variance, mean = torch.var_mean(x, dim=-1, unbiased=False, keepdim=True)\n"
        "    return torch.addcmul(shift, (x - mean) / (variance + eps) ** 0.5, scale)",
    ),
)

# 9.2 ------------------------------------------------------------------------------------------------------------------


def _filled(model, reference):
    """The model with weights drawn by name; what is wrong with its layers is said in the terms of this lesson."""
    blocks = getattr(model, "blocks", None)
    if isinstance(blocks, (list, tuple)) and any(isinstance(block, nn.Module) for block in blocks):
        raise AnswerProblem(
            "blocks-in-plain-list",
            "The blocks are in a plain Python list, and PyTorch cannot see layers inside it: they would never be trained."
            " `nn.ModuleList` holds them so that it can.",
        )
    if isinstance(blocks, nn.ModuleList) and 1 < len(blocks) != len(set(blocks)):
        raise AnswerProblem(
            "one-block-for-all",
            "All layers are the same block, so they share their parameters: `[block] * n` repeats one object. Make a new one"
            " for each layer, in a comprehension.",
        )
    try:
        return filled(model, reference)
    except AnswerProblem:
        names = {name for name, _ in model.named_parameters()} - {name for name, _ in reference.named_parameters()}
        if any("pos" in name.lower() for name in names):
            raise AnswerProblem(
                "positions-added",
                f"There is a table of positions, `{next(name for name in names if 'pos' in name.lower())}`. This model needs none:"
                " the attention inside the blocks turns queries and keys by their positions (RoPE).",
            ) from None
        if "feed_forward.1.weight" in names or any(name.endswith("feed_forward.1.weight") for name in names):
            raise AnswerProblem(
                "no-activation",
                "Nothing bends between the two layers of `feed_forward`: without `nn.GELU()` there, they are one linear layer.",
            ) from None
        raise


@functools.cache
def _reference(kind, init):
    return built(kind, init)


def _probabilities_too(model, inputs):
    """What else is wrong with a model that cannot be filled: probabilities, or their logarithms, where it should give logits."""
    try:
        with torch.no_grad():
            out = model.float().eval()(*inputs)
        sums = [out.sum(dim=-1), out.exp().sum(dim=-1)] if out.dim() == 3 and out.shape[-1] > 1 else []
        told = [what for what, total in zip(_GIVEN, sums, strict=False) if torch.allclose(total, torch.ones_like(total), atol=1e-4)]
    except Exception:  # it does not run as it is, and what it lacks has been said
        return ""
    return f" Besides, you return {told[0]}; the model returns logits as the head gives them, and the loss does the softmax." if told else ""


_GIVEN = ("probabilities", "logarithms of probabilities")


def _runner(kind):
    def run(candidate, init, inputs, dtype=torch.float32):
        model = built(candidate, init)
        try:
            model = _filled(model, _reference(kind, init))
        except AnswerProblem as problem:
            raise AnswerProblem(problem.finding.id, problem.finding.message + _probabilities_too(model, inputs)) from None
        model = model.to(dtype).eval()
        with torch.no_grad():
            return model(*inputs)

    return run


def _ready(kind, init):
    """For `keeps_nothing`: a function of a class that gives a module of these sizes, with weights drawn by name."""
    return lambda candidate: _filled(built(candidate, init), _reference(kind, init)).eval()


def _call(seed, B, T, masked=False):
    """A function that makes the arguments of one call of a block."""
    return lambda: (_normal(seed, B, T, 12), *((gpt.causal_mask(T),) if masked else ()))


def _block_case(name, seed, B, T, d_model, n_heads, mask=None, dtype=torch.float32, scale=1.0):
    dims = {"B": B, "T": T, "d_model": d_model, "h": n_heads}

    def make():
        allowed = {None: None, "causal": gpt.causal_mask(T)}.get(mask)
        if mask == "each":
            allowed = torch.from_numpy(np.random.default_rng(seed).random((B, 1, T, T)) < 0.5) | torch.eye(T, dtype=torch.bool)
        x = scale * _normal(seed, B, T, d_model, dtype=dtype) + 0.5
        return (d_model, n_heads), (x,) if mask is None else (x, allowed), dtype

    return Case(name, make, dims)


_ATTEND, _ADD, _END = "found, _ = self.attention(self.norm_1(x), mask)", "x = x + found", "return x + self.feed_forward(self.norm_2(x))"
_INIT = """
class Block(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.feed_forward = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))
        self.attention = RotaryAttention(d_model, n_heads)
        self.norm_2, self.norm_1 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, x, mask=None):
"""

_NEAR = (
    "skips-from-the-normed", "first-skip-from-the-normed", "second-skip-from-the-normed",
)

BLOCK = Exercise(
    id="9.2",
    reference=gpt.Block,
    run=_runner(gpt.Block),
    covers="no mask, a causal mask, a mask for each sentence, float64, loud inputs, one position",
    max_mistakes=2,
    explain=(nearly_right,),
    properties=(
        keeps_names("d_model", "n_heads"),
        gradients_reach_every_parameter(gpt.Block, (12, 2), lambda: (_normal(20, 5, 9, 12),)),
        keeps_nothing(
            _ready(gpt.Block, (12, 2)),
            ("without a mask", _call(30, 3, 7)),
            ("with a mask", _call(30, 3, 7, masked=True)),
            ("without a mask", _call(30, 3, 7)),
            ("with fewer words", _call(31, 2, 5)),
            ("with more words and a mask", _call(32, 3, 8, masked=True)),
        ),
    ),
    cases=(
        _block_case("no mask", 0, 5, 9, 12, 2),
        _block_case("a causal mask", 1, 5, 9, 12, 2, mask="causal"),
        _block_case("a mask for each sentence", 2, 5, 9, 12, 2, mask="each"),
        _block_case("float64, three heads", 3, 2, 7, 12, 3, mask="causal", dtype=torch.float64),
        _block_case("loud inputs", 4, 5, 9, 12, 2, mask="causal", scale=20.0),
        _block_case("one position", 5, 5, 1, 12, 2),
    ),
    mistakes=(
        # skips
        Mistake("no-first-skip", old=_ADD, new="x = found",
            message="The attention's result replaces x: there is no skip connection around it. Add it to what came in."),
        Mistake("no-second-skip", old=_END, new="return self.feed_forward(self.norm_2(x))",
            message="The feed-forward network's result replaces x: there is no skip connection around it. Add it to x."),
        Mistake("attention-doubled", old=_ADD, new="x = found + found",
            message="The attention's result is added to itself: x was overwritten before the sum. Add it to what came in."),
        Mistake("second-skip-from-the-start", edits=((_ATTEND, "start = x\n        " + _ATTEND), (_END, "return start + self.feed_forward(self.norm_2(x))")),
            message="The second sum adds the block's input: what attention found is lost from it. The second half starts from what"
            " the first half left."),
        Mistake("halves-side-by-side", edits=((_ATTEND, "start = x\n        " + _ATTEND), (_END, "return x + self.feed_forward(self.norm_2(start))")),
            message="Both halves read the block's input, side by side (some models are built so). Here the second half reads what the"
            " first half left."),
        Mistake("attention-unused", old=_ADD, new="x = x", hides_others=True,
            message="The attention is computed and its result never used: add it to x."),
        Mistake("first-sum-multiplied", old=_ADD, new="x = x * found", message="A skip connection adds; around the attention you multiplied."),
        Mistake("second-sum-multiplied", old="return x + self", new="return x * self",
            message="A skip connection adds; around the feed-forward network you multiplied."),
        Mistake("skips-from-the-normed", edits=((_ATTEND, "x = self.norm_1(x)\n        found, _ = self.attention(x, mask)"),
                (_END, "x = self.norm_2(x)\n        return x + self.feed_forward(x)")),
            message="Both skips carry the normed x. What is added to is x itself: a skip goes around the norm too. Training would not show it."),
        Mistake("first-skip-from-the-normed", old=_ATTEND, new="x = self.norm_1(x)\n        found, _ = self.attention(x, mask)",
            message="The skip around the attention carries the normed x. What is added to is x itself: a skip goes around the norm too."),
        Mistake("second-skip-from-the-normed", old=_END, new="x = self.norm_2(x)\n        return x + self.feed_forward(x)",
            message="The skip around the feed-forward network carries the normed x. What is added to is x itself."),
        # norms
        Mistake("post-norm", edits=((_ATTEND, "found, _ = self.attention(x, mask)"), (_ADD, "x = self.norm_1(x + found)"),
                (_END, "return self.norm_2(x + self.feed_forward(x))")),
            message="The norms come after the sums, as in the Transformer of 2017 (post-norm). Here each half reads a normed x, and the"
            " sum is left as it is (pre-norm)."),
        Mistake("norm-on-the-results", edits=((_ATTEND, "found, _ = self.attention(x, mask)"), (_ADD, "x = x + self.norm_1(found)"),
                (_END, "return x + self.norm_2(self.feed_forward(x))")),
            message="You normed what each half gives; norm what it reads."),
        Mistake("first-norm-left-out", old=_ATTEND, new="found, _ = self.attention(x, mask)",
            message="The attention reads x as it is: it should read norm_1(x)."),
        Mistake("second-norm-left-out", old="self.feed_forward(self.norm_2(x))", new="self.feed_forward(x)",
            message="The feed-forward network reads x as it is: it should read norm_2(x)."),
        Mistake("one-norm-for-both", old="self.norm_2(x)", new="self.norm_1(x)",
            message="norm_1 is used for both halves: the second has a norm of its own, norm_2. Training would not show it."),
        alone("norms-exchanged", "The two norms have changed places: norm_1 belongs to the attention, norm_2 to the feed-forward network.",
            ("self.norm_1(x)", "self.norm_2(x)"), ("self.feed_forward(self.norm_2(x))", "self.feed_forward(self.norm_1(x))")),
        alone("halves-in-the-other-order", "The feed-forward network comes first in yours: attention first, then the feed-forward network.",
            (_ATTEND, "x = x + self.feed_forward(self.norm_2(x))\n        " + _ATTEND), (_END, "return x")),
        # parts
        Mistake("identity-for-gelu", old="nn.GELU()", new="nn.Identity()",
            message="Nothing bends between the two layers of the feed-forward network, so they are one linear layer: nn.GELU() goes there."),
        Mistake("relu-for-gelu", old="nn.GELU()", new="nn.ReLU()", message="You used ReLU (as the Transformer of 2017 does); GELU is asked for here."),
        Mistake("approximate-gelu", together=1, old="nn.GELU()", new='nn.GELU(approximate="tanh")',
            message="You used the approximate GELU; the exact one, nn.GELU(), is asked for here."),
        Mistake("other-bend", old="nn.GELU()", new="nn.SiLU()", message="You used SiLU; GELU is asked for here."),
        Mistake("mask-not-passed", old="(self.norm_1(x), mask)", new="(self.norm_1(x))",
            message="The mask comes in and never reaches the attention: hand it on, or every word sees the future."),
        Mistake("no-rope", old="RotaryAttention(", new="MultiHeadAttention(",
            message="You used MultiHeadAttention of lesson 04, which knows no order. RotaryAttention has the same layers, and RoPE."),
        # results
        alone("two-results-not-taken-apart", "The attention returns two results, out and weights, as a tuple; only the first is added: `found, _ = …`, or `[0]`.",
            ("found, _ = self", "found = self"), hides_others=True),
        alone("weights-taken-for-out", "You took the weights, the second result; what attention found is the first.", ("found, _ = self", "_, found = self"), hides_others=True),
        alone("weights-returned-too", "The block returns x alone; yours returns the weights beside it.", ("found, _ = self", "found, weights = self"), (_END, _END + ", weights")),
        alone("first-half-only", "The feed-forward half is missing.", (_END, "return x")),
    ),
    indistinguishable=(
        # What stands alone in front of a norm may be of any size.
        *pairs("no-first-skip", *_NEAR), *pairs("attention-doubled", *_NEAR),
        ("first-skip-from-the-normed", "second-skip-from-the-normed"),  # which have a name of their own
    ),
    alternatives=(
        _INIT + "        x = x + self.attention(self.norm_1(x), mask)[0]\n        return x + self.feed_forward(self.norm_2(x))",
        _INIT + "        y = self.attention(self.norm_1(x), mask=mask)[0] + x\n        z = self.norm_2(y)\n"
        "        for layer in self.feed_forward:\n            z = layer(z)\n        return y + z",
    ),
)

# 9.3 ------------------------------------------------------------------------------------------------------------------


def _gpt_case(name, seed, B, T, n_tokens, d_model, n_heads, n_layers, max_len, dtype=torch.float32, same=False):
    dims = {"B": B, "T": T, "n_tokens": n_tokens, "d_model": d_model}
    dims |= {} if max_len == T else {"max_len": max_len}

    def make():
        tokens = _tokens(seed, 1 if same else B, T, n_tokens)
        return (n_tokens, d_model, n_heads, n_layers, max_len), (tokens.repeat(B, 1) if same else tokens,), dtype

    return Case(name, make, dims)


def _keeps_max_len(candidate):
    model = built(candidate, (19, 12, 2, 1, 9))
    if getattr(model, "max_len", None) != 9:
        return Finding(
            "max_len-not-kept",
            "The numbers are right, but `max_len` is not kept: write `self.max_len = max_len`, since training and writing ask for it.",
        )


_LOOP = "x = block(x, mask)"
_GPT_INIT = """
class TinyGPT(nn.Module):
    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.head = nn.Linear(d_model, n_tokens, bias=False)
        self.norm = nn.LayerNorm(d_model)
        self.blocks = nn.ModuleList([Block(d_model, n_heads) for _ in range(n_layers)])
        self.embedding = nn.Embedding(n_tokens, d_model)

    def forward(self, tokens):
"""

TINY_GPT = Exercise(
    id="9.3",
    reference=gpt.TinyGPT,
    run=_runner(gpt.TinyGPT),
    results=("logits",),
    covers="one to three layers, short and full windows, equal sentences, float64",
    max_mistakes=2,
    explain=(nearly_right,),
    properties=(
        keeps_names("n_tokens", "d_model", "n_heads", "n_layers", "max_len"),
        gradients_reach_every_parameter(gpt.TinyGPT, (19, 12, 2, 2, 9), lambda: (torch.arange(9).repeat(5, 1),)),
        keeps_nothing(
            _ready(gpt.TinyGPT, (19, 12, 2, 2, 9)),
            ("with seven tokens", lambda: (_tokens(30, 3, 7, 19),)),
            ("with seven other tokens", lambda: (_tokens(31, 3, 7, 19),)),
            ("with four tokens", lambda: (_tokens(32, 3, 4, 19),)),
            ("with nine tokens", lambda: (_tokens(33, 2, 9, 19),)),
        ),
        _keeps_max_len,
    ),
    cases=(
        _gpt_case("two layers", 0, 5, 9, 19, 12, 2, 2, 9),
        _gpt_case("three layers, a short window, float64", 1, 4, 7, 17, 6, 1, 3, 13, dtype=torch.float64),
        _gpt_case("one layer", 2, 5, 9, 19, 12, 3, 1, 9),
        _gpt_case("equal sentences", 3, 3, 8, 19, 12, 2, 2, 9, same=True),
        _gpt_case("one token", 4, 5, 1, 19, 12, 2, 2, 9),
    ),
    mistakes=(
        Mistake("mask-not-handed-on", old="block(x, mask)", new="block(x)", hides_others=True,
            message="The blocks get no mask, so every position sees the token it is to predict. Hand the causal mask to each of them."),
        Mistake("mask-upside-down", old="causal_mask(tokens.shape[1])", new="causal_mask(tokens.shape[1]).T",
            message="The mask is upside down: each position sees itself and what comes later. True means “may look”, on and below the diagonal."),
        Mistake("mask-inverted", old="causal_mask(tokens.shape[1])", new="~causal_mask(tokens.shape[1])", hides_others=True,
            message="The mask is inverted, so each position sees only the future, and the last one nothing: its row is NaN. True means “may look”."),
        Mistake("mask-without-diagonal", old="causal_mask(tokens.shape[1])", new="causal_mask(tokens.shape[1]).tril(-1)", hides_others=True,
            message="The diagonal of the mask is missing: a position may look at itself, and the first one has nothing else."),
        Mistake("mask-one-ahead", old="causal_mask(tokens.shape[1])", new="torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool).tril(1)",
            message="The mask is one diagonal too wide: each position sees the token it is to predict."),
        Mistake("mask-of-the-batch", old="causal_mask(tokens.shape[1])", new="causal_mask(tokens.shape[0])", hides_others=True,
            message="The mask was made for B = {B}, the first axis of tokens; it needs one row for each position, the second axis."),
        Mistake("no-final-norm", old="self.norm(x)", new="x",
            message="The last norm is not used: norm what the blocks leave, then score it with the head. Training would hardly show it."),
        Mistake("norm-before-the-blocks", edits=(("self.embedding(tokens)", "self.norm(self.embedding(tokens))"), ("self.head(self.norm(x))", "self.head(x)")),
            message="`norm` comes before the blocks; it belongs after them, in front of the head."),
        Mistake("embedding-scaled", old="self.embedding(tokens)", new="self.embedding(tokens) * self.embedding.embedding_dim ** 0.5",
            message="The embedding is multiplied by √d_model, as in the Transformer of 2017; here it is taken as it is."),
        Mistake("softmax-in-the-model", old="self.head(self.norm(x))", new="self.head(self.norm(x)).softmax(dim=-1)",
            message="You returned probabilities: the model returns logits. The loss does the softmax itself, and a second one stops the learning."),
        Mistake("log-softmax-in-the-model", old="self.head(self.norm(x))", new="self.head(self.norm(x)).log_softmax(dim=-1)",
            message="You returned logarithms of probabilities: the model returns the logits as the head gives them; the loss does the rest."),
        Mistake("head-is-the-embedding", old="self.head(self.norm(x))", new="self.norm(x) @ self.embedding.weight.T",
            message="The embedding is used as the head (tied weights, which many models have). Here the head has weights of its own."),
        alone("softmax-over-positions", "You returned probabilities, and they sum to 1 over the positions. The model returns the logits as the head gives them; the loss does the softmax itself, over the tokens.",
            ("self.head(self.norm(x))", "self.head(self.norm(x)).softmax(dim=1)")),
        alone("sigmoid-in-the-model", "You returned numbers between 0 and 1, a sigmoid of the scores. The model returns the logits as the head gives them; the loss does the rest.",
            ("self.head(self.norm(x))", "self.head(self.norm(x)).sigmoid()")),
        alone("softmax-in-front-of-the-head", "A softmax stands in front of the head, so features become shares before they are scored. The head reads the normed features as they are.",
            ("self.norm(x)", "self.norm(x).softmax(dim=-1)")),
        alone("logits-left-flat", "Batch and positions are one axis in your logits: return (B, T, n_tokens), and flatten in the loss only.",
            ("self.head(self.norm(x))", "self.head(self.norm(x)).flatten(0, 1)")),
        alone("last-position-only", "You scored the last position only; the model scores the next token at every position, (B, T, n_tokens): training needs all.",
            ("self.norm(x)", "self.norm(x[:, -1])")),
        alone("batch-axis-first-lost", "Positions and tokens are exchanged in your logits: (B, T, n_tokens) is wanted.", ("self.head(self.norm(x))", "self.head(self.norm(x)).transpose(1, 2)")),
        alone("block-result-dropped", "What a block returns is not kept, so x passes by all of them: x becomes what the block returns.", (_LOOP, "block(x, mask)")),
        alone("last-block-only", "Every block reads the embedding, and only the last one counts: hand x from block to block.",
            (_LOOP, "out = block(x, mask)"), ("self.norm(x)", "self.norm(out)")),
        alone("first-block-only", "The loop ends after the first block: is `return` inside it?", ("x = block(x, mask)\n        return", "x = block(x, mask)\n            return")),
        alone("blocks-backwards", "The blocks are applied from last to first.", ("in self.blocks:", "in reversed(self.blocks):")),
        alone("blocks-added-up", "You added each block's result to x; a block's own skips have done that already.", (_LOOP, "x = x + block(x, mask)")),
        alone("norm-inside-the-loop", "`norm` is applied after every block; it belongs after the last one.", (_LOOP, "x = self.norm(block(x, mask))"), ("self.head(self.norm(x))", "self.head(x)")),
        alone("norm-inside-and-after", "`norm` is applied after every block as well; it belongs after the last one only.", (_LOOP, "x = self.norm(block(x, mask))")),
        alone("loss-in-the-model", "The model returns a tuple: logits alone are wanted.", ("return self.head(self.norm(x))", "return self.head(self.norm(x)), None")),
    ),
    alternatives=(
        _GPT_INIT + "        x, T = self.embedding(tokens), tokens.size(-1)\n        mask = torch.ones(T, T).tril().bool()\n"
        "        for block in self.blocks:\n            x = block(x, mask)\n        return self.head(self.norm(x))",
        _GPT_INIT + "        x = self.embedding(tokens)\n        for i in range(len(self.blocks)):\n"
        "            x = self.blocks[i](x, mask=causal_mask(tokens.shape[1])[None, None])\n        return self.norm(x) @ self.head.weight.T",
    ),
)

# 9.4 ------------------------------------------------------------------------------------------------------------------

_UNEQUAL = (
    "Logits and targets do not match in number. Of the positions, the second axis, the last one has no target, and the first"
    " token is nobody's target: leave out one on each side."
)
_LAST, _PLAIN = "F.cross_entropy(predicted, targets, ignore_index=pad_id)", "F.cross_entropy(predicted, targets)\n"


def _loss_case(name, seed, B, T, V, pad_id=None, dtype=torch.float32, scale=2.0, perfect=False):
    def make():
        tokens = _tokens(seed, B, T, V)
        if pad_id is not None:  # sentences of unequal length, filled up on the right; one fill-in inside, and the last left whole
            for b in range(B - 1):
                tokens[b, T - 2 - b :] = pad_id
            tokens[-1, 2] = pad_id
        logits = scale * _normal(seed + 50, B, T, V, dtype=dtype)
        if perfect:
            logits = 50.0 * nn.functional.one_hot(tokens.roll(-1, dims=1), V).to(dtype) + logits
        return (logits, tokens) if pad_id is None else (logits, tokens, pad_id)

    # A loss of 0 is the difference of two numbers near 55, each rounded to 4e-6: 5e-6 of 0 is right.
    return Case(name, make, {"B": B, "T": T, "V": V}, tolerance=0.05 if perfect else None)


LOSS = Exercise(
    id="9.4",
    reference=gpt.next_token_loss,
    results=("loss",),
    covers="padding with several numbers, perfect logits, very large ones, two tokens, float64",
    max_mistakes=2,
    explain=(nearly_right,),
    properties=(
        keeps_names("logits", "tokens", "pad_id"),
        keeps_gradient(lambda: (torch.ones(2, 3, 5), torch.tensor([[1, 4, 2], [0, 3, 3]]), 3)),
    ),
    words={"predicted": "the logits that have a target", "targets": "the targets"},
    cases=(
        _loss_case("no padding", 0, 3, 7, 11),
        _loss_case("padding with token 0", 13, 3, 7, 11, pad_id=0),
        _loss_case("padding with the last token", 2, 4, 9, 17, pad_id=16),
        _loss_case("logits that are right about every next token", 3, 3, 7, 11, perfect=True),
        _loss_case("very large logits, float64", 4, 3, 7, 11, scale=300.0, dtype=torch.float64),
        _loss_case("two tokens", 5, 4, 2, 9),
        _loss_case("one sentence", 6, 1, 7, 11),
    ),
    mistakes=(
        Mistake("targets-not-shifted", edits=(("logits[:, :-1]", "logits"), ("tokens[:, 1:]", "tokens")),
            message="Position t is compared with token t, the one it has just read: that is learned by copying. Position t is to predict"
            " token t + 1."),
        Mistake("targets-cut-not-shifted", old="tokens[:, 1:]", new="tokens[:, :-1]",
            message="Logits and tokens lose the same end, so position t is compared with token t, the one it has just read. Leave out the"
            " last logits and the first token."),
        Mistake("shifted-the-wrong-way", edits=(("logits[:, :-1]", "logits[:, 1:]"), ("tokens[:, 1:]", "tokens[:, :-1]")),
            message="The shift goes the wrong way: position t is to predict token t + 1, and yours is asked for token t − 1, the one before."),
        Mistake("shifted-twice", edits=(("logits[:, :-1]", "logits[:, :-2]"), ("tokens[:, 1:]", "tokens[:, 2:]")), hides_others=True,
            message="The targets are shifted twice: position t is asked for token t + 2."),
        Mistake("targets-rolled", edits=(("logits[:, :-1]", "logits"), ("tokens[:, 1:]", "tokens.roll(-1, dims=1)")),
            message="With `roll`, the last position is asked for the first token of its own sentence. It has no target: leave it out."),
        Mistake("cut-along-the-batch", edits=(("logits[:, :-1]", "logits[:-1]"), ("tokens[:, 1:]", "tokens[1:]")), hides_others=True,
            message="You cut along the batch, so each sentence is asked for the tokens of the next one: the positions are the second axis."),
        alone("softmax-before", "cross_entropy does the softmax itself; with one before it, the loss can hardly fall.",
            (".flatten(0, 1)", ".flatten(0, 1).softmax(dim=-1)")),
        Mistake("logits-scrambled", old="logits[:, :-1].flatten(0, 1)", new="logits[:, :-1].transpose(1, 2).reshape(-1, logits.shape[-1])",
            message="The numbers of your (N, V) table are scrambled: reshape does not move axes. Leave V last when you flatten; or give"
            " cross_entropy (B, V, T) as it is."),
        Mistake("targets-time-first", old="tokens[:, 1:].flatten()", new="tokens[:, 1:].T.flatten()",
            message="Logits and targets are flattened in different orders, so batch and time are mixed: neighbours no longer belong together."),
        Mistake("padding-counts", old="ignore_index=pad_id", new="ignore_index=-100",
            message="Nothing changes with pad_id: targets that are padding still count. They are to be left out of the mean."),
        Mistake("mean-of-means", old=_LAST, together=2,
            new="torch.stack([F.cross_entropy(one, t, ignore_index=pad_id) for one, t in zip(logits[:, :-1], tokens[:, 1:]) if (t != pad_id).any()]).mean()",
            message="You took the mean of each text and then the mean of those, so a target in a short text counts for more. One mean over all targets is wanted."),
        Mistake("padding-zeroed", old=_LAST, new='(F.cross_entropy(predicted, targets, reduction="none") * (targets != pad_id)).mean()',
            message="Padding costs nothing, but still counts in the mean: divide by the number of targets that are no padding."),
        Mistake("padding-of-inputs", old=_LAST, new="F.cross_entropy(predicted[tokens[:, :-1].flatten() != pad_id], targets[tokens[:, :-1].flatten() != pad_id])",
            message="You leave out positions whose input is padding; it is the target that decides."),
        Mistake("pad-0-unseen", old="pad_id is None", new="not pad_id",
            message="pad_id = 0 is taken for “no padding”, because 0 counts as False: ask `is None`."),
        Mistake("zero-always-padding", old=_PLAIN, new="F.cross_entropy(predicted, targets, ignore_index=0)\n",
            message="Without pad_id, token 0 is left out as if it were padding: it is a token like any other."),
        Mistake("summed", edits=((_PLAIN, 'F.cross_entropy(predicted, targets, reduction="sum")\n'),
                (_LAST, 'F.cross_entropy(predicted, targets, ignore_index=pad_id, reduction="sum")')),
            message="You returned the sum; the mean over all targets is wanted, or longer texts cost more."),
        alone("one-for-each-token", "You returned one loss for each target; their mean is wanted.",
            (_PLAIN, 'F.cross_entropy(predicted, targets, reduction="none")\n'), (_LAST, 'F.cross_entropy(predicted, targets, ignore_index=pad_id, reduction="none")')),
        alone("negated", "The sign is wrong: the loss is minus the logarithm of the probability of what came.",
            (_PLAIN, "-F.cross_entropy(predicted, targets)\n"), (_LAST, "-" + _LAST)),
        alone("in-bits", "Yours is in bits; nats are wanted here, as cross_entropy gives them.",
            (_PLAIN, "F.cross_entropy(predicted, targets) / math.log(2)\n"), (_LAST, _LAST + " / math.log(2)")),
        alone("perplexity", "You returned exp of the loss, the perplexity; the loss itself is wanted.",
            (_PLAIN, "F.cross_entropy(predicted, targets).exp()\n"), (_LAST, f"({_LAST}).exp()")),
        alone("vocabulary-cut", _UNEQUAL, ("logits[:, :-1]", "logits[..., :-1]")),
        alone("only-logits-cut", _UNEQUAL, ("tokens[:, 1:]", "tokens")),
        alone("only-targets-cut", _UNEQUAL, ("logits[:, :-1]", "logits")),
    ),
    indistinguishable=(
        *pairs("padding-of-inputs", "shifted-the-wrong-way", "targets-cut-not-shifted"),
        *pairs("pad-0-unseen", "padding-counts", "zero-always-padding"),
    ),
    alternatives=(
        "def next_token_loss(logits, tokens, pad_id=None):\n    ignored = -100 if pad_id is None else pad_id\n"
        "    return F.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:], ignore_index=ignored)",
        "def next_token_loss(logits, tokens, pad_id=None):\n    targets = tokens[:, 1:]\n"
        "    log_p = logits[:, :-1].log_softmax(dim=-1).gather(-1, targets[..., None])[..., 0]\n"
        "    counted = torch.ones_like(targets, dtype=torch.bool) if pad_id is None else targets != pad_id\n    return -log_p[counted].mean()",
        "def next_token_loss(logits, tokens, pad_id=None):\n    loss = n = 0\n    for row, sentence in zip(logits, tokens):\n"
        "        for scores, target in zip(row[:-1], sentence[1:]):\n            if pad_id is None or target != pad_id:\n"
        "                loss, n = loss + torch.logsumexp(scores, 0) - scores[target], n + 1\n    return loss / n",
    ),
)

# 9.5 ------------------------------------------------------------------------------------------------------------------

_FINITE = "The number that forbids is not below every score there can be (scores may be −10¹² as well): −torch.inf is."
_CUT = "scores = scores.masked_fill(scores < smallest_kept, -torch.inf)"


def _probabilities_case(name, seed, *shape, temperature=1.0, top_k=None, dtype=torch.float32, scale=2.0, level=0.0, whole=False):
    def make():
        logits = scale * _normal(seed, *shape, dtype=dtype) + level
        if whole:
            logits = logits.round()  # many are equal
        return logits, temperature, top_k

    dims = {"B": shape[0]} if len(shape) == 2 else {}
    return Case(name, make, dims | {"V": shape[-1]} | ({"k": top_k} if top_k else {}))


PROBABILITIES = Exercise(
    id="9.5",
    reference=gpt.next_token_probabilities,
    results=("probabilities",),
    sums_to_one=("probabilities",),
    covers="hot and cold, top-k with and without ties, very negative scores, float64, one and three axes",
    explain=(nearly_right,),
    properties=(keeps_names("logits", "temperature", "top_k"),),
    words={"scores": "the scores", "smallest_kept": "the smallest score that stays"},
    cases=(
        _probabilities_case("neither temperature nor top-k", 0, 3, 11),
        _probabilities_case("cold", 1, 3, 11, temperature=0.5),
        _probabilities_case("hot", 2, 3, 11, temperature=2.5, dtype=torch.float64),
        _probabilities_case("the four largest", 3, 3, 11, top_k=4),
        _probabilities_case("hot, the four largest", 4, 3, 11, temperature=1.5, top_k=4),
        _probabilities_case("the largest alone", 5, 3, 11, top_k=1),
        _probabilities_case("as many as there are", 6, 3, 11, top_k=11),
        Case("three equal scores at the edge", lambda: (torch.tensor([[3.0, 1.0, 2.0, 1.0, 1.0, 0.0, -1.0], [0.0, 4.0, 1.0, 2.0, 1.0, 1.0, -2.0]]), 1.0, 3), {"B": 2, "V": 7, "k": 3}),
        Case("equal scores, colder", lambda: (torch.tensor([[3.0, 1.0, 2.0, 1.0, 1.0, 0.0, -1.0]], dtype=torch.float64), 0.5, 3), {"B": 1, "V": 7, "k": 3}),
        _probabilities_case("one axis", 8, 11, temperature=0.7, top_k=4),
        _probabilities_case("three axes", 9, 2, 3, 11, temperature=1.5, top_k=4),
        _probabilities_case("very negative scores", 10, 3, 11, top_k=4, dtype=torch.float64, level=-1e12),
        _probabilities_case("very large scores", 11, 3, 11, scale=500.0, temperature=0.5),
    ),
    mistakes=(
        Mistake("temperature-multiplied", old="logits / temperature", new="logits * temperature",
            message="You multiplied by the temperature, so cold makes flat and hot makes sharp: divide by it."),
        Mistake("temperature-twice", old="scores.softmax(dim=-1)", new="(scores / temperature).softmax(dim=-1)",
            message="The temperature is used twice, which acts like its square: divide once."),
        Mistake("temperature-ignored", old="logits / temperature", new="logits",
            message="The temperature is not used: divide the logits by it."),
        Mistake("temperature-after-softmax", edits=(("logits / temperature", "logits"), ("scores.softmax(dim=-1)", "scores.softmax(dim=-1) / temperature")),
            message="The temperature divides the probabilities; it belongs to the logits, before the softmax."),
        Mistake("top-k-one-more", old="scores.topk(top_k, ", new="scores.topk(min(top_k + 1, scores.shape[-1]), ",
            message="k + 1 tokens stay: the k-th largest is entry k − 1 of a sorted row, and it is the last that stays."),
        Mistake("top-k-one-less", old="scores < smallest_kept", new="scores <= smallest_kept",
            message="The k-th largest itself is cut off (and all that equal it), so fewer than k stay: cut only what is smaller."),
        Mistake("smallest-kept", edits=(("scores.topk(top_k, dim=-1)", "scores.topk(top_k, dim=-1, largest=False)"), ("scores < smallest", "scores > smallest")),
            message="The k smallest stay; the k largest should."),
        Mistake("top-k-reversed", old="scores < smallest_kept", new="scores >= smallest_kept",
            message="The k likeliest tokens are forbidden and the others stay: it is the other way round.", hides_others=True),
        Mistake("top-k-ignored", old="top_k is not None", new="False", message="top_k has no effect: all tokens may be drawn in yours.", hides_others=True),
        Mistake("forbidden-as-zero", old="-torch.inf", new="0.0",
            message="A score of 0 is not “never”, exp(0) = 1: forbidden tokens need −inf before the softmax."),
        Mistake("forbidden-finite", old="-torch.inf", new="-1e9",
            message=_FINITE),
        Mistake("forbidden-finite-small", old="-torch.inf", new="-1e4",
            message=_FINITE),
        Mistake("cut-after-softmax", old=_CUT, new="return scores.softmax(dim=-1).masked_fill(scores < smallest_kept, 0.0)",
            message="Forbidden tokens are set to 0 after the softmax, so the rest no longer sum to 1: forbid them before it, with −inf.", hides_others=True),
        alone("two-axes-only", "You read the smallest score that stays by two axes, as in (B, V). The logits may have one axis or three, and `...` stands for as many as there are in front of the last.", (".values[..., -1:]", ".values[:, [-1]]")),
        Mistake("ties-cut", old=_CUT,
            new="scores = torch.full_like(scores, -torch.inf).scatter(-1, scores.topk(top_k, dim=-1).indices, scores.topk(top_k, dim=-1).values)",
            message="Where several scores equal the k-th largest, yours keeps only some of them, by their place. All that are equal stay."),
        Mistake("softmax-over-batch", old="softmax(dim=-1)", new="softmax(dim=0)", message="The softmax runs along the first axis; each row should sum to 1, along the last.", hides_others=True),
        alone("k-of-the-whole-batch", "The k largest are taken of the whole batch; each row has its own k.",
            ("scores.topk(top_k, dim=-1).values[..., -1:]", "scores.flatten().topk(top_k).values[-1]")),
        alone("largest-as-edge", "You compare with the largest score, not with the k-th largest, so only the very first stays: `topk` gives them in falling order.",
            (".values[..., -1:]", ".values[..., :1]")),
        alone("edge-without-axis", "The edge lost its last axis, so it does not line up with the rows: keep it, `[..., -1:]`.", (".values[..., -1:]", ".values[..., -1]")),
        alone("compact", "You returned k probabilities; every token of the vocabulary needs one, V of them: 0 for those that are forbidden.",
            ("smallest_kept = scores.topk(top_k, dim=-1).values[..., -1:]", "scores = scores.topk(top_k, dim=-1).values"), (_CUT, "pass")),
        alone("log-probabilities", "These are logarithms of probabilities: use softmax, not log_softmax.", ("scores.softmax", "scores.log_softmax")),
        alone("scores-returned", "The scores come back; softmax makes probabilities of them.", ("scores.softmax(dim=-1)", "scores")),
        alone("topk-pair", "`topk` returns two results, values and indices; you compare with the pair: take `.values`.", (".values[..., -1:]", "[..., -1:]")),
        alone("naive-exponential", "exp of a large score overflows, and inf/inf is NaN: use PyTorch's softmax.", ("scores.softmax(dim=-1)", "scores.exp() / scores.exp().sum(dim=-1, keepdim=True)")),
    ),
    indistinguishable=(("ties-cut", "top-k-one-more"), ("temperature-twice", "temperature-multiplied")),
    alternatives=(
        "def next_token_probabilities(logits, temperature=1.0, top_k=None):\n    p = torch.softmax(logits / temperature, -1)\n"
        "    if top_k is not None:\n        edge = logits.sort(dim=-1, descending=True).values[..., top_k - 1, None]\n"
        "        p = torch.where(logits >= edge, p, 0)\n        p = p / p.sum(-1, keepdim=True)\n    return p",
        "def next_token_probabilities(logits, temperature=1.0, top_k=None):\n"
        "    if top_k:\n        edge = torch.topk(logits, top_k)[0][..., [-1]]\n        logits = torch.where(logits < edge, -torch.inf, logits)\n"
        "    return torch.softmax(logits / temperature, dim=-1)",
    ),
)

# 9.6 ------------------------------------------------------------------------------------------------------------------


class _Reader(nn.Module):
    """A model that can be followed by hand: logits depend on all tokens read so far and on their places."""

    def __init__(self, n_tokens, max_len, seed):
        super().__init__()
        self.max_len, self.shown = max_len, []
        self.words = nn.Parameter(_normal(seed, n_tokens, n_tokens, dtype=torch.float64))
        self.places = nn.Parameter(1 + _normal(seed + 1, max_len, 1, dtype=torch.float64).abs())

    def forward(self, tokens):
        """tokens (B, T), T <= max_len, else IndexError -> logits (B, T, n_tokens)."""
        T = tokens.shape[1]
        if T > self.max_len:
            raise IndexError(f"{T} tokens came, and the model has places for max_len={self.max_len} only")
        self.shown.append(tokens.detach().clone())
        return (self.words[tokens] * self.places[:T]).cumsum(dim=1)  # (B, T, n_tokens)


def _last_position(logits):
    """logits, if they are those of one position; else ValueError."""
    if logits.dim() != 2:
        raise ValueError(f"choose takes the logits of the last position, (B, V); logits of shape {tuple(logits.shape)} came")
    return logits


def _largest(logits):
    """The token with the largest score."""
    return _last_position(logits).argmax(dim=-1)


def _nearest_to_zero(logits):
    """The token whose score is nearest to 0, so that scores that were changed are noticed."""
    return _last_position(logits).abs().argmin(dim=-1)


def _run_generate(candidate, model, tokens, n_new, choose):
    """What comes back, with what the model was shown at each step as an attribute of it."""
    try:
        inspect.signature(candidate).bind(model, tokens, n_new, choose)
    except TypeError:
        message = f"The function must take the arguments `{inspect.signature(gpt.generate)}`; yours takes `{inspect.signature(candidate)}`."
        raise AnswerProblem("wrong-arguments", message) from None
    except ValueError:  # a built-in without a signature: calling it will tell
        pass
    result = candidate(model, tokens, n_new, choose)
    if torch.is_tensor(result):
        result.shown = model.shown
    return result


def _what_was_shown(case, expected, got):
    """The first step at which the model was shown something else than the end of the text so far."""
    shown = getattr(got, "shown", None)
    if shown is None or got.shape != expected.shape:
        return None
    T, n_new, max_len = (case.dims[name] for name in ("T", "n_new", "max_len"))
    if len(shown) < n_new:
        return f"The model was asked {len(shown)} times for {n_new} new tokens: ask it again after every token that is added."
    for step, context in enumerate(shown[:n_new]):
        wanted = got[:, : T + step][:, -max_len:]
        if not torch.equal(context, wanted):
            return (
                f"At step {step + 1} the model was shown {context.shape[1]} of the tokens, and it should have been shown the last"
                f" {wanted.shape[1]} of the text so far, in their order."
            )
    return None


def _generate_case(name, seed, B, T, n_new, max_len, n_tokens=13, choose=_nearest_to_zero):
    return Case(name, lambda: (_Reader(n_tokens, max_len, seed), _tokens(seed, B, T, n_tokens), n_new, choose),
                {"B": B, "T": T, "n_new": n_new, "max_len": max_len, "T + n_new": T + n_new})


def _learns_nothing(candidate):
    seen = []

    class Watched(_Reader):
        def forward(self, tokens):
            seen.append(torch.is_grad_enabled())
            return super().forward(tokens)

    candidate(Watched(13, 6, 0), _tokens(0, 2, 5, 13), 2, _largest)
    if any(seen):
        return "gradients are recorded while it writes, which costs time and memory: `with torch.no_grad():` switches that off."


_SEEN, _LOGITS, _CAT = "tokens[:, -model.max_len :]", "model(seen)[:, -1]", "torch.cat([tokens, chosen[:, None]], dim=1)"



def _later(shown):
    return (_SEEN, f"{_SEEN} if _ == 0 else {shown}")


GENERATE = Exercise(
    id="9.6",
    reference=gpt.generate,
    run=_run_generate,
    results=("tokens",),
    explain=(_what_was_shown,),
    covers="short and long beginnings, several at once, a single token",
    max_mistakes=2,
    properties=(keeps_names("model", "tokens", "n_new", "choose"),),
    notes=(_learns_nothing,),
    words={"seen": "what the model is shown", "logits": "the logits of the last position", "chosen": "the chosen tokens"},
    cases=(
        _generate_case("a short beginning", 0, 2, 5, 3, 17),
        _generate_case("longer than the model's window", 1, 2, 5, 9, 6),
        _generate_case("a beginning longer than the window", 2, 3, 10, 7, 6),
        _generate_case("one sentence, the likeliest token", 3, 1, 4, 7, 5, choose=_largest),
        _generate_case("a window of one", 4, 3, 2, 5, 1),
        _generate_case("one token", 5, 2, 5, 1, 6),
    ),
    mistakes=(
        Mistake("context-not-cut", old=_SEEN, new="tokens", hides_others=True,
            message="The whole text is shown to the model, which stops once it is longer than max_len: show only the last `model.max_len` tokens."),
        Mistake("beginning-shown", old=_SEEN, new="tokens[:, : model.max_len]",
            message="The model is shown the first max_len tokens, so it stops following what is written: show the last ones."),
        Mistake("window-one-short", old=_SEEN, new="tokens[:, -max(1, model.max_len - 1) :]",
            message="The model is shown one token fewer than it may see: the last model.max_len of them."),
        Mistake("newest-token-only", old=_SEEN, new="tokens[:, -1:]",
            message="The model is shown the newest token alone, so it forgets everything before it: show the last model.max_len tokens."),
        alone("newest-token-only-after-the-first", "After the first step the model is shown the newest token alone, as if it kept what came before. It keeps nothing between calls: show it the last model.max_len tokens each time.",
            _later("tokens[:, -1:]")),
        alone("new-tokens-shown-only", "After the first step the model is shown the new tokens alone, and the beginning is forgotten. Show it the last model.max_len tokens of the whole text.",
            _later("tokens[:, -min(_, model.max_len) :]")),
        alone("window-as-long-as-the-beginning", "The model is shown as many tokens at each step as the beginning has, and it may see more as the text grows: the last model.max_len of them.",
            _later("tokens[:, -min(tokens.shape[1] - _, model.max_len) :]")),
        alone("window-starts-anew", "When the model's window is full, yours starts with an empty one. The window moves along: it always holds the last model.max_len tokens.",
            (_SEEN, "tokens[:, (tokens.shape[1] - 1) // model.max_len * model.max_len :]")),
        alone("newest-token-not-shown", "The model is not shown the newest token, so it answers a text that is one token old. The last model.max_len tokens end with the newest.",
            _later("tokens[:, :-1][:, -model.max_len :]")),
        alone("beginning-and-newest-token", "The model is shown the beginning and the newest token, and not what was written between. Show it the last model.max_len tokens as they stand.",
            _later("torch.cat([tokens[:, : tokens.shape[1] - _], tokens[:, -1:]], dim=1)[:, -model.max_len :]")),
        alone("cut-before-the-loop", "You cut the text once, before the loop. What the model is shown then grows with every new token, beyond max_len: cut it in every round.",
            ("        for _ in range(n_new):\n            seen = tokens[:, -model.max_len :]", "        seen = tokens[:, -model.max_len :]\n        for _ in range(n_new):"),
            ("tokens = torch.cat([tokens, chosen[:, None]], dim=1)", "tokens, seen = (torch.cat([t, chosen[:, None]], dim=1) for t in (tokens, seen))")),
        Mistake("text-cut-too", old="seen = tokens", new="tokens = seen = tokens",
            message="The text itself is cut, not only what the model is shown, so the beginning is lost from the result: cut a copy."),
        Mistake("first-position-read", old=_LOGITS, new="model(seen)[:, 0]",
            message="You read the logits of the first position; the last one has seen everything."),
        Mistake("choose-ignored", old="choose(logits)", new="logits.argmax(dim=-1)",
            message="`choose` is never asked: yours always takes the likeliest token."),
        Mistake("probabilities-to-choose", old="choose(logits)", new="choose(logits.softmax(dim=-1))",
            message="`choose` gets probabilities; it takes the logits as they are."),
        Mistake("new-tokens-in-front", old=_CAT, new="torch.cat([chosen[:, None], tokens], dim=1)",
            message="New tokens are put in front of the text; they belong at its end."),
        Mistake("new-tokens-only", old="return tokens", new="return tokens[:, tokens.shape[1] - n_new :]",
            message="Only the new tokens are returned; the beginning belongs to the result."),
        Mistake("one-too-many", old="range(n_new)", new="range(n_new + 1)", message="One token too many is added: n_new = {n_new} are wanted."),
        Mistake("one-too-few", old="range(n_new)", new="range(n_new - 1)", message="One token too few is added: n_new = {n_new} are wanted."),
        Mistake("returns-after-the-first", old="dim=1)\n    return tokens", new="dim=1)\n            return tokens\n    return tokens",
            message="It returns after the first new token: is `return` inside the loop?", hides_others=True),
        alone("n_new-for-the-whole", "You stop when the text, with its beginning, has n_new = {n_new} tokens. That many are to be added, however long the beginning is.", ("range(n_new)", "range(n_new - tokens.shape[1])")),
        alone("every-position-to-choose", "`choose` gets the logits of all positions; it takes those of the last one only, (B, V).", (_LOGITS, "model(seen)")),
        alone("positions-flattened", "The choice is made among all positions at once, so the index runs over T · V: look at the last position only, `[:, -1]`.",
            (_LOGITS, "model(seen).flatten(1)"), hides_others=True),
        alone("asked-once", "The model answers the same text at every step, so the same token is added again and again. Ask it after every new token, about the text with that token in it.",
            ("        for _ in range(n_new):\n            seen = tokens[:, -model.max_len :]  # (B, T) with T <= max_len\n            logits = model(seen)[:, -1]  # (B, V)\n",
             "        logits = model(tokens[:, -model.max_len :])[:, -1]\n        for _ in range(n_new):\n")),
        alone("chosen-without-axis", "What `choose` gives has one axis, (B,), and the text has two: give it a second one, `[:, None]`.", ("chosen[:, None]", "chosen"), hides_others=True),
        alone("along-the-batch", "New tokens are joined along the batch (axis 0); they belong at the end of the positions, axis 1.", ("dim=1)", "dim=0)"), hides_others=True),
        alone("text-replaced", "The text is replaced by the new tokens: append them, `torch.cat`.", (_CAT, "chosen[:, None]")),
        alone("last-sentence-position", "`[-1]` takes the last sentence of the batch; the last position of each is `[:, -1]`.", (_LOGITS, "model(seen)[-1]")),
        alone("always-the-largest-of-all-positions", "The likeliest token is looked for among all positions, and `choose` is never asked: give it the logits of the last position, (B, V).",
            ("choose(logits)", "torch.stack([row.argmax() for row in model(seen)])"), hides_others=True),
    ),
    indistinguishable=(("first-position-read", "newest-token-only"),),  # the newest token alone has one position
    alternatives=(
        "@torch.no_grad()\ndef generate(model, tokens, n_new, choose):\n    out = tokens.clone()\n    while out.shape[1] < tokens.shape[1] + n_new:\n"
        "        new = choose(model(out[:, -model.max_len:])[:, -1, :])\n        out = torch.hstack([out, new.unsqueeze(-1)])\n    return out",
        "def generate(model, tokens, n_new, choose):\n    if n_new == 0:\n        return tokens\n"
        "    logits = model(tokens[:, max(0, tokens.shape[1] - model.max_len) :])\n"
        "    return generate(model, torch.cat((tokens, choose(logits[:, -1])[:, None]), 1), n_new - 1, choose)",
    ),
)

EXERCISES = (LAYER_NORM, BLOCK, TINY_GPT, LOSS, PROBABILITIES, GENERATE)

# Predictions ----------------------------------------------------------------------------------------------------------

PREDICTIONS = (
    Prediction("rows-after-twelve", "all the same",
        "Every layer replaces a row by a mean of rows, and means of means become alike. A skip connection keeps what each row was.",
        choices=("as different as at the start", "somewhat alike", "all the same")),
    Prediction("feed-forward-share", "two thirds",
        "Two matrices of d × 4d are 8·d² numbers; attention's four of d × d are 4·d².",
        choices=("one third", "one half", "two thirds")),
    Prediction("untrained-loss", 6.585, "One of 96 equally likely tokens takes log₂ 96 yes-or-no questions.", tolerance=0.1),
    Prediction("too-good", "targets not shifted",
        "To repeat the token just read, the model needs no context, so it is learned first. Without a mask the answer must first be found one place ahead.",
        choices=("targets not shifted", "no causal mask", "softmax before the loss", "targets shifted twice")),
    Prediction("how-far", "8 characters",
        "After a word or so, more text tells this small model nothing: it has learned spelling, and the nearest word decides that.",
        choices=("2 characters", "8 characters", "32 characters")),
    Prediction("most-real-words", "0.2",
        "Dividing by a small temperature leaves the likeliest tokens only, and those spell the commonest words.",
        choices=("0.2", "0.8", "1.2")),
    Prediction("blind-part", "keys",
        "Layer 0 writes into each word who stood before it, and layer 1 finds words by that mark: by their keys.",
        choices=("queries", "keys", "values")),
)
