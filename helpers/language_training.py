"""Lesson 09: train a small language model, measure it in bits per character, and train it wrongly on purpose."""

import math
from typing import NamedTuple

import torch
from torch.nn import functional as F
from tqdm.auto import tqdm

from helpers.corpus import ALPHABET
from helpers.gpt import TinyGPT, next_token_loss
from helpers.measure import one_thread

BITS = 1 / math.log(2)  # bits in a nat
N_TOKENS = len(ALPHABET)
WARM_UP = 50  # steps in which the learning rate rises
REACHES = (1, 2, 3, 4, 6, 8, 16, 32, 64)
TEMPERATURES = (0.2, 0.8, 1.2)
SHOWN = (
    "nothing wrong",
    "targets not shifted",
    "targets shifted twice",
    "no causal mask",
    "batch and time mixed",
    "softmax before the loss",
)


class History(NamedTuple):
    """What happened in a training, in bits per character."""

    losses: list  # one for every step, on the text that was trained on
    steps: list  # the steps at which text held out was read
    validation: list  # what it cost then

    def loss(self, step):
        """Mean loss of the ten steps up to `step`."""
        recent = self.losses[max(0, step - 10) : step]
        return sum(recent) / len(recent)


def draw(tokens, n, length, generator):
    """Cut n windows out of a text at random. tokens: (m,). Returns (n, length), integers."""
    starts = torch.randint(len(tokens) - length + 1, (n,), generator=generator)
    return _windows(tokens, starts, length)


def _windows(tokens, starts, length):
    """Those of a text (m,) that begin at these places (n,): (n, length)."""
    return tokens[starts[:, None] + torch.arange(length)]


@one_thread()
def train(model, text, n_steps, loss=next_token_loss, seed=0, rate=1e-2, n_windows=16, checks=24, label=""):
    """Train a language model with AdamW: the rate rises for 50 steps, then falls to 0 along a cosine.

    model: a TinyGPT, or what has its max_len and forward; it is changed. text: a Text. loss: (logits, tokens) -> nats.
    seed: of the windows that are drawn, n_windows of model.max_len a step. checks: how often text held out is read.
    label: what the progress bar is called.
    Returns a History. Interrupting it (the ■ of the toolbar) is allowed: the model keeps what it has learned so far.
    """
    generator = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=rate, fused=True)
    starts = torch.linspace(0, len(text.validation) - model.max_len, 64).long()  # all over the text: parts differ
    held_out = _windows(text.validation, starts, model.max_len)  # (64, T)
    history = History([], [], [])
    bar = tqdm(range(n_steps), desc=label, leave=False)
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
                history.validation.append(bits_of(model, held_out))
                bar.set_description(f"{label}  {history.validation[-1]:.2f} bits")
    except KeyboardInterrupt:
        print(f"Stopped after {len(history.losses)} of {n_steps} steps. The model keeps what it has learned so far.")
    return history


