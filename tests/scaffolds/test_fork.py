"""A trajectory that goes on with changed options, from where they make a difference."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from agents.caller import Diverged
from experiments.store import RunStore, call_record
from scaffolds import loader, trajectory
from tests.scaffolds.scripted import context, fenced

NEVER = 10**9


def faster(request: Any) -> str:
    """Each round and lineage passes, with a speedup of its own."""
    identity = request.identity
    return fenced(f"{1 + identity.round + identity.lineage / 10 + identity.fork / 100}")


async def start(path: Path, ancestors: int, fork: bool, kill_at: int = NEVER) -> tuple[list[str], str | None]:
    """One start with the optimiser shown so many ancestors, cancelled at its `kill_at`-th call: keys of what was asked, champion."""
    store = RunStore(path)
    ctx = context(faster, store)
    ctx.caller.fork = fork
    ctx.ledger.restore([call_record(c) for c in store.calls])
    config = loader.build_config("geak", {"rounds": 4, "descendants": 2, "ancestors": ancestors})
    running = asyncio.ensure_future(trajectory.run("geak", config, ctx))
    store.listeners.append(lambda name, fields: (name == "call" and len(store.calls) == kill_at and running.cancel()) or None)
    await asyncio.wait([running])
    await ctx.caller.close()
    store.close()
    if not running.cancelled() and (error := running.exception()):
        raise error
    asked = [request.identity.key.removeprefix(ctx.trajectory) for request in ctx.caller.model.requests]  # type: ignore[attr-defined]
    return asked, None if running.cancelled() else running.result().champion


def fresh(path: Path) -> Path:
    RunStore.create(path, "{}", {}, {}).close()
    return path


def attempts(path: Path) -> list[dict[str, Any]]:
    store = RunStore(path)
    store.close()
    assert set(Counter(c["call_id"] for c in store.calls).values()) == {1}, "an identity is never reused"
    return sorted(({k: v for k, v in a.items() if k != "run"} for a in store.attempts.values()), key=lambda a: a["attempt"])


async def test_a_fork_asks_anew_from_where_the_requests_differ_and_not_before(tmp_path: Path) -> None:
    path = fresh(tmp_path / "r")
    await start(path, 3, fork=False, kill_at=10)
    before = attempts(path)
    with pytest.raises(Diverged):
        await start(path, 1, fork=False)
    assert attempts(path) == before
    asked, champion = await start(path, 1, fork=True)
    assert asked[0] == "/optimiser/1/0/0/f1", "round 0 and its reflections are as they were"
    assert champion == "003.01.00", "an identity that was never used is free"
    made = attempts(path)
    assert [a for a in made if a in before] == before
    assert [a["attempt"] for a in made if a["attempt"].startswith("001")] == ["001.00.00", "001.00.00.f1", "001.01.00", "001.01.00.f1"]
    parent = {a["attempt"]: a["parents"] for a in made}
    assert [parent["001.01.00"], parent["001.01.00.f1"]] == [["000.01.00", "000.00.00"], ["000.01.00"]]
    assert parent["002.00.00.f1"] == ["001.01.00.f1"]


async def test_a_fork_that_is_killed_goes_on_and_ends_as_if_undisturbed(tmp_path: Path) -> None:
    ends = []
    for kill_at in (NEVER, 11, 13):
        path = fresh(tmp_path / f"{kill_at}")
        await start(path, 3, fork=False, kill_at=9)
        first, _ = await start(path, 1, fork=True, kill_at=kill_at)
        asked, champion = await start(path, 1, fork=True)
        assert not set(asked) & set(first)
        ends.append((champion, attempts(path)))
    assert ends[1:] == [ends[0]] * 2
