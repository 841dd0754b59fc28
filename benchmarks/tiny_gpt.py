"""Lesson 09's training: what a step costs, and what a full training reaches on several seeds, and with small faults.

python -m benchmarks.tiny_gpt      prints rows as JSON, in some ten minutes; benchmarks/run.py starts it with one thread
"""

import dataclasses
import json
import sys
from types import MethodType

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.table import Row, at_most, readable_seconds
from helpers import corpus, measure
from helpers import language_training as training
from helpers.gpt import next_token_loss
from helpers.masks import causal_mask

SEEDS = range(5)
N_STEPS = 1200


class FromParts(nn.Module):
    """A model of the same size from PyTorch's own layers, without positions."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(96, 64)
        layer = nn.TransformerEncoderLayer(64, 4, 256, 0.0, F.gelu, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(64), enable_nested_tensor=False)
        self.head = nn.Linear(64, 96, bias=False)

    def forward(self, tokens):
        """tokens (B, T) -> logits (B, T, 96)."""
        return self.head(self.layers(self.embedding(tokens), mask=~causal_mask(tokens.shape[1])))


def step(model, tokens):
    """One forward and one backward pass."""
    with torch.enable_grad():
        next_token_loss(model(tokens), tokens).backward()


def step_row(rounds=9):
    """Time of a step of ours against PyTorch's layers."""
    torch.manual_seed(0)
    tokens = torch.randint(96, (16, 64))
    models = {"ours": (training.new_model(), tokens), "theirs": (FromParts(), tokens)}
    times = {name: [] for name in models}
    for _ in range(rounds):
        for name, inputs in models.items():
            times[name].append(measure.median_seconds(step, *inputs))
    ratio = float(np.median(np.array(times["ours"]) / np.array(times["theirs"])))
    seconds = [readable_seconds(float(np.median(times[name]))) for name in times]
    what = "16 × 64 characters, forward and backward"
    return Row("Tiny GPT, time of a step", what, *seconds, ratio, **at_most(2, ratio))


def no_last_norm(model):
    model.norm = nn.Identity()


def one_norm_for_both(model):
    for block in model.blocks:
        block.norm_2 = block.norm_1


def skips_from_the_normed(model):
    def forward(block, x, mask=None):
        x = block.norm_1(x)
        x = block.norm_2(x + block.attention(x, mask)[0])
        return x + block.feed_forward(x)

    for block in model.blocks:
        block.forward = MethodType(forward, block)


def reached(text, seed=0, fault=None, n_steps=N_STEPS):
    """Bits per character of text held out after a training."""
    model = training.new_model(seed=seed)
    if fault:
        fault(model)
    training.train(model, text, n_steps, seed=seed)
    return training.bits_per_character(model, text.validation)


def rows():
    """All rows."""
    text = corpus.split(corpus.python_documentation())
    made = [step_row()]
    counts = {k: corpus.LetterCounts(text.train, k).bits_per_character(text.validation) for k in (2, 3, 4)}
    bits = [reached(text, seed) for seed in SEEDS]
    for k, level in counts.items():
        what = f"worst of {len(bits)} trainings, against a table of the last {k}"
        ratio = max(bits) / level
        goal = at_most(1, ratio) if k < 4 else {}
        made.append(Row("Tiny GPT, bits per character", what, f"{max(bits):.2f}", f"{level:.2f}", ratio, **goal))
    for fault in (no_last_norm, one_norm_for_both, skips_from_the_normed):
        faulty = reached(text, fault=fault)
        what = f"with a fault that training hides: {fault.__name__.replace('_', ' ')}"
        values = f"{faulty:.2f}", f"{bits[0]:.2f}", faulty / bits[0]
        hidden = {"goal": "within 0.1 bits", "met": abs(faulty - bits[0]) <= 0.1}
        made.append(Row("Tiny GPT, bits per character", what, *values, **hidden))
    return made


if __name__ == "__main__":
    json.dump([dataclasses.asdict(row) for row in rows()], sys.stdout)
