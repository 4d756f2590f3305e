"""Convolution as an implicit matrix product with the ReLU applied to the sums before they are stored."""

import torch
import triton
import triton.language as tl


@triton.jit
def convolve_relu(
    x, w, bias, out, N, C, H, W, F, OH, OW, KH, KW, sy, sx, py, px, dy, dx, inputs, outputs,
    HAS_BIAS: tl.constexpr, PLACES: tl.constexpr, FILTERS: tl.constexpr, TAPS: tl.constexpr,
):  # fmt: skip
    group = tl.program_id(2)
    place = tl.program_id(0) * PLACES + tl.arange(0, PLACES)
    local = tl.program_id(1) * FILTERS + tl.arange(0, FILTERS)
    image, row, column = place // (OH * OW), place // OW % OH, place % OW
    filters = group * outputs + local
    taps = inputs * KH * KW
    total = tl.zeros((PLACES, FILTERS), tl.float32)
    for start in range(0, taps, TAPS):
        tap = start + tl.arange(0, TAPS)
        channel, i, j = tap // (KH * KW), tap // KW % KH, tap % KW
        y = row[:, None] * sy - py + i[None, :] * dy
        z = column[:, None] * sx - px + j[None, :] * dx
        # Padding is zero, and so is what lies beyond the last image and the last tap.
        inside = (y >= 0) & (y < H) & (z >= 0) & (z < W) & (image[:, None] < N) & (tap[None, :] < taps)
        at = ((image[:, None].to(tl.int64) * C + group * inputs + channel[None, :]) * H + y) * W + z
        pixels = tl.load(x + at, mask=inside, other=0.0)
        known = (local[None, :] < outputs) & (tap[:, None] < taps)
        weights = tl.load(w + filters[None, :].to(tl.int64) * taps + tap[:, None], mask=known, other=0.0)
        total = tl.dot(pixels, weights, total, input_precision="ieee")
    if HAS_BIAS:
        total += tl.load(bias + filters, mask=local < outputs, other=0.0).to(tl.float32)[None, :]
    result = tl.maximum(total, 0.0)
    at = ((image[:, None].to(tl.int64) * F + filters[None, :]) * OH + row[:, None]) * OW + column[:, None]
    tl.store(out + at, result.to(out.dtype.element_ty), mask=(image[:, None] < N) & (local[None, :] < outputs))


def pair(value):
    return (value, value) if isinstance(value, int) else value


def fused_relu_conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, inplace=False):
    (N, C, H, W), (F, inputs, KH, KW) = input.shape, weight.shape
    (sy, sx), (py, px), (dy, dx) = pair(stride), pair(padding), pair(dilation)
    OH, OW = (H + 2 * py - dy * (KH - 1) - 1) // sy + 1, (W + 2 * px - dx * (KW - 1) - 1) // sx + 1
    out = torch.empty((N, F, OH, OW), dtype=input.dtype, device=input.device)
    if out.numel() == 0:
        return out
    outputs = F // groups
    places, filters = (128, 64) if N * OH * OW >= 8192 and outputs >= 64 else (32, 32)
    convolve_relu[(triton.cdiv(N * OH * OW, places), triton.cdiv(outputs, filters), groups)](
        input.contiguous(), weight.contiguous(), out if bias is None else bias.contiguous(), out, N, C, H, W, F, OH, OW, KH, KW,
        sy, sx, py, px, dy, dx, inputs, outputs, HAS_BIAS=bias is not None, PLACES=places, FILTERS=filters, TAPS=32,
    )  # fmt: skip
    return out
