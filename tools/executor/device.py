"""A real device as the sandbox sees it. Nothing here touches the device before the fork."""

import os
import tempfile
import time
from types import TracebackType
from typing import Any, Self

import torch
import triton
import triton.language as tl
from triton.compiler import ASTSource
from triton.runtime.jit import JITFunction

from tools import platforms


@triton.jit
def _copy(x, y, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)


def warm(target: str) -> None:
    """In the zygote: loads the compiler by one compilation, for which no device is needed."""
    signature = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["TRITON_CACHE_DIR"] = scratch
        triton.compile(ASTSource(_copy, signature, {"BLOCK": 128}), target=platforms.gpu_target(target))
        del os.environ["TRITON_CACHE_DIR"]


class DeviceSession:
    """Records launches and compilations by wrapping `JITFunction.run`; with `noop` kernels are compiled and not launched."""

    def __init__(self, index: int, target: str):
        self.index = index
        self.target = target
        self.launches: list[str] = []
        self.out_of_bounds: list[dict[str, Any]] = []
        self.noop = False
        self.kernels: dict[str, dict[str, Any]] = {}
        self.seconds = 0.0
        self.error: str | None = None

    def __enter__(self) -> Self:
        torch.accelerator.set_device_index(self.index)
        self.device = torch.device(torch.accelerator.current_accelerator().type, self.index)  # type: ignore[union-attr]
        torch.empty(1, device=self.device)
        self._run = JITFunction.run
        JITFunction.run = self._wrap(JITFunction.run)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        JITFunction.run = self._run

    @property
    def compiles(self) -> list[dict[str, Any]]:
        return [{"target": self.target, "kernels": list(self.kernels.values()), "seconds": self.seconds, "error": self.error}]

    def to_device(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(self.device, copy=True)

    def to_host(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.detach().cpu()

    def _wrap(self, run: Any) -> Any:
        session = self

        def wrapped(jit: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
            begun = time.perf_counter()
            kernel = run(jit, *args, grid=grid, warmup=warmup or session.noop, **kwargs)
            if not warmup:
                # After it, for a kernel that does not compile has not been launched.
                session.launches.append(jit.__name__)
            if kernel is not None and kernel.hash not in session.kernels:
                session.seconds += time.perf_counter() - begun
                session._note(kernel)
            return kernel

        return wrapped

    def _note(self, kernel: Any) -> None:
        registers, spills = getattr(kernel, "n_regs", None), getattr(kernel, "n_spills", None)
        facts = {"name": kernel.metadata.name, "registers": registers, "spills": spills, "shared_bytes": kernel.metadata.shared}
        self.kernels[kernel.hash] = facts
