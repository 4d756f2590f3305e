"""Runs to be watched, written by the real store, and the application on them."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from agents.models.base import Identity
from agents.prices import Prices
from experiments.runs import Run
from experiments.store import RunStore
from experiments.watch.app import Watch
from experiments.watch.board import Board
from experiments.watch.tail import Reader
from tests.experiments import records
from tools import jsonl
from tools.evaluation import CaseResult, Evaluation, Failure

FIRST = "import triton\n\nBLOCK = 1024\n"
SECOND = FIRST.replace("1024", "2048")
CONFIG = "budget:\n  tokens: 1000\n  trajectory:\n    evaluations: 5\n"


def created(path: Path, tasks: tuple[str, ...] = ("quick/add", "quick/sum"), seeds: int = 1) -> RunStore:
    asked = {"tasks": {task: {"sha": "t", "category": "Math", "suite": "quick"} for task in tasks}, "seeds": list(range(seeds))}
    environment = {
        "asked": asked,
        "created": 0.0,
        "scaffold": {"name": "geak"},
        "model": "openai/x",
        "device": {"name": "a long name " * 9},
    }
    return RunStore.create(path, CONFIG, environment, Prices.load({}).to_dict())


def begun(path: Path) -> Path:
    """A run of which nothing is on record yet."""
    created(path).close()
    return path


async def solved(path: Path) -> Path:
    """One trajectory of two attempts that is solved, and one that was never begun."""
    store = created(path)
    await solve(store)
    store.close()
    return path


def finished(path: Path) -> Run:
    return Run(asyncio.run(solved(path)))


async def solve(store: RunStore, trajectory: str = "quick/add@0", text: str = "tile it") -> None:
    store.event("start")
    begin(store, trajectory)
    await attempt(store, 0, trajectory, FIRST, "wrong_numeric", text)
    await attempt(store, 1, trajectory, SECOND, "pass", text, modelled=1.5, parents=["000.00.00"], error=None, error_kind=None)
    await store.write_trajectory(records.trajectory(trajectory, "001.00.00", end=4e9))


def begin(store: RunStore, trajectory: str = "quick/add@0") -> None:
    store.event("trajectory_start", trajectory=trajectory, task=trajectory.partition("@")[0], scaffold="geak", seed=0)
    store.event("node", trajectory=trajectory, node="author")
    store.event("ask", trajectory=trajectory, role="generator", round=0)


async def attempt(store: RunStore, round: int, trajectory: str, source: str, verdict: str, text: str, **changes: Any) -> None:
    prompt = store.put_prompt([{"role": "user", "content": f"asked: {text}"}], [])
    reply = store.put_reply({"text": f"answered: {text}"})
    call = records.call(trajectory, round=round, prompt_sha=prompt, reply_sha=reply)
    await store.write_call(call)
    sha = store.put_kernel(f"{source}# {text}\n")
    await store.write_evaluation(Identity(trajectory, "evaluation", round), evaluation(sha, trajectory, verdict, text))
    told = {"error": text, "error_kind": verdict, "strategy": text, "calls": [call.call_id], **changes}
    await store.write_attempt(records.attempt(trajectory, f"{round:03d}.00.00", kernel_sha=sha, verdict=verdict, **told))


def evaluation(sha: str, trajectory: str, verdict: str, text: str) -> Evaluation:
    case = CaseResult("fp32", False, verdict == "pass", max_abs=0.125, kind=verdict, message=text)
    built = [{"target": "cuda:90", "kernels": [{"name": text, "registers": 32, "spills": 0, "shared_bytes": 1}], "error": text}]
    failure = None if verdict == "pass" else Failure(verdict, text, {"case": text})
    return Evaluation(sha, trajectory.partition("@")[0], verdict=verdict, stage="correctness", cases=[case], compile=built, error=failure,
                      logs={"stdout": text, "stderr": text})  # fmt: skip


def large(path: Path, tasks: int = 400, seeds: int = 5, attempts: int = 5, calls: int = 20) -> None:
    """Lines as the store writes them, without waiting for the disk after each: 10,000 attempts with 40,000 calls."""
    store = created(path, tuple(f"quick/t{number}" for number in range(tasks)), seeds)
    store.close()
    keys = [f"quick/t{task}@{seed}" for task in range(tasks) for seed in range(seeds)]
    tried = [asdict(records.attempt(key, f"{round:03d}.00.00", error="e" * 300)) for key in keys for round in range(attempts)]
    asked = [{**asdict(records.call(key, round=round)), "try": 1} for key in keys for round in range(calls)]
    judged = [{"attempt": line["attempt"], "identity": asdict(Identity(line["trajectory"], "evaluation", line["round"])),
               "evaluation": {"pad": "x" * 8000}} for line in tried]  # fmt: skip
    ended = [asdict(records.trajectory(key, end=4e9)) for key in keys]
    for name, lines in {"attempts": tried, "calls": asked, "evaluations": judged, "trajectories": ended}.items():
        (path / f"{name}.jsonl").write_bytes(b"".join(encoded(line) for line in lines))
    stamp = {"timestamp": "2026-12-01T04:14:33.523720Z", "level": "info"}
    log = [{"event": "start", **stamp}, *({"trajectory": key, "event": "trajectory_start", **stamp} for key in keys)]
    log += [{**line, "event": "attempt", **stamp} for line in tried]
    log += [{"trajectory": line["identity"]["trajectory"], "role": "generator", "event": "call", **stamp} for line in asked]
    (path / "log.jsonl").write_bytes(b"".join(encoded(line) for line in log))


def encoded(line: dict[str, Any]) -> bytes:
    return jsonl.encode({"schema_version": 1, "run": "large", **line}) + b"\n"


@asynccontextmanager
async def watched(path: Path, size: tuple[int, int] = (100, 30)) -> AsyncIterator[tuple[Watch, "Pilot[None]"]]:
    """The application once it has read what was there."""
    app = Watch(Board(Run(path)), Reader(path))
    async with app.run_test(size=size) as pilot:
        deadline = time.monotonic() + 20
        while not app.looked:
            assert time.monotonic() < deadline
            await pilot.pause(0.01)
        await pilot.pause()
        yield app, pilot


def screen(app: Watch) -> str:
    """What is on the screen, as text."""
    width = app.size.width
    lines = ["".join(segment.text for segment in strip).ljust(width).rstrip() for strip in app.screen._compositor.render_strips()]
    return "\n".join(lines)
