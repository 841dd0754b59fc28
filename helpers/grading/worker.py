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

    verdicts = []
    try:
        course = _load(dict.fromkeys(attempt["id"] for attempt in job["attempts"]), verdicts.append)
    except Exception as error:
        tell(broken=f"{type(error).__name__}: {error}"[:SAID])
        raise
    tell(ready=True)

    passed = set()
    for number, attempt in enumerate(job["attempts"]):
        if attempt["id"] in passed:
            continue
        tell(begin=number)
        verdicts.clear()
        trouble = _run(attempt, job["folder"])
        own = [verdict for verdict in verdicts if verdict.exercise_id == attempt["id"]]
        changed = course.changed()
        if changed:
            tell(done=number, status="failed", reason=f"its cell changes {changed}, and so no verdict of it counts")
            os._exit(0)  # nothing after this could be trusted
        if not own:
            tell(done=number, status="failed", reason=trouble or "its cell ran, but nothing was judged")
            continue
        verdict = own[-1]
        if verdict.passed:
            passed.add(attempt["id"])
        mistakes = [{"id": mistake.id, "message": mistake.message[:2000]} for mistake in verdict.mistakes]
        said = "" if verdict.status in ("passed", "todo") else str(verdict).partition("\n")[0].partition(": ")[2]
        tell(done=number, status=verdict.status, mistakes=mistakes, reason=said or trouble)
    os._exit(0)  # threads and handlers at exit that a learner's code left behind do not matter


def _load(ids, watcher):
    """Load what judges these exercises, before any learner's code runs, and note how it is: a _Course."""
    import helpers
    from helpers.feedback import progress

    progress.watch(watcher)
    for id in ids:
        helpers.exercise(id)  # loads its lesson's catalogue, and PyTorch where it needs it
    sys.addaudithook(_no_solutions(Path(helpers.__file__).resolve().parents[1] / "solutions"))
    return _Course()


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


def _run(attempt, folder):
    """Run what an answer needs and then its cell, in names of their own; returns what stopped it, "" if nothing did."""
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
    return f"its cell {said}" if said else trouble


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
