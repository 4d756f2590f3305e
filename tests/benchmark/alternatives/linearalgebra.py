"""Another way for LinearAlgebra: elimination, reflections, rotations and substitution in torch's elementwise operators."""

from typing import Any

import torch
from torch import Tensor

from tests.benchmark.alternatives import Alternative
from tests.benchmark.alternatives import linear_loops as loops

Pair = tuple[Tensor, Tensor]
Triple = tuple[Tensor, Tensor, Tensor]


def put(result: Tensor, out: Tensor | None) -> Tensor:
    return result if out is None else out.copy_(result)


def adjoint(matrix: Tensor) -> Tensor:
    return matrix.mH.resolve_conj().contiguous()


def cholesky(A: Tensor, upper: bool = False, out: Tensor | None = None) -> Tensor:
    factor = loops.cholesky(A)
    return put(adjoint(factor) if upper else factor, out)


def qr(A: Tensor, mode: str = "reduced", out: Any = None) -> Pair:
    orthogonal, upper = loops.householder(A, complete=mode == "complete")
    return (A.new_empty(0) if mode == "r" else orthogonal), upper


def svd(A: Tensor, full_matrices: bool = True) -> Triple:
    """Signs and the vectors beyond the rank are other ones than torch's."""
    if A.shape[-2] < A.shape[-1]:
        right, values, left = svd(A.mT.contiguous(), full_matrices)
        return left.mT.contiguous(), values, right.mT.contiguous()
    left, values, right = loops.one_sided_jacobi(A)
    return loops.completed(left, A.shape[-2] if full_matrices else A.shape[-1]), values, right


def eig(A: Tensor) -> Pair:
    matrices = A.to(torch.promote_types(A.dtype, torch.complex64)).reshape(-1, *A.shape[-2:])
    pairs = []
    for matrix in matrices:
        scale = matrix.abs().max()
        unitary, upper = loops.schur(matrix / scale)
        pairs.append((upper.diagonal() * scale, unitary @ loops.eigenvectors(upper)))
    values, vectors = (torch.stack(parts) for parts in zip(*pairs, strict=True))
    return values.reshape(A.shape[:-1]), vectors.reshape(A.shape)


def lu(A: Tensor, pivot: bool = True, out: Any = None) -> Triple:
    permutation, lower, upper = loops.doolittle(A, pivot)
    return (permutation if pivot else A.new_empty(0)), lower, upper


def ldl_factor(A: Tensor, hermitian: bool = False, out: Any = None) -> Pair:
    found = [loops.bunch_kaufman(matrix, hermitian) for matrix in A.reshape(-1, *A.shape[-2:])]
    compact, pivots = (torch.stack(parts) for parts in zip(*found, strict=True))
    return compact.reshape(A.shape), pivots.reshape(A.shape[:-1])


def eliminated(A: Tensor, B: Tensor, pivot: bool = True) -> Tensor:
    permutation, lower, upper = loops.doolittle(A, pivot)
    return loops.substitute(upper, loops.substitute(lower, permutation.mT @ B, upper=False, unit=True), upper=True)


def solve(A: Tensor, B: Tensor) -> Tensor:
    vector = B.dim() == 1 or B.shape == A.shape[:-1]
    found = eliminated(A, B.unsqueeze(-1) if vector else B)
    return found.squeeze(-1) if vector else found


def cholesky_solve(B: Tensor, L: Tensor, upper: bool = False, out: Tensor | None = None) -> Tensor:
    lower = adjoint(L.triu()) if upper else L.tril()
    return put(loops.substitute(adjoint(lower), loops.substitute(lower, B, upper=False), upper=True), out)


def solve_symmetric_ldl(A: Tensor, b: Tensor, hermitian: bool = False, out: Tensor | None = None) -> Tensor:
    return put(eliminated(A, b), out)


def solve_and_add_scaled_vector(A: Tensor, b: Tensor, y: Tensor, alpha: float) -> Tensor:
    return loops.substitute(A, b, upper=True) + alpha * y


def invert_matrix_lu(A: Tensor, *, pivot: bool = True, out: Tensor | None = None) -> Tensor:
    side = A.shape[-1]
    return put(eliminated(A, loops.identity(A, side, side), pivot), out)


