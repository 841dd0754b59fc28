"""What single expressions of an answer's source say by themselves. Each function yields (line, sentence, certain)."""

import ast

from .trees import is_method, name_of, number_of, short

_TAKE_SIZES = frozenset("eye zeros ones empty reshape view arange identity sqrt range tri".split())
_WHOLE_NUMBERS = ("int", "np.int64", "np.int32", "torch.long", "torch.int64")
_METHODS = frozenset("sum mean max min exp sqrt abs softmax any all std var transpose clone copy item prod".split())


def certain(node, sentence):
    """A remark that hardly anybody's line can be meant to bring."""
    yield node.lineno, sentence, True


def suspicion(node, what, why):
    """A remark on a line that may well be meant: where to look, and what stands there does."""
    yield node.lineno, f"look at {what}. {why}", False


def of(node, batches=True):
    """Remarks on one expression, without those inside it. batches: whether inputs may have one."""
    if isinstance(node, ast.BinOp):
        yield from _operation(node)
    elif isinstance(node, ast.Call):
        yield from _call(node, batches)
    elif isinstance(node, ast.Compare):
        yield from _signed_difference(node)
    elif isinstance(node, ast.Slice):
        yield from _negative_place(node)
    if isinstance(node, (ast.BinOp, ast.Compare)):
        for child in ast.iter_child_nodes(node):
            named = isinstance(child, ast.Attribute) and child.attr in _METHODS and isinstance(child.value, ast.Name)
            if named and child.value.id not in ("np", "torch", "math", "self"):
                yield from certain(
                    child, f"`{short(child)}` only names the method. Without parentheses it does nothing."
                )


def _operation(node):
    op, left, right = node.op, node.left, node.right
    text = short(node)
    if isinstance(op, ast.BitXor) and _whole(right, 2):
        yield from certain(
            node, f"in `{text}`, `^` is no power: it compares the bits of whole numbers. A power is `**`."
        )
    last = left.right if isinstance(left, ast.BinOp) and isinstance(left.op, (ast.Div, ast.Mult)) else left
    power = isinstance(last, ast.BinOp) and isinstance(last.op, ast.Pow) and _whole(last.right, 1, 1)
    if isinstance(op, ast.Div) and power:
        yield from certain(node, f"in `{text}` the power is taken first, and only then comes the division.")
    if isinstance(op, ast.FloorDiv) and isinstance(left, ast.BinOp) and isinstance(left.op, ast.Div):
        yield from certain(node, f"`{text}` is worked out from left to right, and `//` rounds what it gets down.")
    if isinstance(op, ast.Pow) and any(isinstance(getattr(n, "op", None), ast.FloorDiv) for n in ast.walk(right)):
        yield from suspicion(node, f"`//` in the exponent `{short(right)}`", "It rounds down to a whole number.")
    if isinstance(op, ast.Mult):
        same_rows = isinstance(left, ast.List) and len(left.elts) == 1 and _makes_list(left.elts[0])
        if same_rows:
            same = f"`{text}` holds one and the same row {short(right)} times:"
            yield from certain(node, f"{same} what is written into it is in all of them.")
        for side, times in () if same_rows else ((left, short(right)), (right, short(left))):
            if isinstance(side, ast.List) and (len(side.elts) > 1 or any(isinstance(e, ast.List) for e in side.elts)):
                repeats = f"a list times {times} is that list {times} times over. Its entries stay as they are."
                yield from certain(node, repeats)
    if isinstance(op, ast.Add):
        for side in (left, right):
            if isinstance(side, ast.Constant) and isinstance(side.value, float) and 0 < side.value <= 1e-3:
                yield from suspicion(node, f"the {side.value:g} that is added", "Is it needed?")
    if isinstance(op, (ast.Div, ast.FloorDiv)) and _whole(right, 3):
        yield from _written_in(node, right)


def _makes_list(node):
    """Whether an expression makes a list to be filled: a comprehension, or `[0]` times a number."""
    times = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and isinstance(node.left, ast.List)
    return times or isinstance(node, ast.ListComp)


