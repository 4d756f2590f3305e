"""Fusion of KernelBench-X: what moves elements, and a pointwise step or a softmax behind it."""

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close, exact
from benchmark.draw import Draw, offset, strided, transposed, without
from benchmark.suites.kernelbench_x._honest import ONCE, rounded_once
from benchmark.suites.kernelbench_x._out import into, nothing
from benchmark.task import Arguments, Contract, Task, hidden, shown, timed

FP16, BF16, FP32, FP64 = torch.float16, torch.bfloat16, torch.float32, torch.float64
INT32, INT64 = torch.int32, torch.int64


def fused_gather_masked_fill(
    input: Tensor, dim: int, index: Tensor, mask: Tensor, value: float, *, sparse_grad: bool = False, out: Tensor | None = None
) -> Tensor:
    """`torch.gather(input, dim, index)` with `value` wherever `mask` is true.

    The result has the shape of `index`, and its element at a place is the element of `input` at the same place, but for axis `dim`,
    where it is at the index. `index` (int64) has as many axes as `input`, and is no longer than it along the others. The boolean
    `mask` broadcasts to the shape of the result. `sparse_grad` speaks of gradients alone. With `out` the result is written there."""
    return into(torch.gather(input, dim, index, sparse_grad=sparse_grad).masked_fill(mask, value), out)


def fused_index_select_eq(input: Tensor, dim: int, index: Tensor, other: Tensor | float, *, out: Tensor | None = None) -> Tensor:
    """Boolean: `torch.index_select(input, dim, index) == other`, element by element.

    The slices of `input` at the numbers in `index` (one axis, int64 or int32) are taken along `dim`; `other` broadcasts against them,
    or is a number. NaN equals nothing, 0 equals -0. With `out` (boolean) the result is written there."""
    return into(torch.eq(torch.index_select(input, dim, index), other), out)


def fused_masked_select_add_gelu(
    input: Tensor, mask: Tensor, other: Tensor | float, *, alpha: float = 1, approximate: str = "none", out: Tensor | None = None
) -> Tensor:
    """`gelu(selected + alpha * other)`, where `selected` are the elements of `input` at which `mask` is true, in row-major order, as
    one axis; its length is their number.

    `input` and the boolean `mask` broadcast against each other first; `other` is a number, or a tensor that broadcasts against
    `selected`. GELU is `x * Phi(x)` with the Gaussian distribution function (`approximate="none"`, through erf), or
    `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))` (`approximate="tanh"`). With `out` the result is written there."""
    selected = torch.masked_select(input, mask)
    return into(functional.gelu(torch.add(selected, other, alpha=alpha), approximate=approximate), out)


def unordered_select(
    input: Tensor, mask: Tensor, other: Tensor | float, *, alpha: float = 1, approximate: str = "none", out: Tensor | None = None
) -> Tensor:
    """Column by column."""
    input, mask = torch.broadcast_tensors(input, mask)
    return fused_masked_select_add_gelu(
        input.movedim(-1, 0).contiguous(), mask.movedim(-1, 0).contiguous(), other, alpha=alpha, approximate=approximate, out=out
    )


