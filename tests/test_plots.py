"""Figures: what a reader sees, what a screen reader reads, and what must stay as it was."""

import base64
import html
import io
import re
import subprocess
import sys

import IPython.display
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from helpers import plots
from helpers.plots import charts, core, describe
from helpers.query_key_value import words

plt.switch_backend("agg")  # before any test pretends to be in a notebook: pyplot would hook into it

WORDS = "the books on the shelf are old".split()
WEIGHTS = np.random.default_rng(0).dirichlet(np.ones(7), size=7)  # (7, 7), rows sum to 1
SCORES = np.random.default_rng(1).normal(size=(7, 7))

FIGURES = {
    "weights": lambda alt: plots.heatmap(WEIGHTS, alt=alt, rows=WORDS, columns=WORDS, title="Who looks at whom"),
    "signed": lambda alt: plots.heatmap(SCORES, alt=alt, rows=WORDS, columns=WORDS, kind="signed"),
    "mask": lambda alt: plots.heatmap(np.tri(7, dtype=bool), alt=alt, rows=WORDS, columns=WORDS, kind="mask"),
    "plain": lambda alt: plots.heatmap([[1, 20], [300, 4]], alt=alt, kind="plain"),
    "large": lambda alt: plots.heatmap(np.random.default_rng(2).dirichlet(np.ones(128), size=128), alt=alt),
    "four panels": lambda alt: plots.heatmaps([(str(i), WEIGHTS[i:, :]) for i in range(4)], alt=alt, columns=WORDS),
    "arrows": lambda alt: plots.arrows({"query": (2, 1), "cat": (1.9, 1.2), "nothing": (0, 0)}, alt=alt),
    "lines": lambda alt: plots.lines(
        [1, 2, 4, 8], {"measured": [1, 1.5, 2, 3]}, alt=alt, xlabel="d_k", ylabel="spread", log="xy", guides={"one": 1}
    ),
    "peaks": lambda alt: plots.lines(
        [1, 2, 4, 8], {"a": [1, 9, 2, 3], "b": [0, 1, 2, 8]}, alt=alt, xlabel="x", ylabel="y", label_at="peak"
    ),
    "bars": lambda alt: plots.bars(["a", "b"], {"x": [1, 2], "y": [0.5, 3]}, alt=alt, ylabel="loss"),
    "flow": lambda alt: plots.attention_flow(T=7, d_model=4, d_k=2, d_v=3, alt=alt),
}


@pytest.fixture
def shown(monkeypatch):
    """Pretend to be in a notebook; return the list to which each displayed bundle is added."""
    bundles = []

    def display(bundle, raw):
        assert raw
        bundles.append(bundle)

    monkeypatch.setattr(IPython, "get_ipython", object)
    monkeypatch.setattr(IPython.display, "display", display)
    return bundles


@pytest.fixture
def drawn(monkeypatch):
    """Return the list to which each figure is added that would be shown."""
    figures = []
    monkeypatch.setattr(core, "show", lambda figure, alt: figures.append(figure))
    return figures


def png_of(bundle):
    return base64.b64decode(re.search(r'base64,([^"]+)"', bundle["text/html"])[1])


def texts_in(axes):
    return [text.get_text() for text in axes.texts]


# Every figure


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_too_big_or_unread_by_screen_readers(shown, name):
    FIGURES[name]("Row *are* looks at *books*.")
    (bundle,) = shown
    assert bundle["text/plain"] == "Row *are* looks at *books*."
    assert bundle["text/html"].startswith('<img alt="Row *are* looks at *books*." width="')
    assert len(png_of(bundle)) < 60_000


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_leaves_open_figures_or_changed_settings_behind(shown, name):
    learners = plt.figure()
    before = {key: mpl.rcParams[key] for key in mpl.rcParams if key != "backend"}
    try:
        FIGURES[name]("A figure.")
        assert plt.get_fignums() == [learners.number]
        assert plt.gcf() is learners
        assert {key: mpl.rcParams[key] for key in before} == before
    finally:
        plt.close(learners)


