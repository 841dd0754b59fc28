"""Single edits of whole lines: left out, exchanged, moved into a loop or out of it, a total overwritten or added to."""

import ast
import itertools

from . import edits_of_names, edits_of_order
from .trees import name_of, number

_OPERATORS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.MatMult: "@",
    ast.FloorDiv: "//",
    ast.Pow: "**",
}
_LOOPS = (ast.For, ast.While)


def edits(function):
    """All edits of the lines of a function, and of names throughout it."""
    yield from _of_lines(function, function.function, "body", in_loop=False)
    yield from edits_of_names.exchanged(function)


def _of_lines(function, owner, field, in_loop):
    lines = getattr(owner, field)

    def whole(rank, kind, look, new, at, key):
        return function.change(rank, kind, look, (kind, key), at, ((owner, field, None, new),))

    for i, line in enumerate(lines):
        if isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant):
            continue
        before, after, at = lines[:i], lines[i + 1 :], (line.lineno,)
        if isinstance(line, (ast.Assign, ast.AugAssign)):
            yield from _assignment(function, line, (owner, field, i), in_loop)
            yield from _layers_kept(function, line)
            yield from _name_moved(function, line, (owner, field, i))
        if isinstance(line, ast.If) and len(lines) > 1:
            look = "whether that `if` is needed, with what it does"
            yield whole(2, "if", look, before + after, at, line.lineno)
        elif not isinstance(line, (ast.Return, ast.FunctionDef)) and len(lines) > 1:
            if not function.names.needed(line):
                yield whole(2, "line", "whether that line is needed", before + after, at, line.lineno)
        elif isinstance(line, ast.Return) and (after or in_loop) and len(lines) > 1:
            yield whole(2, "line", "whether that `return` is needed", before + after, at, line.lineno)
        if _in_any_order(function, line, after):
            look = f"the order of lines {line.lineno} and {after[0].lineno}"
            yield whole(2, "order of lines", look, [*before, after[0], line, *after[1:]], at, line.lineno)

        def pair(rank, kind, look, new, at, key, before=before, after=after):
            return whole(rank, kind, look, [*before, *new, *after[1:]], at, key)

        yield from edits_of_order.of_two_lines(function, line, after, pair)
        if isinstance(line, ast.If):
            yield from _condition(function, line, before, after, whole)
        if isinstance(line, _LOOPS):
            yield from _loop(line, before, after, whole)
        for inner in ("body", "orelse"):
            if isinstance(line, (*_LOOPS, ast.If, ast.With)) and getattr(line, inner, None):
                yield from _of_lines(function, line, inner, in_loop or isinstance(line, _LOOPS))


def _in_any_order(function, line, after):
    """Whether a line could be exchanged with the next one, and neither is the last."""
    returns = not after or any(isinstance(other, ast.Return) for other in (line, after[0]))
    return not returns and function.names.may_change_places(line, after[0])


def _layers_kept(function, line):
    """`self.layers = [...]` as an nn.ModuleList, which PyTorch can see into."""
    of_self = isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Attribute)
    if of_self and isinstance(line.value, (ast.List, ast.ListComp, ast.BinOp)) and "nn" in function.space:
        func = ast.Attribute(ast.Name("nn", ast.Load()), "ModuleList", ast.Load())
        look = f"what kind of list `{ast.unparse(line.targets[0])}` is"
        yield function.edit(1, "list", look, (line, "value", None), ast.Call(func, [line.value], []), line.value)


def _name_moved(function, line, where):
    """`cache = {...}` of an argument as an update of what was given, which whoever called then sees."""
    named = isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name)
    if named and isinstance(line.value, ast.Dict) and line.targets[0].id in function.arguments:
        name = line.targets[0].id
        updated = ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "update", ast.Load()), [line.value], [])
        look = f"what `{name}` is after that line: what was given, or something new?"
        yield function.edit(1, "argument", look, where, ast.Expr(updated), line)


def _assignment(function, line, where, in_loop):
    if isinstance(line, ast.AugAssign):
        loaded = ast.parse(ast.unparse(line.target), mode="eval").body
        text = _OPERATORS.get(type(line.op), "")
        new = ast.Assign([line.target], ast.BinOp(loaded, line.op, line.value))
        look = f"the `{text}=`, which changes an array where it stands"
        yield function.edit(1, "in place", look, where, new, line)
        yield function.edit(1, "total", f"the `{text}=`", where, ast.Assign([line.target], line.value), line)
        for op in (ast.Add, ast.Sub, ast.Mult, ast.Div):
            if not isinstance(line.op, op):
                yield function.edit(
                    1, "operator", f"the `{text}=`", where, ast.AugAssign(line.target, op(), line.value), line
                )
    elif len(line.targets) == 1 and isinstance(line.targets[0], (ast.Name, ast.Subscript)):
        if in_loop:
            look = "whether that line adds to the total or overwrites it"
            yield function.edit(1, "total", look, where, ast.AugAssign(line.targets[0], ast.Add(), line.value), line)
    elif len(line.targets) == 1 and isinstance(line.targets[0], ast.Tuple):
        names = line.targets[0].elts
        if 2 <= len(names) <= 3:
            for order in itertools.permutations(names):
                if list(order) != names:
                    new = ast.Assign([ast.Tuple(list(order), ast.Store())], line.value)
                    yield function.edit(1, "order", "the order of the names before the `=`", where, new, line)


