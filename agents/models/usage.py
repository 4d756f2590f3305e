"""From a provider's usage object to disjoint kinds. Providers disagree on what their input counts include."""

from collections.abc import Mapping
from typing import Any

from agents.models.base import Usage


def count(value: Any) -> int | None:
    """A token count as a provider should send it."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def part(data: Mapping[str, Any], *path: str) -> Any:
    """`data[a][b]...`, or None where anything on the way is missing or no object."""
    value: Any = data
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def openai(raw: Any) -> tuple[Usage | None, str]:
    """OpenAI's shape, and litellm's: `prompt_tokens` includes cache reads and writes, `completion_tokens` includes reasoning."""
    if not isinstance(raw, Mapping):
        return None, "unknown"
    prompt, output = count(raw.get("prompt_tokens")), count(raw.get("completion_tokens"))
    read = _first(raw, ("prompt_tokens_details", "cached_tokens"), ("prompt_cache_hit_tokens",))
    write = _first(raw, ("prompt_tokens_details", "cache_write_tokens"), ("prompt_tokens_details", "cache_creation_tokens"))
    hour = _first(raw, ("prompt_tokens_details", "cache_creation_token_details", "ephemeral_1h_input_tokens"))
    reasoning = _first(raw, ("completion_tokens_details", "reasoning_tokens"))
    return _inclusive(prompt, output, read, write, hour, reasoning)


def responses(raw: Any) -> tuple[Usage | None, str]:
    """The shape of OpenAI's responses API: other names, and sums as in chat completions."""
    if not isinstance(raw, Mapping):
        return None, "unknown"
    read = _first(raw, ("input_tokens_details", "cached_tokens"))
    write = _first(raw, ("input_tokens_details", "cache_write_tokens"))
    reasoning = _first(raw, ("output_tokens_details", "reasoning_tokens"))
    return _inclusive(count(raw.get("input_tokens")), count(raw.get("output_tokens")), read, write, 0, reasoning)


def _inclusive(prompt: int | None, output: int | None, read: int, write: int, hour: int, reasoning: int) -> tuple[Usage | None, str]:
    """Kinds where the prompt's count includes the cache. Parts that exceed their whole are cut to it: a partial usage is never too much."""
    if prompt is None and output is None:
        return None, "unknown"
    whole, said = prompt or 0, output or 0
    sound = prompt is not None and output is not None and read + write <= prompt and reasoning <= output and hour <= write
    read = min(read, whole)
    write = min(write, whole - read)
    hour = min(hour, write)
    return Usage(whole - read - write, read, write - hour, hour, said, min(reasoning, said)), "provider" if sound else "partial"


def anthropic(raw: Any) -> tuple[Usage | None, str]:
    """Anthropic's shape: `input_tokens` excludes the cache, and a write is split by lifetime where `cache_creation` says so."""
    if not isinstance(raw, Mapping):
        return None, "unknown"
    fresh, output = count(raw.get("input_tokens")), count(raw.get("output_tokens"))
    read = _first(raw, ("cache_read_input_tokens",))
    hour = _first(raw, ("cache_creation", "ephemeral_1h_input_tokens"))
    five = _first(raw, ("cache_creation", "ephemeral_5m_input_tokens"))
    write = _first(raw, ("cache_creation_input_tokens",)) or hour + five
    reasoning = _first(raw, ("output_tokens_details", "thinking_tokens"))
    if fresh is None and output is None:
        return None, "unknown"
    sound = fresh is not None and output is not None and hour <= write and reasoning <= output
    usage = Usage(fresh or 0, read, max(write - hour, 0), hour, output or 0, min(reasoning, output or 0))
    return usage, "provider" if sound else "partial"


def _first(raw: Mapping[str, Any], *paths: tuple[str, ...]) -> int:
    return next((n for path in paths if (n := count(part(raw, *path)))), 0)
