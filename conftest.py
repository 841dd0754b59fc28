"""Settings that the kernels of nbval inherit, whatever part of the tests is run."""

import os
import tempfile
from pathlib import Path

# Made here and not in a fixture: nbval starts its kernels outside every fixture. The folder goes with
# the process; each worker of xdist makes its own.
_scratch = tempfile.TemporaryDirectory(prefix="attention-course-tests-")
os.environ["ATTENTION_COURSE_PROGRESS"] = str(Path(_scratch.name) / "progress.json")  # not the learner's
os.environ["TQDM_DISABLE"] = "1"
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["OMP_NUM_THREADS"] = "1"  # workers that each take every core slow one another down

# What a learner keeps beside a lesson is theirs to run.
collect_ignore_glob = ["notebooks/*.mine-*.ipynb"]


def pytest_configure(config):
    """Let `pytest` run from any folder: nbval looks for its file in the current one."""
    config.option.nbval_sanitize_with = str(config.rootpath / config.option.nbval_sanitize_with)
