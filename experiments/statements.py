"""What providers say was used or charged: their usage and cost exports, as CSV or JSON, in our kinds.

OpenAI: pages of GET /v1/organization/usage/completions and /v1/organization/costs, and the CSV files of the usage dashboard, which
have the same fields. Anthropic: pages of GET /v1/organizations/usage_report/messages and /v1/organizations/cost_report (amounts in
cents), and the CSV files of the console. OpenAI's input includes the cache, Anthropic's does not.
"""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from benchmark.errors import UserError

Record = Mapping[str, Any]
TIERS = {"default": "standard", "standard": "standard", "batch": "batch", "true": "batch", "false": "standard"}


@dataclass(frozen=True)
class Entry:
    """One amount of an export. `model` and `tier` are None where it does not say."""

    day: str
    """UTC, as in 2026-11-30."""
    model: str | None
    tier: str | None
    kind: str
    """One of ours (`cache_write` where lifetimes are not told apart, `requests`), or the export's own words."""
    amount: float
    slack: float = 0.0
    """How far it may be rounded: half of its last decimal, where it was written as text."""


@dataclass
class Statement:
    provider: str
    unit: str
    """`tokens` or `usd`."""
    entries: list[Entry] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    days: set[str] = field(default_factory=set)
    """Days that the export covers, with or without an entry."""


def read(paths: Sequence[Path]) -> list[Statement]:
    """The statements in the files; those of one provider and unit are one. Raises UserError for a file of no known format."""
    merged: dict[tuple[str, str], Statement] = {}
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"The export {path} cannot be read: {error}.") from error
        try:
            found = pages(text, path) if text.lstrip()[:1] in ("{", "[") else sheet(text, path)
        except (KeyError, TypeError, ValueError, AttributeError, InvalidOperation) as error:
            raise UserError(f"{path} is not as its format says: {error!r}; export it anew.") from error
        whole = merged.setdefault((found.provider, found.unit), Statement(found.provider, found.unit))
        whole.entries += found.entries
        whole.files.append(str(path))
        whole.days |= found.days
    return list(merged.values())


def pages(text: str, path: Path) -> Statement:
    """One page, a list of pages, or one page a line."""
    try:
        data = json.loads(text)
    except ValueError:
        data = [json.loads(line) for line in text.splitlines() if line.strip()]
    documents = data if isinstance(data, list) else [data]
    if documents[-1].get("has_more"):
        raise UserError(f"{path} is the first page only (has_more): fetch the following ones too and put all in one list.")
    buckets = [bucket for document in documents for bucket in document.get("data", [document])]
    results = [(bucket, result) for bucket in buckets for result in bucket.get("results", bucket.get("result", []))]
    name = next((name for name in JSON if any(name[2] in result for _, result in results)), ())
    if results and not name:
        raise UserError(f"{path} is none of the exports that are known: its results have {', '.join(sorted(results[0][1]))}.")
    provider, unit = name[:2] or guess(documents[0])
    found = Statement(provider, unit)
    found.days = {day(bucket.get("start_time", bucket.get("starting_at"))) for bucket in buckets}
    for bucket, result in results if name else []:
        found.entries += JSON[name](day(bucket.get("start_time", bucket.get("starting_at"))), result)
    return found


def guess(document: Record) -> tuple[str, str]:
    """Of pages without a result: whose they are is all that can be told."""
    return ("openai" if document.get("object") == "page" else "anthropic"), "tokens"


def sheet(text: str, path: Path) -> Statement:
    rows = list(csv.DictReader(io.StringIO(text)))
    head = set(next(csv.reader(io.StringIO(text)), []))
    name = next((name for name in CSV if set(name[2:]) <= head), None)
    if name is None:
        raise UserError(f"{path} is none of the exports that are known: its columns are {', '.join(sorted(head)) or 'none'}.")
    found = Statement(name[0], name[1])
    for row in rows:
        when = day(row.get("usage_date_utc") or row.get("start_time") or row["start_time_iso"])
        found.days.add(when)
        found.entries += CSV[name](when, {key: value for key, value in row.items() if value not in ("", None)})
    return found


def day(value: Any) -> str:
    """The UTC day of Unix seconds or of an ISO date."""
    if isinstance(value, int | float) or re.fullmatch(r"\d+(\.\d+)?", str(value)):
        return datetime.fromtimestamp(float(value), UTC).date().isoformat()
    moment = datetime.fromisoformat(str(value))
    return (moment.astimezone(UTC) if moment.tzinfo else moment).date().isoformat()


def whole(value: Any) -> int:
    """A count; nothing is none. CSV files write some as 3.0."""
    return int(float(value or 0))


def tier(*values: Any) -> str | None:
    told = next((str(value).lower() for value in values if value is not None), None)
    return None if told is None else TIERS.get(told, told)


def amounts(when: str, model: Any, at: str | None, counts: Mapping[str, int]) -> list[Entry]:
    return [Entry(when, model, at, kind, count) for kind, count in counts.items() if count]


