"""Put what a learner wrote in a lesson into a newer version of the lesson: answers, guesses, notes and added cells.

Imports nothing of the course, because an interrupted update may have left a mixture of two versions of it.
"""

import ast
import json
from dataclasses import dataclass, field

EARLIER = "Your earlier answer, from before the course was updated. The exercise above has changed; compare the two."
YOURS = "# Your version of the cell above, from before the course was updated\n"


@dataclass
class Kept:
    """What was put back: numbers of exercises, how many other things, and exercises of which both versions stand."""

    answers: list = field(default_factory=list)
    changed: list = field(default_factory=list)
    guesses: int = 0
    notes: int = 0
    cells: int = 0

    def __str__(self):
        counts = (
            (len(self.answers), "answer"),
            (self.guesses, "guess"),
            (self.notes, "note"),
            (self.cells, "cell"),
        )
        said = [f"{count} {_plural(word, count)}" for count, word in counts if count]
        return (" and ".join([", ".join(said[:-1]), said[-1]]) if len(said) > 1 else "".join(said)) or "nothing"

    def __bool__(self):
        return bool(self.answers or self.changed or self.guesses or self.notes or self.cells)


def _plural(word, count):
    return word if count == 1 else {"guess": "guesses"}.get(word, f"{word}s")


class NotANotebook(Exception):
    """A text that holds no notebook: half saved, or with the marks of a merge in it."""


def read(text):
    """The notebook in a text, of sound cells; NotANotebook where there is none. A cell without a source is left out."""
    try:
        nb = json.loads(text)
        cells = [cell for cell in nb["cells"] if isinstance(cell, dict) and _is_source(cell.get("source"))]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise NotANotebook from None
    for cell in cells:
        if cell.get("cell_type") not in ("code", "markdown"):
            cell["cell_type"] = "raw"
    return nb | {"cells": cells}


def whole_cells(text):
    """The cells that stand whole in a notebook's text that breaks off, as when saving was interrupted."""
    _, found, rest = text.partition('"cells":')
    rest, cells = rest.lstrip().removeprefix("["), []
    while found:
        rest = rest.lstrip(" \r\n\t,")
        try:
            cell, end = json.JSONDecoder().raw_decode(rest)
        except (ValueError, RecursionError):
            break
        if isinstance(cell, dict) and _is_source(cell.get("source")) and "cell_type" in cell:
            cells.append(cell)
        rest = rest[end:]
    return cells


def _is_source(source):
    return isinstance(source, str) or isinstance(source, list) and all(isinstance(line, str) for line in source)


def source_of(cell):
    """The source of a cell, which nbformat allows to be a string or a list of lines."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def text_of(nb):
    """The text that Jupyter itself would store for a notebook."""
    return json.dumps(nb, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


# One cell ---------------------------------------------------------------------------------------------------------


def number_of(source):
    """The number in a cell's `@exercise("2.2")`, also where the cell does not parse; None where there is none.

    As helpers.feedback.sources finds it; that cannot be imported here.
    """
    tree = _tree(source)
    if tree is None:
        for quote in "\"'":
            _, found, rest = source.partition(f"@exercise({quote}")
            if found:
                return rest.partition(quote)[0]
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", None)) == "exercise":
            if len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
                return node.args[0].value
    return None


def _tree(source):
    try:
        lines = source.split("\n")
        return ast.parse("\n".join("" if line.lstrip().startswith(("%", "!")) else line for line in lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _asks(source):
    """What an exercise asks, apart from its docstring, comments and layout: to tell whether it has changed."""
    tree = _tree(source)
    if tree is None:
        return source
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


def _is_stub(source):
    """Whether the functions of an exercise hold nothing but a docstring and `raise NotImplementedError`."""
    tree = _tree(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)] if tree else []
    bodies = [one for function in functions for one in function.body if not _is_docstring(one)]
    return bool(bodies) and all("NotImplementedError" in ast.dump(one) or "super" in ast.dump(one) for one in bodies)


def _is_docstring(statement):
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _predictions(source):
    """(name, start, end) of the answer in each `predict("name", answer)`, in characters, and whether it is given."""
    tree, lines = _tree(source), source.split("\n")
    starts = [sum(len(line) + 1 for line in lines[:n]) for n in range(len(lines) + 1)]

    def place(line, column):  # the syntax tree counts in bytes of UTF-8
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "predict" and len(node.args) == 2:
            name, answer = node.args
            if isinstance(name, ast.Constant):
                given = not (isinstance(answer, ast.Constant) and answer.value is ...)
                start, end = place(answer.lineno, answer.col_offset), place(answer.end_lineno, answer.end_col_offset)
                yield name.value, start, end, given


def _with_guesses(source, guesses):
    """A cell with the learner's guesses put where it asks for them, and the names of those."""
    used = []
    for name, start, end, given in sorted(_predictions(source), key=lambda one: -one[1]):
        if name in guesses and not given:
            source = source[:start] + guesses[name] + source[end:]
            used.append(name)
    return source, used


