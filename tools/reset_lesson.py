"""Put one lesson back to how it was before you started, and keep your copy beside it.

    python -m tools.reset_lesson 02

Your `notebooks/02_numpy_attention.ipynb` becomes `notebooks/02_numpy_attention.mine-1.ipynb` (or the
next free number), and a fresh lesson takes its place.
"""

import argparse
import os
import sys
from itertools import count

from tools.make_lessons import (
    ROOT,
    SOLUTION,
    LessonError,
    lesson_from_solution,
    lesson_name,
    notebook_text,
    read_notebook,
    same_content,
    starting_body_from_catalogue,
    write_whole,
)


def find_lesson(wanted, solutions):
    """The solution that `wanted` ("2", "02" or a file's name) means, or None."""
    stem = wanted.removesuffix(".ipynb")
    for path in sorted(solutions.glob("*.ipynb")):
        by_number = stem.isdigit() and stem.zfill(2) == path.stem.split("_")[0]
        if by_number or stem in (path.stem, path.stem.removesuffix(SOLUTION)):
            return path
    return None


def free_name(lesson):
    """The first of `name.mine-1.ipynb`, `name.mine-2.ipynb`, ... that is not taken."""
    copies = (lesson.with_name(f"{lesson.stem}.mine-{number}.ipynb") for number in count(1))
    return next(copy for copy in copies if not copy.exists())


def main(arguments=None, root=ROOT, starting_body=starting_body_from_catalogue):
    """Run the command line; the exit status is returned."""
    parser = argparse.ArgumentParser(prog="reset_lesson", description="Put one lesson back to its start.")
    parser.add_argument("lesson", nargs="?", default="", help="a lesson's number, such as 02")
    wanted = parser.parse_args(arguments).lesson

    solution = find_lesson(wanted, root / "solutions")
    if solution is None:
        lessons = ", ".join(path.stem.removesuffix(SOLUTION) for path in sorted((root / "solutions").glob("*.ipynb")))
        how = "Say which lesson, as in `make reset LESSON=02` or `python -m tools.reset_lesson 02`."
        asked = f"There is no lesson {wanted}." if wanted else how
        print(f"{asked} The lessons are: {lessons or 'none, for solutions/ is empty'}.", file=sys.stderr)
        return 1
    try:
        text = notebook_text(lesson_from_solution(read_notebook(solution), solution.name, starting_body))
    except LessonError as error:
        print(f"{error}\nNothing was changed.", file=sys.stderr)
        return 1

    lesson = root / "notebooks" / lesson_name(solution)
    if not lesson.exists():
        lesson.parent.mkdir(exist_ok=True)
        write_whole(lesson, text)
        print(f"notebooks/{lesson.name} was missing; it is back, untouched.")
    elif same_content(lesson.read_text(encoding="utf-8", errors="replace"), text):
        print(f"notebooks/{lesson.name} is untouched already; nothing was changed.")
    else:
        mine = free_name(lesson)
        os.replace(lesson, mine)
        write_whole(lesson, text)
        print(
            f"Your work is kept in notebooks/{mine.name}, and notebooks/{lesson.name} is as it was at the start. "
            "If JupyterLab has it open, close it without saving and open it again."
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
