"""Fusion of KernelBench-X: pooling with what comes before or after it."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close
from benchmark.draw import Draw, offset, strided, transposed
from benchmark.suites.kernelbench_x._honest import rounded_once
from benchmark.task import Arguments, Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16
Size = int | tuple[int, int]


def fused_cos_avg_pool1d(
    input: Tensor, kernel_size: int, stride: int | None = None, padding: int = 0, ceil_mode: bool = False, count_include_pad: bool = True
) -> Tensor:
    """Averages of `cos(input)` over windows along the last axis of (N, C, L) or (C, L). Windows begin every `stride` elements (None:
    `kernel_size`), the first one `padding` elements before the input; `ceil_mode` keeps a last window that is not whole, if it
    begins inside the input or its left padding. Padding adds zeros, not cosines of zeros. The sum is divided by the number of
    elements of the window that lie in the padded input, or, without `count_include_pad`, in the input itself."""
    return functional.avg_pool1d(torch.cos(input), kernel_size, stride or kernel_size, padding, ceil_mode, count_include_pad)


def cosine_sums(
    input: Tensor, kernel_size: int, stride: int | None = None, padding: int = 0, ceil_mode: bool = False, count_include_pad: bool = True
) -> Tensor:
    return functional.avg_pool1d(torch.cos(input).abs(), kernel_size, stride or kernel_size, padding, ceil_mode, count_include_pad)


def cosine_of_padding(
    input: Tensor, kernel_size: int, stride: int | None = None, padding: int = 0, ceil_mode: bool = False, count_include_pad: bool = True
) -> Tensor:
    """Padded before the cosine is taken."""
    padded = torch.cos(functional.pad(input, (padding, padding)))
    return functional.avg_pool1d(padded, kernel_size, stride or kernel_size, 0, ceil_mode, count_include_pad)


def whole_divisor(kernel_size: int, count_include_pad: bool = True, **rest: Any) -> Tensor:
    """Always divided by the kernel's size."""
    right = fused_cos_avg_pool1d(kernel_size=kernel_size, count_include_pad=count_include_pad, **rest)
    ones = functional.avg_pool1d(torch.ones_like(rest["input"]), kernel_size, *_windows(rest))
    return right * ones if not count_include_pad else right


def _windows(rest: dict[str, Any]) -> tuple[Any, ...]:
    return rest.get("stride"), rest.get("padding", 0), rest.get("ceil_mode", False)


def fused_avg_pool2d_cosine_similarity(
    x1: Tensor, x2: Tensor, kernel_size: int, stride: int | None = None, padding: int = 0, eps: float = 1e-8
) -> Tensor:
    """Cosine similarity over the channels of (N, C, H, W), `sum(x1 * x2) / (max(|x1|, eps) * max(|x2|, eps))` at each pixel, then its
    average over square windows: (N, 1, H', W'). Windows begin every `stride` pixels (None: `kernel_size`), the first ones
    `padding` pixels outside; pixels of the padding count as zeros, and each sum is divided by `kernel_size**2`."""
    similarity = functional.cosine_similarity(x1, x2, dim=1, eps=eps).unsqueeze(1)
    return functional.avg_pool2d(similarity, kernel_size, stride, padding)


def similarity_sums(x1: Tensor, x2: Tensor, kernel_size: int, stride: int | None = None, padding: int = 0, eps: float = 1e-8) -> Tensor:
    return fused_avg_pool2d_cosine_similarity(x1.abs(), x2.abs(), kernel_size, stride, padding, eps)


def eps_on_the_product(x1: Tensor, x2: Tensor, kernel_size: int, stride: int | None = None, padding: int = 0, eps: float = 1e-8) -> Tensor:
    """The product of the norms is held above eps, not each of them."""
    norms = (x1.float().norm(dim=1) * x2.float().norm(dim=1)).clamp(min=eps)
    similarity = ((x1.float() * x2.float()).sum(1) / norms).unsqueeze(1).to(x1.dtype)
    return functional.avg_pool2d(similarity, kernel_size, stride, padding)


def padding_left_out(x1: Tensor, x2: Tensor, kernel_size: int, stride: int | None = None, padding: int = 0, eps: float = 1e-8) -> Tensor:
    similarity = functional.cosine_similarity(x1, x2, dim=1, eps=eps).unsqueeze(1)
    return functional.avg_pool2d(similarity, kernel_size, stride, padding, count_include_pad=False)


