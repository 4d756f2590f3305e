"""Small checkouts in KernelBench-X's format, written by hand."""

import json
from pathlib import Path
from typing import Any

TASKS = ("Math/add.py", "Math/exp.py", "Index/where.py", "Fusion/gone.py")
"""The last is no official task; `where` stood in another category when the corpus was made."""
GOLDEN = {"add": [0.004, 1.996], "exp": [0.015, 2.985], "where": [0.5, 1.5]}
"""Milliseconds per size on machine `one`."""


def state(speedup: float | None = None, compiled: bool = True, correct: bool | None = None, ms: float | None = None) -> dict[str, Any]:
    timed = speedup is not None
    right = timed if correct is None else correct
    return {"call_ok": compiled, "exe_ok": right, "perf_ok": timed, "dtype": "float32", "runtime_ms": ms, "speedup": speedup, "error": ""}


def record(task: str, step: int, before: dict[str, Any], after: dict[str, Any], codes: tuple[str, str] = ("a", "b")) -> dict[str, Any]:
    rounds = f"round_{step}", f"round_{step + 1}"
    return {
        "task_id": task, "transition": "_to_".join(rounds), "from_round": rounds[0], "to_round": rounds[1], "kind": "",
        "before": before, "after": after, "before_code": codes[0], "after_code": codes[1],
    }  # fmt: skip


BROKEN = state(compiled=False)
WRONG = state()
JIT = "@triton.jit"
RECORDS = [
    record("Math/add.py", 0, BROKEN, state(2.0, ms=1.0), ("x", JIT)),
    record("Math/add.py", 1, state(2.0, ms=1.0), state(4.0, ms=0.5), (JIT, JIT + "#2")),
    record("Math/exp.py", 0, state(1.0, ms=3.0), state(1.5, ms=2.0), (JIT, JIT)),
    record("Broadcast/where.py", 0, WRONG, state(0.5, ms=4.0), ("x", "torch.where")),
    record("Broadcast/where.py", 1, state(0.5, ms=4.0), WRONG, ("torch.where", JIT)),
    record("Fusion/gone.py", 0, BROKEN, WRONG),
    record("Fusion/gone.py", 1, WRONG, state(100.0, ms=0.01)),
]


def write(path: Path) -> Path:
    """Machines `one`, `copy` (the same files but for a digit in one) and `other`."""
    (path / "data/kbx_corpus").mkdir(parents=True)
    (path / "data/kbx_corpus/all_records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in RECORDS))
    (path / "data/kernelbenchx_v1.json").write_text(json.dumps([{"name": Path(t).stem, "file": t} for t in TASKS[:3]]))
    times(path, "one", GOLDEN)
    times(path, "copy", {**GOLDEN, "exp": [0.016, 2.984]})
    times(path, "other", {name: [2 * ms for ms in rows][:1] for name, rows in GOLDEN.items()})
    return path


def times(path: Path, machine: str, golden: dict[str, list[float]]) -> None:
    folder = path / "metrics/golden_results" / machine
    folder.mkdir(parents=True)
    for name, rows in golden.items():
        body = [{"input_size": [[2**i]], "ms": ms, "GB/s": 1.0, "TFLOPS": 1.0} for i, ms in enumerate(rows)]
        (folder / f"{name}.json").write_text(json.dumps(body))
