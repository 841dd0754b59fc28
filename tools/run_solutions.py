"""Execute the complete lessons in `solutions/` and store their outputs.

    python -m tools.run_solutions                                     all of them
    python -m tools.run_solutions solutions/02_numpy_attention.ipynb  those named

Each runs in a fresh kernel, in its own folder. What differs from run to run or from machine to machine
(timings, widgets, temporary paths) is not stored. A notebook in which a cell fails stays as it is.
"""

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from traitlets.config import Config

from tools.make_lessons import NOTEBOOK_METADATA, ROOT, tidy_metadata, write_whole

SECONDS_A_CELL = 300
WIDGET = "application/vnd.jupyter.widget-view+json"

# tests/nbval_sanitize.cfg does the same to what a test run prints, so that the two can be compared.
CELL_PATH = re.compile(r"[^\n\"']*ipykernel_\d+[/\\]\d+\.py")


def without_paths(text):
    """`text` without paths of this machine, as warnings and tracebacks quote them."""
    return CELL_PATH.sub("<cell>", text).replace(f"{ROOT}{os.sep}", "")


def tidy(nb):
    """Take out of the executed notebook `nb`, in place, what depends on this run or this machine."""
    nb.metadata = nbformat.from_dict(NOTEBOOK_METADATA)
    for cell in nb.cells:
        cell.metadata = nbformat.from_dict(tidy_metadata(cell))
        if cell.cell_type != "code":
            continue
        # A widget is nothing without its kernel; the lesson shows a static picture beside it.
        cell.outputs = [output for output in cell.outputs if WIDGET not in output.get("data", {})]
        for output in cell.outputs:
            if output.output_type == "stream":
                output.text = without_paths(output.text)
            elif output.output_type == "error":
                output.traceback = [without_paths(line) for line in output.traceback]


def execute(nb, folder):
    """Run every cell of `nb` in place, in a fresh kernel started in `folder`."""
    with tempfile.TemporaryDirectory(prefix="kernel-") as private:
        NotebookClient(
            nb,
            timeout=SECONDS_A_CELL,
            kernel_name="python3",
            resources={"metadata": {"path": str(folder)}},
            record_timing=False,
            coalesce_streams=True,
            config=through_files(private),
        ).execute()


def through_files(folder):
    """Settings that let kernels talk through files in a folder of this user's, where the platform has such sockets.

    Otherwise they listen on ports, which everybody on a shared machine can reach.
    """
    address = f"{folder}/k"
    if os.name != "posix" or len(address) > 90:  # longer names are no sockets
        return Config()
    return Config({"KernelManager": {"transport": "ipc", "ip": address}})


def failure(nb, error):
    """One sentence: the cell that stopped `nb`, and how."""
    what = str(error).split("\n")[0].rstrip(".")
    if isinstance(error, CellExecutionError):  # its str() is a traceback
        what = f"{error.ename}: {error.evalue}"
    begun = [cell for cell in nb.cells if cell.cell_type == "code" and cell.execution_count is not None]
    failed = [cell for cell in begun if any(out.output_type == "error" for out in cell.outputs)]
    stopped = (failed or begun or nb.cells)[-1]
    return f"cell {stopped.id}: {what}"


def run_solution(path):
    """Execute the notebook at `path` and store it; returns what went wrong in a sentence, or None."""
    try:
        nb = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    except (OSError, ValueError, nbformat.ValidationError) as error:
        return f"{path.name}: not a notebook ({error})"
    for cell in nb.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    try:
        execute(nb, path.parent)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        return f"{path.name}, {failure(nb, error)}"
    tidy(nb)
    write_whole(path, nbformat.writes(nb) + "\n")
    return None


def main(arguments=None, root=ROOT):
    """Run the command line; the exit status is returned."""
    parser = argparse.ArgumentParser(prog="run_solutions", description="Execute solutions/ and store the outputs.")
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: every notebook in solutions/")
    paths = parser.parse_args(arguments).notebooks or sorted((root / "solutions").glob("*.ipynb"))

    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        # Kernels inherit these: no progress bars in the outputs, and no one's progress shown or touched.
        os.environ |= {"TQDM_DISABLE": "1", "ATTENTION_COURSE_PROGRESS": str(Path(scratch) / "progress.json")}
        for path in paths:
            problem = run_solution(path)
            failed = failed or problem is not None
            print(f"✗ {problem}; the file is as it was" if problem else f"✓ {path.name}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
