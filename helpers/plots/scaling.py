"""Lesson 03: how far dot products spread, and what a row of weights makes of it."""

import numpy as np

from . import core, describe

PANEL = 2.35  # inches


def spread_and_rows(products, rows, *, alt=None):
    """Show, per width, the histogram of dot products and below it one row of softmax weights as bars.

    products: dict from d_k to (n,) dot products. rows: dict with the same keys to (n_keys,) weights of one query.
    alt: str, or None to derive it. ValueError if the keys differ.
    """
    from matplotlib.figure import Figure

    if list(products) != list(rows) or not products:
        raise ValueError(f"products and rows need the same widths, got {list(products)} and {list(rows)}")
    products = {d_k: core.as_array(values) for d_k, values in products.items()}
    rows = {d_k: core.as_array(values) for d_k, values in rows.items()}
    if alt is None:
        said = [
            f"at d_k = {d_k} the dot products have a standard deviation of {describe.number(round(p.std(), 1))}, and "
            f"the largest of {len(rows[d_k])} weights is {rows[d_k].max():.2f}"
            for d_k, p in products.items()
        ]
        alt = f"Histograms of q · k on one scale, and below each one row of weights as bars: {'; '.join(said)}."
    with core.course_style():
        figure = Figure(figsize=(PANEL * len(products) + 0.6, 3.9), layout="constrained")
        axes = figure.subplots(2, len(products), squeeze=False, sharey="row")
        reach = max(np.abs(p).max() for p in products.values())
        bins = np.linspace(-reach, reach, 41)
        for (above, below), d_k in zip(axes.T, products, strict=True):
            # Shares of the highest bar, as a narrow histogram would dwarf the others.
            counts, _ = np.histogram(products[d_k], bins)
            above.bar(bins[:-1], counts / counts.max(), np.diff(bins), align="edge", color=core.GREY)
            above.set(title=f"d_k = {d_k}", xlabel="q · k", yticks=[])
            _row(below, rows[d_k])
        axes[0, 0].set_ylabel("how often")
        axes[1, 0].set_ylabel("weight")
        core.show(figure, core.checked_alt(alt))


def weight_rows(rows, *, alt=None):
    """Show rows of weights as bars, side by side and to one scale, with the largest weight written above its bar.

    rows: dict from title to (n_keys,) weights. alt: str, or None to derive it. ValueError if there is no row.
    """
    from matplotlib.figure import Figure

    if not rows:
        raise ValueError("weight_rows needs at least one row, got an empty dict")
    rows = {title: core.as_array(weights) for title, weights in rows.items()}
    if alt is None:
        said = [f"{title}: the largest is {weights.max():.2f}" for title, weights in rows.items()]
        n_keys = len(next(iter(rows.values())))
        alt = f"Rows of {n_keys} weights as bars. {'; '.join(said)}."
    with core.course_style():
        figure = Figure(figsize=(PANEL * len(rows) + 0.6 if len(rows) > 1 else 4.2, 2.5), layout="constrained")
        drawn = figure.subplots(1, len(rows), squeeze=False, sharey=True)[0]
        for axes, (title, weights) in zip(drawn, rows.items(), strict=True):
            _row(axes, weights)
            axes.set_title(title)
        drawn[0].set_ylabel("weight")
        core.show(figure, core.checked_alt(alt))


def _row(axes, weights):
    """Draw one row of weights as bars from 0 to 1, and write the largest above its bar."""
    axes.bar(range(len(weights)), weights, color=core.BLUE)
    best = int(weights.argmax())
    axes.text(best, weights[best] + 0.02, f"{weights[best]:.2f}", ha="center", va="bottom", fontsize=9)
    axes.set(ylim=(0, 1.15), yticks=(0, 0.5, 1), xticks=[], xlabel=f"{len(weights)} keys")
