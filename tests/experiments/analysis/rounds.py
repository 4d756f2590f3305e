"""Runs of several rounds with given outcomes, written by the real store, and their raw lines in DuckDB."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import duckdb

from agents.models.base import Identity
from agents.prices import Prices
from experiments.runs import Run
from experiments.store import RunStore
from tests.experiments import records

RATES = {"input": 25_000, "output": 15_000}
SECONDS = 10.0
"""From one call to the next."""


@dataclass(frozen=True)
class Candidate:
    """`speedup` is measured where the run is not simulated, and modelled where it is; of what fails it is None."""

    verdict: str = "pass"
    speedup: float | None = None
    width: float | None = 0.1
    """Half of the interval, as a share of the speedup; None: no interval."""
    sha: str | None = None
    known: bool = True
    """Whether usage and cost of its call are known."""
    bounded: bool = True
    gpu_s: float = 2.0


Trajectories = Mapping[str, Sequence[Sequence[Candidate]]]
"""By task, for each round its candidates."""


def run(
    path: Path, trajectories: Trajectories, scaffold: str = "geak", simulated: bool = False, seed: int = 0, open_: int = 0,
    device: str = "GPU",
) -> Run:  # fmt: skip
    """A planner is asked before each round; `open_` tasks more were asked for and not begun."""
    names = [*trajectories, *(f"quick/open{i}" for i in range(open_))]
    tasks = {t: {"sha": "s", "category": ("Math", "Loss")[sum(map(ord, t)) % 2], "suite": "quick"} for t in names}
    known = {
        "created": 1.7e9, "asked": {"tasks": tasks, "seeds": [seed]}, "scaffold": {"name": scaffold}, "model": "openai/x", "roles": {},
        "device": {"platform": "cuda", "name": device, "count": 1, "simulated": simulated}, "python": "3.11",
        "packages": {"torch": "2.11.0", "triton": "3.6.0"}, "revision": "0123456789abcdef",
    }  # fmt: skip
    table = Prices.load({"openai/x": RATES})
    table.row("openai/x")
    store = RunStore.create(path, f"seed: {seed}\n", known, table.to_dict())
    for task, rounds in trajectories.items():
        asyncio.run(fill(store, f"{task}@{seed}", tasks[task]["category"], rounds, simulated, {"scaffold": scaffold, "seed": seed}))
    store.close()
    return Run(path)


async def fill(
    store: RunStore, name: str, category: str, rounds: Sequence[Sequence[Candidate]], simulated: bool, by: Mapping[str, object]
) -> None:
    now = 0.0
    best: tuple[float, str | None] = (0.0, None)
    for number, candidates in enumerate(rounds):
        await store.write_call(records.call(name, "planner", number, start=now, end=now + 1))
        for sample, candidate in enumerate(candidates):
            now += SECONDS
            identity = Identity(name, "generator", number, sample=sample)
            unknown: dict[str, Any] = {
                "usage": None,
                "usage_source": "none",
                "cost_usd": None,
                "cost_upper": 0.4 if candidate.bounded else None,
                "tokens_upper": 20 if candidate.bounded else None,
            }
            await store.write_call(
                records.call(name, "generator", number, call_id=identity.key, identity=identity, start=now, end=now + 1,
                             **({} if candidate.known else unknown))
            )  # fmt: skip
            passed, speed = candidate.verdict == "pass", candidate.speedup
            width = candidate.width
            ci = None if speed is None or width is None or simulated else [speed * (1 - width), speed * (1 + width)]
            await store.write_attempt(
                records.attempt(
                    name, identity.attempt, category=category, verdict=candidate.verdict, correct=passed, compiled=passed,
                    speedup=None if simulated else speed, speedup_ci=ci, modelled=speed if simulated else None, calls=[identity.key],
                    kernel_sha=candidate.sha or f"{name}/{identity.attempt}", gpu_s=candidate.gpu_s, **by,
                )
            )  # fmt: skip
            if passed and (speed or 0.0) > best[0]:
                best = (speed or 0.0, identity.attempt)
        now += SECONDS
    await store.write_trajectory(records.trajectory(name, best[1], end=now, **by))


def drawn(random: Random, tasks: int, rounds: int, failing: float = 0.5, unknown: float = 0.0) -> dict[str, list[list[Candidate]]]:
    """One to three candidates a round; some have the kernel of the round before."""
    return {f"quick/t{i}": [[candidate(random, i, failing, unknown) for _ in range(random.randint(1, 3))] for _ in range(rounds)]
            for i in range(tasks)}  # fmt: skip


def candidate(random: Random, task: int, failing: float, unknown: float) -> Candidate:
    verdict = random.choice(["wrong_numeric", "compile_error", "infra_error"]) if random.random() < failing else "pass"
    speedup, sha = (random.lognormvariate(0, 0.3) if verdict == "pass" else None), random.choice([None, None, f"same{task}"])
    return Candidate(verdict, speedup, random.uniform(0.01, 0.4), sha, random.random() >= unknown, gpu_s=random.uniform(0.5, 3))


def lines(runs: Sequence[Run]) -> duckdb.DuckDBPyConnection:
    """Tables attempts, calls, trajectories as the files have them, and asked (run, task, category, trajectory)."""
    found = duckdb.connect()
    for name in ("attempts", "calls", "trajectories"):
        files = [str(one.path / f"{name}.jsonl") for one in runs]
        found.execute(f"CREATE TABLE {name} AS SELECT * FROM read_json_auto({files}, union_by_name=true, sample_size=-1)")
    found.execute("CREATE TABLE asked (run VARCHAR, method VARCHAR, task VARCHAR, category VARCHAR, trajectory VARCHAR)")
    rows = [(one.run_id, one.environment["scaffold"]["name"], task, one.environment["asked"]["tasks"][task]["category"], f"{task}@{seed}")
            for one in runs for task, seed in one.asked]  # fmt: skip
    found.executemany("INSERT INTO asked VALUES (?, ?, ?, ?, ?)", rows)
    return found
