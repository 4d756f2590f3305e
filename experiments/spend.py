"""What each try used and cost, valued when it is asked: recorded usage times the price rows that the run was valued with, or others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.models.base import Usage
from agents.prices import FREE, KINDS, Rates, Row
from experiments.records import CERTAIN
from experiments.runs import Run, task_of

Record = dict[str, Any]
DIMENSIONS = ("run", "model", "scaffold", "category", "task", "trajectory", "role", "round")
"""What totals are split by. A trajectory's name is unique within its run only."""


@dataclass(frozen=True)
class Try:
    """One line of `calls.jsonl`. Where usage or price is unknown, `tokens` and `usd` are at least, the `_at_most` are bounds or None."""

    labels: Mapping[str, str]
    """Its name in each of `DIMENSIONS`."""
    call: tuple[str, str]
    """Run and call."""
    usage: Usage
    """As far as it is known."""
    tokens_at_most: int | None
    tokens_at_cost: float | None
    """Tokens with those of the cache weighted by their price over that of input; None where that is unknown."""
    usd: float
    usd_at_most: float | None
    unsure: bool
    unpriced: bool
    slices: frozenset[str]
    """Which of `SLICES` it belongs to."""

    @property
    def tokens(self) -> int:
        return self.usage.total


SLICES = {
    "retried": "tries after a call's first",
    "lost": "tries without a reply",
    "unparsed": "replies that could not be parsed",
    "late": "calls begun after the champion was found",
    "failed": "trajectories without a champion",
    "replayed": "replies of a recorded run, at no cost",
}


def tries(run: Run, rows: Mapping[str, Row], name: str, prefix: str = "") -> list[Try]:
    """All tries of a run that is called `name`, valued by `rows`. `prefix` goes before the trajectories' names."""
    found = {t["trajectory"]: t["champion"] for t in run.trajectories}
    named = {(a["trajectory"], a["attempt"]): a for a in run.attempts}
    crowned = {a["trajectory"]: line_of(a, named) for a in run.attempts if a["attempt"] == found.get(a["trajectory"])}
    parsed = {call for a in run.attempts if a["kernel_sha"] for call in a["calls"]}
    ends = {line["call_id"]: line["end"] for line in run.calls}
    since = {trajectory: found_at(line, ends) for trajectory, line in crowned.items()}
    made = []
    for line in run.calls:
        identity, row = line["identity"], rows.get(line["model_asked"])
        trajectory = identity["trajectory"]
        own = crowned[trajectory][-1]["calls"] if trajectory in crowned else ()
        belongs = {
            "retried": line["try"] > 1,
            "lost": line["reply_sha"] is None,
            "unparsed": unparsed(line, parsed),
            "late": trajectory in since and line["start"] >= since[trajectory] and line["call_id"] not in own,
            "failed": not found.get(trajectory),
            "replayed": line.get("replayed") is not None,
        }
        labels = {**places(run, name, trajectory, prefix), "role": identity["role"], "round": str(identity["round"])}
        made.append(valued(line, labels, row, frozenset(s for s in SLICES if belongs[s])))
    return made


def places(run: Run, name: str, trajectory: str, prefix: str) -> dict[str, str]:
    """Where a trajectory stands in each dimension that it has."""
    environment, task = run.environment, task_of(trajectory)
    return {
        "run": name,
        "model": environment["model"],
        "scaffold": environment["scaffold"]["name"],
        "category": str(environment["asked"]["tasks"].get(task, {}).get("category", "unknown")),
        "task": task,
        "trajectory": prefix + trajectory,
    }


def line_of(attempt: Record, named: Mapping[tuple[str, str], Record]) -> list[Record]:
    """An attempt and what it was made from, back to the first one that a model was asked for: tuning asks nobody."""
    line = [attempt]
    while not line[-1]["calls"] and line[-1]["parents"]:
        line.append(named[attempt["trajectory"], line[-1]["parents"][0]])
    return line


def found_at(line: Sequence[Record], ends: Mapping[str, float]) -> float:
    """When the champion was known, at the earliest: the reply behind it had come, and evaluations had taken their time (Unix seconds)."""
    return max((ends[call] for call in line[-1]["calls"] if call in ends), default=0.0) + sum(float(a["wall_s"]) for a in line)


def unparsed(line: Record, parsed: set[str]) -> bool:
    """A reply that was read as no candidate and as no note; one that declines the task is read as just that."""
    return (
        line["reply_sha"] is not None
        and line.get("parse") not in ("ok", None)
        and line["outcome"] != "declined"
        and line["call_id"] not in parsed
    )


def valued(line: Record, labels: Mapping[str, str], row: Row | None, slices: frozenset[str]) -> Try:
    usage = Usage(**line["usage"]) if line["usage"] else Usage()
    unsure = line["usage"] is None or line["usage_source"] not in CERTAIN
    cost = price(usage, row, line["tier"], unsure)
    least = cost if cost is not None else (row.cost(usage, line["tier"]) if row else None) or 0.0
    tokens_at_most = line["tokens_upper"] if unsure else usage.total
    return Try(
        labels=labels,
        call=(labels["run"], line["call_id"]),
        usage=usage,
        tokens_at_most=tokens_at_most,
        tokens_at_cost=at_cost(usage, row),
        usd=least,
        usd_at_most=cost if cost is not None else bound(usage, row, line, unsure, least),
        unsure=unsure,
        unpriced=cost is None,
        slices=slices,
    )


def price(usage: Usage, row: Row | None, tier: str, unsure: bool) -> float | None:
    """USD, or None where usage or price is unknown. What is free is so whatever it used."""
    if row is None or (unsure and row.name != FREE.name):
        return None
    return row.cost(usage, tier)


def bound(usage: Usage, row: Row | None, line: Record, unsure: bool, least: float) -> float | None:
    """At most so many USD: what was reserved for a try whose usage is unknown; for a batch whose factor is unknown, the standard price.

    None where nothing bounds it: no price row, or a rate that is missing.
    """
    if row is None or line["tier"] not in ("standard", "batch"):
        return None
    if not unsure:
        return row.cost(usage)
    if line["tokens_upper"] is None:
        return None
    output = line["sampling"]["max_tokens"]
    most = row.upper(line["tokens_upper"] - output, output, line["tier"])
    return None if most is None else max(most, least)


def at_cost(usage: Usage, row: Row | None) -> float | None:
    cached = {kind: getattr(usage, kind) for kind in KINDS if kind.startswith("cache") and getattr(usage, kind)}
    weights = {kind: weight(usage, row, kind) for kind in cached}
    if None in weights.values():
        return None
    return usage.input + usage.output + sum(tokens * (weights[kind] or 0.0) for kind, tokens in cached.items())


def weight(usage: Usage, row: Row | None, kind: str) -> float | None:
    """What a token of this kind costs in tokens of input."""
    rates = row.at(usage.total - usage.output) if row else Rates()
    rate, base = getattr(rates, kind), rates.input
    return None if rate is None or not base else rate / base


def all_or_none(values: Sequence[float | None]) -> Sequence[float] | None:
    """The values, or None where one of them is unknown."""
    known = [v for v in values if v is not None]
    return known if len(known) == len(values) else None
