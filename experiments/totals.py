"""The audit's report: totals of runs, along every dimension, from tries that are valued already."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from agents import prices
from agents.models.base import Usage
from agents.sweep import TUNER
from experiments.runs import Run, trajectory_id
from experiments.spend import DIMENSIONS, SLICES, Record, Try, all_or_none, places, tries
from scaffolds import gains

SHARED = ("role", "round")
"""Nobody solves a task in one role or one round alone: their rows have the successes of all, so that costs per success add up."""
DEAREST = 10
"""How many of the most expensive failures are named."""


def audit(runs: Sequence[Run], rows: Mapping[str, prices.Row] | None = None) -> Record:
    """Totals of the runs together and along each dimension. `rows` replace the runs' own prices, model by model."""
    rows = rows or {}
    named = list(zip(called(runs), runs, strict=True))
    prefixes = {name: f"{name}:" if len(named) > 1 else "" for name, _ in named}
    spent = [t for name, run in named for t in tries(run, {**prices.stored(run.prices), **rows}, name, prefixes[name])]
    asked = [labels for name, run in named for labels in outcomes(run, name, prefixes[name])]
    judged = [{**places(run, name, a["trajectory"], prefixes[name]), "role": a["role"], "round": str(a["round"]), "verdict": a["verdict"]}
              for name, run in named for a in run.attempts]  # fmt: skip
    ran = [about(name, run, rows) for name, run in named]
    return {
        "runs": ran,
        "revalued": sorted({model for run in ran for model in run["prices"] if model in rows}),
        "total": line(spent, judged, asked),
        "by": {dimension: along(dimension, spent, judged, asked) for dimension in DIMENSIONS},
        "pairs": {task: along("role", own(spent, task), own(judged, task), own(asked, task)) for task in split(asked, "task")},
        "failures": failures(asked, spent),
        "tuned": [record for name, run in named for record in tuned(run, name, prefixes[name])],
        "notes": [f"{name}: {note}" for name, run in named for note in (*run.notes(), *pending(run))],
    }


def called(runs: Sequence[Run]) -> list[str]:
    """The runs' ids; their paths where two have the same."""
    ids = [run.run_id for run in runs]
    return ids if len(set(ids)) == len(ids) else [str(run.path) for run in runs]


def about(name: str, run: Run, rows: Mapping[str, prices.Row]) -> Record:
    """What ran, and by which prices its models are valued; None where there are none."""
    models = dict.fromkeys([run.environment["model"], *(line["model_asked"] for line in run.calls)])
    known = {**prices.stored(run.prices), **rows}
    valued = {
        model: {key: getattr(known[model], key) for key in ("name", "source", "date")} if model in known else None for model in models
    }
    return {"run": name, "scaffold": run.environment["scaffold"]["name"], "model": run.environment["model"], "prices": valued}


def outcomes(run: Run, name: str, prefix: str) -> Iterable[Record]:
    """Every trajectory that was asked for: its labels, and what became of it."""
    ended = {t["trajectory"]: t for t in run.trajectories}
    last = {a["trajectory"]: a["verdict"] for a in sorted(run.attempts, key=lambda a: a["attempt"])}
    for task, seed in run.asked:
        key = trajectory_id(task, seed)
        record = ended.get(key, {"champion": None, "end_reason": "not ended"})
        labels = places(run, name, key, prefix)
        yield {**labels, "solved": bool(record["champion"]), "end_reason": record["end_reason"], "verdict": last.get(key)}


def tuned(run: Run, name: str, prefix: str) -> Iterable[Record]:
    """Trajectories in which variants were judged that no model wrote: what the models reached, and what tuning added."""
    for trajectory, attempts in groupby(sorted(run.attempts, key=lambda a: str(a["trajectory"])), key=lambda a: str(a["trajectory"])):
        judged = list(attempts)
        if (gain := gains.of_tuner(judged)) is not None:
            gpu_s = math.fsum(a["gpu_s"] for a in judged if a["role"] == TUNER)
            yield {**places(run, name, trajectory, prefix), **gain, "gpu_s": gpu_s}


def pending(run: Run) -> Iterable[str]:
    """What will be charged and is on no record yet."""
    waiting = sum(t["end_reason"] == "waiting" for t in run.trajectories)
    if waiting:
        yield f"{waiting} trajectories wait for a batch; what it costs enters the books with its replies"


