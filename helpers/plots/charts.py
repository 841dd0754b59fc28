"""Arrows, curves and bars."""

import textwrap

import numpy as np

from . import core, describe


def arrows(vectors, *, alt=None, title="", xlabel="", ylabel="", colours=None):
    """Show two-dimensional vectors as labelled arrows from the origin, both axes to the same scale.

    vectors: dict from name to (x, y). colours: dict from name to colour, for names to have another than their own.
    ValueError if one is not a pair of finite numbers, or if there is none.
    """
    tips = {name: core.as_array(vector) for name, vector in vectors.items()}
    if not tips:
        raise ValueError("arrows needs at least one vector, got an empty dict")
    for name, tip in tips.items():
        if tip.shape != (2,) or not np.isfinite(tip).all():
            raise ValueError(f"vector {name!r} must be two finite numbers (x, y), got {tip.tolist()}")

    alt = core.checked_alt(describe.arrows(tips, title, xlabel, ylabel) if alt is None else alt)
    colours = core.colours_of(tips, colours)
    with core.course_style():
        figure, axes = core.new_figure(4.6, 4.4)
        points = np.array([*tips.values(), (0.0, 0.0)])  # (n + 1, 2)
        centre = (points.max(axis=0) + points.min(axis=0)) / 2
        half = 0.72 * (np.ptp(points, axis=0).max() or 1.0)  # leaves room for the names
        axes.set(xlim=centre[0] + half * np.array([-1, 1]), ylim=centre[1] + half * np.array([-1, 1]))
        axes.set(title=title, xlabel=xlabel, ylabel=ylabel)
        axes.set_aspect("equal")
        axes.axhline(0, color="#bbbbbb", linewidth=1)
        axes.axvline(0, color="#bbbbbb", linewidth=1)
        places = _places_for_names(tips, inch=half / 1.9)
        for name, tip in tips.items():
            colour = colours[name]
            if tip.any():
                arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 2, "shrinkA": 0, "shrinkB": 0}
                axes.annotate("", xy=tip, xytext=(0, 0), arrowprops=arrow)
            else:
                axes.plot(0, 0, "o", color=colour)
            axes.text(*places[name], name, color=core.ink(colour), ha="center", va="center")
        core.show(figure, alt)


def lines(
    x, series, *, xlabel, ylabel, alt=None, title="", log="", guides=None, marks=None, label_at="end", colours=None
):
    """Show curves, each labelled in its own colour, at its right end or at its peak.

    x: (n,) for all curves, or a dict from label to (n,) where they differ.
    series: dict from label to (n,) values.
    log: "", "x", "y" or "xy": the axes with a logarithmic scale. A logarithmic x is ticked at the measured sizes,
        a linear one at every place where these are a few whole numbers in a row.
    guides: dict from label to (n,) values, or to one number for a level line; drawn dashed and grey.
    marks: bool, whether to dot each point; unless given, curves of at most 20 points are dotted.
    label_at: "end" or "peak". colours: dict from label to colour, for labels that are to have another than theirs.
    ValueError if a curve has another length than its x or no point that can be drawn, or if alt is empty.
    """
    if label_at not in ("end", "peak"):
        raise ValueError(f'label_at must be "end" or "peak", got {label_at!r}')
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

    if alt is None:
        alt = describe.lines(curves, guide_curves, xlabel, ylabel, title, log)
    alt = core.checked_alt(alt)
    colours = core.colours_of(curves, colours)
    with core.course_style():
        figure, axes = core.new_figure(7.0, 3.6)
        axes.set(xlabel=xlabel, ylabel=ylabel, title=title)
        if "x" in log:
            axes.set_xscale("log")
        if "y" in log:
            axes.set_yscale("log")
        drawn = []  # (label, colour, last x, last y)
        for label, (xs, ys) in guide_curves.items():
            axes.plot(xs, ys, "--", color="#777777", linewidth=1.3)
            drawn.append((label, "#777777", *_last_point(label, xs, ys, log)))
        peaks = []  # the same, of the highest points
        for label, (xs, ys) in curves.items():
            dotted = len(xs) <= 20 if marks is None else marks
            axes.plot(xs, ys, color=colours[label], marker="o" if dotted else None)
            end = _last_point(label, xs, ys, log)
            if label_at == "peak":
                peaks.append((label, colours[label], xs[np.nanargmax(ys)], np.nanmax(ys)))
            else:
                drawn.append((label, colours[label], *end))
        if "x" in log:
            _tick_measured(axes, x_all)
        else:
            _tick_each(axes, x_all)
        _label_ends(axes, drawn)
        _label_peaks(axes, peaks)
        core.show(figure, alt)


