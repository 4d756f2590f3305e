"""Lanes that leave the memory of their tensor: masked, poisoned and reported, so that the run goes on."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np


@dataclass
class OutOfBounds:
    """Accesses of one kind outside the memory of one tensor of a launch."""

    kernel: str
    kind: str
    """`load`, `store`, `atomic`, or `gather` (within a block)."""
    tensor: str
    """The parameter that the pointer was made from."""
    index: int
    """The first such element, counted from the tensor's first one."""
    program: list[int]
    """The first program that did it."""
    lanes: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class Bounds:
    def __init__(self, kernel: str) -> None:
        self._kernel = kernel
        self._found: dict[tuple[str, str], OutOfBounds] = {}

    def note(self, kind: str, tensor: str, index: int, program: list[int], lanes: int) -> None:
        found = self._found.setdefault((kind, tensor), OutOfBounds(self._kernel, kind, tensor, index, program, 0))
        found.lanes += lanes

    def report(self) -> list[dict[str, Any]]:
        return [found.to_dict() for found in self._found.values()]


def poison(data: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    """`data` with all bits set where a load left its memory: NaN for floats, -1 for integers."""
    data = np.array(data)
    data.view(np.uint8).reshape(*data.shape, data.itemsize)[lanes] = 0xFF if data.dtype != np.bool_ else 1
    return data
