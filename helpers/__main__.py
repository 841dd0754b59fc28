"""`python -m helpers grade FOLDER`: judge learners' notebooks and say what each exercise came to."""

import argparse
import contextlib
import signal
import sys
import threading
from pathlib import Path

DESCRIPTION = """\
Judge the answers in learners' notebooks, and say which mistakes the class made.

The source of each answer, with the statements it needs, is judged in a fresh process with bounds on time, memory and
disk. The notebooks themselves are not run, and no file of a learner's is changed. It runs learners' code all the same:
do so where you would run it anyway. It helps with a course and is no examination: whoever wants to cheat, can.
"""
EXIT = "Exit status: 0 all copies were graded, 1 some could not be, 2 nothing to grade, 130 interrupted."


def main(arguments=None):
    """Run the command line; the exit status is returned."""
    parser = argparse.ArgumentParser(prog="python -m helpers", description="Tools for teachers.")
    commands = parser.add_subparsers(dest="command", required=True)
    grade = commands.add_parser(
        "grade",
        help="judge learners' notebooks and print a table learner × exercise (no examination)",
        description=DESCRIPTION,
        epilog=EXIT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    grade.add_argument(
        "files", nargs="+", type=Path, metavar="FOLDER", help="folders that hold notebooks, or notebooks"
    )
    grade.add_argument("--csv", type=Path, metavar="FILE", help="write the table as CSV too")
    grade.add_argument("--json", type=Path, metavar="FILE", help="write the table as JSON too")
    grade.add_argument("--seconds", type=_positive, default=60, metavar="N", help="for each answer (default 60)")
    grade.add_argument("--copy-seconds", type=_positive, default=300, metavar="N", help="for each copy (default 300)")
    grade.add_argument("--memory", type=_positive, default=3000, metavar="MB", help="for each copy (default 3000)")
    grade.add_argument(
        "--jobs", type=_positive, metavar="N", help="copies at a time (default: as many as cores, up to 4)"
    )
    return _grade(parser.parse_args(arguments))


def _positive(text):
    number = int(text) if text.isascii() and text.isdigit() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1 is wanted, not {text!r}")
    return number


def _grade(options):
    from tqdm import tqdm

    from . import grading

    missing = [str(path) for path in options.files if not path.exists()]
    files, left_out = grading.names.find(path for path in options.files if path.exists())
    if missing:
        print(f"There is no {' and no '.join(missing)}.", file=sys.stderr)
    if left_out:
        print(f"{left_out} notebooks are left out: solutions, and copies that reset or update kept.", file=sys.stderr)
    if not files:
        print("There is nothing to grade: no notebooks were found.", file=sys.stderr)
        return 2
    limits = grading.Limits(answer=options.seconds, copy=options.copy_seconds, memory=options.memory * 1_000_000)
    stop, done = threading.Event(), []
    with _terminable(), tqdm(total=len(files), unit="copy", leave=False, file=sys.stderr, dynamic_ncols=True) as bar:

        def row(one):
            done.append(one)
            with bar.external_write_mode(file=sys.stdout):
                print(_shown(one.line()), flush=True)
            bar.update()

        try:
            graded = grading.grade(files, limits, options.jobs or grading.usual_jobs(), row, stop)
        except KeyboardInterrupt:
            graded = None
    finished = done if graded is None else graded
    if finished:
        _print_results(grading, finished)
        if options.csv:
            grading.write_csv(finished, options.csv)
        if options.json:
            grading.write_json(finished, options.json)
    if graded is None:
        print(f"\nInterrupted: {len(done)} of {len(files)} copies were graded.", file=sys.stderr)
        return 130
    ungraded = [one for one in graded if one.trouble]
    if ungraded:
        print(f"\n{len(ungraded)} of {len(files)} copies could not be graded, or not wholly.", file=sys.stderr)
    return 1 if ungraded or missing else 0


def _print_results(grading, graded):
    print("\n" + _shown(grading.table(graded)))
    sections = (
        ("Failed or missing, with the mistakes found or the reason:", list(grading.details(graded))),
        ("Which mistakes did this class make?", grading.class_summary(graded)),
    )
    for title, lines in sections:
        print(f"\n{title}", *map(_shown, lines or ["none"]), sep="\n  ")


def _shown(text):
    """Text from a learner's file without characters that would steer a terminal."""
    encoding = sys.stdout.encoding or "utf-8"
    text = "".join(c if c == "\n" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return text.encode(encoding, "replace").decode(encoding)


@contextlib.contextmanager
def _terminable():
    """Let a request to end, as a system sends it, end the processes that judge as well."""

    def interrupt(*_):
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, interrupt)
    except ValueError:  # not in the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


if __name__ == "__main__":
    sys.exit(main())
