"""Single edits of calls: another function, an axis, an argument more or less, arguments exchanged, no call."""

import ast
import itertools

from .edits_of_numbers import infinity, sizes
from .trees import AXES, is_method, name_of, number, number_of

_REDUCTIONS = frozenset(
    "sum mean max min amax amin prod std var all any argmax argmin softmax log_softmax cumsum norm logsumexp"
    " concatenate cat stack unsqueeze squeeze expand_dims flip sort argsort chunk split".split()
)
_KEEPING = frozenset("sum mean max min amax amin prod std var all any norm argmax logsumexp".split())
_FAMILIES = tuple(
    family.split()
    for family in (
        "sum mean prod max cumsum",
        "max min amax amin argmax",
        "maximum minimum",
        "exp log exp2 log2 expm1",
        "log log2 log10 log1p",
        "sin cos tan",
        "tril triu",
        "zeros ones empty",
        "zeros_like ones_like empty_like",
        "all any",
        "floor ceil round",
        "std var",
        "softmax exp sigmoid log_softmax",
        "tanh sigmoid relu",
        "view reshape",
        "stack concatenate cat hstack vstack",
        "repeat repeat_interleave tile",
        "logical_and logical_or logical_xor",
        "greater less greater_equal less_equal",
        "dot inner outer matmul multiply",
        "randn rand normal",
        "standard_normal random uniform",
        "randn_like rand_like",
        "masked_fill masked_fill_",
        "add subtract multiply divide",
        "len sum max",
    )
)
_BUILT_IN = ("sum", "max", "min", "all", "any", "len")
_POSITIONAL_AXIS = frozenset(
    "unsqueeze squeeze sum mean softmax cumsum chunk flip expand_dims stack cat concatenate".split()
)


def edits(function, call, where, parent):
    """All edits of one call. function: the _Function it belongs to. where: (parent, field, index) of the call."""
    name, edit = name_of(call), function.edit
    if name == "super":
        return
    shown = f"`{name}`" if name else "that call"

    def changed(args=None, keywords=None, func=None):
        args, keywords = call.args if args is None else args, call.keywords if keywords is None else keywords
        return ast.Call(call.func if func is None else func, args, keywords)

    # Left out, or another one
    values = [call.func.value, *call.args] if is_method(call) else list(call.args)
    for i, value in enumerate(values[:3]):
        if not isinstance(value, (ast.Starred, ast.GeneratorExp, ast.Constant)):
            text = ast.unparse(value)
            around = f" around `{text}`" if len(text) <= 20 and _several(function, call, name) else " there"
            yield edit(1, "call", f"whether {shown} belongs{around}", where, value, call, (name, i))
    for family in _FAMILIES:
        for other in family if name in family else ():
            plain = isinstance(call.func, ast.Name)
            if other not in (name, function.function.name) and (not plain or other in _BUILT_IN):
                func = ast.Name(other, ast.Load())
                if isinstance(call.func, ast.Attribute):
                    func = ast.Attribute(call.func.value, other, ast.Load())
                yield edit(
                    1,
                    "function",
                    f"whether {shown} is the function you need",
                    where,
                    changed(func=func),
                    call,
                    (name, other),
                )

    # Arguments exchanged, dropped
    for i, j in itertools.combinations(range(min(len(call.args), 4)), 2):
        args = list(call.args)
        args[i], args[j] = args[j], args[i]
        yield edit(1, "order", f"the order of the arguments of {shown}", where, changed(args), call, (name, i, j))
    if len(call.args) == 1 and is_method(call):
        turned = ast.Call(ast.Attribute(call.args[0], name, ast.Load()), [call.func.value], call.keywords)
        yield edit(1, "order", f"the order of the two sides of {shown}", where, turned, call)
    for i in range(len(call.args)):
        if len(call.args) > 1:
            yield edit(
                2, "argument", f"the arguments of {shown}", where, changed(call.args[:i] + call.args[i + 1 :]), call
            )
    for i, keyword in enumerate(call.keywords):
        rest = call.keywords[:i] + call.keywords[i + 1 :]
        yield edit(
            2,
            "argument",
            f"the dtype of {shown}" if keyword.arg == "dtype" else f"the argument `{keyword.arg}` of {shown}",
            where,
            changed(keywords=rest),
            call,
            (name, keyword.arg),
        )

    if len(call.args) == 1 and isinstance(call.args[0], ast.BinOp) and not is_method(call):
        inner = call.args[0]
        look = f"what comes inside the parentheses of {shown}, and what after them"
        for new in (
            ast.BinOp(changed([inner.left]), inner.op, inner.right),
            ast.BinOp(inner.left, inner.op, changed([inner.right])),
        ):
            yield edit(1, "parentheses", look, where, new, call)

    for i, inner in enumerate(call.args[:2]):  # f(g(a, b)) and g(a, f(b)) for each other
        if isinstance(inner, ast.Call) and len(call.args) <= 2 and not is_method(call):
            look = f"what comes first, {shown} or `{name_of(inner)}`"
            for j in range(len(inner.args)):
                outer = ast.Call(call.func, [*call.args[:i], inner.args[j], *call.args[i + 1 :]], call.keywords)
                turned = ast.Call(inner.func, [*inner.args[:j], outer, *inner.args[j + 1 :]], inner.keywords)
                yield edit(2, "order", look, where, turned, call)

    yield from _without_signs(function, call, where, name, shown, changed)
    yield from _axes(function, call, where, name, shown, changed)
    yield from _additions(function, call, where, name, shown, changed)


