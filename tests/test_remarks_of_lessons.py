"""What the catalogues say of answers whose numbers nothing explains: what a model was shown, and what a matrix was fitted to."""

import pytest

from helpers import check
from helpers.feedback.registry import get
from helpers.feedback.twins import build

GENERATE = """def generate(model, tokens, n_new, choose):
    with torch.no_grad():
        for step in range(n_new):
            seen = {seen}
            tokens = torch.cat([tokens, choose(model(seen)[:, -1])[:, None]], dim=1)
    return tokens
"""


def told(id, source):
    report = check(id, build(get(id), source))
    assert not report.passed
    return str(report)


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        ("tokens[:, -2:]", "At step 1 the model was shown 2 of the tokens, and it should have been shown the last 5 of the text"),
        ("tokens[:, ::2][:, -model.max_len :]", "At step 1 the model was shown 3 of the tokens"),
        ("tokens[:, -model.max_len :].flip(1)", "was shown 5 of the tokens, and it should have been shown the last 5"),
        ("tokens[:, [0, *range(2, tokens.shape[1]), 1]][:, -model.max_len :]", "At step 1 the model was shown 5"),
    ],
)
def test_wrong_context_is_described_by_what_the_model_was_shown(seen, words):
    assert words in told("9.6", GENERATE.format(seen=seen))


def test_model_that_is_asked_once_is_described():
    source = (
        "def generate(model, tokens, n_new, choose):\n    logits = model(tokens[:, -model.max_len :])[:, -1]\n"
        "    for n in range(n_new):\n        tokens = torch.cat([tokens, choose(logits - n)[:, None]], dim=1)\n    return tokens"
    )
    assert "The model was asked 1 times for" in told("9.6", source)


def test_function_of_other_arguments_is_told_so():
    said = told("9.6", "def generate(model, tokens):\n    return tokens")
    assert "must take the arguments (model, tokens, n_new, choose)" in said


@pytest.mark.parametrize(
    ("end", "words"),
    [(".softmax(dim=-1)", "Besides, you return probabilities;"), (".log_softmax(-1)", "Besides, you return logarithms"), ("", "RoPE")],
)
def test_probabilities_beside_a_table_of_positions_are_named_too(end, words):
    source = get("9.3").source
    for old, new in (
        ("self.embedding = ", "self.positions = nn.Embedding(max_len, d_model)\n        self.embedding = "),
        ("x = self.embedding(tokens)", "x = self.embedding(tokens) + self.positions.weight[: tokens.shape[1]]"),
        ("return self.head(self.norm(x))", f"return self.head(self.norm(x)){end}"),
    ):
        assert old in source
        source = source.replace(old, new)
    said = told("9.3", source)
    assert "There is a table of positions" in said and words in said and ("Besides" in said) == bool(end)


FITTED = """def shift_matrix(offset, d_model):
    PE = sinusoidal_positional_encoding({n}, d_model){to}
    steps = int(abs(offset)) or 1
    before, after = (PE[:-steps], PE[steps:]) if offset > 0 else (PE[steps:], PE[:-steps])
    if offset == 0:
        before = after = PE
    return {fit}
"""


@pytest.mark.parametrize(
    ("n", "to", "fit"),
    [
        ("4 * d_model + 20", "", "torch.linalg.lstsq(before, after).solution.T"),
        ("100", "", "(torch.linalg.pinv(before) @ after).T"),
        ("50", ".double()", "torch.linalg.solve(before.T @ before + 1e-6 * torch.eye(d_model), before.T @ after).T.float()"),
    ],
)
def test_matrix_fitted_to_a_table_is_told_so(n, to, fit):
    assert "least squares" in told("6.3", FITTED.format(n=n, to=to, fit=fit))


def test_rotation_that_was_rounded_is_not_called_fitted():
    source = get("6.3").source.replace("return M", "return (M * 1000).round() / 1000")
    assert "least squares" not in told("6.3", source)
