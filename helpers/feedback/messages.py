"""How messages are put into sentences: sizes filled in, first words fitted, several joined."""

import re

LONGEST = 160  # characters of an error's own words

_KEEPS_CAPITAL = re.compile(r"[A-Z] [=@*]|(PyTorch|NumPy|Python|True|False|None|[KQVWX]'?s?) ")


class Told:
    """What was found of an answer, as a report tells it: `told(values_alone)` is its sentence.

    values_alone: whether no more is claimed than that the values would be right.
    """

    @property
    def sentence(self):
        return self.told()


def makes_right(values_alone):
    return "would make the values right" if values_alone else "would make this right"


def all_right(values_alone):
    return "all values are right" if values_alone else "every case passes"


def continued(message):
    """A sentence as it stands after a colon: an ordinary capitalised first word loses its capital."""
    if re.match(r"[A-Z][a-z]*('s)? ", message) and not _KEEPS_CAPITAL.match(message):
        return message[0].lower() + message[1:]
    return message


def opened(message):
    """A sentence as it stands by itself."""
    return message[0].upper() + message[1:] if message[:1].islower() else message


def joined(messages):
    """Several messages that belong together."""
    return " And: ".join(messages)


def filled(message, case):
    """A message with the case's sizes in place of {d_k}, {sqrt_d_k} and the like."""
    values = dict(case.dims)
    values |= {f"sqrt_{name}": f"{size**0.5:.3g}" for name, size in case.dims.items()}
    return re.sub(r"\{(\w+)\}", lambda match: str(values.get(match[1], match[1].replace("sqrt_", "√"))), message)


def message_of(error):
    """An error's own words on one line, whatever its `__str__` does."""
    try:
        text = " ".join(str(error).split())
    except BaseException:
        text = ""
    return (text[:LONGEST] + " …" if len(text) > LONGEST else text) or "without a message"


def seconds(number):
    """A number of seconds as it is read."""
    return "1 second" if round(number) == 1 else f"{number:.0f} seconds"
