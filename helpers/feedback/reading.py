"""What the source of a wrong answer says by itself: facts about its lines that often are the mistake.

A remark is certain where it is a fact about Python, NumPy or PyTorch that hardly anybody means. It is a suspicion
where the line may well be meant; its sentence then says where to look, and what that line does, and no more.
"""

import ast
from dataclasses import dataclass

from . import reading_names
from .edits_of_calls import is_method, name_of
from .variants import body_of, functions_of

_LOOPS = (ast.For, ast.While)
_IN_PLACE = frozenset(
    "append extend insert sort reverse update add pop remove clear setdefault copyto fill_diagonal put fill seed manual_seed"
    " set_rng_state print add_module register_buffer register_parameter eval train backward step zero_grad shuffle"
    " setflags resize partition itemset copy_ init xavier_uniform_ __init__ setattr load_state_dict".split()
)
_RETURN_NEW = frozenset(
    "masked_fill where softmax log_softmax transpose swapaxes reshape view permute exp log sqrt clip clamp contiguous"
    " squeeze unsqueeze float to tril triu round repeat expand sum mean max min abs matmul dot astype flatten tanh"
    " cumsum roll flip moveaxis concatenate cat stack nan_to_num maximum minimum divide multiply add subtract".split()
)
_METHODS = frozenset("sum mean max min exp sqrt abs softmax any all std var transpose clone copy item prod".split())


@dataclass(frozen=True)
class Remark:
    """A fact about one line of a learner's source, as a sentence. certain: hardly anybody means such a line."""

    line: int
    sentence: str
    certain: bool


def remarks(tree, reference=None, many_axes=()):
    """Remarks on an answer, the certain ones first, then by line; empty for None.

    tree: the answer, from `variants.parse`, or None. reference: the right answer's tree; what is in it too is no
    remark. many_axes: names of arguments that have more than two axes in some case.
    """
    if tree is None:
        return []
    found = list(_all(tree, many_axes))
    known = {sentence for _, sentence, _ in _all(reference, many_axes)} if reference else set()
    if reference:
        found += reading_names.arguments(tree, reference)
        found += [] if reading_names.draws(reference) else list(_chance(tree))
    fresh = dict.fromkeys(one for one in found if one[1] not in known)
    said = [Remark(line, f"Line {line}: {sentence}", certain) for line, sentence, certain in fresh]
    return sorted(said, key=lambda remark: (not remark.certain, remark.line))


def _all(tree, many_axes):
    for function in functions_of(tree):
        yield from _returns(function)
        yield from reading_names.unused(function)
        yield from reading_names.views(function)
        has_input = any(a.arg != "self" for a in function.args.args)
        for node in ast.walk(function):
            yield from _statement(node)
            yield from (one for one in _expression(node) if has_input or "sizes of the input" not in one[1])
            if isinstance(node, ast.Attribute) and node.attr == "T" and _short(node.value) in many_axes:
                yield node.lineno, f"look at `.T` in `{_short(node)}`. With more than two axes it reverses all of them.", False
    yield from _classes(tree)


# Lines ----------------------------------------------------------------------------------------------------------------


def _returns(function):
    """Functions that give nothing back, and loops that end in their first round."""
    own = [node for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
    prints = [n for n in ast.walk(function) if isinstance(n, ast.Call) and name_of(n) == "print"]
    if not own and prints and function.name != "__init__":
        yield prints[-1].lineno, "the result is printed and not returned; nobody can calculate with what is printed.", True
    for loop in (node for node in ast.walk(function) if isinstance(node, _LOOPS)):
        last = loop.body[-1]
        if any(isinstance(node, (ast.Continue, ast.Break)) for node in ast.walk(loop)):
            continue
        if isinstance(last, ast.Return):
            yield last.lineno, "this `return` stands inside the loop, which therefore ends in its first round.", True
        elif isinstance(last, ast.If) and last.orelse and all(isinstance(b[-1], ast.Return) for b in (last.body, last.orelse)):
            yield last.orelse[-1].lineno, "one `return` or the other ends the loop in its first round.", True


def _statement(node):
    if isinstance(node, ast.Expr):
        yield from _thrown_away(node)
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.UnaryOp) and isinstance(node.value.op, ast.UAdd):
        yield node.lineno, "`=+` does not add: it stores the value that follows. Adding to a total is `+=`.", True
    elif isinstance(node, ast.For):
        yield from _loop_bounds(node)


