"""Answers that try to break the judging: bodies, values that nobody wants back, and mutants of the references."""

import ast
import collections
import decimal
import fractions
import inspect
import linecache
import math
import random
import textwrap
import warnings

import numpy as np
import torch

from helpers.course import LESSONS
from helpers.feedback import variants
from helpers.feedback.edits import made
from helpers.feedback.edits_of_functions import edits_of
from helpers.feedback.registry import get

IDS = [info.id for lesson in LESSONS for info in lesson.exercises]

BODIES = {
    "nothing": "pass",
    "stub": "raise NotImplementedError",
    "dots": "return ...",
    "arguments": "return args",
    "kernel": "exit()",
    "interrupt": "raise KeyboardInterrupt",
    "mute error": """
        class Mute(Exception):
            def __str__(self):
                raise RuntimeError
            __repr__ = __str__
        raise Mute
    """,
    "base error": """
        class Odd(BaseException):
            pass
        raise Odd("out of the way")
    """,
    "stop": "raise StopIteration",
    "no memory": "raise MemoryError",
    "for ever": "while True: pass",
    "stubborn": """
        for _ in range(3):
            try:
                while True: pass
            except BaseException:
                pass
    """,
    "deep": "return NAME(*args, **kwargs)",
    "loud": """
        import sys, warnings
        for n in range(300):
            print(n)
            print(n, file=sys.stderr)
        warnings.warn("mind the step")
    """,
    "settings": """
        import os, random, sys, tempfile
        import numpy as np
        import torch
        np.random.seed(0); random.seed(0); torch.manual_seed(0)
        np.set_printoptions(precision=1)
        np.seterr(all="raise")
        torch.set_default_dtype(torch.float64)
        torch.set_grad_enabled(False)
        sys.setrecursionlimit(5000)
        os.chdir(tempfile.gettempdir())
    """,
    "figures": """
        from matplotlib import pyplot
        pyplot.figure()
    """,
    "spoiler": """
        for x in args:
            try:
                x[...] = 7
            except Exception:
                pass
        return args[0]
    """,
    "async": "async",
    "generator": "yield args",
    "timers": """
        import signal
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 30)
    """,
    "profile": """
        import sys
        sys.setprofile(lambda *a: None)
    """,
}


def body(id, source, name=None):
    """An answer to exercise `id` whose body is given as source that can be read, as a cell's can be."""
    wanted = get(id)
    text = textwrap.indent(textwrap.dedent(source).strip(), "    ").replace("NAME", wanted.name)
    word = "async def" if source == "async" else "def"
    text = "    return 1" if source == "async" else text
    if wanted.is_class:
        methods = _methods(wanted.reference) or ["forward"]
        text = "\n".join(f"    {word} {m}(self, *args, **kwargs):\n{textwrap.indent(text, '    ')}" for m in methods)
        start = "\n    def __init__(self, *args, **kwargs):\n        super().__init__()\n"
        text = f"class {wanted.name}({_base(wanted.reference)}):{start}{text}\n"
    else:
        text = f"{word} {name or wanted.name}(*args, **kwargs):\n{text}\n"
    return defined(text, name or wanted.name)


def defined(source, name):
    """What a source defines, in a file that exists only for `inspect`."""
    file = f"<answer {abs(hash(source))}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    space = {"np": np, "torch": torch, "nn": torch.nn, "math": math, "F": torch.nn.functional, "__name__": "__main__"}
    exec(compile(source, file, "exec"), space)
    return space[name]


def _methods(reference):
    return [name for name, value in vars(reference).items() if inspect.isfunction(value) and name != "__init__"]


def _base(reference):
    return "torch.nn.Module" if issubclass(reference, torch.nn.Module) else "object"


# Values ---------------------------------------------------------------------------------------------------------------


class Evil:
    """Every question put to it fails."""

    def _fail(self, *_, **__):
        raise RuntimeError("no")

    __eq__ = __array__ = __len__ = __repr__ = __str__ = __bool__ = __float__ = __iter__ = __getitem__ = _fail
    __format__ = __index__ = __lt__ = __sub__ = __rsub__ = _fail
    __hash__ = object.__hash__


