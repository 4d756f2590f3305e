"""Calls that wait for a batch, through the real SDKs against both providers' endpoints on loopback: nothing is asked or charged twice."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.budget import BudgetExhausted, Limits
from agents.caller import Caller, CallFailed, Diverged, Parked
from agents.ledger import Ledger, prompt_bound
from agents.models import make
from agents.models.base import CallError, Reply, Request
from agents.parking import Lot
from agents.prices import Prices
from benchmark.errors import UserError
from tests.agents.memory import MemoryRecorder, no_tasks, request
from tests.servers.batches import BatchServer

PRICES = Prices.load(
    {name: {"input": 2.0, "output": 10.0, "batch": 0.5} for name in ("openai/m", "anthropic/m")} | {"file": {"input": 2.0, "output": 10.0}}
)
DIALECTS = ("openai", "anthropic")
Outcome = Reply | BaseException


@pytest.fixture
def recorder() -> MemoryRecorder:
    return MemoryRecorder()


def start(run: Path, server: BatchServer, recorder: MemoryRecorder, dialect: str, limits: Limits | None = None, **options: Any) -> Lot:
    """A new start of the run: what is left of the earlier ones is on disk, with the recorder, and at the server."""
    url = server.openai_url if dialect == "openai" else server.anthropic_url
    args = {"of": f"{dialect}/m", "base_url": url, "timeout_s": options.pop("timeout_s", 30.0)}
    run.mkdir(exist_ok=True)
    ledger = Ledger(limits, PRICES)
    ledger.restore(recorder.calls)
    caller = Caller(make("batch", args, no_tasks), recorder, ledger, first_wait_s=0.01, **options)
    caller.lot = Lot(run, caller.model, caller)  # type: ignore[arg-type]
    caller.lot.grace_s = 0.0
    return caller.lot


async def go(lot: Lot, *requests: Request, submit: bool = True) -> list[Outcome]:
    """One start to its end: collects, asks, hands in what parks, and leaves."""
    await lot.collect(lambda identity, reply: "ok")
    asked = [asyncio.create_task(lot.caller.complete(one)) for one in requests]
    for _ in range(50):
        await asyncio.sleep(0)  # Turns of the loop, not time: a call that is on its way is parked after a few.
    try:
        if submit:
            await lot.submit()
    finally:
        lot.leave()
        done = await asyncio.gather(*asked, return_exceptions=True)
        lot.close()
        await lot.caller.close()
    return done


def ask(number: int) -> list[Request]:
    return [request(f"Write number {n}.", sample=n) for n in range(number)]


def forget_submission(run: Path) -> None:
    """Leaves the journal as a kill between the provider's answer and our record of it would."""
    lines = (run / "batches.jsonl").read_text().splitlines(keepends=True)
    assert json.loads(lines[-1])["event"] == "submitted"
    (run / "batches.jsonl").write_text("".join(lines[:-1]))


def said(body: dict[str, Any]) -> str:
    content = body["messages"][-1]["content"]
    return str(content if isinstance(content, str) else content[0]["text"])


def echo(body: dict[str, Any]) -> str:
    return f"answer to: {said(body)}"


def texts(outcomes: list[Outcome]) -> list[str]:
    return [outcome.text if isinstance(outcome, Reply) else type(outcome).__name__ for outcome in outcomes]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_parked_calls_go_together_and_come_back_at_half_the_price(tmp_path: Path, recorder: MemoryRecorder, dialect: str) -> None:
    requests = ask(3)
    with BatchServer(echo) as server:
        assert all(isinstance(outcome, Parked) for outcome in await go(start(tmp_path, server, recorder, dialect), *requests))
        assert len(server.batches) == 1
        assert recorder.calls == []
        done = await go(start(tmp_path, server, recorder, dialect), *requests)
        assert texts(done) == [f"answer to: Write number {n}." for n in range(3)]
        assert len(server.batches) == 1
        assert [(call.tier, call.outcome, call.final, call.parse, call.try_) for call in recorder.calls] == [
            ("batch", "ok", True, "ok", 1)
        ] * 3
        assert all(call.usage_raw for call in recorder.calls)
        assert sum(call.usage.total for call in recorder.calls if call.usage) == server.billed.total
        cost = (2.0 * (server.billed.total - server.billed.output) + 10.0 * server.billed.output) / 1e6 / 2
        assert sum(call.cost_usd or 0.0 for call in recorder.calls) == pytest.approx(cost)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_what_is_not_ready_is_not_asked_again(tmp_path: Path, recorder: MemoryRecorder, dialect: str) -> None:
    with BatchServer(echo) as server:
        server.ready = False
        for _ in range(3):
            lot = start(tmp_path, server, recorder, dialect)
            assert texts(await go(lot, *ask(2))) == ["Parked", "Parked"]
            assert (lot.waiting, lot.news) == (2, False)
        assert len(server.batches) == 1
        assert recorder.calls == []


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_kill_between_submission_and_record_submits_once(tmp_path: Path, recorder: MemoryRecorder, dialect: str) -> None:
    with BatchServer(echo) as server:
        await go(start(tmp_path, server, recorder, dialect), *ask(2))
        forget_submission(tmp_path)
        done = await go(start(tmp_path, server, recorder, dialect), *ask(2))
        assert texts(done) == ["answer to: Write number 0.", "answer to: Write number 1."]
        assert len(server.batches) == 1
        assert len(server.bill) == 2


