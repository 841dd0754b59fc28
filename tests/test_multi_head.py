"""Lesson 04's reference code against PyTorch's own, and the facts about heads that the lesson states."""
import math
import os

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from helpers import multi_head, numpy_attention
from helpers.head_training import D_V, N_WORDS, train_heads, train_look_ups, two_look_ups_batch
from helpers.multi_head import MultiHeadAttention, from_torch, merge_heads, split_heads
from helpers.query_key_value import embed, words

B, T, D_MODEL, N_HEADS = 3, 5, 12, 2
D_K = D_MODEL // N_HEADS
ARE, OLD, BOOKS, SHELF = (words.index(word) for word in ("are", "old", "books", "shelf"))
FLOATS = {torch.float32: 1e-6, torch.float64: 1e-12}  # dtype: largest difference allowed


def normal(seed, *shape, dtype=torch.float32):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def random_mask(seed, *shape):
    """Boolean, not symmetric, different in every leading entry, and with a True in every row."""
    mask = torch.rand(shape, generator=torch.Generator().manual_seed(seed)) > 0.5
    mask[..., range(shape[-1]), range(shape[-1])] = True
    return mask


def filled(module, seed):
    """The module with parameters from a generator of its own, so that no test depends on global random state."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) / math.sqrt(parameter.shape[-1]))
    return module


def torch_module(d_model=D_MODEL, n_heads=N_HEADS, dtype=torch.float32, dropout=0.0):
    return filled(nn.MultiheadAttention(d_model, n_heads, dropout, bias=False, batch_first=True, dtype=dtype), seed=1)


# split_heads and merge_heads

sizes = st.fixed_dictionaries({name: st.integers(1, 5) for name in ("B", "T", "n_heads", "d_k")})


@given(sizes)
@settings(deadline=None)
def test_head_i_holds_its_own_features_of_every_position(sizes):
    B, T, n_heads, d_k = sizes.values()
    x = torch.arange(B * T * n_heads * d_k).view(B, T, n_heads * d_k)
    heads = split_heads(x, n_heads)
    assert heads.shape == (B, n_heads, T, d_k)
    for i, head in enumerate(x.chunk(n_heads, dim=-1)):
        assert torch.equal(heads[:, i], head)


@given(sizes)
@settings(deadline=None)
def test_merge_undoes_split_and_split_undoes_merge(sizes):
    B, T, n_heads, d_k = sizes.values()
    x = torch.arange(B * T * n_heads * d_k).view(B, T, n_heads * d_k)
    assert torch.equal(merge_heads(split_heads(x, n_heads)), x)
    y = torch.arange(B * T * n_heads * d_k).view(B, n_heads, T, d_k)
    assert torch.equal(split_heads(merge_heads(y), n_heads), y)


def test_merge_lays_the_heads_side_by_side():
    heads = normal(0, B, N_HEADS, T, D_K)
    assert torch.equal(merge_heads(heads), torch.cat([heads[:, i] for i in range(N_HEADS)], dim=-1))


def test_split_accepts_a_tensor_whose_memory_is_not_in_order():
    x = normal(0, T, B, D_MODEL).transpose(0, 1)
    assert torch.equal(split_heads(x, N_HEADS), split_heads(x.contiguous(), N_HEADS))


def test_wrong_way_there_and_wrong_way_back_hides_both():
    x = normal(0, B, T, D_MODEL)
    wrong = x.view(B, N_HEADS, T, D_K)
    assert not torch.equal(wrong, split_heads(x, N_HEADS))
    assert torch.equal(wrong.reshape(B, T, D_MODEL), x)


# MultiHeadAttention against PyTorch

MASKS = {
    "no mask": None,
    "one mask for all": random_mask(2, T, T),
    "a mask for each example": random_mask(3, B, 1, T, T),
    "a mask for each head": random_mask(4, 1, N_HEADS, T, T),
    "a mask for each example and head": random_mask(5, B, N_HEADS, T, T),
}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
def test_outputs_and_weights_of_each_head_equal_those_of_torch(mask, dtype):
    theirs = torch_module(dtype=dtype)
    x = normal(6, B, T, D_MODEL, dtype=dtype)
    out, weights = from_torch(theirs)(x, mask)
    blocked = None if mask is None else ~mask.expand(B, N_HEADS, T, T).reshape(B * N_HEADS, T, T)  # True = may not
    expected_out, expected_weights = theirs(x, x, x, attn_mask=blocked, average_attn_weights=False)
    assert out.dtype == weights.dtype == dtype
    torch.testing.assert_close(out, expected_out, rtol=0, atol=FLOATS[dtype])
    torch.testing.assert_close(weights, expected_weights, rtol=0, atol=FLOATS[dtype])


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS.keys())
def test_each_head_is_scaled_dot_product_attention_with_the_same_mask(mask):
    mha = filled(MultiHeadAttention(D_MODEL, N_HEADS), seed=7)
    x = normal(8, B, T, D_MODEL)
    Q, K, V = (layer(x).unflatten(-1, (N_HEADS, D_K)).transpose(1, 2) for layer in (mha.W_q, mha.W_k, mha.W_v))
    heads = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)  # True = may attend, as ours
    torch.testing.assert_close(mha(x, mask)[0], mha.W_o(heads.transpose(1, 2).flatten(2)), rtol=0, atol=1e-6)


def test_each_head_is_the_attention_of_lesson_02():
    mha = filled(MultiHeadAttention(D_MODEL, N_HEADS), seed=7).double()
    x, mask = normal(8, B, T, D_MODEL, dtype=torch.float64), MASKS["a mask for each example"]
    Q, K, V = (split_heads(layer(x), N_HEADS).detach().numpy() for layer in (mha.W_q, mha.W_k, mha.W_v))
    _, expected = numpy_attention.scaled_dot_product_attention(Q, K, V, mask.numpy())
    torch.testing.assert_close(mha(x, mask)[1].detach(), torch.from_numpy(expected), rtol=0, atol=1e-12)


@given(seed=st.integers(0, 10_000), T=st.integers(1, 6), n_heads=st.sampled_from((1, 2, 3, 4, 6, 12)))
@settings(deadline=None, max_examples=50)
def test_weights_are_shares_and_hidden_positions_get_none(seed, T, n_heads):
    mha = filled(MultiHeadAttention(D_MODEL, n_heads), seed=seed)
    mask = random_mask(seed, B, 1, T, T)
    _, weights = mha(30 * normal(seed, B, T, D_MODEL), mask)
    assert weights.shape == (B, n_heads, T, T)
    assert (weights >= 0).all()
    assert (weights.masked_select(~mask) == 0).all()
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(B, n_heads, T))


@given(seed=st.integers(0, 10_000))
@settings(deadline=None, max_examples=25)
def test_shuffling_the_positions_shuffles_the_outputs_along(seed):
    mha = filled(MultiHeadAttention(D_MODEL, N_HEADS), seed=7)
    x = normal(seed, B, T, D_MODEL)
    order = torch.randperm(T, generator=torch.Generator().manual_seed(seed))
    torch.testing.assert_close(mha(x[:, order])[0], mha(x)[0][:, order], rtol=0, atol=1e-5)


def test_examples_of_a_batch_do_not_see_each_other():
    mha, x = filled(MultiHeadAttention(D_MODEL, N_HEADS), seed=7), normal(8, B, T, D_MODEL)
    changed = x.clone()
    changed[0] = 0
    assert torch.equal(mha(x)[0][1:], mha(changed)[0][1:])


def test_runs_in_half_precision_with_a_mask():
    mha = filled(MultiHeadAttention(D_MODEL, N_HEADS), seed=7)
    x, mask = normal(8, B, T, D_MODEL), MASKS["a mask for each example"]
    out, weights = mha(x, mask)
    out_16, weights_16 = mha.half()(x.half(), mask)
    assert out_16.dtype == weights_16.dtype == torch.float16
    torch.testing.assert_close(out_16.float(), out, rtol=0, atol=0.02)
    torch.testing.assert_close(weights_16.float(), weights, rtol=0, atol=0.02)


def test_minus_a_thousand_million_does_not_fit_in_half_precision():
    scores = torch.zeros(2, 2, dtype=torch.float16)
    with pytest.raises(RuntimeError, match="overflow"):
        scores.masked_fill(torch.eye(2, dtype=torch.bool), -1e9)


def test_inputs_are_left_alone():
    mha, x = filled(MultiHeadAttention(D_MODEL, N_HEADS), seed=7), normal(8, B, T, D_MODEL)
    mask = random_mask(3, B, 1, T, T)
    x_before, mask_before = x.clone(), mask.clone()
    mha(x, mask)
    assert torch.equal(x, x_before)
    assert torch.equal(mask, mask_before)


def test_layers_are_four_matrices_with_these_names():
    state = MultiHeadAttention(D_MODEL, N_HEADS, dropout=0.1).state_dict()
    assert {name: tuple(tensor.shape) for name, tensor in state.items()} == {
        f"W_{role}.weight": (D_MODEL, D_MODEL) for role in "qkvo"
    }


def test_gradient_reaches_every_parameter():
    mha = filled(MultiHeadAttention(D_MODEL, N_HEADS), seed=7)
    (mha(normal(8, B, T, D_MODEL), MASKS["a mask for each example"])[0] ** 2).sum().backward()
    for name, parameter in mha.named_parameters():
        assert parameter.grad is not None and (parameter.grad != 0).all(), name


@pytest.mark.parametrize(("d_model", "n_heads"), [(10, 3), (4, 8)])
def test_heads_that_do_not_divide_d_model_are_refused_with_both_numbers(d_model, n_heads):
    with pytest.raises(ValueError, match=f"d_model={d_model} is not divisible by n_heads={n_heads}"):
        MultiHeadAttention(d_model, n_heads)


# Dropout


def test_weights_are_returned_before_dropout():
    x = normal(8, B, T, D_MODEL)
    noisy = filled(MultiHeadAttention(D_MODEL, N_HEADS, dropout=0.5), seed=7)
    quiet_out, quiet_weights = filled(MultiHeadAttention(D_MODEL, N_HEADS), seed=7)(x)
    out, weights = noisy.train()(x)
    assert torch.equal(weights, quiet_weights)
    assert not torch.allclose(out, quiet_out)
    assert torch.equal(noisy.eval()(x)[0], quiet_out)


def test_dropout_falls_on_the_weights_so_that_a_lone_position_loses_whole_heads():
    mha = filled(MultiHeadAttention(D_MODEL, N_HEADS, dropout=0.5), seed=7)
    with torch.no_grad():
        mha.W_o.weight.copy_(torch.eye(D_MODEL))
    x = normal(8, 100, 1, D_MODEL)
    ratio = split_heads(mha(x)[0], N_HEADS) / split_heads(mha.W_v(x), N_HEADS)  # (100, h, 1, d_k)
    assert set(ratio.round().unique().tolist()) == {0.0, 2.0}
    torch.testing.assert_close(ratio, ratio[..., :1].expand_as(ratio))


def test_torch_itself_returns_weights_after_dropout():
    x = normal(8, B, T, D_MODEL)
    theirs = torch_module(dropout=0.5).train()
    sums = theirs(x, x, x, average_attn_weights=False)[1].sum(dim=-1)
    assert not torch.allclose(sums, torch.ones_like(sums), atol=0.01)
    sums = theirs.eval()(x, x, x, average_attn_weights=False)[1].sum(dim=-1)
    torch.testing.assert_close(sums, torch.ones_like(sums))


# from_torch


def test_from_torch_copies_and_does_not_share():
    theirs = torch_module()
    ours = from_torch(theirs)
    before = ours.W_q.weight.clone(), ours.W_o.weight.clone()
    with torch.no_grad():
        theirs.in_proj_weight.zero_()
        theirs.out_proj.weight.zero_()
    assert torch.equal(ours.W_q.weight, before[0])
    assert torch.equal(ours.W_o.weight, before[1])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_from_torch_keeps_heads_dropout_and_dtype(dtype):
    ours = from_torch(torch_module(12, 4, dtype, dropout=0.3))
    assert ours(normal(8, 1, T, 12, dtype=dtype))[1].shape == (1, 4, T, T)
    assert ours.dropout.p == 0.3
    assert {parameter.dtype for parameter in ours.parameters()} == {dtype}
    assert all(parameter.requires_grad for parameter in ours.parameters())


def test_our_mask_in_torch_means_the_opposite():
    theirs = torch_module()
    x, no_self = normal(8, B, T, D_MODEL), ~torch.eye(T, dtype=torch.bool)
    _, weights = theirs(x, x, x, attn_mask=no_self, average_attn_weights=False)
    torch.testing.assert_close(weights, torch.eye(T).expand(B, N_HEADS, T, T))  # each word sees itself alone


# What the lesson shows beyond its exercises


def test_two_heads_find_the_noun_that_agrees_and_the_adjective():
    X = torch.tensor(embed(words), dtype=torch.float32)[None]
    out, weights = multi_head.two_look_ups()(X)
    assert weights[0, 0, ARE].argmax() == BOOKS and weights[0, 0, ARE, BOOKS] > 0.9
    assert weights[0, 1, ARE].argmax() == OLD and weights[0, 1, ARE, OLD] > 0.9
    torch.testing.assert_close(out[0, ARE], torch.tensor([1.0, 1.0, 1.0, 0.0]), rtol=0, atol=0.1)


def test_with_is_for_are_the_first_head_finds_the_shelf():
    X = torch.tensor(embed([{"are": "is"}.get(word, word) for word in words]), dtype=torch.float32)[None]
    _, weights = multi_head.two_look_ups()(X)
    assert weights[0, 0, ARE].argmax() == SHELF
    assert weights[0, 1, ARE].argmax() == OLD


# One head against two, on a task of two look-ups


def test_task_asks_for_halves_of_two_different_words():
    x, wanted = two_look_ups_batch(torch.Generator().manual_seed(0))
    names, given = x[:, :-1, :N_WORDS], x[:, :-1, -D_V:]
    who, what = x[:, -1, N_WORDS : 2 * N_WORDS], x[:, -1, 2 * N_WORDS : 3 * N_WORDS]  # one-hot names
    assert (names.sum(dim=1) == 1).all() and (names.sum(dim=2) == 1).all() and (x[:, :-1, N_WORDS:-D_V] == 0).all()
    assert (x[:, -1, :N_WORDS] == 0).all() and (x[:, -1, -D_V:] == 0).all() and (who * what == 0).all()
    found = [torch.einsum("bnm,bm,bnd->bd", names, asked, given) for asked in (who, what)]
    torch.testing.assert_close(wanted, torch.cat((found[0][:, : D_V // 2], found[1][:, D_V // 2 :]), dim=-1))


@pytest.mark.parametrize("seed", range(5))
def test_best_that_one_row_can_do_is_a_half_whatever_its_proportion(seed):
    rng = np.random.default_rng(seed)
    mixed = rng.standard_normal((2, 20_000))  # what two words give for one feature
    for share in (0.0, 0.3, 0.5, 0.9, 1.0):
        brought = share * mixed[0] + (1 - share) * mixed[1]
        left = [np.mean((wanted - brought * (wanted @ brought) / (brought @ brought)) ** 2) for wanted in mixed]
        assert np.mean(left) == pytest.approx(0.5, abs=0.02)


# The lesson's two rates; with ATTENTION_COURSE_CLAIMS a smaller and a larger one too. A small rate needs more steps.
RATES = [(1e-2, 150), (3e-2, 150)] + [(3e-3, 500), (1e-1, 150)] * ("ATTENTION_COURSE_CLAIMS" in os.environ)


@pytest.mark.parametrize(("rate", "steps"), RATES)
def test_trained_one_head_stops_at_a_half_and_two_heads_solve_the_task(rate, steps):
    one, two = (train_heads(MultiHeadAttention, h, rate=rate, steps=steps)[-20:].mean(axis=0) for h in (1, 2))
    assert one.shape == two.shape == (5,)
    assert (0.47 < one).all() and (one < 0.58).all()
    assert (two < 0.02).all()


def test_trained_heads_do_not_depend_on_the_global_seed_and_leave_it_alone():
    torch.manual_seed(1)
    first, drawn = train_look_ups(MultiHeadAttention, 2, seed=3, steps=3), torch.rand(1)
    torch.manual_seed(1)
    assert torch.rand(1) == drawn
    assert (train_look_ups(MultiHeadAttention, 2, seed=3, steps=3) == first).all()


@pytest.mark.parametrize("n_heads", [1, 2, 4, 8])
def test_parameters_do_not_depend_on_heads_and_weights_grow_with_them(n_heads):
    mha, x = filled(MultiHeadAttention(16, n_heads), seed=7), normal(8, 1, 24, 16)
    assert multi_head.count_parameters(mha) == 4 * 16**2
    assert mha(x)[1].numel() == n_heads * 24**2
    assert multi_head.score_ranks(mha, x, n_heads).tolist() == [[16 // n_heads] * n_heads]


def test_one_head_folds_into_two_matrices():
    mha, x = filled(MultiHeadAttention(16, 1), seed=7).double(), normal(8, B, T, 16, dtype=torch.float64)
    W_qk = mha.W_q.weight.T @ mha.W_k.weight  # (d_model, d_model)
    W_vo = mha.W_v.weight.T @ mha.W_o.weight.T  # (d_model, d_model)
    weights = (x @ W_qk @ x.mT / math.sqrt(16)).softmax(dim=-1)  # (B, T, T)
    torch.testing.assert_close(weights @ x @ W_vo, mha(x)[0])
    assert 2 * (W_qk.numel() + W_vo.numel()) == multi_head.count_parameters(mha)


def test_mask_without_a_head_axis_lines_up_with_the_heads():
    mha = filled(MultiHeadAttention(D_MODEL, 2), seed=7)
    x, mask = normal(8, 2, T, D_MODEL), random_mask(3, 2, T, T)  # B = h = 2
    _, trapped = mha(x, mask)
    _, per_head = mha(x, mask[None])  # (1, h, T, T)
    assert torch.equal(trapped, per_head)
    assert not torch.allclose(trapped, mha(x, mask[:, None])[1])
    with pytest.raises(RuntimeError):
        mha(normal(8, 3, T, D_MODEL), random_mask(3, 3, T, T))  # B = 3, h = 2
