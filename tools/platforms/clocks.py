"""The state that a GPU is timed in: clocks, power, temperature, what holds the clocks down, who else computes. Read, never changed.

NVML by ctypes; whatever it does not tell is null, with a reason under `missing`. Structures and constants: nvml.h, CUDA 12 and 13.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

_SM, _MEMORY = 1, 2
_TEMPERATURE_GPU = 0
_SUCCESS, _INSUFFICIENT_SIZE = 0, 7
_PROCESSES = 256
_REASONS = {
    0x1: "idle", 0x2: "applications clocks", 0x4: "power cap", 0x8: "hardware slowdown", 0x10: "sync boost", 0x20: "software thermal",
    0x40: "hardware thermal", 0x80: "power brake", 0x100: "display clocks",
}  # fmt: skip
USUAL = frozenset({"idle", "applications clocks", "power cap", "display clocks"})
"""What holds clocks down on a machine in good order."""


class Unknown(Exception):
    """A field that NVML does not tell, with its reason."""


class _Process(ctypes.Structure):
    """nvmlProcessInfo_t, as version 3 of the call fills it."""

    _fields_ = [
        ("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong), ("gpu_instance", ctypes.c_uint), ("compute_instance", ctypes.c_uint),
    ]  # fmt: skip


def identity(index: int) -> str:
    """The UUID of a GPU by torch's index of it, or "" where torch does not know it."""
    import torch

    try:
        return str(torch.cuda.get_device_properties(index).uuid).removeprefix("GPU-")
    except (AttributeError, AssertionError, RuntimeError):
        return ""


def sample(index: int) -> dict[str, Any]:
    """`sm_mhz, memory_mhz, power_w, temperature_c, throttle` (names), `processes` (pids that hold a context), `missing`."""
    readers: dict[str, Callable[[ctypes.c_void_p], Any]] = {
        "sm_mhz": lambda gpu: _number(gpu, "nvmlDeviceGetClockInfo", _SM),
        "memory_mhz": lambda gpu: _number(gpu, "nvmlDeviceGetClockInfo", _MEMORY),
        "power_w": lambda gpu: _number(gpu, "nvmlDeviceGetPowerUsage") / 1000,
        "temperature_c": lambda gpu: _number(gpu, "nvmlDeviceGetTemperature", _TEMPERATURE_GPU),
        "throttle": _throttle,
        "processes": _processes,
    }
    found: dict[str, Any] = {}
    missing: dict[str, str] = {}
    for name, reader in readers.items():
        try:
            found[name] = reader(_handle(identity(index)))
        except Unknown as reason:
            found[name], missing[name] = None, str(reason)
    return found | {"missing": missing}


@cache
def _library() -> ctypes.CDLL | None:
    """NVML, begun; it stays for the life of the process."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    nvml.nvmlErrorString.restype = ctypes.c_char_p
    return None if nvml.nvmlInit_v2() else nvml


def _call(name: str, *args: Any) -> int:
    """The return code of an NVML function."""
    nvml = _library()
    if nvml is None:
        raise Unknown("NVML is not there")
    try:
        function = getattr(nvml, name)
    except AttributeError:
        raise Unknown(f"this driver has no {name}") from None
    return int(function(*args))


def _ask(name: str, *args: Any) -> None:
    if code := _call(name, *args):
        nvml = _library()
        text = nvml.nvmlErrorString(code) if nvml else b""
        raise Unknown(f"{name}: {text.decode('utf-8', 'replace') if text else code}")


@cache
def _handle(uuid: str) -> ctypes.c_void_p:
    if not uuid:
        raise Unknown("the device has no UUID")
    handle = ctypes.c_void_p()
    try:
        _ask("nvmlDeviceGetHandleByUUID", f"GPU-{uuid}".encode(), ctypes.byref(handle))
    except Unknown:
        _ask("nvmlDeviceGetHandleByUUID", f"MIG-{uuid}".encode(), ctypes.byref(handle))
    return handle


def _number(gpu: ctypes.c_void_p, name: str, *which: int) -> int:
    value = ctypes.c_uint()
    _ask(name, gpu, *(ctypes.c_int(w) for w in which), ctypes.byref(value))
    return value.value


def _throttle(gpu: ctypes.c_void_p) -> list[str]:
    mask = ctypes.c_ulonglong()
    try:
        _ask("nvmlDeviceGetCurrentClocksEventReasons", gpu, ctypes.byref(mask))
    except Unknown:
        _ask("nvmlDeviceGetCurrentClocksThrottleReasons", gpu, ctypes.byref(mask))
    return reasons(mask.value)


def reasons(mask: int) -> list[str]:
    """Names of what holds the clocks down; a bit without a name by its value."""
    return [_REASONS.get(1 << bit, hex(1 << bit)) for bit in range(mask.bit_length()) if mask >> bit & 1]


def _processes(gpu: ctypes.c_void_p) -> list[int]:
    count, found = ctypes.c_uint(_PROCESSES), (_Process * _PROCESSES)()
    code = _call("nvmlDeviceGetComputeRunningProcesses_v3", gpu, ctypes.byref(count), found)
    if code not in (_SUCCESS, _INSUFFICIENT_SIZE):
        raise Unknown(f"nvmlDeviceGetComputeRunningProcesses_v3: error {code}")
    return [found[number].pid for number in range(min(count.value, _PROCESSES))] if code == _SUCCESS else []
