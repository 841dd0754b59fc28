"""Reports on all pairs of known mistakes say nothing that the source or the numbers do not bear out."""

import itertools
import os
from dataclasses import replace

import pytest
from truthful import untruths

from helpers.course import LESSONS
from helpers.feedback.judging import judge
from helpers.feedback.registry import get
from helpers.feedback.twins import twins_of
from tools.attempts_report import defined

# A pair for each exercise; ATTENTION_COURSE_CLAIMS has every pair of every exercise, which takes long.
PAIRS = None if "ATTENTION_COURSE_CLAIMS" in os.environ else 1
EXERCISES = [info.id for lesson in LESSONS for info in lesson.exercises]

WRONG = '''
def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(V.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ V, weights
'''


def _pairs(id):
    """Some of the pairs of an exercise's mistakes, as sources of answers."""
    twins = twins_of(get(id))
    found = list(twins.sets(2))
    step = max(len(found) // PAIRS, 1) if PAIRS else 1
    return [(ids, twins.source(ids)) for ids in itertools.islice(found, step // 2, None, step)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("id", EXERCISES)
def test_what_is_said_of_pairs_of_mistakes_is_borne_out(id):
    for ids, source in _pairs(id):
        candidate = defined({"id": "-and-".join(sorted(ids)), "exercise": id, "code": source})
        report = judge(get(id), candidate)
        if not report.passed:  # a pair may undo itself; the catalogue's own test says where
            assert not untruths(report, get(id), candidate), f"{report}\n{source}"


@pytest.fixture
def told():
    candidate = defined({"id": "told", "exercise": "2.2", "code": WRONG})
    return judge(get("2.2"), candidate), get("2.2"), candidate


def test_a_true_report_has_no_untruths(told):
    assert [mistake.id for mistake in told[0].mistakes] == ["scale-by-d_v"] and not untruths(*told)


@pytest.mark.parametrize(
    "text",
    [
        "Line 3: look at `softmax(scores)`. It does something.",
        "One change in line 9 would make this right: look at the axis of `softmax`.",
        "One change in line 3 would make this right: look at the name `keys`.",
        "Your `weights` in line 2 is right (the weights).",
        "In the case “five queries, seven keys”, `weights[0, 0]` is 0.50 and should be 0.25.",
        "Right on 3 of 12 cases.",
    ],
)
def test_what_is_not_so_is_found(told, text):
    report, *others = told
    assert len(untruths(replace(report, paragraphs=(text,)), *others)) == 1


def test_a_mistake_that_was_not_made_is_found(told):
    report, exercise, candidate = told
    other = next(mistake for mistake in exercise.mistakes if mistake.id == "no-scale")
    assert untruths(replace(report, mistakes=(other,)), exercise, candidate)
