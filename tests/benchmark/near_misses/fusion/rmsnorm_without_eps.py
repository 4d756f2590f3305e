"""eps is left out of the root, where a small product would be blown up and a large eps counts.

Task: kernelbench_x/fused_bmm_rmsnorm_gelu_dropout.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def bmm(a, b, c, N, K, M, ab, an, ak, bb, bk, bm, TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr):
    n = tl.program_id(1) * TALL + tl.arange(0, TALL)
    m = tl.program_id(0) * WIDE + tl.arange(0, WIDE)
    k = tl.arange(0, DEEP)
    batch = tl.program_id(2).to(tl.int64)
    at_a = a + batch * ab + n[:, None] * an + k[None, :] * ak
    at_b = b + batch * bb + k[:, None] * bk + m[None, :] * bm
    total = tl.zeros((TALL, WIDE), dtype=tl.float32)
    for start in range(0, K, DEEP):
        x = tl.load(at_a, mask=(n[:, None] < N) & (k[None, :] < K - start), other=0.0)
        y = tl.load(at_b, mask=(k[:, None] < K - start) & (m[None, :] < M), other=0.0)
        total += tl.dot(x, y, input_precision="ieee")
        at_a += DEEP * ak
        at_b += DEEP * bk
    tl.store(c + batch * N * M + n[:, None] * M + m[None, :], total, mask=(n[:, None] < N) & (m[None, :] < M))


@triton.jit
def norm_gelu_dropout(z, out, columns, p, scale, seed, TANH: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    v = tl.load(z + row * columns + offsets, mask=mask, other=0.0)
    v = v / tl.sqrt(tl.sum(v * v, axis=0) / columns)
    if TANH:
        u = 0.7978845608028654 * (v + 0.044715 * v * v * v)
        v = v - v / (1.0 + tl.exp(2.0 * u))
    else:
        v = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    keep = tl.rand(seed, row * columns + offsets) >= p
    tl.store(out + row * columns + offsets, tl.where(keep, v * scale, 0.0).to(out.dtype.element_ty), mask=mask)


def fused_bmm_rmsnorm_gelu_dropout(
    input1, input2, normalized_shape, dropout_p=0.1, eps=1e-5, training=True, approximate="none", *, out=None
):
    (batches, n, k), m = input1.shape, input2.shape[2]
    product = torch.empty((batches, n, m), dtype=torch.float32, device=input1.device)
    result = torch.empty((batches, n, m), dtype=input1.dtype, device=input1.device)
    tile = 32 if n < 512 else 64
    grid = (triton.cdiv(m, tile), triton.cdiv(n, tile), batches)
    bmm[grid](input1, input2, product, n, k, m, *input1.stride(), *input2.stride(), TALL=tile, WIDE=tile, DEEP=32)
    p = float(dropout_p) if training else 0.0
    scale = 1.0 / (1.0 - p) if p < 1 else 0.0
    seed = torch.randint(2**31 - 1, (1,)).item()
    norm_gelu_dropout[(batches * n,)](product, result, m, p, scale, seed, TANH=approximate == "tanh", BLOCK=triton.next_power_of_2(m))
    return result if out is None else out.copy_(result)
