"""What a kernel compiled for an AMD GPU takes, read from the code object, and how many of its waves a compute unit holds.

The metadata is the note that LLVM's "User Guide for AMDGPU Backend" describes ("Code Object Metadata"), in MessagePack. Allocation
units and limits from the same guide and from AMD's ISA documents for CDNA 2, CDNA 3 and RDNA 3.
"""

import struct
from dataclasses import dataclass
from typing import Any

from tools.platforms import elf
from tools.platforms.sheet import Usage, rounded

_METADATA = 32
_SGPRS_AT_FULL = 100
"""Scalar registers with which a SIMD of GFX9 still holds eight waves."""


@dataclass(frozen=True)
class Limits:
    """Of one compute unit, or of the pair that shares a workgroup where the compiler builds for that."""

    wave: int
    """Lanes."""
    waves: int
    """Per SIMD; four SIMDs."""
    registers: int
    """Vector registers of a SIMD, per lane, those of the matrix unit among them."""
    register_unit: int
    lds: int
    lds_per_group: int
    lds_unit: int
    groups: int
    """Workgroups of more than one wave: each takes a barrier."""
    scalar_bound: bool
    """Whether scalar registers can cost waves."""


_SIMDS = 4
_CDNA = Limits(64, 8, 512, 8, 64 << 10, 64 << 10, 512, 16, scalar_bound=True)
LIMITS = {
    "gfx90a": _CDNA,
    "gfx942": _CDNA,
    "gfx1100": Limits(32, 16, 1536, 24, 128 << 10, 64 << 10, 512, 32, scalar_bound=False),
}
"""By processor."""


def usage(binary: bytes, arch: str, kernel: str, dynamic: int) -> Usage:
    """`dynamic`: LDS bytes that the launch asks for. Registers are vector registers; spills those of them that went to memory."""
    found = next((k for k in _metadata(binary).get("amdhsa.kernels", []) if k[".name"] == kernel), None)
    if found is None:
        return Usage(None, None, dynamic, None)
    registers, lds = found[".vgpr_count"], dynamic + found[".group_segment_fixed_size"]
    share = occupancy(arch, found[".max_flat_workgroup_size"], registers, found[".sgpr_count"], lds)
    return Usage(registers, found[".vgpr_spill_count"], lds, share)


def occupancy(arch: str, threads: int, registers: int, scalars: int, lds: int) -> float:
    """Resident waves by the most that a compute unit holds; 0 where not one workgroup fits."""
    limits = LIMITS[arch]
    if lds > limits.lds_per_group:
        return 0.0
    per_simd = min(limits.waves, limits.registers // rounded(max(registers, 1), limits.register_unit))
    if limits.scalar_bound and scalars > _SGPRS_AT_FULL:
        per_simd = min(per_simd, 7)
    waves = -(-threads // limits.wave)
    groups = per_simd * _SIMDS // waves
    if waves > 1:
        groups = min(groups, limits.groups)
    if lds:
        groups = min(groups, limits.lds // rounded(lds, limits.lds_unit))
    return groups * waves / (limits.waves * _SIMDS)


def _metadata(binary: bytes) -> dict[str, Any]:
    for section in elf.sections(binary):
        if section.kind == elf.NOTES:
            for kind, content in elf.notes(section):
                if kind == _METADATA:
                    value, _ = unpacked(content, 0)
                    return value if isinstance(value, dict) else {}
    return {}


_SIZES = {0xCC: "B", 0xCD: "H", 0xCE: "I", 0xCF: "Q", 0xD0: "b", 0xD1: "h", 0xD2: "i", 0xD3: "q", 0xCA: "f", 0xCB: "d"}
_LENGTHS = {
    0xD9: ("B", "text"), 0xDA: ("H", "text"), 0xDB: ("I", "text"), 0xC4: ("B", "bytes"), 0xC5: ("H", "bytes"), 0xC6: ("I", "bytes"),
    0xDC: ("H", "list"), 0xDD: ("I", "list"), 0xDE: ("H", "map"), 0xDF: ("I", "map"),
}  # fmt: skip
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}


def unpacked(data: bytes, at: int) -> tuple[Any, int]:
    """The MessagePack value at `at`, and where the next one begins. Raises `ValueError` for what no metadata holds."""
    tag = data[at]
    at += 1
    if tag <= 0x7F or tag >= 0xE0:
        return tag if tag <= 0x7F else tag - 256, at
    if tag in _CONSTANTS:
        return _CONSTANTS[tag], at
    if tag in _SIZES:
        form = struct.Struct(">" + _SIZES[tag])
        return form.unpack_from(data, at)[0], at + form.size
    if tag <= 0xBF:
        kind, length = ("map", tag & 15) if tag <= 0x8F else ("list", tag & 15) if tag <= 0x9F else ("text", tag & 31)
    elif tag in _LENGTHS:
        size, kind = _LENGTHS[tag]
        form = struct.Struct(">" + size)
        length, at = form.unpack_from(data, at)[0], at + form.size
    else:
        raise ValueError(f"MessagePack tag {tag:#x}")
    return _composed(data, at, kind, length)


def _composed(data: bytes, at: int, kind: str, length: int) -> tuple[Any, int]:
    if kind in ("text", "bytes"):
        content = data[at : at + length]
        return content.decode() if kind == "text" else content, at + length
    parts = []
    for _ in range(length * (2 if kind == "map" else 1)):
        value, at = unpacked(data, at)
        parts.append(value)
    return parts if kind == "list" else dict(zip(parts[::2], parts[1::2], strict=True)), at
