"""Anthropic's messages: turns with cache breakpoints, replies, streams."""

from collections.abc import Iterable, Mapping
from typing import Any

from agents.models import wire
from agents.models.base import CallError, Reply
from agents.models.usage import anthropic as usage
from agents.models.usage import part

ENDPOINT = "/v1/messages"
STREAM = {"stream": True}
THINKING = ("thinking", "redacted_thinking")
DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "input", "signature_delta": "signature"}
"""Kinds of deltas and the field of their block that they go on."""


def block(text: str, mark: dict[str, Any] | None) -> dict[str, Any]:
    """A text, and a cache breakpoint after it where there is a mark."""
    return {"type": "text", "text": text, **({"cache_control": mark} if mark else {})}


def turns(ours: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Our messages, without the system's, in the dialect: results of tools are told by the user, all of a round in one turn."""
    made: list[dict[str, Any]] = []
    for message in ours:
        if message["role"] == "tool":
            result = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}
            if made and made[-1]["role"] == "user" and isinstance(made[-1]["content"], list):
                made[-1]["content"].append(result)
            else:
                made.append({"role": "user", "content": [result]})
        elif message.get("tool_calls") or message.get("thinking"):
            made.append({"role": message["role"], "content": _blocks(message)})
        else:
            made.append({"role": message["role"], "content": message["content"]})
    return made


def _blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    text = [block(message["content"], None)] if message["content"] else []
    calls = message.get("tool_calls", [])
    uses = [{"type": "tool_use", "id": c["id"], "name": c["name"], "input": _object(c["arguments"])} for c in calls]
    return [*message.get("thinking", []), *text, *uses]


def _object(arguments: Any) -> dict[str, Any]:
    """Arguments that were no object cannot be sent as they were."""
    return arguments if isinstance(arguments, dict) else {"malformed": arguments}


def mark_first(made: list[dict[str, Any]], stable: int, mark: dict[str, Any] | None, alone: bool) -> None:
    """Cuts the first turn after its stable part and marks that. The rest is worth a mark where turns follow, or where it stands `alone`."""
    text = made[0]["content"]
    last = mark if len(made) > 1 or alone else None
    if 0 < stable < len(text) and mark:
        made[0]["content"] = [block(text[:stable], mark), block(text[stable:], last)]
    elif last:
        made[0]["content"] = [block(text, last)]


def read(data: Mapping[str, Any], request_id: str | None = None) -> Reply:
    """The reply in a message's JSON, whatever it lacks."""
    if data.get("type") == "error":
        raise CallError("5xx", wire.instead(data.get("error")))
    blocks = data["content"] if isinstance(data.get("content"), list) else []
    blocks = [b for b in blocks if isinstance(b, dict)]
    tokens, source = usage(data.get("usage"))
    tier = part(data, "usage", "service_tier")
    return Reply(
        text="".join(b["text"] for b in blocks if b.get("type") == "text" and isinstance(b.get("text"), str)),
        model=str(data.get("model") or ""),
        finish_reason=str(data.get("stop_reason") or "stop"),
        tool_calls=[{"id": b.get("id"), "name": b.get("name"), "arguments": b.get("input")} for b in blocks if b.get("type") == "tool_use"],
        thinking=[b for b in blocks if b.get("type") in THINKING],
        usage=tokens,
        usage_raw=data["usage"] if isinstance(data.get("usage"), dict) else None,
        usage_source=source,
        request_id=request_id or (str(data["id"]) if data.get("id") else None),
        tier=str(tier or "standard"),
    )


class Assembly:
    """Implements `exchange.Assembly`. The first event holds the prompt's usage; the last ones bring the reply's, as a running total."""

    def __init__(self) -> None:
        self.done = False
        self.message: dict[str, Any] = {}
        self.blocks: dict[str, dict[str, Any]] = {}
        self.texts: dict[tuple[str, str], list[str]] = {}

    def add(self, event: Mapping[str, Any]) -> bool:
        kind, index = event.get("type"), str(event.get("index"))
        if kind == "error":
            self.message |= {"type": "error", "error": event.get("error")}
        elif kind == "message_start" and isinstance(event.get("message"), dict):
            self.message = dict(event["message"])
        elif kind == "content_block_start" and isinstance(event.get("content_block"), dict):
            self.blocks[index] = dict(event["content_block"])
        elif kind == "content_block_delta":
            self._extend(index, event.get("delta"))
        elif kind == "message_delta":
            self.message["stop_reason"] = part(event, "delta", "stop_reason")
            told = event["usage"] if isinstance(event.get("usage"), dict) else {}
            before = self.message["usage"] if isinstance(self.message.get("usage"), dict) else {}
            self.message["usage"] = {**before, **{name: value for name, value in told.items() if value is not None}}
        self.done = self.done or kind == "message_stop"
        return kind == "content_block_delta"

    def _extend(self, index: str, delta: Any) -> None:
        kind = str(part(delta, "type"))
        piece = part(delta, "partial_json" if kind == "input_json_delta" else DELTAS.get(kind, "text"))
        if kind in DELTAS and isinstance(piece, str):
            self.texts.setdefault((index, DELTAS[kind]), []).append(piece)

    def document(self) -> dict[str, Any]:
        for (index, field), pieces in self.texts.items():
            whole = "".join(pieces)
            self.blocks.setdefault(index, {"type": "text"})[field] = wire.parsed(whole) if field == "input" else whole
        return {**self.message, "content": list(self.blocks.values())}
