"""Run an answer on one case without letting it harm the kernel, and say where it stopped."""

import dis
import io
import linecache
import re
import tokenize
import traceback
import types
import warnings
from dataclasses import dataclass

import numpy as np

from .guards import TimeLimit, clocks, contained, function_of, globals_of, guarded, spent, usual_settings
from .inputs import pristine
from .outcomes import Outcome
from .values import is_array

TIME_LIMIT = 5.0  # seconds of computing that a case may take; a busy machine does not make an answer slow
TOTAL_LIMIT = 12.0  # the same for all runs of one judgement together

__all__ = [
    "TIME_LIMIT",
    "TOTAL_LIMIT",
    "Clock",
    "Place",
    "TimeLimit",
    "call",
    "contained",
    "globals_of",
    "guarded",
    "line_in",
    "place_of",
    "quiet_outcome",
    "run",
    "run_quietly",
]


class Clock:
    """The seconds that the runs of one judgement may still take."""

    def __init__(self, seconds=None):
        self.left = TOTAL_LIMIT if seconds is None else seconds


# One run --------------------------------------------------------------------------------------------------------------


def run(exercise, candidate, case, clock=None, seconds=None):
    """Outcome of a learner's answer on fresh inputs: guarded, timed, prints and warnings recorded."""
    kept = pristine(case)
    inputs = kept.fresh()
    limit = TIME_LIMIT if seconds is None else seconds
    limit = limit if clock is None else min(limit, clock.left)
    start = clocks()
    value, error, printed, warned = guarded(lambda: call(exercise, candidate, inputs), candidate, limit)
    for part in value if type(value) is tuple else (value,):
        if issubclass(type(part), types.CoroutineType):
            part.close()  # nobody will wait for it, and Python would warn of that
    if clock is not None:
        out_of_time = isinstance(error, TimeLimit) and limit == clock.left
        clock.left = 0.0 if out_of_time else clock.left - spent(start)
    try:
        changed = kept.changed(inputs)
    except Exception:  # an input that the answer left in a state that cannot be compared
        changed = ()
    return Outcome(value, error, changed, printed, warned)


def run_quietly(exercise, candidate, case):
    """Outcome of our own code (the reference, a faulty twin): no guards are needed."""
    kept = pristine(case)
    inputs = kept.fresh()
    with warnings.catch_warnings(), np.errstate(all="ignore"), usual_settings():
        warnings.simplefilter("ignore")
        try:
            value, error = call(exercise, candidate, inputs), None
        except Exception as problem:
            value, error = None, problem
    return Outcome(value, error, kept.changed(inputs))


def quiet_outcome(function, inputs):
    """Outcome of our own function on inputs of its own."""
    with warnings.catch_warnings(), np.errstate(all="ignore"), usual_settings():
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
    """The line of the learner's cell where an error came up, and the names known there.

    arrays: those that the line names, each with its shape. innermost: the error was raised by this very line, not by
    what it calls. unread: arguments that no line before has read, with shapes. stored: the function's names, each with
    the lines that give it a value.
    """

    line: int
    text: str
    arrays: tuple[tuple[str, tuple[int, ...]], ...]
    names: tuple[str, ...] = ()
    innermost: bool = False
    unread: tuple[tuple[str, tuple[int, ...]], ...] = ()
    stored: tuple[tuple[str, tuple[int, ...]], ...] = ()


def place_of(error, candidate):
    """Where in the learner's own code an error was raised, or None if it never got there."""
    code = _code_of(candidate)
    frames = list(traceback.walk_tb(error.__traceback__))
    own = [(frame, line) for frame, line in frames if code is not None and frame.f_code.co_filename == code.co_filename]
    if not own:
        return None
    frame, line = own[-1]
    summary = traceback.FrameSummary(frame.f_code.co_filename, line, frame.f_code.co_name)
    text = _without_comment((summary.line or "").strip())
    names = dict.fromkeys(re.findall(r"[A-Za-z_]\w*", text))
    known = ((name, frame.f_locals.get(name)) for name in names)
    arrays = tuple((name, tuple(value.shape)) for name, value in known if is_array(value))
    stored = tuple(_stored(frame.f_code))
    return Place(line, text, arrays, tuple(frame.f_locals), own[-1] == frames[-1], tuple(_unread(frame, line)), stored)


def _without_comment(line):
    """A line of code as it is quoted."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(line).readline):
            if token.type == tokenize.COMMENT:
                return line[: token.start[1]].rstrip()
    except (tokenize.TokenError, SyntaxError):  # a part of a statement, without a comment
        pass
    return line


def _stored(code):
    """(name, lines) for the names that a function gives values to."""
    line, found = code.co_firstlineno, {}
    for instruction in dis.get_instructions(code):
        line = instruction.starts_line or line
        if instruction.opname in ("STORE_FAST", "STORE_DEREF"):
            found.setdefault(instruction.argval, {})[line] = None
    return ((name, tuple(lines)) for name, lines in found.items())


def _unread(frame, line):
    """(name, shape) of arguments that hold arrays and that no line of the function before this one has named."""
    code = frame.f_code
    read = (linecache.getline(code.co_filename, n) for n in range(code.co_firstlineno + 1, line))
    words = set(re.findall(r"[A-Za-z_]\w*", "".join(read)))
    for name in code.co_varnames[: code.co_argcount]:
        if name not in words and is_array(frame.f_locals.get(name)):
            yield name, tuple(frame.f_locals[name].shape)


def line_in(error, file):
    """The innermost line of a file that an error passed through, or None."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == file]
    return lines[-1] if lines else None


def _code_of(candidate):
    return getattr(function_of(candidate), "__code__", None)
