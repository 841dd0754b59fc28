"""The few pictures the whole course uses, one call each.

Every figure is shown as an HTML image that carries its alt text, for readers who cannot see it.
White means zero; rows are queries ("who looks"), columns are keys ("at whom"). Arrays may be NumPy
arrays, nested lists or torch tensors. Nothing here touches pyplot or changes `rcParams`.
"""

import base64
import html
import io
import sys
import textwrap
from pathlib import Path

import numpy as np

# matplotlib is imported where it is used, so that `import helpers` stays quick.

STYLE = Path(__file__).parent.with_name("course.mplstyle")
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#555555"
PIXELS_PER_INCH = 96  # of a web page
MAX_BYTES = 60_000  # of one figure, so that a notebook stays small
MAX_WIDTH = 8.5  # inches, so that a figure fits a notebook's column
MAX_NUMBERED = 80  # cells: more than that and the numbers no longer help
KINDS = ("weights", "signed", "mask", "plain")


def show(figure, alt):
    """Show a matplotlib figure as an image with alternative text; outside IPython, print that text.

    figure: a `matplotlib.figure.Figure`; one that pyplot made is closed, or it would be shown twice.
    alt: str, what the figure shows, in words. ValueError if it is empty.
    """
    alt = _checked_alt(alt)
    png, width = _png(figure)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close(figure)

    if "IPython" not in sys.modules or sys.modules["IPython"].get_ipython() is None:
        print(alt)
        return
    from IPython.display import display

    image = (
        f'<img alt="{html.escape(alt)}" width="{width}" style="max-width:100%; background:white" '
        f'src="data:image/png;base64,{base64.b64encode(png).decode("ascii")}">'
    )
    display({"text/html": image, "text/plain": alt}, raw=True)


def heatmap(matrix, *, alt, rows=None, columns=None, kind="weights", title="", row_label=None, column_label=None):
    """Show a matrix as coloured cells, with its numbers while it is small.

    matrix: (n_rows, n_columns), real or bool; NaN and infinite cells are hatched.
    rows, columns: n_rows and n_columns names, or None for 0, 1, 2, ...
    kind: "weights" (white 0 to blue 1), "signed" (blue below 0, orange above), "mask" (dark: may look),
        or "plain" (grey by size, whatever the sign).
    row_label, column_label: str; "who looks" and "at whom" unless given for weights and masks, else none.
    ValueError if the matrix is not 2-D, is empty, has another number of names, or if alt is empty.
    """
    alt = _checked_alt(alt)
    with _course_style():
        show(_heatmap_figure([("", matrix)], title, rows, columns, kind, row_label, column_label), alt)


def heatmaps(panels, *, alt, rows=None, columns=None, kind="weights", row_label=None, column_label=None):
    """Show several matrices side by side, all on one colour scale; arguments as for `heatmap`.

    panels: list of (title, matrix) pairs; the names in `rows` and `columns` hold for every matrix.
    """
    alt = _checked_alt(alt)
    with _course_style():
        show(_heatmap_figure(list(panels), "", rows, columns, kind, row_label, column_label), alt)


def arrows(vectors, *, alt, title=""):
    """Show two-dimensional vectors as labelled arrows from the origin, both axes to the same scale.

    vectors: dict from name to (x, y). ValueError if one is not a pair of finite numbers, or if there is none.
    """
    alt = _checked_alt(alt)
    tips = {name: _as_array(vector) for name, vector in vectors.items()}
    if not tips:
        raise ValueError("arrows needs at least one vector, got an empty dict")
    for name, tip in tips.items():
        if tip.shape != (2,) or not np.isfinite(tip).all():
            raise ValueError(f"vector {name!r} must be two finite numbers (x, y), got {tip.tolist()}")

    with _course_style():
        figure, axes = _new_figure(4.6, 4.4)
        points = np.array([*tips.values(), (0.0, 0.0)])  # (n + 1, 2)
        centre = (points.max(axis=0) + points.min(axis=0)) / 2
        half = 0.72 * (np.ptp(points, axis=0).max() or 1.0)  # leaves room for the names
        axes.set(xlim=centre[0] + half * np.array([-1, 1]), ylim=centre[1] + half * np.array([-1, 1]), title=title)
        axes.set_aspect("equal")
        axes.axhline(0, color="#bbbbbb", linewidth=1)
        axes.axvline(0, color="#bbbbbb", linewidth=1)
        places = _places_for_names(tips, inch=half / 1.9)
        for i, (name, tip) in enumerate(tips.items()):
            colour = f"C{i % 7}"
            if tip.any():
                arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 2, "shrinkA": 0, "shrinkB": 0}
                axes.annotate("", xy=tip, xytext=(0, 0), arrowprops=arrow)
            else:
                axes.plot(0, 0, "o", color=colour)
            axes.text(*places[name], name, color=_ink(colour), ha="center", va="center")
        show(figure, alt)


