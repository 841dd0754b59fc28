"""What reading an answer's source says of it, beside the reference's own."""

from . import reading, variants
from .inputs import pristine
from .values import as_array, is_array


def remarks_on(answer):
    """The reading.Remarks on an answer, certain ones first; none where its source cannot be read."""
    if answer.tree is None:
        return []
    exercise = answer.exercise
    reference = variants.parse(exercise.source)
    try:
        return reading.remarks(answer.tree, reference, _names_with_many_axes(exercise))
    except (AttributeError, TypeError, ValueError, RecursionError):  # a source of a form that nobody thought of
        return []


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
