"""What can be said of a wrong answer that nothing explains: how its results relate to the right ones.

Every hint is asked of every wrong case, and is given only where all that can tell agree.
"""

import inspect
import re

import numpy as np

from . import one_case
from .inputs import pristine
from .matching import constant_along, part_of, part_off
from .values import as_array, axis_names, close, in_a_sentence, is_array, is_number


def hints(answer, arises=None):
    """Sentences that hold for all wrong cases, most telling first.

    arises: where in the answer NaN or infinity first comes up on case i, as a sentence, or "": a function of i.
    """
    comparable = [i for i in answer.wrong if one_case.same_shapes(answer, i)]
    found = []
    if comparable and len(comparable) == sum(not answer.stopped(i) for i in answer.wrong):
        found = [*_relations(answer, comparable), *_not_finite(answer, comparable, arises)]
        together = [] if found else _all_together(answer, comparable)
        found = found or together
        found = found or [*_alike(answer, comparable), *_row_sums(answer, comparable)]
        found = found or _part_off(answer, comparable)
        found += [*([] if together else _explained(answer, comparable)), *_over_cases(answer)]
    if not comparable:
        found = _part_of_all(answer)
    return list(dict.fromkeys([*found, *_pattern(answer), *_warnings(answer)]))


def remarks(answer):
    """The exercise's own remarks, in words of its subject, that hold for all wrong cases."""
    comparable = [i for i in answer.wrong if one_case.same_shapes(answer, i)]
    return _explained(answer, comparable) if comparable else []


# Every wrong case is asked --------------------------------------------------------------------------------------------


def _relations(answer, cases):
    """One relation of a result to the right one that is the same in every wrong case."""
    said = []
    for i in cases:
        case, found = answer.exercise.cases[i], {}
        for name, e, g in one_case.off(answer.exercise, answer.expected[i].value, answer.outcomes[i].value, case):
            if is_array(e) or is_number(e):
                found |= dict.fromkeys((name, clause) for clause in relations(e, g, case.dims))
        said.append(list(found))
    shared = _first_shared(said)
    if shared is None:
        return []
    name, clause = shared
    where = " in every wrong case" if len(cases) > 1 else ""
    return [f"What came back for {one_case.called(answer.exercise, name)} is {clause}{where}."]


def _not_finite(answer, cases, arises):
    for i in cases:
        for name, e, g in one_case.pairs(answer.exercise, answer.expected[i].value, answer.outcomes[i].value):
            if is_array(e) or is_number(e):
                e, g = as_array(e), as_array(g)
                if e.dtype.kind in "fiu" and g.dtype.kind == "f" and (np.isfinite(e) & ~np.isfinite(g)).any():
                    case = answer.exercise.cases[i].name
                    what = "NaN" if np.isnan(g).any() else "infinity"
                    told = f"There is {what} in {one_case.called(answer.exercise, name)} in the case “{case}”."
                    where = arises(i) if arises else ""
                    return [f"{told} {where}".strip()]
    return []


def _alike(answer, cases):
    """An axis along which all entries of a result are the same, and should not be: heads, sentences, rows alike."""
    said = []
    for i in cases:
        dims, found = answer.exercise.cases[i].dims, []
        for name, e, g in one_case.pairs(answer.exercise, answer.expected[i].value, answer.outcomes[i].value):
            if not is_array(e) or as_array(e).dtype.kind not in "fiu":
                continue
            for axis, size in enumerate(as_array(e).shape):
                axis_name = axis_names((size,), dims).strip("(),")
                alike = constant_along(as_array(g), axis) and not constant_along(as_array(e), axis)
                if size > 1 and axis_name and alike:
                    found.append((name, axis_name))
        said.append(found)
    shared = _first_shared(said)
    if shared is None:
        return []
    name, axis_name = shared
    called = one_case.called(answer.exercise, name)
    return [f"Along the axis {axis_name}, all entries of {called} are alike; they should differ."]


def _part_off(answer, cases):
    """The same simple part of a result that alone is wrong in every wrong case: its first row, its diagonal."""
    said = []
    for i in cases:
        case = answer.exercise.cases[i]
        off = one_case.off(answer.exercise, answer.expected[i].value, answer.outcomes[i].value, case)
        arrays = [(name, as_array(e), as_array(g)) for name, e, g in off if is_array(e)]
        parts = ((name, part_off(g, e)) for name, e, g in arrays if g.dtype.kind in "fiub")
        said.append(sorted((name, part) for name, part in parts if part))
    shared = _first_shared(said)
    if shared is None or len(said) < 2:
        return []
    name, part = shared
    return [f"In every wrong case {one_case.called(answer.exercise, name)} is right but for {part}."]


