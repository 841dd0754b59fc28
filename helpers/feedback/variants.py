"""A learner's own definition as a syntax tree: parsed, changed, compiled again, and watched while it runs.

Variants of an answer may loop for ever: every loop of a variant counts what it does and is stopped in time, by a bound
that does not depend on the machine. All other harm (exits, prints, changed inputs) is the caller's to guard.
"""

import ast
import contextlib
import copy
import inspect
import os
import sys
import warnings

# Calls and operations in loops, counted by the round.
OPERATIONS = 150_000  # what one variant may do
OPERATIONS_IN_ALL = 300_000  # and all variants of one answer together
_TICK, _NOTE = "__count_a_round__", "__note_a_value__"


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
    definition.decorator_list = [d for d in definition.decorator_list if _called(d) != "exercise"]
    ast.increment_lineno(tree, first_line - 1)
    return ast.Module([definition], [])


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


def globals_of(candidate):
    """The names that an answer's code sees, as a dict: its own module's, or a cell's; empty if there are none."""
    if inspect.isclass(candidate):
        candidate = next((value for value in vars(candidate).values() if hasattr(value, "__globals__")), None)
    return getattr(inspect.unwrap(candidate), "__globals__", {}) if candidate is not None else {}


class Builder:
    """Turns a tree (ast.Module with one definition) into the function or class that it defines, again and again.

    space: names that the definition may use; it is copied, and stays as it is. Calling raises what compiling raises.
    Loops of a variant may do OPERATIONS, those of all variants built here together OPERATIONS_IN_ALL.
    """

    def __init__(self, space):
        self.space, self.left = dict(space), OPERATIONS_IN_ALL

    @property
    def exhausted(self):
        """Whether the variants so far have used up all operations; loops of further ones stop at once."""
        return self.left <= 0

    def __call__(self, tree, note=None):
        own = OPERATIONS

        def count(operations):
            nonlocal own
            own -= operations
            self.left -= operations
            if own < 0 or self.left < 0:
                raise TooManyOperations

        space = {**self.space, _TICK: count, _NOTE: note}
        with _counted(tree), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of "is not" with a literal, and the like
            code = compile(tree, "<variant of an answer>", "exec", dont_inherit=True)
        exec(code, space)
        return space[tree.body[0].name]


@contextlib.contextmanager
def _counted(tree):
    """The tree with a counting call at the start of every loop's body, for the time of a compilation."""
    bodies = [loop.body for loop in _loops(tree.body)]
    for body in bodies:
        operations = sum(isinstance(node, (ast.Call, ast.BinOp)) for line in body for node in ast.walk(line))
        call = ast.Expr(ast.Call(ast.Name(_TICK, ast.Load()), [ast.Constant(1 + operations)], []))
        body.insert(0, ast.fix_missing_locations(ast.copy_location(call, body[0])))
    try:
        yield
    finally:
        for body in bodies:
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
    sys.stderr.flush()
    with open(os.devnull, "wb") as nowhere:
        try:
            saved = os.dup(2)
            os.dup2(nowhere.fileno(), 2)
        except OSError:  # no such terminal
            yield
            return
        try:
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)


# Watching values ------------------------------------------------------------------------------------------------------


def watched(tree):
    """A copy of the tree that hands every value it computes to `note`, and the list of what is handed over.

    Returns (tree, steps): steps[i] is the Step whose value comes as note(i, value); what note returns is used instead.
    """
    tree = copy.deepcopy(tree)
    watcher = _Watcher()
    for function in functions_of(tree):
        watcher.watch(function)
    return tree, watcher.steps


class Step:
    """A value that code computes: the name it is given (or the text of the expression), and where.

    in_loop: it is computed again and again. last: it is what the function returns. given: it is an argument.
    """

    def __init__(self, label, line, name="", in_loop=False, last=False, given=False):
        self.label, self.line, self.name = label, line, name
        self.in_loop, self.last, self.given = in_loop, last, given

    def __repr__(self):
        return f"Step({self.label!r}, line {self.line})"


