"""Products that something follows: a dot product, a sum of absolute values, a second product, a reciprocal root."""

import torch
from torch import Tensor

from benchmark.checkers import close
from benchmark.draw import offset, strided, transposed
from benchmark.sizes import SQUARES
from benchmark.suites.kernelbench_x._families import widened
from benchmark.suites.kernelbench_x._honest import rounded_once
from benchmark.task import Contract, Task, hidden, shown, timed

FP16, BF16, FP64 = torch.float16, torch.bfloat16, torch.float64


def matrix_multiply_and_row_dot(A: Tensor, B: Tensor, alpha: float, beta: float, C: Tensor) -> Tensor:
    """The dot product, of no dimensions, of the first two rows of `alpha * A @ B + beta * C`; C is not written."""
    rows = alpha * (A @ B) + beta * C
    return torch.dot(rows[0], rows[1])


def row_dot_terms(A: Tensor, B: Tensor, alpha: float, beta: float, C: Tensor) -> Tensor:
    rows = abs(alpha) * (A.abs() @ B.abs()) + abs(beta) * C.abs()
    return 2 * torch.dot(rows[0], rows[1])


def first_and_last_row(A: Tensor, B: Tensor, alpha: float, beta: float, C: Tensor) -> Tensor:
    rows = alpha * (A @ B) + beta * C
    return torch.dot(rows[0], rows[-1])


def matrix_multiply_symmetric(A: Tensor, B: Tensor, C: Tensor, alpha: float, beta: float) -> Tensor:
    """`alpha * D @ D.T + beta * D` with `D = alpha * A @ B + beta * C`, for a square C, which is not written."""
    D = alpha * (A @ B) + beta * C
    return alpha * (D @ D.mT) + beta * D


def symmetric_rounded_once(A: Tensor, B: Tensor, C: Tensor, alpha: float, beta: float) -> Tensor:
    """Each product in fp32 at least, D in the dtype of the inputs."""
    D = widened((alpha * (widened(A) @ widened(B)) + beta * C).to(A.dtype))
    return (alpha * (D @ D.mT) + beta * D).to(A.dtype)


def symmetric_terms(A: Tensor, B: Tensor, C: Tensor, alpha: float, beta: float) -> Tensor:
    D = abs(alpha) * (A.abs() @ B.abs()) + abs(beta) * C.abs()
    return 2 * abs(alpha) * (D @ D.mT) + abs(beta) * D


def square_of_the_update(A: Tensor, B: Tensor, C: Tensor, alpha: float, beta: float) -> Tensor:
    D = alpha * (A @ B) + beta * C
    return alpha * (D @ D) + beta * D


def second_step_adds_c(A: Tensor, B: Tensor, C: Tensor, alpha: float, beta: float) -> Tensor:
    D = alpha * (A @ B) + beta * C
    return alpha * (D @ D.mT) + beta * C


def matrix_vector_dot(A: Tensor, x: Tensor, y: Tensor, alpha: float, beta: float) -> Tensor:
    """Updates y in place, `y = alpha * A @ x + beta * y`, and returns the dot product, of no dimensions, of the new y with x."""
    y.copy_(alpha * (A @ x) + beta * y)
    return torch.dot(y, x)


def vector_dot_rounded_once(A: Tensor, x: Tensor, y: Tensor, alpha: float, beta: float) -> Tensor:
    y.copy_(alpha * (widened(A) @ widened(x)) + beta * y)
    return torch.dot(widened(y), widened(x)).to(A.dtype)


def vector_dot_terms(A: Tensor, x: Tensor, y: Tensor, alpha: float, beta: float) -> tuple[Tensor, Tensor]:
    terms = abs(alpha) * (A.abs() @ x.abs()) + abs(beta) * y.abs()
    return 2 * torch.dot(terms, x.abs()), terms


def dot_with_the_old_vector(A: Tensor, x: Tensor, y: Tensor, alpha: float, beta: float) -> Tensor:
    before = torch.dot(y, x)
    y.copy_(alpha * (A @ x) + beta * y)
    return before


def vector_not_written(A: Tensor, x: Tensor, y: Tensor, alpha: float, beta: float) -> Tensor:
    return torch.dot(alpha * (A @ x) + beta * y, x)


