"""Lesson 04: one head against two, on a task in which one word has to look up two others."""

import numpy as np
import torch
from torch.nn import functional as F

from .measure import one_thread
from .progress_bar import progress_bar

N_WORDS = 8  # words to look at, each with a name of its own; one more word asks
D_V = 8  # features that every word gives: half of them are wanted of one word, half of another
D_MODEL = 3 * N_WORDS + D_V  # its name, the name of "who", the name of "what", what it gives


def two_look_ups_batch(generator, batch=64):
    """Sentences of N_WORDS words and, last, a word that asks for one half of one word and the other half of another.

    generator: torch Generator. Returns x (batch, N_WORDS + 1, D_MODEL), and what the last word should bring home:
    (batch, D_V), the first half of what "who" gives and the second half of what "what" gives, each of variance 1.
    """
    names = torch.rand(batch, N_WORDS, generator=generator).argsort(dim=-1)  # (batch, N_WORDS): each once
    asked = torch.rand(batch, N_WORDS, generator=generator).argsort(dim=-1)[:, :2]  # (batch, 2): two places
    given = torch.randn(batch, N_WORDS, D_V, generator=generator)
    x = torch.zeros(batch, N_WORDS + 1, D_MODEL)
    x[:, :-1, :N_WORDS] = F.one_hot(names, N_WORDS)
    x[:, :-1, -D_V:] = given
    x[:, -1, N_WORDS:-D_V] = F.one_hot(names.gather(1, asked), N_WORDS).flatten(1)  # the names of both
    who, what = given.gather(1, asked[..., None].expand(-1, -1, D_V)).unbind(1)  # (batch, D_V) each
    return x, torch.cat((who[:, : D_V // 2], what[:, D_V // 2 :]), dim=-1)


@one_thread()
def train_look_ups(module, n_heads, seed=0, steps=200, rate=1e-2):
    """Train one attention layer to bring home two things, with Adam, on fresh sentences.

    module: a class like MultiHeadAttention, made as module(D_MODEL, n_heads); its call returns (out, weights).
    seed: of the initial weights and the sentences. rate: learning rate.
    Returns the mean squared error at each step, (steps,): the first D_V features of the last word's out are compared.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layer = module(D_MODEL, n_heads)
    sentences = torch.Generator().manual_seed(1000 + seed)
    optimiser = torch.optim.Adam(layer.parameters(), lr=rate)
    losses = []
    for _ in range(steps):
        x, wanted = two_look_ups_batch(sentences)
        out, _ = layer(x)  # (batch, N_WORDS + 1, D_MODEL)
        loss = F.mse_loss(out[:, -1, :D_V], wanted)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return np.array(losses)


def train_heads(module, n_heads, seeds=range(5), **options):
    """The losses of `train_look_ups` for several seeds, (steps, seeds), with one progress bar."""
    bar = progress_bar(seeds, f"{n_heads} head{'s' if n_heads > 1 else ''}")
    return np.stack([train_look_ups(module, n_heads, seed, **options) for seed in bar], axis=-1)
