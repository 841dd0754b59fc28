"""Lesson 09: what becomes of words in a deep stack of attention, with and without skip connections and norms."""

import torch
from torch import nn
from torch.nn import functional as F

from helpers.corpus import ALPHABET
from helpers.gpt import Block, TinyGPT
from helpers.language_training import bits_of, bits_per_character, train
from helpers.masks import causal_mask

# Skip connections, norms
STACKS = {"with skips": (True, True), "no skips": (False, True), "no skips, no norms": (False, False)}
TRAINED = {"skips and norms": (True, True), "no skips": (False, True), "no norms": (True, False)}


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


def deep_model(n_layers, skips=True, norms=True, d_model=64, n_heads=4, max_len=64, seed=0):
    """A TinyGPT of PlainBlocks, all with or all without skip connections, and the same for norms."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        model = TinyGPT(len(ALPHABET), d_model, n_heads, 0, max_len)
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


def bits_after_training(text, skips=True, norms=True, n_steps=120, seed=0, rate=6e-3):
    """What a narrow model of six blocks, 32 wide, pays for a character of text held out after a short training."""
    model = deep_model(6, skips, norms, d_model=32, n_heads=2, max_len=32, seed=seed)
    label = ", ".join(("with" if part else "without") + name for part, name in ((skips, " skips"), (norms, " norms")))
    train(model, text, n_steps, seed=seed, rate=rate, n_windows=8, checks=1, label=label)
    return bits_per_character(model, text.validation[:8000])


def bits_of_louder_start(windows, norms=True, louder=2.0):
    """What an untrained model of six blocks pays for windows (n, T), all its parameters made `louder` times larger."""
    model = deep_model(6, norms=norms)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(louder)
    return bits_of(model, windows)
