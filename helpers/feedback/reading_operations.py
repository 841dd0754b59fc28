"""Operations that an answer does and the reference does not, and kinds of operations that are missing in it.

What the reference calls counts as its own: `sources` hold it and the functions of the course that it calls.
"""

import ast

from .trees import name_of, number_of, short
from .variants import functions_of

# What a function does to values, for those that change a result where nobody wants them.
_FOREIGN = {
    "clip": "It cuts values off at its bounds.",
    "clamp": "It cuts values off at its bounds.",
    "int": "It cuts off what stands after the point.",
    "sigmoid": "It takes every entry by itself, so nothing sums to 1.",
    "norm": "It gives lengths: what is divided by them loses its own.",
    "normalize": "It makes all lengths 1.",
    "tanh": "It presses every entry between −1 and 1.",
    "relu": "It makes negative entries 0.",
    "round": "It rounds.",
    "floor": "It rounds down.",
    "ceil": "It rounds up.",
    "trunc": "It cuts off what stands after the point.",
    "sort": "It puts entries in another order.",
    "unique": "It drops what comes twice, and puts the rest in order.",
    "abs": "It drops the sign.",
    "nan_to_num": "It hides NaN and does not say where that came from.",
    "cumsum": "It adds up from the first entry on.",
    "cumprod": "It multiplies from the first entry on.",
    "flip": "It reverses the order.",
    "roll": "What falls out at one end comes in at the other.",
    "log": "It takes a logarithm.",
    "square": "It squares every entry.",
    "std": "It gives a spread.",
    "var": "It gives a squared spread.",
    "dropout": "It sets entries to 0 at random.",
    "repeat": "It lays whole copies side by side.",
    "tile": "It lays whole copies side by side.",
    "lstsq": "It finds what fits a table best, which need not be what made it.",
    "pinv": "It finds what fits a table best, which need not be what made it.",
    "argmax": "It gives the place of the largest entry, and not the entry.",
}
_NEARLY = {"allclose", "isclose", "abs"}  # what comparisons with some room use
# Kinds of operations: what a code without one "never" does, names that plainly do it, and others that may.
_KINDS = (
    ("divides", "Div FloorDiv divide true_divide", "mean average softmax normalize Pow rsqrt log logsumexp"),
    ("takes an exponential", "exp exp2 softmax log_softmax", "logsumexp elu sigmoid Pow logaddexp cross_entropy"),
    ("takes a logarithm", "log log2 log10 log1p log_softmax", "logsumexp softmax cross_entropy bit_length"),
    ("takes a tanh", "tanh", "exp sigmoid"),
    ("takes a root", "sqrt", "Pow norm rsqrt std normalize layer_norm pow power"),
    ("draws at random", "randn standard_normal normal rand multinomial choice randint", ""),
)


def foreign(tree, sources):
    """(line, sentence, False) for functions that change values and that nothing in the sources (trees) calls."""
    own = set().union(*map(_operations, sources)) if sources else set()
    with_room = own & _NEARLY and not _operations(tree) & _NEARLY
    for function in functions_of(tree):
        for node in ast.walk(function):
            if with_room and _compares_exactly(node):
                why = "It wants equality to the last bit: rounding alone makes a difference."
                yield node.lineno, f"look at the `==` in `{short(node)}`. {why}", False
            if isinstance(node, ast.Call) and name_of(node) in _FOREIGN and name_of(node) not in own:
                yield node.lineno, f"look at `{short(node)}`. {_FOREIGN[name_of(node)]}", False
            elif _bounds(node) and name_of(node) not in own:
                yield node.lineno, f"look at `{short(node)}`. {_FOREIGN['clip']}", False
            elif _is_sigmoid(node) and not any(_is_sigmoid(n) for source in sources for n in ast.walk(source)):
                yield node.lineno, f"look at `{short(node)}`, a sigmoid. {_FOREIGN['sigmoid']}", False


def _bounds(node):
    """Whether a call takes the smaller or the larger of values and a number."""
    named = isinstance(node, ast.Call) and name_of(node) in ("minimum", "maximum", "fmin", "fmax")
    return named and any(number_of(argument) for argument in node.args)


def missing(tree, sources, space):
    """Sentences on kinds of operations that the course's way has and that stand nowhere in an answer.

    space: the names that the answer's code sees; what it calls there may do anything, unless it is a module's own.
    """
    ours, theirs = _operations(tree), set().union(*map(_operations, sources))
    if _calls_unknown(tree, space):
        return
    for words, plain, others in _KINDS:
        plain = set(plain.split())
        if plain & theirs and not (plain | set(others.split())) & ours:
            yield f"Your code never {words}, and the course's way does."


def _operations(tree):
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            found.add(name_of(node))
        elif isinstance(node, (ast.BinOp, ast.AugAssign)):
            found.add(type(node.op).__name__)
    return found


def _calls_unknown(tree, space):
    """Whether an answer calls functions of the cell or the course whose operations do not show in its text."""
    known = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    called = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    return any(name in space and name not in known for name in called)


def _compares_exactly(node):
    """a == b, neither of them a number or a size."""
    if not (isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Eq, ast.NotEq))):
        return False
    sides = (node.left, node.comparators[0])
    return not any(isinstance(n, ast.Constant) or getattr(n, "attr", "") == "shape" for s in sides for n in ast.walk(s))


def _is_sigmoid(node):
    """1 / (1 + exp(−x))."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and number_of(node.left) == 1):
        return False
    below = node.right
    if not (isinstance(below, ast.BinOp) and isinstance(below.op, ast.Add)):
        return False
    sides = (below.left, below.right)
    return any(number_of(s) == 1 for s in sides) and any(
        isinstance(s, ast.Call) and name_of(s) == "exp" for s in sides
    )
