"""Lesson 08: tiles, windows, chunks and groups against PyTorch's fused kernel and against the plain way."""

import math

import numpy as np
import torch
from torch.nn import functional as F

from benchmarks.table import Row, at_most, readable_seconds
from helpers import measure
from helpers.comparison import training_step
from helpers.cost import readable_bytes
from helpers.groups import grouped_by_repeating, grouped_query_attention
from helpers.linear import linear_in_chunks
from helpers.tiled import TiledWithBackward, tiled_attention
from helpers.window import window_attention, window_mask

LENGTHS = (4096, 8192)
TILE, WINDOW = 512, 128


def naive(Q, K, V):
    """Attention that makes the whole matrix of weights."""
    return (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(dim=-1) @ V


def fused(Q, K, V):
    """PyTorch's kernel."""
    return F.scaled_dot_product_attention(Q, K, V)


def fused_causal(Q, K, V):
    """PyTorch's kernel, no word seeing what comes after it."""
    return F.scaled_dot_product_attention(Q, K, V, is_causal=True)


def tiles(Q, K, V):
    """Ours, all words seeing all words."""
    return tiled_attention(Q, K, V, TILE)


def tiles_causal(Q, K, V):
    """Ours, no word seeing what comes after it."""
    return tiled_attention(Q, K, V, TILE, causal=True)


def tiles_with_backward(Q, K, V):
    """Ours, with the backward pass written by hand."""
    return TiledWithBackward.apply(Q, K, V, TILE)


def sliced_window(Q, K, V):
    """Ours, the last words only, sliced."""
    return window_attention(Q, K, V, WINDOW)


def masked_window(Q, K, V):
    """The last words only, by a mask."""
    return F.scaled_dot_product_attention(Q, K, V, attn_mask=window_mask(Q.shape[-2], WINDOW))


def one_head(T):
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(1, 1, T, 64, generator=generator) for _ in range(3))


def one_word(T):
    """A query of each of 32 heads, and T keys and values of 8."""
    generator = torch.Generator().manual_seed(0)
    shapes = ((1, 32, 1, 64), (1, 8, T, 64), (1, 8, T, 64))
    return tuple(torch.randn(shape, generator=generator) for shape in shapes)


def comparisons():
    """(what, our function, the other, make_inputs, goal for the time or None) of everything that is compared."""
    yield "tiled_attention against fused", tiles, fused, one_head, 1.5
    yield "tiled_attention with causal=True against fused", tiles_causal, fused_causal, one_head, 1.5
    step = "a training step, TiledWithBackward against"
    yield f"{step} naive", training_step(tiles_with_backward), training_step(naive), one_head, 1.0
    yield f"{step} fused", training_step(tiles_with_backward), training_step(fused), one_head, None
    yield "a window of 128, sliced against masked", sliced_window, masked_window, one_head, None
    yield "linear attention in chunks against fused, causal", linear_in_chunks, fused_causal, one_head, None
    what = "grouped queries for one word against copied keys"
    yield what, grouped_query_attention, grouped_by_repeating, one_word, None


def time_row(what, f, g, make_inputs, goal, T, rounds):
    """The time of f against that of g; the ratio is the median over the rounds."""
    inputs = make_inputs(T)
    times = measure.sweep(measure.median_seconds, {"f": f, "g": g}, lambda size: inputs, [T], rounds)
    ratio = float(np.median(times["f"] / times["g"]))
    seconds = [readable_seconds(np.median(times[name])) for name in "fg"]
    met = at_most(goal, ratio) if goal else {}
    return Row("Beyond n², time on one core", f"{what}, {T:,} words", *seconds, ratio, **met)


def memory_row(what, f, make_inputs, short, long):
    """The peak of f at a length against that at a shorter one: it grows with length, not with its square."""
    peaks = [measure.peak_bytes(f, *make_inputs(T)) for T in (long, short)]
    ratio = peaks[0] / peaks[1]
    sizes = f"{long:,} words against {short:,}"
    return Row(
        "Beyond n², memory at the peak",
        f"{what}, {sizes}",
        *map(readable_bytes, peaks),
        ratio,
        **at_most(long / short, ratio),
    )


def rows(rounds=5):
    """All rows, times before memory."""
    times = [time_row(*job, T, rounds) for job in comparisons() for T in LENGTHS]
    short, long = min(LENGTHS), max(LENGTHS)
    ours = {what.partition(" against ")[0]: (f, make_inputs) for what, f, _, make_inputs, _ in comparisons()}
    return times + [memory_row(what, f, make_inputs, short, long) for what, (f, make_inputs) in ours.items()]
