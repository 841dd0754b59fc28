"""Lesson 10: the course's own paragraphs, searched by meaning and, for comparison, by words.

Meaning: vectors of the encoder and the cosine of their angle. Words: TF-IDF and BM25, which count words that question
and paragraph share (Robertson and Zaragoza 2009).
"""

import contextlib
import hashlib
import html
import json
import math
import os
import re
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from helpers.course import LESSONS, course_folder
from helpers.encoder import WEIGHTS, mean_pool
from helpers.questions import QUESTIONS, answering

FEWEST_WORDS = 8  # of a paragraph that is kept
OWN = "10"  # this lesson is left out: it holds the questions


def search(query, corpus, k):
    """The k rows of a corpus that point most nearly in a query's direction.

    query: (d,). corpus: (n, d), n >= k. Neither need be normalised.
    Returns indices (k,) and cosines (k,), the largest cosine first.
    """
    query = query / query.norm()
    corpus = corpus / corpus.norm(dim=1, keepdim=True)
    cosines = corpus @ query  # (n,)
    cosines, indices = cosines.topk(k)
    return indices, cosines


@dataclass(frozen=True)
class Paragraph:
    """One paragraph of a lesson: the lesson's number and file, the cell, the section's heading, and the words."""

    lesson: str
    slug: str
    cell: str
    section: str
    text: str

    @property
    def title(self):
        return next(lesson.title for lesson in LESSONS if lesson.number == self.lesson)

    @property
    def read(self):
        """What is searched: where the paragraph stands, and its words."""
        return f"{self.title}. {self.section}. {self.text}"

    @property
    def where(self):
        """Lesson and section, for readers."""
        return f"{self.lesson} {self.title} · {self.section}"

    @property
    def place(self):
        """The section: what a search is right or wrong about."""
        return self.lesson, self.section


def paragraphs(folder=None):
    """The paragraphs of every lesson but this one, hints left out, as a list of Paragraph in the course's order.

    folder: of the solutions, whose text no learner changes; the course's own unless given.
    """
    folder = folder or course_folder() / "solutions"
    found = []
    for lesson in LESSONS:
        path = folder / f"{lesson.slug}_solution.ipynb"
        if lesson.number == OWN or not path.exists():
            continue
        section, hint = lesson.title, False
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] != "markdown":
                continue
            for block in re.split(r"\n\s*\n", "".join(cell["source"])):
                if heading := re.match(r"##\s+(.+)", block):
                    section = plain(heading[1])
                begun = hint or "<details>" in block
                hint = begun and "</details>" not in block
                text = plain(block)
                if len(text.split()) >= FEWEST_WORDS and not begun and not block.startswith(("#", ">")):
                    found.append(Paragraph(lesson.number, lesson.slug, cell["id"], section, text))
    return found


def plain(markdown):
    """Markdown as words: no tags, no targets of links, no marks of emphasis, on one line."""
    text = re.sub(r"<[^>]+>|^#+\s+|^\|[-|\s]+\|$", " ", markdown, flags=re.MULTILINE)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return " ".join(re.sub(r"[|]|^- ", " ", re.sub(r"[*`]", "", text), flags=re.MULTILINE).split())


def words_of(text):
    """The words of a text in lower case, for the methods that compare words."""
    return re.findall(r"[^\W_]+", text.lower())


