"""Code that hands over every value it computes, so that a learner's values can be set beside the reference's.

The code itself is rewritten: nothing is traced, so that debuggers and coverage go on undisturbed.
"""

import ast
import copy

from .variants import NOTE, body_of, functions_of


def watched(tree):
    """A copy of the tree that hands every value it computes to `note`, and the list of what is handed over.

    Returns (tree, steps): steps[i] is the Step whose value comes as note(i, value); what note returns is used instead.
    """
    found = Watched(tree)
    return found.tree, found.steps


class Watched:
    """A watched copy of a tree, in which edits of the tree can be made without copying it again."""

    def __init__(self, tree):
        self._copies = {}
        self.tree = copy.deepcopy(tree, self._copies)
        watcher = _Watcher()
        for function in functions_of(self.tree):
            watcher.watch(function)
        self.steps = watcher.steps

    def place(self, node, field, index, new):
        """Where an edit's place is in the copy, as such a place; None for lists of lines, which are watched anew."""
        node = self._copies.get(id(node))
        held = getattr(node, field, None)
        if node is None or isinstance(new, list):
            return None
        held = held if index is None else held[index]
        if isinstance(held, ast.Call) and isinstance(held.func, ast.Name) and held.func.id == NOTE:
            return held, "args", 1, new
        return node, field, index, new


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
        call = ast.Call(ast.Name(NOTE, ast.Load()), [ast.Constant(len(self.steps) - 1), value], [])
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
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call) and in_loop:
                statement.value.args = [_Parts(self, in_loop, None).visit(part) for part in statement.value.args]
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


_LEFT_ALONE = (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp, ast.Starred, ast.JoinedStr)


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

    def visit(self, node):
        if isinstance(node, _LEFT_ALONE):
            return node
        return self._noted(node) if isinstance(node, (ast.BinOp, ast.Call)) else self.generic_visit(node)


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
    """Arrays that a loop fills and totals that it adds to, each with the last statement that does."""
    found = {}
    for node in ast.walk(loop):
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {name: node for name, whole in _stored(targets) if not whole or isinstance(node, ast.AugAssign)}
    return found
