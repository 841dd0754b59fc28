"""Lesson 00: one small exercise that shows how feedback works."""
import numpy as np

from ... import first_steps
from ..exercise import Case, Exercise, Mistake


def _case(name, values, weights):
    return Case(name, lambda: (np.array(values, dtype=float), np.array(weights, dtype=float)), {"n": len(values)})


EXERCISES = (
    Exercise(
        id="0.1",
        reference=first_steps.weighted_average,
        covers="equal and unequal weights, weights that sum to 1, 4 or 0.5, one value",
        cases=(
            _case("three values, weights that sum to 4", [10, 20, 60], [2, 1, 1]),
            _case("weights that sum to 1", [1, 2, 3, 4, 10], [0.5, 0.2, 0.1, 0.1, 0.1]),
            _case("small weights", [-1, 5], [0.375, 0.125]),
            _case("one value", [7], [3]),
            _case("a weight of zero", [100, 2, 4, 6], [0, 1, 1, 3]),
        ),
        mistakes=(
            Mistake("not-divided", old=" / np.sum(weights)", new="",
                message="You added up weight times value but did not divide by the sum of the weights, which need not be 1."),
            Mistake("divided-by-count", old="np.sum(weights)", new="len(values)",
                message="You divided by the number of values; divide by the sum of the weights."),
            Mistake("plain-mean", old="np.sum(weights * values) / np.sum(weights)", new="np.mean(values)",
                message="You took the plain mean, in which every value counts the same; the weights say how much each one counts."),
            Mistake("sum-of-values", old="np.sum(weights)", new="np.sum(values)",
                message="You divided by the sum of the values; divide by the sum of the weights."),
            Mistake("weights-ignored-in-the-sum", old="np.sum(weights * values)", new="np.sum(values)",
                message="You added up the values as they are: multiply each by its weight first."),
            Mistake("whole-division", old=" / np.sum", new=" // np.sum",
                message="`//` drops what comes after the decimal point: divide with `/`."),
            Mistake("not-summed", old="np.sum(weights * values)", new="(weights * values)",
                message="You divided each product by the sum of the weights but did not add the products up: one number is wanted."),
        ),
        indistinguishable=(("divided-by-count", "weights-ignored-in-the-sum"),),  # together: the plain mean
        alternatives=(
            "def weighted_average(values, weights):\n    return np.average(values, weights=weights)",
            "def weighted_average(values, weights):\n    shares = weights / weights.sum()\n    return shares @ values",
            "def weighted_average(values, weights):\n    total = 0.0\n    for value, weight in zip(values, weights):\n"
            "        total += value * weight\n    return total / sum(weights)",
        ),
    ),
)
PREDICTIONS = ()
