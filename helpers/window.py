"""Lesson 08: attention to the last few words only, and how far several such layers reach."""

import math

import torch


def window_mask(T, window):
    """Who may look at whom when each word sees itself and the window - 1 words before it.

    T: number of words. window: number of visible places, the word's own included, at least 1.
    Returns (T, T), bool, True = may attend.
    """
    positions = torch.arange(T)  # (T,)
    back = positions[:, None] - positions  # (T, T): how far each key lies behind each query
    not_ahead = back >= 0
    near = back < window
    return not_ahead & near


def reach(n_layers, window):
    """How many words, the last one included, can change the last output of a stack of windowed layers.

    n_layers: number of layers, at least 0. window: number of visible places in each. Returns an int.
    """
    steps_back = window - 1  # of one layer
    return n_layers * steps_back + 1


def window_attention(Q, K, V, window, block=256):
    """Causal attention to the last window words, a block of queries at a time; work and memory grow with T * window.

    Q, K: (..., T, d_k). V: (..., T, d_v). block: queries at a time. Returns out (..., T, d_v).
    """
    T, outs = Q.shape[-2], []
    for start in range(0, T, block):
        stop, first = min(start + block, T), max(0, start - window + 1)
        scores = Q[..., start:stop, :] @ K[..., first:stop, :].mT / math.sqrt(Q.shape[-1])  # (..., block, keys)
        back = torch.arange(start, stop)[:, None] - torch.arange(first, stop)  # (block, keys)
        scores = scores.masked_fill((back < 0) | (back >= window), -torch.inf)
        outs.append(scores.softmax(dim=-1) @ V[..., first:stop, :])
    return torch.cat(outs, dim=-2)  # (..., T, d_v)
