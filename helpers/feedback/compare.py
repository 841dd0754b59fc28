"""A learner's latest attempt beside the solution, line by line."""

import ast
import difflib
import html
import json
from dataclasses import dataclass

from ..course import course_folder, lesson_of
from .registry import get
from .report import boxed
from .sources import exercise_number, has_code, learners_source, same_code
from .twins import starting_source

_attempts = {}  # the source of the latest attempt at each exercise in this session


def remember(exercise_id, candidate):
    """Keep an attempt's source for this session."""
    source = learners_source(candidate)
    if source is None:
        _attempts.pop(exercise_id, None)
    else:
        _attempts[exercise_id] = source


def compare(exercise_id):
    """The learner's latest attempt at an exercise beside the solution, as a diff that a notebook shows.

    Raises ValueError for a number that does not exist.
    """
    name = get(exercise_id).name
    solution = _solution(exercise_id)
    if solution is None:
        return Note(
            f"○ {exercise_id} {name}: there is nothing to compare with: "
            "the folder solutions/ or this lesson in it is missing or damaged."
        )
    attempt = _attempts.get(exercise_id)
    if attempt is None:
        return Note(
            f"○ {exercise_id} {name}: run the exercise's cell first; "
            "compare then shows your version beside the solution."
        )
    if _body(attempt) == _body(solution):
        return Note(f"✓ {exercise_id} {name}: your version and the solution are the same, line by line.")
    return Difference(
        f"{exercise_id} {name}",
        _body(attempt),
        _body(solution),
        same_code(attempt, solution),
        _is_untouched(get(exercise_id), attempt, solution),
    )


def _solution(exercise_id):
    """The source of an exercise's cell in the solutions, or None where there is none that can be read."""
    file = course_folder() / "solutions" / f"{lesson_of(exercise_id).slug}_solution.ipynb"
    try:
        cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    for cell in cells if isinstance(cells, list) else ():
        source = cell.get("source") if isinstance(cell, dict) and cell.get("cell_type") == "code" else None
        if isinstance(source, list) and all(isinstance(line, str) for line in source):
            source = "".join(source)
        try:
            if isinstance(source, str) and exercise_number(ast.parse(source)) == exercise_id:
                return source
        except (SyntaxError, ValueError, RecursionError):
            continue
    return None


def _is_untouched(exercise, attempt, solution):
    """Whether an attempt is what the lesson gives: a stub, or in a debugging exercise the function as it was found."""
    if exercise.starts_with:
        return same_code(starting_source(exercise), attempt)
    stubs = sum(line.strip().startswith("raise NotImplementedError") for line in attempt.splitlines())
    return stubs > 0 and stubs == solution.count("### BEGIN SOLUTION") and not has_code(attempt)


def _body(source):
    """A definition's lines without decorator, docstring and markers: what the two versions can differ in."""
    lines = source.strip("\n").splitlines()
    hidden = {n for n, line in enumerate(lines, 1) if line.strip() in ("### BEGIN SOLUTION", "### END SOLUTION")}
    try:
        tree = ast.parse("\n".join(lines))
    except SyntaxError:  # as a cell with a magic command in it
        return [line.rstrip() for line in lines]
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            hidden |= {n for d in node.decorator_list for n in range(d.lineno, d.end_lineno + 1)}
            if ast.get_docstring(node) is not None:
                hidden |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return [line.rstrip() for n, line in enumerate(lines, 1) if n not in hidden]


@dataclass(frozen=True, repr=False)
class Note:
    """One sentence, the same in a notebook and in plain text."""

    text: str

    def __str__(self):
        return self.text

    __repr__ = __str__

    def _repr_html_(self):
        return boxed(html.escape(self.text), "#009E73" if self.text.startswith("✓") else "#888888")


