"""Runs with chosen usage: the records of a store, without a call."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agents.models.base import Usage
from agents.prices import Prices, Row
from experiments.runs import Run
from experiments.store import RunStore
from tests.experiments import records

TASKS = {"quick/add": "Math", "quick/gelu": "Activation"}
MODEL = "openai/m"
RATES = {"input": 1.0, "cache_read": 0.1, "cache_write_5m": 1.25, "cache_write_1h": 2.0, "output": 10.0}
Call = tuple[str, str, int, Usage | None]
"""Task, role, round, usage."""


def book(path: Path, calls: Sequence[Call], solved: Sequence[str] = ("quick/add",), prices: Mapping[str, Any] | None = None,
         model: str = MODEL, end_reasons: str | None = None, **changes: Any) -> Run:  # fmt: skip
    """A run of two tasks. Equal places are tries of one call; a try without usage may have used 900 tokens, 100 of them output."""
    table = Prices.load({model: RATES} if prices is None else prices)
    row = table.row(model)
    asked = {"tasks": {task: {"category": category} for task, category in TASKS.items()}, "seeds": [0]}
    store = RunStore.create(path, "seed: 0\n", {"asked": asked, "scaffold": {"name": "geak"}, "model": model}, table.to_dict())
    asyncio.run(write(store, calls, solved, row, model, end_reasons, changes))
    store.close()
    return Run(path)


async def write(store: RunStore, calls: Sequence[Call], solved: Sequence[str], row: Row | None, model: str, end_reasons: str | None,
                changes: dict[str, Any]) -> None:  # fmt: skip
    tries: dict[tuple[str, str, int], int] = {}
    for task, role, round, usage in calls:
        number = tries[task, role, round] = tries.get((task, role, round), 0) + 1
        cost = row.cost(usage, changes.get("tier", "standard")) if row and usage else None
        known = {"usage": usage, "usage_raw": asdict(usage), "usage_source": "counted", "reply_sha": reply(store, usage)} if usage else {
            "usage": None, "usage_raw": None, "usage_source": "unknown", "outcome": "timeout", "reply_sha": None, "tokens_upper": 900,
            "parse": None}  # fmt: skip
        cost_upper = cost if row is None or usage else row.upper(800, 100)
        await store.write_call(records.call(f"{task}@0", role, round, number, **{
            "model_asked": model, "sampling": {"max_tokens": 100}, "parse": "ok", "price_row": row.name if row else None, "cost_usd": cost,
            "cost_upper": cost_upper, **known, **changes}))  # fmt: skip
    for task in TASKS:
        won = task in solved
        await store.write_attempt(records.attempt(f"{task}@0", verdict="pass" if won else "wrong_numeric", tokens=None))
        reason = end_reasons or ("solved" if won else "rounds")
        await store.write_trajectory(records.trajectory(f"{task}@0", champion="000.00.00" if won else None, end_reason=reason))


def reply(store: RunStore, usage: Usage) -> str:
    return store.put_reply({"text": "", "usage": asdict(usage), "usage_raw": asdict(usage)})
