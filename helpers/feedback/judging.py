"""The verdict on an answer, in a fixed order.

Attempted? Runs? Right kind, shape and values? Well behaved? And if not: what explains it?
"""

import inspect
import logging

from . import causes, diagnosis, errors, guards, hints, one_case, running, twins, variants
from .answer import Answer
from .exercise import AnswerProblem, Finding
from .explanations import Explanation
from .messages import continued, joined, opened, seconds
from .outcomes import same_outcome
from .registry import get
from .remarks import remarks_on
from .report import Report
from .search import Search
from .session import session
from .sources import has_code, same_code
from .values import arrays, bits_of, describe, dtype_name

LOG = logging.getLogger("helpers.feedback")
STAND_IN = "Until yours passes, the cells below use the course's version."

# Of computing. No honest answer comes near: they end what a strange result makes endless.
EXPLAINING_SECONDS, JUDGING_SECONDS = 30.0, 60.0


def check(exercise_id, candidate):
    """Judge an answer and display nothing.

    exercise_id: "2.2". candidate: the learner's function or class.
    Returns a Report. Raises ValueError for an exercise that does not exist; never because of what the answer does.
    """
    return judge(get(exercise_id), candidate)


def judge(exercise, candidate):
    """The Report on an answer to an Exercise; one report, whatever the answer does."""
    judgement = _Judgement(exercise, candidate)

    def in_a_session():
        with session(candidate, exercise.name):
            return judgement.report()

    report, problem = running.contained(in_a_session, JUDGING_SECONDS)
    if problem is None:
        return report
    text = f"The answer could not be judged: {type(problem).__name__}, {errors.message_of(problem)}"
    return Report(exercise.id, exercise.name, "error", text, (Finding("not-judged", text),), footer=STAND_IN)


