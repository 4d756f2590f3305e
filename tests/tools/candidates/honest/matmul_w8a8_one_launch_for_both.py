"""One launch quantises rows of the input and columns of the weight, by the program's number; int64 offsets throughout.

Temptation: programs of one launch that do different things to different tensors
Task: quick/matmul_w8a8
"""
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def quantise_line(source, target, scales, line, length, line_stride, stride, BLOCK: tl.constexpr):
    top = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, length, BLOCK):
        k = (start + tl.arange(0, BLOCK)).to(tl.int64)
        v = tl.load(source + line * line_stride + k * stride, mask=k < length, other=0.0).to(tl.float32)
        top = tl.maximum(top, tl.abs(v))
    peak = tl.max(top, axis=0)
    scale = tl.where(peak == 0, 1.0, tl.div_rn(peak, 127.0))
    tl.store(scales + line, scale)
    for start in range(0, length, BLOCK):
        k = (start + tl.arange(0, BLOCK)).to(tl.int64)
        v = tl.load(source + line * line_stride + k * stride, mask=k < length, other=0.0).to(tl.float32)
        q = libdevice.rint(libdevice.div_rn(v, tl.broadcast_to(scale, (BLOCK,))))
        tl.store(target + line * length + k, tl.clamp(q, -127.0, 127.0).to(tl.int8), mask=k < length)


@triton.jit
def quantise_both(x, xq, xs, w, wq, ws, M, K, xm, xk, wk, wn, BLOCK: tl.constexpr):
    program = tl.program_id(0).to(tl.int64)
    if program < M:
        quantise_line(x, xq, xs, program, K, xm, xk, BLOCK)
    else:
        quantise_line(w, wq, ws, program - M, K, wn, wk, BLOCK)


@triton.jit
def int8_product(a, b, sa, sb, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    tile_m, tile_n = tl.swizzle2d(tl.program_id(0), tl.program_id(1), tl.num_programs(0), tl.num_programs(1), GROUP)
    m = (tile_m * BM + tl.arange(0, BM)).to(tl.int64)
    n = (tile_n * BN + tl.arange(0, BN)).to(tl.int64)
    total = tl.zeros((BM, BN), dtype=tl.int32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0)
        y = tl.load(b + n[:, None] * K + k[None, :], mask=(n[:, None] < N) & (k[None, :] < K), other=0)
        total = tl.dot(x, tl.trans(y), total, out_dtype=tl.int32)
    scale = tl.load(sa + m, mask=m < M)[:, None] * tl.load(sb + n, mask=n < N)[None, :]
    tl.store(c + m[:, None] * N + n[None, :], (scale * total.to(tl.float32)).to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def matmul_w8a8(input, weight):
    (M, K), N = input.shape, weight.shape[1]
    make = lambda *shape, dtype=torch.float32: torch.empty(shape, dtype=dtype, device=input.device)
    out = make(M, N, dtype=input.dtype)
    if out.numel() > 0:
        xq, wq, xs, ws = make(M, K, dtype=torch.int8), make(N, K, dtype=torch.int8), make(M), make(N)
        quantise_both[(M + N,)](input, xq, xs, weight, wq, ws, M, K, *input.stride(), *weight.stride(), BLOCK=512)
        grid = (triton.cdiv(M, 32), triton.cdiv(N, 64))
        int8_product[grid](xq, wq, xs, ws, out, M, N, K, BM=32, BN=64, BK=64, GROUP=4)
    return out
