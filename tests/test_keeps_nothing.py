"""A module that keeps something from one call to the next is sent back, and what it keeps is named."""

import inspect

import pytest

from helpers import check
from helpers.feedback.registry import get
from helpers.feedback.twins import build

IDS = ("4.3", "5.7", "9.2", "9.3")
FORWARD = {
    "4.3": "def forward(self, x, mask=None):",
    "5.7": "def forward(self, x, memory, memory_mask=None):",
    "9.2": "def forward(self, x, mask=None):",
    "9.3": "def forward(self, tokens):",
}
MASK = {"4.3": "mask", "5.7": "memory_mask", "9.2": "mask"}


def _edited(id, *edits):
    """The reference with edits, and without the comments and docstrings that could stand between."""
    source = inspect.getsource(get(id).reference)
    for old, new in edits:
        assert source.count(old) >= 1, f"{id}: {old!r} is not there"
        source = source.replace(old, new, 1)
    return build(get(id), source)


def _at_the_start(id, *lines):
    """The reference with lines of code at the start of its forward."""
    return (FORWARD[id], "\n        ".join((FORWARD[id], *lines)))


def _in_init(line):
    return ("super().__init__()", f"super().__init__()\n        {line}")


def _said(id, candidate):
    report = check(id, candidate)
    assert [found.id for found in report.mistakes] == ["keeps-something"], str(report)
    return str(report)


@pytest.mark.parametrize("id", MASK)
def test_mask_of_an_earlier_call_that_is_used_without_one_is_named(id):
    lines = (f"if {MASK[id]} is not None:", f"    self.kept = {MASK[id]}", f"{MASK[id]} = self.kept")
    said = _said(id, _edited(id, _in_init("self.kept = None"), _at_the_start(id, *lines)))
    assert "after a call with a mask, a call without a mask gives other numbers" in said and "self.kept" in said


@pytest.mark.parametrize("id", MASK)
def test_first_mask_that_is_kept_for_ever_is_named(id):
    lines = ("if self.kept is None:", f"    self.kept = {MASK[id]}", f"{MASK[id]} = self.kept")
    assert "self.kept" in _said(id, _edited(id, _in_init("self.kept = None"), _at_the_start(id, *lines)))


@pytest.mark.parametrize("id", IDS)
def test_counter_that_changes_what_comes_out_is_named(id):
    change = "tokens = tokens.flip(1) if self.calls > 2 else tokens" if id == "9.3" else "x = x / self.calls"
    candidate = _edited(id, _in_init("self.calls = 0"), _at_the_start(id, "self.calls += 1", change))
    said = _said(id, candidate)
    assert "self.calls" in said


@pytest.mark.parametrize("id", MASK)
def test_mask_that_is_kept_outside_the_module_is_noticed(id):
    header = FORWARD[id].replace("):", ", store={}):")
    lines = (f"if {MASK[id]} is not None:", f"    store['mask'] = {MASK[id]}", f"{MASK[id]} = store.get('mask')")
    assert not check(id, _edited(id, (FORWARD[id], "\n        ".join((header, *lines))))).passed


def test_keys_of_earlier_calls_are_noticed():
    lines = ("x = x if self.past is None or len(self.past) != len(x) else torch.cat([self.past, x], dim=1)", "self.past = x")
    said = _said("4.3", _edited("4.3", _in_init("self.past = None"), _at_the_start("4.3", *lines)))
    assert "self.past" in said


def test_mask_made_once_for_the_first_length_is_named():
    old = "causal_mask(tokens.shape[1])"
    lines = ("if self.mask is None:", f"    self.mask = {old}")
    candidate = _edited("9.3", _in_init("self.mask = None"), (old, "self.mask"), _at_the_start("9.3", *lines))
    said = _said("9.3", candidate)
    assert "after a call with seven other tokens, a call with four tokens stops with RuntimeError" in said


@pytest.mark.parametrize("id", IDS)
def test_what_is_kept_and_never_read_is_no_mistake(id):
    given = "tokens" if id == "9.3" else "x"
    assert check(id, _edited(id, _in_init("self.seen = None"), _at_the_start(id, f"self.seen = {given}"))).passed


def test_mask_that_is_made_anew_for_another_length_is_no_mistake():
    old = "causal_mask(tokens.shape[1])"
    lines = ("if self.mask is None or len(self.mask) != tokens.shape[1]:", f"    self.mask = {old}")
    assert check("9.3", _edited("9.3", _in_init("self.mask = None"), (old, "self.mask"), _at_the_start("9.3", *lines))).passed


def test_mask_that_is_made_once_and_cut_is_no_mistake():
    old = "causal_mask(tokens.shape[1])"
    keep = _in_init('self.register_buffer("mask", causal_mask(max_len), persistent=False)')
    assert check("9.3", _edited("9.3", keep, (old, "self.mask[: tokens.shape[1], : tokens.shape[1]]"))).passed
