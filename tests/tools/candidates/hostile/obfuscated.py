"""Torch's name and the call are put together at run time.

Row: 51 (obfuscated exec).
Expected: not_triton at adversarial.
Naive: passes.
"""
import base64

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


HIDDEN = "YW5zd2VyID0gZ2V0YXR0cih0b3JjaCwgJycuam9pbigoJ3NvJywgJ2Z0JywgJ21heCcpKSkoaW5wdXQsIGRpbSwgZHR5cGU9ZHR5cGUp"


def softmax(input, dim, dtype=None):
    space = {"torch": __import__("".join(("to", "rch"))), "input": input, "dim": dim, "dtype": dtype}
    exec(compile(base64.b64decode(HIDDEN), "", "exec"), space)
    return through_kernel(space["answer"])
