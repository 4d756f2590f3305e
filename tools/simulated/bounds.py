"""Which memory a launch may touch. Lanes that leave it are masked and reported, so that the run goes on."""

from bisect import bisect_right
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tools.simulated.tensor import raw, tensors


@dataclass
class OutOfBounds:
    """Accesses of one kind outside the tensors of a launch; `tensor` is the parameter whose memory lies nearest below."""

    kernel: str
    kind: str
    tensor: str
    program: list[int]
    """The first program that did it."""
    lanes: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class Bounds:
    """The storages behind a launch's arguments, as sorted address ranges."""

    def __init__(self, kernel: str, arguments: dict[str, Any]) -> None:
        ranges: dict[tuple[int, int], str] = {}
        for name, value in arguments.items():
            for tensor in tensors(getattr(value, "base", value)):
                storage = raw(tensor).untyped_storage()
                ranges.setdefault((storage.data_ptr(), storage.data_ptr() + storage.nbytes()), name)
        self._kernel = kernel
        ordered = sorted(ranges)
        self._low = [low for low, _ in ordered]
        self._high = [high for _, high in ordered]
        self._names = [ranges[span] for span in ordered]
        self.found: dict[tuple[str, str], OutOfBounds] = {}
        self.known = bool(ordered)
        """False when a kernel makes pointers of its own out of integers: then nothing can be said."""

    def outside(self, pointers: np.ndarray, mask: np.ndarray, size: int, kind: str, program: tuple[int, int, int]) -> np.ndarray | None:
        """The lanes that leave the launch's memory, or None where all are inside."""
        if not self.known:
            return None
        lanes = pointers if mask.all() else pointers[np.broadcast_to(mask, pointers.shape)]
        if lanes.size == 0:
            return None
        low, high = int(lanes.min()), int(lanes.max()) + size
        at = bisect_right(self._low, low) - 1
        if at >= 0 and high <= self._high[at]:
            return None
        starts, ends = np.array(self._low, np.uint64), np.array(self._high, np.uint64)
        where = np.searchsorted(starts, pointers, side="right") - 1
        inside = (where >= 0) & (pointers + np.uint64(size) <= ends[np.maximum(where, 0)])
        bad = np.broadcast_to(mask, pointers.shape) & ~inside
        if not bad.any():
            return None
        name = self._names[max(int(where[bad][0]), 0)]
        found = self.found.setdefault((kind, name), OutOfBounds(self._kernel, kind, name, list(program), 0))
        found.lanes += int(bad.sum())
        return bad


def poison(data: np.ndarray, lanes: np.ndarray) -> np.ndarray:
    """`data` with all bits set where a load left its memory: NaN for floats, -1 for integers."""
    data = np.array(data)
    data.view(np.uint8).reshape(*data.shape, data.itemsize)[lanes] = 0xFF if data.dtype != np.bool_ else 1
    return data


NOWHERE = Bounds("", {})
