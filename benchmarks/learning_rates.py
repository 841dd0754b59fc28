"""What the trained claims of the lessons rest on, measured at other learning rates: the tables of LEARNING_RATES.md.

python -m benchmarks.learning_rates          all of them, in some twenty minutes on one core
python -m benchmarks.learning_rates 04 05    some lessons; "09 in full" is apart, for it alone takes seven minutes

A lesson's function yields (what, column, rate, steps, cell). Where less is learned in a step, more steps are taken.
"""

import sys
from functools import partial
from itertools import product

import torch

from benchmarks.tiny_gpt import no_last_norm, one_norm_for_both, skips_from_the_normed
from helpers import beyond_tasks, corpus, depth, induction, mask_tasks, position_tasks
from helpers import language_training as language
from helpers.head_training import train_look_ups
from helpers.linear import linear_attention
from helpers.masks import causal_mask
from helpers.multi_head import MultiHeadAttention
from helpers.positions import rope, rope_interpolated, stretched_base
from helpers.window import reach

SEEDS = range(3)


def span(values):
    """The range of some values, to two digits behind the point."""
    low, high = f"{min(values):,.2f}", f"{max(values):,.2f}"
    return low if low == high else f"{low} to {high}"


def lesson_04():
    runs = {"÷ 3": (3e-3, 500), "× 1": (1e-2, 150), "× 3": (3e-2, 150), "× 10": (1e-1, 150)}
    for (column, (rate, steps)), n_heads in product(runs.items(), (1, 2)):
        losses = [train_look_ups(MultiHeadAttention, n_heads, seed, steps, rate)[-20:].mean() for seed in range(5)]
        yield f"loss, heads: {n_heads}", column, rate, steps, span(losses)


def before_softmax(scores):
    return scores.masked_fill(~causal_mask(scores.shape[-1]), -torch.inf).softmax(dim=-1)


def after_softmax(scores):
    return scores.softmax(dim=-1) * causal_mask(scores.shape[-1])


def one_ahead(scores):
    return scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(diagonal=2), -torch.inf).softmax(dim=-1)


def lesson_05():
    runs = {"÷ 3": (1.7e-3, 1200), "× 1": (5e-3, 400), "× 3": (1.5e-2, 400), "× 10": (5e-2, 400)}
    masks = {"proper": before_softmax, "after the softmax": after_softmax, "one ahead": one_ahead}
    for (column, (rate, steps)), (name, weigh) in product(runs.items(), masks.items()):
        in_training, in_use = [], []
        for seed in SEEDS:
            generator = torch.Generator().manual_seed(seed)
            model, losses = mask_tasks.train_on_coin_tosses(weigh, generator, steps, rate=rate)
            in_training.append(sum(losses[-20:]) / 20)
            in_use.append(mask_tasks.loss_in_use(model, torch.Generator().manual_seed(1)))
        yield f"mask {name}: loss in training → in use", column, rate, steps, f"{span(in_training)} → {span(in_use)}"


def shares_right(models, task, T):
    return span([position_tasks.accuracy(model, task, T) for model in models])


def lesson_06():
    runs = {"÷ 3": (1e-3, 480), "× 1": (3e-3, 120), "× 3": (1e-2, 120), "× 10": (3e-2, 480)}
    for (column, (rate, steps)), (name, task) in product(runs.items(), position_tasks.TASKS.items()):
        for kind in position_tasks.KINDS:
            models = [position_tasks.train(kind, task, seed, steps, rate) for seed in SEEDS]
            cell = f"{shares_right(models, task, 32)} → {shares_right(models, task, 256)}"
            yield f"{name}, {kind}: right at 32 → at 256", column, rate, steps, cell
    ways = {
        "": rope,
        ", interpolated": partial(rope_interpolated, factor=8),
        ", larger base": partial(rope, base=stretched_base(8, d=64)),
    }
    task = position_tasks.three_places_back
    for (column, (rate, steps)), spread in product(list(runs.items())[:3], (1.0, 2.0)):
        models = [position_tasks.train("RoPE", task, seed, steps, rate, spread=spread) for seed in SEEDS]
        yield f"RoPE, std {spread}: right at 32", column, rate, steps, shares_right(models, task, 32)
        for name, rotate in ways.items():
            for model in models:
                model.rotate = rotate
            yield f"RoPE, std {spread}{name}: right at 256", column, rate, steps, shares_right(models, task, 256)


