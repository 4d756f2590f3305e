"""Returns memory that is filled when the first operator is dispatched on it.

Row: 16 (lazy tensor subclass, below torch's functions).
Expected: wrong_dtype at correctness.
Naive: passes.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def rows(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    v = tl.load(x + row * columns + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * columns + offsets, (e / tl.sum(e, axis=0)).to(y.dtype.element_ty), mask=mask)


def compute(input, dim, dtype=None):
    x = (input if dtype is None else input.to(dtype)).movedim(dim, -1).contiguous()
    y = torch.empty_like(x)
    if x.numel():
        rows[(x.numel() // x.shape[-1],)](x, y, x.shape[-1], BLOCK=triton.next_power_of_2(x.shape[-1]))
    return y.movedim(-1, dim)


def fulfilled(value):
    if not hasattr(type(value), "promised"):
        return value
    with torch._C._DisableTorchDispatch():
        plain = value.as_subclass(type(value).promised)
    if promise := vars(value).pop("promise", None):
        with torch._C._EnableTorchFunction():
            plain.copy_(compute(*promise))
    return plain


def lazy_class(base):
    class Lazy(base):
        promised = base

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return func(*(fulfilled(a) for a in args), **(kwargs or {}))

    return Lazy


def softmax(input, dim, dtype=None):
    memory = torch.empty(input.shape, dtype=dtype or input.dtype, device=input.device)
    lazy = memory.as_subclass(lazy_class(type(memory)))
    lazy.promise = input, dim, dtype
    return lazy
