"""Lesson 09: a block around attention, a stack of blocks that predicts the next character, and how it writes.

The pieces of earlier lessons are in it: the heads of lesson 04, the causal mask of lesson 05, the RoPE of lesson 06.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

from helpers.masks import causal_mask
from helpers.multi_head import MultiHeadAttention, merge_heads, split_heads
from helpers.positions import rope


class RotaryAttention(MultiHeadAttention):
    """Lesson 04's multi-head attention with the same four layers; queries and keys are turned as in lesson 06."""

    def forward(self, x, mask=None):
        """x (B, T, d_model), mask broadcastable to (B, h, T, T) -> out (B, T, d_model), weights (B, h, T, T)."""
        Q, K, V = (split_heads(W(x), self.n_heads) for W in (self.W_q, self.W_k, self.W_v))  # (B, h, T, d_k) each
        scores = rope(Q) @ rope(K).transpose(-2, -1) / math.sqrt(Q.shape[-1])  # (B, h, T, T)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        weights = scores.softmax(dim=-1)
        return self.W_o(merge_heads(self.dropout(weights) @ V)), weights


def layer_norm(x, scale, shift, eps=1e-5):
    """Give each position mean 0 and variance 1, then scale and shift it.

    x: (..., d), floating point. scale, shift: (d,). eps: added to the variance,
    which divides by d. Returns x's shape and dtype (Ba, Kiros and Hinton 2016).
    """
    mean = x.mean(dim=-1, keepdim=True)  # (..., 1)
    variance = x.var(dim=-1, keepdim=True, correction=0)  # (..., 1)
    normed = (x - mean) / torch.sqrt(variance + eps)
    return scale * normed + shift


class Block(nn.Module):
    """Attention, then a feed-forward network, each with a norm and a skip.

    Both linear layers of the feed-forward network have a bias.
    """

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.norm_1 = nn.LayerNorm(d_model)
        self.attention = RotaryAttention(d_model, n_heads)
        self.norm_2 = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, 4 * d_model),
            nn.GELU(),
            nn.Linear(4 * d_model, d_model),
        )

    def forward(self, x, mask=None):
        """x (B, T, d_model), mask as for the attention -> (B, T, d_model)."""
        found, _ = self.attention(self.norm_1(x), mask)  # (B, T, d_model)
        x = x + found
        return x + self.feed_forward(self.norm_2(x))


class TinyGPT(nn.Module):
    """Blocks that score, at every position, each token that may come next."""

    def __init__(self, n_tokens, d_model, n_heads, n_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.embedding = nn.Embedding(n_tokens, d_model)
        self.blocks = nn.ModuleList(Block(d_model, n_heads) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_tokens, bias=False)

    def forward(self, tokens):
        """tokens (B, T) -> logits of each next token (B, T, n_tokens)."""
        x = self.embedding(tokens)  # (B, T, d_model)
        mask = causal_mask(tokens.shape[1])  # (T, T)
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))  # (B, T, n_tokens)


def next_token_loss(logits, tokens, pad_id=None):
    """How surprised the model is, on average, by each token that came next.

    logits: (B, T, V). tokens: (B, T), integers; position t is to predict the
    token at t + 1. Tokens equal to pad_id are no targets; some target is left.
    Returns the mean cross-entropy in nats, a tensor without axes.
    """
    predicted = logits[:, :-1].flatten(0, 1)  # (B (T - 1), V)
    targets = tokens[:, 1:].flatten()  # (B (T - 1),)
    if pad_id is None:
        return F.cross_entropy(predicted, targets)
    return F.cross_entropy(predicted, targets, ignore_index=pad_id)


def next_token_probabilities(logits, temperature=1.0, top_k=None):
    """Turn the scores of the next token into probabilities to draw from.

    logits: (..., V). temperature: above 0; below 1 sharpens, above 1 flattens.
    top_k: 1 to V. Only the k largest may be drawn, and any that equal the
    smallest of these; None: all may. Returns (..., V); the last axis sums to 1.
    """
    scores = logits / temperature  # (..., V)
    if top_k is not None:
        smallest_kept = scores.topk(top_k, dim=-1).values[..., -1:]  # (..., 1)
        scores = scores.masked_fill(scores < smallest_kept, -torch.inf)
    return scores.softmax(dim=-1)


def generate(model, tokens, n_new, choose):
    """Let a model write on, one token at a time.

    model: (B, T) tokens -> (B, T, V) logits; it is shown at most the last
    model.max_len tokens. It has no dropout, so its mode (train or eval) does
    not matter. tokens: (B, T), the beginning. n_new: how many to add.
    choose: (B, V) logits -> (B,) tokens. Returns (B, T + n_new).
    """
    with torch.no_grad():
        for _ in range(n_new):
            seen = tokens[:, -model.max_len :]  # (B, T) with T <= max_len
            logits = model(seen)[:, -1]  # (B, V)
            chosen = choose(logits)  # (B,)
            tokens = torch.cat([tokens, chosen[:, None]], dim=1)
    return tokens
