"""Product by the rules of torch.matmul: strides of both operands and of the batch, so that nothing is copied or expanded."""

import torch
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(a, b, c, M, N, K, az, am, ak, bz, bk, bn, TALL: tl.constexpr, WIDE: tl.constexpr, DEEP: tl.constexpr):
    m = (tl.program_id(1) * TALL + tl.arange(0, TALL)).to(tl.int64)
    n = (tl.program_id(0) * WIDE + tl.arange(0, WIDE)).to(tl.int64)
    z = tl.program_id(2).to(tl.int64)
    k = tl.arange(0, DEEP)
    at_a = a + z * az + m[:, None] * am + k[None, :] * ak
    at_b = b + z * bz + k[:, None] * bk + n[None, :] * bn
    total = tl.zeros((TALL, WIDE), dtype=tl.float32)
    left = K
    while left > 0:
        x = tl.load(at_a, mask=(m[:, None] < M) & (k[None, :] < left), other=0.0)
        y = tl.load(at_b, mask=(n[None, :] < N) & (k[:, None] < left), other=0.0)
        total += tl.dot(x, y, input_precision="ieee")
        at_a += DEEP * ak
        at_b += DEEP * bk
        left -= DEEP
    place = c + z * M * N + m[:, None] * N + n[None, :]
    tl.store(place, total.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


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
    (count, M, K), N = a.shape, b.shape[2]
    out = torch.empty(shape, dtype=a.dtype, device=a.device)
    if out.numel():
        T = 32 if M < 1024 else 64
        matmul_kernel[(triton.cdiv(N, T), triton.cdiv(M, T), count)](a, b, out, M, N, K, *a.stride(), *b.stride(), TALL=T, WIDE=T, DEEP=32)
    return out
