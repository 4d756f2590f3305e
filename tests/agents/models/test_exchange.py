"""Streams and tools in all three dialects: the same reply as in one piece, and what is known of a reply that was cut."""

import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.models import chat, make, messages, responses
from agents.models.base import CallError, Reply, Request, Usage
from agents.models.exchange import Story, events
from tests.agents.memory import TOOL, no_tasks, request
from tests.agents.strange import NAMES, SHAPED
from tests.servers.wire import Answer, Fault, WireServer, in_turn

DIALECTS: dict[str, tuple[str, dict[str, Any]]] = {
    "chat": ("openai/m", {}),
    "responses": ("openai/m", {"api": "responses"}),
    "messages": ("anthropic/m", {}),
}
CALL = {"id": "call-1", "name": "evaluate", "arguments": {"block": 128, "name": "n\u00e4h"}}
WORKED = Usage(60, 20, 10, 0, 40, 8)


async def ask(dialect: str, server: WireServer, asked: Request | None = None, **args: Any) -> Reply:
    name, options = DIALECTS[dialect]
    url = server.openai_url if name.startswith("openai/") else server.anthropic_url
    model = make(name, {"base_url": url, **options, **args}, no_tasks)
    try:
        return await model.complete(asked or request())
    finally:
        await model.close()


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("said", ["", "one word or two", Answer("I call.", [CALL]), Answer("", [CALL, {**CALL, "id": "call-2"}])])
async def test_a_stream_is_the_same_reply_with_the_time_of_its_first_token(dialect: str, said: str | Answer) -> None:
    with WireServer(lambda asked: said, usage=lambda asked, text: WORKED) as server:
        whole = await ask(dialect, server)
        start = time.time()
        streamed = await ask(dialect, server, stream=True)
    assert replace(streamed, first_token=None, request_id=None) == replace(whole, request_id=None)
    assert streamed.usage == WORKED
    assert server.requests[1]["stream"] is True
    if said:
        assert streamed.first_token is None or start <= streamed.first_token <= time.time()
    if isinstance(said, str) and said:
        assert streamed.first_token is not None


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("fault", "outcome"), [("truncate", "cut_stream"), ("stall", "timeout")])
async def test_a_cut_stream_is_a_failure_with_the_usage_that_it_told(dialect: str, fault: str, outcome: str) -> None:
    with WireServer(lambda asked: "text", in_turn(Fault(fault)), lambda asked, text: WORKED) as server:
        with pytest.raises(CallError) as caught:
            await ask(dialect, server, stream=True, timeout_s=1.0)
        assert len(server.requests) == 1
    error = caught.value
    assert (error.outcome, error.request_id) == (outcome, "req-1")
    told = {"messages": (Usage(60, 20, 10, 0, 1, 1), "partial")}.get(dialect, (None, "unknown"))
    assert (error.usage, error.usage_source) == told
    assert (error.usage_raw is None) is (error.usage is None)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_strange_byte_in_a_stream_costs_no_reply(dialect: str) -> None:
    with WireServer(lambda asked: "GARBAGE and GARBAGE", in_turn(Fault("garbage"))) as server:
        assert (await ask(dialect, server, stream=True)).text == "\ufffd\ufffd\ufffd and \ufffd\ufffd\ufffd"


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_server_that_does_not_stream_is_read_all_the_same(dialect: str) -> None:
    with WireServer(lambda asked: asked.pop("stream") and "hi") as server:
        reply = await ask(dialect, server, stream=True)
    assert (reply.text, reply.first_token, reply.usage) == ("hi", None, server.billed)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_tools_result_goes_back_in_the_dialect(dialect: str) -> None:
    """The second request repeats the call, its reasoning and the result; the server answers what it was told."""
    with WireServer(lambda asked: "done" if len(asked.get("messages") or asked["input"]) > 2 else Answer("", [CALL], "hm")) as server:
        asked = replace(request(), tools=(TOOL,))
        first = await ask(dialect, server, asked)
        turn = {"role": "assistant", "content": first.text, "tool_calls": first.tool_calls, "thinking": first.thinking}
        result = {"role": "tool", "tool_call_id": "call-1", "content": "2.5x"}
        second = await ask(dialect, server, replace(asked, messages=(*asked.messages, turn, result)))
    assert (first.tool_calls, second.text) == ([CALL], "done")
    assert told(dialect, server.requests[1]) == SENT[dialect]


ARGUMENTS = '{"block": 128, "name": "n\u00e4h"}'
SENT: dict[str, list[dict[str, Any]]] = {
    "chat": [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "call-1", "type": "function", "function": {"name": "evaluate", "arguments": ARGUMENTS}}],
        },
        {"role": "tool", "tool_call_id": "call-1", "content": "2.5x"},
    ],
    "responses": [
        {"type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "hm"},
        {"type": "function_call", "call_id": "call-1", "name": "evaluate", "arguments": ARGUMENTS},
        {"type": "function_call_output", "call_id": "call-1", "output": "2.5x"},
    ],
    "messages": [
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "signed"},
                {"type": "tool_use", "id": "call-1", "name": "evaluate", "input": CALL["arguments"]},
            ],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call-1", "content": "2.5x"}]},
    ],
}


def told(dialect: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    """What a body has after the user's first message."""
    return body["input"][1:] if dialect == "responses" else body["messages"][1 if dialect == "messages" else 2 :]


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from([chat, responses, messages]),
    st.lists(st.dictionaries(NAMES | st.sampled_from(["type", "delta", "response", "index", "content_block"]), SHAPED), max_size=4),
)
def test_no_event_is_too_strange(dialect: Any, told: list[dict[str, Any]]) -> None:
    story = Story(dialect)
    for event in told:
        story.add(event)
    assert story.cut(CallError("cut_stream", "gone")).usage_source in ("partial", "unknown")


@given(st.binary(max_size=20), st.integers(1, 9))
async def test_events_do_not_depend_on_how_their_bytes_arrive(noise: bytes, size: int) -> None:
    data = (
        b": hello\n"
        + noise.replace(b"data", b"")
        + b'\n\nevent: x\r\ndata: {"a": "\xe2\x80\xa8"}\r\n\r\ndata: {"b": 2}\n\ndata: [DONE]\n\n'
    )

    async def chunks() -> AsyncIterator[bytes]:
        for at in range(0, len(data), size):
            yield data[at : at + size]

    assert [event async for event in events(chunks())] == [{"a": "\u2028"}, {"b": 2}]
