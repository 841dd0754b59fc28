"""Lesson 05's masks against PyTorch, closed forms and properties; and what the lesson says of PyTorch, proved."""

import math
import os

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from helpers import mask_tasks, masks
from helpers.multi_head import MultiHeadAttention

quick = settings(deadline=None, max_examples=40, derandomize=True)
lengths = st.integers(1, 9)
seeds = st.integers(0, 10_000)


def normal(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def random_mask(*shape, seed=0):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) < 0.5


# The road to the causal mask


@quick
@given(T=lengths, d=st.integers(1, 4), seed=seeds)
def test_prefix_mean_is_the_running_mean(T, d, seed):
    x = normal(T, d, seed=seed)
    counts = torch.arange(1, T + 1, dtype=x.dtype)[:, None]
    torch.testing.assert_close(masks.prefix_mean(x), x.cumsum(dim=0) / counts)


@quick
@given(T=lengths, t=lengths, seed=seeds)
def test_prefix_mean_of_a_shorter_sequence_is_the_beginning_of_the_longer_one(T, t, seed):
    x = normal(T, 3, seed=seed)
    torch.testing.assert_close(masks.prefix_mean(x[:t]), masks.prefix_mean(x)[:t])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_prefix_mean_keeps_the_dtype(dtype):
    assert masks.prefix_mean(normal(5, 2, dtype=dtype)).dtype == dtype


@quick
@given(T=lengths)
def test_attention_without_scores_is_the_prefix_mean(T):
    x = normal(T, 3)
    scores = torch.zeros(T, T, dtype=x.dtype).masked_fill(~masks.causal_mask(T), -torch.inf)
    torch.testing.assert_close(scores.softmax(dim=-1) @ x, masks.prefix_mean(x))


@quick
@given(T=lengths)
def test_causal_mask_allows_what_pytorch_does_not_set_to_minus_infinity(T):
    theirs = nn.Transformer.generate_square_subsequent_mask(T)
    assert masks.causal_mask(T).dtype == torch.bool
    assert torch.equal(masks.causal_mask(T), theirs == 0)


def test_causal_mask_gives_pytorchs_is_causal():
    Q, K, V = (normal(2, 3, 5, 4, seed=i) for i in range(3))
    ours = masks.masked_softmax(Q @ K.mT / 2, masks.causal_mask(5)) @ V
    torch.testing.assert_close(ours, F.scaled_dot_product_attention(Q, K, V, is_causal=True))


# The leak test


def depends_on_a_later_word(attend, x):
    """The same question put to autograd: is any derivative of output t by input s > t not zero?"""
    state = torch.get_rng_state()

    def repeatable(x):
        torch.set_rng_state(state)
        return attend(x)

    jacobian = torch.autograd.functional.jacobian(repeatable, x)  # (T, d, T, d)
    size = jacobian.abs().amax(dim=(1, 3))  # (T, T)
    return bool((size.triu(diagonal=1) > 1e-12).any())


@pytest.mark.parametrize("attend", mask_tasks.HONEST, ids=lambda f: f.__name__)
def test_honest_attention_is_not_accused(attend):
    for seed in range(10):
        assert masks.leaks_future(attend, normal(7, 4, seed=seed)) is False


@pytest.mark.parametrize("attend", mask_tasks.LEAKING, ids=lambda f: f.__name__)
def test_leaking_attention_is_found_out(attend):
    for seed in range(10):
        assert masks.leaks_future(attend, normal(7, 4, seed=seed)) is True


@pytest.mark.parametrize("attend", [*mask_tasks.HONEST, *mask_tasks.LEAKING], ids=lambda f: f.__name__)
def test_autograd_gives_the_same_verdict(attend):
    assert depends_on_a_later_word(attend, normal(7, 4)) == (attend in mask_tasks.LEAKING)


@pytest.mark.parametrize("attend", mask_tasks.LEAKING_WITHOUT_GRADIENT, ids=lambda f: f.__name__)
def test_leak_that_no_derivative_shows_is_found_out_by_changes(attend):
    for seed in range(10):
        assert masks.leaks_future(attend, normal(7, 4, seed=seed)) is True
    assert not depends_on_a_later_word(attend, normal(7, 4))
    assert attend.__doc__.startswith("Leaks")