def _first_shared(said):
    """The first of what was found in one case that was found in all others too, or None. said: a list for each case."""
    return next((one for one in said[0] if all(one in others for others in said[1:])), None)


def _row_sums(answer, cases):
    for name in answer.exercise.sums_to_one:
        sums = []
        for i in cases:
            found = one_case.pairs(answer.exercise, answer.expected[i].value, answer.outcomes[i].value)
            g = next(as_array(g) for n, _, g in found if n == name)
            sums.append(g.sum(-1).ravel() if g.ndim else np.array([1.0]))
        if all(len(s) and not np.allclose(s, 1, atol=1e-3) for s in sums):
            one = in_a_sentence(_furthest(sums[0]), ".3g")
            return [f"The rows of `{name}` should sum to 1; one of yours sums to {one}."]
    return []


def _part_of_all(answer):
    """A result that is one entry of the right one along an axis, the first or the last, in every wrong case."""
    said = []
    for i in answer.wrong:
        case, expected, got, found = answer.exercise.cases[i], answer.expected[i], answer.outcomes[i], []
        if one_case.same_structure(answer, i):
            for name, e, g in one_case.pairs(answer.exercise, expected.value, got.value):
                part = part_of(g, e) if is_array(e) and is_array(g) and e.shape != g.shape else None
                axis = part and axis_names((e.shape[part[0]],), case.dims).strip("(),")
                if axis:
                    found.append((name, axis, "first" if part[1] == 0 else "last"))
        said.append(found)
    shared = _first_shared(said) if said else None
    if shared is None:
        return []
    name, axis, which = shared
    name = one_case.called(answer.exercise, name)
    return [f"What came back for {name} is only the {which} along the axis {axis}; all of them are wanted."]


def _all_together(answer, cases):
    """Results whose rows should sum to 1, and all of whose entries together do."""
    said = []
    for i in cases:
        case, found = answer.exercise.cases[i], []
        for name, e, g in one_case.off(answer.exercise, answer.expected[i].value, answer.outcomes[i].value, case):
            e, g = as_array(e), as_array(g)
            if e.dtype.kind == g.dtype.kind == "f" and e.ndim > 1 and np.isfinite(g).all():
                rows, ours = e.sum(-1), g.sum(-1)
                each = (np.isclose(rows, 1, atol=1e-3) | (rows == 0)).all() and (rows != 0).sum() > 1
                if each and np.isclose(ours.sum(), 1, atol=1e-3) and not np.isclose(ours, rows, atol=1e-3).all():
                    found.append(name)
        said.append(found)
    name = _first_shared(said)
    if name is None:
        return []
    return [f"All entries of {one_case.called(answer.exercise, name)} together sum to 1, where each row should."]


def _furthest(sums):
    return sums[np.argmax(np.abs(sums - 1))]


def _explained(answer, cases):
    """What the exercise's own remarks say, where those that speak agree and most of them speak."""
    found = []
    for explain in answer.exercise.explain:
        said = []
        for i in cases:
            expected, got = answer.expected[i].value, answer.outcomes[i].value
            try:
                said.append(explain(answer.exercise.cases[i], expected, got))
            except OverflowError:  # whole numbers that no float can hold
                said.append(None)
        spoken = [text for text in said if text]
        kinds = {re.sub(r"[\d.,−-]+", "#", text) for text in spoken}
        if len(kinds) == 1 and said[0] and 5 * len(spoken) >= len(said):
            found.append(spoken[0])
    return found


def _over_cases(answer):
    """Single numbers say more together: one factor or one difference on all cases is worth naming."""
    if not all(is_number(o.value) for o in [*answer.outcomes, *answer.expected]):
        return []
    try:
        pairs = [(float(o.value), float(e.value)) for o, e in zip(answer.outcomes, answer.expected, strict=True)]
    except OverflowError:  # whole numbers that no float can hold
        return []
    if len(pairs) < 3 or not all(np.isfinite(pairs).ravel()):
        return []
    factors = [got / right for got, right in pairs if right]
    if factors and np.allclose(factors, factors[0], rtol=1e-6) and not np.isclose(factors[0], 1) and factors[0]:
        return [f"On all cases your answer is {in_a_sentence(factors[0], '.4g')} times the right one."]
    shifts = [got - right for got, right in pairs]
    if np.allclose(shifts, shifts[0], rtol=1e-6) and shifts[0]:
        return [f"On all cases your answer is off by {in_a_sentence(shifts[0], '.4g')}."]
    return []


