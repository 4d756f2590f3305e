"""`check=true`: every total added up a second time. Shares no arithmetic with the audit: from the bytes of the files, `usage_raw` becomes
kinds, kinds times `prices.json` become exact decimal USD, and both are set against what the lines, the other records and the report say.
"""

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any

from agents.prices import Row

Record = dict[str, Any]
KINDS = ("input", "cache_read", "cache_write_5m", "cache_write_1h", "output")
PROMPT = KINDS[:4]
MILLION = Decimal(10**6)
ADDED = ("tries", "retries", *KINDS, "reasoning", "tokens_at_least", "tokens_at_most", "usd_at_least", "usd_at_most")
"""The numbers of a row that are sums over lines."""
OVER = ("solved", "rounds", "stagnation", "declined", "limit")
"""End reasons after which no try of a trajectory follows, so that its totals are final."""
NAMED = 12
"""How many lines a difference names."""


def recheck(report: Record, paths: Sequence[Path], rows: Mapping[str, Row]) -> Record:
    """How much was added up, and every difference in a sentence. `rows` are the prices that the report was asked to use instead."""
    differences: list[str] = []
    items: list[Record] = []
    solved: list[Record] = []
    for path, about in zip(paths, report["runs"], strict=True):
        priced = {**json.loads((path / "prices.json").read_bytes())["models"], **{model: asdict(row) for model, row in rows.items()}}
        names = {key: about[key] for key in ("run", "model", "scaffold")}
        prefix = f"{about['run']}:" if len(paths) > 1 else ""
        lines = list(records(path / "calls.jsonl"))
        champions = {r["trajectory"]: r["champion"] for _, r in records(path / "trajectories.jsonl")}
        belongs = slices(path, lines, champions)
        made = [{**names, **item(n, line, priced, prefix), "slices": belongs[n]} for n, line in lines]
        differences += [f"{about['run']}: {sentence}" for sentence in faults(path, lines, made, bool(rows))]
        items += made
        solved += [{**names, "task": t.rpartition("@")[0], "trajectory": prefix + t} for t, champion in champions.items() if champion]
    compared = list(totals(report, items, solved))
    return {"lines": len(items), "totals": len(compared), "differences": [*differences, *(s for found in compared for s in found)]}


def records(path: Path) -> Iterable[tuple[int, Record]]:
    """Numbered lines; what a kill has torn off at the end is no line."""
    text = path.read_bytes().decode() if path.exists() else ""
    for number, line in enumerate(text.split("\n")[:-1], 1):
        try:
            yield number, json.loads(line)
        except ValueError:
            continue


def item(number: int, line: Record, priced: Mapping[str, Any], prefix: str) -> Record:
    """A line's labels and amounts."""
    identity = line["identity"]
    sure = line["usage_source"] in ("provider", "counted", "replayed") and line["usage"] is not None
    used = kinds(line) if sure else {kind: (line["usage"] or {}).get(kind, 0) for kind in (*KINDS, "reasoning")}
    tokens = sum(used[kind] for kind in KINDS)
    row = priced.get(line["model_asked"])
    exact = usd(used, row, line["tier"])
    cost = exact if sure or (row and row["name"] == "free") else None
    least = cost if cost is not None else exact or Decimal(0)
    return {
        "number": number,
        "line": line,
        "sure": sure,
        "cost": cost,
        "price_row": row["name"] if row else None,
        "task": identity["trajectory"].rpartition("@")[0],
        "trajectory": prefix + identity["trajectory"],
        "role": identity["role"],
        "round": str(identity["round"]),
        "tries": 1,
        "retries": int(line["try"] != 1),
        **used,
        "tokens_at_least": tokens,
        "tokens_at_most": tokens if sure else line["tokens_upper"],
        "usd_at_least": least,
        "usd_at_most": cost if cost is not None else ceiling(used, row, line, sure, least),
    }


def slices(path: Path, lines: Sequence[tuple[int, Record]], champions: Mapping[str, str | None]) -> dict[int, set[str]]:
    """Which parts of the spending a line belongs to, by its number."""
    attempts = [record for _, record in records(path / "attempts.jsonl")]
    kept = {call for a in attempts if a["kernel_sha"] for call in a["calls"]}
    found: dict[str, tuple[float, list[str]]] = {}
    for a in attempts:
        if champions.get(a["trajectory"]) == a["attempt"]:
            took, asked = a["wall_s"], a
            while not asked["calls"] and asked["parents"]:  # Tuned: no call led to it but those of the kernel that it was made from.
                asked = next(b for b in attempts if (b["trajectory"], b["attempt"]) == (a["trajectory"], asked["parents"][0]))
                took += asked["wall_s"]
            replied = [line["end"] for _, line in lines if line["call_id"] in asked["calls"]]
            found[a["trajectory"]] = (max(replied, default=0.0) + took, asked["calls"])
    made: dict[int, set[str]] = {}
    for number, line in lines:
        name, call = line["identity"]["trajectory"], line["call_id"]
        since, own = found.get(name, (math.inf, []))
        unread = line.get("parse") is not None and line.get("parse") != "ok" and line["outcome"] != "declined" and call not in kept
        told = {
            "retried": line["try"] != 1,
            "lost": not line["reply_sha"],
            "unparsed": bool(line["reply_sha"]) and unread,
            "late": line["start"] >= since and call not in own,
            "failed": not champions.get(name),
            "replayed": line.get("replayed") is not None,
        }
        made[number] = {key for key, true in told.items() if true}
    return made


