"""Fixed rules over the counts of a verdict and a hardware sheet: what can be the bottleneck, and which strategies cannot help.

Letting a model choose the strategy by its own taste costs more than it gains (KernelBand: 0.97x against 1.57x with pruned choices), so a
planner is offered what these rules leave. Each rule says its reason with the number that it comes from.
"""

from collections.abc import Callable, Iterator
from typing import Any

from agents.counts import Counts
from agents.plans import Diagnosis
from agents.strategies import STRATEGIES
from tools.platforms import HardwareSheet

LEAST_WASTE = 1.1
"""Traffic over the least below which nothing is read twice: odd sizes alone cost some sectors."""
WASTE = 1.5
FULL = 0.85
"""Share of the memory bandwidth that hardly any kernel passes."""
HALF = 0.5
"""Share of the roofline below which something is in the way."""
THIN = 0.25
"""Occupancy below which loads are seldom hidden."""
SHORT = 0.5
"""Share of the sizes."""
NCU = {
    "bandwidth of device memory": "memory_traffic",
    "bandwidth of L2 cache": "memory_traffic",
    "bandwidth of L1 cache and shared memory": "memory_access",
    "throughput of matrix units": "arithmetic",
    "throughput of instructions and arithmetic": "arithmetic",
    "too few programs to fill the device": "occupancy",
    "latency": "latency",
}
"""What `tools.profile.bottleneck` says, by how it begins."""
MODELLED = {
    "memory": "memory_traffic", "cache": "memory_traffic", "elementwise": "arithmetic", "products": "arithmetic", "latency": "latency",
    "dispatch": "launch_overhead",
}  # fmt: skip

Rule = Callable[[Counts, HardwareSheet | None], str]
"""Why a strategy cannot help, or nothing."""


def one_launch(counts: Counts, _: HardwareSheet | None) -> str:
    return "one launch does all of it" if counts.launches == 1 and not counts.torch_work else ""


def least_traffic(counts: Counts, _: HardwareSheet | None) -> str:
    if counts.waste is None or counts.waste > LEAST_WASTE:
        return ""
    return f"it moves {counts.waste:.2f} times the least bytes: nothing is read twice"


def spilling(counts: Counts, _: HardwareSheet | None) -> str:
    return f"{counts.spills} words per thread spill: no more fits into registers" if counts.spills else ""


def no_matrix_units(_: Counts, hardware: HardwareSheet | None) -> str:
    if hardware is None:
        return ""
    plain = hardware.peak_flops["float32"]
    faster = any(rate > plain for name, rate in hardware.peak_flops.items() if name != "float64")
    return "" if faster else f"{hardware.name} has no matrix units"


def too_little_arithmetic(counts: Counts, hardware: HardwareSheet | None) -> str:
    """Below an eighth of the fp32 ridge, arithmetic hides behind memory even at the rate of plain units."""
    if hardware is None or counts.intensity is None:
        return ""
    ridge = hardware.peak_flops["float32"] / hardware.memory_bandwidth
    return f"{counts.intensity:.2f} FLOPs per byte, where arithmetic begins to count at {ridge:.0f}" if counts.intensity < ridge / 8 else ""


def full_shared_memory(counts: Counts, hardware: HardwareSheet | None) -> str:
    """Another stage needs at least a half more, since there are two of them or one already."""
    if hardware is None or not counts.shared_bytes or 1.5 * counts.shared_bytes <= hardware.shared_per_block:
        return ""
    return f"{counts.shared_bytes} of {hardware.shared_per_block} bytes of shared memory are taken: another stage does not fit"


def at_bandwidth(counts: Counts, _: HardwareSheet | None) -> str:
    return f"{100 * counts.memory:.0f} % of the memory bandwidth is reached" if counts.memory and counts.memory >= FULL else ""


RULES: dict[str, tuple[Rule, ...]] = {
    "fuse": (one_launch,),
    "reuse": (least_traffic, spilling),
    "access": (least_traffic,),
    "order": (least_traffic,),
    "pipeline": (spilling, full_shared_memory),
    "tensor_core": (no_matrix_units, too_little_arithmetic),
    "algebra": (at_bandwidth,),
}
"""Strategies without rules can always help, as far as counts tell."""


def masked(digest: dict[str, Any], hardware: HardwareSheet | None) -> dict[str, str]:
    """Strategies that cannot help, each with its reason."""
    counts = Counts.of(digest)
    found = {name: next((why for rule in rules if (why := rule(counts, hardware))), "") for name, rules in RULES.items()}
    return {name: why for name, why in found.items() if why}


def allowed(digest: dict[str, Any], hardware: HardwareSheet | None, bottleneck: str | None = None) -> list[str]:
    """Strategies that no rule masks and that serve the bottleneck, where one is named; never none."""
    left = [name for name in STRATEGIES if name not in masked(digest, hardware)]
    fitting = [name for name in left if bottleneck is None or bottleneck in STRATEGIES[name].serves]
    return fitting or left


def readings(digest: dict[str, Any], hardware: HardwareSheet | None = None) -> list[Diagnosis]:
    """Bottlenecks that the counts point to, the surest first, each with its number."""
    return list(read(Counts.of(digest)))


def read(counts: Counts) -> Iterator[Diagnosis]:
    if counts.spills:
        yield Diagnosis("spills", f"{counts.spills} words per thread spill; without spills it is 0")
    if counts.torch_work:
        yield Diagnosis("launch_overhead", "torch computes a part, in launches of its own")
    elif counts.launches is not None and counts.launches > 1:
        yield Diagnosis("launch_overhead", f"{counts.launches} launches a call; one would do if all were fused")
    elif counts.short is not None and counts.short >= SHORT:
        yield Diagnosis("launch_overhead", f"at {100 * counts.short:.0f} % of the sizes starting programs takes longest")
    for says, name in NCU.items():
        if counts.profiled.startswith(says):
            yield Diagnosis(name, f"the profiler says: {counts.profiled}")
    if counts.waste is not None and counts.waste >= WASTE:
        yield Diagnosis("memory_traffic", f"{counts.waste:.2f} times the least bytes are moved; 1.00 is possible")
    if counts.occupancy is not None and counts.occupancy < THIN:
        takes = ", ".join(
            f"{n} {what}" for n, what in ((counts.registers, "registers"), (counts.shared_bytes, "bytes of shared memory")) if n
        )
        yield Diagnosis(
            "occupancy", f"{100 * counts.occupancy:.0f} % of the warps that a multiprocessor can hold; it takes {takes or 'little'}"
        )
    if counts.memory is not None and counts.memory >= FULL:
        yield Diagnosis("memory_traffic", f"{100 * counts.memory:.0f} % of the memory bandwidth is reached")
    if counts.bound in MODELLED:
        yield Diagnosis(MODELLED[counts.bound], f"the model says that the largest size is bound by {counts.bound}")
    if counts.roofline is not None and counts.roofline < HALF:
        yield Diagnosis("latency", f"{100 * counts.roofline:.0f} % of the roofline at the size furthest from it")


def diagnosis(digest: dict[str, Any], hardware: HardwareSheet | None = None) -> Diagnosis:
    """The surest bottleneck; `latency` where the counts show none."""
    return next(iter(readings(digest, hardware)), Diagnosis("latency", "no count shows another bottleneck"))
