"""Lesson 08: generating word by word without computing old keys and values again."""

import math

import torch

from helpers.multi_head import merge_heads, split_heads
from helpers.positions import rope


def empty_cache(layer, B=1):
    """Cache of a MultiHeadAttention before the first word, for B sequences.

    Returns a dict of "K" and "V", each (B, h, 0, d_k), that `attend_with_cache` fills.
    """
    d_model = layer.W_q.in_features
    nothing = layer.W_q.weight.new_empty(B, layer.n_heads, 0, d_model // layer.n_heads)
    return {"K": nothing, "V": nothing}


def attend_with_cache(layer, x_new, cache):
    """Causal attention, with RoPE, of new words to cached ones and themselves.

    layer: a MultiHeadAttention without dropout; its scores are divided by √d_k.
    x_new: (B, T_new, d_model).
    cache: dict of "K", turned by RoPE, and "V", each (B, h, T_old, d_k). It is
    changed: afterwards both hold the new words too, (B, h, T_old + T_new, d_k).
    Returns out alone, of x_new's shape.
    """
    projections = (layer.W_q, layer.W_k, layer.W_v)
    Q, K, V = (split_heads(W(x_new), layer.n_heads) for W in projections)
    T_old = cache["K"].shape[-2]
    Q = rope(Q, offset=T_old)
    K = rope(K, offset=T_old)
    cache["K"] = torch.cat([cache["K"], K], dim=-2)  # (B, h, T_old + T_new, d_k)
    cache["V"] = torch.cat([cache["V"], V], dim=-2)
    positions = torch.arange(cache["K"].shape[-2])  # (T_old + T_new,)
    allowed = positions <= positions[T_old:, None]  # (T_new, T_old + T_new)
    scores = Q @ cache["K"].mT / math.sqrt(Q.shape[-1])  # (B, h, T_new, T_old + T_new)
    weights = scores.masked_fill(~allowed, -torch.inf).softmax(dim=-1)
    heads = weights @ cache["V"]
    return layer.W_o(merge_heads(heads))  # (B, T_new, d_model)


def attend_to_all(layer, x):
    """What `attend_with_cache` must equal: causal self-attention with RoPE of whole sequences in one pass.

    layer: a MultiHeadAttention. x: (B, T, d_model). Returns out (B, T, d_model).
    """
    return attend_with_cache(layer, x, empty_cache(layer, x.shape[0]))


def cache_bytes(n_layers, n_kv_heads, d_head, n_tokens, itemsize=2):
    """Bytes of the keys and values that a model keeps of one text.

    n_kv_heads: heads with keys and values of their own. d_head: a head's width.
    itemsize: bytes of one number, 2 for 16 bits. Returns an int.
    """
    numbers_per_token = 2 * n_layers * n_kv_heads * d_head  # keys and values
    return numbers_per_token * n_tokens * itemsize
