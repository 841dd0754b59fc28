"""What a learner's notebook holds: the cells that answer exercises, and which code each of them needs.

Nothing here runs a learner's code, and nothing assumes that the file is sound.
"""

import ast
import builtins
import json
import re
import stat
import symtable
from dataclasses import dataclass
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager

from ..course import LESSONS
from ..feedback.sources import exercise_numbers

LARGEST = 50_000_000  # bytes of a notebook; beyond that somebody stored pictures or worse
NUMBERS = {info.id: lesson for lesson in LESSONS for info in lesson.exercises}
# Magics whose cell is Python all the same, and runs in the notebook's own names.
PYTHON_MAGICS = {"capture", "time", "timeit", "prun", "memit"}


class Unreadable(Exception):
    """A file that holds no notebook; the message says what is wrong with it."""


@dataclass(frozen=True)
class Cell:
    """One code cell: how it is called in messages, its Python without magics, and its syntax tree (None: an error)."""

    name: str
    source: str
    tree: ast.Module | None
    error: str = ""

    @property
    def numbers(self):
        """The exercises that the cell answers, in order."""
        if self.tree is not None:
            return [id for id in exercise_numbers(self.tree) if id in NUMBERS]
        found = re.findall(r"@(?:\w+\.)?exercise\(\s*[\"']([\d.]+)[\"']\s*\)", self.source)
        return [id for id in dict.fromkeys(found) if id in NUMBERS]


@dataclass(frozen=True)
class Attempt:
    """One answer to judge: the exercise, its cell, and the statements before it that it needs, (cell, index) each."""

    id: str
    cell: Cell
    needed: tuple[tuple[Cell, int], ...]

    def as_data(self):
        needed = [[cell.name, cell.source, index] for cell, index in self.needed]
        return {"id": self.id, "name": self.cell.name, "source": self.cell.source, "needed": needed}


# Reading --------------------------------------------------------------------------------------------------------------


