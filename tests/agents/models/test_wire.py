"""Both SDKs, in all dialects, against a real server that misbehaves: every failure has its outcome, and every body is survived."""

import json
from typing import Any

import pytest

from agents.models import make, wire
from agents.models.base import CallError, Model, Reply, Usage
from tests.agents.memory import no_tasks, request
from tests.servers.wire import Fault, WireServer, in_turn

DIALECTS: dict[str, dict[str, Any]] = {
    "openai": {},
    "responses": {"api": "responses"},
    "anthropic": {},
    "openai stream": {"stream": True},
    "responses stream": {"api": "responses", "stream": True},
    "anthropic stream": {"stream": True},
}
FAILURES = {
    "429": (Fault("status", 429, headers={"retry-after": "1.5"}), "429", True),
    "500": (Fault("status", 500), "5xx", True),
    "overloaded": (Fault("status", 529), "5xx", True),
    "gateway": (Fault("status", 504), "5xx", False),
    "key": (Fault("status", 401), "auth", True),
    "quota": (Fault("status", 429, "You exceeded your current quota", code="insufficient_quota"), "auth", True),
    "credit": (Fault("status", 400, "Your credit balance is too low", code="invalid_request_error"), "auth", True),
    "bad": (Fault("status", 400, "unknown parameter"), "bad_request", True),
    "overflow by code": (Fault("status", 400, "no", code="context_length_exceeded"), "context_overflow", True),
    "overflow by words": (Fault("status", 400, "prompt is too long: 210000 tokens > 200000 maximum"), "context_overflow", True),
    "too large": (Fault("status", 413), "context_overflow", True),
    "policy": (Fault("status", 400, "no", code="content_policy_violation"), "refused", True),
    "hang": (Fault("hang"), "timeout", False),
    "reset after billing": (Fault("reset"), "connection", False),
    "torn error": (Fault("torn", 500), "cut_stream", False),
    "truncated": (Fault("truncate"), "cut_stream", False),
    "blank": (Fault("blank"), "cut_stream", False),
    "no object": (Fault("raw", body=b"[1, 2]"), "cut_stream", False),
    "deep": (Fault("raw", body=b"[" * 200_000), "cut_stream", False),
    "error in place of a reply": (Fault("raw", body=b'{"type": "error", "error": {"message": "busy"}}'), "5xx", False),
    "web page": (Fault("html"), "bad_request", True),
}


def model(dialect: str, server: WireServer, **args: Any) -> Model:
    provider, url = ("anthropic", server.anthropic_url) if "anthropic" in dialect else ("openai", server.openai_url)
    return make(f"{provider}/m", {"base_url": url, **DIALECTS[dialect], **args}, no_tasks)


async def ask(dialect: str, server: WireServer, timeout_s: float = 30.0) -> Reply:
    one = model(dialect, server, timeout_s=timeout_s)
    try:
        return await one.complete(request())
    finally:
        await one.close()


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", FAILURES)
async def test_failure_has_its_outcome_and_is_tried_once(dialect: str, name: str) -> None:
    fault, outcome, unbilled = FAILURES[name]
    with WireServer(faults=lambda number, asked: fault) as server:
        with pytest.raises(CallError) as caught:
            await ask(dialect, server, 0.5 if fault.kind == "hang" else 30.0)
        assert len(server.requests) == 1
    assert caught.value.outcome == outcome
    assert (caught.value.usage == Usage()) is unbilled
    assert caught.value.retry_after == (1.5 if name == "429" else None)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("text", "fault", "read"),
    [
        ("", None, ""),
        ("a GARBAGE b", Fault("garbage"), "a \ufffd\ufffd\ufffd b"),
        ("lone \ud800 surrogate", None, "lone ? surrogate"),
        ("nul \x00 and \x1b", None, "nul \x00 and \x1b"),
        ("x" * 2_000_000, None, "x" * 2_000_000),
    ],
    ids=["empty", "non-UTF-8", "surrogate", "control", "2 MB"],
)
async def test_reply_of_any_content_is_a_reply_that_can_be_written(dialect: str, text: str, fault: Fault | None, read: str) -> None:
    with WireServer(lambda asked: text, in_turn(fault)) as server:
        reply = await ask(dialect, server)
    assert reply.text == read
    reply.text.encode("utf-8")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "usage", [None, 7, [], {}, {"prompt_tokens": -1, "input_tokens": "many", "output_tokens": True, "completion_tokens": 1.5}]
)
async def test_useless_usage_is_unknown(dialect: str, usage: Any) -> None:
    with WireServer(faults=in_turn(Fault("usage", body=usage))) as server:
        reply = await ask(dialect, server)
    assert (reply.text, reply.usage, reply.usage_source) == ("ok", None, "unknown")


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_proxies_are_not_asked_about_this_machine(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with WireServer() as server:
        assert (await ask(dialect, server)).text == "ok"


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_key_reaches_the_server_and_nothing_else(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "sk-planted-0123456789"
    monkeypatch.setenv("PLANTED_KEY", secret)
    with WireServer(faults=lambda number, asked: Fault("status", 401, f"Incorrect API key provided: {secret}")) as server:
        one = model(dialect, server, api_key_env="PLANTED_KEY")
        with pytest.raises(CallError, match="PLANTED_KEY") as caught:
            await one.complete(request())
        await one.close()
        assert secret in str(server.headers)
    assert secret not in f"{caught.value} {caught.value.__dict__} {one.__dict__} {vars(one)['args']}"


@pytest.mark.parametrize("at", [0, 490])
def test_no_part_of_any_key_is_left_in_an_error(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_API_KEY", "sk-planted-0123456789")
    body = json.dumps({"error": {"message": "x" * at + "sk-planted-0123456789"}}).encode()
    assert "sk-" not in str(wire.failed(500, {}, body, "m", None))
    assert "sk-" not in wire.instead("x" * at + "sk-planted-0123456789")
    assert "sk-" not in str(wire.broken(ValueError("sk-planted-0123456789"), "http://h", 1.0))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "-1"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_date(headers: dict[str, str], seconds: float | None) -> None:
    assert wire.retry_after(headers) == seconds


@pytest.mark.parametrize(
    ("url", "here"),
    [("http://127.0.0.1:8000/v1", True), ("http://localhost/v1", True), ("http://[::1]:1/v1", True), ("https://api.example.com/v1", False)],
)
def test_loopback_is_told_from_the_world(url: str, here: bool) -> None:
    assert wire.loopback(url) is here