def _pattern(answer):
    """What all wrong cases have and no right one has: leading axes, or an optional argument."""
    inputs = [pristine(case).drawn for case in answer.exercise.cases]
    wrong = [bool(problem) for problem in answer.problems]
    if answer.exercise.run or all(wrong) or not any(wrong):
        return []
    axes = [max((as_array(x).ndim for x in given if is_array(x)), default=0) for given in inputs]
    right_up_to = max(a for a, is_wrong in zip(axes, wrong, strict=True) if not is_wrong)
    if right_up_to < min(a for a, is_wrong in zip(axes, wrong, strict=True) if is_wrong):
        return ["It is right where there are no leading axes, and wrong where there are (a batch, heads)."]
    most = max(map(len, inputs))
    if min(map(len, inputs)) < most and all((len(x) == most) == bad for x, bad in zip(inputs, wrong, strict=True)):
        name = list(inspect.signature(answer.exercise.reference).parameters)[most - 1]
        return [f"It is right without `{name}` and wrong with it."]
    return []


def _warnings(answer):
    """The first warning that came with every wrong case."""
    warned = [answer.outcomes[i].warned for i in answer.wrong]
    shared = [text for text in warned[0] if all(text in others for others in warned)] if warned else []
    return [f"A warning came with it: {shared[0]}."] if shared else []


# Two results ----------------------------------------------------------------------------------------------------------


def relations(expected, got, dims):
    """How one numeric result relates to the right one: clauses such as "the expected values negated", best first."""
    expected, got = as_array(expected), as_array(got)
    if expected.dtype.kind == "b":
        opposite = got.dtype.kind == "b" and expected.size and expected.shape == got.shape and (got == ~expected).all()
        return ["exactly the opposite of the expected values: True and False are exchanged"] if opposite else []
    if expected.size < 2 or expected.dtype.kind not in "fiu" or got.dtype.kind not in "fiu":
        return []
    expected, got = expected.astype(float), got.astype(float)
    if not (np.isfinite(expected).all() and np.isfinite(got).all()):
        return []

    def equal(a, b):
        return a.shape == b.shape and close(a, b, 1e-5).all()

    if expected.shape == got.shape and close(got, expected, 1e-3).all():
        return []
    if expected.ndim >= 2 and equal(np.swapaxes(got, -1, -2), expected):
        return ["the expected values with the last two axes exchanged (transposed)"]
    if equal(-got, expected):
        return ["the expected values with the opposite sign"]
    if got.shape != expected.shape:
        return []
    found = []
    for axis in range(-1, -expected.ndim - 1, -1):
        if expected.shape[axis] > 1 and equal(np.flip(got, axis), expected):
            found.append(f"the expected values in reverse order along axis {axis}")
        elif _permuted(expected, got, axis):
            found.append(f"the expected values in another order along axis {axis}")
    shift = got - expected
    if equal(shift, np.full_like(shift, shift.flat[0])):
        found.append(f"the expected values with {in_a_sentence(shift.flat[0], '.4g')} added everywhere")
    nonzero = np.abs(expected) > 1e-9 * np.abs(expected).max()
    if nonzero.any():
        factor = np.median(got[nonzero] / expected[nonzero])
        if factor != 0 and equal(got, factor * expected):
            found += [f"{label} times the expected values everywhere" for label in _factor_names(factor, dims)]
    return found


def relation(expected, got, dims):
    """The best of `relations`, or None."""
    return next(iter(relations(expected, got, dims)), None)


def _permuted(expected, got, axis):
    a, b = (np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1) for x in (expected, got))
    if len(a) < 3:
        return False
    a, b = (x[np.lexsort(np.round(x, 6).T)] for x in (a, b))
    return bool(close(a, b, 1e-5).all())


def _factor_names(factor, dims):
    """Ways to name a factor: as a size of the case or its root, then as a number."""
    for name, size in dims.items():
        if size < 2:
            continue
        candidates = ((f"√{name}", size**0.5), (name, size), (f"1/√{name}", size**-0.5), (f"1/{name}", 1 / size))
        for label, value in candidates:
            if np.isclose(abs(factor), value, rtol=1e-4):
                yield label if factor > 0 else f"−{label}"
    yield in_a_sentence(factor, ".4g")
