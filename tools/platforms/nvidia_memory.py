"""Memory of an NVIDIA GPU that several processes use: CUDA's virtual memory management with POSIX file descriptors.

Legacy CUDA IPC cannot cross pid namespaces, descriptors can. Structures and constants: cuda.h, CUDA 12 and 13.
"""

import ctypes
import os
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

_PINNED, _DEVICE, _READ_WRITE = 1, 1, 3
_POSIX_FD = 1


class _Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class _Properties(ctypes.Structure):
    """CUmemAllocationProp."""

    _fields_ = [
        ("type", ctypes.c_int), ("handle_types", ctypes.c_int), ("location", _Location), ("win32", ctypes.c_void_p),
        ("flags", ctypes.c_ubyte * 8),
    ]  # fmt: skip


class _Access(ctypes.Structure):
    """CUmemAccessDesc."""

    _fields_ = [("location", _Location), ("flags", ctypes.c_int)]


class _Span:
    """Device memory for `torch.as_tensor`."""

    def __init__(self, pointer: int, size: int):
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (pointer, False), "version": 3}


@cache
def _driver() -> ctypes.CDLL:
    return ctypes.CDLL("libcuda.so.1")


def _call(name: str, *args: object) -> None:
    code = getattr(_driver(), name)(*args)
    if code:
        raise OSError(f"{name} failed with CUDA error {code}")


def export_memory(gpu: int, size: int) -> "tuple[int, torch.Tensor]":
    """Zeroed memory of a GPU, with a descriptor that `import_memory` takes in another process. `size` in bytes, a multiple of 2 MiB."""
    _context(gpu)
    properties = _Properties(_PINNED, _POSIX_FD, _Location(_DEVICE, gpu))
    handle, fd = ctypes.c_ulonglong(), ctypes.c_int()
    _call("cuMemCreate", ctypes.byref(handle), ctypes.c_size_t(size), ctypes.byref(properties), ctypes.c_ulonglong(0))
    _call("cuMemExportToShareableHandle", ctypes.byref(fd), handle, ctypes.c_int(_POSIX_FD), ctypes.c_ulonglong(0))
    return fd.value, _mapped(gpu, handle, size).zero_()


def import_memory(gpu: int, fd: int, size: int) -> "torch.Tensor":
    """The memory that another process has exported, as bytes."""
    _context(gpu)
    handle = ctypes.c_ulonglong()
    _call("cuMemImportFromShareableHandle", ctypes.byref(handle), ctypes.c_void_p(fd), ctypes.c_int(_POSIX_FD))
    os.close(fd)
    return _mapped(gpu, handle, size)


def _context(gpu: int) -> None:
    """torch makes the device's primary context and leaves it current."""
    import torch

    torch.cuda.set_device(gpu)
    torch.empty(1, device=f"cuda:{gpu}")


def _mapped(gpu: int, handle: ctypes.c_ulonglong, size: int) -> "torch.Tensor":
    import torch

    pointer, access = ctypes.c_ulonglong(), _Access(_Location(_DEVICE, gpu), _READ_WRITE)
    length, none = ctypes.c_size_t(size), ctypes.c_ulonglong(0)
    _call("cuMemAddressReserve", ctypes.byref(pointer), length, ctypes.c_size_t(0), none, none)
    _call("cuMemMap", pointer, length, ctypes.c_size_t(0), handle, none)
    _call("cuMemSetAccess", pointer, length, ctypes.byref(access), ctypes.c_size_t(1))
    return torch.as_tensor(_Span(pointer.value, size), device=f"cuda:{gpu}")
