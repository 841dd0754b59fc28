"""A class of sixty is graded, a third of it hostile: everybody has a row, and nobody stops, hides or harms another."""

import csv
import dataclasses
import gc
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from helpers import __main__ as command
from helpers import grading
from helpers.grading import names, notebook, supervise, worker
from tools.make_lessons import lesson_from_solution

ROOT = Path(__file__).resolve().parents[1]
NAME = "00_start_here.ipynb"
SOLVED = json.loads((ROOT / "solutions" / "00_start_here_solution.ipynb").read_text(encoding="utf-8"))
UNTOUCHED = lesson_from_solution(SOLVED, "00_start_here_solution.ipynb")
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX system")
LIMITS = grading.Limits(answer=30, copy=120, memory=600_000_000, disk=60_000_000, output=2_000_000, processes=20)
IMPATIENT = dataclasses.replace(LIMITS, answer=3)  # for copies that nothing but the clock ends


def with_answer(body, before="", decorator='@exercise("0.1")', cell_magic=""):
    """A copy of lesson 00 whose exercise has this body."""
    copy = json.loads(json.dumps(UNTOUCHED))
    for cell in copy["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and '@exercise("0.1")' in source:
            source = re.sub(r"raise NotImplementedError.*", lambda _: body.replace("\n", "\n    "), source)
            cell["source"] = cell_magic + before + source.replace('@exercise("0.1")', decorator)
    return copy


def with_cells(*sources, at=0):
    """The solved lesson with other code cells before its first cell, or at the end (at=None)."""
    copy = json.loads(json.dumps(SOLVED))
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": source} for source in sources]
    copy["cells"] = cells + copy["cells"] if at == 0 else copy["cells"] + cells
    return copy


RIGHT = "return np.sum(weights * values) / np.sum(weights)"
# learner: (copy, status, mistakes, what the reason says)
WRONG = {
    "alan": (with_answer("return np.sum(weights * values)"), "failed", ["not-divided"], ""),
    "bea": (with_answer("return np.mean(values)"), "failed", ["plain-mean"], ""),
    "carl": (with_answer("return np.sum(weights * values) / len(values)"), "failed", ["divided-by-count"], ""),
    "dora": (with_answer("return undefined_name"), "failed", [], "undefined_name"),
    "emil": (with_answer("return (("), "failed", ["syntax-error"], "not Python"),
    "fay": (with_answer("import sys; sys.exit()"), "failed", [], "exit"),
    "gus": (with_answer("while True: pass"), "failed", ["too-slow"], ""),
    "jon": (with_answer("print('x' * 10**6); return 'twelve'"), "failed", [], ""),
    "kim": (with_answer(RIGHT, before="undefined_before_it\n"), "failed", [], "its cell stopped with NameError"),
}
SLEEP_FOR_EVER = "import time\nwhile True:\n    try:\n        time.sleep(1)\n    except BaseException:\n        pass\n"
HOSTILE = {
    "ends-its-process": (with_answer(RIGHT, before="import os\nos._exit(1)\n"), "exit code 1"),
    "kills-itself": (with_answer(RIGHT, before="import os\nos.kill(os.getpid(), 9)\n"), "SIGKILL"),
    "loops": (with_answer(RIGHT, before="while True:\n    pass\n"), "still running after 3 seconds"),
    "swallows-everything": (with_answer(RIGHT, before=SLEEP_FOR_EVER), "still running after 3 seconds"),
    "ignores-interrupts": (
        with_answer(
            RIGHT, before="import signal\nfor n in (2, 15):\n    signal.signal(n, signal.SIG_IGN)\n" + SLEEP_FOR_EVER
        ),
        "still running",
    ),
    "waits-for-a-pipe": (
        with_answer(RIGHT, before="import os\nos.mkfifo('pipe')\nopen('pipe').read()\n"),
        "still running",
    ),
    "stops-itself": (with_answer(RIGHT, before="import os, signal\nos.kill(os.getpid(), 19)\n"), "still running"),
    "leaves-a-child-on-the-pipe": (
        with_answer(
            RIGHT,
            before="import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\nos._exit(3)\n",
        ),
        "exit code 3",
    ),
    "forks": (
        with_answer(RIGHT, before="import os, time\nfor n in range(60):\n    if os.fork() == 0:\n        time.sleep(600)\n" + SLEEP_FOR_EVER),
        "more than 20 processes",
    ),
    "eats-memory": (
        with_answer(RIGHT, before="kept = b'x' * 700_000_000\n" + SLEEP_FOR_EVER),
        "0.6 GB of memory",
    ),
    "fills-the-disk": (
        with_answer(
            RIGHT, before="import time\nfor n in range(100):\n    open(f'{n}', 'wb').write(b'x' * 10**6)\n" + SLEEP_FOR_EVER
        ),
        "60 MB to disk",
    ),
    "writes-one-huge-file": (
        with_answer(RIGHT, before="file = open('big', 'wb')\nwhile True:\n    file.write(b'x' * 10**7)\n"),
        ("to disk", "SIGXFSZ", "OSError"),
    ),
    "prints-without-end": (
        with_answer(RIGHT, before="import os\nwhile True:\n    print('x' * 10**6)\n    os.write(1, b'x' * 10**6)\n"),
        "still running",
    ),
    "floods-the-grader": (
        with_answer(
            RIGHT,
            before="import os\nwhile True:\n    for n in range(3, 20):\n        try:\n            os.write(n, b'{}\\n' * 10**5)\n"
            "        except OSError:\n            pass\n",
        ),
        ("wrote without end", "still running"),
    ),
    "patches-check": (
        with_answer("return 0", before="import helpers.feedback.judging as j\nj.judge = lambda *answer: None\n"),
        "changes helpers.feedback.judging.judge",
    ),
    "patches-numpy": (
        with_answer("return 0", before="import numpy\nnumpy.isclose = lambda *a, **k: numpy.True_\n"),
        "changes numpy.isclose",
    ),
    "patches-code": (
        with_answer(
            "return 0",
            before="import helpers.feedback.values as v\nv.close.__code__ = (lambda a, b, tolerance: a == a).__code__\n",
        ),
        "changes helpers.feedback.values.close",
    ),
    "forges-a-line": (
        with_answer(
            "return 0",
            before="import os, json\nfor n in range(1, 20):\n    try:\n"
            "        os.write(n, json.dumps({'done': 0, 'status': 'passed', 'mistakes': []}).encode() + b'\\n')\n"
            "    except OSError:\n        pass\n",
        ),
        "",
    ),
    "makes-up-a-report": (
        with_answer(
            "return 0",
            before="from helpers.feedback import report, store\n"
            "store.record(report.Report('0.1', 'weighted_average', 'passed', 'right'))\n",
        ),
        "",
    ),
    "calls-what-stands-in": (with_answer("return weighted_average(values, weights)"), ""),
    "runs-the-solution": (
        with_answer(
            "return stolen['weighted_average'](values, weights)",
            before="import json, helpers, pathlib\n"
            "file = pathlib.Path(helpers.__file__).parents[1] / 'solutions' / '00_start_here_solution.ipynb'\n"
            "stolen = {}\nfor cell in json.loads(file.read_text(encoding='utf-8'))['cells']:\n    exec(''.join(cell['source']), stolen)\n",
        ),
        "PermissionError",
    ),
    "is-rude-in-its-error": (
        with_answer(
            RIGHT, before="class Rude(Exception):\n    def __str__(self): raise Rude\nraise Rude\n"
        ),
        "stopped with Rude",
    ),
}  # fmt: skip
UNREADABLE = {
    "no-json": (b"{", "not JSON"),
    "no-text": (b"\xff\xfe\x00", "not text"),
    "no-notebook": (b"[]", "no list of cells"),
    "null": (b"null", "no list of cells"),
    "nested": (b"[" * 200_000, "not JSON"),
    "foreign": (json.dumps(SOLVED | {"cells": []}).encode(), ""),
}
OVER_TIME = {learner for learner, (_, reason) in HOSTILE.items() if isinstance(reason, str) and reason.startswith("still running")}


@pytest.fixture(scope="module")
def class_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("class")
    copies = {learner: json.dumps(copy).encode() for learner, (copy, *_) in (WRONG | HOSTILE).items()}
    copies |= {learner: content for learner, (content, _) in UNREADABLE.items()}
    half = (60 - len(copies)) // 2
    copies |= {f"untouched{n}": json.dumps(UNTOUCHED).encode() for n in range(half)}
    copies |= {f"solved{n}": json.dumps(SOLVED).encode() for n in range(60 - len(copies))}
    for learner, content in copies.items():
        (folder / learner / "notebooks").mkdir(parents=True)  # as when the whole course folder is handed in
        (folder / learner / "notebooks" / NAME).write_bytes(content)
    return folder


@pytest.fixture(scope="module")
def graded(class_folder):
    files = {file: file.read_bytes() for file in sorted(class_folder.rglob("*")) if file.is_file()}
    over_time = [file for file in files if file.parts[-3] in OVER_TIME]
    began, finished = time.monotonic(), []
    results = grading.grade(
        [file for file in files if file not in over_time], LIMITS, jobs=4,
        on_row=lambda one: finished.append(time.monotonic() - began),
    )  # fmt: skip
    assert finished[0] < finished[-1] / 2, "rows appear as they finish"
    results += grading.grade(over_time, IMPATIENT, jobs=4)
    assert {file: file.read_bytes() for file in class_folder.rglob("*") if file.is_file()} == files, "a file changed"
    return {one.learner: one for one in results}


def test_all_sixty_have_a_row(graded):
    assert len(graded) == 60
    text = grading.table(list(graded.values()))
    assert re.search(r"^solved3 +✓$", text, re.M) and re.search(r"^untouched3 +○$", text, re.M)
    assert re.search(r"^alan +✗$", text, re.M)


@pytest.mark.parametrize("group, status", [("untouched", "not attempted"), ("solved", "passed")])
def test_untouched_and_solved_copies_are_told_apart(graded, group, status):
    for learner, one in graded.items():
        if learner.startswith(group):
            assert one.results == {"0.1": {"status": status, "mistakes": {}, "reason": ""}}, learner
            assert one.trouble == ""


@pytest.mark.parametrize("learner", WRONG)
def test_wrong_copy_is_graded_for_what_it_is(graded, learner):
    _, status, mistakes, reason = WRONG[learner]
    result = graded[learner].results["0.1"]
    assert result["status"] == status and list(result["mistakes"]) == mistakes
    assert reason in result["reason"]


@POSIX
@pytest.mark.parametrize("learner", HOSTILE)
def test_hostile_copy_fails_with_its_reason(graded, learner):
    wanted = HOSTILE[learner][1]
    result = graded[learner].results["0.1"]
    assert result["status"] == "failed"
    assert any(one in result["reason"] for one in ([wanted] if isinstance(wanted, str) else wanted)), result


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts a shared page once")
def test_memory_that_children_share_counts_once():
    program = """
import os, time
kept = b"x" * 150_000_000
for n in range(8):
    if os.fork() == 0:
        time.sleep(60)
print(flush=True)
time.sleep(60)
"""
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, start_new_session=True)
    try:
        parent.stdout.readline()
        one = psutil.Process(parent.pid)
        tree = [one, *one.children(recursive=True)]
        assert len(tree) == 9
        assert 150e6 < supervise._memory_of(tree, bound=400e6) < 250e6
        assert supervise._memory_of(tree, bound=1e12) > 9 * 150e6, "quick to have, and an upper bound"
    finally:
        os.killpg(parent.pid, signal.SIGKILL)
        parent.wait()


