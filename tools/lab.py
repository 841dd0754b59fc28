"""Open the course in JupyterLab, where you left it.

    python -m tools.lab

The first time it opens lesson 00. What follows the command goes to JupyterLab: `python -m tools.lab --no-browser`.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIRST = "/lab/tree/notebooks/00_start_here.ipynb"


def arguments(root=ROOT, more=()):
    """The command line that opens the course in `root`, with more arguments for JupyterLab."""
    settings = root / "tools" / "jupyterlab"  # overrides.json5: defaults that hold however Jupyter was installed
    command = [sys.executable, "-m", "jupyterlab", "--ServerApp.ip=127.0.0.1", f"--LabApp.app_settings_dir={settings}"]
    command.append(f"--LabApp.extra_labextensions_path={settings / 'labextensions'}")  # lines of a readable length
    # What was open is the course's own, not mixed with other work in JupyterLab.
    workspaces = root / ".jupyterlab" / "workspaces"
    if os.access(root, os.W_OK):
        command.append(f"--LabApp.workspaces_dir={workspaces}")
    been_here = any(workspaces.glob("*.jupyterlab-workspace"))
    command.append(f"--LabApp.default_url={'/lab' if been_here else FIRST}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")  # in a container; it stays on this machine and keeps its token
    return [*command, *more]


def main(more=None, root=ROOT):
    """Run JupyterLab until it ends; its exit status is returned."""
    command = arguments(root, sys.argv[1:] if more is None else more)
    os.chdir(root)
    sys.stdout.flush()
    if os.name == "posix":
        os.execv(command[0], command)  # so that Ctrl+C reaches JupyterLab alone
    return subprocess.call(command)


if __name__ == "__main__":
    sys.exit(main())
