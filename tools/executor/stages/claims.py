"""What a sandbox says of itself, cut to the expected form. It may be forged: nothing here can make a verdict better."""

import math
from typing import Any

from tools.evaluation import Failure

KINDS = {
    "syntax_error", "import_error", "missing_entry", "compile_error", "launch_error", "runtime_error", "device_mismatch",
    "wrong_shape", "wrong_dtype", "unsupported", "oom",
}  # fmt: skip
TEXT = 4096
MOST = 256


def failure(report: Any) -> Failure:
    report = report if isinstance(report, dict) else {}
    kind, detail = report.get("kind"), report.get("detail")
    if not isinstance(kind, str) or kind not in KINDS:
        kind = "runtime_error"
    detail = detail if isinstance(detail, dict) else {}
    return Failure(kind, text(report.get("message"))[:500], {str(k)[:40]: _plain(v) for k, v in list(detail.items())[:20]})


def compiles(reports: Any) -> list[dict[str, Any]]:
    """As in `Evaluation.compile`."""
    reports = reports if isinstance(reports, list) else []
    return [_compiled(report) for report in reports[:MOST] if isinstance(report, dict)]


def _compiled(report: dict[str, Any]) -> dict[str, Any]:
    kernels = report.get("kernels")
    kernels = [k for k in kernels[:MOST] if isinstance(k, dict)] if isinstance(kernels, list) else []
    seconds: Any = report.get("seconds")
    return {
        "target": text(report.get("target"))[:40],
        "kernels": [
            {"name": text(k.get("name"))[:200]}
            | {n: _whole(k.get(n)) for n in ("registers", "spills", "shared_bytes")}
            | {"occupancy": _share(k.get("occupancy"))}
            for k in kernels
        ],
        "seconds": float(seconds) if type(seconds) in (int, float) and math.isfinite(seconds) else 0.0,
        "error": text(report["error"])[:TEXT] if report.get("error") else None,
    }


def accesses(reports: Any) -> list[dict[str, Any]]:
    """Accesses outside the tensors of a launch: kernel, kind (load, store, atomic), tensor, first index and program, lanes."""
    return [_finding(report) | {"program": _program(report.get("program"))} for report in _dicts(reports)]


def races(reports: Any) -> list[dict[str, Any]]:
    """Conflicts between the programs of a launch: kernel, kind, tensor, first index and its two programs, lanes."""
    return [_finding(report) | {"programs": [_program(p) for p in _list(report.get("programs"))[:2]]} for report in _dicts(reports)]


def advisories(reports: Any) -> list[str]:
    """Sentences on what could not be judged, without repetition."""
    return list(dict.fromkeys(text(report)[:500] for report in _list(reports)[:MOST] if isinstance(report, str)))


def traffic(report: Any) -> dict[str, int]:
    """Sums over the launches of a call, as in `Evaluation.memory`: atomics load and store."""
    report = report if isinstance(report, dict) else {}
    loaded, stored, atomic, flops = (amount(report.get(name)) for name in ("sectors_loaded", "sectors_stored", "sectors_atomic", "flops"))
    return {"sectors_loaded": loaded + atomic, "sectors_stored": stored + atomic, "flops": flops}


def _finding(report: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {name: text(report.get(name))[:200] for name in ("kernel", "kind", "tensor")}
    index = report.get("index")
    return found | {"index": index if type(index) is int and abs(index) < 1 << 63 else 0, "lanes": count(report.get("lanes"))}


def _program(value: Any) -> list[int]:
    return [count(axis) for axis in _list(value)[:3]]


def _dicts(reports: Any) -> list[dict[str, Any]]:
    return [report for report in _list(reports)[:MOST] if isinstance(report, dict)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def amount(number: Any) -> int:
    """Bytes or operations."""
    return number if type(number) is int and 0 <= number < 1 << 63 else 0


def count(number: Any) -> int:
    return _whole(number) or 0


def _whole(number: Any) -> int | None:
    return number if type(number) is int and 0 <= number < 1 << 40 else None


def _share(number: Any) -> float | None:
    return float(number) if type(number) in (int, float) and 0 <= number <= 1 else None


def text(value: Any) -> str:
    return value[:TEXT].encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _plain(value: Any) -> Any:
    if value is None or type(value) in (bool, int):
        return value
    return text(value if isinstance(value, str) else str(value))
