"""Lesson 05: masks, a test for leaks, a softmax that survives empty rows, and cross-attention."""
import functools
import inspect
import re

import numpy as np
import torch

from ... import mask_tasks, masks, query_key_value
from ..exercise import AnswerProblem, Case, Exercise, Mistake, Prediction, pairs
from ..inputs import tolerance_of
from ..modules import built, filled, gradients_reach_every_parameter
from ..values import as_array, same
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


def _normal(seed, *shape, dtype=torch.float64):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).to(dtype)


# 5.1 Prefix mean ------------------------------------------------------------------------------------------------------


# `torch.ones` makes float32, and weights that are turned into x's dtype at the end are right to seven digits only.
_WEIGHTS_IN_FLOAT32 = 1e-6


def _mean_case(name, seed, T, d, dtype=torch.float64):
    return Case(name, lambda: (_normal(seed, T, d, dtype=dtype),), {"T": T, "d": d}, _WEIGHTS_IN_FLOAT32 if dtype == torch.float64 else None)


PREFIX_MEAN = Exercise(
    id="5.1",
    reference=masks.prefix_mean,
    results=("means",),
    covers="the lesson's sentence, as many features as words, one word, one feature, float32",
    cases=(
        _mean_case("five words, three features", 1, 5, 3),
        _mean_case("four words, four features", 2, 4, 4),
        Case("the lesson's own sentence", lambda: (torch.from_numpy(query_key_value.embed(query_key_value.words)),), {"T": 7, "d": 4}, _WEIGHTS_IN_FLOAT32),
        _mean_case("one word", 3, 1, 3),
        _mean_case("one feature", 4, 6, 1),
        _mean_case("seven words, float32", 5, 7, 2, torch.float32),
    ),
    mistakes=(
        Mistake("divides-by-T", old="allowed.sum(dim=-1, keepdim=True)", new="T",
            message="You divided every row by T = {T}; row t has t + 1 words in it so far: divide it by its own number of ones."),
        Mistake("not-divided", old="allowed / counts", new="allowed", hides_others=True,
            message="Your rows are sums, not means: divide each row of the triangle by its number of ones."),
        Mistake("upper-triangle", old=".tril()", new=".triu()",
            message="Your matrix is the upper triangle, so each word averages itself and what comes after; keep the lower one, `tril`."),
        Mistake("all-words", old=".tril()", new="",
            message="Every row is the mean of the whole sentence: keep only the lower triangle of the ones."),
        Mistake("excludes-itself", old=".tril()", new=".tril(diagonal=-1)",
            message="Your triangle leaves out the diagonal (a slice `x[:t]` does so too, and `diagonal=-1`), so a word does not count itself, and the first has nothing to average: start at the diagonal."),
        Mistake("excludes-itself-first-zero",
            source="def prefix_mean(x):\n    allowed = torch.ones(len(x), len(x), dtype=x.dtype).tril(diagonal=-1)\n"
            "    return allowed / allowed.sum(dim=-1, keepdim=True).clamp(min=1) @ x",
            message="Your triangle leaves out the diagonal (a slice `x[:t]` does so too, and `diagonal=-1`), so a word does not count itself: row 0 should be the first word, not zero."),
        Mistake("one-ahead", old=".tril()", new=".tril(diagonal=1)",
            message="Your triangle is one diagonal too wide: row t includes the next word, t + 1."),
        Mistake("counts-of-columns", old="allowed.sum(dim=-1", new="allowed.sum(dim=0",
            message="You counted the ones of each column; each row is divided by the ones of its own row, the sum along dim=-1."),
        Mistake("no-keepdim", old="dim=-1, keepdim=True", new="dim=-1",
            message="Your counts have shape (T,), which lines up with the columns; keep them as a column, (T, 1), with keepdim=True."),
        Mistake("count-one-less", old="weights = allowed / counts", new="weights = allowed / (counts - 1)",
            message="You divided row t by t; it holds t + 1 words, because counting starts at 0."),
        Mistake("count-one-more", old="weights = allowed / counts", new="weights = allowed / (counts + 1)",
            message="You divided row t by one too many: it holds t + 1 words."),
        Mistake("softmax-of-ones", old="allowed / counts", new="torch.softmax(allowed, dim=-1)",
            message="Softmax of ones and zeros still gives the zeros weight, since e⁰ = 1: divide by the counts (minus infinity comes later in the lesson)."),
        alone("softmax-of-shares", "You took a softmax of the finished shares. They sum to 1 already, and the softmax gives weight to the zeros too, since e⁰ = 1: leave it out.",
            ("weights = allowed / counts", "weights = torch.softmax(allowed / counts, dim=-1)")),
        alone("softmax-then-masked", "You took a softmax over the whole row and set the later words to 0 afterwards. They had their share already, so your rows no longer sum to 1: divide by the counts.",
            ("weights = allowed / counts", "weights = torch.softmax(allowed, dim=-1) * allowed")),
        alone("softmax-of-the-columns", "Your softmax runs down the columns of a triangle of ones and zeros, and gives weight to the zeros too, since e⁰ = 1. Divide each row by its number of ones.",
            ("weights = allowed / counts", "weights = torch.softmax(allowed, dim=0)")),
        Mistake("weights-transposed", old="weights @ x", new="weights.T @ x",
            message="The weights stand on their side: row t of the weights belongs to word t, so it is `weights @ x`."),
        Mistake("weights-returned", old="return weights @ x", new="return weights",
            message="You returned the weights (T, T); multiply them with x to get the means (T, d)."),
        Mistake("dtype-lost", old=", dtype=x.dtype", new="", hides_others=True,
            message="Your matrix of ones is float32 while x is float64, and a matrix product needs one dtype: make it with dtype=x.dtype."),
        Mistake("along-features",
            source="def prefix_mean(x):\n    return x.cumsum(dim=-1) / torch.arange(1, x.shape[-1] + 1, dtype=x.dtype)",
            message="You averaged along the features; average along the words, which are the rows of x."),
        alone("future-only", "Your rows average what comes after each word, and the last has nothing left: the words to keep are those up to t, the lower triangle with its diagonal.",
            (".tril()", ".triu(diagonal=1)")),
        alone("counts-from-zero", "You divided row t by t, so the first is divided by 0: it holds t + 1 words, because counting starts at 0.",
            ("return weights @ x", "return x.cumsum(dim=0) / torch.arange(T, dtype=x.dtype)[:, None]")),
        alone("counts-not-a-column", "Your counts have shape (T,), which lines up with the features; keep them as a column, (T, 1), with keepdim=True or `[:, None]`.",
            ("return weights @ x", "return x.cumsum(dim=0) / torch.arange(1, T + 1)")),
        alone("one-mean", "You averaged the whole sentence into one row; T rows are wanted, row t for the words up to t.", ("return weights @ x", "return x.mean(dim=0)")),
        alone("features-averaged-too", "Each mean runs over the features as well and is one number; average over the words only: `mean(dim=0)`.",
            ("return weights @ x", "return (weights @ x).mean(dim=-1)")),
        alone("triangle-of-x", "You cut the triangle out of x itself; it belongs into the matrix of shares, (T, T), which x is multiplied by.",
            ("return weights @ x", "return x.tril() / counts")),
        alone("means-of-means", "Your means are averaged again: row t is overwritten before the rows after it are computed. Read from x, write into a new tensor.",
            ("return weights @ x", "means = x.clone()\n    for t in range(T):\n        means[t] = means[: t + 1].mean(dim=0)\n    return means")),
        alone("plus-one-outside", "`/ t + 1` divides by t and then adds 1: write `/ (t + 1)`.", ("return weights @ x", "return x.cumsum(dim=0) / torch.arange(T, dtype=x.dtype)[:, None] + 1")),
        alone("halved-each-time", "You averaged the mean so far with the new word, half and half, so early words fade; every word up to t counts equally, 1/(t + 1).",
            ("return weights @ x", "means = [x[0]]\n    for t in range(1, T):\n        means.append((means[-1] + x[t]) / 2)\n    return torch.stack(means)")),
        alone("list-of-rows", "The rows are in a Python list: torch.stack makes one tensor of them.", ("return weights @ x", "return list(weights @ x)")),
    ),
    explain=(nearly_right,),
    properties=(keeps_dtype(_normal(6, 5, 3)),),
    indistinguishable=(
        *pairs("all-words", "divides-by-T", "counts-of-columns", "no-keepdim", "softmax-of-ones", "weights-transposed"),
        *pairs("softmax-of-ones", "divides-by-T", "counts-of-columns", "no-keepdim"),
        *pairs("upper-triangle", "divides-by-T", "not-divided", "counts-of-columns", "weights-transposed"),
        *pairs("weights-transposed", "divides-by-T", "not-divided", "counts-of-columns", "excludes-itself"),
        *pairs("counts-of-columns", "excludes-itself"),
        ("dtype-lost", "weights-returned"),  # weights in float32 are right to seven digits
    ),
    alternatives=(
        "def prefix_mean(x):\n    w = torch.ones(len(x), len(x)).tril()\n    return (w / w.sum(dim=1, keepdim=True)).to(x.dtype) @ x",
        "def prefix_mean(x):\n    return x.cumsum(dim=0) / torch.arange(1, len(x) + 1, dtype=x.dtype)[:, None]",
        "def prefix_mean(x):\n    return torch.stack([x[: t + 1].mean(dim=0) for t in range(len(x))])",
        "def prefix_mean(x):\n    T = len(x)\n    scores = torch.zeros(T, T, dtype=x.dtype).masked_fill(~torch.ones(T, T, dtype=torch.bool).tril(), -torch.inf)\n"
        "    return torch.softmax(scores, dim=-1) @ x",
        "def prefix_mean(x):\n    w = torch.tril(x.new_ones(len(x), len(x)))\n    w = w / w.sum(1)[:, None]\n    return torch.einsum('ij,jd->id', w, x)",
    ),
)

