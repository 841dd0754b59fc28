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
from helpers.feedback.catalogue import lesson_03
from helpers.numpy_attention import softmax
from helpers.scaling import entropy, random_weights, sample_dot_products, softmax_backward, softmax_jacobian
from helpers.scaling_training import DotScorer, recall, train_recall, train_widths

SEEDS = range(5)
POWERS = {"no scale": 0, "√d_k": 0.5, "d_k": 1}
WIDTHS = 4 ** np.arange(7)

finite = st.floats(-30, 30, allow_subnormal=False)
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


def shared_vectors(order):
    def sample_dot_products(n, d_k, rng):
        queries = rng.standard_normal((n, d_k))
        return np.sum(queries * order(queries, rng), axis=-1)

    return sample_dot_products


ORDERS = {
    "turned round": lambda q, rng: q[::-1],
    "moved on": lambda q, rng: np.roll(q, 1, axis=0),
    "moved on, flat": lambda q, rng: np.roll(q, 1),
    "shuffled": lambda q, rng: rng.permutation(q),
}


@pytest.mark.parametrize("order", ORDERS)
def test_keys_made_from_the_queries_are_not_accepted(order):
    for case in lesson_03.SAMPLES.cases:
        described = lesson_03.SAMPLES.run(shared_vectors(ORDERS[order]), *case.make())
        assert lesson_03.SAMPLES.judge(described, case), case.name


def test_numbers_drawn_are_counted_as_numpy_counts_them():
    generator = np.random.default_rng(5).bit_generator
    before = generator.state["state"]
    generator.advance(77)
    assert lesson_03._numbers_drawn(before, generator.state["state"], 1000) == 77
    assert lesson_03._numbers_drawn(before, generator.state["state"], 50) == 50


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
    silent = {name: [(norm < 0.01).mean() for norm in by_width] for name, by_width in norms.items()}
    assert (np.diff(silent["no scale"][2:]) > 0).all()
    assert 0.55 < silent["no scale"][5] < 0.8  # d_k = 1024: about two thirds
    assert max(silent["√d_k"]) == max(silent["d_k"]) == 0
    few = np.max([random_weights(1024, 0, rng, 5, 20, 16).max(axis=-1).mean() for _ in range(3)])
    assert few > 0.9  # the prediction's row of 16 keys


# The task and the scores that learn it --------------------------------------------------------------------------------


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_recall_asks_for_the_key_nearest_to_the_query():
    queries, keys, values, target = recall(64, generator())
    assert queries.shape == (32, 64) and keys.shape == (32, 16, 64) and values.shape == (32, 16, 8)
    assert queries.var().item() == pytest.approx(1, rel=0.1)
    assert ((keys - queries[:, None]).norm(dim=-1).argmin(dim=-1) == target).all()


def test_plain_average_costs_fifteen_sixteenths():
    examples = generator()
    values = torch.cat([recall(3, examples).values for _ in range(200)])  # the first of 16 stands for the right one
    assert (values.mean(dim=1) - values[:, 0]).square().mean().item() == pytest.approx(15 / 16, rel=0.02)


