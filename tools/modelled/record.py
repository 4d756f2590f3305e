"""The modelled record of an evaluation: always labelled with the hardware and with how it was counted."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tools import platforms
from tools.modelled.eager import Eager, eager
from tools.modelled.launch import START_US, Launch, took

LABEL = "modelled, not measured"
COUNTED = (
    "counted at the timing sizes themselves: of each launch {programs} programs at most were interpreted, on blank memory, and their "
    "sectors, FLOPs and loads multiplied by grid / programs; registers and shared memory are those of the binary built for {target}; "
    "torch operators that the candidate calls beside its kernels are not counted"
)


@dataclass(frozen=True)
class Size:
    """What was counted for one timing size."""

    case: str
    launches: tuple[Launch, ...]
    eager: Eager


def record(sizes: Sequence[Size], hardware: str, target: str, programs: int) -> dict[str, Any]:
    """`Evaluation.modelled`: for `hardware` (a sheet's short name) with every size and what was counted, for the other sheets the
    speedup alone."""
    modelled = [_size(size, hardware) for size in sizes]
    others = {name: speedup(sizes, name) for name in platforms.names() if name != hardware}
    longest = max(modelled, key=lambda size: size["candidate_us"])
    return {
        "label": LABEL,
        "hardware": platforms.sheet(hardware).name,
        "speedup": speedup(sizes, hardware),
        "bound": longest["bound"],
        "sizes": modelled,
        "counts": [{"case": size.case, "launches": [asdict(launch) for launch in size.launches]} for size in sizes],
        "others": others,
        "extrapolation": COUNTED.format(programs=programs, target=target),
    }


def unknown(reason: str) -> dict[str, Any]:
    """`Evaluation.modelled` where there is no time."""
    return {"label": LABEL, "speedup": None, "error": reason[:500]}


def _size(size: Size, hardware: str) -> dict[str, Any]:
    sheet = platforms.sheet(hardware)
    times = [took(launch, sheet) for launch in size.launches]
    # One start is seen by whoever waits for the call, whatever it launches.
    candidate, baseline = START_US + sum(time.us for time in times), START_US + eager(size.eager, sheet)
    return {
        "case": size.case,
        "baseline_us": round(baseline, 3),
        "candidate_us": round(candidate, 3),
        "speedup": round(baseline / candidate, 4),
        "bound": max(times, key=lambda time: time.us).bound if times else "",
        "launches": len(times),
    }


def speedup(sizes: Sequence[Size], hardware: str) -> float:
    """Geometric mean over sizes."""
    logs = [math.log(_size(size, hardware)["speedup"]) for size in sizes]
    return round(math.exp(sum(logs) / len(logs)), 4)