# 5.2 The causal mask --------------------------------------------------------------------------------------------------

_TWO_LENGTHS = (
    "The function takes one length, T: queries and keys are the same words here. A mask for T_q queries and more keys T_k, as"
    " with cached keys, must end at the lower right, diagonal=T_k - T_q; a triangle from the upper left would let a single new"
    " query see only the oldest key."
)


def _run_causal_mask(candidate, T):
    try:
        inspect.signature(candidate).bind(T)
    except (TypeError, ValueError):
        try:
            inspect.signature(candidate).bind(T, T)
        except (TypeError, ValueError):
            raise AnswerProblem("wrong-arguments", "The function must take one argument, the number of words T.") from None
        raise AnswerProblem("causal-top-left", _TWO_LENGTHS) from None
    return candidate(T)


def _first_wrong_cell(case, expected, got):
    """What a wrong cell means, in the words of who sees whom."""
    if not torch.is_tensor(got) or got.dtype != torch.bool or got.shape != expected.shape:
        return None
    seen, hidden = (got & ~expected).nonzero().tolist(), (expected & ~got).nonzero().tolist()
    said = [f"word {i} sees word {j}, which comes later" for i, j in seen[:1]]
    said += [f"word {i} does not see {f'word {j}, which comes earlier' if i != j else 'itself'}" for i, j in hidden[:1]]
    return f"In your mask {'; and '.join(said)}." if said else None


CAUSAL_MASK = Exercise(
    id="5.2",
    reference=masks.causal_mask,
    results=("mask",),
    run=_run_causal_mask,
    covers="one word, two, five, eight",
    explain=(_first_wrong_cell,),
    cases=(
        Case("five words", lambda: (5,), {"T": 5}),
        Case("two words", lambda: (2,), {"T": 2}),
        Case("one word", lambda: (1,), {"T": 1}),
        Case("eight words", lambda: (8,), {"T": 8}),
    ),
    mistakes=(
        Mistake("upside-down", old=".tril()", new=".triu()",
            message="Your mask shows each word the future and hides its past: keep the lower triangle."),
        Mistake("marks-blocked", old=".tril()", new=".triu(diagonal=1)",
            message="You marked what is hidden; here True means *may attend*, so return the opposite: the lower triangle with its diagonal."),
        Mistake("one-ahead", old=".tril()", new=".tril(diagonal=1)",
            message="Your triangle is one diagonal too wide: word t sees word t + 1, which is the very word it is to predict."),
        Mistake("excludes-itself", old=".tril()", new=".tril(diagonal=-1)",
            message="Your mask hides each word from itself, and leaves the first with nothing to look at: the diagonal is allowed."),
        Mistake("no-triangle", old=".tril()", new="",
            message="Everything is allowed in your mask, the future too: keep the lower triangle."),
        Mistake("everything-hidden", old="torch.ones(", new="torch.zeros(", hides_others=True,
            message="Nothing is allowed in your mask: the triangle must be cut from ones (True), not from zeros."),
        Mistake("mirrored", old=".tril()", new=".tril().flip(-1)",
            message="Your triangle is mirrored left to right: row t is True in its first t + 1 columns."),
        Mistake("rows-get-shorter", old=".tril()", new=".tril().flip(-2)",
            message="Your rows get shorter on the way down: the first word sees everything, the last one word 0 only. Row t is True in its first t + 1 columns."),
        Mistake("only-itself", old=".tril()", new=".tril().triu()",
            message="Each word sees only itself in your mask; it may see all words before it too."),
        Mistake("numbers", old="dtype=torch.bool", new="dtype=torch.float32",
            message="Your mask holds numbers, 0 and 1; the course's masks hold False and True: dtype=torch.bool."),
        Mistake("extra-axes", old="return everything", new="return everything[None, None]",
            message="The mask is (T, T) here; axes for batch and heads come by themselves, by broadcasting."),
        Mistake("added-mask",
            source="def causal_mask(T):\n    return torch.zeros(T, T).masked_fill(torch.ones(T, T, dtype=torch.bool).triu(diagonal=1), -torch.inf)",
            message="You made a mask to be added to the scores, 0 and −∞; the course's masks hold True where a word may look. (PyTorch takes both.)"),
        alone("one-axis-only", "You compared positions 0 to T − 1 with themselves one by one, which gives T values; give one of the two an axis of its own, `i[:, None]`, for all T × T pairs.",
            ("return everything.tril()", "return torch.arange(T) <= torch.arange(T)")),
        alone("triangle-of-a-row", "A triangle needs two axes: `torch.ones(T, T, dtype=torch.bool)`.", ("torch.ones(T, T, dtype=torch.bool)", "torch.ones(T, dtype=torch.bool)")),
        alone("list-of-rows", "The rows are in a Python list: torch.tensor makes one tensor of them.", ("everything.tril()", "everything.tril().tolist()")),
        alone("one-size-less", "Your mask is (T − 1, T − 1): the last word asks and is asked too.", ("torch.ones(T, T,", "torch.ones(T - 1, T - 1,")),
        Mistake("causal-top-left", source="def causal_mask(T_q, T_k):\n    return torch.ones(T_q, T_k, dtype=torch.bool).tril()",
            message=_TWO_LENGTHS),
    ),
    alternatives=(
        "def causal_mask(T):\n    i = torch.arange(T)\n    return i[:, None] >= i[None, :]",
        "def causal_mask(T):\n    return ~torch.triu(torch.ones(T, T, dtype=torch.bool), diagonal=1)",
        "def causal_mask(T):\n    return torch.tril(torch.ones(T, T)) == 1",
        "def causal_mask(T):\n    return torch.tensor([[j <= i for j in range(T)] for i in range(T)])",
    ),
)

# 5.3 A test for leaks -------------------------------------------------------------------------------------------------


def _leak_case(attend, T=8, d=4, dtype=torch.float64, also=""):
    verdict, _, what = attend.__doc__.partition(". ")[0].splitlines()[0].rstrip(".").partition(": ")
    if not what:
        verdict, what = "Honest", "the prefix mean by one matrix product"
    if verdict.startswith("Honest, but"):
        verdict, what = "Honest", f"{what} ({verdict[12:]})"
    if T == 1:
        verdict, what = "Honest", "no mask, but a single word"
    return Case(f"{verdict.lower()}: {what}{also}", lambda: (attend, _normal(1, T, d, dtype=dtype)), {"T": T, "d": d})


def _of_sentences(attend):
    """The same function, which refuses what is no sentence; one may be as long as a generator's state otherwise."""

    @functools.wraps(attend)
    def checked(x):
        if x.ndim != 2:
            raise ValueError(f"attend takes a sentence x (T, d), and {tuple(x.shape)} came")
        return attend(x)

    return checked


def _run_leak_test(candidate, attend, x):
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)  # torch.manual_seed walks the stack, which costs more than the answer
        return candidate(_of_sentences(attend), x)


def _who_fooled_it(case, expected, got):
    if (isinstance(got, bool) or torch.is_tensor(got) and got.numel() == 1) and bool(got) != expected:
        return f"You were fooled by `helpers.mask_tasks.{case.make()[0].__name__}`; call it yourself and look at its outputs."


_SAME_OUTPUTS = (
    "Your function calls everything honest, because the two things it compares never differ: is `attend` called once with the"
    " changed copy, and are the two *outputs* compared?"
)
_FROM_T_ON = "You compared outputs from t on as well. Those may change: word t has changed itself. Compare the rows before t only, [:t]."
_FAINT = (
    "A faint leak escapes you: the tolerance is too wide for how little the future changes. Change it by something like 1, and allow"
    " about 1e-5; rounding is near 1e-16 here, and 1e-7 in float32."
)
_SOME_T = "Some moments are never tried: t must run from 1 to the last word, T − 1, or a leak can hide where you did not look."

_DERIVATIVES = (
    "You ask for derivatives, and the exercise asks what changes. Where a later word comes in by rounding, by comparing, detached"
    " or under no_grad, outputs change and every derivative is 0, or there is none. Change the words from t on, and compare the outputs."
)
_BY_JACOBIAN = """def leaks_future(attend, x):
    def call(x):
        torch.manual_seed(0)
        return attend(x)

    J = torch.autograd.functional.jacobian(call, x).abs().amax(dim=(1, 3))
    return bool((J.triu(diagonal=1) > 1e-7).any())
"""
_BACKWARDS = """def leaks_future(attend, x):
    x = x.clone().requires_grad_()
    out = attend(x)
    for t in range(1, len(x)):
        (gradient,) = torch.autograd.grad(out[:t].square().sum(), x, retain_graph=True)
        if gradient[t:].abs().max() > 1e-7:
            return True
    return False
"""


def _derivative(id, message, source, *edits):
    """A mistake of an answer that asks for derivatives."""
    for old, new in edits:
        if source.count(old) != 1:
            raise ValueError(f"mistake {id!r}: {old!r} occurs {source.count(old)} times, not once")
        source = source.replace(old, new)
    return Mistake(id, message, source=source)


_NO_DERIVATIVES = "And a derivative is 0 where a later word comes in by rounding or comparing: compare outputs before and after a change."

