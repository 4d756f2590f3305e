"""The accumulation type is a constexpr, looked up in a table from torch's dtypes to Triton's.

Temptation: a dtype as a kernel argument, and a table of dtypes
Task: quick/add
"""
import torch
import triton
import triton.language as tl

WIDE = {torch.float16: tl.float32, torch.bfloat16: tl.float32, torch.float32: tl.float32, torch.int64: tl.int64, torch.int32: tl.int32}


@triton.jit
def add_kernel(x, y, out, alpha, n, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    a = tl.cast(tl.load(x + offsets, mask=mask, other=0), WIDE)
    b = tl.cast(tl.load(y + offsets, mask=mask, other=0), WIDE)
    total = a + b * tl.cast(alpha, WIDE)
    tl.store(out + offsets, total.to(out.type.element_ty), mask=mask)


def add(input, other, alpha=1):
    other = other if isinstance(other, torch.Tensor) else input.new_full((1,), other)
    x, y = (t.contiguous() for t in torch.broadcast_tensors(input, other))
    out = torch.empty_like(x)
    n = out.numel()
    if n:
        add_kernel[(triton.cdiv(n, 1024),)](x, y, out, alpha, n, WIDE=WIDE[input.dtype], BLOCK=1024)
    return out
