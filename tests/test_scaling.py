"""Lesson 03: reference code against PyTorch and closed forms; the lesson's claims over five seeds."""

import subprocess
import sys
import tracemalloc
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from helpers import scaling_training
from helpers.numpy_attention import additive_scores, general_scores, softmax
from helpers.scaling import entropy, random_weights, sample_dot_products, softmax_backward, softmax_jacobian
from helpers.scaling_training import (
    SCORERS,
    AdditiveScorer,
    DotScorer,
    GeneralScorer,
    loudest,
    recall,
    scoring_seconds,
    train_recall,
    train_scorer,
)

SEEDS = range(5)
POWERS = {"no scale": 0, "√d_k": 0.5, "d_k": 1}
WIDTHS = 4 ** np.arange(7)

finite = st.floats(-30, 30)
score_rows = arrays(np.float64, array_shapes(min_dims=1, max_dims=3, max_side=6), elements=finite)


def normal(seed, *shape, dtype=np.float64):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


# Dot products of random vectors ---------------------------------------------------------------------------------------


def test_importing_the_numpy_part_leaves_torch_alone():
    code = "import sys, helpers.scaling; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize("d_k", [1, 7, 64, 300])
def test_dot_products_have_mean_0_and_spread_root_d_k(d_k):
    samples = sample_dot_products(20_000, d_k, np.random.default_rng(d_k))
    assert samples.shape == (20_000,) and samples.dtype == np.float64
    assert samples.std() / np.sqrt(d_k) == pytest.approx(1, rel=0.05)
    assert samples.mean() / np.sqrt(d_k) == pytest.approx(0, abs=0.04)


def test_every_dot_product_has_a_query_and_a_key_of_its_own():
    spreads = [sample_dot_products(500, 1, np.random.default_rng(seed)).std() for seed in range(50)]
    assert max(spreads) < 1.5 and min(spreads) > 0.6  # with one query q for all, the spread would be |q|


def test_product_of_two_normal_features_has_mean_size_two_over_pi():
    assert np.abs(sample_dot_products(50_000, 1, np.random.default_rng(0))).mean() == pytest.approx(2 / np.pi, rel=0.02)


@pytest.mark.parametrize("seed", SEEDS)
def test_slope_against_d_k_is_one_half(seed):
    rng = np.random.default_rng(seed)
    spread = [sample_dot_products(1000, d_k, rng).std() for d_k in WIDTHS]
    assert np.polyfit(np.log(WIDTHS), np.log(spread), 1)[0] == pytest.approx(0.5, abs=0.03)
    assert spread[3] == pytest.approx(8, rel=0.15)


# Entropy --------------------------------------------------------------------------------------------------------------


def test_entropy_of_equal_weights_is_log_n_and_of_one_word_is_0():
    for n in (1, 2, 64):
        assert entropy(np.full(n, 1 / n)) == pytest.approx(np.log(n), abs=1e-12)
        assert entropy(np.eye(n)).shape == (n,) and (entropy(np.eye(n)) == 0).all()
    assert entropy(np.array([0.5, 0.0, 0.5])) == pytest.approx(np.log(2))


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_entropy_is_that_of_torch_distributions(dtype, tolerance):
    weights = softmax(3 * normal(0, 3, 5, 7)).astype(dtype)
    theirs = torch.distributions.Categorical(probs=torch.tensor(weights)).entropy().numpy()
    np.testing.assert_allclose(entropy(weights), theirs, rtol=tolerance)
    assert entropy(weights).dtype == dtype


@settings(deadline=None)
@given(score_rows)
def test_entropy_lies_between_0_and_log_n_in_any_order(scores):
    weights = softmax(scores)
    found = entropy(weights)
    assert found.shape == scores.shape[:-1]
    assert (found >= 0).all() and (found <= np.log(scores.shape[-1]) + 1e-12).all()
    np.testing.assert_allclose(entropy(weights[..., ::-1]), found, atol=1e-12)


def test_entropy_of_independent_choices_adds_up():
    p, q = softmax(normal(1, 4)), softmax(normal(2, 6))
    assert entropy(np.outer(p, q).ravel()) == pytest.approx(entropy(p) + entropy(q))


# The softmax Jacobian, and the backward pass without it ---------------------------------------------------------------


@pytest.mark.parametrize("size", [1.0, 5.0, 300.0])
def test_jacobian_is_autograds(size):
    scores = size * normal(3, 6)
    theirs = torch.autograd.functional.jacobian(lambda s: s.softmax(dim=-1), torch.tensor(scores))
    np.testing.assert_allclose(softmax_jacobian(softmax(scores)), theirs.numpy(), atol=1e-14)


