"""What explains a wrong answer: several kinds of knowledge, asked in a fixed order until one of them can speak.

A road is a function from an Answer to an Explanation or None; ROADS is their order. What an Explanation says has been
proved by running: either its mistakes do exactly what the answer did on every case, or its change makes the answer
right on every case. "You did" is said only where the learner's source bears it out.
"""

import itertools
from dataclasses import replace

from . import after_a_step, borrowing, change_and_known, changed_whole, evidence, two_changes
from .exercise import AnswerProblem, Finding
from .explanations import (
    SAME_NUMBERS,
    Explanation,
    findings_of,
    in_so_many,
    message_of_mistake,
    messages,
    named,
    same_numbers,
)
from .messages import filled
from .outcomes import refused_in_place
from .registry import get
from .remarks import remarks_on
from .running import run_quietly
from .search import VERDICTS, Search
from .twins import twins_of

CALLEES_TRIED = 120  # mistakes of the functions that the reference calls
FEW = 3  # known mistakes with the same numbers that are named beside a change
PAIRED = 60  # known mistakes that transforms are combined with


def explain(search):
    """The Explanation of a wrong answer, or None where no road leads anywhere. search: the answer's Search."""
    roads = (_one_change,) if search.right_but_for_kind else ROADS
    return next((found for road in roads if (found := road(search))), None)


def explain_some(answer, among, wrong):
    """The same for some cases by themselves: known mistakes only."""
    search = Search(answer, among, wrong)
    return next((found for road in OF_KNOWN if (found := road(search))), None)


# The roads ------------------------------------------------------------------------------------------------------------


def _only_changed_its_input(search):
    """Right values, and an input that is no longer what it was."""
    changed = [i for i in search.wrong if search.answer.problems[i].kind == "changed"]
    # An operation in place also refuses to put fractions among whole numbers, which is the same mistake.
    refused = [i for i in search.wrong if refused_in_place(search.outcomes[i].error)]
    if not changed or len(changed) + len(refused) < len(search.wrong):
        return None
    text = search.answer.problems[changed[0]].text
    known = findings_of(search, search.known(1))
    alike = [ids for ids in search.twins.sets(1) if all(search.fits(ids, i) for i in changed)]
    known = known or findings_of(search, alike)
    findings = known or (Finding("changes-its-input", text),)
    return Explanation("changed input", f"the values are right. {text}", findings=findings)


def _known_and_seen(size):
    """Known mistakes that the learner's source bears out."""

    def road(search):
        if size > search.exercise.max_mistakes or search.answer.source is None:
            return None
        known = search.known(size)
        sets = [ids for ids in known if search.borne_out(ids)]
        if sets and size == 1 and search.says_little and len(messages(search, known)) > len(messages(search, sets)):
            return named(search, known, seen=False)  # one error may have several causes: words alone do not decide
        if not sets:
            return None
        seen = messages(search, sets)
        found = named(search, [ids for ids in known if messages(search, [ids])[0] in seen])
        return replace(found, more=_why(search, sets))

    return road


def _why(search, sets):
    """A certain remark, where all that shows known mistakes is that something is missing: it may say why."""
    source, reference = search.answer.source, search.exercise.source
    mistakes = (search.twins.mistakes[id] for ids in sets for id in ids)
    if not all(evidence.only_missing(mistake, reference, source) for mistake in mistakes):
        return ()
    certain = (remark.sentence for remark in remarks_on(search.answer) if remark.certain)
    return tuple(sentence for sentence in certain if "never used" not in sentence)[:1]  # that is no other reason


def _cannot_be_tried(search):
    """What the exercise itself says of an answer that cannot even be tried, such as a class without its layers."""
    error = search.outcomes[search.order[0]].error
    if not isinstance(error, AnswerProblem):
        return None
    change = () if search.change is None else (Finding("one-change", search.change.sentence),)
    beside = None if change else change_and_known.find(search)
    known = () if beside is None else findings_of(search, [beside.ids])
    if known and known[0].id != error.finding.id:
        points = (error.finding.message, known[0].message)
        return Explanation("known", "two things are wrong.", points=points, findings=(error.finding, *known))
    certain = [remark.sentence for remark in remarks_on(search.answer) if remark.certain]
    more = (*(finding.message for finding in change), *certain[:1])
    return Explanation("known", error.finding.message, findings=(error.finding, *change), more=more)


