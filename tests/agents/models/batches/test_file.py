"""Requests in a file, and replies that anybody may have written."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.models.base import CallError, Reply, Usage
from agents.models.batches import file
from benchmark.errors import UserError
from tests.agents.memory import TOOL, request
from tests.servers.wire import openai_body

BODY = openai_body({"model": "m"}, "an answer", Usage(input=5, output=3), "id-1")


@pytest.fixture
def batches(tmp_path: Path) -> file.Batches:
    return file.Batches(file.Author({"name": "qwen", "temperature": 0.5}), tmp_path)


def write(batches: file.Batches, *replies: dict[str, Any]) -> None:
    batches.replies.write_text("".join(json.dumps(reply) + "\n" for reply in replies))


async def result(batches: file.Batches, **reply: Any) -> Reply | CallError:
    write(batches, {"custom_id": "a", **reply})
    return (await batches.fetch("m")).results["a"]


def waiting(batches: file.Batches) -> list[str]:
    return [json.loads(line)["custom_id"] for line in batches.requests.read_text().splitlines()]


def test_a_request_has_openais_batch_shape(batches: file.Batches) -> None:
    line = batches.line("a", request("Write it.", max_tokens=9))
    assert (line["custom_id"], line["method"], line["url"]) == ("a", "POST", "/v1/chat/completions")
    assert line["body"]["messages"][-1] == {"role": "user", "content": "Write it."}
    assert (line["body"]["model"], line["body"]["max_tokens"]) == ("qwen", 9)
    assert "tools" not in line["body"]


def test_tools_are_wrapped_as_openai_wants_them(batches: file.Batches) -> None:
    assert batches.line("a", replace(request(), tools=(TOOL,)))["body"]["tools"] == [{"type": "function", "function": TOOL}]


def test_a_requests_id_names_its_call_and_try(batches: file.Batches) -> None:
    assert batches.custom_id("marker", 3, "t/generator/0/0/0", 2) == "t/generator/0/0/0#2"


async def test_the_file_holds_what_is_unanswered(batches: file.Batches) -> None:
    await batches.submit("m1", [batches.line(name, request()) for name in ("a", "b")])
    write(batches, {"custom_id": "a", "text": "done"})
    await batches.submit("m2", [batches.line("c", request())])
    assert waiting(batches) == ["b", "c"]


async def test_a_batch_is_found_by_its_requests(batches: file.Batches) -> None:
    await batches.submit("m1", [batches.line("a", request())])
    assert await batches.find("m1", {"a"}, 0.0, set()) == "m1"
    assert await batches.find("m2", {"a", "b"}, 0.0, set()) is None


async def test_a_reply_by_hand_is_marked_as_one(batches: file.Batches) -> None:
    reply = await result(batches, text="my kernel")
    assert isinstance(reply, Reply)
    assert (reply.text, reply.model, reply.usage, reply.usage_source) == ("my kernel", "by hand", None, "unknown")


async def test_tokens_that_somebody_counted_count(batches: file.Batches) -> None:
    reply = await result(batches, text="x", usage={"input": 7, "output": 5}, model="me")
    assert isinstance(reply, Reply)
    assert (reply.usage, reply.usage_source, reply.model) == (Usage(input=7, output=5), "counted", "me")


async def test_a_reply_in_openais_batch_shape_has_the_providers_usage(batches: file.Batches) -> None:
    reply = await result(batches, response={"status_code": 200, "request_id": "r", "body": BODY}, error=None)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.usage, reply.usage_source, reply.tier) == ("an answer", Usage(input=5, output=3), "provider", "standard")


async def test_a_request_that_a_tool_could_not_answer_is_an_error(batches: file.Batches) -> None:
    failed = await result(batches, response={"status_code": 400, "body": {"error": {"message": "too long"}}}, error=None)
    assert isinstance(failed, CallError)
    assert failed.outcome == "bad_request"


async def test_the_first_reply_to_a_request_counts(batches: file.Batches) -> None:
    write(batches, {"custom_id": "a", "text": "one"}, {"custom_id": "a", "text": "two"})
    reply = (await batches.fetch("m")).results["a"]
    assert isinstance(reply, Reply)
    assert reply.text == "one"


@pytest.mark.parametrize(
    ("line", "words"), [("{", "line 2 is no JSON object"), ('{"text": "x"}', "custom_id"), ('{"custom_id": "b"}', "neither")]
)
async def test_a_line_that_is_no_reply_is_named(batches: file.Batches, line: str, words: str) -> None:
    batches.replies.write_text('{"custom_id": "a", "text": "x"}\n' + line + "\n")
    with pytest.raises(UserError, match=r"replies\.jsonl line 2") as caught:
        await batches.fetch("m")
    assert words in str(caught.value)
