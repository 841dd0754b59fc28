"""Lesson 06: clocks for a sinusoidal encoding, vectors turned by RoPE, and accuracy over length with its spread."""

import numpy as np

from . import clocks, core
from .charts import _label_ends, _tick_measured


def clock_hands(encoding, *, pairs, positions, title=""):
    """Show pairs of columns (2i, 2i + 1) of a sinusoidal encoding as clocks, a row for each pair.

    encoding: (max_len, d_model), sines in the even columns. pairs: numbers i. positions: rows of the encoding.
    """
    encoding = core.as_array(encoding)
    said = []
    for i in pairs:
        angles = np.unwrap(np.arctan2(encoding[positions, 2 * i], encoding[positions, 2 * i + 1]))
        said.append(f"columns {2 * i}, {2 * i + 1} by {(angles[-1] - angles[0]) / (2 * np.pi):.2f} of a turn")
    alt = f"Clock hands at positions {positions[0]} to {positions[-1]}. Over them the hands turn: {'; '.join(said)}."
    clocks.clock_hands(encoding, alt=alt, pairs=pairs, positions=positions, title=title)


def turned_pairs(panels):
    """Show a query and a key of two features each, side by side for several positions, with the angle between them.

    panels: list of (title, q, k); q and k (2,), as RoPE has turned them.
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import Arc

    drawn = [(title, core.as_array(q).ravel(), core.as_array(k).ravel()) for title, q, k in panels]
    reach = 1.4 * max(np.hypot(*vector) for _, *vectors in drawn for vector in vectors)
    said = []
    with core.course_style():
        figure = Figure(figsize=(2.9 * len(drawn), 3.0), layout="constrained")
        for axes, (title, q, k) in zip(figure.subplots(1, len(drawn), squeeze=False)[0], drawn, strict=True):
            start, end = np.degrees(np.arctan2(k[1], k[0])), np.degrees(np.arctan2(q[1], q[0]))
            angle = (end - start) % 360
            for name, tip, colour in (("query", q, core.BLUE), ("key", k, core.VERMILION)):
                arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 2, "shrinkA": 0, "shrinkB": 0}
                axes.annotate("", xy=tip, xytext=(0, 0), arrowprops=arrow)
                place = tip * (1 + 0.13 * reach / np.hypot(*tip))
                axes.text(*place, name, ha="center", va="center", color=core.ink(colour))
            axes.add_patch(Arc((0, 0), 0.6 * reach, 0.6 * reach, theta1=start, theta2=end, color="#777777"))
            middle = np.radians(start + angle / 2)
            axes.text(
                *(0.48 * reach * np.array([np.cos(middle), np.sin(middle)])), f"{angle:.0f}°", ha="center", va="center"
            )
            axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", title=title, xticks=[], yticks=[])
            axes.axhline(0, color="#dddddd", linewidth=1, zorder=0)
            axes.axvline(0, color="#dddddd", linewidth=1, zorder=0)
            axes.grid(visible=False)
            axes.spines[:].set_visible(False)
            said.append(f"{title}: the query points to {end % 360:.0f} degrees, the key to {start % 360:.0f}, "
                        f"the angle from key to query is {angle:.0f} degrees")  # fmt: skip
        core.show(figure, f"Arrows of a query and a key. {'. '.join(said)}.")


def over_lengths(lengths, shares, *, chance, title):
    """Show the share of right answers against length: the median of several seeds as a line, their range as a band.

    lengths: n of them. shares: dict from kind to (seeds, n). chance: the share that guessing gets.
    """
    shares = {kind: core.as_array(values) for kind, values in shares.items()}
    colours = core.colours_of(shares)
    n_seeds = len(next(iter(shares.values())))
    said = [
        f"{kind} {np.median(values[:, 0]):.2f} at {lengths[0]} and {np.median(values[:, -1]):.2f} at {lengths[-1]} "
        f"(from {values[:, -1].min():.2f} to {values[:, -1].max():.2f})"
        for kind, values in shares.items()
    ]
    with core.course_style():
        figure, axes = core.new_figure(7.0, 3.6)
        axes.set(xlabel="words read, after training on 32", ylabel="share of right answers", title=title)
        axes.set_xscale("log")
        axes.set_ylim(0, 1.05)
        axes.axhline(chance, linestyle="--", color="#777777", linewidth=1.3)
        labels = [("guessing", "#777777", lengths[-1], chance)]
        for kind, values in shares.items():
            band = {"color": colours[kind], "alpha": 0.2, "linewidth": 0}
            axes.fill_between(lengths, values.min(axis=0), values.max(axis=0), **band)
            axes.plot(lengths, np.median(values, axis=0), color=colours[kind], marker="o")
            labels.append((kind, colours[kind], lengths[-1], np.median(values[:, -1])))
        _tick_measured(axes, lengths)
        _label_ends(axes, labels)
        core.show(
            figure,
            f"{title}: share of right answers against length, median of {n_seeds} seeds with their range. "
            f"{'; '.join(said)}; guessing gets {chance:.2f}.",
        )
