"""What an author learns of an evaluation: a typed digest for models that read no prose, and its text, most useful first."""

from typing import Any

from agents.parsing import readable
from tools import findings
from tools.evaluation import Evaluation

MAX_TEXT = 6000
"""Characters of feedback in a prompt, about 1,500 tokens."""
MAX_MESSAGE = 600
MAX_DETAIL = 2000
MAX_CASES = 4
MAX_FINDINGS = 4
"""Of accesses out of bounds, of races, of advisories, and of torch's operators."""
HIDDEN = "fails on inputs not shown"
SAID = frozenset({"case", "max_abs", "rel_rms", "worst_index", "first_index", "matched", "tolerance"})
"""Entries of a failure's detail that its case says too."""
FOUND = frozenset({"out_of_bounds", "data_race"})
"""Verdicts whose detail is a finding, which the message says whole."""
TRAFFIC = ("sectors_loaded", "sectors_stored", "minimal_bytes", "flops", "launches")


def digest(evaluation: Evaluation, held_out: frozenset[str] = frozenset()) -> dict[str, Any]:
    """`verdict, stage, message, detail, failing, passed, shown, compiler, findings, traffic, torch_work, launches, speedup, sizes,
    no_timing, modelled`.

    Made from `Evaluation.public()`; of held-out cases, by their results or named in `held_out`, only that they failed. `failing` holds at
    most four cases as `{case, kind, message, max_abs, rel_rms, wrong, first, index, tolerance}`: `wrong` is the share out of
    tolerance, `first` the first wrong index, `index` the one with the largest error in units of its tolerance. `findings` are
    sentences, a few of each kind; `traffic` is what the largest shown case moved (bytes) and computed, on the simulated device.
    """
    public = evaluation.public()
    error = public["error"] or {"message": "", "detail": {}}
    hidden = error["message"] == HIDDEN or error["detail"].get("case") in held_out
    memory = {} if hidden else public["memory"] or {}
    timing = public["timing"]
    cases = public["cases"]
    return {
        "verdict": evaluation.verdict,
        "stage": evaluation.stage,
        "message": HIDDEN if hidden else clip(error["message"], MAX_MESSAGE),
        "detail": {}
        if hidden or evaluation.verdict in FOUND
        else {key: value for key, value in error["detail"].items() if key not in SAID},
        "failing": [failing(c) for c in cases if not c["ok"]][:MAX_CASES],
        "passed": sum(c["ok"] for c in cases),
        "shown": len(cases),
        "compiler": [{"target": c["target"], "error": c["error"]} for c in public["compile"] if c.get("error") and not hidden],
        "findings": found(memory),
        "traffic": {name: memory[name] for name in TRAFFIC} if "sectors_loaded" in memory else None,
        "torch_work": public["torch_work"][:MAX_FINDINGS],
        "launches": public["launches"],
        "speedup": timing["speedup"] if timing else None,
        "sizes": timing["sizes"] if timing else [],
        "no_timing": public["no_timing"],
        "modelled": modelled(public["modelled"]),
    }


def found(memory: dict[str, Any]) -> list[str]:
    """The findings of the instruments in sentences: of accesses out of bounds, of races, and advisories."""
    kinds = (
        [findings.access(finding) for finding in memory.get("out_of_bounds", ())],
        [findings.race(finding) for finding in memory.get("races", ())],
        memory.get("advisories", ()),
    )
    return [clip(text, MAX_MESSAGE) for kind in kinds for text in list(dict.fromkeys(kind))[:MAX_FINDINGS]]


def modelled(found: dict[str, Any] | None) -> dict[str, Any] | None:
    """The modelled time without its counts; None where there is none."""
    if found is None or found["speedup"] is None:
        return None
    return {name: found[name] for name in ("hardware", "speedup", "bound", "sizes")}


def failing(case: dict[str, Any]) -> dict[str, Any]:
    matched = case["matched"]
    return {
        "case": case["case"],
        "kind": case["kind"],
        "message": clip(case["message"], MAX_MESSAGE),
        "max_abs": case["max_abs"],
        "rel_rms": case["rel_rms"],
        "wrong": None if matched is None else 1.0 - matched,
        "first": case["first_index"],
        "index": case["worst_index"],
        "tolerance": case["tolerance"],
    }


def text(digest: dict[str, Any], limit: int = MAX_TEXT) -> str:
    """The digest in words, at most `limit` characters; what is cut comes last."""
    lines = [f"Verdict: {digest['verdict']} (stage: {digest['stage']})"]
    if digest["message"]:
        lines.append(f"Reason: {digest['message']}")
    lines += [
        f"Compiler ({c['target']}): {clip(str(c['error']), MAX_DETAIL)}" for c in digest["compiler"] if c["error"] != digest["message"]
    ]
    lines += [mismatch(c, digest["message"]) for c in digest["failing"]]
    lines += [f"Found: {sentence}" for sentence in digest["findings"] if sentence not in digest["message"]]
    lines += work(digest["torch_work"]) + facts(digest["detail"])
    if digest["shown"]:
        lines.append(f"Cases passed: {digest['passed']} of {digest['shown']} shown")
    lines += timing(digest) + traffic(digest["traffic"])
    return readable("\n".join(lines))[:limit]


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
    lines = []
    if digest["speedup"] is not None:
        lines.append(f"Measured speedup against the baseline: {digest['speedup']:.3f}x (geometric mean over sizes)")
    for size in digest["sizes"]:
        lines.append(
            f"  {size['case']}: baseline {size['baseline_us']:.1f} us, yours {size['candidate_us']:.1f} us, {size['speedup']:.2f}x"
        )
    if found := digest["modelled"]:
        lines.append(f"Modelled for {found['hardware']}, not measured: {found['speedup']:.3f}x, bound by {found['bound']}")
        for size in found["sizes"]:
            times = f"baseline {size['baseline_us']:.1f} us, yours {size['candidate_us']:.1f} us"
            lines.append(f"  {size['case']}: {times}, launches {size['launches']}, bound by {size['bound']}")
    return lines


def clip(text: str, limit: int) -> str:
    """Head and tail of a text that is too long: the first line names the error, the last lines say where."""
    text = readable(text)
    if len(text) <= limit:
        return text
    tail = limit // 3
    return text[: limit - tail - 5] + " ... " + text[-tail:]