@pytest.mark.parametrize("power, divisor", [(0, 1), (0.5, 2), (1, 4)])
def test_scores_are_dot_products_of_projections_divided_by_a_power_of_d_k(power, divisor):
    queries, keys, _, _ = recall(6, generator())
    scorer = DotScorer(6, 4, generator(1), power)
    W_q, W_k = (parameter.detach() for parameter in scorer.parameters())
    expected = ((queries @ W_q)[:, None] * (keys @ W_k)).sum(dim=-1) / divisor
    torch.testing.assert_close(scorer(queries, keys).detach(), expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("power, start", [(0.5, 1.0), (0, 1024**-0.25), (1, 1024**0.25)])
def test_scores_start_with_spread_1_where_the_lesson_says_so(power, start):
    queries, keys, _, target = recall(64, generator())
    scores = DotScorer(64, 1024, generator(1), power, start)(queries, keys).detach()
    scores[torch.arange(32), target] = torch.nan  # the right key is no random one
    assert np.nanstd(scores.numpy()) == pytest.approx(1, rel=0.15)


def test_training_repeats_itself():
    first, second = train_recall(16, 0.5, seed=3, steps=12), train_recall(16, 0.5, seed=3, steps=12)
    np.testing.assert_array_equal(first.losses, second.losses)
    assert first.losses.shape == first.hits.shape == first.right.shape == (12,)
    assert first.loss() == pytest.approx(first.losses[2:].mean())


def test_runs_of_several_widths_are_the_single_runs_in_order():
    runs = train_widths((4, 16), 0.5, rate=1e-2, seeds=(7, 8, 9), steps=12)
    assert runs.losses.shape == (2, 3, 12) and runs.loss().shape == runs.hit_rate().shape == (2, 3)
    np.testing.assert_array_equal(runs.losses[1, 2], train_recall(16, 0.5, seed=9, rate=1e-2, steps=12).losses)


def test_training_leaves_the_thread_count_alone():
    before = torch.get_num_threads()
    try:
        for threads in (2, 3):
            torch.set_num_threads(threads)
            train_recall(16, 0.5, steps=1)
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


# What the lesson says about learning: three learning rates, five seeds ------------------------------------------------

D_KS = (16, 64, 256, 1024)
RATES = (0.003, 0.01, 0.03)
AVERAGE = 15 / 16  # loss of the plain average


@cache
def runs_of(name, rate, d_ks=D_KS, **options):
    return train_widths(d_ks, POWERS[name], rate, **options)


def losses_of(name, rate):
    """(widths, seeds): loss at step 50."""
    return runs_of(name, rate).loss()


def test_root_d_k_learns_at_every_width_with_one_rate():
    losses = losses_of("√d_k", 0.01)
    assert (losses[0] < 0.15).all() and (losses[1:] < 0.02).all()


def test_d_k_is_slow_at_a_small_rate_and_learns_at_a_larger_one_at_every_width():
    assert (losses_of("d_k", 0.003) > 0.7).all()
    losses = losses_of("d_k", 0.03)
    assert (losses[0] < 0.1).all() and (losses[1:] < 0.01).all()
    assert (losses[2:] < 0.002).all()
    assert (losses < losses_of("d_k", 0.01)).all()  # ten times the loss and more at the rate that serves √d_k


def test_d_k_takes_steps_of_one_size_at_every_width():
    for rate in (0.003, 0.01):
        middle = np.median(losses_of("d_k", rate), axis=1)[1:]
        assert middle.max() < 1.7 * middle.min()


def test_at_the_small_rate_d_k_finds_the_key_and_only_its_weights_are_soft():
    assert (runs_of("d_k", 0.003).hit_rate()[1:] > 0.9).mean() > 0.6
    assert (runs_of("d_k", 0.003).hit_rate()[-1] > 0.98).all()


def test_no_scale_fails_at_every_rate_where_the_model_is_wide():
    best = np.min([np.median(losses_of("no scale", rate), axis=1) for rate in RATES], axis=0)  # of the rates, per width
    scaled = np.median(losses_of("√d_k", 0.01), axis=1)
    assert (np.diff(best / scaled) > 0).all()  # behind at 16, and further behind at every width
    assert best[0] > 2 * scaled[0] and best[-1] > AVERAGE and best[-1] > 1000 * scaled[-1]


def test_unscaled_starts_worse_than_the_plain_average():
    first = {name: runs_of(name, 0.003).losses[-1, :, 0] for name in POWERS}
    assert (first["no scale"] > 1.4 * np.maximum(first["√d_k"], first["d_k"])).all()


def test_without_a_scale_a_small_start_learns_at_a_small_rate_only():
    small, large = (runs_of("no scale", rate, d_ks=(1024,), start=1024**-0.25).loss() for rate in (0.003, 0.03))
    assert (small < 0.02).all() and (large > 0.5).all()


def test_with_d_k_a_spread_of_1_at_the_start_is_still_slow():
    slow, quick = (runs_of("d_k", rate, d_ks=(1024,), start=1024**0.25) for rate in (0.003, 0.03))
    assert (0.15 < slow.loss()).all() and (slow.loss() < 0.35).all() and (slow.hit_rate() > 0.9).all()
    assert (quick.loss() < 0.01).all()


def test_on_the_scores_no_scale_is_needed():
    for rate in RATES:
        on_scores = runs_of("no scale", rate, d_ks=(1024,), on_scores=True).hit_rate()
        inside = runs_of("no scale", rate).hit_rate()[-1]
        assert (on_scores > 0.95).all() and (inside < 0.75).all()


def test_trained_scores_outgrow_the_spread_at_the_start():
    right = runs_of("√d_k", 0.003).right[-1]  # (seeds, steps)
    assert (np.abs(right[:, 0]) < 1).all() and (right[:, -1] > 5).all()


def test_a_rounding_error_shows_in_the_unscaled_run_only(monkeypatch):
    initial = scaling_training._initial

    def nudged(*shape, **options):
        parameter = initial(*shape, **options)
        with torch.no_grad():
            parameter.mul_(1 + 1e-6 * torch.randn(shape, generator=generator(9)))
        return parameter

    before = {name: train_recall(1024, POWERS[name], steps=100) for name in ("no scale", "√d_k")}
    monkeypatch.setattr(scaling_training, "_initial", nudged)
    after = {name: train_recall(1024, POWERS[name], steps=100) for name in before}
    moved = {name: np.abs(after[name].losses - before[name].losses).max() for name in before}
    assert moved["no scale"] > 0.01 and moved["√d_k"] < 1e-4
