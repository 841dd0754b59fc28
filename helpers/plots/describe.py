"""What a picture shows, in words: the alternative text of a figure for which a lesson gives none."""

import numpy as np

from . import core

MAX_ROWS = 12  # more rows than that are summed up
MAX_NAMED = 4  # entries of one row that are named one by one


def matrix(panels, rows, columns, kind, title):
    """The sentences for one matrix or several. panels: (title, matrix) pairs as they are drawn."""
    if len(panels) == 1:
        name, values = panels[0]
        what = name or title or {"mask": "Mask", "weights": "Weights"}.get(kind, "Matrix")
        return f"{_capital(what)}, {_size(values, rows, columns)}: {_one_matrix(values, rows, columns, kind)}"
    sentences = [f"{_capital(name)}: {_one_matrix(values, rows, columns, kind)}" for name, values in panels]
    return f"{len(panels)} matrices, {_size(panels[0][1], rows, columns)}. {' '.join(sentences)}"


def _size(values, rows, columns):
    n_rows, n_columns = values.shape
    return f"{_count(n_rows, 'row')} by {_count(n_columns, 'column')}"


def _one_matrix(values, rows, columns, kind):
    """What stands in one matrix, ending with a full stop."""
    n_rows, n_columns = values.shape
    row_names = [str(name) for name in rows] if rows is not None else [f"row {i}" for i in range(n_rows)]
    column_names = [str(name) for name in columns] if columns is not None else [f"column {j}" for j in range(n_columns)]
    if kind == "mask":
        return _mask(values != 0, row_names, column_names)
    if n_rows > MAX_ROWS or n_columns > MAX_ROWS:
        return _summed_up(values, kind)
    decimals = core.decimals(values)
    groups = {}  # what is said of a row: the names of the rows of which it is true
    for name, row in zip(row_names, values, strict=True):
        groups.setdefault(_row(row, column_names, decimals), []).append(name)
    return "; ".join(f"{_listed(list(dict.fromkeys(names)))}: {said}" for said, names in groups.items()) + "."


def _row(row, column_names, decimals):
    """What stands in one row: its most frequent number once, as that of "the rest", and the others by name."""
    texts = [core.number(value, decimals) for value in row]
    if len(set(texts)) == 1:
        return f"{texts[0]} everywhere" if len(texts) > 1 else texts[0]
    common = max(dict.fromkeys(texts), key=lambda text: (texts.count(text), text.strip("0.") == ""))
    rest = common if texts.count(common) > 1 else None
    named = [j for j, text in enumerate(texts) if text != rest]
    if rest is None and len(named) > MAX_NAMED or len(named) > 2 * MAX_NAMED:
        size = np.abs(np.nan_to_num(row, posinf=np.inf, neginf=-np.inf))
        named = sorted(sorted(range(len(row)), key=lambda j: -size[j])[:MAX_NAMED])
        rest = "smaller"
    said = [f"{column_names[j]} {texts[j]}" for j in named]
    return ", ".join([*said, f"the rest {rest}"] if rest is not None else said)


def _mask(allowed, row_names, column_names):
    n_rows, n_columns = allowed.shape
    if allowed.all():
        return "every row may look at every column."
    if n_rows == n_columns and np.array_equal(allowed, np.tri(n_rows, dtype=bool)):
        return "each row may look at its own column and at those before it."
    if n_rows > MAX_ROWS or n_columns > MAX_ROWS:
        return f"{allowed.sum():,} of {allowed.size:,} cells may look."
    groups = {}
    for name, row in zip(row_names, allowed, strict=True):
        seen = [column for column, may in zip(column_names, row, strict=True) if may]
        whom = "everything" if row.all() else _listed(seen) if seen else "nothing"
        groups.setdefault(whom, []).append(name)
    return "; ".join(
        f"{_listed(names)} may look at {whom}" if len(groups) > 1 else f"every row may look at {whom}"
        for whom, names in groups.items()
    ) + "."  # fmt: skip


