"""Loads and stores by tensor descriptors that the kernel makes; their memory comes from an allocator set at import.

Temptation: device-side tensor descriptors (`triton.set_allocator`, no pointer arithmetic, no masks)
Task: quick/silu
"""
import torch
import triton
import triton.language as tl


def scratch(size, alignment, stream):
    return torch.empty(size, dtype=torch.int8, device="cuda")


triton.set_allocator(scratch)


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[n], strides=[1], block_shape=[BLOCK])
    target = tl.make_tensor_descriptor(out, shape=[n], strides=[1], block_shape=[BLOCK])
    start = tl.program_id(0) * BLOCK
    v = source.load([start]).to(tl.float32)
    target.store([start], (v * tl.sigmoid(v)).to(out.dtype.element_ty))


def silu(input, inplace=False):
    x = input.contiguous()
    if x.data_ptr() % 16:
        x = x.clone()
    out = torch.empty_like(x)
    n = x.numel()
    if n:
        silu_kernel[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
    return out
