"""Registers, spills and occupancy against what the compiler writes beside its assembly."""

import re
import struct
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools import platforms
from tools.platforms import hsaco

TARGETS = [t for t in platforms.targets() if t.startswith("hip:")]
BUILDS = [(t, name) for t in TARGETS for name in ("row", "product", f"spilling wave{platforms.gpu_target(t).warp_size}")]


def said(kernel: Any, name: str) -> int:
    """A figure among the comments that end the compiler's assembly."""
    return int(re.search(rf"^\s*;? ?\.?{name}: +(\d+)", kernel.asm["amdgcn"], re.MULTILINE).group(1))


@pytest.mark.parametrize(("target", "name"), BUILDS)
def test_the_file_says_what_the_assembler_was_told(target: str, name: str, built: Callable) -> None:
    kernel = built(target, name)
    used = platforms.usage(target, kernel.kernel, kernel.metadata.name, kernel.metadata.shared)
    assert used.registers == said(kernel, "vgpr_count") > 0
    assert used.spills == said(kernel, "vgpr_spill_count")
    assert (used.spills > 0) == name.startswith("spilling")
    assert used.shared_bytes == kernel.metadata.shared


@pytest.mark.parametrize(("target", "name"), BUILDS)
def test_waves_by_registers_are_the_compilers(target: str, name: str, built: Callable) -> None:
    kernel = built(target, name)
    arch, limits = target.partition(":")[2], hsaco.LIMITS[target.partition(":")[2]]
    share = hsaco.occupancy(arch, limits.wave, said(kernel, "vgpr_count"), said(kernel, "sgpr_count"), 0)
    assert share * limits.waves == said(kernel, "Occupancy")


@pytest.mark.parametrize(
    ("arch", "threads", "registers", "lds", "share"),
    [
        ("gfx942", 256, 64, 0, 1.0),
        ("gfx942", 256, 65, 0, 7 / 8),
        ("gfx942", 256, 512, 0, 1 / 8),
        ("gfx942", 256, 64, 64 << 10, 1 / 8),
        ("gfx942", 256, 64, (64 << 10) + 1, 0.0),
        ("gfx942", 1024, 129, 0, 0.0),
        ("gfx90a", 128, 32, 0, 1.0),
        ("gfx1100", 128, 96, 0, 1.0),
        ("gfx1100", 128, 97, 0, 12 / 16),
        ("gfx1100", 64, 32, 0, 1.0),
        ("gfx1100", 128, 32, 64 << 10, 2 * 4 / 64),
    ],
)
def test_occupancy_by_each_limit(arch: str, threads: int, registers: int, lds: int, share: float) -> None:
    assert hsaco.occupancy(arch, threads, registers, 20, lds) == share


def test_a_kernel_that_is_not_in_the_file_has_no_figures(built: Callable) -> None:
    used = platforms.usage("hip:gfx942", built("hip:gfx942", "row").kernel, "another", 64)
    assert used == platforms.Usage(None, None, 64, None)


def packed(value: Any) -> bytes:
    """MessagePack, long forms only."""
    if value is None or isinstance(value, bool):
        return bytes([{None: 0xC0, False: 0xC2, True: 0xC3}[value]])
    if isinstance(value, int):
        return struct.pack(">BQ", 0xCF, value) if value >= 0 else struct.pack(">Bq", 0xD3, value)
    if isinstance(value, str):
        return struct.pack(">BI", 0xDB, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return struct.pack(">BI", 0xDD, len(value)) + b"".join(map(packed, value))
    return struct.pack(">BI", 0xDF, len(value)) + b"".join(packed(k) + packed(v) for k, v in value.items())


SIMPLE = st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**64 - 1), st.text(max_size=40))


@given(st.recursive(SIMPLE, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)))
def test_what_is_packed_is_unpacked(value: Any) -> None:
    data = packed(value)
    assert hsaco.unpacked(data + b"rest", 0) == (value, len(data))


def test_short_forms_are_unpacked() -> None:
    assert hsaco.unpacked(b"\x83\xa1a\x05\xa1b\x92\xff\xcc\xc8\xa1c\xd9\x02hi", 0)[0] == {"a": 5, "b": [-1, 200], "c": "hi"}


def test_a_tag_that_no_metadata_holds_is_refused() -> None:
    with pytest.raises(ValueError, match="0xc1"):
        hsaco.unpacked(b"\xc1", 0)
