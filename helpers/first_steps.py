"""Lesson 00: the one function on which a learner sees how an exercise answers."""
import numpy as np


def weighted_average(values, weights):
    """Mean of some values, each counted as much as its weight says.

    values, weights: (n,), weights positive or zero, of any sum but 0.
    Both may hold whole numbers. Returns a number.
    """
    return np.sum(weights * values) / np.sum(weights)
