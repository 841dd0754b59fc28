"""Lesson 09: what becomes of words in a deep stack of attention, with and without skip connections and norms."""

import torch
from torch import nn
from torch.nn import functional as F

from helpers.gpt import Block, TinyGPT
from helpers.masks import causal_mask


class PlainBlock(Block):
    """A Block that can leave out its skip connections or its norms."""

    def __init__(self, d_model, n_heads, skips=True, norms=True):
        super().__init__(d_model, n_heads)
        self.keep = 1.0 if skips else 0.0  # of what comes in
        if not norms:
            self.norm_1, self.norm_2 = nn.Identity(), nn.Identity()

    def forward(self, x, mask=None):
        """x (B, T, d_model), mask as for the attention -> (B, T, d_model)."""
        found, _ = self.attention(self.norm_1(x), mask)  # (B, T, d_model)
        x = self.keep * x + found
        return self.keep * x + self.feed_forward(self.norm_2(x))


def deep_model(n_tokens, n_layers, skips=True, norms=True, d_model=64, n_heads=4, max_len=64):
    """A TinyGPT of PlainBlocks, all with or all without skip connections, and the same for norms."""
    model = TinyGPT(n_tokens, d_model, n_heads, 0, max_len)
    model.blocks.extend(PlainBlock(d_model, n_heads, skips, norms) for _ in range(n_layers))
    if not norms:
        model.norm = nn.Identity()
    return model


def likeness(model, tokens):
    """How alike the rows are after each layer: the mean cosine between two different positions of a sequence.

    model: a TinyGPT. tokens: (B, T). Returns (n_layers + 1,), the embedding first; 1 where all rows point one way.
    """
    T = tokens.shape[1]
    apart = ~torch.eye(T, dtype=torch.bool)
    mask, means = causal_mask(T), []
    with torch.no_grad():
        x = model.embedding(tokens)  # (B, T, d_model)
        for block in [None, *model.blocks]:
            x = x if block is None else block(x, mask)
            directions = F.normalize(x, dim=-1)
            cosines = directions @ directions.transpose(-2, -1)  # (B, T, T)
            means.append(cosines[:, apart].mean())
    return torch.stack(means)
