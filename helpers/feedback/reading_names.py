"""What the source of an answer does with its names: arguments not read, values not used, views that change later.

Each function yields (line, sentence, certain).
"""

import ast
import re

from .trees import short
from .variants import body_of, functions_of

_DRAWING = frozenset(
    "randn rand random randint normal standard_normal uniform randperm permutation shuffle choice".split()
)


def draws(tree, deep=True):
    """Whether code draws random numbers: a call of NumPy's, PyTorch's or a Generator's."""
    nodes = ast.walk(tree) if deep else [tree]
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _DRAWING
        and any(root in ast.unparse(node.func) for root in ("random", "rng", "torch.rand", "generator"))
        for node in nodes
    )  # fmt: skip


def arguments(tree, reference):
    """Arguments that are never read, or overwritten before they are, where the reference reads its own."""
    theirs = {function.name: function for function in functions_of(reference)}
    for function in functions_of(tree):
        other = theirs.get(function.name)
        if other is None:
            continue
        for name, wanted in zip(_names(function), _names(other), strict=False):
            if name == "self" or not _loads(other, wanted):
                continue
            if not _loads(function, name):
                yield function.lineno, f"`{name}` is never used.", True
                continue
            written = next(
                (s for s in body_of(function) if isinstance(s, ast.Assign) and _plain_target(s) == name), None
            )
            if written is None:
                continue
            before = [n for n in _loads(function, name) if n.lineno <= written.lineno]
            if not before:
                yield written.lineno, f"`{name}` is overwritten before it was read, so what was given is lost.", True
            elif all(_only_shape(function, n) for n in before):
                yield written.lineno, f"`{name}` is overwritten. Of what was given only the shape is used.", True


def not_filled(tree, reference):
    """Arguments that the reference writes into, and whose name an answer gives to something else before it does."""
    theirs = {function.name: function for function in functions_of(reference)}
    for function in functions_of(tree):
        other = theirs.get(function.name)
        for name, wanted in zip(_names(function), _names(other), strict=False) if other else ():
            first = next((s for s in body_of(function) if _plain_target(s) == name), None)
            fills = wanted in _written_into(other) and not any(_plain_target(s) == wanted for s in ast.walk(other))
            if first is None or not fills:
                continue
            if not any(_filled_by(node) == name and node.lineno < first.lineno for node in ast.walk(function)):
                what = f"from here on `{name}` is the name of something new. What was given stays as it was"
                yield first.lineno, f"{what}, and whoever called sees no change.", True


def parts(tree, reference):
    """Layers and matrices such as `self.W_o` or `layer.W_o` that the reference uses and an answer never does."""
    if isinstance(tree.body[0], ast.ClassDef):
        used = _attributes(tree, "self")
        if used is not None and not _ALL_PARTS & set(used):
            wanted = _attributes(reference, "self") or ()
            for name, line in _parts_made(tree):
                if name in wanted and name not in used:
                    yield line, f"`self.{name}` is made here and never used.", True
        return
    for name, wanted in zip(_names(tree.body[0]), _names(reference.body[0]), strict=False):
        used = _attributes(tree, name)
        for part in _attributes(reference, wanted) or () if used else ():
            if part not in used and _A_MATRIX.fullmatch(part):
                yield tree.body[0].lineno, f"`{name}.{part}` is never used.", True


def unused(function):
    """Values that are computed and never used, and values overwritten before they are."""
    for block in _blocks(function.body):
        for first, second in zip(block, block[1:], strict=False):
            name = _plain_target(first)
            if name and name == _plain_target(second) and not _reads(second.value, name):
                yield (
                    second.lineno,
                    f"`{name}` is overwritten before its value from line {first.lineno} was used.",
                    True,
                )
    read = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    kept = {name for node in ast.walk(function) if isinstance(node, (ast.Global, ast.Nonlocal)) for name in node.names}
    for node in ast.walk(function):
        name = _plain_target(node)
        if name and name not in read | kept and not name.startswith("_") and not isinstance(node.value, ast.Constant):
            yield node.lineno, f"`{name}` is computed here and never used.", True


def kept_outside(function):
    """Lists and the like that stand outside a function and that it fills; what a forward pass keeps in `self`."""
    own = {*_names(function), *(n.id for n in ast.walk(function) if isinstance(n, ast.Name) and not _is_read(n))}
    for node in ast.walk(function):
        name = _filled_by(node)
        if name and name not in own:
            what = f"`{name}` stands outside the function, so it still holds what earlier calls have put there."
            yield node.lineno, what, True
    if function.name == "forward":
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute) and short(node.value) == "self" and not _is_read(node):
                yield node.lineno, f"look at `{short(node)}`. What is put there stays until the next call.", False


