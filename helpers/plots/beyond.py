"""Pictures of lesson 08: tiles and how they merge, windows and how far they reach, and what everything costs."""

import numpy as np

from .charts import _label_ends, lines
from .core import as_array, course_style, show
from .describe import number

PARTS = ("#0072B2", "#D55E00")  # the first part of a row, the second
PALE, HIDDEN, EMPTY = "#a6cbe3", "#dddddd", "white"
CHANCE = 1 / 16  # both tasks have 16 answers


def merging(scores, split, *, words):
    """Show one row of scores in two parts, each measured against its own maximum, and both after the merge.

    scores: (T,), finite. split: how many belong to the first part, 1 to T - 1. words: T names of the keys.
    Bars are exp(score - maximum), of the part's maximum at the top and of the row's below.
    """
    scores = as_array(scores)
    parts = (slice(0, split), slice(split, len(scores)))
    maxima = [scores[part].max() for part in parts]
    alone = np.concatenate([np.exp(scores[part] - m) for part, m in zip(parts, maxima, strict=True)])
    merged = np.exp(scores - max(maxima))
    factors = np.exp(np.array(maxima) - max(maxima))
    alt = (
        f"Two rows of bars over {' '.join(words)}. Above, each part measured against its own largest score, "
        f"{maxima[0]:g} and {maxima[1]:g}; below, after the merge: the first part times {factors[0]:.2f}, "
        f"the second times {factors[1]:.2f}."
    )
    with course_style():
        figure, (above, below) = _figure(6.4, 3.9, rows=2)
        for axes, heights in ((above, alone), (below, merged)):
            for part, colour in zip(parts, PARTS, strict=True):
                places = np.arange(len(scores))[part]
                drawn = axes.bar(places, heights[part], 0.75, color=colour)
                axes.bar_label(drawn, [f"{height:.2f}" for height in heights[part]], padding=2, fontsize=9)
            axes.axvline(split - 0.5, color="#777777", linestyle="--", linewidth=1.3)
            axes.set(ylim=(0, 1.55), yticks=(0, 1), xlim=(-0.6, len(scores) - 0.4))
            axes.grid(visible=False, axis="x")
        for part, m, factor in zip(parts, maxima, factors, strict=True):
            centre = (part.start + part.stop - 1) / 2
            above.text(centre, 1.34, f"maximum {m:g}", ha="center", fontsize=9)
            below.text(centre, 1.34, f"× {factor:.2f}", ha="center", fontsize=9)
        above.set_title("each part against its own largest score")
        below.set_title("after the merge, against the largest of all")
        above.set_xticks([])
        below.set_xticks(range(len(scores)), words)
        figure.supylabel("exp(score − maximum)", fontsize=10)
        show(figure, alt)


def tiles(T, tile):
    """Show which tiles causal attention computes in full, which it computes and then masks, and which never.

    T: number of words. tile: queries and keys in a tile; the last tiles may be smaller.
    """
    from matplotlib.patches import Patch, Rectangle

    starts = range(0, T, tile)
    kinds = {"full": "#0072B2", "masked": PALE, "skipped": EMPTY}
    count = dict.fromkeys(kinds, 0)
    with course_style():
        figure, (axes,) = _figure(5.2, 3.5)
        for i in starts:
            for j in starts:
                kind = "full" if j < i else "masked" if j == i else "skipped"
                count[kind] += 1
                size = min(tile, T - j), min(tile, T - i)
                axes.add_patch(Rectangle((j, i), *size, facecolor=kinds[kind], edgecolor="none"))
                if kind == "masked":  # the hidden triangle of the diagonal
                    for row in range(i, i + size[1]):
                        hidden = j + size[0] - row - 1
                        axes.add_patch(Rectangle((row + 1, row), hidden, 1, facecolor=HIDDEN, edgecolor="none"))
                axes.add_patch(Rectangle((j, i), *size, fill=False, edgecolor="#777777", linewidth=1.3))
        axes.set(xlim=(0, T), ylim=(T, 0), aspect="equal", anchor="E", xlabel="keys", ylabel="queries")
        ticks = [*starts, T]
        axes.set_xticks(ticks)
        axes.set_yticks(ticks)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        key = (
            (kinds["full"], f"in full: {count['full']}"),
            (kinds["masked"], f"with a mask: {count['masked']}"),
            (HIDDEN, "computed, then hidden"),
            (kinds["skipped"], f"never: {count['skipped']}"),
        )
        key = [Patch(facecolor=colour, edgecolor="#777777", label=label) for colour, label in key]
        figure.legend(handles=key, loc="outside right upper", title="tiles computed")
        alt = (
            f"{T} queries by {T} keys in tiles of {tile}: {count['full']} tiles below the diagonal are computed in "
            f"full, {count['masked']} on it are computed and the part above the diagonal then hidden, "
            f"{count['skipped']} above it are never computed."
        )
        show(figure, alt)


