"""All output channels share the scale of the first one: levels of the others are clamped, or use a part of the range only.

Task: kernelbench_x/conv2d_w8a8.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def largest(x, partial, length, BLOCK: tl.constexpr):
    """The largest absolute value of one chunk of one line."""
    chunk, line = tl.program_id(0), tl.program_id(1).to(tl.int64)
    k = chunk * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + line * length + k, mask=k < length, other=0.0).to(tl.float32)
    tl.store(partial + line * tl.num_programs(0) + chunk, tl.max(tl.abs(values), axis=0))


@triton.jit
def quantise(x, partial, levels, scales, length, chunks, OWN: tl.constexpr, BLOCK: tl.constexpr, CHUNKS: tl.constexpr):
    """One chunk of one line, by the scale of the whole line."""
    chunk, line = tl.program_id(0), tl.program_id(1).to(tl.int64)
    c = tl.arange(0, CHUNKS)
    most = tl.max(tl.load(partial + line * chunks * OWN + c, mask=c < chunks, other=0.0), axis=0)
    scale = tl.where(most > 0, most / 127.0, 1.0)
    if chunk == 0:
        tl.store(scales + line, scale)
    k = chunk * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + line * length + k, mask=k < length, other=0.0).to(tl.float32)
    rounded = tl.clamp(libdevice.rint(values / scale), -127.0, 127.0)
    tl.store(levels + line * length + k, rounded.to(tl.int8), mask=k < length)


@triton.jit
def convolve(
    x, w, scale_x, scale_w, bias, out, N, C, H, W, F, OH, OW, KH, KW, stride, padding,
    HAS_BIAS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    o = tl.program_id(1) * BN + tl.arange(0, BN)
    image, row, column = m // (OH * OW), m // OW % OH, m % OW
    total = tl.zeros((BM, BN), tl.int32)
    taps = C * KH * KW
    for start in range(0, taps, BK):
        k = start + tl.arange(0, BK)
        channel, i, j = k // (KH * KW), k // KW % KH, k % KW
        y = row[:, None] * stride + i[None, :] - padding
        z = column[:, None] * stride + j[None, :] - padding
        inside = (image[:, None] < N) & (k[None, :] < taps) & (y >= 0) & (y < H) & (z >= 0) & (z < W)
        place = ((image[:, None].to(tl.int64) * C + channel[None, :]) * H + y) * W + z
        left = tl.load(x + place, mask=inside, other=0)
        right = tl.load(w + o[None, :].to(tl.int64) * taps + k[:, None], mask=(o[None, :] < F) & (k[:, None] < taps), other=0)
        total = tl.dot(left, right, total, out_dtype=tl.int32)
    scale = tl.load(scale_x + image, mask=image < N, other=0.0)[:, None] * tl.load(scale_w + o, mask=o < F, other=0.0)[None, :]
    values = total.to(tl.float32) * scale
    if HAS_BIAS:
        values += tl.load(bias + o, mask=o < F, other=0.0).to(tl.float32)[None, :]
    place = ((image[:, None].to(tl.int64) * F + o[None, :]) * OH + row[:, None]) * OW + column[:, None]
    tl.store(out + place, values.to(out.dtype.element_ty), mask=(image[:, None] < N) & (o[None, :] < F))


def quantised(x, own):
    """Levels of a tensor and one scale for each index of its first axis."""
    x = x.contiguous()
    lines, length = x.shape[0], x[0].numel()
    block = 4096 if length > 4096 else triton.next_power_of_2(length)
    chunks = triton.cdiv(length, block)
    partial = torch.empty((lines, chunks), dtype=torch.float32, device=x.device)
    levels = torch.empty(x.shape, dtype=torch.int8, device=x.device)
    scales = torch.empty(lines, dtype=torch.float32, device=x.device)
    largest[(chunks, lines)](x, partial, length, BLOCK=block)
    quantise[(chunks, lines)](x, partial, levels, scales, length, chunks, OWN=own, BLOCK=block, CHUNKS=triton.next_power_of_2(chunks))
    return levels, scales


def conv2d_w8a8(input, weight, bias=None, stride=1, padding=0):
    (N, C, H, W), (F, _, KH, KW) = input.shape, weight.shape
    OH, OW = (H + 2 * padding - KH) // stride + 1, (W + 2 * padding - KW) // stride + 1
    out = torch.empty((N, F, OH, OW), dtype=input.dtype, device=input.device)
    if out.numel() == 0:
        return out
    (x, scale_x), (w, scale_w) = quantised(input, 1), quantised(weight, 0)
    offsets = out if bias is None else bias.contiguous()
    BM, BN = (128, 64) if N * OH * OW >= 8192 else (32, 32)
    convolve[(triton.cdiv(N * OH * OW, BM), triton.cdiv(F, BN))](
        x, w, scale_x, scale_w, offsets, out, N, C, H, W, F, OH, OW, KH, KW, stride, padding,
        HAS_BIAS=bias is not None, BM=BM, BN=BN, BK=64,
    )  # fmt: skip
    return out
