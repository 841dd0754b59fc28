"""The process in which a learner's answers are judged: started afresh by the grader, and ended by it.

Attempts come in on standard input, verdicts go out on what was standard output, a line of JSON each. Whatever the
learner's code prints goes nowhere, so it can neither fill a disk nor be taken for a verdict by accident.
"""

import ast
import contextlib
import json
import linecache
import os
import sys
import types
from pathlib import Path

LARGEST_FILE = 100_000_000  # bytes
SAID = 600  # characters of a reason


def main():
    job = json.load(sys.stdin)
    tell = _channel(job["token"])
    _limit(job["memory"])
    _judge_within(job["answer"])

    answers, asked = [], []
    try:
        check, course = _load(dict.fromkeys(attempt["id"] for attempt in job["attempts"]), answers, asked)
    except Exception as error:
        tell(broken=f"{type(error).__name__}: {error}"[:SAID])
        raise
    tell(ready=True)

    passed = set()
    for number, attempt in enumerate(job["attempts"]):
        if attempt["id"] in passed:
            continue
        tell(begin=number)
        answers.clear()
        asked[:] = [attempt["id"]]
        space, trouble = _run(attempt, job["folder"])
        own = [answer for id, answer in answers if id == attempt["id"]]
        changed = course.changed()
        if own and not changed:
            verdict = _judged(check, attempt["id"], own[-1], space)
            changed = course.changed()
        if changed:
            tell(done=number, status="failed", reason=f"its cell changes {changed}, and so no verdict of it counts")
            os._exit(0)  # nothing after this could be trusted
        if not own:
            tell(done=number, status="failed", reason=trouble or "its cell ran, but nothing was judged")
            continue
        if verdict.passed:
            passed.add(attempt["id"])
        mistakes = [{"id": mistake.id, "message": mistake.message[:2000]} for mistake in verdict.mistakes]
        said = "" if verdict.status in ("passed", "todo") else _why(verdict)
        tell(done=number, status=verdict.status, mistakes=mistakes, reason=said or trouble)
    os._exit(0)  # threads and handlers at exit that a learner's code left behind do not matter


def _judged(check, id, answer, space):
    """The grader's own Report on an answer; the one that the cell asked for could have been made up."""
    if hasattr(answer, "__name__"):
        space[answer.__name__] = answer  # an answer that calls itself is to call itself, not what stood in for it
    return check(id, answer)


def _why(verdict):
    """The first sentences of a report that say something of this answer."""
    said = [verdict.headline, *verdict.points, *verdict.paragraphs]
    return " ".join(" ".join(text.split()) for text in said[:2])


def _load(ids, answers, asked):
    """(check, course): what judges these exercises, before any learner's code runs, and a note of how it is.

    From here on every answer that a cell hands in is added to `answers`, with the exercise's number. Those to an
    exercise in `asked` are judged later, by the grader; others at once, as in a notebook.
    """
    import helpers

    real = helpers.exercise

    def exercise(exercise_id):
        judge = real(exercise_id)

        def hand_in(answer):
            answers.append((exercise_id, answer))
            return answer if exercise_id in asked else judge(answer)

        return hand_in

    helpers.exercise = exercise
    for id in ids:
        real(id)  # loads its lesson's catalogue, and PyTorch where it needs it
    sys.addaudithook(_no_solutions(Path(helpers.__file__).resolve().parents[1] / "solutions"))
    return helpers.check, _Course()


def _channel(token):
    """A function that sends a line to the grader; standard input, output and error lead nowhere from here on."""
    channel = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)

    def tell(**said):
        if "reason" in said:
            said["reason"] = said["reason"][:SAID]
        os.write(channel, json.dumps({"token": token, **said}).encode() + b"\n")

    return tell


