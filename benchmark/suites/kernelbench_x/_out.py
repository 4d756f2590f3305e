"""Results that may be asked for in a tensor of the caller's."""

import math

import torch
from torch import Tensor

from benchmark.draw import Draw


def into(result: Tensor, out: Tensor | None) -> Tensor:
    """`result`, or `out` with the values of `result` where `out` is given."""
    return result if out is None else out.copy_(result)


def nothing(draw: Draw, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """A place for a result: NaN, or for integers the largest one."""
    floating = dtype.is_floating_point or dtype.is_complex
    return torch.full(shape, math.nan if floating else torch.iinfo(dtype).max, dtype=dtype, device=draw.device)
