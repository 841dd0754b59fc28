"""The benchmarks measure what they say and write it down well; how long anything takes is not tested here."""

import contextlib
import datetime
import importlib.util
import json
import platform
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks import attention, beyond, course, learning_rates, run, table
from helpers.course import LESSONS
from helpers.feedback.registry import get

READY = [lesson for lesson in LESSONS if importlib.util.find_spec(f"helpers.feedback.catalogue.lesson_{lesson.number}")]
ROWS = (
    table.Row("Speed", "ours against theirs", "1.3 s", "1 s", 1.3, **table.at_most(1.2, 1.3)),
    table.Row("Speed", "a notebook", "12 s", "1 s", 12.0),
    table.Row("Memory", "ours against theirs", "9.9 MB", "10 MB", 0.99, **table.at_most(1.2, 0.99)),
)


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


# The table -----------------------------------------------------------------------------------------------------------


def test_table_holds_every_row_under_the_name_of_its_group():
    heading, rule, *body = table.markdown(ROWS).splitlines()
    assert cells(heading) == list(table.HEADINGS)
    assert set("".join(cells(rule))) == set("-:")
    assert [cells(line) for line in body] == [
        ["**Speed**", "", "", "", ""],
        ["ours against theirs", "1.3 s", "1 s", "1.30", "≤ 1.2 ✗"],
        ["a notebook", "12 s", "1 s", "12", ""],
        ["**Memory**", "", "", "", ""],
        ["ours against theirs", "9.9 MB", "10 MB", "0.99", "≤ 1.2 ✓"],
    ]


def test_table_is_aligned_for_readers_of_plain_text():
    assert len({len(line) for line in table.markdown(ROWS).splitlines()}) == 1


@pytest.mark.parametrize("ratio, met", [(1.2, True), (1.204, True), (1.206, False), (0.3, True), (float("nan"), False)])
def test_goal_is_met_when_the_ratio_as_shown_is_within_it(ratio, met):
    assert table.at_most(1.2, ratio)["met"] is met


@pytest.mark.parametrize(
    "seconds, text",
    [(0.0517, "52 ms"), (0.9996, "1 s"), (1.26, "1.3 s"), (123.4, "120 s"), (1.23e-4, "120 µs"), (3e-8, "30 ns")],
)
def test_seconds_are_written_in_two_digits_and_a_fitting_unit(seconds, text):
    assert table.readable_seconds(seconds) == text


@pytest.mark.parametrize(
    "ratio, text", [(0.00234, "0.0023"), (0.1, "0.10"), (1.5, "1.50"), (22.4, "22"), (9.996, "10.00")]
)
def test_ratio_is_never_rounded_to_nothing(ratio, text):
    assert table.readable_ratio(ratio) == text


# The course ----------------------------------------------------------------------------------------------------------


def test_every_exercise_gets_a_row_with_its_median_its_worst_and_the_limits():
    ids = [info.id for lesson in READY for info in lesson.exercises]
    rows = course.verdict_rows(ids, 2.0, seconds_of=lambda id: {"a": 0.1, "b": 0.2, "c": 3.0})
    assert [row.what.split()[0] for row in rows] == ids
    for row in rows:
        assert (row.ours, row.against, row.ratio, row.met) == ("median 200 ms, worst 3 s", "2 s", 1.5, False)


def test_every_mistake_is_timed_and_two_answers_that_no_mistake_explains():
    seconds = course.verdict_seconds("2.5")
    names = {mistake.id for mistake in get("2.5").mistakes}
    assert names | {"unknown, all off", "unknown, one off"} <= set(seconds)
    assert any(" and " in name for name in seconds), "sets of mistakes are tried too"
    assert min(seconds.values()) > 0


def test_verdict_is_timed_without_what_an_earlier_one_left_behind(monkeypatch):
    remembered = []
    judge = course.check

    def watched(*args):
        remembered.append(course.twins.twins_of.cache_info().currsize)
        return judge(*args)

    monkeypatch.setattr(course, "check", watched)
    course.verdict_seconds("2.5")
    assert set(remembered[1:]) == {0}  # the first call only warms up


