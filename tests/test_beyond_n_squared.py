"""Lesson 08's code against PyTorch, against definitions, and its claims over five seeds, in small."""

import math
import os

import pytest
import torch
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from helpers import beyond_tasks as tasks
from helpers import measure
from helpers.cache import attend_to_all, attend_with_cache, cache_bytes, empty_cache
from helpers.cost import fit_exponent
from helpers.groups import grouped_by_repeating, grouped_query_attention
from helpers.linear import linear_attention, linear_in_chunks
from helpers.masks import causal_mask
from helpers.multi_head import MultiHeadAttention, merge_heads, split_heads
from helpers.positions import rope
from helpers.tiled import TiledWithBackward, merge, nothing_seen, rows_recomputed, state_of, tiled_attention
from helpers.window import reach, window_attention, window_mask

SEEDS = range(5)


def normal(seed, *shapes, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(shape, generator=generator, dtype=dtype) for shape in shapes)


def qkv(seed, T, d=64):
    return normal(seed, *[(1, 1, T, d)] * 3, dtype=torch.float32)


def naive(Q, K, V):
    return (Q @ K.mT / math.sqrt(Q.shape[-1])).softmax(dim=-1) @ V


def close(a, b, rtol=1e-10):
    torch.testing.assert_close(a, b, rtol=rtol, atol=rtol)


# Tiles ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scale", [1.0, 60.0])
def test_merging_pieces_in_any_grouping_is_the_softmax_of_all(seed, scale):
    scores, V = normal(seed, (2, 5, 11), (2, 11, 3))
    scores = scale * scores
    pieces = [state_of(scores[..., part], V[:, part]) for part in (slice(0, 2), slice(2, 3), slice(3, 8), slice(8, 11))]
    one_by_one = merge(merge(merge(pieces[0], pieces[1]), pieces[2]), pieces[3])
    in_pairs = merge(merge(pieces[0], pieces[1]), merge(pieces[2], pieces[3]))
    for maximum, total, out in (one_by_one, in_pairs):
        close(maximum, scores.amax(dim=-1, keepdim=True))
        close(maximum + total.log(), scores.logsumexp(dim=-1, keepdim=True))
        close(out / total, scores.softmax(dim=-1) @ V)


def test_a_part_with_nothing_visible_adds_nothing_on_either_side():
    scores, V = normal(0, (4, 6), (6, 3))
    nothing, part = nothing_seen(scores, V), state_of(scores - 800.0, V)
    for merged in (merge(nothing, part), merge(part, nothing)):
        for got, wanted in zip(merged, part, strict=True):
            assert torch.equal(got, wanted)
    maximum, total, out = merge(nothing, nothing)
    assert (maximum == -torch.inf).all() and not total.any() and not out.any()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("tile", [1, 4, 5, 12, 13, 40])
def test_tiles_give_what_pytorch_gives_whatever_their_size(tile, causal):
    for leading in ((), (3,), (2, 3)):
        Q, K, V = normal(tile, (*leading, 13, 4), (*leading, 13, 4), (*leading, 13, 6))
        close(tiled_attention(Q, K, V, tile, causal), F.scaled_dot_product_attention(Q, K, V, is_causal=causal))


def test_tiles_serve_cross_attention_too():
    Q, K, V = normal(1, (2, 5, 4), (2, 12, 4), (2, 12, 3))
    close(tiled_attention(Q, K, V, 4), F.scaled_dot_product_attention(Q, K, V))


def test_tiles_survive_scores_far_below_any_finite_start():
    Q, K, V = normal(2, (9, 4), (9, 4), (9, 3))
    Q, K = 100 * Q.abs(), -100 * K.abs()
    close(tiled_attention(Q, K, V, 4), F.scaled_dot_product_attention(Q, K, V))


def test_memory_of_tiles_grows_with_length_and_of_naive_attention_with_its_square():
    lengths = [512, 1024, 2048]
    tiles = [measure.peak_bytes(tiled_attention, *qkv(0, T), 64) for T in lengths]
    whole = [measure.peak_bytes(naive, *qkv(0, T)) for T in lengths]
    assert 0.8 < fit_exponent(lengths, tiles) < 1.1
    assert 1.9 < fit_exponent(lengths, whole) < 2.1