def pseudoinverse_svd(A: Tensor, full_matrices: bool = True, rcond: float = 1e-15, out: Tensor | None = None) -> Tensor:
    if A.shape[-2] < A.shape[-1]:
        return put(pseudoinverse_svd(A.mT.contiguous(), rcond=rcond).mT.contiguous(), out)
    left, values, right = loops.one_sided_jacobi(A)
    inverse = torch.where(values > rcond * values[..., :1], 1 / values, 0)
    return put((right.mT * inverse.unsqueeze(-2)) @ left.mT, out)


def determinant(A: Tensor, pivot: bool = True) -> Tensor:
    permutation, _, upper = loops.doolittle(A, pivot)
    value = upper.diagonal(dim1=-2, dim2=-1).prod(-1)
    return value * _sign(permutation).to(value.dtype) if pivot else value


def _sign(permutation: Tensor) -> Tensor:
    """By the number of inversions."""
    order = permutation.argmax(-1)
    inversions = (order.unsqueeze(-1) > order.unsqueeze(-2)).triu(1).sum((-2, -1))
    return 1 - 2 * (inversions % 2)


def determinant_lu(A: Tensor, *, pivot: bool = True, out: Tensor | None = None) -> Tensor:
    return put(determinant(A, pivot), out)


def determinant_via_qr(A: Tensor, *, mode: str = "reduced", out: Tensor | None = None) -> Tensor:
    """Each reflection turns the sign; none is needed for a column that is 0 from the diagonal on, and then the determinant is 0."""
    _, upper = loops.householder(A)
    return put(upper.diagonal(dim1=-2, dim2=-1).prod(-1) * (-1) ** A.shape[-1], out)


def low_rank_svd_approximation(A: Tensor, k: int, *, full_matrices: bool = True, out: Tensor | None = None) -> Tensor:
    if A.shape[-2] < A.shape[-1]:
        return put(low_rank_svd_approximation(A.mT.contiguous(), k).mT.contiguous(), out)
    left, values, right = loops.one_sided_jacobi(A)
    return put((left[..., :k] * values[..., None, :k]) @ right[..., :k, :], out)


def matrix_power_eig(A: Tensor, k: float, *, out: Tensor | None = None) -> Tensor:
    values, vectors = loops.jacobi(A)
    return put((vectors * values.pow(k).unsqueeze(-2)) @ vectors.mT, out)


ALTERNATIVES = {
    "cholesky": Alternative(cholesky, without=("aten::linalg_cholesky_ex",)),
    "qr": Alternative(qr, without=("aten::linalg_qr",)),
    "svd": Alternative(svd, without=("aten::_linalg_svd",)),
    "eig": Alternative(eig, without=("aten::linalg_eig",)),
    "lu": Alternative(lu, without=("aten::linalg_lu",)),
    "ldl_factor": Alternative(ldl_factor, without=("aten::linalg_ldl_factor_ex",)),
    "solve": Alternative(solve, without=("aten::_linalg_solve_ex",)),
    "cholesky_solve": Alternative(cholesky_solve, without=("aten::cholesky_solve",)),
    "solve_symmetric_ldl": Alternative(solve_symmetric_ldl, without=("aten::linalg_ldl_factor_ex", "aten::linalg_ldl_solve")),
    "solve_and_add_scaled_vector": Alternative(solve_and_add_scaled_vector, without=("aten::linalg_solve_triangular",)),
    "invert_matrix_lu": Alternative(invert_matrix_lu, without=("aten::linalg_lu", "aten::linalg_solve_triangular")),
    "pseudoinverse_svd": Alternative(pseudoinverse_svd, without=("aten::_linalg_svd",)),
    "det": Alternative(determinant, without=("aten::_linalg_det",)),
    "determinant_lu": Alternative(determinant_lu, without=("aten::linalg_lu", "aten::_linalg_det")),
    "determinant_via_qr": Alternative(determinant_via_qr, without=("aten::linalg_qr",)),
    "low_rank_svd_approximation": Alternative(low_rank_svd_approximation, without=("aten::_linalg_svd",)),
    "matrix_power_eig": Alternative(matrix_power_eig, without=("aten::_linalg_eigh",)),
}
