"""Lesson 05: what each word has to predict, and who looks at whom in a translator."""

from . import core

CELL = 0.95  # inches from word to word
BOX = {"boxstyle": "round,pad=0.35", "linewidth": 1.3}


def shifted_targets(words):
    """Show a sentence as a model that writes it is trained on it: each input, and the next word as its target.

    words: at least two names. The inputs are all but the last, the targets all but the first.
    """
    from matplotlib.figure import Figure

    inputs, targets = words[:-1], words[1:]
    pairs = "; ".join(f"{word} has the target {target}" for word, target in zip(inputs, targets, strict=True))
    alt = (
        f"Inputs in the lower row, targets in the upper one. {pairs}. "
        f"The input {inputs[-2]} is marked: it may look at itself and at the words on its left, not on its right."
    )
    chosen = len(inputs) - 2
    with core.course_style():
        figure = Figure(figsize=(CELL * (len(inputs) + 0.95), 2.0))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(-1.4, len(inputs) - 0.45), ylim=(-1.0, 1.5))
        axes.axis("off")
        axes.text(-0.6, 0, "inputs", ha="right", va="center", color=core.GREY)
        axes.text(-0.6, 1.15, "targets", ha="right", va="center", color=core.GREY)
        for t, (word, target) in enumerate(zip(inputs, targets, strict=True)):
            seen = t <= chosen
            ground = "#dbeaf5" if seen else "white"
            edge = core.BLUE if seen else "#bbbbbb"
            axes.text(t, 0, word, ha="center", va="center", bbox={**BOX, "facecolor": ground, "edgecolor": edge})
            edge = core.VERMILION if t == chosen else "#bbbbbb"
            axes.text(t, 1.15, target, ha="center", va="center", bbox={**BOX, "facecolor": "white", "edgecolor": edge})
            colour = core.VERMILION if t == chosen else "#bbbbbb"
            _arrow(axes, (t, 0.3), (t, 0.84), colour)
        for t in range(chosen):
            arrow = {"arrowstyle": "-|>", "color": core.BLUE, "linewidth": 1, "shrinkA": 0, "shrinkB": 0}
            arrow["connectionstyle"] = "arc3,rad=-0.25"
            axes.annotate("", xy=(t, -0.27), xytext=(chosen, -0.27), arrowprops=arrow)
        core.show(figure, alt)


def encoder_decoder(masks=True):
    """Show the three attentions of a translator.

    masks: whether to say what each attention hides.
    """
    from matplotlib.figure import Figure

    of_source, of_target = "padding of the source", "future, padding of the target"
    alt = (
        "Sketch of a translator. Left, the encoder: the source sentence goes through self-attention and becomes the "
        "memory. Right, the decoder: the target so far goes through masked self-attention, and then through "
        "cross-attention, whose keys and values come from the memory. Its outputs are used to predict the next "
        "target words."
    )
    if masks:
        alt += (
            " Self-attention and cross-attention hide the padding of the source; masked self-attention hides the "
            "future and the padding of the target."
        )

    def hides(what):
        return f"hides: {what}" if masks else ""

    left, right, wide = 1.55, 5.65, 2.75
    with core.course_style():
        figure = Figure(figsize=(7.4, 4.1))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, 7.4), ylim=(0, 4.1))
        axes.axis("off")
        axes.text(left, 3.95, "encoder: reads the source", ha="center", va="top", color=core.GREY)
        axes.text(right, 3.95, "decoder: writes the target", ha="center", va="top", color=core.GREY)
        _box(axes, left, 0.35, wide, "source words", "", "white")
        _box(axes, left, 1.35, wide, "self-attention", hides(of_source), "#dbeaf5")
        _box(axes, left, 2.35, wide, "memory", "", "white")
        _box(axes, right, 0.35, wide, "target words so far", "", "white")
        _box(axes, right, 1.35, wide, "masked self-attention", hides(of_target), "#dbeaf5")
        _box(axes, right, 2.35, wide, "cross-attention", hides(of_source), "#dbeaf5")
        _box(axes, right, 3.35, wide, "next target words", "", "white")
        for x in (left, right):
            for y in (0.35, 1.35, 2.35) if x == right else (0.35, 1.35):
                _arrow(axes, (x, y + 0.29), (x, y + 0.71), core.GREY)
        _arrow(axes, (left + wide / 2, 2.35), (right - wide / 2, 2.35), core.VERMILION)
        axes.text((left + right) / 2, 2.45, "keys and\nvalues", ha="center", va="bottom", fontsize=9)
        axes.text(right + 0.1, 1.85, "queries", ha="left", va="center", fontsize=9)
        core.show(figure, alt)


def _box(axes, x, y, wide, name, below, ground):
    """Draw a box 0.58 inches high around (x, y), with a name and a smaller line below it."""
    from matplotlib.patches import FancyBboxPatch

    corner = (x - wide / 2, y - 0.29)
    axes.add_patch(
        FancyBboxPatch(corner, wide, 0.58, "round,pad=0,rounding_size=0.08", facecolor=ground, edgecolor="#777777")
    )
    axes.text(x, y + (0.1 if below else 0), name, ha="center", va="center")
    axes.text(x, y - 0.14, below, ha="center", va="center", fontsize=9, color=core.GREY)


def _arrow(axes, start, end, colour):
    arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=end, xytext=start, arrowprops=arrow)