def fused_embedding_add_tanh(
    input_indices: Tensor, weight: Tensor, other: Tensor, *, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """`tanh(weight[input_indices] + other)`: each index (int64 or int32, any shape) is replaced by its row of `weight` (rows, width),
    and `other` broadcasts against that.

    With `max_norm` the rows of `weight` that are looked up are first renormalised in place: where the `norm_type`-norm
    `sum(|w|**norm_type)**(1 / norm_type)` of such a row is above `max_norm`, the row is multiplied once by
    `max_norm / (norm + 1e-7)`, however often it is looked up; other rows stay as they are. `padding_idx`, `scale_grad_by_freq` and
    `sparse` speak of gradients alone. With `out` the result is written there."""
    rows = functional.embedding(input_indices, weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
    return into(torch.tanh(rows + other), out)


def zero_padding(input_indices: Tensor, weight: Tensor, other: Tensor, *, padding_idx: int | None = None, **rest: Any) -> Tensor:
    if padding_idx is not None:
        weight = without(weight, 0, padding_idx)
    return fused_embedding_add_tanh(input_indices, weight, other, **rest)


def some(draw: Draw, count: int, *shape: int) -> Tensor:
    """A mask with exactly `count` true elements, so that what is selected has a length that no seed changes."""
    return (draw.uniform(math.prod(shape)).argsort() < count).reshape(shape)


def neighbours(draw: Draw, rows: int, columns: int, dtype: torch.dtype = FP32) -> Arguments:
    """Half of the elements differ by a single rounding."""
    values, index = draw.normal(rows, columns, dtype=dtype), draw.integers(0, rows, 2 * rows)
    selected = values[index]
    moved = selected * (1 + 2 * torch.finfo(dtype).eps)
    return {"input": values, "dim": 0, "index": index, "other": torch.where(draw.uniform(2 * rows, columns) < 0.5, selected, moved)}


def gather_rows(draw: Draw, m: int, n: int) -> Arguments:
    return {
        "input": draw.normal(m, n), "dim": 1, "index": draw.integers(0, n, m, n), "mask": draw.uniform(m, n) < 0.3, "value": 0.5
    }  # fmt: skip


def embed(draw: Draw, rows: int, width: int) -> Arguments:
    return {
        "input_indices": draw.integers(0, 1024, 4, rows // 4), "weight": draw.normal(1024, width), "other": draw.normal(4, rows // 4, width)
    }  # fmt: skip


TASKS = (
    Task(
        "kernelbench_x/fused_gather_masked_fill",
        "Fusion",
        "fused",
        fused_gather_masked_fill,
        shown({
            "fp32": lambda d: {
                "input": d.normal(17, 129), "dim": 1, "index": d.integers(0, 129, 17, 129), "mask": d.uniform(17, 129) < 0.3, "value": 0.5
            },
            "axis-0": lambda d: {
                "input": d.normal(61, 23), "dim": 0, "index": d.integers(0, 61, 31, 23), "mask": d.uniform(31, 23) < 0.5, "value": -1.25
            },
            "fp16": lambda d: {
                "input": d.normal(13, 67, dtype=FP16), "dim": -1, "index": d.integers(0, 67, 13, 5), "mask": d.uniform(5) < 0.5, "value": 2,
                "sparse_grad": True,
            },
            "bf16-columns": lambda d: {
                "input": d.normal(19, 31, dtype=BF16), "dim": 1, "index": d.integers(0, 31, 11, 43), "mask": d.uniform(11, 1) < 0.4,
                "value": 0.0,
            },
            "int64": lambda d: {
                "input": d.integers(-9999, 9999, 23, 41), "dim": 0, "index": d.integers(0, 23, 7, 41), "mask": d.uniform(7, 41) < 0.3,
                "value": -7,
            },
            "infinite": lambda d: {
                "input": d.normal(11, 37), "dim": 1, "index": d.integers(0, 37, 11, 61), "mask": d.uniform(11, 61) < 0.3, "value": -math.inf
            },
            "cube": lambda d: {
                "input": d.normal(5, 11, 13), "dim": 1, "index": d.integers(0, 11, 3, 17, 13), "mask": d.uniform(17, 1) < 0.5, "value": 1.0
            },
            "transposed": lambda d: {
                "input": transposed(d.normal(29, 43)), "dim": 1, "index": transposed(d.integers(0, 43, 29, 19)),
                "mask": transposed(d.uniform(29, 19) < 0.3), "value": 3.5,
            },
            "out": lambda d: {
                "input": d.normal(7, 83), "dim": 1, "index": d.integers(0, 83, 7, 29), "mask": d.uniform(7, 29) < 0.3, "value": 0.5,
                "out": nothing(d, 7, 29),
            },
            "empty": lambda d: {
                "input": d.normal(5, 7), "dim": 1, "index": d.integers(0, 7, 5, 0), "mask": d.uniform(5, 1) < 0.5, "value": 0.5
            },
        }) + hidden({
            "middle": lambda d: {
                "input": offset(d.normal(2, 23, 11)), "dim": 1, "index": d.integers(0, 23, 2, 37, 11), "mask": d.uniform(2, 1, 1) < 0.5,
                "value": -0.5,
            },
            "strided-bf16": lambda d: {
                "input": strided(d.normal(13, 67, dtype=BF16)), "dim": 1, "index": strided(d.integers(0, 67, 13, 33)),
                "mask": d.uniform(13, 33) < 0.2, "value": 100.0,
            },
            "vector": lambda d: {
                "input": d.outliers(509), "dim": 0, "index": d.integers(0, 509, 1021), "mask": d.uniform(1021) < 0.1, "value": math.nan
            },
        }),
        timed(gather_rows, ((32, 1024), (256, 1024), (1024, 4096), (4096, 4096))),
        Contract(exact(), mutates=("out",)),
        wrong={
            "the mask turned around": lambda input, dim, index, mask, value, *, sparse_grad=False, out=None: (
                fused_gather_masked_fill(input, dim, index, ~mask, value, out=out)
            ),
            "filled before it is gathered": lambda input, dim, index, mask, value, *, sparse_grad=False, out=None: (
                into(torch.gather(input.clone().masked_fill_(input < 0, value), dim, index), out)
            ),
        },
    ),
    Task(
        "kernelbench_x/fused_index_select_eq",
        "Fusion",
        "fused",
        fused_index_select_eq,
        shown({
            "fp32": lambda d: {"input": d.ties(31, 67), "dim": 0, "index": d.integers(0, 31, 19), "other": 2.0},
            "columns": lambda d: {"input": d.ties(17, 129), "dim": 1, "index": d.integers(0, 129, 61), "other": d.ties(17, 61)},
            "next-number": lambda d: neighbours(d, 41, 19),
            "next-fp16": lambda d: neighbours(d, 13, 67, dtype=FP16),
            "next-bf16": lambda d: neighbours(d, 23, 31, dtype=BF16),
            "int64": lambda d: {"input": d.integers(-3, 3, 23, 41), "dim": 0, "index": d.integers(0, 23, 7), "other": -1},
            "int32-index": lambda d: {
                "input": d.ties(29, 31), "dim": 1, "index": d.integers(0, 31, 43, dtype=INT32), "other": d.ties(29, 1)
            },
            "special": lambda d: {
                "input": d.ties(11, 37).masked_fill(d.uniform(11, 37) < 0.3, math.nan) * -0.0, "dim": 0, "index": d.integers(0, 11, 23),
                "other": 0.0,
            },
            "transposed": lambda d: {
                "input": transposed(d.ties(29, 43)), "dim": 0, "index": d.integers(0, 29, 17), "other": transposed(d.ties(17, 43))
            },
            "out": lambda d: {
                "input": d.ties(7, 83), "dim": 1, "index": d.integers(0, 83, 31), "other": 1.0, "out": d.uniform(7, 31, low=2, high=2) > 1
            },
            "nothing-selected": lambda d: {"input": d.ties(5, 7), "dim": 0, "index": d.integers(0, 5, 0), "other": d.ties(7)},
        }) + hidden({
            "cube": lambda d: {"input": offset(d.ties(5, 23, 11)), "dim": 1, "index": d.integers(0, 23, 37), "other": d.ties(5, 1, 11)},
            "strided-int64": lambda d: {
                "input": strided(d.integers(0, 3, 13, 67)), "dim": 1, "index": strided(d.integers(0, 67, 19)),
                "other": d.integers(0, 3, 13, 19),
            },
            "vector": lambda d: {"input": d.ties(509), "dim": 0, "index": d.integers(0, 509, 1021), "other": d.ties(1021)},
        }),
        timed(
            lambda d, m, n: {"input": d.ties(8 * m, n), "dim": 0, "index": d.integers(0, 8 * m, m), "other": 2.0},
            ((64, 128), (1024, 128), (16384, 128), (131072, 128)),
        ),
        Contract(exact(), mutates=("out",)),
        wrong={
            "the slices in order": lambda input, dim, index, other, *, out=None: (
                fused_index_select_eq(input, dim, index.sort().values, other, out=out)
            ),
            "unequal": lambda input, dim, index, other, *, out=None: into(torch.index_select(input, dim, index) != other, out),
        },
    ),
    Task(
        "kernelbench_x/fused_masked_select_add_gelu",
        "Fusion",
        "fused",
        fused_masked_select_add_gelu,
        shown({
            "fp32": lambda d: {"input": d.normal(4099), "mask": some(d, 2087, 4099), "other": 0.5},
            "rows": lambda d: {"input": d.normal(31, 67), "mask": some(d, 1009, 31, 67), "other": d.normal(1009), "alpha": -2},
            "fp16-tanh": lambda d: {
                "input": d.normal(13, 67, dtype=FP16), "mask": some(d, 431, 13, 67), "other": -0.25, "approximate": "tanh"
            },
            "bf16": lambda d: {
                "input": d.normal(997, dtype=BF16), "mask": some(d, 300, 997), "other": d.normal(300, dtype=BF16), "alpha": 0.5
            },
            "mask-of-columns": lambda d: {"input": d.normal(23, 41), "mask": some(d, 17, 41), "other": d.normal(1), "approximate": "tanh"},
            "transposed": lambda d: {"input": transposed(d.normal(29, 43)), "mask": some(d, 500, 29, 43), "other": 1.5, "alpha": 3},
            "all": lambda d: {"input": d.normal(7, 83), "mask": some(d, 581, 7, 83), "other": d.normal(581)},
            "few": lambda d: {"input": d.normal(2053), "mask": some(d, 3, 2053), "other": d.normal(3)},
            "none": lambda d: {"input": d.normal(11, 37), "mask": some(d, 0, 11, 37), "other": 1.0},
            "out": lambda d: {"input": d.normal(17, 61), "mask": some(d, 400, 17, 61), "other": 0.5, "out": nothing(d, 400)},
        }) + hidden({
            "column-of-masks": lambda d: {"input": offset(d.normal(19, 53)), "mask": some(d, 9, 19, 1), "other": d.normal(477)},
            "strided-bf16": lambda d: {
                "input": strided(d.normal(13, 97, dtype=BF16)), "mask": strided(some(d, 600, 13, 97)), "other": 2.0, "approximate": "tanh"
            },
            "large": lambda d: {"input": d.normal(5, 7, 31, scale=1e4), "mask": some(d, 1000, 5, 7, 31), "other": d.outliers(1000)},
        }),
        timed(lambda d, n: {"input": d.normal(n), "mask": some(d, n // 2, n),
        "other": 0.5}, ((1 << 12,), (1 << 18,), (1 << 22,), (1 << 24,))),
        Contract(close(), mutates=("out",), notes=(ONCE, "The length of the result depends on the values of `mask`.")),
        honest=rounded_once(fused_masked_select_add_gelu),
        wrong={
            "column by column": unordered_select,
            "alpha left out": lambda input, mask, other, *, alpha=1, approximate="none", out=None: (
                fused_masked_select_add_gelu(input, mask, other, approximate=approximate, out=out)
            ),
        },
    ),
    Task(
        "kernelbench_x/fused_embedding_add_tanh",
        "Fusion",
        "fused",
        fused_embedding_add_tanh,
        shown({
            "fp32": lambda d: {"input_indices": d.integers(0, 31, 4, 17), "weight": d.normal(31, 43), "other": d.normal(4, 17, 43)},
            "row": lambda d: {"input_indices": d.integers(0, 67, 53), "weight": d.normal(67, 29), "other": d.normal(29)},
            "fp16": lambda d: {
                "input_indices": d.integers(0, 19, 23), "weight": d.normal(19, 61, dtype=FP16), "other": d.normal(23, 1, dtype=FP16)
            },
            "bf16-padding": lambda d: {
                "input_indices": d.integers(0, 7, 3, 11), "weight": d.normal(7, 37, dtype=BF16), "other": d.normal(3, 11, 37, dtype=BF16),
                "padding_idx": 2, "scale_grad_by_freq": True, "sparse": True,
            },
            "renormalised": lambda d: {
                "input_indices": d.integers(0, 23, 3, 5), "weight": d.normal(23, 41), "other": d.normal(3, 5, 41), "max_norm": 6.0
            },
            "renormalised-by-sums": lambda d: {
                "input_indices": d.integers(0, 13, 31), "weight": d.normal(13, 17), "other": d.normal(31, 17), "max_norm": 12.0,
                "norm_type": 1.0,
            },
            "int32": lambda d: {
                "input_indices": d.integers(0, 43, 5, 7, dtype=INT32), "weight": d.normal(43, 19, scale=3), "other": d.normal(5, 7, 19)
            },
            "transposed": lambda d: {
                "input_indices": transposed(d.integers(0, 31, 11, 7)), "weight": transposed(d.normal(31, 13)), "other": d.normal(11, 7, 13)
            },
            "out": lambda d: {
                "input_indices": d.integers(0, 17, 2, 13), "weight": d.normal(17, 31), "other": d.normal(31), "out": nothing(d, 2, 13, 31)
            },
            "empty": lambda d: {"input_indices": d.integers(0, 5, 0), "weight": d.normal(5, 7), "other": d.normal(7)},
        }) + hidden({
            "small": lambda d: {
                "input_indices": d.integers(0, 11, 2, 3, 5), "weight": d.normal(11, 67, scale=1e-3),
                "other": offset(d.normal(3, 1, 67, scale=1e-3)),
            },
            "strided-bf16": lambda d: {
                "input_indices": strided(d.integers(0, 29, 37)), "weight": strided(d.normal(29, 19, dtype=BF16)),
                "other": d.normal(19, dtype=BF16),
            },
            "renormalised-repeats": lambda d: {
                "input_indices": d.integers(0, 3, 47), "weight": d.normal(11, 23, scale=2), "other": d.normal(47, 1), "max_norm": 1.0
            },
        }),
        timed(embed, ((32, 64), (1024, 256), (16384, 512), (65536, 512))),
        Contract(close(), mutates=("out", "weight if max_norm"), notes=(ONCE,)),
        honest=rounded_once(fused_embedding_add_tanh),
        wrong={
            "the padding row is zero": zero_padding,
            "weight left as it was": lambda input_indices, weight, other, *, out=None, **rest: (
                fused_embedding_add_tanh(input_indices, weight.clone(), other, out=out, **rest)
            ),
            "added after tanh": lambda input_indices, weight, other, *, out=None, **rest: (
                into(torch.tanh(functional.embedding(input_indices, weight)) + other, out)
            ),
        },
    ),
)  # fmt: skip