class _Watcher:
    def __init__(self):
        self.steps = []

    def watch(self, function):
        documented = len(function.body) - len(body_of(function))
        arguments = [a.arg for a in (*function.args.posonlyargs, *function.args.args) if a.arg != "self"]
        noted = []
        for name in arguments:
            step = Step(name, function.lineno, name, given=True)
            noted.append(ast.Expr(self._note(step, ast.Name(name, ast.Load()), function.body[0])))
            ast.copy_location(noted[-1], function.body[0])
        body = self._statements(body_of(function), in_loop=False)
        function.body = [*function.body[:documented], *noted, *body]

    def _note(self, step, value, at):
        self.steps.append(step)
        call = ast.Call(ast.Name(_NOTE, ast.Load()), [ast.Constant(len(self.steps) - 1), value], [])
        return ast.fix_missing_locations(ast.copy_location(call, at))

    def _statements(self, statements, in_loop):
        found = []
        for statement in statements:
            found.append(statement)
            if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and statement.value is not None:
                if isinstance(statement, ast.Assign):
                    statement.value = self._parts(statement.value, in_loop)
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                for name, _whole in _stored(targets):
                    found.append(self._again(name, statement, in_loop))
            elif isinstance(statement, ast.Return) and statement.value is not None:
                statement.value = self._returned(statement.value, in_loop)
            elif isinstance(statement, (ast.For, ast.While, ast.If, ast.With, ast.Try)):
                inside = in_loop or isinstance(statement, (ast.For, ast.While))
                written = _written_in(statement) if inside and not in_loop else {}
                for field in ("body", "orelse", "finalbody"):
                    if getattr(statement, field, None):
                        setattr(statement, field, self._statements(getattr(statement, field), inside))
                found += [self._again(name, at, in_loop, must_exist=False) for name, at in written.items()]
        return found

    def _returned(self, value, in_loop):
        if isinstance(value, ast.Tuple):
            value.elts = [self._returned(part, in_loop) for part in value.elts]
            return value
        label = _text(value)
        name = value.id if isinstance(value, ast.Name) else ""
        inner = self._parts(value, in_loop)
        return self._note(Step(label, value.lineno, name, in_loop, last=True), inner, value)

    def _again(self, name, at, in_loop, must_exist=True):
        """The statement `name = note(i, name)`; where the name may be missing, inside a `try`."""
        noted = self._note(Step(name, at.lineno, name, in_loop), ast.Name(name, ast.Load()), at)
        again = ast.Assign([ast.Name(name, ast.Store())], noted)
        if not must_exist:
            missing = ast.ExceptHandler(ast.Name("NameError", ast.Load()), None, [ast.Pass()])
            again = ast.Try([again], [missing], [], [])
        return ast.fix_missing_locations(ast.copy_location(again, at))

    def _parts(self, value, in_loop):
        """The expression with its larger parts noted; not the whole of it, whose name is noted or which is returned."""
        if isinstance(value, ast.Tuple):
            value.elts = [self._parts(part, in_loop) for part in value.elts]
            return value
        return _Parts(self, in_loop, value).visit(value)


class _Parts(ast.NodeTransformer):
    """Notes every operation and call inside an expression, inner ones first; functions inside are left alone."""

    def __init__(self, watcher, in_loop, whole):
        self.watcher, self.in_loop, self.whole = watcher, in_loop, whole

    def _noted(self, node):
        label = _text(node)
        self.generic_visit(node)
        if node is self.whole:
            return node
        return self.watcher._note(Step(label, node.lineno, "", self.in_loop), node, node)

    visit_BinOp = visit_Call = _noted

    def visit_Lambda(self, node):
        return node

    visit_ListComp = visit_GeneratorExp = visit_SetComp = visit_DictComp = visit_Starred = visit_JoinedStr = visit_Lambda


def _text(node):
    return ast.unparse(node)


def _stored(targets):
    """Names that assignments to these targets give a value to; False with those of which only a part is written."""
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id, True
        elif isinstance(target, (ast.Tuple, ast.List)):
            yield from _stored(target.elts)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            yield target.value.id, False


def _written_in(loop):
    """Names that a loop writes, each with the last statement that does."""
    found = {}
    for node in ast.walk(loop):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {name: node for name, _ in _stored(targets)}
    return found
