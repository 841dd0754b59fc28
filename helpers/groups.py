"""Lesson 08: fewer keys and values than queries, shared by groups of heads (Ainslie et al. 2023)."""

import math

import torch


def grouped_query_attention(Q, K, V, mask=None):
    """Attention of h heads of queries that share g heads of keys and values.

    Q: (B, h, T_q, d_k). K: (B, g, T_k, d_k). V: (B, g, T_k, d_v).
    mask: bool, broadcastable to (B, h, T_q, T_k), True = may attend; every row
    has a True. Returns (B, h, T_q, d_v).
    """
    B, h, T_q, d_k = Q.shape
    g, T_k = K.shape[1:3]
    together = Q.reshape(B, g, h // g * T_q, d_k)
    scores = together @ K.mT / math.sqrt(d_k)  # (B, g, h / g * T_q, T_k)
    scores = scores.reshape(B, h, T_q, T_k)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(dim=-1).reshape(B, g, h // g * T_q, T_k)
    out = weights @ V  # (B, g, h / g * T_q, d_v)
    return out.reshape(B, h, T_q, V.shape[-1])


def grouped_by_repeating(Q, K, V, mask=None):
    """The same as `grouped_query_attention`, with each head of keys and values copied h / g times."""
    copies = Q.shape[1] // K.shape[1]
    K, V = (x.repeat_interleave(copies, dim=1) for x in (K, V))  # (B, h, T_k, ...)
    scores = Q @ K.mT / math.sqrt(Q.shape[-1])  # (B, h, T_q, T_k)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(dim=-1) @ V