def kinds(line: Record) -> dict[str, int]:
    """From the provider's own usage object, by the names that it has; nothing used where there is none."""
    raw = line["usage_raw"]
    if not raw:
        return dict.fromkeys((*KINDS, "reasoning"), 0)
    if "input" in raw:  # Of models that count for themselves.
        return {kind: raw.get(kind, 0) for kind in (*KINDS, "reasoning")}
    if not str((line.get("replayed") or {}).get("model", line["model_asked"])).startswith("anthropic/"):
        chat = "prompt_tokens" in raw
        return inclusive(raw, *(("prompt_tokens", "completion_tokens") if chat else ("input_tokens", "output_tokens")))
    hour = (raw.get("cache_creation") or {}).get("ephemeral_1h_input_tokens") or 0
    written = raw.get("cache_creation_input_tokens") or hour + ((raw.get("cache_creation") or {}).get("ephemeral_5m_input_tokens") or 0)
    thought = (raw.get("output_tokens_details") or {}).get("thinking_tokens") or 0
    amounts = (raw["input_tokens"], raw.get("cache_read_input_tokens") or 0, written - hour, hour, raw["output_tokens"], thought)
    return dict(zip((*KINDS, "reasoning"), amounts, strict=True))


def inclusive(raw: Record, prompt: str, output: str) -> dict[str, int]:
    """OpenAI's two dialects: the prompt's count includes the cache."""
    details, out = raw.get(f"{prompt}_details") or {}, raw.get(f"{output}_details") or {}
    read = details.get("cached_tokens")
    read = (raw.get("prompt_cache_hit_tokens") or 0) if read is None else read
    written = details.get("cache_write_tokens")
    written = (details.get("cache_creation_tokens") or 0) if written is None else written
    hour = (details.get("cache_creation_token_details") or {}).get("ephemeral_1h_input_tokens") or 0
    amounts = (raw[prompt] - read - written, read, written - hour, hour, raw[output], out.get("reasoning_tokens") or 0)
    return dict(zip((*KINDS, "reasoning"), amounts, strict=True))


def rates(row: Record, prompt: int) -> Mapping[str, Any]:
    return row["long"] if row["long"] and prompt > row["long_above"] else row["rates"]


def factor(row: Record, tier: str) -> Decimal | None:
    if tier == "standard":
        return Decimal(1)
    return Decimal(str(row["batch"])) if tier == "batch" and row["batch"] is not None else None


def usd(used: Mapping[str, int], row: Record | None, tier: str) -> Decimal | None:
    if row is None or (times := factor(row, tier)) is None:
        return None
    held = rates(row, sum(used[kind] for kind in PROMPT))
    if any(used[kind] and held[kind] is None for kind in KINDS):
        return None
    return times * sum((used[kind] * Decimal(str(held[kind] or 0)) for kind in KINDS), Decimal(0)) / MILLION


def ceiling(used: Mapping[str, int], row: Record | None, line: Record, sure: bool, least: Decimal) -> Decimal | None:
    """The bound of a try whose cost is unknown; None where there is none."""
    if row is None or line["tier"] not in ("standard", "batch"):
        return None
    if sure:
        return usd(used, row, "standard")
    if line["tokens_upper"] is None:
        return None
    output = line["sampling"]["max_tokens"]
    prompt = line["tokens_upper"] - output
    times = factor(row, line["tier"]) or Decimal(1)
    bounds = []
    for held in (row["rates"], rates(row, prompt)):
        if held["input"] is None or held["output"] is None:
            return None
        dearest = max(Decimal(str(held[kind])) for kind in PROMPT if held[kind] is not None)
        bounds.append(times * (prompt * dearest + output * Decimal(str(held["output"]))) / MILLION)
    return max(*bounds, least)


def same(one: Any, other: Any) -> bool:
    return one == other if one is None or other is None else math.isclose(float(one), float(other), rel_tol=1e-9, abs_tol=1e-12)


def faults(path: Path, lines: Sequence[tuple[int, Record]], made: Sequence[Record], revalued: bool) -> Iterable[str]:
    """What contradicts itself within one run."""
    seen: dict[str, list[int]] = defaultdict(list)
    for (number, line), valued in zip(lines, made, strict=True):
        at = f"calls.jsonl line {number} ({line['call_id']}, try {line['try']})"
        seen[line["call_id"]].append(line["try"])
        for kind in (*KINDS, "reasoning"):
            if valued["sure"] and line["usage"][kind] != valued[kind]:
                yield f"{at}: usage.{kind} is {line['usage'][kind]}, usage_raw says {valued[kind]}"
        if not revalued and not same(line["cost_usd"], valued["cost"]):
            yield f"{at}: cost_usd is {line['cost_usd']}, usage_raw times prices.json is {valued['cost']}"
        if not revalued and line["price_row"] != valued["price_row"]:
            yield f"{at}: valued by {line['price_row']}, its row in prices.json is {valued['price_row']}"
        yield from (f"{at}: {sentence}" for sentence in unlike(path, line))
    for call, numbers in seen.items():
        if sorted(numbers) != list(range(1, len(numbers) + 1)):
            yield f"calls.jsonl: {call} has tries {sorted(numbers)}, not one line for each"
    yield from ended(path, made)


