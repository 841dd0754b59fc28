"""Measure speed and memory, print the table, and store it in benchmarks/RESULTS.md.

    python -m benchmarks.run                 everything, about half an hour on a quiet machine
    python -m benchmarks.run attention       some parts only: verdicts, ready, notebooks, attention, tiny_gpt, encoder
    python -m benchmarks.run verdicts --lesson 07

Each part is stored with its date when it is done, and the table is written anew; a part for some lessons is not.
"""

import argparse
import dataclasses
import datetime
import json
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from statistics import median

from benchmarks import course, table
from tools.make_lessons import ROOT

PARTS = ("verdicts", "ready", "notebooks", "attention", "tiny_gpt", "encoder")
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
ROWS = "rows.json"  # beside RESULTS: what was measured, part by part, from which the table is written
# One core for every library: a neighbour on another disturbs little, and CPU time is that of the one thread.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)

HEADER = """# Measured speed and memory

Measured by `make bench`, part by part, each when the machine was quiet: the date stands above its table.

Seconds differ from machine to machine, so every row sets two things side by side that were measured in the same run.
The ratio is ours divided by the other; where a row holds two times of ours, it is the larger of them that is divided.

- **Verdict:** a wrong answer is judged and explained, as the first in its kernel. For each exercise: all its known
  mistakes, some sets of two and three, and two answers that no mistake explains.
- **Ready to work:** from the start of a kernel until the cell of the lesson's first exercise is done.
- **Whole notebook:** every cell, in a fresh kernel. These first three are set against a fresh kernel that imports NumPy
  and matplotlib and does nothing else.
- **Attention:** PyTorch's own modules and operations with the same result, run eagerly, are what ours is compared with;
  for NumPy it is two matrix products and one exponential, which no attention can avoid. Medians on one core, forward
  only. Memory is the most that is alive at once, beyond the inputs. What `masked_softmax` takes beyond PyTorch's parts
  is a pass more: a row that may see nothing never enters the softmax, so that no NaN arises on the way back, which
  theirs relies on being stopped in time (`torch.autograd.detect_anomaly` stops at it).
- **Tiny GPT:** a step of lesson 09's training against the same model from PyTorch's layers; what 1,200 steps reach, in
  bits per character of text held out, against tables of counts; and what small faults change in that.
- **Encoder:** lesson 10's model beside PyTorch's own layers with the same numbers, and what the search of the course
  takes: all of it in one process, whose memory is its largest size. Left out where the encoder is not installed.

"""


def machine():
    """The kind of machine and the versions, without any name or path of it."""
    cpu = platform.processor() or platform.machine()
    described = Path("/proc/cpuinfo")
    if described.exists():
        lines = described.read_text(encoding="utf-8").splitlines()
        cpu = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), cpu)
    versions = ", ".join(f"{name} {version(package)}" for name, package in (("PyTorch", "torch"), ("NumPy", "numpy")))
    cores = os.cpu_count()
    return f"{platform.system()}, {cpu}, {cores} cores, Python {platform.python_version()}, {versions}"


def measured_apart(module):
    """Rows of benchmarks/{module}.py, measured in a process of its own."""
    command = [sys.executable, "-m", f"benchmarks.{module}"]
    finished = subprocess.run(command, cwd=ROOT, env=os.environ | ONE_THREAD, stdout=subprocess.PIPE, check=True)
    return [table.Row(**row) for row in json.loads(finished.stdout)]


def rows_of(parts, lessons):
    """The rows of some parts, for some lessons."""
    rows = []
    with course.quiet_kernels():
        needs_yardstick = {"verdicts", "notebooks"} & set(parts)
        yardstick = median(course.bare_kernel_seconds() for _ in range(course.REPEATS)) if needs_yardstick else None
        if "verdicts" in parts:
            ids = [info.id for lesson, _ in lessons for info in lesson.exercises]
            rows += course.verdict_rows(ids, yardstick)
        if "ready" in parts:
            rows += course.ready_rows(lessons)
        if "notebooks" in parts:
            rows += course.notebook_rows(lessons, yardstick)
    for module in ("attention", "tiny_gpt", "encoder"):
        if module in parts:
            rows += measured_apart(module)
    return rows


def store(part, rows):
    """Keep the rows of a part, with the date and the kind of machine, and write the table anew."""
    file = RESULTS.with_name(ROWS)
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    kept[part] = {
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "rows": [dataclasses.asdict(row) for row in rows],
    }
    kept = {name: kept[name] for name in PARTS if name in kept}
    file.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")
    RESULTS.write_text(HEADER + "\n".join(map(_section, kept.values())), encoding="utf-8", newline="\n")


def _section(kept):
    """A part's table, beneath when and where it was measured."""
    rows = [table.Row(**row) for row in kept["rows"]]
    return f"{kept['date']}, {kept['machine']}:\n\n{table.markdown(rows)}"


def main(arguments=None):
    """Run the command line; the exit status is returned."""
    parser = argparse.ArgumentParser(prog="benchmarks.run", description="Measure speed and memory.")
    parser.add_argument("parts", nargs="*", metavar="part", help=f"some of {', '.join(PARTS)}; default: all")
    parser.add_argument("--lesson", action="append", default=[], help="a number such as 07; default: all there are")
    asked = parser.parse_args(arguments)
    if unknown := set(asked.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    lessons = [
        (lesson, path)
        for lesson, path in course.written_lessons()
        if lesson.number in (asked.lesson or [lesson.number])
    ]
    for part in asked.parts or PARTS:
        rows = rows_of((part,), lessons)
        print(table.markdown(rows), flush=True)
        if not asked.lesson:
            store(part, rows)
            print(f"stored in {RESULTS.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
