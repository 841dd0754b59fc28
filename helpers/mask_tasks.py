"""Lesson 05's proving ground: attention functions, honest and leaking, for a leak test; and a fair coin to guess.

Self-attention here has no projections: queries, keys and values are the words themselves.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

from helpers.masks import causal_mask, masked_softmax, prefix_mean
from helpers.measure import one_thread

# What a leak test is tried on, from (T, d) to (T, d_v) -------------------------------------------------------------


def attend(x, mask):
    """Self-attention in which queries, keys and values are all x.

    x: (T, d). mask: (T, T), bool, True = may attend. Returns (T, d).
    """
    scores = x @ x.T / math.sqrt(x.shape[-1])  # (T, T)
    return masked_softmax(scores, mask) @ x  # (T, d)


def _everything(x):
    """Mask that allows every pair of the words of x (T, d). Returns (T, T), bool."""
    return torch.ones(x.shape[0], x.shape[0], dtype=torch.bool)


def attend_causal(x):
    """Honest: each word sees itself and what came before."""
    return attend(x, causal_mask(x.shape[0]))


def mean_of_earlier_words(x):
    """Honest: each word gets the mean of the words before it, without itself; the first gets zeros."""
    earlier = _everything(x).tril(diagonal=-1)
    return masked_softmax(torch.zeros(earlier.shape, dtype=x.dtype), earlier) @ x  # (T, d)


def attend_last_three(x):
    """Honest: each word sees itself and the two before it."""
    return attend(x, _everything(x).tril().triu(diagonal=-2))


def attend_renormalised(x):
    """Honest, but for rounding: masked after the softmax, but then every row is divided by what is left of it."""
    directions = F.normalize(x, dim=-1)  # (T, d); bounded scores, so that nothing underflows
    weights = torch.softmax(4.0 * directions @ directions.T, dim=-1)  # (T, T)
    weights = weights * causal_mask(x.shape[0])
    return weights / weights.sum(dim=-1, keepdim=True) @ x  # (T, d)


def attend_with_dropout(x):
    """Honest, but noisy: half of the outputs are dropped at random, as in training."""
    return F.dropout(attend_causal(x), p=0.5, training=True)


def attend_with_dropped_weights(x):
    """Honest, but noisy: half of the (T, T) weights are dropped at random; T decides how many numbers are drawn."""
    scores = x @ x.T / math.sqrt(x.shape[-1])  # (T, T)
    weights = masked_softmax(scores, causal_mask(x.shape[0]))
    return F.dropout(weights, p=0.5, training=True) @ x  # (T, d)


def attend_first_word(x):
    """Honest: every word sees the first word only."""
    mask = torch.zeros_like(_everything(x))
    mask[:, 0] = True
    return attend(x, mask)


def mean_so_far(x):
    """Honest: the prefix mean as a running sum, without any matrix."""
    counts = torch.arange(1, x.shape[0] + 1, dtype=x.dtype)[:, None]  # (T, 1)
    return x.cumsum(dim=0) / counts  # (T, d)


def attend_each_to_itself(x):
    """Honest: each word sees only itself."""
    return attend(x, torch.eye(x.shape[0], dtype=torch.bool))


def attend_without_mask(x):
    """Leaks: every word sees every word."""
    return attend(x, _everything(x))


def attend_one_ahead(x):
    """Leaks: the triangle is one diagonal too wide, so each word sees the next."""
    return attend(x, _everything(x).tril(diagonal=1))


def attend_upside_down(x):
    """Leaks: each word sees itself and what comes after."""
    return attend(x, causal_mask(x.shape[0]).T)


def attend_in_pairs(x):
    """Leaks: after the first, words come in blocks of two, and the words of a block see each other."""
    block = (torch.arange(x.shape[0]) + 1) // 2  # (T,)
    return attend(x, block[None, :] <= block[:, None])


def attend_two_ahead(x):
    """Leaks: each word sees the past and the next word but one, not the next."""
    everything = _everything(x)
    return attend(x, everything.tril() | everything.triu(diagonal=2) & everything.tril(diagonal=2))


def attend_one_wrong_cell(x):
    """Leaks: plain means of the past, but the last word but one also sees the last."""
    weights = causal_mask(x.shape[0]).to(x.dtype)  # (T, T)
    weights[-2:-1, -1] = 1.0  # nothing, where there is a single word
    return weights / weights.sum(dim=-1, keepdim=True) @ x  # (T, d)


def attend_masked_with_zero(x):
    """Leaks: hidden scores are set to 0, and exp(0) = 1 is weight."""
    scores = x @ x.T / math.sqrt(x.shape[-1])  # (T, T)
    return torch.softmax(scores * causal_mask(x.shape[0]), dim=-1) @ x  # (T, d)


def attend_masked_after_softmax(x):
    """Leaks: hidden weights are set to 0 after the softmax, so the future stays in the denominator."""
    scores = x @ x.T / math.sqrt(x.shape[-1])  # (T, T)
    return torch.softmax(scores, dim=-1) * causal_mask(x.shape[0]) @ x  # (T, d)


def attend_softmax_over_queries(x):
    """Leaks: the softmax runs down the columns, so later queries are in the denominator."""
    scores = x @ x.T / math.sqrt(x.shape[-1])  # (T, T)
    return torch.softmax(scores.masked_fill(~causal_mask(x.shape[0]), -torch.inf), dim=0) @ x  # (T, d)


def attend_standardised(x):
    """Leaks: each feature is standardised over all words before an honest attention, as batch norm does in training."""
    return attend_causal((x - x.mean(dim=0)) / (x.std(dim=0) + 1e-5))


def attend_after_batch_norm(x):
    """Leaks: batch norm in training, before an honest attention, takes its mean over all words; one word it refuses."""
    return attend_causal(F.batch_norm(x, None, None, training=True))


def attend_less_the_maximum(x):
    """Leaks: the largest value of each feature in the whole sentence is subtracted, as a naive normalisation does."""
    return attend_causal(x) - x.amax(dim=0)


def attend_one_feature(x):
    """Leaks: the second feature is averaged over the whole sentence, the others over the past."""
    out = attend_causal(x)
    return torch.cat([out[:, :1], x[:, 1:2].mean(dim=0).expand_as(out[:, 1:2]), out[:, 2:]], dim=-1)  # (T, d)


def attend_faintly(x):
    """Leaks, but little: a hundredth of the output comes from attention without a mask."""
    return 0.99 * attend_causal(x) + 0.01 * attend_without_mask(x)


# What no derivative shows: each of these leaks, and the gradient of what leaks is zero, or there is none.


def attend_beside_detached(x):
    """Leaks: a tenth of the output comes from attention without a mask, detached, so that no gradient tells."""
    return 0.9 * attend_causal(x) + 0.1 * attend_without_mask(x).detach()


def attend_with_rounded_mean(x):
    """Leaks: the mean of the whole sentence, rounded to two decimals, is added; rounding has the gradient 0."""
    return attend_causal(x) + (100 * x.mean(dim=0)).round() / 100


def attend_with_ranks(x):
    """Leaks: the rank of each feature among all words is added; comparing and counting have no gradient."""
    ranks = (x[:, None] > x[None, :]).sum(dim=1)  # (T, d)
    return attend_causal(x) + ranks.to(x.dtype) / x.shape[0]


@torch.no_grad()
def attend_without_gradient(x):
    """Leaks: every word sees every word, and all of it runs under no_grad."""
    return attend_without_mask(x)


HONEST = (
    attend_causal,
    mean_of_earlier_words,
    attend_last_three,
    attend_each_to_itself,
    attend_first_word,
    prefix_mean,
    mean_so_far,
    attend_renormalised,
    attend_with_dropout,
    attend_with_dropped_weights,
)
LEAKING = (
    attend_without_mask,
    attend_one_ahead,
    attend_upside_down,
    attend_in_pairs,
    attend_two_ahead,
    attend_one_wrong_cell,
    attend_masked_with_zero,
    attend_masked_after_softmax,
    attend_softmax_over_queries,
    attend_standardised,
    attend_after_batch_norm,
    attend_less_the_maximum,
    attend_one_feature,
    attend_faintly,
)
LEAKING_WITHOUT_GRADIENT = (
    attend_beside_detached,
    attend_with_rounded_mean,
    attend_with_ranks,
    attend_without_gradient,
)


class CausalBlock(nn.Module):
    """Honest causal attention with a normalising layer before it and dropout after it."""

    def __init__(self, norm, dropout=0.0):
        super().__init__()
        self.norm = norm
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        """x (T, d) -> (T, d)."""
        return self.dropout(attend_causal(self.norm(x)))


# A fair coin: nobody can guess the next toss, so whoever does has seen it. ----------------------------------------


class CoinGuesser(nn.Module):
    """One attention layer that guesses each next toss of a coin; weigh turns scores (B, T, T) into weights."""

    def __init__(self, weigh, max_tosses, d_model, generator):
        super().__init__()
        self.weigh = weigh
        self.toss = nn.Embedding(2, d_model)
        self.place = nn.Embedding(max_tosses, d_model)
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.guess = nn.Linear(d_model, 2, bias=False)
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.3, generator=generator)

    def forward(self, tosses):
        """tosses (B, T), 0 or 1 -> logits of each next toss (B, T, 2)."""
        x = self.toss(tosses) + self.place.weight[: tosses.shape[-1]]  # (B, T, d_model)
        scores = self.W_q(x) @ self.W_k(x).transpose(-2, -1) / math.sqrt(x.shape[-1])  # (B, T, T)
        return self.guess(x + self.weigh(scores) @ self.W_v(x))  # (B, T, 2)


@one_thread()  # so small a model is only slowed by more
def train_on_coin_tosses(weigh, generator, n_steps=400, n_tosses=8, rate=5e-3):
    """Train a CoinGuesser to guess the next toss of a fair coin, all tosses of a sequence in one pass.

    weigh: function from scores (B, T, T) to weights of the same shape. generator: torch Generator for parameters and
    tosses. rate: learning rate, of Adam. Returns the model and its loss at every step, in nats; ln 2 = 0.69 is what an
    honest model can reach.
    """
    model = CoinGuesser(weigh, n_tosses, d_model=16, generator=generator)
    optimiser = torch.optim.Adam(model.parameters(), lr=rate)
    losses = []
    for _ in range(n_steps):
        tosses = torch.randint(2, (64, n_tosses + 1), generator=generator)
        logits = model(tosses[:, :-1])  # (B, T, 2)
        loss = F.cross_entropy(logits.flatten(0, 1), tosses[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return model, losses


@one_thread()
def loss_in_use(model, generator, n_tosses=8):
    """Loss of a CoinGuesser on fresh tosses when each guess is made before the toss exists, one pass for each prefix.

    generator: torch Generator. Returns the mean over 512 sequences and n_tosses guesses, in nats.
    """
    tosses = torch.randint(2, (512, n_tosses + 1), generator=generator)
    with torch.no_grad():
        guesses = [model(tosses[:, : t + 1])[:, -1] for t in range(n_tosses)]  # each (B, 2)
    logits = torch.stack(guesses, dim=1)  # (B, T, 2)
    return F.cross_entropy(logits.flatten(0, 1), tosses[:, 1:].flatten()).item()