@one_thread()
def bits_per_character(model, tokens):
    """What a model pays for each character of a text that it has at least half of its length of text before.

    model: a TinyGPT. tokens: (m,), at least model.max_len of them. Returns the mean cross-entropy in bits, a float.
    """
    T = model.max_len
    windows = tokens.unfold(0, T, T // 2)  # (n, T), each half over the one before
    costs = [bits_of(model, part, skip=T // 2 - 1) * len(part) for part in windows.split(64)]
    return sum(costs) / len(windows)


@one_thread()
def bits_by_reach(model, tokens, reaches, n=1000):
    """What a model pays for a character when it is fed exactly the k characters before it and nothing else.

    tokens: (m,). reaches: whole numbers k, from 1 to model.max_len. n: characters tried, the same for every k, spread
    evenly over the text. Returns the bits for each k, a list.
    """
    ends = torch.linspace(max(reaches), len(tokens) - 1, n).long()  # (n,)
    costs = []
    for k in reaches:
        fed = tokens[ends[:, None] + torch.arange(-k, 0)]  # (n, k)
        with torch.no_grad():
            logits = torch.cat([model(part)[:, -1] for part in fed.split(64)])  # (n, V)
        costs.append(F.cross_entropy(logits, tokens[ends]).item() * BITS)
    return costs


def bits_of(model, windows, skip=0):
    """Mean bits for each character of windows (n, T) but the first, and `skip` more, whatever loss was trained with."""
    with torch.no_grad():
        logits = model(windows)[:, skip:-1]  # (n, T - 1 - skip, V)
    return F.cross_entropy(logits.flatten(0, 1), windows[:, skip + 1 :].flatten()).item() * BITS


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


class DeafGPT(TinyGPT):
    """A TinyGPT whose blocks compute attention and then forget its result."""

    def forward(self, tokens):
        """tokens (B, T), integers -> logits of each next token (B, T, n_tokens)."""
        x = self.embedding(tokens)  # (B, T, d_model)
        for block in self.blocks:
            x = x + block.feed_forward(block.norm_2(x))
        return self.head(self.norm(x))


def not_shifted(logits, tokens):
    """Loss of guessing the character that was just read."""
    return F.cross_entropy(logits.flatten(0, 1), tokens.flatten())


def shifted_back(logits, tokens):
    """Loss of guessing the character before the one that was just read."""
    return F.cross_entropy(logits[:, 1:].flatten(0, 1), tokens[:, :-1].flatten())


def shifted_twice(logits, tokens):
    """Loss of guessing the next character but one: the text was shifted already, and the loss shifts again."""
    return next_token_loss(logits[:, :-1], tokens[:, 1:])


def axes_mixed(logits, tokens):
    """Loss of targets that were flattened time first, while the logits were flattened window first."""
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].T.flatten())


def softmax_first(logits, tokens):
    """Loss of probabilities that are taken for logits."""
    return next_token_loss(logits.softmax(dim=-1), tokens)


def rolled(logits, tokens):
    """Loss with targets from `roll`, which gives the last position of each window its first character."""
    return F.cross_entropy(logits.flatten(0, 1), tokens.roll(-1, dims=1).flatten())


BUGS = {
    "nothing wrong": (TinyGPT, next_token_loss),
    "targets not shifted": (TinyGPT, not_shifted),
    "targets shifted back": (TinyGPT, shifted_back),
    "targets shifted twice": (TinyGPT, shifted_twice),
    "no causal mask": (PeekingGPT, next_token_loss),
    "attention's result unused": (DeafGPT, next_token_loss),
    "batch and time mixed": (TinyGPT, axes_mixed),
    "softmax before the loss": (TinyGPT, softmax_first),
    "targets from torch.roll": (TinyGPT, rolled),
}


def train_with_bug(name, text, n_steps=200, seed=0, n_windows=16, rate=1e-2):
    """Train a model of one block, 32 wide, with one of BUGS, then read the text held out with the mask in place.

    text: a Text. seed: of the parameters and the windows. rate: the highest learning rate. Returns a History and the
    honest bits per character, a float.
    """
    kind, loss = BUGS[name]
    model = new_model(kind, seed, d_model=32, n_heads=2, n_layers=1, max_len=32)
    history = train(model, text, n_steps, loss, seed, rate=rate, n_windows=n_windows, checks=1, label=name)
    if kind is PeekingGPT:
        masked = TinyGPT(N_TOKENS, 32, 2, 1, 32)
        masked.load_state_dict(model.state_dict())
        model = masked
    return history, bits_per_character(model, text.validation[:8000])


def new_model(kind=TinyGPT, seed=0, d_model=64, n_heads=4, n_layers=2, max_len=64):
    """A model of class `kind` whose parameters depend on the seed alone; the global random state stays as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return kind(N_TOKENS, d_model, n_heads, n_layers, max_len)
