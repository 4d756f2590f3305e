"""Budgets hold under concurrency, and the books add up."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.budget import Amount, BudgetExhausted, CallLimits, Limits, TrajectoryLimits
from agents.ledger import Ledger, prompt_bound
from agents.models.base import Identity, Reply, Request, Usage
from agents.prices import Prices
from agents.recorder import CallRecord
from benchmark.errors import UserError
from tests.agents.memory import request

PRICES = Prices.load({"openai/priced": {"input": 2.0, "output": 10.0}})


class Named:
    """A model as far as the ledger looks at it."""

    free = False
    sampling: dict[str, Any] = {}

    def __init__(self, name: str = "openai/priced"):
        self.name = name

    async def complete(self, request: Request) -> Reply:
        return Reply("", self.name)

    async def close(self) -> None: ...


def record(
    asked: Request, usage: Usage | None, cost: float | None, *, cost_upper: float | None = None, tokens_upper: int | None = None
) -> CallRecord:
    return CallRecord(
        asked.identity.key, 1, asked.identity, "openai", "openai/priced", None, asked.sha, "", None, {}, 0.0, None, 0.0, "ok",
        None, None, None, None, usage, "provider" if usage else "unknown", "standard", "row",
        cost, cost_upper if cost is None else cost, tokens_upper,
    )  # fmt: skip


@settings(deadline=None, max_examples=50)
@given(st.text(), st.text())
def test_prompt_bound_is_at_least_the_bytes(system: str, prompt: str) -> None:
    asked = request(system + prompt)
    assert prompt_bound(asked) > len((system + prompt).encode("utf-8", "surrogatepass"))


async def test_reservation_counts_until_it_is_settled() -> None:
    ledger, asked = Ledger(Limits(tokens=1000), PRICES), request(max_tokens=100)
    hold = await ledger.reserve_call(Named(), asked)
    assert ledger.reserved.tokens == prompt_bound(asked) + 100
    ledger.settle_call(hold, record(asked, Usage(input=7, output=3), 0.1))
    assert (ledger.reserved.tokens, ledger.spent.tokens, ledger.spent.usd) == (0, 10, 0.1)


async def test_call_that_cannot_fit_is_refused_with_the_kind_of_budget() -> None:
    ledger = Ledger(Limits(tokens=50), PRICES)
    with pytest.raises(BudgetExhausted, match="50 tokens") as caught:
        await ledger.reserve_call(Named(), request(max_tokens=100))
    assert caught.value.kind == "tokens"
    assert ledger.reserved == Amount()


async def test_reservation_waits_for_calls_in_flight_and_then_fits() -> None:
    asked = request(max_tokens=100)
    ledger = Ledger(Limits(tokens=prompt_bound(asked) + 150), PRICES)
    hold = await ledger.reserve_call(Named(), asked)
    second = asyncio.create_task(ledger.reserve_call(Named(), asked))
    await asyncio.sleep(0.01)
    assert not second.done()
    ledger.settle_call(hold, record(asked, Usage(output=5), 0.0))
    await second
    assert ledger.spent.tokens + ledger.reserved.tokens <= prompt_bound(asked) + 150


async def test_waiting_reservation_is_refused_once_the_money_is_spent() -> None:
    asked = request(max_tokens=100)
    ledger = Ledger(Limits(tokens=prompt_bound(asked) + 150), PRICES)
    hold = await ledger.reserve_call(Named(), asked)
    second = asyncio.create_task(ledger.reserve_call(Named(), asked))
    await asyncio.sleep(0)
    ledger.settle_call(hold, record(asked, Usage(output=100), 0.0))
    with pytest.raises(BudgetExhausted):
        await second


async def test_cancelled_waiter_does_not_block_the_next() -> None:
    ledger = Ledger(Limits(evaluations=1), PRICES)
    hold = await ledger.reserve_evaluation("t")
    waiting = asyncio.create_task(ledger.reserve_evaluation("t"))
    await asyncio.sleep(0)
    waiting.cancel()
    ledger.release(hold)
    next_hold = await asyncio.wait_for(ledger.reserve_evaluation("t"), 1)
    assert ledger.holds == [next_hold]


async def test_unknown_usage_counts_its_bound() -> None:
    ledger, asked = Ledger(Limits(usd=1.0), PRICES), request()
    hold = await ledger.reserve_call(Named(), asked)
    ledger.settle_call(hold, record(asked, None, None, cost_upper=0.25, tokens_upper=500))
    total = ledger.total()
    assert ledger.spent == Amount(tokens=500, usd=0.25)
    assert (total.usd, total.usd_upper, total.tokens, total.tokens_upper, total.unknown) == (0.0, 0.25, 0, 500, 1)


def test_a_tier_without_a_price_counts_at_the_standard_one() -> None:
    ledger = Ledger(Limits(usd=1.0), PRICES)
    ledger.restore([replace(record(request(), Usage(input=1000, output=100), None), tier="priority")])
    assert ledger.spent.usd == pytest.approx(0.003)
    assert ledger.total().usd_upper is None


def test_usd_budget_refuses_an_unpriced_model() -> None:
    with pytest.raises(UserError, match="none for 'openai/nobody-knows'"):
        Ledger(Limits(usd=1.0), PRICES).admit(Named("openai/nobody-knows"))
    Ledger(Limits(usd=1.0), PRICES).admit(Named())
    Ledger(Limits(tokens=1), PRICES).admit(Named("openai/nobody-knows"))


async def test_evaluations_and_gpu_seconds_are_budgets_too() -> None:
    ledger = Ledger(Limits(evaluations=5, gpu_s=10.0), PRICES)
    ledger.settle_evaluation(await ledger.reserve_evaluation("t", gpu_s=6.0), gpu_s=6.0)
    with pytest.raises(BudgetExhausted) as caught:
        await ledger.reserve_evaluation("t", gpu_s=6.0)
    assert caught.value.kind == "gpu_s"
    await ledger.reserve_evaluation("t", gpu_s=4.0)


async def test_wall_budget_ends_by_the_clock_of_all_starts() -> None:
    now = [100.0]
    ledger = Ledger(Limits(wall_s=60.0), PRICES, clock=lambda: now[0])
    ledger.restore([], wall_s=50.0)
    now[0] += 9.0
    await ledger.reserve_evaluation("t")
    now[0] += 2.0
    with pytest.raises(BudgetExhausted) as caught:
        await ledger.reserve_evaluation("t")
    assert caught.value.kind == "wall_s"


async def test_resumed_run_does_not_spend_its_budget_twice() -> None:
    first = request(max_tokens=100)
    ledger = Ledger(Limits(tokens=prompt_bound(first) + 150, evaluations=2), PRICES)
    ledger.restore([record(first, Usage(input=60, output=60), 0.5)], evaluations=[("t", 1.0), ("t", 2.0)])
    assert ledger.spent == Amount(tokens=120, usd=0.5, evaluations=2, gpu_s=3.0)
    with pytest.raises(BudgetExhausted):
        await ledger.reserve_call(Named(), request(round=1, max_tokens=100))
    with pytest.raises(BudgetExhausted):
        await ledger.reserve_evaluation("t")


def test_totals_by_role_and_trajectory_add_up_to_the_run() -> None:
    ledger = Ledger(prices=PRICES)
    asked = [request(role=role, trajectory=t, round=r) for role in ("generator", "reflector") for t in ("a", "b") for r in (0, 1)]
    ledger.restore(record(one, Usage(input=n, output=1), 0.5) for n, one in enumerate(asked))
    by_role = ledger.by_role()
    assert sum(t.tokens for t in by_role.values()) == ledger.total().tokens == sum(range(8)) + 8
    assert ledger.total("a", "reflector").calls == 2
    assert ledger.total("a").usd + ledger.total("b").usd == ledger.total().usd == 4.0
    assert ledger.call(Identity("b", "reflector", 1)).tokens == 8


async def test_a_trajectory_that_is_over_its_budget_leaves_the_others_theirs() -> None:
    ledger = Ledger(Limits(trajectory=TrajectoryLimits(tokens=1000, evaluations=1)), PRICES)
    first = request(trajectory="a", max_tokens=100)
    ledger.settle_call(await ledger.reserve_call(Named(), first), record(first, Usage(output=990), 0.1))
    with pytest.raises(BudgetExhausted, match="The trajectory's budget of 1,000 tokens is used up: 990 spent") as caught:
        await ledger.reserve_call(Named(), request(trajectory="a", round=1, max_tokens=100))
    assert caught.value.kind == "trajectory.tokens"
    await ledger.reserve_call(Named(), request(trajectory="b", max_tokens=100))
    await ledger.reserve_evaluation("a")
    assert ledger.trajectories["b"].reserved.tokens == ledger.reserved.tokens > 0


async def test_a_call_has_a_budget_for_all_its_tries() -> None:
    asked = request(max_tokens=100)
    bound = prompt_bound(asked) + 100
    ledger = Ledger(Limits(call=CallLimits(tokens=bound + 10)), PRICES)
    ledger.settle_call(await ledger.reserve_call(Named(), asked), record(asked, None, None, tokens_upper=bound))
    with pytest.raises(BudgetExhausted) as caught:
        await ledger.reserve_call(Named(), asked)
    assert caught.value.kind == "call.tokens"
    await ledger.reserve_call(Named(), request(round=1, max_tokens=100))


async def test_what_does_not_fit_at_one_level_is_held_at_none() -> None:
    ledger = Ledger(Limits(tokens=10_000, call=CallLimits(tokens=10)), PRICES)
    with pytest.raises(BudgetExhausted):
        await ledger.reserve_call(Named(), request())
    assert ledger.holds == ledger.trajectories["t"].holds == []


async def test_time_is_counted_at_each_level_from_its_first_step() -> None:
    now = [0.0]
    limits = Limits(wall_s=100.0, trajectory=TrajectoryLimits(wall_s=10.0), call=CallLimits(wall_s=5.0))
    ledger = Ledger(limits, PRICES, clock=lambda: now[0])
    now[0] = 50.0
    ledger.release(await ledger.reserve_call(Named(), request()))
    now[0] = 56.0
    with pytest.raises(BudgetExhausted, match="The call's 5 s are over") as caught:
        await ledger.reserve_call(Named(), request())
    assert caught.value.kind == "call.wall_s"
    ledger.release(await ledger.reserve_call(Named(), request(round=1)))
    now[0] = 61.0
    with pytest.raises(BudgetExhausted) as caught:
        await ledger.reserve_evaluation("t")
    assert caught.value.kind == "trajectory.wall_s"
    await ledger.reserve_evaluation("another")


@pytest.mark.parametrize("level", ["budget", "budget.trajectory", "budget.call"])
def test_a_usd_budget_at_any_level_needs_a_price(level: str) -> None:
    limits = {
        "budget": Limits(usd=1.0),
        "budget.trajectory": Limits(trajectory=TrajectoryLimits(usd=1.0)),
        "budget.call": Limits(call=CallLimits(usd=1.0)),
    }
    with pytest.raises(UserError) as raised:
        Ledger(limits[level], PRICES).admit(Named("openai/nobody-knows"))
    assert f"{level}.usd needs a price" in str(raised.value)
    assert "'prices={openai/nobody-knows:{input:...,output:...}}'" in str(raised.value)


async def test_runs_of_one_start_share_the_budget_and_nothing_else() -> None:
    purse = Ledger(Limits(evaluations=3, trajectory=TrajectoryLimits(evaluations=2)), PRICES)
    one, other = purse.share(), purse.share()
    for ledger in (one, one, other):
        ledger.settle_evaluation(await ledger.reserve_evaluation("t"), 0.0)
    with pytest.raises(BudgetExhausted) as caught:
        await other.reserve_evaluation("t")
    assert caught.value.kind == "evaluations"
    assert (one.trajectories["t"].spent.evaluations, other.trajectories["t"].spent.evaluations) == (2, 1)
