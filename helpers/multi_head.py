"""Lesson 04: several attentions side by side, each with its own features, in PyTorch."""
import math

import torch
from torch import nn


def split_heads(x, n_heads):
    """Deal the features of every position out to the heads.

    x: (B, T, d_model). n_heads: h, a divisor of d_model.
    Returns (B, h, T, d_k), of x's dtype, with d_k = d_model / h:
    head i holds features i * d_k to (i + 1) * d_k - 1.
    """
    B, T, d_model = x.shape
    d_k = d_model // n_heads
    x = x.reshape(B, T, n_heads, d_k)  # (B, T, h, d_k)
    return x.transpose(1, 2)  # (B, h, T, d_k)


def merge_heads(x):
    """Lay the heads of each position side by side: undo `split_heads`.

    x: (B, h, T, d_k). Returns (B, T, d_model), of x's dtype, with
    d_model = h * d_k.
    """
    B, n_heads, T, d_k = x.shape
    x = x.transpose(1, 2)  # (B, T, h, d_k)
    return x.reshape(B, T, n_heads * d_k)  # (B, T, d_model)


class MultiHeadAttention(nn.Module):
    """Scaled self-attention in h heads; ValueError unless h divides d_model."""

    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError(f"{d_model=} is not divisible by {n_heads=}")
        self.n_heads = n_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        """x (B, T, d_model), mask -> out as x, weights (B, h, T, T)."""
        Q, K, V = self.W_q(x), self.W_k(x), self.W_v(x)  # (B, T, d_model) each
        Q, K, V = (split_heads(z, self.n_heads) for z in (Q, K, V))  # (B, h, T, d_k)
        scores = Q @ K.transpose(-2, -1)  # (B, h, T, T)
        scores = scores / math.sqrt(Q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(dim=-1)
        heads = self.dropout(weights) @ V  # (B, h, T, d_k)
        out = self.W_o(merge_heads(heads))  # (B, T, d_model)
        return out, weights


def from_torch(mha):
    """Our module with copies of the weights of PyTorch's.

    mha: nn.MultiheadAttention(d_model, n_heads, bias=False, batch_first=True).
    Returns a MultiHeadAttention with the same n_heads, dropout and dtype.
    """
    ours = MultiHeadAttention(mha.embed_dim, mha.num_heads, mha.dropout)
    ours = ours.to(mha.in_proj_weight.dtype)
    W_q, W_k, W_v = mha.in_proj_weight.chunk(3)  # (d_model, d_model) each
    with torch.no_grad():
        ours.W_q.weight.copy_(W_q)
        ours.W_k.weight.copy_(W_k)
        ours.W_v.weight.copy_(W_v)
        ours.W_o.weight.copy_(mha.out_proj.weight)
    return ours


def two_look_ups():
    """A module of two heads, set by hand, for the four features noun, verb, adjective, number.

    Head 0 of a verb looks for the noun that agrees with it, head 1 for an adjective.
    Returns a MultiHeadAttention(d_model=4, n_heads=2), float32, whose W_o is the identity: out is what head 0
    found (noun, number), then what head 1 found (adjective, number).
    """
    # As in X @ W: a row for each feature; columns 0 and 1 belong to head 0, columns 2 and 3 to head 1.
    W_q = torch.tensor([[0.0, 0, 0, 0], [4, 0, 8, 0], [0, 0, 0, 0], [0, 4, 0, 0]])  # verbs ask; the number must agree
    W_k = torch.tensor([[1.0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0]])  # found as noun, number | adjective
    W_v = torch.tensor([[1.0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 1]])  # gives noun, number | adj., number
    mha = MultiHeadAttention(d_model=4, n_heads=2)
    with torch.no_grad():
        for layer, W in ((mha.W_q, W_q), (mha.W_k, W_k), (mha.W_v, W_v), (mha.W_o, torch.eye(4))):
            layer.weight.copy_(W.T)  # nn.Linear computes x @ weight.T
    return mha


def count_parameters(module):
    """How many numbers a module learns: the entries of all its parameters."""
    return sum(parameter.numel() for parameter in module.parameters())


def score_ranks(mha, x, n_heads):
    """Rank of each head's matrix of scores Q Kᵀ, before the softmax.

    mha: a MultiHeadAttention of n_heads heads. x: (B, T, d_model). Returns (B, h) integers, none above d_k.
    """
    Q, K = split_heads(mha.W_q(x), n_heads), split_heads(mha.W_k(x), n_heads)  # (B, h, T, d_k) each
    return torch.linalg.matrix_rank(Q @ K.transpose(-2, -1))  # (B, h)
