"""Wrong answers, one after another, with what the course says of each and what reading the learner's own code adds.

python -m tools.attempts_report FILE [--only 2.2 1.4a] [--not-named] [--engines one_change ...] [--no-report]
FILE holds a list ATTEMPTS of dicts with id, exercise, code, tutor and perhaps today. Seconds are CPU time.
"""

import argparse
import ast
import functools
import importlib.util
import inspect
import json
import linecache
import time
from pathlib import Path

from helpers.course import LESSONS
from helpers.feedback import borrowing, first_difference, judging, reading, two_changes, variants
from helpers.feedback.answer import Answer
from helpers.feedback.registry import get
from helpers.feedback.search import Search
from helpers.feedback.sources import exercise_number

ROOT = Path(__file__).resolve().parents[1]


def main(arguments=None):
    """Print a block for each attempt and, at the end, how often each engine spoke and what it cost."""
    import torch

    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--only", nargs="*", default=[], help="exercises or ids")
    parser.add_argument("--not-named", action="store_true", help="only attempts whose `today` is not NAMED")
    parser.add_argument("--engines", nargs="*", default=list(ENGINES))
    parser.add_argument("--no-report", action="store_true", help="leave the whole report out")
    options = parser.parse_args(arguments)
    seconds = {engine: [] for engine in options.engines}
    spoke = dict.fromkeys(options.engines, 0)
    for attempt in load(options.file):
        if options.only and not {attempt["id"], attempt["exercise"]} & set(options.only):
            continue
        if options.not_named and attempt.get("today", "").startswith("NAMED"):
            continue
        show(attempt, options, seconds, spoke)
    for engine, times in seconds.items():
        times = sorted(times) or [0]
        print(
            f"{engine}: speaks of {spoke[engine]} of {len(times)};"
            f" median {times[len(times) // 2]:.2f} s, worst {times[-1]:.2f} s"
        )


def show(attempt, options, seconds, spoke):
    """Print one attempt's block."""
    print(f"## {attempt['id']} · {attempt['exercise']} · {attempt.get('today', '')}\n   TUTOR {attempt['tutor']}")
    try:
        candidate = defined(attempt)
    except Exception as error:
        print(f"   cannot be defined: {type(error).__name__}: {error}")
        return
    exercise = get(attempt["exercise"])
    if not options.no_report:
        report = [line for line in str(judging.judge(exercise, candidate)).splitlines() if line.strip()]
        print(f"   TODAY {' / '.join(report[:6])[:900]}")
    trial = Trial(exercise, candidate)
    if not trial.answer.wrong:
        print("   right on all cases")
    for engine in options.engines:
        begun = time.process_time()
        said = ENGINES[engine](trial) if trial.answer.wrong else None
        seconds[engine].append(time.process_time() - begun)
        spoke[engine] += bool(said)
        if said or seconds[engine][-1] > 1:
            print(f"   {engine.upper()} [{seconds[engine][-1]:.2f}s] {said}", flush=True)


def load(file):
    """The ATTEMPTS of a file."""
    spec = importlib.util.spec_from_file_location("attempts_read", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ATTEMPTS


def space_for(exercise_id):
    """The names that a learner's cell sees: what the lesson has imported by then, and its earlier exercises."""
    lesson = next(lesson for lesson in LESSONS if exercise_id in [info.id for info in lesson.exercises])
    space = {"__name__": "__main__"}
    cells = json.loads((ROOT / "notebooks" / f"{lesson.slug}.ipynb").read_text(encoding="utf-8"))["cells"]
    for source in ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"):
        tree = ast.parse("\n".join("" if line.startswith(("%", "!")) else line for line in source.splitlines()))
        if exercise_number(tree) == exercise_id:
            break
        definitions = (ast.Import, ast.ImportFrom, ast.FunctionDef)
        nodes = [n for n in tree.body if isinstance(n, definitions) and not getattr(n, "decorator_list", [])]
        exec(compile(ast.Module(nodes, []), f"<{lesson.slug}>", "exec"), space)
    own = [info.id for info in lesson.exercises]
    space |= {get(id).name: get(id).reference for id in own[: own.index(exercise_id)]}
    return space


def defined(attempt):
    """The function or class that an attempt defines, with its source registered as IPython does."""
    source = attempt["code"].strip("\n") + "\n"
    name = f"<attempt {attempt['id']}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    space = space_for(attempt["exercise"])
    exec(compile(source, name, "exec"), space)
    return space[get(attempt["exercise"]).name]


class Trial:
    """An answer that has run on all cases, and the values that several engines share."""

    def __init__(self, exercise, candidate):
        self.exercise, self.answer = exercise, Answer(exercise, candidate)
        for i in range(len(exercise.cases)):
            self.answer.run(i)
        self.answer.judge_cases()

    @functools.cached_property
    def values(self):
        answer, exercise = self.answer, self.exercise
        return first_difference.Values(
            answer.tree, answer.builder(), exercise.reference, answer.run_variant, answer.right, answer.order,
            sizes=lambda i: dict(exercise.cases[i].dims),
        )  # fmt: skip

    @functools.cached_property
    def change(self):
        answer = self.answer
        if answer.tree is None or self.exercise.judge:  # many answers are right: a change that works is no advice
            return None
        return Search(answer).change

    @functools.cached_property
    def difference(self):
        return first_difference.find(self.values) if self.answer.tree else None


def _reading(trial):
    names = list(inspect.signature(trial.exercise.reference).parameters)
    found = [(n, v) for case in trial.exercise.cases for n, v in zip(names, case.make(), strict=False)]
    many_axes = {n for n, v in found if getattr(v, "ndim", 0) > 2} if not trial.exercise.run else set()
    remarks = reading.remarks(trial.answer.tree, variants.parse(trial.exercise.source), many_axes)
    return " | ".join(("! " if remark.certain else "? ") + remark.sentence for remark in remarks)


def _one_change(trial):
    return trial.change and trial.change.sentence


def _first_difference(trial):
    return trial.difference and trial.difference.sentence


def _borrowing(trial):
    """Only where no single value does."""
    if not trial.answer.tree or trial.difference and (trial.difference.wrong or trial.difference.misnamed):
        return None
    found = borrowing.find(trial.values)
    return found and found.sentence


def _two_changes(trial):
    """Only where no single change does."""
    if trial.change or trial.exercise.judge or trial.answer.tree is None:
        return None
    found = two_changes.find(trial.answer.tree, trial.answer.space, trial.answer.edits, trial.values, trial.answer.fits)
    return found and found.sentence


ENGINES = {
    "reading": _reading,
    "one_change": _one_change,
    "first_difference": _first_difference,
    "borrowing": _borrowing,
    "two_changes": _two_changes,
}

if __name__ == "__main__":
    main()
