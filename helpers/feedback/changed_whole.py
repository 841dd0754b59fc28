"""What comes out if a result, an argument or a function that is called is changed as a whole: case by case."""

import ast
import inspect
import types
import warnings

import numpy as np

from . import one_case, transforms, variants
from .inputs import pristine
from .outcomes import Outcome, same_outcome
from .registry import functions_until
from .running import quiet_outcome
from .twins import build
from .values import as_array, in_a_sentence, is_array, is_number, same


def wrong_results(search):
    """Names of the results that are wrong in the first wrong case."""
    i, exercise = search.order[0], search.exercise
    if not one_case.same_shapes(search.answer, i):
        return None
    expected, got = search.answer.expected[i].value, search.outcomes[i].value
    return [name for name, *_ in one_case.off(exercise, expected, got, exercise.cases[i])]


def of_results(search, ids, wrong=None):
    """(clause, id, value_of) for each transform of each result of the twin with these mistakes.

    wrong: names of the results that may be changed; all for None.
    """
    exercise = search.exercise
    dims = exercise.cases[search.order[0]].dims
    base = search.twins.outcome(ids, search.order[0])
    if base.error is not None:
        return
    names = [name for name, _ in one_case.parts(exercise, base.value)]
    places = [p for p in _alone_off(search, base.value, len(names)) if wrong is None or names[p] in wrong]
    for transform in transforms.results_of(dims):
        for place in places:
            if not is_array(base.value[place] if len(names) > 1 else base.value):
                # So many numbers come out of sizes and functions that they prove nothing of a single number.
                tried = transform.size and not ids or transform.id in transforms.OF_NUMBERS
                if len(names) > 1 or not tried:
                    continue
            clause = transform.what.replace("{name}", one_case.called(exercise, names[place]))
            yield clause, f"{transform.id}-result", _transformer(search, ids, transform, place, len(names))


def _alone_off(search, twins, count):
    """Places of the results, of that many, beside which all others are the twin's in the first wrong case."""
    ours, room = search.outcomes[search.order[0]].value, search.answer.tolerances[search.order[0]]
    if count == 1:
        return [0] if is_array(ours) or is_number(ours) else []
    if type(ours) is not type(twins) or len(ours) != count:
        return []
    off = [place for place in range(count) if not same(ours[place], twins[place], room)]
    return range(count) if not off else off if len(off) == 1 else []


def _transformer(search, ids, transform, place, count):
    def value_of(i):
        outcome = search.twins.outcome(ids, i)
        if outcome.error is not None:
            return outcome
        value = outcome.value
        part = value[place] if count > 1 else value
        if not (is_array(part) or is_number(part)):
            return None
        function = transform.function(search.exercise.cases[i].dims)
        new = None if function is None else _quiet(function, part)
        if new is None:
            return None
        return Outcome((*value[:place], new, *value[place + 1 :]) if count > 1 else new)

    return value_of


def _quiet(function, *arguments):
    """What a function of ours gives; None where the values do not suit it."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*arguments)
        except Exception:
            return None


def factor(search, ids):
    """The number that the answer's result is the twin's times, the same on all cases; None where there is none."""
    found = None
    for i in search.order:
        ours, theirs = search.outcomes[i], search.twins.outcome(ids, i)
        if ours.error is not None or theirs.error is not None:
            return None
        if not all(is_number(x) or is_array(x) and as_array(x).dtype.kind == "f" for x in (ours.value, theirs.value)):
            return None
        if found is None:
            total = float(np.sum(as_array(theirs.value)))
            found = float(np.sum(as_array(ours.value))) / total if total else None
            if found is None or not np.isfinite(found) or abs(found - 1) < 1e-3 or not found:
                return None
        if not same_outcome(ours, Outcome(theirs.value * found), max(search.answer.tolerances[i], 1e-6)):
            return None
    return found


def factor_text(factor):
    """A factor as it is read: a number, or what logarithms to another base bring."""
    for text, value in (("1/ln 2", 1 / np.log(2)), ("ln 2", np.log(2)), ("1/ln 10", 1 / np.log(10))):
        if np.isclose(factor, value, rtol=1e-4):
            return text
    return in_a_sentence(factor, ".4g")


def of_arguments(search):
    """(clause, id, value_of) for each change of the reference's arguments."""
    exercise = search.exercise
    if exercise.run:
        return
    names = list(inspect.signature(exercise.reference).parameters)
    first = max((pristine(case).drawn for case in exercise.cases), key=len)
    for id, clause, change in transforms.arguments_of(names, first):

        def value_of(i, change=change):
            inputs = _quiet(change, pristine(exercise.cases[i]).fresh())
            if inputs is None or any(x is None and y is not None for x, y in zip(inputs, first, strict=False)):
                return search.answer.expected[i]
            return quiet_outcome(exercise.reference, inputs)

        yield clause, id, value_of


def callees(answer):
    """Functions of earlier exercises that the reference calls, and the answer does not: name → number."""
    called = _read_in(variants.parse(answer.exercise.source))
    theirs = {name for name in _read_in(answer.tree) if name in answer.space and _of_the_course(answer.space[name])}
    earlier = functions_until(answer.exercise.id).items()
    return {name: number for name, number in earlier if name in called - theirs}


def _read_in(tree):
    """The names that a definition reads; none for None."""
    return set() if tree is None else {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _of_the_course(function):
    return isinstance(function, (types.FunctionType, type)) and str(function.__module__).startswith("helpers.")


def with_callee(exercise, name, inner, id):
    """The reference, calling a faulty twin where it calls another exercise's function."""
    return build(exercise, exercise.source, {name: inner.twin(frozenset({id}))})
