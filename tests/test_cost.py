"""Lesson 07's formulas and measures, against PyTorch's own counters and arithmetic; nothing here asserts seconds."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

from benchmarks import compiled_rnn
from helpers import cost, measure
from helpers.multi_head import MultiHeadAttention
from helpers.plots.cost import two_tiles

LENGTHS = [256, 512, 1024, 2048]
sizes = st.integers(1, 12)


def naive_attention(Q, K, V):
    scores = Q @ K.mT / math.sqrt(Q.shape[-1])
    weights = scores.softmax(dim=-1)
    return weights @ V


def fused_attention(Q, K, V):
    return F.scaled_dot_product_attention(Q, K, V)


def qkv(T, d_k=64):
    generator = torch.Generator().manual_seed(T)
    return tuple(torch.randn(1, 1, T, d_k, generator=generator) for _ in range(3))


def counted_flops(f, *inputs):
    with FlopCounterMode(display=False) as counter:
        f(*inputs)
    return counter.get_total_flops()


# Formulas


@pytest.mark.parametrize("shape", [(5, 7, 4, 3), (7, 7, 4, 4), (1, 512, 64, 32), (300, 1, 16, 8)])
def test_attention_flops_are_those_pytorch_counts(shape):
    T_q, T_k, d_k, d_v = shape
    counted = counted_flops(naive_attention, torch.ones(T_q, d_k), torch.ones(T_k, d_k), torch.ones(T_k, d_v))
    assert cost.attention_flops(*shape) == counted


@settings(max_examples=25, deadline=None)
@given(sizes, sizes, sizes, sizes, sizes)
def test_batch_and_heads_multiply_attention_flops(B, h, T_q, T_k, d_k):
    Q, K = torch.ones(B, h, T_q, d_k), torch.ones(B, h, T_k, d_k)
    assert counted_flops(naive_attention, Q, K, K) == B * h * cost.attention_flops(T_q, T_k, d_k, d_k)


def test_the_fused_function_computes_as_many_flops_though_the_counter_may_not_know_it():
    Q, K, V = qkv(32, d_k=8)
    with sdpa_kernel(SDPBackend.MATH):
        assert counted_flops(fused_attention, Q, K, V) == cost.attention_flops(32, 32, 8, 8)
    assert counted_flops(fused_attention, Q, K, V) in (0, cost.attention_flops(32, 32, 8, 8))


def test_the_backward_pass_costs_twice_the_forward():
    inputs = [x.requires_grad_() for x in qkv(32, d_k=8)]
    both = counted_flops(lambda *inputs: naive_attention(*inputs).sum().backward(), *inputs)
    assert both == 3 * cost.attention_flops(32, 32, 8, 8)


def whole_block(T, d_model, n_heads):
    """PyTorch's block with weights alone that cost FLOPs, and an input for it."""
    block = nn.TransformerEncoderLayer(d_model, n_heads, 4 * d_model, dropout=0.0, batch_first=True)
    return block, torch.ones(1, T, d_model, requires_grad=True)


@pytest.mark.parametrize("T, d_model, n_heads", [(5, 12, 1), (9, 8, 2), (48, 8, 4)])
def test_a_block_is_all_three_parts_and_training_costs_three_times_as_much(T, d_model, n_heads):
    block, x = whole_block(T, d_model, n_heads)
    products = cost.attention_flops(T, T, d_model, d_model)
    with sdpa_kernel(SDPBackend.MATH):  # the counter cannot see into fused kernels
        forward = counted_flops(block, x)
        training = counted_flops(lambda x: block(x).sum().backward(), x)
    assert forward == cost.projection_flops(T, d_model) + products + cost.feed_forward_flops(T, d_model)
    n_weights = sum(p.numel() for p in block.parameters() if p.ndim == 2)
    assert n_weights == 12 * d_model**2
    assert training == 3 * forward == 6 * n_weights * T + 3 * products


@pytest.mark.parametrize("d_model", [64, 768, 1000])
def test_the_products_are_half_of_the_block_at_six_times_its_width_and_a_tenth_of_berts(d_model):
    def share(T):
        products = cost.attention_flops(T, T, d_model, d_model)
        return products / (products + cost.projection_flops(T, d_model) + cost.feed_forward_flops(T, d_model))

    assert share(6 * d_model) == 0.5
    assert share(512) == pytest.approx(512 / (6 * d_model + 512))
    if d_model == 768:
        assert share(512) == pytest.approx(0.1)


