"""What the source of a wrong answer says by itself: facts about its lines that often are the mistake.

A remark is certain where it is a fact about Python, NumPy or PyTorch that hardly anybody means. It is a suspicion
where the line may well be meant; its sentence then says where to look, and what stands there does, and no more.
"""

import ast
from dataclasses import dataclass

from . import reading_calls, reading_names
from .reading_calls import certain, suspicion
from .trees import name_of, number_of, short
from .variants import body_of, functions_of

_LOOPS = (ast.For, ast.While)
# Functions that give a new array and leave the old one alone; nothing is kept of them unless it gets a name.
_RETURN_NEW = frozenset(
    "masked_fill where softmax log_softmax transpose swapaxes reshape view permute exp log sqrt clip clamp contiguous"
    " squeeze unsqueeze tril triu round repeat expand sum mean max min abs matmul dot astype flatten tanh cumsum roll"
    " flip moveaxis concatenate cat stack nan_to_num maximum minimum divide multiply subtract".split()
)
_WITH_STATE = frozenset("Linear Dropout LayerNorm Embedding Parameter MultiheadAttention BatchNorm1d Conv1d".split())
_GIVES_NONE = "the function ends without a `return`, and then gives None."


@dataclass(frozen=True)
class Remark:
    """A fact about one line of a learner's source, as a sentence. certain: hardly anybody means such a line."""

    line: int
    sentence: str
    certain: bool

    @property
    def of_none(self):
        """Whether it says that a function gives None."""
        return self.sentence.endswith(_GIVES_NONE)


def remarks(tree, reference=None, many_axes=(), batches=True):
    """Remarks on an answer, the certain ones first, then by line; empty for None.

    tree: the answer, from `variants.parse`, or None. reference: the right answer's tree; what could be said of it as
    well is left out. many_axes: names of arguments that have more than two axes in some case. batches: whether inputs
    may have a batch.
    """
    if tree is None:
        return []
    found = list(_all(tree, many_axes, batches))
    known = {sentence for _, sentence, _ in _all(reference, many_axes, batches)} if reference else set()
    if reference:
        found += reading_names.arguments(tree, reference)
        found += reading_names.not_filled(tree, reference)
        found += reading_names.parts(tree, reference)
        found += [] if reading_names.draws(reference) else _chance(tree)
        found += _asserts(tree, reference)
    fresh = dict.fromkeys(one for one in found if one[1] not in known)
    said = [Remark(line, f"Line {line}: {sentence}", is_certain) for line, sentence, is_certain in fresh]
    return sorted(said, key=lambda remark: (not remark.certain, remark.line))


def _all(tree, many_axes, batches):
    for function in functions_of(tree):
        yield from _returns(function)
        yield from reading_names.unused(function)
        yield from reading_names.views(function)
        yield from reading_names.kept_outside(function)
        has_input = any(a.arg != "self" for a in function.args.args)
        for node in ast.walk(function):
            yield from _statement(node, function)
            said = reading_calls.of(node, batches)
            yield from (one for one in said if has_input or "sizes of the input" not in one[1])
            yield from _first_only(node, many_axes)
            if isinstance(node, ast.Attribute) and node.attr == "T" and short(node.value) in many_axes:
                yield from suspicion(
                    node, f"`.T` in `{short(node)}`", "With more than two axes it reverses all of them."
                )
    yield from _classes(tree)


def _first_only(node, many_axes):
    """x[0] of an argument with a batch."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and short(node.value) in many_axes:
        first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
        if number_of(first) in (0, -1):
            which = "first" if number_of(first) == 0 else "last"
            yield from suspicion(node, f"`{short(node)}`", f"It takes the {which} alone and leaves all others out.")


def _returns(function):
    """Functions that give nothing back, and loops that end in their first round."""
    returned = [node for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
    prints = [node for node in ast.walk(function) if isinstance(node, ast.Call) and name_of(node) == "print"]
    if not returned and prints and function.name != "__init__":
        yield from certain(
            prints[-1], "the result is printed and not returned. Nobody can calculate with what is printed."
        )
    own = [node for node in returned if not any(node in ast.walk(inner) for inner in _nested(function))]
    if own and not _always_ends(function.body):
        last = function.body[-1]
        what = "below this line" if isinstance(last, (*_LOOPS, ast.If, ast.With, ast.Try)) else "after this line"
        yield from certain(last, f"{what} {_GIVES_NONE}")
    for loop in (node for node in ast.walk(function) if isinstance(node, _LOOPS)):
        last = loop.body[-1]
        if any(isinstance(node, (ast.Continue, ast.Break)) for node in ast.walk(loop)):
            continue
        if isinstance(last, ast.Return):
            yield from certain(last, "this `return` stands inside the loop, which therefore ends in its first round.")
        both = isinstance(last, ast.If) and last.orelse and (last.body, last.orelse)
        if both and all(isinstance(branch[-1], ast.Return) for branch in both):
            yield from certain(last.orelse[-1], "one `return` or the other ends the loop in its first round.")


def _nested(function):
    return [n for n in ast.walk(function) if isinstance(n, (ast.FunctionDef, ast.Lambda)) and n is not function]


def _always_ends(body):
    """Whether no road leads past the end of a body: it ends in `return` or `raise`, whatever happens."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return _always_ends(last.body) and _always_ends(last.orelse)
    if isinstance(last, ast.With):
        return _always_ends(last.body)
    if isinstance(last, ast.While):
        return isinstance(last.test, ast.Constant) and not any(isinstance(n, ast.Break) for n in ast.walk(last))
    return isinstance(last, (ast.Return, ast.Raise, ast.Try, ast.Match))


