"""The memory behind a launch's arguments, and pointers that know which argument they come from.

No address needs more than 48 bits, so a kernel's pointers carry the number of their tensor in the 16 bits above: arithmetic, selection
and casts keep it. An access is judged against the memory of the tensor that it was made from, whatever lies where it went.
"""

import ctypes
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
import triton.language as tl

from tools.simulated.addresses import MASK, SHIFT, TAG, UNOWNED
from tools.simulated.tensor import address_of, raw, storage_address, tensors

_MASK = np.uint64(MASK)
_TAG = np.uint64(TAG << SHIFT)


@dataclass(eq=False)
class Storage:
    """Memory that one allocation gave, in cells of the smallest element that a launch reads or writes there."""

    low: int
    high: int
    cell: int
    shadows: dict[str, np.ndarray] = field(default_factory=dict)
    """Arrays with one entry per cell, kept by the instruments; zero where nothing was noted."""

    def shadow(self, name: str, dtype: Any) -> np.ndarray:
        found = self.shadows.get(name)
        if found is None:
            # Pages that no access touches are never made.
            found = self.shadows[name] = np.zeros((self.high - self.low) // self.cell, dtype)
        return found

    def refine(self, cell: int) -> None:
        """Smaller cells, each with what was noted for the cell that it lay in."""
        self.shadows = {name: np.repeat(shadow, self.cell // cell) for name, shadow in self.shadows.items()}
        self.cell = cell

    def content(self) -> np.ndarray:
        """The memory itself, a cell an entry."""
        count = (self.high - self.low) // self.cell
        return np.frombuffer(memoryview((ctypes.c_uint8 * (count * self.cell)).from_address(self.low)), f"u{self.cell}")


@dataclass(frozen=True)
class Place:
    """A tensor among the arguments of a launch. Views have all of their storage."""

    name: str
    first: int
    """The address of its first element."""
    element: int
    """Bytes."""
    storage: Storage

    def index(self, address: int) -> int:
        """Elements from the tensor's first one; negative before it."""
        return (address - self.first) // self.element


@dataclass
class Part:
    """Lanes of one access that lie inside the storage of one tensor."""

    place: Place
    offsets: np.ndarray
    """Bytes from the start of the storage."""
    lanes: np.ndarray | None
    """Which of the active lanes; None where it is all of them."""


class Memory:
    """The tensors of a launch by the numbers that their pointers carry."""

    def __init__(self) -> None:
        self.integers = False
        """Whether the kernel made pointers out of integers: what these reach outside the launch's tensors is not judged."""
        self._places: dict[int, Place] = {}
        self._storages: dict[tuple[int, int], Storage] = {}

    def add(self, name: str, argument: Any, value: Any) -> None:
        """Marks the pointers of a kernel argument, `value` in the interpreter, as those of the tensors in `argument`."""
        places = {address_of(tensor): self._place(name, tensor) for tensor in _tensors(argument)}
        for handle in _pointers(value) if places else ():
            address = int(handle.data.item()) & MASK
            handle.data = np.full_like(handle.data, address | places[address] << SHIFT)

    def _place(self, name: str, tensor: torch.Tensor) -> int:
        storage = raw(tensor).untyped_storage()
        low = storage_address(storage)
        span = low, low + storage.nbytes()
        known = self._storages.setdefault(span, Storage(*span, tensor.element_size()))
        known.cell = min(known.cell, tensor.element_size())
        number = len(self._places) + 1
        self._places[number] = Place(name, address_of(tensor), tensor.element_size(), known)
        return number

    def resolve(self, pointers: np.ndarray, size: int) -> tuple[list[Part], np.ndarray | None]:
        """The parts of an access to `size` bytes at each of `pointers` (flat), and the lanes that belong nowhere, if any."""
        low, high = int(pointers.min()), int(pointers.max())
        place = self._places.get(low >> SHIFT)
        if place is not None and high >> SHIFT == low >> SHIFT:
            storage = place.storage
            if low & MASK >= storage.low and (high & MASK) + size <= storage.high:
                base = np.uint64((low & ~MASK) + storage.low)
                return [Part(place, (pointers - base).view(np.int64), None)], None
        return self._each(pointers, size)

    def _each(self, pointers: np.ndarray, size: int) -> tuple[list[Part], np.ndarray | None]:
        parts, bad = [], np.zeros(pointers.shape, bool)
        numbers = pointers >> np.uint64(SHIFT)
        addresses = (pointers & _MASK).view(np.int64)
        for number in np.unique(numbers).tolist():
            own = numbers == number
            if number not in self._places:
                found, lost = self._by_address(addresses, own, size)
                parts += found
                if number not in UNOWNED or not self.integers:
                    bad |= lost
                continue
            place = self._places[number]
            inside = own & (addresses >= place.storage.low) & (addresses + size <= place.storage.high)
            bad |= own & ~inside
            if inside.any():
                parts.append(_part(place, addresses, inside))
        return parts, bad if bad.any() else None

    def _by_address(self, addresses: np.ndarray, own: np.ndarray, size: int) -> tuple[list[Part], np.ndarray]:
        """For pointers without a number: a tensor that they lie in has them."""
        parts, lost = [], own.copy()
        for storage in self._storages.values():
            inside = lost & (addresses >= storage.low) & (addresses + size <= storage.high)
            if inside.any():
                lost &= ~inside
                parts.append(_part(next(p for p in self._places.values() if p.storage is storage), addresses, inside))
        return parts, lost

    def owner(self, pointer: int) -> tuple[Place | None, int]:
        """The tensor that a pointer was made from, else the nearest one, and the plain address."""
        address = pointer & MASK
        place = self._places.get(pointer >> SHIFT)
        if place is None and self._places:
            place = min(self._places.values(), key=lambda p: max(p.storage.low - address, address - p.storage.high))
        return place, address


def plain(pointers: np.ndarray) -> np.ndarray:
    """The addresses that pointers stand for."""
    return pointers & _MASK


def shown(pointers: np.ndarray) -> np.ndarray:
    """The addresses as a kernel is told them when it makes integers of them: as the host is."""
    addresses = plain(pointers)
    return np.where(addresses == 0, addresses, addresses | _TAG)


def _part(place: Place, addresses: np.ndarray, inside: np.ndarray) -> Part:
    return Part(place, addresses[inside] - place.storage.low, np.flatnonzero(inside))


def _tensors(argument: Any) -> list[torch.Tensor]:
    if isinstance(argument, tuple):
        return [tensor for part in argument for tensor in _tensors(part)]
    return list(tensors(getattr(argument, "base", argument)))


def _pointers(value: Any) -> list[Any]:
    """The handles of all pointers in a converted argument: a pointer, a descriptor's base, or a tuple of such."""
    if isinstance(value, (tuple, tl.tuple)):
        return [handle for part in value for handle in _pointers(part)]
    handle = getattr(value, "handle", None)
    base = getattr(handle, "base", handle)
    return [base] if isinstance(getattr(base, "dtype", None), tl.pointer_type) else []
