"""What our layer adds to one call of a provider's SDK: budget, the reading of usage, and records that are on disk before the reply is used.

`python benchmarks/call_overhead.py [--calls 200] [--folder DIR]`: bare and booked calls take turns against a server on loopback, first one
at a time, then with 16 under way and a server that takes 0.1 s. All that a call waits for counts, the disk included; how long one fsync
took meanwhile stands beside it. Exits with 3 where a call one at a time takes 5 ms more at the median, in any dialect.
"""

import argparse
import asyncio
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agents.caller import Caller
from agents.ledger import Ledger, Limits
from agents.models.anthropic import Anthropic
from agents.models.openai import OpenAI
from agents.prices import Prices
from experiments.store import RunStore
from tests.agents.memory import request
from tests.servers.wire import WireServer

LIMIT_MS = 5.0
WARM = 5
"""First calls of each caller that do not count: they connect."""
PROMPT = "Write a kernel that is correct on every input. " * 200
REPLY = "v = tl.load(x + at, mask=at < n, other=0.0)\n" * 50
DIALECTS: dict[str, tuple[type, dict[str, Any], Callable[[Any], Callable[..., Awaitable[Any]]]]] = {
    "chat": (OpenAI, {}, lambda client: client.chat.completions.create),
    "responses": (OpenAI, {"api": "responses"}, lambda client: client.responses.create),
    "messages": (Anthropic, {}, lambda client: client.messages.create),
}


@dataclass(frozen=True)
class Load:
    """Calls under way at once, and seconds that the server takes for each."""

    callers: int
    delay_s: float


class Syncs:
    """Stands in for `os.fsync` and keeps how long each one took, in whatever thread."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.fsync = os.fsync

    def __call__(self, fd: int) -> None:
        start = time.perf_counter()
        self.fsync(fd)
        self.seconds.append(time.perf_counter() - start)


@dataclass
class Pair:
    """The same prompt asked by the SDK alone and through our layer, one after the other: each one's seconds."""

    bare: float
    booked: float


async def measure(dialect: str, load: Load, calls: int, folder: Path, syncs: Syncs) -> float:
    """Prints the medians and returns by how many milliseconds a booked call takes longer than a bare one."""
    kind, args, create = DIALECTS[dialect]
    with server(load.delay_s) as urls:
        name, url = ("anthropic/m", urls[1]) if kind is Anthropic else ("openai/m", urls[0])
        model = kind(name, {"base_url": url, **args})
        store = RunStore.create(folder, "{}\n", {}, {})
        caller = Caller(model, store, Ledger(Limits(usd=1000.0), Prices.load({name: {"input": 1.0, "output": 1.0}})))
        ask = create(model.connect())
        before = len(syncs.seconds)
        numbers = iter(range(calls + WARM * load.callers))
        done = await asyncio.gather(*(pairs(caller, ask, numbers) for _ in range(load.callers)))
        await caller.close()
        store.close()
    warm = [pair for one in done for pair in one[WARM:]]
    bare, booked = (median(times) * 1e3 for times in zip(*((pair.bare, pair.booked) for pair in warm), strict=True))
    added = median(pair.booked - pair.bare for pair in warm) * 1e3
    sync = median(syncs.seconds[before:]) * 1e3
    print(f"{load.callers:2} at once  {dialect:10}{bare:12.2f}{booked:10.2f}{added:10.2f}{sync:13.2f}", flush=True)
    return added


@contextmanager
def server(delay_s: float) -> Iterator[tuple[str, str]]:
    """One in a process of its own, since no provider shares ours: its URLs for OpenAI's dialect and Anthropic's."""
    spawned = multiprocessing.get_context("spawn")
    here, there = spawned.Pipe()
    process = spawned.Process(target=serve, args=(delay_s, there), daemon=True)
    process.start()
    try:
        yield here.recv()
    finally:
        process.kill()
        process.join()


def serve(delay_s: float, pipe: Any) -> None:
    with WireServer(lambda asked: REPLY, delay_s=delay_s) as server:
        pipe.send((server.openai_url, server.anthropic_url))
        threading.Event().wait()


async def pairs(caller: Caller, ask: Callable[..., Awaitable[Any]], numbers: Iterator[int]) -> list[Pair]:
    done = []
    for number in numbers:
        asked = request(f"{PROMPT}{number}", sample=number)
        start = time.perf_counter()
        await ask(**caller.model.body(asked))  # type: ignore[attr-defined]
        middle = time.perf_counter()
        await caller.complete(asked)
        done.append(Pair(middle - start, time.perf_counter() - middle))
    return done


async def compare(calls: int, folder: str | None) -> float:
    """The most that is added to a call that is alone."""
    syncs = Syncs()
    os.fsync = syncs  # type: ignore[assignment]
    with tempfile.TemporaryDirectory(dir=folder) as made:
        alone = [await measure(dialect, Load(1, 0.0), calls, Path(made) / dialect, syncs) for dialect in DIALECTS]
        for dialect in DIALECTS:
            await measure(dialect, Load(16, 0.1), calls, Path(made) / f"{dialect}-many", syncs)
    return max(alone)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--folder", help="where records are written; default: the system's place for temporary files")
    given = parser.parse_args()
    print(f"{given.calls} calls each way: medians, ms     bare SDK    booked     added    one fsync")
    return 0 if asyncio.run(compare(given.calls, given.folder)) < LIMIT_MS else 3


if __name__ == "__main__":
    sys.exit(main())
