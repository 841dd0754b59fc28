"""The catalogue's own tests, for every exercise there is: nothing needs adding here when an exercise is added."""

import dataclasses
import inspect
import itertools
import linecache
import os
import re
import types

import pytest

from helpers import check
from helpers.course import LESSONS
from helpers.feedback import guards, registry, running
from helpers.feedback.exercise import Mistake
from helpers.feedback.inputs import tolerance_of
from helpers.feedback.outcomes import same_outcome
from helpers.feedback.prediction import answered, recorded
from helpers.feedback.registry import get, get_prediction
from helpers.feedback.sources import body_of
from helpers.feedback.twins import Twins, build, starting_source, twins_of

IDS = [info.id for lesson in LESSONS for info in lesson.exercises]
MISTAKES = [(id, mistake.id) for id in IDS for mistake in get(id).mistakes]
ALTERNATIVES = [(id, n) for id in IDS for n in range(len(get(id).alternatives))]
PREDICTIONS = [name for lesson in LESSONS for name in lesson.predictions]


@pytest.mark.parametrize("id", IDS)
def test_reference_is_accepted(id):
    report = check(id, get(id).reference)
    assert report.passed, str(report)
    assert report.mistakes == ()


@pytest.mark.parametrize("id", IDS)
def test_exercise_has_cases_and_mistakes_that_can_tell(id):
    exercise = get(id)
    assert exercise.cases and (exercise.mistakes or exercise.judge)
    assert len({case.name for case in exercise.cases}) == len(exercise.cases)
    assert len({mistake.id for mistake in exercise.mistakes}) == len(exercise.mistakes)


def _readable(exercise, source):
    """What a source defines, with its lines where Python looks for them, as from a notebook's cell."""
    file = f"<an answer to {exercise.id}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = dict(vars(inspect.getmodule(exercise.reference)))
    exec(compile(source, file, "exec"), space)
    return space[exercise.name]


@pytest.mark.parametrize("id, mistake_id", MISTAKES)
def test_mistake_is_rejected_and_named_by_its_own_message(id, mistake_id):
    report = check(id, _readable(get(id), twins_of(get(id)).source(frozenset({mistake_id}))))
    assert not report.passed, "this mistake is accepted as right"
    assert mistake_id in [mistake.id for mistake in report.mistakes], str(report)
    assert "{" not in next(m.message for m in report.mistakes if m.id == mistake_id)
    general = ("one-change", "several-changes")
    others = {mistake.message for mistake in report.mistakes if mistake.id not in general}
    assert len(others) == 1, f"these cannot be told apart but differ in their messages: {report}"


@pytest.mark.parametrize("id", IDS)
def test_pairs_of_mistakes_are_named_as_pairs_or_declared_indistinguishable(id):
    exercise = get(id)
    twins, declared = twins_of(exercise), {frozenset(pair) for pair in exercise.indistinguishable}
    unclear = set()
    for pair, found in _what_fits(twins) if exercise.max_mistakes > 1 else ():
        hidden = any(found == [frozenset({one})] and twins.mistakes[one].hides_others for one in pair)
        said = [sorted(twins.mistakes[one].message for one in ids) for ids in found]
        named = bool(said) and all(messages == sorted(twins.mistakes[one].message for one in pair) for messages in said)
        if not named and not hidden:
            unclear.add(pair)
    new, stale = ({tuple(sorted(pair)) for pair in some} for some in (unclear - declared, declared - unclear))
    assert not new, f"neither named as a pair nor declared: {sorted(new)}"
    assert not stale, f"declared indistinguishable but told apart: {sorted(stale)}"


def _what_fits(twins):
    """(pair, the smallest sets of mistakes that do on every case what the pair does), for all pairs of an exercise.

    Sets are grouped case by case, so that each is run only as long as others have done the same so far.
    """
    cases = twins.exercise.cases
    room = [tolerance_of(case, twins.outcome(frozenset(), i).value) for i, case in enumerate(cases)]
    groups = [[frozenset(), *twins.sets(1), *twins.sets(2)]]
    for i in range(len(cases)):
        groups = [part for group in groups for part in (_split(twins, group, i, room[i]) if len(group) > 1 else [group])]
    for group in groups:
        for pair in (ids for ids in group if len(ids) == 2):
            alike = [
                ids
                for ids in group
                if ids == pair
                or all(
                    same_outcome(twins.outcome(pair, i), twins.outcome(ids, i), room[i]) for i in range(len(cases))
                )
            ]
            smallest = min(map(len, alike))
            if smallest:  # of none: the two cancel, and what they give is right
                yield pair, [ids for ids in alike if len(ids) == smallest]


