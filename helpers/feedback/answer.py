"""One answer on its way to a verdict: what it did on every case, beside what the reference does there."""

import dataclasses
import functools
import math

from . import errors, one_case, running, variants
from .edits_of_functions import edits_of
from .exercise import AnswerProblem
from .inputs import pristine, tolerance_of
from .outcomes import same_outcome
from .sources import first_line_of, learners_source
from .twins import twins_of
from .values import arrays

LARGEST = 10**7  # entries of a wrong result; a view may claim more than any memory holds
LOOKING_SECONDS = 2.0  # of computing, after which a look at one result is given up
VARIANT_SECONDS = 2.0  # of computing, after which a variant is stopped; its loops are counted out long before


class Answer:
    """A candidate for an exercise, run case by case; `outcomes` grow as it does.

    problems: for each case None or a Problem. wrong: indices of the cases with one.
    """

    def __init__(self, exercise, candidate):
        self.exercise, self.candidate = exercise, candidate
        self.twins = twins_of(exercise)
        self.outcomes, self.problems = [], []
        self.clock, self.latest = running.Clock(), None
        self.source = learners_source(candidate)

    @functools.cached_property
    def expected(self):
        """The reference's Outcome on each case."""
        return [self.twins.outcome(frozenset(), i) for i in range(len(self.exercise.cases))]

    @functools.cached_property
    def tolerances(self):
        """The relative error allowed in each case."""
        return [tolerance_of(case, o.value) for case, o in zip(self.exercise.cases, self.expected, strict=True)]

    @property
    def wrong(self):
        return [i for i, problem in enumerate(self.problems) if problem]

    @property
    def order(self):
        """All cases, the wrong ones first: whatever does not fit shows early."""
        wrong = self.wrong
        return [*wrong, *(i for i in range(len(self.exercise.cases)) if i not in wrong)]

    @functools.cached_property
    def _telling(self):
        """The same, in the order in which variants are tried: the first wrong one, then what refused the last ones."""
        return self.order

    def run(self, i):
        """Run the next case, i, and keep its outcome."""
        self.outcomes.append(running.run(self.exercise, self.candidate, self.exercise.cases[i], self.clock))
        return self.outcomes[-1]

    def judge_cases(self):
        """Find what is wrong in each case, once all have run."""
        self.problems = [self._problem_in(i) for i in range(len(self.outcomes))]

    def _problem_in(self, i):
        """What is wrong in case i. A result that cannot be looked at, or is beyond all size, is not kept."""
        expected, outcome = self.expected[i], self.outcomes[i]
        found, error = running.contained(lambda: self._looked_at(i), LOOKING_SECONDS)
        if error is None and not (found and found[1]):
            return found and found[0]
        text = (
            found[0].text
            if found
            else (
                f"What came back, of type {type(outcome.value).__name__}, cannot be compared with what is wanted: "
                f"looking at it stops with {type(error).__name__}: {errors.message_of(error)}"
            )
        )
        self.outcomes[i] = dataclasses.replace(outcome, value=None, error=AnswerProblem("not-comparable", text))
        return one_case.Problem("missing error" if expected.error is not None else "error", text)

    def _looked_at(self, i):
        """(Problem, whether the result is too large to go on with) of case i, or None where it is right."""
        found = one_case.problem(self, i)
        sizes = (math.prod(x.shape) for x in arrays(self.outcomes[i].value))
        return found and (found, any(size > LARGEST for size in sizes))

    def stopped(self, i):
        """Whether the answer raised where it should not have."""
        return self.outcomes[i].error is not None and self.expected[i].error is None

    def given(self, i):
        """Which arguments of case i hold something."""
        return tuple(x is not None for x in pristine(self.exercise.cases[i]).drawn)

    # Variants of the learner's own code

    @functools.cached_property
    def tree(self):
        """The answer's syntax tree, its lines those of the cell; None where there is no source that does the same."""
        tree = None if self.source is None else variants.parse(self.source, first_line_of(self.candidate))
        return tree if tree is not None and self._does_the_same(tree) else None

    def _does_the_same(self, tree):
        """Whether the source that was found is really the answer's: it must go wrong in the same way."""
        first = self.order[0]
        try:
            again, self._seen = self._watched(tree, first)
        except Exception:  # a definition that cannot be made again: decorators, names that are gone
            return False
        ours, room = self.outcomes[first], self.tolerances[first]
        if self.exercise.judge and ours.error is None and again.error is None:
            return not one_case.is_right(self.exercise, self.exercise.cases[first], self.expected[first], again)
        return same_outcome(ours, again, room) or not self._repeats(first)

    def _watched(self, tree, i):
        """Outcome of what a tree defines on case i, and what was seen meanwhile (a variants.Watch)."""
        build = variants.Builder(self.space)
        variant = build(tree)
        return variants.watch(lambda: self.run_variant(variant, i), build)

    def _repeats(self, i):
        """Whether the answer gives the same twice: one that draws at random does not."""
        again = running.run(self.exercise, self.candidate, self.exercise.cases[i], self.clock)
        return same_outcome(self.outcomes[i], again, self.tolerances[i])

    @functools.cached_property
    def space(self):
        """The names that the answer's code sees."""
        return variants.globals_of(self.candidate)

    @functools.cached_property
    def edits(self):
        """All single edits of the tree, for as long as it is as it was; none of a default that the exercise gives."""
        given, ours = variants.defaults_of(variants.parse(self.exercise.source)), variants.defaults_of(self.tree)
        agreed = {name for name in ours if ours[name] == given.get(name)}
        return edits_of(self.tree, self.space, agreed, self.kinds)

    @property
    def kinds(self):
        """What the answer's names held in the first wrong case; see `variants.Watch`."""
        return self._seen.kinds

    def builder(self, in_all=variants.CALLS_IN_ALL):
        """A new variants.Builder for variants of the answer, with costs as the answer's own."""
        return variants.Builder(self.space, self._costs, in_all)

    @functools.cached_property
    def _costs(self):
        return variants.Costs.of(self.tree, self._seen, self._in_loops())

    def _in_loops(self):
        """Operations in loops, case by case; those of the first one are counted already."""
        yield self._seen.in_loops
        build = variants.Builder(self.space)
        variant = build(self.tree)
        for i in self.order[1:]:
            before = build.looped
            self.run_variant(variant, i)
            yield build.looped - before

    def run_variant(self, variant, i):
        """Outcome of another version of the answer on one case, guarded like the answer itself."""
        return running.run(self.exercise, variant, self.exercise.cases[i], seconds=VARIANT_SECONDS)

    def right(self, variant, i):
        """Whether another version of the answer is right on one case."""
        outcome = self.run_variant(variant, i)
        if i == self.order[0]:
            self.latest = outcome
        return self.would_be_right(i, outcome)

    @functools.cached_property
    def changes_its_input(self):
        """Whether the answer changes what it is given in every case that does not stop."""
        changed = [bool(outcome.changed) for outcome in self.outcomes if outcome.error is None]
        return bool(changed) and all(changed)

    def would_be_right(self, i, outcome):
        """Whether an outcome, of whatever version, is right on case i; in values alone if the answer changes inputs."""
        if self.changes_its_input:
            outcome = dataclasses.replace(outcome, changed=())
        try:
            return one_case.is_right(self.exercise, self.exercise.cases[i], self.expected[i], outcome)
        except Exception:  # what came back cannot be looked at, such as a tensor without numbers
            return False

    def fits(self, variant):
        """Whether another version of the answer is right on every case, and keeps the exercise's promises.

        What it did on the first wrong case is kept as `latest`.
        """
        self.latest = None
        for i in self._telling:
            if not self.right(variant, i):
                if i != self._telling[0]:
                    self._telling.remove(i)
                    self._telling.insert(1, i)  # variants alike mostly fail alike
                return False
        return not any(self.asked(ask, variant) for ask in self.exercise.properties)

    def asked(self, ask, candidate):
        """What a property or a note says of a candidate; an error in it is an answer too (a Finding or a sentence)."""
        value, error, _, _ = running.guarded(lambda: ask(candidate), candidate, running.TIME_LIMIT)
        return value if error is None else error
