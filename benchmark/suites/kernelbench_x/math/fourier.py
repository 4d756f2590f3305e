"""Math of KernelBench-X: Fourier transforms and their shifts."""

import torch
from torch import Tensor

from benchmark.checkers import close, exact
from benchmark.draw import offset, strided, transposed
from benchmark.sizes import POINTS, SQUARES
from benchmark.suites.kernelbench_x._out import nothing
from benchmark.task import Contract, Task, hidden, shown, timed

FP64, FP16, BF16, C64 = torch.float64, torch.float16, torch.bfloat16, torch.complex64


def ifftshift(input: Tensor, dim: int | list[int] | None = None) -> Tensor:
    """Undoes `fftshift`: along each axis of `dim` (an axis, a list of axes, or None for all) the elements are rolled by
    `-(size // 2)`, so that element `size // 2` becomes the first one. Values of any dtype are copied as they are."""
    return torch.fft.ifftshift(input, dim)


def fftn(
    input: Tensor, s: list[int] | None = None, dim: list[int] | None = None, norm: str | None = None, out: Tensor | None = None
) -> Tensor:
    """Discrete Fourier transform over the axes `dim` (all of them for None; the last `len(s)` ones where `s` alone is given):
    `X[k] = sum over n of x[n] * exp(-2j * pi * sum over axes of k * n / N)`, with all frequencies from 0 upwards on each axis.

    `s` gives the transformed size N of each axis: `input` is cut at its end, or filled up with zeros. `norm` scales the result:
    "backward" (or None) by 1, "ortho" by 1 / sqrt(product of N), "forward" by 1 / product of N. Real input is transformed as complex
    numbers of its precision (complex64 for fp32). `out`, where it is given, receives the result and is returned."""
    return torch.fft.fftn(input, s, dim, norm, out=out)


TASKS = (
    Task(
        "kernelbench_x/ifftshift",
        "Math",
        "torch",
        ifftshift,
        shown({
            "fp32": lambda d: {"input": d.normal(4099)},
            "even": lambda d: {"input": d.normal(1024)},
            "fp16-axes": lambda d: {"input": d.normal(11, 17, 13, dtype=FP16), "dim": [0, 2]},
            "bf16-all": lambda d: {"input": d.normal(31, 67, dtype=BF16)},
            "axis": lambda d: {"input": d.normal(37, 41), "dim": 1},
            "axis-0": lambda d: {"input": d.normal(37, 41), "dim": 0},
            "negative-axis": lambda d: {"input": d.normal(5, 7, 33), "dim": [-1]},
            "int64": lambda d: {"input": d.integers(-9999, 9999, 23, 29)},
            "transposed": lambda d: {"input": transposed(d.normal(29, 43))},
            "one": lambda d: {"input": d.normal(1)},
            "empty": lambda d: {"input": d.normal(0, 5)},
        }) + hidden({
            "four-axes": lambda d: {"input": d.normal(3, 5, 7, 11), "dim": [1, 3]},
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 67, dtype=BF16)), "dim": 1},
            "offset": lambda d: {"input": offset(d.normal(2, 3, 173))},
            "bool": lambda d: {"input": d.integers(0, 2, 19, 31, dtype=torch.bool), "dim": [0]},
        }),
        timed(lambda d, n: {"input": d.normal(n)}, POINTS),
        Contract(exact()),
        wrong={
            "fftshift": lambda input, dim=None: torch.fft.fftshift(input, dim),
            "reversed": lambda input, dim=None: torch.flip(input, list(range(input.dim()))),
        },
    ),
    Task(
        "kernelbench_x/fftn",
        "Math",
        "torch",
        fftn,
        shown({
            "fp32": lambda d: {"input": d.normal(16, 32)},
            "prime": lambda d: {"input": d.normal(13, 61)},
            "complex": lambda d: {"input": d.normal(17, 24, dtype=C64)},
            "fp64": lambda d: {"input": d.normal(11, 20, dtype=FP64)},
            "one-axis": lambda d: {"input": d.normal(23, 64), "dim": [1], "norm": "ortho"},
            "axes": lambda d: {"input": d.normal(6, 9, 10), "dim": [0, 2], "norm": "forward"},
            "padded": lambda d: {"input": d.normal(13, 21), "s": [16, 32]},
            "cut": lambda d: {"input": d.normal(3, 19, 30, dtype=C64), "s": [8, 27], "dim": [1, -1], "norm": "backward"},
            "shifted": lambda d: {"input": d.normal(12, 25, shift=20, scale=0.1)},
            "transposed": lambda d: {"input": transposed(d.normal(16, 27))},
            "out": lambda d: {"input": d.normal(9, 16), "out": nothing(d, 9, 16, dtype=C64)},
            "one": lambda d: {"input": d.normal(1, 1)},
        }) + hidden({
            "cube": lambda d: {"input": d.normal(5, 6, 7), "norm": "ortho"},
            "strided": lambda d: {"input": strided(d.normal(13, 37)), "dim": [0]},
            "offset-large": lambda d: {"input": offset(d.normal(8, 15, scale=1e6, dtype=C64)), "s": [20]},
            "outliers": lambda d: {"input": d.outliers(15, 22)},
        }),
        timed(lambda d, n: {"input": d.normal(n, n)}, SQUARES),
        Contract(close(), mutates=("out",)),
        wrong={
            "inverse": lambda input, s=None, dim=None, norm=None, out=None: torch.fft.ifftn(
                input, s, dim, {"forward": "backward", "ortho": "ortho"}.get(norm, "forward"), out=out
            ),
            "never scaled": lambda input, s=None, dim=None, norm=None, out=None: torch.fft.fftn(input, s, dim, out=out),
            "one axis": lambda input, s=None, dim=None, norm=None, out=None: torch.fft.fftn(
                input, s and s[-1:], dim[-1:] if dim else [-1], norm, out=out
            ),
        },
    ),
)  # fmt: skip