def _without_signs(function, call, where, name, shown, changed):
    """The largest or the mean of absolute values instead of signed ones, and the other way round."""
    if name == "norm" and call.args and (len(call.args) == 2 or any(k.arg == "ord" for k in call.keywords)):
        largest = ast.Attribute(call.args[0], "amax" if function.torch else "max", ast.Load())
        keywords = [keyword for keyword in call.keywords if keyword.arg != "ord"]
        look = f"whether signs matter to {shown}"
        yield function.edit(1, "sign", look, where, ast.Call(largest, [], keywords), call, (name, "signed"))
    if name not in ("max", "amax", "sum", "mean", "all"):
        return
    look = f"whether signs matter to {shown}"
    if is_method(call):
        unsigned = ast.Call(ast.Name("abs", ast.Load()), [call.func.value], [])
        func = ast.Attribute(unsigned, name, ast.Load())
        yield function.edit(1, "sign", look, where, changed(func=func), call, (name, "abs"))
    elif call.args:
        args = [ast.Call(ast.Name("abs", ast.Load()), [call.args[0]], []), *call.args[1:]]
        yield function.edit(1, "sign", look, where, changed(args), call, (name, "abs"))


def _axes(function, call, where, name, shown, changed):
    """The axis of a reduction: another one, named or by place, given or not, kept or not."""
    torch = function.torch
    word = "dim" if torch else "axis"
    own = [i for i, keyword in enumerate(call.keywords) if keyword.arg in AXES]
    axes = [number(n) for n in (-1, 0, 1, -2, 2, -3)] + [
        ast.Name(a, ast.Load()) for a in function.arguments if a in AXES
    ]
    for i in own:
        for axis in axes:
            if function.text(axis) != function.text(call.keywords[i].value):
                new = ast.copy_location(axis, call.keywords[i].value)
                place = ((call.keywords[i], "value", None, new),)
                key = ("axis", name, function.text(call.keywords[i].value), function.text(axis))
                yield function.change(1, "axis", f"the axis of {shown}", key, (call.lineno,), place)
    position = (0 if is_method(call) else 1) if name in _POSITIONAL_AXIS | _REDUCTIONS else None
    if position is not None and len(call.args) > position and not own:
        for axis in axes:
            if function.text(axis) != function.text(call.args[position]):
                new = ast.copy_location(axis, call.args[position])
                key = ("axis", name, function.text(call.args[position]), function.text(axis))
                yield function.change(
                    1, "axis", f"the axis of {shown}", key, (call.lineno,), ((call, "args", position, new),)
                )
    no_axis = not own and (position is None or len(call.args) <= position)
    if name in _REDUCTIONS and no_axis:
        for axis in axes:
            keywords = [*call.keywords, ast.keyword(word, axis)]
            yield function.edit(
                1, "axis", f"the axis of {shown}, which it is not told", where, changed(keywords=keywords), call
            )
            if torch and name in ("min", "max") and is_method(call):  # with an axis these give places as well
                func = ast.Attribute(call.func.value, f"a{name}", ast.Load())
                keep = ast.keyword("keepdim", ast.Constant(True))
                look = f"the axis of {shown}, which it is not told"
                new = changed(keywords=[*keywords, keep], func=func)
                yield function.edit(2, "axis", look, where, new, call)
            if name in _KEEPING:
                keep = ast.keyword("keepdim" if torch else "keepdims", ast.Constant(True))
                look = f"the axis of {shown}, which it is not told"
                yield function.edit(2, "axis", look, where, changed(keywords=[*keywords, keep]), call)
    if name in _KEEPING and not any(k.arg in ("keepdims", "keepdim") for k in call.keywords):
        keep = ast.keyword("keepdim" if torch else "keepdims", ast.Constant(True))
        look = f"the shape that {shown} leaves: does it still fit?"
        yield function.edit(1, "shape", look, where, changed(keywords=[*call.keywords, keep]), call, ("kept",))


