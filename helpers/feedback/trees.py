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
