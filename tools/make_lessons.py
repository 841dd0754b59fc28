"""Derive the lessons in `notebooks/` from the complete ones in `solutions/`.

    python -m tools.make_lessons            write every lesson that changed
    python -m tools.make_lessons --check    write nothing; status 1 if a lesson would change
    python -m tools.make_lessons --force    overwrite even lessons with edits that git does not have

In an exercise cell, the lines from `### BEGIN SOLUTION` to `### END SOLUTION` become a stub; in
`predict("id", answer)` the answer becomes `...`; outputs and execution counts go. Cell ids stay.
Nothing is written unless every solution is sound.
"""

import argparse
import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from helpers.feedback.sources import body_of, exercise_number

ROOT = Path(__file__).resolve().parent.parent

BEGIN = "### BEGIN SOLUTION"
END = "### END SOLUTION"
SOLUTION = "_solution"  # how the stem of a solution's file ends, so that it cannot be mistaken for the lesson
TITLE_END = " · solution"  # how its title ends
BANNER = re.compile(r"\n> This is the complete lesson[^\n]*\n")  # what its first cell says beneath the title
LIKE_A_MARKER = re.compile(r"\b(BEGIN|END)\s+SOLUTION\b", re.IGNORECASE)

# Everything else that Jupyter front ends write here depends on the machine or on what was clicked.
KEPT_CELL_METADATA = ("tags",)
# As the kernel of the tested Python writes it: JupyterLab calls a notebook unsaved where its kernel says otherwise.
NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {
        "codemirror_mode": {"name": "ipython", "version": 3},
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "name": "python",
        "nbconvert_exporter": "python",
        "pygments_lexer": "ipython3",
        "version": "3.11.7",
    },
}
TEXT_METADATA = {"deletable": False, "editable": False}  # of a lesson's text, which a double click must not open


class LessonError(Exception):
    """What is odd about one or more solutions: a list of sentences, each naming file and cell."""

    def __init__(self, problems):
        super().__init__("\n".join(problems))
        self.problems = list(problems)


# --- a notebook as text ------------------------------------------------------------------------


def read_notebook(path):
    """The notebook at `path` as a dict; LessonError if the file holds no notebook."""
    try:
        nb = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise LessonError([f"{path.name}: not a notebook ({error})"]) from None
    if not isinstance(nb, dict) or not isinstance(nb.get("cells"), list):
        raise LessonError([f"{path.name}: not a notebook (it has no list of cells)"])
    return nb


def notebook_text(nb):
    """The text Jupyter itself would store for `nb`, the same bytes each time."""
    return json.dumps(nb, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def write_whole(path, text):
    """Write `text` to `path` so that a crash leaves either the old file or the new one."""
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(text, encoding="utf-8", newline="\n")
    os.replace(draft, path)


def source_of(cell):
    """The source of a cell, which nbformat allows to be a string or a list of lines."""
    return "".join(cell["source"])


def tidy_metadata(cell):
    """The metadata of `cell` that says something about the lesson and not about who ran it."""
    return {key: cell["metadata"][key] for key in KEPT_CELL_METADATA if key in cell.get("metadata", {})}


# --- one cell ----------------------------------------------------------------------------------


def solution_regions(lines):
    """The (first, last) line numbers of each marked region, markers included, from 0."""
    regions, begin = [], None
    for number, line in enumerate(lines):
        if not LIKE_A_MARKER.search(line):
            continue
        marker = line.strip()
        if marker == BEGIN:
            if begin is not None:
                raise ValueError(f"{BEGIN} in line {number + 1} inside the region begun in line {begin + 1}")
            begin = number
        elif marker == END:
            if begin is None:
                raise ValueError(f"{END} in line {number + 1} has no {BEGIN} before it")
            if indentation(line) != indentation(lines[begin]):
                raise ValueError(f"lines {begin + 1} and {number + 1}: the two markers are indented differently")
            regions.append((begin, number))
            begin = None
        else:
            raise ValueError(f"line {number + 1} looks like a marker but is neither {BEGIN!r} nor {END!r}")
    if begin is not None:
        raise ValueError(f"{BEGIN} in line {begin + 1} is never closed")
    return regions


def indentation(line):
    return line[: len(line) - len(line.lstrip())]


def stub(region):
    """The line that stands for `region` (the lines between two markers): how long an answer is."""
    code = [line for line in region if line.strip() and not line.strip().startswith("#")]
    if not code:
        raise ValueError("the region between the markers is empty")
    return f"raise NotImplementedError  # about {len(code)} line{'s' if len(code) > 1 else ''}"


def without_solution(source, body=None):
    """`source` with each marked region replaced by `body`, or by a stub where `body` is None."""
    lines = source.split("\n")
    regions = solution_regions(lines)
    if body is not None and len(regions) != 1:
        raise ValueError(f"the exercise starts with code of its own, so one region is expected, not {len(regions)}")
    for first, last in reversed(regions):  # from the end, so that earlier line numbers stay right
        replacement = stub(lines[first + 1 : last])
        if body is not None:
            replacement = body.strip("\n")
        indent = indentation(lines[first])
        lines[first : last + 1] = [indent + line if line else line for line in replacement.split("\n")]
    return "\n".join(lines)


def without_predictions(source):
    """`source` with the answer in every `predict("id", answer)` replaced by `...`."""
    lines = [line.encode() for line in source.split("\n")]  # the syntax tree counts columns in bytes of UTF-8
    calls = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "predict"
    ]
    calls.sort(key=lambda call: (call.lineno, call.col_offset), reverse=True)  # so that earlier places stay right
    for call in calls:
        if len(call.args) != 2:
            raise ValueError(f"line {call.lineno}: predict takes a name and an answer")
        answer = call.args[1]
        if isinstance(answer, ast.Constant) and answer.value is ...:
            raise ValueError(f"line {call.lineno}: the prediction has no answer yet")
        first, last = answer.lineno - 1, answer.end_lineno - 1
        before, after = lines[first][: answer.col_offset], lines[last][answer.end_col_offset :]
        lines[first : last + 1] = [before + b"..." + after]
    return b"\n".join(lines).decode()


