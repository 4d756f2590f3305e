"""Keeps the launch configuration of each (width, dtype) in a dictionary; no tensor is kept.

Temptation: a cache per shape (of a configuration, not of results)
Task: quick/softmax
"""
import torch
import triton
import triton.language as tl

_CACHE = {}


@triton.jit
def softmax_rows(x, y, rows, columns, BLOCK: tl.constexpr):
    mask = tl.arange(0, BLOCK) < columns
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        base = row.to(tl.int64) * columns + tl.arange(0, BLOCK)
        v = tl.load(x + base, mask=mask, other=-float("inf")).to(tl.float32)
        e = tl.exp(v - tl.max(v, axis=0))
        tl.store(y + base, (e / tl.sum(e, axis=0)).to(y.dtype.element_ty), mask=mask)


def configuration(columns, dtype):
    key = (columns, dtype)
    if key not in _CACHE:
        block = triton.next_power_of_2(columns)
        _CACHE[key] = {"BLOCK": block, "num_warps": 4 if block <= 2048 else 16}
    return _CACHE[key]


def softmax(input, dim, dtype=None):
    x = input.movedim(dim, -1).contiguous()
    y = torch.empty(x.shape, dtype=dtype or x.dtype, device=x.device)
    columns = x.shape[-1]
    if x.numel():
        rows = x.numel() // columns
        softmax_rows[(min(rows, 1056),)](x, y, rows, columns, **configuration(columns, input.dtype))
    return y.movedim(-1, dim)