def read(file):
    """The code cells of the notebook in a file, in order. Raises Unreadable, whatever the file is."""
    try:
        kind = Path(file).stat()
        if not stat.S_ISREG(kind.st_mode):
            raise Unreadable("is not a regular file")
        if kind.st_size > LARGEST:
            raise Unreadable(f"is larger than {LARGEST // 1_000_000} MB")
        content = json.loads(Path(file).read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise Unreadable(f"cannot be read: {error.strerror or type(error).__name__}") from None
    except UnicodeDecodeError:
        raise Unreadable("cannot be read: it is not text in UTF-8") from None
    except (ValueError, RecursionError, MemoryError):
        raise Unreadable("cannot be read: it is not JSON, as a notebook is") from None
    cells = content.get("cells") if isinstance(content, dict) else None
    if not isinstance(cells, list):
        raise Unreadable("is no notebook of today's format: it has no list of cells")
    sources = [_source(cell) for cell in cells if isinstance(cell, dict) and cell.get("cell_type") == "code"]
    return [_cell(f"code cell {n}", source) for n, source in enumerate(sources, 1) if source is not None]


def _source(cell):
    source = cell.get("source")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    return source if isinstance(source, str) else None


def _cell(name, source):
    try:
        source = _python(source)
        return Cell(name, source, ast.parse(source))
    except SyntaxError as error:
        return Cell(name, source, None, f"{error.msg}, line {error.lineno}")
    except (ValueError, RecursionError, MemoryError) as error:  # null characters; nested beyond reason
        return Cell(name, source, None, f"{type(error).__name__}: {error}"[:200])


def _python(source):
    """A cell's code as Python, line for line: cell magics go, and so does a cell in another language."""
    lines = source.split("\n")
    first = next((n for n, line in enumerate(lines) if line.strip()), 0)
    while lines[first].lstrip().startswith("%%"):
        if re.match(r"\s*%%(\w*)", lines[first])[1] not in PYTHON_MAGICS:
            return ""
        lines[first] = ""
        first = next((n for n, line in enumerate(lines) if line.strip()), 0)
    lines = [re.sub(r"^(\s*)%(?:time|timeit)\s+(?!-)", r"\1", line) for line in lines]
    source = "\n".join(lines)
    try:
        ast.parse(source)
    except SyntaxError:
        if re.search(r"^\s*[%!?]|\?\s*$|=\s*[%!]", source, re.MULTILINE):
            return TransformerManager().transform_cell(source).rstrip("\n")
    return source


# What is asked and answered -------------------------------------------------------------------------------------------


def lesson_of(cells, file):
    """The Lesson that a notebook is a copy of: by its exercises, else by the file's name; None for another's."""
    found = [NUMBERS[id] for cell in cells for id in cell.numbers]
    if found:
        return max(LESSONS, key=found.count)
    return next((lesson for lesson in LESSONS if lesson.slug in Path(file).stem), None)


def attempts(cells):
    """{exercise number: its Attempts, the last one in the notebook first}; only of cells that are Python."""
    found = {}
    statements = [_Statement(cell, n, node) for cell in cells if cell.tree for n, node in enumerate(cell.tree.body)]
    for cell in cells:
        for id in cell.numbers if cell.tree else ():
            found.setdefault(id, []).insert(0, Attempt(id, cell, _needed(cell, statements)))
    return found


def syntax_errors(cells):
    """{exercise number: what is wrong with the syntax of its cell}."""
    return {id: cell.error for cell in cells if cell.tree is None for id in cell.numbers}


class _Statement:
    """A statement at the top of a cell, with the names that it binds and uses."""

    def __init__(self, cell, index, node):
        self.cell, self.index, self.node = cell, index, node
        self.binds, self.uses, self.later = _names(node)
        # A name that a branch or an element assignment binds was bound before as well.
        plain = (ast.Assign, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
        self.settles = set(_targets(node)) if isinstance(node, plain) else set()


def _needed(cell, statements):
    """The statements outside `cell` that must run before it, in order: whatever binds a name it uses, and so on."""
    here = next((n for n, one in enumerate(statements) if one.cell is cell), len(statements))
    after = here + len(cell.tree.body)
    wanted = [(name, here) for node in cell.tree.body for part in _names(node)[1:] for name in part]
    chosen, seen = set(), set()
    while wanted:
        name, place = wanted.pop()
        if (name, place) in seen:
            continue
        seen.add((name, place))
        for n in _binding(name, place, here, after, statements):
            if n not in chosen:
                chosen.add(n)
                wanted += [(used, n) for used in statements[n].uses]
                wanted += [(used, here) for used in statements[n].later]  # used when it is called, not where it is
    return tuple((statements[n].cell, statements[n].index) for n in sorted(chosen))


def _binding(name, place, here, after, statements):
    """Positions of the statements that give a name its value as it is at `place`."""
    found = []
    for n in range(place - 1, -1, -1):
        if here <= n < after:
            continue
        if name in statements[n].binds or "*" in statements[n].binds:
            found.append(n)
            if name in statements[n].settles:
                return found
    if found or hasattr(builtins, name):
        return found
    below = (n for n in range(after, len(statements)) if name in statements[n].binds)  # run earlier, perhaps
    return list(below)[:1]


def _targets(node):
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name).split(".")[0] for alias in node.names]
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if node.value else []
    return [name.id for target in targets for name in ast.walk(target) if isinstance(getattr(name, "ctx", 0), ast.Store)
            and isinstance(name, ast.Name)]  # fmt: skip


def _names(node):
    """(bound, used, used later) names of the notebook in one statement; later: inside functions, when called."""
    binds = {base.id for part in ast.walk(node) if (base := _changed(part)) is not None}
    if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
        return {"*"}, set(), set()
    try:
        table = symtable.symtable(ast.unparse(node), "cell", "exec")
    except (SyntaxError, ValueError, RecursionError):
        return set(), set(), set()
    symbols = table.get_symbols()
    binds |= {symbol.get_name() for symbol in symbols if symbol.is_assigned() or symbol.is_imported()}
    uses = {symbol.get_name() for symbol in symbols if symbol.is_referenced()}
    return binds, uses | (binds if isinstance(node, ast.AugAssign) else set()), set(_globals(table))


def _changed(part):
    """The name whose element or attribute is assigned to, as in `table[0] = 1`, or None."""
    if not isinstance(part, (ast.Attribute, ast.Subscript)) or not isinstance(part.ctx, ast.Store):
        return None
    while isinstance(part, (ast.Attribute, ast.Subscript)):
        part = part.value
    return part if isinstance(part, ast.Name) else None


def _globals(table):
    for child in table.get_children():
        for symbol in child.get_symbols():
            if symbol.is_global() and symbol.is_referenced():
                yield symbol.get_name()
        yield from _globals(child)