class _Judgement:
    """One judgement: the answer's outcomes on all cases, and the verdict drawn from them."""

    def __init__(self, exercise, candidate):
        self.exercise, self.candidate = exercise, candidate
        self.answer = self.search = None

    def report(self):
        problem = self._wrong_candidate()
        if problem:
            return problem
        self.answer = answer = Answer(self.exercise, self.candidate)
        if self.exercise.starts_with and same_code(twins.starting_source(self.exercise), answer.source):
            return self._todo()
        for i, case in enumerate(self.exercise.cases):
            outcome = answer.run(i)
            if isinstance(outcome.error, running.TimeLimit):
                return self._too_slow(case)
            if i == 0 and self._is_todo(outcome):
                return self._todo()
        answer.judge_cases()
        return self._wrong() if answer.wrong else self._misbehaved() or self._passed()

    def _make(self, status, headline, **more):
        printed = self.answer.outcomes[0].printed if self.answer and self.answer.outcomes else ""
        footer = more.pop("footer", STAND_IN if status in ("failed", "error") else "")
        headline = opened(headline)
        return Report(self.exercise.id, self.exercise.name, status, headline, printed=printed, footer=footer, **more)

    def _finding(self, status, id, message, **more):
        return self._make(status, message, mistakes=(Finding(id, message),), **more)

    # 1. Something to judge, and attempted

    def _wrong_candidate(self):
        wanted = "class" if self.exercise.is_class else "function"
        if inspect.isclass(self.candidate) != self.exercise.is_class or not callable(self.candidate):
            got = describe(self.candidate)
            if callable(self.candidate):
                got = "a class" if inspect.isclass(self.candidate) else "a function"
            message = f"A {wanted} is wanted here, {self.exercise.name}; {got} came."
            return self._finding("failed", f"not-a-{wanted}", message)
        if self.exercise.is_class or self.exercise.run:
            return None
        try:
            signature = inspect.signature(self.candidate)
            for arguments in {len(case.make()): case.make() for case in self.exercise.cases}.values():
                signature.bind(*arguments)
        except TypeError:
            wanted = inspect.signature(self.exercise.reference)
            message = f"The function must take the arguments `{wanted}`; yours takes `{signature}`."
            return self._finding("failed", "wrong-arguments", message)
        except ValueError:  # a built-in without a signature: calling it will tell
            return None
        return None

    def _is_todo(self, outcome):
        """The stub's own line was reached; an error of the same kind from inside PyTorch is not that."""
        if isinstance(outcome.error, NotImplementedError):
            place = running.place_of(outcome.error, self.candidate)
            return place is not None and place.innermost and "NotImplementedError" in place.text
        value = outcome.value
        return value is ... or (issubclass(type(value), tuple) and bool(value) and all(part is ... for part in value))

    def _todo(self):
        source = self.answer.source
        if self.exercise.starts_with:
            what = (
                "The function is still as you found it. Change something and run the cell again; "
                "the report then names the bugs that are left."
            )
        elif has_code(source):
            what = (
                "There is code, but the line `raise NotImplementedError` is still reached. "
                "Delete that line and run the cell again."
            )
        else:
            thing = "class" if self.exercise.is_class else "function"
            what = (
                f"Fill in the {thing} above and run the cell again; the cells below use the course's version meanwhile."
            )
        return self._make("todo", what)

    def _too_slow(self, case):
        message = (
            f"The answer was still running after {seconds(running.TIME_LIMIT)} on the case “{case.name}” "
            "and was stopped. Does a loop in it never end?"
        )
        if self.answer.clock.left <= 0:
            message = (
                f"All cases together took longer than {seconds(running.TOTAL_LIMIT)}, and the answer was stopped at "
                f"“{case.name}”. Does it wait, or loop over something that one operation could do?"
            )
        return self._finding("error", "too-slow", message)

    # 2. Wrong somewhere: what explains it?

    def _wrong(self):
        first = self.answer.wrong[0]
        status = "error" if self.answer.stopped(first) else "failed"
        with variants.quiet_libraries(), guards.old_objects_left_alone():
            report, problem = running.contained(lambda: self._explained(first, status), EXPLAINING_SECONDS)
        if problem is None:
            return report
        LOG.debug("nothing could be explained of exercise %s", self.exercise.id, exc_info=problem)
        headline, *more = self._where(first)  # a result that no explanation can work with
        return self._make(status, headline, paragraphs=tuple(more))

    def _explained(self, first, status):
        answer = self.answer
        self.search = Search(answer)
        found = diagnosis.explain(self.search) or self._by_aspect()
        where, picture = self._where(first), one_case.comparison(answer, first)
        if found:
            return self._make(
                status,
                found.headline,
                mistakes=found.findings,
                points=found.points,
                paragraphs=self._beside(found, where),
                comparison=picture,
            )
        return self._unexplained(status, first, where, picture)

    def _beside(self, found, where):
        """What stands beneath an explanation: what it adds, what a change alone does not say, and the evidence."""
        told = (found.headline, *found.points, *found.more)
        more = [*found.more]
        if found.kind in ("one change", "several changes", "formula") and len(more) < 2:
            more += hints.remarks(self.answer)[:1]
        if found.kind != "changed input":
            more += [text for text in self._changed() if text not in " ".join(told)]
        return (*more, *self._coarser(), *_unless_said(where, told))

    def _changed(self):
        """The sentence on inputs that were changed in place, where that comes on top of something else."""
        found = [one_case.changed_inputs(self.exercise, outcome) for outcome in self.answer.outcomes]
        texts = [problem.text for problem in found if problem]
        return [f"Besides, {continued(texts[0])}"] if texts else []

    def _by_aspect(self):
        """What is wrong with each side of an exercise, where something explains at least one of them by itself."""
        answer, cases = self.answer, self.exercise.cases
        if len({case.aspect for case in cases}) < 2:
            return None
        points, findings = [], {}
        for aspect in dict.fromkeys(cases[i].aspect for i in answer.wrong):
            ours = [i for i in answer.wrong if cases[i].aspect == aspect]
            among = [i for i, case in enumerate(cases) if case.aspect == aspect]
            found = diagnosis.explain_some(answer, among, ours)
            if found:
                findings |= {finding.id: finding for finding in found.findings}
                points.append(joined(found.points) if len(found.points) > 1 else opened(found.headline))
            else:
                points.append(f"In the case “{cases[ours[0]].name}”, {continued(answer.problems[ours[0]].text)}")
        if not findings:
            return None
        points = tuple(dict.fromkeys(points))
        if len(points) == 1:
            return Explanation("known", points[0], findings=tuple(findings.values()))
        headline = "each of these is wrong by itself."
        return Explanation("known", headline, points=points, findings=tuple(findings.values()))

    def _unexplained(self, status, first, where, picture):
        """No road led anywhere: how far it is right, what the source says, what holds in all wrong cases."""
        answer = self.answer
        if self.exercise.judge and not answer.stopped(first):
            findings = self.exercise.judge(answer.outcomes[first].value, self.exercise.cases[first])
            points = tuple(f.message for f in findings) if len(findings) > 1 else ()
            headline = "these things are not right yet." if points else findings[0].message
            more = tuple(remark.sentence for remark in remarks_on(answer) if remark.certain)
            return self._make(status, headline, mistakes=tuple(findings), points=points, paragraphs=more)
        error = answer.outcomes[first].error
        if isinstance(error, AnswerProblem):
            return self._make(status, error.finding.message, mistakes=(error.finding,), paragraphs=where[1:])
        if all(problem.kind == "dtype" for problem in answer.problems if problem):
            return self._make(status, where[0], paragraphs=where[1:])
        likely = [*causes.likely(self.search), *hints.hints(answer, self.search.arises), *self._changed()]
        advice = errors.advice(error)
        if answer.stopped(first) or not one_case.same_shapes(answer, first):
            besides = ["The values are right."] if self.search.right_but_for_kind else []
            headline, *more = [answer.problems[first].text, *besides, *advice, *likely, *self._coarser(), *where[1:]]
        else:
            headline, *more = [*(likely or ["the numbers are not right yet."]), *self._coarser(), *where]
        return self._make(status, headline, paragraphs=tuple(more[:4]), comparison=picture)

    def _where(self, first):
        """Evidence: the first case that differs, and how many others do."""
        answer, cases = self.answer, self.exercise.cases
        total, wrong = len(cases), answer.wrong
        where = [f"In the case “{cases[first].name}”, {continued(answer.problems[first].text)}"]
        if len(wrong) < total:
            count = f"Right on {total - len(wrong)} of {total} cases"
            names = ", ".join(f"“{cases[i].name}”" for i in wrong)
            where.append(f"{count}; wrong on {names}." if len(wrong) <= 2 else f"{count}.")
        return where

    # 3. Right values: well behaved?

    def _misbehaved(self):
        answer, case = self.answer, self.exercise.cases[0]
        again = running.run(self.exercise, self.candidate, case)
        first, second = answer.outcomes[0], again
        tolerance = one_case.tolerance(second.value, second.value, case)
        if not self.exercise.judge and not same_outcome(first, second, tolerance):
            message = (
                "A second call with the same input gives another answer: "
                "does the function keep something between calls, or draw at random?"
            )
            return self._finding("failed", "second-call-differs", message)
        for ask in self.exercise.properties:
            finding = answer.asked(ask, self.candidate)
            if isinstance(finding, running.TimeLimit):
                return self._too_slow(self.exercise.cases[-1])
            if isinstance(finding, BaseException):
                return self._finding("error", "stopped", one_case.raised(self.exercise, finding, self.candidate))
            if finding:
                return self._finding("failed", finding.id, finding.message)
        return self._other_name()

    def _other_name(self):
        """A right answer under another name would leave the cells below without one."""
        name = getattr(self.candidate, "__name__", self.exercise.name)
        if name in (self.exercise.name, "<lambda>"):
            return None
        message = (
            f"The values are right, but the cells below call `{self.exercise.name}`, and yours is called `{name}`: "
            "leave the name in the first line as it was."
        )
        return self._finding("failed", "renamed", message)

    def _passed(self):
        total = len(self.exercise.cases)
        covers = f" ({self.exercise.covers})" if self.exercise.covers else ""
        cases = f"Right on all {total} cases{covers}." if total > 1 else "Right."
        return self._make("passed", f"{cases} From here on the lesson uses yours.", paragraphs=tuple(self._notes()))

    def _other_precision(self):
        """(dtype expected, dtype returned) where they are two kinds of float, the first such pair; or None."""
        answer = self.answer
        pairs = [
            (dtype_name(e), dtype_name(g))
            for expected, outcome in zip(answer.expected, answer.outcomes, strict=True)
            for e, g in zip(arrays(expected.value), arrays(outcome.value), strict=False)
        ]
        return next(((e, g) for e, g in pairs if e != g and "float" in e and "float" in g), None)

    def _coarser(self):
        """A second thing that may be wrong: results held in a coarser float than is wanted."""
        other = None if self.exercise.keeps_dtype else self._other_precision()
        if other and bits_of(other[1]) < bits_of(other[0]):
            return [f"Besides, yours returns {other[1]} where {other[0]} is wanted."]
        return []

    def _notes(self):
        """What a passing answer may like to know."""
        other = self._other_precision()
        if other:
            yield f"Note: where the course's version returns {other[0]}, yours returns {other[1]}; the values agree."
        for ask in self.exercise.notes:
            note = self.answer.asked(ask, self.candidate)
            if isinstance(note, str):
                yield f"Note: {note}"


def _unless_said(sentences, said):
    """Evidence without the sentence that the headline already says."""
    told = " ".join(said).casefold()
    return [s for s in sentences if s.partition("”, ")[2].casefold() not in told or not s.partition("”, ")[2]]