def _thrown_away(node):
    value = node.value
    if isinstance(value, ast.Compare) and isinstance(value.ops[0], ast.Eq):
        yield node.lineno, "`==` compares, and the answer is thrown away. A single `=` gives a name its value.", True
    elif isinstance(value, ast.BinOp):
        yield node.lineno, f"`{_short(value)}` is calculated and thrown away: it has no name and is not returned.", True
    elif isinstance(value, ast.Call) and name_of(value) in _RETURN_NEW - _IN_PLACE:
        if any(keyword.arg in ("out", "inplace") for keyword in value.keywords) or len(value.args) > 3:
            return
        if isinstance(value.func, ast.Attribute):
            yield node.lineno, (
                f"`{name_of(value)}` gives a new array back and leaves the old one as it was. Here what it gives is thrown away."
            ), True


def _loop_bounds(node):
    """range(1, n) and range(n - 1), where the loop's number is only used as an index."""
    call = node.iter
    if not (isinstance(call, ast.Call) and name_of(call) == "range" and isinstance(node.target, ast.Name)):
        return
    uses = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == node.target.id and isinstance(n.ctx, ast.Load)]
    indices = [part for n in ast.walk(node) if isinstance(n, ast.Subscript)
               for part in (n.slice.elts if isinstance(n.slice, ast.Tuple) else [n.slice])]  # fmt: skip
    if not uses or any(not any(use is index for index in indices) for use in uses):
        return
    if len(call.args) == 2 and isinstance(call.args[0], ast.Constant) and call.args[0].value == 1:
        last = call.args[1]
        if not (isinstance(last, ast.BinOp) and isinstance(last.op, ast.Add)):
            yield node.lineno, f"look at `{_short(call)}`. It begins with 1, so number 0, the first, is left out.", False
    end = call.args[-1] if len(call.args) <= 2 else None
    if isinstance(end, ast.BinOp) and isinstance(end.op, ast.Sub) and isinstance(end.right, ast.Constant) and end.right.value == 1:
        yield node.lineno, f"look at `{_short(call)}`. A range stops before its end, so here the last one is left out.", False


# Expressions ----------------------------------------------------------------------------------------------------------


def _expression(node):
    if isinstance(node, ast.BinOp):
        yield from _operation(node)
    elif isinstance(node, ast.Call):
        yield from _call(node)
    elif isinstance(node, ast.Compare):
        yield from _comparison(node)
    if isinstance(node, (ast.BinOp, ast.Compare)):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Attribute) and child.attr in _METHODS and isinstance(child.value, ast.Name):
                if child.value.id not in ("np", "torch", "math", "self"):
                    yield child.lineno, f"`{_short(child)}` only names the method. Without parentheses nothing is calculated.", True


def _operation(node):
    op, left, right = node.op, node.left, node.right
    if isinstance(op, ast.BitXor) and _whole(right, 2):
        yield node.lineno, f"in `{_short(node)}`, `^` is no power: Python's `^` compares the bits of whole numbers, and powers are `**`.", True
    if isinstance(op, ast.Div) and isinstance(left, ast.BinOp) and isinstance(left.op, ast.Pow) and _whole(left.right, 1, 1):
        yield node.lineno, f"in `{_short(node)}` the power is taken first, and only then comes the division.", True
    if isinstance(op, ast.FloorDiv) and isinstance(left, ast.BinOp) and isinstance(left.op, ast.Div):
        yield node.lineno, f"`{_short(node)}` is worked out from left to right, and `//` rounds what it gets down to a whole number.", True
    if isinstance(op, ast.Pow):
        for inner in ast.walk(right):
            if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.FloorDiv):
                yield node.lineno, f"look at `//` in the exponent `{_short(right)}`. It rounds down to a whole number.", False
                break
    if isinstance(op, ast.Mult):
        for side, other in ((left, right), (right, left)):
            if isinstance(side, ast.List) and (len(side.elts) > 1 or isinstance(side.elts[0] if side.elts else None, ast.List)):
                times = _short(other)
                yield node.lineno, f"a list times {times} is that list {times} times over. Its entries stay as they are.", True
    if isinstance(op, ast.Add):
        for side in (left, right):
            if isinstance(side, ast.Constant) and isinstance(side.value, float) and 0 < side.value <= 1e-3:
                yield node.lineno, f"look at the {side.value:g} that is added. It changes the result a little.", False
    if isinstance(op, (ast.Div, ast.FloorDiv)) and _whole(right, 3):
        yield node.lineno, f"look at the {right.value} in `{_short(node)}`. It stays {right.value} whatever the sizes of the input.", False


