"""What a digest counts of a passing candidate, as numbers that fixed rules can be held against. Unknown is None, never 0."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Counts:
    launches: int | None = None
    """Of one call, the most that any size needs; of a profile, the kernels that a call runs, which are as many at least."""
    short: float | None = None
    """The share of sizes at which a call is bound by starting its programs."""
    waste: float | None = None
    """Bytes of sectors that the largest shown case moved, over the least that it must."""
    intensity: float | None = None
    """FLOPs per byte of the least traffic, of the largest shown case."""
    registers: int | None = None
    spills: int | None = None
    """Words per thread, of the kernel that spills most."""
    shared_bytes: int | None = None
    occupancy: float | None = None
    """Of the kernel that has least of it."""
    roofline: float | None = None
    """The time at the roof over the measured time, of the size that is furthest from it."""
    memory: float | None = None
    """Share of the memory bandwidth that the best size reaches."""
    profiled: str = ""
    """What the longest launch is bound by, in the profiler's words; empty where it did not see."""
    bound: str = ""
    """What the largest size is bound by, in the model's words; empty where the profiler says."""
    torch_work: bool = False
    """Whether torch computes beside the candidate's kernels."""

    @classmethod
    def of(cls, digest: dict[str, Any]) -> "Counts":
        """From `agents.feedback.digest`, whatever parts of it there are."""
        moved, kernels, roofs = digest.get("traffic") or {}, digest.get("kernels") or [], digest.get("roofline") or []
        least = moved.get("minimal_bytes")
        sizes = (digest.get("modelled") or {}).get("sizes") or []
        ran = len((digest.get("profile") or {}).get("times") or [])
        profiled = "" if digest.get("ncu") in (None, "unknown") else digest["ncu"]
        launches = [*known([*sizes, moved], "launches"), *([ran] if ran else [])]
        return cls(
            launches=max(launches, default=None),
            short=sum(s["bound"] == "dispatch" for s in sizes) / len(sizes) if sizes else None,
            waste=(moved["sectors_loaded"] + moved["sectors_stored"]) / least if least else None,
            intensity=moved["flops"] / least if least and moved.get("flops") is not None else None,
            registers=max(known(kernels, "registers"), default=None),
            spills=max(known(kernels, "spills"), default=None),
            shared_bytes=max(known(kernels, "shared_bytes"), default=None),
            occupancy=min(known(kernels, "occupancy"), default=None),
            roofline=min(known(roofs, "roofline_share"), default=None),
            memory=max(known(roofs, "bandwidth_share"), default=None),
            profiled=profiled,
            bound="" if profiled else (digest.get("modelled") or {}).get("bound") or "",
            torch_work=any(row["compute"] for row in digest.get("torch_work") or []),
        )


def known(rows: Iterable[dict[str, Any]], name: str) -> list[Any]:
    return [row[name] for row in rows if row.get(name) is not None]
