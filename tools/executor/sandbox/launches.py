"""The launches of a call: a second count of them, and what they are given."""

from collections.abc import Iterable
from typing import Any, Protocol

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from triton.compiler import CompiledKernel

from tools.executor.arguments import tensors_in
from tools.executor.aten import COPIES, FREE, MOVES

MOST = 256


class Launched(Protocol):
    def launched(self, tensors: Iterable[torch.Tensor]) -> None: ...


class Launches:
    """Knows from the record of the import which values torch computed then, and finds those that kernels are given."""

    def __init__(self) -> None:
        self.made: list[tuple[str, StorageWeakRef, int]] = []
        self.used: list[list[Any]] = []
        """Rows `[op, elements]` of the call at hand."""
        self.count = 0
        self.record: Launched | None = None
        """Of the call at hand."""

    def note(self, name: str, made: list[torch.Tensor]) -> None:
        if name not in FREE | COPIES | MOVES and len(self.made) < MOST:
            self.made += [(name, StorageWeakRef(t.untyped_storage()), t.numel()) for t in made if t.numel() > 1]

    def watch(self) -> None:
        """Counts launches and looks at their arguments, where every one passes: at the compiled kernel. Before the candidate comes."""
        compiled = CompiledKernel.run.fget

        def run(kernel: Any) -> Any:
            launch = compiled(kernel)
            if self.record is None:
                return launch

            def watched(*args: Any) -> Any:
                self.count += 1
                with torch._C.DisableTorchFunction():
                    # Descriptors hold the tensor that they describe.
                    self._given(list(tensors_in([getattr(value, "base", value) for value in args])))
                return launch(*args)

            return watched

        CompiledKernel.run = property(run)

    def _given(self, tensors: list[torch.Tensor]) -> None:
        if self.record:
            self.record.launched(tensors)
        given = {StorageWeakRef(t.untyped_storage()) for t in tensors} if self.made else set()
        rows = [[name, numel] for name, storage, numel in self.made if storage in given and not storage.expired()]
        self.used += [row for row in rows if row not in self.used]
