"""A real device as the sandbox sees it. Nothing here touches the device before the fork."""

import os
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import torch
import triton
import triton.language as tl
from triton.compiler import ASTSource, CompiledKernel
from triton.runtime.jit import JITFunction

from tools import platforms


@triton.jit
def _copy(x, y, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)


SEED: dict[str, bytes] = {}
"""Files of a Triton cache, by their path in it: the compiled half of Triton's driver, and a first kernel with its launcher."""


def warm(target: str) -> None:
    """In the zygote: loads the compiler by one compilation, for which no device is needed, and gathers what every sandbox compiles."""
    signature = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["TRITON_CACHE_DIR"] = scratch
        triton.compile(ASTSource(_copy, signature, {"BLOCK": 128}), target=platforms.gpu_target(target))
        _rehearse(target)
        SEED.update({str(path.relative_to(scratch)): path.read_bytes() for path in Path(scratch).rglob("*") if path.is_file()})
        del os.environ["TRITON_CACHE_DIR"]


def _rehearse(target: str) -> None:
    """Does in a process of its own what each sandbox does first: this one must not touch the device."""
    pid = os.fork()
    if pid == 0:
        try:
            with DeviceSession(0, target):
                os._exit(0)
        finally:
            # What is missing is built by each sandbox for itself.
            os._exit(1)
    os.waitpid(pid, 0)


def seed_cache() -> None:
    """Puts what all sandboxes have in common into this one's own Triton cache."""
    for name, data in SEED.items():
        path = Path(os.environ["TRITON_CACHE_DIR"]) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


class DeviceSession:
    """Records launches and compilations by wrapping `JITFunction.run`; with `noop` kernels are compiled and not launched."""

    def __init__(self, index: int, target: str):
        self.index = index
        self.target = target
        self.launches: list[str] = []
        self.out_of_bounds: list[dict[str, Any]] = []
        self.races: list[dict[str, Any]] = []
        self.advisories: list[str] = []
        self.traffic: list[dict[str, Any]] = []
        self.noop = False
        self.interpreting = False
        self.kernels: dict[str, dict[str, Any]] = {}
        self.seconds = 0.0
        self.error: str | None = None

    def __enter__(self) -> Self:
        torch.accelerator.set_device_index(self.index)
        self.device = torch.device(torch.accelerator.current_accelerator().type, self.index)  # type: ignore[union-attr]
        # The context, the driver and the launcher, before the candidate comes.
        first = torch.zeros(2, 128, device=self.device)
        _copy[(1,)](first[0], first[1], 128, BLOCK=128)
        torch.accelerator.synchronize()
        self._run = JITFunction.run
        JITFunction.run = self._wrap(JITFunction.run)
        self._getitem = CompiledKernel.__getitem__
        CompiledKernel.__getitem__ = self._wrap_compiled(CompiledKernel.__getitem__)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        JITFunction.run = self._run
        CompiledKernel.__getitem__ = self._getitem

    @property
    def compiles(self) -> list[dict[str, Any]]:
        return [{"target": self.target, "kernels": list(self.kernels.values()), "seconds": self.seconds, "error": self.error}]

    def to_device(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(self.device, copy=True)

    def to_host(self, tensor: torch.Tensor) -> torch.Tensor:
        # Nothing of the object's own is called, which might compute only now.
        with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
            return torch.Tensor.detach(torch.Tensor.as_subclass(tensor, torch.Tensor))

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

    def _wrap_compiled(self, getitem: Any) -> Any:
        """Launches of a compiled kernel by itself, `kernel[grid](...)` after `warmup`."""
        session = self

        def wrapped(kernel: Any, grid: Any) -> Any:
            runner = getitem(kernel, grid)

            def run(*args: Any, **kwargs: Any) -> None:
                session.launches.append(kernel.metadata.name)
                if not session.noop:
                    runner(*args, **kwargs)

            return run

        return wrapped

    def _note(self, kernel: Any) -> None:
        registers, spills = getattr(kernel, "n_regs", None), getattr(kernel, "n_spills", None)
        facts = {"name": kernel.metadata.name, "registers": registers, "spills": spills, "shared_bytes": kernel.metadata.shared}
        self.kernels[kernel.hash] = facts
