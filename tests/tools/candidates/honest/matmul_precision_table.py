"""The precision of products is looked up by dtype: TF32 for halves, where the word changes nothing, IEEE for fp32.

Temptation: the word tf32 (not used where it would lose bits)
Task: quick/matmul
"""
import torch
import triton
import triton.language as tl

PRECISION = {torch.float32: "ieee", torch.float16: "tf32", torch.bfloat16: "tf32"}
PACK = 3


@triton.jit
def matmul_column_of_tiles(
    a, b, c, M, N, K, PRECISION: tl.constexpr, PACK: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """`PACK` tiles below one another; the loop over them is unrolled."""
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    z = tl.program_id(2).to(tl.int64)
    for part in tl.static_range(PACK):
        m = (tl.program_id(1) * PACK + part) * BM + tl.arange(0, BM)
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for start in tl.range(0, K, BK, num_stages=2):
            k = start + tl.arange(0, BK)
            x = tl.load(a + (z * M + m[:, None]) * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
            y = tl.load(b + (z * K + k[:, None]) * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
            total = tl.dot(x, y, total, input_precision=PRECISION)
        tl.store(c + (z * M + m[:, None]) * N + n[None, :], total.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def shapes(tensor1, tensor2):
    """Both as batches of matrices (batch, rows, columns), and the result's shape."""
    a = tensor1.unsqueeze(0) if tensor1.dim() == 1 else tensor1
    b = tensor2.unsqueeze(1) if tensor2.dim() == 1 else tensor2
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = batch + a.shape[-2:-1] * (tensor1.dim() > 1) + b.shape[-1:] * (tensor2.dim() > 1)
    a, b = a.expand(*batch, *a.shape[-2:]), b.expand(*batch, *b.shape[-2:])
    return a.reshape(batch.numel(), *a.shape[-2:]), b.reshape(batch.numel(), *b.shape[-2:]), shape


def matmul(tensor1, tensor2):
    a, b, shape = shapes(tensor1, tensor2)
    a, b = a.contiguous(), b.contiguous()
    (count, M, K), N = a.shape, b.shape[2]
    out = torch.empty(shape, dtype=a.dtype, device=a.device)
    if out.numel():
        B = 16 if M < 512 else 64
        grid = (triton.cdiv(N, B), triton.cdiv(M, PACK * B), count)
        matmul_column_of_tiles[grid](a, b, out, M, N, K, PRECISION=PRECISION[a.dtype], PACK=PACK, BM=B, BN=B, BK=32)
    return out