def labels_of(item: Any) -> Mapping[str, str]:
    return item.labels if isinstance(item, Try) else item


def split(items: Iterable[Any], dimension: str) -> dict[str, list[Any]]:
    parts: dict[str, list[Any]] = {}
    for item in items:
        parts.setdefault(labels_of(item)[dimension], []).append(item)
    return parts


def own(items: Sequence[Any], task: str) -> list[Any]:
    return [item for item in items if labels_of(item)["task"] == task]


def along(dimension: str, spent: Sequence[Try], judged: Sequence[Record], asked: Sequence[Record]) -> dict[str, Record]:
    """A row for each name in the dimension."""
    tried, attempts = split(spent, dimension), split(judged, dimension)
    shared = dimension in SHARED
    outcomes = {} if shared else split(asked, dimension)
    names = list(dict.fromkeys((*outcomes, *tried, *attempts)))
    if dimension == "round":
        names.sort(key=int)
    return {n: line(tried.get(n, []), attempts.get(n, []), asked if shared else outcomes.get(n, [])) for n in names}


def line(spent: Sequence[Try], judged: Sequence[Record], asked: Sequence[Record]) -> Record:
    """One row. Per success all that the row spent is charged, by the successes of the row."""
    used = sum((t.usage for t in spent), Usage())
    solved = sum(t["solved"] for t in asked)
    money = measure(spent)
    at_cost = all_or_none([t.tokens_at_cost for t in spent])
    return {
        "calls": len({t.call for t in spent}),
        "retries": sum("retried" in t.slices for t in spent),
        **{kind: getattr(used, kind) for kind in (*prices.KINDS, "reasoning")},
        **money,
        "tokens_at_cost": None if at_cost is None else math.fsum(at_cost),
        "attempts": len(judged),
        "passed": sum(a["verdict"] == "pass" for a in judged),
        "asked": len(asked),
        "solved": solved,
        **per_success({**money, "tokens_at_cost": None if at_cost is None else math.fsum(at_cost)}, solved),
        "of_which": {name: measure([t for t in spent if name in t.slices]) for name in SLICES},
    }


def measure(spent: Sequence[Try]) -> Record:
    """`tokens` and `usd` are None where a try's are unknown; then they are at least and at most what stands beside them, if bounded."""
    tokens, usd = sum(t.tokens for t in spent), math.fsum(t.usd for t in spent)
    tokens_bounds, usd_bounds = all_or_none([t.tokens_at_most for t in spent]), all_or_none([t.usd_at_most for t in spent])
    unsure, unpriced = sum(t.unsure for t in spent), sum(t.unpriced for t in spent)
    tokens_most = None if tokens_bounds is None else sum(tokens_bounds)
    usd_most = None if usd_bounds is None else math.fsum(usd_bounds)
    return {
        "tries": len(spent),
        "tries_without_usage": unsure,
        "tries_without_cost": unpriced,
        "tokens": None if unsure else tokens,
        "tokens_at_least": tokens,
        "tokens_at_most": tokens_most,
        "tokens_estimated": share(tokens, tokens_most),
        "usd": None if unpriced else usd,
        "usd_at_least": usd,
        "usd_at_most": usd_most,
        "usd_estimated": share(usd, usd_most) if unpriced else 0.0,
    }


def share(low: float, high: float | None) -> float | None:
    """How much of the upper bound is an estimate; None where nothing bounds it."""
    return None if high is None else (high - low) / high if high else 0.0


def per_success(row: Record, solved: int) -> Record:
    keys = ("tokens", "tokens_at_least", "tokens_at_most", "tokens_at_cost", "usd", "usd_at_least", "usd_at_most")
    return {f"{key}_per_success": row[key] / solved if solved and row[key] is not None else None for key in keys}


def failures(asked: Sequence[Record], spent: Sequence[Try]) -> list[Record]:
    """The trajectories without a champion that cost most, dearest first."""
    tried = split(spent, "trajectory")
    told = ("run", "task", "trajectory", "end_reason", "verdict")
    failed = [{**{key: t[key] for key in told}, **measure(tried.get(t["trajectory"], []))} for t in asked if not t["solved"]]
    return sorted(failed, key=lambda f: (f["usd_at_least"], f["tokens_at_least"]), reverse=True)[:DEAREST]
