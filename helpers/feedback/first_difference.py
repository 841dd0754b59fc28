"""How far an answer is right: its values matched with the reference's own, whatever their names.

Two things are said, and both are proved by running. A value is right if it equals one of the reference's on several
cases. A value is the one that is wrong if all cases come out right once the reference's value is put in its place.
"""

import contextlib
import copy
import itertools

import numpy as np

from . import watching
from .differences import Difference, Value
from .matching import (
    Measured,
    array_of,
    copied,
    equal,
    matched,
    relations,
    row_factors,
    same_kind,
    step_between,
    telling,
)
from .recording import RESULT, FirstOdd, Recorder, Reference
from .values import shown, worst

STEPS, CASES_COMPARED, TRIED = 40, 4, 120  # steps looked at, cases on which a value must agree, substitutions tried
LONGEST_LABEL = 40  # characters of an expression that is quoted


def find(search):
    """How far an answer is right, as a Difference, or None if nothing certain can be said. search: a Values."""
    return search.difference()


class Values:
    """One answer's values against the reference's. A step is a value in the answer, a key one in the reference."""

    def __init__(self, tree, build, reference, run, right, order, phrases=None, sizes=None):
        """tree, build: the answer, from `variants.parse`, and a `variants.Builder` of its variants.

        reference: the right function or class. run(variant, i): runs a variant on case i, guarded. right(variant, i):
        the same, and whether it is right. order: indices of the cases, the first wrong one first. phrases: what the
        reference's names stand for ({"scores": "the scores"}). sizes(i): sizes of case i by name ({"d_k": 4}).
        """
        self.watched, self.steps = watching.watched(tree)
        self.theirs, self.run, self.right, self.order = Reference.of(reference, run), run, right, list(order)
        self.phrases, self.sizes, self.build = phrases or {}, sizes, build
        self.first, self._own, self._given, self._matches, self._calls = self.order[0], {}, {}, {}, {}
        self._code = None

    def built_by(self, build):
        """The same values, further variants built by another `variants.Builder`."""
        new = copy.copy(self)
        new.build = build
        return new

    def of_variant(self, watched, steps):
        """The values of a changed answer, watched, on the first case; none where it cannot be compiled."""
        new = copy.copy(self)
        new.watched, new.steps, new._own, new._given, new._calls, new._code = watched, steps, {}, {}, {}, None
        new.own(new.first)
        return new

    def own(self, i):
        """The answer's values on case i, by step."""
        if i not in self._own:
            recorder = Recorder(self.steps)
            with contextlib.suppress(Exception):  # of definitions that need more than their own text
                self.run(self._noted_by(recorder), i)
            self._own[i] = {k: value for k, value in recorder.values.items() if not isinstance(value, tuple)}
            self._calls[i] = recorder
            self._given[i] = recorder.given()
        return self._own[i]

    def _noted_by(self, note):
        """The answer, its values handed to note(step, value), which gives what stands in their place."""
        self._code = self._code or self.build.compiled(self.watched)
        return self.build.defined(self._code, note)

    def arises(self, i):
        """Where NaN or infinity first comes up on case i, as a sentence; "" where it cannot be told."""
        first = FirstOdd(self.steps)
        with contextlib.suppress(Exception):  # of definitions that need more than their own text
            self.run(self._noted_by(first), i)
        if not first.odd:
            return ""
        step = first.step
        short = f", in `{step.label}`" if len(step.label) <= LONGEST_LABEL else ""
        return f"The first {first.odd} comes up in line {step.line}{short}."

    def difference(self):
        if self.theirs is None:
            return None
        steps = self.telling_steps()
        keys = self._forward({k: key for k in steps if (key := self.same(k)) is not None})
        misnamed = {k: key for k, key in keys.items() if self._under_anothers_name(k, key)}
        inner = {k: self._own_key(k) for k in misnamed if not self.steps[k].last}
        if inner and self.right_with(inner):
            return Difference((), misnamed=tuple(self.value(k, keys[k]) for k in inner))
        keys = {k: key for k, key in keys.items() if k not in misnamed}
        inner = [k for k in steps if not self.steps[k].last]
        complete = next((k for k in inner if k in keys and self.theirs.is_all(self.first, keys[k])), None)
        if complete is not None and any(self.steps[k].last and keys.get(k) == keys[complete] for k in steps):
            return None  # it is returned as well, so that the values are right and something else is not
        if complete is not None:
            return Difference((), complete=self.value(complete, keys[complete]))
        wrong = self._wrong([k for k in inner if k not in keys])
        if wrong is None:
            right = [k for k in inner if k in keys and self.steps[k].name]
            return self._of_other_shape(inner, keys) or (
                Difference(tuple(self.value(k, keys[k]) for k in right)) if right else None
            )
        before = [k for k in inner if k in keys and k < wrong[0]]
        if not before and self.steps[wrong[0]].line == max(self.steps[k].line for k in steps):
            return None  # all of it lies in one line: nothing is said by that
        before = [k for k in before if self.steps[k].name][-1:] or before[-1:]
        right = tuple(self.value(k, keys[k]) for k in before)
        since = self._since(wrong[0], inner, keys)
        return Difference(right, self.value(*wrong), self._relation(*wrong), since, pair=self._pair(*wrong))

    def _of_other_shape(self, steps, keys):
        """The first value that would be one of the reference's after one step more, such as a sum over an axis."""
        for k in steps:
            if k in keys or not self.steps[k].name:
                continue
            for key, (name, theirs) in self.theirs.values(self.first).items():
                if np.shape(theirs) != np.shape(self.own(self.first)[k]) and name != RESULT:
                    pairs = [(self.own(i).get(k), self.theirs.values(i).get(key)) for i in self.order[:CASES_COMPARED]]
                    both = [(a, b[1]) for a, b in pairs if a is not None and b is not None]
                    step = step_between(both) if len(both) == len(pairs) > 1 else ""
                    if step:
                        before = [r for r in steps if r in keys and r < k and self.steps[r].name][-1:]
                        right = tuple(self.value(r, keys[r]) for r in before)
                        return Difference(right, off=self.value(k, key), step=step)
        return None

    def _since(self, wrong, steps, keys):
        """The line of the first value between the last right one and the wrong one, or None if all is in one line.

        Such a value is none of the reference's, so nobody knows whether the mistake is in it already.
        """
        earlier = [k for k in steps if k < wrong and self.steps[k].line < self.steps[wrong].line]
        reached = max((k for k in earlier if k in keys), default=-1)
        return min((self.steps[k].line for k in earlier if k > reached), default=None)

    def _own_key(self, k):
        """The last of the reference's values that has step k's own name."""
        own = _bare(self.steps[k].name)
        return [key for key, (name, _) in self.theirs.values(self.first).items() if _bare(name) == own][-1]

    def _forward(self, keys):
        """{step: key} without steps that undo what was right: names that go back to an earlier value."""
        reached, found = {}, {}
        for k, key in sorted(keys.items()):
            if key >= reached.get(self.steps[k].name, key):
                found[k] = key
                reached[self.steps[k].name] = key
        return found

    def telling_steps(self):
        """The steps of the first wrong case whose values can be told from others, and short enough to be quoted."""
        own = self.own(self.first)
        given = self._given[self.first]
        short = [k for k in sorted(own) if not self.steps[k].given and len(self.steps[k].label) <= LONGEST_LABEL]
        fresh = (k for k in short if telling(own[k]) and not any(equal(own[k], other) for other in given))
        return list(itertools.islice(fresh, STEPS))

    def same(self, k):
        """The key of the reference's value that step k equals on every case compared, one of its own name first."""
        keys = [key for key in self.theirs.values(self.first) if self._agree(k, key)]
        named = [key for key in keys if self.theirs.name(self.first, key) == self.steps[k].name]
        return next(iter(named or keys), None)

    def matches_on_first(self, k):
        """What step k equals on the first case alone: (2, key); or nearly: (1, key, how)."""
        array = array_of(self.own(self.first)[k])
        look = array.shape, array.dtype, array.tobytes()  # variants of an answer share most of their values
        if look not in self._matches:
            ours, theirs = Measured(array), self.theirs.measured(self.first)
            found = [(key, how) for key, other in theirs.items() for how in matched(ours, other)]
            self._matches[look] = [(1, key, how) if how else (2, key) for key, how in found]
        return self._matches[look]

    def _agree(self, k, key):
        said = False
        for i in self.order[:CASES_COMPARED]:
            self.own(i)
            ours, theirs = self._calls[i].all(k), self.theirs.all(i, key)
            if ours and theirs:
                said = True
                if len(ours) != len(theirs) or not all(map(equal, ours, theirs)):
                    return False
        return said

    def _under_anothers_name(self, k, key):
        """Whether step k has the name of one of the reference's values and holds another one."""
        own, name = _bare(self.steps[k].name), _bare(self.theirs.name(self.first, key))
        names = {_bare(self.theirs.name(self.first, other)) for other in self.theirs.values(self.first)}
        return bool(own) and own in names and " " not in name and own != name

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
        name, ours = _bare(self.steps[k].name), self.own(self.first)[k]
        fitting = [
            key
            for key, (theirs, value) in self.theirs.values(self.first).items()
            if same_kind(value, ours)
            and (np.shape(value) == np.shape(ours) or _bare(theirs) == name)
            and not self._under_anothers_name(k, key)
        ]
        return sorted(fitting, key=lambda key: _bare(self.theirs.name(self.first, key)) != name)

    def right_with(self, exchanged):
        """Whether every case comes out right once the reference's values stand in place of some steps' values.

        exchanged: {step: key}.
        """
        left = {}

        def put(index, value):
            theirs = next(left[index], None) if index in exchanged else None
            return value if theirs is None else copied(theirs)

        variant = self._noted_by(put)
        for i in self.order:
            left.update((k, iter(self.theirs.all(i, key))) for k, key in exchanged.items())
            if not self.right(variant, i):
                return False
        return True

    def value(self, k, key):
        """Step k as a report speaks of it, and what it is or should be."""
        name = self.theirs.name(self.first, key)
        phrase = self.phrases.get(name) or (name if " " in name else f"the course's `{name}`")
        later = [other for other in self.theirs.values(self.first) if self.theirs.name(self.first, other) == name]
        unfinished = " so far" if " " not in name and key != later[-1] else ""
        return Value(self.steps[k].label, self.steps[k].line, phrase + unfinished)

    def _relation(self, k, key):
        """What step k's value is beside the right one, if the same can be said on several cases."""
        cases = [i for i in self.order if k in self.own(i) and key in self.theirs.values(i)][:CASES_COMPARED]
        sizes = [self.sizes(i) if self.sizes else {} for i in cases]
        pairs = [(self.own(i)[k], self.theirs.values(i)[key][1]) for i in cases]
        found = [
            [*relations(*pair, s), *self._factors(i, *pair)] for i, pair, s in zip(cases, pairs, sizes, strict=True)
        ]
        return next((r for r in found[0] if len(cases) > 1 and all(r in other for other in found)), "")

    def _pair(self, k, key):
        """An entry of a named value beside the right one, on the first wrong case; "" where it cannot be told."""
        ours, theirs = self.own(self.first)[k], self.theirs.values(self.first)[key][1]
        label = self.steps[k].name
        if not label or self.theirs.is_all(self.first, key) or np.shape(ours) != np.shape(theirs) or not np.ndim(ours):
            return ""
        where = worst(theirs, ours)
        got, wanted = (shown(array_of(x)[where]) for x in (ours, theirs))
        return f"`{label}[{', '.join(map(str, where))}]` is {got} and should be {wanted}" if got != wanted else ""

    def _factors(self, i, ours, theirs):
        """What the rows of a value are multiplied by: the sum of another of the learner's values, or a number each."""
        factors = row_factors(ours, theirs)
        if factors is None:
            return
        for k, value in self.own(i).items():
            if not self.steps[k].name or np.ndim(value) < 1:
                continue
            sums = array_of(value).astype(float).sum(-1)
            if sums.shape == factors.shape and (sums != 0).all():
                if equal(sums, factors):
                    yield f"that times the sum of `{self.steps[k].label}`: is a division missing?"
                elif equal(1 / sums, factors):
                    yield f"that divided by the sum of `{self.steps[k].label}`"
        yield "that with each row multiplied by a number of its own" if factors.ndim else "that times a number"


def _bare(name):
    """A name as it is compared: `W_q`, `q` and `Q` are one."""
    return name.lower().removeprefix("w_")
