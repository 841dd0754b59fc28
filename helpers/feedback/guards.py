"""Run code of a learner's that may hang, print, exit or raise anything, and put everything back after it."""

import builtins
import contextlib
import enum
import gc
import io
import signal
import sys
import threading
import time
import warnings

import numpy as np

WAITING = 4.0  # so many times as long by the clock, for an answer that waits and does not compute
IMPORTING = 20.0  # seconds of computing that a module which is being imported gets beyond a limit
RING_AGAIN = 0.05  # seconds; a limit rings again and again, for code that swallows even BaseException
PRINT_LIMIT, PRINT_LINES = 4000, 20  # characters and lines of printed output that are kept


class TimeLimit(BaseException):
    """Raised inside an answer that runs too long; not an Exception, so that `except Exception` does not stop it."""

    def __init__(self, limit=None):
        super().__init__()
        self.limit = limit


# Time -----------------------------------------------------------------------------------------------------------------


def clocks(since=(0.0, 0.0)):
    """Seconds of computing and by the clock since a reading of both."""
    return time.process_time() - since[0], time.monotonic() - since[1]


def spent(since=(0.0, 0.0)):
    """Seconds of computing since two readings of the clocks, or of the clock where those go by much faster."""
    computing, by_the_clock = clocks(since)
    return max(computing, by_the_clock / WAITING)


class Limit:
    """Raise TimeLimit in the running code after some seconds of computing, or WAITING times as many by the clock.

    Where the platform can: in the main thread, not on Windows. Limits nest: one inside another never outlasts it, and
    a TimeLimit says whose it is. It is never raised while this module puts something back.
    """

    innermost = None

    def __init__(self, seconds):
        self.seconds = seconds
        self.outer, self.armed, self.timers = Limit.innermost, False, ()

    def __enter__(self):
        self.armed = True
        if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
            self.timers = ((signal.ITIMER_PROF, signal.SIGPROF, 1.0), (signal.ITIMER_REAL, signal.SIGALRM, WAITING))
        self.start = clocks()
        self.timers_before = [signal.getitimer(timer) for timer, _, _ in self.timers]
        self.handlers_before = [signal.signal(number, self._ring) for _, number, _ in self.timers]
        Limit.innermost = self
        seconds = min(limit.left() for limit in (*self.around(), self))
        for timer, _, times in self.timers:
            signal.setitimer(timer, max(seconds * times, 0.01), RING_AGAIN)
        return self

    def __exit__(self, kind, *_):
        self.armed, Limit.innermost = False, self.outer
        for (timer, number, _), handler in zip(self.timers, self.handlers_before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)
        for (timer, _, _), (left, again), passed in zip(
            self.timers, self.timers_before, clocks(self.start), strict=False
        ):
            if left:  # another limit, around this one, goes on
                signal.setitimer(timer, max(left - passed, 0.01), again)
        over = self.outer and self.outer._over()
        if over and self.timers and not (kind and issubclass(kind, KeyboardInterrupt)):
            raise TimeLimit(over)

    def left(self):
        """Seconds of computing that are left."""
        return self.seconds - spent(self.start)

    def around(self):
        """The limits around this one, the outermost first."""
        return () if self.outer is None else (*self.outer.around(), self.outer)

    def _over(self):
        """The outermost of this limit and those around it whose time is up, or None."""
        return next((limit for limit in (*self.around(), self) if limit.left() <= 0), None)

    def _ring(self, signum, frame):
        if not self.armed or _puts_something_back(frame):
            return
        if _imports(frame) and self.left() > -IMPORTING:  # half a module would stay behind for the whole session
            return
        raise TimeLimit(self._over() or self)


def _imports(frame):
    """Whether a module is being imported."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def _puts_something_back(frame):
    return frame is not None and frame.f_code.co_filename in _PUTTING_BACK


_PUTTING_BACK = {module.__file__ for module in (sys.modules[__name__], contextlib, enum, signal, warnings)}


# Everything else ------------------------------------------------------------------------------------------------------


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
        kept = "".join(self.kept)
        lines = kept.splitlines()
        cut_short = bool(self.dropped) and not kept.endswith("\n")  # the rest of its last line was dropped
        more = self.dropped - cut_short + len(lines[PRINT_LINES:])
        return "\n".join(lines[:PRINT_LINES]) + (f"\n… and {more} more lines" if more else "")


def globals_of(candidate):
    code = function_of(candidate)
    return getattr(code, "__globals__", None)


def function_of(candidate):
    if isinstance(candidate, type):
        return next((v for v in vars(candidate).values() if hasattr(v, "__globals__")), None)
    for _ in range(100):  # what says of itself that it wraps itself would never end
        if not hasattr(candidate, "__wrapped__"):
            break
        candidate = candidate.__wrapped__
    return candidate


@contextlib.contextmanager
def usual_settings():
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


@contextlib.contextmanager
def old_objects_left_alone():
    """Let the collection of garbage pass over all objects that are there already, PyTorch's hundreds of thousands."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def guarded(action, candidate, seconds):
    """(value, error, printed, warned) of an action that runs an answer's code; nothing it does gets out.

    action: a function without arguments. An interrupt by the learner and the end of a limit around this one are passed
    on; everything else becomes the error.
    """
    printed = _Tee()
    value = error = None
    with warnings.catch_warnings(record=True) as caught, _Interrupts() as interrupts:
        warnings.simplefilter("always")
        limit = Limit(seconds)
        try:
            with (
                contextlib.redirect_stdout(printed),
                contextlib.redirect_stderr(_Tee()),
                np.errstate(all="warn"),
                _nothing_displayed(),
                _exit_raises(candidate),
                usual_settings(),
                limit,
            ):
                value = action()
        except BaseException as problem:
            if _concerns_others(problem, interrupts, limit):
                raise
            error = problem
    warned = tuple(dict.fromkeys(_text_of(w.message) for w in caught))
    return value, error, printed.text(), warned


def contained(action, seconds):
    """(value, error) of the course's own code that looks at what an answer gave back: that may stop or hang it.

    An interrupt by the learner and the end of a limit around this one are passed on.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"), _Interrupts() as interrupts:
        warnings.simplefilter("ignore")
        limit = Limit(seconds)
        try:
            with limit:
                return action(), None
        except BaseException as problem:
            if _concerns_others(problem, interrupts, limit):
                raise
            return None, problem


def _concerns_others(problem, interrupts, limit):
    """Whether the learner pressed stop, or a limit around this one ended."""
    if isinstance(problem, KeyboardInterrupt):
        return interrupts.pressed
    return isinstance(problem, TimeLimit) and problem.limit in limit.around()


def _text_of(x):
    """str(x), or the type's name where that fails."""
    try:
        return str(x)
    except BaseException:
        return type(x).__name__