def lesson_source(source, starting_body):
    """The source of a code cell as the learner gets it; ValueError if it cannot be derived."""
    number = exercise_number(ast.parse(source))
    if number is None:
        if LIKE_A_MARKER.search(source):
            raise ValueError("solution markers outside an exercise cell")
        return without_predictions(source)
    if not LIKE_A_MARKER.search(source):
        raise ValueError(f"exercise {number} has no solution markers")
    lesson = without_predictions(without_solution(source, starting_body(number)))
    ast.parse(lesson)  # a marker in an unlucky place, such as inside brackets, shows here
    return lesson


# --- one text cell -----------------------------------------------------------------------------


def without_banner(source):
    """The first cell of a solution as the lesson has it: without what says that this is the solution."""
    title, _, rest = source.partition("\n")
    if not title.endswith(TITLE_END) or not BANNER.search(rest):
        raise ValueError(f"the title must end in {TITLE_END!r}, with the line that says so beneath")
    return f"{title.removesuffix(TITLE_END)}\n{BANNER.sub('', rest, count=1)}"


# What must not be torn apart at the end of a line: shapes, equations, products. Code, formulas, headings, tables stay.
_KEPT = re.compile(
    r"```.*?```|`[^`]*`|<code>.*?</code>|<[^>]*>|\$\$.*?\$\$|\$[^$]*\$|^[|#][^\n]*", re.DOTALL | re.MULTILINE
)
_SIZE = r"(?:…|\d+|[A-Za-z]|[A-Za-z]+_[A-Za-z]+)"  # B, 7 or d_k
_SHAPE = re.compile(rf"\({_SIZE}(?:, {_SIZE})+\)")
_EQUATION = re.compile(r"(?<=[\w)²]) (?=[=≠≤≥] [\w(−√])|(?<=[\w)²] [=≠≤≥]) (?=[\w(−√])")
_PRODUCT = re.compile(rf"(?<![\w.,]){_SIZE}²?(?: · {_SIZE}²?(?!\w))+")


def unbroken(source):
    """Markdown in which shapes such as (B, T, d_k) and equations such as d_k = 64 stay on one line."""
    pieces, end = [], 0
    for kept in _KEPT.finditer(source):
        pieces += [_unbroken(source[end : kept.start()]), kept[0]]
        end = kept.end()
    return "".join([*pieces, _unbroken(source[end:])])


def _unbroken(text):
    text = _EQUATION.sub("\N{NO-BREAK SPACE}", text)
    for pattern in (_SHAPE, _PRODUCT):
        text = pattern.sub(lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), text)
    return text


# --- one notebook ------------------------------------------------------------------------------


def starting_body_from_catalogue(exercise_id):
    """The code that `exercise_id` starts with instead of a stub, or None."""
    from helpers.feedback.registry import get  # late: the tests of this file need no catalogue
    from helpers.feedback.twins import starting_source

    source = starting_source(get(exercise_id))
    return None if source is None else body_of(source)


