"""Lesson 10's pictures: parts of a model, who looks at whom, the heads of all layers, and shares with their errors.

Each derives its alternative text from the numbers that it draws.
"""

import numpy as np

from .core import BLUE, VERMILION, as_array, course_style, ink, new_figure, readable_on, show
from .matrices import heatmap


def parts(counts, title=""):
    """Show how many numbers the parts of a model hold, as one bar each. counts: dict from name to an integer."""
    total = sum(counts.values())
    shares = {name: count / total for name, count in counts.items()}
    with course_style():
        figure, axes = new_figure(7.0, 0.42 * len(counts) + 0.9)
        _level_bars(axes, [count / 1e6 for count in counts.values()], list(counts))
        for row, (name, count) in enumerate(counts.items()):
            said = f"{count / 1e6:.1f} million, {shares[name]:.0%}"
            axes.text(count / 1e6 + 0.15, row, said, va="center", fontsize=9)
        axes.set(xlim=(0, 1.35 * max(counts.values()) / 1e6), xlabel="millions of numbers", title=title)
        said = ", ".join(f"{name} {share:.0%}" for name, share in shares.items())
        show(figure, f"Bars: of {total:,} numbers, {said}.")


def attention(weights, tokens, title=""):
    """Show whom the words of a text look at. weights: (T, T), rows sum to 1. tokens: T names, a mark first and last."""
    weights = as_array(weights)[1:-1]  # (T - 2, T): the two marks are looked at, but no words
    words = tokens[1:-1]
    best = [(word, tokens[row.argmax()], row.max()) for word, row in zip(words, weights, strict=True)]
    said = ", ".join(f"{word} to {token} {weight:.2f}" for word, token, weight in best)
    heatmap(weights, rows=words, columns=tokens, title=title, alt=f"The largest weight of each word goes from {said}.")


def rows(panels, tokens, title=""):
    """Show one row of weights for each of some sentences of T tokens, as coloured cells.

    panels: dict from name to (T,) weights. tokens: T names, those of the first sentence.
    """
    matrix = np.stack([as_array(row) for row in panels.values()])
    said = "; ".join(
        f"{name}: " + ", ".join(f"{tokens[j]} {row[j]:.2f}" for j in np.argsort(-row)[:2])
        for name, row in zip(panels, matrix, strict=True)
    )
    labels = {"row_label": "who looks", "column_label": "at whom"}
    heatmap(matrix, rows=list(panels), columns=tokens, title=title, alt=f"The two largest weights. {said}.", **labels)


def heads(shares, title="", marked=None):
    """Show a share for every head of every layer, on a scale from 0 over one half, white, to 1.

    shares: (n_layers, n_heads), between 0 and 1. marked: (layer, head) to outline, the largest unless given.
    """
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    shares = as_array(shares)
    order = np.dstack(np.unravel_index(np.argsort(-shares, axis=None, kind="stable"), shares.shape))[0]
    marked = tuple(order[0]) if marked is None else marked
    n_layers, n_heads = shares.shape
    with course_style():
        figure, axes = new_figure(0.52 * n_heads + 1.3, 0.36 * n_layers + (1.0 if title else 0.7))
        colours = LinearSegmentedColormap.from_list("shares", [VERMILION, "white", BLUE])
        image = axes.imshow(shares, colours, vmin=0, vmax=1, aspect=0.36 / 0.52)
        for (layer, head), share in np.ndenumerate(shares):
            colour = readable_on(image.to_rgba(share))
            axes.text(head, layer, f"{share:.2f}", ha="center", va="center", fontsize=9, color=colour)
        axes.add_patch(Rectangle((marked[1] - 0.5, marked[0] - 0.5), 1, 1, fill=False, edgecolor="black", linewidth=2))
        axes.set(xlabel="head", ylabel="layer", title=title, xticks=range(n_heads), yticks=range(n_layers))
        axes.grid(visible=False)
        axes.tick_params(length=0)
        best = ", ".join(f"{shares[tuple(place)]:.2f} at layer {place[0]}, head {place[1]}" for place in order[:3])
        show(
            figure,
            f"A share for each of {n_layers} × {n_heads} heads, from {shares.min():.2f} to {shares.max():.2f}. "
            f"The three largest: {best}.",
        )


