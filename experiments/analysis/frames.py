"""Records of runs as typed tables, which all figures are computed from."""

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from agents import prices
from experiments import methods
from experiments.records import CERTAIN, KINDS
from experiments.runs import Run, trajectory_id
from experiments.spend import valued

KEY = ("run", "trajectory")
TEXT, WHOLE, REAL, YES = pl.String, pl.Int64, pl.Float64, pl.Boolean
ATTEMPTS: dict[str, Any] = {
    **dict.fromkeys(("run", "trajectory", "attempt", "task", "category", "suite", "scaffold", "model"), TEXT), "seed": WHOLE,
    "round": WHOLE, "role": TEXT, "parents": pl.List(TEXT), **dict.fromkeys(("strategy", "kernel_sha", "verdict", "stage"), TEXT),
    "compiled": YES, "correct": YES, "speedup": REAL, "speedup_ci": pl.List(REAL), "no_speedup": TEXT,
    **dict.fromkeys(("modelled", "baseline_us", "candidate_us"), REAL), "calls": pl.List(TEXT), "tokens": WHOLE,
    **dict.fromkeys(("cost_usd", "wall_s", "gpu_s"), REAL), **dict.fromkeys(("device", "error_kind", "error", "parse"), TEXT),
}  # fmt: skip
CALLS: dict[str, Any] = {
    "run": TEXT, "call_id": TEXT, "try": WHOLE,
    "identity": pl.Struct({"trajectory": TEXT, "role": TEXT, **dict.fromkeys(("round", "lineage", "sample", "fork"), WHOLE)}),
    "model_asked": TEXT, "reply_sha": TEXT, "sampling": pl.Struct({"max_tokens": WHOLE}), "start": REAL, "end": REAL, "outcome": TEXT,
    "usage": pl.Struct({**dict.fromkeys(KINDS, WHOLE), "reasoning": WHOLE}), "usage_source": TEXT, "tier": TEXT, "cost_usd": REAL,
    "cost_upper": REAL, "tokens_upper": WHOLE, "parse": TEXT, "final": YES,
}  # fmt: skip
VALUED: dict[str, Any] = {
    "tokens": WHOLE, "unsure": YES, "tokens_at_most": WHOLE, "usd_at_least": REAL, "usd_at_most": REAL, "unpriced": YES,
}  # fmt: skip
ENDED: dict[str, Any] = {
    **dict.fromkeys(("run", "trajectory", "champion", "end_reason"), TEXT), "start": REAL, "end": REAL,
}  # fmt: skip
OUTSET: dict[str, Any] = {
    **dict.fromkeys(("method", "run", "scaffold", "model", "mode", "device", "trajectory", "task", "suite", "category"), TEXT),
    "seed": WHOLE,
}  # fmt: skip


@dataclass(frozen=True)
class Frames:
    """`method` is the scaffold; with the model where models differ, with the runs' ids where both are the same and other conditions not.

    A trajectory's key is (run, trajectory).
    """

    runs: pl.DataFrame
    asked: pl.DataFrame
    """One row per trajectory asked for, ended or not: the denominator. solved: it has a champion; compiled, correct: one of its attempts
    is. `tokens` and `usd` are those known, at least; `_unknown` counts tries of which more is possible."""
    attempts: pl.DataFrame
    """`order` counts within the trajectory. `_so_far`: of all calls of the trajectory that ended before the attempt's own ended, its own
    and others' roles included; gpu_s_so_far includes the attempt's own."""
    calls: pl.DataFrame
    """One row per try; identity and usage flat; valued as in `experiments.spend`."""


def load(runs: Sequence[Run]) -> Frames:
    labels = methods.labelled(runs)
    attempts = pl.concat([read(run, "attempts", ATTEMPTS) for run in runs])
    calls = pl.concat([spent(run) for run in runs])
    ended = pl.concat([read(run, "trajectories", ENDED) for run in runs]).unique(KEY, keep="last", maintain_order=True)
    names = pl.DataFrame({"run": [run.run_id for run in runs], "method": labels}, schema={"run": TEXT, "method": TEXT})
    categories = pl.concat([filed(run) for run in runs])
    attempts = attempts.join(names, on="run", maintain_order="left")
    calls = calls.join(names, on="run", maintain_order="left").join(categories, on=KEY, how="left", maintain_order="left")
    attempts = timed(attempts, calls)
    return Frames(about(runs, labels), denominator(runs, labels, attempts, calls, ended), attempts, calls)


