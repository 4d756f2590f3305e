"""`model_args`: what a user may set for a model, checked against that model's dataclass."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

from benchmark.errors import UserError, unknown

T = TypeVar("T")
SAMPLING = ("temperature", "max_tokens")
POSITIVE = ("timeout_s", "max_tokens", "concurrency", "requests_per_minute", "tokens_per_minute")


@dataclass(frozen=True)
class Served:
    """What every model behind a server takes."""

    base_url: str | None = None
    """Where the server is."""
    api_key_env: str | None = None
    """Name of the environment variable with the key."""
    timeout_s: float = 600.0
    """Seconds that one try may take."""
    temperature: float | None = None
    max_tokens: int | None = None
    """Tokens that a reply may have, reasoning included."""
    reasoning_effort: str | None = None
    """Passed on as it is."""
    stream: bool = False
    """Have replies sent as they are written; `first_token` is then on record."""
    concurrency: int = 32
    """Calls in flight at once."""
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    """Of prompts and replies, cached ones included; a call counts with its upper bound until it has ended."""


def read(kind: type[T], given: Mapping[str, Any], model: str) -> T:
    """Builds the dataclass `kind` from `model_args`."""
    hints = get_type_hints(kind)
    for name, value in given.items():
        if name not in hints:
            raise unknown(f"option in model_args for {model}", name, hints)
        if not _fits(value, hints[name]):
            raise UserError(f"model_args.{name} must be {_words(hints[name])}, not {value!r}.")
        if name in POSITIVE and value is not None and value <= 0:
            raise UserError(f"model_args.{name} must be positive, not {value!r}.")
    if given.get("base_url") is not None:
        _check_url(given["base_url"])
    if given.get("api_key_env") is not None and not re.fullmatch(r"[A-Z_][A-Z0-9_]*", given["api_key_env"]):
        # Not shown: it may be the key itself.
        raise UserError(
            "model_args.api_key_env must be the name of an environment variable (capitals, digits, underscores), never the key."
        )
    return kind(**given)


def sampling(args: Any) -> dict[str, Any]:
    """The fields of `Sampling` that the user fixed."""
    return {name: getattr(args, name) for name in SAMPLING if getattr(args, name) is not None}


def names(kind: type) -> list[str]:
    return [f.name for f in fields(kind)]


def _types(hint: Any) -> tuple[type, ...]:
    return get_args(hint) if isinstance(hint, UnionType) else (hint,)


def _fits(value: Any, hint: Any) -> bool:
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    types = _types(hint)
    if isinstance(value, bool):
        return bool in types
    return isinstance(value, types) or (float in types and isinstance(value, int))


def _words(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return f"one of {', '.join(get_args(hint))}"
    named = {str: "text", int: "an integer", float: "a number", bool: "true or false", type(None): "null"}
    return " or ".join(named[t] for t in _types(hint))


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UserError(f"model_args.base_url must start with http:// or https:// and name a host, not {url!r}.")
    if parts.username or parts.password:
        raise UserError("model_args.base_url must hold no credentials; name the key's variable with model_args.api_key_env.")
