"""Progress is kept whatever happens: many kernels at once, damage, disks that are full or cannot be written or read."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import progress
from helpers.course import LESSONS
from helpers.feedback import store
from helpers.feedback.exercise import Finding
from helpers.feedback.progress import standing
from helpers.feedback.report import Report

ROOT = Path(__file__).resolve().parents[1]
IDS = [info.id for lesson in LESSONS for info in lesson.exercises]


def report(id="2.2", status="passed", *mistakes):
    return Report(id, "answer", status, "said", mistakes=tuple(Finding(one, one) for one in mistakes))


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    """Pretend to run in a learner's notebook with a progress file of its own."""
    monkeypatch.setenv(store.PATH_VARIABLE, str(tmp_path / "progress.json"))
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    monkeypatch.setattr(store, "in_notebook", lambda: True)
    monkeypatch.setattr(store, "_unsaved", [])
    monkeypatch.setattr(store, "_told", False)
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    return tmp_path


def fails_with(number):
    def fail(*args, **kwargs):
        raise OSError(number, os.strerror(number))

    return fail


# What is kept ---------------------------------------------------------------------------------------------------------


def test_tries_and_mistakes_are_kept_until_an_exercise_is_solved(notebook):
    for verdict in (report("2.2", "failed", "divide-by-d_k"), report("2.2", "error", "a"), report("2.2", "passed")):
        store.record(verdict)
    entry = store.load()["2.2"]
    assert entry["status"] == "passed" and entry["tries"] == 3 and entry["passed_on"]
    assert entry["mistakes"] == ["a", "divide-by-d_k"]


def test_what_passed_once_stays_passed_and_the_file_does_not_grow(notebook):
    store.record(report("2.2", "passed"))
    size = store.path().stat().st_size
    for _ in range(50):
        store.record(report("2.2", "failed", "later"))
        store.record(report("2.2", "passed"))
    assert store.load()["2.2"]["status"] == "passed" and store.path().stat().st_size == size


def test_untouched_exercise_leaves_no_trace(notebook):
    store.record(report("2.2", "todo"))
    assert store.load() == {} and not store.path().exists()


@pytest.mark.parametrize("session", ["solutions/02_numpy_attention.ipynb", "mine/02_numpy_attention_solution.ipynb"])
def test_solutions_never_mark_anything_as_done(notebook, monkeypatch, session):
    monkeypatch.setenv("JPY_SESSION_NAME", str(notebook / session))
    assert store.in_solutions()
    store.record(report())
    assert store.load() == {}
    assert "nothing here is counted" in str(progress("02")) and "nothing here is counted" in progress("02")._repr_html_()


def test_folder_named_solutions_counts_as_solutions_without_a_session_name(notebook, monkeypatch):
    (notebook / "solutions").mkdir()
    monkeypatch.chdir(notebook / "solutions")
    store.record(report())
    assert store.load() == {}


def test_folder_that_was_deleted_under_a_kernel_breaks_nothing(notebook, monkeypatch):
    monkeypatch.setattr(os, "getcwd", fails_with(errno.ENOENT))
    monkeypatch.setattr(Path, "cwd", fails_with(errno.ENOENT))
    store.record(report())
    assert "1 of" in str(progress()) and "<a href" in progress()._repr_html_()


# Many kernels at once -------------------------------------------------------------------------------------------------

WRITER = """
import sys
from helpers.feedback import store
from helpers.feedback.exercise import Finding
from helpers.feedback.report import Report
store.in_notebook = lambda: True
for id in sys.argv[2:]:
    store.record(Report(id, "answer", "failed", "said", mistakes=(Finding(f"by-{sys.argv[1]}", "m"),)))
    store.record(Report(id, "answer", "passed", "said"))
"""


