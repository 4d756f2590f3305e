"""Random of KernelBench-X: samples, judged by their distribution, and a row of powers."""

import random
from typing import Any

import torch
from torch import Tensor

from benchmark.checkers import close, uniform
from benchmark.draw import Draw
from benchmark.sizes import POINTS
from benchmark.task import Contract, Task, hidden, shown, timed

FP16, BF16, FP64 = torch.float16, torch.bfloat16, torch.float64


def rand(
    *size: int,
    generator: torch.Generator | None = None,
    out: Tensor | None = None,
    dtype: torch.dtype | None = None,
    layout: torch.layout = torch.strided,
    device: torch.device | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of the given size on `device`, filled with independent samples of the uniform distribution on [0, 1): 0 may occur,
    1 never does, after rounding to the dtype neither. Each call draws anew. `dtype` None stands for fp32. The numbers need not be
    those of torch's generator; `generator`, `out`, `layout`, `requires_grad` and `pin_memory` keep their defaults here."""
    return torch.rand(*size, dtype=dtype, device=device)


def same_row(*size: int, **options: Any) -> Tensor:
    return rand(size[-1], **options).expand(size).clone()


def sixteen_bits(*size: int, dtype: torch.dtype | None = None, device: torch.device | None = None) -> Tensor:
    return (torch.randint(1 << 16, size, device=device).double() / (1 << 16)).to(dtype or torch.float32)


def with_one(*size: int, dtype: torch.dtype | None = None, device: torch.device | None = None) -> Tensor:
    """Rounded to nearest, so that 1 occurs."""
    return torch.rand(*size, dtype=FP64, device=device).to(dtype or torch.float32)


def logspace(
    start: float,
    end: float,
    steps: int,
    base: float = 10.0,
    dtype: torch.dtype | None = None,
    layout: torch.layout = torch.strided,
    device: torch.device | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """`base ** x` for `steps` exponents x in even distances from `start` to `end`, both included: `x[i] = start + i * (end - start) /
    (steps - 1)`; `start` alone for one step, nothing for none. A tensor of one axis on `device`; `dtype` None stands for fp32.
    `layout` and `requires_grad` keep their defaults here."""
    return torch.logspace(start, end, steps, base, dtype=dtype, device=device)


def exact_logspace(start: float, end: float, steps: int, base: float = 10.0, device: torch.device | None = None, **rest: object) -> Tensor:
    return torch.logspace(start, end, steps, base, dtype=FP64, device=device)


def careful_logspace(dtype: torch.dtype | None = None, **rest: object) -> Tensor:
    """Exponents in fp64 for fp64 and in fp32 otherwise, rounded once."""
    wide = FP64 if dtype == FP64 else torch.float32
    return logspace(dtype=wide, **rest).to(dtype or torch.float32)  # type: ignore[arg-type]


def without_end(start: float, end: float, steps: int, **rest: object) -> Tensor:
    """Even distances that do not reach the end."""
    return logspace(start, start + (end - start) * (steps - 1) / max(steps, 1), steps, **rest)  # type: ignore[arg-type]


def number(draw: Draw, low: float, high: float, which: int = 0) -> float:
    """A number between the bounds that depends on the seed alone."""
    return round(random.Random(draw.seed + which).uniform(low, high), 4)


def here(draw: Draw) -> torch.device:
    return torch.device(draw.device)


TASKS: tuple[Task, ...] = (
    Task(
        "kernelbench_x/rand",
        "Random",
        "torch",
        rand,
        shown({
            "fp32": lambda d: {"size": (4099,), "device": here(d)},
            "matrix": lambda d: {"size": (64, 64), "dtype": torch.float32, "device": here(d)},
            "wide": lambda d: {"size": (3, 1367), "device": here(d)},
            "narrow": lambda d: {"size": (2039, 2), "device": here(d)},
            "fp64": lambda d: {"size": (61, 67), "dtype": FP64, "device": here(d)},
            "fp16": lambda d: {"size": (4099,), "dtype": FP16, "device": here(d)},
            "bf16": lambda d: {"size": (61, 67), "dtype": BF16, "device": here(d)},
            "empty": lambda d: {"size": (0, 5), "device": here(d)},
        }) + hidden({
            "cube": lambda d: {"size": (7, 19, 31), "device": here(d)},
            "fp64-vector": lambda d: {"size": (2053,), "dtype": FP64, "device": here(d)},
            "fp16-cube": lambda d: {"size": (2, 1, 1031), "dtype": FP16, "device": here(d)},
        }),
        timed(lambda d, n: {"size": (n,), "device": here(d)}, POINTS),
        Contract(uniform(), random=True),
        wrong={"the same numbers in each row": same_row, "sixteen bits": sixteen_bits, "one included": with_one},
        exempt={"previous": "another draw is as good a draw"},
    ),
    Task(
        "kernelbench_x/logspace",
        "Random",
        "torch",
        logspace,
        shown({
            "fp32": lambda d: {"start": number(d, -3, -1), "end": number(d, 1, 3, 1), "steps": 1009, "device": here(d)},
            "fp64": lambda d: {"start": number(d, -9, 0), "end": number(d, 1, 9, 1), "steps": 513, "dtype": FP64, "device": here(d)},
            "base-2": lambda d: {"start": number(d, -20, 0), "end": number(d, 1, 20, 1), "steps": 997, "base": 2.0, "device": here(d)},
            "base-e": lambda d: {"start": 0.0, "end": number(d, 1, 5), "steps": 257, "base": 2.718281828459045, "device": here(d)},
            "falling": lambda d: {"start": number(d, 2, 4), "end": number(d, -4, -2, 1), "steps": 129, "device": here(d)},
            "below-one": lambda d: {
                "start": -2, "end": number(d, 1, 6), "steps": 101, "base": 0.5, "dtype": torch.float32, "device": here(d)
            },
            "fp16": lambda d: {"start": number(d, -3, -1), "end": number(d, 1, 4, 1), "steps": 301, "dtype": FP16, "device": here(d)},
            "one-step": lambda d: {"start": number(d, -2, 2), "end": 5.0, "steps": 1, "device": here(d)},
            "empty": lambda d: {"start": 0.0, "end": number(d, 1, 2), "steps": 0, "device": here(d)},
        }) + hidden({
            "two-steps": lambda d: {"start": number(d, -2, 2), "end": number(d, 3, 5, 1), "steps": 2, "device": here(d)},
            "flat": lambda d: {"start": number(d, -2, 2), "end": number(d, -2, 2), "steps": 67, "base": 3.0, "device": here(d)},
            "bf16": lambda d: {"start": number(d, -9, -5), "end": number(d, 5, 9, 1), "steps": 401, "dtype": BF16, "device": here(d)},
        }),
        timed(lambda d, n: {"start": number(d, -3, -1), "end": number(d, 1, 3, 1), "steps": n, "device": here(d)}, POINTS),
        Contract(close(relative=True), notes=(
            "Exponents are computed in fp32 at least (in fp64 for fp64), and powers are rounded once to the dtype.",
        )),
        honest=careful_logspace,
        truth=exact_logspace,
        wrong={"the end left out": without_end, "base ignored": lambda base=10.0, **rest: logspace(**rest)},
    ),
)  # fmt: skip
