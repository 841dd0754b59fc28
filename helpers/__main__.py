"""`python -m helpers grade notebooks/*.ipynb`: run learners' notebooks and say what each exercise came to."""

import argparse
import sys
from pathlib import Path


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m helpers", description="Tools for teachers.")
    commands = parser.add_subparsers(dest="command", required=True)
    grade = commands.add_parser("grade", help="run learners' notebooks and print a table learner × exercise")
    grade.add_argument("files", nargs="+", type=Path, help="notebooks, or folders that hold them")
    grade.add_argument("--csv", type=Path, metavar="FILE", help="write the table as CSV too")
    grade.add_argument("--json", type=Path, metavar="FILE", help="write the table as JSON too")
    grade.add_argument("--cell-timeout", type=int, default=60, metavar="SECONDS", help="for each cell (default 60)")
    grade.add_argument("--jobs", type=int, default=2, metavar="N", help="notebooks at a time (default 2)")
    options = parser.parse_args(arguments)

    from . import grading

    files = [file for given in options.files for file in _notebooks(given)]
    if not files:
        print(f"no notebooks in {', '.join(map(str, options.files))}", file=sys.stderr)
        return 2
    graded = grading.grade(files, options.cell_timeout, options.jobs)
    print(grading.table(graded))
    print("\nFailed, with the mistakes found:", *(grading.details(graded) or ["none"]), sep="\n  ")
    print("\nWhich mistakes did this class make?", *(grading.class_summary(graded) or ["none"]), sep="\n  ")
    if options.csv:
        grading.write_csv(graded, options.csv)
    if options.json:
        grading.write_json(graded, options.json)
    return 0


def _notebooks(given):
    if given.is_dir():
        return sorted(file for file in given.rglob("*.ipynb") if ".ipynb_checkpoints" not in file.parts)
    return [given]


if __name__ == "__main__":
    sys.exit(main())