@pytest.mark.parametrize("attend", [*mask_tasks.HONEST, *mask_tasks.LEAKING], ids=lambda f: f.__name__)
def test_docstrings_say_which_functions_leak(attend):
    assert attend.__doc__.startswith("Leaks") == (attend in mask_tasks.LEAKING)


def test_leak_test_leaves_its_input_alone():
    x = normal(7, 4)
    masks.leaks_future(mask_tasks.attend_causal, x)
    assert torch.equal(x, normal(7, 4))


def test_one_word_has_no_future_to_leak():
    assert masks.leaks_future(mask_tasks.attend_without_mask, normal(1, 4)) is False


def test_rounding_of_an_honest_function_is_real_and_forgiven():
    def honest(x):  # adds what comes from all words and takes it away again, which leaves rounding on any processor
        return x + x.sum() - x.sum()

    x, changed = normal(7, 4), normal(7, 4)
    changed[3:] += 1.0
    before, after = honest(x)[:3], honest(changed)[:3]
    assert not torch.equal(before, after)
    torch.testing.assert_close(before, after)
    assert not masks.leaks_future(honest, x) and not masks.leaks_future(mask_tasks.attend_renormalised, x)


def test_batch_norm_leaks_in_training_only_and_layer_norm_never():
    x = normal(7, 4)
    batch = mask_tasks.CausalBlock(nn.BatchNorm1d(4), dropout=0.5).double()
    layer = mask_tasks.CausalBlock(nn.LayerNorm(4), dropout=0.5).double()
    assert [masks.leaks_future(batch.train(), x), masks.leaks_future(batch.eval(), x)] == [True, False]
    assert [masks.leaks_future(layer.train(), x), masks.leaks_future(layer.eval(), x)] == [False, False]


@pytest.mark.parametrize("training", [True, False])
def test_lesson_04s_module_is_honest_with_a_causal_mask_and_not_without(training):
    x = normal(7, 4, dtype=torch.float32)
    mha = MultiHeadAttention(4, 2, dropout=0.3).train(training)
    causal = masks.causal_mask(7)
    assert not masks.leaks_future(lambda x: mha(x[None], causal)[0][0], x)
    assert masks.leaks_future(lambda x: mha(x[None])[0][0], x)


def test_pytorchs_own_layer_is_honest_with_its_own_mask():
    layer = nn.TransformerEncoderLayer(4, 2, dim_feedforward=8, dropout=0.0, batch_first=True).double()
    blocked = nn.Transformer.generate_square_subsequent_mask(7, dtype=torch.float64)
    assert not masks.leaks_future(lambda x: layer(x[None], src_mask=blocked)[0], normal(7, 4))
    assert masks.leaks_future(lambda x: layer(x[None])[0], normal(7, 4))


def test_masking_after_the_softmax_leaves_the_future_in_the_denominator():
    x, changed = normal(7, 4), normal(7, 4)
    changed[-1] *= 3.0
    rows = []
    for words in (x, changed):
        weights = torch.softmax(words @ words.T / 2, dim=-1) * masks.causal_mask(7)
        rows.append(weights[0, 0])
        assert weights[0, 0] < 1
    assert abs(rows[0] - rows[1]) > 1e-3


# Training: all predictions in one pass


@quick
@given(T=lengths, seed=seeds)
def test_one_masked_pass_equals_a_pass_for_each_prefix(T, seed):
    x = normal(T, 4, seed=seed)
    one_by_one = torch.stack([mask_tasks.attend_without_mask(x[: t + 1])[-1] for t in range(T)])
    torch.testing.assert_close(mask_tasks.attend_causal(x), one_by_one)


