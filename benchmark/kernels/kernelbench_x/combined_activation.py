"""tanh(sigmoid(input @ weight1)) * weight2 + bias in one launch: a tiled product with its epilogue. fp32 products are exact (ieee)."""

import torch
import triton
import triton.language as tl


@triton.jit
def combined_kernel(
    x, w1, w2, bias, out, M, N, K,
    x_m, x_k, w1_k, w1_n, w2_m, w2_n, bias_m, bias_n, out_m, out_n,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        left = tl.load(x + m * x_m + k[None, :] * x_k, mask=(m < M) & (k[None, :] < K), other=0.0)
        right = tl.load(w1 + k[:, None] * w1_k + n * w1_n, mask=(k[:, None] < K) & (n < N), other=0.0)
        total = tl.dot(left, right, total, input_precision="ieee")
    inside = (m < M) & (n < N)
    # sigmoid is in 0 .. 1, where tanh(s) = 2 * sigmoid(2 s) - 1 is accurate.
    gate = 2.0 * tl.sigmoid(2.0 * tl.sigmoid(total)) - 1.0
    scale = tl.load(w2 + m * w2_m + n * w2_n, mask=inside, other=0.0).to(tl.float32)
    shift = tl.load(bias + m * bias_m + n * bias_n, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + m * out_m + n * out_n, (gate * scale + shift).to(out.dtype.element_ty), mask=inside)


def combined_activation(input, weight1, weight2, bias, *, out=None):
    (M, K), N = input.shape, weight1.shape[1]
    if out is None:
        out = torch.empty((M, N), dtype=input.dtype, device=input.device)
    # Broadcast axes have stride 0.
    weight2, bias = weight2.expand(M, N), bias.expand(M, N)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    combined_kernel[grid](
        input, weight1, weight2, bias, out, M, N, K,
        *input.stride(), *weight1.stride(), *weight2.stride(), *bias.stride(), *out.stride(),
        BLOCK_M=32, BLOCK_N=32, BLOCK_K=32,
    )  # fmt: skip
    return out
