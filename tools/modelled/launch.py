"""The modelled time of one kernel launch.

    time = START + max(memory, cache, elementwise, products, latency, dispatch)

A sample of the launch's programs is interpreted at the timed size, and its counts are multiplied by grid / sample:

- memory: bytes that must pass through device memory, over `REACHED` of the sheet's bandwidth. Sectors that are loaded again come
  from the L2 cache where what the resident programs work on fits there; else the part that does not fit is fetched again.
- cache: all sectors, and spilled registers there and back, over the L2 bandwidth, `L2_BYTES` per clock and multiprocessor, on as many
  multiprocessors as have programs.
- elementwise: operations over `PLAIN_SHARE` of the fp32 peak; they are half of it without fused multiply-add, and as many
  instructions again convert and calculate addresses.
- products: matrix FLOPs over the peak of their dtype times `DOT_REACHED`, or over what shared memory feeds: a warp that owns a
  tile of side s loads b / s bytes per FLOP for elements of b bytes. s follows from the counts: FLOPs over bytes loaded is s_block / b,
  and a block's tile is cut among its warps.
- latency: programs that are resident at once (by registers, shared memory, threads and `MOST_BLOCKS` per multiprocessor) make one wave;
  each wave lasts `PROGRAM_US` and for each load of a program `LOAD_US`, or `CACHED_US` where the launch has loaded the bytes before;
  less for loops of products, whose loads are prefetched.
- dispatch: programs over the rate at which the device begins them.

Work is shared out in whole programs: arithmetic is divided by (programs / multiprocessors) / ceil(programs / multiprocessors).

Sources: sheets (`tools.platforms`); 128 bytes per clock of shared memory and 32 blocks per multiprocessor, CUDA C++ Programming Guide
9.0; latencies and L2 bandwidth, Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking",
2024. The shares were set once with `benchmarks/calibrate_model.py` (docs/modelled.md).
"""

import math
from dataclasses import dataclass, fields
from typing import Any

from tools.platforms import HardwareSheet

START_US = 2.2
"""From the end of one launch to the beginning of the next one's programs."""
REACHED = 0.9
PLAIN_SHARE = 0.25
DOT_REACHED = 0.7
L2_BYTES = 32
SHARED_BYTES = 128
MOST_BLOCKS = 32
PROGRAM_US = 1.2
LOAD_US = 0.35
CACHED_US = 0.14
"""Some 270 cycles of the L2 cache."""
PREFETCHED = 0.25
"""Part of a load's latency that is seen in a loop of products."""
DISPATCH_US = 0.0006
ITEM = {"float64": 8, "float32": 4, "tensorfloat32": 4, "float16": 2, "bfloat16": 2}
"""Bytes of an element; others have 1."""


@dataclass(frozen=True)
class Launch:
    """One launch: counts for all its programs, bytes of sectors and of the storages touched, and the kernel's own needs."""

    kernel: str
    programs: int
    warps: int
    loaded: float
    stored: float
    span_loaded: float
    span_stored: float
    loads: float
    """Accesses of one program, each a block of lanes."""
    flops: float
    dot_flops: dict[str, float]
    registers: int
    spills: int
    """Words per thread."""
    shared_bytes: int

    @classmethod
    def counted(cls, report: dict[str, Any]) -> "Launch":
        """From an entry of a session's `traffic`."""
        programs = math.prod(report["grid"])
        scale = programs / max(1, report["programs_run"])
        loaded = (report["sectors_loaded"] + report["sectors_atomic"]) * scale
        stored = (report["sectors_stored"] + report["sectors_atomic"]) * scale
        return cls(
            kernel=report["kernel"],
            programs=programs,
            warps=max(1, report["num_warps"]),
            loaded=loaded,
            stored=stored,
            span_loaded=min(loaded, report["span_loaded"]),
            span_stored=min(stored, report["span_stored"]),
            loads=report["loads"] / max(1, report["programs_run"]),
            flops=report["flops"] * scale,
            dot_flops={name: flops * scale for name, flops in report["dot_flops"].items()},
            registers=report["registers"] or 0,
            spills=report["spills"] or 0,
            shared_bytes=report["shared_bytes"] or 0,
        )


