"""NVIDIA GPUs: vendor figures, compilation targets, detection without a CUDA context."""

import ctypes
import re
from pathlib import Path

from tools.platforms import cubin
from tools.platforms.sheet import Device, HardwareSheet, Usage

BACKEND = "cuda"
_NOTES = (
    "The grid's first axis takes 2**31 - 1 programs, the second and third 65535: put the long one first.",
    "Memory moves in sectors of 32 bytes: let a block's last dimension run along the contiguous one.",
    "The rates of tensorfloat32 and of all narrower types are those of the tensor cores, which `tl.dot` alone reaches.",
)
"""CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" and "Device Memory Accesses"; architecture whitepapers."""
_HOPPER_NOTES = (
    *_NOTES,
    "fp8 is `tl.float8e4nv` and `tl.float8e5`.",
    "Tensor cores multiply 64 rows by 4 warps at a time: tiles with fewer rows, or `num_warps` below 4, leave part of them idle.",
)
"""Triton's NVIDIA backend (`supported_fp8_dtypes`); PTX ISA, "wgmma.mma_async" (m64, one warp group)."""
_AMPERE_NOTES = (*_NOTES, "There is no fp8 arithmetic: `tl.float8e5` can be loaded and converted, `tl.float8e4nv` does not compile.")
"""Triton's NVIDIA backend (`supported_fp8_dtypes` below compute capability 8.9); A100 whitepaper, "A100 Tensor Cores"."""
_HOPPER_FLOPS = {
    "float64": 33.5e12,
    "float32": 66.9e12,
    "tensorfloat32": 494.7e12,
    "float16": 989.4e12,
    "bfloat16": 989.4e12,
    "float8": 1978.9e12,
    "int8": 1978.9e12,
}
_HOPPER_SOURCE = "NVIDIA H100 Tensor Core GPU Architecture whitepaper v1.04; CUDA C++ Programming Guide, compute capability 9.0"

H100 = HardwareSheet(
    name="NVIDIA H100 80GB HBM3",
    target="cuda:90",
    multiprocessors=132,
    clock_hz=1.98e9,
    memory_bytes=80 << 30,
    memory_bandwidth=3.35e12,
    peak_flops=_HOPPER_FLOPS,
    shared_per_block=227 << 10,
    shared_per_multiprocessor=228 << 10,
    registers_per_multiprocessor=65536,
    max_threads_per_multiprocessor=2048,
    max_threads_per_block=1024,
    l2_bytes=50 << 20,
    warp_size=32,
    source=f"{_HOPPER_SOURCE}; H100 SXM5 datasheet",
    notes=_HOPPER_NOTES,
)
H200 = HardwareSheet(
    name="NVIDIA H200",
    target="cuda:90",
    multiprocessors=132,
    clock_hz=1.98e9,
    memory_bytes=141 << 30,
    memory_bandwidth=4.8e12,
    peak_flops=_HOPPER_FLOPS,
    shared_per_block=227 << 10,
    shared_per_multiprocessor=228 << 10,
    registers_per_multiprocessor=65536,
    max_threads_per_multiprocessor=2048,
    max_threads_per_block=1024,
    l2_bytes=50 << 20,
    warp_size=32,
    source=f"{_HOPPER_SOURCE}; H200 SXM datasheet",
    notes=_HOPPER_NOTES,
)
A100 = HardwareSheet(
    name="NVIDIA A100-SXM4-80GB",
    target="cuda:80",
    multiprocessors=108,
    clock_hz=1.41e9,
    memory_bytes=80 << 30,
    memory_bandwidth=2.039e12,
    peak_flops={
        "float64": 9.7e12,
        "float32": 19.5e12,
        "tensorfloat32": 156e12,
        "float16": 312e12,
        "bfloat16": 312e12,
        "int8": 624e12,
    },
    shared_per_block=163 << 10,
    shared_per_multiprocessor=164 << 10,
    registers_per_multiprocessor=65536,
    max_threads_per_multiprocessor=2048,
    max_threads_per_block=1024,
    l2_bytes=40 << 20,
    warp_size=32,
    source="NVIDIA A100 Tensor Core GPU Architecture whitepaper v1.0; A100 SXM datasheet; CUDA C++ Programming Guide, 8.0",
    notes=_AMPERE_NOTES,
)
SHEETS = {"h100": H100, "h200": H200, "a100": A100}


def archs() -> list[str]:
    """What is compiled for: the compute capabilities whose limits are known, without the dot."""
    return [str(arch) for arch in cubin.LIMITS]


def compiler_target(arch: str) -> tuple[int, int]:
    """What Triton calls the architecture, and threads per warp."""
    return int(arch), cubin.WARP


def usage(binary: bytes, arch: str, kernel: str, dynamic: int) -> Usage:
    return cubin.usage(binary, int(arch), kernel, dynamic)


def detect() -> Device | None:
    """The GPUs that torch sees, or None. Asks NVML, so that no CUDA context is made where torch can avoid it."""
    import torch

    if torch.version.cuda is None:
        return None
    count = torch.cuda.device_count()
    if not count:
        return None
    name = _name() or torch.cuda.get_device_name(0)
    sheet = next((s for key, s in SHEETS.items() if key in name.lower()), None)
    return Device("nvidia", name, count, "cuda:0", sheet)


def _name() -> str:
    """The first GPU's name from NVML, or "" where NVML is missing."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return ""
    handle, text = ctypes.c_void_p(), ctypes.create_string_buffer(96)
    if nvml.nvmlInit_v2():
        return ""
    failed = nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle)) or nvml.nvmlDeviceGetName(handle, text, len(text))
    nvml.nvmlShutdown()
    return "" if failed else text.value.decode()


def nodes() -> list[str]:
    """The device files that a process must open to use the GPUs."""
    dev = Path("/dev")
    return sorted(str(path) for path in (*dev.glob("nvidia*"), *dev.glob("nvidia-caps/*")) if not path.is_dir())


def driver() -> str:
    """The kernel driver's version, or "" where there is none."""
    found = re.search(r"Kernel Module\s+(?:for \S+\s+)?(\d[\d.]+)", _read("/proc/driver/nvidia/version"))
    return found.group(1) if found else ""


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