def unlike(path: Path, line: Record) -> Iterable[str]:
    """The reply that the line names must be there, with the same usage."""
    if line["reply_sha"] is None:
        return
    file = path / "replies" / f"{line['reply_sha']}.json"
    if not file.exists():
        yield f"its reply {file.name} is missing"
    elif (raw := json.loads(file.read_bytes())["usage_raw"]) != line["usage_raw"]:
        yield f"usage_raw is {line['usage_raw']}, that of its reply {raw}"


def ended(path: Path, made: Sequence[Record]) -> Iterable[str]:
    """The totals in `trajectories.jsonl` and in `attempts.jsonl` against the lines of `calls.jsonl`."""
    last = {record["trajectory"]: (number, record) for number, record in records(path / "trajectories.jsonl")}
    for name, (number, record) in last.items():
        if record["end_reason"] not in OVER or not record["totals"]:
            continue
        mine = [valued for valued in made if valued["line"]["identity"]["trajectory"] == name]
        known = sum((Decimal(str(valued["line"]["cost_usd"] or 0)) for valued in mine), Decimal(0))
        for key, amount in (("tokens", sum(valued["tokens_at_least"] for valued in mine)), ("tries", len(mine)), ("usd", known)):
            if not same(record["totals"][key], amount):
                yield f"trajectories.jsonl line {number} ({name}): {key} is {record['totals'][key]}, its {among(mine)} say {amount}"
    calls = defaultdict(list)
    for valued in made:
        calls[valued["line"]["call_id"]].append(valued)
    for number, record in records(path / "attempts.jsonl"):
        mine = [valued for call in record["calls"] for valued in calls[call]]
        tokens = sum(valued["tokens_at_least"] for valued in mine)
        if record["tokens"] is not None and record["tokens"] != tokens:
            yield f"attempts.jsonl line {number} ({record['attempt']}): tokens is {record['tokens']}, its {among(mine)} say {tokens}"


def totals(report: Record, items: Sequence[Record], solved: Sequence[Record]) -> Iterable[list[str]]:
    """Every row of the report, with what is wrong with it."""
    yield list(wrong("total", report["total"], items, len(solved)))
    for dimension, parts in report["by"].items():
        if dimension == "category":
            continue  # Checked below: a line names its task, not its category.
        groups = defaultdict(list)
        for valued in items:
            groups[valued[dimension]].append(valued)
        for name in {*parts, *groups}:
            own = solved if dimension in ("role", "round") else [t for t in solved if t[dimension] == name]
            yield list(wrong(f"{dimension} {name}", parts.get(name), groups[name], len(own)))
    for task, roles in report["pairs"].items():
        for role, row in roles.items():
            mine = [v for v in items if (v["task"], v["role"]) == (task, role)]
            yield list(wrong(f"{role} of {task}", row, mine, sum(t["task"] == task for t in solved)))
    for key in ADDED:
        amounts = [row[key] for row in report["by"]["category"].values()]
        whole = None if None in amounts else math.fsum(amounts)
        if not same(whole, report["total"][key]):
            yield [f"categories: {key} adds up to {whole}, the total is {report['total'][key]}"]


def wrong(name: str, row: Record | None, items: Sequence[Record], solved: int) -> Iterable[str]:
    """What the report's row has other than the lines."""
    if row is None:
        yield f"{name}: not in the report, but in {among(items)}"
        return
    expected = {key: added(items, key) for key in ADDED}
    expected["calls"] = len({(valued["run"], valued["line"]["call_id"]) for valued in items})
    expected["solved"] = solved
    for key in ("tokens_at_least", "usd_at_least"):
        expected[f"{key}_per_success"] = expected[key] / solved if solved else None
    for key, amount in expected.items():
        if not same(row[key], amount):
            yield f"{name}: {key} is {row[key]} in the report, {among(items)} say {amount}"
    for part, told in row["of_which"].items():
        mine = [valued for valued in items if part in valued["slices"]]
        for key in ADDED[-4:]:
            if not same(told[key], amount := added(mine, key)):
                yield f"{name}, {part}: {key} is {told[key]} in the report, {among(mine)} say {amount}"


def added(items: Sequence[Record], key: str) -> Any:
    amounts = [valued[key] for valued in items]
    return None if None in amounts else sum(amounts, Decimal(0))


def among(items: Sequence[Record]) -> str:
    numbers = [str(valued["number"]) for valued in items]
    return f"lines {', '.join(numbers[:NAMED])}{' ...' if len(numbers) > NAMED else ''}" if numbers else "no lines"
