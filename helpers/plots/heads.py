"""Lesson 04: which feature of which word stands where."""

import numpy as np

from . import core

FEATURE_COLOURS = ("#0072B2", "#56B4E9", "#D55E00", "#E69F00")  # head 0 blue, head 1 orange, while there are two heads


def features_in_colour(panels, *, words, alt=None):
    """Show where each feature of each word stands: its colour is the feature, the text in it the word.

    panels: list of (title, codes); codes (T, n) or (h, T, n), whole numbers word * d_model + feature, each once.
    words: T names. alt: str, or None to derive it.
    ValueError if a code is missing or d_model is above 4, for which there are no colours.
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    arrays = [(title, core.as_array(codes)) for title, codes in panels]
    stacks = [(title, codes if codes.ndim == 3 else codes[None]) for title, codes in arrays]  # (h, T, n) each
    d_model = stacks[0][1].size // len(words)
    for title, codes in stacks:
        if sorted(codes.ravel()) != list(range(d_model * len(words))) or d_model > len(FEATURE_COLOURS):
            raise ValueError(f"panel {title!r} must hold each of 0 ... {len(words)} * d_model - 1 once, d_model <= 4")

    alt = core.checked_alt(_described(stacks, words, d_model) if alt is None else alt)
    cell_width, cell_height, gap = 0.5, 0.34, 0.75  # inches, and rows between two heads
    widths = [max(codes.shape[2] * cell_width + 0.85, 0.095 * len(title) + 0.1) for title, codes in stacks]
    rows = max(codes.shape[0] * (codes.shape[1] + gap) for _, codes in stacks)
    with core.course_style():
        figure = Figure(figsize=(sum(widths) + 0.2, rows * cell_height + 0.55), layout="constrained")
        drawn = figure.subplots(1, len(stacks), squeeze=False, width_ratios=widths)[0]
        for axes, (title, codes) in zip(drawn, stacks, strict=True):
            h, T, n = codes.shape
            for (head, t, column), code in np.ndenumerate(codes.astype(int)):
                word, feature = divmod(code, d_model)
                top, colour = head * (T + gap) + t, FEATURE_COLOURS[feature]
                axes.add_patch(Rectangle((column, top), 1, 1, facecolor=colour, edgecolor="white", linewidth=1.5))
                ink = core.readable_on(tuple(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)))
                axes.text(column + 0.5, top + 0.5, words[word], ha="center", va="center", fontsize=9, color=ink)
            if h > 1:
                for head in range(h):
                    axes.text(n / 2, head * (T + gap) - 0.12, f"head {head}", ha="center", va="bottom", fontsize=9)
            places = [head * (T + gap) + t + 0.5 for head in range(h) for t in range(T)]
            axes.set_yticks(places, list(words) * h)
            axes.set_xticks([])
            axes.tick_params(length=0)
            axes.spines[:].set_visible(False)
            axes.grid(visible=False)
            axes.set(xlim=(0, n), ylim=(rows - gap, -gap), title=title, aspect=cell_height / cell_width, anchor="N")
        core.show(figure, alt)


def _described(stacks, words, d_model):
    """What stands in each row of each head, as "books 0 1": the word, then the numbers of its features."""
    said = []
    for title, codes in stacks:
        for i, head in enumerate(codes.astype(int)):
            rows = []
            for row in head:
                parts = {}
                for word, feature in (divmod(code, d_model) for code in row):
                    parts.setdefault(words[word], []).append(str(feature))
                rows.append(" and ".join(f"{word} {' '.join(features)}" for word, features in parts.items()))
            said.append(f"{title}{f', head {i}' if len(codes) > 1 else ''}: {'; '.join(rows)}.")
    said.insert(0, "Rows of features. Each cell names its word, and its colour stands for the number of the feature.")
    return " ".join(said)