@settings(deadline=None)
@given(score_rows)
def test_jacobian_is_symmetric_sums_to_0_and_never_turns_a_score_round(scores):
    J = softmax_jacobian(softmax(scores))
    assert J.shape == scores.shape + scores.shape[-1:]
    np.testing.assert_array_equal(J, np.swapaxes(J, -1, -2))
    np.testing.assert_allclose(J.sum(axis=-1), 0, atol=1e-12)
    assert np.linalg.eigvalsh(J).min() > -1e-12


@pytest.mark.parametrize("function", [entropy, softmax_jacobian, lambda p: softmax_backward(p, p)])
def test_precision_is_kept_and_input_unchanged(function):
    p = softmax(normal(4, 3, 5)).astype(np.float32)
    before = p.copy()
    assert function(p).dtype == np.float32
    np.testing.assert_array_equal(p, before)


@pytest.mark.parametrize("shape", [(7,), (5, 7), (7, 7), (3, 2, 5, 7), (4, 1)])
def test_backward_is_autograds(shape):
    scores = torch.tensor(4 * normal(5, *shape), requires_grad=True)
    d_weights = normal(6, *shape)
    weights = scores.softmax(dim=-1)
    weights.backward(torch.tensor(d_weights))
    found = softmax_backward(weights.detach().numpy(), d_weights)
    np.testing.assert_allclose(found, scores.grad.numpy(), atol=1e-12)


def test_backward_with_masked_scores_is_autograds():
    scores = torch.tensor(normal(7, 5, 7))
    scores[0, 1:] = scores[2, ::2] = -torch.inf
    scores.requires_grad_()
    d_weights = normal(8, 5, 7)
    weights = scores.softmax(dim=-1)
    weights.backward(torch.tensor(d_weights))
    found = softmax_backward(weights.detach().numpy(), d_weights)
    np.testing.assert_allclose(found, scores.grad.numpy(), atol=1e-12)


@settings(deadline=None)
@given(score_rows, st.integers(0, 99), finite)
def test_backward_is_the_jacobians_product_and_blind_to_a_constant(scores, seed, constant):
    weights, d_weights = softmax(scores), normal(seed, *scores.shape)
    found = softmax_backward(weights, d_weights)
    product = (softmax_jacobian(weights) @ d_weights[..., None])[..., 0]
    np.testing.assert_allclose(found, product, atol=1e-12)
    np.testing.assert_allclose(softmax_backward(weights, d_weights + constant), found, atol=1e-11)
    np.testing.assert_allclose(found.sum(axis=-1), 0, atol=1e-11)


def test_backward_builds_no_jacobian():
    weights, d_weights = softmax(normal(9, 2, 1000)), normal(10, 2, 1000)
    tracemalloc.start()
    softmax_backward(weights, d_weights)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * weights.nbytes < 1000 * weights.nbytes


def test_gradient_of_attention_with_respect_to_the_query_is_a_covariance():
    q, K, V = (torch.tensor(normal(11 + i, *shape)) for i, shape in enumerate([(4,), (7, 4), (7, 3)]))
    attend = lambda q: (K @ q / 2).softmax(dim=-1) @ V  # noqa: E731
    theirs = torch.autograd.functional.jacobian(attend, q).numpy()
    q, K, V = q.numpy(), K.numpy(), V.numpy()
    p = softmax(K @ q / 2)
    covariance = sum(p_j * np.outer(v - p @ V, k - p @ K) for p_j, v, k in zip(p, V, K, strict=True)) / 2
    np.testing.assert_allclose(covariance, theirs, atol=1e-12)
    np.testing.assert_allclose(V.T @ softmax_jacobian(p) @ K / 2, theirs, atol=1e-12)


# Saturation -----------------------------------------------------------------------------------------------------------


def test_random_weights_are_softmax_rows_of_scores_divided_by_a_power_of_d_k():
    rows = {power: random_weights(16, power, np.random.default_rng(0), 3, 5, 7) for power in (0, 0.5, 1)}
    for power, weights in rows.items():
        assert weights.shape == (3, 5, 7)
        np.testing.assert_allclose(weights.sum(axis=-1), 1)
        np.testing.assert_allclose(softmax(np.log(weights) * 16**power), rows[0], rtol=1e-9)  # divided, and no more


