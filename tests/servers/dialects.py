"""Three endpoints' JSON as their providers document it: replies in one piece, and as events of a stream."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from agents.models.base import Usage

Event = tuple[str | None, dict[str, Any]]
"""Name and data of a server-sent event."""


@dataclass
class Answer:
    """What a server says where text alone is not enough."""

    text: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    """`{"id": ..., "name": ..., "arguments": object}`."""
    thinking: str = ""


def answer(said: "str | Answer") -> Answer:
    return Answer(said) if isinstance(said, str) else said


def openai_usage(usage: Usage, prompt: str = "prompt", reply: str = "completion") -> dict[str, Any]:
    written = usage.cache_write_5m + usage.cache_write_1h
    return {
        f"{prompt}_tokens": usage.total - usage.output, f"{reply}_tokens": usage.output, "total_tokens": usage.total,
        f"{prompt}_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": written},
        f"{reply}_tokens_details": {"reasoning_tokens": usage.reasoning},
    }  # fmt: skip


def anthropic_usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input, "output_tokens": usage.output,
        "cache_read_input_tokens": usage.cache_read, "cache_creation_input_tokens": usage.cache_write_5m + usage.cache_write_1h,
        "cache_creation": {"ephemeral_5m_input_tokens": usage.cache_write_5m, "ephemeral_1h_input_tokens": usage.cache_write_1h},
        "output_tokens_details": {"thinking_tokens": usage.reasoning}, "service_tier": "standard",
    }  # fmt: skip


def openai_body(request: dict[str, Any], said: str | Answer, usage: Usage, ident: str) -> dict[str, Any]:
    told = answer(said)
    calls = [{"id": c["id"], "type": "function", "function": _function(c)} for c in told.calls]
    message = {"role": "assistant", "content": told.text, **({"tool_calls": calls} if calls else {})}
    return {
        "id": ident, "object": "chat.completion", "created": 0, "model": request["model"] + "-served", "service_tier": "default",
        "choices": [{"index": 0, "finish_reason": "tool_calls" if calls else "stop", "message": message}],
        "usage": openai_usage(usage),
    }  # fmt: skip


def responses_body(request: dict[str, Any], said: str | Answer, usage: Usage, ident: str) -> dict[str, Any]:
    told = answer(said)
    thought = [{"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": told.thinking}] if told.thinking else []
    text = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": told.text}]}] if told.text else []
    calls = [{"type": "function_call", "id": f"fc-{c['id']}", "call_id": c["id"], **_function(c)} for c in told.calls]
    return {
        "id": ident, "object": "response", "status": "completed", "error": None, "incomplete_details": None,
        "model": request["model"] + "-served", "service_tier": "default", "output": [*thought, *text, *calls],
        "usage": openai_usage(usage, "input", "output"),
    }  # fmt: skip


def anthropic_body(request: dict[str, Any], said: str | Answer, usage: Usage, ident: str) -> dict[str, Any]:
    told = answer(said)
    thought = [{"type": "thinking", "thinking": told.thinking, "signature": "signed"}] if told.thinking else []
    text = [{"type": "text", "text": told.text}] if told.text or not told.calls else []
    calls = [{"type": "tool_use", "id": c["id"], "name": c["name"], "input": c["arguments"]} for c in told.calls]
    return {
        "id": ident, "type": "message", "role": "assistant", "model": request["model"] + "-served",
        "stop_reason": "tool_use" if told.calls else "end_turn", "stop_sequence": None,
        "content": [*thought, *text, *calls],
        "usage": anthropic_usage(usage),
    }  # fmt: skip


def _function(call: dict[str, Any]) -> dict[str, Any]:
    return {"name": call["name"], "arguments": json.dumps(call["arguments"])}


def openai_events(body: dict[str, Any]) -> Iterator[Event]:
    """Usage comes last, in a chunk without choices."""
    choice = body["choices"][0]
    head = {key: body[key] for key in ("id", "model", "service_tier")}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> Event:
        return None, {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], "usage": None}

    yield chunk({"role": "assistant", "content": ""})
    for piece in halves(choice["message"]["content"]):
        yield chunk({"content": piece})
    for index, call in enumerate(choice["message"].get("tool_calls", [])):
        first, second = halves(call["function"]["arguments"])
        yield chunk(
            {"tool_calls": [{"index": index, "id": call["id"], "function": {"name": call["function"]["name"], "arguments": first}}]}
        )
        yield chunk({"tool_calls": [{"index": index, "function": {"arguments": second}}]})
    yield chunk({}, choice["finish_reason"])
    yield None, {**head, "choices": [], "usage": body["usage"]}


def responses_events(body: dict[str, Any]) -> Iterator[Event]:
    """Usage is in the last event, which repeats the whole response."""
    yield "response.created", {"response": {**body, "status": "in_progress", "output": [], "usage": None}}
    for item in body["output"]:
        for piece in halves(item["content"][0]["text"]) if item["type"] == "message" else ():
            yield "response.output_text.delta", {"delta": piece}
    yield "response.completed", {"response": body}


def anthropic_events(body: dict[str, Any]) -> Iterator[Event]:
    """The prompt's usage comes first, with one token of output; the reply's comes last, as a running total."""
    usage = body["usage"] if isinstance(body["usage"], dict) else {}
    first = {**usage, "output_tokens": 1} if "output_tokens" in usage else body["usage"]
    yield "message_start", {"message": {**body, "content": [], "stop_reason": None, "usage": first}}
    for index, block in enumerate(body["content"]):
        bare, deltas = _pieces(block)
        yield "content_block_start", {"index": index, "content_block": bare}
        for delta in deltas:
            yield "content_block_delta", {"index": index, "delta": delta}
        yield "content_block_stop", {"index": index}
    last = {name: value for name, value in usage.items() if name in ("output_tokens", "output_tokens_details")}
    yield "message_delta", {"delta": {"stop_reason": body["stop_reason"]}, "usage": last}
    yield "message_stop", {}


def _pieces(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block as it starts, and its deltas."""
    if block["type"] == "tool_use":
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": p} for p in halves(json.dumps(block["input"]))]
    if block["type"] == "thinking":
        deltas = [{"type": "thinking_delta", "thinking": p} for p in halves(block["thinking"])]
        return {**block, "thinking": "", "signature": ""}, [*deltas, {"type": "signature_delta", "signature": block["signature"]}]
    return {**block, "text": ""}, [{"type": "text_delta", "text": p} for p in halves(block["text"])]


def halves(text: str) -> tuple[str, str]:
    """Two pieces, cut between words."""
    at = text.rfind(" ", 0, len(text) // 2) + 1
    return text[:at], text[at:]


def sse(events: Iterator[Event], done: bool) -> list[bytes]:
    """Each event as it goes over the wire; OpenAI's chat ends with a word of its own."""
    told = [
        (f"event: {name}\n" if name else "") + f"data: {json.dumps({**({'type': name} if name else {}), **data})}\n\n"
        for name, data in events
    ]
    return [event.encode() for event in told] + ([b"data: [DONE]\n\n"] if done else [])


Body = Callable[[dict[str, Any], str | Answer, Usage, str], dict[str, Any]]


@dataclass(frozen=True)
class Dialect:
    body: Body
    events: Callable[[dict[str, Any]], Iterator[Event]]
    request_id: str
    """Name of the header with a request's id."""


DIALECTS = {
    "/v1/chat/completions": Dialect(openai_body, openai_events, "x-request-id"),
    "/v1/responses": Dialect(responses_body, responses_events, "x-request-id"),
    "/v1/messages": Dialect(anthropic_body, anthropic_events, "request-id"),
}
