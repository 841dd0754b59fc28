"""The pictures of one lesson each: what they draw, and what their derived alternative texts say."""

from types import SimpleNamespace

import numpy as np
import pytest

from helpers import plots
from helpers.plots import beyond, core, cost


@pytest.fixture
def shown(monkeypatch):
    """Return the list to which (figure, alt) is added for each figure that would be shown."""
    figures = []
    for module in (core, beyond):
        monkeypatch.setattr(module, "show", lambda figure, alt: figures.append((figure, alt)))
    return figures


def texts_of(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


# Lesson 03: spread_and_rows, weight_rows


def test_histograms_share_one_scale_and_rows_are_drawn_as_they_are(shown):
    rng = np.random.default_rng(0)
    products = {4: 2 * rng.standard_normal(500), 64: 8 * rng.standard_normal(500)}
    rows = {4: [0.25, 0.75], 64: [0.0, 1.0]}
    plots.spread_and_rows(products, rows)
    ((figure, alt),) = shown
    above, below = figure.axes[:2], figure.axes[2:]
    assert above[0].get_xlim() == above[1].get_xlim()
    assert [[bar.get_height() for bar in axes.patches] for axes in below] == list(rows.values())
    assert texts_of(figure) == ["0.75", "1.00"]
    assert "at d_k = 64 the dot products have a standard deviation of 7.5" in alt and "largest of 2 weights is 0.75" in alt


def test_rows_of_weights_share_the_axis_from_0_to_1(shown):
    plots.weight_rows({"flat": [0.5, 0.5], "hard": [0.0, 1.0]})
    ((figure, alt),) = shown
    assert {axes.get_ylim() for axes in figure.axes} == {(0, 1.15)}
    assert alt == "Rows of 2 weights as bars. flat: the largest is 0.50; hard: the largest is 1.00."


def test_widths_that_differ_are_refused():
    with pytest.raises(ValueError, match=r"got \[4\] and \[16\]"):
        plots.spread_and_rows({4: [1.0]}, {16: [1.0]})
    with pytest.raises(ValueError, match="at least one row"):
        plots.weight_rows({})


# Lessons 03 and 04: spread_lines


def test_median_is_the_line_and_the_extremes_are_the_band(shown):
    runs = np.array([[1.0, 2.0, 9.0], [3.0, 5.0, 4.0]])  # (2 points, 3 seeds)
    plots.spread_lines([16, 64], {"a": {"x": runs}}, xlabel="d_k", ylabel="loss", log="xy", guides={"level": 2.5})
    ((figure, alt),) = shown
    (axes,) = figure.axes
    guide, line = axes.lines
    assert line.get_ydata().tolist() == [2.0, 4.0]
    assert set(guide.get_ydata()) == {2.5}
    corners = axes.collections[0].get_paths()[0].vertices
    assert {(16.0, 1.0), (16.0, 9.0), (64.0, 3.0), (64.0, 5.0)} <= set(map(tuple, corners))
    assert alt == "Loss against d_k from 16 to 64, median of 3 runs. a: x from 2 to 4. Dashed level level: 2.5."


def test_a_label_has_one_colour_in_all_panels_and_panels_one_scale(shown):
    flat = np.ones((3, 2))
    panels = {"a": {"x": flat, "y": 2 * flat}, "b": {"y": 40 * flat, "x": flat}}
    plots.spread_lines([1, 2, 3], panels, xlabel="step", ylabel="loss")
    ((figure, _),) = shown
    left, right = ({line.get_label(): line.get_color() for line in axes.lines} for axes in figure.axes)
    assert left == right
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()


def test_alt_text_says_where_a_curve_is_lowest(shown):
    plots.spread_lines([1, 2, 3], {"": {"x": [[5.0], [0.012], [4.0]]}}, xlabel="d_k", ylabel="loss")
    assert "x from 5 to 4, lowest 0.01 at 2." in shown[0][1]


def test_runs_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"'x' in 'a' has shape \(2,\), not \(2, seeds\)"):
        plots.spread_lines([1, 2], {"a": {"x": [1.0, 2.0]}}, xlabel="", ylabel="")
    with pytest.raises(ValueError, match="panels with curves"):
        plots.spread_lines([1, 2], {"a": {}}, xlabel="", ylabel="")


# Lesson 04: features_in_colour, head_shapes


def test_alt_text_of_features_says_whose_they_are(shown):
    codes = np.arange(8).reshape(2, 4)
    plots.features_in_colour([("x", codes), ("cut", codes.reshape(2, 2, 2))], words=("books", "old"))
    alt = shown[0][1]
    assert "x: books 0 1 2 3; old 0 1 2 3." in alt
    assert "cut, head 0: books 0 1; books 2 3. cut, head 1: old 0 1; old 2 3." in alt


