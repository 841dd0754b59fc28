"""Lesson 03: does the scale matter for learning? A lookup to learn, trained at several scales, widths and rates."""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from .measure import one_thread
from .progress_bar import progress_bar

BATCH, N_KEYS, D_V = 32, 16, 8
NOISE = 0.3  # standard deviation of what is added to a key to make its noisy copy


class Lookup(NamedTuple):
    """A batch of lookups: in each, one query is to read the value of one key among N_KEYS."""

    queries: torch.Tensor  # (B, d_model)
    keys: torch.Tensor  # (B, n, d_model)
    values: torch.Tensor  # (B, n, d_v)
    target: torch.Tensor  # (B,): which key is the right one


def recall(d_model, generator):
    """Lookups in which the query is a noisy copy of one key, and the value of that key is asked for.

    d_model: features per vector, each of variance 1. generator: torch Generator. Returns a Lookup.
    """
    keys = torch.randn(BATCH, N_KEYS, d_model, generator=generator)
    target = torch.randint(N_KEYS, (BATCH,), generator=generator)
    noise = NOISE * torch.randn(BATCH, d_model, generator=generator)
    queries = (keys[torch.arange(BATCH), target] + noise) / math.sqrt(1 + NOISE**2)  # (B, d_model)
    return Lookup(queries, keys, torch.randn(BATCH, N_KEYS, D_V, generator=generator), target)


class DotScorer(nn.Module):
    """Scores (q W_q) · (k W_k) / d_k ** power: queries (B, d_model), keys (B, n, d_model) -> (B, n).

    start: what the initial weights, of variance 1 / d_model, are multiplied by.
    """

    def __init__(self, d_model, d_k, generator, power=0.5, start=1.0):
        super().__init__()
        self.W_q = _initial(d_model, d_k, generator=generator, start=start)
        self.W_k = _initial(d_model, d_k, generator=generator, start=start)
        self.divisor = d_k**power

    def forward(self, queries, keys):
        q = queries @ self.W_q  # (B, d_k)
        # q · (k W_k) is (q W_kᵀ) · k, which for a single query costs n times less.
        q_for_keys = q @ self.W_k.T  # (B, d_model)
        return torch.einsum("bd,bnd->bn", q_for_keys, keys) / self.divisor  # (B, n)


class Run(NamedTuple):
    """What training did at each step, on examples not seen before; leading axes where several runs are held."""

    losses: np.ndarray  # (..., steps)
    hits: np.ndarray  # (..., steps): share of examples whose largest weight is on the right key
    right: np.ndarray  # (..., steps): mean score of the right key

    def loss(self):
        """Mean loss of the last ten steps, (...)."""
        return self.losses[..., -10:].mean(axis=-1)

    def hit_rate(self):
        """Mean hits of the last ten steps, (...)."""
        return self.hits[..., -10:].mean(axis=-1)


@one_thread()  # faster for matrices this small, and the same on every machine
def train_recall(d_k, power, seed=0, steps=50, rate=3e-3, start=1.0, on_scores=False, d_model=64):
    """Learn the recall task with scores (q W_q) · (k W_k) / d_k ** power, on fresh batches, with Adam.

    d_k: width of the projections; the task, of width d_model, stays the same. power: 0 for no scale, 0.5 for √d_k,
    1 for d_k. seed: of weights and examples. rate: learning rate. start: what the initial weights are multiplied by.
    on_scores: False: the loss is the squared error of the value read through softmax; True: cross-entropy directly on
    the scores, with no softmax inside the network. Returns a Run of `steps` steps.
    """
    scorer = DotScorer(d_model, d_k, torch.Generator().manual_seed(seed), power, start)
    examples = torch.Generator().manual_seed(1000 + seed)
    optimiser = torch.optim.Adam(scorer.parameters(), lr=rate)
    rows = torch.arange(BATCH)
    seen = []
    for _ in range(steps):
        queries, keys, values, target = recall(d_model, examples)
        scores = scorer(queries, keys)  # (B, n)
        if on_scores:
            loss = F.cross_entropy(scores, target)
        else:
            read = torch.einsum("bn,bnv->bv", scores.softmax(dim=-1), values)  # (B, d_v)
            loss = F.mse_loss(read, values[rows, target])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        hits = (scores.argmax(dim=-1) == target).float().mean()
        seen.append((loss.item(), hits.item(), scores[rows, target].mean().item()))
    return Run(*np.array(seen).T)  # (steps,) each


def train_widths(d_ks, power, rate, seeds=range(5), **options):
    """Train `train_recall` at every width and with every seed, with one progress bar.

    d_ks: widths. power, rate and options: as for `train_recall`. Returns a Run of (widths, seeds, steps).
    """
    jobs = [(d_k, seed) for d_k in d_ks for seed in seeds]
    bar = progress_bar(jobs, f"d_k ** {power}, rate {rate}")
    runs = [train_recall(d_k, power, seed, rate=rate, **options) for d_k, seed in bar]
    return Run(*(np.stack(part).reshape(len(d_ks), len(seeds), -1) for part in zip(*runs, strict=True)))


def _initial(*shape, generator, start=1.0):
    """A parameter whose products with inputs of variance 1 have variance start²."""
    return nn.Parameter(start * torch.randn(*shape, generator=generator) / math.sqrt(shape[0]))
