"""What HTTP providers share: keys, loopback, the reading of hostile bodies, and the mapping of failures to outcomes."""

import json
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from agents.models.base import CallError, Usage
from benchmark import secrets
from benchmark.errors import UserError

UNSENT = frozenset(
    {"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol", "InvalidURL", "LocalProtocolError"}
)
"""Transport errors (of httpx and its kin) before which nothing was sent, so that nothing can be billed."""
GATEWAY = frozenset({502, 504, 520, 521, 522, 523, 524})
"""Statuses of something between the provider and us: the provider may have answered, and billed, all the same."""
OVERFLOW = re.compile(r"context.{0,20}(length|window|size)|prompt is too long|too many (input )?tokens|maximum.{0,20}tokens", re.IGNORECASE)
QUOTA = re.compile(r"insufficient_quota|credit balance", re.IGNORECASE)
BROKEN_OFF = re.compile(r"complete message body|incomplete|payload is not completed")
MESSAGE_LIMIT = 500


def key(env: str | None, placeholder: str | None = None) -> str:
    """The API key in the environment variable `env`."""
    return (secrets.read(env) if env else None) or placeholder or ""


def require_key(env: str, name: str) -> None:
    """Raises UserError where the provider's own service would be asked without a key."""
    if not key(env):
        raise UserError(
            f"Set {env} to your API key for {name} (or name its variable with model_args.api_key_env, "
            "or your own server with model_args.base_url)."
        )


def loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def clean(text: str) -> str:
    """Text that UTF-8 can hold: lone surrogates, which JSON can spell, become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _clean_object(data: dict[str, Any]) -> dict[str, Any]:
    return {clean(name): clean(value) if isinstance(value, str) else value for name, value in data.items()}


def document(body: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
    """The JSON object of a reply with status 200; bytes that are no UTF-8 are replaced."""
    data = parsed(body.decode("utf-8", "replace"))
    if isinstance(data, dict):
        return data
    if "html" in headers.get("content-type", ""):
        raise CallError(
            "bad_request", "The endpoint answered with a web page; is base_url right, its path included (often /v1)?", **unbilled()
        )
    raise CallError("cut_stream", f"The reply of {len(body)} bytes is no JSON object.")


def parsed(text: Any) -> Any:
    """The JSON in `text` with its strings cleaned, or `text` itself where it is none."""
    try:
        return json.loads(clean(text), strict=False, object_hook=_clean_object) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return text


def failed(status: int, headers: Mapping[str, str], body: bytes, model: str, env: str | None) -> CallError:
    """The failure that an error status means."""
    message, code = _explain(body)
    message = f"{model}: HTTP {status}: {message}"
    billing: dict[str, Any] = {} if status in GATEWAY or status == 408 else unbilled()
    billing["request_id"] = headers.get("x-request-id") or headers.get("request-id")
    if status in (401, 402, 403) or (status in (400, 429) and QUOTA.search(f"{code} {message}")):
        remedy = f" Check the key in {env} and its account." if env else " Check the key and its account."
        return CallError("auth", message + remedy, **billing)
    if status == 429 or status >= 500:
        wait = retry_after(headers)
        asks = f" The provider asks to wait for {wait:.0f} s." if wait and wait >= 1 else ""
        return CallError("429" if status == 429 else "5xx", message + asks, retry_after=wait, **billing)
    if status == 408:
        return CallError("timeout", message, **billing)
    if code == "context_length_exceeded" or status == 413 or (status == 400 and OVERFLOW.search(message)):
        return CallError("context_overflow", message, **billing)
    if code in ("content_filter", "content_policy_violation"):
        return CallError("refused", message, **billing)
    remedy = " Check the model's name, and base_url with its path (often /v1)." if status in (404, 405) else ""
    return CallError("bad_request", message + remedy, **billing)


def broken(error: BaseException, url: str, timeout_s: float) -> CallError:
    """The failure that a transport error means: what was never sent is not billed, the rest is unknown."""
    chain = [error]
    while (below := chain[-1].__cause__ or chain[-1].__context__) is not None and below not in chain:
        chain.append(below)
    names = {type(e).__name__ for e in chain}
    billing: dict[str, Any] = unbilled() if names & UNSENT else {}
    words = redact(next((str(e) for e in reversed(chain) if str(e)), type(error).__name__)).rstrip(".")
    if any(name.endswith(("Timeout", "TimeoutError", "TimeoutException")) for name in names):
        return CallError("timeout", f"{url} gave no answer within {timeout_s:g} s (model_args.timeout_s).", **billing)
    if any(BROKEN_OFF.search(str(e)) for e in chain) or "DecodingError" in names:
        return CallError("cut_stream", f"The reply from {url} broke off: {words}.", **billing)
    if names & UNSENT:
        return CallError("connection", f"{url} cannot be reached: {words}. Check model_args.base_url and that the server runs.", **billing)
    return CallError("connection", f"The connection to {url} broke: {words}.", **billing)


def unbilled() -> dict[str, Any]:
    """Usage of a try that was certainly not billed: it was never sent, or the provider itself answered with an error status."""
    return {"usage": Usage(), "usage_source": "provider"}


def instead(error: Any) -> str:
    """The sentence for an error that came with the status of a success."""
    return f"The endpoint answered with an error in place of a reply: {redact(str(error))[:MESSAGE_LIMIT]}"


def redact(message: str) -> str:
    return clean(secrets.redact(message))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait: `retry-after-ms`, or `retry-after` as seconds or as a date."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time.time())
    except (ValueError, TypeError):
        return None


def _explain(body: bytes) -> tuple[str, str]:
    """An error body's message and code; any body will do."""
    text = redact(body.decode("utf-8", "replace"))  # Before it is cut: half a key is a secret too.
    data = parsed(text)
    error = data.get("error", data) if isinstance(data, dict) else None
    if isinstance(error, dict):
        return str(error.get("message") or error)[:MESSAGE_LIMIT], str(error.get("code") or error.get("type") or "")
    return (str(error) if error else text.strip() or "no message")[:MESSAGE_LIMIT], ""
