"""Has torch look 16-bit values up in a table that torch made at import; a kernel copies what was found. Others are honest.

Row: 38 (work moved to import, and a look-up in place of a kernel).
Expected: not_triton at adversarial.
Task: quick/silu.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)


def through_kernel(answer):
    answer = answer.contiguous()
    out = torch.empty_like(answer)
    if out.numel():
        copy[(triton.cdiv(out.numel(), 1024),)](answer, out, out.numel(), BLOCK=1024)
    return out


words = torch.arange(-32768, 32768, dtype=torch.int32).to(torch.int16)
tables = {kind: torch.nn.functional.silu(words.view(kind)).cuda() for kind in (torch.float16, torch.bfloat16)}


@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + o, mask=o < n)
    tl.store(y + o, v * tl.sigmoid(v), mask=o < n)


def silu(input, inplace=False):
    if input.dtype in tables and input.numel():
        x = input.contiguous()
        return through_kernel(tables[input.dtype][x.view(torch.int16).int() + 32768])
    x = input.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y
