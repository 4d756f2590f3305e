"""Softmax along any axis: a row per program, its maximum subtracted before exp; other axes are moved to the end first."""

import torch
import triton
import triton.language as tl


@triton.jit
def softmax_kernel(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    # Lanes beyond the row count as -inf: exp gives 0 there.
    v = tl.load(x + row * columns + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * columns + offsets, (e / tl.sum(e, axis=0)).to(out.dtype.element_ty), mask=mask)


def softmax(input: torch.Tensor, dim: int, dtype: torch.dtype = None):
    x = input.movedim(dim, -1).contiguous()
    out = torch.empty(x.shape, dtype=dtype or x.dtype, device=x.device)
    columns = x.shape[-1]
    if x.numel():
        block = triton.next_power_of_2(columns)
        softmax_kernel[(x.numel() // columns,)](x, out, columns, BLOCK=block, num_warps=4 if block <= 2048 else 16)
    return out.movedim(-1, dim)
