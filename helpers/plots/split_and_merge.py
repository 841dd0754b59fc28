"""Lesson 04: the shapes on the way through multi-head attention, from x to out."""

from . import core

BOX, STEP, LINE, HEIGHT = 1.75, 2.75, 1.2, 0.62  # inches: a box's width, from box to box, from line to line, a box
ACROSS = 3  # boxes on a line


def head_shapes(*, B, T, d_model, h, alt=None):  # noqa: N803
    """Show the shape at each step from x to out, with the step written on its arrow.

    B: batch. T: words. d_model: features. h: heads. alt: str, or None to derive it.
    ValueError if h does not divide d_model.
    """
    from matplotlib.figure import Figure

    if d_model % h:
        raise ValueError(f"d_model={d_model} is not divisible by n_heads={h}")
    d_k = d_model // h
    words, numbers = _steps(B, T, d_model, h, d_k)
    if alt is None:
        said = [f"{step}: {name} {shape}" for (step, name, _), shape in zip(words[1:], numbers[1:], strict=True)]
        alt = f"Shapes on the way through {h} heads. x {numbers[0]}; {'; '.join(said)}.".replace("\n", " ")
    with core.course_style():
        width, height = ACROSS * STEP - (STEP - BOX) + 0.3, 2 * LINE + HEIGHT + 0.25
        figure = Figure(figsize=(width, height))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(-0.15, width - 0.15), ylim=(height - 0.15, -0.1))
        axes.axis("off")
        for i, ((step, name, symbols), shape) in enumerate(zip(words, numbers, strict=True)):
            line, place = divmod(i, ACROSS)
            x = STEP * (place if line % 2 == 0 else ACROSS - 1 - place)  # there and back, like a plough
            y = LINE * line
            _box(axes, x, y, name, symbols, shape, headed="h" in symbols)
            if i:
                _step(axes, i, x, y, step)
        core.show(figure, core.checked_alt(alt))


def _steps(B, T, d_model, h, d_k):  # noqa: N803
    """(what is done, the name of what it gives, its shape in symbols) in order, and the shapes in numbers."""
    flat, cut, heads = "(B, T, d_model)", "(B, T, h, d_k)", "(B, h, T, d_k)"
    words = (
        ("", "x", flat),
        ("project", "Q, K, V", flat),
        ("split:\nreshape", "Q, K, V", cut),
        ("split:\ntranspose", "Q, K, V", heads),
        ("softmax of\nQ Kᵀ / √d_k", "weights", "(B, h, T, T)"),
        ("× V", "heads", heads),
        ("merge:\ntranspose", "heads", cut),
        ("merge:\nreshape", "merged", flat),
        ("× W_o", "out", flat),
    )
    sizes = {"B": B, "T": T, "d_model": d_model, "h": h, "d_k": d_k}
    shapes = [[sizes[name] for name in symbols[1:-1].split(", ")] for *_, symbols in words]
    return words, [f"({', '.join(map(str, shape))})" for shape in shapes]


def _box(axes, x, y, name, symbols, shape, headed):
    """Draw one array: its name, its shape in symbols and in numbers; blue where it has an axis of heads."""
    from matplotlib.colors import to_rgba
    from matplotlib.patches import FancyBboxPatch

    colour = core.BLUE if headed else core.GREY
    style = {"facecolor": to_rgba(colour, 0.16), "edgecolor": colour, "linewidth": 1.3}
    axes.add_patch(FancyBboxPatch((x, y), BOX, HEIGHT, boxstyle="round,pad=0,rounding_size=0.08", **style))
    axes.text(x + BOX / 2, y + 0.13, name, ha="center", va="center", fontsize=10, weight="bold")
    axes.text(x + BOX / 2, y + 0.33, symbols, ha="center", va="center", fontsize=9)
    axes.text(x + BOX / 2, y + 0.50, shape, ha="center", va="center", fontsize=9, color="#444444")


def _step(axes, i, x, y, step):
    """Draw the arrow that leads to box i, and write on it what is done."""
    arrow = {"arrowstyle": "-|>", "color": "#777777", "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
    line, place = divmod(i, ACROSS)
    if place == 0:  # from the line above, straight down
        start, end = (x + BOX / 2, y - LINE + HEIGHT + 0.03), (x + BOX / 2, y - 0.03)
        axes.text(x + BOX / 2 + 0.07, y - (LINE - HEIGHT) / 2, step, ha="left", va="center", fontsize=9)
    else:
        right = line % 2 == 0
        start = (x - (STEP - BOX) + 0.03, y + HEIGHT / 2) if right else (x + STEP - 0.03, y + HEIGHT / 2)
        end = (x - 0.03, y + HEIGHT / 2) if right else (x + BOX + 0.03, y + HEIGHT / 2)
        middle = (start[0] + end[0]) / 2
        axes.text(middle, y + HEIGHT / 2 - 0.06, step, ha="center", va="bottom", fontsize=9)
    axes.annotate("", xy=end, xytext=start, arrowprops=arrow)
