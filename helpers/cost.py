"""Lesson 07: what attention costs, counted by hand, and the exponents of measured costs."""

import numpy as np


def attention_flops(T_q, T_k, d_k, d_v):
    """FLOPs of the two matrix products of one head, Q Kᵀ and weights V.

    A multiply-add is 2 FLOPs. T_q, T_k: numbers of queries and keys.
    d_k: width of queries and keys. d_v: width of values. Returns an int.
    """
    scoring = 2 * T_q * T_k * d_k
    mixing = 2 * T_q * T_k * d_v
    return scoring + mixing


def projection_flops(T, d_model):
    """FLOPs of the four projections W_q, W_k, W_v and W_o of T words.

    A multiply-add is 2 FLOPs. T: number of words. d_model: each projection is
    (d_model, d_model), all heads together. Returns an int.
    """
    one_projection = 2 * T * d_model * d_model
    return 4 * one_projection


def crossover_length(d_model):
    """Length at which scoring and mixing cost as much as the projections.

    d_model: width of the layer, all heads together.
    Returns the length T of self-attention at which both cost the same FLOPs.
    """
    products = 4 * d_model  # FLOPs of scoring and mixing, divided by T²
    projections = 8 * d_model**2  # FLOPs of the four projections, divided by T
    return projections // products


def feed_forward_flops(T, d_model):
    """FLOPs of a block's feed-forward part for T words: d_model to 4 · d_model features, and back. Returns an int."""
    one_matrix = 2 * T * d_model * 4 * d_model
    return 2 * one_matrix


def score_matrix_bytes(B, H, T, itemsize=4):
    """Bytes of all scores of a layer of self-attention.

    B: sequences in the batch. H: heads. T: words in a sequence.
    itemsize: bytes of one number, 4 for float32. Returns an int.
    """
    entries = B * H * T * T
    return entries * itemsize


def fit_exponent(sizes, costs):
    """Exponent p of the power law costs ≈ c · sizes^p.

    It is the slope of the least-squares line through the logarithms.
    sizes, costs: (n,), arrays or lists, n >= 2, positive, in any unit.
    Returns a float.
    """
    x = np.log(sizes)  # (n,)
    y = np.log(costs)  # (n,)
    slope, intercept = np.polyfit(x, y, 1)
    return float(slope)


def local_exponents(sizes, costs):
    """Exponent between each two neighbouring sizes, which shows where one power law ends and another begins.

    sizes: (n,), increasing. costs: (n,), positive. Returns (n - 1,).
    """
    return np.diff(np.log(costs)) / np.diff(np.log(sizes))  # (n - 1,)


def readable_bytes(n):
    """A number of bytes in three digits and a unit, in steps of 1,000: 268435456 is "268 MB"."""
    units = ("bytes", "kB", "MB", "GB", "TB", "PB")
    step = 0
    while float(f"{n:.3g}") >= 1000 and step < len(units) - 1:
        n, step = n / 1000, step + 1
    return f"{n:.3g} {units[step]}"
