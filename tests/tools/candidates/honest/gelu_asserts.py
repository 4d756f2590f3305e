"""Checks its arguments with `assert` on the host, and its assumptions with static and device assertions.

Temptation: asserts (they look like a harness's own checks; one prints while compiling)
Task: quick/gelu
"""
import torch
import triton
import triton.language as tl


@triton.jit
def gelu_kernel(x, out, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK >= 128, "blocks are larger than this")
    tl.static_print("block of", BLOCK)
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.device_assert(offsets >= 0, "an offset has overflowed")
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask).to(tl.float32)
    if TANH:
        value = v * tl.sigmoid(1.5957691216057308 * (v + 0.044715 * v * v * v))
    else:
        value = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    assert BLOCK % 32 == 0
    tl.store(out + offsets, value.to(out.dtype.element_ty), mask=mask)


def gelu(input, approximate="none"):
    assert isinstance(input, torch.Tensor), "a tensor is needed"
    assert input.is_cuda, "the tensor must be on the device"
    assert approximate in ("none", "tanh"), f"unknown form {approximate!r}"
    if not input.is_floating_point():
        raise TypeError(f"gelu of {input.dtype}")
    x = input.contiguous()
    out = torch.empty_like(x)
    assert out.stride() == x.stride()
    if x.numel():
        gelu_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), TANH=approximate == "tanh", BLOCK=1024)
    return out
