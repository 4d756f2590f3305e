"""Math of KernelBench-X."""

import torch
from torch import Tensor

from benchmark.checkers import close
from benchmark.draw import offset, strided, transposed
from benchmark.sizes import POINTS, ROWS
from benchmark.task import Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16


def add(input: Tensor, other: Tensor | float, alpha: float = 1) -> Tensor:
    """`input + alpha * other`, element by element, with broadcasting; `other` is a tensor or a number. Integers stay integers."""
    return torch.add(input, other, alpha=alpha)


def rounded_add(input: Tensor, other: Tensor | float, alpha: float = 1) -> Tensor:
    """Both steps in the input's dtype: what `x + alpha * y` of half-precision tensors does in a kernel."""
    return input + other * alpha


def softmax(input: Tensor, dim: int, dtype: torch.dtype | None = None) -> Tensor:
    """Softmax along `dim`, stable for large values. With `dtype` the input is converted to it first, and the result has it."""
    return torch.softmax(input, dim, dtype=dtype)


def naive_softmax(input: Tensor, dim: int, dtype: torch.dtype | None = None) -> Tensor:
    powers = input.to(dtype or input.dtype).exp()
    return powers / powers.sum(dim, keepdim=True)


TASKS = (
    Task(
        "kernelbench_x/add",
        "Math",
        "torch",
        add,
        shown({
            "fp32": lambda d: {"input": d.normal(4099), "other": d.normal(4099)},
            "fp16-alpha": lambda d: {"input": d.normal(37, 41, dtype=FP16), "other": d.normal(37, 41, dtype=FP16), "alpha": 2.5},
            "bf16": lambda d: {"input": d.normal(997, dtype=BF16), "other": d.normal(997, dtype=BF16), "alpha": -1},
            "broadcast": lambda d: {"input": d.normal(17, 31), "other": d.normal(31)},
            "number": lambda d: {"input": d.normal(1009), "other": 1.5, "alpha": 2},
            "transposed": lambda d: {"input": transposed(d.normal(29, 43)), "other": d.normal(29, 43)},
            "large": lambda d: {"input": d.normal(769, scale=1e6), "other": d.outliers(769), "alpha": 0.5},
            "int64": lambda d: {"input": d.integers(-9999, 9999, 1021), "other": d.integers(-9999, 9999, 1021), "alpha": 3},
            "empty": lambda d: {"input": d.normal(0, 5), "other": d.normal(0, 5)},
        }) + hidden({
            "broadcast-both": lambda d: {"input": d.normal(5, 1, 33), "other": d.normal(7, 1), "alpha": 0.25},
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 67, dtype=BF16)), "other": strided(d.normal(13, 67, dtype=BF16), 3)},
            "offset": lambda d: {"input": offset(d.normal(2, 3, 173)), "other": offset(d.outliers(2, 3, 173), 1), "alpha": -3},
        }),
        timed(lambda d, n: {"input": d.normal(n), "other": d.normal(n)}, POINTS),
        Contract(close()),
        honest=rounded_add,
    ),
    Task(
        "kernelbench_x/softmax",
        "Math",
        "torch",
        softmax,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 129), "dim": -1},
            "fp16": lambda d: {"input": d.normal(13, 67, dtype=FP16), "dim": 1},
            "bf16-axis-0": lambda d: {"input": d.normal(61, 19, dtype=BF16), "dim": 0},
            "wider": lambda d: {"input": d.normal(11, 257, dtype=FP16), "dim": -1, "dtype": torch.float32},
            "middle": lambda d: {"input": d.normal(2, 47, 7, scale=3), "dim": 1},
            "transposed": lambda d: {"input": transposed(d.normal(17, 61)), "dim": -1},
            "large": lambda d: {"input": d.normal(11, 101, scale=50, shift=1e4), "dim": -1},
            "masked": lambda d: {"input": d.normal(11, 37).masked_fill(d.uniform(11, 37) < 0.5, float("-inf")), "dim": -1},
            "empty": lambda d: {"input": d.normal(0, 5), "dim": -1},
        }) + hidden({
            "outliers": lambda d: {"input": d.outliers(13, 211), "dim": 1},
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 97, dtype=BF16)), "dim": -1},
            "cube": lambda d: {"input": offset(d.normal(2, 3, 2, 53, scale=10)), "dim": 3},
        }),
        timed(lambda d, *s: {"input": d.normal(*s), "dim": -1}, ROWS),
        Contract(close("dim")),
        wrong={"no maximum subtracted": naive_softmax},
    ),
)  # fmt: skip