@pytest.mark.parametrize("n_heads", [1, 2, 6])
@pytest.mark.parametrize("T", [1, 9])
def test_a_layer_is_its_projections_and_its_heads(T, n_heads):
    d_model, d_k = 24, 24 // n_heads
    counted = counted_flops(MultiHeadAttention(d_model, n_heads), torch.ones(1, T, d_model))
    assert counted == cost.projection_flops(T, d_model) + n_heads * cost.attention_flops(T, T, d_k, d_k)


@given(st.integers(1, 300), st.integers(1, 8))
def test_at_the_crossover_both_parts_cost_the_same_for_every_number_of_heads(d_k, h):
    d_model = h * d_k
    T = cost.crossover_length(d_model)

    def products(T):
        return h * cost.attention_flops(T, T, d_k, d_k)

    assert products(T) == cost.projection_flops(T, d_model)
    assert products(T - 1) < cost.projection_flops(T - 1, d_model)
    assert products(T + 1) > cost.projection_flops(T + 1, d_model)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_score_matrix_bytes_are_those_of_such_a_tensor(dtype):
    scores = torch.empty(3, 2, 70_000, 70_000, dtype=dtype, device="meta")
    assert cost.score_matrix_bytes(3, 2, 70_000, dtype.itemsize) == scores.nbytes


def test_score_matrix_bytes_of_a_million_words_are_exact_and_float32_unless_told():
    assert cost.score_matrix_bytes(1, 12, 1_000_000) == 48 * 10**12


# Exponents


@given(
    st.floats(-3, 3, allow_subnormal=False),
    st.floats(1e-9, 1e9),
    st.lists(st.floats(1, 1e6), min_size=2, max_size=9, unique_by=lambda size: round(math.log(size), 1)),
)
def test_an_exact_power_law_gives_its_exponent(p, c, n):
    costs = c * np.array(n) ** p
    assert cost.fit_exponent(n, costs) == pytest.approx(p, abs=1e-6)
    assert cost.local_exponents(np.sort(n), c * np.sort(n) ** p) == pytest.approx(p, abs=1e-6)


def test_the_fit_uses_all_points_and_is_least_squares():
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 100, 20)
    y = 3 * x**1.7 * np.exp(rng.normal(size=20))
    by_lstsq = np.linalg.lstsq(np.column_stack([np.log(x), np.ones(20)]), np.log(y), rcond=None)[0][0]
    fitted = cost.fit_exponent(x, y)
    assert type(fitted) is float
    assert fitted == pytest.approx(by_lstsq)
    assert cost.fit_exponent(list(1000 * x), list(1e-9 * y)) == pytest.approx(by_lstsq)


def test_local_exponents_show_where_one_law_ends():
    n = np.array([1, 2, 4, 8, 16])
    assert cost.local_exponents(n, np.maximum(16, n**2)) == pytest.approx([0, 0, 2, 2])


@pytest.mark.parametrize(
    "n, text",
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1 kB"), (2352, "2.35 kB"), (999_499, "999 kB"), (999_600, "1 MB")]
    + [(268_435_456, "268 MB"), (48 * 10**12, "48 TB"), (10**19, "1e+04 PB")],
)
def test_bytes_are_written_in_three_digits(n, text):
    assert cost.readable_bytes(n) == text


# Memory


def test_known_allocations_are_counted_to_the_byte():
    before = torch.ones(100)
    with measure.LiveBytes() as meter:
        a = torch.zeros(1000)
        assert meter.live == 4000
        view = a[10:].view(-1, 2)
        before.add_(1)
        torch.mul(before, 2, out=before)
        assert meter.live == 4000, "views and operations in place take no memory"
        del a
        assert meter.live == 4000, "the view still holds it"
        parts = torch.ones(50, dtype=torch.float64).split(10)
        assert meter.live == 4400
        del parts
        assert meter.live == 4000
        view = view + 1
        assert (meter.live, meter.peak) == (3960, 7960), "old and new at once, then the new alone"
        del view
        one = torch.ones(1)
        assert (meter.live, meter.peak) == (4, 7960)
    del one
    assert meter.live == 0, "it goes on counting what dies after the block"


@pytest.mark.filterwarnings("error")
def test_empty_tensors_share_an_address_and_do_no_harm():
    with measure.LiveBytes() as meter:
        a, b = torch.empty(0), torch.empty(0)
        del a, b
        c = torch.ones(2)
    assert meter.live == c.nbytes


def test_peak_is_that_of_tensors_alive_at_once_not_of_all_made():
    def f(x):
        for _ in range(10):
            x = x + 1
        return x

    assert measure.peak_bytes(f, torch.zeros(1000)) == 2 * 4000
    assert measure.peak_bytes(lambda x: x, torch.zeros(1000)) == 0


