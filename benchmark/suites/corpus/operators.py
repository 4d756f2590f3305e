"""References of the suite `corpus`, sums of absolute terms, and wrong answers."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

Pair = int | tuple[int, int]


def sqrt(input: Tensor, out: Tensor | None = None) -> Tensor:
    """Square root of each element: NaN for negative numbers, -0.0 for -0.0, infinity for infinity. Fp16 and bf16 are rounded
    once. `out` is None here."""
    return torch.sqrt(input, out=out)


def scaled_add_norm(y: Tensor, x: Tensor, alpha: float) -> Tensor:
    """`y += alpha * x` in place, for tensors of one shape; returns the 2-norm of the new y over all its elements, without axes."""
    y.add_(x, alpha=alpha)
    return torch.linalg.vector_norm(y)


def logsumexp(input: Tensor, dim: int, keepdim: bool = False, out: Tensor | None = None) -> Tensor:
    """`log(sum(exp(input)))` along `dim`, without overflow: `m + log(sum(exp(input - m)))` with the maximum m. `out` is None here."""
    return torch.logsumexp(input, dim, keepdim)


def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Elements of `input` picked along `dim`: in two dimensions `out[i, j] = input[index[i, j], j]` for `dim=0`, and
    `input[i, index[i, j]]` for `dim=1`. `index` (int64) has as many axes as `input`, is no longer than it along any axis but `dim`,
    and gives the result its shape."""
    return torch.gather(input, dim, index)


def max_pool2d(input: Tensor, kernel_size: Pair, stride: Pair | None = None, padding: Pair = 0, dilation: Pair = 1) -> Tensor:
    """Maxima over windows of the last two axes of `input` (N, C, H, W): `out[y, x] = max over i, j of input[y * stride + i * dilation -
    padding, x * stride + j * dilation - padding]`. `stride` None stands for the kernel size; places beyond the edges count as
    -infinity. The height is (H + 2 * padding - dilation * (KH - 1) - 1) // stride + 1, the width likewise. Each option is a number,
    or a pair (height, width)."""
    return functional.max_pool2d(input, kernel_size, stride, padding, dilation)


def tensordot(a: Tensor, b: Tensor, dims: int | tuple[list[int], list[int]]) -> Tensor:
    """Contraction of a and b: over the last `dims` axes of a and the first `dims` axes of b, or over the axes `dims[0]` of a, each with
    the one at the same position in `dims[1]` of b. The result has the other axes of a, then those of b, in order."""
    return torch.tensordot(a, b, dims)


def fused_sigmoid_conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int = 1,
    padding: int = 0,
    dilation: int = 1,
    groups: int = 1,
    out: Tensor | None = None,
) -> Tensor:
    """`sigmoid(conv2d(input, weight, bias, stride, padding, dilation, groups))`, the cross-correlation of `input` (N, C, H, W) with
    `weight` (O, C / groups, KH, KW), zeros beyond the edges. `out` is None here."""
    return functional.conv2d(input, weight, bias, stride, padding, dilation, groups).sigmoid()


def least_squares_qr(A: Tensor, b: Tensor, *, mode: str = "reduced", out: Tensor | None = None) -> Tensor:
    """The x with the least |A x - b|, column by column, for `A` (..., M, N) of full rank with M >= N and `b` (..., M) or (..., M, K): with
    A = Q R (Q of M x N) it solves R x = Q^H b. The result is (..., N) or (..., N, K). `mode` is "reduced", `out` is None here."""
    q, r = torch.linalg.qr(A, mode)
    columns = system(A, b)[1]
    x = torch.linalg.solve_triangular(r, q.mH @ columns, upper=True)
    return x.squeeze(-1) if columns is not b else x


def autocast(a: Tensor, b: Tensor) -> Tensor:
    """The product `a @ b` of float32 matrices as it is under torch.autocast on an accelerator: both rounded to fp16, products
    summed in fp32, and the result rounded to fp16."""
    left, right = a.half(), b.half()
    return left.double() @ right.double() if a.dtype == torch.float64 else left @ right


def system(A: Tensor, b: Tensor, **options: Any) -> tuple[Tensor, Tensor]:
    """The matrix and its right-hand sides as columns."""
    return A, b.unsqueeze(-1) if b.dim() == A.dim() - 1 else b


def mixed(a: Tensor, b: Tensor) -> Tensor:
    return (a.half().double() @ b.half().double()).half()


def mixed_terms(a: Tensor, b: Tensor) -> Tensor:
    return a.abs() @ b.abs()


def tensordot_terms(a: Tensor, b: Tensor, dims: int | tuple[list[int], list[int]]) -> Tensor:
    return torch.tensordot(a.abs(), b.abs(), dims)


def tensordot_once(a: Tensor, b: Tensor, dims: int | tuple[list[int], list[int]]) -> Tensor:
    """Rounded once, at the end."""
    return torch.tensordot(a.double(), b.double(), dims).to(a.dtype)


def conv_once(input: Tensor, weight: Tensor, bias: Tensor | None = None, **options: Any) -> Tensor:
    wide = None if bias is None else bias.double()
    return functional.conv2d(input.double(), weight.double(), wide, **options).sigmoid().to(input.dtype)


def conv_terms(input: Tensor, weight: Tensor, bias: Tensor | None = None, **options: Any) -> Tensor:
    """The slope of the sigmoid is a quarter at most."""
    return functional.conv2d(input.abs(), weight.abs(), None if bias is None else bias.abs(), **options) / 4


def norm_in_fp32(y: Tensor, x: Tensor, alpha: float) -> Tensor:
    wide = y.float() + alpha * x.float() if y.dtype in (torch.float16, torch.bfloat16) else y + alpha * x
    y.copy_(wide)
    return torch.linalg.vector_norm(wide).to(y.dtype)


def old_norm(y: Tensor, x: Tensor, alpha: float) -> Tensor:
    norm = torch.linalg.vector_norm(y)
    y.add_(x, alpha=alpha)
    return norm


def sum_without_maximum(input: Tensor, dim: int, keepdim: bool = False) -> Tensor:
    return input.exp().sum(dim, keepdim).log()


def padded_with_zeros(input: Tensor, kernel_size: Pair, stride: Pair | None = None, padding: Pair = 0, dilation: Pair = 1) -> Tensor:
    height, width = (padding, padding) if isinstance(padding, int) else padding
    return functional.max_pool2d(functional.pad(input, (width, width, height, height)), kernel_size, stride, 0, dilation)