def test_copies_are_read_one_at_a_time_as_python_loses_count_otherwise(class_folder, monkeypatch):
    """Python finds its syntax trees too deep where threads make them at once while garbage is collected."""
    monkeypatch.setattr(supervise, "judge", lambda attempts, limits, stop: ({}, ""))
    threshold, interval = gc.get_threshold(), sys.getswitchinterval()

    def in_python(phase, info):
        sum(range(20))

    gc.callbacks.append(in_python)
    gc.set_threshold(50)
    sys.setswitchinterval(1e-5)
    try:
        graded = grading.grade([*class_folder.glob("solved*/notebooks/*"), *class_folder.glob("untouched*/notebooks/*")], LIMITS, jobs=4)
    finally:
        gc.callbacks.remove(in_python)
        gc.set_threshold(*threshold)
        sys.setswitchinterval(interval)
    assert len(graded) > 10 and not [one.trouble for one in graded if one.trouble]


@pytest.mark.parametrize("learner", UNREADABLE)
def test_unreadable_copy_has_a_row_that_says_why(graded, learner):
    assert UNREADABLE[learner][1] in graded[learner].trouble
    if learner == "foreign":  # the file's name says which lesson it was
        assert graded[learner].results["0.1"]["reason"] == "its cell is not in the notebook"


