"""Settings that the kernels of nbval inherit, whatever part of the tests is run."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

# Made here and not in a fixture: nbval starts its kernels outside every fixture. The folder goes with the process that
# made it; workers of xdist inherit it, so that the index of lesson 10 is made by one of them.
SCRATCH = "ATTENTION_COURSE_TESTS"
if SCRATCH not in os.environ:
    _scratch = tempfile.TemporaryDirectory(prefix="attention-course-tests-")
    os.environ[SCRATCH] = _scratch.name
_mine = Path(tempfile.mkdtemp(dir=os.environ[SCRATCH]))
os.environ["ATTENTION_COURSE_PROGRESS"] = f"{_mine}.progress.json"  # not the learner's
os.environ["TQDM_DISABLE"] = "1"
# Kernels run tests/brief_kernel.py first, and nothing of whoever runs the tests.
os.environ.pop("JPY_SESSION_NAME", None)
os.environ["IPYTHONDIR"] = str(_mine)
_startup = _mine / "profile_default" / "startup"
_startup.mkdir(parents=True)
shutil.copy(Path(__file__).parent / "tests" / "brief_kernel.py", _startup)
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["OMP_NUM_THREADS"] = "1"  # workers that each take every core slow one another down

# What a learner keeps beside a lesson is theirs to run.
collect_ignore_glob = ["notebooks/*.mine-*.ipynb"]


def pytest_configure(config):
    """Let `pytest` run from any folder: nbval looks for its file in the current one."""
    config.option.nbval_sanitize_with = str(config.rootpath / config.option.nbval_sanitize_with)


@pytest.hookimpl(tryfirst=True)  # before nbval starts the kernel of a notebook with its first cell
def pytest_runtest_setup(item):
    """Tell the kernels which notebook they belong to."""
    os.environ["ATTENTION_COURSE_NOTEBOOK"] = str(item.path)


# Files that take longest, the longest first: two workers that take a file at a time then end together.
LONG = (
    "tests/test_catalogue.py",
    "tests/test_browser.py",
    "tests/test_own_attempts.py",
    "tests/test_shared_attempts.py",
    "solutions/09",
    "solutions/08",
    "tests/test_judging_never_raises.py",
    "tests/test_real_encoder.py",
    "tests/test_tiny_gpt.py",
    "tests/test_grading.py",
    "notebooks/09",
    "notebooks/08",
    "tests/test_positions.py",
    "solutions/",
    "notebooks/",
    "tests/test_browser_lab.py",
    "tests/test_plots.py",
)


def _place(item):
    path = item.path.relative_to(item.config.rootpath).as_posix()
    return next((i for i, name in enumerate(LONG) if path.startswith(name)), len(LONG))


def pytest_collection_modifyitems(items):
    """Long files first. Where the encoder of lesson 10 is missing, its cells run but their outputs are not compared."""
    from helpers import encoder, without_encoder

    items.sort(key=_place)

    if encoder.folder() is not None:
        return
    for item in items:
        cell = getattr(item, "cell", None)  # nbval's items have one
        if cell is not None and (cell.source.startswith(without_encoder.MARK) or "open_encoder()" in cell.source):
            item.options["check"] = False