async def test_a_server_that_keeps_no_metadata_is_told_by_the_file(tmp_path: Path, recorder: MemoryRecorder) -> None:
    with BatchServer(echo) as server:
        server.forgetful = True
        await go(start(tmp_path / "other", server, MemoryRecorder(), "openai"), *ask(2))
        await go(start(tmp_path, server, recorder, "openai"), *ask(2))
        forget_submission(tmp_path)
        await go(start(tmp_path, server, recorder, "openai"), *ask(2))
        assert len(server.batches) == 2
        assert [call.outcome for call in recorder.calls] == ["ok", "ok"]


async def test_while_anthropic_cannot_tell_nothing_is_submitted(tmp_path: Path, recorder: MemoryRecorder) -> None:
    with BatchServer(echo) as server:
        server.ready = False
        await go(start(tmp_path, server, recorder, "anthropic"), *ask(2))
        forget_submission(tmp_path)
        lot = start(tmp_path, server, recorder, "anthropic")
        assert texts(await go(lot, *ask(2))) == ["Parked", "Parked"]
        assert "shows whether it took batch" in lot.doubt
        assert len(server.batches) == 1
        server.ready = True
        assert all(isinstance(outcome, Reply) for outcome in await go(start(tmp_path, server, recorder, "anthropic"), *ask(2)))
        assert len(server.batches) == 1


async def test_another_runs_batch_is_not_taken_for_ours(tmp_path: Path, recorder: MemoryRecorder) -> None:
    with BatchServer(echo) as server:
        server.refuse["POST /v1/messages/batches"] = [401]
        with pytest.raises(UserError, match="auth"):
            await go(start(tmp_path, server, recorder, "anthropic"), *ask(2))
        await go(start(tmp_path / "other", server, MemoryRecorder(), "anthropic"), *ask(2))
        await go(start(tmp_path, server, recorder, "anthropic"), *ask(2))
        assert len(server.batches) == 2


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_submission_whose_answer_was_lost_is_found(tmp_path: Path, recorder: MemoryRecorder, dialect: str) -> None:
    with BatchServer(echo) as server:
        server.pause = 1.0
        await go(start(tmp_path, server, recorder, dialect, timeout_s=0.4), *ask(2))
        assert len(server.batches) == 1
        assert all(isinstance(outcome, Reply) for outcome in await go(start(tmp_path, server, recorder, dialect), *ask(2)))


async def test_a_submission_that_was_refused_for_a_while_is_repeated(tmp_path: Path, recorder: MemoryRecorder) -> None:
    with BatchServer(echo) as server:
        server.refuse["POST /v1/batches"] = [429, 500]
        await go(start(tmp_path, server, recorder, "openai"), *ask(1))
        assert len(server.batches) == 1


@pytest.mark.parametrize("fate", ["expired", "canceled", "missing", "500", "429"])
@pytest.mark.parametrize("dialect", DIALECTS)
async def test_only_what_was_not_answered_is_queued_again(tmp_path: Path, recorder: MemoryRecorder, dialect: str, fate: str) -> None:
    with BatchServer(echo, lambda number, _: fate if number == 1 else "ok") as server:
        await go(start(tmp_path, server, recorder, dialect), *ask(3))
        assert texts(await go(start(tmp_path, server, recorder, dialect), *ask(3)))[1] == "Parked"
        assert [len(batch.entries) for batch in server.batches.values()] == [3, 1]
        assert all(isinstance(outcome, Reply) for outcome in await go(start(tmp_path, server, recorder, dialect), *ask(3)))
        tries = [(call.identity.sample, call.try_, call.final) for call in recorder.calls]
        assert tries == [(0, 1, True), (2, 1, True), (1, 1, False), (1, 2, True)]
        assert len(server.bill) == 3