def views(function):
    """Slices that are read after their array was written, and second names for an argument that is written."""
    for block in _blocks(function.body):
        yield from _stale_slices(block)
    given = set(_names(function)) - {"self"}
    statements = list(_in_order(function.body))
    for i, statement in enumerate(statements):
        name, value = _plain_target(statement), getattr(statement, "value", None)
        if not name or not isinstance(value, ast.Name) or value.id not in given or name == value.id:
            continue
        changed = next((s for s in statements[i + 1 :] if name in {base for base, _ in _filled(s)}), None)
        if changed is not None and sum(_plain_target(s) == name for s in statements) == 1:
            what = f"`{name}` is a second name for `{value.id}` and no copy, so this line changes `{value.id}` too."
            yield changed.lineno, what, True


def _stale_slices(block):
    for i, statement in enumerate(block):
        for name, base, shown in _slices(statement):
            # A write elsewhere may leave the view as it was, so only one to the very same place counts.
            written = next((j for j in range(i + 1, len(block)) if (base, shown) in _filled(block[j])), None)
            if written is None or any(_plain_target(s) in (base, name) for s in block[i + 1 : written + 1]):
                continue
            after = next((s for s in block[written + 1 :] if _reads(s, name)), None)
            if after is not None:
                once = f"once line {block[written].lineno} writes into `{base}`"
                what = f"`{name}` is a view of `{base}` and no copy: {once}"
                yield statement.lineno, f"{what}, `{name}` changes too, before line {after.lineno} reads it.", True


_FILLING = frozenset("append extend insert update add setdefault".split())


# Small questions about statements -------------------------------------------------------------------------------------


def _names(function):
    return [a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]


def _loads(function, name):
    return [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]


def _reads(node, name):
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in ast.walk(node))


def _is_read(node):
    return isinstance(node.ctx, ast.Load)


def _only_shape(function, name_node):
    return any(
        isinstance(n, ast.Attribute) and n.value is name_node and n.attr in ("shape", "ndim", "dtype")
        for n in ast.walk(function)
    )


_A_MATRIX = re.compile(r"[A-Z]_\w")  # W_o; a bias may cancel out
_ALL_PARTS = {"children", "modules", "parameters", "named_children", "named_modules", "_modules", "state_dict"}


def _attributes(tree, owner):
    """The attributes that are read of a name; None where it is also used as a whole."""
    bases = {id(node.value): node for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    reads = [bases.get(id(node)) for node in _loads(tree, owner)]
    if None in reads:
        return None
    return dict.fromkeys(node.attr for node in reads if _is_read(node))


def _parts_made(tree):
    """The attributes of `self` that are given what a call makes, as (name, line)."""
    for statement in (node for node in ast.walk(tree) if isinstance(node, ast.Assign)):
        for target in statement.targets if isinstance(statement.value, ast.Call) else ():
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
                yield target.attr, target.lineno


def _filled_by(node):
    """The name of the list, dict or array that a call or a statement puts something into, or ""."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FILLING:
        return node.func.value.id if isinstance(node.func.value, ast.Name) else ""
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        return next((base for base, _ in _filled(node)), "")
    return ""


def _written_into(function):
    """Names of what a function puts something into."""
    return {_filled_by(node) for node in ast.walk(function)} - {""}


def _plain_target(statement):
    """The one name that a statement gives a value to, or ""."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id
    return ""


def _blocks(body):
    yield body
    for statement in body:
        for field in ("body", "orelse"):
            inner = getattr(statement, field, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                yield from _blocks(inner)


def _in_order(body):
    """The simple statements of a body, those inside `if` and loops included, from top to bottom."""
    for statement in body:
        inner = [
            getattr(statement, field)
            for field in ("body", "orelse")
            if isinstance(getattr(statement, field, None), list)
        ]
        if inner and not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            for block in inner:
                yield from _in_order(block)
        else:
            yield statement


def _slices(statement):
    """(name, base, place) for each `name = base[place]` with a slice in the brackets, which gives a view."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    target, value = statement.targets[0], statement.value
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        pairs = list(zip(target.elts, value.elts, strict=True))
    for to, of in pairs:
        if isinstance(to, ast.Name) and isinstance(of, ast.Subscript) and isinstance(of.value, ast.Name):
            parts = of.slice.elts if isinstance(of.slice, ast.Tuple) else [of.slice]
            plain = all(isinstance(p, (ast.Slice, ast.Constant, ast.UnaryOp)) for p in parts)
            if plain and any(isinstance(p, ast.Slice) for p in parts) and to.id != of.value.id:
                yield to.id, of.value.id, ast.dump(of.slice)


def _filled(statement):
    """(base, place) for each array that a statement writes into."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    found = [t for t in targets if isinstance(t, ast.Subscript) and isinstance(t.value, ast.Name)]
    return (
        {(t.value.id, ast.dump(t.slice)) for t in found}
        if isinstance(statement, (ast.Assign, ast.AugAssign))
        else set()
    )
