"""Two mistakes at once: one shows in some cases, and a change or another known mistake explains the rest."""

import pytest

from helpers.feedback import variants
from helpers.feedback.edits_of_functions import edits_of
from helpers.feedback.judging import judge
from helpers.feedback.registry import get
from helpers.feedback.twins import twins_of
from tools.attempts_report import Trial, defined


def told(exercise, code):
    report = judge(get(exercise), defined(dict(id="two at once", exercise=exercise, code=code)))
    return str(report), [finding.id for finding in report.mistakes]


@pytest.mark.parametrize(
    ("exercise", "code", "known", "words"),
    [
        (  # the fill shows only where there is a mask
            "2.2",
            "def scaled_dot_product_attention(Q, K, V, mask=None):\n    s = Q @ np.swapaxes(K, -1, -2) / Q.shape[-1]\n"
            "    if mask is not None:\n        low = s.min()\n        s = np.where(mask, s, low)\n"
            "    w = softmax(s)\n    return w @ V, w",
            "divide-by-d_k",
            "look at the value that where fills in",
        ),
        (  # the new axis shows only where there are more axes than two, or fewer
            "3.4",
            "def softmax_backward(weights, d_weights):\n    mean = d_weights.mean(axis=-1)\n"
            "    return weights * (d_weights - mean[:, None])",
            "plain-mean",
            "where that index puts the new axis",
        ),
        (  # what is told the caller shows in all cases, what each word sees in some
            "8.5",
            "def attend_with_cache(layer, x_new, cache):\n    n, past = layer.n_heads, cache['K'].shape[2]\n"
            "    q = rope(split_heads(layer.W_q(x_new), n), offset=past)\n"
            "    k = rope(split_heads(layer.W_k(x_new), n), offset=past)\n    v = split_heads(layer.W_v(x_new), n)\n"
            "    cache = {'K': torch.cat([cache['K'], k], 2), 'V': torch.cat([cache['V'], v], 2)}\n"
            "    out = F.scaled_dot_product_attention(q, cache['K'], cache['V'])\n"
            "    return layer.W_o(merge_heads(out))",
            "no-mask",
            "what cache is after that line: what was given, or something new?",
        ),
    ],
)
def test_a_change_goes_unsaid_beside_a_known_mistake(exercise, code, known, words):
    text, ids = told(exercise, code)
    assert known in ids and words in text


def test_changes_that_mend_different_cases_are_found_one_after_the_other():
    code = (
        "def rope(x, base=10000.0, offset=0):\n    T, d = x.shape[-2:]\n    places = torch.arange(offset, T).float()\n"
        "    waves = torch.outer(places, base ** (-torch.arange(0, d, 2).float() / d))\n"
        "    pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)).contiguous())\n"
        "    return torch.view_as_real(pairs * torch.polar(torch.ones_like(waves), waves)).flatten(-2)"
    )
    text, _ = told("6.4", code)
    assert "Two changes together would make this right. In line 3, look at where that arange begins and ends." in text
    assert "In line 5, look at whether float belongs there." in text


def test_a_known_mistake_that_explains_most_cases_is_tried_with_the_others():
    code = (
        "def merge(first, second):\n    m1, t1, o1 = first\n    m2, t2, o2 = second\n    m = torch.maximum(m1, m2)\n"
        "    a, b = torch.exp(m1 - m), torch.exp(m2 - m)\n    total = t1 * a + t2 * b\n    return m, total, (o1 * t1 * a + o2 * t2 * b) / total"
    )
    text, ids = told("8.1", code)
    assert ids == ["nan-of-nothing", "weighed-by-totals"] and "two mistakes together" in text


def test_a_whole_algorithm_combines_with_the_patches_that_fit_it():
    twins = twins_of(get("8.2"))
    pair = frozenset({"nothing-rescaled", "not-scaled"})
    assert pair in set(twins.sets(2)) and twins.apart(*pair)
    assert "1 / math.sqrt" not in twins.source(pair) and "acc = acc + p" in twins.source(pair)
    assert not twins.apart("nothing-rescaled", "out-not-rescaled")  # two whole ones
    assert not twins.apart("nothing-rescaled", "diagonal-unmasked")  # its text is not there


