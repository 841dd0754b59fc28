"""What has been solved so far, kept as lines in one small file beside the course and outside git.

Each verdict is one line of JSON, added at the end under a lock; no line is ever changed or taken away. So two
kernels cannot overwrite each other, a crash costs at most the line being written, and a damaged line only itself.
(A database would need shared memory that network folders do not have.)
"""

import contextlib
import datetime
import errno
import html
import json
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from ..course import LESSONS, course_folder, lesson_of
from .report import SYMBOLS, boxed, in_notebook

PATH_VARIABLE = "ATTENTION_COURSE_PROGRESS"  # another place for the file: tests and graders set it
STATES = ("failed", "error", "passed")
LOCK_SECONDS = 5.0  # how long another kernel's lock is waited for; lines are whole without it too

_one_at_a_time = threading.Lock()
_unsaved = []  # lines that could not be written yet: kept for this kernel, and tried again with the next one
_told = False  # that something could not be saved is said once
_watcher = None


# The store ------------------------------------------------------------------------------------------------------------


def path():
    """Where progress is kept."""
    return Path(os.environ.get(PATH_VARIABLE) or course_folder() / ".progress.jsonl").with_suffix(".jsonl")


def record(report):
    """Remember a verdict given in a learner's notebook. What has passed once stays passed; this never raises."""
    if _watcher is not None:
        _watcher(report)
        return
    if report.status not in STATES or not in_notebook() or in_solutions():
        return
    if load().get(report.exercise_id, {}).get("status") == "passed":
        return  # nothing that comes later changes what is known, and the file stays small
    mistakes = [mistake.id for mistake in report.mistakes]
    line = {"exercise": report.exercise_id, "status": report.status, "mistakes": mistakes}
    _unsaved.append(line | {"day": datetime.date.today().isoformat()})
    with _one_at_a_time:
        try:
            _append(path(), "".join(json.dumps(entry) + "\n" for entry in _unsaved).encode())
            _unsaved.clear()
        except (OSError, ValueError) as error:  # ValueError: a path that cannot be one
            _tell(error)


def load():
    """Progress by exercise number, {"2.2": {"status": …, "mistakes": […], "tries": …, "passed_on": …}}.

    tries: answers judged until the first that passed. Nothing is changed by reading, whatever the file holds.
    """
    return _read()[0]


def watch(watcher):
    """Hand every verdict to `watcher(report)` instead of storing it; None ends it. The grader does this."""
    global _watcher
    _watcher = watcher


def in_solutions():
    """Whether the running notebook is one of the course's solutions."""
    session = Path(os.environ.get("JPY_SESSION_NAME", ""))
    if session.name.partition(".ipynb")[0].endswith("_solution"):
        return True
    folders = [session.parent]
    with contextlib.suppress(OSError):  # the current folder may be gone
        folders.append(Path.cwd())
    return any(folder.name == "solutions" for folder in folders)


def _read():
    """(entries, sentence): what is known, and what could not be read, "" where all could."""
    entries, trouble = {}, ""
    for old in _old_files():
        _take_over(old, entries)
    try:
        lines = _bytes_of(path()).split(b"\n")
    except FileNotFoundError:
        lines = []
    except (OSError, ValueError) as error:
        lines = []
        trouble = f"Your progress could not be read just now ({_reason(error)}). Nothing in its file was changed."
    whole, damaged = lines[:-1], 0  # what follows the last line end is a line that another kernel is writing
    for line in whole:
        try:
            _count(entries, json.loads(line))
        except (ValueError, TypeError, KeyError, RecursionError):
            damaged += bool(line.strip(b"\0 \r\t"))
    for entry in list(_unsaved):
        _count(entries, entry)
    if damaged:
        trouble = f"{damaged} {'line' if damaged == 1 else 'lines'} of {path().name} could not be understood."
    return entries, trouble


def _count(entries, line):
    """Add one verdict to what is known; ValueError or the like for a line that holds none."""
    id, status, mistakes = line["exercise"], line["status"], line.get("mistakes", [])
    if not isinstance(id, str) or status not in STATES or not all(isinstance(one, str) for one in mistakes):
        raise ValueError("no verdict")
    entry = entries.setdefault(id, {"status": "todo", "mistakes": [], "tries": 0, "passed_on": None})
    if entry["status"] == "passed":
        return
    entry["tries"] += 1
    entry["mistakes"] = sorted({*entry["mistakes"], *mistakes})
    entry["status"] = status
    if status == "passed":
        entry["passed_on"] = line.get("day")


