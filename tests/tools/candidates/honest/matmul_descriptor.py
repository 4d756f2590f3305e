"""Tensor descriptors for aligned matrices; batches and odd strides go to a kernel with pointers.

Temptation: a fast path that most small cases do not take (both paths are kernels of its own)
Task: quick/matmul
"""
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def by_descriptors(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(a.load([m, k]), b.load([k, n]), total, input_precision="ieee")
    c.store([m, n], total.to(c.dtype))


@triton.jit
def by_pointers(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    z = tl.program_id(2).to(tl.int64)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(a + (z * M + m[:, None]) * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        y = tl.load(b + (z * K + k[:, None]) * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        total = tl.dot(x, y, total, input_precision="ieee")
    tl.store(c + (z * M + m[:, None]) * N + n[None, :], total.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


def shapes(tensor1, tensor2):
    """Both as batches of matrices (batch, rows, columns), and the result's shape."""
    a = tensor1.unsqueeze(0) if tensor1.dim() == 1 else tensor1
    b = tensor2.unsqueeze(1) if tensor2.dim() == 1 else tensor2
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = batch + a.shape[-2:-1] * (tensor1.dim() > 1) + b.shape[-1:] * (tensor2.dim() > 1)
    a, b = a.expand(*batch, *a.shape[-2:]), b.expand(*batch, *b.shape[-2:])
    return a.reshape(batch.numel(), *a.shape[-2:]), b.reshape(batch.numel(), *b.shape[-2:]), shape


def aligned(*matrices):
    return all(m.data_ptr() % 16 == 0 and m.stride(0) * m.element_size() % 16 == 0 for m in matrices)


def matmul(tensor1, tensor2):
    a, b, shape = shapes(tensor1, tensor2)
    a, b = a.contiguous(), b.contiguous()
    (count, M, K), N = a.shape, b.shape[2]
    out = torch.empty((count, M, N), dtype=a.dtype, device=a.device)
    if out.numel() == 0:
        return out.view(shape)
    if count == 1 and K and aligned(a[0], b[0], out[0]):
        B, D = (32, 32) if M < 512 else (128, 32)
        sides = [TensorDescriptor.from_tensor(t, block) for t, block in ((a[0], [B, D]), (b[0], [D, B]), (out[0], [B, B]))]
        by_descriptors[(triton.cdiv(M, B), triton.cdiv(N, B))](*sides, K, BM=B, BN=B, BK=D, num_warps=8 if B > 32 else 4)
    else:
        by_pointers[(triton.cdiv(M, 32), triton.cdiv(N, 32), count)](a, b, out, M, N, K, BM=32, BN=32, BK=32)
    return out.view(shape)
