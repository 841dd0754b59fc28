"""What explains a wrong answer: several kinds of knowledge, asked in a fixed order until one of them can speak.

A road is a function from an Answer to an Explanation or None; ROADS is their order. What an Explanation says has been
proved by running: either its mistakes do exactly what the answer did on every case, or its change makes the answer
right on every case. "You did" is said only where the learner's source bears it out.
"""

import functools
import inspect
import warnings
from dataclasses import dataclass

import numpy as np

from ..course import VOCABULARY
from . import borrowing, evidence, first_difference, one_case, one_change, transforms, two_changes, variants
from .exercise import Finding
from .inputs import pristine
from .messages import continued, filled, joined
from .registry import functions_until, get
from .remarks import remarks_on
from .running import Outcome, line_in, place_of, quiet_outcome, run_quietly, same_outcome
from .twins import build, twins_of
from .values import is_array, is_number

SAME_NUMBERS = "The same numbers come out with this mistake: "
CALLEES_TRIED = 120  # mistakes of the functions that the reference calls
VERDICTS = 4  # wrong verdicts from which on agreement proves something
PAIRED = 60  # known mistakes that transforms are combined with


@dataclass(frozen=True)
class Explanation:
    """What is wrong with an answer.

    kind: which kind of knowledge it is: "known", "same numbers", "one change", "several changes", "changed input".
    headline: the first sentence. points: what the headline counts. findings: what was found, by name.
    more: sentences beneath.
    """

    kind: str
    headline: str
    points: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    more: tuple[str, ...] = ()


def explain(search):
    """The Explanation of a wrong answer, or None where no road leads anywhere. search: the answer's Search."""
    return next((found for road in ROADS if (found := road(search))), None)


def explain_some(answer, among, wrong):
    """The same for some cases by themselves: known mistakes only."""
    search = Search(answer, among, wrong)
    return next((found for road in OF_KNOWN if (found := road(search))), None)


class Search:
    """One answer, and what the roads share: the known sets that fit it and the change that mends it, sought once."""

    def __init__(self, answer, among=None, wrong=None):
        self.answer, self.exercise, self.twins = answer, answer.exercise, answer.twins
        self.outcomes = answer.outcomes
        self.wrong = answer.wrong if wrong is None else wrong
        cases = range(len(self.outcomes)) if among is None else among
        self.order = [*self.wrong, *(i for i in cases if i not in self.wrong)]
        self._known, self._change, self.changed_counts = {}, (), True

    # Known mistakes

    def fits(self, ids, i):
        """Whether the twin with these mistakes did what the answer did on case i; if it stopped, at a like line."""
        ours, theirs = self.outcomes[i], self.twins.outcome(ids, i)
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

    def known(self, size):
        """Sets of that many known mistakes that did exactly what the answer did, on every case."""
        if size not in self._known:
            self._known[size] = self._fitting(size)
            if not self._known[size] and any(outcome.changed for outcome in self.outcomes):
                self.changed_counts = False  # the same values, from code that also changes what it was given
                self._known[size] = self._fitting(size)
                self.changed_counts = True
        return self._known[size]

    def _fitting(self, size):
        found = [ids for ids in self._sets(size, self.order[0]) if all(self.fits(ids, i) for i in self.order)]
        return [ids for ids in found if any(self.differs(ids, i) for i in self.order)]

    def _sets(self, size, first):
        """Sets worth trying. From three on, those that leave the first case as it is have been run already."""
        if size < 3:
            yield from self.twins.sets(size)
            return
        for ids in self.twins.sets(size):
            visible = frozenset(id for id in ids if self.twins.visible(id, first, self.answer.tolerances[first]))
            if len(visible) == size or self.fits(visible, first):
                yield ids

    @property
    def says_little(self):
        """Whether agreement proves little: an answer that stopped, or that says no more than yes or no."""
        return self.is_verdict or self.answer.stopped(self.order[0])

    @property
    def is_verdict(self):
        """Whether no more than a yes or no is asked for: wrong ones agree too easily."""
        return isinstance(self.answer.expected[self.order[0]].value, (bool, np.bool_))

    def borne_out(self, ids):
        """Whether the learner's source shows everything that the messages of a set speak of."""
        source, reference = self.answer.source, self.exercise.source
        return all(evidence.borne_out(self.twins.mistakes[id], reference, source) for id in ids)

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
        return one_change.find(answer.tree, variants.Builder(answer.space), answer.fits, answer.space)

    @functools.cached_property
    def values(self):
        """The answer's own values beside the reference's (first_difference.Values); None where none can be had."""
        answer, exercise = self.answer, self.exercise
        if answer.tree is None or exercise.judge:
            return None
        return first_difference.Values(
            answer.tree,
            answer.space,
            exercise.reference,
            answer.run_variant,
            answer.right,
            answer.order,
            VOCABULARY | dict(exercise.words),
            lambda i: dict(exercise.cases[i].dims),
        )

    @functools.cached_property
    def difference(self):
        """How far the answer is right (first_difference.Difference), or None."""
        return None if self.values is None else first_difference.find(self.values)