def fused_sigmoid_adaptive_avg_pool2d(input: Tensor, output_size: Size) -> Tensor:
    """Adaptive average pooling of (N, C, H, W) or (C, H, W) to `output_size` (a number, or rows and columns), then the sigmoid. Row i
    of h averages the input's rows `floor(i * H / h)` to `ceil((i + 1) * H / h) - 1`, and so for columns; windows may overlap."""
    return torch.sigmoid(functional.adaptive_avg_pool2d(input, output_size))


def sigmoid_sums(input: Tensor, output_size: Size) -> Tensor:
    result = fused_sigmoid_adaptive_avg_pool2d(input, output_size)
    return functional.adaptive_avg_pool2d(input.abs(), output_size) * result * (1 - result)


def sigmoid_first(input: Tensor, output_size: Size) -> Tensor:
    return functional.adaptive_avg_pool2d(torch.sigmoid(input), output_size)


def apart(length: int, count: int) -> int:
    """The window and the step that would do if windows did not overlap."""
    return max(1, length // count)


def without_overlap(input: Tensor, output_size: Size) -> Tensor:
    """Windows of one size, side by side."""
    height, width = (output_size, output_size) if isinstance(output_size, int) else output_size
    size = apart(input.shape[-2], height), apart(input.shape[-1], width)
    pooled = functional.avg_pool2d(input, size, size)[..., :height, :width]
    missing = (0, width - pooled.shape[-1], 0, height - pooled.shape[-2])
    return torch.sigmoid(functional.pad(pooled, missing))


def fused_pairwise_distance_adaptive_avg_pool2d(
    x1: Tensor, x2: Tensor, output_size: Size, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """Adaptive average pooling of both (N, C, H, W) tensors to `output_size` (a number, or rows and columns): row i of h averages the
    rows `floor(i * H / h)` to `ceil((i + 1) * H / h) - 1`, and so for columns. Then for each sample the p-norm of the difference
    over channels, rows and columns together, `sum(|d|**p) ** (1 / p)` (the largest `|d|` where p is infinite), plus `eps`: (N,),
    or (N, 1, 1, 1) with `keepdim`. `x1` and `x2` may have images of different sizes."""
    wide = torch.promote_types(x1.dtype, torch.float32)
    difference = functional.adaptive_avg_pool2d(x1.to(wide), output_size) - functional.adaptive_avg_pool2d(x2.to(wide), output_size)
    return (torch.linalg.vector_norm(difference, p, dim=(1, 2, 3), keepdim=keepdim) + eps).to(x1.dtype)


def distance_sums(x1: Tensor, x2: Tensor, output_size: Size, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """By the triangle inequality: the norms of both pooled images."""
    norms = (
        torch.linalg.vector_norm(functional.adaptive_avg_pool2d(x.abs(), output_size), p, dim=(1, 2, 3), keepdim=keepdim) for x in (x1, x2)
    )
    return sum(norms, torch.zeros((), dtype=x1.dtype, device=x1.device)) + abs(eps)


def eps_inside(x1: Tensor, x2: Tensor, output_size: Size, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """`eps` added to each difference."""
    difference = functional.adaptive_avg_pool2d(x1.float(), output_size) - functional.adaptive_avg_pool2d(x2.float(), output_size)
    return torch.linalg.vector_norm(difference + eps, p, dim=(1, 2, 3), keepdim=keepdim).to(x1.dtype)


def images(d: Draw, *shape: int, dtype: torch.dtype = torch.float32, scale: float = 1.0, **options: Any) -> Arguments:
    return {"x1": d.normal(*shape, dtype=dtype, scale=scale), "x2": d.normal(*shape, dtype=dtype, scale=scale)} | options


def alike(d: Draw, *shape: int, dtype: torch.dtype = torch.float32, **options: Any) -> Arguments:
    """Two images that resemble each other."""
    x = d.normal(*shape, dtype=dtype)
    return {"x1": x, "x2": x + d.normal(*shape, dtype=dtype, scale=0.7)} | options


TASKS = (
    Task(
        "kernelbench_x/fused_cos_avg_pool1d",
        "Fusion",
        "fused",
        fused_cos_avg_pool1d,
        shown({
            "fp32": lambda d: {"input": d.normal(2, 3, 67), "kernel_size": 3},
            "fp16": lambda d: {"input": d.normal(3, 5, 53, dtype=FP16), "kernel_size": 4, "stride": 2, "padding": 1},
            "bf16-ceil": lambda d: {"input": d.normal(2, 7, 41, dtype=BF16), "kernel_size": 5, "stride": 3, "ceil_mode": True},
            "padding-counts-not": lambda d: {
                "input": d.normal(2, 3, 37), "kernel_size": 5, "stride": 2, "padding": 2, "count_include_pad": False
            },
            "ceil-padding": lambda d: {"input": d.normal(3, 4, 30), "kernel_size": 4, "stride": 3, "padding": 2, "ceil_mode": True},
            "two-axes": lambda d: {"input": d.normal(11, 47), "kernel_size": 7, "stride": 1},
            "transposed": lambda d: {"input": transposed(d.normal(2, 13, 29)), "kernel_size": 2},
            "large": lambda d: {"input": d.normal(2, 3, 61, scale=1e3), "kernel_size": 3, "stride": 2},
            "small": lambda d: {"input": d.normal(2, 3, 61, shift=1.5707963, scale=1e-3), "kernel_size": 2},
            "single": lambda d: {"input": d.normal(1, 1, 1), "kernel_size": 1},
            "nothing": lambda d: {"input": d.normal(0, 3, 9), "kernel_size": 3},
        }) + hidden({
            "strided-bf16": lambda d: {"input": strided(d.normal(3, 5, 31, dtype=BF16)), "kernel_size": 3, "padding": 1},
            "offset-whole": lambda d: {"input": offset(d.normal(3, 5, 31)), "kernel_size": 31},
            "everything": lambda d: {
                "input": d.outliers(2, 5, 43, factor=50), "kernel_size": 6, "stride": 5, "padding": 3, "ceil_mode": True,
                "count_include_pad": False,
            },
        }),
        timed(lambda d, *shape: {"input": d.normal(*shape), "kernel_size": 4, "stride": 2, "padding": 1},
              ((4, 8, 1024), (32, 32, 4096), (64, 64, 8192), (64, 64, 16384))),
        Contract(close()),
        honest=rounded_once(fused_cos_avg_pool1d),
        magnitude=cosine_sums,
        wrong={"cosine of the padding": cosine_of_padding, "divided by the kernel": whole_divisor},
    ),
    Task(
        "kernelbench_x/fused_avg_pool2d_cosine_similarity",
        "Fusion",
        "fused",
        fused_avg_pool2d_cosine_similarity,
        shown({
            "fp32": lambda d: alike(d, 2, 7, 9, 11, kernel_size=2),
            "fp16": lambda d: alike(d, 1, 16, 8, 13, dtype=FP16, kernel_size=3, stride=1),
            "bf16-padded": lambda d: alike(d, 2, 5, 7, 9, dtype=BF16, kernel_size=3, stride=2, padding=1),
            "unlike": lambda d: images(d, 2, 19, 6, 7, kernel_size=2, stride=1, padding=1),
            "eps": lambda d: alike(d, 2, 3, 8, 7, kernel_size=2, eps=1.5),
            "transposed": lambda d: {"x1": transposed(d.normal(1, 6, 8, 9)), "x2": d.normal(1, 6, 8, 9), "kernel_size": 3},
            "large": lambda d: images(d, 1, 5, 8, 9, scale=1e6, kernel_size=2),
            "small": lambda d: images(d, 1, 5, 8, 9, scale=1e-4, kernel_size=2),
            "zero-pixels": lambda d: images(d, 1, 4, 9, 7, kernel_size=3, stride=2) | {"x1": d.normal(1, 4, 9, 7) * (d.ties(9, 7) > 1)},
            "one-channel": lambda d: images(d, 2, 1, 7, 8, kernel_size=2),
        }) + hidden({
            "strided-bf16": lambda d: alike(d, 2, 5, 7, 9, dtype=BF16, kernel_size=2) | {"x2": strided(d.normal(2, 5, 7, 9, dtype=BF16))},
            "offset": lambda d: images(d, 1, 67, 5, 6, kernel_size=5, stride=1, padding=2) | {"x1": offset(d.normal(1, 67, 5, 6))},
            "outliers": lambda d: images(d, 2, 6, 7, 7, kernel_size=3, stride=3, eps=2.0) | {"x1": d.outliers(2, 6, 7, 7)},
        }),
        timed(lambda d, *shape: images(d, *shape, kernel_size=2),
              ((4, 64, 16, 16), (16, 64, 64, 64), (16, 64, 128, 128), (16, 64, 128, 256))),
        Contract(close()),
        honest=rounded_once(fused_avg_pool2d_cosine_similarity),
        magnitude=similarity_sums,
        wrong={"eps on the product": eps_on_the_product, "padding does not count": padding_left_out},
    ),
    Task(
        "kernelbench_x/fused_sigmoid_adaptive_avg_pool2d",
        "Fusion",
        "fused",
        fused_sigmoid_adaptive_avg_pool2d,
        shown({
            "fp32": lambda d: {"input": d.normal(2, 3, 11, 13), "output_size": 5},
            "fp16": lambda d: {"input": d.normal(3, 4, 9, 8, dtype=FP16), "output_size": (4, 3)},
            "bf16": lambda d: {"input": d.normal(2, 5, 7, 10, dtype=BF16), "output_size": (7, 5)},
            "everything": lambda d: {"input": d.normal(5, 7, 9, 6, shift=1), "output_size": 1},
            "more-than-there-is": lambda d: {"input": d.normal(2, 3, 4, 5), "output_size": (7, 9)},
            "three-axes": lambda d: {"input": d.normal(6, 10, 7), "output_size": (3, 7)},
            "transposed": lambda d: {"input": transposed(d.normal(2, 3, 10, 8)), "output_size": 4},
            "large": lambda d: {"input": d.normal(2, 3, 9, 8, scale=30), "output_size": (4, 5)},
            "small": lambda d: {"input": d.normal(2, 3, 9, 8, scale=1e-4, shift=-5), "output_size": (4, 5)},
            "nothing": lambda d: {"input": d.normal(0, 3, 4, 5), "output_size": 2},
        }) + hidden({
            "strided-bf16": lambda d: {"input": strided(d.normal(2, 3, 7, 9, dtype=BF16)), "output_size": (3, 4)},
            "offset": lambda d: {"input": offset(d.normal(3, 2, 13, 11)), "output_size": (5, 11)},
            "outliers": lambda d: {"input": d.outliers(2, 5, 8, 9, factor=30), "output_size": (3, 2)},
        }),
        timed(lambda d, *shape: {"input": d.normal(*shape), "output_size": 7},
              ((8, 64, 14, 14), (32, 256, 28, 28), (32, 512, 56, 56), (64, 512, 56, 56))),
        Contract(close()),
        honest=rounded_once(fused_sigmoid_adaptive_avg_pool2d),
        magnitude=sigmoid_sums,
        wrong={"sigmoid first": sigmoid_first, "windows side by side": without_overlap},
    ),
    Task(
        "kernelbench_x/fused_pairwise_distance_adaptive_avg_pool2d",
        "Fusion",
        "fused",
        fused_pairwise_distance_adaptive_avg_pool2d,
        shown({
            "fp32": lambda d: images(d, 5, 3, 11, 13, output_size=5),
            "fp16": lambda d: images(d, 23, 2, 5, 4, dtype=FP16, output_size=(2, 3), keepdim=True),
            "bf16": lambda d: images(d, 19, 3, 7, 6, dtype=BF16, output_size=(7, 5), eps=0.25),
            "manhattan": lambda d: images(d, 5, 3, 6, 7, output_size=(3, 2), p=1.0),
            "largest": lambda d: images(d, 5, 3, 6, 7, output_size=4, p=float("inf"), keepdim=True),
            "cubes": lambda d: images(d, 4, 2, 9, 5, output_size=(2, 5), p=3.0, eps=1.0),
            "two-sizes": lambda d: {"x1": d.normal(4, 3, 9, 7), "x2": d.normal(4, 3, 5, 12), "output_size": (3, 4)},
            "transposed": lambda d: {"x1": transposed(d.normal(3, 3, 8, 9)), "x2": d.normal(3, 3, 8, 9), "output_size": 3},
            "large": lambda d: images(d, 5, 3, 8, 7, scale=1e6, output_size=2),
            "small": lambda d: images(d, 5, 3, 8, 7, scale=1e-5, output_size=2, eps=1e-5),
        }) + hidden({
            "strided-bf16": lambda d: images(d, 17, 2, 5, 7, dtype=BF16, output_size=(2, 3))
            | {"x2": strided(d.normal(17, 2, 5, 7, dtype=BF16))},
            "offset-copies": lambda d: images(d, 3, 2, 13, 11, output_size=(13, 11), p=1.5) | {"x1": offset(d.normal(3, 2, 13, 11))},
            "outliers": lambda d: images(d, 4, 5, 8, 9, output_size=1) | {"x1": d.outliers(4, 5, 8, 9)},
        }),
        timed(lambda d, *shape: images(d, *shape, output_size=8),
              ((16, 3, 16, 16), (16, 64, 64, 64), (64, 64, 128, 64), (64, 64, 128, 128))),
        Contract(close(), notes=("`eps` is added to the distance, not to the differences.",)),
        honest=rounded_once(fused_pairwise_distance_adaptive_avg_pool2d),
        magnitude=distance_sums,
        wrong={"eps inside": eps_inside},
    ),
)  # fmt: skip
