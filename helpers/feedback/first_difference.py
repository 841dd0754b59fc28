"""How far an answer is right: its values matched with the reference's own, whatever their names.

Two things are said, and both are proved by running. A value is right if it equals one of the reference's on several
cases. A value is the one that is wrong if all cases come out right once the reference's value is put in its place.
"""

import ast
import inspect
import textwrap
from dataclasses import dataclass

import numpy as np

from . import variants

STEPS, CASES_COMPARED, TRIED = 40, 4, 120  # steps looked at, cases on which a value must agree, substitutions tried
LONGEST_LABEL = 40  # characters of an expression that is quoted
LARGEST = 200_000  # entries of an array that is compared


@dataclass(frozen=True)
class Value:
    """A value in a learner's code: its label there, its line, and what it is or should be ("the scores")."""

    label: str
    line: int
    phrase: str


@dataclass(frozen=True)
class Difference:
    """How far an answer is right.

    right: values that are right, the last one before the mistake, or, where that is not found, all that are.
    wrong: the first value that is not, and with which all would be right, or None. relation: what the wrong value is
    beside the right one, or "". misnamed: a value that is one of the reference's, under the name of another, or None.
    """

    right: tuple[Value, ...]
    wrong: Value | None = None
    relation: str = ""
    misnamed: Value | None = None

    @property
    def line(self):
        return (self.misnamed or self.wrong or self.right[-1]).line

    @property
    def sentence(self):
        """What a report says of it."""
        if self.misnamed:
            value = self.misnamed
            return f"Your `{value.label}` in line {value.line} holds {value.phrase}."
        fine = _said_right(self.right)
        if not self.wrong:
            return f"{fine} Look at the rest."
        value = self.wrong
        wrong = f"`{value.label}` in line {value.line} is {'the first that is not' if fine else 'not right'}"
        relation = f", and yours is {self.relation}" if self.relation else ""
        return f"{fine} {wrong}: it should be {value.phrase}{relation}. All that follows is right.".strip()


def _said_right(values):
    if not values:
        return ""
    said = [f"`{value.label}` in line {value.line} ({value.phrase})" for value in values[-3:]]
    if len(said) == 1:
        value = values[-1]
        return f"Your `{value.label}` in line {value.line} is right ({value.phrase})."
    return f"Right so far: {', '.join(said[:-1])} and {said[-1]}."


def find(search):
    """How far an answer is right, as a Difference, or None if nothing certain can be said. search: a Values."""
    return search.difference()


class _Recorder:
    """Keeps the first of each of the values that watched code hands over."""

    def __init__(self, steps):
        self.steps, self.values = steps, {}

    def __call__(self, index, value):
        if index not in self.values and not self.steps[index].in_loop:
            self.values[index] = _kept(value)
        return value


class _Reference:
    """The reference, and the functions of the course that it calls, with their named values on each case."""

    def __init__(self, trees, space, run):
        self.trees, self.space, self.run, self._values = trees, space, run, {}

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
                watched, steps = variants.watched(tree)
                recorders.insert(0, _Recorder(steps))
                space[tree.body[0].name] = variants.Builder(space)(watched, recorders[0])
            self.run(space[self.trees[0].body[0].name], i)
            self._values[i] = {(n, k): found for n, r in enumerate(recorders) for k, found in _named(r)}
        return self._values[i]

    def name(self, i, key):
        return self.values(i)[key][0]


def _named(recorder):
    """The named values that a recorder kept, as (step, (name, value)), without arguments and what equals them."""
    given = [value for k, value in recorder.values.items() if recorder.steps[k].given]
    for k, value in sorted(recorder.values.items()):
        step = recorder.steps[k]
        if bool(step.name) != step.last and not step.given and _telling(value):
            if not any(_equal(value, other) for other in given):
                yield k, (step.name or "result", value)


def _tree_of(definition):
    try:
        return variants.parse(textwrap.dedent(inspect.getsource(definition)))
    except (OSError, TypeError, SyntaxError):
        return None


