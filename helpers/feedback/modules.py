"""Judge classes of PyTorch layers: parameters are filled by name, so that neither seeds nor creation order matter."""

import functools
import zlib

import torch
from torch import nn

from .exercise import AnswerProblem, Finding


def built(candidate, init):
    """An instance that leaves the global random state as it was; AnswerProblem if it is no nn.Module."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        model = candidate(*init)
    if not isinstance(model, nn.Module):
        raise AnswerProblem("not-a-module", "The class must inherit from `nn.Module`: write `class Name(nn.Module)`.")
    return model


def looked_at(model, reference):
    """Raise AnswerProblem unless names and shapes of the model's parameters are the reference's."""
    wanted = {name: parameter.shape for name, parameter in reference.named_parameters()}
    found = {name: parameter.shape for name, parameter in model.named_parameters()}
    if found != wanted:
        raise _parameter_problem(model, wanted, found)


def filled(model, reference):
    """The model with weights drawn by parameter name; AnswerProblem unless names and shapes are the reference's."""
    looked_at(model, reference)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(_drawn(name, parameter.shape))
    return model


@functools.cache
def _drawn(name, shape):
    """The weights of the parameter of this name."""
    generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))
    return torch.randn(shape, generator=generator) * 1.5 / shape[-1] ** 0.5


def _parameter_problem(model, wanted, found):
    own = {name: value for name, value in vars(model).items() if not name.startswith("_")}  # without nn.Module's tables
    lists = [name for name, value in own.items() if isinstance(value, (list, tuple, dict)) and _holds_layers(value)]
    if lists:
        kind, layers = type(vars(model)[lists[0]]).__name__, sorted({name.split(".")[0] for name in wanted})
        return AnswerProblem(
            "layers-in-plain-list",
            f"`{lists[0]}` is a plain Python {kind}, and PyTorch cannot see layers inside it: they would never be "
            f"trained or moved. Make each layer an attribute of its own: {_listed(layers)}.",
        )
    missing, extra = sorted(set(wanted) - set(found)), sorted(set(found) - set(wanted))
    if missing and extra:
        message = f"Parameters are missing: {_listed(missing)}; instead there is {_listed(extra)}."
        return AnswerProblem("parameters-missing", message)
    shared = _shared(model, missing)
    if shared:
        names = [name.rpartition(".")[0] for name in shared]
        what = f"{_listed(names[:-1])} and `{names[-1]}` are one and the same layer"
        return AnswerProblem("parameters-missing", f"{what}. Each needs one of its own, made by a call of its own.")
    if missing:
        return AnswerProblem(
            "parameters-missing",
            f"Parameters are missing: {_listed(missing)}. Is each layer made in `__init__`, as an attribute of self? "
            "One made in `forward` is new at every call.",
        )
    if extra:
        biases = [name for name in extra if name.endswith(".bias")]
        if biases == extra:
            return AnswerProblem(
                "bias-not-wanted", f"There are biases, {_listed(extra)}; the layers should have none: `bias=False`."
            )
        return AnswerProblem("parameters-extra", f"There are parameters too many: {_listed(extra)}.")
    name = next(name for name in wanted if wanted[name] != found[name])
    return AnswerProblem(
        "parameter-shape",
        f"`{name}` has shape {tuple(found[name])}; {tuple(wanted[name])} is wanted (outputs, inputs).",
    )


def _shared(model, missing):
    """Names under which one parameter stands, where it is why others seem to be missing; the first such group."""
    groups = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        groups.setdefault(id(parameter), []).append(name)
    return next((names for names in groups.values() if len(names) > 1 and set(names) & set(missing)), [])


def _holds_layers(value):
    if isinstance(value, nn.Module):
        return True
    if isinstance(value, dict):
        value = value.values()
    return (
        not isinstance(value, str)
        and hasattr(value, "__iter__")
        and not torch.is_tensor(value)
        and any(map(_holds_layers, value))
    )


def _listed(names):
    return ", ".join(f"`{name}`" for name in names)


def gradients_reach_every_parameter(reference, init, inputs):
    """A property for an Exercise: one backward pass from the first result leaves a gradient on every parameter."""

    def ask(candidate):
        model = filled(built(candidate, init), built(reference, init))
        result = model(*inputs())
        first = result[0] if isinstance(result, tuple) else result
        if not first.requires_grad:
            return Finding(
                "no-gradient", "No gradient can flow back from the output: is a tensor detached, or turned into NumPy?"
            )
        (first**2).sum().backward()
        without = [name for name, p in model.named_parameters() if p.grad is None or not p.grad.abs().sum() > 0]
        if without:
            return Finding(
                "parameter-without-gradient",
                f"No gradient arrives at {_listed(without)}: the output does not depend on it, or is cut off from it.",
            )

    return ask
