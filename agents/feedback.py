"""What an author is told of an evaluation: its digest in words, most useful first, bounded in tokens."""

import math
from collections.abc import Iterator
from itertools import chain
from typing import Any

from agents.digest import clip
from agents.digest import digest as digest
from agents.parsing import readable

MAX_TOKENS = 1500
"""Of the text of one evaluation in a prompt, unless told otherwise."""
MIN_TOKENS = 64
BYTES_PER_TOKEN = 2
"""Fewer than three tokenisers (cl100k, Anthropic's, DeepSeek's) put into one token of such text, where numbers are many: in 447 recorded
evaluations 2.38 at least, 3.1 at the median."""
CUT = "[Cut here to keep it short.]"
LEAST = 40
"""Bytes below which the rest of a part is not worth keeping."""
GAP = " ... "
MAX_DETAIL = 2000
MAX_STALLS = 3
COUNTERS = {
    "memory": "device memory", "l2": "L2", "l1": "L1", "multiprocessor": "instructions", "matrix": "matrix units", "occupancy": "occupancy",
}  # fmt: skip
"""Of a launch, as shares."""
PLAIN = {"waves": "waves", "registers": "registers", "sectors_per_request": "sectors per load"}


def text(digest: dict[str, Any], tokens: int = MAX_TOKENS) -> str:
    """The digest in words, at most `tokens` (`MIN_TOKENS` or more): first the verdict and why; what is cut comes last, and is said."""
    parts = [readable(part) for part in told(digest)]
    whole = "\n".join(parts)
    room = tokens * BYTES_PER_TOKEN
    if size(whole) <= room:
        return whole
    kept: list[str] = []
    left = room - size(CUT) - 1
    for part in parts:
        kept.append(shortened(part, left))
        left -= size(part) + 1
        if left < LEAST:
            break
    return shortened("\n".join([*kept, CUT]), room)


def told(digest: dict[str, Any]) -> Iterator[str]:
    """Parts of the text, most useful first."""
    yield verdict(digest)
    if digest["message"]:
        yield f"Reason: {digest['message']}"
    yield from chain(
        (f"Compiler ({c['target']}): {clip(str(c['error']), MAX_DETAIL)}" for c in digest["compiler"] if c["error"] != digest["message"]),
        (mismatch(c, digest["message"]) for c in digest["failing"]),
        (f"Found: {sentence}" for sentence in digest["findings"] if sentence not in digest["message"]),
        work(digest["torch_work"]),
        facts(digest["detail"]),
    )
    if digest["shown"]:
        yield f"Cases passed: {digest['passed']} of {digest['shown']} shown"
    yield from chain(
        timing(digest), modelled_time(digest["modelled"]), profile(digest), resources(digest["kernels"]), traffic(digest["traffic"])
    )


def verdict(digest: dict[str, Any]) -> str:
    return f"Verdict: {digest['verdict']}" + ("" if digest["verdict"] == "pass" else f" (at stage {digest['stage']})")


def count(text: str) -> int:
    """Tokens of a text at most, as far as one can tell without the model's tokeniser."""
    return math.ceil(size(text) / BYTES_PER_TOKEN)


def size(text: str) -> int:
    return len(text.encode())


