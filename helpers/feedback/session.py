"""What a judgement may change in the learner's session, and puts back."""

import contextlib
import os
import random
import sys

import numpy as np

from .running import globals_of


@contextlib.contextmanager
def session(candidate, name):
    """A block in which an answer is judged: its name means the answer itself, and all settings are the usual ones.

    The name is bound for recursion, which otherwise would call the course's version. Afterwards the session's own
    precision, gradient mode, random state, print options, folder and figures are as they were.
    """
    space = globals_of(candidate)
    missing = object()
    before = space.get(name, missing) if space is not None else missing
    numpy_state, python_state, options = np.random.get_state(), random.getstate(), np.get_printoptions()
    folder, limit, watchers = _folder(), sys.getrecursionlimit(), (sys.gettrace(), sys.getprofile())
    torch = sys.modules.get("torch")
    saved = (torch.get_default_dtype(), torch.is_grad_enabled(), torch.get_rng_state()) if torch else None
    threads = torch.get_num_threads() if torch else 1
    figures = _figures()
    try:
        if space is not None:
            space[name] = candidate
        if threads > 1:
            torch.set_num_threads(1)  # the cases are small: more threads only wait for one another
        yield
    finally:
        if space is not None and before is missing:
            space.pop(name, None)
        elif space is not None:
            space[name] = before
        np.random.set_state(numpy_state)
        random.setstate(python_state)
        np.set_printoptions(**{key: value for key, value in options.items() if key != "override_repr"})
        sys.setrecursionlimit(limit)
        sys.settrace(watchers[0])
        sys.setprofile(watchers[1])
        if folder is not None and folder != _folder():
            os.chdir(folder)
        if saved:
            torch.set_default_dtype(saved[0])
            torch.set_grad_enabled(saved[1])
            torch.set_rng_state(saved[2])
        if threads > 1:
            torch.set_num_threads(threads)
        if figures is not None:
            from matplotlib import pyplot

            for number in set(pyplot.get_fignums()) - figures:
                pyplot.close(number)


def _folder():
    try:
        return os.getcwd()
    except OSError:
        return None


def _figures():
    pyplot = sys.modules.get("matplotlib.pyplot")
    return set(pyplot.get_fignums()) if pyplot else None
