"""What a source says by itself. Each remark has a line that must bring it and one, close by, that must not."""

import pytest

from helpers.course import LESSONS
from helpers.feedback import reading, variants
from helpers.feedback.registry import get


def said(body, reference=None, header="def f(x, n, axis=-1):", many_axes=()):
    source = header + "\n" + "\n".join(f"    {line}" for line in body.splitlines())
    tree = variants.parse(source)
    assert tree is not None
    other = variants.parse(reference) if reference else None
    return [remark.sentence for remark in reading.remarks(tree, other, many_axes)]


@pytest.mark.parametrize(
    ("bad", "words", "good"),
    [
        ("return 8 * n ^ 2", "`^` is no power", "return 8 * n ** 2"),
        ("return x / n ** 1 / 2", "the power is taken first", "return x / n ** 0.5"),
        ("return -x / n // 2", "from left to right", "return -x // (n / 2)"),
        ("return 10 ** (n // 2)", "in the exponent", "return 10 ** (n / 2)"),
        ("total = 0\ntotal =+ x\nreturn total", "`=+` does not add", "total = 0\ntotal += x\nreturn total"),
        ("x == x + 1\nreturn x", "`==` compares", "x = x + 1\nreturn x"),
        ("x.masked_fill(n, 0)\nreturn x", "thrown away", "x.masked_fill_(n, 0)\nreturn x"),
        ("np.where(n, x, 0)\nreturn x", "thrown away", "x = np.where(n, x, 0)\nreturn x"),
        ("x + n\nreturn x", "calculated and thrown away", "x = x + n\nreturn x"),
        ("print(x + n)", "printed and not returned", "print(x)\nreturn x + n"),
        ("return np.array(5 * [[0, 1], [1, 0]])", "is that list 5 times over", "return 5 * np.array([[0, 1], [1, 0]])"),
        ("y = [0] * n\nreturn [[1, 2]] * n", "times over", "return [0] * n"),
        ("y = [[0] * n] * n\nreturn y", "one and the same row n times", "return [[0] * n for _ in range(n)]"),
        ("for i in range(n):\n    return x[i]", "ends in its first round", "for i in range(n):\n    pass\nreturn x"),
        ("for i in range(n):\n    if x[i]:\n        return 1\n    else:\n        return 0", "first round", "for i in range(n):\n    if x[i]:\n        return 1\nreturn 0"),
        ("s = 0\nfor i in range(1, n):\n    s += x[i]\nreturn s", "begins with 1", "s = 0\nfor i in range(1, n):\n    s += x[i] - x[i - 1]\nreturn s"),
        ("s = 0\nfor i in range(n - 1):\n    s += x[i]\nreturn s", "the last one is left out", "s = 0\nfor i in range(n - 1):\n    s += x[i + 1] - x[i]\nreturn s"),
        ("z = x - x.max()\nreturn np.exp(x)", "`z` is computed here and never used", "z = x - x.max()\nreturn np.exp(z)"),
        ("z = x + 1\nz = x + 2\nreturn z", "overwritten before its value from line 2", "z = x + 1\nz = z + 2\nreturn z"),
        ("e = x[..., 0::2]\nx[..., 0::2] = 1\nreturn e", "is a view of `x`", "e = x[..., 0::2]\nx[..., 1::2] = 1\nreturn e"),
        ("e = x[:n]\nx[:n] = 1\nreturn e", "is a view of `x`", "e = x[:n].copy()\nx[:n] = 1\nreturn e"),
        ("y = x\ny[0] = 1\nreturn y", "is a second name for `x`", "y = x.copy()\ny[0] = 1\nreturn y"),
        ("return x / x.sum", "only names the method", "return x / x.sum()"),
        ("return np.eye(3) * x", "stays 3 whatever", "return np.eye(n) * x"),
        ("return x.transpose(1, 2).reshape(1, 3, 4)", "stays 3 whatever", "return x.transpose(1, 2).reshape(n, -1)"),
        ("return x / (x.sum() + 1e-9)", "the 1e-09 that is added", "return x / (x.sum() + 1)"),
        ("return np.where(n, x, -1e9)", "is an ordinary number", "return np.where(n, x, -np.inf)"),
        ("return torch.equal(x, n)", "to the last bit", "return torch.allclose(x, n)"),
        ("return (x - n).max() < 1e-5", "keep their signs", "return (x - n).abs().max() < 1e-5"),
        ("return softmax(x, axis=0)", "`axis=0` of the softmax", "return softmax(x, axis=-1)"),
        ("return np.zeros(n, dtype=int)", "cut off what stands after the point", "return np.zeros(n, dtype=float)"),
    ],
)  # fmt: skip
def test_a_line_brings_its_remark_and_its_neighbour_does_not(bad, words, good):
    assert any(words in sentence for sentence in said(bad)), said(bad)
    assert not any(words in sentence for sentence in said(good)), said(good)


