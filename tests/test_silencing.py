"""Changes that only take away what another line does: they work, and say little of where the mistake is."""

import ast

import numpy as np
import pytest
import torch

from helpers.feedback import silencing, variants
from helpers.feedback.edits_of_functions import edits_of
from helpers.feedback.judging import judge
from helpers.feedback.outcomes import Outcome
from helpers.feedback.registry import get
from tools.attempts_report import defined

COLUMNS = """
def f(W):
    lengths = np.sqrt((W**2).sum(axis=0))
    lengths = np.where(lengths == 0, 1.0, lengths)
    return W / lengths
"""
SPACE = {"np": np, silencing.NOISE: silencing.noise}


def outcome_of(tree):
    try:
        return Outcome(variants.Builder(SPACE)(tree)(np.arange(1.0, 13.0).reshape(3, 4)))
    except Exception as error:
        return Outcome(error=error)


def silenced_by(code, look):
    """Whether the first edit with this to look at takes away what another line does."""
    tree = variants.parse(code.strip() + "\n")
    edit = next(edit for edit in edits_of(tree, SPACE) if edit.look.startswith(look))
    before = ast.unparse(tree)
    found = silencing.silences(tree, edit, outcome_of)
    assert ast.unparse(tree) == before
    return found


def test_arguments_exchanged_so_that_a_value_goes_nowhere_silence_its_line():
    assert silenced_by(COLUMNS, "the order of the arguments of `where`")


def test_what_is_left_out_openly_silences_nothing():
    assert not silenced_by(COLUMNS, "whether `/ lengths` belongs there")


def test_an_edit_with_which_every_line_still_counts_silences_nothing():
    assert not silenced_by(COLUMNS, "the axis of `sum`")


def test_a_change_that_leaves_the_idea_alone_is_told_before_one_that_silences_it():
    code = (
        "def project(X, W_q, W_k, W_v):\n    def onto(W):\n        size = np.abs(W).sum(axis=0)\n"
        "        size = np.where(size == 0, 1, size)\n        return np.dot(X, W / size)\n"
        "    return onto(W_q), onto(W_k), onto(W_v)"
    )
    text = str(judge(get("1.3"), defined(dict(id="silenced", exercise="1.3", code=code))))
    assert "in line 5" in text and "whether / size belongs there" in text and "order of the arguments" not in text


@pytest.mark.parametrize("value", [np.ones((2, 3)), torch.ones(2, 3), 1.0, (np.ones(3), 2.0)])
def test_noise_changes_every_number_in_its_own_way(value):
    changed = silencing.noise(value)
    parts = zip(changed, value, strict=True) if isinstance(value, tuple) else [(changed, value)]
    for ours, theirs in parts:
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        assert (ours != theirs).all() and len(np.unique(ours)) == ours.size


@pytest.mark.parametrize("value", [3, "text", None, np.array([1, 2]), torch.tensor([1, 2])])
def test_noise_leaves_sizes_and_words_alone(value):
    assert np.array_equal(silencing.noise(value), value)