def _statement(node, function):
    if isinstance(node, ast.Expr):
        yield from _thrown_away(node)
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.UnaryOp) and isinstance(node.value.op, ast.UAdd):
        yield from certain(node, "`=+` does not add: it stores the value that follows. Adding to a total is `+=`.")
    elif isinstance(node, ast.For):
        yield from _loop_bounds(node, function)


def _thrown_away(node):
    value = node.value
    if isinstance(value, ast.Compare) and isinstance(value.ops[0], ast.Eq):
        yield from certain(node, "`==` compares, and the answer is thrown away. A single `=` gives a name its value.")
    elif isinstance(value, ast.BinOp):
        yield from certain(node, f"`{short(value)}` is calculated and thrown away: it has no name and is not returned.")
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and name_of(value) in _RETURN_NEW:
        if not any(keyword.arg in ("out", "inplace") for keyword in value.keywords) and len(value.args) <= 3:
            what = f"`{name_of(value)}` gives a new array back and leaves the old one as it was"
            yield from certain(node, f"{what}. Here what it gives is thrown away.")


def _loop_bounds(node, function):
    """range(1, n) and range(n - 1), where the loop's number is only used as an index and nothing is done besides."""
    call = node.iter
    if not (isinstance(call, ast.Call) and name_of(call) == "range" and isinstance(node.target, ast.Name)):
        return
    places = [n.slice for n in ast.walk(function) if isinstance(n, ast.Subscript)]
    indices = [part for place in places for part in (place.elts if isinstance(place, ast.Tuple) else [place])]
    uses = [n for line in node.body for n in ast.walk(line) if isinstance(n, ast.Name) and n.id == node.target.id]
    if not uses or not all(any(use is index for index in indices) for use in uses):
        return
    written = set(map(number_of, indices))
    first, last = (call.args[0], call.args[1]) if len(call.args) == 2 else (None, call.args[-1])
    adds = isinstance(last, ast.BinOp) and isinstance(last.op, ast.Add)
    if number_of(first) == 1 and not adds and 0 not in written:
        yield from suspicion(node, f"`{short(call)}`", "It begins with 1, so number 0, the first, is left out.")
    less = isinstance(last, ast.BinOp) and isinstance(last.op, ast.Sub) and number_of(last.right) == 1
    if less and -1 not in written and len(call.args) < 3:
        yield from suspicion(
            node, f"`{short(call)}`", "A range stops before its end, so the last one is left out here."
        )


def _chance(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and reading_names.draws(node, deep=False):
            yield from certain(
                node, f"`{short(node)}` draws at random: the same input gives another result every time."
            )


def _asserts(tree, reference):
    """`assert` where another error is to be raised by name."""
    raised = [node.exc for node in ast.walk(reference) if isinstance(node, ast.Raise) and node.exc is not None]
    names = {name_of(error) if isinstance(error, ast.Call) else short(error) for error in raised}
    if names and not any(isinstance(node, ast.Raise) for node in ast.walk(tree)):
        for node in ast.walk(tree):
            if isinstance(node, ast.Assert):
                yield from certain(node, f"`assert` raises AssertionError; {' or '.join(sorted(names))} is asked for.")


def _classes(tree):
    """Layers made anew at every call, and classes that forget what nn.Module prepares."""
    definition = tree.body[0]
    if not isinstance(definition, ast.ClassDef):
        return
    for function in functions_of(tree):
        calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
        if function.name == "forward":
            for call in calls:
                if short(call.func).startswith("nn.") and name_of(call) in _WITH_STATE:
                    what = (
                        f"`{short(call.func)}` is made anew at every call, where neither training nor `eval()` finds it"
                    )
                    yield from certain(call, f"{what}. Layers are made in `__init__`.")
        of_module = "Module" in " ".join(map(short, definition.bases))
        if function.name == "__init__" and of_module and body_of(function):
            if not any(name_of(call) in ("super", "__init__") for call in calls):
                missing = "`__init__` does not call `super().__init__()`, without which a module cannot hold layers."
                yield from certain(function, missing)
