"""The launches of a call: a second count of them, and what they are given."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from triton.compiler import CompiledKernel

from tools.executor.arguments import tensors_in
from tools.executor.aten import COPIES, FREE, MOVES

PACKAGES = str(Path(torch.__file__).parents[1])
"""Where what is installed lies."""


class Launched(Protocol):
    def launched(self, tensors: Iterable[torch.Tensor]) -> None: ...

    def note(self, name: str, read: list[torch.Tensor], made: list[torch.Tensor]) -> None: ...


class Launches:
    """Knows from the record of the import which values torch computed then, and finds those that kernels are given."""

    def __init__(self) -> None:
        self.made: dict[StorageWeakRef, dict[str, int]] = {}
        """By memory, the operators that computed at import what it holds, or what it was copied from, and elements of each."""
        self.used: dict[str, int] = {}
        """Those of what kernels were given in the call at hand."""
        self.count = 0
        self.record: Launched | None = None
        """Of the call at hand."""

    def note(self, name: str, read: list[torch.Tensor], made: list[torch.Tensor]) -> None:
        """An operator of the import, or of a call, where only copies of what the import computed matter."""
        computes = self.record is None and name not in FREE | COPIES | MOVES
        if not computes and not self.made:
            return
        former = [self._behind(tensor) for tensor in read]
        for tensor in [tensor for tensor in made if tensor.layout is torch.strided]:
            operators = {op: elements for known in former for op, elements in known.items()}
            if computes and tensor.numel() > 1:
                operators[name] = tensor.numel()
            if operators:
                self.made[StorageWeakRef(tensor.untyped_storage())] = operators

    def watch(self) -> None:
        """Counts launches and looks at their arguments, where every one passes: at the compiled kernel. Before the candidate comes."""
        compiled = CompiledKernel.run.fget

        def run(kernel: Any) -> Any:
            launch = compiled(kernel)
            if self.record is None:
                return launch

            def watched(*args: Any) -> Any:
                self.count += not _installed(kernel)
                with torch._C.DisableTorchFunction():
                    # Descriptors hold the tensor that they describe.
                    self._given(list(tensors_in([getattr(value, "base", value) for value in args])), kernel)
                return launch(*args)

            return watched

        CompiledKernel.run = property(run)

    def _given(self, tensors: list[torch.Tensor], kernel: Any) -> None:
        if self.record and _installed(kernel):
            self.record.note("a kernel of another's", tensors, tensors)
        elif self.record:
            self.record.launched(tensors)
        for tensor in tensors if self.made else ():
            self.used |= self._behind(tensor)

    def _behind(self, tensor: torch.Tensor) -> dict[str, int]:
        return self.made.get(StorageWeakRef(tensor.untyped_storage()), {}) if tensor.layout is torch.strided else {}


def _installed(kernel: Any) -> bool:
    """Whether a compiled kernel's source is that of an installed package, which the candidate has not written."""
    code = getattr(getattr(getattr(kernel.src, "fn", None), "fn", None), "__code__", None)
    return code is not None and code.co_filename.startswith(PACKAGES)
