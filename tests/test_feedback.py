"""The feedback engine: what a learner is told, what is kept, and that nothing an answer does can harm the rest."""

import re
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import helpers
from helpers import check, exercise
from helpers.feedback import errors, running
from helpers.feedback import report as report_module
from helpers.feedback.hints import relation
from helpers.feedback.registry import get
from helpers.feedback.twins import build, starting_source
from helpers.feedback.values import describe, shown
from helpers.numpy_attention import softmax
from tools.attempts_report import defined

RIGHT = get("2.2").reference


def cell(source, name, tmp_path):
    """Define something from a file of its own, as a notebook cell does, so that its source and lines can be shown."""
    file = tmp_path / "cell.py"
    file.write_text(textwrap.dedent(source), encoding="utf-8")
    space = {"np": np, "softmax": softmax}
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), space)
    return space[name]


def attention(scale="np.sqrt(d_k)", mask="np.where(mask, s, -np.inf)", axis=-1, result="w @ V, w"):
    """Source of an attention function with some parts exchanged, written unlike the reference."""
    return f"""
def scaled_dot_product_attention(Q, K, V, mask=None):
    d_k = Q.shape[-1]
    s = np.einsum("...id,...jd->...ij", Q, K) / {scale}
    if mask is not None:
        s = {mask}
    w = softmax(s, axis={axis})
    return {result}
"""


def judged(source):
    return check("2.2", build(get("2.2"), source))


def named(report):
    return [mistake.id for mistake in report.mistakes]


# Diagnosis ------------------------------------------------------------------------------------------------------------


def test_one_two_and_three_mistakes_in_foreign_code_are_named_together():
    assert named(judged(attention(scale="d_k"))) == ["divide-by-d_k"]
    assert named(judged(attention(scale="d_k", axis=-2))) == ["divide-by-d_k", "softmax-over-queries"]
    three = judged(attention(scale="d_k", axis=-2, mask="np.where(mask, -np.inf, s)"))
    assert named(three) == ["divide-by-d_k", "mask-inverted", "softmax-over-queries"]
    assert "three" in str(three) and "\n  3. " in str(three)


def test_messages_hold_the_numbers_of_the_case():
    assert "d_k = 4, not by √d_k = 2" in judged(attention(scale="d_k")).mistakes[0].message


def test_shape_is_reported_with_names_of_axes():
    report = judged(attention(result="w @ V, np.swapaxes(w, -1, -2)"))
    assert "(T_q, T_k) = (5, 7) expected, (7, 5) returned, which is (T_k, T_q)" in str(report)


def test_equal_numbers_in_a_broadcastable_shape_are_not_accepted():
    assert not judged(attention(result="w @ V, w[None]")).passed


def test_unknown_factor_is_named_by_its_size():
    report = judged(attention(result="2 * (w @ V), w"))
    assert "look at the number 2" in str(report) or "out is doubled" in str(report)
    assert "`weights` is right" in report._repr_html_().replace("<code>", "`").replace("</code>", "`")


def test_what_explains_most_cases_is_offered_with_caution(tmp_path):
    source = """
    def scaled_dot_product_attention(Q, K, V, mask=None):
        return Q @ K
    """
    report = check("2.2", cell(source, "scaled_dot_product_attention", tmp_path))
    assert report.status == "error" and report.mistakes == ()
    assert "Line 3, return Q @ K, stopped with ValueError for Q (5, 4) and K (7, 4)" in str(report)
    assert "of the" in str(report) and "K needs its last two axes swapped" in str(report)


def test_changed_input_is_said_beside_another_mistake():
    source = attention(scale="1", axis=-2).replace("    d_k =", "    Q /= np.sqrt(Q.shape[-1])\n    d_k =")
    report = judged(source)
    assert named(report) == ["softmax-over-queries"]
    assert "changed its input Q in place" in str(report)


def test_changed_input_alone_is_not_accepted():
    source = attention(scale="1").replace("    d_k =", "    Q /= np.sqrt(Q.shape[-1])\n    d_k =")
    report = judged(source)
    assert not report.passed and "changed its input Q in place" in str(report)


