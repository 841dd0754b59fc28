"""What has been solved so far, kept in one small file beside the course and outside git."""

import contextlib
import datetime
import html
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..course import LESSONS, course_folder
from .report import SYMBOLS, boxed, in_notebook

PATH_VARIABLE = "ATTENTION_COURSE_PROGRESS"  # another place for the file: tests and graders set it
REPORTS_VARIABLE = "ATTENTION_COURSE_REPORTS"  # a file that every verdict of a run is appended to: graders set it
STATES = ("todo", "failed", "error", "passed")


def path():
    """Where progress is kept."""
    return Path(os.environ.get(PATH_VARIABLE) or course_folder() / ".progress.json")


def load():
    """Progress by exercise number, {"2.2": {"status": …, "mistakes": […], "tries": …, "passed_on": …}}.

    A file that cannot be understood is set aside under another name, and progress begins anew.
    """
    try:
        entries = json.loads(path().read_text(encoding="utf-8"))["exercises"]
        if all(entry["status"] in STATES and isinstance(entry["tries"], int) for entry in entries.values()):
            return entries
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        pass
    with contextlib.suppress(OSError):
        stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S-%f")
        os.replace(path(), path().with_name(f".progress.damaged-{stamp}.json"))
    return {}


def record(report):
    """Remember a verdict given in a learner's notebook. What has passed once stays passed."""
    if os.environ.get(REPORTS_VARIABLE):
        _append_report(report, Path(os.environ[REPORTS_VARIABLE]))
        return
    if not in_notebook() or in_solutions():
        return
    entries = load()
    entry = entries.setdefault(report.exercise_id, {"status": "todo", "mistakes": [], "tries": 0, "passed_on": None})
    if report.status != "todo":
        entry["tries"] += 1
        entry["mistakes"] = sorted({*entry["mistakes"], *(mistake.id for mistake in report.mistakes)})
    if entry["status"] != "passed" and report.status != "todo":
        entry["status"] = report.status
    if report.passed and not entry["passed_on"]:
        entry["passed_on"] = datetime.date.today().isoformat()
    with contextlib.suppress(OSError):  # a read-only course folder must not stop a lesson
        _write({"version": 1, "exercises": entries})


def _append_report(report, file):
    mistakes = [{"id": mistake.id, "message": mistake.message} for mistake in report.mistakes]
    entry = {"exercise": report.exercise_id, "status": report.status, "mistakes": mistakes}
    with open(file, "a", encoding="utf-8") as lines:
        lines.write(json.dumps(entry, ensure_ascii=False) + "\n")


def in_solutions():
    """Whether the running notebook lies in the course's solutions folder."""
    session = os.environ.get("JPY_SESSION_NAME", "")
    folders = {Path.cwd(), Path(session).parent} if session else {Path.cwd()}
    return any(folder.name == "solutions" for folder in folders)


def _write(content):
    target = path()
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".progress.", suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


@dataclass(frozen=True, repr=False)
class Overview:
    """The whole course, exercise by exercise, with what has been solved."""

    entries: dict

    def _rows(self):
        for lesson in LESSONS:
            for info in lesson.exercises:
                entry = self.entries.get(info.id, {"status": "todo", "tries": 0})
                yield lesson, info, entry["status"], entry["tries"]

    def _total(self):
        solved = sum(status == "passed" for _, _, status, _ in self._rows())
        return f"{solved} of {sum(len(lesson.exercises) for lesson in LESSONS)} exercises solved"

    def __str__(self):
        lines, current = [self._total()], None
        for lesson, info, status, tries in self._rows():
            if lesson is not current:
                lines.append(f"{lesson.number} {lesson.title}")
                current = lesson
            lines.append(f"  {SYMBOLS[status]} {info.id} {info.title} {info.stars} · {_said(status, tries)}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self):
        rows, current = [], None
        for lesson, info, status, tries in self._rows():
            if lesson is not current:
                rows.append(
                    '<tr><th colspan="4" style="text-align:left;padding-top:0.6em">'
                    f"{lesson.number} {html.escape(lesson.title)}</th></tr>"
                )
                current = lesson
            cells = (SYMBOLS[status], info.id, f"{html.escape(info.title)} {info.stars}", _said(status, tries))
            rows.append("<tr>" + "".join(f'<td style="text-align:left">{cell}</td>' for cell in cells) + "</tr>")
        return boxed(f"<b>{self._total()}</b><table>{''.join(rows)}</table>", "#0072B2")


def _said(status, tries):
    if status == "todo":
        return "not attempted yet"
    return f"{'solved' if status == 'passed' else 'not right yet'}, {tries} {'try' if tries == 1 else 'tries'}"


def progress():
    """The whole course, exercise by exercise: solved, tried, not attempted. Shown as a table in a notebook."""
    return Overview(load())
