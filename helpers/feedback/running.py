"""Run an answer on one case without letting it harm the kernel, and say where it stopped."""

import builtins
import contextlib
import io
import re
import signal
import sys
import threading
import time
import traceback
import types
import warnings
from dataclasses import dataclass

import numpy as np

from .inputs import pristine
from .outcomes import Outcome
from .values import is_array

TIME_LIMIT = 5.0  # seconds of computing that a case may take; a busy machine does not make an answer slow
TOTAL_LIMIT = 12.0  # the same for all runs of one judgement together
WAITING = 4.0  # so many times as long by the clock, for an answer that waits and does not compute
PRINT_LIMIT, PRINT_LINES = 4000, 20  # characters and lines of printed output that are kept


class TimeLimit(BaseException):
    """Raised inside an answer that runs too long; not an Exception, so that `except Exception` does not stop it."""


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


class Clock:
    """The seconds that the runs of one judgement may still take."""

    def __init__(self, seconds=None):
        self.left = TOTAL_LIMIT if seconds is None else seconds


def globals_of(candidate):
    code = _function_of(candidate)
    return getattr(code, "__globals__", None)


def _function_of(candidate):
    if isinstance(candidate, type):
        return next((v for v in vars(candidate).values() if hasattr(v, "__globals__")), None)
    for _ in range(100):  # what says of itself that it wraps itself would never end
        if not hasattr(candidate, "__wrapped__"):
            break
        candidate = candidate.__wrapped__
    return candidate


@contextlib.contextmanager
def _usual_settings():
    """PyTorch's own defaults, whatever the lesson or the case before has set."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    if torch.get_default_dtype() is not torch.float32:
        torch.set_default_dtype(torch.float32)
    if not torch.is_grad_enabled():
        torch.set_grad_enabled(True)
    yield


# One run --------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _time_limit(seconds):
    """Raise TimeLimit in the running code after some seconds of computing, or WAITING times as many by the clock.

    Where the platform can: in the main thread, not on Windows.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    armed = True

    def ring(signum, frame):
        if armed:
            raise TimeLimit

    timers = ((signal.ITIMER_PROF, signal.SIGPROF, 1.0), (signal.ITIMER_REAL, signal.SIGALRM, WAITING))
    start, running_before = _clocks(), {timer: signal.getitimer(timer) for timer, _, _ in timers}
    previous = {number: signal.signal(number, ring) for _, number, _ in timers}
    # They ring again and again, for code that swallows even BaseException.
    for timer, _, times in timers:
        signal.setitimer(timer, max(seconds * times, 0.01), 0.05)
    try:
        yield
    finally:
        armed = False
        for _ in range(3):  # a ring that was on its way may still come between two of these lines
            try:
                for timer, number, _ in timers:
                    signal.setitimer(timer, 0)
                    signal.signal(number, previous[number])
                break
            except TimeLimit:
                continue
        for (timer, _, _), spent in zip(timers, _clocks(start), strict=True):
            left, again = running_before[timer]
            if left:  # another limit, around this one, goes on
                signal.setitimer(timer, max(left - spent, 0.01), again)


def _clocks(since=(0.0, 0.0)):
    """Seconds of computing and by the clock since a reading of both."""
    return time.process_time() - since[0], time.monotonic() - since[1]


@contextlib.contextmanager
def _exit_raises(candidate):
    """Let exit() and quit() raise SystemExit for a while: Jupyter's own versions would end the kernel."""
    space = globals_of(candidate) or {}
    spaces = [vars(builtins), space]
    saved = [(space, name, space[name]) for space in spaces for name in ("exit", "quit") if name in space]
    for space, name, _ in saved:
        space[name] = sys.exit
    try:
        yield
    finally:
        for space, name, value in saved:
            space[name] = value


class _Interrupts:
    """Tells the learner's own interrupt (the stop button) from a KeyboardInterrupt that an answer raises."""

    def __init__(self):
        self.pressed = False

    def __enter__(self):
        self.previous = None
        if threading.current_thread() is threading.main_thread():
            self.previous = signal.getsignal(signal.SIGINT)
            if callable(self.previous):
                signal.signal(signal.SIGINT, self._press)
        return self

    def _press(self, signum, frame):
        self.pressed = True
        self.previous(signum, frame)  # the guard around this one hears of it too
        raise KeyboardInterrupt

    def __exit__(self, *_):
        if callable(self.previous):
            signal.signal(signal.SIGINT, self.previous)