class Values:
    """One answer's values against the reference's. A step is a value in the answer, a key one in the reference."""

    def __init__(self, tree, space, reference, run, right, order, phrases=None, sizes=None):
        """tree, space: the answer, from `variants.parse`, and the names that its code sees.

        reference: the right function or class. run(variant, i): runs a variant on case i, guarded. right(variant, i):
        the same, and whether it is right. order: indices of the cases, the first wrong one first. phrases: what the
        reference's names stand for ({"scores": "the scores"}). sizes(i): sizes of case i by name ({"d_k": 4}).
        """
        self.watched, self.steps = variants.watched(tree)
        self.theirs, self.run, self.right, self.order = _Reference.of(reference, run), run, right, list(order)
        self.phrases, self.sizes, self.build = phrases or {}, sizes, variants.Builder(space)
        self.first, self._own = self.order[0], {}

    @classmethod
    def of_variant(cls, tree, other):
        """The values of a changed answer, with all else as it is for `other`; raises what compiling it raises."""
        new = cls.__new__(cls)
        new.__dict__.update(other.__dict__, _own={})
        new.watched, new.steps = variants.watched(tree)
        new.own(new.first)
        return new

    def own(self, i):
        """The answer's values on case i, by step."""
        if i not in self._own:
            recorder = _Recorder(self.steps)
            self.run(self.build(self.watched, recorder), i)
            self._own[i] = recorder.values
        return self._own[i]

    def difference(self):
        if self.theirs is None:
            return None
        steps = self.telling_steps()
        keys = {k: key for k in steps if (key := self.same(k)) is not None}
        misnamed = next((k for k in keys if self._under_anothers_name(k, keys[k])), None)
        if misnamed is not None:
            return Difference((), misnamed=self.value(misnamed, keys[misnamed]))
        inner = [k for k in steps if not self.steps[k].last]
        wrong = self._wrong([k for k in inner if k not in keys])
        if wrong is None:
            right = [k for k in inner if k in keys and self.steps[k].name]
            return Difference(tuple(self.value(k, keys[k]) for k in right)) if right else None
        before = [k for k in inner if k in keys and k < wrong[0]]
        if not before and self.steps[wrong[0]].line == max(self.steps[k].line for k in steps):
            return None  # all of it lies in one line: nothing is said by that
        before = [k for k in before if self.steps[k].name][-1:] or before[-1:]
        return Difference(
            tuple(self.value(k, keys[k]) for k in before), self.value(*wrong), self._relation(*wrong)
        )

    def telling_steps(self):
        """The steps of the first wrong case whose values can be told from others, and short enough to be quoted."""
        own = self.own(self.first)
        given = [value for k, value in own.items() if self.steps[k].given]
        telling = [
            k for k in sorted(own)
            if not self.steps[k].given and len(self.steps[k].label) <= LONGEST_LABEL and _telling(own[k])
        ]  # fmt: skip
        return [k for k in telling if not any(_equal(own[k], other) for other in given)][:STEPS]

    def same(self, k):
        """The key of the reference's value that step k equals on every case compared, one of its own name first."""
        keys = [key for key in self.theirs.values(self.first) if self._agree(k, key)]
        named = [key for key in keys if self.theirs.name(self.first, key) == self.steps[k].name]
        return next(iter(named or keys), None)

    def matches_on_first(self, k):
        """What step k equals on the first case alone: (2, key); or nearly: (1, key, how)."""
        value = self.own(self.first)[k]
        for key, (_, theirs) in self.theirs.values(self.first).items():
            if np.shape(value) == np.shape(theirs) and _equal(value, theirs):
                yield 2, key
            else:
                yield from ((1, key, how) for how in _nearly(value, theirs))

    def _agree(self, k, key):
        pairs = [(self.own(i).get(k), self.theirs.values(i).get(key)) for i in self.order[:CASES_COMPARED]]
        both = [(ours, theirs[1]) for ours, theirs in pairs if ours is not None and theirs is not None]
        return bool(both) and pairs[0] is not None and all(_equal(ours, theirs) for ours, theirs in both)

    def _under_anothers_name(self, k, key):
        """Whether step k has the name of one of the reference's values and holds another one."""
        own, name = _bare(self.steps[k].name), _bare(self.theirs.name(self.first, key))
        names = {_bare(self.theirs.name(self.first, other)) for other in self.theirs.values(self.first)}
        return bool(own) and own in names and name != "result" and own != name

    def _wrong(self, steps):
        """The first step, and the reference's value for it, with which every case comes out right; or None."""
        tried = 0
        for k in steps:
            for key in self.keys_for(k):
                tried += 1
                if tried > TRIED:
                    return None
                if self.right_with({k: key}):
                    return k, key
        return None

    def keys_for(self, k):
        """Keys of the reference's values that could stand in step k's place, those of its own name first."""
        name, shape = _bare(self.steps[k].name), np.shape(self.own(self.first)[k])
        fitting = [
            key for key, (theirs, value) in self.theirs.values(self.first).items()
            if (np.shape(value) == shape or _bare(theirs) == name) and not self._under_anothers_name(k, key)
        ]  # fmt: skip
        return sorted(fitting, key=lambda key: _bare(self.theirs.name(self.first, key)) != name)

    def right_with(self, exchanged):
        """Whether every case comes out right once the reference's values stand in place of some steps' values.

        exchanged: {step: key}.
        """
        now = self.first

        def put(index, value):
            theirs = self.theirs.values(now).get(exchanged[index]) if index in exchanged else None
            return value if theirs is None else _copy(theirs[1])

        variant = self.build(self.watched, put)
        for now in self.order:  # noqa: B007 (put reads it)
            self.theirs.values(now)
            if not self.right(variant, now):
                return False
        return True

    def value(self, k, key):
        """Step k as a report speaks of it, and what it is or should be."""
        name = self.theirs.name(self.first, key)
        phrase = self.phrases.get(name) or (f"the course's `{name}`" if name != "result" else "the result")
        later = [other for other in self.theirs.values(self.first) if self.theirs.name(self.first, other) == name]
        unfinished = " so far" if name != "result" and key != later[-1] else ""
        return Value(self.steps[k].label, self.steps[k].line, phrase + unfinished)

    def _relation(self, k, key):
        """What step k's value is beside the right one, if the same can be said on several cases."""
        cases = [i for i in self.order if k in self.own(i) and key in self.theirs.values(i)][:CASES_COMPARED]
        sizes = [self.sizes(i) if self.sizes else {} for i in cases]
        found = [_relations(self.own(i)[k], self.theirs.values(i)[key][1], s) for i, s in zip(cases, sizes, strict=True)]
        return next((r for r in found[0] if len(cases) > 1 and all(r in other for other in found)), "")


