"""The pictures of one lesson each: what they draw, and what their derived alternative texts say."""

import numpy as np
import pytest

from helpers import plots
from helpers.plots import core


@pytest.fixture
def shown(monkeypatch):
    """Return the list to which (figure, alt) is added for each figure that would be shown."""
    figures = []
    monkeypatch.setattr(core, "show", lambda figure, alt: figures.append((figure, alt)))
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
