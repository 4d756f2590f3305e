"""The head of the page: what the runs were, and what they came to."""

from collections.abc import Sequence
from dataclasses import dataclass

from experiments import words
from experiments.report.lines import Record
from experiments.report.tasks import Row


@dataclass(frozen=True)
class Overview:
    lead: str
    totals: list[tuple[str, str]]
    methods: list[Record]


def overview(rows: Sequence[Row]) -> Overview:
    names = list(dict.fromkeys(row.record["method"] for row in rows))
    total = summed("all", rows)
    lead = f"{words.count(len({row.record['task'] for row in rows}))} tasks asked of {listed(names)}."
    totals = [
        ("solved", f"{total['solved']:,} of {total['asked']:,}"),
        ("attempts", words.count(total["attempts"])),
        ("calls", words.count(total["calls"])),
        ("tokens", words.count(total["tokens"], total["tokens_unknown"])),
        ("cost", words.usd(total["usd"], total["usd_unknown"])),
    ]
    return Overview(lead, totals, [summed(name, [row for row in rows if row.record["method"] == name]) for name in names])


def summed(name: str, rows: Sequence[Row]) -> Record:
    """Sums over the trajectories asked for. A task is solved where a champion stands, compiled where any attempt compiled."""
    records = [row.record for row in rows]
    keys = ("attempts", "calls", "tokens", "tokens_unknown", "usd", "usd_unknown")
    return {
        "method": name,
        "asked": len(rows),
        "solved": sum(record["champion"] is not None for record in records),
        "compiled": sum(row.result in ("pass", "wrong") for row in rows),
        **{key: sum(record[key] for record in records) for key in keys},
    }


def listed(names: Sequence[str]) -> str:
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else names[0]