def openai_usage(when: str, row: Record) -> list[Entry]:
    read, write = whole(row.get("input_cached_tokens")), whole(row.get("input_cache_write_tokens"))
    counts = {
        "requests": whole(row.get("num_model_requests")),
        "input": whole(row.get("input_tokens")) - read - write,
        "cache_read": read,
        "cache_write": write,
        "output": whole(row.get("output_tokens")),
    }
    batch = tier(row.get("batch"))
    return amounts(when, row.get("model"), batch if batch == "batch" else tier(row.get("service_tier"), batch), counts)


def anthropic_usage(when: str, row: Record) -> list[Entry]:
    created = row.get("cache_creation") or {}
    counts = {
        "input": whole(row.get("uncached_input_tokens")),
        "cache_read": whole(row.get("cache_read_input_tokens")),
        "cache_write_5m": whole(created.get("ephemeral_5m_input_tokens")),
        "cache_write_1h": whole(created.get("ephemeral_1h_input_tokens")),
        "output": whole(row.get("output_tokens")),
    }
    return amounts(when, row.get("model"), tier(row.get("service_tier")), counts)


def anthropic_usage_sheet(when: str, row: Record) -> list[Entry]:
    counts = {
        "input": whole(row.get("usage_input_tokens_no_cache")),
        "cache_read": whole(row.get("usage_input_tokens_cache_read")),
        "cache_write_5m": whole(row.get("usage_input_tokens_cache_write_5m")),
        "cache_write_1h": whole(row.get("usage_input_tokens_cache_write_1h")),
        "output": whole(row.get("usage_output_tokens")),
    }
    return amounts(when, row.get("model_version"), tier(row.get("usage_type")), counts)


DIRECTIONS = {"input": "input", "input_tokens": "input", "cached input": "cache_read", "cache write": "cache_write", "output": "output",
              "output_tokens": "output"}  # fmt: skip
LINE = re.compile(r"(?:(?P<tier>\w+) \| )?(?P<model>[\w.:-]+)(?: text)?, (?P<direction>[^,]+)(?P<rest>(?:, .+)?)")
"""A line item as `gpt-5.5-2026-04-23, cached input` or `priority | gpt-5.6-sol, output, long context`."""


def openai_costs(when: str, row: Record) -> list[Entry]:
    value = row["amount"]["value"] if "amount" in row else row.get("amount_value")
    if value is None:
        return []
    item = row.get("line_item")
    match = LINE.fullmatch(item) if item else None
    if match is None or match["direction"] not in DIRECTIONS:
        return [usd(when, None, None, item or "usd", value)]
    at = "batch" if "batch" in match["rest"] else match["tier"]
    return [usd(when, match["model"], tier(at), DIRECTIONS[match["direction"]], value)]


TOKEN_TYPES = {
    "uncached_input_tokens": "input", "input_no_cache": "input", "cache_read_input_tokens": "cache_read", "input_cache_read": "cache_read",
    "cache_creation.ephemeral_5m_input_tokens": "cache_write_5m", "input_cache_write_5m": "cache_write_5m",
    "cache_creation.ephemeral_1h_input_tokens": "cache_write_1h", "input_cache_write_1h": "cache_write_1h",
    "output_tokens": "output", "output": "output",
}  # fmt: skip


def anthropic_costs(when: str, row: Record) -> list[Entry]:
    kind = row.get("token_type") or row.get("description") or row.get("cost_type") or "usd"
    cents = usd(when, row.get("model"), tier(row.get("service_tier")), TOKEN_TYPES.get(kind, kind), row["amount"])
    return [Entry(when, cents.model, cents.tier, cents.kind, cents.amount / 100, cents.slack / 100)]


def anthropic_costs_sheet(when: str, row: Record) -> list[Entry]:
    kind = row.get("token_type") or row.get("cost_type") or "usd"
    return [usd(when, row.get("model"), None, TOKEN_TYPES.get(kind, kind), row["cost_usd"])]


def usd(when: str, model: str | None, at: str | None, kind: str, value: Any) -> Entry:
    exponent = Decimal(value).as_tuple().exponent if isinstance(value, str) else None
    slack = 0.5 * 10.0**exponent if isinstance(exponent, int) else 0.0
    return Entry(when, model, at, kind, float(value), slack)


Reader = Callable[[str, Record], Iterable[Entry]]
JSON: dict[tuple[str, ...], Reader] = {
    ("anthropic", "tokens", "uncached_input_tokens"): anthropic_usage,
    ("openai", "tokens", "num_model_requests"): openai_usage,
    ("anthropic", "usd", "cost_type"): anthropic_costs,
    ("openai", "usd", "amount"): openai_costs,
}
"""By provider, unit and a field that only these results have, or the first of these."""
CSV: dict[tuple[str, ...], Reader] = {
    ("anthropic", "tokens", "usage_input_tokens_no_cache", "usage_output_tokens", "model_version"): anthropic_usage_sheet,
    ("anthropic", "usd", "usage_date_utc", "cost_usd"): anthropic_costs_sheet,
    ("openai", "tokens", "start_time", "input_tokens", "output_tokens"): openai_usage,
    ("openai", "usd", "start_time", "amount_value"): openai_costs,
    ("openai", "tokens", "start_time", "end_time", "start_time_iso", "end_time_iso"): lambda when, row: [],
}
"""By provider, unit and columns; the last is an export of days without use."""
