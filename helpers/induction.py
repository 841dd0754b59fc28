"""Lesson 09: sequences that repeat themselves, and the two heads that learn to notice it."""

import math
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F
from tqdm.auto import tqdm

from helpers.masks import causal_mask
from helpers.measure import one_thread
from helpers.multi_head import MultiHeadAttention
from helpers.positions import rope

N_WORDS = 32
LENGTH = 40
SHORTEST, LONGEST = 8, 20  # words of the block that is repeated
PARTS = ("queries", "keys", "values")


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
    """Layers of one head each, with skip connections, and nothing else between the embedding and the logits."""

    def __init__(self, n_layers, d_model=64):
        super().__init__()
        self.embedding = nn.Embedding(N_WORDS, d_model)
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(n_layers))
        self.layers = nn.ModuleList(MultiHeadAttention(d_model, 1) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, N_WORDS, bias=False)

    def forward(self, tokens, blind=None):
        """tokens (B, T) -> logits (B, T, N_WORDS), weights (n_layers, B, T, T).

        blind: one of PARTS, which every layer but the first then makes of the bare embeddings, as if
        no layer before it had found anything; None for none.
        """
        x = words = self.embedding(tokens)  # (B, T, d_model)
        all_weights = []
        for norm, layer in zip(self.norms, self.layers, strict=True):
            seen = {part: norm(words if part == blind else x) for part in PARTS}
            Q, K, V = layer.W_q(seen["queries"]), layer.W_k(seen["keys"]), layer.W_v(seen["values"])
            scores = rope(Q) @ rope(K).transpose(-2, -1) / math.sqrt(Q.shape[-1])  # (B, T, T)
            weights = scores.masked_fill(~causal_mask(tokens.shape[1]), -torch.inf).softmax(dim=-1)
            x = x + layer.W_o(weights @ V)
            all_weights.append(weights)
        return self.head(self.norm(x)), torch.stack(all_weights)


class Curve(NamedTuple):
    """What the words of the second time cost during a training, in bits."""

    steps: list
    bits: list


@one_thread()
def train(n_layers, n_steps=300, period=None, seed=0, rate=3e-3):
    """Train an AttentionOnly to guess the next word of `repeated` sequences: Adam, 32 sequences a step.

    period: as for `repeated`. seed: of parameters and sequences. rate: learning rate. Returns the model and a
    Curve.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        model = AttentionOnly(n_layers)
    examples = torch.Generator().manual_seed(1000 + seed)
    optimiser = torch.optim.Adam(model.parameters(), lr=rate, fused=True)
    curve = Curve([], [])
    bar = tqdm(range(n_steps), desc=f"{n_layers} layers" if n_layers > 1 else "1 layer", leave=False)
    try:
        for step in bar:
            if step % 10 == 0:
                curve.steps.append(step)
                curve.bits.append(second_time(model, period=period, n=64))
            tokens, _ = repeated(32, examples, period)
            logits, _ = model(tokens)
            loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    except KeyboardInterrupt:
        print(f"Stopped after {step} of {n_steps} steps. The model keeps what it has learned so far.")
    return model, curve


def second_time(model, blind=None, period=None, n=256):
    """What a word costs that stands in the sequence for at least the second time, where it can be foreseen.

    model: an AttentionOnly. blind: see its forward. period, n: of the sequences tried, as for `repeated`.
    Returns the mean cross-entropy in bits of all words after the first of the repetition, a float.
    """
    tokens, periods = repeated(n, torch.Generator().manual_seed(99), period)
    with torch.no_grad():
        logits, _ = model(tokens, blind)
    costs = F.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:], reduction="none")  # (n, LENGTH - 1)
    foreseen = torch.arange(1, LENGTH) > periods[:, None]  # (n, LENGTH - 1)
    return costs[foreseen].mean().item() / math.log(2)


def head_scores(model, period=None):
    """Where each layer looks: mean weight one place back, and mean weight on the word that followed last time.

    model: an AttentionOnly. Returns (n_layers,) each; the second is taken over places in the repetition only.
    """
    tokens, periods = repeated(256, torch.Generator().manual_seed(99), period)
    with torch.no_grad():
        _, weights = model(tokens)  # (n_layers, n, T, T)
    places = torch.arange(LENGTH)
    followed = places - periods[:, None] + 1  # (n, T): where the same word stood last time, and one on
    repeats = places >= periods[:, None]  # (n, T)
    index = followed.clamp(min=0).expand(len(weights), -1, -1)[..., None]  # (n_layers, n, T, 1)
    matched = weights.gather(-1, index)[..., 0][:, repeats]
    return weights.diagonal(-1, -2, -1).mean(dim=(1, 2)), matched.mean(dim=1)
