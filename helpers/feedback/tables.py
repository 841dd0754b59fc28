"""A small picture in numbers: expected beside yours, with indices, and the entries that are furthest off outlined."""

from dataclasses import dataclass

import numpy as np

from .values import as_array

DIGITS = range(2, 9)  # decimals that are tried until expected and yours differ
_ROW = '<tr style="background:none">'  # JupyterLab stripes the rows of tables


@dataclass(frozen=True, eq=False)
class Comparison:
    """Expected and returned, for one 2-D slice of a result. title: which slice, in which case."""

    title: str
    expected: np.ndarray
    got: np.ndarray


def comparison_text(comparison):
    """The two tables as lines of text."""
    lines, digits = [f"{comparison.title}:"], _digits(comparison)
    for name, table in _both(comparison):
        cells = [[_number(x, digits) for x in row] for row in table]
        width = max(len(cell) for row in cells for cell in row)
        lines.append(f"  {name}")
        lines += ["    " + "  ".join(cell.rjust(width) for cell in row) for row in cells]
    return lines


def comparison_html(comparison):
    """The two tables side by side, the entries that are furthest off outlined in yours."""
    digits, off = _digits(comparison), _furthest_off(comparison)
    blocks = [_table(name, table, digits, off if name == "yours" else None) for name, table in _both(comparison)]
    return f'<div style="display:flex;flex-wrap:wrap;gap:0.6em 1.5em;overflow-x:auto">{"".join(blocks)}</div>'


def _both(comparison):
    return (("expected", as_array(comparison.expected)), ("yours", as_array(comparison.got)))


def _digits(comparison):
    """Decimals with which the entry that is furthest off reads differently in the two tables."""
    off = np.argwhere(_furthest_off(comparison))
    if not len(off):
        return DIGITS[0]
    where = tuple(off[0])
    e, g = (as_array(x)[where] for x in (comparison.expected, comparison.got))
    return next((digits for digits in DIGITS if _number(e, digits) != _number(g, digits)), DIGITS[-1])


def _furthest_off(comparison):
    """Where yours is wrong by more than half of the largest error, or is not finite."""
    expected, got = (as_array(x).astype(float) for x in (comparison.expected, comparison.got))
    with np.errstate(all="ignore"):
        distance = np.where((expected == got) | (np.isnan(expected) & np.isnan(got)), 0.0, np.abs(got - expected))
    largest = distance[np.isfinite(distance)].max(initial=0.0)
    return (~np.isfinite(distance) | (distance > 0.5 * largest)) & (distance != 0)


def _number(x, digits):
    if isinstance(x, (bool, np.bool_)):
        return "True" if x else "False"
    if isinstance(x, np.integer):
        return str(x).replace("-", "−")
    text = f"{x:.0f}" if np.isfinite(x) and abs(x) >= 1000 else f"{x:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text.replace("-", "−")


def _table(name, table, digits, off):
    finite = np.abs(table[np.isfinite(table)].astype(float))
    top = max(finite.max(initial=0.0), 1e-12)
    index = "padding:1px 5px;text-align:right;font-weight:normal;opacity:0.6"
    head = "".join(f'<th style="{index}">{j}</th>' for j in range(table.shape[1]))
    rows = [f"{_ROW}<th></th>{head}</tr>"]
    for i, row in enumerate(table):
        cells = [_cell(x, digits, top, off is not None and off[i, j]) for j, x in enumerate(row)]
        rows.append(f'{_ROW}<th style="{index}">{i}</th>{"".join(cells)}</tr>')
    caption = f'<caption style="caption-side:top;text-align:left;color:inherit">{name}</caption>'
    return f'<table style="border-collapse:collapse;font-size:90%;margin:0 0 0.4em">{caption}{"".join(rows)}</table>'


def _cell(x, digits, top, off):
    strength = min(abs(float(x)) / top, 1.0) if np.isfinite(x) else 1.0
    tint = (86, 180, 233) if not x < 0 else (230, 159, 0)
    red, green, blue = (round(255 - strength * 0.75 * (255 - c)) for c in tint)
    edge = "outline:2px solid #D55E00;outline-offset:-2px;" if off else ""
    style = f"background:rgb({red},{green},{blue});color:#111;padding:1px 5px;text-align:right;{edge}"
    return f'<td style="{style}">{_number(x, digits)}</td>'