def test_in_two_layers_each_prefix_must_be_masked_too():
    x = normal(7, 4)
    masked_pass = mask_tasks.attend_causal(mask_tasks.attend_causal(x))
    masked = torch.stack([mask_tasks.attend_causal(mask_tasks.attend_causal(x[: t + 1]))[-1] for t in range(7)])
    unmasked = torch.stack(
        [mask_tasks.attend_without_mask(mask_tasks.attend_without_mask(x[: t + 1]))[-1] for t in range(7)]
    )
    torch.testing.assert_close(masked_pass, masked)
    assert (masked_pass - unmasked).abs().max() > 0.01


def mask_before(scores):
    return masks.masked_softmax(scores, masks.causal_mask(scores.shape[-1]))


def mask_after(scores):
    return scores.softmax(dim=-1) * masks.causal_mask(scores.shape[-1])


def see_one_ahead(scores):
    return masks.masked_softmax(scores, torch.ones(scores.shape[-2:], dtype=torch.bool).tril(diagonal=1))


COINS = [(5e-3, 400, seed) for seed in range(5)] + [(1.5e-2, 400, 0)]  # rate, steps, seed: the lesson's, and a larger rate
if "ATTENTION_COURSE_CLAIMS" in os.environ:
    COINS += [(1.5e-2, 400, 1), (1.5e-2, 400, 2), *((1.7e-3, 1200, seed) for seed in range(3))]


@pytest.mark.parametrize(("rate", "n_steps", "seed"), COINS)
def test_only_a_leak_can_guess_a_fair_coin_and_only_in_training(rate, n_steps, seed):
    chance = math.log(2)
    for weigh, peeks in ((mask_before, False), (mask_after, True), (see_one_ahead, True)):
        generator = torch.Generator().manual_seed(seed)
        model, losses = mask_tasks.train_on_coin_tosses(weigh, generator, n_steps, rate=rate)
        in_training, in_use = sum(losses[-20:]) / 20, mask_tasks.loss_in_use(model, generator)
        if peeks:
            assert chance / 8 - 0.01 < in_training < 0.3  # the last toss of eight has no successor to be seen
            assert in_use > 1.2
        else:
            assert abs(in_training - chance) < 0.02
            assert abs(in_use - chance) < 0.02


# Padding


def test_padding_mask_hides_padding_wherever_it_stands():
    tokens = torch.tensor([[4, 1, 9, 7, 7], [7, 7, 1, 2, 3], [5, 7, 6, 0, 7]])
    mask = masks.padding_mask(tokens, pad_id=7)
    assert mask.shape == (3, 1, 1, 5)
    assert mask.dtype == torch.bool
    assert mask[:, 0, 0].tolist() == [[token != 7 for token in row] for row in tokens.tolist()]


@quick
@given(seed=seeds, size=st.floats(-1e6, 1e6, allow_subnormal=False))
def test_real_words_do_not_feel_what_padding_contains(seed, size):
    tokens = torch.tensor([[3, 1, 4, 0, 0], [1, 5, 0, 0, 0], [9, 2, 6, 5, 3]])
    mask, words = masks.padding_mask(tokens, pad_id=0), tokens != 0
    mha = MultiHeadAttention(8, 2).double()
    x = normal(3, 5, 8, seed=seed)
    changed = x.masked_fill(~words[..., None], size)
    torch.testing.assert_close(mha(changed, mask)[0][words], mha(x, mask)[0][words])


def test_padding_of_nan_is_felt_because_zero_times_nan_is_nan():
    x, mask = normal(3, 4), torch.tensor([True, True, False])
    poisoned = x.clone()
    poisoned[2] = torch.nan
    weights = masks.masked_softmax(torch.zeros(3, 3, dtype=x.dtype), mask)
    assert (weights @ poisoned).isnan().all()


def test_padding_mask_is_the_opposite_of_pytorchs_key_padding_mask():
    tokens = torch.tensor([[3, 1, 4, 0, 0], [1, 5, 2, 6, 0]])
    x, mha = normal(2, 5, 8), nn.MultiheadAttention(8, 2, bias=False, batch_first=True).double()
    theirs, _ = mha(x, x, x, key_padding_mask=tokens == 0)
    blocked = ~masks.padding_mask(tokens, 0).expand(2, 2, 5, 5).flatten(0, 1)  # (B * h, T, T)
    torch.testing.assert_close(mha(x, x, x, attn_mask=blocked)[0], theirs)


