"""Lesson 10: sentences in which a verb has one subject and another noun stands by, and what heads make of them.

The two nouns of a sentence differ in number, and each noun is a subject as often as it is the other one. The nouns of
the two halves are disjoint: a head chosen on one half is tried on words that it was not chosen for.
"""

from dataclasses import dataclass

import torch

from helpers.encoder import N_HEADS, mean_pool
from helpers.multi_head import split_heads

NOUNS = {
    "choosing": ("book", "lamp", "chair", "letter", "picture", "bottle", "coat", "boat"),
    "testing": ("song", "ship", "flower", "stone", "phone", "game", "car", "tree"),
}
BE = ("is", "are")
FRAMES = (  # s the subject, o the other noun, v the verb; the last two turn the order round
    "the {s} near the {o} {v} old",
    "the {s} behind the {o} {v} not new",
    "the {s} that I saw near the {o} {v} lost",
    "my {s} beside the {o} {v} here",
    "we think the {s} with the {o} {v} nice",
    "no {s} near the {o} {v} safe",
    "{v} the {s} near the {o} old ?",
    "the {s} {v} near the {o}",
    "near the {o} the {s} {v} old",
    "as for the {o} , the {s} {v} new",
)
TURNED = FRAMES[-2:]
SECOND_CLAUSES = (
    "the {o} fell and the {s} {v} old",
    "when the {o} fell the {s} {v} near",
    "he said that the {o} fell because the {s} {v} old",
)
FULL_VERBS = (("looks", "look"), ("falls", "fall"), ("moves", "move"), ("stands", "stand"))
TRANSITIVE = (("hides", "hide"), ("needs", "need"), ("likes", "like"), ("breaks", "break"))
LIMITS = {  # what is changed of the test, as arguments of `sentences`
    "is or are, as it was chosen": {},
    "two nouns of one number": {"one_number": True},
    "looks, falls, moves, stands": {"frames": (FRAMES[0].replace("old", "there"), TURNED[0]), "forms": FULL_VERBS},
    "a second clause": {"frames": SECOND_CLAUSES},
    "is for are, are for is": {"agrees": False},
    "the same, order turned round": {"frames": TURNED, "agrees": False},
    "hides, needs, likes, breaks (an object)": {"frames": ("the {s} {v} the {o}",), "forms": TRANSITIVE},
}


def agreement_share(weights, verb, subject, other):
    """How often a verb gives its subject more weight than the other noun.

    weights: (N, ..., T, T), a row for each token that looks.
    verb, subject, other: (N,), their places.
    Returns (...), floating point: the share of N sentences, per head; a tie
    does not count.
    """
    wins = []
    for w, v, s, o in zip(weights, verb, subject, other, strict=True):
        wins.append(w[..., v, s] > w[..., v, o])
    return torch.stack(wins).float().mean(dim=0)


@dataclass(frozen=True)
class Sentences:
    """Texts, and in each the places of the verb, its subject and the other noun among the tokens, (N,) each."""

    texts: tuple[str, ...]
    verb: torch.Tensor
    subject: torch.Tensor
    other: torch.Tensor
    plural: torch.Tensor  # (N,), bool: whether the subject is

    @property
    def places(self):
        return self.verb, self.subject, self.other

    def rules(self):
        """How often two rules that know no grammar find the subject: a dict from the rule to a share."""
        first = self.subject < self.other
        nearest = (self.subject - self.verb).abs() < (self.other - self.verb).abs()
        return {"the first noun": first.float().mean().item(), "the nearest noun": nearest.float().mean().item()}


