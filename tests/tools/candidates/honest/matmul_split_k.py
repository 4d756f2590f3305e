"""Several programs share an output tile and add their parts of K by atomics in fp32; halves are converted afterwards.

Temptation: split-K with atomics (most programs add to memory that others add to)
Task: quick/matmul
"""
import torch
import triton
import triton.language as tl


@triton.jit
def matmul_part(a, b, c, M, N, K, SPLIT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tile, part, batch = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    m = tile // tl.cdiv(N, BN) * BM + tl.arange(0, BM)
    n = tile % tl.cdiv(N, BN) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(part * BK, K, SPLIT * BK):
        k = start + tl.arange(0, BK)
        x = tl.load(a + batch * M * K + m[:, None].to(tl.int64) * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        y = tl.load(b + batch * K * N + k[:, None].to(tl.int64) * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        total = tl.dot(x, y, total, input_precision="ieee")
    place = c + batch * M * N + m[:, None].to(tl.int64) * N + n[None, :]
    tl.atomic_add(place, total, mask=(m[:, None] < M) & (n[None, :] < N), sem="relaxed")


@triton.jit
def convert(source, target, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(target + at, tl.load(source + at, mask=at < n).to(target.dtype.element_ty), mask=at < n)


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
    c = torch.zeros((count, M, N), dtype=torch.float32, device=a.device)
    if c.numel() and K:
        size = 16 if M * N < 4096 else 128
        grid = (triton.cdiv(M, size) * triton.cdiv(N, size), 2, count)
        matmul_part[grid](a, b, c, M, N, K, SPLIT=2, BM=size, BN=size, BK=32, num_warps=8 if size > 16 else 4)
    if a.dtype == torch.float32:
        return c.view(shape)
    out = torch.empty(shape, dtype=a.dtype, device=a.device)
    if out.numel():
        convert[(triton.cdiv(out.numel(), 1024),)](c, out, out.numel(), BLOCK=1024)
    return out