def filed(run: Run) -> pl.DataFrame:
    """Task and category of every trajectory asked for."""
    tasks = run.environment["asked"]["tasks"]
    rows = [(run.run_id, trajectory_id(task, seed), task, str(tasks[task]["category"])) for task, seed in run.asked]
    return pl.DataFrame(rows, schema=dict.fromkeys((*KEY, "task", "category"), TEXT), orient="row")


def read(run: Run, name: str, schema: dict[str, Any]) -> pl.DataFrame:
    """Typed by the schema, without a torn last line; `run` is the directory's name."""
    path = run.path / f"{name}.jsonl"
    lines = whole(path.read_bytes()) if path.exists() else b""
    frame = pl.read_ndjson(io.BytesIO(lines), schema=schema, ignore_errors=False) if lines else pl.DataFrame(schema=schema)
    return frame.with_columns(run=pl.lit(run.run_id))


def whole(data: bytes) -> bytes:
    """Up to the last line that is whole, as `tools.jsonl.read` has it."""
    data = data[: data.rfind(b"\n") + 1]
    start = data.rfind(b"\n", 0, len(data) - 1) + 1
    try:
        json.loads(data[start:] or b"0")
    except ValueError:
        return data[:start]
    return data


def spent(run: Run) -> pl.DataFrame:
    rows = prices.stored(run.prices)
    frame = read(run, "calls", CALLS).with_row_index("line").with_columns(plain=plain(rows))
    sure, others = frame.filter("plain"), frame.filter(~pl.col("plain"))
    tries = [valued(line, {"run": run.run_id}, rows.get(line["model_asked"]), frozenset()) for line in lines(others)]
    worth = pl.DataFrame(
        [(t.tokens, t.unsure, t.tokens_at_most, t.usd, t.usd_at_most, t.unpriced) for t in tries], schema=VALUED, orient="row"
    )
    both = pl.concat([sure.with_columns(**products(rows)), pl.concat([others, worth], how="horizontal")])
    return both.sort("line").unnest("identity").unnest("usage").drop("sampling", "line", "plain")


def used(kind: str) -> pl.Expr:
    return pl.col("usage").struct.field(kind)


def plain(rows: Mapping[str, prices.Row]) -> pl.Expr:
    """Tries whose cost is tokens times rates: usage certain, tier standard, one rate for every length of prompt. They are nearly all of a
    large store, and are valued as columns; `experiments.spend.valued` values the rest."""
    certain = used("input").is_not_null() & pl.col("usage_source").is_in(CERTAIN) & (pl.col("tier") == "standard")
    priced = pl.lit(False)
    for model, row in rows.items():
        unknown = [used(kind) > 0 for kind in KINDS if getattr(row.rates, kind) is None]
        priced = priced | ((pl.col("model_asked") == model) & pl.lit(row.long is None) & ~pl.any_horizontal(pl.lit(False), *unknown))
    return (certain & priced).fill_null(False)


def products(rows: Mapping[str, prices.Row]) -> dict[str, pl.Expr]:
    """VALUED of plain tries."""
    usd = pl.lit(0.0)
    for kind in KINDS:
        rates = {model: getattr(row.rates, kind) or 0.0 for model, row in rows.items()}
        usd = usd + used(kind) * pl.col("model_asked").replace_strict(rates, default=0.0, return_dtype=REAL) / 1e6
    tokens = pl.sum_horizontal(used(kind) for kind in KINDS)
    sure = {"unsure": pl.lit(False), "unpriced": pl.lit(False)}
    values = {"tokens": tokens, "tokens_at_most": tokens, "usd_at_least": usd, "usd_at_most": usd, **sure}
    return {name: values[name].cast(kind) for name, kind in VALUED.items()}


def lines(frame: pl.DataFrame) -> Iterator[dict[str, Any]]:
    """As in the file: a usage that is null is None, not a struct of nulls."""
    for line in frame.iter_rows(named=True):
        yield line if line["usage"] and line["usage"]["input"] is not None else {**line, "usage": None}


