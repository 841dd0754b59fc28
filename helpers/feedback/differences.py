"""How far an answer is right, as it is told: values that are, the first that is not, and what that should be."""

from dataclasses import dataclass

from .messages import Told, all_right


@dataclass(frozen=True)
class Value:
    """A value in a learner's code: its label there, its line, and what it is or should be ("the scores")."""

    label: str
    line: int
    phrase: str

    @property
    def plain(self):
        """Whether what it is or should be is what its own name says."""
        return self.phrase == f"the {self.label}"


@dataclass(frozen=True)
class Difference(Told):
    """How far an answer is right.

    right: values that are right, the last one before the mistake, or, where that is not found, all that are.
    wrong: the first value that is not, and with which all would be right, or None. relation: what the wrong value is
    beside the right one, or "". since: the line of the first value between the right and the wrong one, if it is an
    earlier line than the wrong one's: it is none of the reference's, and the mistake may be in it already. misnamed:
    values of the reference's that stand under each other's names. complete: a value that is all that should be
    returned, though something else is. off: a value of another shape than one of the reference's, which a step more
    turns into it. step: that step, a clause such as "summed over its last axis".
    pair: an entry of the wrong value beside the right one, in words.
    """

    right: tuple[Value, ...]
    wrong: Value | None = None
    relation: str = ""
    since: int | None = None
    misnamed: tuple[Value, ...] = ()
    complete: Value | None = None
    off: Value | None = None
    step: str = ""
    pair: str = ""

    @property
    def line(self):
        return (self.complete or self.wrong or self.off or [*self.misnamed, *self.right][0]).line

    @property
    def lines_in_doubt(self):
        """(first, last) of the lines that the mistake is in, as far as it is known."""
        if self.wrong:
            return self.since or self.wrong.line, self.wrong.line
        return max((value.line for value in self.right), default=0) + 1, 10**6

    def told(self, values_alone=False):
        if self.misnamed:
            said = [f"`{value.label}` in line {value.line} holds {value.phrase}" for value in self.misnamed]
            return f"Your {', and '.join(said)}."
        if self.complete:
            done = f"`{self.complete.label}` in line {self.complete.line} already is what should be returned"
            return f"{done}. Look at what comes after it."
        fine = _said_right(self.right)
        if self.off:
            value = self.off
            phrase = "" if value.plain else f" as {value.phrase}"
            would = f"`{value.label}` in line {value.line} would be right{phrase} if it were {self.step}"
            return f"{fine} {would}.".strip()
        if not self.wrong:
            return f"{fine} Look at the rest."
        value = self.wrong
        first = fine and not self.since
        wrong = f"`{value.label}` in line {value.line} is {'the first that is not' if first else 'not right'}"
        relation = f", and yours is {self.relation}" if self.relation else ""
        end = "" if relation.endswith("?") else "."
        plain = (value.plain or value.phrase == "the result") and not relation
        should = "" if plain else f": it should be {value.phrase}"
        where = f" Look at lines {self.since} to {value.line}." if self.since else ""
        pair = f" {self.pair}." if self.pair and not relation else ""
        right = all_right(values_alone)
        return f"{fine} {wrong}{should}{relation}{end}{pair}{where} With that put right, {right}.".strip()


def _said_right(values):
    if not values:
        return ""
    said = [f"`{value.label}` in line {value.line} ({value.phrase})" for value in values[-3:]]
    if len(said) == 1:
        value = values[-1]
        return f"Your `{value.label}` in line {value.line} is right ({value.phrase})."
    return f"Right so far: {', '.join(said[:-1])} and {said[-1]}."
