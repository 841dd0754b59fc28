"""Pictures of lesson 09, each with an alt text made from what it shows."""

import numpy as np

from . import heatmaps, lines

SMOOTHED_OVER = 10  # steps of a training


def likeness(curves):
    """How alike rows become in a stack of layers. curves: dict from kind of stack to (n_layers + 1,) mean cosines."""
    layers = range(len(next(iter(curves.values()))))
    told = [f"{name} {_told(values[0])} and {_told(values[-1])}" for name, values in curves.items()]
    lines(layers, curves, xlabel="layers", ylabel="mean cosine of two rows", title="How alike are the words?",
          alt=f"Mean cosine of two rows before the first layer and after the last: {'; '.join(told)}.")


def losses(histories):
    """Training losses, each the mean of ten steps. histories: dict from name to a list of losses in bits."""
    steps = np.arange(SMOOTHED_OVER, len(next(iter(histories.values()))) + 1)
    window = np.ones(SMOOTHED_OVER) / SMOOTHED_OVER
    curves = {name: np.convolve(values, window, "valid") for name, values in histories.items()}
    told = [f"{name} ends at {_told(values[-1])}" for name, values in curves.items()]
    lines(steps, curves, xlabel="step", ylabel="training loss, bits per character", marks=False,
          alt=f"Training losses over {steps[-1]} steps: {'; '.join(told)}.")


def learning(history, counts):
    """The loss on text held out during a training. history: a History. counts: dict from name to a level in bits."""
    below = [name for name, level in counts.items() if history.validation[-1] < level]
    lines(history.steps, {"your model": history.validation}, guides=counts, xlabel="step", marks=False,
          ylabel="bits per character, held out", title="The model learns, the tables only count",
          alt=f"Bits per character of text held out: the model falls from {_told(history.validation[0])} to "
              f"{_told(history.validation[-1])}, below {', '.join(below) or 'none of the tables'}. "
              f"The tables: {'; '.join(f'{name} {_told(level)}' for name, level in counts.items())}.")


def reach(curves):
    """What a character costs by how many before it were read. curves: dict from name to (numbers read, bits)."""
    told = [
        f"{name} from {_told(bits[0])} with {read[0]} to {_told(bits[-1])} with {read[-1]}"
        for name, (read, bits) in curves.items()
    ]
    lines({name: read for name, (read, _) in curves.items()}, {name: bits for name, (_, bits) in curves.items()},
          log="x", xlabel="characters read", ylabel="bits per character", title="How far does it look?",
          alt=f"Bits per character by the number of characters read: {'; '.join(told)}.")


def second_time(curves):
    """What foreseeable words cost during a training. curves: dict from name to a Curve of helpers.induction."""
    told = [f"{name} from {_told(curve.bits[0])} to {_told(curve.bits[-1])}" for name, curve in curves.items()]
    lines({name: curve.steps for name, curve in curves.items()}, {name: curve.bits for name, curve in curves.items()},
          xlabel="step", ylabel="bits per word, second time", title="Words that were there before", marks=False,
          alt=f"Bits per word the second time it is seen: {'; '.join(told)}.")


def two_heads(weights, words):
    """Where the heads of two layers look in one sequence. weights: (2, T, T). words: T names."""
    favourites = [_favourite(layer) for layer in np.asarray(weights)]
    heatmaps([(f"layer {i}", layer) for i, layer in enumerate(weights)], rows=words, columns=words,
             alt=f"Weights of two layers over {len(words)} words. In the last row, layer 0 looks most at the word "
                 f"{favourites[0]} back, layer 1 at the word {favourites[1]} back.")


def _favourite(weights):
    """How many places back the last row looks most."""
    return len(weights) - 1 - int(np.argmax(weights[-1]))


def _told(number):
    return f"{float(number):.1f}"