def symmetric_mm_and_abs_sum(A: Tensor, C: Tensor, alpha: float, beta: float) -> Tensor:
    """The sum, of no dimensions, of the absolute values of `alpha * A @ A.T + beta * C`; C is not written."""
    return (alpha * (A @ A.mT) + beta * C).abs().sum()


def abs_sum_terms(A: Tensor, C: Tensor, alpha: float, beta: float) -> Tensor:
    return (abs(alpha) * (A.abs() @ A.mT.abs()) + abs(beta) * C.abs()).sum()


def tensordot_rsqrt(a: Tensor, b: Tensor, dims: int | list[list[int]]) -> Tensor:
    """`1 / sqrt(tensordot(a, b, dims))`, element by element: NaN of negative values, infinity of zero.

    A number `dims` = n sums products over the last n axes of a and the first n of b (0: every product of an element of a with one
    of b); two lists name the axes of a and those of b, in the same order. The result has the other axes of a, then those of b."""
    return torch.rsqrt(torch.tensordot(a, b, dims=dims))


def rsqrt_terms(a: Tensor, b: Tensor, dims: int | list[list[int]]) -> Tensor:
    """An error of the product counts with the slope of the root."""
    product = torch.tensordot(a, b, dims=dims)
    slope = torch.where(product > 0, 0.5 * product.abs() ** -1.5, 0.0)
    return torch.tensordot(a.abs(), b.abs(), dims=dims) * slope


def root_of_the_magnitude(a: Tensor, b: Tensor, dims: int | list[list[int]]) -> Tensor:
    return torch.rsqrt(torch.tensordot(a, b, dims=dims).abs() + 1e-12)


