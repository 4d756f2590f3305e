"""Factorisations written by hand, as textbooks have them, on batches and in the dtype that is given: what an honest kernel may do."""

import torch
from torch import Tensor

ALTERNATIVES: dict[str, object] = {}
"""None here: `linearalgebra` makes them of these."""


def identity(like: Tensor, rows: int, columns: int) -> Tensor:
    return torch.eye(rows, columns, dtype=like.dtype, device=like.device).expand(*like.shape[:-2], rows, columns).clone()


def cholesky(A: Tensor) -> Tensor:
    """Left-looking, column after column (Cholesky and Banachiewicz)."""
    factor = torch.zeros_like(A, memory_format=torch.contiguous_format)
    for step in range(A.shape[-1]):
        known = factor[..., step:, :step]
        column = A[..., step:, step] - (known * known[..., :1, :].conj()).sum(-1)
        root = column[..., :1].real.sqrt()
        factor[..., step:, step] = column / root
        factor[..., step, step] = root.squeeze(-1)
    return factor


def doolittle(A: Tensor, pivot: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """P, L, U; rows are exchanged as a whole, and of equal pivots the last one is taken."""
    rows, columns = A.shape[-2:]
    work, permutation = A.clone(memory_format=torch.contiguous_format), identity(A, rows, rows)
    for step in range(min(rows, columns)):
        if pivot:
            size = work[..., step:, step].abs()
            chosen = step + (rows - step - 1) - size.flip(-1).argmax(-1)
            for matrix in (work, permutation):
                _exchange(matrix, step, chosen)
        top = work[..., step, None, step]
        ratio = work[..., step + 1 :, step] / torch.where(top == 0, 1, top)
        work[..., step + 1 :, step] = ratio
        work[..., step + 1 :, step + 1 :] -= ratio.unsqueeze(-1) * work[..., step, None, step + 1 :]
    count = min(rows, columns)
    lower = work[..., :count].tril(-1) + identity(A, rows, count)
    return permutation.mT.contiguous(), lower, work[..., :count, :].triu()


def _exchange(matrix: Tensor, step: int, chosen: Tensor) -> None:
    """Row `step` with the row that was chosen in each matrix."""
    index = chosen[..., None, None].expand(*chosen.shape, 1, matrix.shape[-1])
    other, own = matrix.gather(-2, index), matrix[..., step : step + 1, :].clone()
    matrix.scatter_(-2, index, own)
    matrix[..., step : step + 1, :] = other


def substitute(A: Tensor, B: Tensor, upper: bool, unit: bool = False) -> Tensor:
    """Solves triangular systems row by row."""
    found = torch.zeros_like(B, memory_format=torch.contiguous_format) + torch.zeros_like(A[..., :1])
    side = A.shape[-1]
    for row in reversed(range(side)) if upper else range(side):
        known = slice(row + 1, side) if upper else slice(0, row)
        rest = B[..., row, :] - (A[..., row, known].unsqueeze(-1) * found[..., known, :]).sum(-2)
        found[..., row, :] = rest if unit else rest / A[..., row, row].unsqueeze(-1)
    return found


def householder(A: Tensor, complete: bool = False) -> tuple[Tensor, Tensor]:
    """Q and R by reflections."""
    rows, columns = A.shape[-2:]
    work, orthogonal = A.clone(memory_format=torch.contiguous_format), identity(A, rows, rows)
    count = min(rows, columns)
    for step in range(count):
        column = work[..., step:, step]
        # Scaled, so that squares neither overflow nor vanish.
        scale = column.abs().amax(-1, keepdim=True)
        vector = column / torch.where(scale == 0, 1, scale)
        norm = (vector * vector.conj()).real.sum(-1, keepdim=True).sqrt()
        first = vector[..., :1]
        phase = torch.where(first == 0, 1, first / torch.where(first == 0, 1, first).abs())
        vector = torch.cat([first + phase * norm, vector[..., 1:]], -1)
        length = (vector * vector.conj()).real.sum(-1, keepdim=True)
        factor = torch.where(length == 0, 0, 2 / torch.where(length == 0, 1, length)).unsqueeze(-1)
        for matrix in (work[..., step:, :], orthogonal.mH[..., step:, :]):
            matrix -= factor * vector.unsqueeze(-1) * (vector.conj().unsqueeze(-1) * matrix).sum(-2, keepdim=True)
    kept = rows if complete else count
    return orthogonal[..., :kept].clone(), work[..., :kept, :].triu()


def one_sided_jacobi(A: Tensor, sweeps: int = 12) -> tuple[Tensor, Tensor, Tensor]:
    """U, S, Vh of matrices with at least as many rows as columns: columns are rotated until they are orthogonal; U has as many columns.
    Columns of U for singular values of 0 are 0."""
    work = A.clone(memory_format=torch.contiguous_format)
    scale = work.abs().amax((-2, -1), keepdim=True)
    work = work / torch.where(scale == 0, 1, scale)
    columns = A.shape[-1]
    right = identity(A, columns, columns)
    for _ in range(sweeps):
        for p in range(columns - 1):
            for q in range(p + 1, columns):
                _turn(work, right, p, q)
    values = (work * work).sum(-2).sqrt()
    order = values.argsort(-1, descending=True)
    index = order.unsqueeze(-2)
    values, work = values.gather(-1, order), work.gather(-1, index.expand_as(work))
    right = right.gather(-1, index.expand_as(right))
    # A column of rounding errors has no direction.
    floor = values[..., :1] * torch.finfo(A.dtype).eps * max(A.shape[-2:])
    values = torch.where(values > floor, values, 0)
    left = torch.where((values > 0).unsqueeze(-2), work / torch.where(values > 0, values, 1).unsqueeze(-2), 0)
    return left, values * scale.squeeze(-1), right.mT.contiguous()


def _turn(work: Tensor, right: Tensor, p: int, q: int) -> None:
    """Makes the columns p and q orthogonal."""
    x, y = work[..., p], work[..., q]
    inner, difference = (x * y).sum(-1), (y * y).sum(-1) - (x * x).sum(-1)
    zeta = difference / (2 * torch.where(inner == 0, 1, inner))
    tangent = torch.where(zeta >= 0, 1.0, -1.0).to(zeta.dtype) / (zeta.abs() + torch.hypot(zeta, torch.ones_like(zeta)))
    tangent = torch.where(inner == 0, 0, tangent)
    cosine = 1 / torch.hypot(tangent, torch.ones_like(tangent))
    sine = cosine * tangent
    for matrix in (work, right):
        first, second = matrix[..., p].clone(), matrix[..., q].clone()
        matrix[..., p] = cosine.unsqueeze(-1) * first - sine.unsqueeze(-1) * second
        matrix[..., q] = sine.unsqueeze(-1) * first + cosine.unsqueeze(-1) * second


def completed(columns: Tensor, side: int) -> Tensor:
    """Orthonormal columns (those that are 0 anew) and others up to a square matrix."""
    parts = [columns[..., at] for at in range(columns.shape[-1])]
    for at in range(side):
        if at < len(parts) and bool((parts[at].abs().amax(-1) > 0).all()):
            continue
        old = parts[at] if at < len(parts) else torch.zeros_like(columns[..., 0])
        others = [part for number, part in enumerate(parts) if number != at]
        fresh = _missing(others, columns)
        new = torch.where((old.abs().amax(-1, keepdim=True) > 0), old, fresh)
        parts[at : at + 1] = [new]
    return torch.stack(parts, -1)


def _missing(others: list[Tensor], like: Tensor) -> Tensor:
    """A unit vector orthogonal to the others: the best of the axes, twice made orthogonal."""
    best = None
    for axis in range(like.shape[-2]):
        vector = torch.zeros_like(like[..., 0])
        vector[..., axis] = 1
        for _ in range(2):
            for other in others:
                vector = vector - other * (other * vector).sum(-1, keepdim=True)
        size = (vector * vector).sum(-1, keepdim=True).sqrt()
        vector = vector / torch.where(size > 0, size, 1)
        best = (vector, size) if best is None else (torch.where(size > best[1], vector, best[0]), torch.maximum(size, best[1]))
    assert best is not None
    return best[0]


def jacobi(A: Tensor, sweeps: int = 10) -> tuple[Tensor, Tensor]:
    """Eigenvalues and orthonormal eigenvectors of real symmetric matrices by rotations."""
    work, side = A.clone(memory_format=torch.contiguous_format), A.shape[-1]
    vectors = identity(A, side, side)
    for _ in range(sweeps):
        for p in range(side - 1):
            for q in range(p + 1, side):
                off = work[..., p, q]
                theta = (work[..., q, q] - work[..., p, p]) / (2 * torch.where(off == 0, 1, off))
                tangent = torch.where(theta >= 0, 1.0, -1.0).to(theta.dtype) / (theta.abs() + torch.hypot(theta, torch.ones_like(theta)))
                tangent = torch.where(off == 0, 0, tangent)
                cosine = 1 / torch.hypot(tangent, torch.ones_like(tangent))
                pair = cosine.unsqueeze(-1), (cosine * tangent).unsqueeze(-1)
                _rotate(work, p, q, *pair)
                _rotate(work.mT, p, q, *pair)
                _rotate(vectors, p, q, *pair)
    return work.diagonal(dim1=-2, dim2=-1), vectors


def _rotate(matrix: Tensor, p: int, q: int, cosine: Tensor, sine: Tensor) -> None:
    first, second = matrix[..., p].clone(), matrix[..., q].clone()
    matrix[..., p] = cosine * first - sine * second
    matrix[..., q] = sine * first + cosine * second


def bunch_kaufman(A: Tensor, adjoint: bool) -> tuple[Tensor, Tensor]:
    """LD and pivots of one matrix in LAPACK's format: blocks of one where the diagonal is large enough, else of two."""
    work, side, start = A.clone(memory_format=torch.contiguous_format), A.shape[-1], 0
    pivots = torch.zeros(side, dtype=torch.int32)
    while start < side:
        width, other = _block(work, start)
        end = start + width
        _exchange_both(work[start:, start:], end - 1 - start, other - start)
        pivots[start:end] = other + 1 if width == 1 else -(other + 1)
        block = work[start:end, start:end]
        columns = work[end:, start:end].clone()
        factor = columns / block if width == 1 else _divided(columns, block)
        factor = torch.where(columns == 0, 0, factor) if width == 1 else factor
        work[end:, end:] -= factor @ (columns.mH if adjoint else columns.mT)
        work[end:, start:end] = factor
        start = end
    return work.tril(), pivots


def _divided(columns: Tensor, block: Tensor) -> Tensor:
    """`columns` times the inverse of a block of two."""
    (a, b), (c, e) = block
    determinant = a * e - b * c
    x, y = columns[:, 0], columns[:, 1]
    return torch.stack([(x * e - y * c) / determinant, (y * a - x * b) / determinant], 1)


def _block(work: Tensor, start: int) -> tuple[int, int]:
    """Width of the next block, and the row to exchange with its last one."""
    side = work.shape[-1]
    if start == side - 1:
        return 1, start
    below = work[start + 1 :, start].abs()
    far = start + 1 + int(below.argmax())
    largest, own = float(below.max()), float(work[start, start].abs())
    bound = (1 + 17**0.5) / 8
    if own >= bound * largest:
        return 1, start
    row = torch.cat([work[far, start:far], work[far + 1 :, far]]).abs()
    if own * float(row.max()) >= bound * largest * largest:
        return 1, start
    return (1, far) if float(work[far, far].abs()) >= bound * float(row.max()) else (2, far)


def _exchange_both(rest: Tensor, row: int, other: int) -> None:
    """Rows and columns of what is left."""
    if row != other:
        rest[[row, other], :] = rest[[other, row], :]
        rest[:, [row, other]] = rest[:, [other, row]]


def schur(A: Tensor) -> tuple[Tensor, Tensor]:
    """Unitary Q and upper triangular T with A = Q T Q^H of one complex matrix, by the shifted QR iteration."""
    side = A.shape[-1]
    upper, unitary = A.clone(memory_format=torch.contiguous_format), identity(A, A.shape[-1], A.shape[-1])
    small, end = torch.finfo(A.dtype).eps, side
    for count in range(60 * side):
        while end > 1 and float(upper[end - 1, : end - 1].abs().sum()) <= small * float(upper.abs().max()):
            upper[end - 1, : end - 1] = 0
            end -= 1
        if end == 1:
            break
        shift = _shift(upper[end - 2 : end, end - 2 : end]) if count % 11 else upper[:end, :end].abs().sum() / end
        one = identity(A, end, end)
        orthogonal, rest = householder(upper[:end, :end] - shift * one, complete=True)
        upper[:end, :end] = rest @ orthogonal + shift * one
        upper[:end, end:] = orthogonal.mH @ upper[:end, end:]
        unitary[:, :end] = unitary[:, :end] @ orthogonal
    return unitary, upper.triu()


def _shift(corner: Tensor) -> Tensor:
    """The eigenvalue of the last two rows that is nearer to the last element (Wilkinson)."""
    (a, b), (c, e) = corner
    middle, root = (a + e) / 2, (((a - e) / 2) ** 2 + b * c).sqrt()
    return middle + root if float((middle + root - e).abs()) < float((middle - root - e).abs()) else middle - root


def eigenvectors(upper: Tensor) -> Tensor:
    """Of an upper triangular matrix, with norm 1, by back substitution; near equal eigenvalues are held apart by the rounding error."""
    side, found = upper.shape[-1], torch.zeros_like(upper)
    least = torch.finfo(upper.dtype).eps * upper.abs().max()
    for at in range(side):
        found[at, at] = 1
        for row in reversed(range(at)):
            gap = upper[at, at] - upper[row, row]
            gap = torch.where(gap.abs() < least, least.to(gap.dtype), gap)
            found[row, at] = (upper[row, row + 1 : at + 1] * found[row + 1 : at + 1, at]).sum() / gap
        found[:, at] /= (found[:, at].abs() ** 2).sum().sqrt()
    return found