def _summed_up(values, kind):
    finite = values[np.isfinite(values)]
    if not finite.size:
        return "no finite number."
    said = f"values from {number(finite.min())} to {number(finite.max())}"
    if kind == "weights":
        largest = np.nan_to_num(values).max(axis=1)
        said += f", the largest of a row {number(np.median(largest))} in the middle row"
    if _is_alike_along_diagonals(values):
        said += ", the same all along each diagonal"
        said += " and largest on the middle one" if np.diagonal(values)[0] == finite.max() else ""
    return said + "."


def _is_alike_along_diagonals(values):
    """Whether an entry depends on its column less its row only, up to rounding."""
    return bool(np.allclose(values[1:, 1:], values[:-1, :-1], rtol=0, atol=1e-4 * np.ptp(values)))


def arrows(tips, title, xlabel, ylabel):
    """The sentence for some arrows. tips: dict from name to (x, y)."""
    axes = f", {xlabel} to the right and {ylabel} up" if xlabel and ylabel else ""
    ends = "; ".join(f"{name} to ({number(x)}, {number(y)})" for name, (x, y) in tips.items())
    return f"{_titled(title)}{_count(len(tips), 'arrow')} from the origin{axes}: {ends}."


def lines(curves, guides, xlabel, ylabel, title, log):
    """The sentences for some curves. curves, guides: dict from label to (xs, ys)."""
    axes = {"x": "the horizontal axis", "y": "the vertical axis", "xy": "both axes"}
    scale = f" ({axes[log]} logarithmic)" if log else ""
    said = [_curve(label, xs, ys) for label, (xs, ys) in curves.items()]
    said += [f"dashed, {_curve(label, xs, ys)}" for label, (xs, ys) in guides.items()]
    return f"{_titled(title)}{_capital(ylabel)} against {xlabel}{scale}: {'; '.join(said)}."


def _curve(label, xs, ys):
    """Where a curve starts and ends, and its highest and lowest point where they lie between."""
    seen = np.isfinite(xs) & np.isfinite(ys)
    xs, ys = xs[seen], ys[seen]
    if len(xs) == 1 or (number(ys.min()) == number(ys.max())):
        return f"{label} is {number(ys[0])}"
    said = f"{label} from {number(ys[0])} at {number(xs[0])} to {number(ys[-1])} at {number(xs[-1])}"
    high, low = int(ys.argmax()), int(ys.argmin())
    ends = {number(ys[0]), number(ys[-1])}
    if 0 < high < len(ys) - 1 and number(ys[high]) not in ends:
        said += f", highest {number(ys[high])} at {number(xs[high])}"
    if 0 < low < len(ys) - 1 and number(ys[low]) not in ends:
        said += f", lowest {number(ys[low])} at {number(xs[low])}"
    return said


def bars(labels, heights, guides, ylabel, title):
    """The sentences for groups of bars. heights: dict from series to (n,) values; guides: from label to a number."""
    said = []
    for name, values in heights.items():
        each = ", ".join(f"{label} {number(value)}" for label, value in zip(labels, values, strict=True))
        said.append(each if len(heights) == 1 else f"{name}: {each}")
    said += [f"dashed level {label}: {number(level)}" for label, level in (guides or {}).items()]
    return f"{_titled(title)}Bars of {ylabel}: {'; '.join(said)}."


def number(value):
    """A number for the ear: whole numbers as they are, others with three significant digits, no needless exponent."""
    value = float(value)
    if not np.isfinite(value):
        return core.number(value, 0)
    if value == round(value) and abs(value) < 1e6:
        return f"{value + 0.0:,.0f}".replace("-", "−")
    rounded = float(f"{value:.3g}")
    if rounded == 0:
        return "0"
    if 1e-4 <= abs(rounded) < 1e7:
        text = f"{rounded:,.10f}".rstrip("0").rstrip(".")
    else:
        text = f"{value:.0e}".replace("e+0", "e").replace("e-0", "e−").replace("e+", "e").replace("e-", "e−")
    return text.replace("-", "−")


def _titled(title):
    return f"{_capital(title.rstrip('.'))}. " if title else ""


def _capital(text):
    """Text with a capital at its start, unless it starts with a symbol such as d_k."""
    first = text.split()[0] if text.split() else ""
    return text[:1].upper() + text[1:] if first.isalpha() else text


def _count(n, what):
    return f"{n} {what}{'' if n == 1 else 's'}"


def _listed(names):
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
