"""What a machine can tell of the truth of a report: everything that can be read off the source or the numbers again.

`untruths` asks nothing of the engine that wrote the report: it reads the report as a learner does.
"""

import ast
import itertools
import linecache
import re

import numpy as np

from helpers.feedback import one_case, running
from helpers.feedback.guards import function_of
from helpers.feedback.inputs import tolerance_of
from helpers.feedback.sources import first_line_of, learners_source
from helpers.feedback.twins import twins_of
from helpers.feedback.values import as_array, is_array, same, shown

_WORD = re.compile(r"[A-Za-z_]\w*|\d+(?:\.\d+)?(?:e-?\d+)?")
_OF_A_LINE = (
    r"^Line (\d+): (?:look at )?(?:the )?`([^`]+)`",  # a remark quotes its line
    r"`([^`]+)` in line (\d+)",  # a value and its line
    r"^Line (\d+), `(.+)`, stopped with",
)
_PAIR = re.compile(r"In the case “([^”]+)”, (?:`(\w+)\[([\d, ]+)\]`|(`?[\w ]+`?)) is (\S+) and should be (\S+?)\.(?:\s|$)")
_COUNT = re.compile(r"Right on (\d+) of (\d+) cases")


def untruths(report, exercise, candidate):
    """Sentences of a report on a wrong answer that its source or its numbers do not bear out, each with a reason."""
    outcomes = [running.run(exercise, candidate, case) for case in exercise.cases]
    texts = [report.headline, *report.points, *report.paragraphs]
    found = [*_of_source(texts, candidate), *_of_counts(texts, exercise, outcomes)]
    found += [*_of_numbers(texts, exercise, outcomes), *_of_mistakes(report, exercise, outcomes)]
    return found


def _of_source(texts, candidate):
    """Lines that are not there, and code that is quoted from a line in which it does not stand."""
    source = learners_source(candidate)
    if source is None:
        return
    lines = dict(enumerate(source.splitlines(), first_line_of(candidate)))
    lines = dict(enumerate(linecache.getlines(function_of(candidate).__code__.co_filename), 1)) or lines
    source = "\n".join(line.rstrip("\n") for line in lines.values())
    for text in texts:
        for number in re.findall(r"\b[Ll]ines? (\d+)", text):
            if int(number) not in lines:
                yield f"there is no line {number}: {text}"
        for pattern in _OF_A_LINE:
            for a, b in re.findall(pattern, text):
                number, quoted = (a, b) if a.isdigit() else (b, a)
                stands = " ".join(lines.get(n, "") for n in _statement(source, int(number)))
                missing = _words(quoted.removesuffix("…")) - _words(stands)
                if missing and not quoted.endswith("…"):
                    yield f"{sorted(missing)} do not stand in line {number}: {text}"
        for quoted in re.findall(r"look at (?:the (?:name|operator|number|axis of|function)) `([^`]+)`", text):
            words = _words(quoted) - _words(source)
            if words:
                yield f"{sorted(words)} do not stand in the answer: {text}"


def _statement(source, number):
    """The lines of the statement that a line belongs to: it may go on, or have begun earlier."""
    simple = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.stmt) and not hasattr(n, "body")]
    spans = [range(n.lineno, n.end_lineno + 1) for n in simple if n.lineno <= number <= n.end_lineno]
    return min(spans, key=len, default=[number])


def _words(code):
    """The words and numbers of a piece of code, however the numbers are written."""
    return {f"{float(word):g}" if word[0].isdigit() else word for word in _WORD.findall(code)}


def _of_counts(texts, exercise, outcomes):
    expected = [twins_of(exercise).outcome(frozenset(), i) for i in range(len(outcomes))]
    right = sum(
        one_case.is_right(exercise, case, wanted, got)
        for case, wanted, got in zip(exercise.cases, expected, outcomes, strict=True)
    )
    for text in texts:
        for count, of in _COUNT.findall(text):
            if (int(count), int(of)) != (right, len(outcomes)):
                yield f"right on {right} of {len(outcomes)}: {text}"


def _of_numbers(texts, exercise, outcomes):
    """A pair of numbers, or of a number and an entry, that the case does not show."""
    names = [case.name for case in exercise.cases]
    for text in texts:
        for name, result, index, single, got, wanted in _PAIR.findall(text):
            i = names.index(name)
            ours, right = outcomes[i].value, twins_of(exercise).outcome(frozenset(), i).value
            part = result or single.strip("`")
            pairs = {key: (e, g) for key, e, g in one_case.pairs(exercise, right, ours)}
            if part not in pairs:
                continue
            expected, given = pairs[part]
            where = tuple(int(n) for n in index.split(",")) if index else ()
            values = [as_array(x)[where] if is_array(x) else x for x in (given, expected)]
            if not all(_reads(value, text) for value, text in zip(values, (got, wanted), strict=True)):
                yield f"the case shows {values}: {text}"


def _reads(value, text):
    """Whether a number or truth value reads as a report writes it."""
    if text in (str(value), shown(value)):
        return True
    try:
        return bool(np.isclose(float(text.replace("−", "-")), float(value), rtol=1e-2))
    except ValueError:
        return False


def _of_mistakes(report, exercise, outcomes):
    """Known mistakes that are named as the whole of what is wrong, and do not do what the answer did."""
    twins = twins_of(exercise)
    ids = [mistake.id for mistake in report.mistakes]
    if not ids or not set(ids) <= set(twins.mistakes) or "wrong by itself" in report.headline:
        return
    if any(outcome.error is not None for outcome in outcomes) or exercise.judge:
        return  # an error may say the same in other words
    sizes = range(1, len(ids) + 1)  # several may stand for one and the same thing, told once
    sets = [frozenset(some) for size in sizes for some in itertools.combinations(ids, size)]
    sets = [some for some in sets if all(twins.apart(*two) for two in itertools.combinations(some, 2))]
    if not any(all(_does(twins, some, i, outcome) for i, outcome in enumerate(outcomes)) for some in sets):
        yield f"{ids} do something else than the answer: {report.headline}"


def _does(twins, ids, i, outcome):
    """Whether the reference with these mistakes does on case i what the answer did."""
    twin = twins.outcome(ids, i)
    room = max(tolerance_of(twins.exercise.cases[i], twin.value), 2e-5)
    return twin.error is not None or same(_plain(twin.value), _plain(outcome.value), room)


def _plain(value):
    return tuple(map(_plain, value)) if isinstance(value, (tuple, list)) else as_array(value)