def reach_of_layers(T, window, n_layers):
    """Show who can be heard by the last word through a stack of windowed layers.

    T: number of words. window: number of visible places, the word's own included. n_layers: layers above the words.
    """
    with course_style():
        figure, (axes,) = _figure(0.33 * T + 1.6, 0.62 * (n_layers + 1) + 0.9)
        heard = {T - 1}
        count = []
        for layer in range(n_layers, -1, -1):
            count.append(len(heard))
            below = {j for i in heard for j in range(max(0, i - window + 1), i + 1)}
            for i in range(T):
                if i in heard and layer:
                    for j in range(max(0, i - window + 1), i + 1):
                        axes.plot((i, j), (layer, layer - 1), color=PALE, linewidth=1.2, zorder=1)
                colour = PARTS[0] if i in heard else EMPTY
                axes.plot(i, layer, "o", markersize=9, color=colour, markeredgecolor="#777777", zorder=2)
            heard = below
        axes.set(xlim=(-0.7, T - 0.3), ylim=(-0.5, n_layers + 0.5), xlabel="place of the word")
        axes.set_yticks(range(n_layers + 1), ["words"] + [f"layer {i}" for i in range(1, n_layers + 1)])
        axes.set_xticks(range(T))
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        alt = (
            f"{T} words under {n_layers} layers with a window of {window}. From the last word of the top layer, "
            f"lines lead down to {', then '.join(str(n) for n in count[1:])} places: {count[-1]} words are heard."
        )
        show(figure, alt)


def by_distance(accuracies, window):
    """Show the share of right answers of stacks of windowed layers against the distance from the marked word.

    accuracies: dict from the number of layers to (n,), entry k for k places back. window: places that a layer sees.
    """
    curves = {f"layers: {n}": as_array(values) for n, values in accuracies.items()}
    reaches = {f"layers: {n}": n * (window - 1) + 1 for n in accuracies}
    places = np.arange(len(next(iter(curves.values()))))
    ends = "; ".join(
        f"{label}: at least {values[: reaches[label]].min():.2f} up to {reaches[label] - 1} places back, "
        f"at most {values[reaches[label] :].max():.2f} beyond"
        for label, values in curves.items()
    )
    alt = f"Share of right answers against places back. {ends}. Dashed, chance is {CHANCE:.2f}."
    lines(places, curves, alt=alt, xlabel="places back to the marked word", ylabel="share right",
        title=f"A window of {window} words", guides={"chance": CHANCE}, marks=True)  # fmt: skip


def recall(n_pairs, shares, title):
    """Show the share of pairs recalled against their number, on a logarithmic axis ticked at the numbers measured.

    n_pairs: (n,). shares: dict from label to (n,).
    """
    curves = {label: as_array(values) for label, values in shares.items()}
    ends = "; ".join(f"{label}: {values[-1]:.2f}" for label, values in curves.items())
    alt = (
        f"Share of right answers against the number of pairs, {n_pairs[0]} to {n_pairs[-1]}. At the end: {ends}. "
        f"Dashed, chance is {CHANCE:.2f}."
    )
    with course_style():
        figure, (axes,) = _figure(7.0, 3.6)
        axes.set(xlabel="pairs to remember", ylabel="share right", title=title, ylim=(0, 1.05))
        axes.set_xscale("log")
        axes.axhline(CHANCE, linestyle="--", color="#777777", linewidth=1.3)
        drawn = [("chance", "#777777", n_pairs[-1], CHANCE)]
        for i, (label, values) in enumerate(curves.items()):
            axes.plot(n_pairs, values, color=f"C{i}", marker="o")
            drawn.append((label, f"C{i}", n_pairs[-1], values[-1]))
        _tick_at(axes, n_pairs)
        _label_ends(axes, drawn)
        show(figure, alt)


def costs(comparison):
    """Show time and memory of several functions against length, side by side on logarithmic axes.

    comparison: a `helpers.comparison.Comparison` that holds measurements.
    """
    lengths = list(comparison.lengths)
    seconds = {name: as_array(values) * 1e3 for name, values in comparison.seconds.items()}
    megabytes = {name: as_array(values) / 1e6 for name, values in comparison.peaks.items()}
    ends = "; ".join(
        f"{name}: {number(seconds[name][-1])} ms and {number(megabytes[name][-1])} MB" for name in seconds
    )
    alt = f"Time and peak memory against length, {lengths[0]:,} to {lengths[-1]:,} words. At the end: {ends}."
    with course_style():
        figure, pair = _figure(8.5, 4.0, columns=2)
        for axes, what, curves in zip(
            pair, ("milliseconds", "megabytes at the peak"), (seconds, megabytes), strict=True
        ):
            axes.set(xlabel="words", title=what)
            axes.set_xscale("log")
            axes.set_yscale("log")
            for i, (name, values) in enumerate(curves.items()):
                style = "--" if name == "linear, causal" else "-"  # its memory is that of "linear": both must be seen
                axes.plot(lengths, values, style, color=f"C{i}", marker="o", markersize=4, label=name)
            _tick_at(axes, lengths)
        handles, names = pair[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=3, handlelength=3)
        show(figure, alt)


def _tick_at(axes, places):
    """Tick a logarithmic x axis at the measured places, and nowhere else; the y axis keeps its ticks."""
    from matplotlib.ticker import NullLocator

    axes.set_xticks(places, [f"{place:,}" for place in places])
    axes.xaxis.set_minor_locator(NullLocator())


def _figure(width, height, rows=1, columns=1):
    """Return a figure, width and height in inches, and a flat array of its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False).ravel()