def bars(labels, series, *, ylabel, alt=None, title="", ylim=None, guides=None, colours=None):
    """Show groups of bars, one group a label and one bar of it a series, with their values while they are few.

    labels: n names. series: dict from name to (n,) values. ylim: (low, high), or None to fit.
    guides: dict from label to a number, a dashed grey level line.
    colours: dict from series, or from label where there is one series of words, to colour.
    ValueError if a series has another number of values than there are labels, or if alt is empty.
    """
    labels = [str(label) for label in labels]
    heights = {name: core.as_array(values) for name, values in series.items()}
    if not labels or not heights:
        raise ValueError(f"bars needs labels and series, got {len(labels)} labels and {len(heights)} series")
    for name, values in heights.items():
        if values.shape != (len(labels),):
            raise ValueError(f"series {name!r} has shape {values.shape}, but there are {len(labels)} labels")

    alt = core.checked_alt(describe.bars(labels, heights, guides, ylabel, title) if alt is None else alt)
    by_word = len(heights) == 1 and all(label in core.WORD_COLOURS for label in labels)
    colours = core.colours_of(dict.fromkeys(labels if by_word else heights), colours)
    with core.course_style():
        n_bars = len(labels) * len(heights)
        figure, axes = core.new_figure(min(7.0, max(3.8, 1.5 + 0.6 * n_bars)), 3.4)
        width = 0.8 / len(heights)
        everything = np.concatenate(list(heights.values()))
        decimals = core.decimals(everything)
        for i, (name, values) in enumerate(heights.items()):
            places = np.arange(len(labels)) + (i - (len(heights) - 1) / 2) * width
            colour = [colours[label] for label in labels] if by_word else colours[name]
            drawn = axes.bar(places, np.nan_to_num(values), 0.92 * width, label=name, color=colour)
            if n_bars <= 14:
                axes.bar_label(drawn, [core.number(value, decimals) for value in values], padding=2, fontsize=9)
        axes.axhline(0, color="#888888", linewidth=1)
        for label, level in (guides or {}).items():
            axes.axhline(level, color="#777777", linewidth=1.3, linestyle="--", label=label)
        axes.set_xticks(range(len(labels)), [textwrap.fill(label, max(8, 56 // len(labels))) for label in labels])
        axes.grid(visible=False, axis="x")
        axes.margins(y=0.12)
        axes.set(ylabel=ylabel, title=title, ylim=ylim)
        if len(heights) > 1 or guides:
            figure.legend(loc="outside lower center", ncols=min(len(heights), 4))
        core.show(figure, alt)


def _places_for_names(tips, inch):
    """Return a dict from name to the centre (x, y) of its text: near its tip, on no arrow and on no other name.

    inch: how many units of the axes an inch is. Of sixteen directions around the tip and two distances, the
    one that covers least is taken; among equals, the one that goes on in the arrow's own direction.
    """
    shafts = np.concatenate([np.linspace(0, 1, 60)[:, None] * tip for tip in tips.values()])  # (60 n, 2)
    places, boxes = {}, []  # boxes: (centre, half of the width and height)
    for name, tip in tips.items():
        size = inch * np.array([core.text_width([name]) + 0.06, 0.2]) / 2
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
    if not drawn:
        return
    to_fraction = axes.transScale + axes.transLimits  # from data to fractions of the axes
    axes.autoscale_view()
    ends = np.array([to_fraction.transform((x, y)) for _, _, x, y in drawn])  # (n, 2)
    short = ends[:, 0] < 0.8 * ends[:, 0].max()  # a line from here to a label on the right would cross other curves
    if short.any():
        for i in np.flatnonzero(short):
            _label_short(axes, *drawn[i], under=ends[i, 1] < 0.5)
        axes.margins(y=0.14)
        axes.autoscale_view()
        drawn = [drawn[i] for i in np.flatnonzero(~short)]
        ends = np.array([to_fraction.transform((x, y)) for _, _, x, y in drawn])
    heights = _spread(ends[:, 1], gap=0.07)
    for (label, colour, _, _), end, height in zip(drawn, ends, heights, strict=True):
        axes.annotate(
            label,
            xy=end,
            xytext=(1.03, height),
            xycoords="axes fraction",
            color=core.ink(colour),
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


def _label_short(axes, label, colour, x, y, under):
    """Write a curve's label under its last point, or over it."""
    place = {"xytext": (0, -7), "va": "top"} if under else {"xytext": (0, 7), "va": "bottom"}
    axes.annotate(label, xy=(x, y), color=core.ink(colour), textcoords="offset points", ha="center", **place)


def _label_peaks(axes, peaks):
    """Write each curve's label above its highest point, with a rim of white, for other curves may run behind it."""
    from matplotlib.patheffects import withStroke

    for label, colour, x, y in peaks:
        above = {"textcoords": "offset points", "xytext": (0, 7), "ha": "center", "va": "bottom"}
        rim = [withStroke(linewidth=4, foreground="white")]
        axes.annotate(label, xy=(x, y), color=core.ink(colour), path_effects=rim, **above)
    if peaks:
        axes.margins(x=0.08, y=0.14)


def _tick_each(axes, values):
    """Tick a linear x axis at every place where its values are a few whole numbers in a row."""
    places = np.unique(values[np.isfinite(values)])
    if 2 <= len(places) <= 13 and np.array_equal(places, places[0] + np.arange(len(places))) and places[0] % 1 == 0:
        axes.set_xticks(places, [describe.number(place) for place in places])


def _tick_measured(axes, values):
    """Tick a logarithmic x axis at the sizes that were measured, leaving out what would stand too close to another."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

    sizes = sorted({float(value) for value in values if np.isfinite(value) and value > 0})
    if not 2 <= len(sizes) <= 40:
        return
    texts = [describe.number(size) for size in sizes]
    inches = 5.2 * np.log(np.array(sizes) / sizes[0]) / np.log(sizes[-1] / sizes[0])  # from the left end of the axis
    kept = [len(sizes) - 1]  # the largest size first: it is what a reader looks for
    for i in reversed(range(len(sizes) - 1)):
        if inches[kept[-1]] - inches[i] >= (core.text_width([texts[i]]) + core.text_width([texts[kept[-1]]])) / 2:
            kept.append(i)
    kept.reverse()
    axes.xaxis.set_major_locator(FixedLocator([sizes[i] for i in kept]))
    axes.xaxis.set_major_formatter(FixedFormatter([texts[i] for i in kept]))
    axes.xaxis.set_minor_locator(NullLocator())


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


def _curve(label, x, y):
    """Return the points of one curve as two float64 arrays (n,), or raise ValueError if they do not match."""
    if isinstance(x, dict) and label not in x:
        raise ValueError(f"x has no entry for {label!r}; it has {', '.join(map(repr, x))}")
    xs, ys = core.as_array(x[label] if isinstance(x, dict) else x), core.as_array(y)
    if xs.ndim != 1 or xs.shape != ys.shape or xs.size == 0:
        raise ValueError(f"{label!r} has y of shape {ys.shape} for x of shape {xs.shape}; both must be (n,)")
    return xs, ys


def _last_point(label, xs, ys, log):
    """Return the last (x, y) of a curve that can be drawn, or raise ValueError if there is none."""
    seen = np.isfinite(xs) & np.isfinite(ys) & (("x" not in log) | (xs > 0)) & (("y" not in log) | (ys > 0))
    if not seen.any():
        raise ValueError(f"{label!r} has no point that can be drawn: x = {xs}, y = {ys}")
    return xs[seen][-1], ys[seen][-1]
