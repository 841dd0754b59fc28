"""Lesson 00: one small exercise that shows how feedback works."""
import numpy as np

from ... import first_steps
from ..exercise import Case, Exercise, Mistake, Prediction
from .common import alone


def _case(name, values, weights):
    return Case(name, lambda: (np.array(values, dtype=float), np.array(weights, dtype=float)), {"n": len(values)})


def _case_as_written(name, values, weights):
    """Whole numbers stay whole numbers."""
    return Case(name, lambda: (np.array(values), np.array(weights)), {"n": len(values)})


def _loop(change, *, over="values, weights", result="total / np.sum(weights)"):
    """A weighted average by loop, with what happens to the total in each round."""
    head = f"def weighted_average(values, weights):\n    total = 0.0\n    for value, weight in zip({over}):\n"
    return f"{head}        {change}\n    return {result}"


def _other(id, message, old, new):
    return alone(id, message, (old, new))


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
            _case_as_written("values with fractions, weights of whole numbers", [0.25, 7.5, 3.75], [2, 3, 1]),
            _case_as_written("values of whole numbers, weights with fractions", [9, 2, 5, 4], [0.5, 1.25, 0.75, 2.0]),
        ),
        mistakes=(
            Mistake("not-divided", old=" / np.sum(weights)", new="",
                message="You added up weight times value but did not divide by the sum of the weights, which need not be 1."),
            Mistake("divided-by-count", old="np.sum(weights)", new="len(values)",
                message="You divided by the number of values; divide by the sum of the weights."),
            Mistake("divided-by-positive-weights", old="np.sum(weights)", new="np.count_nonzero(weights)",
                message="You divided by how many weights are above 0; divide by their sum, in which a weight of 2 counts twice."),
            Mistake("plain-mean", old="np.sum(weights * values) / np.sum(weights)", new="np.mean(values)",
                message="You took the plain mean, in which every value counts the same; the weights say how much each one counts."),
            Mistake("sum-of-values", old="np.sum(weights)", new="np.sum(values)",
                message="You divided by the sum of the values (or took the two arguments in the other order: values come first); divide by the sum of the weights."),
            Mistake("weights-ignored-in-the-sum", old="np.sum(weights * values)", new="np.sum(values)",
                message="You added up the values as they are: multiply each by its weight first."),
            Mistake("whole-division", old=" / np.sum", new=" // np.sum",
                message="`//` drops what comes after the decimal point: divide with `/`."),
            Mistake("not-summed", old="np.sum(weights * values)", new="(weights * values)",
                message="You divided each product by the sum of the weights but did not add the products up: one number is wanted."),
            _other("values-and-sum-of-weights", "You multiplied the values by the sum of the weights: multiply each value by its own weight, and add up the products.",
                "np.sum(weights * values)", "np.sum(weights) * values"),
            _other("divided-by-each-weight", "You divided the total by every single weight; divide it by their sum, `np.sum(weights)`.", "/ np.sum(weights)", "/ weights"),
            _other("rounded", "You rounded the average to a whole number: return it as it is.",
                "np.sum(weights * values) / np.sum(weights)", "round(np.sum(weights * values) / np.sum(weights))"),
            _other("upside-down", "Your fraction is upside down: the sum of weight times value stands above the line.",
                "np.sum(weights * values) / np.sum(weights)", "np.sum(weights) / np.sum(weights * values)"),
            _other("divided-by-length-of-weights", "You divided by the length of the weights as a vector, the root of the sum of their squares; divide by their sum.",
                "np.sum(weights)", "np.linalg.norm(weights)"),
            _other("divided-by-largest", "You divided by the largest weight; divide by the sum of all weights.", "np.sum(weights)", "np.max(weights)"),
            _other("divided-twice", "You divided twice, by the number of values (`np.mean` does that) and by the sum of the weights: take the sum of the products, not their mean.",
                "np.sum(weights * values)", "np.mean(weights * values)"),
            _other("softmax-of-weights", "You made shares of the weights by exponentials; here each weight counts as it is: divide it by their sum.",
                "np.sum(weights * values) / np.sum(weights)", "np.sum(np.exp(weights) * values) / np.sum(np.exp(weights))"),
            _other("added-not-multiplied", "You added weight and value; multiply them, so that a value with weight 2 counts twice.", "weights * values", "weights + values"),
            _other("example-inside", "Your answer is 25, whatever comes in: use the arguments `values` and `weights`, not the numbers of the example.",
                "np.sum(weights * values) / np.sum(weights)", "25.0"),
            _other("divided-by-the-example", "You divided by 4, the sum of the weights in the example only: `np.sum(weights)` is right for any.", "np.sum(weights)", "4"),
            Mistake("return-inside-loop", source=_loop("total += value * weight\n        return total / np.sum(weights)"),
                message="Your function returns in the first round of its loop, so only the first value counts: move `return` out of the loop."),
            Mistake("overwritten-not-added", source=_loop("total = value * weight"),
                message="Each round of your loop throws away the total so far, so only the last value counts: add to it with `+=`."),
            Mistake("last-value-left-out", source=_loop("total += value * weight", over="values[:-1], weights[:-1]"),
                message="The last value does not count in your sum: a loop over `range(len(values) - 1)` stops one short."),
            Mistake("first-value-left-out", source=_loop("total += value * weight", over="values[1:], weights[1:]"),
                message="The first value does not count in your sum: places are counted from 0."),
            Mistake("average-with-axis", source="def weighted_average(values, weights):\n    return np.average(values, weights)",
                message="The second argument of `np.average` is the axis: name the weights, `weights=weights`."),
            Mistake("mean-with-weights", source="def weighted_average(values, weights):\n    return np.mean(values, weights=weights)",
                message="`np.mean` knows no weights; `np.average` does, or write the sums yourself."),
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
PREDICTIONS = (
    Prediction(
        "doubled-weights", "it stays the same", choices=("it doubles", "it stays the same", "it halves"),
        why="The sum of weight times value doubles, and so does the sum of the weights. Only the shares of the weights count.",
    ),
)