@pytest.mark.parametrize(
    "got, said",
    [
        (lambda x: x.T, "transposed"),
        (lambda x: -x, "opposite sign"),
        (lambda x: x[::-1], "reverse order along axis -2"),
        (lambda x: x[:, [1, 2, 0, 3]], "another order along axis -1"),
        (lambda x: x + 0.5, "0.5 added everywhere"),
        (lambda x: x * 4, "d_k times the expected values everywhere"),
        (lambda x: x / 2, "1/√d_k times the expected values everywhere"),
    ],
)
def test_relation_to_the_right_answer_is_recognised(got, said):
    x = np.random.default_rng(0).normal(size=(4, 4))
    assert said in relation(x, got(x), {"d_k": 4})
    assert relation(x, x**2, {"d_k": 4}) is None


@pytest.mark.parametrize(
    "value, said",
    [(-0.214, "−0.21"), (-7, "−7"), (-1234.5, "−1.23e+03"), (-np.inf, "−inf"), (0.5, "0.50"), (2e-5, "2e-05")],
)
def test_a_sentence_has_another_minus_than_the_tables(value, said):
    assert shown(value) == shown(np.array(value)) == said
    assert describe(-3) == "the number −3"
    x = np.random.default_rng(0).normal(size=(4, 4))
    assert relation(x, x - 0.5, {}) == "the expected values with −0.5 added everywhere"


def test_a_report_has_two_kinds_of_minus():
    text = str(judged(attention(result="w @ V ** 3, w")))
    assert re.search(r"should be −\d", text) and not re.search(r"(?<!axis )(?<!\w)-\d", text)


def test_verdict_does_not_depend_on_the_order_of_calls():
    first = str(judged(attention(scale="d_k", axis=-2)))
    for other in (
        attention(),
        attention(axis=0),
        "def scaled_dot_product_attention(Q, K, V, mask=None):\n    return Q, K",
    ):
        judged(other)
    assert str(judged(attention(scale="d_k", axis=-2))) == first


# Order of judgement ---------------------------------------------------------------------------------------------------


def test_code_above_a_forgotten_raise_is_pointed_out(tmp_path):
    source = attention().replace("    return", "    raise NotImplementedError\n    return")
    report = check("2.2", cell(source, "scaled_dot_product_attention", tmp_path))
    assert report.status == "todo" and "the line raise NotImplementedError is still reached" in str(report)


def test_ellipsis_counts_as_not_attempted():
    assert judged("def scaled_dot_product_attention(Q, K, V, mask=None):\n    return ...").status == "todo"
    assert judged("def scaled_dot_product_attention(Q, K, V, mask=None):\n    return ..., ...").status == "todo"


def test_not_implemented_from_elsewhere_is_an_error_not_a_stub():
    def scaled_dot_product_attention(Q, K, V, mask=None):
        return np.random.Generator.__new__(np.random.Generator), abs(_Unfinished())

    assert check("2.2", scaled_dot_product_attention).status in ("error", "todo")


class _Unfinished:
    def __abs__(self):
        raise NotImplementedError


@pytest.mark.parametrize(
    "source, said",
    [
        ("def f(Q, K, V, mask=None):\n    Q @ K.T", "Nothing was returned: is the return line missing"),
        ("def f(Q, K, V, mask=None):\n    yield Q", "write return, not yield"),
        ("def f(Q, K, V, mask=None):\n    return Q, K, V", "3 values came back; 2 are wanted: out and weights"),
        ("def f(Q, K, V, mask=None):\n    return Q.tolist(), K", "out is a list of"),
        ("def f(Q, K, V):\n    return Q, K", "must take the arguments (Q, K, V, mask=None); yours takes (Q, K, V)"),
        ("def f(Q, K, V, mask=None):\n    return nonsense", "NameError: the name nonsense is not known"),
        ("class f:\n    def __init__(self, Q, K, V, mask=None):\n        pass", "A function is wanted here"),
        ("def f(Q, K, V, mask=None):\n    return Q.astype(str), K", "out holds <U32; numbers are wanted"),
    ],
)
def test_wrong_kind_is_told_in_one_sentence(source, said, tmp_path):
    report = check("2.2", cell(source, "f", tmp_path))
    assert not report.passed and said in str(report)


