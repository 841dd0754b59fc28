"""Lesson 08: what a window and what linear attention lose, on two tasks that small models learn in seconds."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from helpers.measure import one_thread
from helpers.window import window_mask

N_WORDS = 16
T, FIRST = 32, 8  # places, and the first of them, where a mark may stand
NO_ANSWER = -100  # what cross_entropy leaves out

# A window: one word is marked, and every later place is asked for it --------------------------------------------------


def one_marked_word(n, generator):
    """Sequences of 32 words, one of them marked, in which the answer from there on is the marked word.

    n: number of sequences. generator: torch Generator. Returns tokens (n, 32), 16 more for the marked word; answers
    (n, 32), below 16, NO_ANSWER before the mark; and places (n,) of the marks. All are integers.
    """
    words = torch.randint(N_WORDS, (n, T), generator=generator)
    places = torch.randint(FIRST, (n,), generator=generator)
    marked = torch.arange(T) == places[:, None]  # (n, T)
    word = words.gather(1, places[:, None])  # (n, 1)
    answers = torch.where(torch.arange(T) >= places[:, None], word, NO_ANSWER)
    return words + N_WORDS * marked, answers, places


class WindowStack(nn.Module):
    """n_layers of one-head attention through a window, each added to what came before; no positions.

    generator: torch Generator for the parameters.
    """

    def __init__(self, n_layers, window, generator, d_model=64):
        super().__init__()
        self.E = nn.Parameter(torch.empty(2 * N_WORDS, d_model))
        self.layers = nn.ParameterList(torch.empty(4, d_model, d_model) for _ in range(n_layers))
        self.W_out = nn.Parameter(torch.empty(d_model, N_WORDS))
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=1 / math.sqrt(d_model), generator=generator)
        self.register_buffer("mask", window_mask(T, window))

    def forward(self, tokens):
        """tokens (n, 32), integers -> logits of the answers (n, 32, 16)."""
        x = F.embedding(tokens, self.E)  # (n, T, d_model)
        for W_q, W_k, W_v, W_o in self.layers:
            scores = (x @ W_q) @ (x @ W_k).mT / math.sqrt(x.shape[-1])  # (n, T, T)
            weights = scores.masked_fill(~self.mask, -torch.inf).softmax(dim=-1)
            x = x + weights @ (x @ W_v) @ W_o
        return x @ self.W_out


@one_thread()
def train_window(n_layers, window=8, seed=0, steps=250, rate=3e-3):
    """Train a WindowStack on `one_marked_word`: Adam, 32 new sequences a step. Returns the model."""
    generator = torch.Generator().manual_seed(seed)
    model = WindowStack(n_layers, window, generator)
    optimiser = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    for _ in range(steps):
        tokens, answers, _ = one_marked_word(32, generator)
        loss = F.cross_entropy(model(tokens).flatten(0, 1), answers.flatten(), ignore_index=NO_ANSWER)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return model


@one_thread()
def accuracy_by_distance(model, n=2000):
    """Share of right answers of a WindowStack at each number of places after the mark, on n new sequences.

    Returns (32,), entry k for k places after the mark; guessing gives 1/16.
    """
    tokens, answers, places = one_marked_word(n, torch.Generator().manual_seed(999))
    with torch.no_grad():
        right = model(tokens).argmax(dim=-1) == answers  # (n, T)
    distances = torch.arange(T) - places[:, None]  # (n, T)
    return torch.stack([right[distances == k].float().mean() for k in range(T)])


# Linear attention: n pairs of key and value, and one key asked for ----------------------------------------------------

N_KEYS = 64


def pairs_to_recall(n, n_pairs, generator):
    """Sequences of pairs, and which of their keys is asked for.

    n: number of sequences. n_pairs: at most 64. generator: torch Generator. Returns keys (n, n_pairs), all different,
    below 64; values (n, n_pairs), below 16; and asked (n,), the place of the pair that is asked for. All are integers.
    """
    keys = torch.rand(n, N_KEYS, generator=generator).argsort(dim=-1)[:, :n_pairs]
    values = torch.randint(N_WORDS, (n, n_pairs), generator=generator)
    asked = torch.randint(n_pairs, (n,), generator=generator)
    return keys, values, asked


def softmax_attention(Q, K, V):
    return (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(dim=-1) @ V


class Recall(nn.Module):
    """One attention that looks a key up among pairs; attend(Q, K, V) is the kind of attention.

    d_k: width of queries and keys. generator: torch Generator for the parameters.
    """

    def __init__(self, attend, d_k, generator, d_v=32):
        super().__init__()
        self.attend = attend
        self.queries = nn.Parameter(torch.empty(N_KEYS, d_k))
        self.keys = nn.Parameter(torch.empty(N_KEYS, d_k))
        self.values = nn.Parameter(torch.empty(N_WORDS, d_v))
        self.W_out = nn.Parameter(torch.empty(d_v, N_WORDS))
        for parameter in self.parameters():
            nn.init.normal_(parameter, generator=generator)

    def forward(self, keys, values, asked):
        """As `pairs_to_recall` gives them -> logits of the value that belongs to the key asked for (n, 16)."""
        query = F.embedding(keys.gather(1, asked[:, None]), self.queries)  # (n, 1, d_k)
        out = self.attend(query, F.embedding(keys, self.keys), F.embedding(values, self.values))  # (n, 1, d_v)
        return out.squeeze(1) @ self.W_out


@one_thread()
def train_recall(attend, d_k, n_pairs, seed=0, steps=300, rate=0.06):
    """Train a Recall on fresh sequences: Adam, 64 a step. Returns the share of right answers on 1,000 new ones."""
    generator = torch.Generator().manual_seed(seed)
    model = Recall(attend, d_k, generator)
    optimiser = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    for _ in range(steps):
        keys, values, asked = pairs_to_recall(64, n_pairs, generator)
        answers = values.gather(1, asked[:, None]).squeeze(1)
        loss = F.cross_entropy(model(keys, values, asked), answers)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    keys, values, asked = pairs_to_recall(1000, n_pairs, torch.Generator().manual_seed(999))
    with torch.no_grad():
        guesses = model(keys, values, asked).argmax(dim=-1)
    return (guesses == values.gather(1, asked[:, None]).squeeze(1)).float().mean().item()
