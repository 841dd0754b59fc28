"""Lesson 05: who may look at whom, a test for leaks, and rows with nothing to look at.

Masks are boolean and True means "may attend". The functions and the class are the ones that the lesson's solution cells
show; `mask_tasks` holds what they are tried on.
"""

import math

import torch
from torch import nn

from helpers.multi_head import merge_heads, split_heads


def prefix_mean(x):
    """Mean of each word and all words before it.

    x: (T, d), floating point. Returns (T, d): row t is the mean of rows 0 to t.
    """
    T = x.shape[0]
    allowed = torch.ones(T, T, dtype=x.dtype).tril()  # (T, T)
    counts = allowed.sum(dim=-1, keepdim=True)  # (T, 1)
    weights = allowed / counts
    return weights @ x  # (T, d)


def causal_mask(T):
    """Who may look at whom when nobody may look ahead.

    T: number of words.
    Returns (T, T), bool, True = may attend: row t is True up to and
    including column t.
    """
    everything = torch.ones(T, T, dtype=torch.bool)  # (T, T)
    return everything.tril()


def leaks_future(attend, x):
    """Whether any output before t changes when the words from t on change.

    attend: function from (T, d) to (T, d_v); it may draw random numbers,
    as dropout does. x: (T, d), float32 or float64, left unchanged.
    Returns a bool: True if some output changes with a later word. What moves
    by less than 0.00001 is rounding. A single word (T = 1) cannot leak.
    """
    state = torch.get_rng_state()
    before = attend(x)  # (T, d_v)
    for t in range(1, x.shape[0]):
        changed = x.clone()
        changed[t:] = changed[t:] + 1.0
        torch.set_rng_state(state)
        after = attend(changed)  # (T, d_v)
        difference = (after[:t] - before[:t]).abs().max()
        if difference > 1e-5:
            return True
    return False


def padding_mask(tokens, pad_id):
    """Which keys are words and not padding, for all heads and queries alike.

    tokens: (B, T), integers. pad_id: the integer that stands for padding.
    Returns (B, 1, 1, T), bool, True = may attend.
    """
    keep = tokens != pad_id  # (B, T)
    return keep[:, None, None, :]  # (B, 1, 1, T)


def combine_masks(padding, causal):
    """Allow a pair only if both masks allow it.

    padding: (B, 1, 1, T), bool. causal: (T, T), bool.
    Returns (B, 1, T, T), bool. True = may attend in all three.
    """
    allowed = padding & causal  # (B, 1, T, T)
    return allowed


def masked_softmax(scores, mask):
    """Softmax over the allowed keys of each row; zeros where none is allowed.

    scores: (..., T_q, T_k), floating point, finite.
    mask: bool, broadcastable to scores, True = may attend.
    Returns weights of scores' shape and dtype; hidden keys get exactly 0.
    Gradients with respect to scores are finite, and 0 in a row of zeros.
    """
    hidden = ~mask
    scores = scores.masked_fill(hidden, -torch.inf)
    empty = hidden.all(dim=-1, keepdim=True)  # (..., T_q, 1)
    scores = scores.masked_fill(empty, 0.0)
    weights = torch.softmax(scores, dim=-1)
    return weights.masked_fill(empty, 0.0)


class CrossAttention(nn.Module):
    """Scaled attention in h heads: one sequence asks and another answers."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{d_model=} is not divisible by {n_heads=}")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, memory, memory_mask=None):
        """x (B, T_q, d_model) -> out as x, weights (B, h, T_q, T_k); both are 0
        for a word whose row of memory_mask (True = may attend) has no True."""
        Q = split_heads(self.W_q(x), self.n_heads)  # (B, h, T_q, d_k)
        K = split_heads(self.W_k(memory), self.n_heads)  # (B, h, T_k, d_k)
        V = split_heads(self.W_v(memory), self.n_heads)  # (B, h, T_k, d_k)
        scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])  # (B, h, T_q, T_k)
        weights = scores.softmax(dim=-1) if memory_mask is None else masked_softmax(scores, memory_mask)
        heads = weights @ V  # (B, h, T_q, d_k)
        return self.W_o(merge_heads(heads)), weights  # (B, T_q, d_model), (B, h, T_q, T_k)
