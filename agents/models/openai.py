"""`openai/...`: chat completions through the openai SDK, at OpenAI or at any endpoint that speaks the same dialect."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from agents.models import arguments, usage, wire
from agents.models.base import CallError, Reply, Request

HOME = "https://api.openai.com/v1"
NEW_LIMIT = ("api.openai.com", ".azure.com")
"""Hosts whose newer models refuse `max_tokens`; most other servers know nothing else."""


@dataclass(frozen=True)
class Args:
    base_url: str | None = None
    """Where the server is, path included (`http://localhost:8000/v1`); default: OPENAI_BASE_URL, else OpenAI's own."""
    api_key_env: str = "OPENAI_API_KEY"
    """Name of the environment variable with the key; a server of your own may need none."""
    timeout_s: float = 600.0
    """Seconds that one try may take."""
    temperature: float | None = None
    max_tokens: int | None = None
    reasoning_effort: str | None = None
    """Passed on as it is."""


class OpenAI:
    free = False

    def __init__(self, name: str, args: Mapping[str, Any]):
        self.name = name
        self.args = arguments.read(Args, args, name)
        self.sampling = arguments.sampling(self.args)
        self.base_url = self.args.base_url or os.environ.get("OPENAI_BASE_URL") or HOME
        self.client: Any = None
        if self.base_url == HOME:
            wire.require_key(self.args.api_key_env, name)

    async def complete(self, request: Request) -> Reply:
        import openai

        if self.client is None:
            self.client = self._connect()
        try:
            async with asyncio.timeout(self.args.timeout_s):
                response = await self.client.chat.completions.with_raw_response.create(**self._body(request))
        except openai.APIStatusError as error:
            answer = error.response
            raise wire.failed(answer.status_code, answer.headers, answer.content, self.name, self.args.api_key_env) from None
        except (openai.APIConnectionError, TimeoutError) as error:
            raise wire.broken(error, self.base_url, self.args.timeout_s, self.args.api_key_env) from None
        return read(wire.document(response.content, response.headers), response.headers.get("x-request-id"))

    async def close(self) -> None:
        if self.client is not None:
            await self.client.close()

    def _connect(self) -> Any:
        import openai

        # Proxies are for the world outside; a server on this machine is asked directly.
        own = openai.DefaultAsyncHttpxClient(trust_env=False) if wire.loopback(self.base_url) else None
        key = wire.key(self.args.api_key_env, placeholder="none")
        return openai.AsyncOpenAI(api_key=key, base_url=self.base_url, max_retries=0, timeout=self.args.timeout_s, http_client=own)

    def _body(self, request: Request) -> dict[str, Any]:
        host = urlsplit(self.base_url).hostname or ""
        body: dict[str, Any] = {
            "model": self.name.partition("/")[2],
            "messages": list(request.messages),
            "max_completion_tokens" if host.endswith(NEW_LIMIT) else "max_tokens": request.sampling.max_tokens,
            "temperature": request.sampling.temperature,
            "seed": request.sampling.seed,
            "reasoning_effort": self.args.reasoning_effort,
            "tools": [{"type": "function", "function": tool} for tool in request.tools] or None,
        }
        return {name: value for name, value in body.items() if value is not None}


def read(data: Mapping[str, Any], request_id: str | None = None) -> Reply:
    """The reply in a chat completion's JSON, whatever it lacks."""
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message = choice["message"] if isinstance(choice.get("message"), dict) else {}
    if "error" in data and not choice:
        raise CallError(
            "5xx", f"The endpoint answered with an error in place of a reply: {wire.clean(str(data['error']))[: wire.MESSAGE_LIMIT]}"
        )
    content, refusal = message.get("content"), message.get("refusal")
    finish = "refusal" if refusal and not content else str(choice.get("finish_reason") or "stop")
    tokens, source = usage.openai(data.get("usage"))
    tier = data.get("service_tier")
    return Reply(
        text=wire.clean(_text(content) or _text(refusal)),
        model=wire.clean(str(data.get("model") or "")),
        finish_reason=wire.clean(finish),
        tool_calls=calls(message.get("tool_calls")),
        usage=tokens,
        usage_raw=data["usage"] if isinstance(data.get("usage"), dict) else None,
        usage_source=source,
        request_id=request_id or (str(data["id"]) if data.get("id") else None),
        tier="standard" if tier in (None, "default", "auto", "standard") else str(tier),
    )


def calls(raw: Any) -> list[dict[str, Any]]:
    """Tool calls in our shape; arguments that are no JSON stay text."""
    found = []
    for call in raw if isinstance(raw, list) else []:
        function = usage.part(call, "function")
        if isinstance(function, dict):
            found.append({"id": usage.part(call, "id"), "name": function.get("name"), "arguments": wire.parsed(function.get("arguments"))})
    return found


def _text(content: Any) -> str:
    """Content is text, or a list of parts of which the texts count."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(p["text"] for p in parts if isinstance(p, dict) and isinstance(p.get("text"), str))
