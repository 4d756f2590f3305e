"""Fusion of KernelBench-X: elements repeated or put side by side, and what follows."""

from collections.abc import Sequence

import torch
from torch import Tensor

from benchmark.checkers import close, quotients
from benchmark.draw import Draw, offset, strided, transposed
from benchmark.sizes import ROWS
from benchmark.suites.kernelbench_x._honest import ONCE, rounded_once
from benchmark.suites.kernelbench_x._out import into, nothing
from benchmark.task import Contract, Task, hidden, shown, timed

FP16, BF16, FP32, FP64 = torch.float16, torch.bfloat16, torch.float32, torch.float64


def fused_tile_exp(input: Tensor, dims: tuple[int, ...], *, out: Tensor | None = None) -> Tensor:
    """`exp(tile(input, dims))` with the semantics of torch.tile: axis i of the result is axis i of `input` repeated `dims[i]`
    times, as a whole. The shorter of `dims` and `input.shape` is preceded by ones. With `out` the result is written there."""
    return into(torch.exp(torch.tile(input, dims)), out)


def fused_repeat_interleave_log_softmax(
    input: Tensor, repeats: int | Tensor, dim: int | None = None, *, output_size: int | None = None,
    dtype: torch.dtype | None = None, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """`log_softmax` along `dim` of `torch.repeat_interleave(input, repeats, dim)`, stable for large values.

    Each slice along `dim` is repeated right behind itself: `repeats` times, or, where `repeats` is a tensor with a count for each slice,
    as often as that says (0 leaves it out). For a `dim` of None the input is flattened first, and the result has one axis.
    `output_size`, where given, is the length of the axis that results. With `dtype` the input is converted to it first, and the
    result has it. With `out` the result is written there."""
    values = input if dtype is None else input.to(dtype)
    repeated = torch.repeat_interleave(values, repeats, dim, output_size=output_size)
    return into(torch.log_softmax(repeated, 0 if dim is None else dim), out)


def repeat_terms(
    input: Tensor, repeats: int | Tensor, dim: int | None = None, *, output_size: int | None = None,
    dtype: torch.dtype | None = None, out: Tensor | None = None,
) -> Tensor:  # fmt: skip
    repeated = torch.repeat_interleave(input, repeats, dim, output_size=output_size)
    return repeated.abs() + repeated.amax(0 if dim is None else dim, keepdim=True).abs()


def fused_hstack_div(
    tensors: Sequence[Tensor], divisor: Tensor | float, *, rounding_mode: str | None = None, out: Tensor | None = None
) -> Tensor:
    """The tensors side by side (as in torch.hstack: along axis 1, or axis 0 where they have one axis alone), divided by `divisor`, a
    number or a tensor that broadcasts against them.

    `rounding_mode` is None, "trunc" (towards zero) or "floor" (down): the quotient is then rounded to a whole number. With `out` the
    result is written there."""
    return into(torch.div(torch.hstack(list(tensors)), divisor, rounding_mode=rounding_mode), out)


def tensor_hstack_div(
    tensors: Sequence[Tensor], divisor: Tensor | float, *, rounding_mode: str | None = None, out: Tensor | None = None
) -> Tensor:
    """On a GPU torch multiplies by the reciprocal of a Python number, which is wrong for whole quotients; not so for tensors."""
    if not isinstance(divisor, Tensor):
        divisor = torch.tensor(divisor, dtype=tensors[0].dtype, device=tensors[0].device)
    return fused_hstack_div(tensors, divisor, rounding_mode=rounding_mode, out=out)


def quotient_hstack_div(
    tensors: Sequence[Tensor], divisor: Tensor | float, *, rounding_mode: str | None = None, out: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    return tensor_hstack_div(tensors, divisor, rounding_mode=rounding_mode), tensor_hstack_div(tensors, divisor)


def other_rounding(
    tensors: Sequence[Tensor], divisor: Tensor | float, *, rounding_mode: str | None = None, out: Tensor | None = None
) -> Tensor:
    other = {"trunc": "floor", "floor": "trunc", None: None}[rounding_mode]
    return fused_hstack_div(tensors, divisor, rounding_mode=other, out=out)


def stacked_on_top(
    tensors: Sequence[Tensor], divisor: Tensor | float, *, rounding_mode: str | None = None, out: Tensor | None = None
) -> Tensor:
    rows = torch.cat([tensor.reshape(-1) for tensor in tensors])
    wide = torch.hstack(list(tensors))
    return into(torch.div(rows.reshape(wide.shape), divisor, rounding_mode=rounding_mode), out)


def shuffled(draw: Draw, n: int) -> Tensor:
    """0 .. n - 1 in random order: counts whose sum no seed changes."""
    return draw.uniform(n).argsort()


TASKS = (
    Task(
        "kernelbench_x/fused_tile_exp",
        "Fusion",
        "fused",
        fused_tile_exp,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 31), "dims": (2, 3)},
            "fp16": lambda d: {"input": d.normal(37, 11, dtype=FP16), "dims": (1, 4)},
            "bf16": lambda d: {"input": d.normal(97, dtype=BF16), "dims": (5,)},
            "more-dims": lambda d: {"input": d.normal(29), "dims": (2, 3, 2)},
            "fewer-dims": lambda d: {"input": d.normal(3, 5, 17), "dims": (2,)},
            "transposed": lambda d: {"input": transposed(d.normal(29, 13)), "dims": (3, 2)},
            "out": lambda d: {"input": d.normal(7, 19), "dims": (2, 2), "out": nothing(d, 14, 38)},
            "overflow": lambda d: {"input": d.normal(127).masked_fill(d.uniform(127) < 0.1, 100.0), "dims": (3,)},
            "negative": lambda d: {"input": d.normal(11, 23, shift=-10, scale=0.5), "dims": (2, 1)},
            "nothing": lambda d: {"input": d.normal(5, 3), "dims": (0, 2)},
        }) + hidden({
            "cube": lambda d: {"input": offset(d.normal(3, 5, 7)), "dims": (2, 3, 4)},
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 29, dtype=BF16)), "dims": (1, 2, 2)},
            "once": lambda d: {"input": d.normal(509, scale=3), "dims": (1,)},
        }),
        timed(lambda d, n: {"input": d.normal(n), "dims": (4,)}, ((1 << 10,), (1 << 16,), (1 << 20,), (1 << 23,))),
        Contract(close(), mutates=("out",)),
        wrong={
            "each element repeated": lambda input, dims, *, out=None: into(
                torch.exp(input.repeat_interleave(dims[-1], -1).tile((*dims[:-1], 1))), out
            ),
        },
    ),
    Task(
        "kernelbench_x/fused_repeat_interleave_log_softmax",
        "Fusion",
        "fused",
        fused_repeat_interleave_log_softmax,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 43), "repeats": 3, "dim": 1},
            "fp64": lambda d: {"input": d.normal(13, 31, dtype=FP64), "repeats": 2, "dim": -1},
            "fp16": lambda d: {"input": d.normal(19, 23, dtype=FP16), "repeats": 2, "dim": 0},
            "bf16-flat": lambda d: {"input": d.normal(7, 11, dtype=BF16), "repeats": 5},
            "counts": lambda d: {"input": d.normal(11, 9), "repeats": shuffled(d, 9), "dim": 1, "output_size": 36},
            "flat-counts": lambda d: {"input": d.normal(2, 13), "repeats": shuffled(d, 26), "output_size": 325},
            "wider": lambda d: {"input": d.normal(11, 67, dtype=FP16), "repeats": 4, "dim": 1, "dtype": FP32},
            "integers": lambda d: {"input": d.integers(-20, 20, 13, 29), "repeats": 2, "dim": 0, "dtype": FP32},
            "transposed": lambda d: {"input": transposed(d.normal(23, 37)), "repeats": 2, "dim": 1},
            "large": lambda d: {"input": d.normal(11, 61, scale=50, shift=1e4), "repeats": 3, "dim": -1},
            "out": lambda d: {"input": d.normal(7, 19), "repeats": 2, "dim": 0, "out": nothing(d, 14, 19)},
        }) + hidden({
            "middle": lambda d: {"input": offset(d.normal(2, 23, 11)), "repeats": 2, "dim": 1},
            "strided-bf16": lambda d: {
                "input": strided(d.normal(13, 29, dtype=BF16)), "repeats": shuffled(d, 29), "dim": 1, "output_size": 406
            },
            "once": lambda d: {"input": d.outliers(13, 101), "repeats": 1, "dim": 1},
        }),
        timed(lambda d, m, n: {"input": d.normal(m, n // 4), "repeats": 4, "dim": 1}, ROWS),
        Contract(close(), mutates=("out",), notes=(ONCE,)),
        honest=rounded_once(fused_repeat_interleave_log_softmax),
        magnitude=repeat_terms,
        wrong={
            "each line counted once": lambda input, repeats, dim=None, *, output_size=None, dtype=None, out=None: (
                into(torch.repeat_interleave(
                    torch.log_softmax(input.reshape(-1) if dim is None else input, 0 if dim is None else dim, dtype=dtype),
                    repeats, dim, output_size=output_size,
                ), out)
            ),
        },
    ),
    Task(
        "kernelbench_x/fused_hstack_div",
        "Fusion",
        "fused",
        fused_hstack_div,
        shown({
            "fp32": lambda d: {"tensors": [d.normal(17, 31), d.normal(17, 43)], "divisor": 2.5},
            "vectors": lambda d: {"tensors": [d.normal(1009), d.normal(83), d.normal(1)], "divisor": d.normal(1093)},
            "fp16-row": lambda d: {
                "tensors": [d.normal(13, 29, dtype=FP16), d.normal(13, 38, dtype=FP16)], "divisor": d.normal(67, dtype=FP16)
            },
            "bf16-three": lambda d: {
                "tensors": [d.normal(11, 5, dtype=BF16), d.normal(11, 17, dtype=BF16), d.normal(11, 3, dtype=BF16)], "divisor": -0.75
            },
            "floor": lambda d: {
                "tensors": [d.normal(23, 19, scale=50), d.normal(23, 22, scale=50)], "divisor": d.normal(23, 41), "rounding_mode": "floor"
            },
            "trunc": lambda d: {
                "tensors": [d.normal(29, 13, scale=50), d.normal(29, 18, scale=50)], "divisor": -3.0, "rounding_mode": "trunc"
            },
            "whole": lambda d: {
                "tensors": [d.integers(-99, 99, 31, 7, dtype=FP32), d.integers(-99, 99, 31, 16, dtype=FP32)], "divisor": 7.0,
                "rounding_mode": "floor",
            },
            "column": lambda d: {"tensors": [d.normal(19, 7), d.normal(19, 30)], "divisor": d.normal(19, 1), "rounding_mode": None},
            "by-zero": lambda d: {"tensors": [d.normal(7, 11), d.ties(7, 12)], "divisor": d.ties(7, 23), "rounding_mode": "trunc"},
            "cubes": lambda d: {"tensors": [d.normal(3, 5, 11), d.normal(3, 8, 11)], "divisor": d.normal(13, 1)},
            "out": lambda d: {"tensors": [d.normal(7, 31), d.normal(7, 52)], "divisor": 1.5, "out": nothing(d, 7, 83)},
            "one-empty": lambda d: {"tensors": [d.normal(5, 0), d.normal(5, 13)], "divisor": 3.0},
        }) + hidden({
            "transposed-fp16": lambda d: {
                "tensors": [transposed(d.normal(29, 13, dtype=FP16, scale=9)), d.normal(29, 18, dtype=FP16, scale=9)],
                "divisor": d.normal(31, dtype=FP16),
                "rounding_mode": "floor",
            },
            "strided-bf16": lambda d: {
                "tensors": [strided(d.normal(13, 33, dtype=BF16)), strided(d.normal(13, 34, dtype=BF16), 3)], "divisor": 1.25
            },
            "whole-trunc": lambda d: {
                "tensors": [offset(d.integers(-999, 999, 211, dtype=FP32)), d.integers(-999, 999, 98, dtype=FP32)],
                "divisor": d.integers(1, 12, 309, dtype=FP32), "rounding_mode": "trunc",
            },
        }),
        timed(lambda d, n: {"tensors": [d.normal(n), d.normal(n)],
        "divisor": d.normal(2 * n)}, ((1 << 12,), (1 << 18,), (1 << 22,), (1 << 24,))),
        Contract(quotients(), mutates=("out",), notes=(
            "With a rounding mode the quotient is the correctly rounded one (`tl.div_rn`), so that whole quotients stay whole.",
        )),
        honest=tensor_hstack_div,
        truth=quotient_hstack_div,
        wrong={"the other rounding": other_rounding, "one behind the other": stacked_on_top},
    ),
)  # fmt: skip
