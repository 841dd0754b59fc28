"""What reading an answer's source says of it, beside the reference's own."""

import ast

from . import reading, reading_operations, variants
from .inputs import pristine
from .registry import functions_until, get
from .trees import name_of, short
from .values import as_array, is_array


def remarks_on(answer):
    """The reading.Remarks on an answer, certain ones first; none where its source cannot be read."""
    if answer.tree is None:
        return []
    exercise = answer.exercise
    reference = variants.parse(exercise.source)
    try:
        many = _names_with_many_axes(exercise)
        found = reading.remarks(answer.tree, reference, many, batches=bool(many or exercise.run or exercise.is_class))
        if not any(outcome.value is None and outcome.error is None for outcome in answer.outcomes):
            found = [remark for remark in found if not remark.of_none]
        foreign = reading_operations.foreign(answer.tree, _sources(exercise))
        found += _unequal_zips(answer)
        return [*found, *(reading.Remark(line, f"Line {line}: {text}", sure) for line, text, sure in foreign)]
    except (AttributeError, TypeError, ValueError, RecursionError):  # a source of a form that nobody thought of
        return []


def _unequal_zips(answer):
    """Remarks on arguments that are gone through side by side, though they differ in length in a wrong case."""
    if answer.exercise.run or answer.exercise.is_class:
        return
    names = [argument.arg for argument in answer.tree.body[0].args.args]
    given = dict(zip(names, pristine(answer.exercise.cases[answer.order[0]]).drawn, strict=False))
    for call in (node for node in ast.walk(answer.tree) if isinstance(node, ast.Call) and name_of(node) == "zip"):
        both = [getattr(node, "id", None) for node in call.args]
        lengths = [len(given[name]) for name in both if is_array(given.get(name)) and as_array(given[name]).ndim]
        if len(both) == len(lengths) == 2 and lengths[0] != lengths[1]:
            pair = f"the first of `{both[0]}` with the first of `{both[1]}`"
            sentence = f"look at `{short(call)}`. It pairs {pair}, and so on, and stops with the shorter one."
            yield reading.Remark(call.lineno, f"Line {call.lineno}: {sentence}", False)


def missing_in(answer):
    """Sentences on kinds of operations that the course's way has and the answer has not."""
    if answer.tree is None:
        return []
    return list(reading_operations.missing(answer.tree, _sources(answer.exercise), answer.space))


def _sources(exercise):
    """Trees of the reference and of the functions of earlier exercises that it calls, or that those call."""
    found, left = {}, [exercise]
    while left:
        one = left.pop()
        if one.id not in found:
            found[one.id] = variants.parse(one.source)
            owners = functions_until(one.id)
            left += [get(owners[name]) for name in _called(found[one.id]) if name in owners]
    return [tree for tree in found.values() if tree is not None]


def _called(tree):
    calls = () if tree is None else (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {call.func.id for call in calls if isinstance(call.func, ast.Name)}


def _names_with_many_axes(exercise):
    """Arguments that have more than two axes in some case."""
    if exercise.run:
        return ()
    names = list(variants.parse(exercise.source).body[0].args.args)
    many = set()
    for case in exercise.cases:
        for argument, value in zip(names, pristine(case).drawn, strict=False):
            if is_array(value) and as_array(value).ndim > 2:
                many.add(argument.arg)
    return tuple(many)
