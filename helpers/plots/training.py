"""What several training runs did: the middle run as a curve, the others as a band around it."""

import numpy as np

from . import core, describe

WIDE, NARROW, HIGH = 5.6, 2.35, 3.3  # inches: a panel alone, one of several, and every panel


def spread_lines(x, panels, *, xlabel, ylabel, alt=None, log="", guides=None):
    """Show panels of curves, each the median over several seeds, in a band from the smallest to the largest.

    x: (n,) for all curves. panels: dict from title to a dict from label to (n, seeds); a label has one colour in all.
    log: "", "x", "y" or "xy": the axes with a logarithmic scale; a logarithmic x is ticked at x.
    guides: dict from label to a number, a dashed grey level line. alt: str, or None to derive it.
    ValueError if a curve does not have one row per x, or if there is no panel.
    """
    from matplotlib.figure import Figure

    x = core.as_array(x)
    curves = {title: {label: core.as_array(y) for label, y in panel.items()} for title, panel in panels.items()}
    if not curves or not all(curves.values()):
        raise ValueError("spread_lines needs panels with curves in them, got an empty dict")
    for title, panel in curves.items():
        for label, y in panel.items():
            if y.ndim != 2 or len(y) != len(x):
                raise ValueError(f"{label!r} in {title!r} has shape {y.shape}, not ({len(x)}, seeds)")

    alt = core.checked_alt(_described(x, curves, xlabel, ylabel, guides) if alt is None else alt)
    colours = core.colours_of(dict.fromkeys(label for panel in curves.values() for label in panel))
    with core.course_style():
        width = WIDE if len(curves) == 1 else NARROW * len(curves) + 0.7
        figure = Figure(figsize=(width, HIGH), layout="constrained")
        drawn = figure.subplots(1, len(curves), squeeze=False, sharex=True, sharey=True)[0]
        for axes, (title, panel) in zip(drawn, curves.items(), strict=True):
            for label, level in (guides or {}).items():
                axes.axhline(level, color="#777777", linewidth=1.3, linestyle="--", label=label)
            for label, y in panel.items():
                marker = "o" if len(x) <= 20 else None
                axes.plot(x, np.median(y, axis=-1), color=colours[label], marker=marker, label=label)
                axes.fill_between(x, y.min(axis=-1), y.max(axis=-1), color=colours[label], alpha=0.22, linewidth=0)
            axes.set(title=title, xlabel=xlabel)
            if "x" in log:
                axes.set_xscale("log")
                axes.set_xticks(x, [describe.number(size) for size in x])
                axes.minorticks_off()
            if "y" in log:
                axes.set_yscale("log")
        drawn[0].set_ylabel(ylabel)
        handles, labels = drawn[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        core.show(figure, alt)


def _described(x, curves, xlabel, ylabel, guides):
    """Where the median of each curve starts and ends, and its lowest point where that lies between."""
    said = []
    for title, panel in curves.items():
        ends = []
        for label, y in panel.items():
            middle = np.median(y, axis=-1)
            text = f"{label} from {_short(middle[0])} to {_short(middle[-1])}"
            lowest = int(middle.argmin())
            if 0 < lowest < len(x) - 1 and middle[lowest] < 0.8 * min(middle[0], middle[-1]):
                text += f", lowest {_short(middle[lowest])} at {describe.number(x[lowest])}"
            ends.append(text)
        said.append(f"{title}: {'; '.join(ends)}." if title else f"{'; '.join(ends)}.")
    levels = "".join(f" Dashed level {label}: {describe.number(level)}." for label, level in (guides or {}).items())
    seeds = next(iter(next(iter(curves.values())).values())).shape[1]
    span = f"{xlabel} from {describe.number(x[0])} to {describe.number(x[-1])}"
    return f"{ylabel.capitalize()} against {span}, median of {seeds} runs. {' '.join(said)}{levels}"


def _short(value):
    """A number with one significant digit below 0.1 and two above, as no reader needs more of a training run."""
    return describe.number(float(f"{value:.1g}" if abs(value) < 0.1 else f"{value:.2g}"))
