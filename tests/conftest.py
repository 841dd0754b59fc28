"""Shared by the tests: a plotting backend without windows, and the browser where there is one."""

import importlib.util
import os
import shutil

import matplotlib
import pytest

matplotlib.use("Agg")

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser():
    """The path of a Chromium to drive, or None; ATTENTION_COURSE_BROWSER names another."""
    names = (os.environ.get("ATTENTION_COURSE_BROWSER", ""), *BROWSERS)
    return next((path for name in names if name and (path := shutil.which(name))), None)


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