@dataclass(frozen=True)
class Took:
    """Microseconds, and the bound that they come from."""

    us: float
    bound: str


@dataclass(frozen=True)
class Bounds:
    """Microseconds that each bound alone would take."""

    memory: float
    cache: float
    elementwise: float
    products: float
    latency: float
    dispatch: float


def took(launch: Launch, sheet: HardwareSheet) -> Took:
    found = bounds(launch, sheet)
    name = max((f.name for f in fields(found)), key=lambda name: getattr(found, name))
    return Took(START_US + getattr(found, name), name)


def bounds(launch: Launch, sheet: HardwareSheet) -> Bounds:
    if not launch.programs:
        return Bounds(0, 0, 0, 0, 0, 0)
    cores, at_once = sheet.multiprocessors, resident(launch, sheet)
    share = (launch.programs / cores) / math.ceil(launch.programs / cores)
    used = min(cores, launch.programs)
    waves = math.ceil(launch.programs / (at_once * cores))
    spilled = 2 * 4 * launch.spills * launch.warps * sheet.warp_size * launch.programs
    seen = PREFETCHED if launch.dot_flops else 1.0
    new = launch.span_loaded / launch.loaded if launch.loaded else 1.0
    load_us = (new * LOAD_US + (1 - new) * CACHED_US) * seen
    return Bounds(
        memory=_moved(launch, sheet, at_once) / (REACHED * sheet.memory_bandwidth) * 1e6,
        cache=(launch.loaded + launch.stored + spilled) / (L2_BYTES * sheet.clock_hz * used) * 1e6,
        elementwise=launch.flops / (PLAIN_SHARE * sheet.peak_flops["float32"] * share) * 1e6,
        products=_products(launch, sheet) / share * 1e6,
        latency=waves * (PROGRAM_US + launch.loads * load_us),
        dispatch=launch.programs * DISPATCH_US,
    )


def resident(launch: Launch, sheet: HardwareSheet) -> int:
    """Programs of a launch that one multiprocessor holds at once."""
    threads = launch.warps * sheet.warp_size
    limits = [MOST_BLOCKS, sheet.max_threads_per_multiprocessor // threads]
    if launch.registers:
        limits.append(sheet.registers_per_multiprocessor // (launch.registers * threads))
    if launch.shared_bytes:
        limits.append(sheet.shared_per_multiprocessor // launch.shared_bytes)
    return max(1, min(limits))


def _moved(launch: Launch, sheet: HardwareSheet, at_once: int) -> float:
    """Bytes through device memory."""
    again = launch.loaded - launch.span_loaded
    working = min(launch.span_loaded, launch.span_loaded / launch.programs * at_once * sheet.multiprocessors)
    missed = max(0.0, 1 - sheet.l2_bytes / working) if working else 0.0
    return launch.span_loaded + launch.span_stored + again * missed


def _products(launch: Launch, sheet: HardwareSheet) -> float:
    """Seconds of the matrix units, all multiprocessors at work."""
    seconds, total = 0.0, sum(launch.dot_flops.values())
    for name, flops in launch.dot_flops.items():
        size = ITEM.get(name, 1)
        side = size * total / max(1.0, launch.loaded) / math.sqrt(launch.warps)
        fed = SHARED_BYTES * sheet.clock_hz * sheet.multiprocessors * side / size
        seconds += flops / min(DOT_REACHED * _rate(name, sheet), fed)
    return seconds


def _rate(dtype: str, sheet: HardwareSheet) -> float:
    """Peak of a dtype; 8-bit floats have one name on sheets, and what a sheet lacks runs as fp32."""
    name = "float8" if dtype.startswith("float8") else dtype
    return sheet.peak_flops.get(name, sheet.peak_flops["float32"])
