"""`format=parquet`: a run's records as flat tables with stated columns, for DuckDB, pandas, Spark or a data set's page."""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from agents.models.base import Identity
from experiments import records
from experiments.export.columns import TABLES
from experiments.keys import one_of
from experiments.runs import Run, task_of

Record = dict[str, Any]
TIMED = ("speedup", "compile_speedup", "warm_speedup", "self_ratio", "noisy", "claim_ok", "tuning_s", "baseline")
BUILT = ("registers", "spills", "shared_bytes")
MOVED = ("sectors_loaded", "sectors_stored", "minimal_bytes", "flops")


def write(runs: Sequence[Run], out: Path, texts: str = "no") -> list[str]:
    """`<table>.parquet` for each table of `experiments.export.columns`, all runs together; `texts` with texts=yes only."""
    one_of("texts", texts, ("no", "yes"))
    out.mkdir(parents=True)
    return [put(out / f"{name}.parquet", name, runs) for name in TABLES if name != "texts" or texts == "yes"]


def put(path: Path, name: str, runs: Sequence[Run]) -> str:
    frames = [pl.DataFrame(list(ROWS[name](run)), schema=TABLES[name], orient="row") for run in runs]
    frame = pl.concat(frames)
    frame.write_parquet(path, compression="zstd")
    return f"{path}: {frame.height} rows"


def trajectories(run: Run) -> Iterable[Record]:
    """Those that were asked, whether they began or not: the denominator of every share."""
    environment = run.environment
    ended = {t["trajectory"]: t for t in run.trajectories}
    attempts = {(a["trajectory"], a["attempt"]): a for a in run.attempts}
    for task, seed in run.asked:
        name = f"{task}@{seed}"
        last = ended.get(name, {"champion": None, "trajectory": name})
        best = records.champion(last, attempts)
        asked, totals = environment["asked"]["tasks"][task], last.get("totals", {})
        yield chosen("trajectories", last, totals, totals.get("usage", {}), {
            "run": run.run_id, "trajectory": name, "task": task, "seed": seed, "suite": asked.get("suite"), "task_sha": asked.get("sha"),
            "category": asked.get("category"), "scaffold": environment["scaffold"]["name"], "model": environment["model"],
            "ended": name in ended, "solved": best is not None, "tries_unknown": totals.get("unknown"),
            "modelled": best["modelled"] if best else None, **interval(best or {}, "speedup_ci"),
        })  # fmt: skip


def attempts(run: Run) -> Iterable[Record]:
    for attempt in run.attempts:
        yield chosen("attempts", attempt, {"run": run.run_id, **interval(attempt, "speedup_ci")})


def calls(run: Run) -> Iterable[Record]:
    for call in run.calls:
        usage, sampling, source = call["usage"] or {}, call["sampling"], call.get("replayed") or {}
        yield chosen("calls", call, call["identity"], usage, {
            "run": run.run_id, "temperature": sampling.get("temperature"), "max_tokens": sampling.get("max_tokens"),
            "sampling_seed": sampling.get("seed"), "tokens": sum(usage[kind] for kind in records.KINDS) if usage else None,
            "usage_raw": json.dumps(call["usage_raw"]) if call["usage_raw"] is not None else None, "replayed_from": source.get("run"),
        })  # fmt: skip


def judged(run: Run) -> Iterable[tuple[Record, Record]]:
    """The key of each evaluation, and the evaluation."""
    for line in run.evaluations:
        identity = Identity(**line["identity"])
        yield {"run": run.run_id, "trajectory": identity.trajectory, "attempt": identity.attempt}, line["evaluation"]


def evaluations(run: Run) -> Iterable[Record]:
    for key, found in judged(run):
        timing, memory, modelled = found["timing"] or {}, found["memory"] or {}, found["modelled"] or {}
        failed = [case for case in found["cases"] if not case["ok"]]
        built = [kernel for target in found["compile"] for kernel in target["kernels"]]
        error, versions, resources = found["error"] or {}, found["versions"], found["resources"]
        yield chosen("evaluations", found, key, {name: timing.get(name) for name in TIMED}, interval(timing, "ci"), {
            "task": task_of(key["trajectory"]), "error_kind": error.get("kind"), "error": error.get("message"),
            "cases": len(found["cases"]), "cases_failed": len(failed), "held_out_failed": sum(case["held_out"] for case in failed),
            "kernels": len({kernel["name"] for kernel in built}), **{name: largest(built, name) for name in BUILT},
            "compile_s": sum(target["seconds"] or 0.0 for target in found["compile"]),
            "out_of_bounds": counted(memory, "out_of_bounds"), "races": counted(memory, "races"),
            **{name: memory.get(name) for name in MOVED}, "modelled": modelled.get("speedup"),
            "modelled_hardware": modelled.get("hardware"), "modelled_bound": modelled.get("bound"),
            "isolation": found["isolation"].get("level"), **{name: versions.get(name) for name in ("python", "torch", "triton", "driver")},
            **{name: resources.get(name) for name in ("wall_s", "gpu_s", "max_rss")},
        })  # fmt: skip


def largest(kernels: Sequence[Record], name: str) -> int | None:
    """The most that any of the kernels takes."""
    return max((kernel[name] for kernel in kernels if kernel.get(name) is not None), default=None)


def counted(memory: Record, name: str) -> int | None:
    """How many findings; None where nothing looked for them."""
    return len(memory[name]) if name in memory else None


def cases(run: Run) -> Iterable[Record]:
    for key, found in judged(run):
        yield from (chosen("cases", case, key) for case in found["cases"])


def sizes(run: Run) -> Iterable[Record]:
    for key, found in judged(run):
        for size in (found["timing"] or {"sizes": []})["sizes"]:
            beside = {f"{name}_speedup": (size.get(name) or {}).get("speedup") for name in ("warm", "compile")}
            yield chosen("sizes", size, key, interval(size, "ci"), beside)


def texts(run: Run) -> Iterable[Record]:
    """Every text of the run by its digest: a kernel's source, and prompts and replies as JSON."""
    for kind in ("kernels", "prompts", "replies"):
        for path in sorted((run.path / kind).iterdir()):
            yield {"run": run.run_id, "kind": kind, "sha": path.stem, "text": path.read_bytes().decode("utf-8", "replace")}


def interval(record: Record, key: str) -> Record:
    """A speedup and the ends of its interval, in columns of their own."""
    low, high = record.get(key) or (None, None)
    return {"speedup": record.get("speedup"), "speedup_low": low, "speedup_high": high}


def chosen(table: str, *parts: Record) -> Record:
    """The table's columns out of these records, a later one before an earlier one; what none has is null."""
    merged = {key: value for part in parts for key, value in part.items()}
    return {column: merged.get(column) for column in TABLES[table]}


ROWS: dict[str, Callable[[Run], Iterable[Record]]] = {
    "trajectories": trajectories,
    "attempts": attempts,
    "calls": calls,
    "evaluations": evaluations,
    "cases": cases,
    "sizes": sizes,
    "texts": texts,
}
