"""Normalization by powers and roots, and eigenvalues by squaring."""

from torch import Tensor

from tests.benchmark.alternatives import Alternative
from tests.benchmark.alternatives.matrixmultiply import wide


def norm(x: Tensor, p: float, dim: int, keepdim: bool = False) -> Tensor:
    if p == float("inf"):
        return x.abs().amax(dim, keepdim=keepdim)
    return x.abs().pow(p).sum(dim, keepdim=keepdim).pow(1 / p)


def normalize_pairwise_distance(
    x1: Tensor, x2: Tensor, p_distance: float = 2.0, eps_distance: float = 1e-06, keepdim: bool = False, p_norm: float = 2,
    dim_norm: int = 1, eps_norm: float = 1e-12,
) -> Tensor:  # fmt: skip
    distance = norm(wide(x1) - wide(x2), p_distance, -1, keepdim) + eps_distance
    return (distance * (1 / norm(distance, p_norm, dim_norm, True).clamp_min(eps_norm))).to(x1.dtype)


def spectral_norm_eig(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """|A**m| ** (1 / m) for m = 2**60 (Gelfand), with the size taken out before each squaring."""
    radius, power, share = A.new_ones(A.shape[:-2]), A, 1.0
    for _ in range(60):
        size = power.abs().amax((-2, -1))
        radius, power, share = radius * size**share, power / size[..., None, None], share / 2
        power = power @ power
    return radius if out is None else out.copy_(radius)


def symmetric_matrix_vector_norm(A: Tensor, x: Tensor, alpha: float, beta: float, p: float = 2.0) -> Tensor:
    """Scaled once."""
    return norm((wide(A) * wide(x)).sum(1) * (alpha * (1 + beta)), p, 0).to(A.dtype)


ALTERNATIVES = {
    "normalize_pairwise_distance": Alternative(normalize_pairwise_distance, without=("aten::linalg_vector_norm",)),
    "spectral_norm_eig": Alternative(spectral_norm_eig, without=("aten::linalg_eig",)),
    "symmetric_matrix_vector_norm": Alternative(symmetric_matrix_vector_norm, without=("aten::mv", "aten::linalg_vector_norm")),
}
