"""Wrong answers, one after another, with what the course says of each and what reading the learner's own code adds.

python -m tools.attempts_report FILE [--only 2.2 1.4a] [--not-named] [--engine one_change ...]
FILE holds a list ATTEMPTS of dicts with id, exercise, code, tutor and perhaps today.
"""

import argparse
import importlib.util
import inspect
import linecache
import math
import time

import numpy as np

from helpers.feedback import first_difference, one_change, reading, variants
from helpers.feedback.exercise import get
from helpers.feedback import judging


def main(arguments=None):
    """Print a block for each attempt and a line of sums."""
    import torch

    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--not-named", action="store_true", help="only attempts whose `today` is not NAMED")
    parser.add_argument("--engines", nargs="*", default=list(ENGINES))
    parser.add_argument("--no-report", action="store_true", help="leave today's report out")
    options = parser.parse_args(arguments)
    spoke, seconds, total = dict.fromkeys(options.engines, 0), dict.fromkeys(options.engines, []), 0
    seconds = {engine: [] for engine in options.engines}
    for attempt in load(options.file):
        if options.only and not any(attempt["id"] == o or attempt["exercise"] == o for o in options.only):
            continue
        if options.not_named and attempt.get("today", "").startswith("NAMED"):
            continue
        total += 1
        print(f"## {attempt['id']} · {attempt['exercise']} · {attempt.get('today', '')}\n   TUTOR {attempt['tutor']}")
        candidate, source = defined(attempt)
        trial = Trial(attempt["exercise"], candidate, source)
        if not options.no_report:
            print(f"   TODAY {' / '.join(str(trial.report()).splitlines()[:4])[:600]}")
        for engine in options.engines:
            begun = time.process_time()
            said = ENGINES[engine](trial)
            took = time.process_time() - begun
            seconds[engine].append(took)
            spoke[engine] += bool(said)
            print(f"   {engine.upper()} [{took:.2f}s] {said or '–'}", flush=True)
    for engine in options.engines:
        times = sorted(seconds[engine]) or [0]
        print(f"{engine}: speaks of {spoke[engine]} of {total}; median {times[len(times) // 2]:.2f} s, worst {times[-1]:.2f} s")


def load(file):
    spec = importlib.util.spec_from_file_location("attempts_read", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ATTEMPTS


def space_for(exercise_id):
    """The names a learner's cell sees in that lesson: NumPy, PyTorch, and the functions of earlier exercises."""
    import torch
    from torch import nn

    lesson, own = exercise_id.split(".")
    space = {"np": np, "math": math}
    if int(lesson) in (4, 5, 6):
        space |= {"torch": torch, "nn": nn, "F": nn.functional}
    import helpers.first_steps, helpers.query_key_value, helpers.numpy_attention, helpers.scaling  # noqa: E401
    import helpers.multi_head, helpers.masks, helpers.positions, helpers.cost  # noqa: E401

    wanted = {
        "1": ["1.1"], "2": ["2.1", "2.2"], "3": ["2.1", "3.3"], "4": ["4.1", "4.2", "4.3"],
        "5": ["4.1", "4.2", "5.2", "5.6"], "6": ["5.2", "6.4"], "7": ["7.1", "7.2"],
    }.get(lesson, [])  # fmt: skip
    for earlier in wanted:
        if earlier != exercise_id:
            space[get(earlier).name] = get(earlier).reference
    return space


def defined(attempt):
    """The function or class an attempt defines, with its source registered as IPython does, and that source."""
    source = attempt["code"].strip("\n") + "\n"
    name = f"<attempt {attempt['id']}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    space = space_for(attempt["exercise"])
    space["__name__"] = "__main__"
    exec(compile(source, name, "exec"), space)
    return space[get(attempt["exercise"]).name], source


class Trial:
    """What the modules are given: the answer, its source, and guarded ways to try variants of it."""

    def __init__(self, exercise_id, candidate, source):
        self.exercise, self.candidate, self.source = get(exercise_id), candidate, source
        self.judge = judging._Judge(self.exercise, candidate)
        self._report = None

    def report(self):
        if self._report is None:
            self._report = self.judge.report()
        return self._report

    @property
    def order(self):
        self.report()
        problems = self.judge.problems
        return sorted(range(len(problems)), key=lambda i: not problems[i])

    def right(self, variant, i):
        """Whether a variant is right on one case."""
        from helpers.feedback import running

        kept = self.judge.outcomes
        outcome = running.run(self.exercise, variant, self.exercise.cases[i])
        self.judge.outcomes = {i: outcome}
        try:
            return not self.judge._problem(i)
        finally:
            self.judge.outcomes = kept

    def run(self, variant, i):
        from helpers.feedback import running

        return running.run(self.exercise, variant, self.exercise.cases[i])

    def fits(self, variant):
        return all(self.right(variant, i) for i in self.order)


def _one_change(trial):
    tree = variants.parse(trial.source)
    trial.report()
    if not trial.judge.problems or not any(trial.judge.problems):
        return None
    space = variants.globals_of(trial.candidate)
    found = one_change.find(tree, variants.Builder(space), trial.fits, space)
    return found and found.sentence


def _first_difference(trial):
    tree = variants.parse(trial.source)
    trial.report()
    if not trial.judge.problems or not any(trial.judge.problems):
        return None
    space = variants.globals_of(trial.candidate)
    found = first_difference.find(
        tree, space, trial.exercise.reference, trial.run, trial.right, trial.order,
        sizes=lambda i: dict(trial.exercise.cases[i].dims),
    )  # fmt: skip
    return found and found.sentence


def _many_axes(trial):
    """Names of arguments that have more than two axes in some case."""
    names = list(inspect.signature(trial.exercise.reference).parameters)
    found = [(name, value) for case in trial.exercise.cases for name, value in zip(names, case.make(), strict=False)]
    return {name for name, value in found if getattr(value, "ndim", 0) > 2} if not trial.exercise.run else set()


def _reading(trial):
    trial.report()
    reference = variants.parse(trial.exercise.source)
    found = reading.remarks(variants.parse(trial.source), reference, _many_axes(trial))
    return " | ".join(("! " if remark.certain else "? ") + remark.sentence for remark in found)


ENGINES = {"reading": _reading, "first_difference": _first_difference, "one_change": _one_change}

if __name__ == "__main__":
    main()
