"""Matrices of the kinds that algorithms fear, from seeded draws; and what references have in common."""

import math

import torch
from torch import Tensor

from benchmark.draw import Draw

FP64, C64, C128 = torch.float64, torch.complex64, torch.complex128
BATCHES = ((1, 16), (64, 16), (512, 32))
"""Matrices and their side, for timing what is iterative."""
SMALL = ((1, 32), (64, 32), (1024, 32), (2048, 64))
"""The same for what takes a fixed number of steps."""


def wide(dtype: torch.dtype) -> torch.dtype:
    return C128 if dtype.is_complex else FP64


def product(left: Tensor, right: Tensor) -> Tensor:
    """`left @ right`, one outer product after another: the same to the last bit with any number of threads, as a task's digest needs."""
    total = left[..., :, :1] * right[..., :1, :]
    for inner in range(1, left.shape[-1]):
        total = total + left[..., :, inner, None] * right[..., None, inner, :]
    return total


def rotation(d: Draw, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Orthonormal columns, in fp64: as many reflections as there are rows."""
    *batch, rows, columns = shape
    turned = torch.eye(rows, columns, dtype=wide(dtype), device=d.device).expand(*batch, rows, columns)
    for _ in range(rows):
        normal = d.normal(*batch, rows, 1, dtype=wide(dtype))
        normal = normal / (normal * normal.conj()).real.sum(-2, keepdim=True).sqrt()
        turned = turned - 2 * normal * (normal.conj() * turned).sum(-2, keepdim=True)
    return turned


def graded(d: Draw, *shape: int, dtype: torch.dtype = torch.float32, last: float = 1e-4, scale: float = 1.0) -> Tensor:
    """Singular values that fall evenly (by factors) from `scale` to `last` times it."""
    count = min(shape[-2:])
    values = torch.logspace(0, math.log10(last), count, dtype=FP64, device=d.device) * scale
    left = rotation(d, *shape[:-1], count, dtype=dtype)
    right = rotation(d, *shape[:-2], shape[-1], count, dtype=dtype)
    return product(left * values, right.mH).to(dtype)


def spectrum(d: Draw, *shape: int, values: tuple[float, ...], dtype: torch.dtype = torch.float32) -> Tensor:
    """A Hermitian matrix with these eigenvalues, one after another as often as there is room."""
    side = shape[-1]
    diagonal = torch.tensor([values[index * len(values) // side] for index in range(side)], dtype=FP64, device=d.device)
    basis = rotation(d, *shape, dtype=dtype)
    return hermitian(product(basis * diagonal, basis.mH).to(dtype))


def hermitian(matrix: Tensor) -> Tensor:
    """Exactly so."""
    return (matrix + matrix.mH) / 2


def symmetric(matrix: Tensor) -> Tensor:
    return (matrix + matrix.mT) / 2


def positive(d: Draw, *shape: int, dtype: torch.dtype = torch.float32, scale: float = 1.0) -> Tensor:
    """A positive definite matrix, well conditioned."""
    factor = d.normal(*shape, dtype=wide(dtype))
    one = torch.eye(shape[-1], dtype=wide(dtype), device=d.device)
    return hermitian(((product(factor, factor.mH) / shape[-1] + 0.5 * one) * scale).to(dtype))


def dominant(d: Draw, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """The diagonal outweighs its row and column, so that no pivots are needed."""
    matrix = d.normal(*shape, dtype=dtype)
    return matrix + 2 * shape[-1] * torch.eye(*shape[-2:], dtype=dtype, device=d.device)


def near_one(d: Draw, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """A determinant of the order of 1 at any side."""
    return torch.eye(shape[-1], dtype=dtype, device=d.device) + d.normal(*shape, dtype=dtype, scale=0.5 / shape[-1] ** 0.5)


def with_matrix(tensor: Tensor, at: int, matrix: Tensor) -> Tensor:
    """A batch in which one matrix is another."""
    return torch.cat([tensor[:at], matrix.to(tensor.dtype).expand(1, *tensor.shape[1:]), tensor[at + 1 :]])


def dependent(tensor: Tensor) -> Tensor:
    """The last row is the sum of the first two."""
    return torch.cat([tensor[..., :-1, :], tensor[..., :1, :] + tensor[..., 1:2, :]], -2)


def lu_factors(A: Tensor, pivot: bool) -> tuple[Tensor, Tensor, Tensor]:
    """P, L, U; P is empty without pivots, for which torch has no code on a CPU."""
    if pivot:
        return torch.linalg.lu(A)
    work, count = A.clone(), min(A.shape[-2:])
    for step in range(count):
        work[..., step + 1 :, step] /= work[..., step, None, step]
        work[..., step + 1 :, step + 1 :] -= work[..., step + 1 :, step, None] * work[..., step, None, step + 1 :]
    one = torch.eye(A.shape[-2], count, dtype=A.dtype, device=A.device)
    return A.new_empty(0), work[..., :count].tril(-1) + one, work[..., :count, :].triu()