@pytest.mark.parametrize("name", ["weights", "arrows", "lines", "bars"])
def test_a_figure_differs_from_one_run_to_the_next_or_tells_the_date(shown, name):
    FIGURES[name]("A figure.")
    FIGURES[name]("A figure.")
    assert shown[0] == shown[1]
    assert Image.open(io.BytesIO(png_of(shown[0]))).info == {}


def test_the_learners_own_settings_change_the_look_of_a_figure(shown):
    FIGURES["lines"]("A figure.")
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "black", "savefig.bbox": "tight"}):
        FIGURES["lines"]("A figure.")
    assert shown[0] == shown[1]


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("alt", ["", "  \n "])
def test_a_figure_without_alt_text_is_shown(shown, name, alt):
    with pytest.raises(ValueError, match="alt must say"):
        FIGURES[name](alt)
    assert not shown


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_with_no_alt_text_of_its_own_is_left_undescribed(shown, name):
    FIGURES[name](None)
    alt = shown[0]["text/plain"]
    assert 20 < len(alt) < 2000 and alt.endswith(".") and "  " not in alt and "None" not in alt


# The derived alternative texts


def told(shown):
    return shown[-1]["text/plain"]


def test_words_for_weights_do_not_say_who_looks_at_whom(shown):
    plots.heatmap([[0.0, 0.97, 0.03], [0.2, 0.2, 0.6], [0.0, 0.97, 0.03]], rows=["are", "the", "old"], columns=["the", "books", "are"])
    assert told(shown) == (
        "Weights, 3 rows by 3 columns: are and old: the 0.00, books 0.97, are 0.03; the: are 0.60, the rest 0.20."
    )


def test_words_for_a_signed_matrix_call_its_zeros_anything_but_the_rest(shown):
    plots.heatmap([[1, 0, 0, 1], [0, 0, 0, 0]], rows=["books", "on"], columns=["noun", "verb", "adjective", "number"], kind="signed", title="X")
    assert told(shown) == "X, 2 rows by 4 columns: books: noun 1, number 1, the rest 0; on: 0 everywhere."


def test_words_for_masks_name_numbers_where_words_are_known(shown):
    plots.heatmap(np.tri(7, dtype=bool), rows=words, columns=words, kind="mask", title="mask")
    assert told(shown) == "Mask, 7 rows by 7 columns: each row may look at its own column and at those before it."
    plots.heatmap([[True, False], [False, False]], rows=["are", "old"], columns=["books", "shelf"], kind="mask")
    assert told(shown) == "Mask, 2 rows by 2 columns: are may look at books; old may look at nothing."


def test_words_for_several_matrices_leave_one_out(shown):
    plots.heatmaps([("right", [[0.0, 1.0]]), ("wrong", [[0.5, 0.5]])], rows=["are"], columns=["books", "shelf"])
    assert told(shown) == "2 matrices, 1 row by 2 columns. Right: are: books 0, shelf 1. Wrong: are: 0.50 everywhere."


def test_words_for_a_large_matrix_list_every_number(shown):
    FIGURES["large"](None)
    assert len(told(shown)) < 200 and "128 rows by 128 columns" in told(shown)


def test_words_for_a_large_matrix_miss_what_the_eye_sees_along_diagonals(shown):
    offsets = np.arange(16.0)[:, None] - np.arange(16.0)
    plots.heatmap(-np.abs(offsets), kind="signed")
    assert told(shown).endswith("values from −15 to 0, the same all along each diagonal and largest on the middle one.")
    plots.heatmap(offsets, kind="signed")
    assert told(shown).endswith("values from −15 to 15, the same all along each diagonal.")
    offsets[3, 3] = 1
    plots.heatmap(offsets, kind="signed")
    assert told(shown).endswith("values from −15 to 15.")


def test_words_for_curves_leave_out_scale_ends_or_peak(shown):
    plots.lines([1, 10, 100], {"loss": [0.5, 2, 0.001]}, xlabel="steps", ylabel="loss of a run", log="x", guides={"chance": 1.0})
    assert told(shown) == (
        "Loss of a run against steps (the horizontal axis logarithmic): loss from 0.5 at 1 to 0.001 at 100, "
        "highest 2 at 10; dashed, chance is 1."
    )