TASKS = (
    Task(
        "kernelbench_x/matrix_multiply_and_row_dot",
        "MatrixMultiply",
        "fused",
        matrix_multiply_and_row_dot,
        shown({
            "fp32": lambda d: {"A": d.normal(17, 65), "B": d.normal(65, 31), "alpha": 1.0, "beta": 1.0, "C": d.normal(17, 31)},
            "scaled": lambda d: {"A": d.normal(32, 33), "B": d.normal(33, 29), "alpha": -0.5, "beta": 2.5, "C": d.normal(32, 29)},
            "no-product": lambda d: {"A": d.normal(5, 7), "B": d.normal(7, 61), "alpha": 0.0, "beta": 1.5, "C": d.normal(5, 61)},
            "no-addend": lambda d: {"A": d.normal(7, 31), "B": d.normal(31, 67), "alpha": 0.25, "beta": 0.0, "C": d.normal(7, 67)},
            "fp16-short": lambda d: {
                "A": d.uniform(5, 9, dtype=FP16), "B": d.uniform(9, 3, dtype=FP16), "alpha": 0.125, "beta": 0.5,
                "C": d.normal(5, 3, dtype=FP16, shift=2),
            },
            "fp64": lambda d: {
                "A": d.normal(13, 37, dtype=FP64), "B": d.normal(37, 11, dtype=FP64), "alpha": 2.0, "beta": -1.0,
                "C": d.normal(13, 11, dtype=FP64),
            },
            "transposed": lambda d: {
                "A": transposed(d.normal(23, 41)), "B": transposed(d.normal(41, 19)), "alpha": 1.5, "beta": 0.5,
                "C": transposed(d.normal(23, 19)),
            },
            "two-rows": lambda d: {"A": d.normal(2, 5), "B": d.normal(5, 1), "alpha": 1.0, "beta": 1.0, "C": d.normal(2, 1)},
            "large": lambda d: {
                "A": d.normal(11, 53, scale=1e3), "B": d.outliers(53, 13), "alpha": 0.1, "beta": 3.0, "C": d.normal(11, 13)
            },
        }) + hidden({
            "strided": lambda d: {
                "A": strided(d.normal(9, 47)), "B": strided(d.normal(47, 21)), "alpha": 0.75, "beta": -2.0, "C": strided(d.normal(9, 21)),
            },
            "offset": lambda d: {
                "A": offset(d.uniform(19, 29)), "B": offset(d.uniform(29, 37)), "alpha": 1.0, "beta": 0.5, "C": offset(d.normal(19, 37), 1),
            },
            "long": lambda d: {"A": d.uniform(3, 1021), "B": d.uniform(1021, 5), "alpha": 1.0, "beta": 1.0, "C": d.normal(3, 5)},
        }),
        timed(
            lambda d, n: {"A": d.normal(n, n), "B": d.normal(n, n), "alpha": 1.0, "beta": 1.0, "C": d.normal(n, n)},
            SQUARES,
        ),
        Contract(close(), notes=("Only the first two rows of the sum count.",)),
        honest=rounded_once(matrix_multiply_and_row_dot),
        magnitude=row_dot_terms,
        wrong={"first and last row": first_and_last_row},
    ),
    Task(
        "kernelbench_x/matrix_multiply_symmetric",
        "MatrixMultiply",
        "fused",
        matrix_multiply_symmetric,
        shown({
            "fp32": lambda d: {"A": d.normal(33, 65), "B": d.normal(65, 33), "C": d.normal(33, 33), "alpha": 1.0, "beta": 0.5},
            "scaled": lambda d: {"A": d.normal(31, 17), "B": d.normal(17, 31), "C": d.normal(31, 31), "alpha": -0.25, "beta": 2.0},
            "fp16": lambda d: {
                "A": d.normal(32, 32, dtype=FP16), "B": d.normal(32, 32, dtype=FP16), "C": d.normal(32, 32, dtype=FP16), "alpha": 0.5,
                "beta": 1.5,
            },
            "bf16": lambda d: {
                "A": d.normal(29, 37, dtype=BF16), "B": d.normal(37, 29, dtype=BF16), "C": d.normal(29, 29, dtype=BF16), "alpha": 1.0,
                "beta": 1.0,
            },
            "no-addend": lambda d: {"A": d.normal(19, 23), "B": d.normal(23, 19), "C": d.normal(19, 19), "alpha": 0.1, "beta": 0.0},
            "no-product": lambda d: {"A": d.normal(11, 5), "B": d.normal(5, 11), "C": d.normal(11, 11), "alpha": 0.0, "beta": 3.0},
            "transposed": lambda d: {
                "A": transposed(d.normal(23, 41)), "B": transposed(d.normal(41, 23)), "C": transposed(d.normal(23, 23)), "alpha": 1.0,
                "beta": -1.0,
            },
            "large": lambda d: {
                "A": d.normal(17, 13, scale=100), "B": d.outliers(13, 17), "C": d.normal(17, 17), "alpha": 0.01, "beta": 10.0
            },
            "one": lambda d: {"A": d.normal(1, 3), "B": d.normal(3, 1), "C": d.normal(1, 1), "alpha": 1.0, "beta": 0.5},
        }) + hidden({
            "strided-bf16": lambda d: {
                "A": strided(d.normal(19, 7, dtype=BF16)), "B": strided(d.normal(7, 19, dtype=BF16)),
                "C": strided(d.normal(19, 19, dtype=BF16)), "alpha": 0.5, "beta": 2.0,
            },
            "offset": lambda d: {
                "A": offset(d.normal(13, 31)), "B": offset(d.normal(31, 13)), "C": offset(d.normal(13, 13), 1), "alpha": 2.0, "beta": 0.25
            },
            "nothing-to-sum": lambda d: {"A": d.normal(7, 0), "B": d.normal(0, 7), "C": d.normal(7, 7), "alpha": 1.5, "beta": 0.5},
        }),
        timed(
            lambda d, n: {
                "A": d.normal(n, n, dtype=BF16), "B": d.normal(n, n, dtype=BF16), "C": d.normal(n, n, dtype=BF16), "alpha": 1.0, "beta": 0.5
            },
            SQUARES,
        ),
        Contract(close(), notes=("D may be kept in the dtype of the inputs or in fp32.",)),
        honest=symmetric_rounded_once,
        magnitude=symmetric_terms,
        wrong={"D @ D": square_of_the_update, "the second step adds C": second_step_adds_c},
    ),
    Task(
        "kernelbench_x/matrix_vector_dot",
        "MatrixMultiply",
        "fused",
        matrix_vector_dot,
        shown({
            "fp32": lambda d: {"A": d.normal(65, 65), "x": d.normal(65), "y": d.normal(65), "alpha": 1.0, "beta": 1.0},
            "scaled": lambda d: {"A": d.normal(97, 97), "x": d.normal(97), "y": d.normal(97), "alpha": -0.5, "beta": 2.5},
            "fp16": lambda d: {
                "A": d.uniform(64, 64, dtype=FP16), "x": d.uniform(64, dtype=FP16), "y": d.normal(64, dtype=FP16), "alpha": 0.5, "beta": 1.5
            },
            "bf16": lambda d: {
                "A": d.uniform(61, 61, dtype=BF16), "x": d.uniform(61, dtype=BF16), "y": d.normal(61, dtype=BF16), "alpha": 2.0,
                "beta": -1.0,
            },
            "no-addend": lambda d: {"A": d.normal(31, 31), "x": d.normal(31), "y": d.normal(31), "alpha": 1.5, "beta": 0.0},
            "transposed": lambda d: {"A": transposed(d.normal(53, 53)), "x": d.normal(53), "y": d.normal(53), "alpha": 1.0, "beta": 0.5},
            "strided": lambda d: {
                "A": strided(d.normal(41, 41)), "x": strided(d.normal(41)), "y": strided(d.normal(41), 3), "alpha": 0.25, "beta": -3.0
            },
            "large": lambda d: {"A": d.normal(37, 37, scale=1e4), "x": d.outliers(37), "y": d.normal(37), "alpha": 0.1, "beta": 3.0},
            "one": lambda d: {"A": d.normal(1, 1), "x": d.normal(1), "y": d.normal(1), "alpha": 1.0, "beta": 1.0},
        }) + hidden({
            "wide": lambda d: {"A": d.normal(251, 251), "x": d.normal(251), "y": d.normal(251), "alpha": 0.75, "beta": 1.25},
            "offset": lambda d: {
                "A": offset(d.normal(29, 29)), "x": offset(d.normal(29), 1), "y": offset(d.normal(29)), "alpha": 2.0, "beta": 0.5
            },
            "fp64": lambda d: {
                "A": d.normal(43, 43, dtype=FP64), "x": d.normal(43, dtype=FP64), "y": d.normal(43, dtype=FP64), "alpha": 1.0, "beta": -2.0
            },
        }),
        timed(
            lambda d, n: {"A": d.normal(n, n), "x": d.normal(n), "y": d.normal(n), "alpha": 1.0, "beta": 1.0},
            ((256,), (2048,), (6144,), (12288,)),
        ),
        Contract(close(), mutates=("y",), notes=("The dot product may take y before or after it is rounded to its dtype.",)),
        honest=vector_dot_rounded_once,
        magnitude=vector_dot_terms,
        wrong={"dot of the old y": dot_with_the_old_vector, "y not written": vector_not_written},
    ),
    Task(
        "kernelbench_x/symmetric_mm_and_abs_sum",
        "MatrixMultiply",
        "fused",
        symmetric_mm_and_abs_sum,
        shown({
            "fp32": lambda d: {"A": d.normal(33, 65), "C": d.normal(33, 33), "alpha": 1.0, "beta": 0.5},
            "scaled": lambda d: {"A": d.normal(31, 17), "C": d.normal(31, 31), "alpha": -0.25, "beta": 2.0},
            "asymmetric-addend": lambda d: {"A": d.normal(19, 5), "C": d.normal(19, 19, scale=10), "alpha": 1.0, "beta": 1.0},
            "no-product": lambda d: {"A": d.normal(23, 7), "C": d.normal(23, 23), "alpha": 0.0, "beta": -3.0},
            "no-addend": lambda d: {"A": d.normal(29, 11), "C": d.normal(29, 29), "alpha": 0.1, "beta": 0.0},
            "fp16": lambda d: {"A": d.normal(16, 32, dtype=FP16), "C": d.normal(16, 16, dtype=FP16), "alpha": 1.0, "beta": 0.5},
            "transposed": lambda d: {"A": transposed(d.normal(23, 41)), "C": transposed(d.normal(23, 23)), "alpha": 1.5, "beta": 4.0},
            "large": lambda d: {"A": d.normal(17, 13, scale=100), "C": d.outliers(17, 17), "alpha": 0.01, "beta": 10.0},
            "zeros": lambda d: {"A": d.normal(7, 5) * 0, "C": d.normal(7, 7), "alpha": 2.0, "beta": 0.5},
        }) + hidden({
            "strided": lambda d: {"A": strided(d.normal(37, 13)), "C": strided(d.normal(37, 37)), "alpha": 0.5, "beta": -1.5},
            "fp64": lambda d: {"A": d.normal(13, 31, dtype=FP64), "C": offset(d.normal(13, 13, dtype=FP64)), "alpha": 2.0, "beta": 0.25},
            "one": lambda d: {"A": d.normal(1, 3), "C": d.normal(1, 1), "alpha": 1.0, "beta": 0.5},
        }),
        timed(lambda d, n: {"A": d.normal(n, n), "C": d.normal(n, n), "alpha": 1.0, "beta": 0.5}, SQUARES),
        Contract(close()),
        honest=rounded_once(symmetric_mm_and_abs_sum),
        magnitude=abs_sum_terms,
        wrong={
            "no absolute values": lambda A, C, alpha, beta: (alpha * (A @ A.mT) + beta * C).sum(),
            "lower triangle doubled": lambda A, C, alpha, beta: 2 * (alpha * (A @ A.mT) + beta * C).tril().abs().sum(),
        },
    ),
    Task(
        "kernelbench_x/tensordot_rsqrt",
        "MatrixMultiply",
        "fused",
        tensordot_rsqrt,
        shown({
            "fp32": lambda d: {"a": d.uniform(33, 65), "b": d.uniform(65, 31), "dims": 1},
            "two-axes": lambda d: {"a": d.uniform(7, 5, 11), "b": d.uniform(5, 11, 13), "dims": 2},
            "named-axes": lambda d: {"a": d.uniform(4, 8, 16), "b": d.uniform(16, 8, 5), "dims": [[2, 1], [0, 1]]},
            "every-product": lambda d: {"a": d.uniform(13, low=0.1), "b": d.uniform(5, 3, low=0.1), "dims": 0},
            "fp16": lambda d: {"a": d.uniform(32, 64, dtype=FP16), "b": d.uniform(64, 16, dtype=FP16), "dims": 1},
            "bf16-named": lambda d: {"a": d.uniform(3, 17, 5, dtype=BF16), "b": d.uniform(7, 17, dtype=BF16), "dims": [[1], [1]]},
            "roots-of-negatives": lambda d: {
                "a": d.integers(1, 4, 17, 5, dtype=torch.float32), "b": d.integers(-3, 4, 5, 19, dtype=torch.float32), "dims": 1
            },
            "transposed": lambda d: {"a": transposed(d.uniform(23, 41)), "b": transposed(d.uniform(41, 19)), "dims": 1},
            "large": lambda d: {"a": d.uniform(11, 53, low=1e3, high=1e6), "b": d.outliers(53, 13).abs(), "dims": 1},
        }) + hidden({
            "all-axes": lambda d: {"a": d.uniform(7, 13), "b": d.uniform(13, 7), "dims": [[0, 1], [1, 0]]},
            "strided-bf16": lambda d: {"a": strided(d.uniform(19, 31, dtype=BF16)), "b": strided(d.uniform(31, 23, dtype=BF16)), "dims": 1},
            "small": lambda d: {"a": offset(d.uniform(5, 37, high=1e-3)), "b": offset(d.uniform(37, 7, high=1e-3)), "dims": [[-1], [0]]},
        }),
        timed(lambda d, n: {"a": d.uniform(n, n, dtype=FP16), "b": d.uniform(n, n, dtype=FP16), "dims": 1}, SQUARES),
        Contract(close(), notes=("NaN where the sum is negative, infinity where it is zero.",)),
        honest=rounded_once(tensordot_rsqrt),
        magnitude=rsqrt_terms,
        wrong={"of the magnitude": root_of_the_magnitude},
    ),
)  # fmt: skip
