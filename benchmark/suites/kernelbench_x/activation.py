"""Activation of KernelBench-X."""

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close
from benchmark.draw import offset, strided, transposed
from benchmark.sizes import POINTS
from benchmark.task import Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """GELU of each element: `x * Phi(x)` with the Gaussian distribution function (`approximate="none"`, through erf), or
    `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))` (`approximate="tanh"`)."""
    return functional.gelu(input, approximate=approximate)


def other_gelu(input: Tensor, approximate: str = "none") -> Tensor:
    return functional.gelu(input, approximate="tanh" if approximate == "none" else "none")


TASKS = (
    Task(
        "kernelbench_x/gelu",
        "Activation",
        "torch.nn.functional",
        gelu,
        shown({
            "fp32": lambda d: {"input": d.normal(4099)},
            "fp32-tanh": lambda d: {"input": d.normal(31, 67), "approximate": "tanh"},
            "fp16": lambda d: {"input": d.normal(1021, dtype=FP16)},
            "bf16-tanh": lambda d: {"input": d.normal(997, dtype=BF16), "approximate": "tanh"},
            "transposed": lambda d: {"input": transposed(d.normal(29, 43))},
            "large": lambda d: {"input": d.normal(769, scale=1e4), "approximate": "tanh"},
            "small": lambda d: {"input": d.normal(769, scale=1e-5)},
            "empty": lambda d: {"input": d.normal(0)},
        }) + hidden({
            "outliers-tanh": lambda d: {"input": d.outliers(5, 7, 31), "approximate": "tanh"},
            "strided-fp16": lambda d: {"input": strided(d.normal(13, 67, dtype=FP16))},
            "offset-tails": lambda d: {"input": offset(d.uniform(1511, low=-6, high=6))},
        }),
        timed(lambda d, n: {"input": d.normal(n)}, POINTS),
        Contract(close()),
        wrong={"the other form": other_gelu},
    ),
)  # fmt: skip
