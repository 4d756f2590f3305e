"""What an author learns of an evaluation, as data: for models that read no prose, for fixed rules, and for `agents.feedback`."""

from typing import Any

from agents.parsing import readable
from tools import findings
from tools.evaluation import Evaluation

MAX_MESSAGE = 600
MAX_CASES = 4
MAX_FINDINGS = 4
"""Of accesses out of bounds, of races, of advisories, and of torch's operators."""
MAX_KERNELS = 4
HIDDEN = "fails on inputs not shown"
SAID = frozenset({"case", "max_abs", "rel_rms", "worst_index", "first_index", "matched", "tolerance"})
"""Entries of a failure's detail that its case says too."""
FOUND = frozenset({"out_of_bounds", "data_race"})
"""Verdicts whose detail is a finding, which the message says whole."""
TRAFFIC = ("sectors_loaded", "sectors_stored", "minimal_bytes", "flops", "launches")
TAKEN = ("registers", "spills", "shared_bytes", "occupancy")


def digest(evaluation: Evaluation, held_out: frozenset[str] = frozenset()) -> dict[str, Any]:
    """`verdict, stage, message, detail, failing, passed, shown, compiler, findings, kernels, traffic, torch_work, launches, speedup,
    sizes, no_timing, modelled, roofline, ncu, profile`.

    Made from `Evaluation.public()`; of held-out cases, by their results or named in `held_out`, only that they failed. `failing` holds at
    most four cases as `{case, kind, message, max_abs, rel_rms, wrong, first, index, tolerance}`: `wrong` is the share out of
    tolerance, `first` the first wrong index, `index` the one with the largest error in units of its tolerance. `findings` are
    sentences, a few of each kind; `traffic` is what the largest shown case moved (bytes) and computed, on the simulated device.
    `kernels` are the built ones of one target, each `{name, registers, spills, shared_bytes, occupancy}` of the build that needs most.
    Of what was profiled on a device, `roofline` is a row of `tools.profile.Achieved` for each timed size, `ncu` the bottleneck of the
    longest launch in the words of `tools.profile.bottleneck` or None, and `profile` None or `{own_share, times, launches}`: the share of
    the candidate's own kernels in the device time, the longest kernels, and the hardware's counters of the longest launches.
    """
    public = evaluation.public()
    error = public["error"] or {"message": "", "detail": {}}
    hidden = error["message"] == HIDDEN or error["detail"].get("case") in held_out
    memory = {} if hidden else public["memory"] or {}
    timing = public["timing"]
    cases = public["cases"]
    profile = profiled({} if hidden else public["profile"] or {})
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
        "kernels": [] if hidden else built(public["compile"]),
        "traffic": {name: memory[name] for name in TRAFFIC} if "sectors_loaded" in memory else None,
        "torch_work": public["torch_work"][:MAX_FINDINGS],
        "launches": public["launches"],
        "speedup": timing["speedup"] if timing else None,
        "sizes": timing["sizes"] if timing else [],
        "no_timing": public["no_timing"],
        "modelled": modelled(public["modelled"]),
        **profile,
    }


def built(targets: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each kernel of the first target, whatever it was built for: the least occupancy, the most of everything else."""
    builds: dict[str, list[dict[str, Any]]] = {}
    for build in targets[0]["kernels"] if targets else ():
        builds.setdefault(build["name"], []).append(build)
    return [{"name": name, **{what: most(rows, what) for what in TAKEN}} for name, rows in builds.items()][:MAX_KERNELS]


def most(builds: list[dict[str, Any]], what: str) -> Any:
    known = [build[what] for build in builds if build.get(what) is not None]
    return (min if what == "occupancy" else max)(known, default=None)


def profiled(profile: dict[str, Any]) -> dict[str, Any]:
    """`roofline`, `ncu` and `profile`; a part of it that failed counts as if it had not been tried."""
    roofline, times, counters = profile.get("roofline") or [], profile.get("kernels") or {}, profile.get("ncu") or {}
    launches = counters.get("launches") or []
    seen = {
        "own_share": times.get("own_share"),
        "times": (times.get("kernels") or [])[:MAX_KERNELS],
        "launches": launches[:MAX_KERNELS],
    }
    return {
        "roofline": roofline if isinstance(roofline, list) else [],
        "ncu": launches[0]["bottleneck"] if launches else None,
        "profile": seen if seen["times"] or launches else None,
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


def clip(text: str, limit: int) -> str:
    """Head and tail of a text that is too long: the first line names the error, the last lines say where."""
    text = readable(text)
    if len(text) <= limit:
        return text
    tail = limit // 3
    return text[: limit - tail - 5] + " ... " + text[-tail:]