def test_words_for_bars_and_arrows_leave_a_number_out(shown):
    plots.bars(["books", "shelf"], {"weight": [0.75, 0.25]}, ylabel="weight")
    assert told(shown) == "Bars of weight: books 0.75, shelf 0.25."
    plots.arrows({"query": (1, 0.2), "shelf": (1, -1)}, xlabel="noun", ylabel="number")
    assert told(shown) == "2 arrows from the origin, noun to the right and number up: query to (1, 0.2); shelf to (1, −1)."


@pytest.mark.parametrize(
    "value, text",
    [(0, "0"), (-0.0, "0"), (0.12345, "0.123"), (1234567.5, "1,230,000"), (4096, "4,096"), (-2.5, "−2.5"), (4e-15, "4e−15"), (2e12, "2e12"), (np.inf, "∞")],
)  # fmt: skip
def test_numbers_are_read_out_with_needless_digits(value, text):
    assert describe.number(value) == text


# show


def test_quotes_or_angle_brackets_in_the_alt_text_break_the_html(shown):
    alt = "weights > 0.5 & \"books\" <b>'old'</b>"
    plots.show(Figure(), alt)
    (bundle,) = shown
    written = re.fullmatch(r'<img alt="([^"<>]*)" width="\d+" style="[^"]*" src="[^"]*">', bundle["text/html"])[1]
    assert html.unescape(written) == bundle["text/plain"] == alt


def test_line_breaks_in_the_alt_text_are_kept(shown):
    plots.show(Figure(), "one\n   and two ")
    assert shown[0]["text/plain"] == "one and two"


def test_nothing_is_told_outside_a_notebook(capsys):
    plots.show(Figure(), "A figure.")
    assert capsys.readouterr().out == "A figure.\n"


def test_a_figure_is_blurred_on_dense_screens(shown):
    plots.show(Figure(figsize=(5, 3)), "A figure.")
    assert 'width="496"' in shown[0]["text/html"]  # 480 and a margin of 8 on each side
    assert Image.open(io.BytesIO(png_of(shown[0]))).size == (960, 576)


@pytest.mark.parametrize("ground", ["none", "black"])
def test_a_figure_is_transparent_or_dark_on_a_dark_page(shown, ground):
    plots.show(Figure(facecolor=ground), "A figure.")
    image = Image.open(io.BytesIO(png_of(shown[0])))
    assert "transparency" not in image.info
    assert image.convert("RGBA").getpixel((0, 0)) == (255, 255, 255, 255)


def test_a_pyplot_figure_is_shown_a_second_time_at_the_end_of_the_cell(shown):
    figure = plt.figure()
    plots.show(figure, "A figure.")
    assert figure.number not in plt.get_fignums()


def test_importing_the_module_imports_matplotlib_or_torch_or_ipython():
    code = "import sys, helpers.plots; print([m for m in ('matplotlib', 'torch', 'IPython') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


# Heat maps


def test_a_wrong_number_of_names_goes_unnoticed():
    with pytest.raises(ValueError, match=r"3 row names for 5 rows of a matrix of shape \(5, 2\)"):
        plots.heatmap(np.zeros((5, 2)), alt="x", rows=["a", "b", "c"])
    with pytest.raises(ValueError, match="1 column names for 2 columns"):
        plots.heatmaps([("zeros", np.zeros((5, 2)))], alt="x", columns=["a"])


@pytest.mark.parametrize("matrix", [[1, 2, 3], np.zeros((2, 0)), np.zeros((2, 3, 4)), 5])
def test_something_that_is_no_matrix_is_drawn(matrix):
    with pytest.raises(ValueError, match="got shape"):
        plots.heatmap(matrix, alt="x")