def sentences(half, frames=FRAMES, forms=(BE,), one_number=False, agrees=True):
    """Every frame with every noun of a half as subject, in both numbers, beside two other nouns.

    half: "choosing" or "testing". frames: texts with {s}, {o}, {v}, every word of them one token.
    forms: pairs (singular, plural) of the verb. one_number: both nouns in the same number. agrees: whether the verb
    has the subject's number, or the other one.
    """
    nouns, texts, places, plurals = NOUNS[half], [], [], []
    for frame in frames:
        for verb in forms:
            for i, noun in enumerate(nouns):
                for step in (1, 3):
                    for plural in (False, True):
                        another = _in_number(nouns[(i + step) % len(nouns)], plural == one_number)
                        words = {"s": _in_number(noun, plural), "o": another, "v": verb[plural == agrees]}
                        texts.append(frame.format(**words))
                        places.append([1 + frame.split().index(f"{{{name}}}") for name in "vso"])  # [CLS] is 0
                        plurals.append(plural)
    return Sentences(tuple(texts), *torch.tensor(places).T, torch.tensor(plurals))


def _in_number(noun, plural):
    return f"{noun}s" if plural else noun


def all_weights(encoder, texts):
    """The attention of every head in every layer to some texts: (N, n_layers, h, T, T)."""
    _, weights = encoder.run(*encoder.encode(texts))
    return torch.stack(weights, dim=1)


def best_on_shuffled(weights, new_weights, found, new, n, draws, generator):
    """What choosing among many heads does by itself: the labels subject and other are exchanged by tossing a coin.

    weights, new_weights: (N, L, h, T, T) of two halves; found, new: their Sentences. n: sentences a choice is made on.
    Returns two means over the draws: the best head's share on its n sentences, and the same head's on the other half.
    """
    here, there = [], []
    for _ in range(draws):
        chosen = torch.randperm(len(weights), generator=generator)[:n]
        shares = agreement_share(weights[chosen], *_shuffled(found, chosen, generator))  # (L, h)
        best = divmod(shares.argmax().item(), shares.shape[1])
        again = torch.randperm(len(new_weights), generator=generator)[: 4 * n]
        here.append(shares.max())
        there.append(agreement_share(new_weights[again][(slice(None), *best)], *_shuffled(new, again, generator)))
    return torch.stack(here).mean().item(), torch.stack(there).mean().item()


def _shuffled(found, chosen, generator):
    """verb, subject, other of the chosen sentences, the last two exchanged in about half of them."""
    exchanged = torch.rand(len(chosen), generator=generator) < 0.5
    verb, subject, other = (places[chosen] for places in found.places)
    return verb, torch.where(exchanged, other, subject), torch.where(exchanged, subject, other)


# What else heads do


def row_of(encoder, text, word, layer, head):
    """The tokens of a text, and what one of its words looks at in one head.

    word: a token of the text; the first one counts. Returns tokens, a list of T str, and weights (T,).
    ValueError, with the tokens, if the word is none of them.
    """
    tokens = encoder.wordpiece.decode(encoder.encode([text])[0][0].tolist())
    if word.lower() not in tokens:
        raise ValueError(f"{word!r} is none of the tokens {' '.join(tokens)}")
    weights = all_weights(encoder, [text])[0, layer, head]  # (T, T)
    return tokens, weights[tokens.index(word.lower())]


def one_back(weights, mask):
    """Share of the tokens whose largest weight goes to the token just before.

    weights: (B, T, T). mask: (B, T), bool.
    """
    before = torch.arange(weights.shape[1]) - 1
    right = weights.argmax(dim=-1) == before  # (B, T)
    asked = mask & (before >= 0)
    return right[asked].float().mean().item()


@torch.no_grad()
def at_the_start(encoder, texts):
    """What words have to do with the first token, [CLS], layer by layer.

    Returns to_first (n_layers,), the mean weight that other tokens give it, and lengths (n_layers,), the norm of its
    value divided by the mean norm of theirs; both are means over the heads.
    """
    tokens, mask = encoder.encode(texts)
    states, weights = encoder.run(tokens, mask)
    others, to_first, lengths = mask[:, 1:], [], []
    for layer, x, w in zip(encoder.layers, states, weights, strict=False):  # the last state goes into no layer
        to_first.append(w[:, :, 1:, 0].mean(dim=1)[others].mean())
        norms = split_heads(x @ layer.W_v.T + layer.b_v, N_HEADS).norm(dim=-1).mean(dim=1)  # (B, T)
        lengths.append(norms[:, 0].mean() / norms[:, 1:][others].mean())
    return torch.stack(to_first), torch.stack(lengths)


