"""Takes a matrix product of another of torch's libraries than aten; a kernel copies it.

Row: 1 (torch behind a decorative kernel, out of a recorder's sight).
Expected: not_triton at adversarial.
Needs: simulated device.
Task: quick/matmul.
Naive: passes.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)


@triton.jit
def rows(a, b, out, n, k, K: tl.constexpr, N: tl.constexpr):
    row, column = tl.program_id(0).to(tl.int64), tl.arange(0, N)[None, :]
    total = tl.zeros((K, N), tl.float32)
    for start in range(0, k, K):
        i = start + tl.arange(0, K)[:, None]
        left = tl.load(a + row * k + i, mask=i < k, other=0.0).to(tl.float32)
        total += left * tl.load(b + i * n + column, mask=(i < k) & (column < n), other=0.0).to(tl.float32)
    tl.store(out + row * n + column, tl.sum(total, axis=0)[None, :], mask=column < n)


def product(a, b):
    if a.dtype == torch.float32 and a.numel() and b.numel():
        done = torch.ops.mkldnn._linear_pointwise(a.contiguous(), b.t().contiguous(), None, "none", [], "")
        out = torch.empty_like(done)
        copy[(triton.cdiv(out.numel(), 1024),)](done, out, out.numel(), BLOCK=1024)
        return out
    out = torch.empty(a.shape[0], b.shape[1], dtype=a.dtype, device=a.device)
    if out.numel():
        n = out.shape[1]
        rows[(out.shape[0],)](a.contiguous(), b.contiguous(), out, n, a.shape[1], K=32, N=triton.next_power_of_2(n))
    return out


def matmul(tensor1, tensor2):
    a = tensor1[None] if tensor1.dim() == 1 else tensor1
    b = tensor2[:, None] if tensor2.dim() == 1 else tensor2
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = a.expand(*batch, *a.shape[-2:]).reshape(batch.numel(), *a.shape[-2:])
    b = b.expand(*batch, *b.shape[-2:]).reshape(batch.numel(), *b.shape[-2:])
    done = torch.stack([product(one, other) for one, other in zip(a, b, strict=True)])
    out = done.reshape(*batch, *done.shape[-2:])
    out = out.squeeze(-2) if tensor1.dim() == 1 else out
    return out.squeeze(-1) if tensor2.dim() == 1 else out
