"""Answers that count: the learner's formula with letters for the sizes, set beside the right one term by term."""

import inspect
import itertools
from dataclasses import dataclass

from .running import contained, guarded
from .values import is_number
from .variants import Builder

SECONDS = 1.0  # of computing for one formula
MOST_TERMS, MOST_POINTS = 6, 3
_PLAIN = dict.fromkeys(("int", "float", "round"), lambda x: x)  # what makes a plain number of a letter
_PARTS = {2: "half", 3: "a third", 4: "a quarter", 8: "an eighth"}


@dataclass(frozen=True)
class Formula:
    """A wrong formula. text: how it reads, with `·`. points: what is wrong with it, a sentence each.

    factor: by what all of it is too large or too small, as words, or "".
    """

    text: str
    points: tuple[str, ...]
    factor: str = ""


def find(answer):
    """The Formula of a wrong answer, or None where it is no sum of products of its arguments, or is the right one."""
    exercise = answer.exercise
    if answer.tree is None or exercise.run or not all(_counts(case, e) for case, e in _cases(answer)):
        return None
    names = list(inspect.signature(exercise.reference).parameters)
    ours = _terms(Builder({**answer.space, **_PLAIN})(answer.tree), names)
    right = _terms(exercise.reference, names)
    if not ours or not right or ours == right or max(len(ours), len(right)) > MOST_TERMS:
        return None
    if not _agrees(ours, names, answer):
        return None
    text = _written(ours)
    if ours.keys() == right.keys():
        factors = {ours[term] / right[term] for term in ours}
        if len(factors) == 1:
            return Formula(text, (), _times(factors.pop()))
    points = _compared(ours, right)
    return Formula(text, tuple(points)) if points and len(points) <= MOST_POINTS else None


def _cases(answer):
    return zip(answer.exercise.cases, answer.expected, strict=True)


def _counts(case, expected):
    """Whether a case gives whole numbers, and a number comes out."""
    return is_number(expected.value) and all(type(x) is int for x in case.make())


def _terms(function, names):
    """{((name, power), …): factor} of what a function gives for letters; None where that is no such sum."""
    value, problem = contained(lambda: _expanded(function, names), SECONDS)
    return None if problem else value


def _expanded(function, names):
    import sympy  # comes with PyTorch

    letters = [sympy.Symbol(name, positive=True, integer=True) for name in names]
    value, error, _, _ = guarded(lambda: function(*letters), function, SECONDS)
    if error is not None:
        return None
    terms = {}
    for term in sympy.Add.make_args(sympy.expand(sympy.sympify(value))):
        factor, powers = term.as_coeff_mul()
        powers = [part.as_base_exp() for part in powers]
        if not all(base in letters and power.is_Integer for base, power in powers) or not factor.is_Rational:
            return None
        powers = {str(base): int(power) for base, power in powers}
        terms[tuple((name, powers[name]) for name in names if name in powers)] = factor
    return terms


def _agrees(terms, names, answer):
    """Whether the sum of terms is what the answer gave on every case."""
    for i, case in enumerate(answer.exercise.cases):
        given = dict(zip(names, case.make(), strict=False))
        for name in names[len(given) :]:
            given[name] = inspect.signature(answer.exercise.reference).parameters[name].default
        total = 0
        for powers, factor in terms.items():
            product = factor
            for name, power in powers:
                product = product * given[name] ** power
            total += product
        got = answer.outcomes[i].value
        if not is_number(got) or not abs(total - got) <= 1e-6 * max(abs(total), 1):
            return False
    return True


def _compared(ours, right):
    """Sentences on terms that differ."""
    extra = [term for term in ours if term not in right]
    missing = [term for term in right if term not in ours]
    factors, points = [], []
    for term in [term for term in ours if term in right]:
        factors.append((term, ours[term] / right[term]))
    for term, wanted in _matched(extra, missing):
        points.append(_one_term(term, wanted))
        factors.append((term, ours[term] / right[wanted]))
        extra.remove(term)
        missing.remove(wanted)
    for term, wanted in _completing(extra, ours, right):
        points.append(_one_term(term, wanted))
        factors = [(other, factor) for other, factor in factors if other != wanted]
        extra.remove(term)
    points += [f"The term `{_product(term)}` is not wanted." for term in extra]
    if missing:
        points.append("A term is missing." if len(missing) == 1 else f"{len(missing)} terms are missing.")
    different = {factor for _, factor in factors}
    if different == {1}:
        return points
    if len(different) == 1:
        return [*points, f"The rest is {_times(different.pop())}."]
    return points + [f"The term `{_product(t)}` is {_times(f)}." for t, f in factors if f != 1]


def _completing(extra, ours, right):
    """Pairs of a term and the right one that it would complete, had it one size more; the most of that is there."""
    for term in list(extra):
        for wanted in (wanted for wanted in right if 2 * ours.get(wanted, 0) > right[wanted]):
            if ours[wanted] + ours[term] == right[wanted] and not _difference(term, wanted)[0]:
                yield term, wanted
                break


def _matched(extra, missing):
    """Pairs of a term and the right one that differ in a single size."""
    pairs = sorted(itertools.product(extra, missing), key=lambda pair: _distance(*pair))
    taken = set()
    for term, wanted in pairs:
        if _distance(term, wanted) <= 2 and not {("ours", term), ("right", wanted)} & taken:
            taken |= {("ours", term), ("right", wanted)}
            yield term, wanted


def _difference(term, wanted):
    """(sizes that stand too often, sizes that are missing), each as often as that."""
    ours, right = dict(term), dict(wanted)
    more = [n for n in ours for _ in range(max(ours[n] - right.get(n, 0), 0))]
    less = [n for n in right for _ in range(max(right[n] - ours.get(n, 0), 0))]
    return more, less


def _distance(term, wanted):
    more, less = _difference(term, wanted)
    return max(len(more), len(less))


def _one_term(term, wanted):
    more, less = _difference(term, wanted)
    shown = f"the term `{_product(term)}`"
    if more and less:
        return f"In {shown}, {_listed(more)} stands where {_listed(less)} belongs."
    if less and set(less) <= {name for name, _ in term}:
        return f"In {shown}, {_listed(less)} belongs once more."
    if less:
        return f"In {shown}, the size {_listed(less)} is missing."
    return f"In {shown}, {_listed(more)} is one factor too many."


def _listed(names):
    return " · ".join(f"`{name}`" for name in names)


def _product(term, factor=1):
    """A term as it is read: 2·T_q·d_k²."""
    above = [name if power == 1 else f"{name}{_raised(power)}" for name, power in term if power > 0]
    below = [name if power == -1 else f"{name}{_raised(-power)}" for name, power in term if power < 0]
    above = ([str(factor.numerator)] if factor.numerator != 1 or not above else []) + above
    below = ([str(factor.denominator)] if factor.denominator != 1 else []) + below
    return "·".join(above) + (f"/({'·'.join(below)})" if len(below) > 1 else f"/{below[0]}" if below else "")


def _raised(power):
    return str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _written(terms):
    return " + ".join(_product(term, factor) for term, factor in terms.items()).replace("+ -", "− ")


def _times(factor):
    """A factor other than 1 in words."""
    if factor == 2:
        return "twice what it should be"
    if factor.p == 1 and factor.q in _PARTS:
        return f"{_PARTS[factor.q]} of what it should be"
    return f"{factor} times what it should be"
