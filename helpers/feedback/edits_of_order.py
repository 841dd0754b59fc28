"""Single edits of the order of steps: two lines done the other way round on the same values, axes moved back."""

import ast
import copy

from .trees import name_of

_MOVES = ("moveaxis", "swapaxes", "transpose", "movedim")


def of_two_lines(function, line, after, whole):
    """`a = f(b)` and then `c = g(a)` done the other way round: `a = g(b)`, then `c = f(a)`.

    whole: makes an edit of all lines of the same body. after: the lines that follow.
    """
    first, second = _plain(line), _plain(after[0]) if after else None
    if first is None or second is None:
        return
    made = first.targets[0].id
    if not _reads(second.value, made):
        return
    look = f"the order of lines {line.lineno} and {after[0].lineno}: which step comes first?"
    names = dict.fromkeys(n.id for n in ast.walk(first.value) if isinstance(n, ast.Name) and n.id in function.names.all)
    for base in [name for name in names if name != second.targets[0].id or name == made][:2]:
        earlier = ast.Assign(first.targets, _renamed(second.value, made, base))
        later = ast.Assign(second.targets, _renamed(first.value, base, made))
        new = [ast.copy_location(earlier, line), ast.copy_location(later, after[0])]
        yield whole(2, "order of lines", look, new, (line.lineno, after[0].lineno), (line.lineno, base))


def _plain(line):
    """A line that gives one name a value, as an ast.Assign; `a -= b` as `a = a - b`. None for all others."""
    if isinstance(line, ast.AugAssign) and isinstance(line.target, ast.Name):
        loaded = ast.Name(line.target.id, ast.Load())
        return ast.copy_location(ast.Assign([line.target], ast.BinOp(loaded, line.op, line.value)), line)
    single = isinstance(line, ast.Assign) and len(line.targets) == 1 and isinstance(line.targets[0], ast.Name)
    return line if single else None


def _reads(node, name):
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))


def _renamed(node, old, new):
    """A copy of an expression that reads another name."""
    node = copy.deepcopy(node)
    for n in ast.walk(node):
        if isinstance(n, ast.Name) and n.id == old:
            n.id = new
    return node


def moved_back(function, node, where):
    """What is returned, with the axes moved back that an earlier line moved."""
    for call in (n for n in ast.walk(function.function) if isinstance(n, ast.Call) and name_of(n) in _MOVES):
        method = not _of_a_module(call.func)
        axes = call.args if method else call.args[1:]
        if len(axes) != 2:
            continue
        base = [] if method else [node]
        func = ast.Attribute(node, call.func.attr, ast.Load()) if method else call.func
        new = ast.Call(func, [*base, axes[1], axes[0]], [])
        look = f"what you return: line {call.lineno} moves axes, and does anything move them back?"
        yield function.edit(2, "transpose", look, where, new, node)


def _of_a_module(func):
    return isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in ("np", "torch")