def test_an_unknown_kind_or_no_panel_is_accepted():
    with pytest.raises(ValueError, match="kind must be one of weights, signed, mask, plain, got 'heat'"):
        plots.heatmap([[1]], alt="x", kind="heat")
    with pytest.raises(ValueError, match="at least one"):
        plots.heatmaps([], alt="x")


def test_a_mask_of_other_numbers_is_taken_as_true():
    with pytest.raises(ValueError, match=r"True and False only, got 0\.5"):
        plots.heatmap([[1, 0.5]], alt="x", kind="mask")


def test_torch_tensors_and_nested_lists_are_drawn_otherwise_than_arrays(shown):
    torch = pytest.importorskip("torch")
    plots.heatmap(SCORES, alt="x", kind="signed")
    plots.heatmap(SCORES.tolist(), alt="x", kind="signed")
    plots.heatmap(torch.tensor(SCORES, requires_grad=True), alt="x", kind="signed")
    assert shown[0] == shown[1] == shown[2]
    plots.heatmap(torch.ones(2, 3, dtype=torch.bool), alt="x", kind="mask")
    plots.heatmap(torch.ones(2, 3, dtype=torch.bfloat16), alt="x")
    plots.lines(torch.arange(3), {"a": torch.ones(3)}, alt="x", xlabel="x", ylabel="y")


def test_the_callers_matrix_is_changed(shown):
    matrix = np.array([[np.nan, -0.0], [-np.inf, 1.0]])
    before = matrix.copy()
    plots.heatmap(matrix, alt="x", kind="signed")
    np.testing.assert_array_equal(matrix, before)


def test_cells_without_a_finite_number_look_like_zero_or_crash(drawn):
    plots.heatmap([[np.nan, -np.inf, np.inf, 2.0]], alt="x", kind="signed")
    axes = drawn[0].axes[0]
    assert texts_in(axes) == ["nan", "−∞", "∞", "2"]
    assert axes.images[0].get_array().mask.tolist() == [[True, True, True, False]]
    assert axes.images[0].get_clim() == (-2, 2)
    assert axes.patches[0].get_hatch()  # the ground that shows through
    plots.heatmap(np.full((30, 30), np.nan), alt="x")


def test_minus_zero_is_printed(drawn):
    plots.heatmap([[-0.001, -0.0, 0.25, -1.5]], alt="x", kind="signed")
    plots.heatmap([[-0.0, -3.0]], alt="x", kind="signed")
    assert texts_in(drawn[0].axes[0]) == ["0.00", "0.00", "0.25", "−1.50"]
    assert texts_in(drawn[1].axes[0]) == ["0", "−3"]


def test_a_large_matrix_is_covered_with_numbers_or_lacks_a_colour_bar(drawn):
    plots.heatmap(np.zeros((8, 10)), alt="x")
    plots.heatmap(np.zeros((9, 9)), alt="x")
    assert len(drawn[0].axes[0].texts) == 80 and len(drawn[0].axes) == 1
    assert len(drawn[1].axes[0].texts) == 0 and len(drawn[1].axes) == 2


@pytest.mark.parametrize("kind", plots.KINDS)
def test_zero_is_not_white(drawn, kind):
    plots.heatmap([[0.0, 1.0]], alt="x", kind=kind)
    assert drawn[0].axes[0].images[0].to_rgba(0.0) == pytest.approx((1, 1, 1, 1), abs=0.005)


def test_weights_are_stretched_to_their_own_largest_value(drawn):
    plots.heatmap([[0.1, 0.2]], alt="x")
    assert drawn[0].axes[0].images[0].get_clim() == (0, 1)


def test_blue_is_negative_anywhere(drawn):
    plots.heatmap([[-1.0, 1.0]], alt="x", kind="signed")
    image = drawn[0].axes[0].images[0]
    negative, positive = image.to_rgba(-1.0), image.to_rgba(1.0)
    assert positive[2] > positive[0] and negative[0] > negative[2]


def test_panels_side_by_side_have_different_colour_scales(drawn):
    plots.heatmaps([("small", [[1.0, -1.0]]), ("large", [[8.0, 2.0]])], alt="x", kind="signed")
    assert [axes.images[0].get_clim() for axes in drawn[0].axes] == [(-8, 8), (-8, 8)]