def timed(attempts: pl.DataFrame, calls: pl.DataFrame) -> pl.DataFrame:
    """Adds what was spent when the attempt's last call had ended; an attempt without calls stands where the one before it did."""
    ends = calls.group_by("run", "call_id").agg(known_at=pl.col("end").max())
    last = (
        attempts.select(*KEY, "attempt", call_id="calls").explode("call_id").join(ends, on=["run", "call_id"], how="left")
        .group_by(*KEY, "attempt").agg(pl.col("known_at").max())
    )  # fmt: skip
    running = calls.sort("end").select(
        *KEY, known_at="end", tokens_so_far=pl.col("tokens").cum_sum().over(KEY), usd_so_far=pl.col("usd_at_least").cum_sum().over(KEY)
    )
    ordered = attempts.join(last, on=[*KEY, "attempt"], how="left", maintain_order="left").with_columns(
        order=pl.int_range(pl.len()).over(KEY),
        speedup_low=pl.col("speedup_ci").list.get(0, null_on_oob=True), speedup_high=pl.col("speedup_ci").list.get(1, null_on_oob=True),
        gpu_s_so_far=pl.col("gpu_s").fill_null(0.0).cum_sum().over(KEY),
        known_at=pl.col("known_at").cum_max().forward_fill().over(KEY).fill_null(0.0), line=pl.int_range(pl.len()),
    )  # fmt: skip
    joined = ordered.sort("known_at").join_asof(running, on="known_at", by=list(KEY), check_sortedness=False)
    return joined.sort("line").with_columns(pl.col("tokens_so_far", "usd_so_far").fill_null(0)).drop("line", "speedup_ci")


def about(runs: Sequence[Run], labels: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame([one(run, label) for run, label in zip(runs, labels, strict=True)], infer_schema_length=None)


def one(run: Run, label: str) -> dict[str, Any]:
    known = run.environment
    packages = known.get("packages") or {}
    return {
        "method": label, "run": run.run_id, "path": str(run.path), "scaffold": known["scaffold"]["name"], "model": known["model"],
        "mode": simulated_or_device(run), "device": known["device"]["name"],
        "torch": packages.get("torch"), "triton": packages.get("triton"), "seeds": known["asked"]["seeds"],
        "tasks": len(known["asked"]["tasks"]), "revision": known.get("revision"),
    }  # fmt: skip


def denominator(
    runs: Sequence[Run], labels: Sequence[str], attempts: pl.DataFrame, calls: pl.DataFrame, ended: pl.DataFrame
) -> pl.DataFrame:
    rows = [row for run, label in zip(runs, labels, strict=True) for row in outset(run, label)]
    judged = attempts.group_by(KEY).agg(
        pl.col("compiled", "correct").any(), attempts=pl.len(), rounds=pl.col("round").max() + 1, gpu_s=pl.col("gpu_s").sum()
    )
    used = calls.group_by(KEY).agg(
        pl.col("tokens").sum(),
        tokens_unknown=pl.col("unsure").sum(),
        usd=pl.col("usd_at_least").sum(),
        usd_unknown=pl.col("unpriced").sum(),
    )
    best = attempts.select(*KEY, champion="attempt", **{n: n for n in ("speedup", "speedup_low", "speedup_high", "modelled")})
    ends = ended.select(*KEY, "champion", "end_reason", wall_s=pl.col("end") - pl.col("start"))
    frame = pl.DataFrame(rows, schema=OUTSET, orient="row")
    for other in (ends, judged, used):
        frame = frame.join(other, on=KEY, how="left", maintain_order="left")
    frame = frame.join(best, on=[*KEY, "champion"], how="left", maintain_order="left")
    counts = ("attempts", "rounds", "gpu_s", "tokens", "tokens_unknown", "usd", "usd_unknown")
    return frame.with_columns(
        pl.col("compiled", "correct").fill_null(False),
        pl.col("end_reason").fill_null("not ended"),
        pl.col(counts).fill_null(0),
        solved=pl.col("champion").is_not_null(),
    )


def outset(run: Run, label: str) -> Iterator[tuple[Any, ...]]:
    """What every trajectory of a run was begun with, in the order of OUTSET."""
    known = run.environment
    device = known["device"]
    same = (label, run.run_id, known["scaffold"]["name"], known["model"], simulated_or_device(run), device["name"])
    for task, seed in run.asked:
        facts = known["asked"]["tasks"][task]
        yield (*same, trajectory_id(task, seed), task, facts["suite"], str(facts["category"]), seed)


def simulated_or_device(run: Run) -> str:
    return "simulated" if run.environment["device"]["simulated"] else "device"
