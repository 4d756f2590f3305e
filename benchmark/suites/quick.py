"""Twelve operators that show whether everything works: pointwise, reductions, norms, matmul, a fusion, int8.

Signatures follow KernelBench-X; torch.nn.functional's for silu, layer_norm and rms_norm. No task has an `out` parameter:
every function returns new tensors.
"""

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close
from benchmark.draw import offset, strided, transposed
from benchmark.task import Contract, Task, hidden, shown, timed

HALF, BRAIN = torch.float16, torch.bfloat16
POINTS = ((1 << 12,), (1 << 18,), (1 << 22,), (1 << 25,))
"""Lengths from launch-bound to bandwidth-bound for pointwise operators."""


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """GELU of each element: `x * Phi(x)` with the Gaussian distribution function (`approximate="none"`, through erf), or
    `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))` (`approximate="tanh"`)."""
    return functional.gelu(input, approximate=approximate)


def softmax(input: Tensor, dim: int, dtype: torch.dtype | None = None) -> Tensor:
    """Softmax along `dim`, computed stably. With `dtype` the input is converted to it first, and the result has it."""
    return torch.softmax(input, dim, dtype=dtype)


def matmul(tensor1: Tensor, tensor2: Tensor) -> Tensor:
    """Matrix product of two tensors by the rules of torch.matmul."""
    return torch.matmul(tensor1, tensor2)


TASKS = (
    Task(
        "quick/gelu",
        "Activation",
        "kernelbench_x",
        gelu,
        shown({"fp32": lambda d: {"input": d.normal(1000)}}),
        timed(lambda d, n: {"input": d.normal(n)}, POINTS),
        Contract(close()),
    ),
    Task(
        "quick/softmax",
        "Math",
        "kernelbench_x",
        softmax,
        shown({"fp32": lambda d: {"input": d.normal(23, 131), "dim": -1}}),
        timed(lambda d, *s: {"input": d.normal(*s), "dim": -1}, ((64, 512), (1024, 1024), (4096, 8192))),
        Contract(close("dim")),
    ),
    Task(
        "quick/matmul",
        "MatrixMultiply",
        "kernelbench_x",
        matmul,
        shown({"fp32": lambda d: {"tensor1": d.normal(33, 65), "tensor2": d.normal(65, 47)}}),
        timed(lambda d, n: {"tensor1": d.normal(n, n), "tensor2": d.normal(n, n)}, ((256,), (1024,), (4096,))),
        Contract(close()),
        honest=lambda tensor1, tensor2: (tensor1.float() @ tensor2.float()).to(tensor1.dtype),
        magnitude=lambda tensor1, tensor2: tensor1.abs() @ tensor2.abs(),
    ),
)
