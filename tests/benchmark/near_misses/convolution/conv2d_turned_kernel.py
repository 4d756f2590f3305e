"""The kernel is turned around, as in the convolution of mathematics; the operator is a cross-correlation.

Task: kernelbench_x/conv2d.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def convolve(
    x, w, bias, out, N, C, H, W, F, OH, OW, KH, KW, sy, sx, py, px, dy, dx, per_group_in, per_group_out,
    HAS_BIAS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    group = tl.program_id(2)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    image, row, column = m // (OH * OW), m // OW % OH, m % OW
    o = group * per_group_out + n
    taps = per_group_in * KH * KW
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, taps, BK):
        k = start + tl.arange(0, BK)
        channel, i, j = k // (KH * KW), k // KW % KH, k % KW
        y = row[:, None] * sy + (KH - 1 - i)[None, :] * dy - py
        z = column[:, None] * sx + (KW - 1 - j)[None, :] * dx - px
        there = (image[:, None] < N) & (k[None, :] < taps) & (y >= 0) & (y < H) & (z >= 0) & (z < W)
        place = ((image[:, None].to(tl.int64) * C + group * per_group_in + channel[None, :]) * H + y) * W + z
        left = tl.load(x + place, mask=there, other=0.0)
        right = tl.load(w + o[None, :].to(tl.int64) * taps + k[:, None], mask=(n[None, :] < per_group_out) & (k[:, None] < taps), other=0.0)
        # TF32 is no float32.
        total = tl.dot(left, right, total, input_precision="ieee")
    if HAS_BIAS:
        total += tl.load(bias + o, mask=n < per_group_out, other=0.0).to(tl.float32)[None, :]
    place = ((image[:, None].to(tl.int64) * F + o[None, :]) * OH + row[:, None]) * OW + column[:, None]
    tl.store(out + place, total.to(out.dtype.element_ty), mask=(image[:, None] < N) & (n[None, :] < per_group_out))


def pair(value):
    return (value, value) if isinstance(value, int) else value


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    (N, C, H, W), (F, per_group, KH, KW) = input.shape, weight.shape
    (sy, sx), (py, px), (dy, dx) = pair(stride), pair(padding), pair(dilation)
    OH, OW = (H + 2 * py - dy * (KH - 1) - 1) // sy + 1, (W + 2 * px - dx * (KW - 1) - 1) // sx + 1
    out = torch.empty((N, F, OH, OW), dtype=input.dtype, device=input.device)
    if out.numel() == 0:
        return out
    offsets = out if bias is None else bias.contiguous()
    big = N * OH * OW >= 8192 and F // groups >= 64
    BM, BN = (128, 64) if big else (32, 32)
    convolve[(triton.cdiv(N * OH * OW, BM), triton.cdiv(F // groups, BN), groups)](
        input.contiguous(), weight.contiguous(), offsets, out, N, C, H, W, F, OH, OW, KH, KW, sy, sx, py, px, dy, dx,
        per_group, F // groups, HAS_BIAS=bias is not None, BM=BM, BN=BN, BK=32,
    )  # fmt: skip
    return out