def _split(twins, group, i, room):
    """Parts of a group whose members cannot have done the same on case i: other kinds, or other sums."""
    kinds = {}
    for ids in group:
        outcome = twins.outcome(ids, i)
        digest = () if outcome.error is not None else outcome.digest
        kind = (type(outcome.error), outcome.changed, tuple((shape, odd) for shape, odd, *_ in digest))
        kinds.setdefault(kind, []).append((digest[0][3] if digest else 0.0, ids))
    for members in kinds.values():
        members.sort(key=lambda member: member[0])
        part = [members[0][1]]
        for (before, _), (total, ids) in itertools.pairwise(members):
            if total - before > 1e-3 + 8 * room * abs(total):
                yield part
                part = []
            part.append(ids)
        yield part


@pytest.mark.parametrize("id", IDS)
def test_messages_can_be_filled_in_and_give_no_line_of_the_answer_away(id):
    exercise = get(id)
    known = {name for case in exercise.cases for name in case.dims}
    lines = [line.split("  #")[0].strip() for line in exercise.source.splitlines()]
    whole = [line for line in lines if len(line) >= 15 and not line.startswith(("def ", "class ", "if ", "for ", "super", "\"", "self.W"))]
    for mistake in exercise.mistakes:
        for name in re.findall(r"\{(\w+)\}", mistake.message):
            assert name.removeprefix("sqrt_") in known, f"{id} {mistake.id}: no case has a size {name}"
        given = [line for line in whole if line in mistake.message]
        assert not given, f"{id} {mistake.id}: the message holds a whole line of the answer, {given}"


def test_exercise_that_the_catalogue_leaves_out_is_named(monkeypatch):
    monkeypatch.setattr(registry, "_catalogue", lambda number: types.SimpleNamespace(EXERCISES=(), PREDICTIONS=()))
    with pytest.raises(LookupError, match="'2.2' is in the course table under lesson 02, and its catalogue does not list"):
        registry.get("2.2")


def test_exercise_that_the_course_table_calls_otherwise_is_named(monkeypatch):
    lessons = [dataclasses.replace(x, exercises=(dataclasses.replace(x.exercises[0], name="other"),)) for x in LESSONS]
    monkeypatch.setattr(registry, "LESSONS", lessons)
    with pytest.raises(LookupError, match="0.1 asks for `weighted_average`, and for `other` in the course table"):
        get("0.1")


def test_patch_that_applies_twice_is_refused_by_name():
    exercise = dataclasses.replace(get("0.1"), mistakes=(Mistake("twice", "You did.", old="weights", new="values"),))
    with pytest.raises(ValueError, match="mistake 'twice' of 0.1: 'weights' occurs .* times, not once"):
        Twins(exercise)


@pytest.mark.parametrize("id, n", ALTERNATIVES)
def test_other_right_answer_is_accepted(id, n):
    report = check(id, build(get(id), get(id).alternatives[n]))
    assert report.passed, str(report)


def _stub(id):
    exercise = get(id)
    if exercise.starts_with:
        body = body_of(starting_source(exercise))
        head = exercise.source[: exercise.source.index("):") + 2]
        return head + "\n" + "\n".join("    " + line for line in body.splitlines())
    if exercise.is_class:
        return f"from torch import nn\nclass {exercise.name}(nn.Module):\n    def __init__(self, *args, **kwargs):\n        raise NotImplementedError"
    return f"def {exercise.name}(*args, **kwargs):\n    raise NotImplementedError"


def _defined(source, name, tmp_path):
    """A definition from a real file, so that its source can be read as in a notebook."""
    file = tmp_path / "cell.py"
    file.write_text(source, encoding="utf-8")
    space = {}
    exec(compile(source, str(file), "exec"), space)
    return space[name]


@pytest.mark.parametrize("id", IDS)
def test_untouched_stub_is_called_not_attempted(id, tmp_path):
    report = check(id, _defined(_stub(id), get(id).name, tmp_path))
    assert report.status == "todo", str(report)
    assert "Not attempted yet" in str(report)