class Quitter(Evil):
    """Every question put to it ends the session."""

    def _fail(self, *_, **__):
        raise SystemExit

    __eq__ = __array__ = __len__ = __repr__ = __str__ = __bool__ = __float__ = __iter__ = __getitem__ = _fail
    __format__ = __index__ = _fail
    __hash__ = object.__hash__


class EvilArray(np.ndarray):
    """An array that does not want to be computed with."""

    def __array_ufunc__(self, *_, **__):
        raise RuntimeError("no")

    def __array_function__(self, *_, **__):
        raise RuntimeError("no")


class InterruptingArray(np.ndarray):
    """An array that interrupts whoever computes with it."""

    def __array_ufunc__(self, *_, **__):
        raise KeyboardInterrupt


class EvilList(list):
    """A list that does not say how long it is."""

    def __len__(self):
        raise RuntimeError("no")


class EndlessList(list):
    """A list that never ends."""

    def __len__(self):
        return 2

    def __iter__(self):
        while True:
            yield self


class EvilFloat(float):
    """A number that does not want to be looked at."""

    def __format__(self, _):
        raise RuntimeError("no")

    __float__ = __abs__ = __sub__ = __rsub__ = __eq__ = __str__ = __repr__ = lambda self, *_: _fail()
    __hash__ = float.__hash__


class Pretender:
    """Says that it is something else."""

    @property
    def __class__(self):
        raise RuntimeError("no")


def _fail():
    raise RuntimeError("no")


def _in_itself():
    loop = []
    loop.append(loop)
    return loop


def _array(kind, value=0.5):
    return np.full((3, 4), value).view(kind)


VALUES = {
    "None": lambda: None,
    "NotImplemented": lambda: NotImplemented,
    "NaN": lambda: math.nan,
    "inf": lambda: math.inf,
    "True": lambda: True,
    "0": lambda: 0,
    "10**400": lambda: 10**400,
    "-10**5000": lambda: -(10**5000),
    "fraction": lambda: fractions.Fraction(1, 3),
    "large fraction": lambda: fractions.Fraction(10**400, 3),
    "decimal": lambda: decimal.Decimal("1.5"),
    "decimal NaN": lambda: decimal.Decimal("sNaN"),
    "complex": lambda: 1 + 2j,
    "text": lambda: "0.5",
    "surrogate": lambda: "\udc80",
    "bytes": lambda: b"0.5",
    "empty list": lambda: [],
    "empty tuple": lambda: (),
    "nested lists": lambda: [[1.0, [2.0]], [3.0]],
    "list in itself": _in_itself,
    "deep list": lambda: _deep(3000),
    "set": lambda: {1, 2},
    "dict": lambda: {"out": 1},
    "generator": lambda: (x for x in range(3)),
    "endless": lambda: iter(int, 1),
    "module": lambda: math,
    "class": lambda: Evil,
    "function": lambda: len,
    "named tuple": lambda: collections.namedtuple("Pair", "a b")(1, 2),
    "object array": lambda: np.array([None, "a", [1]], dtype=object),
    "evil object array": lambda: np.array([[Evil(), Evil()]], dtype=object),
    "structured array": lambda: np.zeros((3, 4), dtype=[("a", float), ("b", int)]),
    "text array": lambda: np.full((3, 4), "x"),
    "dates": lambda: np.zeros((3, 4), dtype="datetime64[s]"),
    "empty array": lambda: np.empty((0, 3)),
    "0-d array": lambda: np.array(2.0),
    "masked array": lambda: np.ma.masked_all((3, 4)),
    "matrix": lambda: np.asmatrix(np.ones((3, 4))),
    "complex array": lambda: np.ones((3, 4), dtype=complex),
    "long double": lambda: np.ones((3, 4), dtype=np.longdouble),
    "16 axes": lambda: np.ones((1,) * 16),
    "read-only": lambda: np.broadcast_to(1.0, (3, 10**9)),
    "evil": Evil,
    "quitter": Quitter,
    "evil array": lambda: _array(EvilArray),
    "interrupting array": lambda: _array(InterruptingArray),
    "evil list": lambda: EvilList([1, 2]),
    "endless list": lambda: EndlessList([1, 2]),
    "evil float": lambda: EvilFloat(2.0),
    "pretender": Pretender,
    "sparse tensor": lambda: torch.eye(3).to_sparse(),
    "meta tensor": lambda: torch.ones(3, 4, device="meta"),
    "complex tensor": lambda: torch.ones(3, 4, dtype=torch.complex64),
    "conjugate view": lambda: torch.ones(3, 4, dtype=torch.complex64).conj(),
    "negative view": lambda: torch.ones(3, 4, dtype=torch.complex64).conj().imag,
    "half tensor": lambda: torch.ones(3, 4, dtype=torch.float16),
    "bfloat tensor": lambda: torch.ones(3, 4, dtype=torch.bfloat16),
    "float8 tensor": lambda: torch.ones(3, 4).to(torch.float8_e4m3fn),
    "quantized tensor": lambda: torch.quantize_per_tensor(torch.ones(3, 4), 0.1, 0, torch.qint8),
    "view with a gradient": lambda: torch.ones(3, 4, requires_grad=True)[:2],
    "parameter": lambda: torch.nn.Parameter(torch.ones(3, 4)),
    "layer": lambda: torch.nn.Linear(2, 2),
    "dtype": lambda: torch.float32,
    "expanded tensor": lambda: torch.ones(1).expand(3, 10**9),
}


