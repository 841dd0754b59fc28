"""tools/make_lessons.py and tools/reset_lesson.py, on small notebooks made here."""

import copy
import json
import subprocess

import pytest

from tools import make_lessons, reset_lesson
from tools.make_lessons import LessonError, lesson_from_solution, notebook_text

ANSWER = '''\
@exercise("1.1")
def similarities(query, keys):
    """Dot products."""
    ### BEGIN SOLUTION
    # one row of keys at a time
    scores = keys @ query

    return scores
    ### END SOLUTION'''

STUB = '''\
@exercise("1.1")
def similarities(query, keys):
    """Dot products."""
    raise NotImplementedError  # about 2 lines'''

CLASS = """\
@exercise("4.3")
class Heads:
    def __init__(self, n):
        ### BEGIN SOLUTION
        self.n = n
        ### END SOLUTION

    def forward(self, x):
        ### BEGIN SOLUTION
        return x
        ### END SOLUTION"""


def code(source, id="a-cell", **more):
    return {"cell_type": "code", "id": id, "metadata": {}, "execution_count": 3, "outputs": [], "source": source} | more


def text(source, id="a-text"):
    return {"cell_type": "markdown", "id": id, "metadata": {}, "source": source}


def notebook(*cells):
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def no_body(exercise_id):
    return None


def derive(*cells, starting_body=no_body):
    return lesson_from_solution(notebook(*cells), "01_lookup.ipynb", starting_body)


def derived_source(source, starting_body=no_body):
    return "".join(derive(code(source), starting_body=starting_body)["cells"][0]["source"])


# --- what is derived ---------------------------------------------------------------------------


def test_solution_becomes_a_stub_that_counts_its_lines_of_code():
    assert derived_source(ANSWER) == STUB


def test_one_line_is_not_called_lines():
    one = ANSWER.replace("    scores = keys @ query\n\n    return scores", "    return keys @ query")
    assert derived_source(one).endswith("raise NotImplementedError  # about 1 line")


def test_each_method_of_a_class_gets_a_stub_at_its_own_indentation():
    stub = "        raise NotImplementedError  # about 1 line"
    assert derived_source(CLASS).split("\n")[3] == stub
    assert derived_source(CLASS).split("\n")[6] == stub


def test_debugging_exercise_starts_with_the_faulty_body_instead_of_a_stub():
    lesson = derived_source(ANSWER, starting_body={"1.1": "scores = keys * query\n\nreturn scores\n"}.get)
    assert lesson.split("\n")[3:] == ["    scores = keys * query", "", "    return scores"]


def test_prediction_loses_its_answer_and_nothing_else():
    source = 'print("√d_k →", 8); seen = predict("größe", 2 ** 3)  # √64 → 8'
    assert derived_source(source) == 'print("√d_k →", 8); seen = predict("größe", ...)  # √64 → 8'


def test_prediction_over_several_lines_loses_its_whole_answer():
    source = 'predict("a", [\n    1,\n    2,\n])\npredict("b", max(1, 2))'
    assert derived_source(source) == 'predict("a", ...)\npredict("b", ...)'


def test_two_predictions_in_one_line_both_lose_their_answers():
    assert derived_source('predict("a", 10); predict("b", 20)') == 'predict("a", ...); predict("b", ...)'


def test_outputs_counts_and_widgets_go_while_ids_and_tags_stay():
    output = {"output_type": "stream", "name": "stdout", "text": "8\n"}
    solution = notebook(code("print(8)", "shown", outputs=[output], metadata={"tags": ["t"], "collapsed": True}))
    solution["metadata"] = {"widgets": {"state": {}}, "kernelspec": {"name": "my-kernel"}}
    lesson = lesson_from_solution(solution, "01_lookup.ipynb", no_body)
    assert lesson["cells"] == [
        {
            "cell_type": "code",
            "id": "shown",
            "metadata": {"tags": ["t"]},
            "execution_count": None,
            "outputs": [],
            "source": ["print(8)"],
        }
    ]
    assert lesson["metadata"]["kernelspec"]["name"] == "python3"
    assert "widgets" not in lesson["metadata"]


