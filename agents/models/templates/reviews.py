"""Roles that write no code: what a verdict or a time comes from, what bounds a module, and what a plan has led to."""

import re
from typing import Any

from agents.models.base import Brief, Identity
from agents.models.templates import flaws, search
from agents.models.templates.author import Author, labelled
from agents.models.templates.graph import Declined
from agents.models.templates.search import Parameters

WASTE = 1.5
"""Bytes moved over the least possible above which traffic is what to look at."""
SAG = 0.6
"""Speedup at the slowest size over that at the fastest below which small sizes are what to look at."""
BOUNDS = {
    "memory": "memory_traffic",
    "cache": "memory_access",
    "elementwise": "arithmetic",
    "products": "arithmetic",
    "latency": "latency",
    "dispatch": "launch_overhead",
}
"""Bounds of a modelled time, as bottlenecks."""


def reflect(author: Author, brief: Brief, identity: Identity) -> str:
    digest = brief.digest or {}
    if digest.get("verdict") == "pass":
        return reflect_on_speed(author, digest)
    numbers = "; ".join(_numbers(c) for c in digest.get("failing", [])[:2])
    evidence = f"verdict {digest.get('verdict', 'unknown')}" + (f", {numbers}" if numbers else "")
    parameters = search.read(brief.parent or "")
    found = flaws.diagnose(brief.parent or "", digest, author.write(parameters)) if parameters and digest else None
    if found is None:
        return labelled(
            cause=f"not visible in the source ({evidence})",
            fix="write the module anew with other launch parameters",
            lesson="check masks and dtypes first",
        )
    flaw, _ = found
    return labelled(cause=f"{flaw.cause} ({evidence})", fix=flaw.fix, lesson=f"never forget: {flaw.fix}")


def reflect_on_speed(author: Author, digest: dict[str, Any]) -> str:
    speedup = digest.get("speedup")
    measured = f"{speedup:.3f}x against the baseline" if speedup is not None else "no measurement"
    slowest = min(digest.get("sizes", []), key=lambda s: s["speedup"], default=None)
    where = f", slowest at {slowest['case']} with {slowest['speedup']:.2f}x" if slowest else ""
    names = ", ".join(author.used(Parameters())) or "launch parameters"
    return labelled(
        cause=f"memory traffic and launches: {measured}{where}",
        fix=f"move one of {names} by a factor of two",
        lesson=f"only {names} matter here",
    )


def _numbers(case: dict[str, object]) -> str:
    parts = [f"{k.replace('_', ' ')} {case[k]:.3g}" for k in ("max_abs", "rel_rms", "wrong") if isinstance(case.get(k), float)]
    return f"{case.get('case')}: {', '.join(parts) or case.get('kind')}"


def judge(author: Author, brief: Brief, identity: Identity) -> str:
    """The one bottleneck that the digest's numbers speak for most."""
    digest = brief.digest or {}
    if digest.get("verdict") != "pass":
        raise Declined("only a module that passes has a bottleneck")
    bottleneck, evidence = found(digest)
    return labelled(bottleneck=bottleneck, evidence=evidence)


def found(digest: dict[str, Any]) -> tuple[str, str]:
    """A bottleneck and its evidence. What was measured goes before what was counted, and that before what was modelled."""
    sizes = sorted(digest.get("sizes", []), key=lambda s: s["speedup"])
    if len(sizes) > 1 and sizes[0]["speedup"] < SAG * sizes[-1]["speedup"] and sizes[0]["candidate_us"] < sizes[-1]["candidate_us"]:
        slow, fast = sizes[0], sizes[-1]
        return "launch_overhead", f"{slow['speedup']:.2f}x at {slow['case']}, {fast['speedup']:.2f}x at {fast['case']}, which takes longer"
    traffic = digest.get("traffic") or {}
    if traffic.get("minimal_bytes"):
        moved = (traffic["sectors_loaded"] + traffic["sectors_stored"]) / traffic["minimal_bytes"]
        if moved > WASTE:
            return "memory_traffic", f"{moved:.2f} times the least possible bytes are moved"
    modelled = digest.get("modelled") or {}
    if modelled.get("bound") in BOUNDS:
        return BOUNDS[modelled["bound"]], f"the modelled time is bound by {modelled['bound']}"
    speed = search.speed(digest)
    at = f"{speed:.3f}x against the baseline" if speed is not None else "no speed is known"
    return "memory_traffic", f"{at}, and no number speaks for another"


def criticise(author: Author, brief: Brief, identity: Identity) -> str:
    """What was expected of a plan against what came of it, and a lesson that names the step."""
    digest, planned = brief.digest or {}, brief.plan
    step = planned.strategy.rstrip(".") if planned else "the change"
    wanted = "; ".join(e.expected.rstrip(".") for e in planned.edits if e.expected) if planned else ""
    actual = outcome(digest)
    return labelled(expected=wanted or "nothing in numbers", actual=actual, lesson=f"{step}: {kept(wanted, digest)}, {actual}")


def outcome(digest: dict[str, Any]) -> str:
    speed = search.speed(digest)
    measured = f" at {speed:.3f}x" if speed is not None else ""
    return f"verdict {digest.get('verdict', 'unknown')}{measured}"


def kept(wanted: str, digest: dict[str, Any]) -> str:
    """Whether the number that was promised was reached."""
    promised, speed = re.search(r"above (\d+(?:\.\d+)?)x", wanted), search.speed(digest)
    if digest.get("verdict") != "pass":
        return "broke the module"
    if promised is None or speed is None:
        return "works, gain unknown"
    return "gained as expected" if speed > float(promised[1]) else "gained nothing"