LEAKS_FUTURE = Exercise(
    id="5.3",
    reference=masks.leaks_future,
    results=("the verdict",),
    run=_run_leak_test,
    covers="10 honest and 18 leaking functions, four of them without a gradient, one word and two, one feature, float32",
    max_mistakes=2,
    explain=(_who_fooled_it,),
    cases=(
        *(_leak_case(attend) for attend in mask_tasks.LEAKING),
        *(_leak_case(attend) for attend in mask_tasks.LEAKING_WITHOUT_GRADIENT),
        *(_leak_case(attend) for attend in mask_tasks.HONEST),
        _leak_case(mask_tasks.attend_without_mask, T=1),
        _leak_case(mask_tasks.attend_without_mask, T=2, also=", two words"),
        _leak_case(mask_tasks.attend_causal, T=2, also=", two words"),
        _leak_case(mask_tasks.attend_causal, d=1, also=", one feature"),
        _leak_case(mask_tasks.attend_causal, dtype=torch.float32, also=", float32"),
        _leak_case(mask_tasks.attend_one_ahead, dtype=torch.float32, also=", float32"),
    ),
    mistakes=(
        Mistake("last-word-only", old="range(1, x.shape[0])", new="[x.shape[0] - 1]",
            message="You changed the last word only. A word may peek at its neighbour and never at the last: change the future at every t."),
        alone("last-word-only-of-several", "You changed the last word only. A word may peek at its neighbour and never at the last: change the future at every t.",
            ("range(1, x.shape[0])", "range(1, x.shape[0])[-1:]")),
        Mistake("range-too-short", old="range(1, x.shape[0])", new="range(1, x.shape[0] - 1)", message=_SOME_T),
        Mistake("t-itself", old="(after[:t] - before[:t])", new="(after[: t + 1] - before[: t + 1])",
            message="Your comparison includes output t, whose own word you changed: compare the rows before t only, [:t]."),
        Mistake("no-tolerance", old="difference > 1e-5", new="difference > 0",
            message="You asked for outputs equal to the last bit. Rounding may differ by 1e-16 where nothing leaks: allow a small tolerance."),
        Mistake("noise-not-repeated", old="torch.set_rng_state(state)", new="pass",
            message="Dropout drew other numbers in the second call, and your test took that for a leak: set the generator back before each call."),
        Mistake("changed-in-place", old="x.clone()", new="x", hides_others=True,
            message="You changed the x you were given, so the changes pile up from one t to the next, and past words have changed too: work on x.clone()."),
        alone("starts-at-zero", "At t = 0 nothing lies before, and an empty tensor has no maximum: let t start at 1.",
            ("range(1, x.shape[0])", "range(x.shape[0])")),
        alone("features-counted", _SOME_T, ("x.shape[0]", "x.shape[1]")),
        alone("first-t-only",
            "Your loop returns its verdict at the first t, whatever it is: return True as soon as a leak is seen, but False only after the loop.",
            ("if difference > 1e-5:\n            return True", "return bool(difference > 1e-5)")),
        alone("whole-output", _FROM_T_ON, ("after[:t] - before[:t]", "after - before")),
        alone("only-from-t-on", _FROM_T_ON, ("after[:t] - before[:t]", "after[t:] - before[t:]")),
        alone("tolerance-too-wide", _FAINT,
            ("difference > 1e-5", "difference > 0.1")),
        alone("change-too-small", _FAINT,
            ("+ 1.0", "+ 1e-4")),
        alone("changes-the-past", "You changed the words before t, which every later word may see; change those from t on, [t:].",
            ("changed[t:] = changed[t:]", "changed[:t] = changed[:t]")),
        alone("changes-features", "You changed the features from t on, of all words; words are the rows: [t:].",
            ("changed[t:] = changed[t:]", "changed[:, t:] = changed[:, t:]")),
        alone("neighbours-only",
            "You changed one word and looked only at the one before it. A word may see the next but one and not the next: change all of"
            " [t:] or compare all of [:t].",
            ("changed[t:] = changed[t:]", "changed[t] = changed[t]"), ("after[:t] - before[:t]", "after[t - 1] - before[t - 1]")),
        alone("shuffled",
            "You only put the later words in another order. Attention sees keys and values as a bag, so that most leaks do not notice:"
            " change what the words are.",
            ("changed[t:] + 1.0", "changed[t:].flip(0)")),
        Mistake("poisoned-with-nan",
            source="def leaks_future(attend, x):\n    for t in range(1, x.shape[0]):\n        changed = x.clone()\n        changed[t:] = torch.nan\n"
            "        if attend(changed)[:t].isnan().any():\n            return True\n    return False",
            message="You filled the future with NaN (or infinity). A weight of 0 times NaN is NaN, so honest attention is accused: change the future to ordinary numbers."),
        alone("verdict-reversed", "Your verdicts are the wrong way round: True means that the future leaks.",
            ("return True", "return False"), ("return False", "return True")),
        alone("no-absolute-value", "You looked at differences with their sign, so a leak that makes outputs smaller is missed: take the absolute value.",
            (".abs()", "")),
        alone("signed-mean", "You took the mean of differences with their sign: they cancel out, and a leak that makes outputs smaller comes out below 0. Take absolute values, and the largest.",
            (".abs().max()", ".mean()")),
        alone("smallest-difference", "You asked that every output change (the smallest difference); one that changes is a leak: take the largest.",
            (".abs().max()", ".abs().min()")),
        alone("same-input-twice", _SAME_OUTPUTS, ("attend(changed)", "attend(x)")),
        alone("inputs-compared", _SAME_OUTPUTS, ("after[:t] - before[:t]", "changed[:t] - x[:t]")),
        alone("starts-at-two", _SOME_T, ("range(1, x.shape[0])", "range(2, x.shape[0])")),
        alone("middle-only", _SOME_T, ("range(1, x.shape[0])", "[x.shape[0] // 2]")),
        alone("a-word-between", "Between the words you change and the outputs you compare one word is left out, and most leaks are to the very neighbour: change [t:], compare [:t].",
            ("changed[t:] = changed[t:]", "changed[t + 1 :] = changed[t + 1 :]")),
        alone("tolerance-the-wrong-way", "You call it a leak when outputs stay the same: a leak is a difference *above* the tolerance.", ("difference > 1e-5", "difference < 1e-5")),
        alone("not-cloned-afresh", "One copy of x serves all rounds of your loop, so the changes of earlier rounds are still in it, and words before t are changed too: clone x afresh for every t.",
            ("    before = attend(x)", "    changed = x.clone()\n    before = attend(x)"), ("        changed = x.clone()\n", "")),
        alone("looks-at-the-past", "You ask whether later outputs depend on earlier words, which they may. (In a Jacobian with a row for each output, the future is above the diagonal: triu.)",
            ("changed[t:] = changed[t:]", "changed[:t] = changed[:t]"), ("after[:t] - before[:t]", "after[t:] - before[t:]")),
        _derivative("derivatives-instead-of-changes", _DERIVATIVES, _BY_JACOBIAN),
        _derivative("gradients-instead-of-changes", _DERIVATIVES, _BACKWARDS),
        _derivative("gradients-where-there-are-any", _DERIVATIVES, _BACKWARDS,
            ("    for t in", "    if not out.requires_grad:\n        return False\n    for t in")),
        _derivative("derivatives-of-the-past", "You ask whether later outputs depend on earlier words, which they may. " + _NO_DERIVATIVES, _BY_JACOBIAN, ("triu(diagonal=1)", "tril(diagonal=-1)")),
        _derivative("derivatives-with-the-diagonal", "You count what each word does to its own output, the diagonal, and it may do that. " + _NO_DERIVATIVES, _BY_JACOBIAN, ("triu(diagonal=1)", "triu()")),
        alone("change-too-small-for-steps", "You change the future too little: a later word that comes in by comparing or rounding shows only when it moves far enough. Change the words by something like 1.",
            ("+ 1.0", "+ 1e-2")),
        alone("one-feature-compared", "You compared a single feature of the outputs; a leak may be in any: compare whole rows, [:t].", ("after[:t] - before[:t]", "after[:t, 0] - before[:t, 0]")),
        alone("one-feature-compared-the-last", "You compared a single feature of the outputs; a leak may be in any: compare whole rows, [:t].", ("after[:t] - before[:t]", "after[:t, -1] - before[:t, -1]")),
        alone("size-of-the-difference", "You returned how large the difference is; the verdict is wanted, True or False: is it above the tolerance for any t?",
            ("    before = attend(x)", "    worst = 0.0\n    before = attend(x)"), ("        if difference > 1e-5:\n            return True\n    return False", "        worst = max(worst, difference.item())\n    return worst")),
        alone("prefixes-instead",
            "You compared with the outputs of a shorter sentence, x[:t], and not every function takes one: batch norm in training refuses a single word,"
            " and dropout on the (T, T) weights then draws other numbers. Keep all T words and change those from t on.",
            ("attend(changed)", "attend(x[:t])")),
        alone("prefixes-and-other-noise",
            "You compared with the outputs of a shorter sentence, x[:t], and not every function takes one: batch norm in training refuses a single word."
            " Besides, dropout draws other numbers in each call. Keep all T words, change those from t on, and set the generator back before each call.",
            ("attend(changed)", "attend(x[:t])"), ("torch.set_rng_state(state)", "pass")),
        Mistake("always-true", source="def leaks_future(attend, x):\n    return True", message="Your function accuses everything, a single word included: it must compare outputs."),
    ),
    indistinguishable=pairs("t-itself", "no-tolerance", "noise-not-repeated"),
    alternatives=(
        "def leaks_future(attend, x):\n    state = torch.get_rng_state()\n    before = attend(x)\n    for t in range(1, len(x)):\n"
        "        y = torch.cat([x[:t], torch.randn_like(x[t:])])\n        torch.set_rng_state(state)\n"
        "        if not torch.allclose(attend(y)[:t], before[:t]):\n            return True\n    return False",
        "def leaks_future(attend, x):\n    def call(x):\n        torch.manual_seed(0)\n        return attend(x)\n    def leaks(t):\n        y = x.clone()\n"
        "        y[t] = -3 * y[t] + 2\n        return bool(((call(y) - call(x))[:t].abs() > 1e-6).any())\n    return any(leaks(t) for t in range(len(x)))",
        "def leaks_future(attend, x):\n    with torch.random.fork_rng():\n        torch.manual_seed(1)\n        before = attend(x)\n    verdict = False\n"
        "    for t in range(1, len(x)):\n        y = x * 1\n        y[t:] = 0\n        with torch.random.fork_rng():\n            torch.manual_seed(1)\n"
        "            after = attend(y)\n        verdict = verdict or not torch.allclose(after[:t], before[:t], atol=1e-4)\n    return verdict",
    ),
)

