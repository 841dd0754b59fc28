"""Lesson 09: train a small language model, measure it in bits per character, and train it wrongly on purpose."""

import math
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F
from tqdm.auto import tqdm

from helpers.gpt import Block, TinyGPT, next_token_loss
from helpers.measure import one_thread

BITS = 1 / math.log(2)  # bits in a nat
N_TOKENS = 96
WARM_UP = 50  # steps in which the learning rate rises


class History(NamedTuple):
    """What happened in a training, in bits per character."""

    losses: list  # one for every step, on the text that was trained on
    steps: list  # the steps at which text held out was read
    validation: list  # what it cost then


def draw(tokens, n, length, generator):
    """Cut n windows out of a text at random. tokens: (m,). Returns (n, length), integers."""
    starts = torch.randint(len(tokens) - length + 1, (n,), generator=generator)
    return tokens[starts[:, None] + torch.arange(length)]


@one_thread()
def train(model, text, n_steps, loss=next_token_loss, seed=0, rate=6e-3, n_windows=16, checks=24):
    """Train a language model with AdamW: the rate rises for 50 steps, then falls to 0 along a cosine.

    model: a TinyGPT, or what has its max_len and forward; it is changed. text: a Text. loss: (logits, tokens) -> nats.
    seed: of the windows that are drawn, n_windows of model.max_len a step. checks: how often text held out is read.
    Returns a History. Interrupting it (the ■ of the toolbar) is allowed: the model keeps what it has learned so far.
    """
    generator = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate)
    held_out = draw(text.validation, 64, model.max_len, torch.Generator().manual_seed(0))
    history = History([], [], [])
    bar = tqdm(range(n_steps), leave=False)
    try:
        for step in bar:
            optimiser.param_groups[0]["lr"] = rate * _schedule(step, n_steps)
            tokens = draw(text.train, n_windows, model.max_len, generator)  # (B, T)
            value = loss(model(tokens), tokens)
            optimiser.zero_grad()
            value.backward()
            optimiser.step()
            history.losses.append(value.item() * BITS)
            if step % max(1, n_steps // checks) == 0 or step == n_steps - 1:
                history.steps.append(step + 1)
                history.validation.append(_honest_bits(model, held_out))
                bar.set_description(f"{history.validation[-1]:.2f} bits per character")
    except KeyboardInterrupt:
        print(f"Stopped after {len(history.losses)} of {n_steps} steps. The model keeps what it has learned so far.")
    return history


@one_thread()
def bits_per_character(model, tokens):
    """What a model pays for each character of a text, read in windows of model.max_len side by side.

    tokens: (m,). Returns the mean cross-entropy of every character but the first of each window, in bits; a float.
    """
    n = len(tokens) // model.max_len
    windows = tokens[: n * model.max_len].view(n, model.max_len)  # (n, T)
    costs = [_honest_bits(model, part) * len(part) for part in windows.split(64)]
    return sum(costs) / n


def _honest_bits(model, windows):
    """Bits for each character but the first of windows (n, T), whatever loss the model was trained with."""
    with torch.no_grad():
        logits = model(windows)[:, :-1]  # (n, T - 1, V)
    return F.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten()).item() * BITS


def _schedule(step, n_steps):
    """Share of the learning rate at a step."""
    falling = (1 + math.cos(math.pi * step / n_steps)) / 2
    return min(1, (step + 1) / WARM_UP) * falling


# Trained wrongly on purpose ---------------------------------------------------------------------------------------


class PeekingGPT(TinyGPT):
    """A TinyGPT that forgot its mask: every position sees the character it is to predict."""

    def forward(self, tokens):
        """tokens (B, T), integers -> logits of each next token (B, T, n_tokens)."""
        x = self.embedding(tokens)  # (B, T, d_model)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def _loss(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


BUGS = {
    "right": (TinyGPT, next_token_loss),
    "targets not shifted": (TinyGPT, lambda logits, tokens: _loss(logits, tokens)),
    "shifted the wrong way": (TinyGPT, lambda logits, tokens: _loss(logits[:, 1:], tokens[:, :-1])),
    "shifted twice": (TinyGPT, lambda logits, tokens: _loss(logits[:, :-2], tokens[:, 2:])),
    "no causal mask": (PeekingGPT, next_token_loss),
    "axes mixed in the reshape": (
        TinyGPT,
        lambda logits, tokens: next_token_loss(logits.transpose(1, 2).reshape(logits.shape), tokens),
    ),
    "softmax before the loss": (TinyGPT, lambda logits, tokens: next_token_loss(logits.softmax(dim=-1), tokens)),
    "targets rolled": (TinyGPT, lambda logits, tokens: _loss(logits, tokens.roll(-1, dims=1))),
}
