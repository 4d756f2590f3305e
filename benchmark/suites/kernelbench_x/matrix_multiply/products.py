"""Products as such: of two matrices, with an addend, of a triangle."""

from collections.abc import Callable

import torch
from torch import Tensor

from benchmark.checkers import close
from benchmark.draw import offset, strided, transposed
from benchmark.sizes import SQUARES
from benchmark.suites.kernelbench_x._honest import rounded_once
from benchmark.suites.kernelbench_x._out import into, nothing
from benchmark.task import Contract, Maker, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16
NAN = float("nan")


def matmul(tensor1: Tensor, tensor2: Tensor) -> Tensor:
    """Matrix product by the rules of torch.matmul: vectors, matrices, and batches of matrices with broadcasting."""
    return torch.matmul(tensor1, tensor2)


def matmul_fp16(input: Tensor, other: Tensor) -> Tensor:
    """Product of the fp16 matrices `input` (M, K) and `other` (K, N), accumulated in fp32 and rounded to fp16 once; sums beyond
    65504 become infinite."""
    return torch.matmul(input, other)


def matmul_bf16(input: Tensor, other: Tensor) -> Tensor:
    """Product of the bf16 matrices `input` (M, K) and `other` (K, N), accumulated in fp32 and rounded to bf16 once."""
    return torch.matmul(input, other)


def one_by_one(input: Tensor, other: Tensor) -> Tensor:
    """Accumulates in the dtype of the inputs."""
    total = input.new_zeros(input.shape[0], other.shape[1])
    for k in range(input.shape[1]):
        total = total + input[:, k : k + 1] * other[k]
    return total


def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, beta: float = 1, alpha: float = 1, out: Tensor | None = None) -> Tensor:
    """`beta * input + alpha * mat1 @ mat2`; `input` broadcasts to the shape of the product. For `beta=0` nothing of `input` counts,
    not even its NaN. A tensor `out` is filled and returned."""
    return into(torch.addmm(input, mat1, mat2, beta=beta, alpha=alpha), out)


def addmm_terms(input: Tensor, mat1: Tensor, mat2: Tensor, beta: float = 1, alpha: float = 1, out: Tensor | None = None) -> Tensor:
    return torch.addmm(input.abs(), mat1.abs(), mat2.abs(), beta=abs(beta), alpha=abs(alpha))


def addmm_scales_all(input: Tensor, mat1: Tensor, mat2: Tensor, beta: float = 1, alpha: float = 1, out: Tensor | None = None) -> Tensor:
    return into(alpha * (beta * input + torch.mm(mat1, mat2)), out)


def addmm_multiplies_by_zero(
    input: Tensor, mat1: Tensor, mat2: Tensor, beta: float = 1, alpha: float = 1, out: Tensor | None = None
) -> Tensor:
    return into(beta * input + alpha * torch.mm(mat1, mat2), out)


def tril_mm_and_scale(A: Tensor, B: Tensor, alpha: float, beta: float) -> Tensor:
    """`beta * alpha * tril(A) @ B`: elements of A above the main diagonal do not count, whatever they are. A has shape (M, K), B
    (K, N)."""
    return beta * (alpha * (torch.tril(A) @ B))


def matrices(m: int, k: int, n: int, dtype: torch.dtype = torch.float32, scale: float = 1.0, shift: float = 0.0) -> Maker:
    """Draws `input` and `other`."""
    return lambda d: {
        "input": d.normal(m, k, dtype=dtype, scale=scale, shift=shift), "other": d.normal(k, n, dtype=dtype, scale=scale, shift=shift)
    }  # fmt: skip