HOSTILE = {
    "nothing at all": "answer = None",
    "a text": "answer = 'forty-two'",
    "a number": "answer = 42",
    "returns None": "def answer(*args, **kwargs):\n    pass",
    "returns a text": "def answer(*args, **kwargs):\n    return 'forty-two'",
    "returns NaN": "def answer(*args, **kwargs):\n    return float('nan')",
    "returns nested rubbish": "def answer(*args, **kwargs):\n    return [None, {1: (2, [])}], object()",
    "is a generator": "def answer(*args, **kwargs):\n    yield 1",
    "takes nothing": "def answer():\n    return 1",
    "exits": "import sys\ndef answer(*args, **kwargs):\n    sys.exit(3)",
    "calls exit": "def answer(*args, **kwargs):\n    exit()",
    "raises a bare BaseException": "def answer(*args, **kwargs):\n    raise BaseException",
    "recurses for ever": "def answer(*args, **kwargs):\n    return answer(*args)",
    "asserts without words": "def answer(*args, **kwargs):\n    assert False",
    "prints more than is kept": "def answer(*args, **kwargs):\n    for n in range(30):\n        print('line', n, '.' * 150)",
    "changes its inputs": "def answer(*args, **kwargs):\n    for a in args:\n        if hasattr(a, 'fill'):\n            a.fill(0)\n"
    "        elif hasattr(a, 'zero_'):\n            a.zero_()",
    "is a class with nothing in it": "class answer:\n    pass",
}


# Every kind meets every second exercise and every exercise every second kind; ATTENTION_COURSE_FUZZ has all pairs meet.
MEETINGS = [
    (id, kind)
    for i, id in enumerate(IDS)
    for k, kind in enumerate(HOSTILE)
    if (i + k) % 2 == 0 or "ATTENTION_COURSE_FUZZ" in os.environ
]


@pytest.mark.parametrize(("id", "kind"), MEETINGS)
def test_hostile_answer_gets_one_clear_report(id, kind, tmp_path, capsys):
    report = check(id, _defined(HOSTILE[kind], "answer", tmp_path))
    assert report.status in ("failed", "error")
    assert 20 < len(str(report)) < 6000, "one clear report, neither empty nor endless"
    assert str(report).startswith(f"✗ Not right yet · {id} ")
    assert "<div" in report._repr_html_()
    assert capsys.readouterr() == ("", ""), "an answer's prints belong in the report"
    if kind.startswith("prints") and not get(id).is_class:
        assert 30 > guards.PRINT_LINES and 30 * 150 > guards.PRINT_LIMIT
        assert "line 19 " in str(report) and "line 20 " not in str(report) and "more lines" in str(report)


@pytest.mark.skipif(not hasattr(__import__("signal"), "setitimer"), reason="no timers on this platform")
@pytest.mark.parametrize("id", IDS)
def test_endless_loop_ends_in_a_sentence(id, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "TIME_LIMIT", 0.2)
    name, loop = (
        get(id).name,
        "while True:\n{0}    try:\n{0}        pass\n{0}    except BaseException:\n{0}        pass",
    )
    if get(id).is_class:
        source = f"from torch import nn\nclass {name}(nn.Module):\n    def __init__(self, *args):\n        {loop.format(' ' * 8)}"
    else:
        source = f"def {name}(*args, **kwargs):\n    {loop.format(' ' * 4)}"
    report = check(id, _defined(source, name, tmp_path))
    assert report.status == "error" and "was stopped" in str(report), str(report)


@pytest.mark.parametrize("name", PREDICTIONS)
def test_prediction_answers_right_wrong_and_missing_guesses_with_why(name):
    asked = get_prediction(name)
    assert recorded(name).status == "todo" and asked.why in answered(name).text
    assert recorded(name, asked.answer).status == "recorded" and answered(name).status == "right"
    others = [choice for choice in asked.choices if choice != asked.answer] or [asked.answer * 3 + 1]
    for guess in others:
        said = recorded(name, guess)
        assert said.status == "recorded" and asked.why not in said.text
        assert answered(name).status == "wrong" and asked.why in answered(name).text
    assert recorded(name, object()).status == "todo" 


def test_every_lesson_number_and_exercise_is_unique():
    assert len(set(IDS)) == len(IDS) and len(set(PREDICTIONS)) == len(PREDICTIONS)
    for lesson, info in itertools.chain.from_iterable(((lesson, i) for i in lesson.exercises) for lesson in LESSONS):
        assert info.id.split(".")[0] == lesson.number.lstrip("0") or (
            lesson.number == "00" and info.id.startswith("0.")
        )