def test_causal_tiles_compute_about_half():
    counts = []
    for causal in (False, True):
        with FlopCounterMode(display=False) as counter:
            tiled_attention(*qkv(0, 1024), 64, causal)
        counts.append(counter.get_total_flops())
    assert counts[1] / counts[0] == pytest.approx(0.5 + 64 / 1024 / 2)


@pytest.mark.parametrize("attend", [tiled_attention, rows_recomputed, TiledWithBackward.apply])
def test_gradients_through_tiles_equal_those_of_naive_attention(attend):
    inputs = [x.requires_grad_() for x in normal(3, (2, 3, 13, 4), (2, 3, 13, 4), (2, 3, 13, 6))]
    d_out = torch.randn(2, 3, 13, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    wanted = torch.autograd.grad(naive(*inputs), inputs, d_out)
    got = torch.autograd.grad(attend(*inputs, 5), inputs, d_out)
    for g, w in zip(got, wanted, strict=True):
        close(g, w)


def test_autograd_keeps_more_for_tiles_than_for_the_matrix_and_the_own_backward_keeps_little():
    inputs = qkv(0, 1024)
    matrix = 4 * 1024 * 1024
    assert measure.saved_bytes(naive, *inputs) == matrix
    assert measure.saved_bytes(lambda *x: tiled_attention(*x, 128), *inputs) > 2 * matrix
    assert measure.saved_bytes(lambda *x: TiledWithBackward.apply(*x, 128), *inputs) == 4 * 1024 * (64 + 1)


def step(attend):
    def train(Q, K, V):
        with torch.enable_grad():
            inputs = [x.detach().requires_grad_() for x in (Q, K, V)]
            attend(*inputs).square().sum().backward()

    return train


def test_recomputed_rows_and_the_own_backward_need_memory_that_grows_with_length():
    lengths = [256, 512, 1024]
    for attend in (rows_recomputed, TiledWithBackward.apply):
        peaks = [measure.peak_bytes(step(lambda *x, f=attend: f(*x, 64)), *qkv(0, T)) for T in lengths]
        assert 0.8 < fit_exponent(lengths, peaks) < 1.2
    peaks = [measure.peak_bytes(step(lambda *x: tiled_attention(*x, 64)), *qkv(0, T)) for T in lengths[:2]]
    assert fit_exponent(lengths[:2], peaks) > 1.8


def test_a_running_sum_of_ones_in_bfloat16_stops_at_256():
    total = torch.zeros((), dtype=torch.bfloat16)
    for _ in range(1000):
        total += 1
    assert total == 256


# Windows -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("T", "window"), [(1, 1), (7, 1), (7, 3), (7, 7), (5, 9)])
def test_window_mask_is_its_definition(T, window):
    wanted = [[0 <= i - j < window for j in range(T)] for i in range(T)]
    assert window_mask(T, window).tolist() == wanted


@pytest.mark.parametrize(("window", "block"), [(1, 4), (3, 4), (5, 2), (40, 4), (6, 100)])
def test_sliced_window_equals_the_masked_one(window, block):
    Q, K, V = normal(4, (2, 23, 4), (2, 23, 4), (2, 23, 6))
    wanted = F.scaled_dot_product_attention(Q, K, V, attn_mask=window_mask(23, window))
    close(window_attention(Q, K, V, window, block), wanted)


@pytest.mark.parametrize(("n_layers", "window"), [(0, 4), (1, 1), (1, 4), (2, 4), (3, 5), (4, 2)])
def test_reach_is_what_the_gradient_says(n_layers, window):
    (x,) = normal(5, (20, 6))

    def stack(x):
        for _ in range(n_layers):
            x = window_attention(x, x, x, window)
        return x

    heard = measure.influence(stack, x) > 0
    assert heard.sum() == reach(n_layers, window)
    assert heard[-reach(n_layers, window) :].all()


def test_memory_of_the_window_grows_with_length():
    lengths = [1024, 2048, 4096]
    peaks = [measure.peak_bytes(lambda *x: window_attention(*x, 64, 64), *qkv(0, T)) for T in lengths]
    assert 0.8 < fit_exponent(lengths, peaks) < 1.1


@pytest.mark.parametrize("seed", SEEDS)
def test_one_windowed_layer_answers_within_its_reach_and_guesses_beyond(seed):
    model = tasks.train_window(1, seed=seed, steps=100, rate=6e-3)
    accuracy = tasks.accuracy_by_distance(model)
    assert accuracy[: reach(1, 8)].min() > 0.95
    assert accuracy[reach(1, 8) :].max() < 0.2


# Linear attention ----------------------------------------------------------------------------------------------------


def by_definition(Q, K, V, causal):
    """Linear attention by its matrix of weights, which the real one never makes."""
    phi = lambda x: torch.where(x > 0, x + 1, x.exp())  # noqa: E731
    weights = phi(Q) @ phi(K).mT
    weights = weights.tril() if causal else weights
    return weights / weights.sum(dim=-1, keepdim=True) @ V


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_linear_attention_in_every_order_is_its_definition(seed, causal):
    Q, K, V = normal(seed, (2, 3, 13, 4), (2, 3, 13, 4), (2, 3, 13, 6))
    wanted = by_definition(Q, K, V, causal)
    close(linear_attention(Q, K, V, causal), wanted)
    if causal:
        for chunk in (1, 5, 13, 50):
            close(linear_in_chunks(Q, K, V, chunk), wanted)


def test_linear_attention_makes_no_matrix_of_all_pairs():
    T = 1024
    for causal in (False, True):
        peak = measure.peak_bytes(lambda *x, c=causal: linear_attention(*x, causal=c), *qkv(0, T, d=4))
        assert peak < T * T
    lengths = [1024, 2048, 4096]
    peaks = [measure.peak_bytes(linear_in_chunks, *qkv(0, T)) for T in lengths]
    assert 0.9 < fit_exponent(lengths, peaks) < 1.1


@pytest.mark.skipif("ATTENTION_COURSE_CLAIMS" not in os.environ, reason="a minute and a half")
@pytest.mark.parametrize(("rate", "steps"), [(3e-3, 250), (9e-3, 250), (1e-3, 750)])
@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_windowed_layers_answer_within_their_reach_and_guess_beyond_at_three_learning_rates(n_layers, rate, steps):
    for seed in range(3):
        accuracy = tasks.accuracy_by_distance(tasks.train_window(n_layers, seed=seed, steps=steps, rate=rate))
        within, beyond = accuracy[: reach(n_layers, 8)], accuracy[reach(n_layers, 8) :]
        assert within.mean() > 0.98 and within.min() > 0.85 and beyond.max() < 0.2


@pytest.mark.parametrize(("rate", "seed"), [*((0.06, seed) for seed in SEEDS), (0.18, 0)])
def test_softmax_recalls_many_pairs_and_linear_attention_of_the_same_width_does_not(rate, seed):
    few, many = 4, 64
    softmax = tasks.train_recall(tasks.softmax_attention, 16, many, seed, steps=150, rate=rate)
    linear = [tasks.train_recall(linear_attention, 16, n, seed, steps=150, rate=rate) for n in (few, many)]
    assert softmax > 0.95
    assert linear[0] > 0.85 and linear[1] < 0.6


@pytest.mark.skipif("ATTENTION_COURSE_CLAIMS" not in os.environ, reason="a minute and a half")
@pytest.mark.parametrize(("rate", "steps"), [(0.06, 300), (0.18, 300), (0.06, 1500), (0.02, 1500)])
def test_linear_attention_keeps_about_as_many_pairs_apart_as_its_keys_are_wide_at_every_rate(rate, steps):
    for d_k in (16, 32):
        few, as_many, twice = (
            tasks.train_recall(linear_attention, d_k, n, steps=steps, rate=rate) for n in (d_k // 4, d_k, 2 * d_k)
        )
        assert few > 0.9 and as_many > 0.8 and twice < 0.82 and few > as_many > twice + 0.1


# The cache -----------------------------------------------------------------------------------------------------------


def layer_and_words(T, B=2, dtype=torch.float64):
    torch.manual_seed(0)
    layer = MultiHeadAttention(12, 3).to(dtype)
    return layer, normal(6, (B, T, 12), dtype=dtype)[0]


@pytest.mark.parametrize("pieces", [[17], [1] * 17, [5, 7, 5], [1, 15, 1], [16, 1]])
def test_pieces_through_the_cache_equal_one_pass(pieces):
    layer, x = layer_and_words(17)
    Q, K, V = (split_heads(W(x), 3) for W in (layer.W_q, layer.W_k, layer.W_v))
    wanted = layer.W_o(merge_heads(F.scaled_dot_product_attention(rope(Q), rope(K), V, is_causal=True)))
    cache = empty_cache(layer, B=2)
    outs = [attend_with_cache(layer, piece, cache) for piece in x.split(pieces, dim=1)]
    close(torch.cat(outs, dim=1), wanted)
    close(attend_to_all(layer, x), wanted)
    close(cache["K"], rope(K))
    close(cache["V"], V)


def test_two_texts_with_a_cache_each_do_not_hear_each_other():
    layer, x = layer_and_words(6)
    first = attend_with_cache(layer, x, empty_cache(layer, B=2))
    assert torch.equal(first, attend_with_cache(layer, x, empty_cache(layer, B=2)))


def test_is_causal_aligns_top_left_and_so_shows_a_new_word_the_first_key_only():
    Q, K = normal(7, (1, 1, 1, 4), (1, 1, 5, 4))
    weights = F.scaled_dot_product_attention(Q, K, torch.eye(5, dtype=torch.float64)[None, None], is_causal=True)
    assert weights.flatten().tolist() == [1, 0, 0, 0, 0]


def test_a_triangle_of_all_words_brings_the_square_back_for_one_new_word():
    def triangle(T):
        return causal_mask(T)[-1:]

    def positions(T):
        return torch.arange(T) <= T - 1

    lengths = [512, 1024, 2048]
    assert fit_exponent(lengths, [measure.peak_bytes(triangle, T) for T in lengths]) > 1.9
    assert fit_exponent(lengths, [measure.peak_bytes(positions, T) for T in lengths]) < 1.1


# Groups --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("g", [1, 2, 3, 6])
def test_groups_equal_pytorchs_enable_gqa_and_copied_keys(g):
    Q, K, V = normal(g, (2, 6, 5, 4), (2, g, 7, 4), (2, g, 7, 3))
    (mask,) = (normal(8, (2, 6, 5, 7))[0] > -1,)
    mask[..., 0] = True
    for m in (None, mask, mask[:1, :1], mask[:, :1]):
        wanted = F.scaled_dot_product_attention(Q, K, V, attn_mask=m, enable_gqa=True)
        close(grouped_query_attention(Q, K, V, m), wanted)
        close(grouped_by_repeating(Q, K, V, m), wanted)


def test_repeat_instead_of_repeat_interleave_is_right_only_with_one_group_or_as_many_as_heads():
    for g, same in ((1, True), (2, False), (3, False), (6, True)):
        Q, K, V = normal(9, (1, 6, 5, 4), (1, g, 7, 4), (1, g, 7, 3))
        K_wrong, V_wrong = K.repeat(1, 6 // g, 1, 1), V.repeat(1, 6 // g, 1, 1)
        wrong = F.scaled_dot_product_attention(Q, K_wrong, V_wrong)
        assert torch.allclose(wrong, grouped_query_attention(Q, K, V)) == same


def test_groups_copy_no_keys():
    Q, K, V = normal(10, (1, 32, 1, 64), (1, 8, 1024, 64), (1, 8, 1024, 64), dtype=torch.float32)
    assert measure.peak_bytes(grouped_query_attention, Q, K, V) < 4 * K.numel() / 4
    assert measure.peak_bytes(grouped_by_repeating, Q, K, V) > 2 * 4 * 4 * K.numel()


def test_published_cache_sizes_per_token():
    assert cache_bytes(12, 12, 64, 1) == 36_864  # GPT-2 small
    assert cache_bytes(32, 32, 128, 1) == 524_288  # Llama-2-7B
    assert cache_bytes(80, 8, 128, 1) == 327_680  # Llama-2-70B
    layer, x = layer_and_words(9, B=1, dtype=torch.float32)
    cache = empty_cache(layer)
    attend_with_cache(layer, x, cache)
    assert sum(z.numel() * z.element_size() for z in cache.values()) == cache_bytes(1, 3, 4, 9, itemsize=4)
