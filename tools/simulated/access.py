"""One access of a program to one tensor, as the instruments see it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tools.simulated.memory import Place, Storage


@dataclass
class Access:
    """Lanes inside the tensor's memory. An element of several cells counts as so many lanes."""

    kind: str
    """`load`, `store` or `atomic`."""
    place: Place
    cells: np.ndarray
    """The storage's cells, flat, one per lane in the lanes' order."""
    values: np.ndarray | None
    """What a store writes, as unsigned integers of a cell's size."""

    @property
    def storage(self) -> Storage:
        return self.place.storage

    @cached_property
    def ascending(self) -> bool:
        """Whether every lane lies above the one before, so that none meets another."""
        return bool((self.cells[1:] > self.cells[:-1]).all())

    @cached_property
    def where(self) -> slice | np.ndarray:
        """The cells as an index: a slice where they are neighbours."""
        first, last = int(self.cells[0]), int(self.cells[-1])
        if last - first == self.cells.size - 1 and self.ascending:
            return slice(first, last + 1)
        return self.cells

    @cached_property
    def repeated(self) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of lanes that share a cell: each lane but one of the cell, and that one."""
        scratch, lanes = self.storage.shadow("scratch", np.int32), np.arange(self.cells.size, dtype=np.int32)
        scratch[self.cells] = lanes
        last = scratch[self.cells]
        others = np.flatnonzero(last != lanes)
        return others, last[others]


def make(kind: str, place: Place, offsets: np.ndarray, size: int, values: np.ndarray | None) -> Access:
    """An access to `size` bytes at each of `offsets` (bytes from the storage's start)."""
    storage = place.storage
    if size < storage.cell:
        storage.refine(size)
    cells = offsets >> (storage.cell.bit_length() - 1)
    bits = None if values is None else values.view(f"u{storage.cell}")
    if size > storage.cell:
        cells = (cells[:, None] + np.arange(size // storage.cell)).reshape(-1)
    return Access(kind, place, cells, bits)