class WordSearch:
    """Search by shared words. texts: list of str."""

    def __init__(self, texts):
        self.counts = [Counter(words_of(text)) for text in texts]
        self.lengths = np.array([sum(counts.values()) for counts in self.counts])  # (n,)
        self.known_in = Counter(word for counts in self.counts for word in counts)

    def bm25(self, question, k1=1.5, b=0.75):
        """BM25 of every text, (n,): the higher, the more rare words are shared."""
        n, scores = len(self.counts), np.zeros(len(self.counts))
        relative = 1 - b + b * self.lengths / self.lengths.mean()
        for word in words_of(question):
            rarity = math.log(1 + (n - self.known_in[word] + 0.5) / (self.known_in[word] + 0.5))
            counts = np.array([counts[word] for counts in self.counts])
            scores += rarity * counts * (k1 + 1) / (counts + k1 * relative)
        return scores

    def tf_idf(self, question):
        """Cosine of every text's TF-IDF vector with the question's, (n,)."""
        asked = self._weights(Counter(words_of(question)))
        length = math.sqrt(sum(weight**2 for weight in asked.values())) or 1.0
        scores = []
        for counts in self.counts:
            weights = self._weights(counts)
            norm = math.sqrt(sum(weight**2 for weight in weights.values())) or 1.0
            scores.append(sum(asked[word] * weights.get(word, 0.0) for word in asked) / (norm * length))
        return np.array(scores)

    def _weights(self, counts):
        n = len(self.counts)
        rarity = {word: math.log((1 + n) / (1 + self.known_in[word])) + 1 for word in counts}
        return {word: (1 + math.log(count)) * rarity[word] for word, count in counts.items()}


def places_in_order(scores, found):
    """The sections that hold some paragraphs, best paragraph first. scores: (n,). found: n Paragraphs."""
    order = np.argsort(-np.asarray(scores), kind="stable")
    return list(dict.fromkeys(found[i].place for i in order))


# The index


@dataclass(frozen=True)
class Index:
    """The course's paragraphs and a vector of each, (n, d_model): the mean over its tokens, and that of [CLS]."""

    paragraphs: list[Paragraph]
    means: torch.Tensor
    firsts: torch.Tensor

    @property
    def texts(self):
        return [paragraph.read for paragraph in self.paragraphs]


def build_index(encoder, kept_in=None, progress=lambda batches: batches):
    """The Index of the course as it is now.

    kept_in: folder for the file of vectors, or None for the folder of the learner's progress. A vector is taken from
    there only if its paragraph's words and the weights are the same to the last letter; all others are made anew.
    progress: wraps the list of batches that are computed, as tqdm does.
    """
    found = paragraphs()
    file = _index_file(kept_in)
    known = _read(file)
    keys = [_key(paragraph.read) for paragraph in found]
    missing = {key: paragraph.read for key, paragraph in zip(keys, found, strict=True) if key not in known}
    if missing:
        made = encoder.vectors(list(missing.values()), _both, progress=progress)
        known = {key: known[key] for key in keys if key in known} | dict(zip(missing, made, strict=True))
        _write(file, known)
    means, firsts = torch.stack([known[key] for key in keys]).chunk(2, dim=1)
    return Index(found, means, firsts)


def _both(hidden, mask):
    return torch.cat([mean_pool(hidden, mask), hidden[:, 0]], dim=-1)  # (B, 2 * d_model)


def _key(text):
    return hashlib.sha256(f"{WEIGHTS[1]}\n{text}".encode()).hexdigest()


def _index_file(folder):
    from helpers.feedback import store  # where a learner's progress is kept

    return (Path(folder) if folder else store.path().parent) / ".search-index.npz"


def _read(file):
    """The vectors in a file by their key; none where there is no such file or it cannot be read."""
    try:
        with np.load(file) as stored:
            return {key: torch.from_numpy(row) for key, row in zip(stored["keys"], stored["rows"], strict=True)}
    except (OSError, ValueError, KeyError, EOFError, AttributeError):
        return {}


def _write(file, known):
    """Keep vectors in a file, all or nothing. A folder that cannot be written to is no reason to stop."""
    with contextlib.suppress(OSError):
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=".search-index.", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as part:
                np.savez(part, keys=np.array(list(known)), rows=torch.stack(list(known.values())).numpy())
            os.replace(name, file)
        except OSError:
            os.unlink(name)


# Which method finds the answer?


