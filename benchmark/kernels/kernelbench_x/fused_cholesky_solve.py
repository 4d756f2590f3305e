"""Right-looking Cholesky with the right-hand sides as further rows: what eliminates A's columns also solves L y = b.

One launch per column, since each needs the whole update before it; tiles of the rest are independent. At last one program per
right-hand side walks backwards through L^T x = y, its vector in registers.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def eliminate(rest, factor, rows, n, j, TALL: tl.constexpr, WIDE: tl.constexpr):
    i = tl.program_id(1) * TALL + tl.arange(0, TALL)
    k = tl.program_id(0) * WIDE + tl.arange(0, WIDE)
    root = tl.sqrt_rn(tl.load(rest + j * n + j)) if rest.dtype.element_ty == tl.float32 else tl.sqrt(tl.load(rest + j * n + j))
    down = tl.load(rest + i * n + j, mask=(i >= j) & (i < rows), other=0.0) / root
    if tl.program_id(0) == 0:
        tl.store(factor + i * n + j, down, mask=(i >= j) & (i < rows))
    across = tl.load(rest + k * n + j, mask=(k > j) & (k < n), other=0.0) / root
    inside = (i[:, None] > j) & (i[:, None] < rows) & (k[None, :] > j) & (k[None, :] < n)
    place = rest + i[:, None] * n + k[None, :]
    tl.store(place, tl.load(place, mask=inside, other=0.0) - down[:, None] * across[None, :], mask=inside)


@triton.jit
def backwards(factor, out, n, columns, BLOCK: tl.constexpr):
    column = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    left = tl.load(factor + (n + column) * n + offsets, mask=offsets < n, other=0.0)
    for step in range(0, n):
        j = n - 1 - step
        row = tl.load(factor + j * n + offsets, mask=offsets <= j, other=0.0)
        diagonal = tl.load(factor + j * n + j)
        x = tl.sum(tl.where(offsets == j, left, 0.0), axis=0) / diagonal
        tl.store(out + j * columns + column, x)
        left = left - row * x


def fused_cholesky_solve(A, b):
    n, columns = b.shape
    rest = torch.cat([A, b.mT])
    factor = torch.zeros_like(rest)
    rows, tile = n + columns, 32
    grid = (triton.cdiv(n, tile), triton.cdiv(rows, tile))
    for j in range(n):
        eliminate[grid](rest, factor, rows, n, j, TALL=tile, WIDE=tile)
    out = torch.empty((n, columns), dtype=A.dtype, device=A.device)
    backwards[(columns,)](factor, out, n, columns, BLOCK=triton.next_power_of_2(n))
    return out