def test_hundred_concurrent_writers_lose_nothing(notebook):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    # Forked from a few processes that have imported everything: a hundred interpreters at once would test the machine.
    code = """
import os, sys
from helpers.feedback import store
from helpers.feedback.exercise import Finding
from helpers.feedback.report import Report
store.in_notebook = lambda: True
children = []
for n in range(int(sys.argv[1]), int(sys.argv[2])):
    child = os.fork()
    if child == 0:
        for k in range(4):
            store.record(Report(f"writer.{n}", "answer", "failed", "said", mistakes=(Finding(f"m{k}", "m"),)))
        store.record(Report(f"writer.{n}", "answer", "passed", "said"))
        os._exit(0)
    children.append(child)
sys.exit(any(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children))
"""
    if not hasattr(os, "fork"):
        pytest.skip("no fork on this platform")
    starters = [
        subprocess.Popen([sys.executable, "-c", code, str(n), str(n + 25)], env=environment) for n in range(0, 100, 25)
    ]
    assert [process.wait(timeout=300) for process in starters] == [0] * 4
    entries = store.load()
    assert len(entries) == 100
    assert all(entry["status"] == "passed" and entry["tries"] == 5 for entry in entries.values())
    assert all(entry["mistakes"] == ["m0", "m1", "m2", "m3"] for entry in entries.values())


def test_two_kernels_agree_at_once(notebook):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", WRITER, "other", "2.1"], env=environment, check=True)
    store.record(report("2.2", "passed"))
    read = "from helpers import progress; print(progress('02'))"
    shown = subprocess.run([sys.executable, "-c", read], env=environment, check=True, capture_output=True, text=True)
    assert shown.stdout.strip() == str(progress("02")) and "2 of 6" in shown.stdout


# Damage ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "damage",
    [
        b"{\n", b"[]\n", b'{"exercise": "2.1"}\n', b'{"exercise": "2.1", "status": "won", "mistakes": []}\n',
        b'{"exercise": 3, "status": "passed"}\n', b"\x00\x00\xff\xfe\n", b"[" * 100_000 + b"\n", b"null\n",
        b'{"exercise": "2.1", "status": "passed", "mistakes": 3}\n',
        '{"exercise": "2.1", "status": "pass\u2028ed"}\n'.encode(),
    ],
)  # fmt: skip
def test_damaged_line_costs_only_itself_and_is_said(notebook, damage):
    store.record(report("2.2"))
    with open(store.path(), "ab") as file:
        file.write(damage)
    store.record(report("2.3"))
    assert set(store.load()) == {"2.2", "2.3"}
    assert "1 line of progress.jsonl could not be understood" in str(progress())
    assert damage in store.path().read_bytes(), "nothing is ever taken out of the file"


def test_line_that_a_crash_broke_off_does_not_swallow_the_next(notebook):
    store.record(report("2.2"))
    with open(store.path(), "ab") as file:
        file.write(b'{"exercise": "2.4", "sta')
    assert set(store.load()) == {"2.2"} and "could not" not in str(progress()), "perhaps another kernel is writing it"
    store.record(report("2.3"))
    assert set(store.load()) == {"2.2", "2.3"}


def test_line_without_mistakes_or_day_is_understood(notebook):
    store.path().write_text('{"exercise": "2.2", "status": "passed"}\n', encoding="utf-8")
    assert store.load()["2.2"] == {"status": "passed", "mistakes": [], "tries": 1, "passed_on": None}


# Files of the first version -------------------------------------------------------------------------------------------


def old_entry(status="passed", **more):
    return {"status": status, "mistakes": ["a"], "tries": 2, "passed_on": "2026-11-01"} | more


def test_old_progress_is_taken_over_and_kept(notebook):
    old = notebook / "progress.json"
    old.write_text(json.dumps({"version": 1, "exercises": {"2.2": old_entry(), "2.3": old_entry("failed")}}))
    before = old.read_bytes()
    store.record(report("2.1"))
    store.record(report("2.3", "passed"))
    entries = store.load()
    assert {id: entry["status"] for id, entry in entries.items()} == dict.fromkeys(("2.1", "2.2", "2.3"), "passed")
    assert entries["2.2"]["tries"] == 2 and entries["2.3"]["tries"] == 3
    assert old.read_bytes() == before


