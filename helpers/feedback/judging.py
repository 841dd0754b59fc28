"""The verdict on an answer, in a fixed order.

Attempted? Runs? Right kind and shape? Right values? Well behaved? And if not: which mistakes?
"""

import dataclasses
import inspect
import re

import numpy as np

from . import diagnosis, hints, running, twins
from .exercise import AnswerProblem, Finding
from .registry import get
from .report import Comparison, Report
from .sources import has_code, learners_source, same_code
from .values import arrays, as_array, describe, dtype_name, is_array, is_number, is_tensor, same, tolerance_of

STAND_IN = "Until yours passes, the cells below use the course's version."


def check(exercise_id, candidate):
    """Judge an answer and display nothing.

    exercise_id: "2.2". candidate: the learner's function or class.
    Returns a Report. Raises ValueError for an exercise that does not exist; never because of what the answer does.
    """
    return judge(get(exercise_id), candidate)


def judge(exercise, candidate):
    """The Report on an answer to an Exercise."""
    return _Judge(exercise, candidate).report()


class _Judge:
    """One judgement: the answer's outcomes on all cases, and the verdict drawn from them."""

    def __init__(self, exercise, candidate):
        self.exercise, self.candidate = exercise, candidate
        self.twins = twins.twins_of(exercise)
        self.expected = [self.twins.outcome(frozenset(), i) for i in range(len(exercise.cases))]
        self.outcomes, self.problems = [], []

    # The order of judgement

    def report(self):
        problem = self._wrong_candidate() or self._untouched()
        if problem:
            return problem
        for case in self.exercise.cases:
            self.outcomes.append(running.run(self.exercise, self.candidate, case))
            if isinstance(self.outcomes[-1].error, running.TimeLimit):
                return self._too_slow(case)
            if len(self.outcomes) == 1 and self._is_todo(self.outcomes[0]):
                return self._todo()
        self.problems = problems = [self._problem(i) for i in range(len(self.outcomes))]
        wrong = [i for i, problem in enumerate(problems) if problem]
        if wrong:
            return self._wrong(wrong, problems)
        return self._misbehaved() or self._passed()

    def _make(self, status, headline, **more):
        first = self.outcomes[0].printed if self.outcomes else ""
        footer = more.pop("footer", STAND_IN if status in ("failed", "error") else "")
        return Report(self.exercise.id, self.exercise.name, status, headline, printed=first, footer=footer, **more)

    def _finding(self, status, id, message, **more):
        return self._make(status, _continued(message), mistakes=(Finding(id, message),), **more)

    # 1. Something to judge, and attempted

    def _wrong_candidate(self):
        wanted = "class" if self.exercise.is_class else "function"
        if inspect.isclass(self.candidate) != self.exercise.is_class or not callable(self.candidate):
            got = (
                "a class"
                if inspect.isclass(self.candidate)
                else "a function"
                if callable(self.candidate)
                else describe(self.candidate)
            )
            message = f"A {wanted} is wanted here, {self.exercise.name}; {got} came."
            return self._finding("failed", f"not-a-{wanted}", message)
        if self.exercise.is_class or self.exercise.run:
            return None
        try:
            signature = inspect.signature(self.candidate)
            signature.bind(*self.exercise.cases[0].make())
            longest = max((case.make() for case in self.exercise.cases), key=len)
            signature.bind(*longest)
        except TypeError:
            wanted = inspect.signature(self.exercise.reference)
            message = f"The function must take the arguments `{wanted}`; yours takes `{signature}`."
            return self._finding("failed", "wrong-arguments", message)
        except ValueError:  # a built-in without a signature: calling it will tell
            return None

    def _untouched(self):
        start = twins.starting_source(self.exercise)
        if start and same_code(start, learners_source(self.candidate)):
            return self._todo()

    def _is_todo(self, outcome):
        if isinstance(outcome.error, NotImplementedError):
            return running.place_of(outcome.error, self.candidate) is not None
        value = outcome.value
        return value is ... or (isinstance(value, tuple) and bool(value) and all(part is ... for part in value))

    def _todo(self):
        if self.exercise.starts_with:
            what = (
                "the function is still as you found it. Change something and run the cell again; "
                "the report then names the bugs that are left."
            )
        elif has_code(learners_source(self.candidate)):
            what = (
                "there is code, but the line `raise NotImplementedError` is still reached. "
                "Delete that line and run the cell again."
            )
        else:
            thing = "class" if self.exercise.is_class else "function"
            what = (
                f"fill in the {thing} above and run the cell again; the cells below use the course's version meanwhile."
            )
        return self._make("todo", f"not attempted yet. {what[0].upper()}{what[1:]}")

    def _too_slow(self, case):
        message = (
            f"The answer was still running after {running.TIME_LIMIT:.0f} seconds on the case “{case.name}” "
            "and was stopped. Does a loop in it never end?"
        )
        return self._finding("error", "too-slow", message)

    # 2. One case: None if right, else a sentence that says what is wrong

    def _problem(self, i):
        outcome, expected, case = self.outcomes[i], self.expected[i], self.exercise.cases[i]
        if expected.error is not None:
            return self._wrong_error(outcome, expected.error)
        if outcome.error is not None:
            return self._raised(outcome.error)
        if self.exercise.judge:
            findings = self.exercise.judge(outcome.value, case)
            return " ".join(finding.message for finding in findings) or None
        return (
            self._wrong_kind(expected.value, outcome.value)
            or self._wrong_shape(expected.value, outcome.value, case)
            or self._wrong_values(expected.value, outcome.value, case)
            or self._changed_inputs(outcome)
        )

    def _wrong_error(self, outcome, expected):
        name = type(expected).__name__
        if outcome.error is None:
            return f"No error came for input that cannot work; {name} is wanted, saying which values do not fit."
        if not isinstance(outcome.error, type(expected)):
            came = f"{type(outcome.error).__name__} came: {_message(outcome.error)}"
            return f"For input that cannot work, {name} is wanted, saying which values do not fit; {came}"
        numbers = re.findall(r"\d+", str(expected))
        if not set(numbers) <= set(re.findall(r"\d+", str(outcome.error))):
            values = " and ".join(numbers)
            return f"The {name} should name the values that do not fit, {values}; it says: {_message(outcome.error)}"

    def _raised(self, error):
        if isinstance(error, AnswerProblem):
            return error.finding.message
        kind = "SystemExit (exit was called)" if isinstance(error, SystemExit) else type(error).__name__
        place = running.place_of(error, self.candidate)
        if place is None:
            return f"The call stopped with {kind}: {_message(error)}"
        shapes = f" for {place.shapes}" if place.shapes else ""
        return f"Line {place.line}, `{place.text}`, stopped with {kind}{shapes}: {_message(error)}"

    def _wrong_kind(self, expected, got):
        names = self.exercise.results
        if got is None:
            return "Nothing was returned: is the `return` line missing?"
        if inspect.isgenerator(got) or inspect.iscoroutine(got):
            return "The function gives a generator: write `return`, not `yield`."
        if isinstance(expected, tuple):
            wanted = " and ".join(names) if len(names) == len(expected) else f"{len(expected)} values"
            if not isinstance(got, (tuple, list)):
                return f"One value came back, {describe(got)}; {len(expected)} are wanted: {wanted}, in this order."
            if len(got) != len(expected):
                return f"{len(got)} values came back; {len(expected)} are wanted: {wanted}, in this order."
            pairs = zip(hints.parts(self.exercise, expected), got, strict=True)
            return next(
                (problem for (name, part), g in pairs if (problem := _kind_problem(self._called(name), part, g))), None
            )
        return _kind_problem(self._called(hints.parts(self.exercise, expected)[0][0]), expected, got)

    def _pairs(self, expected, got):
        names = [name for name, _ in hints.parts(self.exercise, expected)]
        if len(names) == 1:
            return [(names[0], expected, got)]
        return list(zip(names, expected, got, strict=True))

    def _wrong_shape(self, expected, got, case):
        for name, e, g in self._pairs(expected, got):
            if is_array(e) and as_array(g).shape != as_array(e).shape:
                e_shape, g_shape = as_array(e).shape, as_array(g).shape
                e_names, g_names = (hints.axis_names(shape, case.dims) for shape in (e_shape, g_shape))
                wanted = f"{e_names} = {e_shape}" if e_names else f"{e_shape}"
                came = f"{g_shape}, which is {g_names}" if g_names and e_names else f"{g_shape}"
                return f"{self._called(name)} has the wrong shape: {wanted} expected, {came} returned."

    def _tolerance(self, expected, got, case):
        coarse = any(dtype_name(x) == "float32" for x in arrays(got))
        return max(tolerance_of(case, expected), 2e-5 if coarse else 0.0)

    def _wrong_values(self, expected, got, case):
        tolerance = self._tolerance(expected, got, case)
        pairs = self._pairs(expected, got)
        off = self._off(expected, got, tolerance)
        if not off:
            return None
        name, e, g = off[0]
        where = hints.worst(e, g) if is_array(e) else ()
        label = f"`{name}[{', '.join(map(str, where))}]`" if where else self._called(name)
        e_value, g_value = (as_array(x)[where] if is_array(x) else x for x in (e, g))
        right = [n for n, *_ in pairs if n not in [o[0] for o in off]]
        fine = f" {' and '.join(f'`{n}`' for n in right)} {'is' if len(right) == 1 else 'are'} right." if right else ""
        shown_e, shown_g = _distinct(e_value, g_value)
        return f"{label} is {shown_g} and should be {shown_e}.{fine}"

    def _called(self, name):
        """A result's name as a sentence has it: marked as code where the exercise names its results."""
        return f"`{name}`" if name in self.exercise.results else name

    def _off(self, expected, got, tolerance):
        """The results that are wrong, those whose rows sum to 1 first: weights say more than what they lead to."""
        off = [(n, e, g) for n, e, g in self._pairs(expected, got) if not same(_plain(e), _plain(g), tolerance)]
        return sorted(off, key=lambda part: part[0] not in self.exercise.sums_to_one)

    def _changed_inputs(self, outcome):
        if not outcome.changed:
            return None
        names = list(inspect.signature(self.exercise.reference).parameters)
        changed = [
            names[i] if i < len(names) and not self.exercise.run else f"argument {i + 1}" for i in outcome.changed
        ]
        return f"The function changed its input {' and '.join(changed)} in place; work on a new array."

    # 3. Wrong somewhere: which known mistakes?

    def _wrong(self, wrong, problems):
        first = wrong[0]
        status = "error" if self._stopped(first) else "failed"
        sets = diagnosis.diagnose(self.exercise, self.outcomes, wrong)
        where = self._where(wrong, problems)
        changes = next((self._changed_inputs(o) for o in self.outcomes if o.changed), None)
        if changes and not sets:
            unchanged = [dataclasses.replace(outcome, changed=()) for outcome in self.outcomes]
            sets = diagnosis.diagnose(self.exercise, unchanged, wrong)
            where += [changes] if changes != problems[first] else []
        taken_apart = None if sets else self._by_aspect(status, wrong, problems)
        if taken_apart:
            return taken_apart
        if sets:
            return self._named(status, sets, self.exercise.cases[first], where, self._comparison(first))
        if self.exercise.judge and not self._stopped(first):
            findings = self.exercise.judge(self.outcomes[first].value, self.exercise.cases[first])
            points = tuple(f.message for f in findings) if len(findings) > 1 else ()
            headline = "not right yet." if points else _continued(findings[0].message)
            return self._make(status, headline, mistakes=tuple(findings), points=points)
        error = self.outcomes[first].error
        if isinstance(error, AnswerProblem):
            return self._finding(status, error.finding.id, error.finding.message, paragraphs=where[1:])
        paragraphs = [*self._hints(first), *self._partly(wrong), *where[1:]]
        if self._stopped(first) or not self._same_shapes(first):
            return self._make(status, _continued(problems[first]), paragraphs=tuple(paragraphs))
        paragraphs = [*where[:1], *paragraphs]
        return self._make(status, "not right yet.", paragraphs=tuple(paragraphs), comparison=self._comparison(first))

    def _partly(self, wrong):
        """What explains the first wrong case and many others, though not all: said with that caution."""
        sets, count = diagnosis.partly(self.exercise, self.outcomes, wrong)
        if not sets:
            return []
        case = self.exercise.cases[wrong[0]]
        said = dict.fromkeys(
            " And: ".join(_filled(self.twins.mistakes[id].message, case) for id in self._ordered(ids)) for ids in sets
        )
        one_bit = isinstance(self.expected[wrong[0]].value, (bool, np.bool_))  # a yes or no agrees too easily
        if len(said) > 2 or one_bit:
            return []
        how_often = f"in {count} of the {len(wrong)} wrong cases" if count < len(wrong) else "in every wrong case"
        same = "the same error comes up" if self._stopped(wrong[0]) else "the same numbers come out"
        return [f"Not the whole story, but {how_often} {same} with this mistake: {' Or: '.join(said)}"]

    def _by_aspect(self, status, wrong, problems):
        """What is wrong with each side of the exercise, where known mistakes explain at least one of them by itself."""
        cases = self.exercise.cases
        aspects = list(dict.fromkeys(cases[i].aspect for i in wrong))
        if len({case.aspect for case in cases}) < 2:
            return None
        points, findings, comparison = [], {}, None
        for aspect in aspects:
            ours = [i for i in wrong if cases[i].aspect == aspect]
            among = [i for i, case in enumerate(cases) if case.aspect == aspect]
            sets = diagnosis.diagnose(self.exercise, self.outcomes, ours, among)
            found = {
                id: Finding(id, _filled(self.twins.mistakes[id].message, cases[ours[0]])) for ids in sets for id in ids
            }
            findings |= found
            ways = dict.fromkeys(" And: ".join(found[id].message for id in self._ordered(ids)) for ids in sets)
            points.append(" Or: ".join(ways) or f"In the case “{cases[ours[0]].name}”, {_continued(problems[ours[0]])}")
            comparison = comparison or (self._comparison(ours[0]) if sets else None)
        if not findings:
            return None
        points, mistakes = list(dict.fromkeys(points)), tuple(findings[id] for id in self._ordered(findings))
        if len(points) == 1:
            return self._make(status, _continued(points[0]), mistakes=mistakes, comparison=comparison)
        headline = "each of these is wrong by itself."
        return self._make(status, headline, mistakes=mistakes, points=tuple(points), comparison=comparison)

    def _stopped(self, i):
        return self.outcomes[i].error is not None and self.expected[i].error is None

    def _where(self, wrong, problems):
        """Evidence: the first case that differs, and how many others do."""
        case, total = self.exercise.cases[wrong[0]], len(problems)
        count = f"Right on {total - len(wrong)} of {total} cases." if len(wrong) < total else ""
        if count and len(wrong) <= 3:
            count += f" Wrong on: {', '.join(f'“{self.exercise.cases[i].name}”' for i in wrong)}."
        return [f"In the case “{case.name}”, {_continued(problems[wrong[0]])}", *([count] if count else [])]

    def _named(self, status, sets, case, where, comparison):
        findings = {id: Finding(id, _filled(self.twins.mistakes[id].message, case)) for ids in sets for id in ids}
        if any(
            _continued(finding.message) in _continued(where[0].partition("”, ")[2]) for finding in findings.values()
        ):
            where = where[1:]  # a problem that is also a known mistake is said once
        alternatives = list(dict.fromkeys(tuple(findings[id].message for id in self._ordered(ids)) for ids in sets))
        mistakes = tuple(findings[id] for id in self._ordered(findings))
        more = dict(mistakes=mistakes, paragraphs=tuple(where), comparison=comparison)
        if len(alternatives) > 1:
            points = tuple(" And: ".join(messages) for messages in alternatives)
            return self._make(status, "any one of these gives exactly your result:", points=points, **more)
        if len(alternatives[0]) > 1:
            count = {2: "two", 3: "three"}[len(alternatives[0])]
            return self._make(
                status, f"{count} things together give exactly your result.", points=alternatives[0], **more
            )
        return self._make(status, _continued(alternatives[0][0]), **more)

    def _ordered(self, ids):
        return [id for id in self.twins.mistakes if id in ids]

    def _same_shapes(self, i):
        expected, got = self.expected[i].value, self.outcomes[i].value
        return self.expected[i].error is None and not (
            self._wrong_kind(expected, got) or self._wrong_shape(expected, got, self.exercise.cases[i])
        )

    def _hints(self, i):
        """What can be said when no known mistake fits, most telling first."""
        case, expected, got = self.exercise.cases[i], self.expected[i].value, self.outcomes[i].value
        said = []
        if not self._stopped(i) and self._same_shapes(i):
            for name, e, g in self._off(expected, got, self._tolerance(expected, got, case)):
                if is_array(e) or is_number(e):
                    found = hints.relation(e, g, case.dims)
                    said += [f"What came back for {self._called(name)} is {found}."] if found else []
                    said += [f"There is NaN or infinity in {self._called(name)} here."] if _not_finite(e, g) else []
                    if name in self.exercise.sums_to_one and not np.allclose(as_array(g).sum(-1), 1, atol=1e-3):
                        row = as_array(g).sum(-1).flat[0]
                        said.append(f"The rows of `{name}` should sum to 1; the first sums to {row:.3g}.")
            for explain in self.exercise.explain:
                found = explain(case, expected, got)
                said += [found] if found else []
            said += self._factor_over_cases(expected)
        advice = [text for words, text in _ADVICE if words in str(self.outcomes[i].error)]
        warned = [f"A warning came with it: {self.outcomes[i].warned[0]}."] if self.outcomes[i].warned else []
        return [*said, *advice, *self._pattern(), *warned]

    def _pattern(self):
        """What all wrong cases have and no right one has: leading axes, or an optional argument."""
        inputs = [case.make() for case in self.exercise.cases]
        wrong = [bool(problem) for problem in self.problems]
        if self.exercise.run or all(wrong):
            return []
        axes = [max((as_array(x).ndim for x in given if is_array(x)), default=0) for given in inputs]
        right_up_to = max(a for a, is_wrong in zip(axes, wrong, strict=True) if not is_wrong)
        if right_up_to < min(a for a, is_wrong in zip(axes, wrong, strict=True) if is_wrong):
            return ["It is right where there are no leading axes, and wrong where there are (a batch, heads)."]
        most = max(map(len, inputs))
        if min(map(len, inputs)) < most and all((len(x) == most) == bad for x, bad in zip(inputs, wrong, strict=True)):
            name = list(inspect.signature(self.exercise.reference).parameters)[most - 1]
            return [f"It is right without `{name}` and wrong with it."]
        return []

    def _factor_over_cases(self, expected):
        """Single numbers say more together: one factor or one difference on all cases is worth naming."""
        if not is_number(expected) or not all(is_number(o.value) for o in [*self.outcomes, *self.expected]):
            return []
        pairs = [(float(o.value), float(e.value)) for o, e in zip(self.outcomes, self.expected, strict=True)]
        if len(pairs) < 3 or not all(np.isfinite(pairs).ravel()):
            return []
        factors = [got / right for got, right in pairs if right]
        if np.allclose(factors, factors[0], rtol=1e-6) and not np.isclose(factors[0], 1) and factors[0]:
            return [f"On all cases your answer is {factors[0]:.4g} times the right one."]
        shifts = [got - right for got, right in pairs]
        if np.allclose(shifts, shifts[0], rtol=1e-6) and shifts[0]:
            return [f"On all cases your answer is off by {shifts[0]:.4g}."]
        return []

    def _comparison(self, i):
        """The 2-D slice around the worst entry, when small enough to read."""
        if self._stopped(i) or not self._same_shapes(i):
            return None
        case = self.exercise.cases[i]
        expected, got = self.expected[i].value, self.outcomes[i].value
        tolerance = self._tolerance(expected, got, case)
        for name, e, g in self._off(expected, got, tolerance):
            if is_array(e) and as_array(e).ndim >= 1 and as_array(e).size:
                lead = hints.worst(e, g)[:-2]
                e_slice, g_slice = (np.atleast_2d(as_array(x)[lead]) for x in (e, g))
                if max(e_slice.shape) <= 10 and e_slice.size > 1:
                    label = f"`{name}`" if not lead else f"`{name}[{', '.join(map(str, lead))}]`"
                    return Comparison(f"{label} in the case “{case.name}”", e_slice, g_slice)
        return None

    # 4. Right values: well behaved?

    def _misbehaved(self):
        case = self.exercise.cases[0]
        again = running.run(self.exercise, self.candidate, case)
        if not self.exercise.judge and not running.same_outcome(
            self.outcomes[0], again, self._tolerance(again.value, again.value, case)
        ):
            return self._finding(
                "failed",
                "second-call-differs",
                "A second call with the same input gives another answer: "
                "does the function keep something between calls, or draw at random?",
            )
        for ask in self.exercise.properties:
            finding = ask(self.candidate)
            if finding:
                return self._finding("failed", finding.id, finding.message)

    def _passed(self):
        total = len(self.exercise.cases)
        covers = f" ({self.exercise.covers})" if self.exercise.covers else ""
        cases = f"right on all {total} cases{covers}" if total > 1 else "right"
        return self._make("passed", f"{cases}. From here on the lesson uses yours.", paragraphs=tuple(self._notes()))

    def _notes(self):
        """What a passing answer may like to know."""
        pairs = [
            (dtype_name(e), dtype_name(g))
            for expected, outcome in zip(self.expected, self.outcomes, strict=True)
            for e, g in zip(arrays(expected.value), arrays(outcome.value), strict=False)
        ]
        lost = next(((e, g) for e, g in pairs if e != g and "float" in e and "float" in g), None)
        if lost:
            yield f"Note: where the course's version returns {lost[0]}, yours returns {lost[1]}; the values agree."
        yield from (f"Note: {note}" for ask in self.exercise.notes if (note := ask(self.candidate)))


