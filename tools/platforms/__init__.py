"""Devices: vendor figures, detection, compilation targets. Nothing outside this package and `tools.simulated` names one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchmark.errors import unknown
from tools.platforms import amd, ncu, nvidia, nvidia_memory, simulated
from tools.platforms.sheet import Device, HardwareSheet, Usage

if TYPE_CHECKING:
    import torch
    from triton.backends.compiler import GPUTarget

__all__ = [
    "DISPATCH_KEYS", "Device", "HardwareSheet", "Usage", "default_targets", "detect", "driver", "export_memory", "gpu_target",
    "import_memory",
    "names", "ncu", "nearest", "nodes", "sheet", "sheet_of", "targets", "usage",
]  # fmt: skip

_VENDORS = {vendor.BACKEND: vendor for vendor in (nvidia, amd)}
_SHEETS = {name: sheet for vendor in _VENDORS.values() for name, sheet in vendor.SHEETS.items()}
DISPATCH_KEYS = ("CUDA", "HIP")
"""What torch calls the devices of these platforms where it looks an operator up."""


def names() -> list[str]:
    """Of the hardware whose figures are known."""
    return sorted(_SHEETS)


def sheet(name: str) -> HardwareSheet:
    """Vendor figures by short name, for example `h100`; upper and lower case are the same."""
    if name.lower() not in _SHEETS:
        raise unknown("hardware", name, _SHEETS)
    return _SHEETS[name.lower()]


def sheet_of(device: str) -> HardwareSheet | None:
    """Vendor figures of a device by the name that its driver gives; None where they are not known."""
    return next((sheet for name, sheet in _SHEETS.items() if name in device.lower()), None)


def detect() -> Device:
    """The GPU that torch sees, else the simulated device."""
    return nvidia.detect() or simulated.device()


def nodes() -> list[str]:
    """Device files that a process must open to use the GPUs at hand."""
    return nvidia.nodes()


def driver() -> str:
    """Version of the GPU driver, or "" where there is none."""
    return nvidia.driver()


def export_memory(gpu: int, size: int) -> "tuple[int, torch.Tensor]":
    """`size` bytes of a GPU's memory, and a descriptor by which another process maps them. Raises `OSError`."""
    return nvidia_memory.export_memory(gpu, size)


def import_memory(gpu: int, fd: int, size: int) -> "torch.Tensor":
    """What another process has exported. Raises `OSError`."""
    return nvidia_memory.import_memory(gpu, fd, size)


def default_targets() -> tuple[str, ...]:
    """What simulated mode compiles for unless told otherwise."""
    return (simulated.SHEET.target,)


def targets() -> list[str]:
    """What can be compiled for, as `backend:arch`."""
    return [f"{backend}:{arch}" for backend, vendor in _VENDORS.items() for arch in vendor.archs()]


def nearest(targets: Sequence[str], wanted: str) -> str:
    """The target `wanted`, else the first of its vendor, else the first."""
    return min(targets, key=lambda target: (target != wanted, target.partition(":")[0] != wanted.partition(":")[0]))


def gpu_target(target: str) -> "GPUTarget":
    """Triton's target for `backend:arch`, for example `cuda:90`."""
    from triton.backends.compiler import GPUTarget

    if target not in targets():
        raise unknown("compilation target", target, targets())
    backend, _, arch = target.partition(":")
    return GPUTarget(backend, *_VENDORS[backend].compiler_target(arch))


def usage(target: str, binary: bytes, kernel: str, dynamic: int) -> Usage:
    """Registers, spills, shared memory and occupancy of a built kernel, read from the binary itself.

    `dynamic`: shared bytes per block that the launch asks for beside those of the binary.
    """
    backend, _, arch = target.partition(":")
    return _VENDORS[backend].usage(binary, arch, kernel, dynamic)
