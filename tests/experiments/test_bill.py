"""Our books against the server's own: many calls at once, in three dialects, streamed and not, with everything going wrong."""

import asyncio
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from agents.budget import BudgetExhausted, Limits
from agents.caller import Caller, CallFailed
from agents.ledger import Ledger
from agents.models import make
from agents.models.base import Reply, Usage
from agents.pace import Pace
from agents.prices import Prices
from experiments.store import RunStore
from tests.agents.memory import no_tasks, request
from tests.servers.wire import Fault, WireServer, words

RATES = {"input": 2.0, "cache_read": 0.2, "cache_write_5m": 2.5, "cache_write_1h": 4.0, "output": 10.0}
PRICES = Prices.load({"openai/m": RATES, "anthropic/m": RATES})
MODELS: list[tuple[str, dict[str, Any]]] = [
    ("openai/m", {}),
    ("openai/m", {"stream": True}),
    ("openai/m", {"api": "responses"}),
    ("openai/m", {"api": "responses", "stream": True}),
    ("anthropic/m", {}),
    ("anthropic/m", {"stream": True}),
]
CONTRADICTION = {
    "prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 800},
    "input_tokens": 5, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 800}, "output_tokens_details": {"thinking_tokens": 9},
}  # fmt: skip
FAULTS = [
    Fault("status", 429, headers={"retry-after": "0.02"}),
    Fault("status", 500),
    Fault("reset"),
    Fault("truncate"),
    Fault("usage", body=CONTRADICTION),
    Fault("usage", body=None),
    Fault("twin"),
    Fault("drop"),
    Fault("garbage"),
    Fault("status", 503, headers={"retry-after-ms": "10"}),
]


def fault(number: int, asked: dict[str, Any]) -> Fault | None:
    """Every fourth try goes wrong, each fault in turn; every 200th hangs."""
    if number % 200 == 199:
        return Fault("hang")
    return FAULTS[number // 4 % len(FAULTS)] if number % 4 == 3 else None


def usage(asked: dict[str, Any], text: str) -> Usage:
    """All kinds of tokens; only Anthropic's dialect has two lifetimes of writes, and it alone has a `system` of its own."""
    counted = words(asked, text)
    part = counted.input // 4
    hour = part if "system" in asked else 0
    return Usage(counted.input - 2 * part, part, part - hour, hour, counted.output, counted.output // 2)


def usd(used: Usage) -> Decimal:
    return sum((getattr(used, kind) * Decimal(str(rate)) for kind, rate in RATES.items()), Decimal()) / 10**6


def cents(amount: Decimal | float) -> Decimal:
    """In USD, to a hundredth of a cent."""
    return Decimal(amount).quantize(Decimal("0.0001"))


@pytest.mark.parametrize(
    ("calls", "budget"),
    [(120, 50.0), pytest.param(1000, 50.0, marks=pytest.mark.slow), pytest.param(1000, 0.2, marks=pytest.mark.slow)],
)
async def test_the_ledger_equals_the_bill(calls: int, budget: float, tmp_path: Path) -> None:
    store = RunStore.create(tmp_path / "run", "{}\n", {}, {})
    ledger = Ledger(Limits(usd=budget), PRICES)
    promised: list[float] = []

    def reply(asked: dict[str, Any]) -> str:
        promised.append(ledger.spent.usd + ledger.reserved.usd)
        return "GARBAGE " + "word " * (len(promised) % 30)

    with WireServer(reply, fault, usage) as server:
        pace = Pace(64)
        callers = [asking(server, name, args, store, ledger, pace) for name, args in MODELS]
        done = await asyncio.gather(
            *(callers[n % len(callers)].complete(request(f"Call {n}.", sample=n)) for n in range(calls)), return_exceptions=True
        )
        for caller in callers:
            await caller.close()
    store.close()

    assert all(isinstance(d, Reply | CallFailed | BudgetExhausted) for d in done)
    assert any(isinstance(d, BudgetExhausted) for d in done) is (budget < 1)
    assert 0 < max(promised) <= budget
    assert ledger.holds == []
    assert len(store.calls) == len(server.requests)
    hung = {"timeout"} if calls > 200 else set()
    assert {line["outcome"] for line in store.calls} == {"ok", "429", "5xx", "connection", "cut_stream"} | hung
    check_known(store, server)
    check_bounds(ledger, server)


def asking(server: WireServer, name: str, args: dict[str, Any], store: RunStore, ledger: Ledger, pace: Pace) -> Caller:
    url = server.openai_url if name.startswith("openai/") else server.anthropic_url
    model = make(name, {"base_url": url, "timeout_s": 10.0, **args}, no_tasks)
    return Caller(model, store, ledger, tries=12, pace=pace, first_wait_s=0.01)


def check_known(store: RunStore, server: WireServer) -> None:
    """What came back with its usage is in the books as it is on the bill, try by try, in tokens and in money."""
    told = [charge.usage for charge in server.charges if charge.told]
    known = [line for line in store.calls if line["usage_source"] == "provider" and line["reply_sha"]]
    booked = [Usage(**line["usage"]) for line in known]
    assert Counter(booked) == Counter(told)
    assert sum(booked, Usage()) == sum(told, Usage())
    assert cents(sum(line["cost_usd"] for line in known)) == cents(sum(map(usd, told)))


def check_bounds(ledger: Ledger, server: WireServer) -> None:
    """With what did not come back the bill lies between what is known and its bound."""
    total, bill = ledger.total(), sum(map(usd, server.bill))
    assert total.tokens <= server.billed.total <= total.tokens_upper
    assert total.usd_upper is not None
    assert cents(total.usd) <= cents(bill) <= cents(total.usd_upper)
    assert total.unknown > 0
