"""Lesson 06: equivariance, sinusoids and the matrix that shifts them, RoPE and ALiBi, and where positions enter."""

import numpy as np
import torch

from ... import positions
from ...masks import causal_mask
from ..exercise import Case, Exercise, Mistake, Prediction, pairs
from ..values import as_array
from .common import alone

LOOSE = 1e-4  # float32 angles, however they are worked out, agree to this


def _normal(seed, *shape, dtype=torch.float64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


# 6.1 Equivariance -----------------------------------------------------------------------------------------------------


def _attention(X, mask=None):
    scores = X @ X.T / 2  # (T, T)
    scores = scores if mask is None else scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(dim=-1) @ X


def _causal_attention(X):
    return _attention(X, causal_mask(len(X)))


def _each_row_alone(X):
    return X.tanh() * torch.arange(1, X.shape[-1] + 1)


def _mean_for_everyone(X):
    return X.mean(dim=0).expand_as(X)


def _reversed(X):
    return X.flip(0)


def _sorted(X):
    return X.sort(dim=0).values


def _places_added(X):
    return _attention(X + torch.arange(len(X))[:, None])


def _places_added_faintly(X):
    return X + 0.01 * torch.arange(len(X))[:, None]


def _last_place_is_special(X):
    return torch.cat([X[:-1], X[-1:] + 1])


def _first_place_is_special(X):
    return torch.cat([X[:1] + 1, X[1:]])


def _twice_as_wide(X):
    return torch.cat([X, X * X], dim=-1)


def _plus_running_sum(X):
    """X plus the sum of its rows, added up in their order, so that rounding depends on the order."""
    total = torch.zeros(X.shape[-1], dtype=X.dtype)
    for row in X:
        total = total + row
    return X + total


def _everyone_the_first(X):
    return X[:1].expand_as(X)


def _plus_the_first(X):
    return X + X[:1]


def _first_row_is(size, seed):
    """Five rows whose first is larger (or smaller) than every other in every feature."""
    X = _normal(seed, 5, 4)
    X[0] = size
    return X


def _equivariance_case(name, f, seed, T=5, d=4, perm=(2, 0, 3, 4, 1), dtype=torch.float64):
    return Case(name, lambda: (f, _normal(seed, T, d, dtype=dtype), torch.tensor(perm)), {"T": T, "d": d})


EQUIVARIANCE = Exercise(
    id="6.1",
    reference=positions.is_permutation_equivariant,
    results=("the verdict",),
    covers="attention with and without a mask, positions added, faint and at one place only, rounding, one word",
    cases=(
        _equivariance_case("attention without a mask", _attention, 1),
        _equivariance_case("causal attention", _causal_attention, 2),
        _equivariance_case("a function that gives every row the mean", _mean_for_everyone, 3),
        _equivariance_case("a function of each row alone", _each_row_alone, 4),
        _equivariance_case("positions added", _places_added, 5),
        _equivariance_case("positions added faintly", _places_added_faintly, 6),
        _equivariance_case("a function that treats the last place alone differently", _last_place_is_special, 7, perm=(1, 0, 3, 4, 2)),
        _equivariance_case("a function that treats the first place alone differently", _first_place_is_special, 15),
        _equivariance_case("a function that turns the order round", _reversed, 8, perm=(1, 2, 3, 4, 0)),
        _equivariance_case("a function that gives every row the first", _everyone_the_first, 9),
        Case("a function that adds the first row to all, with the largest row first", lambda: (_plus_the_first, _first_row_is(5.0, 16), torch.tensor([2, 0, 3, 4, 1])), {"T": 5, "d": 4}),
        Case("a function that adds the first row to all, with the smallest row first", lambda: (_plus_the_first, _first_row_is(-5.0, 17), torch.tensor([2, 0, 3, 4, 1])), {"T": 5, "d": 4}),
        _equivariance_case("a function that sorts", _sorted, 14),
        _equivariance_case("more features out than in", _twice_as_wide, 10, d=3),
        _equivariance_case("as many features as rows", _each_row_alone, 11, d=5),
        _equivariance_case("rounding that depends on the order, float32", _plus_running_sum, 12, T=7, d=6, perm=(6, 2, 0, 5, 1, 3, 4), dtype=torch.float32),
        _equivariance_case("one row", _causal_attention, 13, T=1, perm=(0,)),
    ),
    mistakes=(
        alone("tests-invariance", "You asked whether the output stays the same; that is *in*variance. Equivariance: the output's rows are shuffled as the input's were, f(X)[perm].",
            ("f(X)[perm]", "f(X)")),
        alone("first-row-only", "You compared one row only. A function can move that one along and not the others: compare all of them.",
            ("allclose(shuffled_before, shuffled_after", "allclose(shuffled_before[0], shuffled_after[0]")),
        alone("no-tolerance", "You asked for equality to the last bit. Sums taken in another order round differently: compare with a small tolerance.",
            ("torch.allclose(shuffled_before, shuffled_after, rtol=1e-4, atol=1e-5)", "torch.equal(shuffled_before, shuffled_after)")),
        alone("tolerance-too-wide", "Your tolerance is so wide that a faint dependence on the position slips through; rounding is near 1e-16 here and 1e-7 in float32, so 1e-5 is ample.",
            ("rtol=1e-4, atol=1e-5", "atol=0.1")),
        alone("shuffled-back", "The output goes the wrong way: it is shuffled in the inverse order, or perm is applied once more to undo the shuffle, which perm does only where it exchanges pairs. Compare f(X[perm]) with f(X)[perm].",
            ("f(X)[perm]", "f(X)[perm.argsort()]")),
        alone("shuffled-back-no-tolerance", "The output goes the wrong way: it is shuffled in the inverse order, or perm is applied once more to undo the shuffle, which perm does only where it exchanges pairs. Compare f(X[perm]) with f(X)[perm]. And sums taken in another order round differently: compare with a small tolerance.",
            ("f(X[perm])", "f(X[perm])[perm]"), ("f(X)[perm]", "f(X)"), ("torch.allclose(shuffled_before, shuffled_after, rtol=1e-4, atol=1e-5)", "torch.equal(shuffled_before, shuffled_after)")),
        alone("input-not-shuffled", "You applied f to X as it stands on both sides; on one of them X is to be shuffled first, f(X[perm]).",
            ("f(X[perm])", "f(X)")),
        alone("same-thing-twice", "Your two sides are the same, so every function passes: shuffle before f on one side and after f on the other.",
            ("f(X)[perm]", "f(X[perm])")),
        alone("sums-compared", "You compared sums (or means) over the rows, which do not say which row is where: compare row by row.",
            ("allclose(shuffled_before, shuffled_after", "allclose(shuffled_before.sum(dim=0), shuffled_after.sum(dim=0)")),
        alone("sets-compared", "You compared the rows as a set, in sorted order: each row must also be in the right place.",
            ("allclose(shuffled_before, shuffled_after", "allclose(shuffled_before.sort(dim=0).values, shuffled_after.sort(dim=0).values")),
        alone("features-shuffled", "You shuffled the features, the columns of X; words are its rows: X[perm].",
            ("f(X[perm])", "f(X[:, perm])"), ("f(X)[perm]", "f(X)[:, perm]")),
        alone("own-order", "You shuffled in an order of your own. A function can be right about that one by chance: use the perm you are given.",
            ("f(X[perm])", "f(X.flip(0))"), ("f(X)[perm]", "f(X).flip(0)")),
        alone("any-entry", "You were content when some entries agree; all of them must: `all`, not `any`.",
            ("torch.allclose(shuffled_before, shuffled_after, rtol=1e-4, atol=1e-5)", "bool(torch.isclose(shuffled_before, shuffled_after, rtol=1e-4, atol=1e-5).any())")),
        alone("sign-kept", "You compared differences with their sign, so outputs that are all too small pass: take the absolute value.",
            ("torch.allclose(shuffled_before, shuffled_after, rtol=1e-4, atol=1e-5)", "bool((shuffled_before - shuffled_after).max() < 1e-5)")),
        alone("sign-kept-the-other-way", "You compared differences with their sign, so outputs that are all too large pass: take the absolute value.",
            ("torch.allclose(shuffled_before, shuffled_after, rtol=1e-4, atol=1e-5)", "bool((shuffled_after - shuffled_before).max() < 1e-5)")),
        alone("verdict-reversed", "Your verdicts are the wrong way round: True means that the rows move along.", ("return torch", "return not torch")),
        Mistake("always-true", source="def is_permutation_equivariant(f, X, perm):\n    return True", message="Your two sides are the same, so every function passes: shuffle before f on one side and after f on the other."),
    ),
    max_mistakes=1,
    alternatives=(
        "def is_permutation_equivariant(f, X, perm):\n    return all(torch.allclose(f(X[perm])[i], f(X)[j], atol=1e-6) for i, j in enumerate(perm))",
        "def is_permutation_equivariant(f, X, perm):\n    return (f(X[perm])[perm.argsort()] - f(X)).abs().max() < 1e-5",
        "def is_permutation_equivariant(f, X, perm):\n    P = torch.eye(len(X), dtype=X.dtype)[perm]\n    return torch.allclose(f(P @ X), P @ f(X), atol=1e-5)",
        "def is_permutation_equivariant(f, X, perm):\n    import numpy as np\n    return bool(np.allclose(f(X[perm]).numpy(), f(X).numpy()[perm.numpy()], atol=1e-5))",
    ),
)

# 6.2 Sinusoidal encoding ----------------------------------------------------------------------------------------------


def _encoding_case(name, max_len, d_model):
    return Case(name, lambda: (max_len, d_model), {"max_len": max_len, "d_model": d_model}, LOOSE)


# The angles of cosines with a frequency of their own, their column's.
_COSINES = "positions * 10000.0 ** (-{}(even_columns[: d_model // 2] + 1) / d_model)"

SINUSOIDS = Exercise(
    id="6.2",
    reference=positions.sinusoidal_positional_encoding,
    results=("encoding",),
    covers="even and odd widths, width 1, one position",
    cases=(
        _encoding_case("seven positions, width 6", 7, 6),
        _encoding_case("forty positions, width 10", 40, 10),
        _encoding_case("six positions, width 5", 6, 5),
        _encoding_case("eight positions, width 8", 8, 8),
        _encoding_case("one position, width 4", 1, 4),
        _encoding_case("nine positions, width 1", 9, 1),
        _encoding_case("three positions, width 2", 3, 2),
    ),
    mistakes=(
        Mistake("exponent-doubled", old="(-even_columns / d_model)", new="(-2 * even_columns / d_model)",
            message="Your frequencies fall twice as fast as they should: the formula's 2i is the even column's number itself (0, 2, 4, …), which you doubled once more."),
        Mistake("column-for-pair",
            edits=(("(-even_columns / d_model)", "(-2 * even_columns / d_model)"), ("angles[:, : d_model // 2]", _COSINES.format("2 * "))),
            message="In the formula i counts pairs, not columns: columns 2i and 2i + 1 share one frequency, with the exponent 2i / d_model. Yours gives each column its own, with twice the column's number."),
        Mistake("partners-differ", old="angles[:, : d_model // 2]", new=_COSINES.format(""),
            message="Each cosine has a frequency of its own in your table; it must share that of the sine to its left, or the two are no clock hand."),
        Mistake("pair-number-in-exponent", old="torch.arange(0, d_model, 2)", new="torch.arange((d_model + 1) // 2)",
            message="Your frequencies fall half as fast as they should: the exponent is 2i / d_model, and you left out the 2."),
        Mistake("base-1000", old="10000.0 **", new="1000.0 **",
            message="Your slowest waves are too fast: the base is 10000, and yours is 1000."),
        Mistake("exponent-sign", old="(-even_columns", new="(even_columns",
            message="Your frequencies grow along the row, up to thousands of radians a step; they must fall: the exponent has a minus sign (or the position is divided by the power)."),
        Mistake("not-divided-by-width", old="-even_columns / d_model", new="-even_columns",
            message="The exponent is not divided by d_model, so all pairs after the first hardly move."),
        Mistake("integer-division", old="-even_columns / d_model", new="-even_columns // d_model",
            message="`//` rounds down to a whole number, so all pairs after the first get the same exponent: divide with `/`."),
        Mistake("base-to-the-end", old="10000.0 ** (-even_columns / d_model)", new="10000.0 ** -torch.linspace(0, 1, len(even_columns))",
            message="Your frequencies go from 1 down to 1/10000 exactly, as some programs have it; the paper's exponent 2i / d_model stops one step short of 1."),
        Mistake("one-frequency", old="angles = positions * frequencies", new="angles = positions * torch.ones_like(frequencies)", hides_others=True,
            message="All your pairs turn at the same speed: the angle is the position times the pair's own frequency."),
        Mistake("whole-turns", old="angles = positions * frequencies", new="angles = positions * frequencies * 2 * torch.pi",
            message="You counted frequencies in turns and multiplied by 2π; the formula's are in radians already."),
        Mistake("degrees", old="angles = positions * frequencies", new="angles = torch.deg2rad(positions * frequencies)",
            message="You took the angles for degrees; they are radians, which is what `torch.sin` expects."),
        Mistake("positions-from-one", old="torch.arange(max_len)", new="torch.arange(1, max_len + 1)",
            message="Your positions start at 1; row 0 belongs to position 0 and reads 0, 1, 0, 1, …"),
        Mistake("positions-not-a-column", old="[:, None]", new="", hides_others=True,
            message="Positions and frequencies both lie along the last axis; make the positions a column, [:, None], so that every position meets every frequency."),
        Mistake("sine-and-cosine-swapped",
            edits=(("encoding[:, 0::2] = torch.sin(", "encoding[:, 0::2] = torch.cos("), ("encoding[:, 1::2] = torch.cos(", "encoding[:, 1::2] = torch.sin(")),
            message="You put cosines in the even columns and sines in the odd ones; it is the other way round, and row 0 reads 0, 1, 0, 1, …"),
        Mistake("all-sines", old="encoding[:, 1::2] = torch.cos(", new="encoding[:, 1::2] = torch.sin(",
            message="Both columns of a pair hold the sine; the odd one is the cosine. A hand needs both to tell where it points."),
        Mistake("all-cosines", old="encoding[:, 0::2] = torch.sin(", new="encoding[:, 0::2] = torch.cos(",
            message="Both columns of a pair hold the cosine; the even one is the sine. A hand needs both to tell where it points."),
        Mistake("halves",
            edits=(("encoding[:, 0::2]", "encoding[:, : (d_model + 1) // 2]"), ("encoding[:, 1::2]", "encoding[:, (d_model + 1) // 2 :]")),
            message="You put all sines first and all cosines after them. That is a layout in use, but the course's goes in pairs: sine in the even columns, cosine in the odd ones."),
        Mistake("odd-width", old="torch.cos(angles[:, : d_model // 2])", new="torch.cos(angles)", hides_others=True,
            message="With an odd width there is one cosine column fewer than there are frequencies: cut the angles to d_model // 2 columns for the cosine."),
        Mistake("cut-at-the-front", old="angles[:, : d_model // 2]", new="angles[:, len(frequencies) - d_model // 2 :]",
            message="With an odd width you left out the first frequency of the cosines; it is the last, slowest one that has no partner."),
        Mistake("last-column-empty", old="encoding[:, 0::2] = torch.sin(angles)", new="encoding[:, 0 : d_model - d_model % 2 : 2] = torch.sin(angles[:, : d_model // 2])",
            message="With an odd width your last column stays empty; it holds one more sine."),
        Mistake("transposed", old="return encoding", new="return encoding.T",
            message="Your table lies on its side: positions are the rows, (max_len, d_model)."),
        Mistake("batch-axis", old="return encoding", new="return encoding[None]",
            message="Your table has an extra axis in front for a batch; (max_len, d_model) is wanted, and broadcasting does the rest."),
        Mistake("scaled", old="return encoding", new="return encoding / d_model**0.5",
            message="You divided the encoding by √d_model; sines and cosines stay as they are. (Some programs scale the *words* up before they add.)"),
    ),
    indistinguishable=(
        ("all-sines", "all-cosines"),
        *pairs("all-cosines", "not-divided-by-width", "integer-division"),
        *pairs("positions-not-a-column", "column-for-pair", "partners-differ", "odd-width"),
        *pairs("pair-number-in-exponent", "integer-division", "base-to-the-end"),
    ),
    alternatives=(
        "def sinusoidal_positional_encoding(max_len, d_model):\n    import math\n    pe = torch.zeros(max_len, d_model)\n    position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)\n"
        "    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))\n    pe[:, 0::2] = torch.sin(position * div_term)\n"
        "    pe[:, 1::2] = torch.cos(position * div_term)[:, : d_model // 2]\n    return pe",
        "def sinusoidal_positional_encoding(max_len, d_model):\n    import math\n    f = lambda p, c: (math.cos if c % 2 else math.sin)(p / 10000 ** (2 * (c // 2) / d_model))\n"
        "    return torch.tensor([[f(p, c) for c in range(d_model)] for p in range(max_len)])",
        "def sinusoidal_positional_encoding(max_len, d_model):\n    i = torch.arange((d_model + 1) // 2, dtype=torch.float64)\n    a = torch.outer(torch.arange(max_len, dtype=torch.float64), 10000 ** (-2 * i / d_model))\n"
        "    return torch.stack([a.sin(), a.cos()], dim=-1).flatten(1)[:, :d_model]",
        "def sinusoidal_positional_encoding(max_len, d_model):\n    c = torch.arange(d_model)\n    a = torch.arange(max_len)[:, None] / 10000 ** ((c - c % 2) / d_model)\n"
        "    return torch.sin(a + torch.pi / 2 * (c % 2))",
    ),
)

# 6.3 A shift is a rotation --------------------------------------------------------------------------------------------


def _shift_case(name, offset, d_model):
    return Case(name, lambda: (offset, d_model), {"d_model": d_model}, LOOSE)


def _fitted_to_a_table(case, expected, got):
    """A matrix that moves the rows of a table nearly right, and has numbers outside the blocks."""
    wanted, found = as_array(expected).astype(float), as_array(got)
    if found.shape != wanted.shape or found.dtype.kind != "f" or not np.isfinite(found).all():
        return None
    found, d_model = found.astype(float), wanted.shape[0]
    table = positions.sinusoidal_positional_encoding(4 * d_model, d_model).numpy().astype(float)
    pair = np.arange(d_model) // 2
    outside = np.abs(found[pair[:, None] != pair]).max(initial=0.0)
    if outside > 0 and np.abs(table @ (found - wanted).T).max() < 1e-2:
        return (
            "Your matrix moves the rows of a table nearly right, and it has numbers outside the blocks of the pairs: was it fitted, as by"
            " least squares? The slow pairs hardly move in a table, so they are not told apart, and a fit is wrong elsewhere. The four"
            " numbers of each block follow from its angle alone."
        )


SHIFT = Exercise(
    id="6.3",
    reference=positions.shift_matrix,
    results=("M",),
    explain=(_fitted_to_a_table,),
    covers="steps forward and back, no step, half a step, one pair and several",
    cases=(
        _shift_case("three steps, width 6", 3, 6),
        _shift_case("one step, width 2", 1, 2),
        _shift_case("two steps back, width 8", -2, 8),
        _shift_case("no step, width 4", 0, 4),
        _shift_case("seventeen steps, width 4", 17, 4),
        _shift_case("half a step, width 10", 0.5, 10),
    ),
    mistakes=(
        Mistake("wrong-way",
            edits=(("M[sines, cosines] = torch.sin(", "M[sines, cosines] = -torch.sin("), ("M[cosines, sines] = -torch.sin(", "M[cosines, sines] = torch.sin(")),
            message="Your matrix turns the wrong way: it moves every position back by offset (it is the transpose). The minus sign belongs in the row of the cosine, since cos(a + b) = cos a cos b − sin a sin b."),
        Mistake("both-plus", old="M[cosines, sines] = -torch.sin(", new="M[cosines, sines] = torch.sin(",
            message="Both sines have a plus sign, which is no rotation: the one in the row of the cosine is negative."),
        Mistake("both-minus", old="M[sines, cosines] = torch.sin(", new="M[sines, cosines] = -torch.sin(",
            message="Both sines have a minus sign, which is no rotation: the one in the row of the sine is positive."),
        Mistake("diagonal-only", edits=(("M[sines, cosines] = torch.sin(", "M[sines, cosines] = 0 * torch.sin("), ("M[cosines, sines] = -torch.sin(", "M[cosines, sines] = 0 * torch.sin(")),
            message="Only the diagonal is filled, which shrinks each pair instead of turning it: the two sines are missing."),
        Mistake("mirrors", edits=(("= -torch.sin(angles)", "= torch.sin(angles)"), ("M[cosines, cosines] = torch.cos", "M[cosines, cosines] = -torch.cos")), together=2,
            message="Your blocks mirror instead of turning: a rotation has the cosine in both places of the diagonal, and sines of opposite sign beside them."),
        Mistake("sine-and-cosine-exchanged",
            edits=(("M[sines, sines] = torch.cos(", "M[sines, sines] = torch.sin("), ("M[sines, cosines] = torch.sin(", "M[sines, cosines] = torch.cos("),
                   ("M[cosines, sines] = -torch.sin(", "M[cosines, sines] = -torch.cos("), ("M[cosines, cosines] = torch.cos(", "M[cosines, cosines] = torch.sin(")),
            message="Sines and cosines have changed places in your blocks: cosines are on the diagonal, so that a shift by 0 changes nothing."),
        Mistake("one-frequency", old="offset * frequencies", new="offset * torch.ones_like(frequencies)", hides_others=True,
            message="All your blocks turn by the same angle; each pair has a frequency of its own, and turns by offset times that."),
        Mistake("position-for-offset", old="offset * frequencies", new="torch.arange(len(frequencies)) * frequencies",
            message="Your angles come from a count of positions (or pairs), and the offset plays no part. The matrix depends on the offset alone: it is the same for every position."),
        Mistake("offset-plus-one", old="offset * frequencies", new="(offset + 1) * frequencies",
            message="Your matrix goes one step too far: the angle is offset times the frequency, so that an offset of 0 changes nothing."),
        Mistake("exponent-doubled", old="(-sines / d_model)", new="(-2 * sines / d_model)",
            message="Your frequencies fall twice as fast as those of the encoding: the exponent is the even column's number over d_model."),
        Mistake("pair-number-in-exponent", old="(-sines / d_model)", new="(-sines / 2 / d_model)",
            message="Your frequencies fall half as fast as those of the encoding: the exponent is 2i / d_model, and you left out the 2."),
        Mistake("exponent-sign", old="(-sines / d_model)", new="(sines / d_model)",
            message="Your frequencies grow from pair to pair; they must fall, as in the encoding: the exponent has a minus sign."),
        Mistake("base-1000", old="10000.0 **", new="1000.0 **",
            message="Your frequencies are not those of the encoding: the base is 10000, and yours is 1000."),
        Mistake("degrees", old="offset * frequencies", new="torch.deg2rad(offset * frequencies)",
            message="You took the angles for degrees; they are radians."),
        Mistake("halves",
            edits=(("sines = torch.arange(0, d_model, 2)", "sines = torch.arange(d_model // 2)"), ("cosines = sines + 1", "cosines = sines + d_model // 2"),
                   ("(-sines / d_model)", "(-2 * sines / d_model)")),
            message="Your matrix is for encodings with all sines first and all cosines after them; the course's go in pairs, so the blocks of two by two lie along the diagonal."),
        Mistake("last-block-only", old="M = torch.zeros(d_model, d_model)\n    M[sines, sines]", new="M = torch.zeros(d_model, d_model)\n    sines, cosines, angles = sines[-1:], cosines[-1:], angles[-1:]\n    M[sines, sines]",
            message="Only the last pair has its block; if you fill M in a loop, is it made anew at each turn?"),
        Mistake("blocks-not-joined", old="return M", new="return torch.stack([M[i : i + 2, i : i + 2] for i in range(0, d_model, 2)])",
            message="You returned the blocks one by one, (d_model / 2, 2, 2); put them along the diagonal of one matrix (`torch.block_diag` can do it)."),
        Mistake("rows-moved", source="def shift_matrix(offset, d_model):\n    return torch.eye(d_model).roll(int(offset), 0)",
            message="Your matrix moves columns of the encoding about, as a shift of the table would; a step in position turns each pair of columns instead."),
    ),
    indistinguishable=(("both-plus", "both-minus"),),
    alternatives=(
        "def shift_matrix(offset, d_model):\n    blocks = []\n    for i in range(0, d_model, 2):\n        a = torch.tensor(offset * 10000 ** (-i / d_model))\n"
        "        blocks.append(torch.stack([torch.stack([a.cos(), a.sin()]), torch.stack([-a.sin(), a.cos()])]))\n    return torch.block_diag(*blocks)",
        "def shift_matrix(offset, d_model):\n    G = torch.zeros(d_model, d_model, dtype=torch.float64)\n    i = torch.arange(0, d_model, 2)\n    w = 10000.0 ** (-i.double() / d_model)\n"
        "    G[i, i + 1], G[i + 1, i] = w, -w\n    return torch.matrix_exp(offset * G)",
        "def shift_matrix(offset, d_model):\n    import math\n    M = torch.zeros((d_model, d_model))\n    for i in range(d_model // 2):\n        a = offset / 10000 ** (2 * i / d_model)\n"
        "        c, s = math.cos(a), math.sin(a)\n        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.tensor([[c, s], [-s, c]])\n    return M",
        "def shift_matrix(offset, d_model):\n    w = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)\n    a = (offset * w).repeat_interleave(2)\n    sign = torch.ones(d_model)\n    sign[1::2] = -1\n"
        "    swap = torch.arange(d_model) ^ 1\n    return torch.diag(a.cos()) + torch.diag(sign * a.sin())[:, swap]",
    ),
)

# 6.4 RoPE -------------------------------------------------------------------------------------------------------------


def _rope_case(name, seed, shape, *more, dtype=torch.float64):
    axes = ("B", "h", "T", "d")[-len(shape) :] if len(shape) != 3 else ("B", "T", "d")
    return Case(name, lambda: (_normal(seed, *shape, dtype=dtype), *more), dict(zip(axes, shape, strict=True)), LOOSE)


_HALVES = (
    "This is valid RoPE in the other layout, which pairs column i with column i + d/2; here the pairs are neighbours, (0, 1), (2, 3), … ."
    " Scores come out alike if queries and keys both use it; weights trained for one layout do not work in the other."
)

ROPE = Exercise(
    id="6.4",
    keeps_dtype=True,
    reference=positions.rope,
    results=("turned",),
    covers="two to four axes, other bases, offsets, one row, one pair, float32",
    cases=(
        _rope_case("a batch of heads", 1, (2, 3, 5, 8)),
        _rope_case("one sequence", 2, (7, 4)),
        _rope_case("a batch of sequences", 3, (3, 5, 8)),
        _rope_case("positions from 3, base 100", 4, (6, 4), 100.0, 3),
        _rope_case("one row at position 9", 5, (2, 1, 6), 10000.0, 9),
        _rope_case("a batch of heads from position 2", 6, (2, 4, 3, 4), 10000.0, 2),
        _rope_case("one pair", 7, (4, 2)),
        _rope_case("float32", 8, (3, 2, 5, 8), dtype=torch.float32),
    ),
    mistakes=(
        Mistake("halves",
            edits=(("x[..., 0::2], x[..., 1::2]", "x[..., : d // 2], x[..., d // 2 :]"), ("turned[..., 0::2]", "turned[..., : d // 2]"), ("turned[..., 1::2]", "turned[..., d // 2 :]")),
            message=_HALVES),
        Mistake("joined-as-halves", edits=(("turned[..., 0::2]", "turned[..., : d // 2]"), ("turned[..., 1::2]", "turned[..., d // 2 :]")),
            message="Each pair is turned rightly, but you joined the results as two halves; they belong back in the columns they came from, 0::2 and 1::2 (stack on a new last axis, then flatten)."),
        Mistake("read-as-halves", old="x[..., 0::2], x[..., 1::2]", new="x[..., : d // 2], x[..., d // 2 :]",
            message="You took the first and second half of the columns for the two sides of the pairs and wrote the results as neighbours: read pairs as 0::2 and 1::2 too."),
        Mistake("mixed-layouts", combines=True,
            source="def rope(x, base=10000.0, offset=0):\n    T, d = x.shape[-2:]\n    frequencies = base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)\n"
            "    angles = ((torch.arange(T) + offset)[:, None] * frequencies).repeat_interleave(2, dim=-1)\n"
            "    turned = torch.cat([-x[..., d // 2 :], x[..., : d // 2]], dim=-1)\n    return x * torch.cos(angles) + turned * torch.sin(angles)",
            message="You mixed the two layouts: the angles are for pairs (0, 1), (2, 3), …, but the rotation pairs i with i + d/2. Scores then no longer depend on the distance alone: choose one, here the neighbours."),
        Mistake("mixed-the-other-way", combines=True,
            source="def rope(x, base=10000.0, offset=0):\n    T, d = x.shape[-2:]\n    frequencies = base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)\n"
            "    angles = ((torch.arange(T) + offset)[:, None] * frequencies).repeat(1, 2)\n"
            "    turned = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)\n    return x * torch.cos(angles) + turned * torch.sin(angles)",
            message="You mixed the two layouts: the rotation is for pairs (0, 1), (2, 3), …, but the angles are laid out for halves. Each angle must stand twice in a row: `repeat_interleave(2)`, not `repeat`."),
        Mistake("exponent-sign", old="(-even_columns / d)", new="(even_columns / d)",
            message="Your frequencies grow along the vector, up to thousands of radians a step; they must fall: base ** (−2i / d)."),
        Mistake("exponent-doubled", old="(-even_columns / d)", new="(-2 * even_columns / d)",
            message="Your frequencies fall twice as fast as they should: 2i is the even column's number itself, which you doubled once more."),
        Mistake("pair-number-in-exponent", old="torch.arange(0, d, 2, dtype", new="torch.arange(d // 2, dtype",
            message="Your frequencies fall half as fast as they should: the exponent is −2i / d, and you left out the 2."),
        Mistake("base-ignored", old="base **", new="10000.0 **",
            message="You wrote 10000 where `base` belongs; other bases are in use, for longer texts for instance."),
        Mistake("one-frequency", old="* frequencies", new="* torch.ones_like(frequencies)", hides_others=True,
            message="All your pairs turn at the same speed: the angle is the position times the pair's own frequency."),
        Mistake("positions-from-head-axis",
            edits=(("T, d = x.shape[-2:]", "T, d = x.shape[-3] if x.ndim == 4 else x.shape[-2], x.shape[-1]"),
                   ("positions[:, None] *", "(positions[:, None, None] if x.ndim == 4 else positions[:, None]) *")),
            message="You turned by the head's number: in (B, h, T, d) positions run along axis -2, so take T from x.shape[-2]."),
        Mistake("length-from-first-axis", old="T, d = x.shape[-2:]", new="T, d = x.shape[0], x.shape[-1]", hides_others=True,
            message="You took T from the first axis, which is the batch as soon as there is one: positions run along axis -2."),
        Mistake("length-from-second-axis", old="T, d = x.shape[-2:]", new="T, d = x.shape[1], x.shape[-1]", hides_others=True,
            message="You took T from axis 1, which is the features of a single sequence and the heads of (B, h, T, d): positions run along axis -2."),
        Mistake("offset-ignored", old="dtype=x.dtype) + offset", new="dtype=x.dtype)",
            message="The offset plays no part: the first row stands at position `offset`, not 0. It matters when words come one at a time."),
        Mistake("offset-subtracted", old="dtype=x.dtype) + offset", new="dtype=x.dtype) - offset",
            message="You subtracted the offset; the rows stand at offset, offset + 1, …, so add it."),
        Mistake("offset-for-all", old="torch.arange(T, dtype=x.dtype) + offset", new="torch.full((T,), float(offset), dtype=x.dtype)",
            message="All rows are turned as if they stood at `offset`; each stands one further than the one before."),
        Mistake("positions-from-one", old="torch.arange(T, dtype=x.dtype)", new="torch.arange(1, T + 1, dtype=x.dtype)",
            message="Your positions start one too late: with offset 0, the first row stands at position 0 and stays as it is. (Scores would not notice: only distances matter.)"),
        Mistake("clockwise", edits=(("even * cos - odd * sin", "even * cos + odd * sin"), ("even * sin + odd * cos", "odd * cos - even * sin")),
            message="You turned clockwise, by minus the angle. Scores would not notice as long as queries and keys do the same; the exercise, and trained weights, turn counter-clockwise."),
        Mistake("both-plus", old="even * cos - odd * sin", new="even * cos + odd * sin",
            message="Both lines have a plus sign, which is no rotation: lengths change. The even column is even · cos − odd · sin."),
        Mistake("both-minus", old="even * sin + odd * cos", new="odd * cos - even * sin",
            message="Both lines have a minus sign, which is no rotation: lengths change. The odd column is even · sin + odd · cos."),
        Mistake("sine-and-cosine-exchanged", old="torch.cos(angles), torch.sin(angles)", new="torch.sin(angles), torch.cos(angles)",
            message="Sine and cosine have changed places, so position 0 is turned by a quarter: an angle of 0 must change nothing."),
        Mistake("uses-turned-column", old="turned[..., 1::2] = even * sin", new="turned[..., 1::2] = turned[..., 0::2] * sin",
            message="The second line uses the even column after it was turned; both lines need the even column as it was: keep it under a name of its own."),
        Mistake("in-place", old="torch.empty_like(x)", new="x", hides_others=True,
            message="You wrote into x itself. That changes the caller's tensor, and the second line already reads the turned column: fill a new tensor."),
        Mistake("degrees", old="* frequencies", new="* torch.deg2rad(frequencies)",
            message="You took the angles for degrees; they are radians."),
        Mistake("adds-sinusoids", combines=True,
            source="def rope(x, base=10000.0, offset=0):\n    T, d = x.shape[-2:]\n    angles = (torch.arange(T) + offset)[:, None] * base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)\n"
            "    return x + torch.stack([torch.sin(angles), torch.cos(angles)], dim=-1).flatten(-2)",
            message="You added sinusoids to x; RoPE adds nothing, it turns each pair of columns."),
    ),
    indistinguishable=(
        ("both-plus", "both-minus"),
        ("joined-as-halves", "read-as-halves"),
        ("offset-for-all", "positions-from-head-axis"),
        *pairs("one-frequency", "halves", "mixed-layouts"),
    ),
    alternatives=(
        "def rope(x, base=10000.0, offset=0):\n    T, d = x.shape[-2:]\n    freq = base ** (-torch.arange(0, d, 2) / d)\n    ang = torch.outer(torch.arange(T) + offset, freq)\n"
        "    a, b = x[..., ::2], x[..., 1::2]\n    return torch.stack([a * ang.cos() - b * ang.sin(), a * ang.sin() + b * ang.cos()], dim=-1).flatten(-2)",
        "def rope(x, base=10000.0, offset=0):\n    T, d = x.shape[-2:]\n    ang = torch.outer(torch.arange(T, dtype=torch.float64) + offset, base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d))\n"
        "    z = torch.view_as_complex(x.double().reshape(*x.shape[:-1], d // 2, 2).contiguous())\n    return torch.view_as_real(z * torch.polar(torch.ones_like(ang), ang)).flatten(-2).to(x.dtype)",
        "def rope(x, base=10000.0, offset=0):\n    T, d = x.shape[-2:]\n    freq = 1.0 / (base ** (torch.arange(0, d, 2).float() / d))\n    ang = (torch.arange(offset, offset + T)[:, None] * freq).repeat_interleave(2, dim=-1)\n"
        "    rot = torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).reshape(x.shape)\n    return x * ang.cos() + rot * ang.sin()",
        "def rope(x, base=10000.0, offset=0):\n    import math\n    y = x.clone()\n    for t in range(x.shape[-2]):\n        for i in range(0, x.shape[-1], 2):\n            a = (t + offset) * base ** (-i / x.shape[-1])\n"
        "            y[..., t, i] = x[..., t, i] * math.cos(a) - x[..., t, i + 1] * math.sin(a)\n            y[..., t, i + 1] = x[..., t, i] * math.sin(a) + x[..., t, i + 1] * math.cos(a)\n    return y",
    ),
)

# 6.5 ALiBi ------------------------------------------------------------------------------------------------------------


def _seen_by_causal(candidate, n_heads, T):
    """The bias where a causal mask leaves it to be seen; what stands above the diagonal does not matter."""
    bias = candidate(n_heads, T)
    return bias.tril() if torch.is_tensor(bias) and bias.ndim >= 2 else bias


def _alibi_case(name, n_heads, T):
    return Case(name, lambda: (n_heads, T), {"h": n_heads, "T": T})


ALIBI = Exercise(
    id="6.5",
    reference=positions.alibi_bias,
    results=("bias",),
    run=_seen_by_causal,
    covers="1 to 16 heads, one word, as many heads as words",
    cases=(
        _alibi_case("four heads, six words", 4, 6),
        _alibi_case("eight heads, five words", 8, 5),
        _alibi_case("two heads, seven words", 2, 7),
        _alibi_case("one head, three words", 1, 3),
        _alibi_case("sixteen heads, two words", 16, 2),
        _alibi_case("as many heads as words", 4, 4),
        _alibi_case("one word", 2, 1),
    ),
    mistakes=(
        Mistake("rewards-distance", old="return -slopes", new="return slopes",
            message="The sign is wrong: your bias grows with the distance, so far words gain. Minus the slope times the distance."),
        Mistake("same-slope", old="-8 * heads / n_heads", new="-8 * torch.ones(n_heads) / n_heads", hides_others=True,
            message="Every head has the same slope, so all reach equally far; head i has 2^(−8i/h), with i = 1, 2, …, h."),
        Mistake("heads-from-zero", old="torch.arange(1, n_heads + 1)", new="torch.arange(n_heads)",
            message="Your heads are counted from 0, so the first has slope 1; i runs from 1 to h."),
        Mistake("number-of-heads-ignored", old="-8 * heads / n_heads", new="-8.0 * heads",
            message="The exponent is not divided by the number of heads: the slopes fall by 256 from head to head."),
        Mistake("for-eight-heads", old="-8 * heads / n_heads", new="-1.0 * heads",
            message="Your slopes are 1/2, 1/4, 1/8, …, which is right for eight heads only: the exponent is −8i / h."),
        Mistake("eight-forgotten", old="-8 * heads / n_heads", new="-heads / n_heads",
            message="The 8 is missing from the exponent −8i / h: your slopes end at 1/2, where they should end at 1/256."),
        Mistake("base-e", old="2.0 **", new="math.e **",
            message="Your slopes are powers of e; they are powers of 2."),
        Mistake("exponent-sign", old="(-8 * heads", new="(8 * heads",
            message="Your slopes grow with the head, up to 256; the exponent is negative, −8i / h."),
        Mistake("slopes-in-a-line", old="2.0 ** (-8 * heads / n_heads)", new="heads / n_heads",
            message="Your slopes grow in equal steps; they are a geometric sequence, 2^(−8i/h)."),
        Mistake("heads-reversed", old="-slopes[:, None, None]", new="-slopes.flip(0)[:, None, None]",
            message="Your heads are in reverse order: the first has the steepest slope, 2^(−8/h), the last 1/256."),
        Mistake("distance-squared", old=".abs()", new=" ** 2",
            message="You squared the distance; the penalty grows evenly, by one slope a step."),
        Mistake("distance-from-one", old=".abs()", new=".abs() + 1",
            message="Your distances are one too large, so that a word is penalised for looking at itself. (Softmax would not notice: a whole row is shifted.)"),
        Mistake("distance-in-shares", old="(positions[:, None] - positions).abs()", new="(positions[:, None] - positions).abs() / T",
            message="You divided the distance by T; a step back costs the same in short and long texts."),
        Mistake("sum-of-positions", old="positions[:, None] - positions", new="positions[:, None] + positions",
            message="You added the two positions; the distance is their difference."),
        Mistake("slopes-not-spread", old="slopes[:, None, None]", new="slopes", hides_others=True,
            message="Your slopes line up with the key positions; they belong on an axis of their own in front: [:, None, None]."),
        Mistake("slopes-on-queries", old="slopes[:, None, None]", new="slopes[None, :, None]", hides_others=True,
            message="Your slopes line up with the query positions; they belong on the first axis: [:, None, None]."),
        Mistake("heads-last", old="-slopes[:, None, None] * distances", new="-slopes * distances[:, :, None]",
            message="Your heads are on the last axis; they come first, (h, T, T), to line up with scores (B, h, T, T)."),
        Mistake("first-head-only", old="-slopes[:, None, None] * distances", new="-slopes[0] * distances", hides_others=True,
            message="You returned the bias of one head, (T, T); each head has its own, (h, T, T)."),
        Mistake("one-row-for-all-queries",
            source="def alibi_bias(n_heads, T):\n    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)\n    return slopes[:, None, None] * torch.arange(T)",
            message="You made one row, slope · k, for all queries. Programs do that, because softmax does not feel a constant added to a row; here the whole table is wanted, minus slope times distance, (h, T, T)."),
        Mistake("key-number", combines=True,
            source="def alibi_bias(n_heads, T):\n    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)\n    return (slopes[:, None, None] * torch.arange(T)).expand(n_heads, T, T)",
            message="Your bias grows with the key's number, the same in every row. Softmax gives the same weights (each row differs from the right one by a constant), but here the distance is wanted, so that the diagonal is 0."),
        Mistake("weights-not-scores", old="return -slopes[:, None, None] * distances", new="return torch.exp(-slopes[:, None, None] * distances)",
            message="You took the exponential; the bias is added to scores, and softmax takes the exponential later."),
    ),
    alternatives=(
        "def alibi_bias(n_heads, T):\n    i = torch.arange(T)\n    slopes = torch.tensor([2 ** (-8 * (h + 1) / n_heads) for h in range(n_heads)])\n    return slopes.view(-1, 1, 1) * (i[None, :] - i[:, None])",
        "def alibi_bias(n_heads, T):\n    slopes = torch.logspace(-8 / n_heads, -8, n_heads, base=2)\n    q, k = torch.meshgrid(torch.arange(T), torch.arange(T), indexing='ij')\n    return -torch.einsum('h,qk->hqk', slopes, (q - k).abs().float())",
        "def alibi_bias(n_heads, T):\n    bias = torch.empty(n_heads, T, T)\n    for h in range(n_heads):\n        for q in range(T):\n            for k in range(T):\n                bias[h, q, k] = -abs(q - k) * 2 ** (-8 * (h + 1) / n_heads)\n    return bias",
        "def alibi_bias(n_heads, T):\n    start = 2 ** (-8 / n_heads)\n    slopes = start ** torch.arange(1, n_heads + 1)\n    d = torch.arange(T)[:, None] - torch.arange(T)\n    bias = -slopes[:, None, None] * d\n    return bias.masked_fill(d < 0, -torch.inf)",
    ),
)

# 6.6 Words and positions ----------------------------------------------------------------------------------------------


def _embed_case(name, seed, tokens, n_tokens, max_len, d_model, dtype=torch.float64):
    make = lambda: (torch.tensor(tokens), _normal(seed, n_tokens, d_model, dtype=dtype), _normal(seed + 100, max_len, d_model, dtype=dtype))  # noqa: E731
    return Case(name, make, {"B": len(tokens), "T": len(tokens[0]), "d_model": d_model, "n_tokens": n_tokens, "max_len": max_len})


EMBED = Exercise(
    id="6.6",
    reference=positions.embed,
    results=("x",),
    covers="repeated tokens, a table of exactly T rows, one example, one token, as many examples as tokens, float32",
    cases=(
        _embed_case("three examples of five tokens", 1, [[4, 0, 4, 6, 1], [2, 2, 5, 3, 0], [1, 6, 3, 4, 4]], 7, 9, 4),
        _embed_case("a table of exactly T rows", 2, [[1, 0, 3, 3, 2, 4], [0, 2, 1, 4, 3, 1]], 5, 6, 4),
        _embed_case("as many examples as tokens", 3, [[1, 0, 0], [2, 3, 1], [3, 3, 2]], 4, 8, 5),
        _embed_case("one example", 4, [[2, 2, 0, 1]], 3, 10, 2),
        _embed_case("one token", 5, [[1], [3]], 5, 4, 6),
        _embed_case("float32", 6, [[5, 1, 0, 2], [4, 4, 3, 1], [0, 5, 2, 2]], 6, 11, 8, torch.float32),
    ),
    mistakes=(
        Mistake("no-positions", old="return x + rows", new="return x", hides_others=True,
            message="The positions are missing: the same token at two places gets the same vector, and attention cannot tell them apart."),
        Mistake("positions-along-batch", old="rows = pe[:T]", new="rows = pe[: tokens.shape[0], None]",
            message="You numbered the examples of the batch, so that all tokens of an example get the same row; positions run along the second axis of tokens."),
        Mistake("length-of-batch", old="tokens.shape[1]", new="tokens.shape[0]", hides_others=True,
            message="You took the number of examples for the number of positions; T is the length of the second axis, tokens.shape[1]."),
        Mistake("single-row", old="pe[:T]", new="pe[T % len(pe)]",
            message="pe[T] is one row, and every token gets it; pe[:T] is the first T rows."),
        Mistake("counted-through-the-batch", source="def embed(tokens, E, pe):\n    n = tokens.numel()\n    rows = E[tokens].reshape(n, -1) + pe[:n]\n    return rows.reshape(*tokens.shape, -1)",
            message="Your positions count on through the batch, so the second sentence begins at row T of `pe`, or where it has no more rows. Every sentence begins at row 0."),
        Mistake("single-row-beyond", source="def embed(tokens, E, pe):\n    return E[tokens] + pe[tokens.shape[1]]",
            message="pe[T] is one row, and every token gets it (and a table of exactly T rows has no row T); pe[:T] is the first T rows."),
        Mistake("last-row", old="pe[:T]", new="pe[T - 1]",
            message="pe[T − 1] is one row, the last, and every token gets it; pe[:T] is the first T rows."),
        Mistake("row-of-the-token", old="rows = pe[:T]", new="rows = pe[tokens % len(pe)]",
            message="You looked positions up by what the token is; they depend on where it stands: the first T rows."),
        Mistake("whole-table", old="pe[:T]", new="pe", hides_others=True,
            message="You added the whole table of positions, which has more rows than there are tokens: take the first T."),
        Mistake("last-rows", old="pe[:T]", new="pe[-T:]",
            message="You took the last T rows of the table; the first token stands at position 0: pe[:T]."),
        Mistake("reversed", old="pe[:T]", new="pe[:T].flip(0)",
            message="Your positions run backwards; the first token gets row 0."),
        Mistake("multiplied", old="x + rows", new="x * rows",
            message="You multiplied word and position; they are added."),
        Mistake("concatenated", old="x + rows", new="torch.cat([x, rows.expand_as(x)], dim=-1)",
            message="You put position and word side by side, which doubles the width; they are added, and the width stays d_model."),
        Mistake("positions-only", old="x + rows", new="rows.expand_as(x)",
            message="Only the positions are left: add them to the words."),
        Mistake("scaled-words", old="x + rows", new="x * E.shape[1] ** 0.5 + rows",
            message="You multiplied the words by √d_model = {sqrt_d_model} first, as Vaswani et al. do; here they are added as they are."),
        Mistake("flattened", old="return x + rows", new="return (x + rows).flatten(0, 1)",
            message="Examples and positions have been run together; keep (B, T, d_model)."),
    ),
    indistinguishable=pairs("length-of-batch", "positions-along-batch", "row-of-the-token"),
    alternatives=(
        "def embed(tokens, E, pe):\n    return torch.nn.functional.embedding(tokens, E) + pe[None, : tokens.size(1)]",
        "def embed(tokens, E, pe):\n    return E[tokens] + pe[torch.arange(tokens.shape[-1])]",
        "def embed(tokens, E, pe):\n    one_hot = torch.nn.functional.one_hot(tokens, len(E)).to(E.dtype)\n    return one_hot @ E + pe.narrow(0, 0, tokens.shape[1]).unsqueeze(0)",
        "def embed(tokens, E, pe):\n    return torch.stack([torch.stack([E[t] + pe[p] for p, t in enumerate(row)]) for row in tokens])",
    ),
)

# 6.7 Attention with RoPE ----------------------------------------------------------------------------------------------


def _attention_case(name, seed, T, d_model, d_k, d_v, scale=1.0, dtype=torch.float64):
    def make():
        return tuple(s * _normal(seed + i, *shape, dtype=dtype) for i, (s, shape) in enumerate(((1, (T, d_model)), (scale, (d_model, d_k)), (scale, (d_model, d_k)), (1, (d_model, d_v)))))

    return Case(name, make, {"T": T, "d_model": d_model, "d_k": d_k, "d_v": d_v}, LOOSE)


ROPE_ATTENTION = Exercise(
    id="6.7",
    reference=positions.rope_attention,
    results=("out",),
    covers="odd and even d_v, large scores, one word, float32",
    cases=(
        _attention_case("seven words", 10, 7, 5, 4, 6),
        _attention_case("large scores", 20, 6, 3, 8, 4, scale=20.0),
        _attention_case("scores far below zero", 23, 7, 5, 4, 6, scale=2e3),
        _attention_case("as many words as features", 30, 4, 4, 4, 4),
        _attention_case("one word", 40, 1, 3, 2, 4),
        _attention_case("float32", 50, 9, 6, 2, 5, dtype=torch.float32),
        _attention_case("an odd d_v", 60, 5, 4, 6, 3),
    ),
    mistakes=(
        Mistake("values-turned", old="V = X @ W_v", new="V = rope(X @ W_v)",
            message="You turned the values too. Position should change where a word looks, not what it takes home: turn queries and keys only."),
        Mistake("keys-not-turned", old="K = rope(X @ W_k)", new="K = X @ W_k",
            message="Only the queries are turned. Both must be: only then do the two turns cancel down to the distance."),
        Mistake("queries-not-turned", old="Q = rope(X @ W_q)", new="Q = X @ W_q",
            message="Only the keys are turned by their places. Both must be: only then do the two turns cancel down to the distance. (A single row stands at place 0 for `rope`: `offset` moves it.)"),
        Mistake("turned-before-projection", edits=(("rope(X @ W_q)", "rope(X) @ W_q"), ("rope(X @ W_k)", "rope(X) @ W_k")),
            message="You turned X before it was projected, and W_q and W_k undo the pairs: turn Q and K after the projections."),
        Mistake("all-turned-before-projection", edits=(("rope(X @ W_q)", "rope(X) @ W_q"), ("rope(X @ W_k)", "rope(X) @ W_k"), ("V = X @ W_v", "V = rope(X) @ W_v")),
            message="You turned X before it was projected. W_q and W_k undo the pairs, and the values come from turned words too: turn Q and K after the projections, and make V of X itself."),
        Mistake("turned-twice", old="rope(X @ W_q)", new="rope(rope(X @ W_q))",
            message="The queries are turned twice, so the turns no longer cancel down to the distance."),
        Mistake("outputs-turned", old="return weights @ V", new="return rope(weights @ V)",
            message="You turned the outputs as well; position has done its work in the weights."),
        Mistake("keys-turned-back", old="rope(X @ W_k)", new="rope((X @ W_k).flip(0)).flip(0)",
            message="Your keys are numbered from the end; queries and keys stand at the same positions."),
        Mistake("not-scaled", old=" / math.sqrt(K.shape[-1])", new="",
            message="The scores are not divided by √d_k = {sqrt_d_k} (lesson 03)."),
        Mistake("divided-by-d_k", old="math.sqrt(K.shape[-1])", new="K.shape[-1]",
            message="You divided the scores by d_k = {d_k}; by its square root it should be."),
        Mistake("scaled-by-d_model", old="K.shape[-1])", new="X.shape[-1])",
            message="You divided by √d_model; queries and keys have d_k = {d_k} features."),
        Mistake("no-mask", old="scores.masked_fill(~causal_mask(X.shape[0]), -torch.inf)", new="scores",
            message="The causal mask is missing: every word sees what comes after it."),
        Mistake("mask-inverted", old="~causal_mask", new="causal_mask", hides_others=True,
            message="You filled what is allowed with minus infinity: True in the mask means *may attend*, so fill where it is not."),
        Mistake("masked-with-zero", old="-torch.inf", new="0.0",
            message="Hidden scores are set to 0, and e⁰ = 1 is weight; minus infinity is none."),
        Mistake("softmax-over-queries", old="dim=-1)", new="dim=0)",
            message="The softmax runs over the queries; each query shares out its own weight over the keys: dim=-1."),
        Mistake("weights-too", old="return weights @ V", new="return weights @ V, weights",
            message="You returned the weights as well; the outputs alone are wanted here."),
        Mistake("scores-transposed", old="Q @ K.T", new="K @ Q.T",
            message="Your scores are transposed: row i belongs to query i, Q @ K.T."),
    ),
    alternatives=(
        "def rope_attention(X, W_q, W_k, W_v):\n    F = torch.nn.functional\n    return F.scaled_dot_product_attention(rope(X @ W_q)[None], rope(X @ W_k)[None], (X @ W_v)[None], is_causal=True)[0]",
        "def rope_attention(X, W_q, W_k, W_v):\n    q, k, v = rope(X @ W_q, offset=5), rope(X @ W_k, offset=5), X @ W_v\n    out = []\n    for t in range(len(X)):\n"
        "        w = torch.softmax(k[: t + 1] @ q[t] / k.shape[-1] ** 0.5, dim=0)\n        out.append(w @ v[: t + 1])\n    return torch.stack(out)",
        "def rope_attention(X, W_q, W_k, W_v):\n    s = torch.einsum('qd,kd->qk', rope(X @ W_q), rope(X @ W_k)) * W_q.shape[1] ** -0.5\n    s = s + torch.full_like(s, -torch.inf).triu(1)\n    return s.softmax(-1) @ (X @ W_v)",
    ),
)

EXERCISES = (EQUIVARIANCE, SINUSOIDS, SHIFT, ROPE, ALIBI, EMBED, ROPE_ATTENTION)

PREDICTIONS = (
    Prediction("shuffled-sentence", "they move along with their words",
        "A word's query meets the same keys and values, only in another order, and a sum does not depend on the order of its terms. So each word gets the same output as before, at its new place.",
        ("they stay as they are", "they move along with their words", "they become others")),
    Prediction("who-cannot-point", "ALiBi",
        "ALiBi takes more off a score the further away the word is. Two places back always costs less than three, whatever the slope. So nothing in its scores can prefer the third word back to the second.",
        ("learned", "sinusoidal", "RoPE", "ALiBi")),
    Prediction("slowest-hand", 47117,
        "The last pair turns by 10000^(−62/64) = 1/7499 radians per word, and a whole turn is 2π.", tolerance=0.1),
    Prediction("shift-matrices", "one for each k",
        "Each hand turns by k times its frequency, whatever it showed before: the matrix does not contain p.",
        ("one for each p and k", "one for each k", "one for each p")),
    Prediction("both-moved", "it is the same",
        "Both are turned further by the same angle in each pair, and turning two vectors together does not change their dot product.",
        ("it is the same", "it is smaller", "it is larger")),
    Prediction("points-at-256", "RoPE",
        "Three places back is the same turn at every position. The learned rows beyond 32 were never trained, the sinusoidal rows were never seen in training, and ALiBi and none could not point in the first place. The next cell shows what RoPE's success depends on.",
        ("none", "learned", "sinusoidal", "RoPE", "ALiBi")),
    Prediction("recent-at-256", "ALiBi",
        "Of two marked words the nearer always keeps more of its score, at any length. RoPE has only what it learned about distances up to 32.",
        ("none", "learned", "sinusoidal", "RoPE", "ALiBi")),
)
