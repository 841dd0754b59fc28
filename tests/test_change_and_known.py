"""A known mistake beside another one that nobody listed: both are named, and none that the change would bring in."""

import numpy as np
import pytest

from helpers.feedback import evidence, matching
from helpers.feedback.judging import judge
from helpers.feedback.registry import get
from tools.attempts_report import defined


def told(exercise, code):
    report = judge(get(exercise), defined(dict(id="known and change", exercise=exercise, code=code)))
    return str(report), [finding.id for finding in report.mistakes]


@pytest.mark.parametrize(
    ("exercise", "code", "known", "words"),
    [
        (
            "2.4",
            "def additive_scores(Q, K, W_q, W_k, v):\n    hidden = (Q @ W_q)[:, None] * (K @ W_k)[None]\n"
            "    return (1 / (1 + np.exp(-hidden))) @ v",
            "sigmoid",
            "In line 2, look at the operator *.",
        ),
        (
            "1.3",
            "def project(X, W_q, W_k, W_v):\n    q = X @ W_q\n    k = X @ W_q\n    v = X @ W_v\n    return q, v, k",
            "keys-and-values-swapped",
            "In line 3, look at the name W_q.",
        ),
        (  # the case that shows the tie is not the first wrong one
            "10.2",
            "def agreement_share(weights, verb, subject, other):\n    n = torch.arange(len(verb))\n"
            "    to_subject = weights[n, ..., subject, verb]\n    to_other = weights[n, ..., other, verb]\n"
            "    return (to_subject >= to_other).float().mean(dim=0)",
            "rows-and-columns-exchanged",
            "look at the comparison >=",
        ),
    ],
)
def test_one_of_two_mistakes_goes_unnamed(exercise, code, known, words):
    text, ids = told(exercise, code)
    assert known in ids and "one-change" in ids and words in text


@pytest.mark.parametrize(
    ("exercise", "code", "untrue"),
    [
        (  # taking the `+` away would make it a mask that is ignored
            "2.2",
            "def scaled_dot_product_attention(Q, K, V, mask=None):\n    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])\n"
            "    if mask is not None:\n        scores = scores + mask * -10.0\n    weights = softmax(scores)\n    return weights @ V, weights",
            "mask-ignored",
        ),
        (  # the exponential is there
            "1.2",
            "def soft_lookup(query, keys, values, sharpness=1.0):\n    scores = (keys @ query) / sharpness\n"
            "    weights = np.exp(scores) / np.sum(scores)\n    return weights @ values, weights",
            "no-exponential",
        ),
        (  # both parts of the Jacobian are there, and the diagonal is wrong
            "3.3",
            "def softmax_jacobian(p):\n    J = -p[..., :, None] * p[..., None, :]\n    for i in range(p.shape[-1]):\n"
            "        J[..., i, i] = p[..., i]\n    return J",
            "outer-only",
        ),
        (
            "0.1",
            "def weighted_average(values, weights):\n    whole = sum(weights)\n    parts = []\n"
            "    for i in range(len(values)):\n        parts.append(values[i] * weights[i] / whole)\n    return parts",
            "values-and-sum-of-weights",
        ),
    ],
)
def test_a_mistake_is_told_that_the_change_itself_brings_in(exercise, code, untrue):
    assert untrue not in told(exercise, code)[1]


def test_a_change_that_takes_away_what_a_mistake_lacks_is_not_seen():
    mistake = next(m for m in get("2.1").mistakes if m.id == "not-normalised")
    before, after = "def softmax(x):\n    return np.exp(x) / np.sum(x)", "def softmax(x):\n    return np.exp(x)"
    assert evidence.brought_in(mistake, get("2.1").source, before, after)
    assert not evidence.brought_in(mistake, get("2.1").source, before, before.replace("exp", "exp2"))


# What a value is beside the right one ---------------------------------------------------------------------------------


X = np.arange(20.0).reshape(4, 5) ** 1.5 - 7


def with_part(where, number=100.0):
    changed = X.copy()
    changed[where] = number
    return changed


@pytest.mark.parametrize(
    ("ours", "words"),
    [
        (with_part((0, slice(None))), "that but for its first row"),
        (with_part((-1, slice(None))), "that but for its last row"),
        (with_part((slice(None), 0)), "that but for its first column"),
        (with_part((range(4), range(4))), "that but for its diagonal"),
        (np.where(np.tri(4, 5, dtype=bool), X, 3.0), "that but for what lies above its diagonal"),
        (np.exp(X / 10), None),
        (X + 2.5, "that with 2.5 added everywhere"),
        (np.abs(X), "that without its sign"),
        (np.broadcast_to(X[:1], X.shape), "the same all along axis 0"),
        (X[:, ::-1], "that in reverse order along axis 1"),
    ],
)
def test_a_relation_goes_unsaid(ours, words):
    found = matching.relations(ours, X, {})
    assert found[:1] == [words] if words else not found


def test_missing_minus_infinity_goes_unsaid():
    right = np.where(np.tri(4, 5, dtype=bool), X, -np.inf)
    assert matching.relations(np.where(np.tri(4, 5, dtype=bool), X, -9.0), right, {})[0].startswith("that but for the places of −∞")
    assert matching.relations(X * 2, right, {})[0] == "finite where that holds −∞"


def test_factors_of_rows():
    factors = np.array([2.0, 3.0, 0.5, 7.0])
    assert np.allclose(matching.row_factors(X * factors[:, None], X), factors)
    assert matching.row_factors(X, X) is None and matching.row_factors(X + 1, X) is None


def test_a_missing_division_goes_unsaid():
    code = (
        "def soft_lookup(query, keys, values, sharpness=1.0):\n    scores = sharpness * (keys @ query)\n"
        "    exps = np.exp(scores - scores.max())\n    value = exps @ values\n    weights = exps / exps.sum()\n    return value, weights"
    )
    assert "that times the sum of exps: is a division missing?" in told("1.2", code)[0]


@pytest.mark.parametrize(
    ("exercise", "code", "words"),
    [
        ("2.2", "def scaled_dot_product_attention(Q, K, V, mask=None):\n    s = np.clip(Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1]), -50, 50)\n    if mask is not None:\n        s = np.where(mask, s, -np.inf)\n    e = np.exp(s)\n    w = e / e.sum(axis=-1, keepdims=True)\n    return w @ V, w", "cuts values off at its bounds"),
        ("1.2", "def soft_lookup(query, keys, values, sharpness=1.0):\n    scores = sharpness * np.dot(keys, query)\n    weights = 1 / (1 + np.exp(-scores))\n    value = np.dot(weights, values)\n    return value, weights", "a sigmoid"),
        ("6.1", "def is_permutation_equivariant(f, X, perm):\n    a = f(X[perm])\n    b = f(X)[perm]\n    same = a == b\n    return bool(same.all())", "equality to the last bit"),
        ("1.2", "import math\ndef soft_lookup(query, keys, values, sharpness=1.0):\n    e = np.array([math.exp(float(sharpness * s)) for s in keys @ query])\n    return e / e.sum() @ values, e / e.sum()", "too large for a float"),
    ],
)  # fmt: skip
def test_what_a_line_does_goes_unsaid(exercise, code, words):
    assert words in told(exercise, code)[0]
