"""What a learner reads: one Report, as HTML in a notebook and as plain text everywhere else."""

import html
import re
import sys
from dataclasses import dataclass

from ..course import title_of
from .exercise import Finding
from .tables import Comparison, comparison_html, comparison_text

SYMBOLS = {"passed": "✓", "failed": "✗", "error": "✗", "todo": "○"}
WORDS = {"passed": "Right", "failed": "Not right yet", "error": "Not right yet", "todo": "Not attempted yet"}
# Okabe–Ito colours, as a line and as a faint tint. They only repeat what the symbol and the words say.
COLOURS = {"passed": "#009E73", "failed": "#D55E00", "error": "#D55E00", "todo": "#888888"}
# Darker ones carry white words, readable on light and dark pages alike.
BADGES = {"passed": "#00734F", "failed": "#B34700", "error": "#B34700", "todo": "#666666"}


@dataclass(frozen=True, repr=False)
class Report:
    """The verdict on one answer.

    status: "passed", "failed", "error" (the answer raised or ran too long) or "todo" (not attempted yet).
    headline: the cause, or what to do. mistakes: what was found to be wrong by name, each with `id` and `message`.
    points: what the headline counts. paragraphs: what else helps. comparison: a small picture, or None.
    printed: what the answer printed on the first case. footer: what happens next. standing: ", 3 of 6 in this lesson".
    """

    exercise_id: str
    name: str
    status: str
    headline: str
    mistakes: tuple[Finding, ...] = ()
    points: tuple[str, ...] = ()
    paragraphs: tuple[str, ...] = ()
    comparison: Comparison | None = None
    printed: str = ""
    footer: str = ""
    standing: str = ""

    @property
    def passed(self):
        return self.status == "passed"

    @property
    def title(self):
        """The first line: a word for the status, and which exercise."""
        return f"{SYMBOLS[self.status]} {WORDS[self.status]} · {self._exercise()}"

    def _exercise(self):
        return f"{self.exercise_id} {title_of(self.exercise_id) or self.name}{self.standing}"

    @property
    def detail(self):
        """Everything beneath the first line but the footer, as plain text."""
        return "\n".join([plain(self.headline), *self._points(), *map(plain, self.paragraphs)])

    def _points(self):
        return [f"  {number}. {plain(point)}" for number, point in enumerate(self.points, 1)]

    def __str__(self):
        lines = [self.title, self.detail]
        if self.comparison is not None:
            lines += comparison_text(self.comparison)
        if self.printed:
            lines += ["Your code printed:", *(f"  | {line}" for line in self.printed.splitlines())]
        return "\n".join([*lines, *([plain(self.footer)] if self.footer else [])])

    __repr__ = __str__

    def _repr_html_(self):
        colour = COLOURS[self.status]
        badge = f"background:{BADGES[self.status]};color:#fff;padding:0 0.4em;border-radius:3px"
        word = f'<b style="{badge}">{SYMBOLS[self.status]} {WORDS[self.status]}</b>'
        blocks = [f"<div>{word} · {html.escape(self._exercise())}</div>", f"<div>{marked(self.headline)}</div>"]
        if self.points:
            items = "".join(f"<li>{marked(point)}</li>" for point in self.points)
            blocks.append(f'<ol style="margin:0.2em 0 0.2em 1.6em;padding:0">{items}</ol>')
        blocks += [f"<div>{marked(text)}</div>" for text in self.paragraphs]
        if self.comparison is not None:
            blocks.append(folded(marked(self.comparison.title), comparison_html(self.comparison)))
        if self.printed:
            blocks.append(folded("Your code printed", f"<pre>{html.escape(self.printed)}</pre>"))
        if self.footer:
            blocks.append(f'<div style="font-size:85%;opacity:0.75">{marked(self.footer)}</div>')
        return boxed("".join(blocks), colour)


def folded(title, content):
    """A part that opens with a click."""
    style = "margin-top:0.2em;cursor:pointer"
    return f'<details style="{style}"><summary>{title}</summary>{content}</details>'


def boxed(content, colour):
    """A block with a coloured edge and a faint tint; the text keeps the page's colour, light or dark."""
    style = (
        f"border-left:4px solid {colour};background:{colour}14;padding:0.3em 0.8em;margin:0.3em 0;"
        "max-width:60em;line-height:1.4"
    )
    return f'<div style="{style}">{content}</div>'


_CODE = re.compile(r"`([^`]+)`")
_EMPHASIS = re.compile(r"(?<![\w*])\*(\w[^*<>`]*?\w|\w)\*(?![\w*])")  # *word*, not a product


def marked(text):
    """Plain text with `code` and *emphasis* as HTML; asterisks inside code stay."""
    pieces = _CODE.split(html.escape(text, quote=False))
    return "".join(
        f"<code>{piece}</code>" if i % 2 else _EMPHASIS.sub(r"<em>\1</em>", piece) for i, piece in enumerate(pieces)
    )


def plain(text):
    """The same as plain text."""
    return "".join(piece if i % 2 else _EMPHASIS.sub(r"\1", piece) for i, piece in enumerate(_CODE.split(text)))


def show(item):
    """Display something with HTML in a notebook, print its text elsewhere."""
    if in_notebook():
        from IPython.display import display

        display(item)
    else:
        print(item)


def in_notebook():
    """Whether a Jupyter kernel is running this."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")
