"""Lesson 08: attention to the last few words only, and how far several such layers reach."""

import math

import torch


def window_mask(T, window):
    """Causal mask (T, T), bool, True = may attend, of the last few places.

    T: number of words. window: number of places seen, the word's own included;
    it may be larger than T.
    """
    positions = torch.arange(T)  # (T,)
    back = positions[:, None] - positions  # (T, T), negative ahead
    not_ahead = back >= 0
    near = back < window
    return not_ahead & near


def reach(n_layers, window):
    """Words, the last one included, that can change a stack's last output.

    n_layers: 0 or more. window: number of places each layer sees, 1 or more.
    Returns an int.
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
