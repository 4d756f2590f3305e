"""`openai/...`: chat completions or responses through the openai SDK, at OpenAI or at any endpoint that speaks the same dialect."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from agents.models import arguments, chat, exchange, responses, wire
from agents.models.base import Reply, Request

HOME = "https://api.openai.com/v1"
NEW_LIMIT = ("api.openai.com", ".azure.com")
"""Hosts whose newer models refuse `max_tokens`; most other servers know nothing else."""


@dataclass(frozen=True)
class Args(arguments.Served):
    """`base_url` with its path (`http://localhost:8000/v1`) defaults to OPENAI_BASE_URL, else OpenAI's own. Yours may need no key."""

    api_key_env: str = "OPENAI_API_KEY"
    api: Literal["chat", "responses"] = "chat"
    """Chat completions, which most servers speak, or OpenAI's responses API (which takes no seed)."""


class OpenAI:
    free = False

    def __init__(self, name: str, args: Mapping[str, Any]):
        self.name = name
        self.args = arguments.read(Args, args, name)
        self.sampling = arguments.sampling(self.args)
        self.base_url = self.args.base_url or os.environ.get("OPENAI_BASE_URL") or HOME
        self.dialect: Any = responses if self.args.api == "responses" else chat
        self.endpoint: str = self.dialect.ENDPOINT
        self.client: Any = None
        if self.base_url == HOME:
            wire.require_key(self.args.api_key_env, name)

    async def complete(self, request: Request) -> Reply:
        import openai

        if self.client is None:
            self.client = self.connect()
        resource = self.client.responses if self.dialect is responses else self.client.chat.completions
        return await exchange.ask(self, self.dialect, openai, resource, request)

    async def close(self) -> None:
        if self.client is not None:
            await self.client.close()

    def connect(self) -> Any:
        """A client of the SDK, which retries nothing."""
        import openai

        # Proxies are for the world outside; a server on this machine is asked directly.
        own = openai.DefaultAsyncHttpxClient(trust_env=False) if wire.loopback(self.base_url) else None
        key = wire.key(self.args.api_key_env, placeholder="none")
        return openai.AsyncOpenAI(api_key=key, base_url=self.base_url, max_retries=0, timeout=self.args.timeout_s, http_client=own)

    def read(self, data: Mapping[str, Any], request_id: str | None = None) -> Reply:
        """The reply in the endpoint's JSON."""
        return self.dialect.read(data, request_id)

    def body(self, request: Request) -> dict[str, Any]:
        """The endpoint's JSON for a request."""
        made = self._responses(request) if self.dialect is responses else self._chat(request)
        common = {"model": self.name.partition("/")[2], "temperature": request.sampling.temperature}
        return {name: value for name, value in {**common, **made}.items() if value is not None}

    def _chat(self, request: Request) -> dict[str, Any]:
        host = urlsplit(self.base_url).hostname or ""
        return {
            "messages": chat.messages(request.messages),
            "max_completion_tokens" if host.endswith(NEW_LIMIT) else "max_tokens": request.sampling.max_tokens,
            "seed": request.sampling.seed,
            "reasoning_effort": self.args.reasoning_effort,
            "tools": [{"type": "function", "function": tool} for tool in request.tools] or None,
        }

    def _responses(self, request: Request) -> dict[str, Any]:
        effort = self.args.reasoning_effort
        system = [m["content"] for m in request.messages if m["role"] == "system"]
        return {
            "instructions": "\n\n".join(system) or None,
            "input": responses.items(m for m in request.messages if m["role"] != "system"),
            "max_output_tokens": request.sampling.max_tokens,
            "reasoning": {"effort": effort} if effort else None,
            "tools": [{"type": "function", "strict": False, **tool} for tool in request.tools] or None,
            # Reasoning is handed back with a tool's results; since nothing is stored, it has to come along.
            "include": ["reasoning.encrypted_content"] if effort and request.tools else None,
            "store": False,
        }
