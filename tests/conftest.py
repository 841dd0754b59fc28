"""Shared by the tests: a plotting backend without windows, and the browser where there is one."""

import functools
import importlib.util
import logging
import os
import shutil

import matplotlib
import numpy as np
import pytest
from hypothesis import HealthCheck, settings

matplotlib.use("Agg")

# An example may take as long as a busy machine needs; it says nothing about what is tested.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


# Processors differ in the last bit of a float. Set to a number, this makes another one of this machine: NumPy's
# functions, and the inputs of all cases, are off by at most one unit in the last place, in a way of its own for each
# number. What fails then hangs on that bit, and fails for some learner.
ULP_VARIABLE = "ATTENTION_COURSE_ULP"
INEXACT = "exp log log2 log10 tanh sin cos mean sum var std einsum dot matmul polyfit cov corrcoef".split()


def find_browser():
    """The path of a Chromium to drive, or None; ATTENTION_COURSE_BROWSER names another."""
    names = (os.environ.get("ATTENTION_COURSE_BROWSER", ""), *BROWSERS)
    return next((path for name in names if name and (path := shutil.which(name))), None)


class _Gathered(logging.Handler):
    def __init__(self):
        super().__init__(logging.DEBUG)
        self.records = []

    def emit(self, record):
        self.records.append(record)


@pytest.fixture(autouse=True)
def nothing_fails_to_explain(request):
    """A report that comes out plainer because our own code failed is a bug; `may_fail_to_explain` allows it."""
    logger, gathered = logging.getLogger("helpers.feedback"), _Gathered()
    level = logger.level
    logger.addHandler(gathered)
    logger.setLevel(logging.DEBUG)
    yield
    logger.removeHandler(gathered)
    logger.setLevel(level)
    if request.node.get_closest_marker("may_fail_to_explain") is None:
        assert not gathered.records, "\n".join(map(logging.Formatter().format, gathered.records))


@pytest.fixture(scope="session")
def browser_path():
    """The path of the Chromium that tests marked `browser` drive through playwright."""
    return find_browser()


def pytest_collection_modifyitems(items):
    """Skip what needs a browser where there is none."""
    if importlib.util.find_spec("playwright") is None:
        reason = 'playwright is not installed (pip install -e ".[browser]")'
    elif find_browser() is None:
        reason = f"no browser found: none of {', '.join(BROWSERS)}"
    else:
        return
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.skip(reason=reason))


def nudged(value, number):
    """A value with some of its floats moved to a neighbour, the same ones at every call; whole numbers stay."""
    if isinstance(value, (tuple, list)):
        return type(value)(nudged(part, number) for part in value)
    if isinstance(value, (float, np.floating)):
        return type(value)(nudged(np.array(value), number))
    if type(value) is np.ndarray and value.dtype in (np.float32, np.float64):
        bits = np.ascontiguousarray(value).view(f"u{value.dtype.itemsize}").astype(np.uint64)
        chance = (bits * np.uint64(0x9E3779B97F4A7C15 + 2 * number)) >> np.uint64(61)  # a hash, 0 to 7
        moved = np.nextafter(value, np.where(chance & np.uint64(1), np.inf, -np.inf).astype(value.dtype))
        moves = (chance > 1) & np.isfinite(value) & (value != np.round(value))
        return np.where(moves.reshape(value.shape), moved.reshape(value.shape), value)
    if type(value).__module__ == "torch" and str(getattr(value, "dtype", "")) in ("torch.float32", "torch.float64"):
        import torch

        return value if value.requires_grad else torch.from_numpy(nudged(value.detach().numpy().copy(), number))
    return value


def become_another_processor(number):
    """Let NumPy's inexact functions, and every case of every exercise, differ in the last place."""
    from helpers.course import LESSONS
    from helpers.feedback.registry import get

    def nudging(function):
        return functools.wraps(function)(lambda *args, **kwargs: nudged(function(*args, **kwargs), number))

    for name in INEXACT:
        setattr(np, name, nudging(getattr(np, name)))
    for id in [info.id for lesson in LESSONS for info in lesson.exercises]:
        for case in get(id).cases:
            object.__setattr__(case, "make", nudging(case.make))


if os.environ.get(ULP_VARIABLE):
    become_another_processor(int(os.environ[ULP_VARIABLE]))