def profiled_peak(f, *inputs):
    """Peak of what PyTorch's allocator reports, which sees scratch space inside operations too."""
    with torch.no_grad(), measure.one_thread(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as prof:
        f(*inputs)
    events = [e for e in prof.profiler.kineto_results.events() if e.name() == "[memory]"]
    changes = np.array([e.nbytes() for e in sorted(events, key=lambda e: e.start_ns())])
    return int(changes.cumsum().max())


@pytest.mark.parametrize("T", [256, 1024])
def test_peak_agrees_with_pytorchs_profiler(T):
    assert profiled_peak(naive_attention, *qkv(T)) == pytest.approx(
        measure.peak_bytes(naive_attention, *qkv(T)), abs=100
    ), "but for the few bytes of scalars"


def test_scratch_space_of_the_fused_kernel_does_not_grow_with_length():
    scratch = [
        profiled_peak(fused_attention, *qkv(T)) - measure.peak_bytes(fused_attention, *qkv(T)) for T in (1024, 4096)
    ]
    assert scratch[0] == scratch[1]
    assert 0 <= scratch[0] < 1_000_000


def test_naive_attention_holds_two_score_matrices_and_the_output():
    for T in LENGTHS:
        assert measure.peak_bytes(naive_attention, *qkv(T)) == 2 * cost.score_matrix_bytes(1, 1, T) + 4 * T * 64


def test_memory_exponents_are_arithmetic():
    naive = [measure.peak_bytes(naive_attention, *qkv(T)) for T in LENGTHS]
    fused = [measure.peak_bytes(fused_attention, *qkv(T)) for T in LENGTHS]
    assert 1.9 < cost.fit_exponent(LENGTHS, naive) < 2.1
    assert cost.fit_exponent(LENGTHS, fused) == pytest.approx(1)


def test_without_a_batch_axis_the_fused_function_takes_the_naive_road():
    T = 512
    without = [x[0] for x in qkv(T)]
    assert measure.peak_bytes(fused_attention, *qkv(T)) < cost.score_matrix_bytes(1, 1, T)
    assert measure.peak_bytes(fused_attention, *without) > cost.score_matrix_bytes(1, 1, T)


def test_numpy_peak_counts_arrays_alive_at_once():
    def f(x):
        y = x + 1  # 8 MB
        z = y * 2  # 8 MB
        del y
        return z + 1  # 8 MB more, beside z

    assert measure.numpy_peak_bytes(f, np.zeros(10**6)) == pytest.approx(16e6, rel=1e-3)


def test_training_keeps_one_weight_a_score_and_the_fused_kernel_one_number_a_row():
    for T in LENGTHS:
        assert measure.saved_bytes(naive_attention, *qkv(T)) == cost.score_matrix_bytes(1, 1, T)
        assert measure.saved_bytes(fused_attention, *qkv(T)) == 4 * T * (64 + 1)


def test_inputs_and_parameters_are_there_anyway_and_do_not_count_as_kept():
    layer = nn.Linear(5, 3)
    assert measure.saved_bytes(layer, torch.ones(7, 5)) == 0
    assert measure.saved_bytes(nn.Sequential(layer, nn.Tanh()), torch.ones(7, 5)) == 4 * 7 * 3


# Order and reach


def test_the_longest_chain_of_operations_counts():
    x = torch.ones(3, requires_grad=True)
    assert measure.sequential_steps(x) == 0
    long, short = x, x * 2
    for _ in range(2000):
        long = long + 1
    assert measure.sequential_steps(long) == 2000
    assert measure.sequential_steps(short * long) == 2001


def rivals(d, seed):
    """The three layers of the lesson, as functions of x (T, d)."""
    generator = torch.Generator().manual_seed(seed)
    W = [torch.randn(d, d, generator=generator) / math.sqrt(d) for _ in range(5)]
    kernels = torch.randn(d, d, 3, generator=generator) / math.sqrt(3 * d)
    return {
        "RNN": lambda x: compiled_rnn.looped_rnn(x, *W[:2]),
        "CNN": lambda x: F.conv1d(F.pad(x.T, (2, 0)), kernels).T,
        "attention": lambda x: naive_attention(x @ W[2], x @ W[3], x @ W[4]),
    }


def test_flops_and_chains_of_the_rivals_are_the_formulas_of_the_table():
    d = 6
    for T in (5, 11):
        formulas = {"RNN": 4 * T * d**2, "CNN": 6 * T * d**2, "attention": 4 * T**2 * d + 6 * T * d**2}
        chains = {"RNN": 5 * T + 2, "CNN": 6, "attention": 6}
        for name, layer in rivals(d, seed=0).items():
            x = torch.zeros(T, d, requires_grad=True)
            assert counted_flops(layer, x) == formulas[name]
            assert measure.sequential_steps(layer(x)) == chains[name]


@pytest.mark.parametrize("seed", range(5))
def test_word_0_reaches_the_last_of_64_through_attention_hardly_through_the_rnn_and_not_through_the_cnn(seed):
    x = torch.randn(64, 64, generator=torch.Generator().manual_seed(seed))
    reach = {name: measure.influence(layer, x) for name, layer in rivals(64, seed).items()}
    assert reach["CNN"][0] == 0 and (reach["CNN"][-3:] > 0).all()
    assert 0 < reach["RNN"][0] < 1e-6 < 1e-3 < reach["attention"][0]


def test_the_compiled_loop_of_the_benchmark_is_the_same_rnn(tmp_path):
    in_c = compiled_rnn.compiled_rnn(tmp_path)
    if in_c is None:
        pytest.skip("no C compiler")
    generator = torch.Generator().manual_seed(0)
    x, W_x, W_h = (torch.randn(n, 64, generator=generator) / 8 for n in (9, 64, 64))
    torch.testing.assert_close(in_c(x, W_x, W_h), compiled_rnn.looped_rnn(x, W_x, W_h))


def test_two_tiles_on_paper_give_the_mean_of_all_four(capsys):
    rng = np.random.default_rng(0)
    for scores, values in ((np.log([1, 2, 4, 1]), np.array([10, 20, 30, 40])), rng.normal(size=(2, 6))):
        two_tiles(scores, values)
        weights = np.exp(scores - scores.max())
        assert f"= {weights @ values / weights.sum():.4g}." in capsys.readouterr().out


def test_an_rnn_waits_for_every_word_and_attention_for_none():
    rnn = nn.RNN(4, 4, batch_first=True)
    attention = MultiHeadAttention(4, 2)

    def steps(layer, T):
        return measure.sequential_steps(layer(torch.ones(1, T, 4))[0])

    assert steps(rnn, 30) - steps(rnn, 20) == steps(rnn, 20) - steps(rnn, 10) >= 10
    assert steps(attention, 30) == steps(attention, 10)


def test_influence_is_the_norm_of_the_jacobian_for_each_word():
    rng = torch.Generator().manual_seed(0)
    A, B = torch.randn(4, 3, generator=rng), torch.randn(4, 3, generator=rng)

    def f(x):
        last = x[-1] @ A + x[1] @ (2 * B)
        return torch.stack([torch.zeros(3), last])

    x = torch.randn(5, 4, generator=rng)
    expected = torch.tensor([0, 2 * B.norm(), 0, 0, A.norm()])
    torch.testing.assert_close(measure.influence(f, x), expected)
    assert not x.requires_grad


def test_influence_agrees_with_the_whole_jacobian_for_attention():
    x = torch.randn(6, 4, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda x: naive_attention(x, x, x)[-1], x)  # (d, T, d)
    torch.testing.assert_close(measure.influence(lambda x: naive_attention(x, x, x), x), jacobian.norm(dim=(0, 2)))


# Time: how it is taken, never how much


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
def test_timing_repeats_even_long_calls_without_gradients_on_one_thread_and_puts_threads_back():
    seen = []

    def f(x):
        seen.append((torch.is_grad_enabled(), torch.get_num_threads()))
        return x + 1

    assert isinstance(measure.median_seconds(f, torch.ones(3), at_least=0), float)
    assert seen == 3 * [(False, 1)]  # a median of one call would be no median
    assert (torch.is_grad_enabled(), torch.get_num_threads()) == (True, 2)


@pytest.mark.usefixtures("two_threads")
def test_threads_are_put_back_after_an_error():
    with pytest.raises(ZeroDivisionError), measure.one_thread():
        assert 1 / 0
    assert torch.get_num_threads() == 2


def test_a_sweep_goes_in_rounds_over_all_sizes_and_shows_progress():
    calls, jobs = [], []

    def record(f, x):
        calls.append((f, x))
        return x * len(f)

    def progress(todo):
        jobs.extend(todo)
        return todo

    results = measure.sweep(
        record, {"a": "one", "b": "three"}, lambda n: (10 * n,), [1, 2], rounds=2, progress=progress
    )
    assert calls == 2 * [("one", 10), ("three", 10), ("one", 20), ("three", 20)]
    assert len(jobs) == len(calls)
    assert {name: r.tolist() for name, r in results.items()} == {"a": 2 * [[30, 60]], "b": 2 * [[50, 100]]}
