"""Registers, spills and shared memory against cuobjdump, occupancy against NVIDIA's own header."""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import triton
from hypothesis import given, settings
from hypothesis import strategies as st
from triton import knobs

from tools import platforms
from tools.platforms import cubin

TARGETS = [t for t in platforms.targets() if t.startswith("cuda:")]
HEADER = Path(triton.__file__).parent / "backends" / "nvidia" / "include" / "cuda_occupancy.h"
CALCULATOR = """
#include <stdio.h>
#include "cuda_occupancy.h"
int main(void) {
    int major, minor, threads, registers; long warps, per_sm, optin, fixed, dynamic, reserved;
    while (scanf("%d %d %d %d %ld %ld %ld %ld %ld %ld", &major, &minor, &threads, &registers, &warps, &per_sm, &optin, &reserved, &fixed,
                 &dynamic) == 10) {
        cudaOccDeviceProp device = {0};
        cudaOccFuncAttributes kernel = {0};
        cudaOccDeviceState state = {CACHE_PREFER_SHARED, SHAREDMEM_CARVEOUT_MAX_SHARED};
        cudaOccResult result;
        device.computeMajor = major; device.computeMinor = minor; device.maxThreadsPerBlock = 1024;
        device.maxThreadsPerMultiprocessor = warps * 32; device.regsPerBlock = device.regsPerMultiprocessor = 65536;
        device.warpSize = 32; device.sharedMemPerBlock = 49152; device.sharedMemPerMultiprocessor = per_sm; device.numSms = 1;
        device.sharedMemPerBlockOptin = optin; device.reservedSharedMemPerBlock = reserved;
        kernel.maxThreadsPerBlock = 1024; kernel.numRegs = registers; kernel.sharedSizeBytes = fixed;
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN; kernel.maxDynamicSharedSizeBytes = optin - fixed;
        int failed = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, threads, dynamic);
        printf("%d\\n", failed ? -failed : result.activeBlocksPerMultiprocessor);
        fflush(stdout);
    }
}
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["row", "product"])
def test_the_file_says_what_cuobjdump_says(target: str, name: str, built: Callable) -> None:
    agrees_with_cuobjdump(target, built(target, name))


def test_spills_are_those_of_cuobjdump(built: Callable) -> None:
    kernel = built("cuda:90", "spilling row")
    assert agrees_with_cuobjdump("cuda:90", kernel) > 0


def agrees_with_cuobjdump(target: str, kernel: triton.compiler.CompiledKernel) -> int:
    used = platforms.usage(target, kernel.kernel, kernel.metadata.name, kernel.metadata.shared)
    path = Path(knobs.cache.dir) / "usage.cubin"
    path.write_bytes(kernel.kernel)
    command = [knobs.nvidia.cuobjdump.path, "-res-usage", str(path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    registers, stack, static, local = map(int, re.search(r"REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)", text).groups())
    assert (used.registers, used.spills) == (registers, max(stack, local) // 4)
    assert used.shared_bytes == kernel.metadata.shared + static
    return used.spills


def test_a_kernel_that_is_not_in_the_file_has_no_figures(built: Callable) -> None:
    used = platforms.usage("cuda:90", built("cuda:90", "row").kernel, "another", 64)
    assert used == platforms.Usage(None, None, 64, None)


def test_what_is_no_kernel_is_said() -> None:
    with pytest.raises(ValueError, match="ELF"):
        platforms.usage("cuda:90", b"nothing", "row", 0)


def test_occupancy_counts_the_warps_of_the_binary(built: Callable) -> None:
    kernel = built("cuda:90", "wide row")
    used = platforms.usage("cuda:90", kernel.kernel, kernel.metadata.name, kernel.metadata.shared)
    assert used.occupancy == cubin.occupancy(90, 256, used.registers, used.shared_bytes)
    assert used.occupancy * 64 % 8 == 0


@pytest.fixture(scope="module")
def calculator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.Popen]:
    if not shutil.which("gcc") or not HEADER.exists():
        pytest.skip("needs gcc and Triton's copy of cuda_occupancy.h")
    folder = tmp_path_factory.mktemp("occupancy")
    (folder / "main.c").write_text(CALCULATOR)
    subprocess.run(["gcc", "-w", "-I", str(HEADER.parent), "-o", str(folder / "main"), str(folder / "main.c")], check=True)
    with subprocess.Popen([folder / "main"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        yield process
        process.stdin.close()


@settings(max_examples=400, deadline=None)
@given(
    arch=st.sampled_from(sorted(cubin.LIMITS)),
    warps=st.sampled_from([1, 2, 4, 8, 16, 32]),
    registers=st.integers(16, 255),
    dynamic=st.one_of(st.just(0), st.integers(0, 230 << 10)),
)
def test_occupancy_is_nvidias(arch: int, warps: int, registers: int, dynamic: int, calculator: subprocess.Popen) -> None:
    limits = cubin.LIMITS[arch]
    reserved = 1024 if arch >= 80 else 0
    asked = [*divmod(arch, 10), warps * 32, registers, limits.warps, limits.shared, limits.shared_per_block, reserved, 0, dynamic]
    calculator.stdin.write(" ".join(map(str, asked)) + "\n")
    blocks = int(calculator.stdout.readline())
    counted = reserved if arch >= 90 else 0
    assert cubin.occupancy(arch, warps * 32, registers, dynamic + counted) == blocks * warps / limits.warps
