"""Reduce of KernelBench-X."""

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close, nearly_ties, ties
from benchmark.draw import offset, strided, transposed
from benchmark.sizes import ROWS
from benchmark.suites.kernelbench_x._out import into, nothing
from benchmark.task import Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16
NAN = float("nan")


def sum(input: Tensor, dim: int | list[int] | None, keepdim: bool = False, dtype: torch.dtype | None = None) -> Tensor:
    """Sum over `dim`: an axis, a list of axes, or None for all. With `dtype` the input is converted to it first, and the
    result has it; without, integers are summed in int64, and floats keep their dtype. The sum of nothing is 0."""
    return torch.sum(input, dim, keepdim=keepdim, dtype=dtype)


def argmax(input_tensor: Tensor, dim: int | None, keepdim: bool = False) -> Tensor:
    """Index (int64) of the largest value along `dim`, or of the flattened tensor for None. NaN counts as the largest; any
    index that attains the maximum is right."""
    return torch.argmax(input_tensor, dim, keepdim=keepdim)


def mean(
    input_tensor: Tensor, dim: int | list[int] | None, keepdim: bool = False, dtype: torch.dtype | None = None, out: Tensor | None = None
) -> Tensor:
    """Mean over `dim`: an axis, a list of axes, or None for all. With `dtype` the input is converted to it first, and the result
    has it (integers need one). The mean of nothing is NaN. A tensor `out` is filled and returned."""
    return into(torch.mean(input_tensor, dim, keepdim=keepdim, dtype=dtype), out)


def mean_of_last_axis(
    input_tensor: Tensor, dim: int | list[int] | None, keepdim: bool = False, dtype: torch.dtype | None = None, out: Tensor | None = None
) -> Tensor:
    """Divides by the length of the last axis, whichever is reduced."""
    total = torch.sum(input_tensor, dim, keepdim=keepdim, dtype=dtype)
    return into(total / max(input_tensor.shape[-1], 1), out)


def std(input: Tensor, dim: int | list[int] | None = None, correction: int = 1, keepdim: bool = False, out: Tensor | None = None) -> Tensor:
    """`sqrt(sum((x - mean)**2) / (n - correction))` over `dim`: an axis, a list of axes, or None for all; n elements are
    reduced to each result. NaN where n equals `correction`. A tensor `out` is filled and returned."""
    return into(torch.std(input, dim, correction=correction, keepdim=keepdim), out)


def std_of_squares(
    input: Tensor, dim: int | list[int] | None = None, correction: int = 1, keepdim: bool = False, out: Tensor | None = None
) -> Tensor:
    """From the means of x**2 and x, which cancel where the mean is large."""
    n = input.numel() // max(torch.mean(input, dim).numel(), 1)
    square, average = input.float().square().mean(dim, keepdim=keepdim), input.float().mean(dim, keepdim=keepdim)
    return into(((square - average.square()).clamp_min(0) * n / (n - correction)).sqrt().to(input.dtype), out)


def std_biased(
    input: Tensor, dim: int | list[int] | None = None, correction: int = 1, keepdim: bool = False, out: Tensor | None = None
) -> Tensor:
    return into(torch.std(input, dim, correction=0, keepdim=keepdim), out)


def std_terms(
    input: Tensor, dim: int | list[int] | None = None, correction: int = 1, keepdim: bool = False, out: Tensor | None = None
) -> Tensor:
    """The mean is rounded in proportion to the values."""
    return input.abs().mean([] if dim is None else dim, keepdim=keepdim)


