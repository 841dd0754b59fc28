"""Single edits of numbers: another number, a size, a name, one more or one less."""

import ast

from .trees import AXES, name_of, number, number_of

_PRODUCTS = frozenset("dot vdot inner matmul einsum tensordot bmm".split())  # nobody adds 1 to vectors there


def other_numbers(node, torch):
    """Other values for a constant, as (rank, node)."""
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        value = node.operand.value
        value = -value if isinstance(value, (int, float)) else None
    if isinstance(value, bool):
        yield 1, ast.Constant(not value)
    elif value is None:
        yield from ((2, ast.Constant(n)) for n in (0, 1, -1))
    elif isinstance(value, int):
        others = dict.fromkeys([value + 1, value - 1, -value, 0, 1, 2, -1, -2, 2 * value, value**2])
        yield from ((1, number(n)) for n in others if n != value and abs(n) < 10**6)
        yield 2, ast.Constant(0.5)
        if value > 2 and value % 2 == 0:
            yield 1, ast.Constant(value // 2)
    elif isinstance(value, float):
        yield from ((1, number(x)) for x in dict.fromkeys([0.0, 0.5, 1.0, 2.0, -value, value / 2]) if x != value)
        if abs(value) >= 5:
            yield 1, infinity(torch, value < 0)


def infinity(torch, negative):
    """The expression for infinity, or for minus infinity."""
    module = "torch" if torch else "np"
    inf = ast.Attribute(ast.Name(module, ast.Load()), "inf", ast.Load())
    return ast.UnaryOp(ast.USub(), inf) if negative else inf


def _largest(node, torch):
    """The expression for the largest entry of every row."""
    largest, keep = ("amax", "keepdim") if torch else ("max", "keepdims")
    axis = ast.keyword("dim" if torch else "axis", number(-1))
    return ast.Call(ast.Attribute(node, largest, ast.Load()), [], [axis, ast.keyword(keep, ast.Constant(True))])


def of_number(function, node, where, parent):
    """Edits of a number, which may be negative."""
    value = node.value if isinstance(node, ast.Constant) else node.operand.value
    if isinstance(value, str) or value is ... or isinstance(parent, (ast.Expr, ast.List)):
        return
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub):  # a negative number is one number
        return
    if isinstance(parent, ast.Tuple) and len(parent.elts) > 2 and all(number_of(e) is not None for e in parent.elts):
        return  # a list of numbers: one more or another makes no other idea
    text, kind = ast.unparse(node), "number"
    around = ast.unparse(parent) if isinstance(parent, (ast.BinOp, ast.Call, ast.Subscript)) else ""
    around = f" in `{around}`" if 0 < len(around) <= 30 else ""
    look = f"the `{text}`" if isinstance(value, (bool, type(None))) else f"the number {text}{around}"
    if isinstance(parent, ast.keyword) and parent.arg:
        if parent.arg in AXES:
            return  # the call's own edits
        look = f"`{parent.arg}={text}`"
    for rank, new in other_numbers(node, function.torch):
        yield function.edit(rank, kind, look, where, new, node)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        for name in function.readable:
            if isinstance(parent, ast.BinOp) or function.holds(name) in ("", "number"):
                yield function.edit(2, kind, look, where, ast.Name(name, ast.Load()), node)
            if abs(value) > 1:
                for size in sizes(function, name):
                    yield function.edit(3, kind, look, where, size, node)
        yield function.edit(3, kind, look, where, infinity(function.torch, True), node)
        if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Sub) and parent.right is node:
            yield function.edit(2, kind, look, where, _largest(parent.left, function.torch), node)


def sizes(function, name):
    """Expressions for the sizes of what a name holds, where it is an argument."""
    if name in function.arguments and function.holds(name) in ("", "array", "mask"):
        shape = ast.Attribute(ast.Name(name, ast.Load()), "shape", ast.Load())
        yield from (ast.Subscript(shape, number(n), ast.Load()) for n in (-1, 0, 1))


def of_name(function, node, where, parent):
    """A number or an array times another, or by one more or less."""
    name = node.id
    look = f"whether `{name}` is meant as it is"
    of_product = isinstance(parent, ast.Call) and name_of(parent) in _PRODUCTS
    if isinstance(parent, (ast.BinOp, ast.Call, ast.Subscript)) and not of_product:
        one, two = ast.Constant(1), ast.Constant(2)
        for n, op in ((one, ast.Add()), (one, ast.Sub()), (two, ast.Mult())):
            yield function.edit(3, "part", look, where, ast.BinOp(node, op, n), node, (name, type(op).__name__))
    if isinstance(parent, (ast.Call, ast.Attribute, ast.Assign)):
        turned = ast.UnaryOp(ast.Invert(), node)
        look = f"what `{name}` means: is it the right way round?"
        yield function.edit(2, "condition", look, where, turned, node, (name, "~"))
