"""One small run with all that exports carry: texts, a try without usage, a helper's call, a failure, a task never answered."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from agents.models.base import Identity, Usage
from agents.prices import Prices
from experiments.runs import Run
from experiments.store import RunStore
from tests.experiments import records
from tools.evaluation import CaseResult, Evaluation, Failure, TimedSize, Timing

GELU, SGD, ADD = "kernelbench_x/gelu", "kernelbench_x/SGD", "quick/add"
TASKS = {GELU: ("Activation", "kernelbench_x"), SGD: ("Optimizer", "kernelbench_x"), ADD: ("Math", "quick")}
RATES = {"input": 1.0, "cache_read": 0.1, "cache_write_5m": 1.25, "cache_write_1h": 2.0, "output": 10.0}
USAGE = Usage(input=70, cache_read=20, cache_write_5m=10, output=50, reasoning=5)
"""Of every reply: 100 tokens in, 20 of them from the cache, 50 out."""
COST = 0.25
SECRET = "sk-live-0123456789"
"""A key that stands in a record."""
WRONG = "def gelu(x):\n    return x\n"
RIGHT = "def gelu(x):\n    return 0.5 * x\n"
STEP = "def sgd_step(param, grad):\n    return param\n"


def run(path: Path) -> Run:
    """Of `quick/add` nothing was ever recorded: the run was stopped before."""
    return filled(path, fill, tuple(TASKS))


def unanswered(path: Path) -> Run:
    """A run of `quick/add` alone, killed before its first record."""
    begun(path, (ADD,)).close()
    return Run(path)


def tuned(path: Path) -> Run:
    """A run whose only attempt was made by the tuner."""
    return filled(path, lambda store: attempt(store, f"{GELU}@0", "tuner", 2, RIGHT, "pass", calls=[]))


def unread(path: Path) -> Run:
    """A run whose only reply held no code."""

    async def fill(store: RunStore) -> None:
        await call(store, f"{GELU}@0", "generator", 0, 1.0, "Write gelu.", "No.")
        identity = Identity(f"{GELU}@0", "generator", 0)
        await store.write_attempt(records.attempt(identity.trajectory, identity.attempt, verdict="no_code", error="no fenced block",
                                                  compiled=False, correct=False, calls=[identity.key]))  # fmt: skip

    return filled(path, fill)


def talked(path: Path) -> Run:
    """A run whose only call continues a talk with tools, and asks for one more."""
    talk: Any = [
        {"role": "system", "content": "You write kernels."}, {"role": "user", "content": "Write gelu."},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "t1", "name": "look", "arguments": {"at": "x"}}]},
        {"role": "tool", "content": "seen", "tool_call_id": "t1"},
    ]  # fmt: skip
    reply = {
        "text": "",
        "tool_calls": [{"id": "t2", "name": "look", "arguments": "{broken"}],
        "thinking": [{"type": "thinking", "thinking": "hm"}],
    }

    async def fill(store: RunStore) -> None:
        texts: dict[str, Any] = {"prompt_sha": store.put_prompt(talk, []), "reply_sha": store.put_reply(reply)}
        await store.write_call(records.call(f"{GELU}@0", usage=USAGE, **texts))

    return filled(path, fill)


def filled(path: Path, fill: Callable[[RunStore], Coroutine[Any, Any, None]], tasks: tuple[str, ...] = (GELU,)) -> Run:
    store = begun(path, tasks)
    asyncio.run(fill(store))
    store.close()
    return Run(path)


def begun(path: Path, tasks: tuple[str, ...]) -> RunStore:
    table = Prices.load({"openai/x": RATES})
    asked = {
        "tasks": {task: {"sha": "t", "category": category, "suite": suite} for task, (category, suite) in TASKS.items() if task in tasks},
        "seeds": [0],
    }
    environment = {"asked": asked, "scaffold": {"name": "geak", "rounds": 2}, "model": "openai/x", "revision": "abc", "roles": {},
                   "device": {"platform": "cuda", "name": "d", "count": 1, "simulated": False}, "packages": {"torch": "2.13"}}  # fmt: skip
    return RunStore.create(path, "seed: 0\nmodel_args:\n  flaws: 0.5\n", environment, table.to_dict())


async def fill(store: RunStore) -> None:
    gelu, sgd = f"{GELU}@0", f"{SGD}@0"
    lost = {"outcome": "timeout", "error": "no answer", "reply_sha": None, "usage": None, "usage_raw": None, "usage_source": "unknown",
            "cost_usd": None, "cost_upper": 0.5, "tokens_upper": 900, "parse": None, "final": False}  # fmt: skip
    await call(store, gelu, "generator", 0, 1.0, "Write gelu.", "", **lost)
    await call(store, gelu, "generator", 0, 3.0, "Write gelu.", f"```python\n{WRONG}```", try_=2)
    await attempt(store, gelu, "generator", 0, WRONG, "wrong_numeric")
    await call(store, gelu, "reflector", 0, 5.0, "What went wrong?", "The factor is missing.")
    await call(store, gelu, "repairer", 1, 7.0, "Repair it.", f"```python\n{RIGHT}```")
    await attempt(store, gelu, "repairer", 1, RIGHT, "pass", parents=["000.00.00"], speedup=2.0, speedup_ci=[1.9, 2.1], no_speedup=None)
    await store.write_trajectory(
        records.trajectory(gelu, "001.00.00", kernel_sha=store.put_kernel(RIGHT), end=9.0, totals={"tokens": None})
    )
    await call(store, sgd, "generator", 0, 1.0, "Write sgd.", f"```python\n{STEP}```")
    await attempt(store, sgd, "generator", 0, STEP, "wrong_numeric", strategy=f"with {SECRET}")
    await store.write_trajectory(records.trajectory(sgd, None, end=4.0, totals={"tokens": 150}))


async def call(store: RunStore, trajectory: str, role: str, round: int, start: float, prompt: str, reply: str, **changes: Any) -> None:
    """One try, of a second."""
    asked = [{"role": "system", "content": "You write kernels."}, {"role": "user", "content": prompt}]
    texts = {"prompt_sha": store.put_prompt(asked, []), "reply_sha": store.put_reply({"text": reply, "tool_calls": [], "thinking": []})}
    known = {"usage": USAGE, "usage_raw": {}, "cost_usd": COST, "cost_upper": COST, "parse": "ok", "start": start, "end": start + 1}
    try_ = changes.pop("try_", 1)
    await store.write_call(records.call(trajectory, role, round, try_, **{**texts, **known, **changes}))


async def attempt(store: RunStore, trajectory: str, role: str, round: int, source: str, verdict: str, **changes: Any) -> None:
    identity = Identity(trajectory, role, round)
    task = identity.trajectory.partition("@")[0]
    category, suite = TASKS[task]
    sha = store.put_kernel(source)
    await store.write_evaluation(Identity(trajectory, "evaluation", round), evaluation(sha, task, verdict))
    await store.write_attempt(records.attempt(trajectory, identity.attempt, task=task, category=category, suite=suite, role=role,
                                              kernel_sha=sha, verdict=verdict, correct=verdict == "pass", tokens=150, cost_usd=COST,
                                              **{"calls": [identity.key], **changes}))  # fmt: skip


def evaluation(sha: str, task: str, verdict: str) -> Evaluation:
    good = verdict == "pass"
    built = {"name": "k", "registers": 32, "spills": 0, "shared_bytes": 0}
    size = TimedSize("large", 20.0, 10.0, 2.0, [1.9, 2.1])
    return Evaluation(
        sha, task, mode="device", platform="cuda", device="d", verdict=verdict, stage="timing" if good else "correctness", compiled=True,
        correct=good, error=None if good else Failure(verdict, "far off", {"case": "fp32"}),
        cases=[CaseResult("fp32", False, good, max_abs=0.5, kind=verdict), CaseResult("unseen", True, good, max_abs=0.75, kind=verdict)],
        compile=[{"target": "cuda:90", "kernels": [built], "seconds": 0.5, "error": None}],
        timing=Timing("eager", [size], 2.0, [1.9, 2.1]) if good else None, resources={"wall_s": 1.0, "gpu_s": 0.5},
        versions={"torch": "2.13"},
    )  # fmt: skip
