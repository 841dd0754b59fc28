"""A learner's own definition as a syntax tree: parsed, changed and compiled again.

Variants of an answer may loop for ever: every loop of a variant counts what it does and is stopped in time, by a bound
that does not depend on the machine. All other harm (exits, prints, changed inputs) is the caller's to guard.
"""

import ast
import contextlib
import os
import sys
import warnings
from dataclasses import dataclass

from . import guards

LARGEST = 4000  # nodes of a tree that is looked at
# Calls and operations, counted by the round in loops, and estimated for each call of a variant.
OPERATIONS = 150_000  # what one call of a variant may do
OPERATIONS_IN_ALL = 240_000  # and all variants of one answer together
AT_LEAST, TIMES = 8_000, 12  # a call of a variant may do so much in its loops, and so often what the answer does
CALLS_PER_OPERATION = 8  # function calls, those of the guards included, that cost as much as one operation of NumPy
_COUNT, NOTE = "__count__", "__note_a_value__"  # names that variants have besides those of the answer


class TooManyOperations(BaseException):
    """Raised inside a variant whose loops go on too long; not an Exception, so that `except Exception` lets it pass."""


def parse(source, first_line=1):
    """The syntax tree (ast.Module) of one definition, or None where the source cannot be read as one.

    source: text that begins with the definition or its decorators; the course's own decorator is left out.
    first_line: the line of the cell on which the text begins; the tree's lines are lines of the cell.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None
    found = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    if not found:
        return None
    definition = found[-1]
    if not _can_be_handled(definition):
        return None
    definition.decorator_list = [d for d in definition.decorator_list if _called(d) != "exercise"]
    ast.increment_lineno(tree, first_line - 1)
    return ast.Module([definition], [])


def _can_be_handled(definition):
    """Whether a definition is small and shallow enough for what is done with its tree."""
    if sum(1 for _ in ast.walk(definition)) > LARGEST:
        return False
    try:
        return bool(ast.unparse(definition))
    except RecursionError:
        return False


def _called(node):
    node = node.func if isinstance(node, ast.Call) else node
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def functions_of(tree):
    """The functions of a definition that hold its work: itself, or a class's methods. Nested ones belong to theirs."""
    definition = tree.body[0]
    if isinstance(definition, ast.FunctionDef):
        return [definition]
    return [node for node in definition.body if isinstance(node, ast.FunctionDef)]


def body_of(function):
    """A function's statements without its docstring."""
    return function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body


def defaults_of(tree):
    """The texts of default values: {(function's name, parameter): text}."""
    found = {}
    for function in functions_of(tree):
        arguments, defaults = function.args.args, function.args.defaults
        for argument, default in zip(arguments[len(arguments) - len(defaults) :], defaults, strict=True):
            found[function.name, argument.arg] = ast.unparse(default)
    return found


def globals_of(candidate):
    """The names that an answer's code sees, as a dict: its own module's, or a cell's; empty if there are none."""
    return guards.globals_of(candidate) or {}


@dataclass(frozen=True)
class Costs:
    """What variants of an answer count, in operations, and may do, as measured on the answer itself.

    for_a_call: of a variant. for_each: operation in a loop. allowed: in one call.
    """

    for_a_call: int = 0
    for_each: int = 1
    allowed: int = OPERATIONS

    @classmethod
    def of(cls, calls, in_loops, most_in_loops):
        """calls: of functions, when the answer ran on one case. in_loops: operations there; the most on any case."""
        calls //= CALLS_PER_OPERATION
        for_each = max(1, calls // in_loops) if in_loops else 1
        return cls(1 + calls, for_each, min(OPERATIONS, AT_LEAST + TIMES * most_in_loops * for_each))


class Builder:
    """Turns a tree (ast.Module with one definition) into the function or class that it defines, again and again.

    space: names that the definition may use; it is copied, and stays as it is. Calling raises what compiling raises.
    A call of a variant may do what `costs` allow, all that are built here together OPERATIONS_IN_ALL.
    """

    def __init__(self, space, costs=None):
        self.space, self.left, self.costs = dict(space), OPERATIONS_IN_ALL, costs or Costs()

    @property
    def exhausted(self):
        """Whether the variants so far have used up all operations; loops of further ones stop at once."""
        return self.left <= 0

    def __call__(self, tree, note=None):
        return self.defined(self.compiled(tree), note)

    def compiled(self, tree):
        """What a tree is compiled to, for `defined`: (name, code)."""
        with _counted(tree, self.costs.for_a_call), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of "is not" with a literal, and the like
            return tree.body[0].name, compile(tree, "<variant of an answer>", "exec", dont_inherit=True)

    def defined(self, compiled, note=None):
        """The function or class, made anew from what `compiled` gave. note: what watched values are handed to."""
        (name, code), own, costs = compiled, self.costs.allowed, self.costs

        def count(operations, begins=False):
            nonlocal own
            cost = operations if begins else operations * costs.for_each
            own = costs.allowed if begins else own - cost
            self.left -= cost
            if own < 0 or self.left < 0:
                raise TooManyOperations

        space = {**self.space, _COUNT: count, NOTE: note}
        exec(code, space)
        return space[name]

    def attempt(self, tree):
        """The same, or None where an edit left something that cannot be compiled or defined."""
        try:
            return self(tree)
        except Exception:
            return None


@contextlib.contextmanager
def _counted(tree, for_a_call):
    """The tree with a counting call at the start of functions and of loops' bodies, for the time of a compilation."""
    bodies = [(function.body, (for_a_call, True)) for function in functions_of(tree) if for_a_call]
    for loop in _loops(tree.body):
        operations = sum(isinstance(node, (ast.Call, ast.BinOp)) for line in loop.body for node in ast.walk(line))
        bodies.append((loop.body, (1 + operations,)))
    for body, arguments in bodies:
        call = ast.Expr(ast.Call(ast.Name(_COUNT, ast.Load()), list(map(ast.Constant, arguments)), []))
        body.insert(0, ast.fix_missing_locations(ast.copy_location(call, body[0])))
    try:
        yield
    finally:
        for body, _ in bodies:
            body.pop(0)


def _loops(statements):
    for statement in statements:
        if isinstance(statement, (ast.For, ast.While)):
            yield statement
        for field in ("body", "orelse", "finalbody", "handlers"):
            inner = getattr(statement, field, None)
            if isinstance(inner, list):
                yield from _loops(inner)


@contextlib.contextmanager
def quiet_libraries():
    """Keep what compiled libraries write to the terminal by themselves ("illegal value") out of the learner's cell."""
    sys.stdout.flush()
    sys.stderr.flush()
    with contextlib.ExitStack() as undo:
        nowhere = undo.enter_context(open(os.devnull, "wb"))
        for number in (1, 2):
            with contextlib.suppress(OSError):  # no such terminal
                saved = os.dup(number)
                undo.callback(os.close, saved)
                undo.callback(os.dup2, saved, number)
                os.dup2(nowhere.fileno(), number)
        yield


def calls_made(action):
    """How many functions are called while action() runs: a measure of its cost that no machine's speed changes."""
    count, before = 0, sys.getprofile()

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count
