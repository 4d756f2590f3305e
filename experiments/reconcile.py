"""Our records against a provider's export: every difference by day, model, tier and kind."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from agents import prices
from agents.models.base import Usage
from experiments.records import CERTAIN
from experiments.runs import Run
from experiments.statements import Entry, Statement

Record = dict[str, Any]
Key = tuple[str, str, str, str]
"""Day, model, tier, kind."""
EPSILON = 1e-9
ALL = "all"
"""The model or tier where the export does not tell them apart."""
DATED = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")


@dataclass
class Sum:
    """Ours under one key. `unknown` tries may have used more, `most` in all; None where nothing bounds it."""

    amount: float = 0.0
    most: float | None = 0.0
    unknown: int = 0


def reconcile(runs: Sequence[Run], rows: Mapping[str, prices.Row], statements: Sequence[Statement]) -> Record:
    """`rows` replace the runs' own prices, model by model."""
    priced = [(run, {**prices.stored(run.prices), **rows}) for run in runs]
    valued = [(line, known.get(line["model_asked"])) for run, known in priced for line in run.calls if not line.get("replayed")]
    served = names(line for line, _ in valued)
    compared = [compare(statement, [(line, row) for line, row in valued if provider(line) == statement.provider], served)
                for statement in statements]  # fmt: skip
    missing = Counter(provider(line) for line, _ in valued if provider(line) not in {s.provider for s in statements})
    return {
        "runs": [run.run_id for run in runs],
        "statements": [{"provider": s.provider, "unit": s.unit, "files": s.files, "first_day": min(s.days, default=None),
                        "last_day": max(s.days, default=None), "entries": len(s.entries)} for s in statements],
        "totals": [total for found in compared for total in totals(found)],
        "differences": [row for found in compared for row in found if row["differs"]],
        "notes": [f"{count} tries of {name} are in none of these exports." for name, count in sorted(missing.items())],
    }  # fmt: skip


def compare(statement: Statement, lines: Sequence[tuple[Record, prices.Row | None]], served: Mapping[str, str]) -> list[Record]:
    """One row per key that either side has."""
    told = {entry.model for entry in statement.entries if entry.model}
    tiered = bool(statement.entries) and all(entry.tier for entry in statement.entries)
    kinds = {entry.kind for entry in statement.entries}
    ours: dict[Key, Sum] = defaultdict(Sum)
    for line, row in lines:
        model = match(served.get(line["model_asked"]) if line["model_served"] is None else line["model_served"], line, told)
        when = datetime.fromtimestamp(line["end"], UTC).date().isoformat()
        for kind, part in (
            counts(line, statement.provider) if statement.unit == "tokens" else costs(line, row, statement.provider)
        ).items():
            place = ours[when, model, line["tier"] if tiered else ALL, kind if kinds != {"usd"} else "usd"]
            place.amount += part.amount
            place.most = None if place.most is None or part.most is None else place.most + part.most
            place.unknown += part.unknown
    theirs: dict[Key, list[Entry]] = defaultdict(list)
    for entry in statement.entries:
        theirs[entry.day, entry.model or ALL, entry.tier if tiered and entry.tier else ALL, entry.kind].append(entry)
    return [held(statement, key, ours.get(key), theirs.get(key, [])) for key in sorted({*ours, *theirs})]


def held(statement: Statement, key: Key, ours: Sum | None, entries: Sequence[Entry]) -> Record:
    mine, amount = ours or Sum(), sum(entry.amount for entry in entries)
    difference = amount - mine.amount
    slack = EPSILON * max(1.0, abs(amount)) + sum(entry.slack for entry in entries)
    differs = abs(difference) > slack
    return {
        "provider": statement.provider,
        "unit": statement.unit,
        **dict(zip(("day", "model", "tier", "kind"), key, strict=True)),
        "ours": mine.amount,
        "ours_at_most": mine.most,
        "theirs": amount,
        "difference": difference,
        "differs": differs,
        "why": why(mine, bool(ours), bool(entries), amount, slack, key[0] in statement.days) if differs else "",
    }