@pytest.mark.parametrize("seed", SEEDS)
def test_saturation_and_gradient_are_as_the_lesson_says(seed):
    rng = np.random.default_rng(seed)
    weights = {name: [random_weights(d_k, power, rng, n_sets=10) for d_k in WIDTHS] for name, power in POWERS.items()}
    largest = {name: [w.max(axis=-1).mean() for w in rows] for name, rows in weights.items()}
    assert largest["no scale"][0] < 0.15 and largest["no scale"][5] > 0.9
    assert all(0.07 < value < 0.15 for value in largest["√d_k"])
    assert largest["d_k"][5] < 1.1 / 64
    n_words = {name: [np.exp(entropy(w)).mean() for w in rows] for name, rows in weights.items()}
    assert n_words["no scale"][6] < 1.5 and min(n_words["√d_k"]) > 35 and n_words["d_k"][6] > 63

    norms = {name: [np.linalg.norm(softmax_jacobian(w), axis=(-2, -1)) for w in rows] for name, rows in weights.items()}
    mean_norm = {name: [norm.mean() for norm in by_width] for name, by_width in norms.items()}
    assert np.argmax(mean_norm["no scale"]) == 2  # d_k = 16
    assert mean_norm["no scale"][0] < mean_norm["no scale"][2] > 5 * mean_norm["no scale"][6]
    assert max(mean_norm["√d_k"]) < 1.2 * min(mean_norm["√d_k"])
    assert max(mean_norm["d_k"]) < 1.6 * min(mean_norm["d_k"])
    assert (norms["no scale"][5] < 0.01).mean() > 0.5
    assert (norms["√d_k"][5] < 0.01).mean() == 0


# The tasks and the scorers that learn them ----------------------------------------------------------------------------


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_recall_asks_for_the_key_nearest_to_the_query():
    queries, keys, values, target = recall(64, generator())
    assert queries.shape == (32, 64) and keys.shape == (32, 16, 64) and values.shape == (32, 16, 8)
    assert queries.var().item() == pytest.approx(1, rel=0.1)
    assert ((keys - queries[:, None]).norm(dim=-1).argmin(dim=-1) == target).all()


def test_loudest_asks_for_the_key_with_the_largest_first_feature():
    _, keys, _, target = loudest(5, generator())
    assert (keys[torch.arange(32), target, 0] == keys[:, :, 0].max(dim=-1).values).all()


@pytest.mark.parametrize("task", [recall, loudest])
def test_plain_average_costs_fifteen_sixteenths(task):
    examples = generator()
    values = torch.cat([task(3, examples).values for _ in range(200)])  # the first of 16 stands for the right one
    assert (values.mean(dim=1) - values[:, 0]).square().mean().item() == pytest.approx(15 / 16, rel=0.02)


def test_scorers_are_the_scoring_functions_of_lesson_02():
    queries, keys, _, _ = recall(6, generator())
    K = keys[0].numpy()
    Q = queries[:1].numpy()

    def of(scorer):
        parameters = [parameter.detach().numpy() for parameter in scorer.parameters()]
        return parameters, scorer(queries, keys)[:1].detach().numpy()

    (W_q, W_k), found = of(DotScorer(6, 4, generator(1)))
    np.testing.assert_allclose(found, Q @ W_q @ (K @ W_k).T / 2, atol=1e-5)
    (W_q, W_k), found = of(DotScorer(6, 4, generator(1), power=0))
    np.testing.assert_allclose(found, Q @ W_q @ (K @ W_k).T, atol=1e-5)
    (W,), found = of(GeneralScorer(6, generator(1)))
    np.testing.assert_allclose(found, general_scores(Q, K, W), atol=1e-5)
    (W_q, W_k, v), found = of(AdditiveScorer(6, 4, generator(1)))
    np.testing.assert_allclose(found, additive_scores(Q, K, W_q, W_k, v), atol=1e-5)


@pytest.mark.parametrize("d", [16, 128])
def test_parameters_are_counted(d):
    counted = {name: train_scorer(name, d, recall, steps=1).parameters for name in SCORERS}
    assert counted == {"additive": 2 * d * d + d, "dot": 2 * d * d, "general": d * d, "scaled dot": 2 * d * d}


def test_only_additive_scores_survive_a_query_turned_round():
    queries, keys, _, _ = loudest(8, generator())
    for name, make in SCORERS.items():
        scorer = make(8, generator(1))
        odd = torch.allclose(scorer(-queries, keys), -scorer(queries, keys), atol=1e-5)
        assert odd == (name != "additive")


def test_training_repeats_itself():
    first, second = train_recall(16, 0.5, seed=3, steps=12), train_recall(16, 0.5, seed=3, steps=12)
    np.testing.assert_array_equal(first.losses, second.losses)
    assert first.losses.shape == first.hits.shape == first.right.shape == (12,)
    assert first.loss() == pytest.approx(first.losses[2:].mean())
    assert first.loss(11) == pytest.approx(first.losses[1:11].mean())