def min(input_tensor: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """`(values, indices)`: the smallest value along `dim` and an index (int64) at which it stands. NaN counts as the smallest;
    any index that attains the minimum is right."""
    values, indices = torch.min(input_tensor, dim, keepdim=keepdim)
    return values, indices


def min_of_magnitude(input_tensor: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    indices = input_tensor.abs().min(dim, keepdim=True).indices
    values = input_tensor.gather(dim, indices)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def min_gelu(
    input: Tensor, dim: int | None = None, keepdim: bool = False, approximate: str = "none", out: Tensor | None = None
) -> Tensor | tuple[Tensor, Tensor]:
    """The smallest of `gelu(input)`: `x * (1 + erf(x / sqrt(2))) / 2`, or for `approximate="tanh"`
    `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))`. NaN counts as the smallest.

    With an axis `dim` the result is `(values, indices)` along it (indices int64); without, the smallest value of all alone, and
    a tensor `out` of no dimensions is filled and returned. Where two values are equal but for rounding, either index is right.
    """
    values = functional.gelu(input, approximate=approximate)
    if dim is None:
        return into(values.min(), out)
    smallest, indices = torch.min(values, dim, keepdim=keepdim)
    return smallest, indices


def gelu_of_min(
    input: Tensor, dim: int | None = None, keepdim: bool = False, approximate: str = "none", out: Tensor | None = None
) -> Tensor | tuple[Tensor, Tensor]:
    """The order exchanged, as if gelu were monotonic."""
    if dim is None:
        return into(functional.gelu(input.min(), approximate=approximate), out)
    smallest, indices = torch.min(input, dim, keepdim=keepdim)
    return functional.gelu(smallest, approximate=approximate), indices


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
    Task(
        "kernelbench_x/mean",
        "Reduce",
        "torch",
        mean,
        shown({
            "fp32": lambda d: {"input_tensor": d.normal(17, 129), "dim": -1},
            "fp16-keepdim": lambda d: {"input_tensor": d.normal(131, 23, dtype=FP16), "dim": 0, "keepdim": True},
            "bf16-axes": lambda d: {"input_tensor": d.normal(5, 19, 13, dtype=BF16, shift=0.5), "dim": [0, 2]},
            "all": lambda d: {"input_tensor": d.normal(13, 71, shift=1), "dim": None},
            "wider": lambda d: {"input_tensor": d.normal(11, 257, dtype=FP16, shift=900), "dim": 1, "dtype": torch.float32},
            "transposed": lambda d: {"input_tensor": transposed(d.normal(19, 61)), "dim": 1},
            "int32": lambda d: {
                "input_tensor": d.integers(-1000, 1000, 13, 101, dtype=torch.int32), "dim": 1, "dtype": torch.float32
            },
            "out": lambda d: {"input_tensor": d.normal(7, 83), "dim": 1, "out": nothing(d, 7)},
            "fp64": lambda d: {"input_tensor": d.normal(7, 5, 31, dtype=torch.float64), "dim": [1, 2], "keepdim": True},
            "empty": lambda d: {"input_tensor": d.normal(3, 0), "dim": 1},
        }) + hidden({
            "middle": lambda d: {"input_tensor": d.normal(2, 67, 11), "dim": 1, "keepdim": True},
            "outliers": lambda d: {"input_tensor": d.outliers(17, 211), "dim": 1},
            "strided-bf16": lambda d: {"input_tensor": strided(d.normal(13, 97, dtype=BF16)), "dim": -1},
        }),
        timed(lambda d, *s: {"input_tensor": d.normal(*s, dtype=FP16), "dim": -1}, ROWS),
        Contract(close(), mutates=("out",)),
        magnitude=lambda input_tensor, dim, keepdim=False, dtype=None, out=None: torch.mean(
            input_tensor.abs(), dim, keepdim=keepdim, dtype=dtype
        ),
        wrong={"length of the last axis": mean_of_last_axis},
    ),
    Task(
        "kernelbench_x/std",
        "Reduce",
        "torch",
        std,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 129), "dim": -1},
            "all": lambda d: {"input": d.normal(13, 71, scale=3, shift=1)},
            "biased-fp16": lambda d: {"input": d.normal(13, 67, dtype=FP16, shift=2), "dim": 1, "correction": 0},
            "bf16-axes": lambda d: {"input": d.normal(5, 19, 13, dtype=BF16), "dim": [0, 2], "keepdim": True},
            "shifted": lambda d: {"input": d.normal(11, 101, shift=1000), "dim": 1},
            "small": lambda d: {"input": d.normal(11, 83, scale=1e-6), "dim": 1, "correction": 2},
            "transposed": lambda d: {"input": transposed(d.normal(19, 61)), "dim": 1},
            "out": lambda d: {"input": d.normal(7, 83), "dim": 1, "out": nothing(d, 7)},
            "one-column": lambda d: {"input": d.normal(7, 1), "dim": 1},
        }) + hidden({
            "middle": lambda d: {"input": d.normal(2, 67, 11, scale=1e4), "dim": 1, "keepdim": True, "correction": 3},
            "outliers": lambda d: {"input": d.outliers(13, 211), "dim": 1},
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 97, dtype=BF16)), "dim": 1},
        }),
        timed(lambda d, *s: {"input": d.normal(*s), "dim": -1}, ROWS),
        Contract(close(), mutates=("out",), notes=("The mean is subtracted before squaring.",)),
        magnitude=std_terms,
        wrong={"biased": std_biased, "mean of squares": std_of_squares},
    ),
    Task(
        "kernelbench_x/min",
        "Reduce",
        "torch",
        min,
        shown({
            "fp32": lambda d: {"input_tensor": d.normal(17, 129), "dim": 1},
            "fp16-keepdim": lambda d: {"input_tensor": d.normal(13, 67, dtype=FP16, shift=20), "dim": -1, "keepdim": True},
            "bf16-axis-0": lambda d: {"input_tensor": d.normal(113, 19, dtype=BF16), "dim": 0},
            "ties": lambda d: {"input_tensor": d.ties(19, 83), "dim": 1},
            "positive": lambda d: {"input_tensor": d.normal(11, 131, shift=1e4), "dim": 1},
            "int64": lambda d: {"input_tensor": d.integers(-(2**40), 2**40, 11, 67), "dim": 1},
            "transposed": lambda d: {"input_tensor": transposed(d.normal(17, 61)), "dim": 1},
            "nan": lambda d: {"input_tensor": d.normal(11, 37).masked_fill(d.uniform(11, 37) < 0.02, NAN), "dim": 1},
            "one-column": lambda d: {"input_tensor": d.normal(7, 1), "dim": 1},
        }) + hidden({
            "middle": lambda d: {"input_tensor": d.outliers(2, 67, 11), "dim": 1},
            "strided-bf16": lambda d: {"input_tensor": strided(d.normal(13, 97, dtype=BF16)), "dim": -1, "keepdim": True},
            "infinite": lambda d: {"input_tensor": d.normal(7, 59).masked_fill(d.uniform(7, 59) < 0.8, float("inf")), "dim": 1},
        }),
        timed(lambda d, *s: {"input_tensor": d.normal(*s), "dim": -1}, ROWS),
        Contract(ties("input_tensor", largest=False, valued=True)),
        wrong={"smallest magnitude": min_of_magnitude},
    ),
    Task(
        "kernelbench_x/min_gelu",
        "Reduce",
        "fused",
        min_gelu,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 129), "dim": -1},
            "all": lambda d: {"input": d.normal(13, 71, shift=2)},
            "keepdim-fp16": lambda d: {"input": d.normal(13, 67, dtype=FP16, shift=2), "dim": 1, "keepdim": True},
            "bf16-tanh": lambda d: {"input": d.normal(113, 19, dtype=BF16, shift=1), "dim": 0, "approximate": "tanh"},
            "tanh": lambda d: {"input": d.normal(19, 13), "dim": 1, "approximate": "tanh"},
            "left-of-the-dip": lambda d: {"input": d.uniform(17, 31, low=-5, high=-1), "dim": 1},
            "transposed": lambda d: {"input": transposed(d.normal(17, 61, scale=3)), "dim": 1},
            "out": lambda d: {"input": d.normal(7, 83, shift=2), "out": nothing(d)},
            "nan": lambda d: {"input": d.normal(11, 37).masked_fill(d.uniform(11, 37) < 0.02, NAN), "dim": 1},
        }) + hidden({
            "middle": lambda d: {"input": d.normal(2, 29, 11, scale=0.5, shift=1), "dim": 1, "keepdim": True},
            "positive-outliers": lambda d: {"input": d.outliers(13, 97).abs(), "dim": 1},
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 43, dtype=BF16, shift=1)), "dim": -1},
            "offset-all": lambda d: {"input": offset(d.normal(5, 211, scale=0.1, shift=-3)), "approximate": "tanh"},
        }),
        timed(lambda d, *s: {"input": d.normal(*s), "dim": -1}, ROWS),
        Contract(nearly_ties(), mutates=("out",)),
        truth=lambda input, dim=None, keepdim=False, approximate="none", out=None: functional.gelu(input, approximate=approximate),
        wrong={"gelu of the minimum": gelu_of_min},
    ),
)  # fmt: skip
