"""Changes that only take away the effect of another line: they say little of where the mistake is.

`np.where(lengths == 0, 1, lengths)` with its last two arguments exchanged is right where nothing should have been
divided by the lengths, and says nothing of the order of arguments.
"""

import ast
import contextlib

import numpy as np

from .edits import made
from .outcomes import same_outcome
from .values import is_array, is_tensor
from .variants import functions_of

NOISE = "__noise__"  # a name that variants have besides those of the answer
LINES = 16  # statements that are asked
LEAVING_OUT = ("part", "line", "if", "call", "sign", "indentation")  # kinds that take an effect away openly
OF_NAMES = ("name", "names", "order of lines")  # and kinds that do so where a name was the mistake


def silences(tree, edit, run):
    """Whether an edit takes away the effect of another line of a tree.

    tree: with the edit undone. run: Outcome on one case of the tree as it then is, or None if it cannot be run.
    """
    if edit.kind in LEAVING_OUT or edit.kind in OF_NAMES:
        return False
    touched = {id(node) for place in edit.places for node in _inside(place)}
    before, after = run(tree), _with(edit, tree, run)
    if before is None or after is None or after.error is not None:
        return False
    for owner, field, index, statement in _statements(tree)[:LINES]:
        if any(id(node) in touched for node in ast.walk(statement)):
            continue
        with _altered(owner, field, index, statement):
            ours, theirs = run(tree), _with(edit, tree, run)
        if ours is None or theirs is None or ours.error is not None or theirs.error is not None:
            continue
        if not same_outcome(before, ours, 1e-9) and same_outcome(after, theirs, 1e-9):
            return True
    return False


def noise(value):
    """A value with every fraction in it changed, each in its own way; True and False in NumPy's arrays as well."""
    if isinstance(value, (tuple, list)):
        return type(value)(noise(part) for part in value) if type(value) in (tuple, list) else value
    if is_tensor(value):
        factors = value.new_tensor(_factors(tuple(value.shape)))
        return value * factors if value.is_floating_point() else value
    if is_array(value):
        if value.dtype.kind == "f":
            return value * _factors(value.shape).astype(value.dtype)
        return value ^ (_factors(value.shape) > 1) if value.dtype.kind == "b" else value
    return value * 1.37 if type(value) is float else value


def _factors(shape):
    return np.random.default_rng(len(shape)).uniform(0.5, 1.5, shape)


def _with(edit, tree, run):
    with made(edit):
        return run(tree)


def _inside(place):
    node, field, index, _ = place
    held = getattr(node, field)
    held = held if index is None else held[index]
    for part in held if isinstance(held, list) else [held]:
        if isinstance(part, ast.AST):
            yield from (node for node in ast.walk(part) if hasattr(node, "lineno"))  # others stand in many places


def _statements(tree):
    """(owner, field, index, statement) of all that give a value to one name, or fill or change something."""
    found = []
    for function in functions_of(tree):
        for owner in ast.walk(function):
            for field in ("body", "orelse"):
                lines = getattr(owner, field, None)
                for index, line in enumerate(lines if isinstance(lines, list) else ()):
                    if _name_in(line) or isinstance(line, ast.AugAssign) or _fills(line):
                        found.append((owner, field, index, line))
    return sorted(found, key=lambda place: place[3].lineno)


def _name_in(statement):
    single = isinstance(statement, ast.Assign) and len(statement.targets) == 1
    return statement.targets[0].id if single and isinstance(statement.targets[0], ast.Name) else ""


def _fills(statement):
    return isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript)


@contextlib.contextmanager
def _altered(owner, field, index, statement):
    """What a statement computes changed by noise, or the statement left out where it fills something."""
    if _name_in(statement):
        called = ast.Call(ast.Name(NOISE, ast.Load()), [statement.value], [])
        new = ast.copy_location(ast.Assign(statement.targets, called), statement)
    else:
        new = ast.copy_location(ast.Pass(), statement)
    lines = getattr(owner, field)
    lines[index] = ast.fix_missing_locations(new)
    try:
        yield
    finally:
        lines[index] = statement
