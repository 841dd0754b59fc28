"""Lesson 08: several attentions side by side, in time and in memory."""

from functools import partial

import numpy as np
import torch

from helpers import measure
from helpers.cost import fit_exponent, readable_bytes


def price(f, *inputs):
    """Time and peak memory of one call f(*inputs) in a few words: "73 ms, peak 4.6 MB"."""
    milliseconds = 1000 * measure.median_seconds(f, *inputs)
    decimals = 0 if milliseconds >= 10 else 2
    return f"{milliseconds:6.{decimals}f} ms, peak {readable_bytes(measure.peak_bytes(f, *inputs))}"


def training_step(f):
    """A function that calls f(*inputs) and takes the gradient of the sum of its output for all inputs."""

    def step(*inputs):
        with torch.enable_grad():
            inputs = [x.detach().requires_grad_() for x in inputs]
            f(*inputs).sum().backward()

    return step


class Comparison:
    """Times and peaks of several functions at several lengths, collected bit by bit.

    lengths: (n,). make_inputs: length -> tuple of arguments. progress: wraps the list of jobs, as tqdm does.
    seconds, peaks: dicts from name to (n,), medians of the rounds and bytes.
    """

    def __init__(self, lengths, make_inputs, progress=iter):
        self.lengths, self.make_inputs, self.progress = lengths, make_inputs, progress
        self.seconds, self.peaks = {}, {}

    def add(self, functions, rounds=3):
        """Measure functions, a dict from name to function, in rounds, and print a line for each.

        Short calls repeat for a tenth of a second in each round. A long one is made once: the rounds are its repeats.
        """
        seconds = partial(measure.median_seconds, at_least=0.1, repeats=1)
        times = measure.sweep(seconds, functions, self.make_inputs, self.lengths, rounds, self.progress)
        for name, f in functions.items():
            self.seconds[name] = np.median(times[name], axis=0)
            self.peaks[name] = [measure.peak_bytes(f, *self.make_inputs(length)) for length in self.lengths]
            p = [fit_exponent(self.lengths, each) for each in times[name]]
            print(
                f"{name:14} {1000 * self.seconds[name][-1]:5.0f} ms, peak {readable_bytes(self.peaks[name][-1]):>7} at "
                f"{self.lengths[-1]:,} words; exponent {self.exponent(name):.2f} ({min(p):.2f} to {max(p):.2f})"
            )

    def exponent(self, name):
        """Exponent of the time of one function, fitted to all lengths."""
        return fit_exponent(self.lengths, self.seconds[name])
