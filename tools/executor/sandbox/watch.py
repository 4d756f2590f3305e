"""What a call does with torch, seen from inside the sandbox: which operators it dispatches on which arguments, and fresh memory.

It is the candidate's process: what is seen here may worsen a verdict and never makes one better.
"""

import os
from collections import Counter
from collections.abc import Iterable
from typing import Any, Protocol, Self

import torch
from torch.autograd.profiler import record_function
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from tools.executor.arguments import tensors_in
from tools.executor.aten import ALLOCATES, ARRIVAL, COPIES, FILLS, METADATA, TRANSFER
from tools.executor.sandbox.account import opened
from tools.executor.sandbox.launches import Launches
from tools.executor.sandbox.zones import Zones
from tools.executor.unwritten import Poison

FEW = 32
"""Numbers that may cross between host and device as they like: shapes and strides brought as tensors, lengths and scales taken."""
ROWS = 200
"""Rows of one call; what is beyond them is counted under one name."""
Sources = frozenset[int]
Key = tuple[str, Sources, bool]


class Record:
    """Operators by name, by the arguments that their inputs stem from, and whether they copy a whole tensor as it lies (`plain`)."""

    def __init__(self, arguments: Iterable[torch.Tensor] = (), launches: Launches | None = None) -> None:
        """With `launches` it is the record of an import, of which what was computed is noted there."""
        self.launches = launches
        self.rows: dict[Key, list[int]] = {}
        self.seen: Counter[str] = Counter()
        """All calls by name, for the second account."""
        self.exempt = os.urandom(16).hex()
        """Name of the profiler's range around what does not count: printing takes tensors apart, without any mode."""
        self.sources: dict[int, Sources] = {}
        """By the address of a storage: the arguments whose values it holds, or holds values made from."""
        self.constants: set[int] = set()
        """Storages whose values depend on nothing but their shape: fills, what is computed from them, as long as no kernel has them."""
        self.items: Counter[Sources] = Counter()
        """Single elements taken to the host."""
        self.geometries = set()
        for index, tensor in enumerate(arguments):
            storage = _storage(tensor)
            self.sources[storage] = self.sources.get(storage, frozenset()) | {index}
            self.geometries.add(_geometry(tensor))

    def note(self, name: str, read: list[torch.Tensor], made: list[torch.Tensor], random: bool = False) -> None:
        """One call of an operator that is no view: its inputs, and what it returned or wrote."""
        fresh = name in ALLOCATES or name in FILLS
        known = {_storage(tensor) for tensor in read}
        inputs = read[1:] if name == "copy_" else [] if fresh else read
        sources = frozenset().union(*(self.sources.get(_storage(tensor), frozenset()) for tensor in inputs))
        for tensor in made:
            storage = _storage(tensor)
            self.sources[storage] = sources if storage not in known else self.sources.get(storage, frozenset()) | sources
        if self.launches:
            self.launches.note(name, made)
        if name == "_local_scalar_dense":
            self._item(sources)
        if self._constant(name, known, inputs, made, random):
            return
        touched = max((tensor.numel() for tensor in (*read, *made)), default=0)
        if touched > 1 and name not in METADATA:
            plain = name in COPIES and all(self._plain(tensor, made) for tensor in inputs)
            self.add((name, sources, plain), touched)

    def _constant(self, name: str, known: set[int], inputs: list[torch.Tensor], made: list[torch.Tensor], random: bool) -> bool:
        """Whether constants are made of constants, which is free."""
        places = {_storage(tensor) for tensor in made}
        # What is written in part may hold anything in its other parts.
        sources = {_storage(tensor) for tensor in inputs} | (places & known)
        if name in ALLOCATES or random or not sources <= self.constants:
            self.constants -= places
            return False
        self.constants |= places
        return name not in FILLS

    def launched(self, tensors: Iterable[torch.Tensor]) -> None:
        """A kernel may write them."""
        self.constants.difference_update(_storage(tensor) for tensor in tensors)

    def _item(self, sources: Sources) -> None:
        self.items[sources] += 1
        if self.items[sources] > FEW:
            self.add((TRANSFER, sources, False), self.items[sources])

    def _plain(self, tensor: torch.Tensor, made: list[torch.Tensor]) -> bool:
        """Whether `made` is `tensor` as it lies: contiguous, or an argument as it was given, and of the same dtype."""
        return made[0].dtype == tensor.dtype and (tensor.is_contiguous() or _geometry(tensor) in self.geometries)

    def transfer(self, tensor: torch.Tensor) -> None:
        if tensor.numel() > 1:
            self.add((TRANSFER, self.sources.get(_storage(tensor), frozenset()), False), tensor.numel())

    def arrival(self, size: int) -> None:
        if size > FEW:
            self.add((ARRIVAL, frozenset(), False), size)

    def add(self, key: Key, touched: int) -> None:
        if key not in self.rows and len(self.rows) >= ROWS:
            key = ("more", frozenset(), False)
        row = self.rows.setdefault(key, [0, 0, 0])
        row[0] += 1
        row[1] = max(row[1], touched)
        row[2] += touched

    def report(self) -> list[list[Any]]:
        """Rows `[op, arguments, plain, calls, largest, elements]`."""
        return [[name, sorted(sources), plain, *numbers] for (name, sources, plain), numbers in self.rows.items()]


