"""Budgets hold under concurrency, and the books add up."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.ledger import Amount, BudgetExhausted, Ledger, Limits, prompt_bound
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
    hold = await ledger.reserve_evaluation()
    waiting = asyncio.create_task(ledger.reserve_evaluation())
    await asyncio.sleep(0)
    waiting.cancel()
    ledger.release(hold)
    next_hold = await asyncio.wait_for(ledger.reserve_evaluation(), 1)
    assert ledger.holds == [next_hold]


async def test_unknown_usage_counts_its_bound() -> None:
    ledger, asked = Ledger(Limits(usd=1.0), PRICES), request()
    hold = await ledger.reserve_call(Named(), asked)
    ledger.settle_call(hold, record(asked, None, None, cost_upper=0.25, tokens_upper=500))
    total = ledger.total()
    assert ledger.spent == Amount(tokens=500, usd=0.25)
    assert (total.usd, total.usd_upper, total.tokens, total.tokens_upper, total.unknown) == (0.0, 0.25, 0, 500, 1)


def test_usd_budget_refuses_an_unpriced_model() -> None:
    with pytest.raises(UserError, match="none for 'openai/nobody-knows'"):
        Ledger(Limits(usd=1.0), PRICES).admit(Named("openai/nobody-knows"))
    Ledger(Limits(usd=1.0), PRICES).admit(Named())
    Ledger(Limits(tokens=1), PRICES).admit(Named("openai/nobody-knows"))


async def test_evaluations_and_gpu_seconds_are_budgets_too() -> None:
    ledger = Ledger(Limits(evaluations=5, gpu_s=10.0), PRICES)
    ledger.settle_evaluation(await ledger.reserve_evaluation(gpu_s=6.0), gpu_s=6.0)
    with pytest.raises(BudgetExhausted) as caught:
        await ledger.reserve_evaluation(gpu_s=6.0)
    assert caught.value.kind == "gpu_s"
    await ledger.reserve_evaluation(gpu_s=4.0)


async def test_wall_budget_ends_by_the_clock_of_all_starts() -> None:
    now = [100.0]
    ledger = Ledger(Limits(wall_s=60.0), PRICES, clock=lambda: now[0])
    ledger.restore([], wall_s=50.0)
    now[0] += 9.0
    await ledger.reserve_evaluation()
    now[0] += 2.0
    with pytest.raises(BudgetExhausted) as caught:
        await ledger.reserve_evaluation()
    assert caught.value.kind == "wall_s"


async def test_resumed_run_does_not_spend_its_budget_twice() -> None:
    first = request(max_tokens=100)
    ledger = Ledger(Limits(tokens=prompt_bound(first) + 150, evaluations=2), PRICES)
    ledger.restore([record(first, Usage(input=60, output=60), 0.5)], evaluations=[1.0, 2.0])
    assert ledger.spent == Amount(tokens=120, usd=0.5, evaluations=2, gpu_s=3.0)
    with pytest.raises(BudgetExhausted):
        await ledger.reserve_call(Named(), request(round=1, max_tokens=100))
    with pytest.raises(BudgetExhausted):
        await ledger.reserve_evaluation()


def test_totals_by_role_and_trajectory_add_up_to_the_run() -> None:
    ledger = Ledger(prices=PRICES)
    asked = [request(role=role, trajectory=t, round=r) for role in ("generator", "reflector") for t in ("a", "b") for r in (0, 1)]
    ledger.restore(record(one, Usage(input=n, output=1), 0.5) for n, one in enumerate(asked))
    by_role = ledger.by_role()
    assert sum(t.tokens for t in by_role.values()) == ledger.total().tokens == sum(range(8)) + 8
    assert ledger.total("a", "reflector").calls == 2
    assert ledger.total("a").usd + ledger.total("b").usd == ledger.total().usd == 4.0
    assert ledger.call(Identity("b", "reflector", 1)).tokens == 8


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(1, 300), st.integers(0, 300), st.booleans()), min_size=1, max_size=40),
    st.integers(100, 5000),
    st.integers(1, 64),
)
def test_concurrent_calls_never_overspend_together(calls: list[tuple[int, int, bool]], limit: int, concurrency: int) -> None:
    """Calls that use no more than they may, of which some are never heard of again."""

    async def main() -> None:
        ledger = Ledger(Limits(tokens=limit, usd=limit * 8e-6), PRICES)
        slots = asyncio.Semaphore(concurrency)

        async def one(number: int, allowed: int, used: int, lost: bool) -> None:
            asked = request("x" * (number % 7), round=number, max_tokens=allowed)
            async with slots:
                try:
                    hold = await ledger.reserve_call(Named(), asked)
                except BudgetExhausted:
                    return
                check()
                await asyncio.sleep(0)
                usage = Usage(input=prompt_bound(asked), output=min(used, allowed))
                bound = (prompt_bound(asked) * 2 + allowed * 10) / 1e6
                if lost:
                    ledger.settle_call(hold, record(asked, None, None, cost_upper=bound, tokens_upper=prompt_bound(asked) + allowed))
                else:
                    ledger.settle_call(hold, record(asked, usage, (usage.input * 2 + usage.output * 10) / 1e6))
                check()

        def check() -> None:
            assert ledger.spent.tokens + ledger.reserved.tokens <= limit
            assert ledger.spent.usd + ledger.reserved.usd <= limit * 8e-6 * (1 + 1e-12)

        await asyncio.wait_for(asyncio.gather(*(one(n, *call) for n, call in enumerate(calls))), 10)
        assert ledger.holds == []

    asyncio.run(main())
