"""Lesson 10 where the encoder is not installed: its cells say in one sentence what they would show, and run on.

A cell that needs the encoder begins with a comment, "# Needs the encoder: ..." and what the cell does. While the
encoder is missing, IPython turns such a cell into that sentence before it runs it (an input transformer); what it
reveals of a prediction, it still reveals. Cells without that comment are left alone.
"""

from helpers import encoder
from helpers.safetensors_reader import WrongFile

MARK = "# Needs the encoder:"
INSTALL = "%pip install --no-deps --require-hashes -r ../encoder.txt"


class MissingEncoder:
    """Stands for the encoder where there is none; using it says why."""

    def __init__(self, why):
        self.why = why

    def __repr__(self):
        return self.why

    def __getattr__(self, name):
        if name.startswith("_"):  # what copy, pickle and IPython ask for
            raise AttributeError(name)
        raise RuntimeError(self.why)


def open_encoder():
    """The encoder, or a MissingEncoder; says which, and what to do. Until it is there, its cells only speak."""
    try:
        found = encoder.load()
        why = f"The encoder ({encoder.PACKAGE}) is not installed"
    except WrongFile as wrong:
        found, why = None, f"{wrong}: nothing was read from it"
    _set_speaking(found is None)
    if found is not None:
        return found
    print(
        f"{why}. This lesson runs to its end without it: cells that need it say what they would show.\n"
        f"To install it (84 MB): make encoder. Without make, run this in a cell: {INSTALL}\n"
        "Then run this cell again."
    )
    return MissingEncoder(why)


def spoken(lines):
    """The lines of a cell as they are run while the encoder is missing. lines: list of str, as IPython has them."""
    if not lines or not lines[0].startswith(MARK):
        return lines
    sentence = lines[0].removeprefix(MARK).strip()
    reveals = [line for line in lines if line.startswith("reveal(")]
    return [f"print({f'○ Needs the encoder: {sentence}'!r})\n", *reveals]


def _set_speaking(wanted):
    """Put `spoken` among IPython's input transformers, or take it out."""
    from IPython import get_ipython

    shell = get_ipython()
    if shell is None:
        return
    transformers = shell.input_transformers_cleanup
    if spoken in transformers:
        transformers.remove(spoken)
    if wanted:
        transformers.append(spoken)
