"""What is given in all wrong cases and in no right one: an argument that is there or not, its axes, its dtype."""

import inspect

from .inputs import pristine
from .values import dtype_name, is_array, is_number

FEWEST = 2  # wrong cases, and right ones, from which on it says something that they part so


def find(answer):
    """A sentence on the argument that parts the wrong cases from the right ones, or None."""
    exercise, wrong = answer.exercise, set(answer.wrong)
    right = set(range(len(answer.outcomes))) - wrong
    if exercise.run or exercise.is_class or min(len(wrong), len(right)) < FEWEST:
        return None
    signature = inspect.signature(exercise.reference)
    given = [_all_of(signature, pristine(case).drawn) for case in exercise.cases]
    found = [f"`{name}` {said}" for name in signature.parameters if (said := _parted(name, given, wrong, right))]
    return f"Yours is wrong exactly where {found[0]}." if len(found) == 1 else None


def _all_of(signature, arguments):
    """Arguments by name, those that were left to their defaults too."""
    bound = signature.bind(*arguments)
    bound.apply_defaults()
    return bound.arguments


def _parted(name, given, wrong, right):
    """What holds of an argument in all these wrong cases, and in none of the right ones; None where nothing does."""
    for said in (_whether_given, _value, _axes, _dtype):
        ours, others = ({said(given[i].get(name)) for i in cases} for cases in (wrong, right))
        if len(ours) == 1 and not ours & others and None not in ours | others:
            return ours.pop()
    return None


def _whether_given(value):
    return "is not given" if value is None else "is given"


def _value(value):
    """What a number, or True or False, is; None for everything else."""
    if isinstance(value, bool) or is_number(value):
        return f"is {value:g}" if is_number(value) and not isinstance(value, int) else f"is {value}"
    return None


def _axes(value):
    if not is_array(value):
        return None
    return f"has {value.ndim} {'axis' if value.ndim == 1 else 'axes'}"


def _dtype(value):
    return f"holds {dtype_name(value)}" if is_array(value) else None
