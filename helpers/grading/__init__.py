"""A teacher's side: judge the answers in learners' notebooks and say which mistakes a class made.

Used as `python -m helpers grade FOLDER`. No notebook is run: each answer's source, and what it needs, is judged in a
process of its own that ends when it should. Nothing of the learners' files is changed. It is no examination:
what runs in a process can cheat the process.
"""

import os
import threading
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from ..course import LESSONS
from . import names, notebook, supervise
from .supervise import Limits

WORDS = {"passed": "passed", "failed": "failed", "error": "failed", "todo": "not attempted"}
SYMBOLS = {"passed": "✓", "failed": "✗", "not attempted": "○"}


@dataclass
class Graded:
    """What became of one notebook: results by exercise number, and trouble where it could not all be judged.

    results: {"2.2": {"status": "failed", "mistakes": {id: message}, "reason": "…"}}; status is "passed", "failed" or
    "not attempted".
    """

    learner: str
    lesson: str
    file: Path
    results: dict = field(default_factory=dict)
    trouble: str = ""

    def line(self):
        """The notebook in one line, as it is shown when it is done."""
        marks = " ".join(SYMBOLS[result["status"]] for result in self.results.values())
        solved = sum(result["status"] == "passed" for result in self.results.values())
        count = f"{solved} of {len(self.results)}" if self.results else "not graded"
        return "  ".join(part for part in (self.learner, self.lesson, marks, count, self.trouble) if part)


def grade(files, limits=None, jobs=2, on_row=None, stop=None):
    """Judge notebooks and return a list of Graded, in the order of the files.

    files: paths of learners' copies. limits: what each may use. jobs: notebooks at a time. on_row: called with each
    Graded as it is done. stop: a threading.Event that ends the grading early; what is done by then is returned.
    A notebook that cannot be read, hangs, or ends its process has that noted and does not stop the rest.
    """
    files, stop, limits = [Path(file) for file in files], stop or threading.Event(), limits or Limits()
    learners, graded = names.learners(files), {}
    pool = ThreadPoolExecutor(max_workers=jobs)
    try:
        waiting = {pool.submit(_grade_one, file, learners[file], limits, stop): file for file in files}
        while waiting:
            done, _ = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
            for future in done:
                file = waiting.pop(future)
                one = future.result()
                if one is not None:
                    graded[file] = one
                    if on_row:
                        on_row(one)
    except BaseException:
        stop.set()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return [graded[file] for file in files if file in graded]


# Python (3.11) loses count when several threads make syntax trees at once and something in Python runs meanwhile, such
# as what watches the collection of garbage: "AST constructor recursion depth mismatch".
_PARSING = threading.Lock()


def _grade_one(file, learner, limits, stop):
    """The Graded of one file, whatever it holds; None where the teacher stopped it."""
    graded = Graded(learner, "", file)
    if stop.is_set():
        return None
    try:
        with _PARSING:
            cells = notebook.read(file)
            lesson = notebook.lesson_of(cells, file)
            found, broken = notebook.attempts(cells), notebook.syntax_errors(cells)
        if lesson is None:
            graded.trouble = "no exercise of the course in it"
            return graded
        graded.lesson = lesson.number
        judged, graded.trouble = supervise.judge([a for some in found.values() for a in some], limits, stop)
        asked = [info.id for one in LESSONS for info in one.exercises if one is lesson or info.id in {*found, *broken}]
        graded.results = {id: _result(id, judged, found, broken, graded.trouble) for id in asked}
    except supervise.Stopped:
        return None
    except notebook.Unreadable as error:
        graded.trouble = str(error)
    except Exception as error:  # a fault of ours must not cost the others their row
        graded.trouble = f"could not be graded: {type(error).__name__}: {error}"[:300]
    return graded


