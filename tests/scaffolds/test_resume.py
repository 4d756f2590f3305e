"""A trajectory that is killed anywhere and goes on from the run store ends as if nothing had happened, and asks nothing twice."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agents.models.base import RETRIABLE
from experiments.store import RunStore, call_record
from scaffolds import loader, trajectory
from tests.scaffolds.scripted import chaotic, context

OPTIONS = {"geak": {"rounds": 4, "descendants": 3}, "oneshot": {"samples": 4}}
NEVER = 10**9


async def start(path: Path, scaffold: str, seed: int, kill_at: int) -> int:
    """One start of the run; the trajectory is cancelled at its `kill_at`-th record. Returns how many records there were."""
    store = RunStore(path)
    ctx = context(chaotic(seed), store, jitter=seed)
    ctx.ledger.restore([call_record(c) for c in store.calls])
    running = asyncio.ensure_future(trajectory.run(scaffold, loader.build_config(scaffold, OPTIONS[scaffold]), ctx))
    seen = 0

    def listen(name: str, fields: dict[str, Any]) -> None:
        nonlocal seen
        seen += name in ("call", "evaluation")
        if seen == kill_at:
            running.cancel()

    store.listeners.append(listen)
    await asyncio.wait([running])
    await ctx.caller.close()
    store.close()
    return seen


def result(path: Path) -> tuple[list[dict[str, Any]], tuple[Any, ...]]:
    store = RunStore(path)
    store.close()
    ended = list(store.trajectories.values())[-1]
    answered = Counter(c["call_id"] for c in store.calls if c["reply_sha"])
    assert set(answered.values()) <= {1}, "a request was answered twice"
    attempts = [{k: v for k, v in a.items() if k != "run"} for a in store.attempts.values()]
    return sorted(attempts, key=lambda a: a["attempt"]), (ended["champion"], ended["kernel_sha"], ended["end_reason"])


def fresh(path: Path) -> Path:
    RunStore.create(path, "{}", {}, {}).close()
    return path


@pytest.mark.parametrize("scaffold", OPTIONS)
@pytest.mark.parametrize("seed", [1, 5])
async def test_killed_at_any_record_it_ends_as_the_undisturbed_run(tmp_path: Path, scaffold: str, seed: int) -> None:
    records = await start(fresh(tmp_path / "whole"), scaffold, seed, NEVER)
    whole = result(tmp_path / "whole")
    assert any(a["parse"].partition(":")[0] in RETRIABLE for a in whole[0]) or scaffold == "oneshot"
    for kill_at in range(1, records, max(1, records // 8)):
        path = fresh(tmp_path / f"killed{kill_at}")
        await start(path, scaffold, seed, kill_at)
        await start(path, scaffold, seed, kill_at + 1)
        await start(path, scaffold, seed, NEVER)
        assert result(path) == whole
