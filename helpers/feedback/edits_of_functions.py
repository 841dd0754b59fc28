"""Every single edit of a function's syntax tree that might be the one it needs, the likely ones first."""

import ast
import itertools
import re
from dataclasses import replace

from . import edits_of_calls, edits_of_indices, edits_of_names, edits_of_numbers, edits_of_statements
from .edits import Edit
from .trees import Own, name_of
from .variants import body_of, functions_of

_SELDOM_RIGHT = ("names", "order of lines")  # kinds that come last in their rank


def edits_of(tree, space, agreed=(), kinds=None):
    """All single edits of the functions in a tree, sorted by rank and line.

    space: the names that the answer's code sees. agreed: (function's name, parameter) of defaults that stay.
    kinds: what names hold, as {(function's name, name): kind}; see `variants.kind_of`.
    """
    found, own = [], Own(tree)
    for function in functions_of(tree):
        found += [edit for edit in _Function(function, space, tree, own, kinds or {}).edits(agreed) if edit]
    found += _everywhere(found)
    return sorted(found, key=lambda edit: (edit.rank, edit.kind in _SELDOM_RIGHT, edit.lines))


def _everywhere(edits):
    """The same change made in all places where it could be made, for keys that occur more than once."""
    alike = {}
    for edit in edits:
        alike.setdefault(edit.key, []).append(edit)
    for same in alike.values():
        if 2 <= len(same) <= 12 and same[0].kind not in ("line", "if", "order of lines"):
            lines = tuple(sorted({line for edit in same for line in edit.lines}))
            places = tuple(place for edit in same for place in edit.places)
            looks = {edit.look for edit in same}
            look = same[0].look if len(looks) == 1 else _without_details(same[0].look)
            yield replace(same[0], rank=same[0].rank + 1, look=look, lines=lines, places=places)


def _without_details(look):
    """What to look at, without the words of one of the places."""
    look = re.sub(r" around `[^`]*`$", " there", look)
    return re.sub(r"^whether `(\W+) [^`]*` belongs there$", r"whether the `\1` and what follows it belong there", look)


_OPERATORS = {
    ast.Add: ("+", (ast.Sub, ast.Mult)), ast.Sub: ("-", (ast.Add, ast.Div)), ast.Div: ("/", (ast.Mult, ast.FloorDiv)),
    ast.Mult: ("*", (ast.Div, ast.MatMult, ast.Add, ast.Sub)), ast.MatMult: ("@", (ast.Mult,)),
    ast.FloorDiv: ("//", (ast.Div,)), ast.Pow: ("**", (ast.Mult,)), ast.BitXor: ("^", (ast.Pow,)),
    ast.BitAnd: ("&", (ast.BitOr,)), ast.BitOr: ("|", (ast.BitAnd,)), ast.Mod: ("%", (ast.FloorDiv,)),
}  # fmt: skip
_COMPARISONS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_ADDING = (ast.Add, ast.Sub)
_ONE_WAY = (ast.MatMult, ast.Sub, ast.Div, ast.FloorDiv, ast.Pow)


