"""How every figure of the course is shown: its look, its size, its alternative text, and the page it stands on."""

import base64
import html
import io
import sys
from pathlib import Path

import numpy as np

# matplotlib is imported where it is used, so that `import helpers` stays quick.

STYLE = Path(__file__).parent.with_name("course.mplstyle")
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#555555"
# One colour per word of the course's sentence, in every chart: of Okabe and Ito, and grey for the little words.
WORD_COLOURS = {
    "books": "#0072B2",
    "shelf": "#D55E00",
    "are": "#009E73",
    "is": "#E69F00",
    "old": "#CC79A7",
    "the": "#777777",
    "on": "#999999",
    "query": "#000000",
}
OTHER_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
CARD = "background:#fff; padding:8px; border-radius:6px"  # white ground with a margin, on a light or a dark page
CARD_PADDING = 8  # pixels on each side
WHITE_FROM = 3.5  # times the contrast of equal colours
PIXELS_PER_INCH = 96  # of a web page
MAX_BYTES = 60_000  # of one figure, so that a notebook stays small
MAX_WIDTH = 8.5  # inches, so that a figure fits a notebook's column


def show(figure, alt):
    """Show a matplotlib figure as an image with alternative text; outside IPython, print that text.

    figure: a `matplotlib.figure.Figure`; one that pyplot made is closed, or it would be shown twice.
    alt: str, what the figure shows, in words. ValueError if it is empty.
    """
    alt = checked_alt(alt)
    png, width = _png(figure)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close(figure)

    if "IPython" not in sys.modules or sys.modules["IPython"].get_ipython() is None:
        print(alt)
        return
    from IPython.display import display

    image = (
        f'<img alt="{html.escape(alt)}" width="{width + 2 * CARD_PADDING}" '
        f'style="max-width:100%; box-sizing:border-box; {CARD}" '
        f'src="data:image/png;base64,{base64.b64encode(png).decode("ascii")}">'
    )
    display({"text/html": image, "text/plain": alt}, raw=True)


def checked_alt(alt):
    """Return alt on one line, or raise ValueError if it says nothing."""
    if not isinstance(alt, str) or not alt.strip():
        raise ValueError(f"alt must say in words what the figure shows, got {alt!r}")
    return " ".join(alt.split())


def colours_of(labels, given=None):
    """Return a dict from label to colour: the given one, the word's own, or the next of the course's colours.

    given: dict from label to colour for some of the labels, or None.
    """
    colours = {label: (given or {}).get(label) or WORD_COLOURS.get(label) for label in labels}
    free = iter([colour for colour in OTHER_COLOURS if colour not in colours.values()] * (1 + len(colours)))
    return {label: colour or next(free, "#000000") for label, colour in colours.items()}


def as_array(values):
    """Return NumPy arrays, nested lists or torch tensors as a float64 array."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().double()
    return np.asarray(values, dtype=np.float64)


def decimals(values):
    """Return how many decimals to print: none for whole numbers, fewer for large ones."""
    finite = values[np.isfinite(values)]
    if (finite == np.round(finite)).all():
        return 0
    largest = np.abs(finite).max()
    return 2 if largest < 10 else 1 if largest < 100 else 0


def number(value, decimals):
    """Return a number as text with a real minus sign, and never as minus zero."""
    if np.isnan(value):
        return "nan"
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "−")  # -0.0 + 0.0 is 0.0


def text_width(texts, points=9):
    """Return about how many inches the longest of some texts takes."""
    return (0.65 * max(len(str(text)) for text in texts) + 0.5) * points / 72


def ink(colour):
    """Return a darker shade of colour, for text on white."""
    from matplotlib.colors import to_rgb

    return tuple(0.7 * part for part in to_rgb(colour))


def readable_on(background):
    """Return "black" or "white" for text on an RGB(A) colour: white as soon as its contrast is WHITE_FROM or more.

    At equal ratios the eye reads white on a strong colour more easily than black; WCAG's formula does not see that.
    """
    return "white" if contrast("white", background) >= WHITE_FROM else "black"


def contrast(one, other):
    """Return the contrast of two colours as WCAG 2.2 defines it: 1 for equal colours, 21 for black on white."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour):
    from matplotlib.colors import to_rgb

    channels = np.array(to_rgb(colour))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ (0.2126, 0.7152, 0.0722)


def new_figure(width, height):
    """Return a figure that pyplot knows nothing of, width and height in inches, and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def course_style():
    """Return a context in which figures look as in the course, whatever the learner's settings."""
    import matplotlib.style

    return matplotlib.style.context(STYLE, after_reset=True)


def _png(figure):
    """Return (png, width): the figure as an opaque PNG file of few bytes, and its width on the page in pixels.

    The file holds no date and no version. It has two pixels for each of the page's, to be sharp on dense
    screens, or fewer where two would take more than MAX_BYTES.
    """
    from PIL import Image

    for density, colours in ((2, 256), (2, 64), (1.5, 64), (1, 64)):
        drawn, reduced = io.BytesIO(), io.BytesIO()
        figure.savefig(drawn, format="png", dpi=density * PIXELS_PER_INCH, facecolor="white")
        image = Image.open(drawn).convert("RGB")
        # MEDIANCUT gives rare colours away: a colour bar then shows steps that no cell has.
        few = image.quantize(colours, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
        few.save(reduced, "png", optimize=True)
        if reduced.tell() < MAX_BYTES:
            break
    return reduced.getvalue(), round(image.width / density)
