"""What source code says before it runs: the one place that knows what an exercise cell and a stub look like."""

import ast
import functools
import inspect
import linecache
import textwrap


@functools.cache
def source_of(definition):
    """Dedented source of a function or class of the course. Raises OSError or TypeError where there is none."""
    return textwrap.dedent(inspect.getsource(definition))


def learners_source(candidate):
    """Dedented source of an answer, or None where it cannot be read (built-ins, lambdas, `exec`).

    A class defined in a notebook's cell is found by the file of its methods: Python 3.11's inspect cannot.
    """
    try:
        if isinstance(candidate, type):
            return _source_of_class(candidate)
        candidate = inspect.unwrap(candidate)
        source = textwrap.dedent(inspect.getsource(candidate))
        return source if isinstance(ast.parse(source).body[0], (ast.FunctionDef, ast.AsyncFunctionDef)) else None
    except (OSError, TypeError, ValueError, SyntaxError, IndexError, AttributeError):
        return None


def _source_of_class(candidate):
    lines, node = _class_in_its_file(candidate)
    return textwrap.dedent("".join(lines[_first(node) - 1 : node.end_lineno])) if node else None


def _class_in_its_file(candidate):
    """(lines, syntax tree) of a class in the file or cell of its own methods; the tree is None where it is not there.

    Never by the module's name alone: that may lead to another class of the same name.
    """
    code = next((v.__code__ for v in vars(candidate).values() if hasattr(v, "__code__")), None)
    lines = linecache.getlines(code.co_filename) if code else []
    for node in ast.walk(ast.parse("".join(lines))):
        inside = isinstance(node, ast.ClassDef) and node.lineno <= code.co_firstlineno <= node.end_lineno
        if inside and node.name == candidate.__name__:
            return lines, node
    return lines, None


def _first(node):
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def first_line_of(candidate):
    """Number, in its cell or file, of the first line of `learners_source` (1 where it is not known)."""
    if isinstance(candidate, type):
        try:
            node = _class_in_its_file(candidate)[1]
        except SyntaxError:
            node = None
        return _first(node) if node else 1
    return getattr(getattr(candidate, "__code__", None), "co_firstlineno", 1)


def body_of(source):
    """Body, after the docstring and dedented, of the one function that a source defines."""
    definition = ast.parse(source).body[0]
    first = definition.body[1 if ast.get_docstring(definition) is not None else 0]
    return textwrap.dedent("\n".join(source.splitlines()[first.lineno - 1 :]))


def same_code(a, b):
    """Whether two definitions are alike but for decorators, docstrings, comments and layout."""
    try:
        return b is not None and _bare(a) == _bare(b)
    except (SyntaxError, IndexError):
        return False


def _bare(source):
    tree = ast.parse(source).body[0]
    tree.decorator_list = []
    if ast.get_docstring(tree) is not None:
        tree.body = tree.body[1:]
    return ast.dump(tree)


def has_code(source):
    """Whether a function that still raises NotImplementedError holds more than that and docstrings.

    Code in other functions is not counted: an exercise may give the `__init__` and ask for `forward` alone.
    """
    try:
        functions = [n for n in ast.walk(ast.parse(source or "")) if isinstance(n, ast.FunctionDef)]
    except SyntaxError:
        return False
    return any(any(isinstance(s, ast.Raise) for s in f.body) and any(map(_is_own, f.body)) for f in functions)


def _is_own(statement):
    """Whether a statement is neither a docstring, nor a stub's `raise`, nor `super().__init__()`."""
    docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return not docstring and not isinstance(statement, ast.Raise) and "super" not in ast.dump(statement)


def exercise_numbers(tree):
    """The numbers of all exercises that a learner's cell answers, in order, however it calls `exercise`.

    tree: the cell's syntax tree. Of what is not a plain string nothing is said.
    """
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
            called = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
            number = getattr(node.args[0], "value", None)
            if called == "exercise" and isinstance(number, str):
                found[number] = None
    return list(found)


def exercise_number(tree):
    """The number in a cell's `@exercise("2.2")`, however it is quoted; None where the cell is no exercise.

    tree: the cell's syntax tree. Raises ValueError where the number is not a plain string.
    """
    for node in tree.body:
        for decorator in getattr(node, "decorator_list", []):
            if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", None) == "exercise":
                if len(decorator.args) == 1 and isinstance(decorator.args[0], ast.Constant):
                    return decorator.args[0].value
                raise ValueError("@exercise takes the exercise's number as a plain string")
    return None
