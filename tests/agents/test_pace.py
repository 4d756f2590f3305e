"""Slots, requests and tokens of a minute, and pauses, on a clock that runs fast."""

import asyncio
import time

import pytest

from agents import pace
from agents.models import make
from agents.pace import Pace
from tests.agents.memory import no_tasks

MINUTE = 0.4


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "MINUTE", MINUTE)


async def starts(limits: Pace, count: int, tokens: int = 1, used: int | None = None) -> list[float]:
    """When so many tries started, which all wanted to at once; each lasts a hundredth of a second."""
    begun = time.monotonic()
    at: list[float] = []

    async def one() -> None:
        ticket = await limits.enter(tokens)
        at.append(time.monotonic() - begun)
        await asyncio.sleep(0.01)
        limits.leave(ticket, tokens if used is None else used)

    await asyncio.gather(*(one() for _ in range(count)))
    return at


async def test_no_minute_has_more_requests_than_allowed() -> None:
    at = await starts(Pace(requests_per_minute=3), 8)
    assert all(later - first >= MINUTE for first, later in zip(at, at[3:], strict=False))
    assert at[2] < MINUTE


async def test_no_minute_has_more_tokens_than_allowed() -> None:
    at = await starts(Pace(tokens_per_minute=100), 4, tokens=50)
    assert [int(t // MINUTE) for t in at] == [0, 0, 1, 1]


async def test_a_bound_gives_way_to_what_was_used() -> None:
    at = await starts(Pace(tokens_per_minute=100), 4, tokens=90, used=2)
    assert at[-1] < MINUTE


async def test_a_call_beyond_a_whole_minute_goes_alone() -> None:
    at = await starts(Pace(tokens_per_minute=10), 2, tokens=50)
    assert at[1] - at[0] >= MINUTE


async def test_a_pause_holds_everybody_up() -> None:
    limits = Pace()
    limits.pause(0.2)
    limits.pause(0.05)
    assert min(await starts(limits, 3)) >= 0.2


async def test_a_call_that_is_cancelled_while_it_waits_keeps_no_slot() -> None:
    limits = Pace(concurrency=1)
    limits.pause(60)
    waiting = asyncio.create_task(limits.enter(1))
    await asyncio.sleep(0.01)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    limits.paused_until = 0.0
    assert len(await starts(limits, 1)) == 1


def test_the_models_options_are_the_limits() -> None:
    args = {"base_url": "http://localhost:9", "concurrency": 3, "requests_per_minute": 50, "tokens_per_minute": 9000}
    limits = Pace.of(make("anthropic/m", args, no_tasks))
    assert (limits.slots._value, limits.requests, limits.tokens) == (3, 50, 9000)
