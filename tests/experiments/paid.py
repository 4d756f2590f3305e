"""Runs that were paid for: real calls to the loopback server, booked by the real caller in a real store, with no executor in between."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from agents.caller import Caller, CallFailed
from agents.ledger import Ledger
from agents.models.base import Identity, Reply, Usage
from agents.models.make import make
from agents.prices import Prices
from experiments.runs import Run
from experiments.store import RunStore
from tests.agents.memory import no_tasks, request
from tests.experiments import records
from tests.servers.wire import Fault, WireServer

TASKS = {"quick/add": "Math", "quick/gelu": "Activation"}
ROLES = ("generator", "reflector")
ROUNDS = 3
RATES = {"input": 2.0, "cache_read": 0.2, "cache_write_5m": 2.5, "cache_write_1h": 4.0, "output": 10.0, "batch": 0.5}
PRICES = {"openai/m": RATES, "anthropic/m": RATES}


def every_kind(asked: dict[str, Any], text: str) -> Usage:
    """Tokens of all kinds, different from prompt to prompt, fewer than its bytes; only Anthropic's dialect tells lifetimes apart."""
    size = len(str(asked["messages"])) // 8
    return Usage(size, 2 * size, 4 + size % 7, 3 if "system" in asked else 0, 5 + size % 13, size % 5)


def everything_goes_wrong(number: int, asked: dict[str, Any]) -> Fault | None:
    faults = [Fault("status", 429, headers={"retry-after-ms": "1"}), Fault("reset"), Fault("usage", body=None), Fault("truncate")]
    return faults[number // 3 % len(faults)] if number % 3 == 2 else None


def run(path: Path, model: str = "openai/m", prices: Mapping[str, Any] = PRICES, usage: Callable[..., Usage] = every_kind,
        faults: Callable[[int, dict[str, Any]], Fault | None] = everything_goes_wrong) -> tuple[Run, WireServer]:  # fmt: skip
    """Two trajectories of two roles and three rounds, the first one solved in its second round; and the server, with its bill."""
    with WireServer(lambda body: "a reply", faults, usage) as server:
        url = server.anthropic_url if model.startswith("anthropic/") else server.openai_url
        return made(path, model, {"base_url": url, "timeout_s": 5}, Prices.load(prices)), server


def replay(path: Path, source: Run) -> Run:
    """The same again, from what is on record."""
    return made(path, "replay", {"source": str(source.path)}, Prices.load())


def fork(path: Path) -> Run:
    """The run, gone on with other prompts."""
    table = Prices.load(PRICES)
    store = RunStore(path)
    with WireServer(lambda body: "another reply", usage=every_kind) as server:
        model = make(store.calls[0]["model_asked"], {"base_url": server.openai_url}, no_tasks)
        asyncio.run(ask(Caller(model, store, Ledger(prices=table), fork=True), "Another prompt: "))
    store.close()
    return Run(path)


def made(path: Path, name: str, args: Mapping[str, Any], table: Prices) -> Run:
    model = make(name, args, no_tasks)
    table.row(model.name, model.free)
    asked = {"tasks": {task: {"category": category} for task, category in TASKS.items()}, "seeds": [0]}
    store = RunStore.create(path, "seed: 0\n", {"asked": asked, "scaffold": {"name": "geak"}, "model": model.name}, table.to_dict())
    asyncio.run(ask(Caller(model, store, Ledger(prices=table), first_wait_s=0.001)))
    asyncio.run(judge(store))
    store.close()
    return Run(path)


async def judge(store: RunStore) -> None:
    for task in TASKS:
        for name in ("000.00.00", "001.00.00"):
            won = task == "quick/add" and name == "001.00.00"
            calls = [Identity(f"{task}@0", "generator", int(name[:3])).key]
            verdict, sha = ("pass", "k") if won else ("no_code", None)
            made = records.attempt(f"{task}@0", name, verdict=verdict, kernel_sha=sha, calls=calls, tokens=None, wall_s=0.0)
            await store.write_attempt(made)
        await store.write_trajectory(records.trajectory(f"{task}@0", champion="001.00.00" if task == "quick/add" else None))


async def ask(caller: Caller, start: str = "") -> None:
    """All calls, one round after the other, as a scaffold would."""
    for number in range(ROUNDS):
        asked = [
            request(f"{start}{task} {role} {'x' * number}", role=role, round=number, trajectory=f"{task}@0")
            for task in TASKS
            for role in ROLES
        ]
        await asyncio.gather(*(answered(caller, body) for body in asked))
    await caller.close()


async def answered(caller: Caller, body: Any) -> None:
    with suppress(CallFailed):
        await caller.complete(body, read)


def read(reply: Reply) -> str:
    return "no fenced code block"
