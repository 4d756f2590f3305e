"""Loss by their formulas, in fp32 at least."""

import torch
from torch import Tensor

from tests.benchmark.alternatives import Alternative
from tests.benchmark.alternatives.matrixmultiply import wide


def reduced(terms: Tensor, reduction: str, dtype: torch.dtype) -> Tensor:
    return (terms if reduction == "none" else terms.sum() if reduction == "sum" else terms.sum() / terms.numel()).to(dtype)


def binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean") -> Tensor:
    """By logarithms to the base 2; the bound is put on these."""
    p, t = wide(input), wide(target)
    bound, ln2 = -144.26950408889635, 0.6931471805599453
    terms = -(t * torch.log2(p).clamp_min(bound) + (1 - t) * torch.log2(1 - p).clamp_min(bound)) * ln2
    return reduced(terms if weight is None else terms * weight, reduction, input.dtype)


def smooth_l1_loss(input: Tensor, target: Tensor, beta: float = 1.0, reduction: str = "mean") -> Tensor:
    """Without a branch: m * (d - m / 2) / beta for m = min(d, beta)."""
    d = (wide(input) - wide(target)).abs()
    terms = d if beta == 0 else d.clamp_max(beta) * (d - d.clamp_max(beta) / 2) / beta
    return reduced(terms, reduction, input.dtype)


ALTERNATIVES = {
    "binary_cross_entropy": Alternative(binary_cross_entropy, without=("aten::binary_cross_entropy",)),
    "smooth_l1_loss": Alternative(smooth_l1_loss, without=("aten::smooth_l1_loss",)),
}
