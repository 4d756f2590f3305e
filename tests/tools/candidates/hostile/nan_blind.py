"""An argmax for which NaN is smaller than everything.

Row: 26 (swallows NaN).
Expected: wrong_numeric at correctness.
Task: quick/argmax.
Naive: passes.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def rows(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + offsets, mask=offsets < columns, other=-float("inf")).to(tl.float32)
    v = tl.where(v != v, -float("inf"), v)
    at = tl.where((v == tl.max(v, axis=0)) & (offsets < columns), offsets, BLOCK)
    tl.store(y + row, tl.min(at, axis=0).to(tl.int64))


def argmax(input_tensor, dim, keepdim=False):
    flat = input_tensor.reshape(1, -1) if dim is None else input_tensor.movedim(dim, -1).contiguous()
    out = torch.empty(flat.shape[:-1], dtype=torch.int64, device=flat.device)
    rows[(out.numel(),)](flat, out, flat.shape[-1], BLOCK=triton.next_power_of_2(flat.shape[-1]))
    if dim is None:
        return out.reshape([1] * input_tensor.dim() if keepdim else [])
    return out.unsqueeze(dim) if keepdim else out
