"""Matrices as coloured cells: rows are queries ("who looks"), columns are keys ("at whom"), white means zero."""

import textwrap

import numpy as np

from . import core, describe

MAX_NUMBERED = 80  # cells: more than that and the numbers no longer help
KINDS = ("weights", "signed", "mask", "plain")


def heatmap(matrix, *, alt=None, rows=None, columns=None, kind="weights", title="", row_label=None, column_label=None):
    """Show a matrix as coloured cells, with its numbers while it is small.

    matrix: (n_rows, n_columns), real or bool; NaN and infinite cells are hatched.
    rows, columns: n_rows and n_columns names, or None for 0, 1, 2, ...
    kind: "weights" (white 0 to blue 1), "signed" (blue above 0, orange below), "mask" (dark: may look),
        or "plain" (grey by size, whatever the sign).
    row_label, column_label: str; "who looks" and "at whom" unless given for weights and masks, else none.
    alt: str, what the picture shows; unless given, the rows are put into words.
    ValueError if the matrix is not 2-D, is empty, has another number of names, or if alt is empty.
    """
    _show([("", matrix)], title, rows, columns, kind, row_label, column_label, alt)


def heatmaps(panels, *, alt=None, rows=None, columns=None, kind="weights", row_label=None, column_label=None):
    """Show several matrices side by side, all on one colour scale; arguments as for `heatmap`.

    panels: list of (title, matrix) pairs; the names in `rows` and `columns` hold for every matrix.
    """
    _show(list(panels), "", rows, columns, kind, row_label, column_label, alt)


def _show(panels, title, rows, columns, kind, row_label, column_label, alt):
    """Draw and show one heat map for each (title, matrix) of panels."""
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    if not panels:
        raise ValueError("heatmaps needs at least one (title, matrix) pair, got none")
    panels = [(name, _checked_matrix(matrix, rows, columns, kind)) for name, matrix in panels]
    alt = core.checked_alt(describe.matrix(panels, rows, columns, kind, title) if alt is None else alt)
    with core.course_style():
        core.show(_heatmap_figure(panels, title, rows, columns, kind, row_label, column_label), alt)


def _heatmap_figure(panels, title, rows, columns, kind, row_label, column_label):
    """Return a figure with one heat map for each (title, matrix) of panels."""
    from matplotlib.figure import Figure

    titles, matrices = zip(*panels, strict=True)
    if kind in ("weights", "mask"):
        row_label = "who looks" if row_label is None else row_label
        column_label = "at whom" if column_label is None else column_label

    n_rows = max(matrix.shape[0] for matrix in matrices)
    n_columns = max(matrix.shape[1] for matrix in matrices)
    values = np.concatenate([matrix.ravel() for matrix in matrices])
    decimals = core.decimals(values)
    numbered = kind != "mask" and n_rows * n_columns <= MAX_NUMBERED and n_columns <= 12
    longest = max(len(core.number(value, decimals)) for value in values) if numbered else 0
    cell = _cell_size(n_rows, n_columns, rows, columns, longest, len(panels))  # (width, height)

    # All places are computed, in inches, from the sizes of the cells and of the texts around them, so that
    # a cell is as large in one figure as in the next and no text is cut off.
    tall_names = columns is not None and core.text_width(columns) > cell[0]
    flat_label = n_rows * cell[1] < 0.8  # too low for upright text
    left = (core.text_width(rows) if rows is not None else 0.3) + 0.1
    left += (0.8 if flat_label else 0.25) if row_label else 0
    right = 0.15 if numbered or kind == "mask" else 0.85  # with room for a colour bar
    same_rows = len({matrix.shape[0] for matrix in matrices}) == 1
    gap = 0.2 if same_rows else left

    titles = [textwrap.fill(text, max(13, int(n_columns * cell[0] / 0.095))) for text in titles]
    least = max(0.65 if column_label else 0, *(core.text_width(text.split("\n"), 11) for text in titles))
    widest = max(n_columns * cell[0], least)
    across = max(1, min(len(panels), int((core.MAX_WIDTH - left - right + gap) / (widest + gap))))
    down = -(-len(panels) // across)
    if down > 1:
        cell = cell[0], min(cell[1], 0.3)  # lower rows, so that all panels fit on a laptop's screen
    across = -(-len(panels) // down)
    slots = [max(least, *(m.shape[1] * cell[0] for m in matrices[i::across])) for i in range(across)]  # widths
    above = (core.text_width(columns) + 0.05 if tall_names else 0.22) + (0.2 if column_label else 0)
    above += 0.18 * max(text.count("\n") + 1 for text in titles) + 0.06 if any(titles) else 0
    top, below = 0.3 if title else 0.05, 0.4 if kind == "mask" else 0.15
    block = sum(slots) + gap * (across - 1)  # the width of all panels
    title = textwrap.fill(title, int(core.MAX_WIDTH / 0.1))
    title_width = core.text_width(title.split("\n"), 11)
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
            turned = {"rotation": 0, "ha": "right", "va": "center"} if flat_label else {}
            axes.set_ylabel(row_label, labelpad=6, **turned)
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
        wide = max(narrow, min(core.text_width(columns), 0.85)) if columns is not None else narrow
        left = (core.text_width(rows) if rows is not None else 0.2) + 0.6
        one_line = n_panels * (n_columns * wide + 0.25) + left <= core.MAX_WIDTH
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
        axes.scatter(hidden_columns, hidden_rows, size**2, core.GREY, marker="x", linewidths=min(1, size / 6), zorder=3)
    if decimals is not None:
        for (i, j), value in np.ndenumerate(matrix):
            finite = np.isfinite(value)
            colour = core.readable_on(image.to_rgba(value)) if finite else "black"
            box = None if finite else {"facecolor": "white", "edgecolor": "none", "pad": 1}
            number = core.number(value, decimals)
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

    hidden = Line2D([], [], color=core.GREY, marker="x", linestyle="none", markersize=6, label="may not look")
    return [Patch(color=core.BLUE, label="may look"), hidden]


def _colour_map(kind):
    """Return the colours of a kind of heat map; white stands for 0 in each."""
    from matplotlib.colors import LinearSegmentedColormap

    colours = {
        "weights": ["white", core.BLUE],
        "signed": [core.VERMILION, "white", core.BLUE],
        "mask": ["white", core.BLUE],
        "plain": ["white", "#666666"],
    }
    return LinearSegmentedColormap.from_list(kind, colours[kind])


def _limits(kind, values):
    """Return the values at the two ends of the colour scale."""
    if kind in ("weights", "mask"):
        return 0.0, 1.0
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0) or 1.0
    return (-largest if kind == "signed" else 0.0), largest


def _checked_matrix(matrix, rows, columns, kind):
    """Return matrix as float64 (n_rows, n_columns), or raise ValueError with what does not fit."""
    matrix = core.as_array(matrix)
    if matrix.ndim != 2 or matrix.size == 0:
        raise ValueError(f"a heat map needs a matrix (rows, columns) with cells in it, got shape {matrix.shape}")
    for what, names, n in (("row", rows, matrix.shape[0]), ("column", columns, matrix.shape[1])):
        if names is not None and len(names) != n:
            raise ValueError(f"{len(names)} {what} names for {n} {what}s of a matrix of shape {matrix.shape}")
    if kind == "mask" and not np.isin(matrix, (0, 1)).all():
        raise ValueError(f"a mask holds True and False only, got {matrix[~np.isin(matrix, (0, 1))][0]}")
    return matrix
