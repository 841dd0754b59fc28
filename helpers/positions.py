"""Lesson 06: where order comes from, in PyTorch.

Sines stand in the even columns of an encoding and cosines in the odd ones; RoPE turns the neighbouring pairs
(2i, 2i + 1). All functions take and return torch tensors and are the ones the lesson's solution cells show, but for
those about variants of RoPE.
"""

import math

import torch

from helpers.masks import causal_mask


def is_permutation_equivariant(f, X, perm):
    """Whether shuffling the rows of X shuffles those of f(X) in the same way.

    f: function from (T, d) to (T, d_out), torch tensors. X: (T, d), float.
    perm: (T,), 0 to T - 1 in some order.
    Returns a bool: True if all rows agree up to rounding, about 0.00001.
    """
    shuffled_before = f(X[perm])  # (T, d_out)
    shuffled_after = f(X)[perm]  # (T, d_out)
    return torch.allclose(shuffled_before, shuffled_after, rtol=1e-4, atol=1e-5)


def sinusoidal_positional_encoding(max_len, d_model):
    """Give each position a row of sines and cosines, from fast waves to slow.

    max_len: number of positions. d_model: width, even or odd.
    Returns (max_len, d_model), float32: columns 2i and 2i + 1 are the sine and
    the cosine of position * 10000^(-2i / d_model) (Vaswani et al. 2017).
    """
    positions = torch.arange(max_len)[:, None]  # (max_len, 1)
    even_columns = torch.arange(0, d_model, 2)  # (⌈d_model / 2⌉,)
    frequencies = 10000.0 ** (-even_columns / d_model)
    angles = positions * frequencies  # (max_len, ⌈d_model / 2⌉)
    encoding = torch.zeros(max_len, d_model)
    encoding[:, 0::2] = torch.sin(angles)
    encoding[:, 1::2] = torch.cos(angles[:, : d_model // 2])
    return encoding


def embed(tokens, E, pe):
    """Look up the vector of every token and add the row of its position.

    tokens: (B, T), integers. E: (n_tokens, d_model), a row for each token.
    pe: (max_len, d_model), a row for each position, max_len >= T.
    Returns (B, T, d_model).
    """
    x = E[tokens]  # (B, T, d_model)
    T = tokens.shape[1]
    rows = pe[:T]  # (T, d_model)
    return x + rows


def shift_matrix(offset, d_model):
    """Matrix that moves every row of the sinusoidal encoding on by one offset.

    offset: number of positions, also negative or a fraction. d_model: even.
    Returns M (d_model, d_model), float32: PE[p + offset] = M @ PE[p] for all p.
    """
    sines = torch.arange(0, d_model, 2)  # (d_model / 2,)
    cosines = sines + 1
    frequencies = 10000.0 ** (-sines / d_model)
    angles = offset * frequencies
    M = torch.zeros(d_model, d_model)
    M[sines, sines] = torch.cos(angles)
    M[sines, cosines] = torch.sin(angles)
    M[cosines, sines] = -torch.sin(angles)
    M[cosines, cosines] = torch.cos(angles)
    return M


def rope(x, base=10000.0, offset=0):
    """Turn the column pairs (2i, 2i + 1) of each row by its position's angles.

    x: (..., T, d), floating point, d even; its rows stand at the positions
    offset, offset + 1, ...
    Returns a new tensor of x's shape and dtype: at position p, pair i is
    turned counter-clockwise by p * base^(-2i / d) radians (Su et al. 2021).
    """
    T, d = x.shape[-2:]
    positions = torch.arange(T, dtype=x.dtype) + offset  # (T,)
    even_columns = torch.arange(0, d, 2, dtype=x.dtype)  # (d / 2,)
    frequencies = base ** (-even_columns / d)
    angles = positions[:, None] * frequencies  # (T, d / 2)
    cos, sin = torch.cos(angles), torch.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]  # (..., T, d / 2)
    turned = torch.empty_like(x)
    turned[..., 0::2] = even * cos - odd * sin
    turned[..., 1::2] = even * sin + odd * cos
    return turned


def rope_attention(X, W_q, W_k, W_v):
    """Scaled causal self-attention, Q and K turned by position; d_k is even.

    X (T, d_model), W_q, W_k (d_model, d_k), W_v (d_model, d_v) -> (T, d_v).
    """
    Q = rope(X @ W_q)  # (T, d_k)
    K = rope(X @ W_k)  # (T, d_k)
    V = X @ W_v  # (T, d_v)
    scores = Q @ K.T / math.sqrt(K.shape[-1])  # (T, T)
    scores = scores.masked_fill(~causal_mask(X.shape[0]), -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights @ V  # (T, d_v)


def alibi_bias(n_heads, T):
    """What ALiBi (Press et al. 2022) adds to scores: minus slope · distance.

    n_heads: h, a power of two. T: number of words.
    Returns (h, T_q, T_k) = (h, T, T), float32: head i = 1 ... h has the slope
    2^(-8i / h), places q and k are |q - k| apart. Where k > q, any value does.
    """
    heads = torch.arange(1, n_heads + 1)  # (h,)
    slopes = 2.0 ** (-8 * heads / n_heads)
    positions = torch.arange(T)  # (T,)
    distances = (positions[:, None] - positions).abs()  # (T_q, T_k)
    return -slopes[:, None, None] * distances  # (h, T_q, T_k)


# Variants of RoPE -------------------------------------------------------------------------------------------------


def halves_order(d):
    """Order of columns that lays pairs (2i, 2i + 1) out as (i, i + d / 2): 0, 2, 4, ..., then 1, 3, 5, ...

    d: width, even. Returns (d,), integers.
    """
    return torch.cat([torch.arange(0, d, 2), torch.arange(1, d, 2)])


def rope_halves(x, base=10000.0, offset=0):
    """RoPE that turns the pairs (i, i + d / 2), as right in itself as `rope`; arguments and result as there."""
    order = halves_order(x.shape[-1])
    return rope(x[..., order.argsort()], base, offset)[..., order]


def rope_interpolated(x, factor, base=10000.0):
    """RoPE at the positions 0, 1 / factor, 2 / factor, ... (position interpolation, Chen et al. 2023).

    x: (..., T, d), floating point, d even. factor: how many times longer the text is than those of the training.
    Returns a new tensor of x's shape and dtype.
    """
    T, d = x.shape[-2:]
    positions = torch.arange(T, dtype=x.dtype) / factor  # (T,)
    angles = positions[:, None] * base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)  # (T, d / 2)
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())  # (..., T, d / 2)
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)  # (..., T, d)


def stretched_base(factor, d, base=10000.0):
    """Base of RoPE with which the slowest of d / 2 pairs turns `factor` times as slowly, and the fastest as before."""
    return base * factor ** (d / (d - 2))
