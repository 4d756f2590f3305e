"""What is sent to OpenAI's responses API, and what is read from it."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.models import make
from agents.models.base import CallError, Sampling, Usage
from agents.models.responses import read
from tests.agents.memory import TOOL, no_tasks, request
from tests.agents.strange import NAMES, SHAPED
from tests.servers.wire import WireServer


def message(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": list(parts)}


async def test_request_carries_instructions_limit_effort_and_tools_and_nothing_is_stored() -> None:
    with WireServer() as server:
        model = make("openai/m", {"base_url": server.openai_url, "api": "responses", "reasoning_effort": "low"}, no_tasks)
        await model.complete(replace(request("Hi."), sampling=Sampling(None, 10), tools=(TOOL,)))
        await model.close()
    assert server.requests == [
        {
            "model": "m",
            "instructions": "You write kernels.",
            "input": [{"role": "user", "content": "Hi."}],
            "max_output_tokens": 10,
            "reasoning": {"effort": "low"},
            "tools": [{"type": "function", "strict": False, **TOOL}],
            "include": ["reasoning.encrypted_content"],
            "store": False,
        }
    ]


async def test_reply_names_the_served_model_its_request_and_usage() -> None:
    with WireServer(usage=lambda asked, text: Usage(100, 40, 7, 0, 30, 20)) as server:
        model = make("openai/m", {"base_url": server.openai_url, "api": "responses"}, no_tasks)
        reply = await model.complete(request())
        await model.close()
    assert (reply.text, reply.model, reply.request_id, reply.tier, reply.finish_reason) == ("ok", "m-served", "req-1", "standard", "stop")
    assert reply.usage == Usage(100, 40, 7, 0, 30, 20)
    assert reply.usage_raw is not None
    assert reply.usage_raw["input_tokens"] == 147


@pytest.mark.parametrize(
    ("reason", "finish"), [("max_output_tokens", "length"), ("content_filter", "content_filter"), ("weather", "weather")]
)
def test_an_incomplete_response_says_why(reason: str, finish: str) -> None:
    data = {"status": "incomplete", "incomplete_details": {"reason": reason}, "output": [message({"type": "output_text", "text": "ha"})]}
    reply = read(data)
    assert (reply.text, reply.finish_reason) == ("ha", finish)


def test_refusal_is_a_reply() -> None:
    reply = read({"output": [message({"type": "refusal", "refusal": "I will not."})]})
    assert (reply.text, reply.finish_reason) == ("I will not.", "refusal")


def test_a_failed_response_is_a_failure_with_what_it_took() -> None:
    with pytest.raises(CallError, match="server_error") as caught:
        read({"status": "failed", "error": {"code": "server_error"}, "usage": {"input_tokens": 5, "output_tokens": 1}})
    assert (caught.value.outcome, caught.value.usage) == ("5xx", Usage(input=5, output=1))


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(NAMES | st.sampled_from(["output", "incomplete_details"]), SHAPED))
def test_no_reply_is_too_strange_to_read(data: dict[str, Any]) -> None:
    data.pop("error", None)
    reply = read(data)
    words = [reply.text, reply.model, reply.finish_reason, reply.tool_calls, reply.request_id]
    assert json.loads(json.dumps(words)) == words
