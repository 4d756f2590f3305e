"""The magnitude of outputs whose task gives none, measured with the reference alone: how far they move when all inputs do by a little.

Every floating-point element of the inputs is made 1 + STEP or 1 - STEP times as large, at random. To first order an output moves by
the sum of its terms (the derivative by an element, times that element) with random signs, times STEP; the root mean square over a few
draws estimates the root of the sum of the squared terms. That is what rounding errors of sums are in proportion to (Higham and Mary,
"A New Approach to Probabilistic Rounding Error Analysis", 2019), also where the terms cancel and the output itself says nothing of them.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch

from benchmark.checkers.close import real
from benchmark.task import Arguments

DRAWS = 4
STEP = 2.0**-20
"""Far above what fp64 rounds, so that a reference with some fp32 in it moves too."""
SHORTER = 4
"""A second step is so many times shorter: a few jumps of a step function would often look as if they grew evenly with half a step."""
UNEVEN = 0.25
"""Share of the movement by which the two steps may differ."""
MOST = 1 << 20
"""Elements of the outputs together. Among more of them the mean one tells what terms there are, and evaluations are long."""

Tensor = torch.Tensor
Nudge = Callable[[Arguments], None]
"""Changes fp64 arguments in place."""
Beside = Callable[[Nudge], tuple[Tensor, ...]]
"""The outputs in fp64 for a copy of the case's arguments that was nudged."""


def magnitude(beside: Beside, expected: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """For each element of the `expected` outputs the root of the sum of its squared terms.

    0 where the output is no float or not finite, or does not follow the inputs evenly (it jumps, or its shape changes). Nothing at all
    if no output is a float, if they are too large, or if the reference refuses inputs beside the given ones.
    """
    if not any(map(_floating, expected)) or sum(tensor.numel() for tensor in expected) > MOST:
        return ()
    movements = [Movement(tensor) for tensor in expected]
    try:
        for draw in range(DRAWS):
            _observe(movements, *(beside(partial(nudge, step=step, draw=draw)) for step in (STEP, STEP / SHORTER)))
    except (MemoryError, torch.OutOfMemoryError):
        raise
    except Exception:
        return ()
    return tuple(movement.magnitude for movement in movements)


def _observe(movements: list["Movement"], far: tuple[Tensor, ...], near: tuple[Tensor, ...]) -> None:
    for movement, one, other in zip(movements, far, near, strict=True):
        movement.add(one, other)


class Movement:
    """How one output has moved in the draws so far."""

    def __init__(self, expected: Tensor):
        self.expected, start = expected, real(expected)
        self.squares, self.largest, self.uneven = (torch.zeros_like(start, dtype=torch.float64) for _ in range(3))

    def add(self, far: Tensor, near: Tensor) -> None:
        """The output after a step, and after the shorter one with the same signs."""
        if not self.expected.shape == far.shape == near.shape:
            self.uneven.fill_(torch.inf)
            return
        long, short = (real(tensor).double() - real(self.expected).double() for tensor in (far, near))
        self.squares += long.square()
        self.largest = torch.maximum(self.largest, long.abs())
        self.uneven = torch.maximum(self.uneven, (long - SHORTER * short).abs())

    @property
    def magnitude(self) -> Tensor:
        even = self.uneven <= UNEVEN * self.largest
        found = torch.where(even, (self.squares / DRAWS).sqrt() / STEP, 0.0)
        if self.expected.is_complex():
            return torch.view_as_complex(found)
        return found if self.expected.is_floating_point() else torch.zeros_like(found)


def nudge(arguments: Arguments, step: float, draw: int) -> None:
    """Makes every floating-point element a step larger or smaller, with the same signs for the same draw."""
    for number, tensor in enumerate(_floats(arguments)):
        generator = torch.Generator(tensor.device).manual_seed(draw << 16 | number)
        signs = torch.randint(2, tensor.shape, generator=generator, device=tensor.device, dtype=tensor.dtype)
        tensor.mul_(1 - step + 2 * step * signs)


def _floats(value: Any) -> Iterator[Tensor]:
    """The floating-point tensors of arguments; of complex ones the parts."""
    if isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _floats(item)
    elif isinstance(value, Tensor) and _floating(value):
        yield real(value)


def _floating(tensor: Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()
