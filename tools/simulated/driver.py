"""A Triton driver whose device is a hardware sheet and whose launcher is the interpreter."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

from tools import platforms
from tools.platforms.sheet import HardwareSheet
from tools.simulated.tensor import DEVICE

Launch = Callable[[Any, tuple[int, int, int], tuple, int], None]
"""`launch(jit_function, grid, values of all its parameters, warps per program)`."""


_devices: dict[str, int] = {}
"""Triton keeps compiled kernels by device index, also from session to session: every target has an index of its own."""


class _Utils:
    """What the native driver library answers."""

    def __init__(self, sheet: HardwareSheet) -> None:
        self._sheet = sheet

    def get_device_properties(self, device: int) -> dict[str, int]:
        sheet = self._sheet
        return {
            "max_shared_mem": sheet.shared_per_block,
            "max_num_regs": sheet.registers_per_multiprocessor,
            "multiprocessor_count": sheet.multiprocessors,
            "warpSize": sheet.warp_size,
            "sm_clock_rate": 1,
            "mem_clock_rate": 1,
            "mem_bus_width": 1,
        }

    def load_binary(self, name: str, binary: bytes, shared: int, device: int) -> tuple[None, int, int, int, int]:
        """Module, function, registers, spills, most threads. Kernels that size their grid by occupancy read the real registers.

        There is no module: a kernel unloads its own with the driver of the time when it is collected, and it may outlive the session.
        """
        used = platforms.usage(self._sheet.target, binary, name, shared)
        return None, 1, used.registers or 0, used.spills or 0, self._sheet.max_threads_per_block


class SimDriver:
    """The active driver of a session. What it says of itself is the `own` of `targets`, but while another is compiled for."""

    def __init__(self, targets: tuple[str, ...], own: int, sheet: HardwareSheet, launch: Launch) -> None:
        self.order = (own, *(index for index in range(len(targets)) if index != own))
        self.utils = _Utils(sheet)
        self.launch = launch
        self._targets = [platforms.gpu_target(target) for target in targets]
        self._devices = [_devices.setdefault(target, len(_devices)) for target in targets]
        self._index = own

    @contextmanager
    def compiling_for(self, index: int) -> Iterator[None]:
        own, self._index = self._index, index
        try:
            yield
        finally:
            self._index = own

    def get_current_target(self) -> GPUTarget:
        return self._targets[self._index]

    def get_current_device(self) -> int:
        return self._devices[self._index]

    def set_current_device(self, device: int) -> None: ...

    def get_current_stream(self, device: int = 0) -> int:
        return 0

    def get_device_capability(self, device: int = 0) -> tuple[int, int]:
        return torch.cuda.get_device_capability()

    def get_active_torch_device(self) -> torch.device:
        return DEVICE

    def get_device_interface(self) -> Any:
        return torch.cuda

    def map_python_to_cpp_type(self, ty: str) -> str:
        return "int"

    def get_benchmarker(self) -> Callable:
        """Nothing is timed here: every candidate configuration takes a millisecond."""
        return lambda call, quantiles=None, **kwargs: [1.0] * len(quantiles) if quantiles else 1.0

    def get_empty_cache_for_benchmark(self) -> torch.Tensor:
        return torch.empty(1, dtype=torch.int, device=DEVICE)

    def clear_cache(self, cache: torch.Tensor) -> None: ...

    def launcher_cls(self, source: Any, metadata: Any) -> Callable:
        """What a compiled kernel is launched by: (x, y, z, stream, function, metadata, launch metadata, hooks, *values)."""

        def launch(x: int, y: int, z: int, *rest: Any) -> None:
            # A compiled kernel outlives the session that built it, so the driver of now is asked.
            driver.active.launch(source.fn, (x, y, z), rest[6:], metadata.num_warps)

        return launch
