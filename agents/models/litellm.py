"""`provider/...` for every other provider, through litellm: imported at the first call, in a thread, since that takes seconds."""

import asyncio
import json
import os
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agents.models import arguments, chat, exchange, messages, wire
from agents.models.base import CallError, Reply, Request
from agents.models.usage import part
from agents.prices import bundled
from benchmark.errors import UserError

KEYS = {
    "gemini": "GEMINI_API_KEY", "openrouter": "OPENROUTER_API_KEY", "mistral": "MISTRAL_API_KEY", "deepseek": "DEEPSEEK_API_KEY",
    "groq": "GROQ_API_KEY", "xai": "XAI_API_KEY", "together_ai": "TOGETHERAI_API_KEY", "cerebras": "CEREBRAS_API_KEY",
}  # fmt: skip
"""Variables of providers that need one key and nothing else; the other providers' are known to litellm alone."""
CACHING = ("bedrock", "vertex_ai", "azure_ai", "openrouter")
"""Providers of Claude that litellm hands cache breakpoints to; other models cache by themselves, or not at all."""
MARK = {"type": "ephemeral"}
SUPPORT = "provider_endpoints_support_backup.json"


class LiteLLM:
    free = False

    def __init__(self, name: str, args: Mapping[str, Any]):
        provider = name.partition("/")[0]
        if provider not in providers():
            near = get_close_matches(provider, ["openai", "anthropic", *providers()], n=1)
            hint = f" Did you mean '{near[0]}/{name.partition('/')[2]}'?" if near else ""
            raise UserError(f"Unknown model provider {provider!r} in {name!r}.{hint} Providers are litellm's, by their names there.")
        self.name = name
        self.args = arguments.read(arguments.Served, args, name)
        self.sampling = arguments.sampling(self.args)
        self.key_env = self.args.api_key_env or KEYS.get(provider)
        if self.key_env and not wire.key(self.key_env) and not self.args.base_url:
            raise UserError(f"Set {self.key_env} to your API key for {name} (or name its variable with model_args.api_key_env).")

    async def complete(self, request: Request) -> Reply:
        litellm = await asyncio.to_thread(load, self.args.base_url)
        story = exchange.Story(chat)
        try:
            async with asyncio.timeout(self.args.timeout_s):
                response = await litellm.acompletion(**self._body(request))
                if self.args.stream:
                    async for chunk in response:
                        story.add(told(chunk))
                    return story.reply()
        except TimeoutError as error:
            raise story.cut(wire.broken(error, self._where, self.args.timeout_s)) from None
        except litellm.openai.OpenAIError as error:
            raise story.cut(self._failure(error)) from None
        return chat.read(told(response), response.id)

    async def close(self) -> None:
        return None

    @property
    def _where(self) -> str:
        return self.args.base_url or self.name.partition("/")[0]

    def _failure(self, error: Any) -> CallError:
        """litellm wraps every provider's failure in an exception of its own, with a status that may be invented."""
        kinds = {kind.__name__ for kind in type(error).__mro__}
        message = f"{self.name}: {wire.redact(str(error))[: wire.MESSAGE_LIMIT]}"
        if "ContextWindowExceededError" in kinds:
            return CallError("context_overflow", message, **wire.unbilled())
        if "ContentPolicyViolationError" in kinds:
            return CallError("refused", message, **wire.unbilled())
        headers = getattr(error, "litellm_response_headers", None) or getattr(getattr(error, "response", None), "headers", None)
        status = getattr(error, "status_code", 0)
        if kinds & {"APIConnectionError", "APITimeoutError"} or (status >= 500 and not headers):
            return wire.broken(error, self._where, self.args.timeout_s)
        if status < 400:
            return CallError("cut_stream", message)
        return wire.failed(status, headers or {}, str(error).encode("utf-8", "replace"), self.name, self.key_env)

    def _messages(self, request: Request) -> list[dict[str, Any]]:
        """In OpenAI's dialect, with the stable prefix marked as for Anthropic itself where the model is Anthropic's."""
        made = chat.messages(request.messages)
        if self.name.partition("/")[0] in CACHING and "claude" in self.name:
            system = [message for message in made if message["role"] == "system"]
            for message in system[-1:]:
                message["content"] = [messages.block(message["content"], MARK)]
            messages.mark_first([message for message in made if message["role"] != "system"], request.stable, MARK, alone=not system)
        return made

    def _body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.name,
            "messages": self._messages(request),
            "max_tokens": request.sampling.max_tokens,
            "temperature": request.sampling.temperature,
            "seed": request.sampling.seed,
            "reasoning_effort": self.args.reasoning_effort,
            "tools": [{"type": "function", "function": tool} for tool in request.tools] or None,
            "api_base": self.args.base_url,
            "api_key": wire.key(self.key_env, placeholder="none" if self.args.base_url else None) or None,
            "timeout": self.args.timeout_s,
            **(chat.STREAM if self.args.stream else {}),
        }
        return {**{name: value for name, value in body.items() if value is not None}, "num_retries": 0, "max_retries": 0}


def told(answer: Any) -> dict[str, Any]:
    """litellm's object as JSON. It writes zeros where the provider named no usage, and makes an end up where a stream was cut."""
    data: dict[str, Any] = answer.model_dump(mode="json")
    if not part(data, "usage", "prompt_tokens"):
        data["usage"] = None
    return data


@cache
def providers() -> frozenset[str]:
    """litellm's providers, from its data files: asking litellm itself would mean importing it."""
    spec = find_spec("litellm")
    if spec is None or not spec.submodule_search_locations:
        raise UserError("This model needs litellm: pip install litellm.")
    support = Path(spec.submodule_search_locations[0]) / SUPPORT
    named = json.loads(support.read_text(encoding="utf-8"))["providers"] if support.exists() else {}
    priced = {str(entry.get("litellm_provider")) for entry in bundled()[0].values()}
    return frozenset(priced | set(named) | set(KEYS))


def load(base_url: str | None) -> Any:
    """Imports litellm and quietens it: no download of prices, no `.env` read into our environment, no retries, no banners."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    if base_url and wire.loopback(base_url):
        # litellm makes its own HTTP clients, so that a proxy can be kept away from this machine through the environment alone.
        for name in ("NO_PROXY", "no_proxy"):
            os.environ[name] = ",".join(filter(None, [os.environ.get(name), "localhost,127.0.0.1,::1"]))
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    return litellm
