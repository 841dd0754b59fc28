"""Kernels of untouched lessons compute less, those of solutions all of it, and neither leaves a name behind."""

import importlib
import runpy
from pathlib import Path

import pytest

STARTUP = Path(__file__).parent / "brief_kernel.py"
SHORTER = {
    "06": ["position_tasks.train"],
    "07": ["measure.median_seconds", "measure.sweep"],
    "08": ["measure.median_seconds", "measure.sweep", "beyond_tasks.train_window", "beyond_tasks.train_recall"],
    "09": ["language_training.train", "depth.bits_after_training", "induction.train"],
}


def shortened(number, folder, monkeypatch):
    """Names of SHORTER[number] that are limited after the start of a kernel for a notebook in a folder."""
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    monkeypatch.setenv("ATTENTION_COURSE_NOTEBOOK", f"{folder}/{number}_a_lesson.ipynb")
    functions = {}
    for place in SHORTER[number]:
        module, name = place.split(".")
        module = importlib.import_module(f"helpers.{module}")
        functions[place] = (module, name, getattr(module, name))
        monkeypatch.setattr(module, name, getattr(module, name))  # brought back after the test
    left = runpy.run_path(str(STARTUP))
    assert not [name for name in left if not name.startswith("__")]
    return [place for place, (module, name, before) in functions.items() if getattr(module, name) is not before]


@pytest.mark.parametrize("number", SHORTER)
def test_untouched_lesson_computes_all_of_it_or_its_solution_does_not(number, monkeypatch):
    assert shortened(number, "solutions", monkeypatch) == []
    assert shortened(number, "notebooks", monkeypatch) == SHORTER[number]


def test_limit_is_not_kept_or_lengthens_what_is_shorter_already(monkeypatch):
    from helpers import measure

    shortened("07", "notebooks", monkeypatch)
    calls = []
    measure.median_seconds(lambda: calls.append(1))
    assert len(calls) == 1
    assert measure.sweep(lambda f: 1, {"f": None}, lambda n: (), [1, 2], rounds=3)["f"].shape == (1, 2)
