"""The head of the page: what the runs were, and what they came to."""

from collections.abc import Sequence
from dataclasses import dataclass

from statsmodels.stats.proportion import proportion_confint

from experiments import records, words
from experiments.report.lines import Record
from experiments.report.tasks import Row
from experiments.runs import PAUSED, Run


@dataclass(frozen=True)
class Overview:
    lead: str
    totals: list[tuple[str, str]]
    methods: list[Record]


def overview(runs: Sequence[Run], rows: Sequence[Row]) -> Overview:
    names = list(dict.fromkeys(row.record["method"] for row in rows))
    total = summed("all", rows)
    asked = f"{words.count(len({row.record['task'] for row in rows}))} tasks asked of {listed(names)}."
    totals = [
        ("solved", f"{total['solved']:,} of {total['asked']:,}"),
        ("attempts", words.count(total["attempts"])),
        ("calls", words.count(total["calls"])),
        ("tokens", words.count(total["tokens"], total["tokens_unknown"])),
        ("cost", words.usd(total["usd"], total["usd_unknown"])),
    ]
    lead = " ".join([asked, *devices(runs), *unended(rows)])
    return Overview(lead, totals, [summed(name, [row for row in rows if row.record["method"] == name]) for name in names])


def summed(name: str, rows: Sequence[Row]) -> Record:
    """Of the trajectories asked for: solved where a champion stands, compiled where any attempt compiled. Speedups are geometric means,
    over the solved and over all with a failure as 1.0 (KernelBench, section 3); null where a champion was not measured. `range_` is the
    95 % interval of a share (Wilson)."""
    found = [row.record for row in rows]
    champions = [record for record in found if record["champion"] is not None]
    solved, everything = records.speedups([record["speedup"] for record in champions], len(rows))
    compiled = sum(row.result in ("pass", "wrong") for row in rows)
    keys = ("attempts", "calls", "tokens", "tokens_unknown", "usd", "usd_unknown")
    return {
        "method": name,
        "asked": len(rows),
        "solved": len(champions),
        "compiled": compiled,
        "range_solved": wilson(len(champions), len(rows)),
        "range_compiled": wilson(compiled, len(rows)),
        "speedup_solved": solved,
        "speedup_all": everything,
        "modelled": records.geomean(record["modelled"] for record in champions if record["modelled"] is not None),
        **{key: sum(record[key] for record in found) for key in keys},
    }


def wilson(found: int, asked: int) -> tuple[float, float]:
    """95 % (Wilson 1927)."""
    low, high = proportion_confint(found, asked, method="wilson")
    return float(low), float(high)


def devices(runs: Sequence[Run]) -> list[str]:
    """A sentence for each device."""
    found = {(device["name"], bool(device["simulated"])): None for device in (run.environment["device"] for run in runs)}
    return [f"On {name}: {'speeds are modelled, none is measured' if simulated else 'speeds are measured'}." for name, simulated in found]


def unended(rows: Sequence[Row]) -> list[str]:
    """A sentence where a run was stopped, or goes on."""
    unbegun = sum(row.result == "open" and not row.record["calls"] for row in rows)
    ongoing = sum(row.record["end_reason"] in (None, *PAUSED) for row in rows) - unbegun
    found = [f"{words.count(number)} {state}" for number, state in ((unbegun, "not begun"), (ongoing, "not ended")) if number]
    return [f"Of the trajectories asked for, {listed(found)}: what they lack counts as not solved."] if found else []


def listed(names: Sequence[str]) -> str:
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else names[0]