# The roads ------------------------------------------------------------------------------------------------------------


def _only_changed_its_input(search):
    """Right values, and an input that is no longer what it was."""
    changed = [i for i in search.wrong if search.answer.problems[i].kind == "changed"]
    # An operation in place also refuses to put fractions among whole numbers, which is the same mistake.
    refused = [i for i in search.wrong if "same_kind" in str(search.outcomes[i].error)]
    if not changed or len(changed) + len(refused) < len(search.wrong):
        return None
    text = search.answer.problems[changed[0]].text
    known = _findings(search, search.known(1))
    alike = [ids for ids in search.twins.sets(1) if all(search.fits(ids, i) for i in changed)]
    known = known or _findings(search, alike)
    findings = known or (Finding("changes-its-input", text),)
    return Explanation("changed input", f"the values are right. {text}", findings=findings)


def _known_and_seen(size):
    """Known mistakes that the learner's source bears out."""

    def road(search):
        if size > search.exercise.max_mistakes:
            return None
        known = search.known(size)
        sets = [ids for ids in known if search.borne_out(ids)]
        if sets and size == 1 and search.says_little and len(_messages(search, known)) > len(_messages(search, sets)):
            return _named(search, known, seen=False)  # one error may have several causes: words alone do not decide
        seen = _messages(search, sets)
        return _named(search, [ids for ids in known if _messages(search, [ids])[0] in seen]) if sets else None

    return road


def _one_change(search):
    """The one change in the learner's own code that makes it right, after a known mistake with the same numbers."""
    change = search.change
    if change is None:
        return None
    finding = Finding("one-change", change.sentence)
    proves = not search.is_verdict or len(search.wrong) >= VERDICTS
    known = _messages(search, search.known(1)) if proves else []
    lines = {line for option in change.options for line in option.lines}
    facts = tuple(r.sentence for r in remarks_on(search.answer) if r.certain and r.line in lines)
    if len(known) == 1:
        headline = f"{SAME_NUMBERS}{known[0][0]}"
        findings = (*_findings(search, search.known(1)), finding)
        return Explanation("one change", headline, findings=findings, more=(change.sentence, *facts))
    return Explanation("one change", change.sentence, findings=(finding,), more=facts)


def _known_by_numbers(size):
    """Known mistakes that give the same numbers, though the learner's source does not show them."""

    def road(search):
        if size > search.exercise.max_mistakes or search.says_little and size > 1:
            return None
        if search.is_verdict and len(search.wrong) < VERDICTS:
            return None
        if not search.known(size):
            return None
        return _named(search, search.known(size), seen=False)

    return road