def test_good_file_that_the_first_version_set_aside_counts_again(notebook):
    aside = notebook / ".progress.damaged-20261101-120000-000000.json"
    aside.write_text(json.dumps({"version": 1, "exercises": {f"2.{n}": old_entry() for n in range(1, 6)}}))
    (notebook / "progress.json").write_text(json.dumps({"version": 1, "exercises": {"2.6": old_entry()}}))
    assert sorted(store.load()) == [f"2.{n}" for n in range(1, 7)]


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "null", '{"exercises": []}', '{"exercises": {"2.2": 3}}', '{"exercises": {"2.2": {"tries": 1}}}',
     '{"exercises": {"2.2": {"status": "won", "tries": 1}}}', "\x00"],
)  # fmt: skip
def test_damaged_old_file_is_no_reason_to_stop(notebook, content):
    (notebook / "progress.json").write_text(content, encoding="utf-8")
    assert store.load() == {}
    store.record(report("2.1"))
    assert set(store.load()) == {"2.1"}


def test_old_entry_without_its_fields_is_understood(notebook):
    (notebook / "progress.json").write_text('{"exercises": {"2.2": {"status": "passed"}, "2.3": {"status": "failed"}}}')
    store.record(report("2.3", "failed", "b"))
    assert store.load()["2.2"] == {"status": "passed", "mistakes": [], "tries": 1, "passed_on": None}
    assert store.load()["2.3"]["mistakes"] == ["b"]


# Disks that refuse ----------------------------------------------------------------------------------------------------


def test_read_that_fails_once_in_passing_loses_nothing(notebook, monkeypatch):
    for n in range(1, 6):
        store.record(report(f"2.{n}"))
    real, failing = Path.read_bytes, [2]

    def stumbling(file):
        if file.suffix == ".jsonl" and failing[0]:
            failing[0] -= 1
            raise OSError(errno.EIO, "I/O error")
        return real(file)

    monkeypatch.setattr(Path, "read_bytes", stumbling)
    assert len(store.load()) == 5


def test_file_that_cannot_be_read_is_left_alone_and_said(notebook, monkeypatch):
    for n in range(1, 6):
        store.record(report(f"2.{n}"))
    before = store.path().read_bytes()
    with monkeypatch.context() as unreadable:
        unreadable.setattr(store, "_bytes_of", fails_with(errno.EIO))
        store.record(report("2.6"))
        assert "could not be read just now" in str(progress()) and "could not be read" in progress()._repr_html_()
    assert store.path().read_bytes().startswith(before)
    assert sorted(file.name for file in notebook.iterdir()) == ["notebooks", "progress.jsonl"]
    assert len(store.load()) == 6


@pytest.mark.parametrize(
    "number, said", [(errno.ENOSPC, "the disk is full"), (errno.EROFS, "read-only"), (errno.EACCES, "read-only")]
)
def test_disk_that_cannot_be_written_is_said_once_and_progress_goes_on(notebook, monkeypatch, capsys, number, said):
    with monkeypatch.context() as refused:
        refused.setattr(store, "_append", fails_with(number))
        for n in range(1, 4):
            store.record(report(f"2.{n}"))
        shown = capsys.readouterr().out
        assert shown.count("could not be saved") == 1 and said in shown
        assert "3 of 6" in str(progress("02")), "what this kernel knows still counts"
    store.record(report("2.4"))
    assert store.path().read_bytes().count(b"\n") == 4, "what could not be saved is saved with the next verdict"


def test_disk_that_fills_up_within_a_line_leaves_no_half_of_it(notebook, monkeypatch, capsys):
    store.record(report("2.2"))
    before, write = store.path().read_bytes(), os.write
    monkeypatch.setattr(store.os, "write", lambda handle, data: write(handle, data[:10]))
    store.record(report("2.3"))
    assert store.path().read_bytes() == before
    assert "the disk is full" in capsys.readouterr().out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this platform")
