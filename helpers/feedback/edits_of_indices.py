"""Single edits of what stands in brackets: indices, slices and sizes."""

import ast
import itertools

from . import edits_of_numbers
from .trees import number, number_of


def of_subscript(function, node, where):
    """Edits of `x[...]` as a whole: another size, or no brackets at all."""
    if isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        for name in function.arguments[:6]:
            for size in edits_of_numbers.sizes(function, name):
                if name != "self" and function.text(size) != function.text(node):
                    yield function.edit(2, "size", f"the size `{ast.unparse(node)[:25]}`", where, size, node)
        return
    text = ast.unparse(node.slice).removeprefix("(").removesuffix(")")
    if len(text) <= 20:
        yield function.edit(2, "index", f"whether `[{text}]` belongs there", where, node.value, node)


def of_indices(function, node):
    """Edits of what stands in the brackets of `x[...]`."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if len(parts) >= 2:
        for i, j in itertools.combinations(range(min(len(parts), 4)), 2):
            order = list(parts)
            order[i], order[j] = order[j], order[i]
            look = f"the order of the indices of `{ast.unparse(node.value)[:20]}`"
            yield function.edit(1, "order", look, (node, "slice", None), ast.Tuple(order, ast.Load()), node.slice)
    if len(parts) >= 2 and _is_full(parts[0]) and any(isinstance(part, ast.Constant) for part in parts[1:]):
        look = "where that index puts the new axis when there are more axes, or fewer"
        new = ast.Tuple([ast.Constant(...), *parts[1:]], ast.Load())
        yield function.edit(1, "axis", look, (node, "slice", None), new, node.slice)
    yield from _up_to(function, node, parts)
    for part in parts:
        if isinstance(part, ast.Slice):
            yield from _bounds(function, node, part)


def _is_full(part):
    """Whether a part of an index is a plain `:`."""
    return isinstance(part, ast.Slice) and part.lower is part.upper is part.step is None


def _up_to(function, node, parts):
    """A slice up to one of the function's names, or from it on, where a single place is read: x[0], x[t - 1]."""
    first, *rest = parts
    if isinstance(first, ast.Slice) or not isinstance(node.ctx, ast.Load) or isinstance(node.value, ast.Attribute):
        return
    if number_of(first) is None and not isinstance(first, (ast.Name, ast.BinOp)):
        return
    look = f"which entries `{ast.unparse(node)[:25]}` takes: one, or several?"
    counters = [n.target.id for n in ast.walk(function.function) if isinstance(n, ast.For) and _is_name(n.target)]
    for name in (name for name in dict.fromkeys(counters) if name in function.readable):
        for part in (ast.Slice(None, ast.Name(name, ast.Load())), ast.Slice(ast.Name(name, ast.Load()), None)):
            new = ast.Tuple([part, *rest], ast.Load()) if rest else part
            key = (function.text(node.slice), function.text(new))
            yield function.edit(2, "index", look, (node, "slice", None), new, node.slice, key)


def _is_name(node):
    return isinstance(node, ast.Name)


def _other_sizes(function, bound):
    """A bound of a slice with the size of an argument in the place of a name in it."""
    inner = bound.operand if isinstance(bound, ast.UnaryOp) else bound
    if isinstance(inner, ast.Name) and function.holds(inner.id) == "number":
        for argument in function.arguments[:6]:
            for size in edits_of_numbers.sizes(function, argument):
                yield size if inner is bound else ast.UnaryOp(bound.op, size)


def _bounds(function, node, part):
    """Other ends of a slice."""
    base = ast.unparse(node.value)[:20]
    look = f"where the slice of `{base}` begins and ends"
    if (part.lower is None) != (part.upper is None):
        places = ((part, "lower", None, part.upper), (part, "upper", None, part.lower))
        yield function.change(1, "slice", look, ("slice turned", base, function.text(part)), (node.lineno,), places)
    for field in ("lower", "upper", "step"):
        bound = getattr(part, field)
        others = [None] if bound is not None else []
        if bound is not None:
            others += [ast.BinOp(bound, op(), ast.Constant(1)) for op in (ast.Add, ast.Sub)]
        elif field != "step":
            others += [number(n) for n in (1, -1)]
        others += _other_sizes(function, bound)
        for new in others:
            key = ("slice", field, function.text(part), function.text(new))
            yield function.change(2, "slice", look, key, (node.lineno,), ((part, field, None, new),))
