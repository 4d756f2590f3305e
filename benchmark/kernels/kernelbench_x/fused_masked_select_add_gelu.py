"""Selection in order: blocks count what they select, a running sum of the counts says where each block writes, and within a block the
place of an element is a running sum of the mask."""

import torch
import triton
import triton.language as tl


@triton.jit
def count_blocks(picked, counts, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    chosen = tl.load(picked + offsets, mask=offsets < n, other=0).to(tl.int32)
    tl.store(counts + tl.program_id(0), tl.sum(chosen, axis=0).to(tl.int64))


@triton.jit
def select_add_gelu(x, picked, ends, other, out, n, alpha, NUMBER: tl.constexpr, TANH: tl.constexpr, BLOCK: tl.constexpr):
    block = tl.program_id(0)
    offsets = block.to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    chosen = tl.load(picked + offsets, mask=mask, other=0).to(tl.int32)
    first = tl.load(ends + block) - tl.sum(chosen, axis=0)
    place = first + tl.cumsum(chosen, axis=0) - 1
    there = mask & (chosen != 0)
    v = tl.load(x + offsets, mask=there, other=0.0).to(tl.float32)
    if NUMBER:
        v += alpha * other
    else:
        v += alpha * tl.load(other + place, mask=there, other=0.0).to(tl.float32)
    if TANH:
        v = v - v / (1.0 + tl.exp(1.5957691216057308 * (v + 0.044715 * v * v * v)))
    else:
        v = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    tl.store(out + place, v.to(out.dtype.element_ty), mask=there)


def fused_masked_select_add_gelu(input, mask, other, *, alpha=1, approximate="none", out=None):
    x, picked = (t.contiguous() for t in torch.broadcast_tensors(input, mask))
    n, block = x.numel(), 1024
    blocks = triton.cdiv(n, block)
    counts = torch.empty(blocks, dtype=torch.int64, device=x.device)
    count_blocks[(blocks,)](picked, counts, n, BLOCK=block)
    ends = counts.cumsum(0)
    result = torch.empty(int(ends[-1]), dtype=x.dtype, device=x.device)
    number = not isinstance(other, torch.Tensor)
    if not number:
        other = other.expand(result.shape).contiguous()
    if result.numel():
        select_add_gelu[(blocks,)](x, picked, ends, other, result, n, alpha, NUMBER=number, TANH=approximate == "tanh", BLOCK=block)
    return result if out is None else out.copy_(result)