@POSIX
def test_nothing_that_a_copy_started_outlives_the_grading(graded):
    left = []
    for process in psutil.process_iter():
        try:
            if "course-grading-" in str(process.environ().get("TMPDIR", "")):
                left.append(process)
        except psutil.Error:
            continue
    assert not [process for process in left if process.status() != psutil.STATUS_ZOMBIE]


def test_class_summary_counts_mistakes_by_name(graded):
    summary = grading.class_summary(list(graded.values()))
    assert any(line.startswith("1 × 0.1 not-divided: ") for line in summary)


def test_table_is_written_as_csv_and_json(graded, tmp_path):
    grading.write_csv(list(graded.values()), tmp_path / "class.csv")
    grading.write_json(list(graded.values()), tmp_path / "class.json")
    with open(tmp_path / "class.csv", encoding="utf-8", newline="") as file:
        by_csv = {row["learner"]: row for row in csv.DictReader(file)}
    by_json = {row["learner"]: row for row in json.loads((tmp_path / "class.json").read_text(encoding="utf-8"))}
    assert len(by_csv) == len(by_json) == 60
    assert by_csv["bea"]["mistakes"] == "plain-mean" and by_json["bea"]["mistakes"] == ["plain-mean"]


# One copy at a time ---------------------------------------------------------------------------------------------------


