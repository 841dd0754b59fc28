"""Which single changes of a reference its cases do not see: each of them is equivalent, or the exercise needs a case.

    python -m tools.audit             every exercise
    python -m tools.audit 2.2 4.3     those named

Prints a line for each change that survives, with what it changes; the reader decides which ones are the same function.
"""

import argparse
import sys
import warnings

from helpers.course import LESSONS
from helpers.feedback import one_case, running, variants
from helpers.feedback.edits import made
from helpers.feedback.edits_of_functions import edits_of
from helpers.feedback.registry import get
from helpers.feedback.twins import twins_of

SECONDS = 2.0  # of computing for a changed reference on one case


def survivors(exercise):
    """(changes tried, the Edits of the reference with which it is still right on every case and keeps its promises)."""
    tree, space = variants.parse(exercise.source), variants.globals_of(exercise.reference)
    build, expected = variants.Builder(space), twins_of(exercise)
    edits, alive = edits_of(tree, space), []
    for edit in edits:
        with made(edit):
            try:
                variant = build(tree)
            except Exception:  # what cannot be compiled or defined survives nothing
                continue
        if build.exhausted:
            build = variants.Builder(space)
        if _right(exercise, variant, expected):
            alive.append(edit)
    return len(edits), alive


def _right(exercise, variant, expected):
    for i, case in enumerate(exercise.cases):
        outcome = running.run(exercise, variant, case, seconds=SECONDS)
        if not one_case.is_right(exercise, case, expected.outcome(frozenset(), i), outcome):
            return False
    asked = (
        running.guarded(lambda ask=ask: ask(variant), variant, running.TIME_LIMIT)[:2] for ask in exercise.properties
    )
    return all(value is None and error is None for value, error in asked)


def main(arguments=None):
    """Run the command line; the exit status is returned."""
    parser = argparse.ArgumentParser(prog="audit", description=__doc__.splitlines()[0])
    known = [info.id for lesson in LESSONS for info in lesson.exercises]
    parser.add_argument("exercises", nargs="*", metavar="NUMBER", help="default: every exercise")
    wanted = parser.parse_args(arguments).exercises or known
    unknown = [id for id in wanted if id not in known]
    if unknown:
        print(f"There is no exercise {', '.join(unknown)}.", file=sys.stderr)
        return 2
    warnings.simplefilter("ignore")
    for id in wanted:
        tried, alive = survivors(get(id))
        print(f"{id} {get(id).name}: {len(alive)} of {tried} changes survive", flush=True)
        for edit in alive:
            print(f"    line {', '.join(map(str, edit.lines))}: {edit.kind}, {edit.look}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
