"""Where a name can be read: edits put it nowhere else, as the function would only stop there."""

import ast

import numpy as np
import pytest
import shared_attempts

from helpers.feedback import variants
from helpers.feedback.edits import made
from helpers.feedback.edits_of_functions import edits_of
from helpers.feedback.edits_of_names import Names
from helpers.feedback.registry import get
from tools.attempts_report import Trial, defined


def function_of(code):
    return variants.parse(code.strip("\n") + "\n").body[0]


def readable(code, line):
    """The names that can be read in the statement on a line of the code."""
    function = function_of(code)
    names = Names(function, [a.arg for a in function.args.args])
    (statement,) = (s for s in ast.walk(function) if isinstance(s, ast.stmt) and s.lineno == line and s is not function)
    return names.readable_in(statement)


STRAIGHT = """
def f(x, n):
    a = x + 1
    b = a * n
    return b
"""

LOOP = """
def f(x, n):
    total = 0
    for i in range(n):
        row = x[i]
        if i > 0:
            total = total + last
        last = row
    return total
"""


@pytest.mark.parametrize("line, names", [(2, "x n"), (3, "x n a"), (4, "x n a b")])
def test_a_name_is_readable_after_it_got_its_value(line, names):
    assert readable(STRAIGHT, line) == names.split()


def test_the_first_round_of_a_loop_has_only_what_came_before():
    assert readable(LOOP, 3) == ["x", "n", "total"]  # the target has no value while its range is made
    assert readable(LOOP, 4) == ["x", "n", "total", "i"]


def test_a_branch_that_the_first_round_leaves_out_reads_what_a_round_leaves_behind():
    assert readable(LOOP, 6) == ["x", "n", "total", "i", "row", "last"]


def test_names_of_a_comprehension_stay_in_its_statement():
    code = """
def f(x):
    rows = [row * 2 for row in x]
    return rows
"""
    assert readable(code, 2) == ["x", "row"]
    assert readable(code, 3) == ["x", "rows"]


def test_what_is_called_later_reads_all_names():
    code = """
def f(x):
    def inner():
        part = x + later
        return part
    later = 3
    return inner()
"""
    assert readable(code, 3) == ["x", "later", "part"]
    assert readable(code, 6) == ["x", "later"]
    assert readable("def f(x):\n    g = lambda: x + later\n    later = 3\n    return g()\n", 2) == ["x", "g", "later"]


def looks(code, kind, **options):
    tree = ast.Module([function_of(code)], [])
    return [edit.look for edit in edits_of(tree, {"np": np}, **options) if edit.kind == kind]


def test_lines_that_others_need_stay_and_stay_before_them():
    code = """
def f(x):
    a = x + 1
    a = a * 2
    b = a - x
    c = np.exp(x)
    return b / c
"""
    tree = ast.Module([function_of(code)], [])
    edits = edits_of(tree, {"np": np})
    left_out = {edit.lines for edit in edits if edit.kind == "line"}
    assert left_out == {(2,), (3,)}, "without either of both, `a` still has a value"
    exchanged = {edit.look for edit in edits if edit.kind == "order of lines" and "first?" not in edit.look}
    assert exchanged == {"the order of lines 3 and 4", "the order of lines 4 and 5"}


def test_names_are_exchanged_only_where_both_can_be_read():
    code = """
def f(x, n):
    a = x + n
    b = a * n
    return a - b
"""
    assert looks(code, "names") == ["`x` and `n`: have they changed places?"]


def test_values_that_never_stand_for_each_other_are_not_exchanged():
    code = """
def f(x, y, n):
    return x[n] + y
"""
    kinds = {("f", "x"): "array", ("f", "y"): "array", ("f", "n"): "number"}
    assert len(looks(code, "names")) == 3
    assert looks(code, "names", kinds=kinds) == ["`x` and `y`: have they changed places?"]
    assert len(looks(code, "name")) == 6 and len(looks(code, "name", kinds=kinds)) == 2
    unknown = kinds | {("f", "y"): ""}
    assert len(looks(code, "name", kinds=unknown)) == 4, "what may be anything may stand anywhere"


def test_no_function_is_made_to_call_itself():
    code = """
def softmax(x):
    e = np.exp(x)
    return e / e.sum()
"""
    tree = ast.Module([function_of(code)], [])
    for edit in edits_of(tree, {"np": np, "softmax": None}):
        with made(edit):
            called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        assert "softmax" not in called, edit.look


@pytest.mark.parametrize("attempt", shared_attempts.ATTEMPTS[::16], ids=lambda attempt: attempt["id"])
def test_edits_that_are_not_listed_would_not_have_made_an_answer_right(attempt, monkeypatch):
    trial = Trial(get(attempt["exercise"]), defined(attempt))
    answer = trial.answer
    if answer.tree is None or not answer.wrong:
        return
    listed = {(edit.kind, edit.key, edit.lines) for edit in answer.edits}
    monkeypatch.setattr(Names, "readable_in", lambda names, statement: names.all)
    monkeypatch.setattr(Names, "needed", lambda names, statement: False)
    monkeypatch.setattr(Names, "may_change_places", lambda names, statement, following: True)
    others = [e for e in edits_of(answer.tree, answer.space) if (e.kind, e.key, e.lines) not in listed]
    others = [e for e in others if e.kind in ("name", "names", "line", "order of lines", "number")]
    build = answer.builder(10**7)
    right = []
    for edit in others[:150]:
        with made(edit):
            variant = build.attempt(answer.tree)
        if variant is not None and answer.fits(variant):
            right.append((edit.lines, edit.look))
    assert not right