def test_solution_itself_is_not_changed():
    solution = notebook(code(ANSWER), text("# A title", "title"))
    before = copy.deepcopy(solution)
    lesson_from_solution(solution, "01_lookup.ipynb", no_body)
    assert solution == before


def test_source_may_be_a_string_or_a_list_of_lines():
    assert derive(code(ANSWER)) == derive(code(ANSWER.splitlines(keepends=True)))


def test_text_of_a_lesson_does_not_depend_on_the_order_of_its_keys():
    lesson = derive(code("x = '★'"))
    shuffled = {key: lesson[key] for key in reversed(lesson)}
    assert notebook_text(lesson) == notebook_text(shuffled)
    assert notebook_text(lesson).endswith("}\n")
    assert "★" in notebook_text(lesson)


# --- what is refused ---------------------------------------------------------------------------

WITHOUT_END = ANSWER.replace("    ### END SOLUTION", "")
IN_BRACKETS = """\
@exercise("1.1")
def total():
    return sum([
        ### BEGIN SOLUTION
        1, 2
        ### END SOLUTION
    ])"""
ODD_SOURCES = {
    "unclosed": (WITHOUT_END, "never closed"),
    "nested": (ANSWER.replace("# one row of keys at a time", "### BEGIN SOLUTION"), "inside the region"),
    "end before begin": (WITHOUT_END.replace("### BEGIN", "### END"), "has no ### BEGIN SOLUTION before it"),
    "empty": (ANSWER.replace("scores = keys @ query\n\n    return scores", ""), "is empty"),
    "no markers": (STUB, "exercise 1.1 has no solution markers"),
    "misspelt marker": (ANSWER.replace("### END SOLUTION", "## end solution"), "looks like a marker"),
    "markers indented differently": (ANSWER.replace("    ### END", "### END"), "indented differently"),
    "markers inside brackets": (IN_BRACKETS, "syntax error"),
    "markers outside an exercise": ("### BEGIN SOLUTION\nx = 1\n### END SOLUTION", "outside an exercise cell"),
    "number not a string": (ANSWER.replace('"1.1"', "number"), "as a plain string"),
    "no answer": ('predict("spread", ...)', "has no answer yet"),
    "no second argument": ('predict("spread")', "takes a name and an answer"),
    "syntax error": ("x = = 1", "syntax error in line 1"),
}


@pytest.mark.parametrize("source, complaint", ODD_SOURCES.values(), ids=ODD_SOURCES.keys())
def test_odd_code_is_refused_with_file_and_cell(source, complaint):
    with pytest.raises(LessonError) as refusal:
        derive(code("x = 1", "a-good-cell"), code(source, "the-odd-cell"))
    (problem,) = refusal.value.problems
    assert problem.startswith("01_lookup.ipynb, cell the-odd-cell: ")
    assert complaint in problem


def test_marker_in_a_text_cell_is_refused():
    with pytest.raises(LessonError, match="cell a-text: a solution marker in a markdown cell"):
        derive(text("### BEGIN SOLUTION"))


def test_id_used_twice_is_refused():
    with pytest.raises(LessonError, match="cell same: the id is used twice"):
        derive(text("a", "same"), code("b = 1", "same"))


def test_cell_without_an_id_is_refused():
    with pytest.raises(LessonError, match="the cell has no id"):
        derive(text("a", ""))


def test_starting_body_for_an_exercise_with_two_regions_is_refused():
    with pytest.raises(LessonError, match="one region is expected, not 2"):
        derive(code(CLASS), starting_body={"4.3": "pass"}.get)


def test_all_problems_are_said_at_once():
    with pytest.raises(LessonError) as refusal:
        derive(code("x = = 1", "first"), code("y = = 1", "second"))
    assert len(refusal.value.problems) == 2


