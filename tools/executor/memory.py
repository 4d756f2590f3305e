"""The memory that judge and sandbox share: a sealed memfd, or on a GPU an allocation of the judge exported as a descriptor.

Its first half holds inputs, its second half outputs. Nobody but the judge can change its size.
"""

import fcntl
import mmap
import os

import torch

from tools import platforms
from tools.executor.channel import Message
from tools.executor.wire import Region

SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
HALF = {"simulated": 256 << 20, "device": 8 << 30}
"""Bytes of each half on the host. Memory is taken only where it is written."""
DEVICE_HALF = 4 << 30
"""Bytes of each half on a GPU, where all is taken at once: this, or `DEVICE_SHARE` of what the GPU has."""
DEVICE_SHARE = 1 / 32
KEPT = 1 << 30
"""Bytes of a GPU that are kept for the next case."""


def host(mode: str) -> tuple[int, Message]:
    """Fresh host memory: its descriptor, and its description for the other processes."""
    fd = os.memfd_create("kernelwright", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, 2 * HALF[mode])
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, SEALS)
    return fd, {"size": 2 * HALF[mode], "gpu": None}


def on_device(gpu: int, total_bytes: int) -> tuple[int, torch.Tensor]:
    """Memory of a GPU with a descriptor for it. Raises `OSError` where the driver cannot share any."""
    half = min(DEVICE_HALF, int(total_bytes * DEVICE_SHARE)) >> 21 << 21
    return platforms.export_memory(gpu, 2 * half)


def attached(fd: int, memory: Message) -> torch.Tensor:
    """The described memory in this process, as bytes. The descriptor is not needed any more. Raises `OSError`."""
    if memory["gpu"] is not None:
        return platforms.import_memory(memory["gpu"], fd, memory["size"])
    return torch.frombuffer(mmap.mmap(fd, memory["size"]), dtype=torch.uint8)


def regions(memory: torch.Tensor) -> tuple[Region, Region]:
    """For inputs and for outputs."""
    half = memory.numel() // 2
    return Region(memory[:half]), Region(memory[half:])


def trim(device: str) -> None:
    """Gives back what the allocator keeps of a GPU's memory for later: others share the GPU."""
    if device != "cpu" and torch.accelerator.memory_reserved() - torch.accelerator.memory_allocated() > KEPT:
        torch.accelerator.empty_cache()
