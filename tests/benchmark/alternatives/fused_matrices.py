"""Fused solvers and products of Fusion, by hand: elimination, rotations, and sums of products; masks from uniform numbers."""

import torch
from torch import Tensor

from benchmark.suites.kernelbench_x._out import into
from tests.benchmark.alternatives import Alternative
from tests.benchmark.alternatives.fused_layers import wide
from tests.benchmark.alternatives.fused_steps import log_softmax
from tests.benchmark.alternatives.quick import gelu


def forwards(lower: Tensor, b: Tensor) -> Tensor:
    x = torch.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]
    return x


def backwards(upper: Tensor, b: Tensor) -> Tensor:
    return forwards(upper.flip(0, 1), b.flip(0)).flip(0)


def cholesky_solve(A: Tensor, b: Tensor) -> Tensor:
    """The factor column by column."""
    rest, factor = A.clone(), torch.zeros_like(A)
    for j in range(len(A)):
        factor[j:, j] = rest[j:, j] / rest[j, j].sqrt()
        rest[j:, j:] -= torch.outer(factor[j:, j], factor[j:, j])
    return backwards(factor.mT, forwards(factor, b))


def lu_solve(A: Tensor, b: Tensor) -> Tensor:
    """Elimination in the matrix that has b as its last column, with the largest element of each column as the pivot."""
    both = torch.cat([A, b[:, None]], 1)
    for k in range(len(A)):
        pivot = k + int(both[k:, k].abs().argmax())
        both[[k, pivot]] = both[[pivot, k]]
        both[k + 1 :] -= both[k + 1 :, k : k + 1] / both[k, k] * both[k]
    return backwards(both[:, :-1].triu(), both[:, -1:])[:, 0]


def qr_solve(A: Tensor, b: Tensor) -> Tensor:
    """Householder reflections of the matrix that has b behind A."""
    both, columns = torch.cat([A, b], 1), A.shape[1]
    for k in range(columns):
        v = both[k:, k].clone()
        v[0] += torch.where(v[0] < 0, -1, 1) * (v * v).sum().sqrt()
        both[k:] -= torch.outer(2 * v / (v * v).sum(), v @ both[k:])
    return backwards(both[:columns, :columns].triu(), both[:columns, columns:])


def svd_reconstruct(A: Tensor) -> Tensor:
    """Jacobi's rotations of pairs of columns make them orthogonal: A V = U S."""
    if A.shape[0] < A.shape[1]:
        return svd_reconstruct(A.mT).mT
    scaled, right = A / A.abs().max(), torch.eye(A.shape[1], dtype=A.dtype)
    for _ in range(6):
        for i in range(A.shape[1]):
            for j in range(i + 1, A.shape[1]):
                x, y = scaled[:, i], scaled[:, j]
                angle = 0.5 * torch.atan2(2 * (x @ y), x @ x - y @ y)
                turn = torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()]).reshape(2, 2)
                scaled[:, [i, j]] = scaled[:, [i, j]] @ turn
                right[:, [i, j]] = right[:, [i, j]] @ turn
    return scaled @ right.mT * A.abs().max()


def product(a: Tensor, b: Tensor) -> Tensor:
    return (wide(a).unsqueeze(-1) * wide(b).unsqueeze(-3)).sum(-2)


def dropout(x: Tensor, p: float, training: bool) -> Tensor:
    if not training:
        return x
    return torch.where(torch.rand(x.shape) >= p, x / max(1 - p, 1e-9), 0.0)


def mv_logsoftmax_dropout(
    input: Tensor, vec: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, dim: int = 0, *, out: Tensor | None = None
) -> Tensor:
    values = log_softmax((wide(input) * wide(vec)).sum(1), dim)
    return into(dropout(values, p, training).to(input.dtype), out)


def bmm_dropout_gelu(
    input1: Tensor, input2: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False, approximate: str = "none",
    *, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    return into(gelu(dropout(product(input1, input2), p, training), approximate).to(input1.dtype), out)


def bmm_rmsnorm_gelu_dropout_sub(
    input1: Tensor, input2: Tensor, other: Tensor, normalized_shape: int, dropout_p: float = 0.5, training: bool = True,
    approximate: str = "none", eps: float = 1e-5, *, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    z = product(input1, input2)
    value = gelu(z / ((z * z).sum(-1, keepdim=True) / normalized_shape + eps).sqrt(), approximate)
    return into((dropout(value, dropout_p, training) - wide(other)).to(input1.dtype), out)


def mul_add_logsoftmax_dropout_bmm(
    input1: Tensor, input2: Tensor, other: Tensor | float, mat2: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False,
    dim: int = -1, *, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    logits = wide(input1) * wide(input2) + (wide(other) if isinstance(other, Tensor) else other)
    return product(dropout(log_softmax(logits, dim), p, training), mat2).to(input1.dtype)


ALTERNATIVES = {
    "fused_cholesky_solve": Alternative(cholesky_solve, without=("aten::linalg_cholesky_ex", "aten::linalg_solve_triangular")),
    "fused_lu_solve": Alternative(lu_solve, without=("aten::linalg_lu_factor_ex", "aten::linalg_lu_solve")),
    "fused_qr_solve": Alternative(qr_solve, without=("aten::linalg_qr", "aten::linalg_solve_triangular")),
    "fused_svd_reconstruct": Alternative(svd_reconstruct, without=("aten::_linalg_svd",)),
    "fused_mv_logsoftmax_dropout": Alternative(mv_logsoftmax_dropout, without=("aten::mv", "aten::_log_softmax")),
    "fused_bmm_dropout_gelu": Alternative(bmm_dropout_gelu, without=("aten::bmm", "aten::gelu")),
    "fused_bmm_rmsnorm_gelu_dropout_sub": Alternative(bmm_rmsnorm_gelu_dropout_sub, without=("aten::bmm", "aten::gelu")),
    "fused_mul_add_logsoftmax_dropout_bmm": Alternative(mul_add_logsoftmax_dropout_bmm, without=("aten::bmm", "aten::_log_softmax")),
}
