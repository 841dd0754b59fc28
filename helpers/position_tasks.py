"""Lesson 06: two tasks that need order, and one small causal attention layer that learns them."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from helpers.masks import causal_mask
from helpers.measure import one_thread
from helpers.positions import alibi_bias, rope, sinusoidal_positional_encoding

N_WORDS = 16
CHANCE = 1 / N_WORDS
MARKED = 0.15  # share of words that carry a mark
T_TRAINED, T_MAX = 32, 256
NO_ANSWER = -100  # what cross_entropy leaves out
KINDS = ("none", "learned", "sinusoidal", "RoPE", "ALiBi")


def three_places_back(n, T, generator):
    """Sequences in which the answer at every place is the word three places before it.

    n: number of sequences. T: their length. generator: torch Generator. Returns tokens (n, T) and answers (n, T),
    integers below 16; the first three places have NO_ANSWER.
    """
    tokens = torch.randint(N_WORDS, (n, T), generator=generator)
    answers = torch.full((n, T), NO_ANSWER)
    answers[:, 3:] = tokens[:, :-3]
    return tokens, answers


def latest_marked(n, T, generator):
    """Sequences in which the answer at every place is the last word up to there that carries a mark.

    Arguments as for `three_places_back`. Returns tokens (n, T), 16 more for a marked word, and answers (n, T), integers
    below 16. The first word is always marked, so that every place has an answer.
    """
    words = torch.randint(N_WORDS, (n, T), generator=generator)
    marked = torch.rand(n, T, generator=generator) < MARKED
    marked[:, 0] = True
    latest = torch.where(marked, torch.arange(T), 0).cummax(dim=1).values  # (n, T)
    return words + N_WORDS * marked, words.gather(1, latest)


TASKS = {"three places back": three_places_back, "latest marked": latest_marked}


class OrderModel(nn.Module):
    """One head of causal attention beside a direct path, with one kind of positions.

    kind: one of KINDS, else ValueError. generator: torch Generator for the parameters. rope, alibi_bias: the functions
    that "RoPE" and "ALiBi" call. spread: standard deviation of word vectors and learned positions at the start.
    Learned positions have a row for each of T_MAX places, though training moves only the first T_TRAINED. ALiBi is the
    steepest head of eight.
    """

    def __init__(self, kind, generator, rope=rope, alibi_bias=alibi_bias, spread=0.5, d_model=64):
        super().__init__()
        if kind not in KINDS:
            raise ValueError(f"kind={kind!r} is not one of {', '.join(KINDS)}")
        self.E = nn.Parameter(torch.empty(2 * N_WORDS, d_model))
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Parameter(torch.empty(d_model, d_model)) for _ in range(4))
        self.W_out = nn.Parameter(torch.empty(d_model, N_WORDS))
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=1 / math.sqrt(d_model), generator=generator)
        # Small word vectors: larger ones start with large scores by chance, and some of those outlast the training.
        nn.init.normal_(self.E, std=spread, generator=generator)

        pe, bias = torch.zeros(T_MAX, d_model), torch.zeros(T_MAX, T_MAX)
        if kind == "learned":
            pe = nn.Parameter(nn.init.normal_(pe, std=spread, generator=generator))
        if kind == "sinusoidal":
            pe = sinusoidal_positional_encoding(T_MAX, d_model)
        if kind == "ALiBi":
            bias = alibi_bias(8, T_MAX)[0]
        self.pe, self.bias = pe, bias
        self.rotate = rope if kind == "RoPE" else lambda x: x

    def forward(self, tokens):
        """tokens (B, T), integers -> logits of the answers (B, T, 16), weights (B, T, T)."""
        T = tokens.shape[1]
        # As `embed` does it, but the gradient of F.embedding adds up in a fixed order, so that runs repeat themselves.
        x = F.embedding(tokens, self.E) + self.pe[:T]  # (B, T, d_model)
        Q, K = self.rotate(x @ self.W_q), self.rotate(x @ self.W_k)  # (B, T, d_model) each
        scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])  # (B, T, T)
        scores = scores + self.bias[:T, :T]
        weights = scores.masked_fill(~causal_mask(T), -torch.inf).softmax(dim=-1)
        found = weights @ (x @ self.W_v)  # (B, T, d_model)
        return (x + found @ self.W_o) @ self.W_out, weights


@one_thread()  # with matrices this small, several threads mostly wait for each other
def train(kind, task, seed=0, steps=120, rate=3e-3, **choices):
    """Train an OrderModel on fresh sequences of T_TRAINED words: Adam, 16 sequences per step.

    kind: one of KINDS. task: one of the functions of TASKS. seed: of parameters and sequences. rate: learning rate.
    choices: what else OrderModel takes. Returns the model.
    """
    model = OrderModel(kind, torch.Generator().manual_seed(seed), **choices)
    examples = torch.Generator().manual_seed(1000 + seed)
    optimiser = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    for _ in range(steps):
        tokens, answers = task(16, T_TRAINED, examples)
        logits, _ = model(tokens)
        loss = F.cross_entropy(logits.flatten(0, 1), answers.flatten(), ignore_index=NO_ANSWER)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return model


@one_thread()
def accuracy(model, task, T=T_TRAINED):
    """Share of right answers at the last 16 places of 64 new sequences of T words, the same ones for every model.

    task: one of the functions of TASKS. T: from 19 to T_MAX. Returns a float from 0 to 1; guessing gives CHANCE.
    """
    tokens, answers = task(64, T, torch.Generator().manual_seed(T))
    with torch.no_grad():
        guesses = model(tokens)[0].argmax(dim=-1)  # (64, T)
    return (guesses == answers)[:, -16:].float().mean().item()


def weight_by_distance(model, task, T=T_TRAINED):
    """How the last place spreads its weight over the words before it, on average over 64 new sequences of T words.

    task: one of the functions of TASKS. Returns (T,): entry k is the weight k places back; they sum to 1.
    """
    tokens, _ = task(64, T, torch.Generator().manual_seed(T))
    with torch.no_grad():
        weights = model(tokens)[1]  # (64, T, T)
    return weights[:, -1].mean(dim=0).flip(0)  # (T,)
