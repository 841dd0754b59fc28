"""Lesson 10's encoder and its search: seconds, and the memory of the whole process.

python -m benchmarks.encoder      prints rows as JSON; benchmarks/run.py starts it with one thread for every library
"""

import dataclasses
import json
import sys
import tempfile
import time
from statistics import median

import psutil
import torch

from benchmarks.table import Row, at_most, readable_seconds
from helpers import encoder, search
from helpers.cost import readable_bytes

ROUNDS = 9
INDEX_SECONDS, PEAK_BYTES = 20, 1e9  # what the lesson promises


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def peak_bytes():
    """The largest size this process has had."""
    if sys.platform == "win32":
        return psutil.Process().memory_info().peak_wset
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def layers_row(model):
    """All six layers on one batch, against PyTorch's layers with the same numbers."""
    tokens, mask = model.encode(["the books on the shelf are old and nobody reads them"] * 8)
    theirs = [encoder.torch_layer(layer, encoder.N_HEADS) for layer in model.layers]

    def run_theirs():
        x = model.embed(tokens)
        with torch.no_grad():
            for layer in theirs:
                x = layer(x, src_key_padding_mask=~mask)

    pairs = [(seconds(lambda: model.run(tokens, mask)), seconds(run_theirs)) for _ in range(ROUNDS)]
    ratio = median(ours / against for ours, against in pairs)
    both = (readable_seconds(median(side)) for side in zip(*pairs, strict=True))
    return Row("Encoder", "six layers, 8 × 13 tokens", *both, ratio, **at_most(2.0, ratio))


def rows():
    """All rows; none where the encoder is not installed."""
    model = encoder.load()
    if model is None:
        return []
    found = [layers_row(model)]
    question = "How can I stop the model from looking at later words?"
    query = median(seconds(lambda: model.vectors([question])) for _ in range(ROUNDS))
    with tempfile.TemporaryDirectory() as folder:
        made = seconds(lambda: search.build_index(model, folder))
        kept = seconds(lambda: search.build_index(model, folder))
    n = len(search.paragraphs())
    times, goal = (readable_seconds(made), readable_seconds(query)), f"≤ {INDEX_SECONDS} s"
    what = f"index of {n} paragraphs, against one question"
    found.append(Row("Encoder", what, *times, made / query, goal, made <= INDEX_SECONDS))
    times = readable_seconds(kept), readable_seconds(made)
    found.append(Row("Encoder", "the same index, kept on disk", *times, kept / made, **at_most(0.1, kept / made)))
    size = sum(tensor.nbytes for tensor in model.tensors.values())
    peak = peak_bytes()
    what, memory = (
        "memory of the whole process, against the numbers alone",
        (readable_bytes(peak), readable_bytes(size)),
    )
    found.append(Row("Encoder", what, *memory, peak / size, "≤ 1 GB", peak <= PEAK_BYTES))
    return found


if __name__ == "__main__":
    json.dump([dataclasses.asdict(row) for row in rows()], sys.stdout)
