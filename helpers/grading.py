"""A teacher's side: run learners' notebooks in fresh kernels and gather the reports of their exercises.

Used as `python -m helpers grade FILES`. Reports are collected as data, through a file that the exercises of a run
append to; nothing is read from a notebook's text, and nothing of the learners' files is changed.
"""

import ast
import csv
import json
import os
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from tqdm import tqdm

from .course import LESSONS
from .feedback.progress import PATH_VARIABLE, REPORTS_VARIABLE

WORDS = {"passed": "passed", "failed": "failed", "error": "failed", "todo": "not attempted"}


@dataclass
class Graded:
    """What became of one notebook: results by exercise number, and trouble where the run itself broke off.

    results: {"2.2": {"status": "failed", "mistakes": {id: message}}}; status is "passed", "failed" or "not attempted".
    """

    learner: str
    lesson: str
    file: Path
    results: dict = field(default_factory=dict)
    trouble: str = ""


def grade(files, cell_timeout=60, jobs=2, show_progress=True):
    """Execute notebooks and return a list of Graded, in the order of the files.

    files: paths of learners' copies. cell_timeout: seconds a cell may take. jobs: notebooks at a time.
    A notebook that cannot be read, or whose kernel dies, has its trouble noted and does not stop the rest.
    """
    files = [Path(file) for file in files]
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        runs = pool.map(lambda file: _grade_one(file, cell_timeout), files)
        return list(tqdm(runs, total=len(files), unit="notebook", leave=False, disable=not show_progress))


def learner_of(file):
    """Whose copy a file is: what its name says beside the lesson's, else its folder's name.

    ada/02_numpy_attention.ipynb and 02_numpy_attention_ada.ipynb both belong to ada.
    """
    stem = Path(file).stem
    for lesson in LESSONS:
        if lesson.slug in stem:
            return stem.replace(lesson.slug, "").strip(" _-.") or Path(file).resolve().parent.name
    return stem


def _grade_one(file, cell_timeout):
    graded = Graded(learner_of(file), "", file)
    try:
        notebook = nbformat.read(file, as_version=4)
    except Exception as error:
        graded.trouble = f"cannot be read: {type(error).__name__}"
        return graded
    asked = _exercises_in(notebook)
    graded.lesson = _lesson_number(asked)
    graded.results = {id: {"status": "not attempted", "mistakes": {}} for id in asked}
    with tempfile.TemporaryDirectory() as folder:
        reports = Path(folder) / "reports.jsonl"
        graded.trouble = _execute(notebook, file, cell_timeout, reports)
        for report in _lines(reports):
            if report["exercise"] in graded.results:
                graded.results[report["exercise"]] = {
                    "status": WORDS[report["status"]],
                    "mistakes": {mistake["id"]: mistake["message"] for mistake in report["mistakes"]},
                }
    _note_cells_that_did_not_run(notebook, graded)
    return graded


def _execute(notebook, file, cell_timeout, reports):
    environment = os.environ | {
        REPORTS_VARIABLE: str(reports),
        PATH_VARIABLE: str(reports.with_name("progress.json")),  # the teacher's own progress stays as it is
        "TQDM_DISABLE": "1",
        "MPLBACKEND": "Agg",
    }
    client = NotebookClient(
        notebook,
        timeout=cell_timeout,
        interrupt_on_timeout=True,
        allow_errors=True,
        record_timing=False,
        kernel_name="python3",
        resources={"metadata": {"path": str(Path(file).resolve().parent)}},
    )
    try:
        client.execute(env=environment)
    except DeadKernelError:
        return "its kernel died"
    except Exception as error:
        return f"stopped with {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}".rstrip(": ")
    return ""


def _lines(file):
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.endswith("}")]


def _exercises_in(notebook):
    """Numbers of the exercises in a notebook, in order; those of its whole lesson, so that a deleted cell shows."""
    known = {info.id: lesson for lesson in LESSONS for info in lesson.exercises}
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    found = [id for id in known if any(f'@exercise("{id}")' in source for source in sources)]
    lessons = {known[id].number for id in found}
    return [id for id, lesson in known.items() if lesson.number in lessons]


def _lesson_number(ids):
    return next((lesson.number for lesson in LESSONS if any(info.id in ids for info in lesson.exercises)), "")


def _note_cells_that_did_not_run(notebook, graded):
    """An exercise cell with a syntax error never reaches its check: that is a failed attempt, not a missing one."""
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        for id, result in graded.results.items():
            if f'@exercise("{id}")' in cell.source and result["status"] == "not attempted" and not _parses(cell.source):
                result.update(
                    status="failed", mistakes={"syntax-error": "The cell holds a syntax error and did not run."}
                )


def _parses(source):
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


# What is shown --------------------------------------------------------------------------------------------------------

SYMBOLS = {"passed": "✓", "failed": "✗", "not attempted": "○"}


def rows(graded):
    """One dict a learner and exercise: learner, lesson, exercise, status, mistakes (ids), trouble, file."""
    for one in graded:
        for id, result in one.results.items():
            yield {
                "learner": one.learner,
                "lesson": one.lesson,
                "exercise": id,
                "status": result["status"],
                "mistakes": list(result["mistakes"]),
                "trouble": one.trouble,
                "file": str(one.file),
            }
        if not one.results:
            trouble = one.trouble or "no exercise of the course in it"
            yield {
                "learner": one.learner,
                "lesson": "",
                "exercise": "",
                "status": "not graded",
                "mistakes": [],
                "trouble": trouble,
                "file": str(one.file),
            }


def table(graded):
    """Learner × exercise as text: ✓ passed, ✗ failed, ○ not attempted."""
    ids = [info.id for lesson in LESSONS for info in lesson.exercises if any(info.id in one.results for one in graded)]
    learners = list(dict.fromkeys(one.learner for one in graded))
    width = max(map(len, [*learners, "learner"]), default=7)
    lines = ["  ".join(["learner".ljust(width), *(id.rjust(3) for id in ids)])]
    for learner in learners:
        status = {id: r["status"] for one in graded if one.learner == learner for id, r in one.results.items()}
        lines.append("  ".join([learner.ljust(width), *(SYMBOLS.get(status.get(id), "·").rjust(3) for id in ids)]))
    lines += ["", "✓ passed   ✗ failed   ○ not attempted   · not in the learner's notebooks"]
    lines += [f"{one.learner}: {one.file.name} {one.trouble}" for one in graded if one.trouble]
    return "\n".join(lines)


def details(graded):
    """Each failed exercise with the names of its mistakes, a line each."""
    for row in rows(graded):
        if row["status"] == "failed":
            yield f"{row['learner']}  {row['exercise']}: {', '.join(row['mistakes']) or 'no known mistake fits'}"


def class_summary(graded):
    """Which mistakes a class made, most frequent first, as lines."""
    made, messages = Counter(), {}
    for one in graded:
        for id, result in one.results.items():
            for mistake, message in result["mistakes"].items():
                made[id, mistake] += 1
                messages[id, mistake] = message
    return [
        f"{count} × {id} {mistake}: {messages[id, mistake]}"
        for (id, mistake), count in sorted(made.items(), key=lambda item: (-item[1], item[0]))
    ]


def write_csv(graded, path):
    """One line a learner and exercise; mistakes joined by semicolons."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ("learner", "lesson", "exercise", "status", "mistakes", "trouble", "file"))
        writer.writeheader()
        writer.writerows(row | {"mistakes": ";".join(row["mistakes"])} for row in rows(graded))


def write_json(graded, path):
    """A list of one object a learner and exercise."""
    Path(path).write_text(json.dumps(list(rows(graded)), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
