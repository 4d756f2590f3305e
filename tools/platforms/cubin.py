"""What a kernel compiled for an NVIDIA GPU takes, read from the cubin, and how many of its warps a multiprocessor holds.

Attribute numbers as `cuobjdump -elf` names them. Occupancy by the rules of NVIDIA's cuda_occupancy.h (CUDA 13); limits from the
CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
"""

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from tools.platforms import elf
from tools.platforms.sheet import Usage, rounded

WARP = 32
_BYTES = 4
"""The format of attributes whose content follows; others hold theirs in two bytes."""
_REGISTERS, _FRAME, _STACK, _THREADS = 0x2F, 0x11, 0x12, 0x10
_REGISTER_UNIT, _PARTITIONS = 256, 4
_RESERVED = 1024
"""Shared bytes per block that the system keeps. From 9.0 on a cubin counts them itself."""


@dataclass(frozen=True)
class Limits:
    """Of one multiprocessor."""

    warps: int
    blocks: int
    shared: int
    shared_per_block: int
    """The most that one block may ask for, without what the system keeps."""
    registers: int = 65536
    shared_unit: int = 128


LIMITS = {
    75: Limits(32, 16, 64 << 10, 64 << 10, shared_unit=256),
    80: Limits(64, 32, 164 << 10, 163 << 10),
    86: Limits(48, 16, 100 << 10, 99 << 10),
    89: Limits(48, 24, 100 << 10, 99 << 10),
    90: Limits(64, 32, 228 << 10, 227 << 10),
    100: Limits(64, 32, 228 << 10, 227 << 10),
    103: Limits(64, 32, 228 << 10, 227 << 10),
    120: Limits(48, 24, 100 << 10, 99 << 10),
    121: Limits(48, 24, 100 << 10, 99 << 10),
}
"""By compute capability."""


def usage(binary: bytes, arch: int, kernel: str, dynamic: int) -> Usage:
    """`dynamic`: shared bytes that the launch asks for. What the file does not say is None."""
    sections = elf.sections(binary)
    table, symbols = {section.name: section for section in sections}, elf.symbols(sections)
    if f".nv.info.{kernel}" not in table:
        return Usage(None, None, dynamic, None)
    index = symbols.index(kernel)
    of_kernel = {kind: value for kind, (symbol, value) in _pairs(table[".nv.info"].data) if symbol == index}
    registers, stack = of_kernel[_REGISTERS], max(of_kernel[_FRAME], of_kernel[_STACK])
    shared = dynamic + (table[f".nv.shared.{kernel}"].size if f".nv.shared.{kernel}" in table else 0)
    threads = math.prod(struct.unpack("<III", dict(_attributes(table[f".nv.info.{kernel}"].data))[_THREADS]))
    return Usage(registers, stack // 4, shared, occupancy(arch, threads, registers, shared))


def occupancy(arch: int, threads: int, registers: int, shared: int) -> float:
    """Resident warps by the most that a multiprocessor holds; 0 where not one block fits. `shared` as in `Usage`."""
    limits, warps = LIMITS[arch], -(-threads // WARP)
    shared += 0 if arch >= 90 else _RESERVED if arch >= 80 else 0
    if shared > limits.shared_per_block + (_RESERVED if arch >= 80 else 0):
        return 0.0
    blocks = min(limits.blocks, limits.warps // warps)
    if registers:
        of_warp = rounded(registers * WARP, _REGISTER_UNIT)
        if of_warp * rounded(warps, _PARTITIONS) > limits.registers:
            return 0.0
        blocks = min(blocks, limits.registers // _PARTITIONS // of_warp * _PARTITIONS // warps)
    if shared:
        blocks = min(blocks, limits.shared // rounded(shared, limits.shared_unit))
    return blocks * warps / limits.warps


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(data):
        form, kind, size = struct.unpack_from("<BBH", data, at)
        at += 4
        if form == _BYTES:
            yield kind, data[at : at + size]
            at += size


def _pairs(data: bytes) -> Iterator[tuple[int, tuple[int, int]]]:
    """Attributes that hold a symbol and a number."""
    for kind, content in _attributes(data):
        if len(content) == 8:
            yield kind, struct.unpack("<II", content)