@pytest.mark.parametrize(
    "value",
    [
        2.0,
        3,
        True,
        np.arange(6.0).reshape(2, 3),
        np.array([True, False]),
        torch.ones(2, 3),
        torch.tensor([1, 2]),
        (1.0, 2.0),
    ],
    ids=str,
)
def test_spoilt_answer_differs_and_leaves_the_right_one_alone(value):
    before = str(value)
    assert str(course._all_off(value)) != before
    assert str(course._one_off(value)) != before
    assert str(value) == before


def test_every_written_lesson_gets_a_row_from_its_kernel_to_its_first_exercise():
    asked = []

    def seconds(cells, folder):
        asked.append(cells)
        return 3.0

    lessons = course.written_lessons()
    rows = course.ready_rows(lessons, repeats=1, seconds_of=seconds, bare=lambda: 2.0)
    assert [row.what.split()[0] for row in rows] == [lesson.number for lesson, _ in lessons]
    assert all(row.ratio == 1.5 for row in rows)
    for (lesson, _), cells in zip(lessons, asked, strict=True):
        exercises = [f'@exercise("{lesson.exercises[0].id}")' in cell.source for cell in cells]
        assert exercises.index(True) == len(cells) - 1, lesson.number
        assert "BEGIN SOLUTION" not in cells[-1].source


def test_every_written_lesson_is_run_whole_both_untouched_and_solved():
    solved = []

    def seconds(nb, folder):
        solved.append(any("### BEGIN SOLUTION" in cell.source for cell in nb.cells))
        return 50.0 if solved[-1] else 70.0

    lessons = course.written_lessons()
    rows = course.notebook_rows(lessons, 10.0, seconds_of=seconds)
    assert solved == [False, True] * len(lessons)
    assert [row.met for row in rows] == [course.RUN_LIMITS.get(lesson.number, 60) >= 70 for lesson, _ in lessons]
    assert {(row.ours, row.ratio) for row in rows} == {("untouched 70 s, solved 50 s", 7.0)}


# Attention -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_sizes(monkeypatch):
    monkeypatch.setattr(attention, "HEADS", ((2, 5, 8, 2),))
    monkeypatch.setattr(attention, "SCORES", ((2, 3, 5),))
    monkeypatch.setattr(attention, "LENGTHS", (6,))


def test_both_sides_of_a_comparison_compute_the_same(small_sizes):
    for what, ours, other, inputs, _, _ in attention.comparisons():
        if other is attention.floor:  # a lower bound and no attention: it does not normalise
            assert ours(*inputs)[0].shape == other(*inputs).shape
            continue
        for a, b in zip(
            *(out if isinstance(out, tuple) else (out,) for out in (ours(*inputs), other(*inputs))), strict=True
        ):
            torch.testing.assert_close(a, b, msg=what)


def test_softmax_it_is_compared_with_gives_zeros_where_nothing_may_be_seen():
    weights = attention.softmax_with_zeros(torch.ones(1, 1, 2, 2), torch.tensor([[True, True], [False, False]]))
    assert weights.tolist() == [[[[0.5, 0.5], [0.0, 0.0]]]]


@pytest.mark.filterwarnings("ignore")
def test_what_it_costs_more_keeps_nan_out_of_the_backward_pass():
    mask = torch.tensor([[True, False], [False, False]])
    for softmax, raises in ((attention.masked_softmax, False), (attention.softmax_with_zeros, True)):
        with torch.autograd.detect_anomaly():
            loss = softmax(torch.ones(2, 2, requires_grad=True), mask).square().sum()
            with pytest.raises(RuntimeError, match="nan") if raises else contextlib.nullcontext():
                loss.backward()


def test_attention_is_measured_in_time_and_then_in_memory(small_sizes):
    rows = attention.rows(rounds=1)
    half = len(rows) // 2
    assert [row.what for row in rows[:half]] == [row.what for row in rows[half:]]
    assert all("time" in row.group for row in rows[:half]) and all("memory" in row.group for row in rows[half:])
    assert all(row.ratio > 0 for row in rows)


def test_lesson_08_is_compared_with_what_computes_the_same():
    for what, ours, other, make_inputs, _ in beyond.comparisons():
        if "linear" not in what and "step" not in what:  # another attention, and one that returns nothing
            inputs = make_inputs(300)
            torch.testing.assert_close(ours(*inputs), other(*inputs), msg=what)


