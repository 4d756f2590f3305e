"""What the matrix held above the diagonal is left there.

Task: kernelbench_x/cholesky.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def cholesky_kernel(matrix, factor, n, is_complex: tl.constexpr, upper: tl.constexpr, block: tl.constexpr):
    parts: tl.constexpr = 2 if is_complex else 1
    rows, columns = tl.arange(0, block)[:, None], tl.arange(0, block)[None, :]
    inside = (rows < n) & (columns < n)
    start = tl.program_id(0).to(tl.int64) * n * n * parts
    place = start + (rows * n + columns) * parts
    real = tl.load(matrix + place, mask=inside, other=0.0)
    imaginary = tl.load(matrix + place + 1, mask=inside, other=0.0) if is_complex else tl.zeros_like(real)
    for step in range(n):
        pivot = tl.sum(tl.sum(tl.where((rows == step) & (columns == step), real, 0.0), 1), 0)
        root = tl.sqrt(pivot)
        # Column `step` of the factor, with its diagonal element, and zeros above.
        here = (columns == step) & (rows >= step)
        column = tl.sum(tl.where(here, real, 0.0), 1) / root
        column_i = tl.sum(tl.where(here, imaginary, 0.0), 1) / root
        # The rest of the matrix loses the column times its adjoint, which leaves the columns before as they are.
        row = tl.sum(tl.where(rows == columns, column[:, None], 0.0), 0)
        row_i = tl.sum(tl.where(rows == columns, column_i[:, None], 0.0), 0)
        rest = (rows > step) & (columns > step)
        real = tl.where(rest, real - column[:, None] * row[None, :] - column_i[:, None] * row_i[None, :], real)
        imaginary = tl.where(rest, imaginary - column_i[:, None] * row[None, :] + column[:, None] * row_i[None, :], imaginary)
        real = tl.where(here, column[:, None], real)
        imaginary = tl.where(here & (rows > step), column_i[:, None], tl.where(rows == columns, 0.0, imaginary))
    if upper:
        place = start + (columns * n + rows) * parts
        imaginary = -imaginary
    tl.store(factor + place, real, mask=inside)
    if is_complex:
        tl.store(factor + place + 1, imaginary, mask=inside)


def cholesky(A, upper=False, out=None):
    n, matrix = A.shape[-1], A.contiguous()
    factor = torch.empty_like(matrix) if out is None else out
    count = matrix.numel() // (n * n) if n else 0
    if count:
        source, target = (torch.view_as_real(t) if A.is_complex() else t for t in (matrix, factor))
        cholesky_kernel[(count,)](
            source, target, n, is_complex=A.is_complex(), upper=upper, block=max(16, triton.next_power_of_2(n)), num_warps=4
        )
    return factor
