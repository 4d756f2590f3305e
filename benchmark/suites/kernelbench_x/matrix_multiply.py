"""MatrixMultiply of KernelBench-X."""

import torch
from torch import Tensor

from benchmark.checkers import close
from benchmark.draw import offset, strided, transposed
from benchmark.sizes import SQUARES
from benchmark.task import Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16


def matmul(tensor1: Tensor, tensor2: Tensor) -> Tensor:
    """Matrix product by the rules of torch.matmul: vectors, matrices, and batches of matrices with broadcasting."""
    return torch.matmul(tensor1, tensor2)


TASKS = (
    Task(
        "kernelbench_x/matmul",
        "MatrixMultiply",
        "torch",
        matmul,
        shown({
            "fp32": lambda d: {"tensor1": d.normal(33, 65), "tensor2": d.normal(65, 31)},
            "fp16": lambda d: {"tensor1": d.normal(32, 128, dtype=FP16), "tensor2": d.normal(128, 32, dtype=FP16)},
            "bf16": lambda d: {"tensor1": d.normal(31, 67, dtype=BF16), "tensor2": d.normal(67, 29, dtype=BF16)},
            "transposed": lambda d: {"tensor1": transposed(d.normal(37, 53)), "tensor2": transposed(d.normal(53, 29))},
            "large": lambda d: {"tensor1": d.normal(17, 127, scale=1e3, shift=500), "tensor2": d.outliers(127, 19)},
            "batch": lambda d: {"tensor1": d.normal(2, 13, 37), "tensor2": d.normal(2, 37, 11)},
            "broadcast": lambda d: {"tensor1": d.normal(2, 1, 7, 31), "tensor2": d.normal(31, 5)},
            "vector": lambda d: {"tensor1": d.normal(17, 71), "tensor2": d.normal(71)},
            "nothing-to-sum": lambda d: {"tensor1": d.normal(3, 0), "tensor2": d.normal(0, 5)},
        }) + hidden({
            "strided-bf16": lambda d: {"tensor1": strided(d.normal(19, 83, dtype=BF16)), "tensor2": strided(d.normal(83, 23, dtype=BF16))},
            "long": lambda d: {"tensor1": d.normal(5, 1021), "tensor2": offset(d.normal(1021, 3))},
            "dot": lambda d: {"tensor1": d.normal(307), "tensor2": d.normal(307)},
        }),
        timed(lambda d, n: {"tensor1": d.normal(n, n, dtype=FP16), "tensor2": d.normal(n, n, dtype=FP16)}, SQUARES),
        Contract(close()),
        honest=lambda tensor1, tensor2: torch.matmul(tensor1.float(), tensor2.float()).to(tensor1.dtype),
        magnitude=lambda tensor1, tensor2: torch.matmul(tensor1.abs(), tensor2.abs()),
    ),
)  # fmt: skip
