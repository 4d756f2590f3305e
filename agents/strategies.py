"""Families of ways to make a kernel fast: the vocabulary of planners, pools and archives, and what a device and a verdict allow."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tools.platforms import HardwareSheet

BOTTLENECKS = {
    "memory_traffic": "more bytes move than the operator needs, or device memory is at its limit",
    "memory_access": "loads and stores are scattered, narrow or masked, so that sectors are wasted",
    "launch_overhead": "too many launches, or kernels so short that starting them dominates",
    "occupancy": "too few programs or warps are resident to hide latency",
    "spills": "registers spill to local memory",
    "arithmetic": "arithmetic units are at their limit, or tensor cores idle where they could work",
    "latency": "dependent steps wait for each other: a serial loop, a late load, a barrier",
}
"""What a judge may name, and what each means."""


@dataclass(frozen=True)
class Strategy:
    says: str
    serves: frozenset[str]
    """Bottlenecks that it may remove."""


STRATEGIES = {
    "fuse": Strategy("do in one kernel what several did", frozenset({"launch_overhead", "memory_traffic"})),
    "reuse": Strategy("read each element once, keep it in registers or shared memory", frozenset({"memory_traffic", "latency"})),
    "access": Strategy("contiguous, wider, aligned accesses; another order of dimensions", frozenset({"memory_access"})),
    "tile": Strategy("another shape of blocks", frozenset({"memory_traffic", "memory_access", "occupancy", "spills", "arithmetic"})),
    "split": Strategy("cut a reduction or a long row over more programs", frozenset({"occupancy", "latency"})),
    "persistent": Strategy("one program loops over many tiles", frozenset({"launch_overhead", "latency"})),
    "pipeline": Strategy("load ahead while computing (num_stages)", frozenset({"latency", "memory_traffic"})),
    "tensor_core": Strategy("multiply with tl.dot, in the input precision that the contract allows", frozenset({"arithmetic"})),
    "order": Strategy("group programs so that neighbours share data in L2", frozenset({"memory_traffic"})),
    "algebra": Strategy(
        "another formula with fewer or cheaper operations, or a one-pass form", frozenset({"arithmetic", "memory_traffic"})
    ),
    "launch": Strategy("num_warps, num_stages and block sizes alone", frozenset({"occupancy", "spills", "latency"})),
}

Rule = Callable[[dict[str, Any], HardwareSheet | None], bool]


def allowed(digest: dict[str, Any], hardware: HardwareSheet | None, bottleneck: str | None = None) -> list[str]:
    """Families that can help by deterministic rules: of the bottleneck if one is named, of the digest's counts, and of the device."""
    return [name for name, strategy in STRATEGIES.items() if bottleneck is None or bottleneck in strategy.serves]


def family(strategy: str, source: str) -> str:
    """The family of a candidate: the first one that its `Strategy:` sentence names, else by what its source does."""
    said = strategy.lower()
    return next((name for name in STRATEGIES if name in said), "launch")
