"""Lesson 07: measure time, memory and influence of a function, your own attention included.

Functions here take the function to measure first, then its arguments: `peak_bytes(attention, Q, K, V)`.
"""

import itertools
import sys
import time
import tracemalloc
import weakref
from contextlib import contextmanager
from statistics import median

import numpy as np
import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

# Time

# Windows counts CPU time in ticks of 16 ms, too coarse for short calls.
CPU_CLOCK = time.perf_counter if sys.platform == "win32" else time.thread_time


@contextmanager
def one_thread():
    """Let PyTorch compute on one core inside the `with` block, so that a neighbour on another core disturbs little."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def median_seconds(f, *inputs, at_least=0.02, repeats=3):
    """Median time of a call f(*inputs), forward only, on one core, or on the accelerator that holds the inputs.

    at_least: seconds to go on repeating for. repeats: calls that are made at least, however long they take.
    Returns seconds, a float: CPU time, in which waiting for other programs does not count (on accelerators and on
    Windows, time on the clock).
    """
    device = next((x.device for x in inputs if torch.is_tensor(x)), torch.device("cpu"))
    clock = CPU_CLOCK if device.type == "cpu" else time.perf_counter
    times = []
    with torch.no_grad(), one_thread():
        _finish(device)
        deadline = time.perf_counter() + at_least
        while len(times) < repeats or time.perf_counter() < deadline:
            start = clock()
            f(*inputs)
            _finish(device)
            times.append(clock() - start)
    return median(times)


def sweep(measure, functions, make_inputs, sizes, rounds=1, progress=iter):
    """Measure several functions at several sizes, in rounds, so that a disturbance hits all sizes alike.

    measure: (f, *inputs) -> number. functions: dict from name to function. make_inputs: size -> tuple of arguments.
    sizes: n of them. rounds: how often each pair is measured. progress: wraps the list of jobs, as tqdm does.
    Returns a dict from name to (rounds, n).
    """
    results = {name: np.zeros((rounds, len(sizes))) for name in functions}
    jobs = list(itertools.product(range(rounds), range(len(sizes)), functions))
    for r, i, name in progress(jobs):
        results[name][r, i] = measure(functions[name], *make_inputs(sizes[i]))
    return results


def _finish(device):
    """Wait until an accelerator has done what it was told; a CPU has when the call returns."""
    if device.type != "cpu":
        torch.accelerator.synchronize(device)


# Memory


class LiveBytes(TorchDispatchMode):
    """Counts, inside a `with` block, the bytes of all tensors that are made there and still alive.

    live: bytes now; falls when a tensor dies, after the block too. peak: the most there were at once.
    Every operation of PyTorch passes through here. Views share the memory of their tensor and count once;
    scratch space inside one operation is not seen.
    """

    @classmethod
    def _should_skip_dynamo(cls):
        """Nothing here is compiled; by default PyTorch would load its compiler, a second of imports, to skip it."""
        return False

    def __init__(self):
        super().__init__()
        self.live = 0
        self.peak = 0
        self._sizes = {}  # address of a storage -> its bytes

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        old = {tensor.untyped_storage().data_ptr() for tensor in _tensors((args, kwargs))}
        result = operation(*args, **kwargs)
        for tensor in _tensors(result):
            storage = tensor.untyped_storage()
            address = storage.data_ptr()
            if address not in old and address not in self._sizes:
                self._sizes[address] = storage.nbytes()
                self.live += storage.nbytes()
                weakref.finalize(storage, self._freed, address).atexit = False
        self.peak = max(self.peak, self.live)
        return result

    def _freed(self, address):
        self.live -= self._sizes.pop(address)


def peak_bytes(f, *inputs):
    """Most bytes of tensors alive at once during f(*inputs), forward only, beyond the inputs themselves; an int."""
    with torch.no_grad(), LiveBytes() as meter:
        f(*inputs)
    return meter.peak


def numpy_peak_bytes(f, *inputs):
    """Most bytes of NumPy arrays alive at once during f(*inputs), beyond the inputs themselves; an int.

    Python's own objects are in it, some hundred bytes each.
    """
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        f(*inputs)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak - before


def saved_bytes(f, *inputs):
    """Bytes that f(*inputs) keeps until the backward pass, beyond its inputs (and parameters, if f is a module).

    inputs: tensors of floats; gradients are taken with respect to all. Returns an int.
    """
    inputs = [x.detach().requires_grad_() for x in inputs]
    there = [*inputs, *(f.parameters() if isinstance(f, torch.nn.Module) else ())]
    kept = {}  # address of a storage -> the storage, held so that no other can take its address

    def keep(tensor):
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage()
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        f(*inputs)
    for tensor in there:
        kept.pop(tensor.untyped_storage().data_ptr(), None)
    return sum(storage.nbytes() for storage in kept.values())


def _tensors(tree):
    return [leaf for leaf in tree_leaves(tree) if torch.is_tensor(leaf)]


# Order and reach


def sequential_steps(output):
    """Length of the longest chain of operations that made a tensor, each of which had to wait for the one before.

    output: a tensor that autograd has recorded. Returns an int, 0 for a tensor that was not computed.
    """
    steps = {}  # operation -> the longest chain that ends with it
    waiting = [output.grad_fn] if output.grad_fn else []
    while waiting:
        operation = waiting[-1]
        before = [earlier for earlier, _ in operation.next_functions if earlier is not None]
        missing = [earlier for earlier in before if earlier not in steps]
        if missing:
            waiting.extend(missing)
        else:
            # A leaf's own entry in the graph (AccumulateGrad) has nothing before it and is no operation.
            steps[operation] = max((steps[earlier] + 1 for earlier in before), default=0)
            waiting.pop()
    return steps.get(output.grad_fn, 0)


def influence(f, x):
    """How strongly each word moves the last output: the Frobenius norm of the Jacobian of f(x)[-1] for each x[t].

    f: (T, d) -> (T, d_out), differentiable. x: (T, d). Returns (T,); exactly 0 where nothing gets through.
    """
    x = x.detach().requires_grad_()
    with one_thread():
        last = f(x)[-1]  # (d_out,)
        each_number = torch.eye(len(last), dtype=x.dtype, device=x.device)  # (d_out, d_out)
        (jacobian,) = torch.autograd.grad(last, x, each_number, is_grads_batched=True)  # (d_out, T, d)
    return jacobian.square().sum(dim=(0, 2)).sqrt()  # (T,)
