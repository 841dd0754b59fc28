"""Whether the libraries that the course needs are there, in versions that it was written for."""

import importlib
from importlib import metadata

COURSE = "self-attention-from-scratch"
SHOWN = ("numpy", "matplotlib", "ipywidgets", "torch")


def check_installation():
    """Print one line per library: ✓ and its version, or ✗ and what to do.

    A library passes if it can be imported and its version is in the range that the course's own package asks for.
    """
    from packaging.requirements import Requirement

    needs = {need.name: need for need in map(Requirement, metadata.requires(COURSE))}
    for name in SHOWN:
        print(_line(needs[name]))


def _line(need):
    """What to say of one library."""
    try:
        importlib.import_module(need.name)
        version = metadata.version(need.name)
    except (ImportError, OSError) as error:  # OSError: a library of the system that PyTorch cannot load
        return f"✗ {need.name} cannot be loaded ({error}). Install the course again: make lab, or see the README."
    if version not in need.specifier:
        return f"✗ {need.name} {version} is installed, and {need} is needed. Install the course again: make lab."
    return f"✓ {need.name} {version}"
