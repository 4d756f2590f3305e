"""Run directories with given outcomes, written by the real store."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents.models.base import Identity
from agents.prices import Prices
from experiments.runs import Run
from experiments.store import RunStore
from tests.experiments import records

RATES = {"input": 25_000, "output": 15_000}
"""USD for a million tokens: the call of `records` costs what it says."""
FAILED = 0.0
"""A task that was tried and not solved."""


def run(
    path: Path, outcomes: Mapping[str, float | None], scaffold: str = "geak", model: str = "openai/x", seed: int = 0,
    simulated: bool = False, shas: Mapping[str, str] | None = None, asked: tuple[str, ...] = (), config: str = "", **environment: Any,
) -> Run:  # fmt: skip
    """One trajectory per outcome: a measured speedup, None where it was solved and not measured, FAILED. `asked` adds tasks not begun."""
    tasks = {t: {"sha": (shas or {}).get(t, "s"), "category": "Math", "suite": "quick"} for t in (*outcomes, *asked)}
    known = {
        "created": 1.7e9, "asked": {"tasks": tasks, "seeds": [seed]}, "scaffold": {"name": scaffold}, "model": model, "roles": {},
        "device": {"platform": "cuda", "name": "GPU", "count": 1, "simulated": simulated}, "python": "3.11",
        "packages": {"torch": "2.11.0", "triton": "3.6.0"}, "revision": "0123456789abcdef", **environment,
    }  # fmt: skip
    table = Prices.load({model: RATES})
    table.row(model)
    store = RunStore.create(path, f"seed: {seed}\n{config}", known, table.to_dict())
    asyncio.run(fill(store, outcomes, scaffold, model, seed))
    store.close()
    return Run(path)


async def fill(store: RunStore, outcomes: Mapping[str, float | None], scaffold: str, model: str, seed: int) -> None:
    for task, speedup in outcomes.items():
        name, solved = f"{task}@{seed}", speedup != FAILED
        by = {"scaffold": scaffold, "model": model, "seed": seed}
        identity = Identity(name, "generator", 0)
        await store.write_call(records.call(name, "generator", 0, model_asked=model))
        told = {"verdict": "pass" if solved else "wrong_numeric", "correct": solved, "speedup": speedup if solved else None, "gpu_s": 36.0}
        await store.write_attempt(records.attempt(name, identity.attempt, task=task, calls=[identity.key], **told, **by))
        await store.write_trajectory(records.trajectory(name, identity.attempt if solved else None, **by))
