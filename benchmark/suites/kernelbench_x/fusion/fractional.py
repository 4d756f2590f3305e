"""Fusion of KernelBench-X: max pooling over pseudo-random windows."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import fractional
from benchmark.draw import Draw, offset, strided, transposed
from benchmark.suites.kernelbench_x._honest import rounded_once
from benchmark.task import Arguments, Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16


def fused_fractional_max_pool2d_with_relu(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: tuple[float, float] | None = None,
    return_indices: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """Fractional max pooling of `max(0, input)`, (N, C, H, W) or (C, H, W), to `output_size`, a number or a pair (rows, columns), or
    else to `int(H * output_ratio[0])` rows and `int(W * output_ratio[1])` columns. `kernel_size` is a number or a pair too. For
    each plane and each axis a u is drawn uniformly from [0, 1). With n results along an axis of length L and a window of k, alpha
    is `(L - k) / (n - 1)`; window i < n - 1 begins at `int((i + u) * alpha) - int(u * alpha)`, the last one at `L - k`. With
    `return_indices` the result is a pair: the maxima, and as int64 `row * W + column` of an element of the window at which
    `max(0, input)` has the maximum."""
    values, places = functional.fractional_max_pool2d_with_indices(functional.relu(input), kernel_size, output_size, output_ratio)
    return (values, places) if return_indices else values


def pooled_with(
    u: Any, input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False
) -> Any:
    """With `u(planes)` in place of what is drawn."""
    planes = input if input.dim() == 4 else input[None]
    samples = u(torch.rand(*planes.shape[:2], 2, device=input.device)).to(input.dtype)
    pooled = functional.fractional_max_pool2d_with_indices(functional.relu(planes), kernel_size, output_size, output_ratio, False, samples)
    parts = pooled if input.dim() == 4 else [part[0] for part in pooled]
    return tuple(parts) if return_indices else parts[0]


def always_the_same(**arguments: Any) -> Any:
    return pooled_with(torch.zeros_like, **arguments)


def one_for_all_planes(**arguments: Any) -> Any:
    return pooled_with(lambda drawn: drawn[:1, :1].expand_as(drawn), **arguments)


def one_for_both_axes(**arguments: Any) -> Any:
    return pooled_with(lambda drawn: drawn[..., :1].expand_as(drawn), **arguments)


def of_absolute_values(input: Tensor, **rest: Any) -> Any:
    return fused_fractional_max_pool2d_with_relu(input.abs(), **rest)


def adaptive(input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False) -> Any:
    """Windows that adaptive pooling takes."""
    shape = fused_fractional_max_pool2d_with_relu(input, kernel_size, output_size, output_ratio).shape[-2:]  # type: ignore[union-attr]
    pooled = functional.adaptive_max_pool2d(functional.relu(input.float()), shape, return_indices)  # type: ignore[call-overload]
    return (pooled[0].to(input.dtype), pooled[1]) if return_indices else pooled.to(input.dtype)


def planes(d: Draw, *shape: int, dtype: torch.dtype = torch.float32, scale: float = 1.0, **options: Any) -> Arguments:
    return {"input": d.normal(*shape, dtype=dtype, scale=scale)} | options


def plateaus(d: Draw, *shape: int) -> Tensor:
    """Few different values, so that maxima occur many times."""
    return (d.ties(*shape, levels=5) - 1) * 1.2345678


TASKS = (
    Task(
        "kernelbench_x/fused_fractional_max_pool2d_with_relu",
        "Fusion",
        "fused",
        fused_fractional_max_pool2d_with_relu,
        shown({
            "fp32": lambda d: planes(d, 8, 19, 13, 11, kernel_size=2, output_size=(6, 5)),
            "fp16": lambda d: planes(d, 5, 9, 11, 9, dtype=FP16, kernel_size=(3, 2), output_size=(4, 4)),
            "bf16-ratio": lambda d: planes(d, 6, 7, 11, 10, dtype=BF16, kernel_size=2, output_ratio=(0.5, 0.4)),
            "indices": lambda d: planes(d, 5, 8, 9, 10, kernel_size=2, output_size=5, return_indices=True),
            "ratios-indices": lambda d: planes(d, 4, 11, 10, 9, kernel_size=(2, 3), output_ratio=(0.55, 0.45), return_indices=True),
            "three-axes": lambda d: planes(d, 41, 9, 8, kernel_size=2, output_size=(4, 3)),
            "transposed": lambda d: {"input": transposed(d.normal(4, 9, 8, 11)), "kernel_size": 2, "output_size": 4},
            "plateaus": lambda d: {"input": plateaus(d, 4, 9, 10, 11), "kernel_size": 3, "output_size": 4, "return_indices": True},
            "one-window": lambda d: planes(d, 3, 5, 5, 6, scale=1e4, kernel_size=(5, 4), output_size=1, return_indices=True),
            "every-element": lambda d: planes(d, 3, 2, 7, 5, scale=1e-4, kernel_size=1, output_size=(7, 5)),
        }) + hidden({
            "strided-bf16": lambda d: {"input": strided(d.normal(4, 10, 9, 9, dtype=BF16)), "kernel_size": 2, "output_size": (3, 5)},
            "offset-indices": lambda d: {
                "input": offset(d.normal(7, 6, 10, 11)), "kernel_size": (3, 2), "output_size": (5, 6), "return_indices": True
            },
            "outliers": lambda d: {"input": d.outliers(5, 9, 11, 8), "kernel_size": 2, "output_ratio": (0.6, 0.6)},
        }),
        timed(lambda d, n, c, side: planes(d, n, c, side, side, kernel_size=2, output_size=side // 2 - 1),
              ((8, 16, 16), (16, 64, 32), (64, 128, 32), (64, 128, 64))),
        Contract(fractional(), random=True),
        honest=rounded_once(fused_fractional_max_pool2d_with_relu),
        truth=lambda input, **_: functional.relu(input),
        wrong={
            "always the same": always_the_same, "one u for all planes": one_for_all_planes, "one u for both axes": one_for_both_axes,
            "absolute values": of_absolute_values, "adaptive windows": adaptive,
        },
    ),
)  # fmt: skip
