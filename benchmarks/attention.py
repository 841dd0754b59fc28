"""Our attention against PyTorch's eager equivalents, and NumPy's against what it cannot avoid: time and memory.

python -m benchmarks.attention      prints rows as JSON; benchmarks/run.py starts it with one thread for every library
"""

import dataclasses
import json
import sys

import numpy as np
import torch
from torch import nn
from tqdm import tqdm

from benchmarks import beyond
from benchmarks.table import Row, at_most, readable_seconds
from helpers import measure
from helpers.cost import readable_bytes
from helpers.masks import causal_mask, masked_softmax
from helpers.multi_head import from_torch
from helpers.numpy_attention import scaled_dot_product_attention

ROUNDS = 9
HEADS = ((8, 64, 128, 4), (4, 256, 256, 8), (1, 1024, 512, 8))  # B, T, d_model, h
SCORES = ((8, 4, 64), (4, 8, 256), (1, 8, 1024))  # B, h, T
LENGTHS = (128, 512, 2048)  # of NumPy's sequences, four heads at a time


def our_heads(ours, theirs, x):
    """Our MultiHeadAttention; takes both modules, so that both sides are measured on the same arguments."""
    return ours(x)


def their_heads(ours, theirs, x):
    """PyTorch's nn.MultiheadAttention, which returns the weights of each head too."""
    return theirs(x, x, x, average_attn_weights=False)


def softmax_with_zeros(scores, mask):
    """What masked_softmax promises, from PyTorch's own parts: rows without any key come out as NaN and become 0."""
    return scores.masked_fill(~mask, -torch.inf).softmax(dim=-1).nan_to_num(0.0)


def floor(Q, K, V):
    """What no attention in NumPy can avoid: two matrix products and one exponential."""
    return np.exp(Q @ np.swapaxes(K, -1, -2)) @ V


def multi_head_inputs(B, T, d_model, h):
    torch.manual_seed(0)
    module = nn.MultiheadAttention(d_model, h, bias=False, batch_first=True).eval()
    return from_torch(module).eval(), module, torch.randn(B, T, d_model)


def softmax_inputs(B, h, T):
    generator = torch.Generator().manual_seed(0)
    return torch.randn(B, h, T, T, generator=generator), causal_mask(T)


def numpy_inputs(T, dtype):
    rng = np.random.default_rng(0)
    return tuple((rng.normal(size=(4, T, 64)) / 8).astype(dtype) for _ in range(3))  # Q, K, V, (4, T, 64) each


def comparisons():
    """(what, our function, the other, inputs of both, meter of memory, goal) of everything that is compared."""
    for B, T, d_model, h in HEADS:
        what = f"MultiHeadAttention, {B} × {T} words, width {d_model}, {h} heads"
        yield what, our_heads, their_heads, multi_head_inputs(B, T, d_model, h), measure.peak_bytes, 1.2
    for B, h, T in SCORES:
        what = f"masked_softmax, {B} × {h} × {T} × {T} scores, causal"
        yield what, masked_softmax, softmax_with_zeros, softmax_inputs(B, h, T), measure.peak_bytes, 1.2
    for dtype in (np.float64, np.float32):
        for T in LENGTHS:
            what = f"scaled_dot_product_attention in NumPy, 4 × {T} words, {dtype.__name__}"
            yield what, scaled_dot_product_attention, floor, numpy_inputs(T, dtype), measure.numpy_peak_bytes, 1.5


def compare(what, f, g, inputs, meter, goal, rounds=ROUNDS):
    """Two rows, time and memory of f against g on the same inputs; the time's ratio is the median over the rounds."""
    times = measure.sweep(measure.median_seconds, {"f": f, "g": g}, lambda size: inputs, [0], rounds)
    ratio = float(np.median(times["f"] / times["g"]))
    seconds = [readable_seconds(np.median(times[name])) for name in "fg"]
    memory = [meter(function, *inputs) for function in (f, g)]
    return (
        Row("Attention, time on one core", what, *seconds, ratio, **at_most(goal, ratio)),
        Row(
            "Attention, memory at the peak",
            what,
            *map(readable_bytes, memory),
            memory[0] / memory[1],
            **at_most(goal, memory[0] / memory[1]),
        ),
    )


def rows(rounds=ROUNDS):
    """All rows, times before memory."""
    jobs = tqdm(list(comparisons()), desc="attention", leave=False)
    return [row for kind in zip(*(compare(*job, rounds=rounds) for job in jobs), strict=True) for row in kind]


if __name__ == "__main__":
    json.dump([dataclasses.asdict(row) for row in rows() + beyond.rows()], sys.stdout)
