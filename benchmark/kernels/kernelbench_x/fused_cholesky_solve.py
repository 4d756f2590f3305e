"""Right-looking Cholesky in panels of 16 columns, with the right-hand sides as further rows: what eliminates A also solves L y = b.

For each panel one kernel makes its columns of the factor (every program eliminates the corner on its own, in registers, beside its tile
of rows), and a second one takes their products from what lies to the right. At last one program per right-hand side walks backwards
through L^T x = y.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def factor_panel(rest, factor, rows, n, first, PANEL: tl.constexpr, TALL: tl.constexpr):
    c = tl.arange(0, PANEL)
    columns = first + c
    i = first + tl.program_id(0) * TALL + tl.arange(0, TALL)
    square = (columns[:, None] < n) & (columns[None, :] < n)
    corner = tl.load(rest + columns[:, None] * n + columns[None, :], mask=square, other=1.0)  # 1 where there is no column
    tile_mask = (i[:, None] < rows) & (columns[None, :] < n)
    tile = tl.load(rest + i[:, None] * n + columns[None, :], mask=tile_mask, other=0.0)
    result = tl.zeros_like(tile)
    for j in range(PANEL):
        here = c == j
        column = tl.sum(tl.where(here[None, :], corner, 0.0), axis=1)
        root = tl.sqrt(tl.where(first + j < n, tl.sum(tl.where(here, column, 0.0), axis=0), 1.0))
        down = tl.sum(tl.where(here[None, :], tile, 0.0), axis=1) / root
        column = column / root
        result = tl.where(here[None, :], down[:, None], result)
        right = tl.where(c > j, column, 0.0)
        corner -= column[:, None] * right[None, :]
        tile -= down[:, None] * right[None, :]
    lower = tl.where(i[:, None] >= columns[None, :], result, 0.0)
    tl.store(factor + i[:, None] * n + columns[None, :], lower, mask=tile_mask)


@triton.jit
def update_rest(rest, factor, rows, n, first, PANEL: tl.constexpr, TILE: tl.constexpr):
    i = first + PANEL + tl.program_id(1) * TILE + tl.arange(0, TILE)
    k = first + PANEL + tl.program_id(0) * TILE + tl.arange(0, TILE)
    inside = (i[:, None] < rows) & (k[None, :] < n)
    place = rest + i[:, None] * n + k[None, :]
    total = tl.load(place, mask=inside, other=0.0)
    for j in range(PANEL):
        left = tl.load(factor + i * n + first + j, mask=i < rows, other=0.0)
        right = tl.load(factor + k * n + first + j, mask=k < n, other=0.0)
        total -= left[:, None] * right[None, :]
    tl.store(place, total, mask=inside)


@triton.jit
def backwards(factor, out, n, columns, BLOCK: tl.constexpr):
    column = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    left = tl.load(factor + (n + column) * n + offsets, mask=offsets < n, other=0.0)
    for step in range(0, n):
        j = n - 1 - step
        row = tl.load(factor + j * n + offsets, mask=offsets <= j, other=0.0)
        x = tl.sum(tl.where(offsets == j, left, 0.0), axis=0) / tl.load(factor + j * n + j)
        tl.store(out + j * columns + column, x)
        left = left - row * x


def fused_cholesky_solve(A, b):
    n, columns = b.shape
    rest = torch.cat([A, b.mT])
    factor = torch.empty_like(rest)
    rows, panel, tile = n + columns, 16, 32
    for first in range(0, n, panel):
        factor_panel[(triton.cdiv(rows - first, tile),)](rest, factor, rows, n, first, PANEL=panel, TALL=tile)
        below, right = rows - first - panel, n - first - panel
        if right > 0:
            update_rest[(triton.cdiv(right, tile), triton.cdiv(below, tile))](rest, factor, rows, n, first, PANEL=panel, TILE=tile)
    out = torch.empty((n, columns), dtype=A.dtype, device=A.device)
    backwards[(columns,)](factor, out, n, columns, BLOCK=triton.next_power_of_2(n))
    return out
