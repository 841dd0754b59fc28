"""Mistakes that people really made are rejected and named, each as what it is."""
import pytest
from reported_mistakes import REPORTED

from helpers import check
from helpers.feedback.registry import get
from helpers.feedback.twins import build


@pytest.mark.parametrize("mistake, exercise_id, evidence, named, source", REPORTED, ids=[entry[0] for entry in REPORTED])
def test_reported_mistake_is_rejected_and_named(mistake, exercise_id, evidence, named, source):
    """All names and no others; beside them the report may point at the one change that would mend the answer."""
    report = check(exercise_id, build(get(exercise_id), source))
    assert not report.passed, "a mistake people really made is accepted"
    found = tuple(found.id for found in report.mistakes if found.id != "one-change")
    assert found == named, str(report)


def test_row_with_nothing_to_see_is_noted_where_no_demand_is_made():
    head = "def scaled_dot_product_attention(Q, K, V, mask=None):\n    s = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])\n"
    tail = "\n    w = softmax(s)\n    return w @ V, w"
    said = {"-np.inf": "yours gives NaN", "-1e9": "yours gives weight to every blocked key"}
    for fill, note in said.items():
        source = f"{head}    if mask is not None:\n        s = np.where(mask, s, {fill}){tail}"
        report = check("2.2", build(get("2.2"), source))
        assert report.passed and note in str(report)
