"""What the tries of calls have used and cost together, and what bounds it where it is unknown; in our words, and in ATIF's."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from experiments import records

Record = dict[str, Any]


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def spent(tries: Sequence[Record]) -> Record:
    """Known tokens by kind, `tokens` and `usd`. Where those of a try are unknown, `tokens_at_least` and `usd_at_least` stand instead, with
    `_at_most` if there is a bound."""
    found: Record = records.tokens(tries)
    tokens = found.pop("total")
    if records.unsure(tries):
        uppers = [call["tokens_upper"] if records.unsure([call]) else records.tokens([call])["total"] for call in tries]
        found |= between("tokens", tokens, None if None in uppers else sum(uppers))
    else:
        found["tokens"] = tokens
    low, high = records.dollars(tries)
    return found | (between("usd", low, high) if records.unpriced(tries) else {"usd": low})


def between(name: str, low: float, high: float | None) -> Record:
    return {f"{name}_at_least": low} | ({} if high is None else {f"{name}_at_most": high})


def metrics(tries: Sequence[Record]) -> Record:
    """`prompt_tokens` (those of the cache included), `completion_tokens`, `cached_tokens` and `cost_usd`, each only if known of every try;
    `extra` has what is known."""
    known = spent(tries)
    found: Record = {}
    if "tokens" in known:
        prompt = known["tokens"] - known["output"]
        found = {"prompt_tokens": prompt, "completion_tokens": known["output"], "cached_tokens": known["cache_read"]}
    if "usd" in known:
        found["cost_usd"] = known["usd"]
    return found | {"extra": known}
