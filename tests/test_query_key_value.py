"""Lesson 01's functions and facts, against PyTorch, plain loops and properties that hold for all inputs."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers import query_key_value as qkv
from helpers.query_key_value import embed, soft_lookup, words

sizes = st.integers(1, 6)
numbers = st.floats(-10, 10, allow_subnormal=False)


def matrices(*shape):
    return arrays(np.float64, shape, elements=numbers)


@st.composite
def lookups(draw):
    """A query (d,), keys (n, d) and values (n, d_v)."""
    n, d, d_v = draw(sizes), draw(sizes), draw(sizes)
    return draw(matrices(d)), draw(matrices(n, d)), draw(matrices(n, d_v))


# The functions of the exercises


@given(lookups())
def test_similarities_are_pytorchs_matrix_times_vector(lookup):
    query, keys, _ = lookup
    expected = torch.mv(torch.from_numpy(keys), torch.from_numpy(query)).numpy()
    np.testing.assert_allclose(qkv.similarities(query, keys), expected, atol=1e-10)


@given(lookups(), st.floats(0, 20, allow_subnormal=False))
def test_soft_lookup_weights_are_pytorchs_softmax_of_the_sharpened_scores(lookup, sharpness):
    query, keys, values = (torch.from_numpy(x) for x in lookup)
    expected = torch.softmax(sharpness * (keys @ query), dim=0)
    value, weights = soft_lookup(*lookup, sharpness)
    np.testing.assert_allclose(weights, expected, atol=1e-9)
    np.testing.assert_allclose(value, expected @ values, atol=1e-8)


@given(lookups(), st.floats(0, 1e6, allow_subnormal=False))
def test_soft_lookup_shares_one_whole_out_and_stays_finite(lookup, sharpness):
    value, weights = soft_lookup(*lookup, sharpness)
    assert np.isfinite(value).all() and (weights >= 0).all()
    assert np.isclose(weights.sum(), 1)


@given(lookups())
def test_soft_lookup_at_sharpness_zero_is_the_plain_average(lookup):
    np.testing.assert_allclose(soft_lookup(*lookup, 0.0)[0], lookup[2].mean(axis=0), atol=1e-12)


def test_soft_lookup_comes_as_near_to_the_best_value_as_one_likes():
    query, keys, values = np.array([1.0, 0.2]), np.array([[1.0, 1], [1, -1], [0, 1]]), np.array([[1.0, 0], [0, 1], [0, 0]])
    distances = [np.abs(soft_lookup(query, keys, values, s)[0] - values[0]).max() for s in (1, 10, 100)]
    assert distances == sorted(distances, reverse=True) and distances[-1] < 1e-15


@given(lookups(), st.randoms(use_true_random=False))
def test_soft_lookup_does_not_see_the_order_of_its_pairs(lookup, random):
    query, keys, values = lookup
    order = random.sample(range(len(keys)), len(keys))
    value, weights = soft_lookup(query, keys, values)
    again, shuffled = soft_lookup(query, keys[order], values[order])
    np.testing.assert_allclose(again, value, atol=1e-9)
    np.testing.assert_allclose(shuffled, weights[order], atol=1e-12)


@given(lookups())
def test_what_all_keys_share_changes_no_weight(lookup):
    query, keys, values = lookup
    np.testing.assert_allclose(soft_lookup(query, keys + query, values)[1], soft_lookup(*lookup)[1], atol=1e-9)


def test_projections_are_pytorchs_linear_layers_without_bias():
    rng = np.random.default_rng(1)
    X, matrices = rng.normal(size=(5, 4)), [rng.normal(size=(4, width)) for width in (2, 2, 3)]
    for result, W in zip(qkv.project(X, *matrices), matrices, strict=True):
        expected = torch.nn.functional.linear(torch.from_numpy(X), torch.from_numpy(W.T))
        np.testing.assert_allclose(result, expected, atol=1e-12)


@pytest.mark.parametrize("lead", [(), (3,), (3, 2)])
def test_scores_pair_every_query_with_every_key_as_a_loop_does(lead):
    rng = np.random.default_rng(2)
    Q, K = rng.normal(size=(*lead, 5, 4)), rng.normal(size=(*lead, 7, 4))
    scores = qkv.dot_product_scores(Q, K)
    assert scores.shape == (*lead, 5, 7)
    for place in np.ndindex(*lead):
        for i, j in np.ndindex(5, 7):
            assert np.isclose(scores[*place, i, j], sum(Q[*place, i] * K[*place, j]))


@given(matrices(5, 3), matrices(4, 3))
def test_exchanging_queries_and_keys_transposes_the_scores(Q, K):
    np.testing.assert_array_equal(qkv.dot_product_scores(K, Q), qkv.dot_product_scores(Q, K).T)


def test_functions_leave_their_inputs_alone():
    rng = np.random.default_rng(3)
    inputs = rng.normal(size=4), rng.normal(size=(5, 4)), rng.normal(size=(5, 2))
    before = [x.copy() for x in inputs]
    soft_lookup(*inputs, 2.0)
    assert all(np.array_equal(x, b) for x, b in zip(inputs, before, strict=True))


# The running example

BY_HAND = np.array([[0, 0], [1, 0], [0, 0], [0, 1]]), np.array([[1, 0], [0, 0], [0, 0], [0, 1]])  # the lesson's W_q, W_k


def looks_at(word, sentence, W_q, W_k, sharpness=1.0):
    """Weight by word; of words that occur twice, the last."""
    _, weights = soft_lookup(embed([word])[0] @ W_q, embed(sentence) @ W_k, embed(sentence), sharpness)
    return dict(zip(sentence, weights, strict=True))


def with_verb(verb):
    return tuple(verb if word == "are" else word for word in words)


@pytest.mark.parametrize("verb, noun", [("are", "books"), ("is", "shelf")])
def test_verb_finds_the_noun_that_agrees_with_it(verb, noun):
    weights = looks_at(verb, with_verb(verb), *BY_HAND, sharpness=3.0)
    assert weights[noun] == max(weights.values()) > 0.9


def test_old_asks_for_nothing_until_its_projection_is_designed():
    assert np.allclose(list(looks_at("old", words, *BY_HAND, sharpness=3.0).values()), 1 / 7)
    assert all(looks_at(word, words, *qkv.design_projections())["books"] > 0.8 for word in ("are", "old"))


def test_one_other_row_lets_is_find_shelf_with_the_courses_design():
    W_q, W_k = qkv.design_projections()
    assert looks_at("is", with_verb("is"), W_q, W_k)["shelf"] < 0.1
    W_q[3] = W_q[1] * [0, 2]
    for word, noun in (("is", "shelf"), ("are", "books"), ("old", "books")):
        assert looks_at(word, with_verb("is" if word == "is" else "are"), W_q, W_k)[noun] > 0.8


def test_embedding_knows_its_words_and_no_others():
    X = embed(words)
    assert X.shape == (7, 4) and X.dtype == np.float64
    np.testing.assert_array_equal(X[words.index("books")], [1, 0, 0, 1])
    with pytest.raises(KeyError, match="window"):
        embed(["the", "window"])


# Left to right: recurrence and convolution


def unrolled(n, gain, input_size, rng, width):
    """The same network in PyTorch: the Jacobian of its last state with respect to its first, by autograd."""
    W = torch.from_numpy(gain * rng.normal(size=(width, width)) / np.sqrt(width))
    inputs = [torch.from_numpy(input_size * rng.normal(size=width)) for _ in range(n)]

    def last_state(h):
        for x in inputs[1:]:
            h = torch.tanh(W @ h + x)
        return h

    return torch.autograd.functional.jacobian(last_state, torch.tanh(inputs[0]))


@pytest.mark.parametrize("n, gain, input_size", [(1, 0.8, 1.0), (2, 1.2, 1.0), (9, 0.8, 0.01), (30, 1.2, 0.1)])
def test_rnn_influence_is_the_norm_of_autograds_jacobian(n, gain, input_size):
    measured = qkv.tanh_rnn_influence([n], gain, input_size, np.random.default_rng(4), width=8)
    jacobian = unrolled(n, gain, input_size, np.random.default_rng(4), width=8)
    np.testing.assert_allclose(measured, [torch.linalg.matrix_norm(jacobian, 2)], rtol=1e-9)


@pytest.mark.parametrize("first_seed", range(10, 60, 10))
def test_influence_fades_grows_or_dies_as_lesson_01_says(first_seed):
    def influence(gain, input_size):
        """At 20 and 100 words, for each of ten networks: (10, 2)."""
        rngs = map(np.random.default_rng, range(first_seed, first_seed + 10))
        return np.array([qkv.tanh_rnn_influence([20, 100], gain, input_size, rng) for rng in rngs])

    assert (influence(1.2, 1.0)[:, 1] < 1e-9).all()  # the tanh is nearly flat: every single network forgets
    assert np.median(influence(0.8, 0.01), axis=0)[1] < 1e-3
    assert np.median(influence(1.2, 0.01), axis=0)[0] > 10


@pytest.mark.parametrize("seed", range(5))
def test_attention_that_has_learned_nothing_gives_each_of_n_words_about_one_nth(seed):
    rng = np.random.default_rng(seed)
    firsts = []
    for _ in range(200):
        X, W_q, W_k = rng.normal(size=(100, 32)), rng.normal(size=(32, 32)), rng.normal(size=(32, 32))
        scores = qkv.dot_product_scores(X[-1:] @ W_q / np.sqrt(32), X @ W_k / np.sqrt(32)) / np.sqrt(32)  # (1, 100)
        firsts.append(soft_lookup(np.ones(1), scores.T, X)[1][0])
    assert 0.003 < np.median(firsts) < 0.02 and 0.005 < np.mean(firsts) < 0.02


def test_attention_set_by_hand_keeps_0_77_of_the_first_of_100_words():
    weights = looks_at("are", ["books"] + ["the"] * 98 + ["are"], *BY_HAND, sharpness=3.0)
    assert round(weights["books"], 2) == 0.77


def sees_the_first(n, width, layers, dilated):
    """Whether the last of n words of a causal convolution depends on the first, found by setting words alight."""
    lit = [True] + [False] * (n - 1)
    for layer in range(layers):
        step = width**layer if dilated else 1
        lit = [any(lit[t - j * step] for j in range(width) if t >= j * step) for t in range(n)]
    return lit[-1]


@pytest.mark.parametrize("dilated", [False, True])
@pytest.mark.parametrize("width", [2, 3, 5])
def test_cnn_layers_are_the_fewest_that_let_the_last_word_see_the_first(width, dilated):
    for n in range(2, 40):
        layers = qkv.cnn_layers(n, width, dilated)
        assert sees_the_first(n, width, layers, dilated)
        assert not sees_the_first(n, width, layers - 1, dilated)


def test_cnn_layers_are_those_the_lesson_states():
    assert [qkv.cnn_layers(n, 3) for n in (10, 100, 1000)] == [5, 50, 500]
    assert [qkv.cnn_layers(n, 3, dilated=True) for n in (10, 100, 1000)] == [3, 5, 7]
    assert qkv.cnn_layers(1, 3) == qkv.cnn_layers(1, 3, dilated=True) == 0


def test_attention_loses_weight_to_competitors_and_not_to_distance():
    near = ["the"] * 98 + ["books", "are"]
    far = ["books"] + ["the"] * 98 + ["are"]
    weights = [looks_at("are", sentence, *BY_HAND, sharpness=3.0)["books"] for sentence in (near, far)]
    assert np.isclose(*weights) and 0.7 < weights[0] < 0.8