def ranks(encoder, index):
    """For each method, the place of the first right section for each of the thirty questions, 0 for the best.

    Returns a dict from the method's name to (30,), integers.
    """
    questions = [question for question, _, _ in QUESTIONS]
    means, firsts = encoder.vectors(questions, _both).chunk(2, dim=1)
    by_words = WordSearch(index.texts)
    unit = torch.nn.functional.normalize
    scores = {
        "mean of all tokens, cosine": unit(means) @ unit(index.means).T,
        "the same, without normalising": means @ index.means.T,
        "vector of [CLS], cosine": unit(firsts) @ unit(index.firsts).T,
        "words: BM25": np.stack([by_words.bm25(question) for question in questions]),
        "words: TF-IDF": np.stack([by_words.tf_idf(question) for question in questions]),
    }
    scores = {name: np.asarray(rows) for name, rows in scores.items()}  # (30, n) each
    scores["cosine and BM25 together"] = _together(scores["mean of all tokens, cosine"], scores["words: BM25"])
    return {
        name: np.array([_first_right(row, *asked[1:], index) for row, asked in zip(rows, QUESTIONS, strict=True)])
        for name, rows in scores.items()
    }


def _together(*scores):
    """Scores of several methods joined by their ranks alone (reciprocal rank fusion, Cormack et al. 2009)."""
    return sum(1 / (60 + (-rows).argsort(axis=1, kind="stable").argsort(axis=1)) for rows in scores)


def _first_right(scores, lessons, pattern, index):
    """The place, from 0, of the first section that answers; the number of sections if none does."""
    right, order = answering(lessons, pattern, index.paragraphs), places_in_order(scores, index.paragraphs)
    return next((place for place, section in enumerate(order) if section in right), len(order))


def chance(index, k):
    """Share of the questions that k sections drawn at random would answer, on average."""
    n = len({paragraph.place for paragraph in index.paragraphs})
    misses = []
    for _, lessons, pattern in QUESTIONS:
        right = len(answering(lessons, pattern, index.paragraphs))
        misses.append(math.comb(n - right, k) / math.comb(n, k))
    return 1 - sum(misses) / len(misses)


def standard_error(share, n):
    """Standard error of a share measured on n independent questions."""
    return math.sqrt(share * (1 - share) / n)


def sign_test(first, second):
    """How probable a difference at least as large would be if two methods were equally good, from 0 to 1.

    first, second: (n,), bool: whether each method was right. Only questions that one of the two gets right count.
    """
    wins, losses = int((first & ~second).sum()), int((second & ~first).sum())
    n = wins + losses
    tail = sum(math.comb(n, i) for i in range(max(wins, losses), n + 1)) / 2**n
    return min(1.0, 2 * tail)


# What is shown


@dataclass(frozen=True, repr=False)
class Answer:
    """The paragraphs that a search found, shown with links to their lessons."""

    question: str
    found: tuple[tuple[Paragraph, float], ...]

    def __repr__(self):
        lines = [f"{cosine:.2f}  {p.where}\n      {_start(p.text)}" for p, cosine in self.found]
        return "\n".join([self.question, *lines])

    def _repr_html_(self):
        rows = "".join(
            f'<li value="{place}"><a href="../notebooks/{p.slug}.ipynb#cell-id={p.cell}">'
            f"{html.escape(p.where)}</a> (cosine {cosine:.2f})"
            f"<br>{html.escape(_start(p.text))}</li>"
            for place, (p, cosine) in enumerate(self.found, 1)
        )
        return f"<b>{html.escape(self.question)}</b><ol>{rows}</ol>"


def _start(text, characters=150):
    return text if len(text) <= characters else text[:characters].rsplit(" ", 1)[0] + " …"


def ask(question, encoder, index, k=3, find=search):
    """The Answer of the course to a question. find: searches, as `search` does."""
    indices, cosines = find(encoder.vectors([question])[0], index.means, k)
    found = zip(indices.tolist(), cosines.tolist(), strict=True)
    return Answer(question, tuple((index.paragraphs[i], cosine) for i, cosine in found))


def search_box(encoder, index, find=search):
    """A field for a question and, beneath it, the Answer to what was typed."""
    import ipywidgets as widgets
    from IPython.display import display

    field = widgets.Text(placeholder="Ask the course, then press Enter", continuous_update=False)
    field.layout.width = "400px"
    display(field)
    shown = display(Answer("", ()), display_id=True)
    field.observe(lambda change: shown.update(ask(change["new"], encoder, index, find=find)), "value")
