"""A guess made before the cell that shows the answer: never marked as a failure, always answered with why."""

from dataclasses import dataclass

from . import running
from .exercise import get_prediction
from .report import boxed, marked, plain, show


@dataclass(frozen=True, repr=False)
class Reply:
    """The answer to one prediction. status: "todo" (no guess yet), "right" or "wrong"."""

    id: str
    status: str
    text: str

    def __str__(self):
        return (
            f"{'○' if self.status == 'todo' else '✓' if self.status == 'right' else '≈'} prediction: {plain(self.text)}"
        )

    __repr__ = __str__

    def _repr_html_(self):
        return boxed(
            marked(str(self) if self.status == "todo" else f"{str(self)[0]} prediction: {self.text}"), "#0072B2"
        )


def predict(prediction_id, guess=...):
    """Answer a guess and say why; `...` means no guess yet.

    prediction_id: its name. guess: a number, or one of the choices that the lesson lists.
    Raises ValueError for a name that does not exist.
    """
    show(reply(prediction_id, guess))


def reply(prediction_id, guess=...):
    """The Reply to a guess, without showing it."""
    asked = get_prediction(prediction_id)
    if guess is ...:
        how = f"one of {_listed(asked.choices)}" if asked.choices else "a number"
        return Reply(
            asked.id,
            "todo",
            f"no guess yet. Write {how} in place of `...` and run the cell; a wrong guess costs nothing.",
        )
    if asked.choices:
        return _choice(asked, guess)
    if not running.is_number(guess) or isinstance(guess, complex):
        return Reply(asked.id, "todo", f"a number is wanted here; {running.describe(guess)} came.")
    if abs(guess - asked.answer) <= asked.tolerance * abs(asked.answer):
        return Reply(asked.id, "right", f"yes, {asked.answer:g}. {asked.why}")
    return Reply(asked.id, "wrong", f"you said {guess:g}; it is {asked.answer:g}. {asked.why}")


def _choice(asked, guess):
    folded = {choice.casefold(): choice for choice in asked.choices}
    choice = folded.get(guess.strip().casefold()) if isinstance(guess, str) else None
    if choice is None:
        return Reply(
            asked.id, "todo", f"please choose one of {_listed(asked.choices)}; {running.describe(guess)} came."
        )
    if choice == asked.answer:
        return Reply(asked.id, "right", f"yes, {choice}. {asked.why}")
    return Reply(asked.id, "wrong", f"you said “{choice}”; it is “{asked.answer}”. {asked.why}")


def _listed(choices):
    return ", ".join(f'`"{choice}"`' for choice in choices)