def _call(node):
    name = name_of(node)
    if name in ("eye", "zeros", "ones", "empty", "reshape", "view", "arange", "identity", "sqrt", "range", "tri"):
        for number in [n for argument in node.args for n in ast.walk(argument)]:
            inside = isinstance(number, ast.Constant) and _whole(number, 3)
            if inside and number in [*node.args, *(e for a in node.args if isinstance(a, ast.Tuple) for e in a.elts)]:
                yield node.lineno, f"look at the {number.value} in `{_short(node)}`. It stays {number.value} whatever the sizes of the input.", False
                break
    if name in ("zeros", "empty", "ones", "full", "array", "zeros_like") or name == "astype":
        kinds = [k.value for k in node.keywords if k.arg == "dtype"] + (node.args[:1] if name == "astype" else [])
        if any(_short(kind) in ("int", "np.int64", "np.int32", "torch.long", "torch.int64") for kind in kinds):
            yield node.lineno, f"look at the dtype in `{_short(node)}`. Whole numbers cut off what stands after the point.", False
    if name in ("masked_fill", "masked_fill_", "where", "full", "full_like"):
        for number in [n for argument in node.args for n in [argument]]:
            value = _negative(number)
            if value is not None and value <= -10:
                yield node.lineno, f"look at {value:g} in `{_short(node)}`. It is an ordinary number: other scores can lie below it.", False
    if name in ("equal", "array_equal") and not is_method(node):
        yield node.lineno, f"look at `{name}`. It asks for equality to the last bit, so rounding alone makes a difference.", False
    if name in ("softmax", "Softmax", "log_softmax"):
        for keyword in node.keywords:
            if keyword.arg in ("dim", "axis") and isinstance(keyword.value, ast.Constant) and keyword.value.value in (0, 1):
                axis = keyword.value.value
                yield node.lineno, f"look at `{keyword.arg}={axis}` of the softmax. Axis {axis} is counted from the front, and a batch moves it.", False
    if name in ("flatten", "ravel") and is_method(node) and not node.args and not node.keywords:
        yield node.lineno, f"look at `{name}()`. Without an argument it lays all axes into one.", False


def _comparison(node):
    """(a - b).max() < 1e-5: differences with a sign."""
    for side, op in ((node.left, node.ops[0]),):
        if isinstance(side, ast.Call) and name_of(side) in ("max", "amax") and isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
            inside = side.func.value if is_method(side) else (side.args[0] if side.args else None)
            if isinstance(inside, ast.BinOp) and isinstance(inside.op, ast.Sub):
                yield node.lineno, f"look at `{_short(side)}`. The differences keep their signs, so one far below 0 counts as small.", False


def _chance(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and reading_names.draws(node, deep=False):
            yield node.lineno, f"`{_short(node)}` draws at random, so the same input gives another result every time.", True


def _classes(tree):
    """Layers made anew at every call, and classes that forget what nn.Module prepares."""
    definition = tree.body[0]
    if not isinstance(definition, ast.ClassDef):
        return
    for function in functions_of(tree):
        calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
        if function.name == "forward":
            for call in calls:
                if isinstance(call.func, ast.Attribute) and _short(call.func).startswith("nn.") and call.func.attr[:1].isupper():
                    yield call.lineno, (
                        f"`{_short(call.func)}` is made anew at every call. PyTorch cannot see it: it is neither trained, moved"
                        " nor switched by `eval()`. Layers are made in `__init__`."
                    ), True
        if function.name == "__init__" and "Module" in " ".join(_short(base) for base in definition.bases):
            if not any(name_of(call) == "super" for call in calls) and body_of(function):
                yield function.lineno, "`__init__` does not call `super().__init__()`, without which a module cannot hold layers.", True


def _whole(node, least, most=10**9):
    return isinstance(node, ast.Constant) and type(node.value) is int and least <= node.value <= most


def _negative(node):
    inner = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else None
    if isinstance(inner, ast.Call) and name_of(inner) == "float":
        return None
    return -inner.value if isinstance(inner, ast.Constant) and isinstance(inner.value, (int, float)) else None


def _short(node):
    text = ast.unparse(node)
    return text if len(text) <= 50 else text[:47] + "…"
