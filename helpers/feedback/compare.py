"""A learner's latest attempt beside the solution, line by line."""

import ast
import difflib
import html
import json
from dataclasses import dataclass

from ..course import course_folder, lesson_of
from .registry import get
from .report import boxed
from .sources import learners_source

_attempts = {}


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
            "the folder solutions/ or this lesson in it is missing."
        )
    attempt = _attempts.get(exercise_id)
    if attempt is None:
        return Note(
            f"○ {exercise_id} {name}: run the exercise's cell first; "
            "compare then shows your version beside the solution."
        )
    return Difference(f"{exercise_id} {name}", _body(attempt), _body(solution))


def _solution(exercise_id):
    file = course_folder() / "solutions" / f"{lesson_of(exercise_id).slug}_solution.ipynb"
    try:
        cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError):
        return None
    sources = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    return next((source for source in sources if f'@exercise("{exercise_id}")' in source), None)


def _body(source):
    """A definition's lines without decorator, docstring and markers: what the two versions can differ in."""
    lines = source.splitlines()
    hidden = {n for n, line in enumerate(lines, 1) if line.strip() in ("### BEGIN SOLUTION", "### END SOLUTION")}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
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
        return boxed(html.escape(self.text), "#888888")


@dataclass(frozen=True, repr=False)
class Difference:
    """Two versions side by side; ≠ marks lines that differ, + and − lines that only one side has."""

    title: str
    yours: list
    solution: list

    def rows(self):
        """(mark, your line, the solution's line) from top to bottom."""
        matcher = difflib.SequenceMatcher(None, self.yours, self.solution, autojunk=False)
        for kind, a, b, c, d in matcher.get_opcodes():
            left, right = self.yours[a:b], self.solution[c:d]
            for i in range(max(len(left), len(right))):
                mine, theirs = (part[i] if i < len(part) else "" for part in (left, right))
                mark = (
                    " " if kind == "equal" else "≠" if i < min(len(left), len(right)) else "−" if i < len(left) else "+"
                )
                yield mark, mine, theirs

    def __str__(self):
        width = max([len(line) for line in self.yours] + [len("yours")])
        lines = [self.title, f"  {'yours'.ljust(width)} │ solution"]
        return "\n".join(
            [*lines, *(f"{mark} {mine.ljust(width)} │ {theirs}".rstrip() for mark, mine, theirs in self.rows())]
        )

    __repr__ = __str__

    def _repr_html_(self):
        style = "text-align:left;white-space:pre;font-family:var(--jp-code-font-family,monospace);padding:0 0.6em"
        cell = f'<td style="{style};{{}}">{{}}</td>'
        rows = "".join(
            "<tr>"
            + cell.format("", mark)
            + "".join(
                cell.format("box-shadow:inset 3px 0 #D55E00" if mark != " " and text else "", html.escape(text))
                for text in pair
            )
            + "</tr>"
            for mark, *pair in self.rows()
        )
        head = '<tr><th></th><th style="text-align:left">yours</th><th style="text-align:left">solution</th></tr>'
        legend = "≠ the lines differ, − only yours has it, + only the solution has it"
        table = f'<div style="overflow-x:auto"><table>{head}{rows}</table></div>'
        return boxed(f"<b>{html.escape(self.title)}</b>{table}<div><i>{legend}</i></div>", "#0072B2")
