"""OpenAI's responses API: bodies, replies, streams. Nothing is kept at the provider; each request holds the whole conversation."""

from collections.abc import Iterable, Mapping
from typing import Any

from agents.models import wire
from agents.models.base import CallError, Reply
from agents.models.chat import TIERS, written
from agents.models.usage import part
from agents.models.usage import responses as usage

ENDPOINT = "/v1/responses"
STREAM = {"stream": True}
ENDS = ("response.completed", "response.incomplete", "response.failed")
FINISHES = {"max_output_tokens": "length"}
"""Reasons of incomplete responses, as chat completions call them; `content_filter` is the same in both."""


def items(ours: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Our messages, without the system's, in the dialect."""
    made: list[dict[str, Any]] = []
    for message in ours:
        if message["role"] == "tool":
            made.append({"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]})
            continue
        made += message.get("thinking", [])
        if message["content"]:
            made.append({"role": message["role"], "content": message["content"]})
        made += [
            {"type": "function_call", "call_id": c["id"], "name": c["name"], "arguments": written(c["arguments"])}
            for c in message.get("tool_calls", [])
        ]
    return made


def read(data: Mapping[str, Any], request_id: str | None = None) -> Reply:
    """The reply in a response's JSON, whatever it lacks."""
    tokens, source = usage(data.get("usage"))
    raw = data["usage"] if isinstance(data.get("usage"), dict) else None
    if data.get("error") or data.get("status") == "failed":
        raise CallError("5xx", wire.instead(data.get("error")), usage=tokens, usage_raw=raw, usage_source=source, request_id=request_id)
    output = [item for item in data["output"] if isinstance(item, dict)] if isinstance(data.get("output"), list) else []
    text, refusal = _texts(output, "output_text", "text"), _texts(output, "refusal", "refusal")
    reason = str(part(data, "incomplete_details", "reason") or "stop")
    tier = data.get("service_tier")
    return Reply(
        text=wire.clean(text or refusal),
        model=wire.clean(str(data.get("model") or "")),
        finish_reason=wire.clean("refusal" if refusal and not text else FINISHES.get(reason, reason)),
        tool_calls=[
            {"id": i.get("call_id"), "name": i.get("name"), "arguments": wire.parsed(i.get("arguments"))}
            for i in output
            if i.get("type") == "function_call"
        ],
        thinking=[item for item in output if item.get("type") == "reasoning"],
        usage=tokens,
        usage_raw=raw,
        usage_source=source,
        request_id=request_id or (str(data["id"]) if data.get("id") else None),
        tier="standard" if tier in TIERS else str(tier),
    )


def _texts(output: list[dict[str, Any]], kind: str, field: str) -> str:
    """All texts of one kind within the output's messages."""
    contents = [item["content"] for item in output if item.get("type") == "message" and isinstance(item.get("content"), list)]
    parts = [p for content in contents for p in content if isinstance(p, dict) and p.get("type") == kind]
    return "".join(p[field] for p in parts if isinstance(p.get(field), str))


class Assembly:
    """Implements `exchange.Assembly`. The last event repeats the whole response."""

    def __init__(self) -> None:
        self.done = False
        self.response: dict[str, Any] = {}

    def add(self, event: Mapping[str, Any]) -> bool:
        kind = str(event.get("type"))
        if isinstance(event.get("response"), dict):
            self.response = event["response"]
        if kind == "error":
            self.response = {**self.response, "error": {"code": event.get("code"), "message": event.get("message")}}
        self.done = self.done or kind in ENDS
        return kind.endswith(".delta")

    def document(self) -> dict[str, Any]:
        return {name: value for name, value in self.response.items() if value is not None}