async def test_what_was_booked_before_a_kill_is_not_booked_twice(tmp_path: Path, recorder: MemoryRecorder) -> None:
    with BatchServer(echo) as server:
        await go(start(tmp_path, server, recorder, "openai"), *ask(3))
        await go(start(tmp_path, server, recorder, "openai"), submit=False)
        lines = (tmp_path / "batches.jsonl").read_text().splitlines(keepends=True)
        (tmp_path / "batches.jsonl").write_text("".join(lines[:-1]))
        del recorder.calls[1:]
        await go(start(tmp_path, server, recorder, "openai"), *ask(3))
        assert sorted(call.identity.sample for call in recorder.calls) == [0, 1, 2]
        assert len(server.batches) == 1


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_request_that_is_refused_fails_now_and_is_asked_again_later(tmp_path: Path, recorder: MemoryRecorder, dialect: str) -> None:
    with BatchServer(echo, lambda number, _: "400" if number == 0 else "ok") as server:
        await go(start(tmp_path, server, recorder, dialect), *ask(2))
        failed, answered = await go(start(tmp_path, server, recorder, dialect), *ask(2))
        assert isinstance(failed, CallFailed)
        assert failed.outcome == "bad_request"
        assert isinstance(answered, Reply)
        assert len(server.batches) == 1
        await go(start(tmp_path, server, recorder, dialect), *ask(2))
        assert [len(batch.entries) for batch in server.batches.values()] == [2, 1]


async def test_a_batch_that_fails_as_a_whole_says_why(tmp_path: Path, recorder: MemoryRecorder) -> None:
    with BatchServer(echo) as server:
        server.broken = "the model takes no batches"
        await go(start(tmp_path, server, recorder, "openai"), *ask(2))
        done = await go(start(tmp_path, server, recorder, "openai"), *ask(2))
        assert ["the model takes no batches" in str(outcome) for outcome in done] == [True, True]
        assert [(call.outcome, call.cost_usd) for call in recorder.calls] == [("bad_request", 0.0)] * 2


async def test_a_call_that_fails_in_passing_too_often_is_over(tmp_path: Path, recorder: MemoryRecorder) -> None:
    with BatchServer(echo, lambda *_: "expired") as server:
        for _ in range(3):
            await go(start(tmp_path, server, recorder, "openai", tries=2), *ask(1))
        assert [(call.outcome, call.final) for call in recorder.calls] == [("timeout", False), ("timeout", True)]
        assert len(server.batches) == 2


async def test_bounds_are_held_while_calls_wait_and_across_starts(tmp_path: Path, recorder: MemoryRecorder) -> None:
    requests = ask(3)
    bound = prompt_bound(requests[0]) + 100
    limits = Limits(tokens=2 * bound)
    with BatchServer(echo) as server:
        server.ready = False
        lot = start(tmp_path, server, recorder, "openai", limits)
        assert texts(await go(lot, *requests)) == ["Parked"] * 3
        assert (lot.waiting, lot.crowded) == (2, 1)
        lot = start(tmp_path, server, recorder, "openai", limits)
        assert lot.caller.ledger.reserved.tokens == 2 * bound
        assert texts(await go(lot, *requests)) == ["Parked"] * 3
        assert [len(batch.entries) for batch in server.batches.values()] == [2]
        server.ready = True
        assert texts(await go(start(tmp_path, server, recorder, "openai", limits), *requests))[2] == "Parked"
        assert [len(batch.entries) for batch in server.batches.values()] == [2, 1]


async def test_a_call_that_can_never_fit_is_told_at_once(tmp_path: Path, recorder: MemoryRecorder) -> None:
    with BatchServer(echo) as server:
        (outcome,) = await go(start(tmp_path, server, recorder, "openai", Limits(tokens=10)), *ask(1))
        assert isinstance(outcome, BudgetExhausted)
        assert server.calls == []