@pytest.fixture
def grade_one(tmp_path):
    """Grade one notebook, given as a dict, under quick limits; returns its Graded."""

    def grade(content, name=NAME):
        (tmp_path / "ada").mkdir(exist_ok=True)
        (tmp_path / "ada" / name).write_text(json.dumps(content), encoding="utf-8")
        return grading.grade([tmp_path / "ada" / name], LIMITS)[0]

    return grade


@pytest.mark.parametrize(
    "damage",
    [{}, {"cell_type": "code"}, {"source": "x = 1"}, {"cell_type": "code", "source": 3}, "a text", None, [],
     {"cell_type": "code", "source": ["x", 3]}, {"cell_type": "code", "source": "x = '\0'"},
     {"cell_type": "code", "source": "(" * 500}, {"cell_type": "code", "source": "text = 'a\u2028b'"}],
)  # fmt: skip
def test_malformed_cell_costs_no_other(grade_one, damage):
    content = json.loads(json.dumps(SOLVED))
    content["cells"].insert(1, damage)
    assert grade_one(content).results["0.1"]["status"] == "passed"


def test_line_separator_in_an_answer_is_no_trouble(grade_one):
    one = grade_one(with_answer("note = 'a\u2028b'\nraise ValueError(note)"))
    assert one.results["0.1"]["status"] == "failed" and not one.trouble


