"""One launch: each program leaves a partial sum and takes a number; who takes the last number of a row adds the parts up.

Temptation: lock-free single pass (programs that read what others wrote, ordered by an atomic counter)
Task: quick/sum
"""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def sum_once(x, parts, tickets, out, columns, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    row, part = tl.program_id(0).to(tl.int64), tl.program_id(1)
    total = tl.zeros((BLOCK,), dtype=parts.dtype.element_ty)
    for start in range(part * BLOCK, columns, PARTS * BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * columns + at, mask=at < columns, other=0).to(total.dtype)
    tl.store(parts + row * PARTS + part, tl.sum(total, axis=0))
    tl.debug_barrier()
    # Released with the store before it, acquired before the loads after it.
    taken = tl.atomic_add(tickets + row, 1, sem="acq_rel")
    if taken == PARTS - 1:
        all_parts = tl.load(parts + row * PARTS + tl.arange(0, PARTS), cache_modifier=".cg")
        tl.store(out + row, tl.sum(all_parts, axis=0).to(out.dtype.element_ty))


def split(input, dim, keepdim, dtype):
    """Rows to keep, columns to add up, the result's shape and dtype, and the data in that order."""
    axes = list(range(input.dim())) if dim is None else [d % input.dim() for d in ([dim] if isinstance(dim, int) else dim)]
    rest = [d for d in range(input.dim()) if d not in axes]
    shape = [1 if d in axes else input.shape[d] for d in range(input.dim()) if keepdim or d not in axes]
    rows, columns = math.prod(input.shape[d] for d in rest), math.prod(input.shape[d] for d in axes)
    result = dtype or (input.dtype if input.dtype.is_floating_point else torch.int64)
    return rows, columns, shape, result, input.permute(rest + axes).contiguous()


def sum(input, dim, keepdim=False, dtype=None):
    rows, columns, shape, result, x = split(input, dim, keepdim, dtype)
    out = torch.empty(shape, dtype=result, device=x.device)
    if rows:
        parts = torch.empty((rows, 2), dtype=torch.float32 if result.is_floating_point else torch.int64, device=x.device)
        tickets = torch.zeros(rows, dtype=torch.int32, device=x.device)
        sum_once[(rows, 2)](x, parts, tickets, out, columns, PARTS=2, BLOCK=512)
    return out
