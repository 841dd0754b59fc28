"""What has been solved so far, kept as lines in one small file beside the course and outside git.

Each verdict is one line of JSON, added at the end under a lock; no line is ever changed or taken away. So two
kernels cannot overwrite each other, a crash costs at most the line being written, and a damaged line only itself.
(A database would need shared memory that network folders do not have.)
"""

import contextlib
import datetime
import errno
import json
import os
import threading
import time
from pathlib import Path

from ..course import course_folder
from .report import in_notebook

PATH_VARIABLE = "ATTENTION_COURSE_PROGRESS"  # another place for the file: tests and graders set it
STATES = ("failed", "error", "passed")
LOCK_SECONDS = 5.0  # how long another kernel's lock is waited for; lines are whole without it too

_one_at_a_time = threading.Lock()
_unsaved = []  # lines that could not be written yet: kept for this kernel, and tried again with the next one
_told = False  # that something could not be saved is said once


def path():
    """Where progress is kept."""
    return Path(os.environ.get(PATH_VARIABLE) or course_folder() / ".progress.jsonl").with_suffix(".jsonl")


def record(report):
    """Remember a verdict given in a learner's notebook. What has passed once stays passed; this never raises."""
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
    return read()[0]


def in_solutions():
    """Whether the running notebook is one of the course's solutions."""
    session = Path(os.environ.get("JPY_SESSION_NAME", ""))
    if session.name.partition(".ipynb")[0].endswith("_solution"):
        return True
    folders = [session.parent]
    with contextlib.suppress(OSError):  # the current folder may be gone
        folders.append(Path.cwd())
    return any(folder.name == "solutions" for folder in folders)


# Reading --------------------------------------------------------------------------------------------------------------


def read():
    """(entries, sentence): what is known, as in `load`, and what could not be read, "" where all could."""
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


# Writing --------------------------------------------------------------------------------------------------------------


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
