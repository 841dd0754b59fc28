"""A learner's own definition as a syntax tree: parsed, changed and compiled again.

Variants of an answer may loop for ever: every loop of a variant counts what it does and is stopped in time, by a bound
that does not depend on the machine. All other harm (exits, prints, changed inputs) is the caller's to guard.
"""

import ast
import contextlib
import itertools
import os
import sys
import warnings
from dataclasses import dataclass

import numpy as np

from . import guards
from .values import dtype_name, is_array, is_layer

LARGEST = 4000  # nodes of a tree that is looked at
# What variants do is counted in function calls: each costs what the answer itself took on one case, compiling included,
# and what its loops do beyond that is counted round by round.
CALLS = 1_200_000  # what the loops of one call of a variant may do
CALLS_IN_ALL = 400_000  # and all variants that are built for one purpose
AT_LEAST, TIMES = 64_000, 12  # a call of a variant may do so much in its loops, and so often what the answer does
DEEPEST = 150  # calls within calls, where a variant calls itself
CALLS_PER_NODE = 2  # to compile one node of a tree
TENSOR_CALL = 10  # one of PyTorch's functions
OPERATION = 2  # an operation in a loop, at least
FILE = "<variant of an answer>"
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
    """What variants of an answer count, in function calls, and may do, as measured on the answer itself.

    for_a_call: of a variant, what its loops usually do included. in_loops: that part of it. for_each: operation in a
    loop. allowed: in the loops of one call.
    """

    for_a_call: int = 1
    in_loops: int = 0
    for_each: int = OPERATION
    allowed: int = CALLS

    @classmethod
    def of(cls, tree, seen, in_loops):
        """tree: the answer. seen: a Watch of it on one case. in_loops: operations there, case by case, that one first.

        No more of them are asked for than it takes to know what is allowed.
        """
        compiling = CALLS_PER_NODE * sum(1 for _ in ast.walk(tree))
        for_each = max(OPERATION, seen.calls // seen.in_loops) if seen.in_loops else OPERATION
        usual, allowed = seen.in_loops * for_each, 0
        for operations in in_loops:
            allowed = min(CALLS, max(allowed, AT_LEAST + TIMES * operations * for_each))
            if allowed == CALLS:
                break
        entries = max(seen.entries, 1)
        return cls((compiling + max(seen.calls, usual)) // entries, usual // entries, for_each, allowed)


class Builder:
    """Turns a tree (ast.Module with one definition) into the function or class that it defines, again and again.

    space: names that the definition may use; it is copied, and stays as it is. Calling raises what compiling raises.
    A call of a variant may do what `costs` allow, all that are built here together `in_all`.
    """

    def __init__(self, space, costs=None, in_all=CALLS_IN_ALL):
        self.space, self.left, self.costs = dict(space), in_all, costs or Costs()
        self.entries, self.looped, self.operations = 0, 0, _Operations()  # calls, and operations in loops, so far

    @property
    def exhausted(self):
        """Whether the variants so far have used up all operations; loops of further ones stop at once."""
        return self.left <= 0

    def __call__(self, tree, note=None):
        return self.defined(self.compiled(tree), note)

    def compiled(self, tree):
        """What a tree is compiled to, for `defined`: (name, code)."""
        with _counted(tree, self.operations), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of "is not" with a literal, and the like
            return tree.body[0].name, compile(tree, FILE, "exec", dont_inherit=True)

    def defined(self, compiled, note=None):
        """The function or class, made anew from what `compiled` gave. note: what watched values are handed to."""
        (name, code), costs = compiled, self.costs
        own, included = costs.allowed, costs.in_loops
        deepest = DEEPEST + _depth()

        def count(operations):
            nonlocal own, included
            if operations:
                self.looped += operations
                cost = operations * costs.for_each
                own -= cost
                self.left -= max(cost - included, 0)
                included = max(included - cost, 0)
            else:
                own, included = costs.allowed, costs.in_loops
                self.entries += 1
                self.left -= costs.for_a_call
            if own < 0 or self.left < 0 or not operations and _is_deeper_than(deepest):
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


def _depth():
    """How many calls are under way."""
    frame, depth = sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


def _is_deeper_than(depth):
    try:
        sys._getframe(depth)
    except ValueError:
        return False
    return True


@contextlib.contextmanager
def _counted(tree, operations):
    """The tree with a counting call at the start of functions and of loops' bodies, for the time of a compilation.

    operations: a function that gives those of a loop's or a comprehension's parts, and remembers them.
    """
    undo = []
    for function in functions_of(tree):
        function.body.insert(0, _statement(_count(0), function.body[0]))
        undo.append(function.body)
    for loop in _loops(tree.body):
        loop.body.insert(0, _statement(_count(1 + operations(loop, loop.body)), loop.body[0]))
        undo.append(loop.body)
    for loop in operations.comprehensions(tree):
        parts = [value for name in ("elt", "key", "value") if (value := getattr(loop, name, None))]
        called = ast.UnaryOp(ast.Not(), _count(1 + operations(loop, [*parts, *loop.generators])))
        loop.generators[-1].ifs.insert(0, ast.fix_missing_locations(ast.copy_location(called, loop)))
        undo.append(loop.generators[-1].ifs)
    try:
        yield
    finally:
        for parts in undo:
            parts.pop(0)


def _count(operations):
    """The call that counts: operations in a loop, or 0 at the start of a function."""
    return ast.Call(ast.Name(_COUNT, ast.Load()), [ast.Constant(operations)], [])


def _statement(call, before):
    return ast.fix_missing_locations(ast.copy_location(ast.Expr(call), before))


class _Operations:
    """How many calls and operations stand in a loop, counted once for each."""

    def __init__(self):
        self.known, self.found = {}, {}

    def __call__(self, loop, parts):
        if loop not in self.known:
            self.known[loop] = sum(isinstance(node, (ast.Call, ast.BinOp)) for part in parts for node in ast.walk(part))
        return self.known[loop]

    def comprehensions(self, tree):
        """Those of a tree as it was when it was given first."""
        if tree not in self.found:
            self.found[tree] = [node for node in ast.walk(tree) if hasattr(node, "generators")]
        return self.found[tree]


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


@dataclass(frozen=True)
class Watch:
    """What was seen of a variant while it ran.

    calls: how many functions were called, PyTorch's counted TENSOR_CALL times: a measure of its cost that no machine's
    speed changes. entries: of its own among them. in_loops: operations there. kinds: what its functions' names held
    when they ended, as {(function, name): kind} (see `kind_of`).
    """

    calls: int
    entries: int
    in_loops: int
    kinds: dict


def watch(action, build):
    """(value, Watch) of an action that runs a variant. build: the Builder that made it, and nothing else."""
    calls, before, held = 0, sys.getprofile(), {}

    def note(frame, event, argument):
        nonlocal calls
        if event == "c_call":
            calls += TENSOR_CALL if _of_torch(argument) else 1
        elif event == "call":
            calls += 1
        elif event == "return" and frame.f_code.co_filename == FILE:
            for name, value in _held(frame):
                held.setdefault((frame.f_code.co_name, name), set()).add(kind_of(value))

    sys.setprofile(note)
    try:
        value = action()
    finally:
        sys.setprofile(before)
    kinds = {where: kinds.pop() for where, kinds in held.items() if len(kinds) == 1}
    return value, Watch(calls, build.entries, build.looped, kinds)


def _held(frame):
    """(name, value) for the names of a function that runs, those of `self` such as "self.W_q" among them."""
    yield from frame.f_locals.items()
    own = frame.f_locals.get("self")
    if is_layer(own):
        for name, value in itertools.chain(vars(own).items(), vars(own).get("_modules", {}).items()):
            yield f"self.{name}", value


def kind_of(value):
    """ "array" for one with axes, "mask", "number", "mapping" or "layer": values that never stand for each other.

    A mask is an array of True and False, a layer a module of PyTorch's. Else "".
    """
    if is_array(value):
        return ("mask" if dtype_name(value) == "bool" else "array") if value.ndim else "number"
    if isinstance(value, (int, float, np.generic)):
        return "number"
    return "mapping" if isinstance(value, dict) else "layer" if is_layer(value) else ""


def _of_torch(function):
    """Whether a built-in function is one of PyTorch's: of a module of it, or a tensor's own."""
    owner = getattr(function, "__module__", None) or type(getattr(function, "__self__", None)).__module__
    return owner.partition(".")[0] == "torch"
