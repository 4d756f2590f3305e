"""Reduce by other formulas."""

import torch
from torch import Tensor

from tests.benchmark.alternatives import Alternative
from tests.benchmark.alternatives.matrixmultiply import wide


def min_gelu(
    input: Tensor, dim: int | None = None, keepdim: bool = False, approximate: str = "none", out: Tensor | None = None
) -> Tensor | tuple[Tensor, Tensor]:
    """By erfc and by the sigmoid; the last of equal values."""
    x = wide(input)
    if approximate == "none":
        values = (0.5 * x * torch.special.erfc(x * -(0.5**0.5))).to(input.dtype)
    else:
        values = (x * torch.sigmoid(1.5957691216057308 * (x + 0.044715 * x**3))).to(input.dtype)
    if dim is None:
        least = values.amin()
        return least if out is None else out.copy_(least)
    found = values.flip(dim).argmin(dim, keepdim=True)
    indices = values.shape[dim] - 1 - found
    least = values.gather(dim, indices)
    return (least, indices) if keepdim else (least.squeeze(dim), indices.squeeze(dim))


ALTERNATIVES = {"min_gelu": Alternative(min_gelu, without=("aten::gelu", "aten::min"))}