def _one_change(search):
    """The one change in the learner's own code that makes it right, after a known mistake with the same numbers."""
    change = search.change
    if change is None:
        return None
    sentence = search.told(change)
    finding = Finding("one-change", sentence)
    proves = not search.is_verdict or len(search.wrong) >= VERDICTS
    known = messages(search, search.known(1)) if proves else []
    lines = {line for option in change.options for line in option.lines}
    certain = (remark for remark in remarks_on(search.answer) if remark.certain)
    facts = tuple(remark.sentence for remark in certain if remark.line in lines or "loop" in remark.sentence)
    if len(known) == 1:
        headline = f"{SAME_NUMBERS}{known[0][0]}"
        findings = (*findings_of(search, search.known(1)), finding)
        return Explanation("one change", headline, findings=findings, more=(sentence, *facts))
    if 1 < len(known) <= FEW:
        found = named(search, search.known(1), seen=False)
        return replace(found, findings=(*found.findings, finding), more=(sentence, *facts))
    return Explanation("one change", sentence, findings=(finding,), more=facts)


def _formula(search):
    """A count whose terms differ from the right ones; by the names of two known mistakes where the source has them."""
    formula = search.formula
    if formula is None or not formula.points or search.known(1):
        return None
    known = search.known(2)
    if known:
        seen = [ids for ids in known if search.borne_out(ids)]
        return named(search, seen or known, seen=bool(seen))
    return _of_formula(search, f"with letters for the sizes, your result is `{formula.text}`.", formula.points)


def _factor_of_formula(search):
    """A count that is right but for a number."""
    formula = search.formula
    if formula is None or not formula.factor:
        return None
    text = f"your result is {formula.factor}, whatever the sizes: with letters for them it is `{formula.text}`."
    return _of_formula(search, text, ())


def _of_formula(search, headline, points):
    findings = tuple(Finding("formula", point) for point in points) or (Finding("formula", headline),)
    if len(points) == 1:
        headline, points = f"{headline} {points[0]}", ()
    more = () if search.change is None else (search.change.sentence,)
    return Explanation("formula", headline, points=points, findings=findings, more=more)


def _known_by_numbers(size):
    """Known mistakes that give the same numbers, though the learner's source does not show them."""

    def road(search):
        if size > search.exercise.max_mistakes or search.says_little and size > 1:
            return None
        if search.is_verdict and len(search.wrong) < VERDICTS:
            return None
        known = search.known(size) or (size == 2 and search.known(size, thorough=True))
        return named(search, known, seen=False) if known else None

    return road


def _transformed(search):
    """The reference's results, or its arguments, changed as a whole."""
    if search.exercise.judge or search.says_little:
        return None  # many answers are right there, or few are possible
    ways = itertools.chain(changed_whole.of_results(search, frozenset()), changed_whole.of_arguments(search))
    return next((same_numbers(clause, id) for clause, id, value_of in ways if search.matches(value_of)), None)


def _transformed_and_known(search):
    """A known mistake and a change of a whole result together."""
    if search.exercise.judge:
        return None
    wrong = changed_whole.wrong_results(search)
    for mistake in search.exercise.mistakes[:PAIRED]:
        ids = frozenset({mistake.id})
        if not any(search.differs(ids, i) for i in search.wrong):
            continue
        factor = changed_whole.factor(search, ids)
        if factor is not None:
            return _with_factor(search, ids, factor)
        if not search.differs(ids, search.order[0]) or search.twins.outcome(ids, search.order[0]).error is not None:
            continue
        for clause, id, value_of in changed_whole.of_results(search, ids, wrong):
            if search.matches(value_of) and not search.fits(ids, search.order[0]):
                message = message_of_mistake(search, mistake.id)
                finding = Finding(id, f"The same numbers come out if {clause}.")
                points = (message, f"Besides, the same numbers come out if {clause}.")
                return Explanation(
                    "same numbers",
                    "two things together give the same numbers.",
                    points=points,
                    findings=(Finding(mistake.id, message), finding),
                )
    return None