# 5.4 The padding mask -------------------------------------------------------------------------------------------------


def _tokens_case(name, tokens, pad_id):
    B, T = len(tokens), len(tokens[0])
    return Case(name, lambda: (torch.tensor(tokens), pad_id), {"B": B, "T": T})


PADDING_MASK = Exercise(
    id="5.4",
    reference=masks.padding_mask,
    results=("mask",),
    covers="padding behind, in front and between, other pad ids, one sentence, one word",
    cases=(
        _tokens_case("padding behind, pad_id 0", [[5, 2, 9, 4, 0], [7, 1, 0, 0, 0], [3, 8, 6, 2, 1]], 0),
        _tokens_case("padding in front, pad_id 7", [[7, 7, 1, 0, 4, 2], [7, 9, 3, 3, 5, 8]], 7),
        _tokens_case("padding in between, pad_id 3", [[4, 3, 9, 1], [1, 2, 3, 3], [0, 8, 3, 5]], 3),
        _tokens_case("pad_id -1", [[0, 2, -1, -1], [1, -1, -1, -1]], -1),
        _tokens_case("as many sentences as words", [[1, 2, 0], [3, 0, 0], [4, 5, 6]], 0),
        _tokens_case("a sentence that is all padding", [[0, 0, 0, 0], [6, 0, 0, 0]], 0),
        _tokens_case("one word in one sentence", [[2]], 0),
    ),
    mistakes=(
        Mistake("marks-padding", old="!=", new="==",
            message="You marked the padding; here True means *may attend*, so compare with `!=`."),
        Mistake("on-queries", old="keep[:, None, None, :]", new="keep[:, None, :, None]",
            message="Your mask stands on the query axis: the rows of padding are hidden, while real words still look at padding. Padding is to be hidden as a key: (B, 1, 1, T), tokens last."),
        Mistake("both-sides", old="return keep[:, None, None, :]", new="return keep[:, None, None, :] & keep[:, None, :, None]",
            message="You hid padding as keys and as queries. A query of padding then has nothing to look at; hide keys only, and ignore what padding gives back."),
        Mistake("no-axes", old="keep[:, None, None, :]", new="keep",
            message="Your mask is (B, T): against scores (B, h, T, T) its batch axis would line up with the queries. Put two axes between: (B, 1, 1, T)."),
        Mistake("one-axis-short", old="keep[:, None, None, :]", new="keep[:, None, :]",
            message="Your mask is (B, 1, T): against scores (B, h, T, T) its batch axis would line up with the heads. One more axis: (B, 1, 1, T)."),
        Mistake("axes-in-front", old="keep[:, None, None, :]", new="keep[None, None, :, :]",
            message="You put the new axes in front, (1, 1, B, T), so the batch axis lines up with the queries; they belong between batch and tokens."),
        Mistake("axes-behind", old="keep[:, None, None, :]", new="keep[:, :, None, None]",
            message="You put the new axes behind, (B, T, 1, 1), so the tokens line up with the heads; they belong between batch and tokens."),
        Mistake("copied-for-each-query", old="keep[:, None, None, :]", new="keep[:, None, None, :].expand(-1, -1, keep.shape[1], -1)",
            message="You wrote the row out for every query, (B, 1, T, T). It is the same row each time; (B, 1, 1, T) broadcasts."),
        Mistake("pad-id-ignored", old="!= pad_id", new="!= 0",
            message="You took 0 for padding whatever pad_id says: compare with pad_id."),
        Mistake("larger-than-pad-id", old="!= pad_id", new="> pad_id",
            message="You kept tokens larger than pad_id; smaller ones are words too: compare with `!=`."),
        Mistake("counted-from-the-left",
            source="def padding_mask(tokens, pad_id):\n    lengths = (tokens != pad_id).sum(dim=-1)\n"
            "    return (torch.arange(tokens.shape[-1]) < lengths[:, None])[:, None, None, :]",
            message="You counted the words and kept that many from the left, which is right only if padding stands at the end: compare each token with pad_id."),
        Mistake("hidden-from-the-first-padding-on",
            source="def padding_mask(tokens, pad_id):\n    return ((tokens == pad_id).cumsum(dim=-1) == 0)[:, None, None, :]",
            message="You hid everything after the first padding; where padding stands in front, that is the whole sentence: compare each token with pad_id."),
        Mistake("numbers", old="keep = tokens != pad_id", new="keep = (tokens != pad_id).long()",
            message="Your mask holds the numbers 0 and 1; the course's masks hold False and True: leave the comparison as it is."),
        Mistake("identity-compared", old="!=", new="is not", hides_others=True,
            message="`is not` asks whether two names stand for the same object and gives a single answer; `!=` compares every token."),
        alone("membership", "`in` asks whether padding occurs anywhere and gives a single answer; `!=` compares every token.", ("return keep[:, None, None, :]", "return pad_id not in tokens")),
        alone("python-not", "`not` asks a whole tensor for one truth value; `~` turns every entry over.", ("tokens != pad_id", "not tokens == pad_id")),
        alone("sentences-behind-a-new-axis", "Your mask is (1, B, 1, T), so the sentences line up with the heads: the batch axis comes first, (B, 1, 1, T).",
            ("keep[:, None, None, :]", "keep[None, :, None, :]")),
        alone("added-mask", "You made a mask to be added to the scores, 0 and −∞; the course's masks hold True where a word may look. (PyTorch takes both.)",
            ("keep = tokens != pad_id", "keep = torch.zeros(tokens.shape).masked_fill(tokens == pad_id, -torch.inf)")),
        alone("either-is-a-word", "You wrote the mask out for all pairs and allowed those of which either is a word, so words see padding. Padding is hidden as a key: (B, 1, 1, T).",
            ("return keep[:, None, None, :]", "return keep[:, None, None, :] | keep[:, None, :, None]")),
        alone("first-sentence-for-all", "You looked at the first sentence only; each has padding of its own.", ("keep = tokens != pad_id", "keep = tokens[:1] != pad_id")),
        alone("last-token-taken-for-padding", "You took the last token of each sentence for padding; a full sentence ends with a word: compare with pad_id.", ("!= pad_id", "!= tokens[:, -1:]")),
        alone("lengths", "You counted the words; which tokens are words is asked, True or False for each.", ("return keep[:, None, None, :]", "return keep.sum(dim=-1)")),
        alone("squeezed", "`squeeze` takes the two new axes away again: (B, 1, 1, T) needs them.", ("return keep[:, None, None, :]", "return keep[:, None, None, :].squeeze()")),
        alone("places-of-words", "`torch.where` with one argument gives the places of the words; the mask itself is wanted, True or False for each token.",
            ("return keep[:, None, None, :]", "return torch.where(keep)")),
    ),
    properties=(keeps_names("pad_id"),),
    alternatives=(
        "def padding_mask(tokens, pad_id):\n    return ~(tokens == pad_id).unsqueeze(1).unsqueeze(2)",
        "def padding_mask(tokens, pad_id):\n    B, T = tokens.shape\n    return torch.ne(tokens, pad_id).view(B, 1, 1, T)",
        "def padding_mask(tokens, pad_id):\n    return torch.tensor([[[[t != pad_id for t in row]]] for row in tokens.tolist()])",
    ),
)

# 5.5 Combine masks ----------------------------------------------------------------------------------------------------


def _combine_case(name, tokens, pad_id=0):
    B, T = len(tokens), len(tokens[0])
    return Case(name, lambda: (masks.padding_mask(torch.tensor(tokens), pad_id), masks.causal_mask(T)), {"B": B, "T": T})


