"""Reduce of KernelBench-X."""

import torch
from torch import Tensor

from benchmark.checkers import close, ties
from benchmark.draw import strided, transposed
from benchmark.sizes import ROWS
from benchmark.task import Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16


def sum(input: Tensor, dim: int | list[int] | None, keepdim: bool = False, dtype: torch.dtype | None = None) -> Tensor:
    """Sum over `dim`: an axis, a list of axes, or None for all. With `dtype` the input is converted to it first, and the
    result has it; without, integers are summed in int64, and floats keep their dtype. The sum of nothing is 0."""
    return torch.sum(input, dim, keepdim=keepdim, dtype=dtype)


def argmax(input_tensor: Tensor, dim: int | None, keepdim: bool = False) -> Tensor:
    """Index (int64) of the largest value along `dim`, or of the flattened tensor for None. NaN counts as the largest; any
    index that attains the maximum is right."""
    return torch.argmax(input_tensor, dim, keepdim=keepdim)


TASKS = (
    Task(
        "kernelbench_x/sum",
        "Reduce",
        "torch",
        sum,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 129), "dim": -1},
            "fp16-keepdim": lambda d: {"input": d.normal(131, 23, dtype=FP16), "dim": 0, "keepdim": True},
            "bf16-axes": lambda d: {"input": d.normal(5, 19, 13, dtype=BF16, shift=0.5), "dim": [0, 2]},
            "all": lambda d: {"input": d.normal(13, 71, shift=1), "dim": None},
            "wider": lambda d: {"input": d.normal(11, 257, dtype=FP16), "dim": 1, "dtype": torch.float32},
            "transposed": lambda d: {"input": transposed(d.normal(19, 61)), "dim": 1},
            "large": lambda d: {"input": d.normal(7, 509, scale=1e6, shift=1e5), "dim": 1},
            "int32": lambda d: {"input": d.integers(-1000, 1000, 13, 101, dtype=torch.int32), "dim": 1},
            "empty": lambda d: {"input": d.normal(3, 0), "dim": 1},
        }) + hidden({
            "middle": lambda d: {"input": d.normal(2, 67, 11), "dim": 1, "keepdim": True},
            "outliers": lambda d: {"input": d.outliers(17, 211), "dim": 1},
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 97, dtype=BF16)), "dim": -1},
        }),
        timed(lambda d, *s: {"input": d.normal(*s), "dim": -1}, ROWS),
        Contract(close()),
        magnitude=lambda input, dim, keepdim=False, dtype=None: torch.sum(input.abs(), dim, keepdim=keepdim, dtype=dtype),
    ),
    Task(
        "kernelbench_x/argmax",
        "Reduce",
        "torch",
        argmax,
        shown({
            "fp32": lambda d: {"input_tensor": d.normal(17, 129), "dim": 1},
            "keepdim-fp16": lambda d: {"input_tensor": d.normal(13, 67, dtype=FP16, shift=20), "dim": -1, "keepdim": True},
            "bf16-axis-0": lambda d: {"input_tensor": d.normal(113, 19, dtype=BF16), "dim": 0},
            "all": lambda d: {"input_tensor": d.normal(17, 53), "dim": None},
            "ties": lambda d: {"input_tensor": d.ties(19, 83), "dim": 1},
            "negative": lambda d: {"input_tensor": d.normal(11, 131, shift=-1e4), "dim": 1},
            "transposed": lambda d: {"input_tensor": transposed(d.normal(17, 61)), "dim": 1},
            "nan": lambda d: {"input_tensor": d.normal(11, 37).masked_fill(d.uniform(11, 37) < 0.02, float("nan")), "dim": 1},
            "one-column": lambda d: {"input_tensor": d.normal(7, 1), "dim": 1},
        }) + hidden({
            "middle": lambda d: {"input_tensor": d.outliers(2, 67, 11), "dim": 1},
            "strided-bf16": lambda d: {"input_tensor": strided(d.normal(13, 97, dtype=BF16)), "dim": -1, "keepdim": True},
            "infinite": lambda d: {"input_tensor": d.normal(7, 59).masked_fill(d.uniform(7, 59) < 0.8, float("-inf")), "dim": 1},
        }),
        timed(lambda d, *s: {"input_tensor": d.normal(*s, dtype=FP16), "dim": -1}, ROWS),
        Contract(ties("input_tensor")),
    ),
)  # fmt: skip
