"""`anthropic/...`: messages through the anthropic SDK, with the stable prefix of a prompt marked for its cache."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agents.models import arguments, exchange, messages, wire
from agents.models.base import Reply, Request, Sampling
from benchmark.errors import UserError

HOME = "https://api.anthropic.com"
LEAST_THINKING = 1024


@dataclass(frozen=True)
class Args(arguments.Served):
    """`base_url` defaults to ANTHROPIC_BASE_URL, else Anthropic's own. Your own server may need no key."""

    api_key_env: str = "ANTHROPIC_API_KEY"
    cache: Literal["5m", "1h", "none"] = "5m"
    """How long the provider keeps the stable prefix of prompts (system and task); a write for an hour costs more."""
    thinking_tokens: int | None = None
    """A budget for thinking, within `max_tokens`. Newer models think as they see fit: steer them with `reasoning_effort`."""


class Anthropic:
    free = False
    endpoint = messages.ENDPOINT

    def __init__(self, name: str, args: Mapping[str, Any]):
        self.name = name
        self.args = arguments.read(Args, args, name)
        check_thinking(self.args)
        self.sampling = arguments.sampling(self.args)
        self.base_url = self.args.base_url or os.environ.get("ANTHROPIC_BASE_URL") or HOME
        self.client: Any = None
        if self.base_url == HOME:
            wire.require_key(self.args.api_key_env, name)

    async def complete(self, request: Request) -> Reply:
        import anthropic

        if self.client is None:
            self.client = self.connect()
        return await exchange.ask(self, messages, anthropic, self.client.messages, request)

    async def close(self) -> None:
        if self.client is not None:
            await self.client.close()

    def connect(self) -> Any:
        """A client of the SDK, which retries nothing."""
        import anthropic

        # Proxies are for the world outside; a server on this machine is asked directly.
        own = anthropic.DefaultAsyncHttpxClient(trust_env=False) if wire.loopback(self.base_url) else None
        key = wire.key(self.args.api_key_env, placeholder="none")
        return anthropic.AsyncAnthropic(api_key=key, base_url=self.base_url, max_retries=0, timeout=self.args.timeout_s, http_client=own)

    def read(self, data: Mapping[str, Any], request_id: str | None = None) -> Reply:
        """The reply in a message's JSON."""
        return messages.read(data, request_id)

    def body(self, request: Request) -> dict[str, Any]:
        """The endpoint's JSON for a request."""
        args = self.args
        mark = {"5m": {"type": "ephemeral"}, "1h": {"type": "ephemeral", "ttl": "1h"}}.get(args.cache)
        system = "\n\n".join(m["content"] for m in request.messages if m["role"] == "system")
        turns = messages.turns(m for m in request.messages if m["role"] != "system")
        messages.mark_first(turns, request.stable, mark, alone=not system)
        body: dict[str, Any] = {
            "model": self.name.partition("/")[2],
            "max_tokens": request.sampling.max_tokens,
            "messages": turns,
            "system": [messages.block(system, mark)] if system else None,
            "temperature": request.sampling.temperature,
            "thinking": {"type": "enabled", "budget_tokens": args.thinking_tokens} if args.thinking_tokens else None,
            "output_config": {"effort": args.reasoning_effort} if args.reasoning_effort else None,
            "tools": [{"name": t["name"], "description": t["description"], "input_schema": t["parameters"]} for t in request.tools] or None,
        }
        return {name: value for name, value in body.items() if value is not None}


def check_thinking(args: Args) -> None:
    """Refuses what the provider would refuse at every call."""
    most = args.max_tokens or Sampling().max_tokens
    if args.thinking_tokens is None:
        return
    if not LEAST_THINKING <= args.thinking_tokens < most:
        raise UserError(
            f"model_args.thinking_tokens must be at least {LEAST_THINKING} and below max_tokens ({most}), which it is a part of, "
            f"not {args.thinking_tokens}."
        )
    if args.temperature not in (None, 1):
        raise UserError("model_args.temperature cannot be set together with thinking_tokens; leave one of them out.")
