"""No level of a budget is overspent by steps that run at once, and a resumed run knows what every level spent."""

import asyncio
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.budget import KINDS, Account, BudgetExhausted, CallLimits, Hold, Limits, TrajectoryLimits
from agents.ledger import Ledger, prompt_bound
from agents.models.base import Usage
from agents.recorder import CallRecord
from tests.agents.memory import request
from tests.agents.test_ledger import PRICES, Named, record


@dataclass(frozen=True)
class Step:
    """A try of a call, and an evaluation after it."""

    trajectory: int
    round: int
    """Steps of one round are tries of one call."""
    allowed: int
    used: int
    fate: str
    """`lost` is never heard of again, `gone` is given back, `impatient` leaves the queue where it has to wait."""


@dataclass
class Schedule:
    limits: Limits
    ledger: Ledger = field(init=False)
    calls: list[CallRecord] = field(default_factory=list)
    judged: list[tuple[str, float]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ledger = Ledger(self.limits, PRICES)

    async def go(self, steps: list[Step], concurrency: int) -> None:
        slots = asyncio.Semaphore(concurrency)

        async def one(step: Step) -> None:
            async with slots:
                try:
                    await self.ask(step)
                    await self.judge(step)
                except BudgetExhausted as exhausted:
                    self.refused.append(exhausted.kind)
                except asyncio.CancelledError:
                    pass
                self.check()

        await asyncio.wait_for(asyncio.gather(*map(one, steps)), 10)

    async def ask(self, step: Step) -> None:
        asked = request(trajectory=f"t{step.trajectory}", round=step.round, max_tokens=step.allowed)
        waiting = asyncio.create_task(self.ledger.reserve_call(Named(), asked))
        await asyncio.sleep(0)
        if step.fate == "impatient":
            waiting.cancel()
        hold = await waiting
        await self.meanwhile(hold)
        if step.fate == "gone":
            self.ledger.release(hold)
            return
        prompt, output = prompt_bound(asked), min(step.used, step.allowed)
        if step.fate == "lost":
            worst = (prompt * 2 + step.allowed * 10) / 1e6
            line = record(asked, None, None, cost_upper=worst, tokens_upper=prompt + step.allowed)
        else:
            line = record(asked, Usage(input=prompt, output=output), (prompt * 2 + output * 10) / 1e6)
        self.calls.append(line)
        self.ledger.settle_call(hold, line)

    async def judge(self, step: Step) -> None:
        hold = await self.ledger.reserve_evaluation(f"t{step.trajectory}", gpu_s=1.0)
        await self.meanwhile(hold)
        self.judged.append((f"t{step.trajectory}", step.used / 300))
        self.ledger.settle_evaluation(hold, step.used / 300)

    async def meanwhile(self, hold: Hold) -> None:
        self.check()
        for _ in range(int(hold.amount.tokens % 3) + 1):
            await asyncio.sleep(0)

    def check(self) -> None:
        for account in accounts(self.ledger):
            reserved = account.reserved
            for kind in KINDS:
                limit = getattr(account.limits, kind, None)
                assert limit is None or getattr(account.spent, kind) + getattr(reserved, kind) <= limit * (1 + 1e-12), (account.level, kind)


def accounts(ledger: Ledger) -> Iterator[Account]:
    yield ledger.run
    yield from ledger.trajectories.values()
    yield from ledger.calls.values()


FATES = ("answered", "answered", "lost", "gone", "impatient")
STEPS = st.builds(Step, st.integers(0, 3), st.integers(0, 2), st.integers(1, 300), st.integers(0, 300), st.sampled_from(FATES))
COUNT, MONEY, SECONDS = (st.none() | some for some in (st.integers(1, 9), st.floats(1e-3, 2e-2), st.floats(1.0, 9.0)))
TOKENS = st.none() | st.integers(200, 5000)
LIMITS = st.builds(
    Limits,
    tokens=TOKENS,
    usd=MONEY,
    evaluations=COUNT,
    gpu_s=SECONDS,
    trajectory=st.builds(TrajectoryLimits, tokens=TOKENS, usd=MONEY, evaluations=COUNT, gpu_s=SECONDS),
    call=st.builds(CallLimits, tokens=TOKENS, usd=MONEY),
)


@settings(deadline=None, max_examples=150)
@given(LIMITS, st.lists(STEPS, min_size=1, max_size=40), st.integers(1, 64))
def test_steps_at_once_overspend_at_no_level_and_leave_nothing_reserved(limits: Limits, steps: list[Step], concurrency: int) -> None:
    schedule = Schedule(limits)
    asyncio.run(schedule.go(steps, concurrency))
    assert all(account.holds == [] for account in accounts(schedule.ledger))


@settings(deadline=None, max_examples=50)
@given(LIMITS, st.lists(STEPS, min_size=1, max_size=40))
def test_a_resumed_run_knows_what_every_level_spent(limits: Limits, steps: list[Step]) -> None:
    schedule = Schedule(limits)
    asyncio.run(schedule.go(steps, 8))
    resumed = Ledger(limits, PRICES)
    resumed.restore(schedule.calls, schedule.judged)
    spent = {key: account.spent for key, account in (*schedule.ledger.trajectories.items(), *schedule.ledger.calls.items())}
    again = {key: account.spent for key, account in (*resumed.trajectories.items(), *resumed.calls.items())}
    assert asdict(resumed.spent) == pytest.approx(asdict(schedule.ledger.spent))
    for key, amount in spent.items():
        assert asdict(again[key]) == pytest.approx(asdict(amount)) if key in again else not any(vars(amount).values())


def test_time_of_earlier_starts_counts_for_run_trajectory_and_call() -> None:
    asked = request()
    limits = Limits(wall_s=100.0, trajectory=TrajectoryLimits(wall_s=50.0), call=CallLimits(wall_s=10.0))
    ledger = Ledger(limits, PRICES, clock=lambda: 0.0)
    ledger.restore([replace(record(asked, None, None), start=5.0, end=16.0)], wall_s=60.0, walls=[("t", 40.0)])
    assert [account.wall_s(0.0) for account in accounts(ledger)] == [60.0, 40.0, 11.0]
    with pytest.raises(BudgetExhausted, match="The call's 10 s are over"):
        asyncio.run(ledger.reserve_call(Named(), asked))


def test_a_try_in_a_batch_takes_none_of_its_call_s_time() -> None:
    ledger = Ledger(None, PRICES, clock=lambda: 0.0)
    ledger.restore([replace(record(request(), None, None), start=5.0, end=90_000.0, tier="batch")])
    assert ledger.calls[request().identity].wall_s(0.0) == 0.0