def shares(values, errors=None, title="", chance=None, xlabel="share"):
    """Show shares between 0 and 1 as level bars with their values, and standard errors where there are any.

    values: dict from name to a share. errors: dict from name to a standard error. chance: a dashed line.
    """
    with course_style():
        figure, axes = new_figure(7.0, 0.36 * len(values) + (1.05 if title else 0.75))
        colours = [BLUE if place == 0 else "#8fb8d6" for place in range(len(values))]
        _level_bars(axes, list(values.values()), list(values), colours)
        for row, (name, value) in enumerate(values.items()):
            error = (errors or {}).get(name, 0.0)
            if error:
                axes.errorbar(value, row, xerr=error, color="#222222", capsize=3, linewidth=1.3)
            axes.text(value + error + 0.015, row, f"{value:.2f}", va="center", fontsize=9)
        if chance is not None:
            axes.axvline(chance, color="#777777", linestyle="--", linewidth=1.3)
            axes.text(chance + 0.01, -0.72, f"chance {chance:.2f}", color=ink("#777777"), fontsize=9, va="bottom")
        axes.set(xlim=(0, 1.12), xlabel=xlabel, title=title, xticks=np.arange(0, 1.01, 0.2))
        said = ", ".join(
            f"{name} {value:.2f}" + (f" ± {errors[name]:.2f}" if errors and name in errors else "")
            for name, value in values.items()
        )
        show(figure, f"Bars of shares: {said}." + (f" Chance is {chance:.2f}." if chance is not None else ""))


def resting(to_first, lengths):
    """Show, layer by layer, how much weight goes to the first token, and how long its value is beside the others'.

    to_first: (n_layers,), shares. lengths: (n_layers,), the first token's length divided by the others' mean.
    """
    to_first, lengths = as_array(to_first), as_array(lengths)
    layers = np.arange(len(to_first))
    with course_style():
        figure, axes = new_figure(7.0, 2.9)
        for heights, shift, colour, label in (
            (to_first, -0.2, BLUE, "weight that goes to [CLS]"),
            (lengths, 0.2, VERMILION, "length of its value, others = 1"),
        ):
            made = axes.bar(layers + shift, heights, 0.37, color=colour, label=label)
            axes.bar_label(made, [f"{height:.2f}" for height in heights], padding=2, fontsize=9)
        axes.set(xlabel="layer", ylim=(0, 1.25 * max(to_first.max(), lengths.max())), xticks=layers)
        axes.grid(visible=False, axis="x")
        figure.legend(loc="outside upper center", ncols=2)
        said = ", ".join(f"{a:.2f} and {b:.2f}" for a, b in zip(to_first, lengths, strict=True))
        show(figure, f"Layer by layer, the weight that goes to [CLS] and the relative length of its value: {said}.")


def taking_part(effective):
    """Show how many texts share the weight of a soft lookup, from dull to sharp.

    effective: dict from sharpness to the effective number of texts. Both axes are logarithmic.
    """
    with course_style():
        figure, axes = new_figure(6.0, 3.3)
        axes.loglog(list(effective), list(effective.values()), color=BLUE, marker="o")
        for sharpness, number in effective.items():
            said = f"{number:.0f}" if number >= 10 else f"{number:.1f}"
            axes.annotate(said, (sharpness, number), xytext=(5, 5), textcoords="offset points", fontsize=9)
        axes.set_xticks(list(effective), [f"{sharpness:g}" for sharpness in effective])
        axes.set_yticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
        axes.minorticks_off()
        axes.set(xlabel="sharpness", ylabel="paragraphs that take part", ylim=(0.8, 2000))
        said = ", ".join(f"{number:.1f} at {sharpness:g}" for sharpness, number in effective.items())
        show(figure, f"Effective number of paragraphs by sharpness: {said}.")


def _level_bars(axes, lengths, names, colours=BLUE):
    """Draw bars from left to right, the first one at the top, with names beside them."""
    axes.barh(range(len(lengths)), lengths, 0.7, color=colours)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