def _result(id, judged, found, broken, trouble):
    one = judged.get(id)
    if id in broken and (one is None or one["status"] != "passed"):
        mistakes = {"syntax-error": "The cell holds a syntax error and did not run."}
        return {"status": "failed", "mistakes": mistakes, "reason": f"its cell is not Python: {broken[id]}"}
    if one is None:
        reason = trouble if id in found else "its cell is not in the notebook"
        return {"status": "not attempted", "mistakes": {}, "reason": reason}
    mistakes = {mistake["id"]: mistake["message"] for mistake in one["mistakes"]}
    return {"status": WORDS[one["status"]], "mistakes": mistakes, "reason": one["reason"]}


# What is shown --------------------------------------------------------------------------------------------------------

COLUMNS = ("learner", "lesson", "exercise", "status", "mistakes", "reason", "trouble", "file")


def rows(graded):
    """One dict per learner and exercise: learner, lesson, exercise, status, mistakes (ids), reason, trouble, file."""
    for one in graded:
        shared = {"learner": one.learner, "lesson": one.lesson, "trouble": one.trouble, "file": str(one.file)}
        for id, result in one.results.items():
            found = {"status": result["status"], "mistakes": list(result["mistakes"]), "reason": result["reason"]}
            yield {name: (shared | found | {"exercise": id})[name] for name in COLUMNS}
        if not one.results:
            found = {"exercise": "", "status": "not graded", "mistakes": [], "reason": ""}
            yield {name: (shared | found)[name] for name in COLUMNS}


def table(graded):
    """Learner × exercise as text: ✓ passed, ✗ failed, ○ not attempted. Two copies of one lesson stay two rows."""
    ids = [info.id for lesson in LESSONS for info in lesson.exercises if any(info.id in one.results for one in graded)]
    lines, clashes = {}, []
    for one in graded:
        name = one.learner
        if set(lines.get(name, {})) & set(one.results):
            name = f"{one.learner} ({one.file.name})"
            clashes.append(f"{one.learner} has more than one copy of lesson {one.lesson}: each has a row of its own.")
            if name in lines:
                name = f"{one.learner} ({one.file})"
        lines.setdefault(name, {}).update({id: SYMBOLS[result["status"]] for id, result in one.results.items()})
    width = max(map(len, [*lines, "learner"]))
    text = ["  ".join(["learner".ljust(width), *(id.rjust(3) for id in ids)])]
    text += [
        "  ".join([name.ljust(width), *(marks.get(id, "·").rjust(3) for id in ids)]) for name, marks in lines.items()
    ]
    text += ["", "✓ passed   ✗ failed   ○ not attempted   · not in the learner's notebooks"]
    return "\n".join(
        [*text, *dict.fromkeys(clashes), *(f"{o.learner}: {o.file} {o.trouble}" for o in graded if o.trouble)]
    )


def details(graded):
    """Each failed exercise, and each missing one, with its mistakes or the reason, a line each."""
    for row in rows(graded):
        if row["status"] == "failed" or row["reason"]:
            why = ", ".join(row["mistakes"]) or row["reason"] or "no known mistake fits"
            yield f"{row['learner']}  {row['exercise']}: {why}"


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
    """One line per learner and exercise; mistakes joined by semicolons. No cell is read as a formula."""
    import csv

    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for row in rows(graded):
            row["mistakes"] = ";".join(row["mistakes"])
            writer.writerow({name: _harmless(text) for name, text in row.items()})


def _harmless(text):
    """A cell's text such that a spreadsheet does not take it for a formula."""
    text = text.replace("\r", " ").replace("\n", " ")
    return f"'{text}" if text.lstrip().startswith(("=", "+", "-", "@")) or text.startswith("\t") else text


def write_json(graded, path):
    """A list of one object per learner and exercise."""
    import json

    Path(path).write_text(json.dumps(list(rows(graded)), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def usual_jobs():
    """How many notebooks at a time a machine can well judge."""
    return max(1, min(4, os.cpu_count() or 1))