def lines(x, series, *, alt, xlabel, ylabel, title="", log="", guides=None, marks=None):
    """Show curves, each labelled at its right end in its own colour.

    x: (n,) for all curves, or a dict from label to (n,) where they differ.
    series: dict from label to (n,) values.
    log: "", "x", "y" or "xy": the axes with a logarithmic scale.
    guides: dict from label to (n,) values, or to one number for a level line; drawn dashed and grey.
    marks: bool, whether to dot each point; unless given, curves of at most 20 points are dotted.
    ValueError if a curve has another length than its x or no point that can be drawn, or if alt is empty.
    """
    alt = _checked_alt(alt)
    if log not in ("", "x", "y", "xy"):
        raise ValueError(f'log must be "", "x", "y" or "xy", got {log!r}')
    if not series:
        raise ValueError("lines needs at least one series, got an empty dict")
    curves = {label: _curve(label, x, y) for label, y in series.items()}
    x_all = np.concatenate([xs for xs, _ in curves.values()])
    ends_of_x = np.array([x_all.min(), x_all.max()])
    guide_curves = {
        label: (ends_of_x, np.full(2, float(y))) if np.ndim(y) == 0 else _curve(label, x, y)
        for label, y in (guides or {}).items()
    }

    with _course_style():
        figure, axes = _new_figure(7.0, 3.6)
        axes.set(xlabel=xlabel, ylabel=ylabel, title=title)
        if "x" in log:
            axes.set_xscale("log")
        if "y" in log:
            axes.set_yscale("log")
        drawn = []  # (label, colour, last x, last y)
        for label, (xs, ys) in guide_curves.items():
            axes.plot(xs, ys, "--", color="#777777", linewidth=1.3)
            drawn.append((label, "#777777", *_last_point(label, xs, ys, log)))
        for i, (label, (xs, ys)) in enumerate(curves.items()):
            dotted = len(xs) <= 20 if marks is None else marks
            axes.plot(xs, ys, color=f"C{i % 7}", marker="o" if dotted else None)
            drawn.append((label, f"C{i % 7}", *_last_point(label, xs, ys, log)))
        _label_ends(axes, drawn)
        show(figure, alt)