def shortened(text: str, room: int) -> str:
    """Head and tail of a text in at most `room` bytes."""
    if size(text) <= room:
        return text
    whole, tail = text.encode(), max(0, room // 3 - len(GAP))
    head = whole[: max(0, room - tail - len(GAP))].decode(errors="ignore")
    return head + GAP[: max(0, room)] + (whole[-tail:].decode(errors="ignore") if tail else "")


def facts(detail: dict[str, Any]) -> list[str]:
    """The entries that say something."""
    return [f"{key.replace('_', ' ')}: {clip(str(value), MAX_DETAIL)}" for key, value in detail.items() if value not in (None, "", [], {})]


def work(rows: list[dict[str, Any]]) -> list[str]:
    """Torch's operators that count as computation: what a kernel has to do itself."""
    computed = [f"{row['op']} ({row['calls']} calls, {row['elements']} elements)" for row in rows if row["compute"]]
    return [f"Computed by torch, not by a kernel of yours: {', '.join(computed)}"] if computed else []


def traffic(moved: dict[str, Any] | None) -> list[str]:
    """What the largest shown case moved, beside the least that it must."""
    if moved is None:
        return []
    loaded, stored, least = moved["sectors_loaded"], moved["sectors_stored"], moved["minimal_bytes"]
    share = f", {(loaded + stored) / least:.2f} times the least possible ({least})" if least else ""
    launches = f"{moved['launches']} launches, {moved['flops']} FLOPs"
    return [f"Memory traffic of the largest case: {loaded} bytes loaded, {stored} stored{share}; {launches}"]


def mismatch(case: dict[str, Any], said: str) -> str:
    """One failing case as numbers, with its message unless that is said already."""
    numbers = [
        f"max abs error {case['max_abs']:.4g}" if case["max_abs"] is not None else "",
        f"relative rms error {case['rel_rms']:.4g}" if case["rel_rms"] is not None else "",
        f"{100 * case['wrong']:.3g} % of elements wrong" if case["wrong"] is not None else "",
        f"first wrong index {tuple(case['first'])}" if case["first"] is not None else "",
        f"worst index {tuple(case['index'])}" if case["index"] is not None else "",
        f"tolerance {case['tolerance']:.4g}" if case["tolerance"] is not None else "",
    ]
    parts = [f"Case {case['case']}: {case['kind']}", ", ".join(n for n in numbers if n), "" if case["message"] == said else case["message"]]
    return "; ".join(p for p in parts if p)


def timing(digest: dict[str, Any]) -> list[str]:
    """Every timed size with what it reaches against the roofline, where that is known."""
    if digest["speedup"] is None:
        return []
    reached = {row["case"]: row for row in digest["roofline"]}
    lines = [f"Measured speedup against the baseline: {digest['speedup']:.3f}x (geometric mean over sizes)"]
    for timed in digest["sizes"]:
        line = f"  {timed['case']}: baseline {timed['baseline_us']:.1f} us, yours {timed['candidate_us']:.1f} us, {timed['speedup']:.2f}x"
        lines.append(line + roof(reached.get(timed["case"])))
    return lines


def roof(reached: dict[str, Any] | None) -> str:
    if reached is None:
        return ""
    products = f", {reached['tflop_s']:.1f} TFLOP/s" if reached["tflop_s"] else ""
    limit = "memory bandwidth" if reached["bound"] == "memory" else "matrix products"
    return f"; {reached['gb_s']:.0f} GB/s{products}, {100 * reached['roofline_share']:.0f} % of the roofline ({limit})"


def modelled_time(found: dict[str, Any] | None) -> list[str]:
    if found is None:
        return []
    lines = [f"Modelled for {found['hardware']}, not measured: {found['speedup']:.3f}x, bound by {found['bound']}"]
    for case in found["sizes"]:
        times = f"baseline {case['baseline_us']:.1f} us, yours {case['candidate_us']:.1f} us"
        lines.append(f"  {case['case']}: {times}, launches {case['launches']}, bound by {case['bound']}")
    return lines


def profile(digest: dict[str, Any]) -> list[str]:
    """What the profilers saw: the bottleneck with the counters that show it, and where the device time goes."""
    seen = digest["profile"]
    if seen is None:
        return []
    lines = [f"Profiled: {launch['kernel']}: bottleneck {launch['bottleneck']}; {counters(launch)}" for launch in seen["launches"]]
    if seen["times"]:
        total = sum(row["us"] for row in seen["times"]) or 1.0
        shares = ", ".join(f"{row['name']} {100 * row['us'] / total:.0f} %{'' if row['own'] else ' (not yours)'}" for row in seen["times"])
        lines.append(f"Device time by kernel: {shares}")
    return lines


def counters(launch: dict[str, Any]) -> str:
    """Those that are known, shares in percent of what the hardware can sustain."""
    shares = [f"{name} {100 * launch[key]:.0f} %" for key, name in COUNTERS.items() if launch.get(key) is not None]
    plain = [f"{name} {launch[key]:.3g}" for key, name in PLAIN.items() if launch.get(key) is not None]
    waits = sorted(launch.get("stalls", {}).items(), key=lambda wait: -wait[1])[:MAX_STALLS]
    return ", ".join([*shares, *plain, *(f"waits for {name} {cycles:.1f} cycles an instruction" for name, cycles in waits)])


def resources(kernels: list[dict[str, Any]]) -> list[str]:
    """What the built kernels take."""
    return [f"Built {row['name']}: {taken}" for row in kernels if (taken := ", ".join(amounts(row)))]


def amounts(row: dict[str, Any]) -> Iterator[str]:
    if row["registers"] is not None:
        yield f"{row['registers']} registers"
    if row["spills"]:
        yield f"{row['spills']} words spilled"
    if row["shared_bytes"]:
        yield f"{row['shared_bytes']} bytes of shared memory"
    if row["occupancy"] is not None:
        yield f"occupancy {100 * row['occupancy']:.0f} %"