def test_lesson_08_is_measured_in_time_at_two_lengths_and_in_memory(monkeypatch):
    monkeypatch.setattr(beyond, "LENGTHS", (128, 256))
    monkeypatch.setattr(beyond, "TILE", 32)
    rows = beyond.rows(rounds=1)
    times = [row for row in rows if "time" in row.group]
    assert len(times) == 2 * len(list(beyond.comparisons())) and rows[: len(times)] == times
    assert all("memory" in row.group and row.goal for row in rows[len(times) :])
    assert all(row.ratio > 0 for row in rows)


# The command ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def stored(monkeypatch, tmp_path):
    """Where a run with made-up rows stores its table."""
    monkeypatch.setattr(run, "ROOT", tmp_path)
    monkeypatch.setattr(run, "RESULTS", tmp_path / "RESULTS.md")
    monkeypatch.setattr(run, "rows_of", lambda parts, lessons: ROWS)
    return run.RESULTS


def test_every_part_is_printed_and_stored_with_date_and_machine(stored, capsys):
    assert run.main([]) == 0
    printed, text = capsys.readouterr().out, stored.read_text(encoding="utf-8")
    assert text.count(table.markdown(ROWS)) == len(run.PARTS) and table.markdown(ROWS) in printed
    assert text.count(f"{datetime.date.today().isoformat()}, {run.machine()}:") == len(run.PARTS)


def test_a_part_takes_its_own_place_and_leaves_the_others(stored):
    run.main(["encoder"])
    run.main(["attention"])
    kept = json.loads(stored.with_name(run.ROWS).read_text(encoding="utf-8"))
    assert list(kept) == ["attention", "encoder"]
    assert stored.read_text(encoding="utf-8").count(table.markdown(ROWS)) == 2


def test_part_for_some_lessons_is_not_stored(stored):
    run.main(["verdicts", "--lesson", "02"])
    assert not stored.exists()


def test_unknown_part_is_refused_by_name(stored, capsys):
    with pytest.raises(SystemExit):
        run.main(["speed"])
    assert "no such part: speed" in capsys.readouterr().err


def test_kind_of_machine_names_neither_host_nor_folder():
    described = run.machine()
    assert "cores" in described and "NumPy" in described
    assert (platform.node() or "no name") not in described
    assert str(Path.home()) not in described and str(run.ROOT) not in described


# Learning rates ------------------------------------------------------------------------------------------------------


def test_each_set_of_learning_rates_has_a_table_of_its_own():
    measured = [
        (what, column, rate, 1200, f"{rate:.2f}")
        for what, rates in {"first": (0.1, 0.3), "second": (0.1, 0.3), "third": (0.2, 0.6)}.items()
        for column, rate in zip(("÷ 3", "× 1"), rates, strict=True)
    ]
    assert learning_rates.markdown(measured).split("\n\n")[0].splitlines() == [
        "",
        "| What | ÷ 3: 0.1, 1,200 steps | × 1: 0.3, 1,200 steps |",
        "| --- | --- | --- |",
        "| first | 0.10 | 0.30 |",
        "| second | 0.10 | 0.30 |",
    ]
    assert "| What | ÷ 3: 0.2, 1,200 steps | × 1: 0.6, 1,200 steps |" in learning_rates.markdown(measured)


def test_verdicts_on_learning_rates_name_cells_of_the_lesson_and_every_lesson_has_figures():
    written = (run.ROOT / "benchmarks" / "LEARNING_RATES.md").read_text(encoding="utf-8")
    verdicts = re.findall(r"^\| (\d\d) \| (.*?) \| (.*) \|$", written, re.MULTILINE)
    assert {number for number, *_ in verdicts} == {name[:2] for name in learning_rates.LESSONS}
    for number, claim, _ in verdicts:
        (path,) = (run.ROOT / "solutions").glob(f"{number}_*.ipynb")
        ids = {cell["id"] for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]}
        named = re.findall(r"`(.+?)`", claim)
        assert named and set(named) <= ids
    for name in learning_rates.LESSONS:
        assert f"## Lesson {name}\n" in written