# Advice on errors whose wording does not say what to do.
_ADVICE = (
    (
        "truth value of a",
        "An array is neither true nor false as a whole: to ask whether an argument was given, write `is not None`; "
        "to choose entry by entry or to find a maximum, use NumPy's functions.",
    ),
    (
        "Boolean value of Tensor",
        "A tensor is neither true nor false as a whole: to ask whether it was given, write `is not None`.",
    ),
    ("Cannot interpret", "A shape goes into one pair of parentheses: `np.zeros((2, 3))`."),
    ("has no attribute 'randn'", "A Generator draws normal numbers with `rng.normal` or `rng.standard_normal`."),
    ("name 'np' is not defined", "Run the lesson's first cell, which imports NumPy as `np`."),
    ("name 'torch' is not defined", "Run the lesson's first cell, which imports PyTorch."),
    ("keyword argument 'dim'", "NumPy calls it `axis`; `dim` is PyTorch's word."),
    ("keyword argument 'keepdim'", "NumPy calls it `keepdims`; `keepdim` is PyTorch's word."),
    ("no attribute 'matmul'", "An array has no method `matmul`: write `A @ B` or `np.matmul(A, B)`."),
    ("builtin_function_or_method", "A method is named but not called: are its parentheses missing?"),
    ("torch.return_types.max", "`torch.max` along a dim returns values and places; take `.values`, or use `amax`."),
    (
        "cannot access local variable",
        "That name gets its value on one branch only: does every road through the function set it?",
    ),
    ("einstein sum", "With `...` in front of the subscripts, einsum takes any leading axes."),
    ("einsum()", "With `...` in front of the subscripts, einsum takes any leading axes."),
    (
        "axes don't match",
        "NumPy's transpose takes the order of *all* axes; `np.swapaxes(x, -1, -2)` exchanges the last two.",
    ),
)