def test_combined_mask_allows_what_both_allow():
    tokens = torch.tensor([[3, 1, 4, 0, 0], [0, 0, 2, 6, 8], [1, 1, 1, 1, 1]])
    both = masks.combine_masks(masks.padding_mask(tokens, 0), masks.causal_mask(5))
    assert both.shape == (3, 1, 5, 5)
    for b in range(3):
        for i in range(5):
            for j in range(5):
                assert both[b, 0, i, j] == (j <= i and tokens[b, j] != 0)


def test_padding_in_front_leaves_rows_with_nothing_to_attend_to():
    both = masks.combine_masks(masks.padding_mask(torch.tensor([[0, 0, 5]]), 0), masks.causal_mask(3))
    assert both.any(dim=-1).flatten().tolist() == [False, False, True]


# Rows with nothing to attend to


@quick
@given(seed=seeds, T_q=lengths, T_k=lengths, size=st.sampled_from([1.0, 1e4]))
def test_masked_softmax_agrees_with_pytorchs_attention(seed, T_q, T_k, size):
    Q, K, mask = (
        size * normal(2, 3, T_q, 4, seed=seed),
        normal(2, 3, T_k, 4, seed=seed + 1),
        random_mask(2, 1, T_q, T_k, seed=seed),
    )
    theirs = F.scaled_dot_product_attention(Q, K, torch.eye(T_k, dtype=Q.dtype).expand(2, 3, T_k, T_k), attn_mask=mask)
    torch.testing.assert_close(masks.masked_softmax(Q @ K.mT / 2, mask), theirs)


@quick
@given(seed=seeds, dtype=st.sampled_from([torch.float16, torch.bfloat16, torch.float32, torch.float64]))
def test_rows_sum_to_one_or_are_zero_in_every_precision(seed, dtype):
    scores, mask = normal(3, 5, 7, seed=seed).to(dtype), random_mask(3, 5, 7, seed=seed)
    mask[0, 2] = False
    weights = masks.masked_softmax(scores, mask)
    assert weights.dtype == dtype
    assert (weights[~mask] == 0).all()
    torch.testing.assert_close(weights.double().sum(-1), mask.any(-1).double(), atol=2e-2, rtol=0)


@pytest.mark.parametrize("shape", [(7,), (5, 7), (1, 7), (5, 1), (1, 1, 7), (3, 1, 7), (3, 5, 7)])
def test_masked_softmax_takes_every_mask_that_broadcasts(shape):
    scores, mask = normal(3, 5, 7), random_mask(*shape, seed=1)
    whole = masks.masked_softmax(scores, mask.expand(3, 5, 7))
    torch.testing.assert_close(masks.masked_softmax(scores, mask), whole)


def test_masked_softmax_is_pytorchs_where_everything_is_allowed():
    scores = normal(3, 5, 7)
    torch.testing.assert_close(masks.masked_softmax(scores, torch.ones(5, 7, dtype=torch.bool)), scores.softmax(-1))


def test_masked_softmax_leaves_its_inputs_alone():
    scores, mask = normal(5, 7), random_mask(5, 7)
    masks.masked_softmax(scores, mask)
    assert torch.equal(scores, normal(5, 7))
    assert torch.equal(mask, random_mask(5, 7))


def test_gradients_of_masked_softmax_are_right_and_zero_for_hidden_keys():
    scores, mask = normal(2, 4, 5).requires_grad_(), random_mask(2, 4, 5)
    mask[1, 2] = False
    assert torch.autograd.gradcheck(lambda s: masks.masked_softmax(s, mask), scores)
    (masks.masked_softmax(scores, mask) * normal(2, 4, 5, seed=3)).sum().backward()
    assert (scores.grad[~mask] == 0).all()