def _limit(memory):
    """Bounds that the system itself keeps, where it has them; the grader watches from outside as well."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
        resource.setrlimit(resource.RLIMIT_DATA, (memory * 2, memory * 2))  # room for what is reserved but not used


def _judge_within(seconds):
    """Let the judge give up, and say what is wrong, before the grader ends the process after these seconds.

    The grader goes by the clock, and the judge by computing; a busy machine makes up to WAITING times as much of that.
    """
    from helpers.feedback import guards, running

    running.TIME_LIMIT = min(running.TIME_LIMIT, seconds / (3 * guards.WAITING))
    running.TOTAL_LIMIT = min(running.TOTAL_LIMIT, seconds / (1.25 * guards.WAITING))


def _run(attempt, folder):
    """Run what an answer needs and then its cell; returns their names, and what stopped them, "" if nothing did."""
    os.chdir(folder)
    module = types.ModuleType("__main__")
    space = vars(module)
    space.update(display=lambda *args, **kwargs: None, get_ipython=_NoShell)
    sys.modules["__main__"] = module
    trouble = ""
    for name, source, index in attempt["needed"]:
        node = ast.parse(source).body[index]
        said = _execute(ast.Module([node], []), name, source, space)
        trouble = trouble or (said and f"{name}, which it needs, {said}")
    said = _execute(ast.parse(attempt["source"]), attempt["name"], attempt["source"], space)
    return space, f"its cell {said}" if said else trouble


def _execute(tree, name, source, space):
    name = f"<{name}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)  # so that reports can quote it
    try:
        exec(compile(tree, name, "exec"), space)
    except BaseException as error:
        try:
            said = " ".join(str(error).split())
        except BaseException:
            said = ""
        return f"stopped with {type(error).__name__}: {said}".rstrip(": ")
    return ""


class _NoShell:
    """Stands where IPython would be: magics do nothing."""

    def __getattr__(self, name):
        return lambda *args, **kwargs: None


def _no_solutions(folder):
    """An audit hook that keeps the solutions shut: an answer that runs them is not the learner's."""
    folder = os.path.join(os.path.realpath(folder), "")

    def hook(event, arguments):
        if event == "open" and isinstance(arguments[0], (str, bytes)):
            if os.path.realpath(os.fsdecode(arguments[0])).startswith(folder):
                raise PermissionError("the solutions are closed while answers are judged")

    return hook


class _Course:
    """What the course's own code is, to tell whether a learner's code changed it."""

    WATCHED = ("builtins", "numpy", "numpy.linalg", "torch", "torch.nn.functional", "math", "inspect", "ast")

    def __init__(self):
        own = [name for name in sys.modules if name.partition(".")[0] == "helpers"]
        spaces = [sys.modules[name] for name in (*own, *self.WATCHED) if name in sys.modules]
        spaces += [value for name in own for value in vars(sys.modules[name]).values() if _is_our_class(value)]
        self.before = [
            (space, {name: value for name, value in vars(space).items() if _counts(name, value)}) for space in spaces
        ]
        functions = {id(f): f for _, known in self.before for value in known.values() for f in _functions(value)}
        self.codes = [(function, function.__code__, function.__defaults__) for function in functions.values()]

    def changed(self):
        """The name of something that is no longer as it was, or ""."""
        for space, known in self.before:
            now = vars(space)
            for name, value in known.items():
                if now.get(name) is not value:
                    return f"{space.__name__}.{name}"
        for function, code, defaults in self.codes:
            if function.__code__ is not code or function.__defaults__ is not defaults:
                return f"{function.__module__}.{function.__qualname__}"
        return ""


def _is_our_class(value):
    return isinstance(value, type) and value.__module__.partition(".")[0] == "helpers"


def _counts(name, value):
    """Whether an entry is code: the rest are notes that the course takes, and exit comes and goes while it judges."""
    code = callable(value) or isinstance(value, (types.ModuleType, property, classmethod, staticmethod))
    return code and name not in ("exit", "quit")


def _functions(value):
    """The functions of the course behind a module's or a class's entry."""
    if isinstance(value, property):
        value = value.fget
    elif isinstance(value, (classmethod, staticmethod)):
        value = value.__func__
    return [value] if isinstance(value, types.FunctionType) and value.__module__.startswith("helpers") else []


if __name__ == "__main__":
    main()