def nearest_is_subject(x, mask, found, weights=None):
    """Share of the sentences in which the verb's nearest other token is its subject.

    x: (N, T, d), vectors. mask: (N, T), bool. found: the Sentences. weights: (N, T, T), to go by instead of the
    cosines of x with itself.
    """
    unit = torch.nn.functional.normalize(x, dim=-1)
    scores = unit @ unit.mT if weights is None else weights  # (N, T, T)
    each = torch.arange(len(x))
    scores = scores[each, found.verb].masked_fill(~mask, -torch.inf)  # (N, T)
    scores[each, found.verb] = -torch.inf
    return (scores.argmax(dim=-1) == found.subject).float().mean().item()


# Is the weight an explanation?


@torch.no_grad()
def turned_without(encoder, texts):
    """How far the vectors of some texts turn when one head is taken away.

    Returns 1 - cosine, (n_layers, h), means over the texts.
    """
    tokens, mask = encoder.encode(texts)
    states, _ = encoder.run(tokens, mask)
    whole, turned = mean_pool(states[-1], mask), torch.empty(len(encoder.layers), N_HEADS)
    for layer, head in torch.cartesian_prod(torch.arange(len(encoder.layers)), torch.arange(N_HEADS)).tolist():
        x = states[layer]
        for number in range(layer, len(encoder.layers)):
            without = head if number == layer else None
            x, _ = encoder.layers[number].run(x, N_HEADS, mask[:, None, None, :], without_head=without)
        turned[layer, head] = 1 - torch.cosine_similarity(mean_pool(x, mask), whole).mean()
    return turned


COULD_BE = tuple(frame.replace("{v}", "could be") for frame in (FRAMES[0], FRAMES[2], FRAMES[3], FRAMES[5], *TURNED))


def could_be(half):
    """Sentences whose verb has one form for both numbers; their verb's place is that of *be* after *could*."""
    found = sentences(half, tuple(frame.replace("could be", "{v}") for frame in COULD_BE), (("could", "could"),))
    texts = tuple(text.replace("could", "could be") for text in found.texts)
    moved = [places + (places > found.verb) for places in (found.subject, found.other)]
    return Sentences(texts, found.verb + 1, *moved, found.plural)


class Probe:
    """How well a linear function of the states at *could be* tells whether the subject is plural.

    The states are those behind `layer`. Fitted on the choosing half (ridge regression), asked on the testing half.
    """

    def __init__(self, encoder, layer):
        self.encoder, self.layer = encoder, layer
        self.halves = [could_be(half) for half in NOUNS]
        self.tokens = [encoder.encode(half.texts) for half in self.halves]
        self.states = [encoder.run(*tokens)[0][layer] for tokens in self.tokens]  # what goes into the layer

    @torch.no_grad()
    def accuracy(self, without_head=None, strength=0.01):
        """Share of the testing half that is told right, with every head or without one of the layer's heads."""
        layer, seen = self.encoder.layers[self.layer], []
        for half, (_, mask), x in zip(self.halves, self.tokens, self.states, strict=True):
            x, _ = layer.run(x, N_HEADS, mask[:, None, None, :], without_head=without_head)
            seen.append(x[torch.arange(len(x)), half.verb])  # (N, d_model)
        fitted_on, asked = seen
        centre, labels = fitted_on.mean(dim=0), [2.0 * half.plural - 1 for half in self.halves]
        X = fitted_on - centre
        normal = X.T @ X + strength * len(X) * torch.eye(X.shape[1])
        direction = torch.linalg.solve(normal, X.T @ labels[0])
        told = (asked - centre) @ direction
        return (told.sign() == labels[1]).float().mean().item()
