"""Small questions about syntax trees that several modules ask."""

import ast

AXES = ("axis", "dim", "dim0", "dim1", "axes")


class Own:
    """A tree's own nodes, beside the new ones that edits put among them: what nodes say, and where new ones are.

    Thousands of edits ask; what the tree's own nodes say is written down once. The tree must stay as it is meanwhile.
    """

    def __init__(self, tree):
        self._texts = {}
        for node in reversed(list(ast.walk(tree))):  # what is inside comes first
            self._texts[id(node)] = self._said(node)

    def text(self, node):
        """A text that nodes (lists of nodes, None) have in common if they are the same code, wherever they stand."""
        known = self._texts.get(id(node))
        return self._said(node) if known is None else known

    def _said(self, node):
        if isinstance(node, ast.AST):
            parts = [self.text(getattr(node, field, None)) for field in node._fields]
            return f"{type(node).__name__}({', '.join(parts)})"
        return f"[{', '.join(map(self.text, node))}]" if isinstance(node, list) else repr(node)

    def placed(self, new, at):
        """A new node (or a list), with all that is new inside it, on the line of another; the tree's own stay put."""
        for node in new if isinstance(new, list) else [new]:
            if not isinstance(node, ast.AST) or id(node) in self._texts:
                continue
            if "lineno" in node._attributes and not hasattr(node, "lineno"):
                ast.copy_location(node, at)
            inner = node if hasattr(node, "lineno") else at
            for child in ast.iter_child_nodes(node):
                self.placed(child, inner)
        return new


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