def every_place(function, node, where):
    """A loop over places that are written out, as one over all of a range."""
    loop = where[0]
    if isinstance(loop, (ast.For, ast.comprehension)) and where[1] == "iter":
        for size in _sizes(function):
            every = ast.Call(ast.Name("range", ast.Load()), [number(1), size], [])
            yield function.edit(2, "range", "what that loop runs through", where, every, node)


def _additions(function, call, where, name, shown, changed):
    """Arguments that are missing, conditions the wrong way round, letters of einsum, bounds of range, dtypes."""
    edit = function.edit
    if name == "len" or name == "size":
        for size in _sizes(function):
            yield edit(2, "size", f"the size `{ast.unparse(call)[:25]}`", where, size, call)
    if name in ("reshape", "view", "flatten") and is_method(call) and function.torch:
        look = f"the order of the axes before and after {shown}"
        for exchanged in (call.func.value, None):
            source = call if exchanged is None else exchanged
            turned = ast.Call(ast.Attribute(source, "transpose", ast.Load()), [number(1), number(2)], [])
            if exchanged is not None:
                turned = changed(func=ast.Attribute(turned, "reshape" if name == "view" else name, ast.Load()))
            yield edit(1, "transpose", look, where, turned, call, (name, exchanged is None))
    if name in ("range", "arange"):
        look = f"where that {shown} begins and ends"
        last = call.args[-1] if len(call.args) == 1 else call.args[1] if len(call.args) > 1 else None
        if last is not None:
            first = number(0) if len(call.args) == 1 else call.args[0]
            for new in (
                [last], [number(1), last], [first, ast.BinOp(last, ast.Add(), number(1))],
                [first, ast.BinOp(last, ast.Sub(), number(1))], [number(1), ast.BinOp(last, ast.Add(), number(1))],
            ):  # fmt: skip
                yield edit(1, "range", look, where, changed(new), call)
            if len(call.args) == 2:
                yield edit(1, "range", look, where, changed([first, ast.BinOp(first, ast.Add(), last)]), call)
    if name in ("tril", "triu"):
        for n in (1, -1):
            yield edit(1, "diagonal", f"at which diagonal {shown} cuts", where, changed([*call.args, number(n)]), call)
    if name in ("where", "masked_fill", "masked_fill_", "logical_not"):
        for i, value in enumerate(call.args[:1]):
            new = ast.copy_location(ast.UnaryOp(ast.Invert(), value), value)
            key = ("condition", function.text(value))
            look = f"the condition of {shown}: is it the right way round?"
            yield function.change(1, "condition", look, key, (call.lineno,), ((call, "args", i, new),))
    if name in ("where", "masked_fill", "masked_fill_", "full", "full_like") and len(call.args) > 1:
        *others, filled = call.args
        if number_of(filled) is None and isinstance(filled, (ast.Attribute, ast.Call, ast.UnaryOp, ast.Name)):
            args = [*others, infinity(function.torch, True)]
            rank = 1 if isinstance(filled, ast.Name) else 2
            yield edit(rank, "number", f"the value that {shown} fills in", where, changed(args), call)
    if name in (
        "arange",
        "zeros",
        "ones",
        "empty",
        "eye",
        "full",
        "tensor",
        "array",
        "zeros_like",
        "empty_like",
        "asarray",
    ):
        look = f"the dtype of {shown}"
        kinds = [ast.Name("float", ast.Load())]
        kinds += [
            ast.Attribute(ast.Name(a, ast.Load()), "dtype", ast.Load()) for a in function.arguments if a != "self"
        ][:3]
        rest = [keyword for keyword in call.keywords if keyword.arg != "dtype"]
        for kind in kinds:
            yield edit(2, "dtype", look, where, changed(keywords=[*rest, ast.keyword("dtype", kind)]), call)
    if name == "Linear" and not any(k.arg == "bias" for k in call.keywords):
        keywords = [*call.keywords, ast.keyword("bias", ast.Constant(False))]
        yield edit(1, "argument", f"the biases of {shown}", where, changed(keywords=keywords), call, ("bias",))
    if (
        name == "einsum"
        and call.args
        and isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, str)
    ):
        for letters in _spelled(call.args[0].value):
            new = ast.copy_location(ast.Constant(letters), call.args[0])
            key = ("letters", call.args[0].value, letters)
            yield function.change(
                1, "letters", f"the letters of {shown}", key, (call.lineno,), ((call, "args", 0, new),)
            )
    arguments = [a for a in function.arguments if a != "self"]
    given = {n.id for a in call.args for n in ast.walk(a) if isinstance(n, ast.Name)}
    if name in function.space or isinstance(call.func, ast.Attribute) and not is_method(call):
        for argument in arguments:
            if argument not in given and len(call.args) >= 2 and name not in _REDUCTIONS:
                more = [*call.args, ast.Name(argument, ast.Load())]
                yield edit(3, "argument", f"what {shown} is told, and what it is not", where, changed(more), call)
    if len(call.args) >= 1 and name in ("array", "tensor", "zeros_like", "asarray", "clone", "copy"):
        return
    if isinstance(where[0], ast.Assign) and not isinstance(call.func, ast.Name):
        method = "clone" if function.torch else "copy"
        copied = ast.Call(ast.Attribute(call, method, ast.Load()), [], [])
        yield edit(3, "copy", "whether that is a copy, or still the same array", where, copied, call)