def test_training_leaves_the_thread_count_alone():
    before = torch.get_num_threads()
    try:
        for threads in (2, 3):
            torch.set_num_threads(threads)
            train_recall(16, 0.5, steps=1)
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


def test_scoring_seconds_times_every_scorer():
    seconds = scoring_seconds(8, 4, np.random.default_rng(0))
    assert list(seconds) == list(SCORERS) and min(seconds.values()) > 0


# What the lesson says about learning, each claim for five seeds -------------------------------------------------------


@cache
def recall_runs(seed):
    return {
        name: {d_k: train_recall(d_k, power, seed) for d_k in (16, 64, 256, 1024)} for name, power in POWERS.items()
    }


def race_loss(seed, task, d, steps=100):
    return [train_scorer(name, d, task, seed, steps=steps).loss() for name in SCORERS]


@pytest.mark.parametrize("seed", SEEDS)
def test_root_d_k_learns_at_every_width_and_no_scale_falls_behind(seed):
    runs = recall_runs(seed)
    halfway = {name: [run.loss(50) for run in by_width.values()] for name, by_width in runs.items()}
    behind = np.array(halfway["no scale"]) / halfway["√d_k"]
    assert (np.diff(behind) > 0).all() and behind[0] > 1.3 and behind[-1] > 100
    assert runs["√d_k"][16].hit_rate() > 0.9 and min(halfway["d_k"]) > 0.7
    assert halfway["√d_k"][-1] < 0.005 < 0.4 < halfway["no scale"][-1]
    assert 20 * runs["√d_k"][1024].loss() < runs["no scale"][1024].loss() < 0.8 * halfway["no scale"][-1]


@pytest.mark.parametrize("seed", SEEDS)
def test_unscaled_starts_worse_than_the_plain_average(seed):
    first = {name: recall_runs(seed)[name][1024].losses[0] for name in POWERS}
    assert first["no scale"] > 1.4 * max(first["√d_k"], first["d_k"])


@pytest.mark.parametrize("seed", SEEDS)
def test_trained_scores_outgrow_the_spread_at_the_start(seed):
    right = recall_runs(seed)["√d_k"][1024].right
    assert abs(right[0]) < 1 and right[-1] > 5


@pytest.mark.parametrize("seed", SEEDS)
def test_without_a_scale_a_small_start_learns_as_well(seed):
    small_start = train_recall(1024, power=0, start=1024**-0.25, seed=seed, steps=50)
    assert small_start.loss() < 0.1 * recall_runs(seed)["no scale"][1024].loss(50)


@pytest.mark.parametrize("seed", SEEDS)
def test_on_the_scores_no_scale_is_needed(seed):
    unscaled = [train_recall(d_k, 0, seed, on_scores=True).hit_rate() for d_k in (16, 1024)]
    scaled = train_recall(16, 0.5, seed, on_scores=True).hit_rate()
    assert unscaled[0] > scaled - 0.1 and unscaled[1] > 0.98


@pytest.mark.parametrize("seed", SEEDS)
def test_recall_is_learned_by_products_and_best_with_the_scale(seed):
    additive, dot, general, scaled_dot = race_loss(seed, recall, 128)
    assert scaled_dot < 0.1 * dot and dot < 0.5 < min(general, additive)
    additive, dot, general, scaled_dot = race_loss(seed, recall, 16)
    assert max(dot, scaled_dot) < 0.6 < min(general, additive)
    assert additive > 0.8


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("d, steps", [(16, 100), (128, 50)])  # at 128 it is clear after half the lesson's steps
def test_loudest_is_learned_by_additive_scores(seed, d, steps):
    additive, *products = race_loss(seed, loudest, d, steps)
    assert additive < 0.85 * min(products)


@pytest.mark.parametrize("seed", SEEDS)
def test_at_a_larger_rate_dot_and_general_change_places(seed):
    dot, general = (
        train_scorer(name, 128, recall, seed, steps=50, learning_rate=3e-2).loss() for name in ("dot", "general")
    )
    assert general < dot


def test_a_rounding_error_shows_in_the_unscaled_run_only(monkeypatch):
    initial = scaling_training._initial

    def nudged(*shape, **options):
        parameter = initial(*shape, **options)
        with torch.no_grad():
            parameter.mul_(1 + 1e-6 * torch.randn(shape, generator=generator(9)))
        return parameter

    before = {name: recall_runs(0)[name][1024] for name in ("no scale", "√d_k")}
    monkeypatch.setattr(scaling_training, "_initial", nudged)
    after = {name: train_recall(1024, POWERS[name]) for name in before}
    moved = {name: np.abs(after[name].losses - before[name].losses).max() for name in before}
    assert moved["no scale"] > 0.01 and moved["√d_k"] < 1e-4