@pytest.mark.parametrize("kind", ["weights", "signed", "plain"])
def test_numbers_cannot_be_read_on_their_cells(drawn, kind):
    plots.heatmap(np.linspace(-1 if kind == "signed" else 0, 1, 77).reshape(7, 11), alt="x", kind=kind)
    axes = drawn[0].axes[0]
    for text, value in zip(axes.texts, axes.images[0].get_array().ravel(), strict=True):
        cell = axes.images[0].to_rgba(value)
        assert core.contrast(text.get_color(), cell) >= 3.5, value
        # White where it reaches 3.5: at equal ratios it is easier to read on a strong colour than black.
        assert (text.get_color() == "white") == (core.contrast("white", cell) >= 3.5), value


def test_black_numbers_stand_on_strong_blue(drawn):
    plots.heatmap([[0.7, 0.8, 0.93]], alt="x")
    assert [text.get_color() for text in drawn[0].axes[0].texts] == ["black", "white", "white"]


@pytest.mark.parametrize(
    "one, other, ratio", [("black", "white", 21), ("white", "white", 1), ("#777777", "white", 4.48), ("red", "white", 4)]
)
def test_contrast_differs_from_wcags_examples(one, other, ratio):
    assert core.contrast(one, other) == pytest.approx(ratio, abs=0.005)
    assert core.contrast(other, one) == core.contrast(one, other)


def test_a_mask_is_told_by_colour_alone(drawn):
    plots.heatmap([[True, False, False], [True, True, False]], alt="x", kind="mask")
    (figure,) = drawn
    crosses = figure.axes[0].collections[0].get_offsets().tolist()
    assert crosses == [[1, 0], [2, 0], [2, 1]]  # (column, row) where False
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["may look", "may not look"]


