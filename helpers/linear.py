"""Lesson 08: attention whose product is taken in another order, so that its cost grows with T and not with T².

After Katharopoulos et al. 2020; no array of size T_q * T_k is made.
"""

import torch
from torch.nn import functional as F


def linear_attention(Q, K, V, causal=False):
    """Attention with weights φ(q) · φ(k) in place of exp(q · k), φ = elu + 1.

    Q: (..., T_q, d_k). K: (..., T_k, d_k). V: (..., T_k, d_v).
    causal: query i sees the keys up to i, and T_q = T_k.
    Returns (..., T_q, d_v). No 1/√d_k, and nothing added to a denominator.
    """
    q = F.elu(Q) + 1  # (..., T_q, d_k), all positive
    k = F.elu(K) + 1  # (..., T_k, d_k)
    if causal:
        products = k[..., :, None] * V[..., None, :]  # (..., T_k, d_k, d_v)
        states = products.cumsum(dim=-3)
        totals = k.cumsum(dim=-2)  # (..., T_k, d_k)
        sums = (q[..., None, :] @ states).squeeze(-2)  # (..., T_q, d_v)
    else:
        state = k.mT @ V  # (..., d_k, d_v)
        totals = k.sum(dim=-2, keepdim=True)  # (..., 1, d_k)
        sums = q @ state  # (..., T_q, d_v)
    normaliser = (q * totals).sum(dim=-1, keepdim=True)  # (..., T_q, 1)
    return sums / normaliser


def linear_in_chunks(Q, K, V, chunk=128):
    """Causal linear attention, chunk words at a time: all pairs inside a chunk, one state for everything before it.

    Q, K: (..., T, d_k). V: (..., T, d_v). Returns what `linear_attention(Q, K, V, causal=True)` does.
    """
    state, total, outs = 0.0, 0.0, []
    for q, k, v in zip(*(x.split(chunk, dim=-2) for x in (F.elu(Q) + 1, F.elu(K) + 1, V)), strict=True):
        weights = (q @ k.mT).tril()  # (..., chunk, chunk)
        sums = weights @ v + (q @ state if outs else 0.0)  # (..., chunk, d_v)
        normaliser = weights.sum(dim=-1, keepdim=True) + (q * total).sum(dim=-1, keepdim=True)
        outs.append(sums / normaliser)
        state, total = state + k.mT @ v, total + k.sum(dim=-2, keepdim=True)  # (..., d_k, d_v), (..., 1, d_k)
    return torch.cat(outs, dim=-2)
