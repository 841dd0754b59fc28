"""What has been solved, as a table: the whole course, or the row of one lesson. The store module keeps it."""

import html
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from ..course import LESSONS, course_folder, lesson_of
from .report import SYMBOLS, boxed
from .store import in_solutions, load, read


def progress(lesson=None):
    """What has been solved: the whole course, a row per lesson, or with `progress("02")` one lesson's row.

    Shown as a table in a notebook. Raises ValueError for a lesson that does not exist.
    """
    entries, trouble = read()
    if lesson is None:
        return Overview(entries, trouble)
    wanted = str(lesson)
    for one in LESSONS:
        if wanted in (one.number, one.number.lstrip("0") or "0", one.slug, *(info.id for info in one.exercises)):
            return Row(one, entries, trouble)
    raise ValueError(f"there is no lesson {lesson!r}; the lessons are {', '.join(one.number for one in LESSONS)}")


def standing(exercise_id):
    """(solved, total, next): how many exercises of this one's lesson are solved, of how many, and which is next.

    next: the first unsolved one after this one, else before it; None where all are solved. Count what was recorded.
    """
    entries = load()
    ids = [info.id for info in lesson_of(exercise_id).exercises]
    place = ids.index(exercise_id)
    unsolved = [id for id in ids[place + 1 :] + ids[: place + 1] if _status(entries, id) != "passed"]
    return len(ids) - len(unsolved), len(ids), unsolved[0] if unsolved else None


def _status(entries, id):
    return entries.get(id, {"status": "todo"})["status"]


def _solved(entries, lesson):
    return sum(_status(entries, info.id) == "passed" for info in lesson.exercises)


def _next(entries, lesson):
    """What comes next in a lesson, in words; "" where all is solved."""
    unsolved = [info for info in lesson.exercises if _status(entries, info.id) != "passed"]
    return f"next: {unsolved[0].id} {unsolved[0].title}" if unsolved else ""


def _link(lesson):
    """Address of a lesson, relative to the running notebook's folder, as JupyterLab opens it."""
    file = course_folder() / "notebooks" / f"{lesson.slug}.ipynb"
    try:
        address = Path(os.path.relpath(file)).as_posix()
    except (OSError, ValueError):  # no current folder; another drive
        address = file.name
    return quote(address)


def _marks(entries, lesson):
    return " ".join(SYMBOLS[_status(entries, info.id)] for info in lesson.exercises)


def _row_text(entries, lesson, width):
    title = f"{lesson.number} {lesson.title}".ljust(width)
    count = f"{_solved(entries, lesson)} of {len(lesson.exercises)}"
    return f"{title}  {count}  {_marks(entries, lesson)}  {_next(entries, lesson)}".rstrip()


def _row_html(entries, lesson):
    marks = " ".join(
        f'<span title="{info.id} {html.escape(info.title, quote=True)}">{SYMBOLS[_status(entries, info.id)]}</span>'
        for info in lesson.exercises
    )
    name = f'<a href="{_link(lesson)}">{lesson.number} {html.escape(lesson.title)}</a>'
    count = f"{_solved(entries, lesson)} of {len(lesson.exercises)}"
    return _tr(name, count, marks, html.escape(_next(entries, lesson)))


def _tr(*cells):
    style = "text-align:left;white-space:nowrap;padding:0.1em 1em 0.1em 0"
    return '<tr style="background:none">' + "".join(f'<td style="{style}">{cell}</td>' for cell in cells) + "</tr>"


def _said(entries, id):
    status, tries = _status(entries, id), entries.get(id, {}).get("tries", 0)
    if status == "todo":
        return "not attempted yet"
    return f"{'solved' if status == 'passed' else 'not right yet'}, {tries} {'try' if tries == 1 else 'tries'}"


@dataclass(frozen=True, repr=False)
class Overview:
    """The whole course: the total, a row per lesson, and folded beneath, every exercise."""

    entries: dict
    trouble: str = ""

    def _total(self):
        solved = sum(_solved(self.entries, lesson) for lesson in LESSONS)
        return f"{solved} of {sum(len(lesson.exercises) for lesson in LESSONS)} exercises solved"

    def __str__(self):
        width = max(len(f"{lesson.number} {lesson.title}") for lesson in LESSONS)
        lines = [self._total(), *([self.trouble] if self.trouble else [])]
        return "\n".join([*lines, *(_row_text(self.entries, lesson, width) for lesson in LESSONS)])

    __repr__ = __str__

    def _repr_html_(self):
        rows = "".join(_row_html(self.entries, lesson) for lesson in LESSONS)
        exercises = "".join(
            _tr(
                SYMBOLS[_status(self.entries, info.id)],
                info.id,
                f"{html.escape(info.title)} {info.stars}",
                _said(self.entries, info.id),
            )
            for lesson in LESSONS
            for info in lesson.exercises
        )
        folded = f"<details><summary>Every exercise</summary><table>{exercises}</table></details>"
        return boxed(f"<b>{self._total()}</b>{_trouble_html(self.trouble)}<table>{rows}</table>{folded}", "#0072B2")


@dataclass(frozen=True, repr=False)
class Row:
    """One lesson: how many of its exercises are solved, which, and what is next."""

    lesson: object
    entries: dict
    trouble: str = ""

    def _where(self):
        return "You are in the solution, and nothing here is counted." if in_solutions() else ""

    def __str__(self):
        said = [_row_text(self.entries, self.lesson, 0), self.trouble, self._where()]
        return "\n".join(line for line in said if line)

    __repr__ = __str__

    def _repr_html_(self):
        where = f"<div>{self._where()}</div>" if self._where() else ""
        table = f'<table style="margin:0">{_row_html(self.entries, self.lesson)}</table>'
        return boxed(f"{_trouble_html(self.trouble)}{table}{where}", "#0072B2")


def _trouble_html(trouble):
    return f"<div>{html.escape(trouble)}</div>" if trouble else ""
