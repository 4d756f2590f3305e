"""Matrices go to a kernel with `tl.dot`, products with a vector to one that adds up products of rows.

Temptation: dispatch on shapes between kernels of one's own (a guard, and no torch behind it)
Task: quick/matmul
"""
import torch
import triton
import triton.language as tl


@triton.jit
def tiles(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    z = tl.program_id(2).to(tl.int64)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(a + (z * M + m[:, None]) * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        y = tl.load(b + (z * K + k[:, None]) * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        total += tl.dot(x, y, input_precision="ieee")
    tl.store(c + (z * M + m[:, None]) * N + n[None, :], total.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def rows_by_vector(a, v, out, M, K, row, column, BM: tl.constexpr, BK: tl.constexpr):
    """Each of M rows with the vector of its batch; a row of a transposed matrix has its elements `column` apart."""
    z = tl.program_id(1).to(tl.int64)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    total = tl.zeros((BM, BK), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        at = z * M * K + m[:, None].to(tl.int64) * row + k[None, :].to(tl.int64) * column
        x = tl.load(a + at, mask=(m[:, None] < M) & (k[None, :] < K), other=0.0).to(tl.float32)
        total += x * tl.load(v + z * K + k, mask=k < K, other=0.0).to(tl.float32)[None, :]
    tl.store(out + z * M + m, tl.sum(total, axis=1).to(out.dtype.element_ty), mask=m < M)


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
    if out.numel() == 0:
        return out
    if N == 1:
        rows_by_vector[(triton.cdiv(M, 8), count)](a, b, out, M, K, K, 1, BM=8, BK=128)
    elif M == 1:
        rows_by_vector[(triton.cdiv(N, 8), count)](b, a, out, N, K, 1, N, BM=8, BK=128)
    else:
        size = 32 if M * N < 65536 else 128
        grid = (triton.cdiv(M, size), triton.cdiv(N, size), count)
        tiles[grid](a, b, out, M, N, K, BM=size, BN=size, BK=32, num_warps=8 if size > 32 else 4)
    return out
