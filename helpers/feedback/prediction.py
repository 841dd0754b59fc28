"""A guess made before the cell that shows the answer: `predict` records it, `reveal` in the next cell answers it.

A wrong guess is never marked as a failure; it is always answered with why.
"""

from dataclasses import dataclass

from .registry import get_prediction
from .report import boxed, marked, plain, show
from .values import describe, is_real_number

SYMBOLS = {"todo": "○", "recorded": "●", "right": "✓", "wrong": "≈"}

_guesses = {}  # what was guessed in this session, by the prediction's name


@dataclass(frozen=True, repr=False)
class Reply:
    """What is said of one prediction. status: "todo" (no guess yet), "recorded", "right" or "wrong"."""

    id: str
    status: str
    text: str

    def __str__(self):
        return f"{SYMBOLS[self.status]} prediction: {plain(self.text)}"

    __repr__ = __str__

    def _repr_html_(self):
        return boxed(marked(f"{SYMBOLS[self.status]} prediction: {self.text}"), "#0072B2")


def predict(prediction_id, guess=...):
    """Record a guess; `...` means no guess yet. The answer comes in the next cell, from `reveal`.

    prediction_id: its name. guess: a number, or one of the choices that the lesson lists.
    Raises ValueError for a name that does not exist.
    """
    show(recorded(prediction_id, guess))


def reveal(prediction_id):
    """Say what was guessed, what is so, and why. Raises ValueError for a name that does not exist."""
    show(answered(prediction_id))


def recorded(prediction_id, guess=...):
    """Keep a guess for `reveal`, and return the Reply that says so without the answer."""
    asked = get_prediction(prediction_id)
    _guesses.pop(asked.id, None)
    if guess is ...:
        how = f"one of {_listed(asked.choices)}" if asked.choices else "a number"
        text = f"no guess yet. Write {how} in place of `...` and run the cell; a wrong guess costs nothing."
        return Reply(asked.id, "todo", text)
    problem = _unusable(asked, guess)
    if problem:
        return Reply(asked.id, "todo", problem)
    _guesses[asked.id] = _canonical(asked, guess)
    return Reply(asked.id, "recorded", f"you say {_said(asked, _guesses[asked.id])}. Run the next cell to see.")


def answered(prediction_id):
    """The Reply to the latest guess, without showing it."""
    asked = get_prediction(prediction_id)
    answer = _said(asked, asked.answer)
    if asked.id not in _guesses:
        return Reply(asked.id, "todo", f"there was no guess; it is {answer}. {asked.why}")
    guess = _guesses[asked.id]
    if asked.choices:
        right = guess == asked.answer
    else:
        right = abs(guess - asked.answer) <= asked.tolerance * abs(asked.answer)
    if right:
        return Reply(asked.id, "right", f"yes, {answer}. {asked.why}")
    return Reply(asked.id, "wrong", f"you said {_said(asked, guess)}; it is {answer}. {asked.why}")


def _unusable(asked, guess):
    """Why a guess cannot be recorded, as a sentence; None where it can."""
    if asked.choices:
        if _canonical(asked, guess) is None:
            return f"please choose one of {_listed(asked.choices)}; {describe(guess)} came."
    elif not is_real_number(guess):
        return f"a number is wanted here; {describe(guess)} came."
    return None


def _canonical(asked, guess):
    """A guess as it is kept: the choice as it is listed, or the number as a float; None for no known choice."""
    if not asked.choices:
        return float(guess)
    folded = {choice.casefold(): choice for choice in asked.choices}
    return folded.get(guess.strip().casefold()) if isinstance(guess, str) else None


def _said(asked, answer):
    return f"“{answer}”" if asked.choices else f"{answer:g}"


def _listed(choices):
    return ", ".join(f'`"{choice}"`' for choice in choices)