def test_a_function_of_an_earlier_lesson_that_is_missing_is_to_be_imported(tmp_path):
    pytest.importorskip("torch")
    source = "def f(hidden, mask):\n    return masked_softmax(hidden, mask[..., None]).sum(dim=1)"
    report = str(check("10.3", cell(source, "f", tmp_path)))
    assert "from helpers.masks import masked_softmax" in report and "run that cell" not in report


@pytest.mark.parametrize(
    "exercise, code, words",
    [
        (
            "2.2",
            "def scaled_dot_product_attention(Q, K, V, mask=None):\n    w = softmax(q @ K)\n    return w @ V, w",
            "the name q is not known. Is Q meant?",
        ),
        (
            "4.1",
            "def split_heads(x, n_heads):\n    from einops import rearrange\n    return rearrange(x, 'b t (h d) -> b h t d', h=n_heads)",
            "einops is not installed with the course.",
        ),
        (
            "1.3",
            "def project(X, W_q, W_k, W_v):\n    return np.split(X @ np.hstack((W_q, W_k, W_v)), 3, axis=-1)",
            "an axis is to be cut into equal parts, and its size is no multiple of their number.",
        ),
        (
            "5.6",
            "def masked_softmax(scores, mask):\n    return scores.masked_fill(~mask.float(), -torch.inf).softmax(-1)",
            "what it was given holds floats. A mask is of dtype bool.",
        ),
        (
            "2.2",
            "def scaled_dot_product_attention(Q, K, V, mask=None):\n    w = w * 2\n    return w @ V, w",
            "this line is the first to give w a value, and reads it before.",
        ),
        (
            "10.4",
            "def search(query, corpus, k):\n    found = torch.argsort(corpus @ query)[::-1][:k]\n    return found, found",
            "a slice of a tensor takes no negative step",
        ),
        (
            "1.4",
            "def dot_product_scores(Q, K):\n    return Q[..., :1, :] * 0 + np.zeros((5, 7))",
            "the shapes (1, 4) and (5, 7) do not line up",
        ),
    ],
)
def test_errors_are_told_in_the_learners_terms(exercise, code, words):
    candidate = defined(dict(id=f"error {exercise} {words[:9]}", exercise=exercise, code=code))
    assert words in str(check(exercise, candidate))


def test_sequential_takes_one_value():
    from torch import nn

    with pytest.raises(TypeError) as caught:
        nn.Sequential(nn.Identity())(1, 2)
    assert "takes one value and hands it on" in errors.explained(caught.value, None, get("9.3"))


def test_torch_tensor_where_numpy_is_wanted_is_named():
    torch = pytest.importorskip("torch")

    def answer(Q, K, V, mask=None):
        out, weights = RIGHT(Q, K, V, mask)
        return torch.tensor(out), weights

    assert "out is a tensor of shape (5, 6); a NumPy array is wanted" in str(check("2.2", answer))


def test_answer_that_remembers_its_calls_is_refused():
    calls = []

    def answer(Q, K, V, mask=None):
        calls.append(1)
        out, weights = RIGHT(Q, K, V, mask)
        return out + (len(calls) > len(get("2.2").cases)), weights

    assert named(check("2.2", answer)) == ["second-call-differs"]


