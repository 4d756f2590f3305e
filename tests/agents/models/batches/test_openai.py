"""Lines of OpenAI's output and error files, whatever they hold."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.models import chat
from agents.models.base import CallError, Reply, Usage
from agents.models.batches.base import entries
from agents.models.batches.openai import read
from tests.servers.wire import openai_body

BODY = openai_body({"model": "m"}, "an answer", Usage(input=5, output=3), "id-1")
KEYS = st.sampled_from(("response", "error", "status_code", "body", "message", "code", "choices", "usage"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


def result(**entry: Any) -> Reply | CallError:
    return read({"custom_id": "a", **entry}, "openai/m", None, chat.read)


def test_an_answer_is_in_the_batch_tier() -> None:
    reply = result(response={"status_code": 200, "request_id": "r", "body": BODY})
    assert isinstance(reply, Reply)
    assert (reply.text, reply.tier, reply.request_id, reply.usage) == ("an answer", "batch", "r", Usage(input=5, output=3))


@pytest.mark.parametrize(
    ("code", "outcome"), [("batch_expired", "timeout"), ("batch_cancelled", "cancelled"), ("something_else", "5xx"), (None, "5xx")]
)
def test_what_was_never_tried_is_not_charged(code: str | None, outcome: str) -> None:
    failed = result(response=None, error={"code": code, "message": "so"})
    assert isinstance(failed, CallError)
    assert (failed.outcome, failed.usage, failed.tier) == (outcome, Usage(), "batch")


@pytest.mark.parametrize(
    ("status", "outcome"), [(400, "bad_request"), (401, "auth"), (429, "429"), (500, "5xx"), (504, "5xx"), (None, "5xx")]
)
def test_a_failed_request_has_the_outcome_of_its_status(status: int | None, outcome: str) -> None:
    failed = result(response={"status_code": status, "body": {"error": {"message": "so"}}})
    assert isinstance(failed, CallError)
    assert (failed.outcome, failed.usage) == (outcome, Usage())


@given(JSON, JSON)
def test_any_line_is_a_reply_or_a_failure(response: Any, error: Any) -> None:
    assert result(response=response, error=error).tier == "batch"


@given(st.binary(max_size=40))
def test_a_broken_line_hides_no_other(noise: bytes) -> None:
    data = noise.replace(b"\n", b"") + b'\n{"custom_id": "a"}\n'
    assert [line["custom_id"] for line in entries(data)][-1:] == ["a"]