def _transformed(search):
    """The reference's results, or its arguments, changed as a whole."""
    if search.exercise.judge:
        return None  # many answers are right there
    for clause, id, value_of in _changes_of_results(search, frozenset()):
        if search.matches(value_of):
            return _same_numbers(clause, id)
    for clause, id, value_of in _changes_of_arguments(search):
        if search.matches(value_of):
            return _same_numbers(clause, id)
    return None


def _transformed_and_known(search):
    """A known mistake and a change of a whole result together."""
    if search.exercise.judge:
        return None
    wrong = _wrong_results(search)
    for mistake in search.exercise.mistakes[:PAIRED]:
        ids = frozenset({mistake.id})
        if not search.differs(ids, search.order[0]) or search.twins.outcome(ids, search.order[0]).error is not None:
            continue
        for clause, id, value_of in _changes_of_results(search, ids, wrong):
            if search.matches(value_of):
                message = _message(search, mistake.id)
                finding = Finding(id, f"The same numbers come out if {clause}.")
                points = (message, f"As if {clause}.")
                return Explanation(
                    "same numbers",
                    "two things together give the same numbers.",
                    points=points,
                    findings=(Finding(mistake.id, message), finding),
                )
    return None


def _callee(search):
    """A mistake inside a function that the reference calls, which a learner may have written out anew."""
    if search.says_little:
        return None
    tried = 0
    for name, number in _callees(search.exercise).items():
        inner = twins_of(get(number))
        for mistake in inner.exercise.mistakes:
            tried += 1
            if tried > CALLEES_TRIED:
                return None
            variant = _with_callee(search.exercise, name, inner, mistake.id)
            if search.matches(lambda i, v=variant: run_quietly(search.exercise, v, search.exercise.cases[i])):
                message = filled(mistake.message, search.exercise.cases[search.order[0]])
                text = f"The same numbers come out with a mistake in the part that `{name}` does: {message}"
                return Explanation("same numbers", text, findings=(Finding(mistake.id, message),))
    return None


def _two_changes(search):
    """Two changes of the learner's own code that together make it right."""
    if search.values is None:
        return None
    answer = search.answer
    found = two_changes.find(answer.tree, answer.space, search.values, answer.fits)
    return _several_changes(found.sentence) if found else None


def _borrowed(search):
    """Two or three of the learner's values, with whose right ones the rest is right."""
    if search.values is None or search.difference and (search.difference.wrong or search.difference.misnamed):
        return None
    found = borrowing.find(search.values)
    return _several_changes(found.sentence) if found else None


def _several_changes(sentence):
    return Explanation("several changes", sentence, findings=(Finding("several-changes", sentence),))


ROADS = (
    _only_changed_its_input,
    _known_and_seen(1),
    _one_change,
    _known_and_seen(2),
    _known_by_numbers(1),
    _transformed,
    _callee,
    _known_and_seen(3),
    _two_changes,
    _known_by_numbers(2),
    _transformed_and_known,
    _borrowed,
    _known_by_numbers(3),
)
OF_KNOWN = (
    _known_and_seen(1),
    _known_and_seen(2),
    _known_by_numbers(1),
    _known_and_seen(3),
    _known_by_numbers(2),
    _known_by_numbers(3),
)


# How findings are told ------------------------------------------------------------------------------------------------


def _message(search, id):
    return filled(search.twins.mistakes[id].message, search.exercise.cases[search.order[0]])


def _ordered(search, ids):
    return [id for id in search.twins.mistakes if id in ids]


def _messages(search, sets):
    """The different ways to tell sets of mistakes, each a tuple of messages."""
    return list(dict.fromkeys(tuple(_message(search, id) for id in _ordered(search, ids)) for ids in sets))


def _findings(search, sets):
    ids = {id for ids in sets for id in ids}
    return tuple(Finding(id, _message(search, id)) for id in _ordered(search, ids))