COMBINE_MASKS = Exercise(
    id="5.5",
    reference=masks.combine_masks,
    results=("mask",),
    covers="padding behind, in front and between, nothing padded, one sentence",
    cases=(
        _combine_case("padding behind", [[5, 2, 9, 4, 0], [7, 1, 0, 0, 0], [3, 8, 6, 2, 1]]),
        _combine_case("padding in front and between", [[0, 0, 1, 4], [6, 0, 2, 5]]),
        _combine_case("as many sentences as words", [[1, 2, 0], [3, 0, 0], [4, 0, 6]]),
        _combine_case("nothing padded", [[1, 2, 3, 4, 5, 6]]),
        _combine_case("a sentence that is all padding", [[0, 0], [0, 3], [1, 0]]),
    ),
    mistakes=(
        Mistake("or", old="&", new="|",
            message="You joined the masks with OR (`|`, or `+`), so one permission is enough. True means *may attend*: both must allow it, AND."),
        Mistake("xor", old="&", new="^",
            message="You allowed a pair if exactly one mask allows it; both must: AND, `&`."),
        Mistake("and-word", old="&", new="and", hides_others=True,
            message="`and` asks for one truth value of a whole tensor; `&` works cell by cell."),
        Mistake("causal-only", old="padding &", new="torch.ones_like(padding) &",
            message="Your result is the causal mask alone: padding is still to be seen."),
        Mistake("padding-only", old="& causal", new="& torch.ones_like(causal)",
            message="Your result is the padding mask alone: the future is still to be seen."),
        Mistake("padding-on-queries", old="padding &", new="padding.transpose(-2, -1) &",
            message="You turned the padding mask onto the query axis, so rows of padding are hidden and real words look at padding. It hides keys: leave it (B, 1, 1, T)."),
        Mistake("padding-on-both-sides", old="padding &", new="padding & padding.transpose(-2, -1) &",
            message="You hid padding as keys and as queries. The rows of padding then have nothing to look at; hide keys only."),
        Mistake("causal-transposed", old="& causal", new="& causal.T",
            message="You turned the causal mask over: words see the future and not the past."),
        Mistake("result-inverted", old="return allowed", new="return ~allowed",
            message="Your result marks what is hidden; True means *may attend*, as in both masks you were given."),
        Mistake("padding-inverted", old="padding &", new="~padding &",
            message="You inverted the padding mask, but it already says what may be seen."),
        Mistake("causal-inverted", old="& causal", new="& ~causal",
            message="You inverted the causal mask, but it already says what may be seen."),
        Mistake("one-sentence-for-all", old="padding &", new="padding[0] &",
            message="You used the first sentence's padding for all of them: keep the batch axis."),
        Mistake("padded-anywhere", old="padding &", new="padding.all(dim=0, keepdim=True) &",
            message="You hid a place in all sentences if it is padding in one of them: each sentence has its own padding."),
        Mistake("always-itself", old="return allowed", new="return allowed | torch.eye(causal.shape[0], dtype=torch.bool)",
            message="You let every word see itself even where it is padding. That spares empty rows, but then padding is looked at; empty rows are exercise 5.6's business."),
        Mistake("head-axis-lost", old="return allowed", new="return allowed[:, 0]",
            message="The axis for the heads is gone: (B, 1, T, T) is wanted, or the batch axis will line up with the heads."),
        Mistake("numbers", old="return allowed", new="return allowed.float()",
            message="Your mask holds the numbers 0 and 1; the course's masks hold False and True."),
        alone("where-they-agree", "You allowed a pair where the two masks agree, so also where both forbid it; both must allow it: AND, `&`.", ("padding & causal", "padding == causal")),
        alone("padding-squeezed", "`squeeze` takes away the axes for heads and queries, so the sentences line up with the queries: leave padding (B, 1, 1, T).",
            ("padding & causal", "padding.squeeze() & causal")),
        alone("one-truth-for-all", "`all` makes one truth value of the whole padding mask; `&` works cell by cell.", ("padding & causal", "padding.all() & causal")),
        alone("causal-with-another-axis", "You gave the causal mask another axis, which moves its rows out of place; it broadcasts as it comes: (T, T).", ("padding & causal", "padding & causal[:, None]")),
        alone("laid-one-after-the-other", "`cat` lays tensors one after the other; the two masks are combined cell by cell: `&`.", ("padding & causal", "torch.cat([padding, causal])")),
        alone("both-returned", "You returned the two masks side by side; one mask is wanted that allows what both allow: `&`.", ("return allowed", "return padding, causal")),
        alone("matrix-product", "A matrix product adds up over the words; the two masks are combined cell by cell: `&`.", ("padding & causal", "padding.float() @ causal.float() > 0")),
    ),
    indistinguishable=(
        *pairs("always-itself", "or", "causal-only", "causal-transposed", "causal-inverted"),
        ("xor", "result-inverted"),  # allowed where the two agree, which has a name of its own
    ),
    alternatives=(
        "def combine_masks(padding, causal):\n    return torch.logical_and(padding, causal)",
        "def combine_masks(padding, causal):\n    return ~(~padding | ~causal)",
        "def combine_masks(padding, causal):\n    return padding * causal",
        "def combine_masks(padding, causal):\n    T = causal.shape[-1]\n    return padding.expand(-1, 1, T, T) & causal[None, None]",
    ),
)

# 5.6 A safe softmax ---------------------------------------------------------------------------------------------------


def _run_masked_softmax(candidate, scores, mask):
    """The weights, and the gradient of a fixed sum of them with respect to the scores."""
    scores = scores.clone().requires_grad_()
    weights = candidate(scores, mask)
    gradient = None
    if torch.is_tensor(weights) and weights.shape == scores.shape and weights.requires_grad:
        pull = torch.linspace(-1, 2, scores.numel()).reshape(scores.shape).to(scores.dtype).sin()
        (gradient,) = torch.autograd.grad((weights * pull).sum(), scores, allow_unused=True)
    weights = weights.detach() if torch.is_tensor(weights) else weights
    return weights, torch.zeros_like(scores) if gradient is None else gradient


def _softmax_case(name, seed, shape, mask_shape, empty=(), scale=1.0, shift=0.0, dtype=torch.float64, loud=0.0):
    """empty: index of rows that see nothing. loud: how far hidden scores stand above the others."""

    def make():
        rng = np.random.default_rng(seed)
        mask = rng.random(mask_shape) < 0.5
        mask[..., rng.integers(mask_shape[-1])] = True
        for index in empty:
            mask[index] = False
        scores = shift + scale * rng.normal(size=shape) + loud * ~mask
        return torch.from_numpy(scores).to(dtype), torch.from_numpy(mask)

    names = {2: ("T_q", "T_k"), 3: ("B", "T_q", "T_k"), 4: ("B", "h", "T_q", "T_k")}[len(shape)]
    return Case(name, make, dict(zip(names, shape, strict=True)))


def _empty_rows(case, expected, got):
    scores, mask = case.make()
    weights = torch.as_tensor(got[0])
    empty = ~mask.any(dim=-1, keepdim=True).expand(*scores.shape[:-1], 1)
    hidden = ~mask.expand(scores.shape)
    if weights.shape != scores.shape or not weights.is_floating_point():
        return None
    if weights[empty.expand(scores.shape)].isnan().any():
        return "A row that may look at nothing comes out as NaN; zeros are wanted."
    if (weights * empty != 0).any():
        return "A row that may look at nothing still gives out weight; zeros are wanted."
    if (weights * hidden != 0).any():
        return "Some hidden keys have weight; it must be exactly 0."


def _lost_rows(case, expected, got):
    """Rows that may see something and give out less than all their weight."""
    wanted, weights = as_array(expected[0]).astype(float), as_array(got[0]).astype(float)
    totals = weights.sum(axis=-1)[wanted.sum(axis=-1) > 0.5]
    if np.isfinite(totals).all() and totals.size and totals.min() < 0.9:
        return (
            f"A row that may see something gives out only {totals.min():.2g} of its weight: was the maximum taken over hidden keys too, or the mask"
            " applied after the softmax? Beside a loud hidden key everything visible underflows to 0."
        )


def _only_gradients(case, expected, got):
    if same(got[0], expected[0], tolerance_of(case, expected)):
        if torch.as_tensor(got[1]).isnan().any():
            return "The weights are right, but the gradient holds NaN: somewhere on the way a NaN or infinity was made and replaced only afterwards."
        return "Where the weights are right, the gradient is not: does every step from scores to weights go through PyTorch?"


_EMPTY = [(0, 0, 2), (1, 0, 0)]
_GRADIENT_NAN = (
    "The weights are right and the gradients are not: NaN or a division by 0 arose in a row that sees nothing, and was replaced only afterwards."
    " Backwards, 0 · NaN is NaN (an added −∞, or torch.where around a division, lets it through). Give such rows ordinary scores before the softmax."
)

_HIDDEN_MAXIMUM = "The maximum that you subtract may be a hidden key's. Beside a loud one all visible exponentials underflow to 0: hide the scores first, then take the maximum."

