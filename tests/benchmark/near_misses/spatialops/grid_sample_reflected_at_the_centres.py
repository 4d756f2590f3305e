"""Reflection is always about the centres of the first and the last element, where without align_corners it is about their edges.

Task: kernelbench_x/grid_sample.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def source_index(place, length, PADDING: tl.constexpr, ALIGN: tl.constexpr):
    """The (fractional) index of a place in -1 .. 1, after the padding rule."""
    index = (place + 1) / 2 * (length - 1) if ALIGN else ((place + 1) * length - 1) / 2
    if PADDING == "reflection":
        low = 0.0
        span = length - 1.0
        away = tl.abs(index - low)
        turns = tl.floor(away / tl.maximum(span, 1e-6))
        rest = away - turns * span
        odd = turns - 2 * tl.floor(turns / 2) == 1
        index = tl.where(span > 0, tl.where(odd, span - rest, rest) + low, 0.0)
    if PADDING != "zeros":
        # NaN counts as index 0.
        index = tl.where(index == index, tl.minimum(tl.maximum(index, 0.0), length - 1.0), 0.0)
    # Far outside there is nothing, and the conversion to an integer has no room for it.
    return tl.minimum(tl.maximum(index, -2.0), length + 1.0)


@triton.jit
def neighbour(index, upper: tl.constexpr, NEAREST: tl.constexpr):
    """The lower or upper neighbour as an integer, and its weight."""
    below = tl.floor(index)
    if NEAREST:
        chosen = libdevice.rint(index)
        weight = index * 0 + (0.0 if upper else 1.0)
    elif upper:
        chosen = below + 1
        weight = index - below
    else:
        chosen = below
        weight = below + 1 - index
    return chosen.to(tl.int32), weight


@triton.jit
def sample(
    x, grid, out, places, C, D, H, W,
    PADDING: tl.constexpr, ALIGN: tl.constexpr, NEAREST: tl.constexpr, AXES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    batch = tl.program_id(1).to(tl.int64)
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = p < places
    at = grid + (batch * places + p) * AXES
    ix = source_index(tl.load(at, mask=inside, other=0.0).to(tl.float32), W, PADDING, ALIGN)
    iy = source_index(tl.load(at + 1, mask=inside, other=0.0).to(tl.float32), H, PADDING, ALIGN)
    if AXES == 3:
        iz = source_index(tl.load(at + 2, mask=inside, other=0.0).to(tl.float32), D, PADDING, ALIGN)
    else:
        iz = tl.zeros((BLOCK,), tl.float32)
    for channel in range(C):
        plane = x + (batch * C + channel) * D * H * W
        total = tl.zeros((BLOCK,), tl.float32)
        for dz in tl.static_range(2 if AXES == 3 and not NEAREST else 1):
            for dy in tl.static_range(1 if NEAREST else 2):
                for dx in tl.static_range(1 if NEAREST else 2):
                    z, wz = neighbour(iz, dz == 1, NEAREST)
                    y, wy = neighbour(iy, dy == 1, NEAREST)
                    c, wc = neighbour(ix, dx == 1, NEAREST)
                    there = inside & (z >= 0) & (z < D) & (y >= 0) & (y < H) & (c >= 0) & (c < W)
                    values = tl.load(plane + (z.to(tl.int64) * H + y) * W + c, mask=there, other=0.0).to(tl.float32)
                    total += tl.where(there, values * wz * wy * wc, 0.0)
        tl.store(out + (batch * C + channel) * places + p, total.to(out.dtype.element_ty), mask=inside)


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    N, C, *image = input.shape
    out = torch.empty((N, C, *grid.shape[1:-1]), dtype=input.dtype, device=input.device)
    places = grid[0, ..., 0].numel()
    D = image[0] if len(image) == 3 else 1
    sample[(triton.cdiv(places, 256), N)](
        input.contiguous(), grid.contiguous(), out, places, C, D, image[-2], image[-1],
        PADDING=padding_mode, ALIGN=align_corners, NEAREST=mode == "nearest", AXES=len(image), BLOCK=256,
    )  # fmt: skip
    return out