async def test_a_usd_budget_is_held_at_the_batch_price(tmp_path: Path, recorder: MemoryRecorder) -> None:
    (one,) = ask(1)
    with BatchServer(echo) as server:
        lot = start(tmp_path, server, recorder, "openai")
        row = PRICES.row("openai/m")
        assert row is not None
        await go(lot, one)
        assert lot.caller.ledger.reserved.usd == pytest.approx((row.upper(prompt_bound(one), 100) or 0.0) / 2)


async def test_another_request_under_a_waiting_identity_diverges(tmp_path: Path, recorder: MemoryRecorder) -> None:
    with BatchServer(echo) as server:
        server.ready = False
        await go(start(tmp_path, server, recorder, "openai"), request("One."))
        (outcome,) = await go(start(tmp_path, server, recorder, "openai"), request("Another."))
        assert isinstance(outcome, Diverged)
        assert len(server.batches) == 1


async def test_more_than_a_provider_takes_at_once_goes_in_parts(tmp_path: Path, recorder: MemoryRecorder) -> None:
    with BatchServer(echo) as server:
        lot = start(tmp_path, server, recorder, "openai")
        lot.endpoint.most = 2
        await go(lot, *ask(5))
        assert [len(batch.entries) for batch in server.batches.values()] == [2, 2, 1]
        done = await go(start(tmp_path, server, recorder, "openai"), *ask(5))
        assert all(isinstance(outcome, Reply) for outcome in done)


async def test_a_call_that_is_cancelled_gives_its_bound_back(tmp_path: Path, recorder: MemoryRecorder) -> None:
    with BatchServer(echo) as server:
        lot = start(tmp_path, server, recorder, "openai")
        task = asyncio.create_task(lot.caller.complete(request()))
        await asyncio.sleep(0.01)
        assert len(lot.caller.ledger.holds) == 1
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert lot.caller.ledger.holds == []
        assert await go(lot) == []
        assert server.calls == []


async def test_no_key_is_in_the_journal(tmp_path: Path, recorder: MemoryRecorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted")
    with BatchServer(echo) as server:
        server.refuse["POST /v1/files"] = [401]
        with pytest.raises(UserError) as refused:
            await go(start(tmp_path, server, recorder, "openai"), *ask(1))
        await go(start(tmp_path, server, recorder, "openai"), *ask(1))
        assert server.headers[-1]["authorization"] == "Bearer sk-planted"
    assert "sk-planted" not in (tmp_path / "batches.jsonl").read_text() + str(refused.value)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    dialect=st.sampled_from(DIALECTS),
    fates=st.lists(st.sampled_from(("ok", "expired", "missing", "canceled", "500")), max_size=5),
    kills=st.lists(st.booleans(), min_size=12, max_size=12),
)
def test_whatever_fails_every_call_is_answered_once(
    tmp_path_factory: pytest.TempPathFactory, dialect: str, fates: list[str], kills: list[bool]
) -> None:
    run = tmp_path_factory.mktemp("run")
    recorder = MemoryRecorder()
    if dialect == "anthropic":  # Its results have a line for every request.
        fates = [fate.replace("missing", "expired") for fate in fates]
    with BatchServer(echo, lambda number, _: fates[number] if number < len(fates) else "ok") as server:
        for kill in kills:
            done = asyncio.run(once(run, server, recorder, dialect))
            if all(isinstance(outcome, Reply) for outcome in done):
                break
            if kill and json.loads((run / "batches.jsonl").read_text().splitlines()[-1])["event"] == "submitted":
                forget_submission(run)
        assert texts(done) == [f"answer to: Write number {n}." for n in range(3)]
        assert len(server.bill) == 3
        assert len(recorder.calls) == len(server.asked)
        assert sum(call.outcome == "ok" for call in recorder.calls) == 3


async def once(run: Path, server: BatchServer, recorder: MemoryRecorder, dialect: str) -> list[Outcome]:
    return await go(start(run, server, recorder, dialect, tries=20), *ask(3))


def test_an_entry_that_was_not_charged_says_so() -> None:
    from agents.models.batches.base import lost, unbilled

    assert unbilled("timeout", "late").usage is not None
    assert lost("b").usage is None
    assert {error.tier for error in (unbilled("timeout", "late"), lost("b"))} == {"batch"}
    assert isinstance(lost("b"), CallError)
