"""Lesson 10: the numbers of a trained model, read from a safetensors file whose hash is known.

The format: eight bytes with the length of a header, the header in JSON, then the numbers, one tensor after another.
"""

import hashlib
import json
from pathlib import Path

import torch

DTYPES = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "F64": torch.float64, "I64": torch.int64}


class WrongFile(Exception):
    """A file that is not the expected one; nothing of what it holds was used."""


def checked_bytes(path, sha256):
    """What a file holds, if its hash is the expected one.

    path: str or Path. sha256: 64 hexadecimal digits. Returns a bytearray.
    Raises WrongFile, with the hash that was found, for any other file.
    """
    data = bytearray(Path(path).stat().st_size)
    with open(path, "rb", buffering=0) as file:
        filled, view = 0, memoryview(data)
        while filled < len(data) and (n := file.readinto(view[filled:])):
            filled += n
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise WrongFile(f"{Path(path).name} has the sha256 {found}, and {sha256} was expected")
    return data


def read_tensors(data):
    """Every tensor of a safetensors file by its name.

    data: bytearray, the whole file. Returns a dict from name to a tensor that shares its memory with data.
    """
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        first, end = (start + offset for offset in entry["data_offsets"])
        numbers = torch.frombuffer(data, dtype=torch.uint8, count=end - first, offset=first)
        tensors[name] = numbers.view(DTYPES[entry["dtype"]]).view(entry["shape"])
    return tensors
