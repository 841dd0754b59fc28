"""A class of thirty is graded: untouched, solved, and wrong in assorted ways, and nobody's crash stops the rest."""

import csv
import json
import re
from pathlib import Path

import pytest

from helpers import __main__ as command
from helpers import grading
from tools.make_lessons import lesson_from_solution

ROOT = Path(__file__).resolve().parents[1]
SOLVED = json.loads((ROOT / "solutions" / "00_start_here.ipynb").read_text(encoding="utf-8"))
UNTOUCHED = lesson_from_solution(SOLVED, "00_start_here.ipynb")


def with_answer(body, before=""):
    """A copy of lesson 00 whose exercise has this body."""
    notebook = json.loads(json.dumps(UNTOUCHED))
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if '@exercise("0.1")' in source:
            cell["source"] = before + re.sub(r"raise NotImplementedError.*", lambda _: body, source)
    return notebook


WRONG = {
    "alan": (with_answer("return np.sum(weights * values)"), "failed", ["not-divided"]),
    "bea": (with_answer("return np.mean(values)"), "failed", ["plain-mean"]),
    "carl": (with_answer("return np.sum(weights * values) / len(values)"), "failed", ["divided-by-count"]),
    "dora": (with_answer("return undefined_name"), "failed", []),
    "emil": (with_answer("return (("), "failed", ["syntax-error"]),
    "fay": (with_answer("import sys; sys.exit()"), "failed", []),
    "gus": (with_answer("while True: pass"), "failed", ["too-slow"]),
    "hal": (with_answer("return 1", before="import os\nos._exit(1)\n"), "not attempted", []),
    "ina": (with_answer("return 1", before="while True:\n    pass\n"), "not attempted", []),
    "jon": (with_answer("print('x' * 10**6); return 'twelve'"), "failed", []),
}


@pytest.fixture(scope="module")
def class_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class")
    copies = {f"untouched{n}": UNTOUCHED for n in range(10)} | {f"solved{n}": SOLVED for n in range(10)}
    copies |= {learner: notebook for learner, (notebook, *_) in WRONG.items()}
    for learner, notebook in copies.items():
        (folder / learner).mkdir()
        (folder / learner / "00_start_here.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def graded(class_folder):
    before = {file: file.read_bytes() for file in class_folder.rglob("*.ipynb")}
    results = grading.grade(sorted(before), cell_timeout=12, show_progress=False)
    assert {file: file.read_bytes() for file in class_folder.rglob("*") if file.is_file()} == before, (
        "a learner's file changed"
    )
    return {one.learner: one for one in results}


def test_all_thirty_are_in_the_table(graded):
    assert len(graded) == 30
    text = grading.table(list(graded.values()))
    assert re.search(r"^solved3 +✓$", text, re.M) and re.search(r"^untouched3 +○$", text, re.M)
    assert re.search(r"^alan +✗$", text, re.M)


@pytest.mark.parametrize("group, status", [("untouched", "not attempted"), ("solved", "passed")])
def test_untouched_and_solved_copies_are_told_apart(graded, group, status):
    for learner, one in graded.items():
        if learner.startswith(group):
            assert one.results == {"0.1": {"status": status, "mistakes": {}}}, learner
            assert one.trouble == ""


@pytest.mark.parametrize("learner", WRONG)
def test_wrong_copy_is_graded_for_what_it_is(graded, learner):
    _, status, mistakes = WRONG[learner]
    result = graded[learner].results["0.1"]
    assert (result["status"], list(result["mistakes"])) == (status, mistakes)


def test_dead_kernel_is_said_and_stops_nobody_else(graded):
    assert graded["hal"].trouble == "its kernel died"
    assert all(not one.trouble for learner, one in graded.items() if learner != "hal")


def test_class_summary_counts_mistakes_by_name(graded):
    summary = grading.class_summary(list(graded.values()))
    assert any(line.startswith("1 × 0.1 not-divided: You added up weight times value") for line in summary)


def test_table_is_written_as_csv_and_json(graded, tmp_path):
    grading.write_csv(list(graded.values()), tmp_path / "class.csv")
    grading.write_json(list(graded.values()), tmp_path / "class.json")
    with open(tmp_path / "class.csv", encoding="utf-8", newline="") as file:
        by_csv = {row["learner"]: row for row in csv.DictReader(file)}
    by_json = {row["learner"]: row for row in json.loads((tmp_path / "class.json").read_text(encoding="utf-8"))}
    assert len(by_csv) == len(by_json) == 30
    assert by_csv["bea"]["mistakes"] == "plain-mean" and by_json["bea"]["mistakes"] == ["plain-mean"]


def test_file_that_is_no_notebook_is_said_and_stops_nobody(tmp_path, capsys):
    (tmp_path / "broken.ipynb").write_text("{", encoding="utf-8")
    (tmp_path / "foreign.ipynb").write_text(json.dumps(SOLVED | {"cells": SOLVED["cells"][:1]}), encoding="utf-8")
    assert command.main(["grade", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "broken.ipynb cannot be read" in shown
    assert command.main(["grade", str(tmp_path / "empty")]) in (0, 2)


@pytest.mark.parametrize(
    "path, learner",
    [
        ("ada/02_numpy_attention.ipynb", "ada"),
        ("class/02_numpy_attention_ada.ipynb", "ada"),
        ("class/ada-02_numpy_attention.ipynb", "ada"),
        ("class/ada.ipynb", "ada"),
    ],
)
def test_learner_is_read_from_file_or_folder(path, learner):
    assert grading.learner_of(path) == learner