def _old_files():
    """Files of the first version of the course, which kept one JSON object and set aside what it could not read."""
    old = path().with_suffix(".json")
    with contextlib.suppress(OSError, ValueError):
        return [*sorted(old.parent.glob(".progress.damaged-*.json")), old]
    return []


def _take_over(old, entries):
    try:
        found = json.loads(_bytes_of(old))["exercises"].items()
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return
    for id, before in found:
        if not isinstance(before, dict) or before.get("status") not in STATES:
            continue
        entry = entries.setdefault(id, {"status": "todo", "mistakes": [], "tries": 0, "passed_on": None})
        tries, mistakes = before.get("tries"), before.get("mistakes")
        entry["tries"] = max(entry["tries"], tries if isinstance(tries, int) else 1)
        if isinstance(mistakes, list):
            entry["mistakes"] = sorted({*entry["mistakes"], *(one for one in mistakes if isinstance(one, str))})
        if entry["status"] != "passed":
            entry["status"] = before["status"]
        entry["passed_on"] = entry["passed_on"] or before.get("passed_on")


def _bytes_of(file):
    """The content of a file, asked for again where a network folder stumbles."""
    for patience in (0.02, 0.1, None):
        try:
            return file.read_bytes()
        except FileNotFoundError:
            raise
        except OSError:
            if patience is None:
                raise
            time.sleep(patience)


def _append(file, lines):
    """Add whole lines at the end of a file, all of them or none; OSError where that is impossible."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o644)
    try:
        with _locked(handle):
            size = os.lseek(handle, 0, os.SEEK_END)
            if size:
                os.lseek(handle, size - 1, os.SEEK_SET)
                if os.read(handle, 1) != b"\n":  # a crash broke off the last line: it must not swallow this one
                    lines = b"\n" + lines
            written = 0
            try:
                written = os.write(handle, lines)
                if written < len(lines):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                _to_disk(handle)
            except OSError:
                if 0 < written < len(lines):
                    with contextlib.suppress(OSError):
                        os.ftruncate(handle, size)
                raise
    finally:
        os.close(handle)


def _to_disk(handle):
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOSYS, getattr(errno, "ENOTSUP", errno.EINVAL)):
            raise  # some network folders say only here that they are full


@contextlib.contextmanager
def _locked(handle):
    """Hold other kernels off a file for a moment; where the folder has no locks, appending is safe enough without."""
    deadline, held = time.monotonic() + LOCK_SECONDS, False
    while not held:
        try:
            _lock(handle)
            held = True
        except OSError as error:
            busy = error.errno in (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
            if not busy or time.monotonic() > deadline:
                break
            time.sleep(0.005)
    try:
        yield
    finally:
        if held:
            with contextlib.suppress(OSError):
                _unlock(handle)


try:
    import fcntl

    def _lock(handle):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(handle):
        fcntl.flock(handle, fcntl.LOCK_UN)

except ImportError:  # Windows, where a lock keeps others from reading too: so it lies far behind the end
    import msvcrt

    _FAR = 2**30

    def _lock(handle):
        os.lseek(handle, _FAR, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

    def _unlock(handle):
        os.lseek(handle, _FAR, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)


def _reason(error):
    number = getattr(error, "errno", None)
    if number in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
        return "the disk is full"
    if number in (errno.EROFS, errno.EACCES, errno.EPERM):
        return "the folder is read-only for you"
    return getattr(error, "strerror", None) or type(error).__name__


def _not_saved(reason):
    return (
        f"Your progress could not be saved, because {reason}: {path().parent}. Answers are judged as before. "
        "What you solve now counts until this kernel ends, and is saved as soon as that works again."
    )


def _tell(error):
    """Say once in a session that nothing is saved, and why."""
    global _told
    if not _told:
        _told = True
        print(_not_saved(_reason(error)))


# What is shown --------------------------------------------------------------------------------------------------------


def progress(lesson=None):
    """What has been solved: the whole course, a row per lesson, or with `progress("02")` one lesson's row.

    Shown as a table in a notebook. Raises ValueError for a lesson that does not exist.
    """
    entries, trouble = _read()
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
    return "<tr>" + "".join(f'<td style="{style}">{cell}</td>' for cell in cells) + "</tr>"


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
        table = f"<table>{_row_html(self.entries, self.lesson)}</table>"
        return boxed(f"{_trouble_html(self.trouble)}{table}{where}", "#0072B2")


def _trouble_html(trouble):
    return f"<div>{html.escape(trouble)}</div>" if trouble else ""