# Small questions about values and sources -----------------------------------------------------------------------------


def _kind_problem(name, expected, got):
    if is_array(expected) and as_array(expected).ndim == 0 and is_number(got):
        return None
    if is_array(expected) and is_array(got):
        if is_tensor(expected) != is_tensor(got):
            wanted = "a PyTorch tensor" if is_tensor(expected) else "a NumPy array"
            return f"{name} is {describe(got)}; {wanted} is wanted."
        kinds = (as_array(expected).dtype.kind, as_array(got).dtype.kind)
        if kinds[0] == "b" and kinds[1] != "b":
            return f"{name} holds {dtype_name(got)}; True and False are wanted (dtype bool)."
        if kinds[0] in "fiu" and kinds[1] not in "fiub":
            return f"{name} holds {dtype_name(got)}; numbers are wanted."
        return f"{name} holds True and False; numbers are wanted." if kinds[0] == "f" and kinds[1] == "b" else None
    if isinstance(expected, (bool, np.bool_)):
        single = is_array(got) and as_array(got).ndim == 0 and as_array(got).dtype.kind == "b"
        return (
            None
            if single or isinstance(got, (bool, np.bool_))
            else f"True or False is wanted; {describe(got)} came back."
        )
    if is_number(expected):
        single = is_array(got) and as_array(got).ndim == 0 and as_array(got).dtype.kind in "fiu"
        return (
            None
            if single or is_number(got) and not isinstance(got, complex)
            else f"A number is wanted; {describe(got)} came back."
        )
    if is_array(expected):
        return f"{name} is {describe(got)}; {describe(expected)} is wanted."
    if isinstance(expected, str) != isinstance(got, str):
        return f"{name} is {describe(got)}; {describe(expected)} is wanted."


