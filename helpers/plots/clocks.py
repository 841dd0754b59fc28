"""Lesson 06: the hands of a sinusoidal encoding."""

from . import core


def clock_hands(encoding, *, alt, pairs, positions, title=""):
    """Show pairs of columns (2i, 2i + 1) of a sinusoidal encoding as clocks, a row for each pair.

    encoding: (max_len, d_model), sines in the even columns. A hand points to (sine, cosine), so that it starts
    upright at position 0 and turns clockwise. pairs: numbers i. positions: rows of the encoding, a column of
    clocks each.
    IndexError for a pair or position that the encoding does not have; ValueError if alt is empty.
    """
    alt = core.checked_alt(alt)
    encoding = core.as_array(encoding)
    with core.course_style():
        figure, axes = core.new_figure(0.62 * len(positions) + 1.3, 0.62 * len(pairs) + (0.85 if title else 0.55))
        for row, i in enumerate(pairs):
            for column, p in enumerate(positions):
                sine, cosine = encoding[p, 2 * i], encoding[p, 2 * i + 1]
                axes.add_artist(_circle((column, row), 0.42))
                hand = {"arrowstyle": "-|>", "color": f"C{row % 7}", "linewidth": 2, "shrinkA": 0, "shrinkB": 0}
                tip = (column + 0.4 * sine, row - 0.4 * cosine)  # rows go down
                axes.annotate("", xy=tip, xytext=(column, row), arrowprops=hand)
        axes.set(xlim=(-0.55, len(positions) - 0.45), ylim=(len(pairs) - 0.45, -0.55), title=title, xlabel="position")
        axes.set_xticks(range(len(positions)), positions)
        axes.set_yticks(range(len(pairs)), [f"columns {2 * i}, {2 * i + 1}" for i in pairs])
        axes.set_aspect("equal")
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        axes.xaxis.set_label_position("top")
        core.show(figure, alt)


def _circle(centre, radius):
    from matplotlib.patches import Circle

    return Circle(centre, radius, facecolor="white", edgecolor="#bbbbbb", linewidth=1)