def test_shapes_on_the_way_are_those_of_multi_head_attention(shown):
    from helpers.multi_head import MultiHeadAttention, merge_heads, split_heads, torch

    B, T, d_model, h = 2, 7, 12, 3  # noqa: N806
    plots.head_shapes(B=B, T=T, d_model=d_model, h=h)
    figure, alt = shown[0]
    x = torch.zeros(B, T, d_model)
    split = split_heads(x, h)
    out, weights = MultiHeadAttention(d_model, h)(x)
    between = split.transpose(1, 2)  # (B, T, h, d_k)
    expected = [x, x, between, split, weights, split, between, merge_heads(split), out]
    numbers = [text for text in texts_of(figure) if text.startswith("(2,")]
    assert numbers == [str(tuple(step.shape)) for step in expected]
    assert "softmax of Q Kᵀ / √d_k: weights (2, 3, 7, 7)" in alt


def test_heads_that_do_not_divide_d_model_are_not_drawn():
    with pytest.raises(ValueError, match="d_model=10 is not divisible by n_heads=3"):
        plots.head_shapes(B=2, T=7, d_model=10, h=3)


# Lesson 07: words_back


def test_alt_text_tells_an_even_fall_from_a_sudden_end_and_from_neither(shown):
    back = np.arange(64)
    cost.words_back(
        {
            "RNN": (5 * np.exp(-0.4 * back))[::-1],
            "CNN": np.where(back < 3, 4.5 + 0.1 * back, 0)[::-1],
            "attention": (2 + np.cos(back))[::-1],
        }
    )
    ((figure, alt),) = shown
    assert "RNN falls by about the same factor with each word, from 5 at 0 words back to 6e−11 at 63;" in alt
    assert "CNN between 4.5 and 4.7 up to 2 words back, and from 3 words back on 0, drawn at 1e−15;" in alt
    assert alt.endswith("attention stays between 1 and 3.")
    cnn = figure.axes[0].lines[1]
    assert cnn.get_ydata()[[0, 3]].tolist() == [4.5, 1e-15]


# Lesson 08: merging, tiles, by_distance, recall, costs


def test_height_of_the_bars_has_a_name(shown):
    beyond.merging([0.0, 3.0, 2.0], 2, words=["the", "books", "shelf"])
    assert shown[0][0].get_supylabel() == "exp(score − maximum)"


def test_white_is_what_is_never_computed_and_grey_what_is_hidden(shown):
    from matplotlib.colors import to_hex

    beyond.tiles(10, tile=4)
    ((figure, alt),) = shown
    area = {}
    for patch in figure.axes[0].patches:
        if patch.get_fill():
            colour = to_hex(patch.get_facecolor())
            area[colour] = area.get(colour, 0) + patch.get_width() * patch.get_height()
    assert area[to_hex(beyond.EMPTY)] == 4 * 4 + 4 * 2 + 4 * 2
    assert area[to_hex(beyond.HIDDEN)] == 6 + 6 + 1
    (key,) = figure.legends
    labels = [text.get_text() for text in key.get_texts()]
    assert labels == ["in full: 3", "with a mask: 3", "computed, then hidden", "never: 3"]
    assert [to_hex(patch.get_facecolor()) for patch in key.get_patches()][2:] == ["#dddddd", "#ffffff"]
    assert "3 on it are computed and the part above the diagonal then hidden" in alt


def test_alt_texts_of_both_tasks_have_two_decimals_and_the_chance(shown):
    beyond.by_distance({1: [1.0, 1.0, 0.996, 0.06, 0.0723, 0.05], 2: [1.0, 1.0, 1.0, 0.944, 0.941, 0.05]}, window=3)
    beyond.recall([4, 8], {"softmax, 16": [1.0, 1.0], "linear, 16": [0.9, 0.434]}, title="recall")
    (_, near), (_, pairs) = shown
    assert "layers: 1: at least 1.00 up to 2 places back, at most 0.07 beyond" in near
    assert "At the end: softmax, 16: 1.00; linear, 16: 0.43." in pairs
    assert near.endswith("Dashed, chance is 0.06.") and pairs.endswith("Dashed, chance is 0.06.")


def test_a_line_under_another_is_seen_and_the_logarithmic_y_axis_keeps_its_ticks(shown):
    names = ("naive", "linear", "linear, causal")
    values = {name: [1.0, 30.0, 200.0] for name in names}
    beyond.costs(SimpleNamespace(lengths=[1024, 2048, 4096], seconds=values, peaks=values))
    ((figure, _),) = shown
    for axes in figure.axes:
        assert [line.get_linestyle() for line in axes.lines] == ["-", "-", "--"]
        assert len(axes.yaxis.get_minorticklocs()) > 0
        assert len(axes.xaxis.get_minorticklocs()) == 0
