"""Fractional max pooling of max(0, x): each plane draws one number for its rows and one for its columns, anew in each call."""

import torch
import triton
import triton.language as tl


@triton.jit
def starts(i, u, alpha, count, last):
    """Where window i begins; the last one ends where the plane does."""
    start = ((i + u) * alpha).to(tl.int32) - (u * alpha).to(tl.int32)
    return tl.where(i == count - 1, last, start)


@triton.jit
def pool(
    x,
    out,
    places,
    n,
    H,
    W,
    rows,
    columns,
    down,
    across,
    seed,
    KH: tl.constexpr,
    KW: tl.constexpr,
    INDICES: tl.constexpr,
    BLOCK: tl.constexpr,
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    plane, i, j = at // (rows * columns), at // columns % rows, at % columns
    top = starts(i, tl.rand(seed, plane * 2), down, rows, H - KH)
    left = starts(j, tl.rand(seed, plane * 2 + 1), across, columns, W - KW)
    best = tl.full((BLOCK,), -1.0, tl.float32)
    place = tl.zeros((BLOCK,), tl.int64)
    for y in tl.static_range(KH):
        for z in tl.static_range(KW):
            here = ((top + y) * W + left + z).to(tl.int64)
            value = tl.load(x + plane.to(tl.int64) * H * W + here, mask=mask, other=0.0).to(tl.float32)
            value = tl.where(value > 0, value, tl.where(value != value, value, 0.0))
            better = (value > best) | (value != value)
            best, place = tl.where(better, value, best), tl.where(better, here, place)
    tl.store(out + at, best.to(out.dtype.element_ty), mask=mask)
    if INDICES:
        tl.store(places + at, place, mask=mask)


def pair(value):
    return (value, value) if isinstance(value, int) else value


def fused_fractional_max_pool2d_with_relu(input, kernel_size, output_size=None, output_ratio=None, return_indices=False):
    H, W = input.shape[-2:]
    KH, KW = pair(kernel_size)
    if output_size is None:
        output_size = int(H * output_ratio[0]), int(W * output_ratio[1])
    rows, columns = pair(output_size)
    out = torch.empty((*input.shape[:-2], rows, columns), dtype=input.dtype, device=input.device)
    places = torch.empty(out.shape if return_indices else (0,), dtype=torch.int64, device=input.device)
    n = out.numel()
    down, across = (H - KH) / max(1, rows - 1), (W - KW) / max(1, columns - 1)
    seed = torch.randint(2**31 - 1, (1,)).item()
    pool[(triton.cdiv(n, 256),)](
        input.contiguous(), out, places, n, H, W, rows, columns, down, across, seed, KH=KH, KW=KW, INDICES=return_indices, BLOCK=256
    )
    return (out, places) if return_indices else out
