"""Data races between the programs of a launch, by shadow memory.

Programs of a launch are unordered, and the interpreter runs them one after another: a conflict is seen when the later program comes.
Stores that leave the value that is there are honest, and so are atomics among themselves. Programs that order themselves by atomics
(compare-and-swap, exchange, or an atomic whose old value is used) cannot be judged from one order: they get an advisory. So do plain
loads of what other programs update by atomics, which may be a look ahead that costs nothing, or a total that is not complete.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tools.simulated.access import Access


@dataclass
class Race:
    """Conflicts of one kind in one tensor of a launch."""

    kernel: str
    kind: str
    """`write_write`, `read_after_write`, `write_after_read`, `atomic_store`, or `within_store` (lanes of one store)."""
    tensor: str
    index: int
    """The first such element, counted from the tensor's first one."""
    programs: list[list[int]]
    """The two programs of the first conflict, the later one last."""
    lanes: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class Races:
    """Per cell: the first program that read it or updated it atomically, and the last one that wrote it or changed it by a store.

    Programs have codes that fall, so that the first one is the largest code and zero means none.
    """

    def __init__(self, kernel: str, grid: tuple[int, int, int]) -> None:
        self._kernel = kernel
        self._grid = grid
        self._total = grid[0] * grid[1] * grid[2]
        self._type = np.min_scalar_type(self._total)
        self._code = 0
        self._ordered: set[int] = set()
        self._found: dict[tuple[str, str], Race] = {}
        self._ordered_tensors: set[str] = set()
        self._looked_at: set[str] = set()

    def begin(self, number: int) -> None:
        """The program whose accesses follow; `number` counts from zero."""
        self._code = self._total - number

    def order(self) -> None:
        """The program has done what could order it among the others."""
        self._ordered.add(self._code)

    def note(self, access: Access) -> None:
        if access.kind == "store" and not access.ascending:
            self._within(access)
        if self._total > 1:
            getattr(self, f"_{access.kind}")(access)

    def _load(self, access: Access) -> None:
        storage, where = access.storage, access.where
        if "changed" in storage.shadows:
            changed = storage.shadows["changed"][where]
            self._conflict(access, "read_after_write", changed, storage.shadows["writer"][where] != self._code)
        self._look(access, "atomic")
        reader = storage.shadow("reader", self._type)
        reader[where] = np.maximum(reader[where], self._code)

    def _store(self, access: Access) -> None:
        storage, where = access.storage, access.where
        assert access.values is not None
        different = storage.content()[where] != access.values
        changed, writer = storage.shadow("changed", self._type), storage.shadow("writer", self._type)
        self._conflict(access, "write_write", writer[where], different)
        for kind, shadow in (("write_after_read", "reader"), ("atomic_store", "atomic")):
            if shadow in storage.shadows:
                self._conflict(access, kind, storage.shadows[shadow][where], different)
        changed[where if different.all() else access.cells[different]] = self._code
        writer[where] = self._code

    def _atomic(self, access: Access) -> None:
        storage, where = access.storage, access.where
        if "changed" in storage.shadows:
            changed = storage.shadows["changed"][where]
            self._conflict(access, "atomic_store", changed, storage.shadows["writer"][where] != self._code)
        self._look(access, "reader")
        updater = storage.shadow("atomic", self._type)
        updater[where] = np.maximum(updater[where], self._code)

    def _look(self, access: Access, other: str) -> None:
        """Notes that a plain load and an atomic of another program meet; `other` is the shadow of the earlier one."""
        shadows = access.storage.shadows
        if other in shadows and self._code not in self._ordered and (shadows[other][access.where] > self._code).any():
            self._looked_at.add(access.place.name)

    def _within(self, access: Access) -> None:
        lanes, others = access.repeated
        assert access.values is not None
        clash = access.values[lanes] != access.values[others]
        if clash.any():
            self._add(access, "within_store", int(access.cells[lanes[clash]][0]), self._code, int(clash.sum()))

    def _conflict(self, access: Access, kind: str, before: np.ndarray, counts: np.ndarray) -> None:
        """Reports lanes that an earlier program has been at, by its code in `before`."""
        bad = (before > self._code) & counts
        if not bad.any():
            return
        if self._code in self._ordered:
            free = ~np.isin(before, list(self._ordered))
            if (bad & ~free).any():
                self._ordered_tensors.add(access.place.name)
            bad &= free
            if not bad.any():
                return
        first = int(np.argmax(bad))
        self._add(access, kind, int(access.cells[first]), int(before[first]), int(bad.sum()))

    def _add(self, access: Access, kind: str, cell: int, other: int, lanes: int) -> None:
        place = access.place
        found = self._found.get((kind, place.name))
        if found is None:
            index = place.index(place.storage.low + cell * place.storage.cell)
            programs = [self._program(other), self._program(self._code)]
            found = self._found[kind, place.name] = Race(self._kernel, kind, place.name, index, programs, 0)
        found.lanes += lanes

    def _program(self, code: int) -> list[int]:
        return [int(axis) for axis in np.unravel_index(self._total - code, self._grid)]

    def report(self) -> list[dict[str, Any]]:
        return [found.to_dict() for found in self._found.values()]

    def advisories(self) -> list[str]:
        return [
            f"Programs of {self._kernel} share {name} and order themselves by atomics: whether that order suffices is not judged."
            for name in sorted(self._ordered_tensors)
        ] + [
            f"Programs of {self._kernel} load from {name} what others update by atomics: which values they find depends on their order."
            for name in sorted(self._looked_at)
        ]