def test_rows_and_columns_are_swapped(drawn):
    plots.heatmap([[0.1, 0.2, 0.7], [0, 0, 1]], alt="x", rows=["q0", "q1"], columns=["k0", "k1", "k2"])
    axes = drawn[0].axes[0]
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("who looks", "at whom")
    assert [label.get_text() for label in axes.get_yticklabels()] == ["q0", "q1"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["k0", "k1", "k2"]
    assert axes.get_ylim() == (1.5, -0.5)  # row 0 is on top


# Every text of a figure


@pytest.mark.parametrize("name", FIGURES)
def test_text_is_clipped_or_smaller_than_nine_points(drawn, name):
    FIGURES[name]("x")
    (figure,) = drawn
    with core.course_style():
        figure.savefig(io.BytesIO())
        frame = figure.bbox
        unseen = {label for axes in figure.axes for label in _labels_beyond_the_axes(axes)}
        for text in figure.findobj(mpl.text.Text):
            if text.get_visible() and text.get_text().strip() and text not in unseen:
                assert text.get_fontsize() >= 9, text.get_text()
                box = text.get_window_extent()
                inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
                assert inside, text.get_text()


def _labels_beyond_the_axes(axes):
    """Return the tick labels that matplotlib keeps but does not draw."""
    labels = []
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            if not low <= tick.get_loc() <= high:
                labels += [tick.label1, tick.label2]
    return labels


# Arrows, lines, bars


def test_a_word_changes_its_colour_from_one_picture_to_the_next(drawn):
    plots.arrows({"query": (1, 0), "shelf": (1, -1), "books": (1, 1)}, alt="x")
    plots.lines([0, 1], {"books": [0, 1], "shelf": [1, 0]}, alt="x", xlabel="x", ylabel="y")
    plots.bars(["shelf", "are", "books"], {"weight": [1, 2, 3]}, alt="x", ylabel="y")
    arrows = {name: core.WORD_COLOURS[name] for name in ("query", "shelf", "books")}
    assert [a.arrow_patch.get_edgecolor() for a in drawn[0].axes[0].texts if a.get_text() == ""] == [mpl.colors.to_rgba(c) for c in arrows.values()]
    assert [line.get_color() for line in drawn[1].axes[0].lines] == [core.WORD_COLOURS["books"], core.WORD_COLOURS["shelf"]]
    bars = drawn[2].axes[0].patches
    assert [bar.get_facecolor() for bar in bars] == [mpl.colors.to_rgba(core.WORD_COLOURS[w]) for w in ("shelf", "are", "books")]


def test_every_word_of_the_sentence_has_a_colour_of_its_own():
    content = [word for word in dict.fromkeys((*words, "is")) if word not in ("the", "on")]
    assert len({core.WORD_COLOURS[word] for word in content}) == len(content) == 5
    assert {"the", "on", "query"} <= set(core.WORD_COLOURS)


def test_labels_beside_words_take_a_words_colour_or_lose_the_given_one():
    colours = core.colours_of(["books", "additive", "dot"], {"dot": "#123456"})
    assert colours == {"books": "#0072B2", "additive": "#D55E00", "dot": "#123456"}
    many = core.colours_of([str(i) for i in range(20)])
    assert len(many) == 20


def test_a_logarithmic_axis_is_ticked_at_powers_and_not_at_the_measured_sizes(drawn):
    sizes = [256, 384, 1024, 2048, 4096]
    plots.lines(sizes, {"a": sizes}, alt="x", xlabel="words", ylabel="ms", log="xy")
    axis = drawn[0].axes[0].xaxis
    assert axis.get_majorticklocs().tolist() == sizes and len(axis.get_minorticklocs()) == 0
    assert [label.get_text() for label in axis.get_ticklabels()] == ["256", "384", "1,024", "2,048", "4,096"]
    crowded = list(range(1000, 1030))
    plots.lines(crowded, {"a": crowded}, alt="x", xlabel="words", ylabel="ms", log="x")
    kept = drawn[1].axes[0].xaxis.get_majorticklocs()
    assert 1 < len(kept) < 12 and kept.max() == 1029


def test_a_few_whole_places_in_a_row_are_each_ticked(drawn):
    plots.lines(range(9), {"a": range(9)}, alt="x", xlabel="places back", ylabel="share")
    assert drawn[0].axes[0].xaxis.get_majorticklocs().tolist() == list(range(9))
    plots.lines(range(64), {"a": range(64)}, alt="x", xlabel="places back", ylabel="share")
    assert len(drawn[1].axes[0].xaxis.get_majorticklocs()) < 15


def test_few_colours_are_nearly_those_that_were_drawn(drawn):
    plots.heatmap(SCORES, alt="x", kind="signed")  # its colour bar has colours that no cell has
    as_drawn = io.BytesIO()
    drawn[0].savefig(as_drawn, format="png", dpi=2 * core.PIXELS_PER_INCH, facecolor="white")
    kept, wanted = (
        np.asarray(Image.open(file).convert("RGB")).astype(int) for file in (io.BytesIO(core._png(drawn[0])[0]), as_drawn)
    )
    assert np.abs(kept - wanted).max() <= 20


def test_a_peak_is_labelled_at_the_end_of_its_line(drawn):
    FIGURES["peaks"](None)
    places = {text.get_text(): text.xy for text in drawn[0].axes[0].texts}
    assert places == {"a": (2, 9), "b": (8, 8)}
    with pytest.raises(ValueError, match="label_at"):
        plots.lines([1], {"a": [1]}, alt="x", xlabel="x", ylabel="y", label_at="start")


def test_names_of_arrows_lie_on_each_other_or_on_an_arrow():
    tips = {name: np.array(tip) for name, tip in {"a": (2, 1), "b": (1.9, 1.2), "c": (1.7, 1.15)}.items()}
    places = charts._places_for_names(tips, inch=0.8)
    shafts = np.concatenate([np.linspace(0, 1, 60)[:, None] * tip for tip in tips.values()])
    for name, place in places.items():
        assert not (np.abs(shafts - place) < (0.05, 0.08)).all(axis=1).any(), name
        others = [other for key, other in places.items() if key != name]
        assert all((np.abs(place - other) > (0.1, 0.16)).any() for other in others), name


@pytest.mark.parametrize("vector", [(1, 2, 3), (1, np.nan), 4])
def test_a_vector_that_is_no_pair_of_numbers_is_drawn(vector):
    with pytest.raises(ValueError, match="'cat' must be two finite numbers"):
        plots.arrows({"cat": vector}, alt="x")


def test_labels_at_the_ends_of_lines_overlap():
    spread = charts._spread(np.array([0.5, 0.1, 0.5, 0.52]), gap=0.07)
    assert (np.diff(np.sort(spread)) >= 0.07 - 1e-9).all()
    assert list(np.argsort(spread)) == [1, 0, 2, 3]
    assert spread[1] == pytest.approx(0.1)  # nothing near it: it stays


def test_a_curve_of_another_length_than_x_is_drawn():
    with pytest.raises(ValueError, match=r"'loss' has y of shape \(2,\) for x of shape \(3,\)"):
        plots.lines([1, 2, 3], {"loss": [1, 2]}, alt="x", xlabel="x", ylabel="y")
    with pytest.raises(ValueError, match="x has no entry for 'b'; it has 'a'"):
        plots.lines({"a": [1]}, {"a": [1], "b": [1]}, alt="x", xlabel="x", ylabel="y")


def test_nothing_to_draw_gives_an_empty_figure():
    with pytest.raises(ValueError, match="'a' has no point that can be drawn"):
        plots.lines([1, 2], {"a": [np.nan, -1.0]}, alt="x", xlabel="x", ylabel="y", log="y")
    with pytest.raises(ValueError, match="at least one series"):
        plots.lines([1, 2], {}, alt="x", xlabel="x", ylabel="y")
    with pytest.raises(ValueError, match='log must be "", "x", "y" or "xy", got True'):
        plots.lines([1], {"a": [1]}, alt="x", xlabel="x", ylabel="y", log=True)
    with pytest.raises(ValueError, match="0 labels and 0 series"):
        plots.bars([], {}, alt="x", ylabel="y")


def test_curves_with_their_own_x_or_gaps_are_drawn_wrongly(drawn):
    x = {"short": [1, 2], "long": [1, 2, 3, 4]}
    y = {"short": [1, 2], "long": [4, np.nan, 2, np.nan]}
    plots.lines(x, y, alt="x", xlabel="x", ylabel="y", guides={"chance": 0.5})
    guide, short, long = drawn[0].axes[0].lines
    assert guide.get_xydata().tolist() == [[1, 0.5], [4, 0.5]] and guide.get_linestyle() == "--"
    assert short.get_xdata().tolist() == [1, 2] and long.get_xdata().tolist() == [1, 2, 3, 4]
    assert sorted(texts_in(drawn[0].axes[0])) == ["chance", "long", "short"]


def test_label_of_a_curve_that_ends_early_is_led_across_the_others(drawn):
    x = {"table": [1, 2, 3], "model": [1, 2, 3, 4, 16, 64]}
    y = {"table": [4, 3, 2.0], "model": [5, 4, 3, 2.5, 2.2, 2.1]}
    plots.lines(x, y, alt="x", xlabel="x", ylabel="y", log="x")
    axes = drawn[0].axes[0]
    table, model = (next(text for text in axes.texts if text.get_text() == name) for name in ("table", "model"))
    assert table.arrow_patch is None and model.arrow_patch is not None
    assert table.xy == (3, 2.0) and table.get_va() == "top"  # under its last point, where no other curve runs


def test_bars_with_another_number_of_values_than_labels_are_drawn():
    with pytest.raises(ValueError, match=r"series 'loss' has shape \(3,\), but there are 2 labels"):
        plots.bars(["a", "b"], {"loss": [1, 2, 3]}, alt="x", ylabel="y")


def test_a_bar_without_a_number_looks_like_zero(drawn):
    plots.bars(["a", "b"], {"loss": [0.0, np.nan]}, alt="x", ylabel="y")
    assert texts_in(drawn[0].axes[0]) == ["0", "nan"]