def _bare(name):
    """A name as it is compared: `W_q`, `q` and `Q` are one."""
    return name.lower().removeprefix("w_")


# Values ---------------------------------------------------------------------------------------------------------------


def _kept(value):
    """A copy of a value, as it is now, or None where it is nothing to compare."""
    if hasattr(value, "detach"):
        return value.detach().clone() if value.numel() <= LARGEST else None
    if isinstance(value, np.ndarray):
        return value.copy() if value.size <= LARGEST and value.dtype.kind in "fiub" else None
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        return value
    return None


def _copy(value):
    return value.clone() if hasattr(value, "clone") else value.copy() if isinstance(value, np.ndarray) else value


def _array(value):
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.float() if str(value.dtype) in ("torch.bfloat16", "torch.float16") else value
        return value.numpy()
    return np.asarray(value)


def _telling(value):
    """Whether equality with a value says anything: an array of different entries, or a number that is no small size."""
    if value is None:
        return False
    array = _array(value)
    if array.dtype.kind not in "fib" or not array.size:
        return False
    if array.ndim == 0:
        return array.dtype.kind != "b" and abs(float(array)) > 100
    return array.size >= 2 and bool((array != array.flat[0]).any())


def _equal(a, b):
    if a is None or b is None:
        return False
    a, b = _array(a), _array(b)
    if a.shape != b.shape or (a.dtype.kind == "b") != (b.dtype.kind == "b"):
        return False
    if a.dtype.kind == "b":
        return bool((a == b).all())
    coarse = any(x.dtype == np.float32 for x in (a, b))
    a, b = a.astype(float), b.astype(float)
    finite = np.abs(b[np.isfinite(b)])
    scale = max(float(finite.max(initial=0.0)), 1e-30)
    with np.errstate(all="ignore"):
        return bool(np.isclose(a, b, rtol=1e-4 if coarse else 1e-7, atol=(1e-5 if coarse else 1e-9) * scale, equal_nan=True).all())


def _nearly(ours, theirs):
    """How a value is nearly another one: "times" one factor, but for its "signs", or "transposed"."""
    ours, theirs = _array(ours), _array(theirs)
    if "b" in (ours.dtype.kind, theirs.dtype.kind):
        return
    if ours.ndim >= 2 and ours.shape != theirs.shape[:-2] + theirs.shape[:-3:-1]:
        pass
    elif ours.ndim >= 2 and _equal(np.swapaxes(ours, -1, -2), theirs):
        yield "transposed"
    if ours.shape != theirs.shape or not ours.ndim:
        return
    if _equal(np.abs(ours), np.abs(theirs)):
        yield "signs"
    ours, theirs = ours.astype(float), theirs.astype(float)
    at = np.unravel_index(np.argmax(np.abs(theirs)), theirs.shape)
    if np.isfinite(ours).all() and np.isfinite(theirs).all() and theirs[at] and ours[at]:
        if _equal(ours, theirs * (ours[at] / theirs[at])):
            yield "times"


def _relations(ours, theirs, sizes):
    """What can be said of our value beside the right one, most telling first."""
    ours, theirs = _array(ours), _array(theirs)
    if ours.dtype.kind == "b" or theirs.dtype.kind == "b":
        opposite = ours.shape == theirs.shape and ours.dtype.kind == theirs.dtype.kind == "b" and (ours == ~theirs).all()
        return ["its opposite, True for False"] if opposite else []
    ours, theirs = ours.astype(float), theirs.astype(float)
    found = []
    if theirs.ndim >= 2 and _equal(np.swapaxes(ours, -1, -2), theirs):
        found.append("that with its last two axes exchanged")
    if ours.shape != theirs.shape:
        return found
    if _equal(-ours, theirs):
        found.append("that with the opposite sign")
    for name, size in sizes.items():
        for text, factor in ((f"√{name}", size**0.5), (name, size)):
            if size > 1:
                found += [f"{text} times that"] if _equal(ours, theirs * factor) else []
                found += [f"that divided by {text}"] if _equal(ours, theirs / factor) else []
    return found