@pytest.mark.parametrize(
    "content",
    [
        with_answer(RIGHT, decorator="@exercise('0.1')"),
        with_answer(RIGHT, decorator='@exercise( "0.1" )  # mine'),
        with_answer(RIGHT, cell_magic="%%time\n"),
        with_answer(RIGHT, cell_magic="\n%%capture out\n%%time\n"),
        with_answer(RIGHT, before="%matplotlib inline\n!ls\n%time x = 1\n"),
        with_answer("print(help_me)\n" + RIGHT, before="help_me = 3\n"),
    ],
)
def test_answer_is_found_however_its_cell_is_written(grade_one, content):
    assert grade_one(content).results["0.1"]["status"] == "passed"


def test_stub_under_a_magic_is_not_attempted(grade_one):
    one = grade_one(with_answer("raise NotImplementedError", cell_magic="%%time\n", decorator="@exercise('0.1')"))
    assert one.results["0.1"]["status"] == "not attempted"


def test_cell_in_another_language_is_left_alone(grade_one):
    assert grade_one(with_cells("%%bash\nrm -rf /tmp/nothing", "%%html\n<b>")).results["0.1"]["status"] == "passed"


def test_cells_that_an_answer_does_not_need_are_not_run(grade_one):
    harm = "import os\nos._exit(1)"
    assert grade_one(with_cells(harm, "while True: pass")).results["0.1"]["status"] == "passed"


def test_last_passing_attempt_counts(grade_one):
    content = with_answer(RIGHT)
    worse = with_answer("return 0")["cells"]
    content["cells"] += [cell for cell in worse if cell["cell_type"] == "code" and "0.1" in "".join(cell["source"])]
    assert grade_one(content).results["0.1"]["status"] == "passed"


def test_of_attempts_that_fail_the_last_is_told(grade_one):
    content = with_answer("return np.mean(values)")
    later = with_answer("return np.sum(weights * values)")["cells"]
    content["cells"] += [cell for cell in later if cell["cell_type"] == "code" and "0.1" in "".join(cell["source"])]
    assert list(grade_one(content).results["0.1"]["mistakes"]) == ["not-divided"]


def test_deleted_cell_leaves_a_reason(grade_one):
    content = json.loads(json.dumps(SOLVED))
    content["cells"] = [cell for cell in content["cells"] if "0.1" not in "".join(cell["source"])]
    result = grade_one(content).results["0.1"]
    assert result["status"] == "not attempted" and result["reason"] == "its cell is not in the notebook"


def test_one_hostile_answer_costs_no_other_in_its_notebook(grade_one):
    path = ROOT / "solutions" / "02_numpy_attention_solution.ipynb"
    content = json.loads(path.read_text(encoding="utf-8"))
    for cell in content["cells"]:
        if cell["cell_type"] == "code" and '@exercise("2.4")' in "".join(cell["source"]):
            cell["source"] = "import os\nos._exit(7)\n" + "".join(cell["source"])
    one = grade_one(content, "02_numpy_attention.ipynb")
    failed = {id: result["reason"] for id, result in one.results.items() if result["status"] != "passed"}
    assert list(failed) == ["2.4"] and "exit code 7" in failed["2.4"]


def test_time_for_a_copy_is_bounded_whatever_it_asks(tmp_path):
    path = ROOT / "solutions" / "02_numpy_attention_solution.ipynb"
    content = json.loads(path.read_text(encoding="utf-8"))
    for cell in content["cells"]:
        if cell["cell_type"] == "code" and "@exercise(" in "".join(cell["source"]):
            cell["source"] = SLEEP_FOR_EVER + "".join(cell["source"])
    (tmp_path / "02_numpy_attention.ipynb").write_text(json.dumps(content), encoding="utf-8")
    one = grading.grade([tmp_path / "02_numpy_attention.ipynb"], grading.Limits(answer=2, copy=5))[0]
    assert len(one.results) == 6 and all(result["status"] == "failed" for result in one.results.values())
    assert "5 seconds" in one.trouble
    assert one.results["2.6"]["reason"] == "there was no time left"


