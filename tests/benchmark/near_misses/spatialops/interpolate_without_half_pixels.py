"""Without align_corners an output index is scaled as it is, where its middle (o + 0.5) is to be scaled.

Task: kernelbench_x/interpolate.
Expected: wrong_numeric at correctness.
"""

import math

import torch
import triton
import triton.language as tl


@triton.jit
def cubic(t):
    """Weight at the distance t of the cubic convolution kernel with a = -0.75."""
    d = tl.abs(t)
    near = (1.25 * d - 2.25) * d * d + 1
    far = ((-0.75 * d + 3.75) * d - 6) * d + 3
    return tl.where(d <= 1, near, tl.where(d < 2, far, 0.0))


@triton.jit
def tap(o, number: tl.constexpr, length, ratio, MODE: tl.constexpr, ALIGN: tl.constexpr):
    """The index and the weight of a tap of output index o."""
    if MODE == "nearest":
        index = tl.floor(o.to(tl.float32) * ratio)
        weight = o * 0 + 1.0
    else:
        place = o * ratio
        if MODE == "linear":
            place = tl.maximum(place, 0.0)
            index = tl.floor(place) + number
            weight = 1.0 - tl.abs(place - index)
        else:
            index = tl.floor(place) - 1 + number
            weight = cubic(place - index)
    return tl.minimum(tl.maximum(index.to(tl.int32), 0), length - 1), weight


@triton.jit
def resize(
    x, out, total, D, H, W, OD, OH, OW, rz, ry, rx,
    MODE: tl.constexpr, ALIGN: tl.constexpr, TAPS: tl.constexpr, AXES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < total
    column, row, layer, plane = (
        (at % OW).to(tl.int32),
        (at // OW % OH).to(tl.int32),
        (at // OW // OH % OD).to(tl.int32),
        at // OW // OH // OD,
    )
    result = tl.zeros((BLOCK,), tl.float32)
    for k in tl.static_range(TAPS if AXES > 2 else 1):
        for i in tl.static_range(TAPS if AXES > 1 else 1):
            for j in tl.static_range(TAPS):
                c, weight = tap(column, j, W, rx, MODE, ALIGN)
                r, d = row * 0, layer * 0
                if AXES > 1:
                    r, wr = tap(row, i, H, ry, MODE, ALIGN)
                    weight *= wr
                if AXES > 2:
                    d, wd = tap(layer, k, D, rz, MODE, ALIGN)
                    weight *= wd
                values = tl.load(x + ((plane * D + d) * H + r) * W + c, mask=inside, other=0.0).to(tl.float32)
                result += weight * values
    tl.store(out + at, result.to(out.dtype.element_ty), mask=inside)


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    N, C, *lengths = input.shape
    axes = len(lengths)
    if size is None:
        factors = [scale_factor] * axes if isinstance(scale_factor, int | float) else list(scale_factor)
        new, ratios = [math.floor(n * f) for n, f in zip(lengths, factors, strict=True)], [1 / f for f in factors]
    else:
        new = [size] * axes if isinstance(size, int) else list(size)
        ratios = [n / o for n, o in zip(lengths, new, strict=True)]
    if align_corners:
        ratios = [(n - 1) / (o - 1) if o > 1 else 0.0 for n, o in zip(lengths, new, strict=True)]
    out = torch.empty((N, C, *new), dtype=input.dtype, device=input.device)
    kind = {"nearest": "nearest", "bicubic": "cubic"}.get(mode, "linear")
    before, after, by = ([1] * (3 - axes) + list(values) for values in (lengths, new, ratios))
    resize[(triton.cdiv(out.numel(), 256),)](
        input.contiguous(), out, out.numel(), *before, *after, *map(float, by),
        MODE=kind, ALIGN=bool(align_corners), TAPS={"nearest": 1, "linear": 2, "cubic": 4}[kind], AXES=axes, BLOCK=256,
    )  # fmt: skip
    return out
