"""A kernel that stores through an address made of a number.

Row: 46 (corrupts the device's context).
Expected: crash at correctness.
Expected on a GPU: runtime_error or launch_error or crash at correctness.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def wild(y, address):
    target = address.to(tl.pointer_type(tl.float32))
    tl.store(target + tl.arange(0, 128), tl.arange(0, 128).to(tl.float32))
    tl.store(y, tl.load(target).to(y.dtype.element_ty))


def softmax(input, dim, dtype=None):
    y = torch.empty_like(input, dtype=dtype)
    wild[(1,)](y, (1 << 46) + (1 << 20))
    return y