FILLS = "def f(table, x):\n    table['K'] = x + 1\n    return x\n"


@pytest.mark.parametrize(
    ("body", "reference", "is_said"),
    [
        ("table = {'K': x + 1}\nreturn x", FILLS, True),
        ("table = dict(table)\ntable['K'] = x + 1\nreturn x", FILLS, True),
        ("table['K'] = x + 1\ntable = dict(table)\nreturn x", FILLS, False),
        ("table.update(K=x + 1)\nreturn x", FILLS, False),
        ("table = {'K': x + 1}\nreturn x", FILLS.replace("    table[", "    table = dict(table)\n    table["), False),
        ("table = {'K': x + 1}\nreturn x", "def f(table, x):\n    return x\n", False),
    ],
)
def test_a_name_given_to_something_new_is_said_where_the_old_was_to_be_filled(body, reference, is_said):
    found = said(body, reference, header="def f(table, x):")
    assert any("`table` is the name of something new" in sentence for sentence in found) is is_said, found


PROJECTS = "def f(layer, x):\n    return layer.W_o(layer.W_q(x)) / layer.n_heads\n"


@pytest.mark.parametrize(
    ("body", "missed"),
    [
        ("return layer.W_q(x)", ["Line 1: `layer.W_o` is never used."]),
        ("return layer.W_o(layer.W_q(x))", []),  # how often something is divided is not for this remark to say
        ("return project(layer, layer.W_q(x))", []),  # given away as a whole
        ("return getattr(layer, 'W_' + 'o')(layer.W_q(x))", []),
    ],
)
def test_a_matrix_of_an_argument_that_is_never_used_is_told(body, missed):
    assert said(body, PROJECTS, header="def f(layer, x):") == missed


MODULE = """
class Model(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.W_q = nn.Linear(d, d)
        self.W_o = nn.Linear(d, d)

    def forward(self, x):
        return self.W_o(self.W_q(x))
"""


@pytest.mark.parametrize(
    ("old", "new", "missed"),
    [
        ("self.W_o(self.W_q(x))", "self.W_q(x)", ["Line 5: `self.W_o` is made here and never used."]),
        ("self.W_o(self.W_q(x))", "apply(self, x)", []),
        ("self.W_o(self.W_q(x))", "self.children()[1](self.W_q(x))", []),
    ],
)
def test_a_layer_that_is_made_and_never_used_is_told(old, new, missed):
    tree, right = (variants.parse(code.strip("\n")) for code in (MODULE.replace(old, new), MODULE))
    assert [remark.sentence for remark in reading.remarks(tree, right)] == missed


def test_arguments_are_only_missed_where_the_reference_reads_them():
    reference = "def f(x, n, axis=-1):\n    return x.sum(axis) + n\n"
    assert said("return x.sum(axis)", reference) == ["Line 1: `n` is never used."]
    assert said("return x.sum(axis)", "def f(x, n, axis=-1):\n    return x.sum(axis)\n") == []
    overwritten = said("n = 3\nreturn x.sum(axis) + n", reference)
    assert overwritten == ["Line 2: `n` is overwritten before it was read, so what was given is lost."]


def test_chance_is_only_a_remark_where_nothing_is_random():
    drawing = "def f(x, n, axis=-1):\n    rng = n\n    return rng.normal(size=x.shape) * axis\n"
    body = "return np.random.randn(*x.shape) * n * axis"
    assert any("draws at random" in s for s in said(body, "def f(x, n, axis=-1):\n    return x * n * axis\n"))
    assert not any("draws at random" in s for s in said(body, drawing))


def test_reversed_axes_are_only_a_remark_on_arguments_with_more_than_two():
    assert said("return x @ n.T", many_axes={"n"}) == ["Line 2: look at `.T` in `n.T`. With more than two axes it reverses all of them."]
    assert said("return x @ n.T", many_axes={"x"}) == []


def test_layers_made_in_forward_and_a_missing_super_are_seen():
    source = """
class A(nn.Module):
    def __init__(self, d):
        self.p = d

    def forward(self, x):
        return nn.Dropout(self.p)(x)
"""
    sentences = [remark.sentence for remark in reading.remarks(variants.parse(source.strip()))]
    assert any("made anew at every call" in s for s in sentences) and any("super().__init__()" in s for s in sentences)


def test_a_source_that_cannot_be_read_brings_no_remark():
    assert reading.remarks(None) == []


@pytest.mark.parametrize("exercise", [info.id for lesson in LESSONS for info in lesson.exercises])
def test_no_right_answer_gets_a_certain_remark(exercise):
    found = get(exercise)
    reference = variants.parse(found.source)
    for source in (found.source, *found.alternatives):
        tree = variants.parse(source)
        certain = [remark.sentence for remark in reading.remarks(tree, reference) if remark.certain]
        assert certain == [], source
