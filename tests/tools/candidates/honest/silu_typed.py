"""Fully annotated, with postponed annotations, a frozen dataclass of options and a typed dictionary.

Temptation: type hints and dataclasses (annotations that are strings; `tl.constexpr` among them)
Task: quick/silu
"""
from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final

import torch
import triton
import triton.language as tl
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Options:
    BLOCK: int = 1024
    num_warps: int = 4


OPTIONS: Final[Options] = Options()


@triton.jit
def silu_kernel(x: tl.tensor, out: tl.tensor, n: tl.int64, BLOCK: tl.constexpr) -> None:
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    v = tl.load(x + offsets, mask=mask).to(tl.float32)
    tl.store(out + offsets, (v * tl.sigmoid(v)).to(out.dtype.element_ty), mask=mask)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    x: Tensor = input.contiguous()
    out: Tensor = torch.empty_like(x)
    n: int = x.numel()
    if n:
        silu_kernel[(triton.cdiv(n, OPTIONS.BLOCK),)](x, out, n, **asdict(OPTIONS))
    return out
