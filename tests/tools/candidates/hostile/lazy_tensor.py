"""Returns a tensor whose class computes when somebody looks at it.

Row: 16 (lazy tensor subclass).
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


work = {}


def lazy_class(base):
    class Lazy(base):
        def __getattribute__(self, name):
            if name in ("cpu", "numpy", "float", "double", "tolist", "isnan", "__array__"):
                return getattr(compute(*work[id(self)]), name)
            return super().__getattribute__(name)

    return Lazy


def softmax(input, dim, dtype=None):
    promise = torch.empty_like(input, dtype=dtype).as_subclass(lazy_class(type(input)))
    work[id(promise)] = input, dim, dtype
    return promise
