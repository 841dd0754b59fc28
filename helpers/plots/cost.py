"""Lesson 07: how far a word's influence reaches, and a softmax-weighted mean that is added up tile by tile."""

import numpy as np

from . import charts, core
from .describe import number

FLOOR = 1e-15  # where an influence of 0 is drawn, for 0 has no logarithm


def words_back(influences):
    """Show how strongly each word moves a layer's last output, on a logarithmic axis; 0 is drawn at its bottom.

    influences: dict from layer to (T,), the first word first, not negative.
    """
    backwards = {name: core.as_array(values)[::-1] for name, values in influences.items()}
    said = "; ".join(f"{name} {_course_of(values)}" for name, values in backwards.items())
    drawn = {name: np.maximum(values, FLOOR) for name, values in backwards.items()}
    charts.lines(range(len(next(iter(drawn.values())))), drawn, log="y", marks=False, xlabel="words back",
        ylabel="influence on the last output",
        alt=f"Influence on the last output against words back (the vertical axis logarithmic): {said}.")  # fmt: skip


def _course_of(values):
    """How influences (T,), the last word first, change from word to word."""
    reached = int(np.count_nonzero(values > 0))
    if 0 < reached < len(values) and (values[:reached] > 0).all():
        low, high = number(values[:reached].min()), number(values[:reached].max())
        near = f"between {low} and {high} up to {reached - 1} words back"
        return f"{near}, and from {reached} words back on 0, drawn at {number(FLOOR)}"
    if reached == len(values) > 2 and np.corrcoef(np.arange(reached), np.log(values))[0, 1] < -0.99:
        last = f"{number(values[-1])} at {reached - 1}"
        return f"falls by about the same factor with each word, from {number(values[0])} at 0 words back to {last}"
    return f"stays between {number(values.min())} and {number(values.max())}"


def two_tiles(scores, values, names=None):
    """Show, for one query, how a weighted mean is added up over two tiles of keys, corrected on the way.

    scores, values: (n,), n even; the first half is one tile, the second the other. names: n texts for the scores.
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    scores, values = core.as_array(scores), core.as_array(values)
    names = names or [f"{score:g}" for score in scores]
    half = len(scores) // 2
    first, second = slice(0, half), slice(half, None)
    tops = scores[first].max(), scores.max()
    exps = np.exp(scores[first] - tops[0]), np.exp(scores[second] - tops[1])
    shrink = np.exp(tops[0] - tops[1])
    sums = exps[0].sum(), exps[0].sum() * shrink + exps[1].sum()
    totals = exps[0] @ values[first], exps[0] @ values[first] * shrink + exps[1] @ values[second]
    result = totals[1] / sums[1]
    top_names = [names[int(scores[: half if i == 0 else None].argmax())] for i in range(2)]
    rows = (
        ("largest score so far", top_names[0], top_names[1]),
        ("old sum and total", "none yet", f"both × {shrink:g}"),
        ("sum of exponentials", _g(sums[0]), f"{_g(sums[0] * shrink)} + {_g(exps[1].sum())} = {_g(sums[1])}"),
        (
            "weighted total",
            _g(totals[0]),
            f"{_g(totals[0] * shrink)} + {_g(exps[1] @ values[second])} = {_g(totals[1])}",
        ),
    )
    said = "; ".join(f"{what}: {one}, then {two}" for what, one, two in rows)
    alt = (
        f"Two tiles of {half} keys each. Scores {', '.join(names)}; values {', '.join(map(_g, values))}. "
        f"After tile 1 and after tile 2, {said}. The result is {_g(totals[1])} / {_g(sums[1])} = {_g(result)}."
    )
    x_text, x_tile, wide = 0.1, (2.0, 4.75), 2.4
    with core.course_style():
        figure = Figure(figsize=(7.4, 3.1))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, 7.4), ylim=(0, 3.1))
        axes.axis("off")
        for i, part in enumerate((first, second)):
            axes.text(x_tile[i] + wide / 2, 2.95, f"tile {i + 1}", ha="center", va="center", color=core.GREY)
            side = wide / half
            for j, (name, value) in enumerate(zip(names[part], values[part], strict=True)):
                x = x_tile[i] + j * side
                axes.add_patch(Rectangle((x, 2.38), side, 0.36, facecolor="#dbeaf5", edgecolor="white"))
                axes.add_patch(Rectangle((x, 1.98), side, 0.36, facecolor="#eeeeee", edgecolor="white"))
                axes.text(x + side / 2, 2.56, name, ha="center", va="center")
                axes.text(x + side / 2, 2.16, _g(value), ha="center", va="center")
        axes.text(x_text, 2.56, "scores", va="center")
        axes.text(x_text, 2.16, "values", va="center")
        for line, (what, *cells) in enumerate(rows):
            y = 1.68 - 0.32 * line
            axes.text(x_text, y, what, va="center")
            for i, cell in enumerate(cells):
                axes.text(x_tile[i] + wide / 2, y, cell, ha="center", va="center")
        axes.hlines(0.53, x_text, 7.3, "#cccccc", linewidth=1)
        axes.text(x_text, 0.3, "result", va="center")
        axes.text(
            x_tile[1] + wide / 2,
            0.3,
            f"{_g(totals[1])} / {_g(sums[1])} = {_g(result)}",
            ha="center",
            va="center",
            color=core.ink(core.BLUE),
            fontweight="bold",
        )
        core.show(figure, alt)


def _g(number):
    return f"{number:.4g}"