def lesson_from_solution(nb, name, starting_body=starting_body_from_catalogue):
    """The lesson (a new dict) that belongs to the solution `nb`, read from the file `name`.

    `starting_body` maps an exercise's number to the code it starts with, or to None for a stub.
    LessonError says everything that is odd, by file and cell.
    """
    problems, cells, seen = [], [], set()
    for position, cell in enumerate(nb["cells"]):
        where = f"{name}, cell {cell.get('id', f'number {position}')}"
        if not cell.get("id"):
            problems.append(f"{where}: the cell has no id")
        elif cell["id"] in seen:
            problems.append(f"{where}: the id is used twice")
        seen.add(cell.get("id"))

        source = source_of(cell)
        new = {"cell_type": cell["cell_type"], "id": cell.get("id"), "metadata": tidy_metadata(cell)}
        if cell["cell_type"] == "markdown":
            new["metadata"] |= TEXT_METADATA
            source = unbroken(source)
        if cell["cell_type"] == "code":
            new |= {"execution_count": None, "outputs": []}
            try:
                source = lesson_source(source, starting_body)
            except SyntaxError as error:
                problems.append(f"{where}: syntax error in line {error.lineno}: {error.msg}")
            except (ValueError, KeyError) as error:  # KeyError: a number the catalogue does not know
                problems.append(f"{where}: {error.args[0]}")
        elif LIKE_A_MARKER.search(source):
            problems.append(f"{where}: a solution marker in a {cell['cell_type']} cell")
        if position == 0 and name.endswith(f"{SOLUTION}.ipynb"):
            try:
                source = without_banner(source)
            except ValueError as error:
                problems.append(f"{where}: {error.args[0]}")
        new["source"] = source.splitlines(keepends=True)
        cells.append(new)
    if problems:
        raise LessonError(problems)
    return {"cells": cells, "metadata": NOTEBOOK_METADATA, "nbformat": 4, "nbformat_minor": 5}


# --- both folders ------------------------------------------------------------------------------


def lesson_name(solution):
    """The file name of the lesson that belongs to the solution at this path."""
    return f"{solution.stem.removesuffix(SOLUTION)}.ipynb"


def lessons_from_solutions(solutions, starting_body=starting_body_from_catalogue):
    """The text of every lesson by file name; LessonError if any solution in the folder is odd."""
    texts, problems = {}, []
    for path in sorted(solutions.glob("*.ipynb")):
        try:
            lesson = lesson_from_solution(read_notebook(path), path.name, starting_body)
            texts[lesson_name(path)] = notebook_text(lesson)
        except LessonError as error:
            problems += error.problems
    if problems:
        raise LessonError(problems)
    if not texts:
        raise LessonError([f"no notebooks in {solutions}"])
    return texts


def same_content(one, other):
    """Whether two notebook texts say the same, however their JSON is laid out."""
    try:
        return json.loads(one) == json.loads(other)
    except ValueError:
        return one == other


def known_to_git(path):
    """The texts that git holds for `path`, in its last commit and in its index; none without git."""
    texts = []
    for version in (f"HEAD:./{path.name}", f":./{path.name}"):
        try:
            shown = subprocess.run(["git", "show", version], cwd=path.parent, capture_output=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        texts.append(shown.stdout.decode("utf-8", errors="replace"))
    return texts


def holds_edits(path, text):
    """Whether writing `text` to `path` would lose something that only the file at `path` holds."""
    if not path.exists():
        return False
    current = path.read_text(encoding="utf-8", errors="replace")
    return not any(same_content(current, safe) for safe in (text, *known_to_git(path)))


def changed_lessons(texts, folder):
    """The names in `texts` whose file in `folder` is missing or has other text."""

    def is_current(path, text):
        # Read as text: git on Windows may have given the file other line ends.
        return path.exists() and path.read_text(encoding="utf-8", errors="replace") == text

    return [name for name, text in texts.items() if not is_current(folder / name, text)]


def main(arguments=None, root=ROOT, starting_body=starting_body_from_catalogue):
    """Run the command line; the exit status is returned."""
    parser = argparse.ArgumentParser(prog="make_lessons", description="Derive notebooks/ from solutions/.")
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if a lesson would change")
    parser.add_argument("--force", action="store_true", help="overwrite edits that git does not have")
    options = parser.parse_args(arguments)

    folder = root / "notebooks"
    try:
        texts = lessons_from_solutions(root / "solutions", starting_body)
    except LessonError as error:
        print(f"{error}\nNothing was written.", file=sys.stderr)
        return 1

    changed = changed_lessons(texts, folder)
    if options.check:
        for name in changed:
            print(f"notebooks/{name} is not what its solution gives: run `make lessons`")
        return 1 if changed else 0

    edited = [name for name in changed if holds_edits(folder / name, texts[name])]
    if edited and not options.force:
        for name in edited:
            print(f"notebooks/{name} holds edits that git does not have", file=sys.stderr)
        print("Nothing was written. Save them elsewhere, or overwrite them with --force.", file=sys.stderr)
        return 1

    folder.mkdir(exist_ok=True)
    for name in changed:
        write_whole(folder / name, texts[name])
        print(f"wrote notebooks/{name}")
    print(f"{len(changed)} of {len(texts)} lessons changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