# A whole lesson -----------------------------------------------------------------------------------------------------


def merge(mine, new, base):
    """(notebook, Kept): the new lesson with what the learner wrote.

    mine, new: notebooks. base: the lesson as the learner got it, or None where that is not known; then what differs
    from the new lesson counts as the learner's in exercises, and as the course's elsewhere.
    """
    return _Merge(mine, new, base).result()


class _Merge:
    def __init__(self, mine, new, base):
        self.new, self.kept = new, Kept()
        self.mine = _identified(mine["cells"])
        self.base = None if base is None else {cell.get("id"): source_of(cell) for cell in base["cells"]}
        self.guesses = {}
        for cell in self.mine:
            source = source_of(cell)
            self.guesses |= {name: source[start:end] for name, start, end, given in _predictions(source) if given}
        self.pairs = self._pairs()

    def _pairs(self):
        """{position in the new lesson: position in the learner's}: by id, else by the exercise's number."""
        by_id = {}
        for n, cell in enumerate(self.mine):
            by_id.setdefault(cell.get("id"), n)
        pairs = {n: by_id[cell["id"]] for n, cell in enumerate(self.new["cells"]) if cell.get("id") in by_id}
        taken = set(pairs.values())
        numbers = {}
        for n, cell in enumerate(self.mine):
            number = number_of(source_of(cell)) if cell["cell_type"] == "code" and n not in taken else None
            if number is not None:
                numbers.setdefault(number, n)
        for n, cell in enumerate(self.new["cells"]):
            number = number_of(source_of(cell)) if cell["cell_type"] == "code" and n not in pairs else None
            if number in numbers:
                pairs[n] = numbers.pop(number)
        return pairs

    def result(self):
        groups, places = [], {-1: 0}  # places: position in the learner's copy -> group that what follows it belongs to
        for n, cell in enumerate(self.new["cells"]):
            if n in self.pairs:
                groups.append(self._both(self.mine[self.pairs[n]], dict(cell)))
                places[self.pairs[n]] = len(groups)
            else:
                groups.append([dict(cell)])
        follow = [[] for _ in range(len(groups) + 1)]
        for position, cell in self._added(set(self.pairs.values())):
            follow[places[max(n for n in places if n < position)]].append(cell)
        cells = follow[0] + [cell for group, more in zip(groups, follow[1:], strict=True) for cell in group + more]
        return self.new | {"cells": _complete(cells)}, self.kept

    def _added(self, paired):
        """(position, cell) of what only the learner's copy holds: cells they added, or changed before the course
        took them away."""
        added = []
        for n, cell in enumerate(self.mine):
            source, id = source_of(cell), cell.get("id")
            if n in paired or not source.strip():
                continue
            if self.base is not None and self.base.get(id) == source:
                continue  # the course took an untouched cell away
            number = number_of(source) if cell["cell_type"] == "code" else None
            if number is not None:
                self.kept.answers.append(number)
            elif not (id or "").startswith("earlier-"):
                if cell["cell_type"] == "code":
                    self.kept.cells += 1
                else:
                    self.kept.notes += 1
            added.append((n, dict(cell)))
        return added

    def _both(self, mine, cell):
        """The cells that stand where the new lesson has `cell` and the learner has `mine`."""
        yours, course = source_of(mine), source_of(cell)
        if cell["cell_type"] != "code" or mine["cell_type"] != "code":
            return self._text(mine, cell, yours, course)
        cell_with_guess, used = _with_guesses(course, self.guesses)
        self.kept.guesses += len(used)
        if yours in (course, cell_with_guess):
            return [_with_source(cell, yours, mine)]
        number = number_of(course)
        if number is not None or number_of(yours) is not None:
            return self._exercise(mine, cell, yours, course, number)
        base = self._base(mine)
        if base == course:  # only the learner changed it
            if not _only_guesses(base, yours):
                self.kept.cells += 1
                return [_with_source(cell, yours, mine)]
            return [_with_source(cell, cell_with_guess, mine)]
        cells = [_with_source(cell, cell_with_guess, mine)]
        if base is not None and base != yours and not _only_guesses(base, yours):  # both did
            self.kept.cells += 1
            cells.append(_beside(cell, "raw", YOURS + yours))
        return cells

    def _text(self, mine, cell, yours, course):
        base = self._base(mine)
        if yours == course or base is None or base == yours:
            return [cell]
        self.kept.notes += 1
        if base == course:
            return [_with_source(cell, yours, mine)]
        return [cell, _beside(cell, "markdown", yours)]

    def _exercise(self, mine, cell, yours, course, number):
        base = self._base(mine)
        untouched = base == yours if base is not None else _is_stub(yours)
        if untouched:
            return [cell]
        if base is not None and _asks(base) != _asks(course):
            changed = True
        elif base is None:
            changed = _heads(yours) != _heads(course)
        else:
            changed = False
        if not changed:
            self.kept.answers.append(number)
            return [_with_source(cell, yours, mine)]
        self.kept.changed.append(number)
        return [
            cell,
            _beside(cell, "markdown", EARLIER, "earlier-text"),
            _beside(mine, "code", yours, "earlier", cell["id"]),
        ]

    def _base(self, mine):
        """The source that a cell had when the learner got it, or None."""
        if self.base is None:
            return None
        if mine.get("id") in self.base:
            return self.base[mine["id"]]
        number = number_of(source_of(mine))
        return next((source for source in self.base.values() if number and number_of(source) == number), "")