MASKED_SOFTMAX = Exercise(
    id="5.6",
    keeps_dtype=True,
    reference=masks.masked_softmax,
    results=("weights", "the gradient"),
    run=_run_masked_softmax,
    covers="empty rows, an empty sentence, masks of fewer axes, loud hidden keys, large scores, float16, gradients",
    explain=(_empty_rows, _lost_rows, _only_gradients, nearly_right),
    max_mistakes=2,
    cases=(
        _softmax_case("a batch with heads, two rows that see nothing", 1, (3, 2, 5, 7), (3, 1, 5, 7), empty=_EMPTY),
        _softmax_case("every row sees something", 2, (4, 6), (4, 6)),
        _softmax_case("a padding mask, the second sentence all padding", 3, (2, 3, 4, 5), (2, 1, 1, 5), empty=[(1,)]),
        _softmax_case("as many queries as keys, one row that sees nothing", 4, (5, 5), (5, 5), empty=[(2,)]),
        _softmax_case("a batch of square scores, one mask for all", 5, (3, 4, 4), (4, 4), empty=[(1,)]),
        _softmax_case("large scores", 6, (3, 5), (3, 5), empty=[(0,)], scale=3e4),
        _softmax_case("scores far below zero", 11, (3, 5), (3, 5), empty=[(1,)], shift=-5e4),
        _softmax_case("hidden keys that score far higher", 7, (3, 6), (3, 6), empty=[(2,)], loud=2e3),
        _softmax_case("one key, hidden or not", 8, (4, 1), (4, 1), empty=[(1,), (3,)]),
        _softmax_case("float16", 9, (2, 3, 5), (2, 3, 5), empty=[(0, 1)], dtype=torch.float16),
        _softmax_case("a mask of three axes, one for each head", 12, (2, 3, 4, 5), (3, 4, 5), empty=[(1, 2)]),
        _softmax_case("float32", 10, (2, 3, 5), (2, 3, 5), empty=[(1, 0)], dtype=torch.float32),
    ),
    mistakes=(
        Mistake("nan-rows", edits=(("    scores = scores.masked_fill(empty, 0.0)\n", ""), ("weights.masked_fill(empty, 0.0)", "weights")),
            message="A row that sees nothing is all −∞, and its softmax is 0/0 = NaN (which times 0 is still NaN): give such rows zeros."),
        Mistake("uniform-rows", old="weights.masked_fill(empty, 0.0)", new="weights",
            message="A row that sees nothing has the same score everywhere, so the softmax spreads its weight evenly, hidden keys included; such rows must be zeros."),
        Mistake("big-negative-number",
            source="def masked_softmax(scores, mask):\n    return torch.softmax(scores.masked_fill(~mask, -1e9), dim=-1)",
            message="With −1e9 for −∞, a row that sees nothing has the same score everywhere and attends evenly to all it must not see; and float16 cannot hold −1e9 at all. Use −∞, and zeros for such rows."),
        Mistake("big-negative-in-half", old="-torch.inf", new="-1e9",
            message="float16 ends at −65504, so −1e9 cannot be written in it: use -torch.inf, which every float type has."),
        Mistake("not-negative-enough", old="-torch.inf", new="-1e4",
            message="−1e4 (or −100) is an ordinary score beside scores of −5e4, and hidden keys get all the weight: use -torch.inf."),
        Mistake("big-negative-added",
            source="def masked_softmax(scores, mask):\n    return torch.softmax(scores + torch.where(mask, 0.0, -1e9).to(scores.dtype), dim=-1)",
            message="Adding −1e9 hides a key only beside others that are not hidden; a row that sees nothing attends as if there were no mask, or evenly. Fill with −∞, and give such rows zeros."),
        Mistake("after-softmax",
            edits=(("    scores = scores.masked_fill(hidden, -torch.inf)\n", ""), ("weights.masked_fill(empty, 0.0)", "weights.masked_fill(hidden, 0.0)")),
            message="You masked after the softmax: hidden keys have already taken their share, so rows no longer sum to 1, and the future shows in the denominator."),
        Mistake("maximum-of-hidden-keys",
            source="def masked_softmax(scores, mask):\n    powers = torch.exp(scores - scores.detach().amax(dim=-1, keepdim=True)) * mask\n    total = powers.sum(dim=-1, keepdim=True)\n"
            "    return powers / total.masked_fill(total == 0, 1.0)",
            message=_HIDDEN_MAXIMUM),
        Mistake("maximum-of-hidden-keys-traced",
            source="def masked_softmax(scores, mask):\n    powers = torch.exp(scores - scores.amax(dim=-1, keepdim=True)) * mask\n    total = powers.sum(dim=-1, keepdim=True)\n"
            "    return powers / total.masked_fill(total == 0, 1.0)",
            message=_HIDDEN_MAXIMUM),
        Mistake("renormalised-after-softmax",
            source="def masked_softmax(scores, mask):\n    weights = torch.softmax(scores, dim=-1) * mask\n"
            "    return weights / weights.sum(dim=-1, keepdim=True).clamp(min=1e-9)",
            message="You masked after the softmax and divided by what was left. Beside a loud hidden key nothing is left to divide: all visible weights underflow to 0. Mask the scores first."),
        Mistake("score-zero", old="-torch.inf", new="0.0",
            message="A score of 0 is not nothing: exp(0) = 1, so hidden keys get weight (multiplying scores by the mask does the same). Use −∞."),
        Mistake("plus-infinity", old="-torch.inf", new="torch.inf",
            message="You filled hidden scores with +∞, and ∞ − ∞ is NaN: −∞ is the score of what must not be seen."),
        Mistake("gradient-nan",
            source="def masked_softmax(scores, mask):\n    bias = torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(~mask, -torch.inf)\n"
            "    return torch.nan_to_num(torch.softmax(scores + bias, dim=-1))",
            message=_GRADIENT_NAN),
        Mistake("gradient-nan-divided",
            source="def masked_softmax(scores, mask):\n    top = scores.masked_fill(~mask, -torch.inf).amax(dim=-1, keepdim=True)\n"
            "    exps = torch.exp((scores - torch.where(top.isfinite(), top, 0.0)).clamp(max=0.0)) * mask\n    total = exps.sum(dim=-1, keepdim=True)\n"
            "    return torch.where(total > 0, exps / total, 0.0)",
            message=_GRADIENT_NAN),
        Mistake("gradient-cut", old="torch.softmax(scores", new="torch.softmax(scores.detach()",
            message="The weights are right, but no gradient reaches the scores: detach, .item(), .numpy() or torch.tensor(...) cuts it off."),
        Mistake("over-queries", old="torch.softmax(scores, dim=-1)", new="torch.softmax(scores, dim=-2)",
            message="Your softmax runs over the queries: each query's weights, a row, sum to 1: dim=-1."),
        Mistake("mask-inverted", old="hidden = ~mask", new="hidden = mask",
            message="You hid what may be seen: True means *may attend*."),
        Mistake("mask-ignored", old="    scores = scores.masked_fill(hidden, -torch.inf)\n", new="",
            message="Hidden keys keep their weight; only rows that see nothing were treated: write −∞ into the hidden scores (masked_fill returns a new tensor; keep it)."),
        Mistake("filled-in-place", old="scores.masked_fill(hidden", new="scores.masked_fill_(hidden", hides_others=True,
            message="masked_fill_ with an underscore (or scores[...] = …) changes the scores you were given, which autograd forbids and callers do not expect: use masked_fill."),
        Mistake("empty-if-any-hidden", hides_others=True, old="hidden.all(", new="hidden.any(",
            message="You zeroed every row that hides *some* key; a row is empty only if it hides *all* of them."),
        Mistake("empty-columns", old="hidden.all(dim=-1", new="hidden.all(dim=-2",
            message="You looked for keys that nobody sees; look for queries that see nothing: all along the keys, dim=-1."),
        Mistake("empty-without-keepdim", old="dim=-1, keepdim=True", new="dim=-1", hides_others=True,
            message="Without keepdim=True the list of empty rows lines up with the keys (or does not fit at all): keep it as a column."),
        Mistake("no-maximum", hides_others=True,
            source="def masked_softmax(scores, mask):\n    exps = torch.exp(scores) * mask\n"
            "    return exps / exps.sum(dim=-1, keepdim=True).clamp(min=1e-30)",
            message="exp overflows for large scores, and inf/inf is NaN: use torch.softmax, or subtract the largest *visible* score first."),
        Mistake("scores-by-index", source="def masked_softmax(scores, mask):\n    scores = scores.clone()\n    scores[~mask] = -torch.inf\n"
            "    return torch.nan_to_num(torch.softmax(scores, dim=-1))",
            message="Indexing with the mask needs one of exactly the scores' shape, and a mask may have fewer axes, or axes of length 1: `masked_fill` broadcasts."),
        Mistake("rows-by-index", source="def masked_softmax(scores, mask):\n    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)\n"
            "    weights[~mask.any(dim=-1)] = 0.0\n    return weights",
            message="Indexing with the empty rows needs them in exactly the weights' shape, and a mask may have fewer axes, or axes of length 1:"
            " `masked_fill` with `keepdim=True` broadcasts."),
        Mistake("all-zero-for-one-nan", source="def masked_softmax(scores, mask):\n    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)\n"
            "    return weights if weights.isfinite().all() else torch.zeros_like(weights)",
            message="One row that sees nothing makes all of yours zero: only that row should be."),
        Mistake("max-gives-two-things", source="def masked_softmax(scores, mask):\n    scores = scores.masked_fill(~mask, -torch.inf)\n"
            "    return scores - scores.max(dim=-1, keepdim=True)",
            message="With a dim, PyTorch's `max` returns values and their places: take `.values`, or use `amax`."),
        Mistake("everything-seen-from-empty-rows", source="def masked_softmax(scores, mask):\n    mask = mask | ~mask.any(dim=-1, keepdim=True)\n"
            "    return torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)",
            message="A row that sees nothing was allowed to see everything instead, so that the softmax gets through; afterwards such rows must become zeros."),
    ),
    indistinguishable=(
        *pairs("nan-rows", "big-negative-in-half", "not-negative-enough", "score-zero", "empty-if-any-hidden", "empty-columns", "empty-without-keepdim"),
        *pairs("uniform-rows", "big-negative-in-half", "not-negative-enough", "score-zero"),
    ),
    alternatives=(
        "def masked_softmax(scores, mask):\n    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)\n"
        "    return weights.masked_fill(~mask, 0.0)",
        "def masked_softmax(scores, mask):\n    return torch.nan_to_num(torch.softmax(torch.where(mask, scores, -torch.inf), dim=-1))",
        "def masked_softmax(scores, mask):\n    low = torch.finfo(scores.dtype).min\n    return torch.softmax(scores.masked_fill(~mask, low), dim=-1) * mask",
        "def masked_softmax(scores, mask):\n    s = scores.masked_fill(~mask, -torch.inf)\n    top = s.amax(dim=-1, keepdim=True)\n"
        "    e = torch.exp(s - top.masked_fill(top == -torch.inf, 0.0))\n    total = e.sum(dim=-1, keepdim=True)\n"
        "    return e / total.masked_fill(total == 0, 1.0)",
    ),
)

# 5.7 Cross-attention --------------------------------------------------------------------------------------------------


def _run_cross(candidate, d_model, n_heads, x, memory, mask):
    try:
        module = built(candidate, (d_model, n_heads))
    except ValueError as problem:
        if {str(d_model), str(n_heads)} <= set(re.findall(r"\d+", str(problem))):
            raise ValueError(f"{d_model} and {n_heads}") from problem  # any wording that names both numbers will do
        raise
    if d_model % n_heads == 0:
        module = filled(module, built(masks.CrossAttention, (d_model, n_heads)))
    module = module.to(x.dtype).eval()
    with torch.no_grad():
        return module(x, memory) if mask is None else module(x, memory, mask)


