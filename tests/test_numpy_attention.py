"""Lesson 02's functions against PyTorch, and what its page says, over five seeds."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from helpers import numpy_attention as attention
from helpers.query_key_value import design_projections, embed, words

seeds = pytest.mark.parametrize("seed", range(5))
W_V = np.array([[1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 1, -1]])  # the lesson's: a noun, for are, for is
ARE, BOOKS, SHELF = (words.index(word) for word in ("are", "books", "shelf"))


def the_sentence():
    X, (W_q, W_k) = embed(words), design_projections()
    return X @ W_q, X @ W_k, X @ W_V


@seeds
def test_softmax_is_pytorchs_along_any_axis_and_for_scores_of_a_thousand(seed):
    x = 1000 * np.random.default_rng(seed).normal(size=(3, 5, 4))
    for axis in (-1, 0, 1):
        np.testing.assert_allclose(attention.softmax(x, axis), torch.softmax(torch.from_numpy(x), axis), atol=1e-12)


@seeds
@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
def test_attention_is_pytorchs_with_the_same_mask_within_a_millionth(seed, lead):
    rng = np.random.default_rng(seed)
    Q, K, V = (rng.normal(size=(*lead, *shape)) for shape in ((5, 4), (7, 4), (7, 3)))
    mask = rng.random((*lead, 5, 7)) < 0.6
    mask[..., 0] = True
    theirs = F.scaled_dot_product_attention(*map(torch.from_numpy, (Q, K, V)), attn_mask=torch.from_numpy(mask))
    for function in (attention.scaled_dot_product_attention, attention.debugged_attention):
        out, weights = function(Q, K, V, mask)
        np.testing.assert_allclose(out, theirs, atol=1e-6)
        assert np.allclose(weights.sum(axis=-1), 1) and (weights[~mask] == 0).all()


@seeds
def test_keys_and_values_in_another_order_change_the_columns_of_the_weights_only(seed):
    rng = np.random.default_rng(seed)
    X, W_q, W_k, W_v = (rng.normal(size=shape) for shape in ((7, 4), (4, 2), (4, 2), (4, 3)))
    order = rng.permutation(7)
    out, weights = attention.self_attention(X, W_q, W_k, W_v)
    Q, K, V = X @ W_q, X @ W_k, X @ W_v
    new_out, new_weights = attention.scaled_dot_product_attention(Q, K[order], V[order])
    np.testing.assert_allclose(new_out, out, atol=1e-12)
    np.testing.assert_allclose(new_weights, weights[:, order], atol=1e-12)


@seeds
def test_softmax_over_the_queries_shows_in_the_sums_of_rows_and_in_no_shape(seed):
    Q, K, V = np.random.default_rng(seed).normal(size=(3, 7, 4))
    right = attention.scaled_dot_product_attention(Q, K, V)[1]
    wrong = attention.softmax(Q @ K.T / 2, axis=0)
    assert wrong.shape == right.shape and np.allclose(wrong.sum(axis=0), 1)
    assert np.abs(wrong.sum(axis=1) - 1).max() > 0.1


@seeds
def test_general_scores_with_the_identity_are_dot_products_and_additive_ones_score_a_zero_query(seed):
    rng = np.random.default_rng(seed)
    Q, K, W_q, W_k = rng.normal(size=(5, 3)), rng.normal(size=(7, 3)), rng.normal(size=(3, 2)), rng.normal(size=(3, 2))
    np.testing.assert_allclose(attention.general_scores(Q, K, np.eye(3)), Q @ K.T)
    nothing = np.zeros((1, 3))
    assert np.ptp(attention.additive_scores(nothing, K, W_q, W_k, rng.normal(size=2))) > 0.01
    assert (attention.general_scores(nothing, K, rng.normal(size=(3, 3))) == 0).all()


# Numbers that stand on the page


def test_the_row_on_paper_is_what_the_code_gives():
    Q, K, V = the_sentence()
    assert Q[ARE].tolist() == [5, 5]
    assert [(K[i].tolist(), Q[ARE] @ K[i], V[i].tolist()) for i in (BOOKS, ARE, SHELF)] == [
        ([1, 1], 10, [1, 1, -1]),
        ([0, 1], 5, [0, 1, -1]),
        ([1, -1], 0, [1, -1, 1]),
    ]
    out, weights = attention.scaled_dot_product_attention(Q, K, V)
    assert weights[ARE, [BOOKS, ARE, SHELF]].round(2).tolist() == [0.97, 0.03, 0.00]
    assert out[ARE].round(2).tolist() == [0.97, 1.0, -1.0]
    assert [(10 / 2**0.5).__round__(2), (5 / 2**0.5).__round__(2)] == [7.07, 3.54]


def test_the_sums_that_give_the_wrong_axis_away_are_those_on_the_page():
    Q, K, _ = the_sentence()
    rows = attention.softmax(Q @ K.T / 2**0.5, axis=0).sum(axis=1).round(2)
    assert rows[SHELF] == 0.73 and rows[words.index("old")] == 1.68


def test_softmax_and_attention_together_have_a_dozen_lines_in_their_bodies():
    import ast
    import inspect

    def lines(function):
        body = ast.parse(inspect.getsource(function)).body[0].body[1:]  # after the docstring
        return body[-1].end_lineno - body[0].lineno + 1

    assert lines(attention.softmax) == 4 and lines(attention.scaled_dot_product_attention) == 8