@pytest.mark.filterwarnings("ignore:Anomaly Detection:UserWarning")
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_no_step_of_the_backward_pass_meets_nan(dtype):
    scores, mask = normal(4, 5, dtype=torch.float64).to(dtype).requires_grad_(), random_mask(4, 5)
    mask[2] = False
    with torch.autograd.detect_anomaly(check_nan=True):
        (masks.masked_softmax(scores, mask) @ normal(5, 3).to(dtype)).sum().backward()
    assert scores.grad.isfinite().all()


def test_a_big_negative_number_spreads_an_empty_row_evenly():
    scores, nothing = normal(1, 5, dtype=torch.float32), torch.zeros(1, 5, dtype=torch.bool)
    torch.testing.assert_close(scores.masked_fill(~nothing, -1e9).softmax(-1), torch.full((1, 5), 0.2))
    torch.testing.assert_close((scores + -1e9 * ~nothing).softmax(-1), torch.full((1, 5), 0.2))


def test_added_to_float64_scores_a_big_negative_number_does_not_hide_an_empty_row_at_all():
    scores = normal(1, 5)
    torch.testing.assert_close((scores - 1e9).softmax(-1), scores.softmax(-1), atol=1e-6, rtol=0)


def test_two_added_masks_of_the_smallest_number_overflow_to_minus_infinity():
    smallest = torch.finfo(torch.float32).min
    assert torch.zeros(3).add(smallest).add(smallest).softmax(-1).isnan().all()
    torch.testing.assert_close(torch.zeros(3).add(smallest).softmax(-1), torch.full((3,), 1 / 3))


def test_minus_infinity_makes_an_empty_row_nan():
    assert torch.full((5,), -torch.inf).softmax(-1).isnan().all()


def test_half_precision_cannot_hold_a_thousand_million():
    with pytest.raises(RuntimeError, match="cannot be converted"):
        torch.zeros(3, dtype=torch.float16).masked_fill(torch.tensor([True, False, True]), -1e9)
    assert torch.tensor(-1e9, dtype=torch.float16) == -torch.inf
    assert torch.finfo(torch.float16).min == -65504
    assert torch.zeros(1, dtype=torch.bfloat16).masked_fill(torch.tensor([True]), -1e9).isfinite()


def gradient(function, mask):
    scores = normal(*mask.shape).requires_grad_()
    weights = function(scores)
    (weights * normal(*mask.shape, seed=1)).sum().backward()
    return weights.detach(), scores.grad


def test_right_weights_can_have_nan_gradients():
    mask = torch.tensor([[True, True, False], [False, False, False]])
    bias = torch.zeros(2, 3, dtype=torch.float64).masked_fill(~mask, -torch.inf)

    def added(scores):
        return torch.nan_to_num((scores + bias).softmax(-1))

    def divided(scores):
        exps = torch.exp(scores) * mask
        total = exps.sum(-1, keepdim=True)
        return torch.where(total > 0, exps / total, 0.0)

    for function in (added, divided):
        weights, slope = gradient(function, mask)
        torch.testing.assert_close(weights, masks.masked_softmax(normal(2, 3), mask))
        assert slope[1].isnan().all()


@pytest.mark.filterwarnings("ignore::UserWarning")  # detect_anomaly warns that it is on, and shows where
def test_nan_to_num_after_masked_fill_has_finite_gradients_but_nan_on_the_way():
    mask = torch.tensor([[True, True, False], [False, False, False]])

    def filled(scores):
        return torch.nan_to_num(scores.masked_fill(~mask, -torch.inf).softmax(-1))

    assert gradient(filled, mask)[1].isfinite().all()
    with torch.autograd.detect_anomaly(check_nan=True), pytest.raises(RuntimeError, match="nan values"):
        gradient(filled, mask)


def test_pytorchs_attention_gives_an_empty_row_zeros_and_finite_gradients():
    Q, K, V = (normal(1, 1, T, 4, seed=T).requires_grad_() for T in (2, 3, 3))
    out = F.scaled_dot_product_attention(Q, K, V, attn_mask=torch.tensor([[True, True, False], [False, False, False]]))
    out.sum().backward()
    assert (out[0, 0, 1] == 0).all()
    assert all(x.grad.isfinite().all() for x in (Q, K, V))