# Beneath each other on a laptop's screen, beside each other where there is room. A page that takes the style away
# (as JupyterLab does with a notebook it does not trust) shows the first only.
_STYLE = """<style>@media (min-width: 1200px) {
.course-compare-narrow { display: none !important } .course-compare-wide { display: block !important } }</style>"""
_CODE = "text-align:left;white-space:pre;font-family:var(--jp-code-font-family,monospace);padding:0 0.6em"


@dataclass(frozen=True, repr=False)
class Difference:
    """Two versions that differ. same: whether only comments and layout do. untouched: whether yours is still the stub.

    Beneath each other, − marks a line that only the learner's has and + one that only the solution has; beside each
    other, ≠ marks two lines that differ.
    """

    title: str
    yours: list
    solution: list
    same: bool = False
    untouched: bool = False

    def rows(self):
        """(mark, your line, the solution's line) from top to bottom, as they stand beside each other."""
        for kind, left, right in self._blocks():
            for i in range(max(len(left), len(right))):
                mine, theirs = (part[i] if i < len(part) else "" for part in (left, right))
                mark = (
                    " " if kind == "equal" else "≠" if i < min(len(left), len(right)) else "−" if i < len(left) else "+"
                )
                yield mark, mine, theirs

    def lines(self):
        """(mark, line) from top to bottom, as they stand beneath each other."""
        for kind, left, right in self._blocks():
            if kind == "equal":
                yield from ((" ", line) for line in left)
            else:
                yield from (("−", line) for line in left)
                yield from (("+", line) for line in right)

    def _blocks(self):
        matcher = difflib.SequenceMatcher(None, self.yours, self.solution, autojunk=False)
        for kind, a, b, c, d in matcher.get_opcodes():
            yield kind, self.yours[a:b], self.solution[c:d]

    @property
    def verdict(self):
        """One sentence on what differs."""
        if self.same:
            return "The code is the same; only comments or layout differ."
        if self.untouched:
            return "You have not changed anything yet. What differs is the solution."
        n = sum(mark != " " for mark, _, _ in self.rows())
        return f"{n} line{'s differ' if n != 1 else ' differs'}. Both may be right: the report says whether yours is."

    def __str__(self):
        legend = "− only in yours, + only in the solution"
        return "\n".join(
            [
                f"{self.title}: {self.verdict}",
                f"  ({legend})",
                *(f"{mark} {line}".rstrip() for mark, line in self.lines()),
            ]
        )

    __repr__ = __str__

    def _repr_html_(self):
        narrow = "".join(_row(_cell(mark), _cell(line, mark)) for mark, line in self.lines())
        wide = "".join(
            _row(_cell(mark), _cell(mine, mark if mine else " "), _cell(theirs, mark if theirs else " "))
            for mark, mine, theirs in self.rows()
        )
        head = '<tr><th></th><th style="text-align:left">yours</th><th style="text-align:left">solution</th></tr>'
        beneath = _block("narrow", "block", narrow, "− only in yours, + only in the solution")
        beside = _block("wide", "none", head + wide, "≠ the lines differ, − only in yours, + only in the solution")
        title = f"<div><b>{html.escape(self.title)}</b></div><div>{html.escape(self.verdict)}</div>"
        return boxed(f"{_STYLE}{title}{beneath}{beside}", "#0072B2")


def _block(name, display, rows, legend):
    table = f'<div style="overflow-x:auto"><table style="margin:0.3em 0">{rows}</table></div>'
    small = f'<div style="font-size:85%;opacity:0.8">{legend}</div>'
    return f'<div class="course-compare-{name}" style="display:{display}">{table}{small}</div>'


def _row(*cells):
    return f'<tr style="background:none">{"".join(cells)}</tr>'  # JupyterLab stripes the rows of tables


def _cell(text, mark=" "):
    """One cell of a table, with an edge where it holds a line that the other side has not."""
    edge = {"+": ";box-shadow:inset 3px 0 #0072B2", " ": ""}.get(mark, ";box-shadow:inset 3px 0 #D55E00")
    return f'<td style="{_CODE}{edge}">{html.escape(text)}</td>'
