"""Pooling of KernelBench-X."""

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close
from benchmark.draw import offset, strided, transposed
from benchmark.task import Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16


def adaptive_avg_pool2d(input: Tensor, output_size: int | tuple[int | None, int | None]) -> Tensor:
    """Means over windows of the last two axes of `input` (N, C, H, W) or (C, H, W), so that the result has `output_size` (height,
    width); a number stands for both, and None keeps the input's size. Row y of the result is the mean over the rows
    floor(y * H / height) .. ceil((y + 1) * H / height) - 1, columns likewise: windows may overlap and differ in size."""
    return functional.adaptive_avg_pool2d(input, output_size)


def avg_pool1d(input: Tensor, kernel_size: int, stride: int | None = None, padding: int = 0) -> Tensor:
    """Means over windows of `kernel_size` along the last axis of `input` (N, C, L) or (C, L), one every `stride` (None: the kernel
    size). `padding` zeros stand at both ends; they count, so that every sum is divided by `kernel_size`. The result has length
    (L + 2 * padding - kernel_size) // stride + 1."""
    return functional.avg_pool1d(input, kernel_size, _step(kernel_size, stride), padding)


def _step(kernel_size: int, stride: int | None) -> int:
    return kernel_size if stride is None else stride


def adaptive_terms(input: Tensor, output_size: int | tuple[int | None, int | None]) -> Tensor:
    return functional.adaptive_avg_pool2d(input.abs(), output_size)


def windows_without_overlap(input: Tensor, output_size: int | tuple[int | None, int | None]) -> Tensor:
    """Windows of equal size, as if the sizes divided each other: the last rows and columns are lost."""
    sizes = (output_size,) * 2 if isinstance(output_size, int) else output_size
    shape = [own if wanted is None else wanted for own, wanted in zip(input.shape[-2:], sizes, strict=True)]
    rows, columns = (
        torch.arange(wanted, device=input.device) * max(1, own // wanted) for own, wanted in zip(input.shape[-2:], shape, strict=True)
    )
    means = functional.avg_pool2d(input, [max(1, own // wanted) for own, wanted in zip(input.shape[-2:], shape, strict=True)], 1)
    return means[..., rows.clamp(max=means.shape[-2] - 1), :][..., columns.clamp(max=means.shape[-1] - 1)]


def padding_not_counted(input: Tensor, kernel_size: int, stride: int | None = None, padding: int = 0) -> Tensor:
    counts = functional.avg_pool1d(torch.ones_like(input), kernel_size, _step(kernel_size, stride), padding)
    return functional.avg_pool1d(input, kernel_size, _step(kernel_size, stride), padding) / counts


def pool_terms(input: Tensor, kernel_size: int, stride: int | None = None, padding: int = 0) -> Tensor:
    return functional.avg_pool1d(input.abs(), kernel_size, _step(kernel_size, stride), padding)


TASKS = (
    Task(
        "kernelbench_x/adaptive_avg_pool2d",
        "Pooling",
        "torch.nn.functional",
        adaptive_avg_pool2d,
        shown({
            "fp32": lambda d: {"input": d.normal(2, 5, 17, 13), "output_size": 5},
            "fp16": lambda d: {"input": d.normal(2, 4, 16, 16, dtype=FP16), "output_size": (4, 8)},
            "bf16": lambda d: {"input": d.normal(3, 3, 11, 19, dtype=BF16), "output_size": (7, 3)},
            "image": lambda d: {"input": d.normal(7, 8, 9), "output_size": (5, 7)},
            "global": lambda d: {"input": d.normal(2, 7, 23, 11, shift=2), "output_size": 1},
            "kept": lambda d: {"input": d.normal(2, 3, 7, 29), "output_size": (None, 7)},
            "larger": lambda d: {"input": d.normal(1, 3, 5, 4), "output_size": (11, 9)},
            "transposed": lambda d: {"input": transposed(d.normal(2, 3, 19, 11)), "output_size": (4, 5)},
            "nan": lambda d: {
                "input": d.normal(1, 5, 13, 12).masked_fill(d.uniform(1, 5, 13, 12) < 0.01, float("nan")), "output_size": (6, 5)
            },
            "empty": lambda d: {"input": d.normal(0, 3, 7, 5), "output_size": 2},
        }) + hidden({
            "outliers": lambda d: {"input": d.outliers(2, 3, 19, 23), "output_size": (3, 11)},
            "strided-bf16": lambda d: {"input": strided(d.normal(2, 3, 13, 17, dtype=BF16)), "output_size": (6, None)},
            "large-offset": lambda d: {"input": offset(d.normal(5, 31, 7, scale=1e4)), "output_size": (7, 2)},
        }),
        timed(
            lambda d, n, c, side, out: {"input": d.normal(n, c, side, side), "output_size": out},
            ((1, 3, 64, 7), (8, 64, 56, 7), (16, 256, 64, 16), (32, 512, 56, 7)),
        ),
        Contract(close()),
        magnitude=adaptive_terms,
        wrong={"equal windows": windows_without_overlap},
    ),
    Task(
        "kernelbench_x/avg_pool1d",
        "Pooling",
        "torch.nn.functional",
        avg_pool1d,
        shown({
            "fp32": lambda d: {"input": d.normal(2, 5, 131), "kernel_size": 3},
            "fp16": lambda d: {"input": d.normal(2, 8, 128, dtype=FP16), "kernel_size": 4, "stride": 2},
            "bf16": lambda d: {"input": d.normal(3, 7, 61, dtype=BF16), "kernel_size": 5, "padding": 2},
            "same": lambda d: {"input": d.normal(2, 4, 97), "kernel_size": 3, "stride": 1, "padding": 1},
            "sequence": lambda d: {"input": d.normal(11, 89), "kernel_size": 7, "stride": 3},
            "gaps": lambda d: {"input": d.normal(2, 3, 101), "kernel_size": 2, "stride": 5},
            "whole": lambda d: {"input": d.normal(3, 5, 37, shift=3), "kernel_size": 37},
            "transposed": lambda d: {"input": transposed(d.normal(2, 13, 43)), "kernel_size": 4, "padding": 1},
            "nan": lambda d: {"input": d.normal(2, 3, 101).masked_fill(d.uniform(2, 3, 101) < 0.02, float("nan")), "kernel_size": 3},
            "empty": lambda d: {"input": d.normal(0, 3, 17), "kernel_size": 2},
        }) + hidden({
            "outliers": lambda d: {"input": d.outliers(2, 5, 211), "kernel_size": 8, "stride": 3, "padding": 4},
            "strided-bf16": lambda d: {"input": strided(d.normal(3, 5, 67, dtype=BF16)), "kernel_size": 6},
            "offset-large": lambda d: {"input": offset(d.normal(2, 7, 83, scale=1e5)), "kernel_size": 9, "stride": 2, "padding": 3},
        }),
        timed(
            lambda d, n, c, length: {"input": d.normal(n, c, length), "kernel_size": 4, "stride": 2, "padding": 1},
            ((2, 8, 512), (4, 64, 4096), (16, 128, 8192), (32, 256, 4096)),
        ),
        Contract(close(), notes=("Zeros of the padding count in the mean.",)),
        magnitude=pool_terms,
        wrong={
            "padding not counted": padding_not_counted,
            "stride ignored": lambda **a: avg_pool1d(**a | {"stride": None}),
        },
    ),
)  # fmt: skip