@contextlib.contextmanager
def _nothing_displayed():
    """What an answer displays in a notebook is left out: it would appear once a case."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None or not hasattr(shell, "display_pub"):
        yield
        return
    from IPython.core.displaypub import CapturingDisplayPublisher

    previous, shell.display_pub = shell.display_pub, CapturingDisplayPublisher()
    try:
        yield
    finally:
        shell.display_pub = previous


def guarded(action, candidate, seconds=TIME_LIMIT):
    """(value, error, printed, warned) of an action that runs an answer's code; nothing it does gets out.

    action: a function without arguments. An interrupt by the learner is passed on; everything else becomes the error.
    """
    printed = _Tee()
    value = error = None
    with warnings.catch_warnings(record=True) as caught, _Interrupts() as interrupts:
        warnings.simplefilter("always")
        try:
            with (
                contextlib.redirect_stdout(printed),
                contextlib.redirect_stderr(_Tee()),
                np.errstate(all="warn"),
                _nothing_displayed(),
                _exit_raises(candidate),
                _usual_settings(),
                _time_limit(seconds),
            ):
                value = action()
        except KeyboardInterrupt as problem:
            if interrupts.pressed:
                raise
            error = problem
        except BaseException as problem:
            error = problem
    warned = tuple(dict.fromkeys(_text_of(w.message) for w in caught))
    return value, error, printed.text(), warned


def contained(action, seconds):
    """(value, error) of the course's own code that looks at what an answer gave back: that may stop or hang it.

    An interrupt by the learner is passed on.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"), _Interrupts() as interrupts:
        warnings.simplefilter("ignore")
        try:
            with _time_limit(seconds):
                return action(), None
        except KeyboardInterrupt as problem:
            if interrupts.pressed:
                raise
            return None, problem
        except BaseException as problem:
            return None, problem


def _text_of(x):
    """str(x), or the type's name where that fails."""
    try:
        return str(x)
    except BaseException:
        return type(x).__name__


def _spent(since=(0.0, 0.0)):
    """Seconds of computing since two readings of the clocks, or of the clock where those go by much faster."""
    computing, by_the_clock = _clocks(since)
    return max(computing, by_the_clock / WAITING)


def run(exercise, candidate, case, clock=None, seconds=None):
    """Outcome of a learner's answer on fresh inputs: guarded, timed, prints and warnings recorded."""
    kept = pristine(case)
    inputs = kept.fresh()
    limit = TIME_LIMIT if seconds is None else seconds
    limit = limit if clock is None else min(limit, clock.left)
    start = _clocks()
    value, error, printed, warned = guarded(lambda: call(exercise, candidate, inputs), candidate, limit)
    if issubclass(type(value), types.CoroutineType):
        value.close()  # nobody will wait for it, and Python would warn of that
    if clock is not None:
        clock.left -= _spent(start)
    try:
        changed = kept.changed(inputs)
    except Exception:  # an input that the answer left in a state that cannot be compared
        changed = ()
    return Outcome(value, error, changed, printed, warned)


def run_quietly(exercise, candidate, case):
    """Outcome of our own code (the reference, a faulty twin): no guards are needed."""
    kept = pristine(case)
    inputs = kept.fresh()
    with warnings.catch_warnings(), np.errstate(all="ignore"), _usual_settings():
        warnings.simplefilter("ignore")
        try:
            value, error = call(exercise, candidate, inputs), None
        except Exception as problem:
            value, error = None, problem
    return Outcome(value, error, kept.changed(inputs))


def quiet_outcome(function, inputs):
    """Outcome of our own function on inputs of its own."""
    with warnings.catch_warnings(), np.errstate(all="ignore"), _usual_settings():
        warnings.simplefilter("ignore")
        try:
            return Outcome(function(*inputs))
        except Exception as problem:
            return Outcome(error=problem)


def call(exercise, candidate, inputs):
    return exercise.run(candidate, *inputs) if exercise.run else candidate(*inputs)


# Where an answer stopped --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """The line of the learner's cell where an error came up, the arrays it named, and the names known there."""

    line: int
    text: str
    shapes: str
    names: tuple[str, ...] = ()
    innermost: bool = False  # the error was raised by this very line, not by what it calls


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
    shapes = " and ".join(f"{name} {tuple(value.shape)}" for name, value in found.items())
    return Place(line, text, shapes, tuple(frame.f_locals), innermost=own[-1] == frames[-1])


def line_in(error, file):
    """The innermost line of a file that an error passed through, or None."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == file]
    return lines[-1] if lines else None


def _code_of(candidate):
    return getattr(_function_of(candidate), "__code__", None)
