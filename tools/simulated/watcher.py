"""What is seen of a launch while it is interpreted: bounds first, then races, then traffic."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tools.simulated import access
from tools.simulated.bounds import Bounds
from tools.simulated.flops import tally
from tools.simulated.memory import Memory, Part, plain
from tools.simulated.races import Races
from tools.simulated.traffic import Traffic

KINDS = frozenset({"races", "traffic"})
"""What can be recorded besides accesses out of bounds."""


@dataclass
class Findings:
    out_of_bounds: list[dict[str, Any]] = field(default_factory=list)
    races: list[dict[str, Any]] = field(default_factory=list)
    advisories: list[str] = field(default_factory=list)
    traffic: dict[str, Any] | None = None


class Watcher:
    """The builder tells it of each access of each program."""

    def __init__(self, kernel: str, grid: tuple[int, int, int], kinds: Collection[str], uses_old_values: bool = False) -> None:
        self.memory = Memory()
        self.uses_old_values = uses_old_values
        self._bounds = Bounds(kernel)
        self._races = Races(kernel, grid) if "races" in kinds else None
        self._traffic = Traffic() if "traffic" in kinds else None
        self._instruments = [instrument for instrument in (self._races, self._traffic) if instrument]
        self._program = (0, 0, 0)

    def begin(self, program: tuple[int, int, int], number: int) -> None:
        self._program = program
        if self._races:
            self._races.begin(number)

    def order(self) -> None:
        """The program does what can order it among the others."""
        if self._races:
            self._races.order()

    def see(
        self, kind: str, pointers: np.ndarray, mask: np.ndarray, size: int, values: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """The plain addresses of an access, and the lanes that leave their tensor's memory, or None where none does."""
        mask = mask if mask.shape == pointers.shape else np.broadcast_to(mask, pointers.shape)
        whole = bool(mask.all())
        active = pointers.reshape(-1) if whole else pointers[mask]
        if active.size == 0:
            return plain(pointers), None
        parts, lost = self.memory.resolve(active, size)
        if self._instruments:
            if values is not None:
                values = np.ascontiguousarray(np.broadcast_to(values, pointers.shape))
                values = values.reshape(-1) if whole else values[mask]
            for part in parts:
                self._tell(kind, part, size, values)
        return plain(pointers), None if lost is None else self._lose(kind, active, mask, lost)

    def _tell(self, kind: str, part: Part, size: int, values: np.ndarray | None) -> None:
        own = values if values is None or part.lanes is None else values[part.lanes]
        seen = access.make(kind, part.place, part.offsets, size, own)
        for instrument in self._instruments:
            instrument.note(seen)

    def _lose(self, kind: str, active: np.ndarray, mask: np.ndarray, lost: np.ndarray) -> np.ndarray:
        """Reports lanes that leave their tensor's memory; where they are in the block."""
        place, address = self.memory.owner(int(active[lost][0]))
        name, index = (place.name, place.index(address)) if place else ("", 0)
        self._bounds.note(kind, name, index, list(self._program), int(lost.sum()))
        bad = np.zeros(mask.shape, bool)
        bad[mask] = lost
        return bad

    def outside_block(self, indices: np.ndarray) -> None:
        """Lanes of a gather within a block that are outside it."""
        self._bounds.note("gather", "a block", int(indices[0]), list(self._program), indices.size)

    def findings(self) -> Findings:
        found = Findings(self._bounds.report())
        if self._races:
            found.races, found.advisories = self._races.report(), self._races.advisories()
        if self._traffic:
            found.traffic = self._traffic.report() | {"flops": tally.flops, "dot_flops": dict(tally.dot_flops)}
        return found
