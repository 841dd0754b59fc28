"""Lesson 03: does the scale matter for learning? Two lookups to learn, and the scoring functions that learn them."""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from tqdm import tqdm

from .measure import median_seconds, one_thread
from .numpy_attention import additive_scores, general_scores

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

    d_model: features a vector, each of variance 1. generator: torch Generator. Returns a Lookup.
    """
    keys = torch.randn(BATCH, N_KEYS, d_model, generator=generator)
    target = torch.randint(N_KEYS, (BATCH,), generator=generator)
    noise = NOISE * torch.randn(BATCH, d_model, generator=generator)
    queries = (keys[torch.arange(BATCH), target] + noise) / math.sqrt(1 + NOISE**2)  # (B, d_model)
    return Lookup(queries, keys, torch.randn(BATCH, N_KEYS, D_V, generator=generator), target)


def loudest(d_model, generator):
    """Lookups in which the key with the largest first feature is the right one, whoever asks.

    d_model: features a vector, each of variance 1. generator: torch Generator. Returns a Lookup.
    """
    keys = torch.randn(BATCH, N_KEYS, d_model, generator=generator)
    queries = torch.randn(BATCH, d_model, generator=generator)
    return Lookup(queries, keys, torch.randn(BATCH, N_KEYS, D_V, generator=generator), keys[..., 0].argmax(dim=-1))


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


class GeneralScorer(nn.Module):
    """Scores q W kᵀ: queries (B, d_model), keys (B, n, d_model) -> (B, n)."""

    def __init__(self, d_model, generator):
        super().__init__()
        self.W = _initial(d_model, d_model, generator=generator)

    def forward(self, queries, keys):
        return torch.einsum("bd,bnd->bn", queries @ self.W, keys)  # (B, n)


class AdditiveScorer(nn.Module):
    """Scores v · tanh(q W_q + k W_k): queries (B, d_model), keys (B, n, d_model) -> (B, n)."""

    def __init__(self, d_model, d_hidden, generator):
        super().__init__()
        self.W_q = _initial(d_model, d_hidden, generator=generator)
        self.W_k = _initial(d_model, d_hidden, generator=generator)
        self.v = _initial(d_hidden, generator=generator)

    def forward(self, queries, keys):
        from_query = (queries @ self.W_q)[:, None, :]  # (B, 1, d_hidden)
        hidden = torch.tanh(from_query + keys @ self.W_k)  # (B, n, d_hidden)
        return hidden @ self.v  # (B, n)


SCORERS = {
    "additive": lambda d, generator: AdditiveScorer(d, d, generator),
    "dot": lambda d, generator: DotScorer(d, d, generator, power=0),
    "general": lambda d, generator: GeneralScorer(d, generator),
    "scaled dot": lambda d, generator: DotScorer(d, d, generator, power=0.5),
}


class Run(NamedTuple):
    """What one training run did at each step, on examples not seen before."""

    losses: np.ndarray  # (steps,)
    hits: np.ndarray  # (steps,): share of examples whose largest weight is on the right key
    right: np.ndarray  # (steps,): mean score of the right key
    parameters: int

    def loss(self, step=None):
        """Mean loss of the ten steps up to `step`, or of the last ten."""
        return self.losses[:step][-10:].mean()

    def hit_rate(self, step=None):
        """Mean hits of the ten steps up to `step`, or of the last ten."""
        return self.hits[:step][-10:].mean()


@one_thread()  # faster for matrices this small, and the same on every machine
def train(scorer, task, d_model, generator, steps=100, learning_rate=3e-3, on_scores=False, label=""):
    """Train a scorer on fresh batches of a task with Adam, one progress bar a run.

    scorer: module (queries, keys) -> scores; it is changed. task: `recall` or `loudest`. generator: torch Generator.
    on_scores: False: the loss is the squared error of the value read through softmax; True: cross-entropy directly on
    the scores, with no softmax inside the network. label: what the progress bar is called. Returns a Run.
    """
    optimiser = torch.optim.Adam(scorer.parameters(), lr=learning_rate)
    rows = torch.arange(BATCH)
    seen = []
    for _ in tqdm(range(steps), desc=label, leave=False):
        queries, keys, values, target = task(d_model, generator)
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
    losses, hits, right = np.array(seen).T  # (steps,) each
    return Run(losses, hits, right, sum(p.numel() for p in scorer.parameters()))


def train_recall(d_k, power, seed=0, d_model=64, start=1.0, **options):
    """Train scaled dot products on the recall task: scores (q W_q) · (k W_k) / d_k ** power.

    d_k: width of the projections; the task, of width d_model, stays the same. power: 0 for no scale, 0.5 for √d_k, 1
    for d_k. seed: of weights and examples. start: what the initial weights are multiplied by. options: see `train`.
    Returns a Run.
    """
    scorer = DotScorer(d_model, d_k, torch.Generator().manual_seed(seed), power, start)
    examples = torch.Generator().manual_seed(1000 + seed)
    return train(scorer, recall, d_model, examples, label=f"d_k = {d_k}, power {power}", **options)


def train_scorer(name, d, task, seed=0, **options):
    """Train one of SCORERS, every width of it d, on a task.

    name: "additive", "dot", "general" or "scaled dot". task: `recall` or `loudest`. seed: of weights and examples.
    options: see `train`. Returns a Run.
    """
    scorer = SCORERS[name](d, torch.Generator().manual_seed(seed))
    examples = torch.Generator().manual_seed(1000 + seed)
    return train(scorer, task, d, examples, label=f"{name}, d = {d}", **options)


def scoring_seconds(T, d, rng):
    """CPU seconds that each scoring function of lesson 02 takes for all T x T pairs of a random sequence.

    T: words. d: features of a query, of a key, and of additive scoring's hidden layer. rng: numpy Generator.
    Returns a dict from the names of SCORERS to seconds.
    """
    Q, K = rng.standard_normal((2, T, d))  # (T, d) each
    W_q, W_k, W = rng.standard_normal((3, d, d)) / np.sqrt(d)  # (d, d) each
    v = rng.standard_normal(d)  # (d,)
    ways = {
        "additive": lambda: additive_scores(Q, K, W_q, W_k, v),
        "dot": lambda: (Q @ W_q) @ (K @ W_k).T,
        "general": lambda: general_scores(Q, K, W),
        "scaled dot": lambda: (Q @ W_q) @ (K @ W_k).T / np.sqrt(d),
    }
    return {name: median_seconds(way) for name, way in ways.items()}


def _initial(*shape, generator, start=1.0):
    """A parameter whose products with inputs of variance 1 have variance start²."""
    return nn.Parameter(start * torch.randn(*shape, generator=generator) / math.sqrt(shape[0]))
