"""Single edits of names: another one that can be read there, another attribute, two names exchanged throughout."""

import ast
import itertools
import math
import re

from . import edits_of_numbers
from .trees import name_of, short

LARGEST = 14  # names of a function that are tried in each other's places
_SCOPES = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
_BRANCHES = (ast.If, ast.While, ast.Try)
_STORES_AT_ITS_END = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For)


class Names:
    """A function's names, and where each of them may hold something: read elsewhere it only stops the function.

    Statements are counted in the order in which they stand, those inside others too.
    """

    def __init__(self, function, arguments):
        """function: an ast.FunctionDef. arguments: its own names for what it is given."""
        self.arguments, self.stores, self.reads = frozenset(arguments), {}, {}  # with the statements that do so
        self._places, self._last_read, self._scopes, self._readable = {}, {}, {}, {}
        for statement in function.body:
            self._enter(statement, statement, None, None, None)
        names = dict.fromkeys([*arguments, *self.stores, *self._scopes])
        self.all = [name for name in names if name != "self"][:LARGEST]

    def _enter(self, node, statement, loop, until, scope):
        """Note what a node reads and stores.

        statement: in which it stands. loop: the outermost around it, as its last place. until: the last place whose
        names can be read here, if that is not the statement's own. scope: the first and last place of the names' scope.
        """
        if isinstance(node, ast.stmt):
            statement, place = node, len(self._places)
            self._places[node] = place
            self._last_read[node] = (place - isinstance(node, _STORES_AT_ITS_END)) if until is None else until
            last = place + sum(isinstance(inner, ast.stmt) for inner in ast.walk(node)) - 1
            if isinstance(node, ast.FunctionDef):  # called later
                until, scope = math.inf, scope or (place, last)
            elif loop is not None and isinstance(node, _BRANCHES):  # not every round comes there
                until = loop if until is None else until
            if loop is None and isinstance(node, (ast.For, ast.While)):
                loop = last
        elif isinstance(node, _SCOPES):
            if isinstance(node, ast.Lambda):
                self._last_read[statement] = math.inf
            scope = scope or (self._places[statement],) * 2
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            self.reads.setdefault(node.id, []).append((node, statement))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            if scope is None:
                self.stores.setdefault(node.id, []).append(statement)
            else:
                self._scopes.setdefault(node.id, []).append(scope)
        for inner in ast.iter_child_nodes(node):
            self._enter(inner, statement, loop, until, scope)

    def readable_in(self, statement):
        """The names that may hold something where a statement, without those inside it, reads them."""
        if statement not in self._readable:
            self._readable[statement] = [name for name in self.all if self._may_be_read(name, statement)]
        return self._readable[statement]

    def _may_be_read(self, name, statement):
        if name in self.arguments:
            return True
        place, last = self._places[statement], self._last_read[statement]
        return any(self._places[store] <= last for store in self.stores.get(name, ())) or any(
            first <= place <= end for first, end in self._scopes.get(name, ())
        )

    def needed(self, statement):
        """Whether others read a name to which only this statement gives a value."""
        own = (name for name, stores in self.stores.items() if set(stores) == {statement})
        return any(
            reader is not statement
            for name in own
            if name not in self.arguments
            for _, reader in self.reads.get(name, ())
        )

    def may_change_places(self, statement, following):
        """Whether the second of two simple statements reads nothing that holds no value before the first."""
        new = {name for name, stores in self.stores.items() if stores[0] is statement} - self.arguments
        return not any(reader is following for name in new for _, reader in self.reads.get(name, ()))


def of_name(function, node, where, parent):
    """Edits of a name that is read. function: the _Function it belongs to. where: (parent, field, index) of it."""
    if isinstance(parent, ast.Call) and where[1] == "func" or node.id not in function.names.all:
        return
    look = f"the name `{node.id}`"
    for name in function.readable:
        if name not in (node.id, _grown_by(parent)) and function.alike(name, node.id):
            yield function.edit(2, "name", look, where, ast.Name(name, ast.Load()), node)
    for name in function.attributes:
        if function.alike(f"self.{name}", node.id):
            own = ast.Attribute(ast.Name("self", ast.Load()), name, ast.Load())
            yield function.edit(2, "name", look, where, own, node)
    yield from edits_of_numbers.of_name(function, node, where, parent)
    if isinstance(parent, ast.Call) and function.holds(node.id) == "array":
        for name in (name for name in function.arguments[:3] if name != node.id and function.holds(name) == "array"):
            both = ast.BinOp(ast.Name(name, ast.Load()), ast.Add(), node)
            look = f"what `{name_of(parent)}` is given: is something missing?"
            rank = 2 if "self" in function.arguments else 3  # skips are what is left out in blocks
            yield function.edit(rank, "part", look, where, both, node, ("added", name))
    if isinstance(parent, (ast.BinOp, ast.Call)):
        of_sign = isinstance(parent, ast.BinOp)
        look = f"the sign of `{node.id}`" if of_sign else f"whether `{node.id}` is meant as it is"
        yield function.edit(3, "sign", look, where, ast.UnaryOp(ast.USub(), node), node)


def of_attribute(function, node, where):
    """Edits of what is read of `self` or of another name: another attribute of it."""
    if not isinstance(node.ctx, ast.Load) or not isinstance(node.value, ast.Name):
        return
    owner, others = node.value.id, ()
    if owner == "self":
        others = [name for name in function.attributes if function.alike(f"self.{name}", f"self.{node.attr}")]
    elif owner in function.names.all:
        parts = set(node.attr.split("_"))
        others = [name for name in _attributes_of(function, owner) if parts & set(name.split("_"))]
    for name in others:
        if name != node.attr:
            new = ast.Attribute(node.value, name, ast.Load())
            yield function.edit(2, "name", f"the name `{short(node)}`", where, new, node)


def _attributes_of(function, owner):
    """Attributes such as W_o that the function reads of an argument, and b_o where it reads b_v besides."""
    read = (n for n in ast.walk(function.function) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name))
    found = dict.fromkeys(n.attr for n in read if n.value.id == owner and re.fullmatch(r"[A-Za-z]_\w", n.attr))
    letters, ends = ({attribute[i] for attribute in found} for i in (0, -1))
    return [*found, *sorted({f"{a}_{b}" for a in letters for b in ends} - set(found))]


def _grown_by(call):
    """The name of the list that a call puts something into: a list within itself has no end."""
    grows = isinstance(call, ast.Call) and name_of(call) in ("append", "extend", "insert")
    return call.func.value.id if grows and isinstance(getattr(call.func, "value", None), ast.Name) else None


def exchanged(function):
    """Edits that exchange two names wherever they are read. function: the _Function they belong to."""
    names = function.names
    pairs = itertools.combinations((name for name in names.reads if name in names.all), 2)
    for a, b in ((a, b) for a, b in pairs if function.alike(a, b)):
        nodes = [(*read, new) for name, new in ((a, b), (b, a)) for read in names.reads[name]]
        if all(new in names.readable_in(statement) for _, statement, new in nodes):
            lines = tuple(sorted({node.lineno for node, _, _ in nodes}))
            places = tuple((node, "id", None, new) for node, _, new in nodes)
            look = f"`{a}` and `{b}`: have they changed places?"
            yield function.change(2, "names", look, ("names", a, b), lines, places)
