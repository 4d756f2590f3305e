"""Cosine similarity and average pooling in one pass: a lane adds up the similarities of its window, and nothing lies in between."""

import torch
import triton
import triton.language as tl


@triton.jit
def pool(a, b, out, n, C, H, W, rows, columns, an, ac, ah, aw, bn, bc, bh, bw, step, padding, eps, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    image, top, left = at // (rows * columns), at // columns % rows * step - padding, at % columns * step - padding
    total = tl.zeros((BLOCK,), tl.float32)
    for i in tl.static_range(SIZE):
        for j in tl.static_range(SIZE):
            y, x = top + i, left + j
            # A pixel of the padding counts as 0.
            there = (at < n) & (y >= 0) & (y < H) & (x >= 0) & (x < W)
            own = a + image.to(tl.int64) * an + y * ah + x * aw
            other = b + image.to(tl.int64) * bn + y * bh + x * bw
            dot, left_square, right_square = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
            for c in range(C):
                u = tl.load(own + c * ac, mask=there, other=0.0).to(tl.float32)
                v = tl.load(other + c * bc, mask=there, other=0.0).to(tl.float32)
                dot += u * v
                left_square += u * u
                right_square += v * v
            total += dot / (tl.maximum(tl.sqrt_rn(left_square), eps) * tl.maximum(tl.sqrt_rn(right_square), eps))
    tl.store(out + at, (total / (SIZE * SIZE)).to(out.dtype.element_ty), mask=at < n)


def fused_avg_pool2d_cosine_similarity(x1, x2, kernel_size, stride=None, padding=0, eps=1e-8):
    N, C, H, W = x1.shape
    step = kernel_size if stride is None else stride
    rows, columns = (H + 2 * padding - kernel_size) // step + 1, (W + 2 * padding - kernel_size) // step + 1
    out = torch.empty((N, 1, rows, columns), dtype=x1.dtype, device=x1.device)
    n = out.numel()
    if n:
        pool[(triton.cdiv(n, 128),)](
            x1, x2, out, n, C, H, W, rows, columns, *x1.stride(), *x2.stride(), step, padding, float(eps), SIZE=kernel_size, BLOCK=128
        )
    return out
