"""Where the wrong cases part from the right ones: a branch that all of the ones take, and none of the others."""

import ast
import copy

from .variants import NOTE, Builder, functions_of

FEWEST = 4  # cases, from which on it says something that they part so
NEARLY = 4  # of so many right cases, one at most takes a branch that is still told


def find(answer):
    """A sentence on the branch that parts wrong cases from right ones, or None."""
    cases, wrong = range(len(answer.outcomes)), set(answer.wrong)
    if answer.tree is None or len(cases) < FEWEST or not 0 < len(wrong) < len(cases):
        return None
    marked, lines = _marked(answer.tree)
    if not lines:
        return None
    by_line, right = sorted(_taken(answer, marked, lines, cases).items()), set(cases) - wrong
    for line, taken in by_line:
        if taken == wrong:
            return f"The wrong cases are exactly those that go through line {line}."
    for line, taken in by_line:
        if taken == right:
            return f"The wrong cases are exactly those that do not go through line {line}."
    for line, taken in by_line:
        if wrong < taken and NEARLY * len(taken & right) <= len(right):
            others = f"{len(taken & right)} of the {len(right)} right ones"
            return f"Every wrong case goes through line {line}, and {others}."
    return None


def _marked(tree):
    """A copy of a tree that notes every branch it takes, by number, and the first lines of these branches."""
    tree, lines = copy.deepcopy(tree), []
    for function in functions_of(tree):
        for node in ast.walk(function):
            for body in _branches(node):
                arguments = [ast.Constant(len(lines)), ast.Constant(None)]
                mark = ast.Expr(ast.Call(ast.Name(NOTE, ast.Load()), arguments, []))
                lines.append(body[0].lineno)
                body.insert(0, ast.fix_missing_locations(ast.copy_location(mark, body[0])))
    return tree, lines


def _branches(node):
    """Lists of lines that run only under a condition, of an `if`, a loop or an `except`."""
    if isinstance(node, (ast.If, ast.For, ast.While)):
        return [body for body in (node.body, node.orelse) if body and not isinstance(body[0], ast.If)]
    return [node.body] if isinstance(node, ast.ExceptHandler) else []


def _taken(answer, marked, lines, cases):
    """The cases that come by each of the lines: {line: set of cases}; empty where the code cannot be built again."""
    found, seen = {line: set() for line in lines}, set()

    def note(number, value):
        seen.add(number)
        return value

    try:
        variant = Builder(answer.space)(marked, note)
    except Exception:  # decorators, names that are gone
        return {}
    for i in cases:
        seen.clear()
        answer.run_variant(variant, i)
        for number in seen:
            found[lines[number]].add(i)
    return found