class Device(Protocol):
    interpreting: bool


class Watch(TorchDispatchMode):
    """Around a call, or an import: poisons fresh memory, surrounds it with red zones where there are `zones`, records operators."""

    def __init__(self, device: Device, poison: Poison, record: Record, zones: Zones | None = None) -> None:
        super().__init__()
        self.device = device
        self.poison = poison
        self.record = record
        self.zones = zones
        self.functions = _Functions(record)

    def __enter__(self) -> Self:
        self.functions.__enter__()
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self.functions.__exit__(*error)

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        self.record.seen[func.overloadpacket.__name__] += 1
        if self.device.interpreting:
            return func(*args, **kwargs)
        if func.namespace not in ("aten", "prim", "prims"):
            # An operator of the candidate's own (`torch.library`): what it does inside is what counts, and the second account sees it.
            with record_function(opened(self.record.exempt)):
                return func(*args, **kwargs)
        made = func(*args, **kwargs)
        if not func.is_view:
            with torch._C.DisableTorchFunction():
                name = func.overloadpacket.__name__
                if name in ALLOCATES and isinstance(made, torch.Tensor) and name != "resize_":
                    made = self._placed(made)
                elif self.zones and name in FILLS | COPIES and isinstance(made, torch.Tensor) and not name.endswith("_"):
                    made = self.zones.surround(made, name)
                if not self.functions.quiet:
                    random = torch.Tag.nondeterministic_seeded in func.tags
                    self.record.note(name, list(tensors_in([args, kwargs])), list(tensors_in(made)), random)
        return made

    def _placed(self, made: torch.Tensor) -> torch.Tensor:
        if self.zones:
            made = self.zones.surround(made, "an allocation", copy=False)
        return self.poison.fill(made)


class _Functions(TorchFunctionMode):
    """What cannot be seen among operators: values that go to the host or come from it, and the operators by which a tensor is printed."""

    def __init__(self, record: Record) -> None:
        super().__init__()
        self.record = record
        self.quiet = False

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        if func in _PRINTS and not self.quiet:
            self.quiet = True
            try:
                with record_function(self.record.exempt):
                    return func(*args, **(kwargs or {}))
            finally:
                self.quiet = False
        made = func(*args, **(kwargs or {}))
        if args and (func in _CROSSES or _named_after_device(func, made)):
            self._crossed(args[0], made)
        elif func in _WRITES and len(args) > _WRITES[func]:
            self._crossed(args[_WRITES[func]], args[0])
        return made

    def _crossed(self, values: Any, place: Any) -> None:
        """Values that went to `place`, perhaps from the device to the host or the other way."""
        there, here = _host(place), _host(values)
        with torch._C.DisableTorchFunction():
            if there and not here:
                self.record.transfer(values)
            elif here and not there and not isinstance(values, int | float):
                self.record.arrival(place.numel())


class _Nowhere:
    interpreting = False


def warm() -> None:
    """In the zygote: enters a mode once, at which torch loads hundreds of modules."""
    with Watch(_Nowhere(), Poison(), Record()):
        torch.empty(1)


_T = torch.Tensor
_CROSSES = {_T.cpu, _T.to, _T.type, _T.tolist, _T.numpy, _T.__array__, torch.tensor, torch.as_tensor, torch.asarray}
"""Calls that put the values of their first argument into their result."""
_WRITES = {_T.copy_: 1, _T.__setitem__: 2}
"""Methods that put values into another tensor, and which argument these are."""
_PRINTS = {_T.__repr__, _T.__format__}


def _named_after_device(func: Any, made: Any) -> bool:
    """Whether it is the method that brings a tensor to the device."""
    return isinstance(made, torch.Tensor) and getattr(func, "__name__", "") == made.device.type


def _host(value: Any) -> bool:
    return not isinstance(value, torch.Tensor) or value.device.type == "cpu"


def _storage(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata if tensor.layout is torch.strided else id(tensor)


def _geometry(tensor: torch.Tensor) -> tuple[int, torch.Size, tuple[int, ...]]:
    # The real address, of a simulated device too.
    with torch._C.DisableTorchFunction():
        return tensor.data_ptr(), tensor.shape, tensor.stride()
