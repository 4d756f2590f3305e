"""Lines of Anthropic's results files, whatever they hold."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.models.anthropic import Anthropic
from agents.models.base import CallError, Reply, Usage
from agents.models.batches.anthropic import read
from tests.servers.wire import anthropic_body

LIVE = Anthropic("anthropic/m", {"base_url": "http://127.0.0.1:1"})
BODY = anthropic_body({"model": "m"}, "an answer", Usage(input=5, output=3), "id-1")
KEYS = st.sampled_from(("type", "error", "message", "content", "usage"))
KINDS = st.sampled_from(("succeeded", "errored", "expired"))
KEYS = st.sampled_from(("type", "error", "message", "content", "usage"))
KINDS = st.sampled_from(("succeeded", "errored", "expired"))
JSON = st.recursive(
    st.none() | st.booleans() | st.text(max_size=5) | KINDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


def result(**result: Any) -> Reply | CallError:
    return read({"custom_id": "a", "result": result}, LIVE)


def test_an_answer_is_in_the_batch_tier() -> None:
    reply = result(type="succeeded", message=BODY)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.tier, reply.usage) == ("an answer", "batch", Usage(input=5, output=3))


@pytest.mark.parametrize(("kind", "outcome"), [("expired", "timeout"), ("canceled", "cancelled")])
def test_what_was_never_tried_is_not_charged(kind: str, outcome: str) -> None:
    failed = result(type=kind)
    assert isinstance(failed, CallError)
    assert (failed.outcome, failed.usage, failed.tier) == (outcome, Usage(), "batch")


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [("invalid_request_error", "bad_request"), ("authentication_error", "auth"), ("rate_limit_error", "429"), ("overloaded_error", "5xx"),
     ("timeout_error", "5xx"), ("news", "5xx")],
)  # fmt: skip
def test_an_errored_request_has_the_outcome_of_its_kind(kind: str, outcome: str) -> None:
    failed = result(type="errored", error={"type": "error", "error": {"type": kind, "message": "so"}})
    assert isinstance(failed, CallError)
    assert (failed.outcome, failed.usage) == (outcome, Usage())
    assert "so" in str(failed)


@given(JSON)
def test_any_line_is_a_reply_or_a_failure(result: Any) -> None:
    assert read({"custom_id": "a", "result": result}, LIVE).tier == "batch"
