"""The tries of calls in ATIF's words: tokens, cost, and what bounds them where they are unknown."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from experiments import records

Record = dict[str, Any]


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def metrics(tries: Sequence[Record]) -> Record:
    """`prompt_tokens` (those from the cache included), `completion_tokens`, `cached_tokens` and `cost_usd` over all tries; what is unknown
    of any try is left out, with its bounds in `extra`."""
    kinds = records.tokens(tries)
    found: Record = {}
    if not records.unsure(tries):
        prompt = sum(kinds[kind] for kind in ("input", "cache_read", "cache_write_5m", "cache_write_1h"))
        found = {"prompt_tokens": prompt, "completion_tokens": kinds["output"], "cached_tokens": kinds["cache_read"]}
    if not records.unpriced(tries):
        found["cost_usd"], _ = records.dollars(tries)
    return found | {"extra": bounds(tries)}


def bounds(tries: Sequence[Record]) -> Record:
    """Known tokens by kind, and all `tokens`; where some are unknown, `tokens_at_least` and, if anything bounds them, `tokens_at_most`, and
    of an unknown cost `cost_usd_at_least` and `cost_usd_at_most`."""
    kinds = records.tokens(tries)
    found: Record = {key: kinds[key] for key in ("input", "cache_write_5m", "cache_write_1h", "reasoning")}
    if records.unsure(tries):
        uppers = [call["tokens_upper"] if records.unsure([call]) else records.tokens([call])["total"] for call in tries]
        found |= {"tokens_at_least": kinds["total"]} | ({} if None in uppers else {"tokens_at_most": sum(uppers)})
    else:
        found["tokens"] = kinds["total"]
    low, high = records.dollars(tries)
    if records.unpriced(tries):
        found |= {"cost_usd_at_least": low} | ({} if high is None else {"cost_usd_at_most": high})
    return found
