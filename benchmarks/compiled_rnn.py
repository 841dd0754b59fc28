"""A plain RNN as one compiled loop, beside attention and the same RNN in Python, on one core.

    python -m benchmarks.compiled_rnn

Lesson 07 says that the Python loop is slow because it starts many small operations, not because of arithmetic. This
is the proof: the same numbers from one loop in C. It needs a C compiler (cc), which the course itself does not.
"""

import ctypes
import math
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

from helpers.measure import median_seconds

D = 64
SIZES = (64, 128, 256, 512, 1024, 2048)
SOURCE = """
#include <math.h>
#define D 64
void rnn(const float *x, const float *W_x, const float *W_h, float *out, int T) {
    float state[D] = {0};
    for (int t = 0; t < T; t++) {
        float sum[D] = {0};
        for (int i = 0; i < D; i++)
            for (int j = 0; j < D; j++)
                sum[j] += x[t * D + i] * W_x[i * D + j] + state[i] * W_h[i * D + j];
        for (int j = 0; j < D; j++)
            out[t * D + j] = state[j] = tanhf(sum[j]);
    }
}
"""


def compiled_rnn(folder):
    """The C function as a Python function of x, W_x and W_h (float32, contiguous); None without a C compiler.

    folder: where the library is built.
    """
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    source, library = Path(folder) / "rnn.c", Path(folder) / "rnn.so"
    source.write_text(SOURCE, encoding="utf-8")
    options = ("-O3", "-march=native", "-ffast-math", "-shared", "-fPIC")
    subprocess.run([compiler, *options, "-o", library, source, "-lm"], check=True)
    function = ctypes.CDLL(str(library)).rnn

    def rnn(x, W_x, W_h):  # noqa: N803
        out = torch.empty_like(x)
        function(*(ctypes.c_void_p(tensor.data_ptr()) for tensor in (x, W_x, W_h, out)), len(x))
        return out

    return rnn


def looped_rnn(x, W_x, W_h):  # noqa: N803
    """The same in Python, as lesson 07 has it."""
    states = [torch.zeros(len(W_h))]
    for word in x:
        states.append(torch.tanh(word @ W_x + states[-1] @ W_h))
    return torch.stack(states[1:])


def attention(x, W_q, W_k, W_v):  # noqa: N803
    """Lesson 07's attention with its projections."""
    scores = (x @ W_q) @ (x @ W_k).mT / math.sqrt(D)
    return scores.softmax(dim=-1) @ (x @ W_v)


def main():
    """Print milliseconds per call for each length; the exit status is returned."""
    generator = torch.Generator().manual_seed(7)
    W = [torch.randn(D, D, generator=generator) / math.sqrt(D) for _ in range(5)]
    with tempfile.TemporaryDirectory() as folder:
        in_c = compiled_rnn(folder)
        if in_c is None:
            print("no C compiler (cc) was found")
            return 1
        print("words   RNN in Python   RNN in C   attention   (milliseconds, one core)")
        for T in SIZES:
            x = torch.randn(T, D, generator=generator)
            calls = ((looped_rnn, W[:2]), (in_c, W[:2]), (attention, W[2:]))
            milliseconds = [1000 * median_seconds(f, x, *weights, at_least=0.1) for f, weights in calls]
            print(f"{T:5}   {milliseconds[0]:13.3f}   {milliseconds[1]:8.3f}   {milliseconds[2]:9.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
