"""One answer, and what several kinds of knowledge share when they look for what explains it."""

import functools
import inspect

import numpy as np

from ..course import VOCABULARY
from . import counting, evidence, explanations, first_difference, one_change, partial_change, silencing
from .outcomes import refused_in_place, same_outcome
from .running import line_in, place_of

COMPLETED = 2  # mistakes that explain most wrong cases, and are tried with every other one
SEEN = 16  # mistakes that are seen in a source, and tried in pairs
# Function calls (see variants) that the search for one change may take: of a function, of a class.
FOR_ONE_CHANGE, FOR_ONE_OF_CLASSES = 840_000, 1_080_000
OFTEN = 6  # right verdicts, and wrong ones, from which on even two mistakes are believed
VERDICTS = 4  # wrong verdicts from which on agreement proves something


class Search:
    """One answer, and what the roads share: the known sets that fit it and the change that mends it, sought once."""

    def __init__(self, answer, among=None, wrong=None):
        self.answer, self.exercise, self.twins = answer, answer.exercise, answer.twins
        self.outcomes = answer.outcomes
        self.wrong = answer.wrong if wrong is None else wrong
        cases = range(len(self.outcomes)) if among is None else among
        self.order = [*self.wrong, *(i for i in cases if i not in self.wrong)]
        self._known, self._change, self.changed_counts = {}, (), True
        # Once `change` was sought: how many edits were tried, and those that let the first wrong case come to an end,
        # with what came out.
        self.count_tried, self.tried = 0, []

    # Known mistakes

    def fits(self, ids, i):
        """Whether the twin with these mistakes did what the answer did on case i; if it stopped, at a like line."""
        ours, theirs = self.outcomes[i], self.twins.outcome(ids, i)
        if not self.changed_counts and refused_in_place(ours.error):
            return True  # the same operation in place, which could not put fractions among whole numbers
        if not same_outcome(ours, theirs, self.answer.tolerances[i], self.changed_counts):
            return False
        return ours.error is None or self.answer.expected[i].error is not None or self._like_places(ours, theirs, ids)

    def _like_places(self, ours, theirs, ids):
        """Whether two errors came from lines that speak of the same parameters, such as `.W_v`."""
        place = place_of(ours.error, self.answer.candidate)
        line = line_in(theirs.error, f"<variant of {self.exercise.id}>")
        if place is None or line is None:
            return True
        lines = self.twins.source(ids).splitlines()
        theirs_text = lines[line - 1] if line <= len(lines) else ""
        named, there = evidence.attributes(place.text), evidence.attributes(theirs_text)
        return bool(named & there) or not named or not there

    def differs(self, ids, i):
        """Whether the twin does anything wrong on this case."""
        twin, right = self.twins.outcome(ids, i), self.answer.expected[i]
        return not same_outcome(twin, right, self.answer.tolerances[i], self.changed_counts)

    def known(self, size, thorough=False):
        """Sets of that many known mistakes that did exactly what the answer did, on every case.

        thorough: whether pairs are tried, too, in which one mistake shows on the first case only beside the other.
        """
        if (size, thorough) not in self._known:
            found = self._fitting(size, thorough)
            if not found and any(outcome.changed for outcome in self.outcomes):
                self.changed_counts = False  # the same values, from code that also changes what it was given
                found = self._fitting(size, thorough)
                self.changed_counts = True
            self._known[size, thorough] = found
        return self._known[size, thorough]

    def _fitting(self, size, thorough):
        sets = self.twins.sets(size) if size == 1 or size == 2 and thorough else self._sets(size, self.order[0])
        found = [ids for ids in sets if all(self.fits(ids, i) for i in self.order)]
        return [ids for ids in found if any(self.differs(ids, i) for i in self.order)]

    def seen_pairs(self):
        """Pairs of known mistakes that the source shows plainly and that do together what the answer did, all of them
        tried, also those that are looked for alone elsewhere.
        """
        seen = [id for id in self.twins.spans if self.plainly_seen(frozenset({id}))][:SEEN]
        pairs = [ids for ids in self.twins.pairs(seen) if all(self.fits(ids, i) for i in self.order)]
        return [ids for ids in pairs if any(self.differs(ids, i) for i in self.order)]

    def explains_some(self, ids):
        """Whether these mistakes do what the answer did in the first wrong case and in several others."""
        first = self.order[0]
        if not self.differs(ids, first) or not self.fits(ids, first):
            return False
        return sum(self.fits(ids, i) for i in self.wrong) >= max(2, len(self.wrong) / 4)

    def completed_pairs(self):
        """Pairs of known mistakes that do together what the answer did, one of which explains most wrong cases."""
        alone = [ids for ids in self.twins.sets(1) if self.explains_some(ids) and ids <= self.twins.spans.keys()]
        counts = {ids: sum(self.fits(ids, i) for i in self.wrong) for ids in alone}
        for ids in sorted(alone, key=counts.get, reverse=True)[:COMPLETED]:
            if 2 * counts[ids] < len(self.wrong):
                break
            left_first = sorted(self.order, key=lambda i, ids=ids: self.fits(ids, i))
            (one,) = ids
            others = (frozenset({one, id}) for id in self.twins.spans if id != one and self.twins.apart(one, id))
            found = [pair for pair in others if all(self.fits(pair, i) for i in left_first)]
            if found:
                return found
        return []

    def _sets(self, size, first):
        """Sets worth trying: not those that leave the first case as a smaller set does which does not fit there."""
        for ids in self.twins.sets(size):
            visible = frozenset(id for id in ids if self.twins.visible(id, first, self.answer.tolerances[first]))
            if len(visible) == size or self.fits(visible, first):
                yield ids

    @functools.cached_property
    def partly(self):
        """What explains a part of the wrong cases, or all of them: (sentence, how many), or None."""
        return None if self.is_verdict else explanations.partly(self)  # a yes or no agrees too easily

    @property
    def says_little(self):
        """Whether agreement proves little: an answer that stopped, or that says no more than yes or no."""
        return self.is_verdict or self.answer.stopped(self.order[0])

    @property
    def says_often(self):
        """Whether so many verdicts were asked for, right ones and wrong ones, that agreement on all proves much."""
        right = len(self.outcomes) - len(self.wrong)
        return self.is_verdict and not self.answer.stopped(self.order[0]) and min(right, len(self.wrong)) >= OFTEN

    @property
    def is_verdict(self):
        """Whether no more than a yes or no is asked for: wrong ones agree too easily."""
        return isinstance(self.answer.expected[self.order[0]].value, (bool, np.bool_))

    def borne_out(self, ids):
        """Whether the learner's source shows everything that the messages of a set speak of."""
        source, reference = self.answer.source, self.exercise.source
        return all(evidence.borne_out(self.twins.mistakes[id], reference, source) for id in ids)

    def plainly_seen(self, ids):
        """Whether the source shows all of it: a change of something else must not be what brought the mistake in."""
        source, reference = self.answer.source, self.exercise.source
        return all(evidence.plainly_seen(self.twins.mistakes[id], reference, source) for id in ids)

    def matches(self, value_of):
        """Whether outcomes made case by case are the answer's on every case. value_of: a case's index → one or None."""
        for i in self.order:
            value = value_of(i)
            if value is None or not same_outcome(self.outcomes[i], value, self.answer.tolerances[i]):
                return False
        return True

    # The learner's own code

    @property
    def change(self):
        """The single change of the learner's code that makes it right (one_change.Changes), or None."""
        if self._change == ():
            self._change = self._sought_change()
        return self._change

    def _sought_change(self):
        answer = self.answer
        if answer.tree is None or not inspect.signature(self.exercise.reference).parameters:
            return None  # where nothing is given, many answers are right, and a change that works is no advice
        build = answer.builder(FOR_ONE_OF_CLASSES if self.exercise.is_class else FOR_ONE_CHANGE)
        return one_change.find(
            answer.tree,
            build,
            answer.fits,
            answer.edits,
            tried=self._keep_tried,
            silences=None if self.is_verdict else self.silences,
        )

    def silences(self, edit):
        """Whether an edit only takes away what another line of the answer does in the first wrong case."""
        answer = self.answer
        build = answer.builder()
        build.space[silencing.NOISE] = silencing.noise

        def run(tree):
            variant = build.attempt(tree)
            return None if variant is None else answer.run_variant(variant, self.order[0])

        return silencing.silences(answer.tree, edit, run)

    def _keep_tried(self, edit):
        """Keep an edit with what the answer did with it on the first wrong case."""
        self.count_tried += 1
        if self.answer.latest is not None and self.answer.latest.error is None:
            self.tried.append((edit, self.answer.latest))

    @functools.cached_property
    def part(self):
        """What `partial_change.part` finds."""
        return partial_change.part(self)

    @property
    def stopping(self):
        """The edits with which the answer stops in the first wrong case, where it came to an end by itself."""
        if self.change is not None or self.outcomes[self.order[0]].error is not None:
            return frozenset()  # not all were tried, or an error hides what they do
        return frozenset(self.answer.edits[: self.count_tried]) - {edit for edit, _ in self.tried}

    def told(self, found):
        """What a report says of what was found; of the values alone where the answer goes on changing its input."""
        return found.told(self.answer.changes_its_input)

    @functools.cached_property
    def formula(self):
        """The answer's formula beside the right one (counting.Formula), or None."""
        return counting.find(self.answer)

    @functools.cached_property
    def values(self):
        """The answer's own values beside the reference's (first_difference.Values); None where none can be had."""
        answer, exercise = self.answer, self.exercise
        if answer.tree is None or exercise.judge:
            return None
        return first_difference.Values(
            answer.tree,
            answer.builder(),
            exercise.reference,
            answer.run_variant,
            answer.right,
            answer.order,
            VOCABULARY | dict(exercise.words),
            lambda i: dict(exercise.cases[i].dims),
        )

    def arises(self, i):
        """Where in the answer NaN or infinity first comes up on case i, as a sentence, or ""."""
        return "" if self.values is None else self.values.arises(i)

    @functools.cached_property
    def right_but_for_kind(self):
        """Whether all values are right: what is wrong is their kind alone, such as an array for a tensor."""
        answer = self.answer
        if all(answer.problems[i].kind == "dtype" for i in answer.wrong):
            return True
        return all(same_outcome(answer.outcomes[i], answer.expected[i], answer.tolerances[i]) for i in self.order)

    @functools.cached_property
    def difference(self):
        """How far the answer is right (differences.Difference), or None."""
        return None if self.values is None else first_difference.find(self.values)
