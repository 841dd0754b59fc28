"""Predictions: `predict` only records, `reveal` answers, and no way of typing a guess ends in a traceback."""

import subprocess
import sys
import textwrap

import pytest

from helpers.course import LESSONS
from helpers.feedback import prediction
from helpers.feedback.prediction import answered, quoted_guesses, recorded
from helpers.feedback.registry import get_prediction

NAME = "who-does-is-find"  # its choices: books, shelf, both alike
NUMBER = next(
    name for lesson in LESSONS for name in lesson.predictions
    if (lesson.number in ("01", "03")) and not get_prediction(name).choices
)  # fmt: skip


@pytest.fixture(autouse=True)
def no_guess_yet(monkeypatch):
    monkeypatch.setattr(prediction, "_guesses", {})


def test_recording_a_guess_gives_the_answer_away():
    for guess in get_prediction(NAME).choices:
        said = recorded(NAME, guess)
        assert said.status == "recorded" and str(said) == f"● prediction: you say “{guess}”. Run the next cell to see."


def test_a_wrong_guess_is_called_a_failure():
    recorded(NAME, "books")
    assert str(answered(NAME)).startswith("≈ prediction: you said “books”; it is “shelf”. ")
    recorded(NAME, " SHELF ")
    assert str(answered(NAME)).startswith("✓ prediction: yes, “shelf”. ")


def test_no_guess_keeps_the_answer_from_a_reader():
    assert str(answered(NAME)).startswith("○ prediction: there was no guess; it is “shelf”. ")


# As it is typed


@pytest.mark.parametrize(
    "typed, meant",
    [
        ("books", "'books'"),
        ("both alike", "'both alike'"),
        ("“both alike”", "'both alike'"),
        ("'both alike\"", "'both alike'"),
        ("it dies out", "'it dies out'"),
        ("more than 0", "'more than 0'"),
        ("`books`", "'books'"),
        ("eight", "'eight'"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("end", ["\n", "", "  # my guess\n"])
def test_a_guess_without_proper_quotes_reaches_python_as_it_is(typed, meant, end):
    (line,) = quoted_guesses([f'predict("{NAME}", {typed}){end}'])
    assert line == f'predict("{NAME}", {meant}){end}'


@pytest.mark.parametrize(
    "line",
    [
        f'predict("{NAME}", "books")\n',
        f'predict("{NAME}", ...)\n',
        'predict("spread-at-64", 2**3)\n',
        'predict("spread-at-64", len("four"))\n',
        'predict("spread-at-64", sum)\n',  # a built-in: predict itself says what came
        "x = predict\n",
        'print("predict", the books)\n',
    ],
)
def test_a_line_that_needs_no_quotes_is_changed(line):
    assert quoted_guesses([line]) == [line]


def test_a_variable_of_the_lesson_is_taken_for_the_choice_of_its_name(monkeypatch):
    monkeypatch.setattr(prediction, "_names_of_the_notebook", lambda: {"books": 1, "guess": "shelf"})
    assert quoted_guesses([f'predict("{NAME}", books)']) == [f"predict(\"{NAME}\", 'books')"]
    assert quoted_guesses([f'predict("{NAME}", guess)']) == [f'predict("{NAME}", guess)']


def test_a_cell_with_an_unquoted_guess_ends_in_a_traceback():
    code = f"""
    from IPython.core.interactiveshell import InteractiveShell
    shell = InteractiveShell.instance()
    shell.run_cell("from helpers import predict, reveal")
    for guess in ("shelf", "both alike", "nonsense"):
        result = shell.run_cell(f'predict("{NAME}", {{guess}})\\nreveal("{NAME}")')
        assert result.success, guess
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert "✓ prediction: yes, “shelf”" in run.stdout and "≈ prediction: you said “both alike”" in run.stdout
    assert "please choose one of" in run.stdout and "Traceback" not in run.stdout + run.stderr


# As buttons


def row_and_text(name):
    row, said = prediction._buttons(get_prediction(name)).children
    return row, said


def test_a_click_on_a_button_records_another_guess_or_none():
    row, said = row_and_text(NAME)
    assert row.options == ("books", "shelf", "both alike") and row.value is None
    assert "no guess yet" in said.value and "shelf" not in said.value
    row.value = "books"
    assert "you say “books”" in said.value and answered(NAME).status == "wrong"
    row.value = "shelf"
    assert "you say “shelf”" in said.value and answered(NAME).status == "right"


def test_running_the_cell_again_forgets_what_was_clicked():
    row, _ = row_and_text(NAME)
    row.value = "books"
    again, said = row_and_text(NAME)
    assert again.value == "books" and "you say “books”" in said.value


def test_buttons_are_offered_outside_a_notebook_or_for_numbers(monkeypatch, capsys):
    prediction.predict(NAME)
    assert 'Write one of "books", "shelf", "both alike" in place of ...' in capsys.readouterr().out
    monkeypatch.setattr(prediction, "in_notebook", lambda: True)
    prediction.predict(NUMBER)
    assert "Write a number" in capsys.readouterr().out


def test_without_ipywidgets_a_prediction_cannot_be_made(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    monkeypatch.setattr(prediction, "in_notebook", lambda: True)
    prediction.predict(NAME)
    assert "Write one of" in capsys.readouterr().out
    prediction.predict(NAME, "books")
    assert "you say “books”" in capsys.readouterr().out