def _heads(source):
    """Names and arguments of what a cell defines."""
    tree = _tree(source)
    if tree is None:
        return None
    nodes = (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef)))
    return [(node.name, ast.dump(node.args) if isinstance(node, ast.FunctionDef) else "") for node in nodes]


def _only_guesses(base, yours):
    """Whether a learner did no more to a cell than to fill in guesses."""
    guesses = {name: yours[start:end] for name, start, end, given in _predictions(yours) if given}
    return _with_guesses(base, guesses)[0] == yours


def _with_source(cell, source, mine):
    """The course's cell with the learner's source; outputs stay where the code that gave them does."""
    cell = dict(cell, source=source.splitlines(keepends=True))
    if cell["cell_type"] == "code" and source == source_of(mine):
        cell |= {"outputs": mine.get("outputs", []), "execution_count": mine.get("execution_count")}
    return cell


def _beside(cell, kind, source, mark="yours", id=None):
    """A cell that holds the learner's words or code next to one of the course's."""
    new = {"cell_type": kind, "id": f"{mark}-{id or cell['id']}"[:64], "metadata": {}}
    new["source"] = source.splitlines(keepends=True)
    if kind == "code":
        new |= {"outputs": cell.get("outputs", []), "execution_count": cell.get("execution_count")}
    return new


def _complete(cells):
    """The cells with everything that the format asks for, ids that occur once among it."""
    seen = set()
    for cell in cells:
        wanted, n = (cell.get("id") or "added")[:56], 1
        while not cell.get("id") or cell["id"] in seen:
            cell["id"], n = f"{wanted}-{n}", n + 1
        seen.add(cell["id"])
        cell.setdefault("metadata", {})
        if cell["cell_type"] == "code":
            cell.setdefault("outputs", [])
            cell.setdefault("execution_count", None)
    return cells


def _identified(cells):
    """Cells of which each id occurs once; a second cell of the same id, as after copying, counts as added."""
    seen, found = set(), []
    for cell in cells:
        cell = dict(cell)
        if cell.get("id") in seen:
            cell["id"] = None
        seen.add(cell.get("id"))
        found.append(cell)
    return found
