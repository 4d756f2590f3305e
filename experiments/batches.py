"""A run whose calls wait for batches: it fetches what is there, goes on as far as that reaches, hands in what it needs next, and ends."""

import asyncio
from pathlib import Path
from typing import Any

from agents.parking import Lot
from benchmark.task import Task
from tools.evaluation import Evaluation
from tools.executor import Executor
from tools.settings import Settings

LOOK_S = 0.05
"""Between two looks at whether anything goes on; a run is at rest when two in a row say so."""


class Counted:
    """An executor that knows how many evaluations it has under way."""

    def __init__(self, executor: Executor):
        self.executor = executor
        self.under_way = 0

    async def evaluate(self, candidate: str, task: Task, settings: Settings) -> Evaluation:
        self.under_way += 1
        try:
            return await self.executor.evaluate(candidate, task, settings)
        finally:
            self.under_way -= 1

    async def close(self) -> None:
        await self.executor.close()


async def hand_in(lot: Lot, under_way: set[str], executor: Counted) -> None:
    """Waits until every trajectory under way has a call that waits and nothing is judged, hands the calls in, and lets all leave."""
    calm = 0
    while under_way and calm < 2:
        await asyncio.sleep(LOOK_S)
        calm = calm + 1 if not executor.under_way and lot.idle(under_way) else 0
    if under_way:
        try:
            await lot.submit()
        finally:
            lot.leave()


def sentence(lot: Lot, run: Path, scaffold: str, config: Any) -> str:
    """What waits, how to go on, and how often."""
    waits = f"{lot.waiting} request{'s wait' if lot.waiting != 1 else ' waits'} for {lot.model.name}"
    names = ", ".join(sheet.ident for sheet in lot.sheets.values() if sheet.ident)
    where = f" (batch {names})" if names and lot.model.name != "file" else ""
    crowded = f", {lot.crowded} more for room in the budget" if lot.crowded else ""
    doubt = f" ({lot.doubt})" if lot.doubt else ""
    by_hand = f" answer {run / 'requests.jsonl'} in {run / 'replies.jsonl'}, then" if lot.model.name == "file" else ""
    most = getattr(config, "batches", None)
    needs = f"at most {most} batch{'es' if most != 1 else ''}" if most else "a batch for each time that it asks"
    strays = f"; {len(lot.strays)} replies are to no request of this run, {min(lot.strays)!r} among them" if lot.strays else ""
    return (
        f"{waits}{where}{crowded}{doubt}:{by_hand} continue with python -m experiments.run resume={run}; "
        f"a run of {scaffold} like this one needs {needs}{strays}."
    )