def test_process_that_never_becomes_ready_is_tried_again_and_then_said(grade_one, monkeypatch):
    monkeypatch.setattr(supervise, "COURSE", Path("/nowhere"))
    monkeypatch.setattr(supervise, "KEPT", ())
    started = []
    process = supervise.subprocess.Popen
    monkeypatch.setattr(
        supervise.subprocess,
        "Popen",
        lambda command, **more: started.append(1) or process([sys.executable, "-c", "pass"], **more),
    )
    assert "no process that judges would start" in grade_one(SOLVED).trouble
    assert len(started) == 2


# Its own place --------------------------------------------------------------------------------------------------------


def test_copies_in_one_folder_do_not_disturb_each_other(tmp_path):
    (tmp_path / "helpers.py").write_text("raise SystemExit('the wrong helpers')", encoding="utf-8")
    (tmp_path / "numpy.py").write_text("raise SystemExit('the wrong numpy')", encoding="utf-8")
    (tmp_path / "precious.txt").write_text("kept", encoding="utf-8")
    bad = with_answer(RIGHT, before="import pathlib\n[f.unlink() for f in pathlib.Path('.').glob('*')]\n")
    (tmp_path / "00_start_here_ada.ipynb").write_text(json.dumps(bad), encoding="utf-8")
    (tmp_path / "00_start_here_bob.ipynb").write_text(json.dumps(SOLVED), encoding="utf-8")
    files, _ = names.find([tmp_path])
    graded = grading.grade(files, LIMITS)
    assert [(one.learner, one.results["0.1"]["status"]) for one in graded] == [("ada", "passed"), ("bob", "passed")]
    assert (tmp_path / "precious.txt").read_text(encoding="utf-8") == "kept"


def test_answer_sees_none_of_the_teachers_variables(grade_one, monkeypatch):
    monkeypatch.setenv("TEACHERS_TOKEN", "secret")
    one = grade_one(with_answer("import os\nraise ValueError(sorted(os.environ))"))
    assert "TEACHERS_TOKEN" not in one.results["0.1"]["reason"] and "PATH" in one.results["0.1"]["reason"]


def test_teachers_own_progress_stays_as_it_is(grade_one, monkeypatch, tmp_path):
    monkeypatch.setenv("ATTENTION_COURSE_PROGRESS", str(tmp_path / "mine.jsonl"))
    grade_one(SOLVED)
    assert not (tmp_path / "mine.jsonl").exists()


def test_judging_opens_no_port(grade_one):
    """Kernels would listen on TCP ports, where others on a shared machine can reach them; nothing here does."""
    listening = "import psutil\nraise ValueError([c.status for c in psutil.Process().net_connections()])"
    assert "[]" in grade_one(with_answer(listening)).results["0.1"]["reason"]


# Whose it is ----------------------------------------------------------------------------------------------------------


def named(*paths):
    return list(names.learners([Path("/class") / path for path in paths]).values())


@pytest.mark.parametrize(
    "paths, expected",
    [
        (["ada/02_numpy_attention.ipynb", "bob/02_numpy_attention.ipynb"], ["ada", "bob"]),
        (["ada/notebooks/00_start_here.ipynb", "bob/notebooks/00_start_here.ipynb"], ["ada", "bob"]),
        (["ada/course/notebooks/00_start_here.ipynb", "bob/course/notebooks/00_start_here.ipynb"], ["ada", "bob"]),
        (["a/ada/00_start_here.ipynb", "a/bob/00_start_here.ipynb", "b/ada/00_start_here.ipynb"], ["a/ada", "a/bob", "b/ada"]),
        (["02_numpy_attention_ada.ipynb", "bob-02_numpy_attention.ipynb"], ["ada", "bob"]),
        (["w1/02_numpy_attention_ada.ipynb", "w2/02_numpy_attention_ada.ipynb"], ["w1/ada", "w2/ada"]),
        (["ada/attempt.ipynb", "bob/attempt.ipynb"], ["ada/attempt", "bob/attempt"]),
        (["ada/02_numpy_attention.ipynb"], ["ada"]),
        (["ada/notebooks/02_numpy_attention.ipynb"], ["ada"]),
        (["ada.ipynb"], ["ada"]),
        (["ada/02_numpy_attention-Copy1.ipynb"], ["ada"]),
        (["ada/00_start_here.ipynb", "bob/00_start_here_ada.ipynb"], ["ada", "bob/ada"]),
    ],
)
def test_no_two_people_share_a_name(paths, expected):
    assert named(*paths) == expected