def test_pytorchs_module_gives_nan_or_zeros_depending_on_whether_weights_are_asked_for():
    x, mha = normal(1, 3, 4), nn.MultiheadAttention(4, 2, bias=False, batch_first=True).double()
    everything = torch.ones(1, 3, dtype=torch.bool)
    assert mha(x, x, x, key_padding_mask=everything, need_weights=True)[0].isnan().all()
    assert (mha(x, x, x, key_padding_mask=everything, need_weights=False)[0] == 0).all()


def test_pytorchs_module_with_bias_gives_nan_both_ways_in_eval_mode_without_gradients():
    mha = nn.MultiheadAttention(4, 2, batch_first=True).double()
    nn.init.normal_(mha.in_proj_bias), nn.init.normal_(mha.out_proj.bias)
    x, everything = normal(1, 3, 4), torch.ones(1, 3, dtype=torch.bool)
    outs = {}
    for training in (True, False):
        for need in (True, False):
            with torch.set_grad_enabled(training):
                out = mha.train(training)(x, x, x, key_padding_mask=everything, need_weights=need)[0]
            outs[training, need] = out
    assert outs[True, True].isnan().all()
    torch.testing.assert_close(outs[True, False], mha.out_proj.bias.expand(1, 3, 4))
    assert outs[False, True].isnan().all() and outs[False, False].isnan().all()


# Cross-attention


def torch_twin(cross):
    """PyTorch's module with the weights of ours."""
    d_model = cross.W_q.weight.shape[0]
    mha = nn.MultiheadAttention(d_model, cross.n_heads, bias=False, batch_first=True).to(cross.W_q.weight.dtype)
    with torch.no_grad():
        mha.in_proj_weight.copy_(torch.cat([cross.W_q.weight, cross.W_k.weight, cross.W_v.weight]))
        mha.out_proj.weight.copy_(cross.W_o.weight)
    return mha


@pytest.mark.parametrize("n_heads", [1, 2, 3])
def test_cross_attention_agrees_with_pytorchs_module(n_heads):
    cross = masks.CrossAttention(6, n_heads).double()
    x, memory = normal(3, 5, 6), normal(3, 7, 6, seed=1)
    tokens = torch.tensor([[1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 0, 0, 0, 0], [0, 0, 1, 2, 3, 4, 0]])
    theirs = torch_twin(cross)(x, memory, memory, key_padding_mask=tokens == 0, average_attn_weights=False)
    torch.testing.assert_close(cross(x, memory, masks.padding_mask(tokens, 0)), theirs)
    torch.testing.assert_close(cross(x, memory), torch_twin(cross)(x, memory, memory, average_attn_weights=False))


def test_cross_attention_to_itself_is_self_attention():
    cross, x = masks.CrossAttention(6, 2).double(), normal(2, 5, 6)
    mha = MultiHeadAttention(6, 2).double()
    mha.load_state_dict(cross.state_dict())
    torch.testing.assert_close(cross(x, x, masks.causal_mask(5)), mha(x, masks.causal_mask(5)))


def test_a_memory_that_is_all_padding_gives_zeros_and_finite_gradients():
    cross, x, memory = (
        masks.CrossAttention(6, 2),
        normal(2, 5, 6, dtype=torch.float32),
        normal(2, 3, 6, dtype=torch.float32),
    )
    mask = torch.tensor([[True, True, False], [False, False, False]])[:, None, None, :]
    out, weights = cross(x, memory, mask)
    out.square().sum().backward()
    assert (out[1] == 0).all()
    assert (weights[1] == 0).all()
    assert all(parameter.grad.isfinite().all() for parameter in cross.parameters())


def test_cross_attention_names_the_sizes_that_do_not_fit():
    with pytest.raises(ValueError, match="d_model=10 is not divisible by n_heads=3"):
        masks.CrossAttention(10, 3)


# The table of conventions