def _named(search, sets, seen=True):
    """The Explanation that known mistakes give. seen: the source bears them out."""
    ways = _messages(search, sets)
    findings = _findings(search, sets)
    kind = "known" if seen else "same numbers"
    if len(ways) > 1:
        points = tuple(joined(messages) for messages in ways)
        return Explanation(kind, "any one of these gives exactly your result:", points=points, findings=findings)
    if len(ways[0]) > 1:
        count = {2: "two", 3: "three"}[len(ways[0])]
        told = f"{count} things together give exactly your result."
        told = told if seen else f"the same numbers come out with {count} mistakes together."
        return Explanation(kind, told, points=ways[0], findings=findings)
    headline = ways[0][0] if seen else f"{SAME_NUMBERS}{ways[0][0]}"
    return Explanation(kind, continued(headline), findings=findings)


def _same_numbers(clause, id):
    text = f"The same numbers come out if {clause}."
    return Explanation("same numbers", text, findings=(Finding(id, text),))


def partly(search):
    """What explains every wrong case, or at least half of all: (sentence, whether every wrong case), or None."""
    first, wrong = search.order[0], search.wrong
    for size in range(1, min(2, search.exercise.max_mistakes) + 1):
        found = [ids for ids in search.twins.sets(size) if search.differs(ids, first) and search.fits(ids, first)]
        counts = {ids: sum(search.fits(ids, i) for i in wrong) for ids in found}
        most = max(counts.values(), default=0)
        best = [ids for ids in found if counts[ids] == most]
        half = len(search.outcomes) / 2
        everywhere = [sum(search.fits(ids, i) for i in range(len(search.outcomes))) for ids in best]
        best = [ids for ids, count in zip(best, everywhere, strict=True) if most == len(wrong) or count >= half]
        ways = _messages(search, best)
        if most * 2 < len(wrong) or not best or len(ways) > 2:
            continue
        told = " Or: ".join(joined(messages) for messages in ways)
        same = "the same error comes up" if search.answer.stopped(first) else "the same numbers come out"
        if most == len(wrong):
            where = "In every wrong case" if len(wrong) > 1 else "In the wrong case"
            return f"{where} {same} with this mistake: {told}", True
        return f"In {most} of the {len(wrong)} wrong cases {same} with this mistake: {told}", False
    return None


# Changes of results, arguments, and functions that are called -------------------------------------------------------


def _wrong_results(search):
    """Names of the results that are wrong in the first wrong case."""
    i, exercise = search.order[0], search.exercise
    if not one_case.same_shapes(search.answer, i):
        return None
    expected, got = search.answer.expected[i].value, search.outcomes[i].value
    return [name for name, *_ in one_case.off(exercise, expected, got, exercise.cases[i])]


def _changes_of_results(search, ids, wrong=None):
    """(clause, id, value_of) for each transform of each result of the twin with these mistakes.

    wrong: names of the results that may be changed; all for None.
    """
    exercise = search.exercise
    dims = exercise.cases[search.order[0]].dims
    base = search.twins.outcome(ids, search.order[0])
    if base.error is not None:
        return
    names = [name for name, _ in one_case.parts(exercise, base.value)]
    for transform in transforms.results_of(dims):
        for place, name in enumerate(names):
            if wrong is not None and name not in wrong:
                continue
            if not is_array(base.value[place] if len(names) > 1 else base.value):
                # So many numbers come out of sizes and functions that they prove nothing of a single number.
                tried = transform.size and not ids or transform.id in transforms.OF_NUMBERS
                if len(names) > 1 or not tried:
                    continue
            clause = transform.what.replace("{name}", one_case.called(exercise, name))
            yield clause, f"{transform.id}-result", _transformer(search, ids, transform, place, len(names))


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


def _changes_of_arguments(search):
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


def _callees(exercise):
    """Functions of earlier exercises that a reference calls: name → number."""
    called = evidence.words(exercise.source)
    return {name: number for name, number in functions_until(exercise.id).items() if name in called}


def _with_callee(exercise, name, inner, id):
    """The reference, calling a faulty twin where it calls another exercise's function."""
    return build(exercise, exercise.source, {name: inner.twin(frozenset({id}))})
