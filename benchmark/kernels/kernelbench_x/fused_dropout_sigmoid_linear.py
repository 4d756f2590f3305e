"""Linear layer, sigmoid and dropout in one kernel; the seed is drawn anew in each call, and each result has its place in the stream."""

import torch
import triton
import triton.language as tl


@triton.jit
def layer(
    x, w, bias, out, M, N, K, xm, xk, wn, wk, p, scale, seed,
    HAS_BIAS: tl.constexpr, DROPS: tl.constexpr, TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr,
):  # fmt: skip
    m = (tl.program_id(0) * TALL + tl.arange(0, TALL)).to(tl.int64)
    n = (tl.program_id(1) * WIDE + tl.arange(0, WIDE)).to(tl.int64)
    total = tl.zeros((TALL, WIDE), tl.float32)
    for start in range(0, K, DEEP):
        k = start + tl.arange(0, DEEP)
        left = tl.load(x + m[:, None] * xm + k[None, :] * xk, mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        right = tl.load(w + n[None, :] * wn + k[:, None] * wk, mask=(n[None, :] < N) & (k[:, None] < K), other=0.0)
        total = tl.dot(left, right, total, input_precision="ieee")
    if HAS_BIAS:
        total += tl.load(bias + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    result = 1.0 / (1.0 + tl.exp(-total))
    place = m[:, None] * N + n[None, :]
    if DROPS:
        result = tl.where(tl.rand(seed, place.to(tl.int32)) >= p, result * scale, 0.0)
    tl.store(out + place, result.to(out.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def fused_dropout_sigmoid_linear(input, weight, bias=None, p=0.5, training=True, inplace=False):
    N, K = weight.shape
    x = input.reshape(-1, K)
    M = x.shape[0]
    out = torch.empty((*input.shape[:-1], N), dtype=input.dtype, device=input.device)
    if out.numel():
        seed = torch.randint(2**31 - 1, (1,)).item()
        scale = 1.0 / (1.0 - p) if p < 1 else 0.0
        tall, wide = (64, 64) if M >= 512 else (32, 32)
        layer[(triton.cdiv(M, tall), triton.cdiv(N, wide))](
            x, weight, out if bias is None else bias.contiguous(), out, M, N, K, *x.stride(), *weight.stride(), float(p), scale, seed,
            HAS_BIAS=bias is not None, DROPS=training and p > 0, TALL=tall, WIDE=wide, DEEP=32,
        )  # fmt: skip
    return out
