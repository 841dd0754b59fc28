"""Run in every kernel that the tests start, before the first cell: an untouched lesson computes less.

Its cells are those of the solution, whose trainings and measurements run in full. So here a training ends early and
a time is taken once. Only cells whose output is not compared are shorter by it: those with the tag nbval-ignore-output.
"""


def _compute_less():
    import functools
    import importlib
    import inspect
    import os
    from pathlib import Path

    once = {
        "helpers.measure.median_seconds": {"at_least": 0, "repeats": 1},
        "helpers.measure.sweep": {"rounds": 1},
    }
    limits = {
        "06": {"helpers.position_tasks.train": {"steps": 10}},
        "07": once,
        "08": once
        | {"helpers.beyond_tasks.train_window": {"steps": 10}, "helpers.beyond_tasks.train_recall": {"steps": 10}},
        "09": {
            "helpers.language_training.train": {"n_steps": 200},  # what a table of the lesson asks for
            "helpers.depth.bits_after_training": {"n_steps": 10},
            "helpers.induction.train": {"n_steps": 20},
        },
    }

    def limited(function, most):
        signature = inspect.signature(function)

        @functools.wraps(function)
        def less(*args, **kwargs):
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            bound.arguments |= {name: min(bound.arguments[name], value) for name, value in most.items()}
            return function(*bound.args, **bound.kwargs)

        return less

    # The server of JupyterLab says which notebook a kernel belongs to; for nbval, conftest.py does.
    notebook = Path(os.environ.get("JPY_SESSION_NAME") or os.environ.get("ATTENTION_COURSE_NOTEBOOK", ""))
    if notebook.parent.name == "notebooks":
        for place, most in limits.get(notebook.name[:2], {}).items():
            module, _, name = place.rpartition(".")
            module = importlib.import_module(module)
            setattr(module, name, limited(getattr(module, name), most))


_compute_less()
del _compute_less