def _written_in(node, number):
    why = f"It stays {number.value} whatever the sizes of the input."
    yield from suspicion(node, f"the {number.value} in `{short(node)}`", why)


def _call(node, batches):
    name, text = name_of(node), short(node)
    if name in _TAKE_SIZES:
        sizes = [*node.args, *(e for a in node.args if isinstance(a, ast.Tuple) for e in a.elts)]
        stepped = name in ("range", "arange") and len(node.args) > 2  # numbers of its own, and no sizes
        for size in [size for size in sizes if _whole(size, 3, 99_999) and not stepped][:1]:
            yield from _written_in(node, size)
    causal = [k.value for k in node.keywords if k.arg == "is_causal" and getattr(k.value, "value", True) is not False]
    if name == "scaled_dot_product_attention" and causal:
        why = "It lets the first query see the first key alone, however many keys there are."
        yield from suspicion(node, "`is_causal`", why)
    kinds = [k.value for k in node.keywords if k.arg == "dtype"] + (node.args[:1] if name == "astype" else [])
    if any(short(kind) in _WHOLE_NUMBERS for kind in kinds) and name not in ("arange", "randint"):
        yield from suspicion(node, f"the dtype in `{text}`", "Whole numbers cut off what stands after the point.")
    if name in ("masked_fill", "masked_fill_", "where", "full", "full_like"):
        for value in map(number_of, node.args):
            if value is not None and -float("inf") < value <= -10:
                yield from suspicion(
                    node, f"{value:g} in `{text}`", "It is an ordinary number: scores can lie below it."
                )
    if name in ("equal", "array_equal") and not is_method(node):
        yield from suspicion(node, f"`{name}`", "It wants equality to the last bit: rounding alone makes a difference.")
    if batches and name in ("softmax", "Softmax", "log_softmax"):
        for keyword in node.keywords:
            axis = number_of(keyword.value)
            if keyword.arg in ("dim", "axis") and axis in (0, 1):
                why = f"Axis {axis} is counted from the front, and a batch moves it."
                yield from suspicion(node, f"`{keyword.arg}={axis}` of the softmax", why)
    if name in ("flatten", "ravel") and is_method(node) and not node.args and not node.keywords:
        yield from suspicion(node, f"`{name}()`", "Without an argument it lays all axes into one.")
    if name == "dropout" and short(node.func) in ("F.dropout", "nn.functional.dropout", "torch.nn.functional.dropout"):
        if len(node.args) < 3 and not any(keyword.arg == "training" for keyword in node.keywords):
            yield from certain(
                node, f"`{short(node.func)}` is not told whether it is training, and drops in `eval()` too."
            )


def _negative_place(node):
    """A slice that begins at a difference of names."""
    place = node.lower
    while isinstance(place, ast.BinOp) and isinstance(place.op, ast.Add):
        place = place.left
    if isinstance(place, ast.BinOp) and isinstance(place.op, ast.Sub) and not isinstance(place.left, ast.Constant):
        if any(isinstance(n, ast.Name) for n in ast.walk(place.right)):
            what = f"`{short(node.lower)}`, where a slice begins"
            yield from suspicion(node.lower, what, "A number below 0 counts from the end.")


def _signed_difference(node):
    """(a - b).max() < 1e-5: differences with a sign."""
    side, op = node.left, node.ops[0]
    if isinstance(side, ast.Call) and name_of(side) in ("max", "amax"):
        inside = side.func.value if is_method(side) else (side.args[0] if side.args else None)
        ordered = isinstance(op, (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
        if ordered and isinstance(inside, ast.BinOp) and isinstance(inside.op, ast.Sub):
            why = "The differences keep their signs, so one far below 0 counts as small."
            yield from suspicion(node, f"`{short(side)}`", why)


def _whole(node, least, most=10**9):
    return isinstance(node, ast.Constant) and type(node.value) is int and least <= node.value <= most
