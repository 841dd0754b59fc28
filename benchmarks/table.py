"""The table of measurements: its rows, and how they are written."""

from collections.abc import Sequence
from dataclasses import dataclass

HEADINGS = ("What", "Ours", "Compared with", "Ratio", "Goal")


@dataclass(frozen=True)
class Row:
    """One line of the table: two measurements of one run, and their ratio.

    group: the part of the table it stands in. what: what was measured.
    ours, against: the measurements, with their units. ratio: how many times as dear ours is.
    goal: what was aimed at, empty where nothing was. met: whether it was reached.
    """

    group: str
    what: str
    ours: str
    against: str
    ratio: float
    goal: str = ""
    met: bool = True

    @property
    def cells(self):
        """The row as five strings."""
        mark = "✓" if self.met else "✗"
        return (
            self.what,
            self.ours,
            self.against,
            readable_ratio(self.ratio),
            f"{self.goal} {mark}" if self.goal else "",
        )


def at_most(limit, ratio):
    """Goal and outcome of a ratio that should not exceed a limit, as keywords for a Row."""
    return {"goal": f"≤ {limit:g}", "met": round(ratio, 2) <= limit}


def markdown(rows: Sequence[Row]):
    """The table as Markdown, aligned so that it reads well as plain text too; a line in bold begins each group."""
    lines, group = [HEADINGS], None
    for row in rows:
        if row.group != group:
            lines.append((f"**{row.group}**", "", "", "", ""))
        group = row.group
        lines.append(row.cells)
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADINGS))]
    rule = ["-" * width for width in widths]
    rule[HEADINGS.index("Ratio")] = "-" * (widths[HEADINGS.index("Ratio")] - 1) + ":"
    written = [[cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (written[0], rule, *written[1:])) + "\n"


def readable_ratio(ratio):
    """A ratio in two decimals, in fewer when it is large and in more when it is tiny."""
    return f"{ratio:.2f}" if 0.1 <= ratio < 10 else f"{ratio:.2g}"


def readable_seconds(seconds):
    """A time in two digits and a unit: 0.0517 is "52 ms"."""
    rounded = float(f"{seconds:.2g}")
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if rounded >= size:
            return f"{rounded / size:g} {unit}"
    return f"{rounded / 1e-9:g} ns"