def _deep(levels):
    value = [1.0]
    for _ in range(levels):
        value = [value]
    return value


WRAPPED = {
    "alone": lambda value, right: value,
    "twice": lambda value, right: (value, value),
    "for the last": lambda value, right: (*right[:-1], value) if isinstance(right, tuple) else [value],
}


def returning(id, value, wrapped="alone"):
    """An answer that calls the course's own version and gives something else back, which `value` makes."""
    wanted = get(id)
    wrap = WRAPPED[wrapped]

    def instead(original):
        def answer(*args, **kwargs):
            right = original(*args, **kwargs) if wrapped == "for the last" else None
            return wrap(value(), right)

        return answer

    if not wanted.is_class:
        answer = instead(wanted.reference)
        answer.__name__ = wanted.name
        return answer
    methods = {name: instead(getattr(wanted.reference, name)) for name in _methods(wanted.reference)}
    return type(wanted.name, (wanted.reference,), methods)


# Mutants --------------------------------------------------------------------------------------------------------------


def mutants(id, rng):
    """(what was changed, source) of single changes of the reference, in a random order, without end of their kind."""
    wanted = get(id)
    tree = variants.parse(wanted.source)
    space = dict(vars(inspect.getmodule(wanted.reference)))
    edits = list(edits_of(tree, space))
    rng.shuffle(edits)
    for edit in edits:
        with made(edit):
            try:
                yield f"{edit.kind} {edit.look}", ast.unparse(tree)
            except Exception:  # a tree that is no code
                continue


def mutant(id, source):
    """The answer that such a source defines, with the names that the reference sees; None where it defines nothing."""
    wanted = get(id)
    file = f"<mutant {abs(hash(source))}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    space = dict(vars(inspect.getmodule(wanted.reference)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of "is not" with a number
            exec(compile(source, file, "exec"), space)
    except Exception:
        return None
    return space[wanted.name]


def attacks(seed, bodies=None, values=None, changes=None):
    """(exercise, what it is, function that makes the answer): so many of each kind for each exercise; None for all."""
    rng = random.Random(seed)
    for id in IDS:
        for name in _some(BODIES, bodies, rng):
            yield id, f"body: {name}", lambda id=id, name=name: body(id, BODIES[name])
        kinds = [(name, how) for name in VALUES for how in WRAPPED]
        for name, how in _some(kinds, values, rng):
            yield id, f"value: {name}, {how}", lambda id=id, n=name, h=how: returning(id, VALUES[n], h)
        for n, (what, source) in enumerate(mutants(id, rng)):
            if changes is not None and n >= changes:
                break
            yield id, f"mutant: {what}", lambda id=id, source=source: mutant(id, source)


def _some(things, count, rng):
    things = list(things)
    return things if count is None or count >= len(things) else rng.sample(things, count)