def bars(labels, series, *, alt, ylabel, title="", ylim=None, guides=None):
    """Show groups of bars, one group a label and one bar of it a series, with their values while they are few.

    labels: n names. series: dict from name to (n,) values. ylim: (low, high), or None to fit.
    guides: dict from label to a number, a dashed grey level line.
    ValueError if a series has another number of values than there are labels, or if alt is empty.
    """
    alt = _checked_alt(alt)
    labels = [str(label) for label in labels]
    heights = {name: _as_array(values) for name, values in series.items()}
    if not labels or not heights:
        raise ValueError(f"bars needs labels and series, got {len(labels)} labels and {len(heights)} series")
    for name, values in heights.items():
        if values.shape != (len(labels),):
            raise ValueError(f"series {name!r} has shape {values.shape}, but there are {len(labels)} labels")

    with _course_style():
        n_bars = len(labels) * len(heights)
        figure, axes = _new_figure(min(7.0, max(3.8, 1.5 + 0.6 * n_bars)), 3.4)
        width = 0.8 / len(heights)
        everything = np.concatenate(list(heights.values()))
        decimals = _decimals(everything)
        for i, (name, values) in enumerate(heights.items()):
            places = np.arange(len(labels)) + (i - (len(heights) - 1) / 2) * width
            drawn = axes.bar(places, np.nan_to_num(values), 0.92 * width, label=name)
            if n_bars <= 14:
                axes.bar_label(drawn, [_number(value, decimals) for value in values], padding=2, fontsize=9)
        axes.axhline(0, color="#888888", linewidth=1)
        for label, level in (guides or {}).items():
            axes.axhline(level, color="#777777", linewidth=1.3, linestyle="--", label=label)
        axes.set_xticks(range(len(labels)), [textwrap.fill(label, max(8, 56 // len(labels))) for label in labels])
        axes.grid(visible=False, axis="x")
        axes.margins(y=0.12)
        axes.set(ylabel=ylabel, title=title, ylim=ylim)
        if len(heights) > 1 or guides:
            figure.legend(loc="outside lower center", ncols=min(len(heights), 4))
        show(figure, alt)


# How a heat map is drawn


def _heatmap_figure(panels, title, rows, columns, kind, row_label, column_label):
    """Return a figure with one heat map for each (title, matrix) of panels."""
    from matplotlib.figure import Figure

    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    if not panels:
        raise ValueError("heatmaps needs at least one (title, matrix) pair, got none")
    titles = [panel_title for panel_title, _ in panels]
    matrices = [_checked_matrix(matrix, rows, columns, kind) for _, matrix in panels]
    if kind in ("weights", "mask"):
        row_label = "who looks" if row_label is None else row_label
        column_label = "at whom" if column_label is None else column_label

    n_rows = max(matrix.shape[0] for matrix in matrices)
    n_columns = max(matrix.shape[1] for matrix in matrices)
    values = np.concatenate([matrix.ravel() for matrix in matrices])
    decimals = _decimals(values)
    numbered = kind != "mask" and n_rows * n_columns <= MAX_NUMBERED and n_columns <= 12
    longest = max(len(_number(value, decimals)) for value in values) if numbered else 0
    cell = _cell_size(n_rows, n_columns, rows, columns, longest, len(panels))  # (width, height)

    # All places are computed, in inches, from the sizes of the cells and of the texts around them, so that
    # a cell is as large in one figure as in the next and no text is cut off.
    tall_names = columns is not None and _text_width(columns) > cell[0]
    flat_label = n_rows * cell[1] < 0.8  # too low for upright text
    left = (_text_width(rows) if rows is not None else 0.3) + 0.1
    left += (0.8 if flat_label else 0.25) if row_label else 0
    right = 0.15 if numbered or kind == "mask" else 0.85  # with room for a colour bar
    same_rows = len({matrix.shape[0] for matrix in matrices}) == 1
    gap = 0.2 if same_rows else left

    titles = [textwrap.fill(text, max(13, int(n_columns * cell[0] / 0.095))) for text in titles]
    least = max(0.65 if column_label else 0, *(_text_width(text.split("\n"), 11) for text in titles))
    widest = max(n_columns * cell[0], least)
    across = max(1, min(len(panels), int((MAX_WIDTH - left - right + gap) / (widest + gap))))
    down = -(-len(panels) // across)
    across = -(-len(panels) // down)
    slots = [max(least, *(m.shape[1] * cell[0] for m in matrices[i::across])) for i in range(across)]  # widths
    above = (_text_width(columns) + 0.05 if tall_names else 0.22) + (0.2 if column_label else 0)
    above += 0.18 * max(text.count("\n") + 1 for text in titles) + 0.06 if any(titles) else 0
    top, below = 0.3 if title else 0.05, 0.4 if kind == "mask" else 0.15
    block = sum(slots) + gap * (across - 1)  # the width of all panels
    title = textwrap.fill(title, int(MAX_WIDTH / 0.1))
    title_width = _text_width(title.split("\n"), 11)
    width = max(left + block + right, title_width, 2.6 if kind == "mask" else 0)
    height = top + down * (above + n_rows * cell[1]) + 0.15 * (down - 1) + below

    figure = Figure(figsize=(width, height))
    for i, (matrix, panel_title) in enumerate(zip(matrices, titles, strict=True)):
        line, place = divmod(i, across)
        size = matrix.shape[1] * cell[0], matrix.shape[0] * cell[1]
        x = left + sum(slots[:place]) + gap * place + (slots[place] - size[0]) / 2
        y = height - top - (line + 1) * above - line * (n_rows * cell[1] + 0.15) - size[1]
        axes = figure.add_axes((x / width, y / height, size[0] / width, size[1] / height))
        image = _draw_cells(axes, matrix, kind, _limits(kind, values), decimals if numbered else None, cell)
        _name_cells(axes, matrix.shape, rows, columns, tall_names, show_rows=place == 0 or not same_rows)
        axes.set_title(panel_title)
        axes.set_xlabel(column_label or "")
        if row_label and place == 0:
            axes.set_ylabel(row_label, **({"rotation": 0, "ha": "right", "va": "center"} if flat_label else {}))
    if title:
        centre = np.clip(left + block / 2, title_width / 2, width - title_width / 2)
        figure.suptitle(title, x=centre / width, y=1 - 0.06 / height)
    if kind == "mask":
        figure.legend(handles=_mask_key(), loc="lower center", ncols=2)
    elif not numbered:
        bar = ((left + block + 0.15) / width, y / height, 0.15 / width, min(3.6, size[1]) / height)
        figure.colorbar(image, cax=figure.add_axes(bar))
    return figure


def _cell_size(n_rows, n_columns, rows, columns, longest, n_panels):
    """Return (width, height) of a cell in inches; longest: characters of the longest number, 0 without numbers."""
    if n_rows * n_columns <= MAX_NUMBERED and n_columns <= 12:
        narrow, height = (max(0.42, 0.16 + 0.075 * longest), 0.4) if longest else (0.3, 0.3)
        wide = max(narrow, min(_text_width(columns), 0.85)) if columns is not None else narrow
        left = (_text_width(rows) if rows is not None else 0.2) + 0.6
        one_line = n_panels * (n_columns * wide + 0.25) + left <= MAX_WIDTH
        return (wide if one_line else narrow), height

    side = {1: 3.6, 2: 2.9, 3: 2.0}.get(n_panels, 1.45)  # of a panel, so that four fit beside each other
    width, height = min(0.36, side / n_columns), min(0.36, side / n_rows)
    square = min(width, height)
    if square * min(n_rows, n_columns) >= 0.5 * side:  # square cells, unless that leaves a mere strip
        width = height = square
    named = 0.19  # the least that a line of text needs
    return max(width, named if columns is not None else 0), max(height, named if rows is not None else 0)


def _draw_cells(axes, matrix, kind, limits, decimals, cell):
    """Colour the cells, and write in them; return the image that the colour bar describes."""
    from matplotlib.patches import Rectangle

    # Cells without a finite number are left out of the image, and this hatched ground shows through.
    ground = {"facecolor": "#eeeeee", "edgecolor": "#bbbbbb", "hatch": "////", "linewidth": 0}
    axes.add_patch(Rectangle((0, 0), 1, 1, transform=axes.transAxes, zorder=0, **ground))
    image = axes.imshow(np.ma.masked_invalid(matrix), _colour_map(kind), aspect=cell[1] / cell[0], zorder=1)
    image.set_clim(limits)

    n_rows, n_columns = matrix.shape
    if kind == "mask":
        hidden_rows, hidden_columns = np.nonzero(matrix == 0)
        size = 18 * min(cell)  # points
        axes.scatter(hidden_columns, hidden_rows, size**2, GREY, marker="x", linewidths=min(1, size / 6), zorder=3)
    if decimals is not None:
        for (i, j), value in np.ndenumerate(matrix):
            finite = np.isfinite(value)
            colour = _readable_on(image.to_rgba(value)) if finite else "black"
            box = None if finite else {"facecolor": "white", "edgecolor": "none", "pad": 1}
            number = _number(value, decimals)
            axes.text(j, i, number, ha="center", va="center", fontsize=9, color=colour, bbox=box, zorder=3)

    axes.grid(visible=False)
    if max(n_rows, n_columns) <= 40:
        axes.hlines(np.arange(n_rows + 1) - 0.5, -0.5, n_columns - 0.5, "#cccccc", linewidth=0.6, zorder=2)
        axes.vlines(np.arange(n_columns + 1) - 0.5, -0.5, n_rows - 0.5, "#cccccc", linewidth=0.6, zorder=2)
    axes.set(xlim=(-0.5, n_columns - 0.5), ylim=(n_rows - 0.5, -0.5))
    return image


def _name_cells(axes, shape, rows, columns, tall_names, show_rows):
    """Write names or numbers beside the rows and above the columns."""
    axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False, labelleft=show_rows)
    axes.xaxis.set_label_position("top")
    axes.spines[:].set(visible=True, color="#cccccc", linewidth=0.6)
    axes.set_yticks(*_ticks(shape[0], rows))
    axes.set_xticks(*_ticks(shape[1], columns), rotation=90 if tall_names else 0)


def _ticks(n, names):
    """Return tick places and texts: every name, or numbers with a round step."""
    if names is not None:
        return range(n), [str(name) for name in names]
    step = next(step for step in (1, 2, 4, 8, 16, 32, 64, 128, 256, n) if n / step <= 10 or step == n)
    return range(0, n, step), [str(i) for i in range(0, n, step)]


def _mask_key():
    """Return the two entries of a mask's legend."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    hidden = Line2D([], [], color=GREY, marker="x", linestyle="none", markersize=6, label="may not look")
    return [Patch(color=BLUE, label="may look"), hidden]


def _colour_map(kind):
    """Return the colours of a kind of heat map; white stands for 0 in each."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = {
        "weights": ["white", BLUE],
        "signed": [BLUE, "white", VERMILION],
        "mask": ["white", BLUE],
        "plain": ["white", "#666666"],
    }
    return LinearSegmentedColormap.from_list(kind, colours[kind])


def _limits(kind, values):
    """Return the values at the two ends of the colour scale."""
    if kind in ("weights", "mask"):
        return 0.0, 1.0
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0) or 1.0
    return (-largest if kind == "signed" else 0.0), largest


# Where names go


def _places_for_names(tips, inch):
    """Return a dict from name to the centre (x, y) of its text: near its tip, on no arrow and on no other name.

    inch: how many units of the axes an inch is. Of sixteen directions around the tip and two distances, the
    one that covers least is taken; among equals, the one that goes on in the arrow's own direction.
    """
    shafts = np.concatenate([np.linspace(0, 1, 60)[:, None] * tip for tip in tips.values()])  # (60 n, 2)
    places, boxes = {}, []  # boxes: (centre, half of the width and height)
    for name, tip in tips.items():
        size = inch * np.array([_text_width([name]) + 0.06, 0.2]) / 2
        own = np.arctan2(tip[1], tip[0])
        best = None
        for distance in (0.1, 0.3):
            for turn in (0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6, 7, -7, 8):
                way = np.array([np.cos(own + turn * np.pi / 8), np.sin(own + turn * np.pi / 8)])
                centre = tip + way * (size + distance * inch)
                covered = (np.abs(shafts - centre) < size).all(axis=1).sum()
                covered += 60 * sum((np.abs(other - centre) < half + size).all() for other, half in boxes)
                if best is None or covered < best[0]:
                    best = (covered, centre)
        places[name] = best[1]
        boxes.append((best[1], size))
    return places


def _label_ends(axes, drawn):
    """Write each curve's label right of the axes, level with its end or as near to that as others allow."""
    to_fraction = axes.transScale + axes.transLimits  # from data to fractions of the axes
    axes.autoscale_view()
    ends = np.array([to_fraction.transform((x, y)) for _, _, x, y in drawn])  # (n, 2)
    heights = _spread(ends[:, 1], gap=0.07)
    for (label, colour, _, _), end, height in zip(drawn, ends, heights, strict=True):
        axes.annotate(
            label,
            xy=end,
            xytext=(1.03, height),
            xycoords="axes fraction",
            color=_ink(colour),
            va="center",
            arrowprops={
                "arrowstyle": "-",
                "linestyle": ":",
                "color": colour,
                "relpos": (0, 0.5),
                "shrinkA": 0,
                "shrinkB": 3,
            },
        )


def _spread(positions, gap):
    """Return positions (n,) moved as little as is simple, in the same order, at least gap apart."""
    order = np.argsort(positions, kind="stable")
    raised, lowered = positions[order].astype(float), positions[order].astype(float)
    for i in range(1, len(order)):
        raised[i] = max(raised[i], raised[i - 1] + gap)
        lowered[-1 - i] = min(lowered[-1 - i], lowered[-i] - gap)
    spread = np.empty(len(order))
    spread[order] = (raised + lowered) / 2  # both keep the gap, so their mean does
    return spread


# Small parts


def _checked_alt(alt):
    """Return alt on one line, or raise ValueError if it says nothing."""
    if not isinstance(alt, str) or not alt.strip():
        raise ValueError(f"alt must say in words what the figure shows, got {alt!r}")
    return " ".join(alt.split())


def _as_array(values):
    """Return NumPy arrays, nested lists or torch tensors as a float64 array."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().double()
    return np.asarray(values, dtype=np.float64)


def _checked_matrix(matrix, rows, columns, kind):
    """Return matrix as float64 (n_rows, n_columns), or raise ValueError with what does not fit."""
    matrix = _as_array(matrix)
    if matrix.ndim != 2 or matrix.size == 0:
        raise ValueError(f"a heat map needs a matrix (rows, columns) with cells in it, got shape {matrix.shape}")
    for what, names, n in (("row", rows, matrix.shape[0]), ("column", columns, matrix.shape[1])):
        if names is not None and len(names) != n:
            raise ValueError(f"{len(names)} {what} names for {n} {what}s of a matrix of shape {matrix.shape}")
    if kind == "mask" and not np.isin(matrix, (0, 1)).all():
        raise ValueError(f"a mask holds True and False only, got {matrix[~np.isin(matrix, (0, 1))][0]}")
    return matrix


def _curve(label, x, y):
    """Return the points of one curve as two float64 arrays (n,), or raise ValueError if they do not match."""
    if isinstance(x, dict) and label not in x:
        raise ValueError(f"x has no entry for {label!r}; it has {', '.join(map(repr, x))}")
    xs, ys = _as_array(x[label] if isinstance(x, dict) else x), _as_array(y)
    if xs.ndim != 1 or xs.shape != ys.shape or xs.size == 0:
        raise ValueError(f"{label!r} has y of shape {ys.shape} for x of shape {xs.shape}; both must be (n,)")
    return xs, ys


def _last_point(label, xs, ys, log):
    """Return the last (x, y) of a curve that can be drawn, or raise ValueError if there is none."""
    seen = np.isfinite(xs) & np.isfinite(ys) & (("x" not in log) | (xs > 0)) & (("y" not in log) | (ys > 0))
    if not seen.any():
        raise ValueError(f"{label!r} has no point that can be drawn: x = {xs}, y = {ys}")
    return xs[seen][-1], ys[seen][-1]


def _decimals(values):
    """Return how many decimals to print: none for whole numbers, fewer for large ones."""
    finite = values[np.isfinite(values)]
    if (finite == np.round(finite)).all():
        return 0
    largest = np.abs(finite).max()
    return 2 if largest < 10 else 1 if largest < 100 else 0


def _number(value, decimals):
    """Return a number as text with a real minus sign, and never as minus zero."""
    if np.isnan(value):
        return "nan"
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "−")  # -0.0 + 0.0 is 0.0


def _text_width(texts, points=9):
    """Return about how many inches the longest of some texts takes."""
    return (0.65 * max(len(str(text)) for text in texts) + 0.5) * points / 72


def _ink(colour):
    """Return a darker shade of colour, for text on white."""
    from matplotlib.colors import to_rgb

    return tuple(0.7 * part for part in to_rgb(colour))


def _readable_on(background):
    """Return "black" or "white", whichever stands out more from an RGBA colour (WCAG's contrast)."""
    luminance = np.dot((0.2126, 0.7152, 0.0722), np.power(background[:3], 2.2))
    return "black" if luminance > 0.18 else "white"


def _new_figure(width, height):
    """Return a figure that pyplot knows nothing of, width and height in inches, and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def _course_style():
    """Return a context in which figures look as in the course, whatever the learner's settings."""
    import matplotlib.style

    return matplotlib.style.context(STYLE, after_reset=True)


def _png(figure):
    """Return (png, width): the figure as an opaque PNG file of few bytes, and its width on the page in pixels.

    The file holds no date and no version. It has two pixels for each of the page's, to be sharp on dense
    screens, or fewer where two would take more than MAX_BYTES.
    """
    from PIL import Image

    for density, colours in ((2, 256), (2, 64), (1.5, 64), (1, 64)):
        drawn, reduced = io.BytesIO(), io.BytesIO()
        figure.savefig(drawn, format="png", dpi=density * PIXELS_PER_INCH, facecolor="white")
        image = Image.open(drawn).convert("RGB")
        few = image.quantize(colours, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        few.save(reduced, "png", optimize=True)
        if reduced.tell() < MAX_BYTES:
            break
    return reduced.getvalue(), round(image.width / density)


# Lesson 04: which feature of which word stands where

FEATURE_COLOURS = ("#0072B2", "#56B4E9", "#D55E00", "#E69F00")  # head 0 blue, head 1 orange, while there are two heads


def features_in_colour(panels, *, words, alt):
    """Show where each feature of each word stands: its colour is the feature, the text in it the word.

    panels: list of (title, codes); codes (T, n) or (h, T, n), whole numbers word * d_model + feature, each once.
    words: T names. ValueError if a code is missing or d_model is above 4, for which there are no colours.
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    alt = _checked_alt(alt)
    arrays = [(title, _as_array(codes)) for title, codes in panels]
    stacks = [(title, codes if codes.ndim == 3 else codes[None]) for title, codes in arrays]  # (h, T, n) each
    d_model = stacks[0][1].size // len(words)
    for title, codes in stacks:
        if sorted(codes.ravel()) != list(range(d_model * len(words))) or d_model > len(FEATURE_COLOURS):
            raise ValueError(f"panel {title!r} must hold each of 0 ... {len(words)} * d_model - 1 once, d_model <= 4")

    cell_width, cell_height, gap = 0.5, 0.34, 0.75  # inches, and rows between two heads
    widths = [max(codes.shape[2] * cell_width + 0.85, 0.095 * len(title) + 0.1) for title, codes in stacks]
    rows = max(codes.shape[0] * (codes.shape[1] + gap) for _, codes in stacks)
    with _course_style():
        figure = Figure(figsize=(sum(widths) + 0.2, rows * cell_height + 0.55), layout="constrained")
        drawn = figure.subplots(1, len(stacks), squeeze=False, width_ratios=widths)[0]
        for axes, (title, codes) in zip(drawn, stacks, strict=True):
            h, T, n = codes.shape
            for (head, t, column), code in np.ndenumerate(codes.astype(int)):
                word, feature = divmod(code, d_model)
                top, colour = head * (T + gap) + t, FEATURE_COLOURS[feature]
                axes.add_patch(Rectangle((column, top), 1, 1, facecolor=colour, edgecolor="white", linewidth=1.5))
                ink = _readable_on(tuple(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)))
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
        show(figure, alt)


# Lesson 06: positions


def clock_hands(encoding, *, alt, pairs, positions, title=""):
    """Show pairs of columns (2i, 2i + 1) of a sinusoidal encoding as clocks, a row for each pair.

    encoding: (max_len, d_model), sines in the even columns. A hand points to (sine, cosine), so that it starts
    upright at position 0 and turns clockwise. pairs: numbers i. positions: rows of the encoding, a column of
    clocks each.
    IndexError for a pair or position that the encoding does not have; ValueError if alt is empty.
    """
    alt = _checked_alt(alt)
    encoding = _as_array(encoding)
    with _course_style():
        figure, axes = _new_figure(0.62 * len(positions) + 1.3, 0.62 * len(pairs) + (0.85 if title else 0.55))
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
        show(figure, alt)


def _circle(centre, radius):
    from matplotlib.patches import Circle

    return Circle(centre, radius, facecolor="white", edgecolor="#bbbbbb", linewidth=1)
