"""OpenAI's chat completions, as OpenAI and most other servers speak them: bodies, replies, streams."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from agents.models import wire
from agents.models.base import CallError, Reply
from agents.models.usage import openai as usage
from agents.models.usage import part

ENDPOINT = "/v1/chat/completions"
STREAM = {"stream": True, "stream_options": {"include_usage": True}}
TIERS = (None, "default", "auto", "standard")
"""Service tiers that are the standard price."""


def messages(ours: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Our messages in the dialect."""
    return [_message(message) for message in ours]


def _message(ours: Mapping[str, Any]) -> dict[str, Any]:
    message = {name: value for name, value in ours.items() if name not in ("tool_calls", "thinking")}
    if ours.get("tool_calls"):
        message["tool_calls"] = [
            {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": written(c["arguments"])}}
            for c in ours["tool_calls"]
        ]
    return message


def written(arguments: Any) -> str:
    """Arguments of a tool call as the text that they came in."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def read(data: Mapping[str, Any], request_id: str | None = None) -> Reply:
    """The reply in a chat completion's JSON, whatever it lacks."""
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message = choice["message"] if isinstance(choice.get("message"), dict) else {}
    if "error" in data and not choice:
        raise CallError("5xx", wire.instead(data["error"]))
    content, refusal = message.get("content"), message.get("refusal")
    finish = "refusal" if refusal and not content else str(choice.get("finish_reason") or "stop")
    tokens, source = usage(data.get("usage"))
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
        tier="standard" if tier in TIERS else str(tier),
    )


def calls(raw: Any) -> list[dict[str, Any]]:
    """Tool calls in our shape; arguments that are no JSON stay text."""
    found = []
    for call in raw if isinstance(raw, list) else []:
        function = part(call, "function")
        if isinstance(function, dict):
            found.append({"id": part(call, "id"), "name": function.get("name"), "arguments": wire.parsed(function.get("arguments"))})
    return found


def _text(content: Any) -> str:
    """Content is text, or a list of parts of which the texts count."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(p["text"] for p in parts if isinstance(p, dict) and isinstance(p.get("text"), str))


class Assembly:
    """Implements `exchange.Assembly`. The reply is whole once a chunk names why it ended; its usage follows in a chunk of its own."""

    def __init__(self) -> None:
        self.done = False
        self.head: dict[str, Any] = {}
        self.parts: dict[str, list[str]] = {"content": [], "refusal": []}
        self.calls: dict[Any, dict[str, Any]] = {}
        self.finish: Any = None

    def add(self, event: Mapping[str, Any]) -> bool:
        self.head |= {key: event[key] for key in ("id", "model", "service_tier", "usage", "error") if event.get(key)}
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        self.finish = choice.get("finish_reason") or self.finish
        self.done = self.finish is not None
        delta = choice["delta"] if isinstance(choice.get("delta"), dict) else {}
        for name, texts in self.parts.items():
            texts += [_text(delta.get(name))]
        pieces = delta["tool_calls"] if isinstance(delta.get("tool_calls"), list) else []
        for piece in pieces:
            self._extend(piece)
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        return bool(delta.get("content") or delta.get("refusal") or pieces or thought)

    def _extend(self, piece: Any) -> None:
        call = self.calls.setdefault(str(part(piece, "index")), {"id": None, "function": {"name": None, "arguments": ""}})
        call["id"] = part(piece, "id") or call["id"]
        call["function"]["name"] = part(piece, "function", "name") or call["function"]["name"]
        call["function"]["arguments"] += str(part(piece, "function", "arguments") or "")

    def document(self) -> dict[str, Any]:
        if not self.done:
            return self.head
        message = {name: "".join(texts) or None for name, texts in self.parts.items()}
        return {**self.head, "choices": [{"finish_reason": self.finish, "message": {**message, "tool_calls": [*self.calls.values()]}}]}