# --- both folders, and the learner's work ------------------------------------------------------


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A folder with one solution and its lesson, both committed to git."""
    for variable in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):  # set where the tests run inside a git hook
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "solutions").mkdir()
    write_solution(tmp_path, "01_lookup", code(ANSWER))
    git(tmp_path, "init", "--quiet")
    assert run(tmp_path) == 0
    commit(tmp_path)
    return tmp_path


def write_solution(course, name, *cells):
    (course / "solutions" / f"{name}.ipynb").write_text(notebook_text(notebook(*cells)), encoding="utf-8")


def git(course, *arguments):
    settings = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *settings, *arguments], cwd=course, check=True, capture_output=True)


def commit(course):
    git(course, "add", "--all")
    git(course, "commit", "--quiet", "--message", "state")


def run(course, *arguments):
    return make_lessons.main(arguments, root=course, starting_body=no_body)


def lesson_of(course):
    return course / "notebooks" / "01_lookup.ipynb"


def edit(lesson):
    """Do what a learner does: fill in an answer and save. Returns the saved text."""
    nb = json.loads(lesson.read_text(encoding="utf-8"))
    nb["cells"][0]["source"] = ["my answer"]
    lesson.write_text(json.dumps(nb), encoding="utf-8")
    return lesson.read_text(encoding="utf-8")


def test_second_run_changes_nothing(course):
    before = lesson_of(course).stat().st_mtime_ns
    assert run(course) == 0
    assert lesson_of(course).stat().st_mtime_ns == before


def test_committed_lesson_follows_its_solution(course):
    write_solution(course, "01_lookup", code("x = 2"))
    assert run(course) == 0
    assert "x = 2" in lesson_of(course).read_text(encoding="utf-8")


def test_staged_lesson_follows_its_solution(course):
    edit(lesson_of(course))
    git(course, "add", "--all")
    write_solution(course, "01_lookup", code("x = 2"))
    assert run(course) == 0
    assert "x = 2" in lesson_of(course).read_text(encoding="utf-8")


def test_lesson_with_edits_is_named_and_kept(course, capsys):
    mine = edit(lesson_of(course))
    write_solution(course, "02_other", code("x = 2"))
    assert run(course) == 1
    assert "notebooks/01_lookup.ipynb holds edits" in capsys.readouterr().err
    assert lesson_of(course).read_text(encoding="utf-8") == mine
    assert not (course / "notebooks" / "02_other.ipynb").exists()


def test_force_overwrites_edits(course):
    edit(lesson_of(course))
    assert run(course, "--force") == 0
    assert "NotImplementedError" in lesson_of(course).read_text(encoding="utf-8")


def test_damaged_lesson_counts_as_edited(course):
    lesson_of(course).write_text("half a not", encoding="utf-8")
    assert run(course) == 1


def test_lesson_laid_out_differently_is_no_edit(course):
    nb = json.loads(lesson_of(course).read_text(encoding="utf-8"))
    lesson_of(course).write_text(json.dumps(nb, indent=4), encoding="utf-8")
    assert run(course) == 0


def test_untracked_lesson_counts_as_edited(course):
    git(course, "rm", "--quiet", "--cached", "notebooks/01_lookup.ipynb")
    git(course, "commit", "--quiet", "--message", "no longer tracked")
    mine = edit(lesson_of(course))
    assert run(course) == 1
    assert lesson_of(course).read_text(encoding="utf-8") == mine


def test_without_git_an_edited_lesson_is_kept(course, monkeypatch):
    monkeypatch.setenv("PATH", "")
    write_solution(course, "01_lookup", code("x = 2"))
    assert run(course) == 1
    assert "NotImplementedError" in lesson_of(course).read_text(encoding="utf-8")


def test_outside_a_checkout_a_missing_lesson_is_written(tmp_path):
    (tmp_path / "solutions").mkdir()
    write_solution(tmp_path, "01_lookup", code(ANSWER))
    assert run(tmp_path) == 0
    assert lesson_of(tmp_path).exists()


def test_check_fails_and_writes_nothing_when_a_lesson_would_change(course, capsys):
    assert run(course, "--check") == 0
    write_solution(course, "01_lookup", code("x = 2"))
    assert run(course, "--check") == 1
    assert "notebooks/01_lookup.ipynb" in capsys.readouterr().out
    assert "NotImplementedError" in lesson_of(course).read_text(encoding="utf-8")


def test_one_odd_solution_stops_all_of_them(course, capsys):
    write_solution(course, "01_lookup", code("x = 2"))
    write_solution(course, "02_other", code(WITHOUT_END, "odd"))
    assert run(course) == 1
    assert "02_other.ipynb, cell odd: " in capsys.readouterr().err
    assert "NotImplementedError" in lesson_of(course).read_text(encoding="utf-8")


def test_solution_that_is_no_notebook_is_named(course, capsys):
    (course / "solutions" / "02_other.ipynb").write_text("{}", encoding="utf-8")
    assert run(course) == 1
    assert "02_other.ipynb: not a notebook" in capsys.readouterr().err


def test_course_without_solutions_is_an_error(tmp_path, capsys):
    assert run(tmp_path) == 1
    assert "no notebooks in" in capsys.readouterr().err


# --- putting a lesson back ---------------------------------------------------------------------


def reset(course, *arguments):
    return reset_lesson.main(arguments, root=course, starting_body=no_body)


@pytest.mark.parametrize("wanted", ["01", "1", "01_lookup", "01_lookup.ipynb"])
def test_reset_keeps_the_learners_copy_beside_the_fresh_lesson(course, wanted, capsys):
    fresh = lesson_of(course).read_text(encoding="utf-8")
    mine = edit(lesson_of(course))
    assert reset(course, wanted) == 0
    assert lesson_of(course).read_text(encoding="utf-8") == fresh
    assert lesson_of(course).with_name("01_lookup.mine-1.ipynb").read_text(encoding="utf-8") == mine
    assert "01_lookup.mine-1.ipynb" in capsys.readouterr().out


def test_second_reset_takes_the_next_free_name(course):
    edit(lesson_of(course))
    reset(course, "01")
    mine = edit(lesson_of(course))
    reset(course, "01")
    assert lesson_of(course).with_name("01_lookup.mine-2.ipynb").read_text(encoding="utf-8") == mine


def test_reset_of_an_untouched_lesson_changes_nothing(course, capsys):
    assert reset(course, "01") == 0
    assert "untouched already" in capsys.readouterr().out
    assert [path.name for path in (course / "notebooks").iterdir()] == ["01_lookup.ipynb"]


def test_reset_brings_back_a_deleted_lesson(course):
    lesson_of(course).unlink()
    assert reset(course, "01") == 0
    assert lesson_of(course).exists()


@pytest.mark.parametrize("wanted", [("09",), ()])
def test_reset_of_an_unknown_lesson_lists_the_lessons(course, wanted, capsys):
    assert reset(course, *wanted) == 1
    assert "01_lookup" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text, lines",
    [
        ("`x` (B, T, d_model), d even · result: (…, T_q, d_v)", "`x` (B,_T,_d_model), d even · result: (…,_T_q,_d_v)"),
        ("at d_k = 1024, T_q ≠ T_k", "at d_k_=_1024, T_q_≠_T_k"),
        ("16 · T · d_model² FLOPs", "16_·_T_·_d_model² FLOPs"),
        ("`f(x, y) = 1` <code>np.eye(n, k)</code> $a = b$ $$(i, j)$$", "`f(x, y) = 1` <code>np.eye(n, k)</code> $a = b$ $$(i, j)$$"),
        ("## 09 · A tiny GPT\n| a = b | (T, d) |\n```\nx = (a, b)\n```", "## 09 · A tiny GPT\n| a = b | (T, d) |\n```\nx = (a, b)\n```"),
        ("lesson 02 (queries, keys), a mask · a leak", "lesson 02 (queries, keys), a mask · a leak"),
    ],
)
def test_a_shape_or_an_equation_is_torn_apart_or_code_is_touched(text, lines):
    assert make_lessons.unbroken(text).replace("\N{NO-BREAK SPACE}", "_") == lines
    assert make_lessons.unbroken(make_lessons.unbroken(text)) == make_lessons.unbroken(text)


def test_only_text_is_kept_whole():
    cells = [
        {"cell_type": kind, "id": kind, "metadata": {}, "source": "x = (B, T)", "outputs": []} for kind in ("markdown", "code")
    ]
    text, code = lesson_from_solution({"cells": cells}, "01_a.ipynb", lambda number: None)["cells"]
    assert text["source"] == ["x\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}(B,\N{NO-BREAK SPACE}T)"] and code["source"] == ["x = (B, T)"]