class _Function:
    """The edits of one function."""

    def __init__(self, function, space, tree, own, kinds):
        self.function, self.space, self.tree, self.own, self.text = function, space, tree, own, own.text
        self.kinds = kinds
        arguments = function.args
        self.arguments = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        self.names = edits_of_names.Names(function, self.arguments)
        self.readable = []  # names that can be read in the statement whose edits are listed
        loaded = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
        self.torch = "torch" in loaded or ("torch" in space and "np" not in loaded)
        self.attributes = list(
            dict.fromkeys(
                n.attr for n in ast.walk(tree)
                if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "self"
                and isinstance(n.ctx, ast.Store)
            )
        )  # fmt: skip

    def edits(self, agreed):
        arguments, defaults = self.function.args.args, self.function.args.defaults
        for position, default in enumerate(defaults):
            name = arguments[len(arguments) - len(defaults) + position].arg
            if (self.function.name, name) not in agreed:
                where = (self.function.args, "defaults", position)
                for rank, new in edits_of_numbers.other_numbers(default, self.torch):
                    yield self.edit(rank, "default", f"the default value of `{name}`", where, new, default)
        for statement in body_of(self.function):
            yield from self._inside(statement)
        yield from edits_of_statements.edits(self)

    def holds(self, name):
        """What a name held when the function ended (see `variants.kind_of`), "" if that is not known."""
        return self.kinds.get((self.function.name, name), "")

    def alike(self, a, b):
        """Whether two names may stand for each other."""
        return self.holds(a) == self.holds(b) or "" in (self.holds(a), self.holds(b))

    def edit(self, rank, kind, look, where, new, old, key=None):
        """An edit that puts one node in place of another. where: (parent, field, index).

        key: what makes it the same change as another, in other places; both nodes' text for None. None if both are
        the same.
        """
        before, after = self.text(old), self.text(new)
        if before == after or self._grows_without_end(where, new):
            return None
        at = old if hasattr(old, "lineno") else self.function
        key = (kind, *(key or (before, after)))
        return Edit(rank, kind, look, key, (at.lineno,), ((*where, self.own.placed(new, at)),))

    def _grows_without_end(self, where, new):
        """Whether a local name becomes an exponent: a total as a power of whole numbers takes seconds to write down."""
        parent, field, _ = where
        power = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Pow) and field == "right"
        return power and isinstance(new, ast.Name) and new.id not in self.arguments

    def change(self, rank, kind, look, key, lines, places):
        """An edit of any number of places."""
        for node, _, _, new in places:
            self.own.placed(new, node if hasattr(node, "lineno") else self.function)
        return Edit(rank, kind, look, key, lines, places)

    def _inside(self, node):
        """Edits of the expressions in a statement; messages of errors are left alone."""
        if isinstance(node, (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)):
            return
        for field, held in ast.iter_fields(node):
            if isinstance(node, ast.stmt):
                self.readable = self.names.readable_in(node)
            if field in ("annotation", "returns", "decorator_list"):
                continue
            children = held if isinstance(held, list) else [held]
            for index, child in enumerate(children):
                if not isinstance(child, ast.AST):
                    continue
                if isinstance(child, ast.expr):
                    yield from self._expression(child, (node, field, index if isinstance(held, list) else None), node)
                yield from self._inside(child)

    def _expression(self, node, where, parent):
        stored = isinstance(getattr(node, "ctx", None), ast.Store)
        if isinstance(node, ast.Name) and not stored:
            yield from edits_of_names.of_name(self, node, where, parent)
        elif isinstance(node, ast.Attribute):
            yield from self._attribute(node, where)
        elif isinstance(node, ast.Constant):
            yield from edits_of_numbers.of_number(self, node, where, parent)
        elif isinstance(node, ast.BinOp):
            yield from self._operation(node, where)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield from self._comparison(node, where)
        elif isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
            sign = {ast.Invert: "`~`", ast.Not: "`not`", ast.USub: "minus sign"}.get(type(node.op), "sign")
            yield self.edit(1, "sign", f"the {sign}", where, node.operand, node)
        elif isinstance(node, ast.UnaryOp):
            yield from edits_of_numbers.of_number(self, node, where, parent)
        elif isinstance(node, ast.BoolOp):
            word, other = ("and", ast.Or()) if isinstance(node.op, ast.And) else ("or", ast.And())
            yield self.edit(1, "operator", f"the `{word}`", where, ast.BoolOp(other, node.values), node)
        elif isinstance(node, ast.IfExp):
            turned = ast.IfExp(node.test, node.orelse, node.body)
            yield self.edit(1, "condition", "which side of that `if` is taken when", where, turned, node)
            yield self.edit(2, "condition", "whether that `if` is needed", where, node.body, node)
            yield self.edit(2, "condition", "whether that `if` is needed", where, node.orelse, node)
        elif isinstance(node, ast.Subscript) and not stored:
            yield from edits_of_indices.of_subscript(self, node, where)
        elif isinstance(node, ast.Tuple) and not stored:
            yield from self._tuple(node, where, parent)
            yield from edits_of_calls.every_place(self, node, where)
        elif isinstance(node, ast.Call):
            yield from edits_of_calls.edits(self, node, where, parent)
        if isinstance(node, ast.Subscript):
            yield from edits_of_indices.of_indices(self, node)
        if isinstance(parent, (ast.Assign, ast.Return)) and where[1] == "value":
            yield from edits_of_statements.steps_added(self, node, where, parent)

    def _attribute(self, node, where):
        yield from edits_of_names.of_attribute(self, node, where)
        if node.attr == "T":
            yield self.edit(1, "transpose", "whether `.T` belongs there", where, node.value, node)
            look = "what `.T` does when there are more than two axes"
            yield self.edit(1, "transpose", look, where, self.swapped(node.value), node)

    def swapped(self, node):
        """The expression for a node with its last two axes exchanged."""
        minus = [ast.UnaryOp(ast.USub(), ast.Constant(n)) for n in (1, 2)]
        if self.torch:
            return ast.Call(ast.Attribute(node, "transpose", ast.Load()), minus, [])
        return ast.Call(ast.Attribute(ast.Name("np", ast.Load()), "swapaxes", ast.Load()), [node, *minus], [])

    def _operation(self, node, where):
        text, others = _OPERATORS.get(type(node.op), ("", ()))
        for other in others:
            new = ast.BinOp(node.left, other(), node.right)
            yield self.edit(1, "operator", f"the operator `{text}`", where, new, node, (text, other.__name__))
        if isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
            yield from self._mask_added(node, where, text)
        if isinstance(node.op, ast.BitXor) and isinstance(node.left, ast.BinOp):  # `^` binds more loosely than a power
            inner = node.left
            powered = ast.BinOp(inner.left, inner.op, ast.BinOp(inner.right, ast.Pow(), node.right))
            yield self.edit(1, "operator", "the operator `^`", where, powered, node)
        if isinstance(node.op, ast.Mult) and isinstance(node.right, ast.Constant):
            powered = ast.BinOp(node.left, ast.Pow(), node.right)
            yield self.edit(1, "operator", "the operator `*`", where, powered, node)
        if isinstance(node.op, _ONE_WAY):
            turned = ast.BinOp(node.right, node.op, node.left)
            yield self.edit(1, "order", f"which comes first at `{text}`", where, turned, node, (text,))
        for side, where_gone in (("left", "follows it"), ("right", "stands before it")):
            gone = node.right if side == "left" else node.left
            quoted = f"{text} {ast.unparse(gone)}" if side == "left" else f"{ast.unparse(gone)} {text}"
            look = f"whether `{quoted}` belongs there"
            if len(quoted) > 30:
                look = f"whether the `{text}` and what {where_gone} belong there"
            yield self.edit(1, "part", look, where, getattr(node, side), node, (side, text, self._kind_of(gone)))
        if isinstance(node.left, ast.BinOp):
            inner = node.left
            rotated = ast.BinOp(inner.left, inner.op, ast.BinOp(inner.right, node.op, node.right))
            yield self.edit(
                1, "parentheses", "what is calculated first: are parentheses missing?", where, rotated, node
            )
            swapped = ast.BinOp(ast.BinOp(inner.left, inner.op, node.right), node.op, inner.right)
            around = f"the order of what stands around `{text}`"
            if not isinstance(inner.op, type(node.op)) or isinstance(node.op, _ONE_WAY):
                yield self.edit(1, "order", around, where, swapped, node)
            if isinstance(inner.op, _ADDING) != isinstance(node.op, _ADDING):
                exchanged = ast.BinOp(ast.BinOp(inner.left, node.op, node.right), inner.op, inner.right)
                yield self.edit(1, "order", around, where, exchanged, node)
        if isinstance(node.right, ast.BinOp):
            inner = node.right
            rotated = ast.BinOp(ast.BinOp(node.left, node.op, inner.left), inner.op, inner.right)
            yield self.edit(
                1, "parentheses", "what is calculated first: are the parentheses right?", where, rotated, node
            )
        yield from self._inside_calls(node, where, text)
        if isinstance(node.op, ast.Mult):
            for name in self.arguments[:6]:
                product = ast.BinOp(node, ast.Mult(), ast.Name(name, ast.Load()))
                yield self.edit(3, "part", "what is multiplied there: is something missing?", where, product, node)
        if isinstance(node.op, ast.Mult) and isinstance(node.left, ast.List) and len(node.left.elts) == 1:
            every = ast.comprehension(
                ast.Name("_", ast.Store()), ast.Call(ast.Name("range", ast.Load()), [node.right], []), [], 0
            )
            look = "whether the `*` makes new ones, or repeats the same one"
            yield self.edit(1, "copy", look, where, ast.ListComp(node.left.elts[0], [every]), node)
        if isinstance(node.op, ast.MatMult):
            for side in ("left", "right"):
                new = ast.BinOp(node.left, node.op, node.right)
                setattr(new, side, self.swapped(getattr(node, side)))
                yield self.edit(1, "transpose", "which axes meet in the `@`", where, new, node, (side,))
            look = "which axis comes first in that product"
            yield self.edit(2, "transpose", look, where, self.swapped(node), node, ("product",))
        if isinstance(node.op, (ast.Div, ast.Mult)):
            root = ast.BinOp(node.right, ast.Pow(), ast.Constant(0.5))
            yield self.edit(
                1, "root", f"what stands after the `{text}`", where, ast.BinOp(node.left, node.op, root), node
            )

    def _mask_added(self, node, where, text):
        """A mask, True and False, that scores are added to or multiplied by, as if it could hide something so."""
        for mask, scores in ((node.right, node.left), (node.left, node.right)):
            if not isinstance(mask, ast.Name):
                continue
            if self.holds(mask.id) == "mask" or mask.id in self.arguments and not self.holds(mask.id):
                fill, hidden = edits_of_numbers.infinity(self.torch, True), ast.UnaryOp(ast.Invert(), mask)
                new = ast.Call(ast.Attribute(scores, "masked_fill", ast.Load()), [hidden, fill], [])
                if not self.torch:
                    where_of = ast.Attribute(ast.Name("np", ast.Load()), "where", ast.Load())
                    new = ast.Call(where_of, [mask, scores, fill], [])
                look = f"what `{text}` makes of True and False: it takes them for 1 and 0"
                yield self.edit(1, "mask", look, where, new, node)

    def _kind_of(self, node):
        """What a dropped part is, so that parts alike are dropped together: the function it calls, or its text."""
        call = node.args[0] if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Call) else node
        return name_of(call) if isinstance(call, ast.Call) else self.text(node)

    def _inside_calls(self, node, where, text):
        """An operation done before a call instead of after it: f(a) * b and f(a) * f(b) become f(a * b)."""
        left, right = node.left, node.right
        for call, build in (
            (left, lambda inner: ast.BinOp(inner, node.op, right)),
            (right, lambda inner: ast.BinOp(left, node.op, inner)),
        ):
            if isinstance(call, ast.Call) and call.args and name_of(call) not in ("len", "range"):
                look = f"what comes first, the `{text}` or `{name_of(call)}`"
                moved = ast.Call(call.func, [build(call.args[0]), *call.args[1:]], call.keywords)
                yield self.edit(2, "parentheses", look, where, moved, node)
        if isinstance(left, ast.Call) and isinstance(right, ast.Call) and left.args and right.args:
            if self.text(left.func) == self.text(right.func):
                look = f"what comes first, the `{text}` or `{name_of(left)}`"
                joined = ast.BinOp(left.args[0], node.op, right.args[0])
                moved = ast.Call(left.func, [joined, *left.args[1:]], left.keywords)
                yield self.edit(1, "parentheses", look, where, moved, node)

    def _comparison(self, node, where):
        text = _COMPARISONS.get(type(node.ops[0]))
        if text:
            for other in _COMPARISONS:
                if other is not type(node.ops[0]):
                    new = ast.Compare(node.left, [other()], node.comparators)
                    yield self.edit(1, "comparison", f"the comparison `{text}`", where, new, node)

    def _tuple(self, node, where, parent):
        if 2 <= len(node.elts) <= 4 and isinstance(parent, (ast.Return, ast.Assign)):
            look = (
                "the order in which you return the results"
                if isinstance(parent, ast.Return)
                else "the order after the `=`"
            )
            for order in itertools.permutations(node.elts):
                if list(order) != node.elts:
                    yield self.edit(1, "order", look, where, ast.Tuple(list(order), ast.Load()), node)