def _cross_case(name, seed, B, T_q, T_k, d_model, n_heads, tokens=None, dtype=torch.float64, scale=1.0, mask=None):
    dims = {"B": B, "h": n_heads, "T_q": T_q, "T_k": T_k, "d_model": d_model, "d_k": d_model // n_heads}

    def make():
        x, memory = scale * _normal(seed, B, T_q, d_model, dtype=dtype), scale * _normal(seed + 50, B, T_k, d_model, dtype=dtype)
        if mask is not None:
            shape = (B, 1, T_q, T_k) if mask == "pairs" else (n_heads, T_q, T_k)
            may = torch.from_numpy(np.random.default_rng(seed).random(shape) < 0.6)
            may[..., 0] = True
        else:
            may = None if tokens is None else masks.padding_mask(torch.tensor(tokens), 0)
        return d_model, n_heads, x, memory, may

    return Case(name, make, dims)


def _built_and_filled(candidate):
    return filled(built(candidate, (12, 2)), built(masks.CrossAttention, (12, 2))).eval()


def _call(seed, T_q, T_k, lengths=None):
    """A function that makes the arguments of one call of a module. lengths: how many words of each memory are no padding."""

    def make():
        x, memory = _normal(seed, 2, T_q, 12, dtype=torch.float32), _normal(seed + 50, 2, T_k, 12, dtype=torch.float32)
        if lengths is None:
            return x, memory
        return x, memory, (torch.arange(T_k) < torch.tensor(lengths)[:, None])[:, None, None]

    return make


_ATTEND = "masked_softmax(scores, memory_mask)"

_LENGTH = "The memory was reshaped with the length of x, T_q = {T_q}; it has its own, T_k = {T_k}. `split_heads` reads the length from what it gets."


def _who_gets_weight(case, expected, got):
    mask = case.make()[-1]
    return None if mask is None or as_array(got[1]).dtype.kind != "f" else blocked_keys(got[1], mask)


CROSS_ATTENTION = Exercise(
    id="5.7",
    reference=masks.CrossAttention,
    results=("out", "weights"),
    run=_run_cross,
    properties=(
        gradients_reach_every_parameter(
            masks.CrossAttention, (12, 2), lambda: (_normal(20, 2, 5, 12, dtype=torch.float32), _normal(21, 2, 7, 12, dtype=torch.float32))
        ),
        keeps_nothing(
            _built_and_filled,
            ("without a mask", _call(30, 5, 7)),
            ("with a mask", _call(30, 5, 7, (4, 6))),
            ("without a mask", _call(30, 5, 7)),
            ("with another mask", _call(30, 5, 7, (5, 2))),
            ("with another memory", _call(31, 5, 7)),
            ("with fewer words in the memory", _call(32, 5, 4)),
            ("with more words that ask", _call(33, 8, 4, (3, 1))),
        ),
    ),
    covers="padded memories, one that is all padding, more and fewer keys than queries, one head, float32",
    max_mistakes=2,
    cases=(
        _cross_case("five words ask seven", 1, 3, 5, 7, 16, 2),
        _cross_case("a padded memory", 2, 3, 5, 7, 16, 2, [[5, 2, 9, 4, 3, 0, 0], [7, 1, 0, 0, 0, 0, 0], [3, 8, 6, 2, 1, 4, 5]]),
        _cross_case("as many words as in the memory", 3, 2, 5, 5, 12, 3, [[5, 2, 9, 0, 0], [0, 0, 1, 4, 6]]),
        _cross_case("seven words ask three, one head", 4, 2, 7, 3, 4, 1, [[1, 2, 0], [4, 0, 0]]),
        _cross_case("a memory that is all padding", 5, 2, 3, 3, 20, 4, [[0, 0, 0], [4, 1, 0]]),
        _cross_case("large inputs", 6, 2, 4, 7, 15, 3, [[1, 2, 3, 0, 0, 0, 0], [4, 1, 2, 3, 5, 6, 7]], scale=60.0),
        _cross_case("scores far below zero", 11, 2, 5, 7, 24, 3, [[1, 0, 0, 0, 0, 0, 0], [0, 4, 2, 0, 0, 0, 0]], scale=2e3),
        _cross_case("one word asks", 7, 2, 1, 6, 20, 4, [[1, 2, 3, 0, 0, 0], [4, 1, 2, 3, 5, 6]], dtype=torch.float32),
        _cross_case("another mask for every word that asks", 8, 2, 4, 4, 15, 3, mask="pairs"),
        _cross_case("a mask of three axes, one for each head", 9, 2, 5, 7, 24, 4, mask="heads"),
        Case("d_model = 10, n_heads = 3", lambda: (10, 3, _normal(9, 1, 2, 10), _normal(10, 1, 3, 10), None)),
    ),
    mistakes=(
        Mistake("memory-ignored", edits=(("self.W_k(memory)", "self.W_k(x)"), ("self.W_v(memory)", "self.W_v(x)")),
            message="Your output does not depend on the memory: keys and values must be made from it; that is self-attention."),
        Mistake("keys-from-x", old="self.W_k(memory)", new="self.W_k(x)",
            message="Your keys come from x; both keys and values belong to the memory, which is what is looked at."),
        Mistake("values-from-x", old="self.W_v(memory)", new="self.W_v(x)",
            message="Your values come from x; what is fetched comes from the memory, as the keys do."),
        Mistake("queries-from-memory", old="self.W_q(x)", new="self.W_q(memory)",
            message="Your queries come from the memory, so x is never asked anything (or there is one output for each memory word): queries come from x."),
        Mistake("roles-swapped", edits=(("self.W_q(x)", "self.W_q(memory)"), ("self.W_k(memory)", "self.W_k(x)"), ("self.W_v(memory)", "self.W_v(x)")),
            message="The roles are swapped: x asks (queries), the memory answers (keys and values), so there is one output for each word of x."),
        Mistake("both-sequences", hides_others=True, edits=(("self.W_k(memory)", "self.W_k(torch.cat([memory, x], dim=1))"), ("self.W_v(memory)", "self.W_v(torch.cat([memory, x], dim=1))")),
            message="You let x look at itself as well, by joining it to the memory; here keys and values come from the memory alone."),
        Mistake("causal-mask-reused", old="        weights = scores",
            new="        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1), -torch.inf)\n        weights = scores",
            message="Cross-attention needs no causal mask: the whole memory is there before the first word of x is."),
        Mistake("mask-dropped", old=_ATTEND, new="scores.softmax(dim=-1)",
            message="The memory's padding still receives attention: pass memory_mask on to the softmax."),
        Mistake("mask-inverted", old=_ATTEND, new="masked_softmax(scores, ~memory_mask)",
            message="You hid what may be seen: True in memory_mask means *may attend*."),
        Mistake("mask-on-queries", old=_ATTEND, new="masked_softmax(scores, memory_mask.transpose(-2, -1))", hides_others=True,
            message="You turned the mask onto the query axis; it belongs to the memory's words, the last axis, as it comes."),
        Mistake("nan-rows", old=_ATTEND, new="scores.masked_fill(~memory_mask, -torch.inf).softmax(dim=-1)",
            message="A memory that is all padding gives NaN: your own masked_softmax of exercise 5.6 gives zeros."),
        Mistake("big-negative-number", old=_ATTEND, new="scores.masked_fill(~memory_mask, -1e9).softmax(dim=-1)",
            message="A memory that is all padding is attended to evenly, because every score is −1e9: your own masked_softmax of exercise 5.6 gives zeros."),
        Mistake("weights-for-show", old="merge_heads(heads)), weights", new="merge_heads(heads)), scores.softmax(dim=-1)", together=2,
            message="Your output uses the mask, and the weights beside it do not: hidden words have their share in them. Return the weights that mixed the values."),
        Mistake("mask-after-softmax", old=_ATTEND, new="scores.softmax(dim=-1).masked_fill(~memory_mask, 0.0)",
            message="You masked after the softmax: padding has already taken its share, and the rows no longer sum to 1."),
        Mistake("no-scale", old=" / math.sqrt(Q.shape[-1])", new="",
            message="You left out the scale: divide the scores by √d_k = {sqrt_d_k}."),
        Mistake("scale-by-d_model", old="math.sqrt(Q.shape[-1])", new="math.sqrt(x.shape[-1])",
            message="You divided by √d_model = {sqrt_d_model}; each head's scores are sums of d_k = {d_k} products: √d_k = {sqrt_d_k}."),
        Mistake("divide-by-d_k", old="math.sqrt(Q.shape[-1])", new="Q.shape[-1]",
            message="You divided the scores by d_k = {d_k}, not by √d_k = {sqrt_d_k}."),
        Mistake("keys-as-values", old="weights @ V", new="weights @ K",
            message="You mixed the keys, or made the values with W_k: what is fetched are the values, made by W_v."),
        Mistake("layers-exchanged", edits=(("self.W_k(memory)", "self.W_v(memory)"), ("self.W_v(memory)", "self.W_k(memory)")),
            message="W_k and W_v are exchanged: W_k makes keys, W_v makes values."),
        Mistake("no-output-projection", old="self.W_o(merge_heads(heads))", new="merge_heads(heads)",
            message="The heads are joined but never mixed: pass the result through W_o."),
        Mistake("merge-no-transpose", old="merge_heads(heads)", new="heads.reshape(x.shape)",
            message="You joined the heads by a reshape alone, so that one word's row holds pieces of other words: merge_heads moves the head axis back first."),
        Mistake("residual-added", old="return self.W_o(", new="return x + self.W_o(",
            message="You added x to the output. Blocks do so, around the attention; this class returns the attention alone."),
        Mistake("weights-averaged", old=", weights  #", new=", weights.mean(dim=1)  #",
            message="You averaged the weights over the heads, as PyTorch's module does unless told otherwise; all of them are wanted, (B, h, T_q, T_k)."),
        Mistake("results-swapped", old="return self.W_o(merge_heads(heads)), weights", new="return weights, self.W_o(merge_heads(heads))", hides_others=True,
            message="You returned (weights, out); (out, weights) is wanted."),
        Mistake("no-error", old="d_model % n_heads != 0", new="False",
            message="d_model = 10 does not divide among 3 heads: raise a ValueError that names both numbers."),
        alone("not-split", "There are no heads: split what the three layers give, `split_heads(…, self.n_heads)`, and merge at the end.",
            ("split_heads(self.W_q(x), self.n_heads)", "self.W_q(x)"), ("split_heads(self.W_k(memory), self.n_heads)", "self.W_k(memory)"),
            ("split_heads(self.W_v(memory), self.n_heads)", "self.W_v(memory)"), ("merge_heads(heads)", "heads")),
        alone("no-mask-not-thought-of", "Without a mask `masked_softmax` has nothing to turn over: where memory_mask is None, use a plain softmax.",
            (f"scores.softmax(dim=-1) if memory_mask is None else {_ATTEND}", _ATTEND)),
        alone("softmax-only-with-a-mask", "Without a mask there are no weights in yours: where memory_mask is None, a plain softmax makes them.",
            (f"        weights = scores.softmax(dim=-1) if memory_mask is None else {_ATTEND}", f"        if memory_mask is not None:\n            weights = {_ATTEND}")),
        alone("mask-as-condition", "Asking the mask itself for a truth value fails: ask `memory_mask is None`.", ("memory_mask is None", "not memory_mask")),
        alone("mask-as-for-tokens", "You gave the mask two more axes, as if it came as (B, T_k); it comes broadcastable to (B, h, T_q, T_k) already. Use it as it is.",
            (_ATTEND, "masked_softmax(scores, memory_mask[:, None, None, :])")),
        alone("merged-twice", "You exchanged heads and positions before merge_heads, which does it itself: hand it (B, h, T_q, d_k).", ("merge_heads(heads)", "merge_heads(heads.transpose(1, 2))")),
        alone("layer-on-split-heads", "A layer received one head's d_k = {d_k} features. Each of the four takes all d_model = {d_model}: W_q, W_k and W_v come before the split, W_o after the merge.",
            ("split_heads(self.W_q(x), self.n_heads)", "self.W_q(split_heads(x, self.n_heads))")),
        alone("heads-returned", "The heads came back unmerged: `self.W_o(merge_heads(heads))` is the output.", ("return self.W_o(merge_heads(heads)), weights", "return heads, weights")),
        alone("length-of-x-for-the-memory", _LENGTH,
            ("split_heads(self.W_k(memory), self.n_heads)", "self.W_k(memory).reshape(len(x), x.shape[1], self.n_heads, -1).transpose(1, 2)")),
        alone("length-of-x-for-the-memory-written-out", _LENGTH,
            ("split_heads(self.W_k(memory), self.n_heads)", "self.W_k(memory).reshape(len(x), x.shape[1], self.n_heads, x.shape[2] // self.n_heads).transpose(1, 2)")),
        Mistake("scale-by-h", old="math.sqrt(Q.shape[-1])", new="math.sqrt(self.n_heads)",
            message="You divided by the square root of the number of heads; divide by √d_k = {sqrt_d_k}, the root of the features of one head."),
        alone("scale-by-length", "You divided by √T_k = {sqrt_T_k}, the root of the number of words in the memory; divide by √d_k = {sqrt_d_k}, the root of the features of one head.",
            ("math.sqrt(Q.shape[-1])", "math.sqrt(K.shape[-2])")),
        alone("keys-through-W_q", "The keys went through W_q: what asks and what is found by have a layer each, W_k for the memory's keys.", ("self.W_k(memory)", "self.W_q(memory)")),
        alone("values-from-the-keys", "The values were made from what W_k had made of the memory (was `memory` overwritten?); W_v takes the memory as it comes.", ("self.W_v(memory)", "self.W_v(self.W_k(memory))")),
        alone("scores-transposed", "You multiplied K by Q transposed, so the rows of the scores belong to the memory; each row must belong to a word that asks.",
            ("Q @ K.transpose(-2, -1)", "K @ Q.transpose(-2, -1)")),
        alone("softmax-over-queries", "The softmax runs over the queries, so each key's shares sum to 1; each query's should: the last axis.", ("scores.softmax(dim=-1)", "scores.softmax(dim=-2)")),
        alone("memory-added", "You added the memory to the output. The output has a row for each word that asks, and nothing is added to it here.", ("return self.W_o(merge_heads(heads))", "return memory + self.W_o(merge_heads(heads))")),
        alone("weights-of-first-head", "You returned the weights of the first head alone; all of them are wanted, (B, h, T_q, T_k).", (", weights  #", ", weights[:, 0]  #")),
    ),
    explain=(another_divisor(), columns_sum_to_one, _who_gets_weight, negative_weights, nearly_right),
    indistinguishable=(
        ("memory-ignored", "queries-from-memory"),
        ("mask-dropped", "weights-for-show"),
        ("keys-from-x", "values-from-x"),
        *pairs("keys-as-values", "memory-ignored", "keys-from-x", "values-from-x"),
    ),
    alternatives=(
        "from helpers.multi_head import MultiHeadAttention\nclass CrossAttention(MultiHeadAttention):\n    def forward(self, x, memory, memory_mask=None):\n        Q = split_heads(self.W_q(x), self.n_heads)\n"
        "        K, V = (split_heads(W(memory), self.n_heads) for W in (self.W_k, self.W_v))\n        scores = Q @ K.mT * K.shape[-1] ** -0.5\n"
        "        mask = torch.ones(1, dtype=torch.bool) if memory_mask is None else memory_mask\n        weights = masked_softmax(scores, mask)\n"
        "        return self.W_o(merge_heads(weights @ V)), weights",
        "class CrossAttention(nn.Module):\n    def __init__(self, d_model, n_heads):\n        super().__init__()\n        if d_model % n_heads:\n"
        "            raise ValueError(f'{d_model} features do not divide among {n_heads} heads')\n        self.h = n_heads\n"
        "        self.W_o = nn.Linear(d_model, d_model, bias=False)\n        self.W_v = nn.Linear(d_model, d_model, bias=False)\n"
        "        self.W_k = nn.Linear(d_model, d_model, bias=False)\n        self.W_q = nn.Linear(d_model, d_model, bias=False)\n"
        "    def forward(self, x, memory, memory_mask=None):\n        B, T, d = x.shape\n"
        "        q = self.W_q(x).view(B, T, self.h, d // self.h)\n        k = self.W_k(memory).view(B, -1, self.h, d // self.h)\n"
        "        v = self.W_v(memory).view(B, -1, self.h, d // self.h)\n        s = torch.einsum('bqhd,bkhd->bhqk', q, k) / math.sqrt(d // self.h)\n"
        "        if memory_mask is not None:\n            s = s.masked_fill(~memory_mask, -torch.inf)\n        w = torch.nan_to_num(s.softmax(-1))\n"
        "        return self.W_o(torch.einsum('bhqk,bkhd->bqhd', w, v).reshape(B, T, d)), w",
    ),
)

EXERCISES = (PREFIX_MEAN, CAUSAL_MASK, LEAKS_FUTURE, PADDING_MASK, COMBINE_MASKS, MASKED_SOFTMAX, CROSS_ATTENTION)
PREDICTIONS = (
    Prediction(
        "scores-of-zero", "the same triangle", choices=("the same triangle", "equal shares for all seven words", "nan"),
        why="exp(0) = 1 for every allowed word, and exp(−∞) = 0 for every hidden one. Divided by their sum, row t holds 1/(t + 1) for each word so far.",
    ),
    Prediction(
        "batch-norm-leaks", "in training only", choices=("never", "in training only", "in training and in use"),
        why="In training, batch norm takes its mean and variance over the words at hand, later ones included; in use it takes averages stored in training.",
    ),
    Prediction(
        "seven-passes", 140, tolerance=0.0,
        why="1 + 4 + 9 + 16 + 25 + 36 + 49 = 140 scores, against 7 · 7 = 49 in one masked pass (28 of which are used).",
    ),
    Prediction(
        "coin-after-softmax", "far below chance", choices=("at chance", "just below chance", "far below chance"),
        why="The hidden tosses are in the denominator: how much of a row is left tells what was taken away. Training learns to read it.",
    ),
    Prediction(
        "padding-content", "those of padding only", choices=("none", "those of padding only", "all"),
        why="No word looks at padding, so real words cannot feel it; padding itself still asks, with a query made of what it contains.",
    ),
    Prediction(
        "empty-row", "equal weights", choices=("zeros", "equal weights", "nan"),
        why="Softmax only sees differences, and between −1e9 and −1e9 there is none: every hidden word gets the same share.",
    ),
    Prediction(
        "cross-causal", "it needs none", choices=("it needs one too", "it needs none"),
        why="The whole source sentence is there before the first target word is written; there is no future in it to hide.",
    ),
    Prediction(
        "one-query-is-causal", 1, tolerance=0.0,
        why="The triangle starts at the top left, so query 0 may see key 0 and no other, wherever it stands in the sentence.",
    ),
)