def _plain(x):
    """A number or truth value as NumPy has it; arrays, tensors and the rest as they are."""
    return x if not (is_array(x) or is_number(x) or isinstance(x, (bool, np.bool_))) else as_array(x)


def _distinct(a, b):
    """Two values with as many digits as it takes to tell them apart."""
    a_text, b_text = hints.shown(a), hints.shown(b)
    return (a_text, b_text) if a_text != b_text else (f"{float(a):.8g}", f"{float(b):.8g}")


def _not_finite(expected, got):
    e, g = as_array(expected), as_array(got)
    return e.dtype.kind in "fiu" and g.dtype.kind == "f" and bool((np.isfinite(e) & ~np.isfinite(g)).any())


def _message(error):
    text = " ".join(str(error).split())
    return (text[:200] + " …" if len(text) > 200 else text) or "without a message"


_KEEPS_CAPITAL = re.compile(r"[A-Z] [=@*]|(PyTorch|NumPy|Python|True|False|None|[KQVWX]'?s?) ")


def _continued(message):
    """A sentence as it stands after a colon: an ordinary capitalised first word loses its capital."""
    if re.match(r"[A-Z][a-z]*('s)? ", message) and not _KEEPS_CAPITAL.match(message):
        return message[0].lower() + message[1:]
    return message


def _filled(message, case):
    values = dict(case.dims)
    values |= {f"sqrt_{name}": f"{size**0.5:.3g}" for name, size in case.dims.items()}
    return re.sub(r"\{(\w+)\}", lambda match: str(values.get(match[1], match[1].replace("sqrt_", "√"))), message)
