"""What is sent to an OpenAI-style server, and what is read from it."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.models import make
from agents.models.base import CallError, Sampling, Usage
from agents.models.chat import read
from tests.agents.memory import TOOL, no_tasks, request
from tests.agents.strange import NAMES, SHAPED
from tests.servers.wire import WireServer


async def test_request_carries_messages_limits_seed_and_tools() -> None:
    with WireServer() as server:
        model = make("openai/org/name", {"base_url": server.openai_url, "reasoning_effort": "low"}, no_tasks)
        await model.complete(replace(request("Hi."), sampling=Sampling(0.5, 10, 3), tools=(TOOL,)))
        await model.close()
    assert server.requests == [
        {
            "model": "org/name",
            "messages": [{"role": "system", "content": "You write kernels."}, {"role": "user", "content": "Hi."}],
            "max_tokens": 10,
            "temperature": 0.5,
            "seed": 3,
            "reasoning_effort": "low",
            "tools": [{"type": "function", "function": TOOL}],
        }
    ]


async def test_reply_names_the_served_model_its_request_and_usage() -> None:
    with WireServer(usage=lambda asked, text: Usage(100, 40, 7, 0, 30, 20)) as server:
        model = make("openai/m", {"base_url": server.openai_url}, no_tasks)
        reply = await model.complete(request())
        await model.close()
    assert (reply.model, reply.request_id, reply.tier, reply.finish_reason) == ("m-served", "req-1", "standard", "stop")
    assert reply.usage == Usage(100, 40, 7, 0, 30, 20)
    assert reply.usage_raw is not None
    assert reply.usage_raw["prompt_tokens"] == 147


def test_tool_calls_are_read_and_bad_arguments_stay_text() -> None:
    message = {
        "tool_calls": [
            {"id": "1", "function": {"name": "f", "arguments": '{"a": 1}'}},
            {"id": "2", "function": {"name": "g", "arguments": "{no"}},
        ]
    }
    reply = read({"choices": [{"message": message}]})
    assert reply.tool_calls == [{"id": "1", "name": "f", "arguments": {"a": 1}}, {"id": "2", "name": "g", "arguments": "{no"}]


@pytest.mark.parametrize("content", ["text", [{"type": "text", "text": "te"}, {"type": "text", "text": "xt"}, {"type": "image"}]])
def test_content_is_text_or_parts(content: Any) -> None:
    assert read({"choices": [{"message": {"content": content}}]}).text == "text"


def test_refusal_is_a_reply() -> None:
    reply = read({"choices": [{"message": {"content": None, "refusal": "I will not."}, "finish_reason": "stop"}]})
    assert (reply.text, reply.finish_reason) == ("I will not.", "refusal")


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(NAMES, SHAPED))
def test_no_reply_is_too_strange_to_read(data: dict[str, Any]) -> None:
    reply = read(data)
    words = [reply.text, reply.model, reply.finish_reason, reply.tool_calls, reply.request_id]
    assert json.loads(json.dumps(words)) == words
    assert isinstance(reply.text, str)


def test_error_in_place_of_choices_is_a_failure() -> None:
    with pytest.raises(CallError, match="busy"):
        read({"error": {"message": "busy"}})
