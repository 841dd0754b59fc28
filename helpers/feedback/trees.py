"""Small questions about syntax trees that several modules ask."""

import ast

AXES = ("axis", "dim", "dim0", "dim1", "axes")


def number(n):
    """The expression for a number."""
    return ast.UnaryOp(ast.USub(), ast.Constant(-n)) if n < 0 else ast.Constant(n)


def name_of(call):
    """The last part of what a call calls: "sum" for np.sum(x) and for x.sum()."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def is_method(call):
    """Whether a call is a value's method, x.sum(), and not a module's function, np.sum(x)."""
    func = call.func
    return isinstance(func, ast.Attribute) and not (
        isinstance(func.value, ast.Name) and func.value.id in ("np", "torch", "math", "F", "nn", "numpy")
    )


def number_of(node):
    """The number that an expression writes out, with its sign; None for everything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number_of(node.operand)
        return None if inner is None else -inner
    plain = isinstance(node, ast.Constant) and type(node.value) in (int, float)
    return node.value if plain else None


def short(node):
    """An expression's text, cut off where it is too long to be quoted."""
    text = ast.unparse(node)
    return text if len(text) <= 50 else text[:47] + "…"