def test_prints_of_the_first_case_are_shown_once_and_cut():
    report = judged(attention().replace("    d_k", "    print('shape', Q.shape)\n    d_k", 1))
    assert report.passed and str(report).count("shape (5, 4)") == 1
    loud = judged(attention().replace("    d_k", "    for n in range(10_000): print(n)\n    d_k", 1))
    assert "more lines" in str(loud) and len(str(loud)) < 2000


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this platform")
def test_time_limit_leaves_no_alarm_behind(monkeypatch):
    monkeypatch.setattr(running, "TIME_LIMIT", 0.1)
    before = signal.getsignal(signal.SIGALRM)
    report = judged("def scaled_dot_product_attention(Q, K, V, mask=None):\n    while True:\n        pass")
    assert report.status == "error" and named(report) == ["too-slow"]
    assert signal.getsignal(signal.SIGALRM) == before and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_keyboard_interrupt_that_an_answer_raises_itself_is_an_error_of_the_answer():
    report = judged("def scaled_dot_product_attention(Q, K, V, mask=None):\n    raise KeyboardInterrupt")
    assert report.status == "error" and "KeyboardInterrupt" in str(report)


def test_answer_in_coarser_floats_passes_with_a_note():
    report = judged(attention(result="(w @ V).astype(np.float32), w"))
    assert report.passed and "returns float64, yours returns float32" in report.detail


def test_interrupt_by_the_learner_is_not_swallowed():
    def answer(Q, K, V, mask=None):
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        check("2.2", answer)


def test_unknown_number_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match=r"no exercise '2\.22'; did you mean 2\.2"):
        check("2.22", RIGHT)
    with pytest.raises(TypeError, match=r'@exercise\("2.2"\)'):
        exercise(RIGHT)


# The decorator --------------------------------------------------------------------------------------------------------


def test_decorator_hands_on_what_works(capsys):
    def weighted_average(values, weights):
        return np.average(values, weights=weights)

    assert exercise("0.1")(weighted_average) is weighted_average
    assert exercise("0.1")(lambda values, weights: 0) is get("0.1").reference
    shown = capsys.readouterr().out
    assert "✓ Right · 0.1 A weighted average" in shown and "the cells below use the course's version" in shown


def test_debugging_exercise_names_the_bugs_that_are_left(tmp_path):
    start = starting_source(get("2.6"))
    assert check("2.6", cell(start, "debugged_attention", tmp_path)).status == "todo"
    mended = start.replace("/ d_k", "/ d_k**0.5")
    assert mended != start
    assert named(check("2.6", cell(mended, "debugged_attention", tmp_path))) == [
        "mask-score-zero",
        "softmax-over-queries",
    ]


# Reports --------------------------------------------------------------------------------------------------------------


def test_report_is_stable_and_says_the_same_in_text_and_html():
    report = judged(attention(scale="d_k"))
    assert repr(report) == str(report) == str(judged(attention(scale="d_k")))
    text = re.sub(r"<[^>]+>", "", report._repr_html_())
    assert "You divided the scores by d_k = 4" in text and "0x" not in text


def test_html_of_a_report_escapes_what_the_answer_says():
    def answer(Q, K, V, mask=None):
        raise ValueError("<script>alert(1)</script>")

    assert "<script>" not in check("2.2", answer)._repr_html_()


def test_report_colours_leave_text_readable_on_light_and_dark_pages():
    html = judged(attention(scale="d_k"))._repr_html_()
    for style in re.findall(r'style="([^"]*)"', html):
        ground = re.search(r"background:(rgb\((\d+),(\d+),(\d+)\)|#\w+)", style)
        if ground and ground[2]:
            assert "color:#111" in style, "a tinted cell needs its own dark text"
            assert min(map(int, ground.groups()[1:])) > 60
        elif ground and len(ground[1]) == 7:
            assert "color:#fff" in style and ground[1] in report_module.BADGES.values()
        else:  # a tint of the ground, if any, that lets the page's own show through
            assert not ground or int(ground[1][7:], 16) < 0x20
            assert re.search(r"(?<!-)color:(?!inherit)", style) is None


def test_emphasis_and_code_survive_only_where_they_are_meant():
    assert report_module.marked("a * b * c and *old* in `x * y`") == "a * b * c and <em>old</em> in <code>x * y</code>"




# Costs ----------------------------------------------------------------------------------------------------------------


def test_import_of_helpers_does_not_load_torch():
    code = "import sys, helpers; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_public_surface_is_what_lessons_import():
    assert set(helpers.__all__) == {"check", "compare", "exercise", "plots", "predict", "progress", "reveal"}