def test_two_copies_of_one_learner_are_shown_and_not_merged(tmp_path):
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / NAME).write_text(json.dumps(SOLVED), encoding="utf-8")
    (tmp_path / "ada" / "00_start_here-Copy1.ipynb").write_text(json.dumps(UNTOUCHED), encoding="utf-8")
    text = grading.table(grading.grade(names.find([tmp_path])[0], LIMITS))
    assert re.search(r"^ada +○$", text, re.M) and re.search(r"^ada \(00_start_here\.ipynb\) +✓$", text, re.M)
    assert "more than one copy of lesson 00" in text


def test_solutions_and_kept_copies_are_left_out_of_a_folder(tmp_path):
    for name in ("notebooks/00_start_here.ipynb", "notebooks/00_start_here.mine-1.ipynb",
                 "notebooks/.ipynb_checkpoints/00_start_here-checkpoint.ipynb",
                 "solutions/00_start_here_solution.ipynb", "00_start_here_solution.ipynb"):  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}", encoding="utf-8")
    files, left_out = names.find([tmp_path])
    assert [file.name for file in files] == ["00_start_here.ipynb"] and left_out == 3


# What an answer needs -------------------------------------------------------------------------------------------------


def needed(*sources):
    """Sources of the statements that the last of these cells needs."""
    cells = [notebook._cell(f"cell {n}", source) for n, source in enumerate(sources)]
    (attempt,) = notebook.attempts(cells)["2.1"]
    return [attempt_line(cell, index) for cell, index in attempt.needed]


def attempt_line(cell, index):
    node = cell.tree.body[index]
    return cell.source.splitlines()[node.lineno - 1]


ANSWER = '@exercise("2.1")\ndef softmax(x):\n    scores = shifted(x)\n    return np.exp(scores)\n'


@pytest.mark.parametrize(
    "before, expected",
    [
        (["import numpy as np\nfrom helpers import exercise", "def shifted(x): return x"],
         ["import numpy as np", "from helpers import exercise", "def shifted(x): return x"]),
        (["scores = train_for_hours()"], []),  # a local name of the answer is not the notebook's
        (["def shifted(x): return top(x)", "def top(x): return x"], ["def shifted(x): return top(x)", "def top(x): return x"]),
        (["def shifted(x): return 1", "def shifted(x): return 2"], ["def shifted(x): return 2"]),
        (["table = {}", "table['a'] = 1", "def shifted(x): return table"], ["table = {}", "table['a'] = 1", "def shifted(x): return table"]),
        (["from numpy import *\nimport numpy as np", "unneeded = 1"], ["from numpy import *", "import numpy as np"]),
        (["x = 1\nfor n in range(3): x += n\nshifted = lambda y: x"], ["x = 1", "for n in range(3): x += n", "shifted = lambda y: x"]),
        (["shifted, other = 1, 2"], ["shifted, other = 1, 2"]),
    ],
)  # fmt: skip
def test_answer_brings_along_what_it_uses_and_nothing_else(before, expected):
    assert needed(*before, ANSWER) == expected