def _condition(function, line, before, after, whole):
    at = (line.lineno,)
    negated = ast.copy_location(ast.UnaryOp(ast.Not(), line.test), line.test)
    look = "the condition of that `if`: is it the right way round?"
    yield function.change(
        1, "condition", look, ("condition", function.text(line.test)), at, ((line, "test", None, negated),)
    )
    yield whole(2, "condition", "whether that `if` is needed", before + line.body + after, at, ("if", line.lineno))
    if line.orelse and not isinstance(line.orelse[0], ast.If):
        yield whole(
            2, "condition", "whether that `if` is needed", before + line.orelse + after, at, ("else", line.lineno)
        )


def _loop(line, before, after, whole):
    """Lines moved over a loop's edge, loops that end too early, totals that are not set anew."""
    at = (line.lineno,)
    last = line.body[-1]

    def loop(body):
        new = (
            ast.For(line.target, line.iter, body, line.orelse)
            if isinstance(line, ast.For)
            else ast.While(line.test, body, line.orelse)
        )
        return ast.copy_location(new, line)

    if len(line.body) > 1:
        what = "`return`" if isinstance(last, ast.Return) else "the line"
        look = f"how far {what} is indented: should it come once, after the loop?"
        yield whole(
            1, "indentation", look, [*before, loop(line.body[:-1]), last, *after], (last.lineno,), ("out", last.lineno)
        )
    if isinstance(last, ast.If) and last.orelse and any(isinstance(x, ast.Return) for x in last.orelse):
        kept = ast.copy_location(ast.If(last.test, last.body, []), last)
        look = "the `return` that ends the loop in its first round"
        at_return = (last.orelse[-1].lineno,)
        yield whole(
            1,
            "indentation",
            look,
            [*before, loop([*line.body[:-1], kept]), *last.orelse, *after],
            at_return,
            ("else", last.lineno),
        )
    if after and not isinstance(after[0], (ast.Return, *_LOOPS)):
        look = "how far that line is indented: should it come in every round of the loop?"
        yield whole(
            2,
            "indentation",
            look,
            [*before, loop([*line.body, after[0]]), *after[1:]],
            (after[0].lineno,),
            ("in", after[0].lineno),
        )
    if before and isinstance(before[-1], ast.Assign):
        first = before[-1]
        look = f"where `{ast.unparse(first.targets[0])}` gets its first value: once, or in every round?"
        yield whole(
            1,
            "start",
            look,
            [*before[:-1], loop([first, *line.body]), *after],
            (first.lineno,),
            ("start", first.lineno),
        )
        inner = line.body[-1]
        if isinstance(inner, _LOOPS) and len(line.body) == 1:
            nested = (
                ast.copy_location(ast.For(inner.target, inner.iter, [first, *inner.body], []), inner)
                if isinstance(inner, ast.For)
                else inner
            )
            yield whole(
                1, "start", look, [*before[:-1], loop([nested]), *after], (first.lineno,), ("start twice", first.lineno)
            )
    inner = line.body[0]
    if isinstance(line, ast.For) and isinstance(inner, ast.For) and len(line.body) == 1:
        zipped = ast.Call(ast.Name("zip", ast.Load()), [line.iter, inner.iter], [])
        together = ast.For(ast.Tuple([line.target, inner.target], ast.Store()), zipped, inner.body, [])
        look = "the loop inside the loop: should every item of the one meet every item of the other?"
        yield whole(1, "loops", look, [*before, ast.copy_location(together, line), *after], at, ("zip", line.lineno))


def steps_added(function, node, where, parent):
    """Functions put around what a line computes."""
    what = "what you return" if isinstance(parent, ast.Return) else "what that line computes"
    look = f"{what}: is a step missing?"
    if isinstance(node, ast.Tuple) or _makes_room(node) or _is_layer(function, parent):
        return
    if isinstance(parent, ast.Return):
        yield from edits_of_order.moved_back(function, node, where)
    module = ast.Name("torch" if function.torch else "np", ast.Load())
    for name in ("exp", "log", "sqrt", "abs", "tanh", "cumsum"):
        extra = [number(0)] if name == "cumsum" and function.torch else []
        new = ast.Call(ast.Attribute(module, name, ast.Load()), [node, *extra], [])
        yield function.edit(3, "step", look, where, new, node)
    for name in ("softmax", "int", "float", "bool"):
        if name != "softmax" or name in function.space and name != function.function.name:  # no call of itself
            yield function.edit(3, "step", look, where, ast.Call(ast.Name(name, ast.Load()), [node], []), node)
    axis = ast.keyword("dim" if function.torch else "axis", number(-1))
    for name in ("sum", "mean"):
        new = ast.Call(ast.Attribute(node, name, ast.Load()), [], [axis])
        yield function.edit(3, "step", look, where, new, node)
    for new in (ast.UnaryOp(ast.USub(), node), ast.UnaryOp(ast.Invert(), node)):
        yield function.edit(
            2,
            "sign",
            f"the sign of {what}" if isinstance(new.op, ast.USub) else f"{what}: True or False?",
            where,
            new,
            node,
        )
    yield function.edit(2, "transpose", f"which axis comes first in {what}", where, function.swapped(node), node)


def _is_layer(function, line):
    """Whether a line gives `self` a layer, which no function of arrays can follow."""
    targets = line.targets if isinstance(line, ast.Assign) else []
    return any(isinstance(t, ast.Attribute) and function.holds(f"self.{t.attr}") == "layer" for t in targets)


def _makes_room(node):
    """Whether an expression only makes an array to be filled."""
    return isinstance(node, ast.Call) and name_of(node) in (
        "zeros",
        "ones",
        "empty",
        "zeros_like",
        "empty_like",
    )