def why(mine: Sum, ours: bool, theirs: bool, amount: float, slack: float, covered: bool) -> str:
    """What can be told of a difference from the two sides alone."""
    if not covered and not theirs:
        return "a day that the export does not cover"
    if mine.unknown and amount > mine.amount:
        within = mine.most is None or amount <= mine.most + slack
        return f"{mine.unknown} tries of unknown usage or price, {'which may explain it' if within else 'whose bound is below it'}"
    if not theirs:
        return "only in our records"
    return "" if ours and mine.amount else "only in the export"


def totals(found: Sequence[Record]) -> Iterable[Record]:
    for kind in dict.fromkeys(row["kind"] for row in found):
        rows = [row for row in found if row["kind"] == kind]
        ours, theirs = sum(row["ours"] for row in rows), sum(row["theirs"] for row in rows)
        yield {
            "provider": rows[0]["provider"],
            "unit": rows[0]["unit"],
            "kind": kind,
            "ours": ours,
            "theirs": theirs,
            "difference": theirs - ours,
        }


def provider(line: Record) -> str:
    return str(line["model_asked"]).partition("/")[0]


def names(lines: Iterable[Record]) -> dict[str, str]:
    """For each model asked, the name that it was most often served under: what a try without a reply is booked as."""
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for line in lines:
        if line["model_served"]:
            seen[line["model_asked"]][line["model_served"]] += 1
    return {asked: counted.most_common(1)[0][0] for asked, counted in seen.items()}


def match(served: str | None, line: Record, told: set[str]) -> str:
    """Our model by the export's name: itself, or the only one that is the same but for the date and the spelling."""
    if not told:
        return ALL
    name = served or str(line["model_asked"]).partition("/")[2]
    alike = [other for other in told if stem(other) == stem(name)]
    return name if name in told or len(alike) != 1 else alike[0]


def stem(model: str) -> str:
    """Exports of costs say `Claude Haiku 4.5` for claude-haiku-4-5-20251001."""
    return DATED.sub("", re.sub(r"[ .]", "-", model.lower()))


def counts(line: Record, provider: str) -> dict[str, Sum]:
    """Tokens of a try by kind, and its request where the provider counts them."""
    usage = Usage(**line["usage"]) if line["usage"] else Usage()
    unsure = line["usage"] is None or line["usage_source"] not in CERTAIN
    output = line["sampling"]["max_tokens"]
    prompt = None if line["tokens_upper"] is None else line["tokens_upper"] - output
    made = {}
    for kind in prices.KINDS:
        amount = getattr(usage, kind)
        bound = output if kind == "output" else prompt
        made[kind] = Sum(amount, (None if bound is None else max(bound, amount)) if unsure else amount, int(unsure))
    if provider != "openai":
        return made
    billed = int(usage.total > 0 or line["reply_sha"] is not None)
    return {**joined(made), "requests": Sum(billed, max(billed, int(unsure)), int(unsure))}


def costs(line: Record, row: prices.Row | None, provider: str) -> dict[str, Sum]:
    """USD of a try by kind."""
    usage = Usage(**line["usage"]) if line["usage"] else Usage()
    unsure = line["usage"] is None or line["usage_source"] not in CERTAIN
    parts = row.parts(usage, line["tier"]) if row and not unsure else dict.fromkeys(prices.KINDS)
    made = {kind: Sum(0.0, None, 1) if cost is None else Sum(cost, cost) for kind, cost in parts.items()}
    return joined(made) if provider == "openai" else made


def joined(made: dict[str, Sum]) -> dict[str, Sum]:
    """OpenAI tells no lifetimes of ours apart."""
    five, hour = made.pop("cache_write_5m"), made.pop("cache_write_1h")
    most = None if five.most is None or hour.most is None else five.most + hour.most
    return {**made, "cache_write": Sum(five.amount + hour.amount, most, max(five.unknown, hour.unknown))}
