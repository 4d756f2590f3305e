"""References of the quick suite, honest computations, sums of absolute terms, and wrong answers.

Signatures follow KernelBench-X; torch.nn.functional's for silu, layer_norm and rms_norm. `out` parameters are dropped:
every function returns new tensors.
"""

import torch
from torch import Tensor
from torch.nn import functional


def add(input: Tensor, other: Tensor | float, alpha: float = 1) -> Tensor:
    """`input + alpha * other`, element by element, with broadcasting; `other` is a tensor or a number. Integers stay integers."""
    return torch.add(input, other, alpha=alpha)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """GELU of each element: `x * Phi(x)` with the Gaussian distribution function (`approximate="none"`, through erf), or
    `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))` (`approximate="tanh"`)."""
    return functional.gelu(input, approximate=approximate)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * sigmoid(x)` of each element, as a new tensor; `inplace` is always False here."""
    return functional.silu(input, inplace=inplace)


def sum(input: Tensor, dim: int | list[int] | None, keepdim: bool = False, dtype: torch.dtype | None = None) -> Tensor:
    """Sum over `dim`: an axis, a list of axes, or None for all. With `dtype` the input is converted to it first, and the
    result has it; without, integers are summed in int64, and floats keep their dtype. The sum of nothing is 0."""
    return torch.sum(input, dim, keepdim=keepdim, dtype=dtype)


def argmax(input_tensor: Tensor, dim: int | None, keepdim: bool = False) -> Tensor:
    """Index (int64) of the largest value along `dim`, or of the flattened tensor for None. NaN counts as the largest; any
    index that attains the maximum is right."""
    return torch.argmax(input_tensor, dim, keepdim=keepdim)


def softmax(input: Tensor, dim: int, dtype: torch.dtype | None = None) -> Tensor:
    """Softmax along `dim`, stable for large values. With `dtype` the input is converted to it first, and the result has it."""
    return torch.softmax(input, dim, dtype=dtype)


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


def cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean") -> Tensor:
    """`-weight[t] * log_softmax(input, 1)[t]` at the class index t of `target`, for logits of shape (N, C) or (N, C, d1, ...).

    Positions whose target is `ignore_index` count nothing (0 for `reduction="none"`). "sum" adds up; "mean" divides the sum
    by the sum of the targets' weights (their number without `weight`), which is NaN where every position is ignored."""
    return functional.cross_entropy(input, target, weight, ignore_index=ignore_index, reduction=reduction)


def matmul(tensor1: Tensor, tensor2: Tensor) -> Tensor:
    """Matrix product by the rules of torch.matmul: vectors, matrices, and batches of matrices with broadcasting."""
    return torch.matmul(tensor1, tensor2)


def fused_add_gelu(input: Tensor, other: Tensor | float, alpha: float = 1, approximate: str = "none") -> Tensor:
    """`gelu(input + alpha * other)` in one pass; `other` broadcasts, or is a number; `approximate` is "none" (erf) or "tanh"."""
    return functional.gelu(torch.add(input, other, alpha=alpha), approximate=approximate)


def matmul_w8a8(input: Tensor, weight: Tensor) -> Tensor:
    """`input (M, K) @ weight (K, N)` with both sides quantised to int8 on the way, symmetrically: one scale per row of `input`
    and one per column of `weight`, scale = max|values| / 127 (1 where all are zero); q = round_half_to_even(value / scale),
    clamped to -127 .. 127. The products are summed in int32, and the sum is multiplied by both scales in fp32; the result has
    the dtype of `input`."""
    scale, values = _int8(input, 1)
    scale_w, values_w = _int8(weight, 0)
    return (values @ values_w * (scale * scale_w)).to(input.dtype)


def _int8(tensor: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Scales and quantised values; these as floats, whose sums of products are exact up to 2**24 and need no int8 matmul."""
    tensor = tensor.to(torch.promote_types(tensor.dtype, torch.float32))
    top = tensor.abs().amax(axis, keepdim=True)
    scale = torch.where(top > 0, top / 127, 1.0)
    return scale, (tensor / scale).round().clamp(-127, 127)


def rounded_add_gelu(input: Tensor, other: Tensor | float, alpha: float = 1, approximate: str = "none") -> Tensor:
    return functional.gelu(rounded_add(input, other, alpha), approximate=approximate)


def int8_by_tensor(input: Tensor, weight: Tensor) -> Tensor:
    scale, values = _int8(input.reshape(1, -1), 1)
    scale_w, values_w = _int8(weight.reshape(1, -1), 1)
    return (values.reshape(input.shape) @ values_w.reshape(weight.shape) * (scale * scale_w)).to(input.dtype)


def other_gelu(input: Tensor, approximate: str = "none") -> Tensor:
    return functional.gelu(input, approximate="tanh" if approximate == "none" else "none")


def naive_softmax(input: Tensor, dim: int, dtype: torch.dtype | None = None) -> Tensor:
    powers = input.to(dtype or input.dtype).exp()
    return powers / powers.sum(dim, keepdim=True)


def norm_terms(
    input: Tensor, normalized_shape: list[int], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    axes = tuple(range(-len(normalized_shape), 0))
    mean = input.mean(axes, keepdim=True)
    terms = (input.abs() + mean.abs()) / ((input - mean).square().mean(axes, keepdim=True) + eps).sqrt()
    terms = terms if weight is None else terms * weight.abs()
    return terms if bias is None else terms + bias.abs()


def loss_terms(input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean") -> Tensor:
    terms = input.abs().amax(1) * (1.0 if weight is None else weight.max())
    return {"none": terms, "sum": terms.sum(), "mean": terms.max()}[reduction]


def rounded_add(input: Tensor, other: Tensor | float, alpha: float = 1) -> Tensor:
    """Both steps in the input's dtype: what `x + alpha * y` of half-precision tensors does in a kernel."""
    return input + other * alpha
