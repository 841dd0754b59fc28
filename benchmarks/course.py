"""How long the course keeps its learners waiting: for a verdict, for the first exercise, for a whole notebook.

Every time is set against that of a fresh kernel that imports NumPy and matplotlib and does nothing else.
"""

import contextlib
import copy
import functools
import json
import os
import tempfile
import time
from itertools import takewhile
from pathlib import Path
from statistics import median

import nbformat
import numpy as np
from nbclient import NotebookClient
from tqdm import tqdm

from benchmarks.table import Row, readable_seconds
from helpers import check
from helpers.course import LESSONS
from helpers.feedback import twins, values
from helpers.feedback.registry import get
from tools.make_lessons import ROOT, lesson_from_solution, read_notebook, source_of
from tools.run_solutions import execute

VERDICT_LIMITS = {"median": 0.3, "worst": 1.0}  # seconds
RUN_LIMITS = {"07": 120, "09": 120}  # seconds for a whole notebook; 60 for all others
SETS = 5  # how many pairs, and how many triples, of mistakes are tried in each exercise
REPEATS = 3

bar = functools.partial(tqdm, leave=False)


def written_lessons():
    """Lessons whose solution is there, and their paths: (Lesson, Path) pairs."""
    paths = [(lesson, ROOT / "solutions" / f"{lesson.slug}_solution.ipynb") for lesson in LESSONS]
    return [(lesson, path) for lesson, path in paths if path.exists()]


# Verdicts


