"""What a passing candidate reaches on a real device, as a short digest: against the roofline, by kernel, by the hardware's counters."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tools.platforms import HardwareSheet
from tools.platforms.counters import Counters
from tools.roofline import Work

BUSY = 0.6
"""A unit that is used by more than this bounds the kernel; below it, none does, and what is waited for does."""
MOST = 8
"""Kernels that are listed."""


@dataclass(frozen=True)
class Achieved:
    """One timing size: the task's least bytes and its reference's products over the measured time, against vendor peaks."""

    case: str
    us: float
    gb_s: float
    tflop_s: float
    bandwidth_share: float
    """May pass 1 where results stay in the cache."""
    products_share: float
    bound: str
    """Which roof is the lower one for this work: `memory` or `products`."""
    roofline_share: float
    """The time at that roof over the measured time."""


@dataclass(frozen=True)
class Kernel:
    """Device time of one kernel over a few calls, as the candidate's process reports it."""

    name: str
    us: float
    calls: int
    own: bool
    """Whether it is one of the candidate's Triton kernels."""


def achieved(case: str, us: float, work: Work, sheet: HardwareSheet) -> Achieved:
    memory_us = work.moved / sheet.memory_bandwidth * 1e6
    products_us = sum(flops / sheet.peak_flops.get(dtype, sheet.peak_flops["float32"]) for dtype, flops in work.products.items()) * 1e6
    return Achieved(
        case=case,
        us=us,
        gb_s=round(work.moved / us / 1e3, 1),
        tflop_s=round(sum(work.products.values()) / us / 1e6, 2),
        bandwidth_share=round(memory_us / us, 4),
        products_share=round(products_us / us, 4),
        bound="memory" if memory_us >= products_us else "products",
        roofline_share=round(max(memory_us, products_us) / us, 4),
    )


def shares(kernels: Sequence[Kernel]) -> dict[str, Any]:
    """The share of the candidate's own kernels in the device time, and the longest kernels."""
    total = sum(kernel.us for kernel in kernels)
    own = sum(kernel.us for kernel in kernels if kernel.own)
    longest = sorted(kernels, key=lambda kernel: -kernel.us)[:MOST]
    return {"own_share": round(own / total, 4) if total else None, "kernels": [asdict(kernel) for kernel in longest], "self_reported": True}


def digest(launches: Sequence[Counters]) -> dict[str, Any]:
    """The counters of the longest launches, each with what bounds it."""
    longest = sorted(launches, key=lambda launch: -(launch.us or 0.0))[:MOST]
    return {"launches": [asdict(launch) | {"bottleneck": bottleneck(launch)} for launch in longest]}


def bottleneck(launch: Counters) -> str:
    """What to look at first, in words."""
    levels = {"device memory": launch.memory, "L2 cache": launch.l2, "L1 cache and shared memory": launch.l1}
    units = {"matrix units": launch.matrix, "instructions and arithmetic": launch.multiprocessor}
    if not any(share is not None for share in (*levels.values(), *units.values())):
        return "unknown"
    # What comes from a level passes those above it too, so that the deepest busy one is the cause.
    deepest = next(({f"bandwidth of {name}": share} for name, share in levels.items() if _busy(share)), {})
    busy = deepest | {f"throughput of {name}": share for name, share in units.items() if _busy(share)}
    if busy:
        return max(busy, key=lambda name: busy[name] or 0.0)
    if launch.waves is not None and launch.waves < 1:
        return "too few programs to fill the device"
    if launch.stalls:
        reason = max(launch.stalls, key=lambda name: launch.stalls[name])
        return f"latency: warps wait for {reason}"
    return "latency"


def _busy(share: float | None) -> bool:
    return share is not None and share >= BUSY
