"""What is sent to an Anthropic-style server, and what is read from it."""

import json
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.models import make
from agents.models.base import Request, Usage
from agents.models.messages import read
from tests.agents.memory import TOOL, no_tasks, request
from tests.agents.strange import NAMES, SHAPED
from tests.servers.wire import WireServer

MARK = {"type": "ephemeral"}


async def sent(asked: Request, **args: Any) -> dict[str, Any]:
    with WireServer() as server:
        model = make("anthropic/m", {"base_url": server.anthropic_url, **args}, no_tasks)
        await model.complete(asked)
        await model.close()
    return server.requests[0]


async def test_system_is_marked_for_the_cache_and_the_question_is_not() -> None:
    body = await sent(request("Hi.", max_tokens=10))
    assert body == {
        "model": "m",
        "max_tokens": 10,
        "system": [{"type": "text", "text": "You write kernels.", "cache_control": MARK}],
        "messages": [{"role": "user", "content": "Hi."}],
    }


async def test_first_message_is_marked_where_others_follow() -> None:
    asked = request("Hi.")
    turns = ({"role": "assistant", "content": "Code."}, {"role": "user", "content": "It fails."})
    body = await sent(replace(asked, messages=asked.messages + turns))
    assert body["messages"][0]["content"] == [{"type": "text", "text": "Hi.", "cache_control": MARK}]
    assert body["messages"][1:] == list(turns)


async def test_the_task_is_marked_apart_from_what_changes() -> None:
    body = await sent(replace(request("The task. Round 3."), stable=9), cache="1h")
    mark = {"type": "ephemeral", "ttl": "1h"}
    assert body["system"][0]["cache_control"] == mark
    assert body["messages"][0]["content"] == [
        {"type": "text", "text": "The task.", "cache_control": mark},
        {"type": "text", "text": " Round 3."},
    ]


async def test_thinking_has_a_budget_or_an_effort() -> None:
    body = await sent(request(max_tokens=4000), thinking_tokens=2000)
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 2000}
    assert (await sent(request(), reasoning_effort="low"))["output_config"] == {"effort": "low"}


async def test_results_of_one_round_of_tools_are_one_turn() -> None:
    calls = [{"id": str(n), "name": "f", "arguments": "{no" if n else {}} for n in range(2)]
    results = [{"role": "tool", "tool_call_id": str(n), "content": "r"} for n in range(2)]
    turns = ({"role": "assistant", "content": "", "tool_calls": calls}, *results)
    body = await sent(replace(request(), messages=request().messages + turns))
    assert [turn["role"] for turn in body["messages"]] == ["user", "assistant", "user"]
    assert [block["input"] for block in body["messages"][1]["content"]] == [{}, {"malformed": "{no"}]
    assert [block["tool_use_id"] for block in body["messages"][2]["content"]] == ["0", "1"]


async def test_cache_can_be_turned_off() -> None:
    assert "cache_control" not in json.dumps(await sent(request(), cache="none"))


async def test_tools_are_sent_in_the_dialect() -> None:
    body = await sent(replace(request(), tools=(TOOL,)))
    assert body["tools"] == [{"name": "evaluate", "description": "Judge it.", "input_schema": TOOL["parameters"]}]


async def test_reply_names_the_served_model_and_both_cache_lifetimes() -> None:
    with WireServer(usage=lambda asked, text: Usage(100, 40, 7, 9, 30, 20)) as server:
        model = make("anthropic/m", {"base_url": server.anthropic_url}, no_tasks)
        reply = await model.complete(request())
        await model.close()
    assert (reply.model, reply.request_id, reply.tier, reply.finish_reason) == ("m-served", "req-1", "standard", "end_turn")
    assert reply.usage == Usage(100, 40, 7, 9, 30, 20)


def test_text_tool_calls_and_refusal_are_read() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "a"},
        {"type": "tool_use", "id": "1", "name": "f", "input": {"x": 1}},
    ]
    reply = read({"content": blocks, "stop_reason": "refusal"})
    assert (reply.text, reply.finish_reason) == ("a", "refusal")
    assert reply.tool_calls == [{"id": "1", "name": "f", "arguments": {"x": 1}}]


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(NAMES, SHAPED | st.lists(st.dictionaries(NAMES, SHAPED | st.sampled_from(["text", "tool_use"])))))
def test_no_reply_is_too_strange_to_read(data: dict[str, Any]) -> None:
    reply = read({**data, "type": "message"})
    words = [reply.text, reply.model, reply.finish_reason, reply.tool_calls, reply.request_id]
    assert json.loads(json.dumps(words)) == words
    assert isinstance(reply.text, str)