def wrong_answers(exercise):
    """Wrong answers by name: every known mistake, some sets of two and three, and two that no mistake explains."""
    made = twins.Twins(exercise)
    sets = list(made.sets(1))
    for size in range(2, exercise.max_mistakes + 1):
        of_this_size = list(made.sets(size))
        sets += of_this_size[:: max(len(of_this_size) // SETS, 1)][:SETS]
    known = {" and ".join(sorted(ids)): made.twin(ids) for ids in sets}
    return known | {"unknown, all off": _spoilt(exercise, _all_off), "unknown, one off": _spoilt(exercise, _one_off)}


def verdict_seconds(exercise_id):
    """Seconds that each wrong answer's verdict takes, as the first one in a kernel: nothing is known of the mistakes.

    Returns a dict from the answer's name to seconds; answers that turn out right (some mistakes cancel) are left out.
    """
    exercise = get(exercise_id)
    check(exercise_id, exercise.reference)  # what is imported on the way is there before the clock starts
    seconds = {}
    for name, answer in wrong_answers(exercise).items():
        for cached in (twins.twins_of, twins.Twins.visible, twins.Twins.apart):
            cached.cache_clear()
        start = time.perf_counter()
        verdict = check(exercise_id, answer)
        elapsed = time.perf_counter() - start
        if not verdict.passed:
            seconds[name] = elapsed
    return seconds


def verdict_rows(ids, yardstick, seconds_of=verdict_seconds):
    """One row for each exercise. yardstick: seconds of the bare kernel. seconds_of: measures one exercise."""
    rows = []
    for id in bar(ids, desc="verdicts"):
        seconds = seconds_of(id)
        middle, worst = median(seconds.values()), max(seconds.values())
        rows.append(
            Row(
                "Verdict on a wrong answer, cold",
                f"{id} {get(id).name}, {len(seconds)} answers",
                f"median {readable_seconds(middle)}, worst {readable_seconds(worst)}",
                readable_seconds(yardstick),
                worst / yardstick,
                f"median ≤ {VERDICT_LIMITS['median']} s, worst ≤ {VERDICT_LIMITS['worst']:g} s",
                middle <= VERDICT_LIMITS["median"] and worst <= VERDICT_LIMITS["worst"],
            )
        )
    return rows


def _spoilt(exercise, spoil):
    """The exercise's reference with its results spoilt."""
    reference = exercise.reference
    if exercise.is_class:

        class Spoilt(reference):
            def forward(self, *args, **kwargs):
                return spoil(super().forward(*args, **kwargs))

        return Spoilt

    @functools.wraps(reference)
    def spoilt(*args, **kwargs):
        return spoil(reference(*args, **kwargs))

    return spoilt


def _all_off(value):
    """A result with every number changed, as no mistake would."""
    if isinstance(value, (tuple, list)):
        return type(value)(_all_off(part) for part in value)
    if isinstance(value, (bool, np.bool_)):
        return not value
    if not values.is_number(value) and not values.is_array(value):
        return value
    kind = values.as_array(value).dtype.kind
    if kind == "b":
        return ~value
    return value * 1.0713 + 0.0371 if kind == "f" else value * 3 + 7


def _one_off(value):
    """A result in which a single number is changed."""
    if isinstance(value, (tuple, list)):
        return type(value)([*value[:-1], _one_off(value[-1])]) if value else value
    if not values.is_array(value) or values.as_array(value).size < 2:
        return _all_off(value)
    changed = value.clone() if values.is_tensor(value) else value.copy()
    last = (-1,) * changed.ndim
    changed[last] = _all_off(changed[last])
    return changed


# Kernels


@contextlib.contextmanager
def quiet_kernels():
    """Kernels started in this block draw no progress bars and leave the learner's own progress alone."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory() as scratch:
        os.environ |= {"TQDM_DISABLE": "1", "ATTENTION_COURSE_PROGRESS": str(Path(scratch) / "progress.json")}
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def kernel_seconds(cells, folder):
    """Seconds from the start of a kernel in `folder` until the last of these cells is done."""
    nb = nbformat.v4.new_notebook(cells=copy.deepcopy(cells))
    client = NotebookClient(nb, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    start = time.perf_counter()
    with client.setup_kernel():
        for position, cell in enumerate(nb.cells):
            client.execute_cell(cell, position)
        return time.perf_counter() - start


def bare_kernel_seconds(folder=ROOT):
    """The yardstick: a kernel that imports NumPy and matplotlib."""
    cell = nbformat.v4.new_code_cell("import numpy\nimport matplotlib.pyplot", id="imports")
    return kernel_seconds([cell], folder)


def untouched(path):
    """The lesson that belongs to a solution, as a learner first opens it."""
    lesson = lesson_from_solution(read_notebook(path), path.name)
    return nbformat.reads(json.dumps(lesson), as_version=4)


def up_to_first_exercise(nb):
    """The code cells of a lesson up to its first exercise, that one included."""
    code = [cell for cell in nb.cells if cell.cell_type == "code"]
    before = list(takewhile(lambda cell: not _is_exercise(cell), code))
    return code[: len(before) + 1]


def _is_exercise(cell):
    return "@exercise(" in source_of(cell)


def ready_rows(lessons, repeats=REPEATS, seconds_of=kernel_seconds, bare=bare_kernel_seconds):
    """One row for each lesson: from the start of its kernel to the end of its first exercise's cell."""
    rows = []
    for lesson, path in bar(lessons, desc="ready to work"):
        cells = up_to_first_exercise(untouched(path))
        pairs = [(seconds_of(cells, path.parent), bare()) for _ in range(repeats)]
        ours, against = (median(column) for column in zip(*pairs, strict=True))
        ratio = median(a / b for a, b in pairs)
        what = f"{lesson.number} {lesson.title}"
        rows.append(Row("Ready to work", what, readable_seconds(ours), readable_seconds(against), ratio))
    return rows


def notebook_seconds(nb, folder):
    """Seconds that a whole notebook takes in a fresh kernel."""
    start = time.perf_counter()
    execute(nb, folder)
    return time.perf_counter() - start


def notebook_rows(lessons, yardstick, seconds_of=notebook_seconds):
    """One row for each lesson: the whole notebook, untouched and solved. yardstick: seconds of the bare kernel."""
    rows = []
    for lesson, path in bar(lessons, desc="whole notebooks"):
        limit = RUN_LIMITS.get(lesson.number, 60)
        solved = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
        stub, full = (seconds_of(nb, path.parent) for nb in (untouched(path), solved))
        rows.append(
            Row(
                "Whole notebook",
                f"{lesson.number} {lesson.title}",
                f"untouched {readable_seconds(stub)}, solved {readable_seconds(full)}",
                readable_seconds(yardstick),
                max(stub, full) / yardstick,
                f"≤ {limit} s",
                max(stub, full) <= limit,
            )
        )
    return rows