def test_is_causal_aligns_the_triangle_at_the_top_left():
    Q, K, V = torch.zeros(1, 1, 2, 4), torch.zeros(1, 1, 5, 4), torch.eye(5)[None, None]
    weights = F.scaled_dot_product_attention(Q, K, V, is_causal=True)[0, 0]
    assert torch.equal(weights > 0, torch.ones(2, 5, dtype=torch.bool).tril())
    cached = torch.ones(2, 5, dtype=torch.bool).tril(diagonal=5 - 2)
    weights = F.scaled_dot_product_attention(Q, K, V, attn_mask=cached)[0, 0]
    assert (weights > 0).sum(-1).tolist() == [4, 5]


def test_is_causal_alone_masks_nothing_in_pytorchs_layer_in_use():
    layer = nn.TransformerEncoderLayer(4, 2, dim_feedforward=8, dropout=0.0, batch_first=True).eval()
    blocked, x = nn.Transformer.generate_square_subsequent_mask(7), normal(7, 4, dtype=torch.float32)
    with torch.no_grad():
        assert masks.leaks_future(lambda x: layer(x[None], is_causal=True)[0], x)
        assert not masks.leaks_future(lambda x: layer(x[None], src_mask=blocked, is_causal=True)[0], x)


@pytest.mark.parametrize("seed", range(5))
def test_each_of_the_three_attentions_of_a_translator_has_its_own_mask(seed):
    torch.manual_seed(seed)
    cross = masks.CrossAttention(8, 2).double()
    source_tokens, target_tokens = torch.tensor([[1, 2, 3, 4, 0, 0]]), torch.tensor([[5, 6, 7, 8, 9, 0, 0]])
    source, target = normal(1, 6, 8, seed=seed), normal(1, 7, 8, seed=seed + 50)
    of_source, of_target = masks.padding_mask(source_tokens, 0), masks.padding_mask(target_tokens, 0)
    masked = masks.combine_masks(of_target, masks.causal_mask(7))
    assert masks.leaks_future(lambda x: cross(x[None], x[None], of_source)[0][0], source[0])
    assert not masks.leaks_future(lambda x: cross(x[None], x[None], masked)[0][0], target[0])
    assert not masks.leaks_future(lambda x: cross(x[None], source, of_source)[0][0], target[0])
    filled = source.masked_fill((source_tokens == 0)[..., None], 1000.0)
    torch.testing.assert_close(cross(target, filled, of_source), cross(target, source, of_source))


def test_one_mask_in_every_convention():
    B, h, T, d_k = 2, 2, 5, 3
    tokens = torch.tensor([[3, 1, 4, 0, 0], [1, 5, 2, 6, 0]])
    mask = masks.combine_masks(masks.padding_mask(tokens, 0), masks.causal_mask(T))
    Q, K, V = (normal(B, h, T, d_k, seed=i, dtype=torch.float32) for i in range(3))
    scores = Q @ K.mT / math.sqrt(d_k)
    ours = masks.masked_softmax(scores, mask) @ V
    added = torch.zeros(B, 1, T, T).masked_fill(~mask, -torch.inf)
    attention_mask = (tokens != 0).long()
    extended = (1 - attention_mask[:, None, None, :]) * torch.finfo(torch.float32).min
    close = torch.testing.assert_close
    close(F.scaled_dot_product_attention(Q, K, V, attn_mask=mask), ours)
    close(F.scaled_dot_product_attention(Q, K, V, attn_mask=added), ours)
    close((scores + added).softmax(-1) @ V, ours)
    close((scores + extended).masked_fill(~masks.causal_mask(T), -torch.inf).softmax(-1) @ V, ours)
    mha, x = nn.MultiheadAttention(6, h, bias=False, batch_first=True), normal(B, T, 6, dtype=torch.float32)
    in_one = mha(x, x, x, attn_mask=~mask.expand(B, h, T, T).flatten(0, 1))[0]
    close(mha(x, x, x, attn_mask=~masks.causal_mask(T), key_padding_mask=tokens == 0)[0], in_one)
    close(mha(x, x, x, attn_mask=added.expand(B, h, T, T).flatten(0, 1))[0], in_one)