def _several(function, call, name):
    """Whether there are several calls of that name in the call's line."""
    calls = [n for n in ast.walk(function.function) if isinstance(n, ast.Call) and n.lineno == call.lineno]
    return sum(name_of(other) == name for other in calls) > 1


def _sizes(function):
    return [size for a in function.arguments[:6] if a != "self" for size in sizes(function, a)]


def _spelled(letters):
    """Other spellings of einsum's letters: two of one group exchanged, one letter for another, any leading axes."""
    letters = letters.replace(" ", "")
    if "->" in letters:
        inputs, output = letters.split("->")
        groups = [*inputs.split(","), output]
    else:
        return
    used = sorted({letter for letter in letters if letter.isalpha()})
    for i, group in enumerate(groups):
        places = [p for p, letter in enumerate(group) if letter.isalpha()]
        others = []
        for p, q in itertools.combinations(places, 2):
            spelled = list(group)
            spelled[p], spelled[q] = spelled[q], spelled[p]
            others.append("".join(spelled))
        others += [group[:p] + letter + group[p + 1 :] for p in places for letter in used if letter != group[p]]
        others += [group[:p] + group[p + 1 :] for p in places]
        for other in others:
            whole = [*groups[:i], other, *groups[i + 1 :]]
            yield ",".join(whole[:-1]) + "->" + whole[-1]
    if "..." not in letters:
        yield ",".join("..." + group for group in groups[:-1]) + "->..." + groups[-1]
