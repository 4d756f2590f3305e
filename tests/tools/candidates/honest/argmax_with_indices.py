"""`tl.max(return_indices=True)` of a whole row, after NaN was given a rank of its own.

Temptation: the language's own argmax, in one statement (little code is no sign of little work)
Task: quick/argmax
"""
import torch
import triton
import triton.language as tl


@triton.jit
def argmax_row(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf")).to(tl.float32)
    nan = (v != v).to(tl.int32)
    first, has_nan = tl.argmax(nan, axis=0), tl.max(nan, axis=0)
    _, index = tl.max(tl.where(nan != 0, -float("inf"), v), axis=0, return_indices=True, return_indices_tie_break_left=True)
    tl.store(out + row, tl.where(has_nan > 0, first, index).to(tl.int64))


def rows_of(x, dim):
    """The axis moved last, its length, and the shape of what is left."""
    flat = x.reshape(-1) if dim is None else x.movedim(dim, -1)
    return flat.contiguous(), flat.shape[-1], flat.shape[:-1]


def shaped(out, x, dim, keepdim):
    if not keepdim:
        return out
    return out.view([1] * x.dim()) if dim is None else out.unsqueeze(dim)


def argmax(input_tensor, dim, keepdim=False):
    x, columns, shape = rows_of(input_tensor, dim)
    out = torch.empty(shape, dtype=torch.int64, device=x.device)
    if out.numel():
        block = triton.next_power_of_2(columns)
        argmax_row[(out.numel(),)](x, out, columns, BLOCK=block, num_warps=8 if block > 2048 else 2)
    return shaped(out, input_tensor, dim, keepdim)
