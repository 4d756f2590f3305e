"""One retry layer, a journal, a budget and one record per try: the real SDK against a real server on loopback."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest

from agents.budget import BudgetExhausted, Limits
from agents.caller import Caller, CallFailed, Diverged
from agents.ledger import Ledger
from agents.models import make
from agents.models.base import CallError, Reply, Request, Usage
from agents.prices import Prices
from benchmark.errors import UserError
from tests.agents.memory import MemoryRecorder, no_tasks, request
from tests.servers.wire import Fault, WireServer, in_turn

PRICES = Prices.load({"openai/m": {"input": 2.0, "output": 10.0}, "anthropic/m": {"input": 2.0, "output": 10.0}})
AGAIN = Fault("status", 429, headers={"retry-after": "0.01"})


@pytest.fixture
def recorder() -> MemoryRecorder:
    return MemoryRecorder()


def caller(server: WireServer, recorder: MemoryRecorder, limits: Limits | None = None, **options: Any) -> Caller:
    args = {"base_url": server.openai_url, "timeout_s": options.pop("timeout_s", 30.0)}
    if "concurrency" in options:
        args["concurrency"] = options.pop("concurrency")
    return Caller(make("openai/m", args, no_tasks), recorder, Ledger(limits, PRICES), first_wait_s=0.01, **options)


class Scripted:
    """A model that answers from a list: replies, or errors to raise."""

    name = "scripted"
    free = True
    sampling: dict[str, Any] = {}

    def __init__(self, *answers: Reply | BaseException):
        self.answers: Iterator[Reply | BaseException] = iter(answers)
        self.asked: list[Request] = []

    async def complete(self, request: Request) -> Reply:
        self.asked.append(request)
        answer = next(self.answers)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def close(self) -> None: ...


async def test_reply_is_returned_booked_and_stored(recorder: MemoryRecorder) -> None:
    with WireServer(lambda asked: "the kernel") as server:
        one = caller(server, recorder)
        reply = await one.complete(request())
        await one.close()
    (record,) = recorder.calls
    assert reply.text == "the kernel"
    assert (record.outcome, record.try_, record.model_asked, record.model_served) == ("ok", 1, "openai/m", "m-served")
    assert record.usage == server.billed
    assert record.cost_usd == pytest.approx((server.billed.input * 2 + server.billed.output * 10) / 1e6)
    assert recorder.reply(record.reply_sha or "")["text"] == "the kernel"
    assert recorder.texts[record.prompt_sha]["messages"][1]["content"] == "Write it."
    assert one.ledger.spent.tokens == server.billed.total


async def test_every_try_is_one_line_and_retries_are_in_one_place(recorder: MemoryRecorder) -> None:
    faults = in_turn(AGAIN, Fault("status", 500), Fault("reset"), Fault("truncate"), Fault("drop"), None)
    with WireServer(faults=faults) as server:
        one = caller(server, recorder)
        await one.complete(request())
        await one.close()
    assert [r.outcome for r in recorder.calls] == ["429", "5xx", "connection", "cut_stream", "connection", "ok"]
    assert [r.try_ for r in recorder.calls] == [1, 2, 3, 4, 5, 6]
    assert len(server.requests) == len(recorder.calls)


async def test_retry_after_is_honoured(recorder: MemoryRecorder) -> None:
    with WireServer(faults=in_turn(Fault("status", 429, headers={"retry-after": "0.3"}))) as server:
        one = caller(server, recorder)
        start = time.monotonic()
        await one.complete(request())
        await one.close()
    assert 0.3 <= time.monotonic() - start < 2


async def test_a_provider_that_asks_for_a_pause_is_left_alone_by_all_calls(recorder: MemoryRecorder) -> None:
    asked: list[float] = []

    def fault(number: int, body: dict[str, Any]) -> Fault | None:
        asked.append(time.monotonic())
        return Fault("status", 429, headers={"retry-after": "0.5"}) if number == 0 else None

    with WireServer(faults=fault) as server:
        one = caller(server, recorder, concurrency=1)
        await asyncio.gather(*(one.complete(request(sample=n)) for n in range(3)))
        await one.close()
    assert asked[1] - asked[0] >= 0.5


async def test_a_wait_beyond_patience_is_no_wait_at_all(recorder: MemoryRecorder) -> None:
    with WireServer(faults=in_turn(Fault("status", 429, "daily limit", headers={"retry-after": "3600"}))) as server:
        one = caller(server, recorder)
        with pytest.raises(CallFailed, match=r"daily limit.*asks to wait for 3600 s") as caught:
            await one.complete(request())
        await one.close()
    assert (caught.value.outcome, [r.final for r in recorder.calls]) == ("429", [True])


@pytest.mark.parametrize(("status", "outcome"), [(401, "auth"), (403, "auth"), (400, "bad_request"), (404, "bad_request")])
async def test_what_asking_again_cannot_mend_is_asked_once(recorder: MemoryRecorder, status: int, outcome: str) -> None:
    with WireServer(faults=lambda number, asked: Fault("status", status)) as server:
        one = caller(server, recorder)
        with pytest.raises(CallFailed, match="injected") as caught:
            await one.complete(request())
        await one.close()
    assert caught.value.outcome == outcome
    assert len(server.requests) == len(recorder.calls) == 1
    assert one.ledger.spent.usd == 0.0


async def test_tries_are_bounded_and_the_last_failure_is_handed_on(recorder: MemoryRecorder) -> None:
    with WireServer(faults=lambda number, asked: Fault("status", 500, "down")) as server:
        one = caller(server, recorder, tries=3)
        with pytest.raises(CallFailed, match="down"):
            await one.complete(request())
        await one.close()
    assert len(server.requests) == len(recorder.calls) == 3


async def test_unreachable_server_is_one_clear_sentence(recorder: MemoryRecorder) -> None:
    one = Caller(
        make("openai/m", {"base_url": "http://127.0.0.1:9/v1"}, no_tasks), recorder, Ledger(prices=PRICES), tries=2, first_wait_s=0.01
    )
    with pytest.raises(CallFailed, match=r"http://127\.0\.0\.1:9/v1 cannot be reached: .*Check model_args\.base_url") as caught:
        await one.complete(request())
    await one.close()
    assert caught.value.outcome == "connection"
    assert one.ledger.spent.usd == 0.0


async def test_hanging_server_times_out_and_may_have_billed(recorder: MemoryRecorder) -> None:
    with WireServer(faults=lambda number, asked: Fault("hang")) as server:
        one = caller(server, recorder, timeout_s=0.2, tries=1)
        with pytest.raises(CallFailed, match=r"no answer within 0\.2 s"):
            await one.complete(request())
        await one.close()
    (record,) = recorder.calls
    assert (record.outcome, record.usage, record.cost_usd) == ("timeout", None, None)
    assert record.cost_upper == one.ledger.spent.usd > 0


async def test_journal_hit_asks_nothing(recorder: MemoryRecorder) -> None:
    with WireServer(lambda asked: "once") as server:
        one = caller(server, recorder)
        first = await one.complete(request())
        again = await caller(server, recorder).complete(request())
        await one.close()
    assert first == again
    assert len(server.requests) == len(recorder.calls) == 1


async def test_recorded_failure_is_raised_again(recorder: MemoryRecorder) -> None:
    model = Scripted(CallError("context_overflow", "too long"))
    for _ in range(2):
        with pytest.raises(CallFailed, match="too long") as caught:
            await Caller(model, recorder, Ledger(prices=PRICES)).complete(request())
        assert caught.value.outcome == "context_overflow"
    assert len(model.asked) == 1


async def test_identity_with_another_request_has_diverged(recorder: MemoryRecorder) -> None:
    one = Caller(Scripted(Reply("a", "m")), recorder, Ledger(prices=PRICES))
    await one.complete(request("this", role="reflector", round=2))
    with pytest.raises(Diverged, match="diverged at reflector/2") as caught:
        await one.complete(request("that", role="reflector", round=2))
    assert isinstance(caught.value, UserError)
    assert (caught.value.identity.role, caught.value.identity.round) == ("reflector", 2)


async def test_tries_are_numbered_on_after_a_resume(recorder: MemoryRecorder) -> None:
    model = Scripted(CallError("5xx", "down"), CallError("5xx", "down"), Reply("up", "m", usage=Usage()))
    with pytest.raises(CallFailed):
        await Caller(model, recorder, Ledger(prices=PRICES), tries=2, first_wait_s=0.0).complete(request())
    await Caller(model, recorder, Ledger(prices=PRICES), tries=2).complete(request())
    assert [(r.try_, r.outcome) for r in recorder.calls] == [(1, "5xx"), (2, "5xx"), (3, "ok")]


async def test_the_last_try_of_a_start_is_final_and_a_failure_that_is_data_then_stands(recorder: MemoryRecorder) -> None:
    model = Scripted(*[CallError("timeout", "late")] * 3)
    for _ in range(2):
        with pytest.raises(CallFailed, match="late"):
            await Caller(model, recorder, Ledger(prices=PRICES), tries=3, first_wait_s=0.0).complete(request())
    assert [r.final for r in recorder.calls] == [False, False, True]


async def test_a_start_that_ended_between_tries_has_all_its_tries_again(recorder: MemoryRecorder) -> None:
    model = Scripted(CallError("timeout", "late"), asyncio.CancelledError(), *[CallError("timeout", "late")] * 3)
    with pytest.raises(asyncio.CancelledError):
        await Caller(model, recorder, Ledger(prices=PRICES), tries=3, first_wait_s=0.0).complete(request())
    with pytest.raises(CallFailed, match="late"):
        await Caller(model, recorder, Ledger(prices=PRICES), tries=3, first_wait_s=0.0).complete(request())
    assert [(r.outcome, r.final) for r in recorder.calls][-3:] == [("timeout", False), ("timeout", False), ("timeout", True)]
    assert len(recorder.calls) == 5


async def test_paid_reply_of_a_cancelled_sibling_is_still_logged(recorder: MemoryRecorder) -> None:
    with WireServer(lambda asked: "late", delay_s=0.3) as server:
        one = caller(server, recorder)
        task = asyncio.create_task(one.complete(request()))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert recorder.calls == []
        await one.close()
    assert [r.outcome for r in recorder.calls] == ["ok"]
    assert one.ledger.spent.tokens == server.billed.total
    assert one.ledger.holds == []


async def test_second_cancellation_leaves_a_record_with_a_bound(recorder: MemoryRecorder) -> None:
    with WireServer(faults=lambda number, asked: Fault("hang")) as server:
        one = caller(server, recorder, timeout_s=60.0)
        task = asyncio.create_task(one.complete(request()))
        await asyncio.sleep(0.2)
        task.cancel()
        closing = asyncio.create_task(one.close())
        await asyncio.sleep(0.1)
        closing.cancel()
        await asyncio.gather(task, closing, return_exceptions=True)
    (record,) = recorder.calls
    assert (record.outcome, record.cost_usd) == ("cancelled", None)
    assert record.cost_upper == one.ledger.spent.usd > 0


@pytest.mark.parametrize(
    ("finish", "outcome"), [("declined", "declined"), ("refusal", "refused"), ("content_filter", "refused"), ("length", "ok")]
)
async def test_declining_and_refusing_are_outcomes_with_a_reply(recorder: MemoryRecorder, finish: str, outcome: str) -> None:
    reply = await Caller(Scripted(Reply("I decline.", "m", finish)), recorder, Ledger(prices=PRICES)).complete(request())
    assert reply.text == "I decline."
    assert recorder.calls[0].outcome == outcome


async def test_free_model_costs_nothing_even_where_its_usage_is_unknown(recorder: MemoryRecorder) -> None:
    await Caller(Scripted(Reply("x", "m")), recorder, Ledger(prices=PRICES)).complete(request())
    assert (recorder.calls[0].price_row, recorder.calls[0].cost_usd) == ("free", 0.0)


async def test_sampling_fixed_by_the_user_wins_and_is_recorded(recorder: MemoryRecorder) -> None:
    with WireServer() as server:
        model = make("openai/m", {"base_url": server.openai_url, "temperature": 0.25, "max_tokens": 77}, no_tasks)
        one = Caller(model, recorder, Ledger(prices=PRICES))
        await one.complete(request(max_tokens=100))
        await one.close()
    assert (server.requests[0]["temperature"], server.requests[0]["max_tokens"]) == (0.25, 77)
    assert recorder.calls[0].sampling == {"temperature": 0.25, "max_tokens": 77, "seed": None}


async def test_fault_of_ours_is_no_record_and_keeps_no_reservation(recorder: MemoryRecorder) -> None:
    one = Caller(Scripted(KeyError("bug")), recorder, Ledger(prices=PRICES))
    with pytest.raises(KeyError):
        await one.complete(request())
    assert recorder.calls == []
    assert one.ledger.holds == []


async def test_concurrency_is_bounded(recorder: MemoryRecorder) -> None:
    with WireServer(delay_s=0.05) as server:
        one = caller(server, recorder, concurrency=4)
        await asyncio.gather(*(one.complete(request(sample=n)) for n in range(16)))
        await one.close()
    assert server.peak <= 4
    assert len(recorder.calls) == 16


async def test_64_calls_at_once_never_exceed_a_budget_and_the_books_equal_the_bill(recorder: MemoryRecorder) -> None:
    """Every fifth try fails unbilled; what is spent and reserved is looked at whenever the server is asked."""
    peaks: list[float] = []

    def reply(asked: dict[str, Any]) -> str:
        peaks.append(one.ledger.spent.usd + one.ledger.reserved.usd)
        return "word " * 20

    with WireServer(reply, lambda number, asked: AGAIN if number % 5 == 4 else None) as server:
        one = caller(server, recorder, Limits(usd=0.05), concurrency=64, tries=20)
        done = await asyncio.gather(*(one.complete(request(sample=n)) for n in range(256)), return_exceptions=True)
        await one.close()
    replies = [d for d in done if isinstance(d, Reply)]
    assert all(isinstance(d, Reply | BudgetExhausted) for d in done)
    assert 0 < len(replies) < 256
    assert max(peaks) <= 0.05
    assert len(server.requests) == len(recorder.calls)
    assert one.ledger.total().usage == server.billed
    assert one.ledger.spent.usd == pytest.approx((server.billed.input * 2 + server.billed.output * 10) / 1e6)
    assert all(asdict(r)["usage_raw"] for r in recorder.calls if r.outcome == "ok")


def test_importing_the_books_and_the_models_imports_nothing_heavy() -> None:
    heavy = "{'torch', 'triton', 'openai', 'anthropic', 'litellm', 'langgraph', 'httpx', 'httpx2'}"
    code = (
        "import os, sys; import agents.caller, agents.ledger, agents.models, agents.prices, agents.recorder; "
        "from agents.models import make; "
        "os.environ.update(OPENAI_API_KEY='k', ANTHROPIC_API_KEY='k', GEMINI_API_KEY='k'); "
        "[make(m, {}, print) for m in ('openai/gpt-5', 'anthropic/claude-sonnet-4-5', 'gemini/gemini-2.5-pro')]; "
        f"print(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