def _with_factor(search, ids, factor):
    """A known mistake, and a number that the whole result is multiplied by."""
    known = findings_of(search, [ids])
    text = f"Besides, all of it is {changed_whole.factor_text(factor)} times as large as with that mistake alone."
    seen = search.plainly_seen(ids)
    headline = "two things together give exactly your result." if seen else "two things together give the same numbers."
    points = (known[0].message, text)
    return Explanation("same numbers", headline, points=points, findings=(*known, Finding("factor", text)))


def _after_a_step(search):
    """What is returned, with one step more."""
    if search.exercise.judge or search.is_verdict:
        return None
    clause = after_a_step.find(search)
    if clause is None:
        return None
    headline = f"what you return would be right {clause}."
    return Explanation("one step more", headline, findings=(Finding("one-step-more", headline),))


def _callee(search):
    """A mistake inside a function that the reference calls, which a learner may have written out anew."""
    if search.says_little:
        return None
    tried = 0
    for name, number in changed_whole.callees(search.answer).items():
        inner = twins_of(get(number))
        for mistake in inner.exercise.mistakes:
            tried += 1
            if tried > CALLEES_TRIED:
                return None
            variant = changed_whole.with_callee(search.exercise, name, inner, mistake.id)
            if search.matches(lambda i, v=variant: run_quietly(search.exercise, v, search.exercise.cases[i])):
                message = filled(mistake.message, search.exercise.cases[search.order[0]])
                text = f"The same numbers come out with a mistake in the part that `{name}` does: {message}"
                return Explanation("same numbers", text, findings=(Finding(mistake.id, message),))
    return None


def _seen_together(search):
    """Two known mistakes that are looked for alone elsewhere: the source shows both, or one explains most cases."""
    if search.says_little and not search.says_often:
        return None
    found = search.seen_pairs()
    if found:
        return named(search, found)
    found = search.completed_pairs()
    return named(search, found, seen=False) if found and len(messages(search, found)) <= FEW else None


def _change_and_known(search):
    """A known mistake, and one change in the learner's own code besides."""
    found = None if search.known(2) else change_and_known.find(search)
    if found is None:
        return None
    known = findings_of(search, [found.ids])
    findings = (*known, Finding("one-change", found.sentence))
    alike = sum(search.fits(found.ids, i) for i in search.wrong)
    # The change may be a second mistake, or a part of the first.
    if 2 * alike > len(search.wrong) or not search.plainly_seen(found.ids):
        headline = f"{in_so_many(alike, len(search.wrong))}{known[0].message}"
        return Explanation("several changes", headline, findings=findings, more=(found.for_the_rest,))
    points = (known[0].message, found.sentence)
    return Explanation("several changes", "two things are wrong.", points=points, findings=findings)


def _two_changes(search):
    """Two changes of the learner's own code that together make it right."""
    if search.values is None or search.is_verdict:
        return None
    answer = search.answer
    values = search.values.built_by(answer.builder())  # what is left is for other roads
    found = two_changes.of_parts(search) or two_changes.find(
        answer.tree, answer.space, answer.edits, values, answer.fits, search.stopping
    )
    return _several_changes(search.told(found)) if found else None


def _borrowed(search):
    """Two or three of the learner's values, with whose right ones the rest is right."""
    if search.values is None or search.difference and (search.difference.wrong or search.difference.misnamed):
        return None
    if search.partly and 2 * search.partly[1] > len(search.wrong):
        return None  # a known mistake that explains most cases says more than which values are wrong
    found = borrowing.find(search.values)
    return _several_changes(search.told(found)) if found else None


def _several_changes(sentence):
    return Explanation("several changes", sentence, findings=(Finding("several-changes", sentence),))


ROADS = (
    _only_changed_its_input,
    _known_and_seen(1),
    _cannot_be_tried,
    _formula,
    _one_change,
    _known_and_seen(2),
    _known_by_numbers(1),
    _factor_of_formula,
    _transformed,
    _after_a_step,
    _callee,
    _known_and_seen(3),
    _seen_together,
    _change_and_known,
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
