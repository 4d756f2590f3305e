"""Values that torch computed while the candidate was imported, and that its kernels are given later."""

from collections.abc import Iterable
from typing import Any, Protocol

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from triton.runtime.jit import JITFunction

from tools.executor.arguments import tensors_in
from tools.executor.aten import COPIES, FREE, MOVES

MOST = 256


class Launched(Protocol):
    def launched(self, tensors: Iterable[torch.Tensor]) -> None: ...


class Tables:
    """Filled by the record of the import, asked by the launches of each call."""

    def __init__(self) -> None:
        self.made: list[tuple[str, StorageWeakRef, int]] = []
        self.used: list[list[Any]] = []
        """Rows `[op, elements]` of the call at hand."""
        self.record: Launched | None = None
        """Of the call at hand."""

    def note(self, name: str, made: list[torch.Tensor]) -> None:
        if name not in FREE | COPIES | MOVES and len(self.made) < MOST:
            self.made += [(name, StorageWeakRef(t.untyped_storage()), t.numel()) for t in made if t.numel() > 1]

    def watch_launches(self) -> None:
        """Looks at the arguments of every launch. Before the candidate comes."""
        run = JITFunction.run

        def watched(jit: Any, *args: Any, **kwargs: Any) -> Any:
            if self.record:
                with torch._C.DisableTorchFunction():
                    self._given(list(tensors_in([args, kwargs])))
            return run(jit, *args, **kwargs)

        JITFunction.run = watched

    def _given(self, tensors: list[torch.Tensor]) -> None:
        assert self.record is not None
        self.record.launched(tensors)
        given = {StorageWeakRef(t.untyped_storage()) for t in tensors} if self.made else set()
        rows = [[name, numel] for name, storage, numel in self.made if storage in given and not storage.expired()]
        self.used += [row for row in rows if row not in self.used]
