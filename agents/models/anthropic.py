"""`anthropic/...`: messages through the anthropic SDK, with the stable prefix of a prompt marked for its cache."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.models import arguments, usage, wire
from agents.models.base import CallError, Reply, Request

HOME = "https://api.anthropic.com"
BREAKPOINT = {"type": "ephemeral"}


@dataclass(frozen=True)
class Args:
    base_url: str | None = None
    """Where the server is; default: ANTHROPIC_BASE_URL, else Anthropic's own."""
    api_key_env: str = "ANTHROPIC_API_KEY"
    """Name of the environment variable with the key; a server of your own may need none."""
    timeout_s: float = 600.0
    """Seconds that one try may take."""
    temperature: float | None = None
    max_tokens: int | None = None
    cache: bool = True
    """Mark the stable prefix for the provider's cache (5 minutes)."""


class Anthropic:
    free = False

    def __init__(self, name: str, args: Mapping[str, Any]):
        self.name = name
        self.args = arguments.read(Args, args, name)
        self.sampling = arguments.sampling(self.args)
        self.base_url = self.args.base_url or os.environ.get("ANTHROPIC_BASE_URL") or HOME
        self.client: Any = None
        if self.base_url == HOME:
            wire.require_key(self.args.api_key_env, name)

    async def complete(self, request: Request) -> Reply:
        import anthropic

        if self.client is None:
            self.client = self._connect()
        try:
            async with asyncio.timeout(self.args.timeout_s):
                response = await self.client.messages.with_raw_response.create(**self._body(request))
                content = await response.read()
        except anthropic.APIStatusError as error:
            answer = error.response
            raise wire.failed(answer.status_code, answer.headers, answer.content, self.name, self.args.api_key_env) from None
        except (anthropic.APIConnectionError, TimeoutError) as error:
            raise wire.broken(error, self.base_url, self.args.timeout_s, self.args.api_key_env) from None
        return read(wire.document(content, response.headers), response.headers.get("request-id"))

    async def close(self) -> None:
        if self.client is not None:
            await self.client.close()

    def _connect(self) -> Any:
        import anthropic

        # Proxies are for the world outside; a server on this machine is asked directly.
        own = anthropic.DefaultAsyncHttpxClient(trust_env=False) if wire.loopback(self.base_url) else None
        key = wire.key(self.args.api_key_env, placeholder="none")
        return anthropic.AsyncAnthropic(api_key=key, base_url=self.base_url, max_retries=0, timeout=self.args.timeout_s, http_client=own)

    def _body(self, request: Request) -> dict[str, Any]:
        system = [m["content"] for m in request.messages if m["role"] == "system"]
        turns: list[dict[str, Any]] = [dict(m) for m in request.messages if m["role"] != "system"]
        # A first message is worth keeping only where others follow it, or where nothing stands before it.
        if len(turns) > 1 or not system:
            turns[0]["content"] = [self._block(turns[0]["content"])]
        body: dict[str, Any] = {
            "model": self.name.partition("/")[2],
            "max_tokens": request.sampling.max_tokens,
            "messages": turns,
            "system": [self._block("\n\n".join(system))] if system else None,
            "temperature": request.sampling.temperature,
            "tools": [{"name": t["name"], "description": t["description"], "input_schema": t["parameters"]} for t in request.tools] or None,
        }
        return {name: value for name, value in body.items() if value is not None}

    def _block(self, text: str) -> dict[str, Any]:
        return {"type": "text", "text": text, **({"cache_control": BREAKPOINT} if self.args.cache else {})}


def read(data: Mapping[str, Any], request_id: str | None = None) -> Reply:
    """The reply in a message's JSON, whatever it lacks."""
    if data.get("type") == "error":
        raise CallError("5xx", f"The endpoint answered with an error in place of a reply: {str(data.get('error'))[: wire.MESSAGE_LIMIT]}")
    blocks = data["content"] if isinstance(data.get("content"), list) else []
    blocks = [block for block in blocks if isinstance(block, dict)]
    tokens, source = usage.anthropic(data.get("usage"))
    tier = usage.part(data, "usage", "service_tier")
    return Reply(
        text="".join(b["text"] for b in blocks if b.get("type") == "text" and isinstance(b.get("text"), str)),
        model=str(data.get("model") or ""),
        finish_reason=str(data.get("stop_reason") or "stop"),
        tool_calls=[{"id": b.get("id"), "name": b.get("name"), "arguments": b.get("input")} for b in blocks if b.get("type") == "tool_use"],
        usage=tokens,
        usage_raw=data["usage"] if isinstance(data.get("usage"), dict) else None,
        usage_source=source,
        request_id=request_id or (str(data["id"]) if data.get("id") else None),
        tier=str(tier or "standard"),
    )
