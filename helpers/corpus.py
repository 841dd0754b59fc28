"""Lesson 09: a text that every Python carries, and what counting its letters predicts."""

import re
import textwrap
from typing import NamedTuple

import numpy as np
import torch

ALPHABET = "\n" + "".join(map(chr, range(32, 127)))
HELD_OUT = 4_000, 10  # one block of so many characters in so many is held out
_NUMBERS = {character: number for number, character in enumerate(ALPHABET)}
_PLAIN = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-"})


class Text(NamedTuple):
    """A text as tokens, in two parts that share no paragraph."""

    train: torch.Tensor  # (n,), integers below len(ALPHABET)
    validation: torch.Tensor  # (m,)


def python_documentation(topics=None):
    """The documentation that Python carries for its `help`, without tables and with each paragraph once.

    topics: dict from name to text, or None for those of this Python. The text differs from version to version.
    ImportError, with what to do, where a Python comes without it.
    """
    if topics is None:
        try:
            from pydoc_data.topics import topics
        except ImportError:
            raise ImportError(
                "This Python comes without its documentation (pydoc_data.topics), the text of this lesson:"
                " one from python.org, conda-forge or your system's full Python package has it."
            ) from None
    paragraphs = {}
    for name in sorted(topics):
        for paragraph in re.split(r"\n\s*\n", topics[name]):
            words = " ".join(paragraph.split())
            if words and not re.search(r"[-=+*]{4}", words):
                paragraphs.setdefault(words, paragraph.strip("\n"))
    return "\n\n".join(paragraphs.values())


def encode(text):
    """Tokens of a text, one for each character; what is not in ALPHABET becomes "?". Returns (len(text),), int64."""
    return torch.tensor([_NUMBERS.get(character, _NUMBERS["?"]) for character in text.translate(_PLAIN)])


def decode(tokens):
    """Text of tokens (T,), the inverse of `encode`."""
    return "".join(ALPHABET[token] for token in tokens)


def folded(text, width=78):
    """A text whose lines are no longer than `width`, broken at spaces as far as there are some."""
    lines = (textwrap.wrap(line, width, replace_whitespace=False) or [""] for line in text.split("\n"))
    return "\n".join(line for part in lines for line in part)


def split(text):
    """Hold out every tenth block of 4,000 characters. text: str. Returns a Text."""
    length, every = HELD_OUT
    tokens = encode(text)
    blocks = [tokens[start : start + length] for start in range(0, len(tokens), length)]
    validation = blocks[every - 1 :: every] or blocks[-1:]
    train = [block for i, block in enumerate(blocks) if i % every != every - 1]
    return Text(torch.cat(train), torch.cat(validation))


class LetterCounts:
    """Predicts each character from the `order` before it by counting, smoothed as Witten and Bell did (1991).

    A context that was seen n times with k different followers gives its own counts the weight n / (n + k) and asks
    the context one shorter for the rest; beneath the shortest, all characters are equally likely.
    """

    def __init__(self, tokens, order):
        """tokens: (m,), the text to count in. order: how many characters a context has, 0 to 8."""
        self.order = order
        self._tables = []  # for each length of context: contexts, seen, followers, pairs, times
        for length in range(order + 1):
            contexts, pairs = _contexts(tokens, length), _contexts(tokens, length + 1)
            contexts = contexts[: len(pairs)]
            seen = np.unique(contexts, return_counts=True)
            times = np.unique(pairs, return_counts=True)
            followers = np.unique(times[0] // len(ALPHABET), return_counts=True)
            self._tables.append((seen, followers, times))

    def bits_per_character(self, tokens):
        """Bits that each character of tokens (m,) costs on average, the first `order` left out; a float."""
        n = len(tokens) - self.order
        probability = np.full(n, 1 / len(ALPHABET))
        for length, (seen, followers, times) in enumerate(self._tables):
            pairs = _contexts(tokens, length + 1)[self.order - length :]  # (n,)
            contexts = pairs // len(ALPHABET)
            n_seen, n_followers, n_times = _times(seen, contexts), _times(followers, contexts), _times(times, pairs)
            total = n_seen + n_followers
            probability = np.where(
                total > 0, (n_times + n_followers * probability) / np.maximum(total, 1), probability
            )
        return float(-np.log2(probability).mean())


def _contexts(tokens, length):
    """The number that stands for each run of `length` tokens: (m,) -> (m - length + 1,), or (m + 1,) zeros for 0."""
    tokens = np.asarray(tokens)
    n = len(tokens) - length + 1
    numbers = np.zeros(n, dtype=np.int64)
    for i in range(length):
        numbers = numbers * len(ALPHABET) + tokens[i : i + n]
    return numbers


def _times(table, wanted):
    """How often each of `wanted` occurs in a table of (sorted numbers, times); 0 where it does not."""
    numbers, times = table
    places = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)
    return np.where(numbers[places] == wanted, times[places], 0)


def known_words(sample, text):
    """Share of the words of a sample that occur in a text; words are runs of letters. Both are strings."""
    words = re.findall("[a-z]+", sample.lower())
    known = set(re.findall("[a-z]+", text.lower()))
    return sum(word in known for word in words) / max(1, len(words))
