"""What a call does with torch, seen from inside the sandbox: which operators it dispatches on which arguments, and fresh memory.

It is the candidate's process: what is seen here may worsen a verdict and never makes one better.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Protocol, Self

import torch
from torch.autograd.profiler import record_function
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from tools.executor.arguments import tensors_in
from tools.executor.aten import (
    ALLOCATES,
    ARRIVAL,
    COPIES,
    FILLS,
    KERNEL,
    LOOKUP,
    METADATA,
    MOVES,
    READS,
    TOGETHER,
    TRANSFER,
)  # fmt: skip
from tools.executor.sandbox.launches import Launches
from tools.executor.sandbox.zones import Zones
from tools.executor.unwritten import Poison

FEW = 32
"""Numbers that may cross between host and device as they like: shapes and strides brought as tensors, lengths and scales taken."""
ROWS = 200
"""Rows of one call; what is beyond them is counted under one name."""
PRINTED, EDGE = 1000, 6
"""Elements of a tensor that are printed all, and how many of a larger one."""
Sources = frozenset[int]
Key = tuple[str, Sources, bool]


class Record:
    """Operators by name, by the arguments that their inputs stem from, and whether they copy a whole tensor as it lies (`plain`)."""

    def __init__(
        self,
        arguments: Iterable[torch.Tensor] = (),
        launches: Launches | None = None,
        tell: Callable[[list[Any]], None] | None = None,
    ) -> None:
        """What the import computes, and what becomes of it, is noted in `launches`. `tell` is given each row as soon as it begins, and
        whenever it has doubled: what has been told cannot be taken back.
        """
        self.launches = launches
        self.tell = tell
        self.rows: dict[Key, list[int]] = {}
        self.operators: set[str] = set()
        """All that were shown."""
        self.shown = os.urandom(16).hex()
        """Name of the profiler's ranges around what the record is shown, for the second account."""
        self.sources: dict[StorageWeakRef | int, Sources] = {}
        """By memory: the arguments whose values it holds, or holds values made from."""
        self.constants: set[StorageWeakRef | int] = set()
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
            self.launches.note(name, read, made)
        if name == "_local_scalar_dense":
            self._item(sources)
        if self._constant(name, known, inputs, made, random):
            return
        touched = max((tensor.numel() for tensor in (*read, *made)), default=0)
        if touched > 1 and name not in METADATA:
            if name in READS and self._looked_up(read):
                name += LOOKUP
            plain = name in COPIES and all(self._plain(tensor, made) for tensor in inputs)
            self.add((name, sources, plain), touched)

    def _constant(
        self, name: str, known: set[StorageWeakRef | int], inputs: list[torch.Tensor], made: list[torch.Tensor], random: bool
    ) -> bool:
        """Whether constants are made of constants, which is free."""
        places = {_storage(tensor) for tensor in made}
        # What is written in part may hold anything in its other parts.
        sources = {_storage(tensor) for tensor in inputs} | (places & known)
        if name in ALLOCATES or random or not sources <= self.constants:
            self.constants -= places
            return False
        self.constants |= places
        return name not in FILLS

    def _looked_up(self, read: list[torch.Tensor]) -> bool:
        """Whether values of arguments say what is taken out of a table, which stems from none."""
        table, *by = (self.sources.get(_storage(tensor), frozenset()) for tensor in read)
        return not table and any(source >= 0 for sources in by for source in sources)

    def launched(self, tensors: Iterable[torch.Tensor] = ()) -> None:
        """A kernel is given `tensors`. It may have written whatever there is: an address may be given to it as a number."""
        self.sources |= {storage: frozenset() for storage in map(_storage, tensors) if storage not in self.sources}
        self.sources = {storage: sources | {KERNEL} for storage, sources in self.sources.items()}
        self.constants.clear()

    def knows(self, tensors: Iterable[torch.Tensor]) -> bool:
        """Whether any of them is the candidate's: a device at work in this process brings its own, in which it keeps blocks."""
        return any(_storage(tensor) in self.sources for tensor in tensors)

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
        if self.tell and not row[0] & (row[0] - 1):
            self.tell(self._told(key))

    def report(self) -> list[list[Any]]:
        """Rows `[op, arguments, plain, calls, largest, elements]`."""
        return [self._told(key) for key in self.rows]

    def _told(self, key: Key) -> list[Any]:
        name, sources, plain = key
        return [name, sorted(sources), plain, *self.rows[key]]


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
        # A tensor subclass goes first, and an operator of another library or the candidate's own is not shown: what they do counts.
        if any(kind.__torch_dispatch__ != _T.__torch_dispatch__ for kind in types):
            return NotImplemented
        if func.namespace not in ("aten", "prim", "prims"):
            return func(*args, **(kwargs or {}))
        self.record.operators.add(func.name())
        with record_function(self.record.shown):
            return self._shown(func, args, kwargs or {})

    def _shown(self, func: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        read = list(tensors_in([args, kwargs]))
        with torch._C.DisableTorchFunction():
            if self.device.interpreting and read and not self.record.knows(read):
                return func(*args, **kwargs)
        made = func(*args, **kwargs)
        if not func.is_view:
            with torch._C.DisableTorchFunction():
                name = func.overloadpacket.__name__
                if name in ALLOCATES and isinstance(made, torch.Tensor) and name != "resize_":
                    made = self._placed(made)
                elif self.zones and name in FILLS | COPIES and isinstance(made, torch.Tensor) and not name.endswith("_"):
                    made = self.zones.surround(made, name)
                random = torch.Tag.nondeterministic_seeded in func.tags
                name += TOGETHER if name in MOVES and _combines(func, args, kwargs) else ""
                self.record.note(name, read, list(tensors_in(made)), random)
        return made

    def _placed(self, made: torch.Tensor) -> torch.Tensor:
        if self.zones:
            made = self.zones.surround(made, "an allocation", copy=False)
        return self.poison.fill(made)


class _Functions(TorchFunctionMode):
    """What cannot be seen among operators: values that go to the host or come from it. It prints tensors itself: for torch's own way,
    which is Python, torch computes."""

    def __init__(self, record: Record) -> None:
        super().__init__()
        self.record = record

    def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        if func in _PRINTS:
            return _printed(*args[:2])
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


def _combines(func: Any, args: tuple, kwargs: dict[str, Any]) -> bool:
    """Whether what meets in one place is combined there."""
    given = dict(zip((argument.name for argument in func._schema.arguments), args, strict=False)) | kwargs
    return bool(given.get("accumulate")) or given.get("reduce") is not None


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


def _printed(tensor: torch.Tensor, form: str = "") -> str:
    about = f"size={tuple(tensor.shape)}, dtype={tensor.dtype}, device='{tensor.device}'"
    with torch._C.DisableTorchFunction():
        if tensor.layout is not torch.strided or tensor.is_meta:
            return f"tensor(..., {about})"
        if tensor.dim() == 0 and form:
            return format(tensor.tolist(), form)
        few = tensor.detach() if tensor.numel() <= PRINTED else tensor.detach().flatten()[:EDGE]
        return f"tensor({_digits(few.tolist())}{' ...' if few.numel() < tensor.numel() else ''}, {about})"


def _digits(value: Any) -> str:
    return f"[{', '.join(map(_digits, value))}]" if isinstance(value, list) else f"{value:.5g}" if isinstance(value, float) else str(value)


def _named_after_device(func: Any, made: Any) -> bool:
    """Whether it is the method that brings a tensor to the device."""
    return isinstance(made, torch.Tensor) and getattr(func, "__name__", "") == made.device.type


def _host(value: Any) -> bool:
    return not isinstance(value, torch.Tensor) or value.device.type == "cpu"


def _storage(tensor: torch.Tensor) -> StorageWeakRef | int:
    """What stands for a tensor's memory. Nothing else gets its place while it is known here, though it may be freed."""
    return StorageWeakRef(tensor.untyped_storage()) if tensor.layout is torch.strided else id(tensor)


def _geometry(tensor: torch.Tensor) -> tuple[int, torch.Size, tuple[int, ...]]:
    # The real address, of a simulated device too.
    with torch._C.DisableTorchFunction():
        return tensor.data_ptr(), tensor.shape, tensor.stride()
