"""Runs judging processes and ends them from outside: deadlines, memory, disk and output are bounded.

Each runs in a temporary folder of its own, in a process group of its own, with none of the teacher's variables.
"""

import contextlib
import json
import os
import queue
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

COURSE = Path(__file__).resolve().parents[2]
# What a process needs of its surroundings to start at all; nothing here is a secret of the teacher's.
KEPT = ("PATH", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
POLL = 0.1  # seconds


@dataclass(frozen=True)
class Limits:
    """What one copy may use: seconds until a process is ready, for each answer, for all; bytes; processes."""

    start: float = 180.0
    answer: float = 60.0
    copy: float = 300.0
    memory: int = 3_000_000_000
    disk: int = 300_000_000
    output: int = 5_000_000
    processes: int = 50


class Stopped(Exception):
    """The teacher stopped the grading."""


def judge(attempts, limits, stop):
    """Judge attempts, each (id, …) as the notebook module gives them, the last of an exercise first.

    stop: a threading.Event that ends everything. Returns {exercise number: {"status", "mistakes", "reason"}} for what
    was reached, and a sentence about what ended the whole, "" where nothing did.
    """
    jobs, results, trouble = [attempt.as_data() for attempt in attempts], {}, ""
    deadline, failed_starts = time.monotonic() + limits.copy, 0
    while jobs:
        done, ended = _one_process(jobs, limits, deadline, stop)
        for number, result in done:
            _keep(results, jobs[number]["id"], result)
        reached = max((number for number, _ in done), default=-1)
        if ended.startswith(_NOT_READY):
            failed_starts += 1
            if failed_starts == 2 or time.monotonic() > deadline:
                return results, f"could not be judged: {ended}"
            continue
        jobs = [job for job in jobs[reached + 1 :] if results.get(job["id"], {}).get("status") != "passed"]
        if ended == _OVER_TIME and jobs:
            trouble = f"was stopped after {limits.copy:.0f} seconds, before all was judged"
            for job in jobs:
                results.setdefault(job["id"], {"status": "failed", "mistakes": [], "reason": "there was no time left"})
            break
    return results, trouble


_NOT_READY = "no process that judges would start"
_OVER_TIME = "over time"
_RANK = {"todo": 0, "failed": 1, "error": 1, "passed": 2}


def _keep(results, id, result):
    """The best of several attempts counts, and of equals the last in the notebook, which comes first here."""
    if id not in results or _RANK[result["status"]] > _RANK[results[id]["status"]]:
        results[id] = result


def _one_process(jobs, limits, deadline, stop):
    """([(number, result)], why): what one process came to, and why it ended before the last job; "" if it did not."""
    done, began, current = [], time.monotonic(), None
    with tempfile.TemporaryDirectory(prefix="course-grading-", ignore_cleanup_errors=True) as folder:
        token = secrets.token_hex(16)
        job = {"token": token, "memory": limits.memory, "answer": limits.answer, "folder": folder, "attempts": jobs}
        with _Process(folder, job) as process:
            ready, ended = False, ""
            while True:
                line = process.next_line(POLL)
                said = _understood(line, token) if line else {}
                if said.get("ready") is True:
                    ready = True
                elif not ready and _is_text(said.get("broken")):
                    return done, f"{_NOT_READY} ({said['broken']})"
                elif ready and _is_number(said.get("begin"), jobs):
                    current, began = said["begin"], time.monotonic()
                elif current is not None and said.get("done") == current:
                    done.append((current, _checked(said)))
                    current = None
                if line is None and process.is_over():
                    ended = process.how_it_ended()
                    break
                if stop.is_set():
                    raise Stopped
                now = time.monotonic()
                over = process.over(limits)
                if over:
                    ended = over
                    break
                if not ready and now - began > limits.start:
                    break
                if now > deadline:
                    ended = _OVER_TIME
                    break
                if current is not None and now - began > limits.answer:
                    ended = f"was still running after {limits.answer:.0f} seconds and was stopped"
                    break
    if not ready and ended != _OVER_TIME:
        return done, _NOT_READY
    if current is not None:
        reason = f"was still running when the {limits.copy:.0f} seconds for this copy were over"
        reason = f"its cell {reason if ended == _OVER_TIME else ended}"
        done.append((current, {"status": "failed", "mistakes": [], "reason": reason}))
    return done, _OVER_TIME if ended == _OVER_TIME else ""


def _is_number(value, jobs):
    return type(value) is int and 0 <= value < len(jobs)


def _understood(line, token):
    """What a line from the process says; {} for one that is not the worker's own."""
    try:
        said = json.loads(line)
        return said if isinstance(said, dict) and said.get("token") == token else {}
    except (ValueError, RecursionError):
        return {}


def _checked(said):
    """A result of known form, whatever a line held."""
    status = said.get("status") if said.get("status") in _RANK else "failed"
    mistakes = said.get("mistakes") if isinstance(said.get("mistakes"), list) else []
    mistakes = [
        one for one in mistakes if isinstance(one, dict) and all(_is_text(one.get(k)) for k in ("id", "message"))
    ]
    reason = said.get("reason") if _is_text(said.get("reason")) else ""
    return {"status": status, "mistakes": mistakes[:20], "reason": reason[:1000]}


def _is_text(value):
    return isinstance(value, str)


class _Process:
    """One judging process and everything that it starts."""

    def __init__(self, folder, job):
        self.folder, self.lines, self.sent, self.seen = Path(folder), queue.Queue(), 0, {}
        self.checked = 0.0
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        environment |= {name: str(folder) for name in ("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "APPDATA")}
        environment |= {
            "PYTHONPATH": str(COURSE),
            "PYTHONIOENCODING": "utf-8",
            "LANG": "C.UTF-8",
            "MPLBACKEND": "Agg",
            "TQDM_DISABLE": "1",
            "OMP_NUM_THREADS": "1",
            "ATTENTION_COURSE_PROGRESS": str(self.folder / "progress.jsonl"),
        }
        alone = {"start_new_session": True} if os.name == "posix" else {
            "creationflags": subprocess.CREATE_NEW_PROCESS_GROUP
        }  # fmt: skip
        self.process = subprocess.Popen(
            [sys.executable, "-s", "-P", "-m", "helpers.grading.worker"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            cwd=folder, env=environment, **alone,
        )  # fmt: skip
        self.pid = self.process.pid
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._write, args=(json.dumps(job).encode(),), daemon=True).start()

    def _write(self, data):
        with contextlib.suppress(OSError, ValueError):
            self.process.stdin.write(data)
            self.process.stdin.close()

    def _read(self):
        rest = b""
        with contextlib.suppress(OSError, ValueError):
            while part := os.read(self.process.stdout.fileno(), 65536):
                self.sent += len(part)
                if self.sent > 100_000_000:
                    break
                *whole, rest = (rest + part).split(b"\n")
                for line in whole:
                    self.lines.put(line)
                rest = rest[-1_000_000:]

    def next_line(self, seconds):
        try:
            return self.lines.get(timeout=seconds)
        except queue.Empty:
            return None

    def is_over(self):
        """Whether the process has ended and all that it said was heard."""
        if self.process.poll() is None:
            return False
        time.sleep(POLL)  # its last line may still be on the way
        return self.lines.empty()

    def how_it_ended(self):
        code = self.process.returncode
        if code < 0:
            with contextlib.suppress(ValueError):
                return f"ended its process by {signal.Signals(-code).name}"
        return f"ended its process with exit code {code}"

    def over(self, limits):
        """Which bound is passed, as the rest of a sentence; "" where none is."""
        if self.sent > limits.output:
            return "wrote without end and was stopped"
        tree = self._tree()
        if len(tree) > limits.processes:
            return f"started more than {limits.processes} processes and was stopped"
        if _memory_of(tree, limits.memory) > limits.memory:
            return f"took more than {limits.memory / 1e9:.1f} GB of memory and was stopped"
        if time.monotonic() - self.checked > 1.0:
            self.checked = time.monotonic()
            if _size_of(self.folder, limits.disk) > limits.disk:
                return f"wrote more than {limits.disk / 1e6:.0f} MB to disk and was stopped"
        return ""

    def _tree(self):
        """The process and its descendants; those once seen are remembered, should they lose their parent."""
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(self.pid)
            for one in (process, *process.children(recursive=True)):
                self.seen[one.pid] = one
        return [one for one in self.seen.values() if _is_alive(one)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """End the whole group and whoever left it, by number."""
        for _ in range(5):  # what is started between two looks is found by the next
            tree = self._tree()
            if os.name == "posix":
                with contextlib.suppress(OSError):
                    os.killpg(self.pid, signal.SIGKILL)
            for one in tree:
                with contextlib.suppress(psutil.Error):
                    one.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(2)
            if not [one for one in self._tree() if one.pid != self.pid]:
                break
            time.sleep(POLL)
        for one in _started_in(self.folder):  # who left the group and lost the parent between two looks
            with contextlib.suppress(psutil.Error):
                one.kill()
        for stream in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError, ValueError):
                stream.close()


def _memory_of(tree, bound):
    """Bytes of memory of some processes together.

    Resident sizes count a page once for each process that shares it, and a forked child shares nearly all of its
    parent's. Their sum is quick to have, so it is looked at first. Only where it passes the bound are proportional
    sizes asked for, which count every page once.
    """
    resident = sum(_bytes_of(one, "memory_info") for one in tree)
    if resident <= bound:
        return resident
    return sum(_bytes_of(one, "memory_full_info", "memory_info") for one in tree)


def _bytes_of(process, *questions):
    """The proportional size where an answer has one (Linux, ``memory_full_info``), else the resident size."""
    for question in questions:
        with contextlib.suppress(psutil.Error):
            memory = getattr(process, question)()
            return getattr(memory, "pss", memory.rss)
    return 0  # it is gone


def _started_in(folder):
    """Processes that were given this temporary folder as theirs, which no other process was."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get("TMPDIR") == str(folder):
                yield process


def _is_alive(process):
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _size_of(folder, enough):
    """Bytes of the files beneath a folder, counted only until they are enough."""
    total = 0
    for place, _, names in os.walk(folder, onerror=None):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_size + 500  # many small files count too
        if total > enough:
            break
    return total