def lesson_08():
    runs = {"÷ 3": (1e-3, 750), "× 1": (3e-3, 250), "× 3": (9e-3, 250)}
    for (column, (rate, steps)), n_layers in product(runs.items(), (1, 2, 3)):
        models = [beyond_tasks.train_window(n_layers, seed=seed, steps=steps, rate=rate) for seed in SEEDS]
        shares, end = [beyond_tasks.accuracy_by_distance(model) for model in models], reach(n_layers, 8)
        within, beyond = [x[:end].mean().item() for x in shares], [x[end:].max().item() for x in shares]
        what = f"windows of 8, layers: {n_layers}: right within reach → most beyond it"
        yield what, column, rate, steps, f"{span(within)} → {span(beyond)}"
    runs = {"÷ 3": (0.02, 1500), "× 1": (0.06, 300), "× 3": (0.18, 300)}
    kinds = {"softmax": (beyond_tasks.softmax_attention, 16), "linear, 16": (linear_attention, 16)}
    kinds["linear, 32"] = (linear_attention, 32)
    for (column, (rate, steps)), (name, (attend, d_k)), n in product(runs.items(), kinds.items(), (4, 16, 32, 64)):
        shares = [beyond_tasks.train_recall(attend, d_k, n, seed, steps, rate) for seed in SEEDS]
        yield f"{name}: right of {n} pairs", column, rate, steps, span(shares)


def lesson_09():
    text = corpus.split(corpus.python_documentation())
    runs = {"÷ 3": (2e-3, 480), "× 1": (6e-3, 120), "× 3": (1.8e-2, 120), "× 10": (6e-2, 120)}
    for (column, (rate, steps)), (name, parts) in product(runs.items(), depth.TRAINED.items()):
        bits = [depth.bits_after_training(text, *parts, steps, seed, rate) for seed in SEEDS]
        yield f"six layers, {name}: bits", column, rate, steps, span(bits)

    runs = {"÷ 3": (3e-3, 600), "× 1": (1e-2, 200), "× 3": (3e-2, 200)}
    for (column, (rate, steps)), name in product(runs.items(), language.BUGS):
        history, honest = language.train_with_bug(name, text, steps, rate=rate)
        cell = f"{history.loss(50):.2f} → {history.loss(steps):.2f}, honest {honest:.2f}"
        yield f"{name}: bits at step 50 → at the end, seed 0", column, rate, steps, cell

    runs = {"÷ 3": (1e-3, 900), "× 1": (3e-3, 300), "× 3": (9e-3, 300)}
    for column, (rate, steps) in runs.items():
        for n_layers in (1, 2):
            trained = [induction.train(n_layers, steps, seed=seed, rate=rate) for seed in SEEDS]
            models, curves = zip(*trained, strict=True)
            yield f"copying, layers: {n_layers}: bits", column, rate, steps, span([curve.bits[-1] for curve in curves])
        for blind in induction.PARTS:
            costs = [induction.second_time(model, blind=blind) for model in models]
            yield f"copying, two layers, blind {blind}: bits", column, rate, steps, span(costs)
        trained = [induction.train(1, steps // 2, 13, seed, rate) for seed in SEEDS]
        models, curves = zip(*trained, strict=True)
        elsewhere = span([induction.second_time(model) for model in models])
        what = "block of 13, one layer, half the steps: bits → at other lengths"
        yield what, column, rate, steps, f"{span([curve.bits[-1] for curve in curves])} → {elsewhere}"


def lesson_09_in_full():
    text = corpus.split(corpus.python_documentation())
    runs = {"÷ 3": (3e-3, 1200), "× 1": (1e-2, 1200), "× 3": (3e-2, 1200)}
    for (column, (rate, steps)), fault in product(runs.items(), (None, *FAULTS)):
        bits = []
        for seed in range(1 if fault else 2):
            model = language.new_model(seed=seed)
            if fault:
                fault(model)
            language.train(model, text, steps, seed=seed, rate=rate)
            bits.append(language.bits_per_character(model, text.validation))
        what = f"{fault.__name__.replace('_', ' ')}: bits, seed 0" if fault else "nothing wrong: bits, two seeds"
        yield what, column, rate, steps, span(bits)
    for k, column in product((3, 4), runs):
        counts = corpus.LetterCounts(text.train, k).bits_per_character(text.validation)
        yield f"table of the last {k} characters: bits", column, *runs[column], f"{counts:.2f}"


FAULTS = (no_last_norm, one_norm_for_both, skips_from_the_normed)
LESSONS = {"04": lesson_04, "05": lesson_05, "06": lesson_06, "08": lesson_08, "09": lesson_09}
LESSONS["09 in full"] = lesson_09_in_full


def markdown(measured):
    """Tables with a row for each quantity and a column for each rate, one for each set of rates."""
    rows, runs = {}, {}
    for what, column, rate, steps, cell in measured:
        rows.setdefault(what, []).append(cell)
        runs.setdefault(what, []).append(f"{column}: {rate:g}, {steps:,} steps")
    tables = {}
    for what, cells in rows.items():
        tables.setdefault(tuple(runs[what]), []).append((what, *cells))
    lines = []
    for columns, body in tables.items():
        table = [("What", *columns), ("---",) * (1 + len(columns)), *body]
        lines += ["", *(f"| {' | '.join(line)} |" for line in table)]
    return "\n".join(lines)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for lesson in sys.argv[1:] or LESSONS:
        print(f"\n## Lesson {lesson}\n{markdown(LESSONS[lesson]())}", flush=True)
