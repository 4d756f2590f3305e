"""AMD GPUs: vendor figures and compilation targets. Candidates are compiled for them; none is looked for on the machine."""

from tools.platforms import hsaco
from tools.platforms.sheet import HardwareSheet, Usage

BACKEND = "hip"
_NOTES = (
    "A warp (wavefront) has 64 lanes, so that `num_warps=4` is 256 threads.",
    "Shared memory (LDS) is 64 KiB: with large tiles take `num_stages=1` or 2.",
    "The rates of tensorfloat32 and of all narrower types are those of the matrix cores, which `tl.dot` alone reaches.",
    "fp8 runs at its rate as `tl.float8e4b8` and `tl.float8e5b16` (fnuz: no infinities, one NaN); `tl.float8e4nv` is converted.",
)
"""AMD CDNA 3 architecture white paper and instruction set; Triton's AMD backend (`supported_fp8_dtypes`); ROCm documentation, "Optimizing
Triton kernels"."""

MI300X = HardwareSheet(
    name="AMD Instinct MI300X",
    target="hip:gfx942",
    multiprocessors=304,
    clock_hz=2.1e9,
    memory_bytes=192 << 30,
    memory_bandwidth=5.325e12,
    peak_flops={
        "float64": 81.7e12,
        "float32": 163.4e12,
        "tensorfloat32": 653.7e12,
        "float16": 1307.4e12,
        "bfloat16": 1307.4e12,
        "float8": 2614.9e12,
        "int8": 2614.9e12,
    },
    shared_per_block=64 << 10,
    shared_per_multiprocessor=64 << 10,
    registers_per_multiprocessor=4 * 512 * 64,
    max_threads_per_multiprocessor=2048,
    max_threads_per_block=1024,
    l2_bytes=32 << 20,
    warp_size=64,
    source="AMD Instinct MI300X data sheet; AMD CDNA 3 architecture white paper; AMD Instinct MI300 instruction set architecture",
    notes=_NOTES,
)
SHEETS = {"mi300x": MI300X}


def archs() -> list[str]:
    """The processors whose limits are known."""
    return list(hsaco.LIMITS)


def compiler_target(arch: str) -> tuple[str, int]:
    """What Triton calls the architecture, and lanes per wave."""
    return arch, hsaco.LIMITS[arch].wave


def usage(binary: bytes, arch: str, kernel: str, dynamic: int) -> Usage:
    return hsaco.usage(binary, arch, kernel, dynamic)