def test_what_stands_below_an_answer_is_used_where_nothing_above_is():
    cells = [notebook._cell("a", ANSWER), notebook._cell("b", "def shifted(x): return x")]
    (attempt,) = notebook.attempts(cells)["2.1"]
    assert [cell.name for cell, _ in attempt.needed] == ["b"]


# The command ----------------------------------------------------------------------------------------------------------


def put(folder, **copies):
    for learner, content in copies.items():
        (folder / learner).mkdir()
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / learner / NAME).write_text(text, encoding="utf-8")
    return str(folder)


def test_command_shows_rows_table_and_class_and_ends_well(tmp_path, capsys):
    assert command.main(["grade", put(tmp_path, ada=SOLVED, bob=UNTOUCHED), "--jobs", "1"]) == 0
    shown = capsys.readouterr()
    assert re.search(r"^ada  00  ✓  1 of 1$", shown.out, re.M) and "Which mistakes did this class make?" in shown.out


def test_command_says_what_could_not_be_graded_and_its_status_too(tmp_path, capsys):
    assert command.main(["grade", put(tmp_path, ada=SOLVED, bob="{")]) == 1
    shown = capsys.readouterr()
    assert "cannot be read" in shown.out and "1 of 2 copies could not be graded" in shown.err


def test_command_without_anything_to_grade_says_so(tmp_path, capsys):
    assert command.main(["grade", str(tmp_path)]) == 2
    assert "nothing to grade" in capsys.readouterr().err
    assert command.main(["grade", str(tmp_path / "missing")]) == 2
    assert "There is no" in capsys.readouterr().err


@pytest.mark.parametrize("jobs", ["0", "-1", "two"])
def test_impossible_number_of_jobs_is_said(tmp_path, capsys, jobs):
    with pytest.raises(SystemExit) as ended:
        command.main(["grade", str(tmp_path), "--jobs", jobs])
    assert ended.value.code == 2 and "a whole number from 1 is wanted" in capsys.readouterr().err


def test_help_says_that_it_is_no_examination(capsys):
    with pytest.raises(SystemExit):
        command.main(["grade", "--help"])
    assert "no examination" in capsys.readouterr().out


@POSIX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_ends_everything_and_keeps_the_rows_so_far(tmp_path, number):
    folder = put(tmp_path, ada=SOLVED, zoe=HOSTILE["ignores-interrupts"][0])
    process = subprocess.Popen(
        [sys.executable, "-m", "helpers", "grade", folder, "--jobs", "1", "--json", str(tmp_path / "out.json")],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    first = process.stdout.readline().decode()
    assert first.startswith("ada")
    process.send_signal(number)
    rest, said = process.communicate(timeout=60)
    assert process.returncode == 130 and "1 of 2 copies were graded" in said.decode()
    assert [row["learner"] for row in json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))] == ["ada"]


@pytest.mark.parametrize("name", ["=cmd()", "+1", "-2", "@x", " =1", "\t=1"])
def test_no_cell_of_the_csv_is_a_formula(tmp_path, name):
    grading.write_csv([grading.Graded(name, "00", Path("f"), {}, "trouble\n=1")], tmp_path / "class.csv")
    with open(tmp_path / "class.csv", encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["learner"] == f"'{name}" and row["trouble"] == "trouble =1"


@POSIX
def test_pipe_that_poses_as_a_notebook_is_not_read(tmp_path):
    (tmp_path / "ada").mkdir()
    os.mkfifo(tmp_path / "ada" / NAME)
    done = []
    thread = threading.Thread(target=lambda: done.extend(grading.grade([tmp_path / "ada" / NAME], LIMITS)), daemon=True)
    thread.start()
    thread.join(60)
    assert done and done[0].trouble == "is not a regular file"


def test_line_of_a_copy_cannot_steer_the_terminal():
    assert "\x1b" not in command._shown("ada\x1b[2J")


def test_no_watched_module_is_missing_from_the_worker():
    assert {"numpy", "builtins"} <= set(worker._Course.WATCHED)
