"""MatrixMultiply by outer products that are added up one after another, in fp32 at least."""

import torch
from torch import Tensor

from tests.benchmark.alternatives import Alternative


def wide(tensor: Tensor) -> Tensor:
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


def product(a: Tensor, b: Tensor) -> Tensor:
    a, b = wide(a), wide(b)
    total = a.new_zeros(a.shape[0], b.shape[1])
    for k in range(a.shape[1]):
        total = total + a[:, k : k + 1] * b[k]
    return total


def matmul_bf16(input: Tensor, other: Tensor) -> Tensor:
    return product(input, other).to(input.dtype)


def matrix_multiply_and_row_dot(A: Tensor, B: Tensor, alpha: float, beta: float, C: Tensor) -> Tensor:
    """Of the two rows that count."""
    rows = alpha * product(A[:2], B) + beta * C[:2]
    return (rows[0] * rows[1]).sum().to(A.dtype)


def matrix_multiply_symmetric(A: Tensor, B: Tensor, C: Tensor, alpha: float, beta: float) -> Tensor:
    """D stays in fp32."""
    D = alpha * product(A, B) + beta * C
    return (alpha * product(D, D.mT) + beta * D).to(A.dtype)


def matrix_vector_dot(A: Tensor, x: Tensor, y: Tensor, alpha: float, beta: float) -> Tensor:
    """The dot product takes y before it is rounded."""
    new = alpha * (wide(A) * wide(x)).sum(1) + beta * wide(y)
    y.copy_(new)
    return (new * wide(x)).sum().to(A.dtype)


def symmetric_mm_and_abs_sum(A: Tensor, C: Tensor, alpha: float, beta: float) -> Tensor:
    """By rows first."""
    return (alpha * product(A, A.mT) + beta * C).abs().sum(1).sum().to(A.dtype)


def tensordot_rsqrt(a: Tensor, b: Tensor, dims: int | list[list[int]]) -> Tensor:
    of_a, of_b = (list(range(a.dim() - dims, a.dim())), list(range(dims))) if isinstance(dims, int) else dims
    of_a, of_b = [axis % a.dim() for axis in of_a], [axis % b.dim() for axis in of_b]
    rest_a, rest_b = [axis for axis in range(a.dim()) if axis not in of_a], [axis for axis in range(b.dim()) if axis not in of_b]
    left, right = a.permute(rest_a + of_a), b.permute(of_b + rest_b)
    shape = (*left.shape[: len(rest_a)], *right.shape[len(of_b) :])
    summed = left.shape[len(rest_a) :].numel()
    found = product(left.reshape(left.numel() // summed, summed), right.reshape(summed, right.numel() // summed))
    return (1 / found.sqrt()).reshape(shape).to(a.dtype)


ALTERNATIVES = {
    "matmul_bf16": Alternative(matmul_bf16, without=("aten::mm",)),
    "matrix_multiply_and_row_dot": Alternative(matrix_multiply_and_row_dot, without=("aten::mm", "aten::dot")),
    "matrix_multiply_symmetric": Alternative(matrix_multiply_symmetric, without=("aten::mm",)),
    "matrix_vector_dot": Alternative(matrix_vector_dot, without=("aten::mv", "aten::dot")),
    "symmetric_mm_and_abs_sum": Alternative(symmetric_mm_and_abs_sum, without=("aten::mm",)),
    "tensordot_rsqrt": Alternative(tensordot_rsqrt, without=("aten::mm", "aten::rsqrt")),
}
