"""`compare`: what differs from the solution, for functions and classes, whatever the solution's file holds."""

import json
import linecache
import textwrap

import numpy as np
import pytest

from helpers import compare
from helpers.feedback import compare as module
from helpers.feedback.registry import get
from tools.make_lessons import ROOT


@pytest.fixture(autouse=True)
def nothing_tried(monkeypatch):
    monkeypatch.setattr(module, "_attempts", {})


def in_a_cell(source, name, number=[0]):  # noqa: B006
    """Define something as a notebook's kernel does: its file exists in linecache only, its module is __main__."""
    number[0] += 1
    file, source = f"/tmp/ipykernel_1/{number[0]}.py", textwrap.dedent(source)
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = {"__name__": "__main__", "np": np}
    exec(compile(source, file, "exec"), space)
    return space[name]


def tried(exercise_id, source, name):
    module.remember(exercise_id, in_a_cell(source, name))
    return compare(exercise_id)


WRONG = """
@(lambda f: f)
def weighted_average(values, weights):
    \"\"\"Mine.\"\"\"
    return np.sum(weights * values)
"""


def test_lines_of_yours_and_of_the_solution_cannot_be_told_apart():
    shown = tried("0.1", WRONG, "weighted_average")
    assert list(shown.lines()) == [
        (" ", "def weighted_average(values, weights):"),
        ("−", "    return np.sum(weights * values)"),
        ("+", "    return np.sum(weights * values) / np.sum(weights)"),
    ]
    assert [mark for mark, _, _ in shown.rows()] == [" ", "≠"]
    assert "1 line differs" in str(shown) and "Mine" not in str(shown) and "SOLUTION" not in str(shown)


STUB = """
def weighted_average(values, weights):
    \"\"\"Mean.\"\"\"
    raise NotImplementedError  # about 1 line
"""


def lessons_cell(exercise_id):
    """The exercise's cell as the lesson gives it, without the decorator."""
    (file,) = (ROOT / "notebooks").glob(f"{int(exercise_id.partition('.')[0]):02}_*.ipynb")
    sources = ["".join(cell["source"]) for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]]
    return next(s for s in sources if s.startswith(f'@exercise("{exercise_id}")')).partition("\n")[2]


@pytest.mark.parametrize("exercise_id", ["0.1", "2.6", "4.3", "5.7"])  # a stub, a clinic, two classes
def test_what_the_lesson_gives_is_called_perhaps_right(exercise_id):
    needed = "import math\nimport numpy as np\nimport torch\nfrom torch import nn\n"
    shown = str(tried(exercise_id, needed + lessons_cell(exercise_id), get(exercise_id).name))
    assert "You have not changed anything yet." in shown and "may be right" not in shown


@pytest.mark.parametrize(
    "change", [("raise", "n = len(values)\n    raise"), ("raise NotImplementedError", "return 1")]
)
def test_an_attempt_is_called_nothing(change):
    assert "not changed anything" not in str(tried("0.1", STUB.replace(*change), "weighted_average"))


def test_half_a_class_is_called_nothing():
    given = "import torch\nfrom torch import nn\n" + lessons_cell("4.3").replace(
        "raise NotImplementedError", "self.n_heads = n_heads", 1
    )
    assert "not changed anything" not in str(tried("4.3", given, "MultiHeadAttention"))


def test_a_narrow_page_shows_both_layouts_or_none():
    page = tried("0.1", WRONG, "weighted_average")._repr_html_()
    assert page.index('course-compare-narrow" style="display:block"') < page.index(
        'course-compare-wide" style="display:none"'
    )
    assert "@media (min-width: 1200px)" in page  # and where the style is taken away, the narrow one stays


def test_the_same_answer_is_shown_as_a_difference():
    shown = tried("0.1", get("0.1").source, "weighted_average")
    assert str(shown).startswith("✓ 0.1 weighted_average: your version and the solution are the same")
    again = WRONG.replace("values)", "values) / np.sum(weights)  # my own comment")
    assert "The code is the same; only comments or layout differ." in str(tried("0.1", again, "weighted_average"))


def test_a_class_of_a_notebook_cannot_be_compared():
    source = get("4.3").source.replace("nn.Linear(", "nn.Linear(  # mine\n            ", 1)
    shown = tried("4.3", "import math\nimport torch\nfrom torch import nn\n" + source, "MultiHeadAttention")
    assert (
        "4.3 MultiHeadAttention" in str(shown) and "# mine" in str(shown) and "class MultiHeadAttention" in str(shown)
    )


def test_another_quote_around_the_exercises_number_hides_the_solution(tmp_path, monkeypatch):
    cells = [{"cell_type": "code", "source": "@exercise('0.1')\ndef weighted_average(v, w):\n    return 1"}]
    write(tmp_path, monkeypatch, json.dumps({"cells": cells}))
    assert "return 1" in str(tried("0.1", WRONG, "weighted_average"))


def write(folder, monkeypatch, text):
    (folder / "solutions").mkdir()
    (folder / "solutions" / "00_start_here_solution.ipynb").write_text(text, encoding="utf-8")
    monkeypatch.setattr(module, "course_folder", lambda: folder)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "null", "3", '{"cells": null}', '{"cells": {}}', '{"cells": [null, 3, {}, {"cell_type": "code"}]}',
     '{"cells": [{"cell_type": "code", "source": [1]}, {"cell_type": "code", "source": "%%time\\nx ="}]}', "[" * 5000],
)  # fmt: skip
def test_an_odd_solution_file_ends_in_a_traceback(text, tmp_path, monkeypatch):
    write(tmp_path, monkeypatch, text)
    assert "missing or damaged" in str(tried("0.1", WRONG, "weighted_average"))


def test_a_missing_solutions_folder_ends_in_a_traceback(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "course_folder", lambda: tmp_path)
    assert "solutions/ or this lesson in it is missing" in str(compare("2.1"))


def test_before_any_attempt_the_solution_is_shown():
    assert "run the exercise's cell first" in str(compare("2.1"))


def test_every_exercise_that_has_a_solution_finds_it():
    from helpers.course import LESSONS

    for lesson in LESSONS:
        if (ROOT / "solutions" / f"{lesson.slug}_solution.ipynb").exists():
            assert all(module._solution(info.id) for info in lesson.exercises), lesson.slug
