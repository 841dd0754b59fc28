"""Run an answer on one case without letting it harm the kernel, and tell whether two pieces of code did the same."""

import builtins
import contextlib
import functools
import io
import math
import re
import signal
import sys
import threading
import traceback
import warnings
from dataclasses import dataclass

import numpy as np

from .exercise import AnswerProblem
from .values import arrays, as_array, is_array, same

TIME_LIMIT = 5.0  # seconds a case may take
PRINT_LIMIT, PRINT_LINES = 4000, 20  # characters and lines of printed output that are kept


class TimeLimit(BaseException):
    """Raised inside an answer that runs too long; not an Exception, so that `except Exception` does not stop it."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What happened on one case: a value, or an error, and what else was seen."""

    value: object = None
    error: BaseException | None = None
    changed: tuple[int, ...] = ()  # positions of arguments that were changed in place
    printed: str = ""
    warned: tuple[str, ...] = ()

    @functools.cached_property
    def digest(self):
        """Shape, count of NaN, sum and sum of absolute values of each array: they tell most outcomes apart quickly."""
        return tuple(_digest(x) for x in arrays(self.value, numbers=True))


class _Tee(io.TextIOBase):
    """Keeps the first lines that are printed and counts the rest."""

    def __init__(self):
        self.kept, self.room, self.dropped = [], PRINT_LIMIT, 0

    def writable(self):
        return True

    def write(self, text):
        self.kept.append(text[: self.room])
        self.dropped += text[self.room :].count("\n")
        self.room = max(self.room - len(text), 0)
        return len(text)

    def text(self):
        lines = "".join(self.kept).splitlines()
        more = self.dropped + len(lines[PRINT_LINES:])
        return "\n".join(lines[:PRINT_LINES]) + (f"\n… and {more} more lines" if more else "")


@contextlib.contextmanager
def _time_limit(seconds):
    """Raise TimeLimit in the running code after some seconds, where the platform can (main thread, not Windows)."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    armed = True

    def ring(signum, frame):
        if armed:
            raise TimeLimit

    previous = signal.signal(signal.SIGALRM, ring)
    # It rings again and again, for code that swallows even BaseException.
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.05)
    try:
        yield
    finally:
        armed = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


@contextlib.contextmanager
def _exit_raises(candidate):
    """Let exit() and quit() raise SystemExit for a while: Jupyter's own versions would end the kernel."""
    function = getattr(candidate, "__init__", candidate) if isinstance(candidate, type) else candidate
    spaces = [vars(builtins), getattr(function, "__globals__", {})]
    saved = [(space, name, space[name]) for space in spaces for name in ("exit", "quit") if name in space]
    for space, name, _ in saved:
        space[name] = sys.exit
    try:
        yield
    finally:
        for space, name, value in saved:
            space[name] = value


def run(exercise, candidate, case):
    """Outcome of a learner's answer on fresh inputs: guarded, timed, prints and warnings recorded."""
    inputs, printed = case.make(), _Tee()
    value = error = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with (
                contextlib.redirect_stdout(printed),
                np.errstate(all="warn"),
                _exit_raises(candidate),
                _time_limit(TIME_LIMIT),
            ):
                value = call(exercise, candidate, inputs)
        except KeyboardInterrupt:
            raise
        except BaseException as problem:
            error = problem
    warned = tuple(dict.fromkeys(str(w.message) for w in caught))
    return Outcome(value, error, changed(inputs, case.make()), printed.text(), warned)


def run_quietly(exercise, candidate, case):
    """Outcome of our own code (the reference, a faulty twin): no guards are needed."""
    inputs = case.make()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            value, error = call(exercise, candidate, inputs), None
        except Exception as problem:
            value, error = None, problem
    return Outcome(value, error, changed(inputs, case.make()))


def call(exercise, candidate, inputs):
    return exercise.run(candidate, *inputs) if exercise.run else candidate(*inputs)


def changed(inputs, fresh):
    """Positions of the arrays among `inputs` that no longer equal their fresh copies."""
    return tuple(
        i
        for i, (now, before) in enumerate(zip(inputs, fresh, strict=True))
        if is_array(before) and not same(now, before, 0.0)
    )


# When two outcomes are the same ------------------------------------------------------------------------------------


def same_outcome(a, b, tolerance):
    """Whether two pieces of code did the same on one case: same values, or the same error for the same reason."""
    if a.error is not None or b.error is not None:
        return a.error is not None and b.error is not None and _reason(a.error) == _reason(b.error)
    return a.changed == b.changed and _alike(a.digest, b.digest, tolerance) and same(a.value, b.value, tolerance)


def _digest(x):
    x = as_array(x)
    if x.dtype.kind not in "fiub":
        return x.shape, 0, 0.0, 0.0
    x = x.astype(float)
    finite = x[np.isfinite(x)]
    return x.shape, x.size - finite.size, float(finite.sum()), float(np.abs(finite).sum())


def _alike(a, b, tolerance):
    """False where two digests rule out that the values agree within the tolerance."""
    if len(a) != len(b):
        return False
    for (shape, odd, total, size), (other_shape, other_odd, other_total, other_size) in zip(a, b, strict=True):
        room = 4 * (tolerance + 1e-12) * (max(size, other_size) + math.prod(shape) * 1e-3)
        if shape != other_shape or odd != other_odd or abs(total - other_total) > room:
            return False
    return True


def _reason(error):
    """Type and wording of an error, whatever the order of its words: a * b and b * a fail alike."""
    if isinstance(error, AnswerProblem):
        return AnswerProblem, str(error)
    inner = re.search(r"matmul.*size (\d+) is different from (\d+)|not aligned: (\d+) \(dim \d\) != (\d+)", str(error))
    if inner:  # `@` and np.dot say the same in other words
        return type(error), sorted(size for size in inner.groups() if size)
    return type(error), sorted(re.findall(r"\w+", str(error)))


# Where an answer stopped --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """The line of the learner's cell where an error came up, and the arrays it named."""

    line: int
    text: str
    shapes: str


def place_of(error, candidate):
    """Where in the learner's own code an error was raised, or None if it never got there."""
    code = _code_of(candidate)
    frames = list(traceback.walk_tb(error.__traceback__))
    own = [(frame, line) for frame, line in frames if code is not None and frame.f_code.co_filename == code.co_filename]
    if not own:
        return None
    frame, line = own[-1]
    summary = traceback.FrameSummary(frame.f_code.co_filename, line, frame.f_code.co_name)
    text = (summary.line or "").strip()
    names = dict.fromkeys(re.findall(r"[A-Za-z_]\w*", text))
    found = {name: frame.f_locals[name] for name in names if name in frame.f_locals and is_array(frame.f_locals[name])}
    return Place(line, text, " and ".join(f"{name} {tuple(value.shape)}" for name, value in found.items()))


def _code_of(candidate):
    if isinstance(candidate, type):
        candidate = next((v for v in vars(candidate).values() if hasattr(v, "__code__")), None)
    candidate = getattr(candidate, "__wrapped__", candidate)
    return getattr(candidate, "__code__", None)
