"""Fusion of KernelBench-X."""

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close
from benchmark.draw import offset, strided, transposed
from benchmark.sizes import POINTS
from benchmark.task import Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16


def fused_add_gelu(input: Tensor, other: Tensor | float, alpha: float = 1, approximate: str = "none") -> Tensor:
    """`gelu(input + alpha * other)` in one pass; `other` broadcasts, or is a number; `approximate` is "none" (erf) or "tanh"."""
    return functional.gelu(torch.add(input, other, alpha=alpha), approximate=approximate)


def rounded_add_gelu(input: Tensor, other: Tensor | float, alpha: float = 1, approximate: str = "none") -> Tensor:
    return functional.gelu(input + other * alpha, approximate=approximate)


TASKS = (
    Task(
        "kernelbench_x/fused_add_gelu",
        "Fusion",
        "fused",
        fused_add_gelu,
        shown({
            "fp32": lambda d: {"input": d.normal(4099), "other": d.normal(4099)},
            "fp16-alpha": lambda d: {"input": d.normal(37, 41, dtype=FP16), "other": d.normal(37, 41, dtype=FP16), "alpha": 0.5},
            "bf16-tanh": lambda d: {"input": d.normal(997, dtype=BF16), "other": d.normal(997, dtype=BF16), "approximate": "tanh"},
            "tanh-alpha": lambda d: {"input": d.normal(1009), "other": d.normal(1009), "alpha": -2, "approximate": "tanh"},
            "bias": lambda d: {"input": d.normal(17, 31), "other": d.normal(31)},
            "number": lambda d: {"input": d.normal(769), "other": -0.75, "alpha": 2},
            "transposed": lambda d: {"input": transposed(d.normal(29, 43)), "other": d.normal(29, 43)},
            "large": lambda d: {"input": d.normal(769, scale=1e4), "other": d.outliers(769), "alpha": 3},
            "empty": lambda d: {"input": d.normal(0, 5), "other": d.normal(0, 5)},
        }) + hidden({
            "broadcast-both": lambda d: {"input": d.normal(5, 1, 33), "other": d.normal(7, 1), "approximate": "tanh"},
            "strided-bf16": lambda d: {
                "input": strided(d.normal(13, 67, dtype=BF16)), "other": d.normal(13, 67, dtype=BF16), "alpha": 0.25
            },
            "offset": lambda d: {"input": offset(d.normal(2, 3, 173)), "other": offset(d.outliers(2, 3, 173), 1), "alpha": -3},
        }),
        timed(lambda d, n: {"input": d.normal(n, dtype=FP16), "other": d.normal(n, dtype=FP16)}, POINTS),
        Contract(close()),
        honest=rounded_add_gelu,
    ),
)  # fmt: skip
