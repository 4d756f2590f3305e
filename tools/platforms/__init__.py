"""Devices: vendor figures, detection, compilation targets. Nothing outside this package and `tools.simulated` names one."""

import re
from typing import TYPE_CHECKING

from benchmark.errors import UserError, unknown
from tools.platforms import nvidia, simulated
from tools.platforms.sheet import Device, HardwareSheet, Usage

if TYPE_CHECKING:
    from triton.backends.compiler import GPUTarget

__all__ = ["Device", "HardwareSheet", "Usage", "default_targets", "detect", "driver", "gpu_target", "names", "nodes", "sheet", "usage"]

_SHEETS = nvidia.SHEETS
_WARP_SIZE = {nvidia.BACKEND: 32}


def names() -> list[str]:
    return sorted(_SHEETS)


def sheet(name: str) -> HardwareSheet:
    """Vendor figures by short name, for example `h100`; upper and lower case are the same."""
    if name.lower() not in _SHEETS:
        raise unknown("hardware", name, _SHEETS)
    return _SHEETS[name.lower()]


def detect() -> Device:
    """The GPU that torch sees, else the simulated device."""
    return nvidia.detect() or simulated.device()


def nodes() -> list[str]:
    """Device files that a process must open to use the GPUs at hand."""
    return nvidia.nodes()


def driver() -> str:
    """Version of the GPU driver, or "" where there is none."""
    return nvidia.driver()


def default_targets() -> tuple[str, ...]:
    """What simulated mode compiles for unless told otherwise."""
    return (simulated.SHEET.target,)


def gpu_target(target: str) -> "GPUTarget":
    """Triton's target for `backend:arch`, for example `cuda:90`."""
    from triton.backends.compiler import GPUTarget

    backend, _, arch = target.partition(":")
    if backend not in _WARP_SIZE or not re.fullmatch(r"\d+", arch):
        raise UserError(f"Unknown compilation target {target!r}. Write {nvidia.BACKEND}:ARCH, for example {', '.join(default_targets())}.")
    return GPUTarget(backend, int(arch), _WARP_SIZE[backend])


def usage(target: str, binary: bytes, kernel: str, shared_bytes: int) -> Usage:
    """Registers, spills and shared memory of a built kernel, read from the binary itself."""
    gpu_target(target)
    return nvidia.usage(binary, kernel, shared_bytes)
