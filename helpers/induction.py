"""Lesson 09: sequences that repeat themselves, and the two heads that learn to see it."""

import math

import torch
from torch import nn
from torch.nn import functional as F
from tqdm.auto import tqdm

from helpers.gpt import RotaryAttention
from helpers.masks import causal_mask
from helpers.measure import one_thread

N_WORDS = 32
LENGTH = 40
SHORTEST, LONGEST = 8, 20  # words of the block that is repeated


def repeated(n, generator, period=None):
    """Sequences in which a block of random words is repeated until LENGTH is reached.

    n: number of sequences. period: length of the block, or None for another length, 8 to 20, in each sequence.
    Returns tokens (n, LENGTH), integers below N_WORDS, and periods (n,).
    """
    periods = torch.randint(SHORTEST, LONGEST + 1, (n,), generator=generator)
    if period is not None:
        periods = torch.full((n,), period)
    words = torch.randint(N_WORDS, (n, LENGTH), generator=generator)
    places = torch.arange(LENGTH) % periods[:, None]  # (n, LENGTH)
    return words.gather(1, places), periods


class AttentionOnly(nn.Module):
    """Layers of one attention head each beside a skip connection, with nothing else between embedding and logits."""

    def __init__(self, n_layers, d_model=64):
        super().__init__()
        self.embedding = nn.Embedding(N_WORDS, d_model)
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(n_layers))
        self.layers = nn.ModuleList(RotaryAttention(d_model, 1) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, N_WORDS, bias=False)

    def forward(self, tokens):
        """tokens (B, T) -> logits (B, T, N_WORDS), weights: a list of one (B, T, T) for each layer."""
        x = self.embedding(tokens)  # (B, T, d_model)
        mask, seen = causal_mask(tokens.shape[1]), []
        for norm, layer in zip(self.norms, self.layers, strict=True):
            found, weights = layer(norm(x), mask)
            x = x + found
            seen.append(weights[:, 0])
        return self.head(self.norm(x)), seen