def test_really_full_device_is_said(notebook, monkeypatch, capsys):
    with pytest.raises(OSError, match="No space"):
        store._append(Path("/dev/full"), b"line\n")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is read-only for root")
def test_really_read_only_folder_is_said(notebook, capsys):
    notebook.chmod(0o500)
    try:
        store.record(report())
    finally:
        notebook.chmod(0o700)
    assert "read-only" in capsys.readouterr().out


def test_folder_without_locks_is_written_all_the_same(notebook, monkeypatch):
    monkeypatch.setattr(store, "_lock", fails_with(errno.ENOLCK))
    store.record(report())
    assert store.load()["2.2"]["status"] == "passed"


def test_lock_that_another_kernel_never_gives_back_does_not_hold_a_lesson_up(notebook, monkeypatch):
    monkeypatch.setattr(store, "LOCK_SECONDS", 0.05)
    monkeypatch.setattr(store, "_lock", fails_with(errno.EAGAIN))
    store.record(report())
    assert store.load()["2.2"]["status"] == "passed"


@pytest.mark.parametrize("place", ["a\0b", "folder", "a-file/beneath"])
def test_impossible_place_is_said_and_raises_nothing(notebook, monkeypatch, capsys, place):
    (notebook / "folder.jsonl").mkdir()
    (notebook / "a-file").write_text("")
    monkeypatch.setattr(store, "path", lambda: notebook / f"{place}.jsonl")
    store.record(report())
    assert "could not be saved" in capsys.readouterr().out
    assert "1 of" in str(progress())


# What is shown --------------------------------------------------------------------------------------------------------


def test_overview_has_the_total_first_and_one_row_per_lesson(notebook):
    store.record(report("2.2"))
    lines = str(progress()).splitlines()
    assert lines[0] == f"1 of {len(IDS)} exercises solved"
    assert [line.split()[0] for line in lines[1:]] == [lesson.number for lesson in LESSONS]
    assert "1 of 6  ○ ✓ ○ ○ ○ ○  next: 2.1 Softmax" in lines[3]


def test_overview_links_each_lesson_and_folds_the_exercises(notebook, monkeypatch):
    monkeypatch.chdir(ROOT / "notebooks")
    shown = progress()._repr_html_()
    top, folded = shown.split("<details>")
    assert [f'<a href="{lesson.slug}.ipynb">' in top for lesson in LESSONS] == [True] * len(LESSONS)
    assert all(f">{id}</td>" in folded for id in IDS)
    monkeypatch.chdir(ROOT / "solutions")
    assert f'<a href="../notebooks/{LESSONS[2].slug}.ipynb">' in progress()._repr_html_()


@pytest.mark.parametrize("lesson", ["02", "2", 2, "02_numpy_attention", "2.3"])
def test_one_lesson_has_a_row_of_its_own(notebook, lesson):
    store.record(report("2.1"))
    assert str(progress(lesson)) == "02 Attention in NumPy  1 of 6  ✓ ○ ○ ○ ○ ○  next: 2.2 Attention"
    assert progress(lesson)._repr_html_().count("<tr") == 1


def test_lesson_that_does_not_exist_is_answered_with_those_that_do():
    with pytest.raises(ValueError, match="there is no lesson '77'; the lessons are 00, 01"):
        progress("77")


def test_standing_counts_the_lesson_and_names_what_is_next(notebook):
    assert standing("2.2") == (0, 6, "2.3")
    store.record(report("2.2"))
    assert standing("2.2") == (1, 6, "2.3")
    for n in (3, 4, 5, 6):
        store.record(report(f"2.{n}"))
    assert standing("2.6") == (5, 6, "2.1"), "what was passed over comes at the end"
    store.record(report("2.1"))
    assert standing("2.1") == (6, 6, None)
