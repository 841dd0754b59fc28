"""What a learner reads: one Report, as HTML in a notebook and as plain text everywhere else."""

import html
import re
from dataclasses import dataclass

import numpy as np

from .exercise import Finding
from .values import as_array

SYMBOLS = {"passed": "✓", "failed": "✗", "error": "✗", "todo": "○"}
# Okabe–Ito colours. They only repeat what the symbol and the words say.
COLOURS = {"passed": "#009E73", "failed": "#D55E00", "error": "#D55E00", "todo": "#888888"}


@dataclass(frozen=True, eq=False)
class Comparison:
    """A small picture in numbers: expected, yours, difference, for one 2-D slice of a result."""

    title: str
    expected: np.ndarray
    got: np.ndarray


@dataclass(frozen=True, repr=False)
class Report:
    """The verdict on one answer.

    status: "passed", "failed", "error" (the answer raised or ran too long) or "todo" (not attempted yet).
    mistakes: what was found to be wrong by name, each with `id` and `message`.
    headline: the first sentence. points: what the headline counts. paragraphs: what else helps.
    printed: what the answer printed on the first case. comparison: a small picture, or None. footer: what happens next.
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

    @property
    def passed(self):
        return self.status == "passed"

    @property
    def detail(self):
        """Everything beneath the headline, as plain text."""
        return "\n".join([*self._points(), *map(plain, self.paragraphs)])

    def _points(self):
        return [f"  {number}. {plain(point)}" for number, point in enumerate(self.points, 1)]

    def __str__(self):
        lines = [f"{SYMBOLS[self.status]} {self.exercise_id} {self.name}: {plain(self.headline)}", *self._points()]
        lines += [plain(paragraph) for paragraph in self.paragraphs]
        if self.comparison is not None:
            lines += _comparison_text(self.comparison)
        if self.printed:
            lines += ["Your code printed:", *(f"  | {line}" for line in self.printed.splitlines())]
        return "\n".join([*lines, *([plain(self.footer)] if self.footer else [])])

    __repr__ = __str__

    def _repr_html_(self):
        title = f"<b>{SYMBOLS[self.status]} {self.exercise_id} <code>{html.escape(self.name)}</code></b>"
        blocks = [f"<div>{title}: {marked(self.headline)}</div>"]
        if self.points:
            items = "".join(f"<li>{marked(point)}</li>" for point in self.points)
            blocks.append(f'<ol style="margin:0.3em 0 0.3em 1.6em;padding:0">{items}</ol>')
        blocks += [f'<div style="margin-top:0.4em">{marked(text)}</div>' for text in self.paragraphs]
        if self.comparison is not None:
            blocks.append(_comparison_html(self.comparison))
        if self.printed:
            blocks.append(
                f'<div style="margin-top:0.4em">Your code printed:</div><pre>{html.escape(self.printed)}</pre>'
            )
        if self.footer:
            blocks.append(f'<div style="margin-top:0.4em"><i>{marked(self.footer)}</i></div>')
        return boxed("".join(blocks), COLOURS[self.status])


def boxed(content, colour):
    """A block with a coloured edge; text and background stay those of the page, light or dark."""
    style = f"border-left:4px solid {colour};padding:0.3em 0.8em;margin:0.3em 0;max-width:72em;line-height:1.45"
    return f'<div style="{style}">{content}</div>'


_EMPHASIS = r"(?<![\w*])\*(\w[^*<>]*?\w|\w)\*(?![\w*])"  # *word*, not a product


def marked(text):
    """Plain text with `code` and *emphasis* as HTML."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
    return re.sub(_EMPHASIS, r"<em>\1</em>", text)


def plain(text):
    return re.sub(_EMPHASIS, r"\1", re.sub(r"`([^`]+)`", r"\1", text))


def show(item):
    """Display something with HTML in a notebook, print its text elsewhere."""
    if in_notebook():
        from IPython.display import display

        display(item)
    else:
        print(item)


def in_notebook():
    """Whether a Jupyter kernel is running this."""
    import sys

    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


def _tables(comparison):
    expected, got = as_array(comparison.expected), as_array(comparison.got)
    tables = [("expected", expected), ("yours", got)]
    if expected.dtype.kind != "b":
        with np.errstate(all="ignore"):
            tables.append(("yours − expected", got.astype(float) - expected.astype(float)))
    return tables


def _number(x):
    if isinstance(x, (bool, np.bool_)):
        return "True" if x else "·"
    text = f"{x:.0f}" if np.isfinite(x) and abs(x) >= 1000 else f"{x:.2f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def _comparison_text(comparison):
    lines = [f"{comparison.title}:"]
    for name, table in _tables(comparison)[:2]:
        cells = [[_number(x) for x in row] for row in table]
        width = max(len(cell) for row in cells for cell in row)
        lines.append(f"  {name}")
        lines += ["    " + "  ".join(cell.rjust(width) for cell in row) for row in cells]
    return lines


def _comparison_html(comparison):
    expected, got = (as_array(x).astype(float) for x in (comparison.expected, comparison.got))
    with np.errstate(all="ignore"):
        distance = np.where(expected == got, 0.0, np.abs(got - expected))
    # Where most entries are off, only the worst are outlined.
    off = ~np.isfinite(got) & np.isfinite(expected) | (
        distance > 0.5 * distance[np.isfinite(distance)].max(initial=0.0)
    )
    blocks = [_table_html(name, table, off if name == "yours" else None) for name, table in _tables(comparison)]
    title = f'<div style="margin-top:0.5em">{marked(comparison.title)}:</div>'
    return f'{title}<div style="display:flex;flex-wrap:wrap;gap:1.5em;overflow-x:auto">{"".join(blocks)}</div>'


def _table_html(name, table, off):
    finite = np.abs(table[np.isfinite(table)].astype(float))
    top = max(finite.max(initial=0.0), 1e-12)
    rows = []
    for i, row in enumerate(table):
        cells = []
        for j, x in enumerate(row):
            strength = min(abs(float(x)) / top, 1.0) if np.isfinite(x) else 1.0
            tint = (86, 180, 233) if not x < 0 else (230, 159, 0)
            red, green, blue = (round(255 - strength * 0.75 * (255 - c)) for c in tint)
            edge = "outline:2px solid #D55E00;outline-offset:-2px;" if off is not None and off[i, j] else ""
            style = f"background:rgb({red},{green},{blue});color:#111;padding:1px 5px;text-align:right;{edge}"
            cells.append(f'<td style="{style}">{_number(x)}</td>')
        rows.append(f"<tr>{''.join(cells)}</tr>")
    caption = f'<caption style="caption-side:top;text-align:left;color:inherit">{name}</caption>'
    return f'<table style="border-collapse:collapse;font-size:90%">{caption}{"".join(rows)}</table>'
