"""Lesson 02: scaled dot-product attention in NumPy, and three other ways to score a pair."""

import math

import numpy as np


def softmax(x, axis=-1):
    """Turn scores into weights that sum to 1 along one axis.

    x: any shape, floats or whole numbers, no NaN; -inf stands for "no weight",
    beside finite scores. axis: the axis along which the weights sum to 1.
    Returns floats of x's shape. Large scores do not overflow: the maximum
    along the axis is subtracted first.
    """
    highest = np.max(x, axis=axis, keepdims=True)
    exps = np.exp(x - highest)
    total = np.sum(exps, axis=axis, keepdims=True)
    return exps / total


def scaled_dot_product_attention(Q, K, V, mask=None):
    """Weighted mean of the values for each query: scaled dot products with
    the keys, through softmax, are the weights.

    Q: (..., T_q, d_k). K: (..., T_k, d_k). V: (..., T_k, d_v).
    mask: boolean, broadcastable to (..., T_q, T_k), True = may attend;
    every row has a True. Q, K and V may hold whole numbers.
    Returns out (..., T_q, d_v) and weights (..., T_q, T_k).
    Source: Vaswani et al. 2017, equation 1.
    """
    d_k = Q.shape[-1]
    scores = Q @ np.swapaxes(K, -1, -2)  # (..., T_q, T_k)
    scores = scores / math.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-1)
    out = weights @ V  # (..., T_q, d_v)
    return out, weights


def self_attention(X, W_q, W_k, W_v, mask=None):
    """Attention of a sequence to itself: Q, K and V are projections of one X.

    X: (..., T, d_model). W_q, W_k: (d_model, d_k). W_v: (d_model, d_v).
    mask: boolean, broadcastable to (..., T, T), True = may attend;
    every row has a True. All others may hold whole numbers.
    Returns out (..., T, d_v) and weights (..., T, T).
    """
    Q = X @ W_q  # (..., T, d_k)
    K = X @ W_k  # (..., T, d_k)
    V = X @ W_v  # (..., T, d_v)
    return scaled_dot_product_attention(Q, K, V, mask)


def additive_scores(Q, K, W_q, W_k, v):
    """Score each pair with a small network: v · tanh(q W_q + k W_k).

    Q: (T_q, d). K: (T_k, d). W_q, W_k: (d, m). v: (m,). Returns (T_q, T_k).
    All may hold whole numbers. Source: Bahdanau, Cho and Bengio 2015.
    """
    from_query = (Q @ W_q)[:, None, :]  # (T_q, 1, m)
    from_key = (K @ W_k)[None, :, :]  # (1, T_k, m)
    hidden = np.tanh(from_query + from_key)  # (T_q, T_k, m)
    return hidden @ v  # (T_q, T_k)


def general_scores(Q, K, W):
    """Score each pair with a learned bilinear form: q W kᵀ.

    Q: (T_q, d_q). K: (T_k, d_k). W: (d_q, d_k). Returns (T_q, T_k).
    All may hold whole numbers. Source: Luong, Pham and Manning 2015.
    """
    return Q @ W @ np.swapaxes(K, -1, -2)  # (T_q, T_k)


def debugged_attention(Q, K, V, mask=None):
    """Weighted mean of the values for each query, repaired.

    Q: (..., T_q, d_k). K: (..., T_k, d_k). V: (..., T_k, d_v).
    mask: boolean, broadcastable to (..., T_q, T_k), True = may attend;
    every row has a True. Q, K and V may hold whole numbers.
    Returns out (..., T_q, d_v) and weights (..., T_q, T_k).
    """
    d_k = K.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", Q, K)  # (..., T_q, T_k)
    scores = scores / math.sqrt(d_k)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores, axis=-1)
    out = np.einsum("...qk,...kv->...qv", weights, V)  # (..., T_q, d_v)
    return out, weights
