"""What watched code handed over: a learner's values, and the reference's own, named, call by call."""

import ast
import inspect
import textwrap

from . import variants, watching
from .matching import Measured, equal, kept, not_finite, telling
from .values import is_array, is_number

RESULT = "the result"  # stands for the name of what a function returns without one


class Recorder:
    """Keeps the first of each of the values that watched code hands over, for each call of a function by itself.

    beginning: whether a call of this code begins a new call of all; with it `others`, recorders of what it calls.
    """

    def __init__(self, steps, beginning=True, others=()):
        self.steps, self.beginning, self.others, self.calls = steps, beginning, others, [{}]

    def __call__(self, index, value):
        step = self.steps[index]
        if self.beginning and step.given and not (index and self.steps[index - 1].given):
            for recorder in (self, *self.others):
                recorder.calls.append({})
        if index not in self.calls[-1] and not step.in_loop:
            parts = step.given and isinstance(value, tuple)
            self.calls[-1][index] = tuple(kept(part) for part in value) if parts else kept(value)
        return value

    @property
    def values(self):
        """The first value of each step."""
        return {index: value for call in reversed(self.calls) for index, value in call.items()}

    def all(self, index):
        """The values of one step, call by call."""
        return [call[index] for call in self.calls if index in call]

    def given(self):
        """The arguments' values, those of a tuple one by one."""
        values = [value for k, value in self.values.items() if self.steps[k].given]
        return [part for value in values for part in (value if isinstance(value, tuple) else (value,))]


class FirstOdd:
    """Waits for the first value with NaN or infinity among those that watched code computes, loops included.

    odd: "NaN", "infinity" or "". step: where it came up, or None.
    """

    def __init__(self, steps):
        self.steps, self.odd, self.step = steps, "", None

    def __call__(self, index, value):
        step = self.steps[index]
        if not self.odd and not step.given and (is_array(value) or is_number(value)):
            self.odd = not_finite(value)
            self.step = step if self.odd else None
        return value


class Reference:
    """The reference, and the functions of the course that it calls, with their named values on each case."""

    def __init__(self, trees, space, run):
        self.trees, self.space, self.run, self._values, self._recorders = trees, space, run, {}, {}
        self._measured = {}

    @classmethod
    def of(cls, reference, run):
        """The reference watched; None where its source cannot be read."""
        space, tree = variants.globals_of(reference), _tree_of(reference)
        if tree is None:
            return None
        called = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})
        own = [space[name] for name in called if inspect.isfunction(space.get(name))]
        callees = [_tree_of(function) for function in own if function.__module__.startswith("helpers.")]
        return cls([tree, *(callee for callee in callees if callee is not None)], space, run)

    def values(self, i):
        """The reference's values on case i: {key: (name, value)}, in the order of the reference's lines."""
        if i not in self._values:
            space, recorders = dict(self.space), []
            for tree in reversed(self.trees):  # callees first, so that the reference finds them
                watched, steps = watching.watched(tree)
                recorders.insert(0, Recorder(steps, tree is self.trees[0], tuple(recorders)))
                space[tree.body[0].name] = variants.Builder(space)(watched, recorders[0])
            self.run(space[self.trees[0].body[0].name], i)
            self._recorders[i] = recorders
            self._values[i] = {(n, k): found for n, r in enumerate(recorders) for k, found in _named(r)}
            for (n, k), (name, value) in self._values[i].items():
                if n and name == RESULT:
                    self._values[i][n, k] = f"what `{self.trees[n].body[0].name}` gives", value
        return self._values[i]

    def measured(self, i):
        """The same values, each a Measured: {key: value}."""
        if i not in self._measured:
            self._measured[i] = {key: Measured(value) for key, (_, value) in self.values(i).items()}
        return self._measured[i]

    def all(self, i, key):
        """The same value on case i, call by call."""
        return self._recorders[i][key[0]].all(key[1]) if key in self.values(i) else []

    def is_all(self, i, key):
        """Whether a value is all that the reference returns."""
        last = [step for step in watching.watched(self.trees[0])[1] if step.last]
        keys = [(n, k) for n, k in self.values(i) if n == 0]
        return len(last) == 1 and key == keys[-1] and self.name(i, key) in (RESULT, last[0].name)

    def name(self, i, key):
        return self.values(i)[key][0]


def _named(recorder):
    """The named values that a recorder kept, as (step, (name, value)), without arguments and what equals them."""
    given = recorder.given()
    for k, value in sorted(recorder.values.items()):
        step = recorder.steps[k]
        if bool(step.name) != step.last and not step.given and telling(value):
            if not any(equal(value, other) for other in given):
                yield k, (step.name or RESULT, value)


def _tree_of(definition):
    try:
        return variants.parse(textwrap.dedent(inspect.getsource(definition)))
    except (OSError, TypeError, SyntaxError):
        return None
