"""References of the quick suite, honest computations, sums of absolute terms, and wrong answers.

Signatures are those of torch.nn.functional.
"""

from torch import Tensor
from torch.nn import functional


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * sigmoid(x)` of each element, as a new tensor; `inplace` is always False here."""
    return functional.silu(input, inplace=inplace)


def layer_norm(
    input: Tensor, normalized_shape: list[int], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """`(x - mean) / sqrt(variance + eps) * weight + bias` over the last `len(normalized_shape)` axes, with the biased variance
    (the mean is subtracted before squaring). `weight` and `bias` have the normalized shape, and may be None."""
    return functional.layer_norm(input, normalized_shape, weight, bias, eps)


def rms_norm(input: Tensor, normalized_shape: list[int], weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """`x / sqrt(mean(x**2) + eps) * weight` over the last `len(normalized_shape)` axes. `weight` has the normalized shape, and
    may be None; eps None stands for the machine epsilon of fp32, 2**-23."""
    return functional.rms_norm(input, normalized_shape, weight, 2**-23 if eps is None else eps)


def norm_terms(
    input: Tensor, normalized_shape: list[int], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    axes = tuple(range(-len(normalized_shape), 0))
    mean = input.mean(axes, keepdim=True)
    terms = (input.abs() + mean.abs()) / ((input - mean).square().mean(axes, keepdim=True) + eps).sqrt()
    terms = terms if weight is None else terms * weight.abs()
    return terms if bias is None else terms + bias.abs()
