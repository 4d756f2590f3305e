"""The real litellm against the real server: one try, and failures with their outcome. Slow: its import alone takes seconds."""

from dataclasses import replace
from typing import Any

import pytest

from agents.models import make
from agents.models.base import CallError, Model
from tests.agents.memory import TOOL, no_tasks, request
from tests.servers.wire import Answer, Fault, WireServer, in_turn

pytestmark = pytest.mark.slow
FAILURES = {
    "429": (Fault("status", 429, headers={"retry-after": "1.5"}), "429", True),
    "500": (Fault("status", 500), "5xx", True),
    "gateway": (Fault("status", 502), "5xx", False),
    "key": (Fault("status", 401), "auth", True),
    "quota": (Fault("status", 429, "You exceeded your quota", code="insufficient_quota"), "auth", True),
    "bad": (Fault("status", 400, "unknown parameter"), "bad_request", True),
    "overflow": (Fault("status", 400, "no", code="context_length_exceeded"), "context_overflow", True),
    "hang": (Fault("hang"), "timeout", False),
    "reset after billing": (Fault("reset"), "connection", False),
    "truncated": (Fault("truncate"), "cut_stream", False),
    "blank": (Fault("blank"), "cut_stream", False),
}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")


def model(server: WireServer, timeout_s: float = 30.0, **args: Any) -> Model:
    return make("hosted_vllm/m", {"base_url": server.openai_url, "timeout_s": timeout_s, **args}, no_tasks)


@pytest.mark.parametrize("name", FAILURES)
async def test_failure_has_its_outcome_and_is_tried_once(name: str) -> None:
    fault, outcome, unbilled = FAILURES[name]
    with WireServer(faults=lambda number, asked: fault) as server:
        with pytest.raises(CallError) as caught:
            await model(server, 2.0 if fault.kind == "hang" else 30.0).complete(request())
        assert len(server.requests) == 1
    assert (caught.value.outcome, caught.value.usage is not None) == (outcome, unbilled)


async def test_reply_is_read_with_its_usage() -> None:
    with WireServer(lambda asked: "hello") as server:
        reply = await model(server).complete(request(max_tokens=9))
    assert (reply.text, reply.model, reply.usage, reply.usage_source) == ("hello", "m-served", server.billed, "provider")
    assert server.requests[0]["max_tokens"] == 9


async def test_a_claude_of_another_provider_gets_its_stable_prefix_marked() -> None:
    asked = replace(request("The task. The question."), stable=len("The task. "))
    with WireServer() as server:
        for name in ("openrouter/anthropic/claude-sonnet-4.5", "openrouter/openai/gpt-5"):
            await make(name, {"base_url": server.openai_url}, no_tasks).complete(asked)
    marked, plain = (request["messages"] for request in server.requests)
    assert [[("cache_control" in block, block["text"]) for block in message["content"]] for message in marked] == [
        [(True, "You write kernels.")],
        [(True, "The task. "), (False, "The question.")],
    ]
    assert [message["content"] for message in plain] == ["You write kernels.", "The task. The question."]


async def test_usage_that_is_missing_is_unknown_and_not_zero() -> None:
    with WireServer(faults=in_turn(Fault("usage", body=None))) as server:
        reply = await model(server).complete(request())
    assert (reply.usage, reply.usage_source) == (None, "unknown")


async def test_a_stream_is_the_same_reply_with_the_time_of_its_first_token() -> None:
    with WireServer(lambda asked: "one word or two") as server:
        reply = await model(server, stream=True).complete(request())
    assert (reply.text, reply.usage, reply.usage_source) == ("one word or two", server.billed, "provider")
    assert reply.first_token is not None


async def test_a_cut_stream_is_a_failure() -> None:
    with WireServer(faults=in_turn(Fault("truncate"))) as server:
        with pytest.raises(CallError) as caught:
            await model(server, stream=True).complete(request())
        assert len(server.requests) == 1
    assert (caught.value.outcome, caught.value.usage) == ("cut_stream", None)


async def test_tool_calls_come_and_go() -> None:
    call = {"id": "call-1", "name": "evaluate", "arguments": {"block": 128}}
    with WireServer(lambda asked: "done" if len(asked["messages"]) > 2 else Answer("", [call])) as server:
        asked = replace(request(), tools=(TOOL,))
        first = await model(server).complete(asked)
        turns = (
            {"role": "assistant", "content": "", "tool_calls": first.tool_calls},
            {"role": "tool", "tool_call_id": "call-1", "content": "r"},
        )
        second = await model(server).complete(replace(asked, messages=asked.messages + turns))
    assert (first.tool_calls, second.text) == ([call], "done")
    assert server.requests[1]["messages"][-1] == {"role": "tool", "tool_call_id": "call-1", "content": "r"}
