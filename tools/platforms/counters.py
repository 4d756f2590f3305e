"""What a vendor's profiler counts of one kernel launch, in words of our own."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Counters:
    """One launch. Shares are 0 .. 1 of what the hardware can sustain; None where the profiler did not say."""

    kernel: str
    us: float | None = None
    """Under the profiler, with its clocks as they are and its caches flushed: no timing to be reported."""
    memory_gb_s: float | None = None
    memory: float | None = None
    """Share of device memory's bandwidth."""
    l2: float | None = None
    l1: float | None = None
    multiprocessor: float | None = None
    """Share of the instruction and arithmetic throughput of the multiprocessors."""
    matrix: float | None = None
    """Share of cycles in which the matrix units work."""
    occupancy: float | None = None
    """Warps that are resident, of the most that can be."""
    waves: float | None = None
    """How often the grid fills the device."""
    registers: float | None = None
    sectors_per_request: float | None = None
    """Of global loads: 4 where each lane of a warp reads 4 bytes beside its neighbour's, 32 where none shares a sector."""
    stalls: dict[str, float] = field(default_factory=dict)
    """Cycles that a warp waits for each instruction issued, by reason."""


def activities() -> list[Any]:
    """What torch's profiler records of a GPU: its kernels and copies (the same word for both vendors)."""
    from torch.profiler import ProfilerActivity

    return [ProfilerActivity.CUDA]
