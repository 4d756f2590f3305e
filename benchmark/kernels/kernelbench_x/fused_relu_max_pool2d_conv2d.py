"""Convolution into a float32 image by an implicit matrix product; then maxima of its windows, which begin at 0 and so hold the ReLU."""

import torch
import triton
import triton.language as tl


@triton.jit
def convolve(
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
        inside = (y >= 0) & (y < H) & (z >= 0) & (z < W) & (image[:, None] < N) & (tap[None, :] < taps)
        at = ((image[:, None].to(tl.int64) * C + group * inputs + channel[None, :]) * H + y) * W + z
        pixels = tl.load(x + at, mask=inside, other=0.0)
        known = (local[None, :] < outputs) & (tap[:, None] < taps)
        weights = tl.load(w + filters[None, :].to(tl.int64) * taps + tap[:, None], mask=known, other=0.0)
        total = tl.dot(pixels, weights, total, input_precision="ieee")
    if HAS_BIAS:
        total += tl.load(bias + filters, mask=local < outputs, other=0.0).to(tl.float32)[None, :]
    at = ((image[:, None].to(tl.int64) * F + filters[None, :]) * OH + row[:, None]) * OW + column[:, None]
    tl.store(out + at, total, mask=(image[:, None] < N) & (local[None, :] < outputs))


@triton.jit
def pool(x, out, n, H, W, rows, columns, KH, KW, sy, sx, py, px, dy, dx, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    plane, top, left = (at // (rows * columns)).to(tl.int64), at // columns % rows * sy - py, at % columns * sx - px
    best = tl.zeros((BLOCK,), tl.float32)
    for i in range(KH):
        for j in range(KW):
            y, z = top + i * dy, left + j * dx
            inside = (at < n) & (y >= 0) & (y < H) & (z >= 0) & (z < W)
            best = tl.maximum(best, tl.load(x + (plane * H + y) * W + z, mask=inside, other=0.0))
    tl.store(out + at, best.to(out.dtype.element_ty), mask=at < n)


def pair(value):
    return (value, value) if isinstance(value, int) else value


def windows(length, size, step, padding, gap, ceil):
    beyond = length + 2 * padding - gap * (size - 1) - 1
    count = (beyond + (step - 1 if ceil else 0)) // step + 1
    # A last window that is not whole must begin in the image or in its left padding.
    return count - 1 if ceil and (count - 1) * step >= length + padding else count


def fused_relu_max_pool2d_conv2d(
    input, weight, bias=None, conv_stride=1, conv_padding=0, conv_dilation=1, conv_groups=1, pool_kernel_size=2, pool_stride=None,
    pool_padding=0, pool_dilation=1, pool_ceil_mode=False, inplace=False,
):  # fmt: skip
    (N, C, H, W), (F, inputs, KH, KW) = input.shape, weight.shape
    (sy, sx), (py, px), (dy, dx) = pair(conv_stride), pair(conv_padding), pair(conv_dilation)
    OH, OW = (H + 2 * py - dy * (KH - 1) - 1) // sy + 1, (W + 2 * px - dx * (KW - 1) - 1) // sx + 1
    sizes, gaps, edges = pair(pool_kernel_size), pair(pool_dilation), pair(pool_padding)
    steps = sizes if pool_stride is None else pair(pool_stride)
    rows, columns = (windows((OH, OW)[a], sizes[a], steps[a], edges[a], gaps[a], pool_ceil_mode) for a in (0, 1))
    out = torch.empty((N, F, rows, columns), dtype=input.dtype, device=input.device)
    if out.numel() == 0:
        return out
    images = torch.empty((N, F, OH, OW), dtype=torch.float32, device=input.device)
    outputs = F // conv_groups
    places, filters = (128, 64) if N * OH * OW >= 8192 and outputs >= 64 else (32, 32)
    convolve[(triton.cdiv(N * OH * OW, places), triton.cdiv(outputs, filters), conv_groups)](
        input.contiguous(), weight.contiguous(), images if bias is None else bias.contiguous(), images, N, C, H, W, F, OH, OW, KH, KW,
        sy, sx, py, px, dy, dx, inputs, outputs, HAS_BIAS=bias is not None, PLACES=places, FILTERS=filters, TAPS=32,
    )  # fmt: skip
    n = out.numel()
    pool[(triton.cdiv(n, 256),)](images, out, n, OH, OW, rows, columns, *sizes, *steps, *edges, *gaps, BLOCK=256)
    return out
