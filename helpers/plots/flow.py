"""Lesson 02: the way from X to the output, each matrix drawn to the scale of its shape."""

from . import core

CELL = 0.145  # inches
GAP = 3.2  # cells between two matrices above each other
STEP = 8.5  # cells between two matrices beside each other


def attention_flow(*, T, d_model, d_k, d_v, alt=None):  # noqa: N803
    """Show how X becomes Q, K, V, scores, weights and out, with the shape of each.

    T: number of words. d_model, d_k, d_v: widths of X, of queries and keys, and of values.
    alt: str, or None to derive it.
    """
    from matplotlib.figure import Figure

    if alt is None:
        alt = (
            f"Flow of shapes. X ({T}, {d_model}) times W_q ({d_model}, {d_k}) gives Q ({T}, {d_k}); "
            f"X times W_k ({d_model}, {d_k}) gives K ({T}, {d_k}); "
            f"X times W_v ({d_model}, {d_v}) gives V ({T}, {d_v}). "
            f"Q times K transposed, divided by the root of d_k, gives scores ({T}, {T}). Softmax of each row gives "
            f"weights ({T}, {T}). Weights times V gives out ({T}, {d_v})."
        )
    alt = core.checked_alt(alt)
    tops = [i * (T + GAP) for i in range(3)]  # of Q, K, V; y grows downwards
    middle = (tops[0] + tops[1]) / 2  # of the scores, between Q and K
    x_q = d_model + STEP
    x_scores = x_q + max(d_k, d_v) + STEP - 1.5
    x_weights = x_scores + T + STEP - 1
    x_out = x_weights + T + STEP - 1.5
    width, height = x_out + d_v + 2.5, tops[2] + T + 1
    with core.course_style():
        figure = Figure(figsize=((width + 2) * CELL, (height + 2.2) * CELL))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(-2, width), ylim=(height, -2.2), aspect="equal")
        axes.axis("off")
        _matrix(axes, 0, tops[1], T, d_model, "X", core.GREY)
        for top, name, columns, colour in zip(
            tops, ("Q", "K", "V"), (d_k, d_k, d_v), (core.BLUE, core.VERMILION, "#009E73"), strict=True
        ):
            _matrix(axes, x_q, top, T, columns, name, colour)
            end = (x_q - 0.6, top + T / 2)
            _arrow(axes, (d_model + 0.5, tops[1] + T / 2), end)
            text = f"× W_{name.lower()}"
            axes.text(
                end[0] - 3.1, end[1] - (0.5 if top != tops[2] else -0.9), text, ha="center", va="bottom", fontsize=9
            )
        for top in tops[:2]:
            _arrow(axes, (x_q + d_k + 0.5, top + T / 2), (x_scores - 0.5, middle + T / 2))
        _matrix(axes, x_scores, middle, T, T, "scores", core.GREY)
        axes.text(x_scores + T / 2, middle + T + 0.6, "Q Kᵀ / √d_k", ha="center", va="top", fontsize=9)
        _arrow(axes, (x_scores + T + 0.5, middle + T / 2), (x_weights - 0.5, middle + T / 2))
        label_x = (x_scores + T + x_weights) / 2
        axes.text(label_x, middle + T / 2 - 0.5, "softmax\nof each row", ha="center", va="bottom", fontsize=9)
        _matrix(axes, x_weights, middle, T, T, "weights", core.BLUE)
        out_top = (middle + tops[2]) / 2
        _matrix(axes, x_out, out_top, T, d_v, "out", "#009E73")
        _arrow(axes, (x_weights + T + 0.5, middle + T / 2), (x_out - 0.5, out_top + T / 2))
        _arrow(axes, (x_q + d_v + 0.5, tops[2] + T / 2), (x_out - 0.5, out_top + T / 2))
        axes.text(x_out + d_v / 2, out_top + T + 0.6, "weights × V", ha="center", va="top", fontsize=9)
        core.show(figure, alt)


def _matrix(axes, x, y, rows, columns, name, colour):
    """Draw a matrix as a grid of cells with its name and shape above."""
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x, y), columns, rows, facecolor=to_rgba(colour, 0.2), edgecolor=colour, linewidth=1.3))
    axes.hlines([y + i for i in range(1, rows)], x, x + columns, colour, linewidth=0.4)
    axes.vlines([x + j for j in range(1, columns)], y, y + rows, colour, linewidth=0.4)
    axes.text(x + columns / 2, y - 0.35, f"{name} ({rows}, {columns})", ha="center", va="bottom", fontsize=10)


def _arrow(axes, start, end):
    arrow = {"arrowstyle": "-|>", "color": "#777777", "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=end, xytext=start, arrowprops=arrow)
