"""What hardware can do, and which device is at hand."""

from dataclasses import dataclass


@dataclass(frozen=True)
class HardwareSheet:
    """Vendor figures of one accelerator. Bytes, bytes/s and dense FLOP/s (integer types: operations/s); no sparsity."""

    name: str
    """As the vendor's driver reports it."""
    target: str
    """What the compiler builds for, for example `cuda:90`."""
    multiprocessors: int
    """Streaming multiprocessors or compute units."""
    clock_hz: float
    """The boost clock. Peaks of matrix units may be given at a lower one."""
    memory_bytes: int
    """What the vendor calls GB, as 2**30 bytes: boards have about that much."""
    memory_bandwidth: float
    peak_flops: dict[str, float]
    """By torch dtype name; `tensorfloat32` for fp32 products on matrix units."""
    shared_per_block: int
    """The most that one block may ask for."""
    shared_per_multiprocessor: int
    registers_per_multiprocessor: int
    max_threads_per_multiprocessor: int
    max_threads_per_block: int
    l2_bytes: int
    warp_size: int
    source: str
    """The vendor document that the figures come from."""
    notes: tuple[str, ...] = ()
    """What an author of kernels should know beside the figures: a sentence each, for prompts."""

    @property
    def arch(self) -> str:
        return self.target.partition(":")[2]


@dataclass(frozen=True)
class Device:
    """A device that candidates can run on."""

    platform: str
    name: str
    count: int
    torch_device: str
    """What torch calls the first of them."""
    sheet: HardwareSheet | None
    """None for hardware that we have no vendor figures of."""
    simulated: bool = False


@dataclass(frozen=True)
class Usage:
    """What one compiled kernel takes, by its binary: registers and spilled 32-bit words per thread, shared bytes per block."""

    registers: int | None
    spills: int | None
    shared_bytes: int
    occupancy: float | None
    """The warps that a multiprocessor holds at once, by the most that it can hold; 0 where not one block fits."""


def rounded(size: int, unit: int) -> int:
    """`size` in whole `unit`s, as hardware hands them out."""
    return -(-size // unit) * unit
