"""Which files of a folder are learners' copies, and whose each of them is."""

import os
import re
from collections import Counter
from pathlib import Path

from ..course import LESSONS

NOT_A_NAME = {"notebooks", "lessons"}  # folders of the course itself
LEFT_OUT = {".ipynb_checkpoints", "solutions", ".venv", ".git"}


def find(given):
    """(files, left_out): the notebooks that paths mean, in order, and how many of a folder are not learners' work.

    Left out are the course's solutions, copies that reset or update kept, and what Jupyter keeps for itself.
    """
    files, left_out = [], 0
    for path in map(Path, given):
        if not path.is_dir():
            files.append(path)
            continue
        for place, folders, names in os.walk(path):
            for name in sorted(names):
                if not name.endswith(".ipynb"):
                    continue
                parts = set(Path(place).relative_to(path).parts)
                if parts & LEFT_OUT or name.endswith("_solution.ipynb") or re.search(r"\.mine-\d+\.ipynb$", name):
                    left_out += ".ipynb_checkpoints" not in parts
                else:
                    files.append(Path(place) / name)
            folders[:] = sorted(set(folders) - {".ipynb_checkpoints", ".venv", ".git"})
    return sorted(dict.fromkeys(files)), left_out


def learners(files):
    """{file: learner}, by what a file's name says beside the lesson's, else by its folder; no two people share a name.

    ada/02_numpy_attention.ipynb, ada/notebooks/02_numpy_attention.ipynb and 02_numpy_attention_ada.ipynb belong to ada.
    """
    said = {file: _said(Path(file)) for file in files}
    folders = {file: _folder(Path(file)) for file in files}
    short = _shortest(set(folders.values()))
    # A name in a file's name may come up in several folders: then the folder is said too.
    places = {}
    for file, name in said.items():
        places.setdefault(name, set()).add(folders[file])
    names = {}
    for file, name in said.items():
        folder = short[folders[file]]
        names[file] = folder if not name else name if len(places[name]) == 1 else f"{folder}/{name}"
    owners = Counter((name, bool(said[file])) for file, name in names.items())
    for file, name in names.items():
        if said[file] and owners[name, False]:  # a folder is called as this file is
            names[file] = f"{short[folders[file]]}/{name}"
    return names


def _said(file):
    """The learner's name in a file's name, "" where it holds only the lesson's."""
    stem = re.sub(r"[-_ ]?(Copy\d+|\(\d+\))$", "", file.stem)  # Jupyter's and browsers' way of not overwriting
    for lesson in LESSONS:
        if lesson.slug in stem:
            return stem.replace(lesson.slug, "").replace("_solution", "").strip(" _-.")
    return stem


def _folder(file):
    """The parts of the folder that a copy belongs to, without the course's own folders at its end."""
    parts = list(Path(os.path.abspath(file)).parent.parts)
    while len(parts) > 1 and parts[-1] in NOT_A_NAME:
        parts.pop()
    return tuple(parts)


def _shortest(folders):
    """{folder: name}: its first part below what all share, or its whole path from there where that is not enough."""
    shared = 0
    while len({folder[shared : shared + 1] for folder in folders}) == 1 and all(len(f) > shared for f in folders):
        shared += 1
    if len(folders) == 1:
        shared -= 1
    below = {folder: folder[shared:] or folder[-1:] for folder in folders}
    tells = len({parts[0] for parts in below.values()}) == len(below)
    return {folder: parts[0] if tells else "/".join(parts) for folder, parts in below.items()}