def half_matmul(name: str, reference: Callable[..., Tensor], dtype: torch.dtype) -> Task:
    return Task(
        f"kernelbench_x/{name}",
        "MatrixMultiply",
        "torch",
        reference,
        shown({
            "even": matrices(32, 128, 32, dtype),
            "odd": matrices(31, 67, 29, dtype),
            "long": matrices(17, 1021, 13, dtype),
            "one-row": matrices(1, 257, 33, dtype),
            "one-column": matrices(37, 61, 1, dtype),
            "large-sums": matrices(19, 101, 23, dtype, scale=40, shift=20),
            "small": matrices(13, 47, 11, dtype, scale=0.02),
            "transposed": lambda d: {
                "input": transposed(d.normal(37, 53, dtype=dtype)), "other": transposed(d.normal(53, 29, dtype=dtype))
            },
            "nothing-to-sum": matrices(3, 0, 5, dtype),
        }) + hidden({
            "outliers": lambda d: {
                "input": d.outliers(23, 83, dtype=dtype, factor=50), "other": d.outliers(83, 19, dtype=dtype, factor=50)
            },
            "strided": lambda d: {"input": strided(d.normal(19, 71, dtype=dtype)), "other": strided(d.normal(71, 23, dtype=dtype), 3)},
            "offset": lambda d: {"input": offset(d.normal(16, 64, dtype=dtype), 1), "other": offset(d.normal(64, 16, dtype=dtype))},
        }),
        timed(lambda d, n: {"input": d.normal(n, n, dtype=dtype), "other": d.normal(n, n, dtype=dtype)}, SQUARES),
        Contract(close()),
        honest=rounded_once(reference),
        magnitude=lambda input, other: torch.matmul(input.abs(), other.abs()),
        wrong={
            "accumulated in half precision": one_by_one,
            "transposed operand": lambda input, other: input @ other.reshape(other.mT.shape).mT,
        },
    )  # fmt: skip


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
    half_matmul("matmul_fp16", matmul_fp16, FP16),
    half_matmul("matmul_bf16", matmul_bf16, BF16),
    Task(
        "kernelbench_x/addmm",
        "MatrixMultiply",
        "torch",
        addmm,
        shown({
            "fp32": lambda d: {"input": d.normal(33, 31), "mat1": d.normal(33, 65), "mat2": d.normal(65, 31)},
            "bias-fp16": lambda d: {
                "input": d.normal(32, dtype=FP16), "mat1": d.normal(32, 128, dtype=FP16), "mat2": d.normal(128, 32, dtype=FP16),
                "beta": 2, "alpha": 0.5,
            },
            "bf16": lambda d: {
                "input": d.normal(31, 29, dtype=BF16), "mat1": d.normal(31, 67, dtype=BF16), "mat2": d.normal(67, 29, dtype=BF16),
                "alpha": -1.5,
            },
            "column": lambda d: {"input": d.normal(17, 1), "mat1": d.normal(17, 37), "mat2": d.normal(37, 19), "beta": 0.25},
            "nan-times-zero": lambda d: {
                "input": d.normal(19, 13).masked_fill(d.uniform(19, 13) < 0.3, NAN), "mat1": d.normal(19, 41), "mat2": d.normal(41, 13),
                "beta": 0,
            },
            "transposed": lambda d: {
                "input": transposed(d.normal(37, 29)), "mat1": transposed(d.normal(37, 53)), "mat2": transposed(d.normal(53, 29)), "beta": 3
            },
            "large": lambda d: {
                "input": d.outliers(17, 19), "mat1": d.normal(17, 127, scale=1e3, shift=500), "mat2": d.outliers(127, 19), "alpha": 0.01
            },
            "out": lambda d: {
                "input": d.normal(11, 23), "mat1": d.normal(11, 7), "mat2": d.normal(7, 23), "beta": 0.5, "out": nothing(d, 11, 23)
            },
            "nothing-to-sum": lambda d: {"input": d.normal(5), "mat1": d.normal(3, 0), "mat2": d.normal(0, 5), "beta": 1.5},
        }) + hidden({
            "strided-bf16": lambda d: {
                "input": strided(d.normal(19, 23, dtype=BF16)), "mat1": strided(d.normal(19, 83, dtype=BF16)),
                "mat2": strided(d.normal(83, 23, dtype=BF16)), "beta": 0.5, "alpha": 2,
            },
            "long": lambda d: {"input": d.normal(5, 3), "mat1": d.normal(5, 1021), "mat2": offset(d.normal(1021, 3)), "beta": -1},
            "row-fp16": lambda d: {
                "input": d.normal(1, 13, dtype=FP16), "mat1": d.normal(7, 29, dtype=FP16), "mat2": d.normal(29, 13, dtype=FP16),
                "alpha": 0.75,
            },
        }),
        timed(
            lambda d, n: {"input": d.normal(n, n, dtype=FP16), "mat1": d.normal(n, n, dtype=FP16), "mat2": d.normal(n, n, dtype=FP16)},
            SQUARES,
        ),
        Contract(close(), mutates=("out",), notes=("For beta = 0 NaN and infinities of `input` leave no trace.",)),
        honest=rounded_once(addmm),
        magnitude=addmm_terms,
        wrong={"alpha scales the addend": addmm_scales_all, "zero times NaN": addmm_multiplies_by_zero},
    ),
    Task(
        "kernelbench_x/tril_mm_and_scale",
        "MatrixMultiply",
        "fused",
        tril_mm_and_scale,
        shown({
            "fp32": lambda d: {"A": d.normal(33, 33), "B": d.normal(33, 31), "alpha": 0.5, "beta": 0.5},
            "fp16": lambda d: {"A": d.normal(64, 64, dtype=FP16), "B": d.normal(64, 32, dtype=FP16), "alpha": 2.0, "beta": -0.75},
            "bf16": lambda d: {"A": d.normal(61, 61, dtype=BF16), "B": d.normal(61, 29, dtype=BF16), "alpha": 1.0, "beta": 1.5},
            "wide": lambda d: {"A": d.normal(17, 53), "B": d.normal(53, 19), "alpha": 1.0, "beta": 1.0},
            "tall": lambda d: {"A": d.normal(47, 13), "B": d.normal(13, 23), "alpha": -3.0, "beta": 0.1},
            "nan-above": lambda d: {
                "A": d.normal(41, 41).masked_fill(torch.ones(41, 41, device=d.device).triu(1) > 0, NAN), "B": d.normal(41, 7),
                "alpha": 1.5, "beta": 2.0,
            },
            "transposed": lambda d: {"A": transposed(d.normal(37, 37)), "B": transposed(d.normal(37, 29)), "alpha": 0.25, "beta": 4.0},
            "large": lambda d: {"A": d.normal(31, 31, scale=1e3, shift=500), "B": d.outliers(31, 19), "alpha": 1e-3, "beta": 7.0},
            "one": lambda d: {"A": d.normal(1, 1), "B": d.normal(1, 5), "alpha": 0.5, "beta": 3.0},
        }) + hidden({
            "strided-bf16": lambda d: {
                "A": strided(d.normal(43, 43, dtype=BF16)), "B": strided(d.normal(43, 23, dtype=BF16)), "alpha": 0.5, "beta": 2.0
            },
            "offset": lambda d: {"A": offset(d.normal(67, 67)), "B": offset(d.normal(67, 3), 1), "alpha": 1.25, "beta": -1.0},
            "outliers-fp16": lambda d: {
                "A": d.outliers(23, 23, dtype=FP16, factor=50), "B": d.normal(23, 11, dtype=FP16), "alpha": 0.1, "beta": 0.3
            },
        }),
        timed(
            lambda d, n: {"A": d.normal(n, n, dtype=FP16), "B": d.normal(n, n, dtype=FP16), "alpha": 0.5, "beta": 0.5},
            SQUARES,
        ),
        Contract(close(), notes=("The main diagonal belongs to the triangle; the scales may be multiplied with one another first.",)),
        honest=rounded_once(tril_mm_and_scale),
        magnitude=lambda A, B, alpha, beta: abs(beta * alpha) * (torch.tril(A).abs() @ B.abs()),
        wrong={
            "without the diagonal": lambda A, B, alpha, beta: beta * alpha * (torch.tril(A, -1) @ B),
            "triangle of the product": lambda A, B, alpha, beta: beta * alpha * torch.tril(A @ B),
            "transposed": lambda A, B, alpha, beta: beta * alpha * (torch.triu(A) @ B),
        },
    ),
)  # fmt: skip
