"""A guess made before the cell that shows the answer: `predict` records it, `reveal` in the next cell answers it.

A wrong guess is never marked as a failure; it is always answered with why. In a notebook a guess is a click on a
button; the choice as text does the same, with quotes or without.
"""

import ast
import builtins
import re
import sys
from dataclasses import dataclass

from .registry import get_prediction
from .report import boxed, in_notebook, marked, plain, show
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
    """Record a guess; `...` means no guess yet, and offers the choices as buttons in a notebook.

    The answer comes in the next cell, from `reveal`.
    prediction_id: its name. guess: a number, or one of the choices that the lesson lists.
    Raises ValueError for a name that does not exist.
    """
    asked = get_prediction(prediction_id)
    buttons = _buttons(asked) if guess is ... and asked.choices and in_notebook() else None
    if buttons is None:
        show(recorded(prediction_id, guess))
    else:
        from IPython.display import display

        display(buttons)


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


def _buttons(asked):
    """A row of buttons, one per choice, that record a guess when clicked; None without ipywidgets.

    A guess that was clicked before stays: the cell may run again, as in Run All.
    """
    try:
        import ipywidgets
    except ImportError:
        return None
    said = ipywidgets.HTML()
    style = {"button_width": "auto", "description_width": "initial"}
    row = ipywidgets.ToggleButtons(
        options=asked.choices, value=_guesses.get(asked.id), description=f"Your guess ({asked.id})", style=style
    )

    def note(_=None):
        if row.value is None:
            text = f"no guess yet. Click on one, or write it in place of `...`, for example `{asked.choices[0]!r}`."
            said.value = Reply(asked.id, "todo", text)._repr_html_()
        else:
            said.value = recorded(asked.id, row.value)._repr_html_()

    row.observe(note, "value")
    note()
    return ipywidgets.VBox([row, said])


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


# A guess typed without quotes

_QUOTES = "\"'“”„‘’`"
_TYPED = re.compile(r"""^(\s*predict\(\s*(["'])([\w-]+)\2\s*,\s*)(\S.*?)(\s*,?\s*\)\s*(?:\#.*)?)$""")


def quoted_guesses(lines):
    """The lines of a cell with quotes around a choice that was typed without them, or with those of a word processor.

    `predict("who", the books)` is no Python, and `predict("who", books)` names something else or nothing.
    """
    return [_with_quotes(line) for line in lines]


def _with_quotes(line):
    code = line.rstrip("\n")
    typed = _TYPED.match(code)
    if not typed or not _needs_quotes(typed[3], typed[4]):
        return line
    return f"{typed[1]}{typed[4].strip(_QUOTES)!r}{typed[5]}{line[len(code) :]}"


def _needs_quotes(prediction_id, text):
    """Whether what stands in the place of the guess is meant as text and is not written as text."""
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return True
    if not isinstance(node, ast.Name):
        return False
    try:
        choices = get_prediction(prediction_id).choices
    except (ValueError, LookupError):
        return False
    known = node.id in vars(builtins) or node.id in _names_of_the_notebook()
    return not known or node.id.casefold() in (choice.casefold() for choice in choices)


def _names_of_the_notebook():
    shell = _shell()
    return shell.user_ns if shell else {}


def _shell():
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def _read_cells_before_python_does():
    """Let IPython hand every cell to `quoted_guesses` first; once per session."""
    transformers = getattr(_shell(), "input_transformers_cleanup", None)
    if transformers is not None and all(
        getattr(known, "__name__", "") != quoted_guesses.__name__ for known in transformers
    ):
        transformers.append(quoted_guesses)


_read_cells_before_python_does()