def test_what_the_answer_spares_is_not_laid_to_its_charge():
    """Rows that get shorter are no mask without a triangle, though one change would make such a mask of them."""
    code = (
        "def causal_mask(T):\n    allowed = torch.zeros(T, T, dtype=torch.bool)\n    for row in range(T):\n"
        "        allowed[row, row // 2 : T - row] = True\n    return allowed"
    )
    assert "no-triangle" not in told("5.2", code)[1]


def test_a_mistake_that_right_cases_contradict_is_not_told_of_the_wrong_one():
    code = (
        "def shift_matrix(offset, d_model):\n    from helpers.positions import shift_matrix\n"
        "    return shift_matrix(math.floor(offset), d_model)"
    )
    text, _ = told("6.3", code)
    assert "moves columns" not in text


@pytest.mark.parametrize(
    ("exercise", "code", "words"),
    [
        ("8.8", "def reach(n_layers, window):\n    if n_layers == 0:\n        return 0\n    if n_layers == 1:\n        return window\n    return reach(n_layers - 1, window) + window - 1", "look at the number 0"),
        ("1.3", "def project(X, W_q, W_k, W_v):\n    all_three = X @ np.hstack([W_q, W_k, W_v])\n    d = W_q.shape[1]\n    return all_three[:, :d], all_three[:, d : 2 * d], all_three[:, -d:]", "where the slice of all_three begins and ends"),
        ("1.2", "def soft_lookup(query, keys, values, sharpness=1.0):\n    s = sharpness * (keys @ query)\n    e = np.exp(s - np.linalg.norm(s, np.inf))\n    w = e / e.sum()\n    return w @ values, w", "whether signs matter to norm"),
    ],
)  # fmt: skip
def test_a_single_change_goes_unfound(exercise, code, words):
    assert words in told(exercise, code)[0]


def test_a_skip_that_is_missing_goes_unfound():
    code = (
        "class Block(nn.Module):\n    def __init__(self, d_model, n_heads):\n        super().__init__()\n"
        "        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)\n"
        "        self.attention = RotaryAttention(d_model, n_heads)\n"
        "        self.feed_forward = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))\n\n"
        "    def forward(self, x, mask=None):\n        heard, _ = self.attention(self.norm_1(x), mask)\n"
        "        thought = self.feed_forward(self.norm_2(heard))\n        return x + heard + thought"
    )
    assert "what norm_2 is given: is something missing?" in told("9.2", code)[0]


def test_a_variant_that_calls_itself_without_end_is_stopped_early():
    tree = variants.parse("def f(n):\n    return f(n - 1) + 1\n")
    build = variants.Builder({}, in_all=10**6)
    with pytest.raises(variants.TooManyOperations):
        build(tree)(3)
    assert build.entries < 2 * variants.DEEPEST


def test_a_layer_gets_no_steps_of_arrays_around_it():
    code = (
        "class CrossAttention(nn.Module):\n    def __init__(self, d_model, n_heads):\n        super().__init__()\n"
        "        self.n_heads = n_heads\n        self.W_q = nn.Linear(d_model, d_model, bias=False)\n"
        "        self.W_k = nn.Linear(d_model, d_model, bias=False)\n        self.W_v = nn.Linear(d_model, d_model, bias=False)\n"
        "        self.W_o = nn.Linear(d_model, d_model, bias=False)\n\n    def forward(self, x, memory, memory_mask=None):\n"
        "        q = split_heads(self.W_q(x), self.n_heads)\n        k = split_heads(self.W_k(memory), self.n_heads)\n"
        "        v = split_heads(self.W_v(memory), self.n_heads)\n        w = (q @ k.mT).softmax(dim=-1)\n"
        "        return self.W_o(merge_heads(w @ v)), w"
    )
    answer = Trial(get("5.7"), defined(dict(id="layers", exercise="5.7", code=code))).answer
    edits = edits_of(answer.tree, answer.space, kinds=answer.kinds)
    steps = {line for edit in edits if edit.kind == "step" for line in edit.lines}
    assert {11, 14} <= steps and not {5, 6, 7, 8} & steps
