"""What our layer adds to one call of a provider's SDK: budget, records on disk, the reading of usage.

`python benchmarks/call_overhead.py [--calls 200] [--folder DIR]`: bare and booked calls take turns, one at a time, against a server on
loopback. Every booked call waits for the disk three times (prompt, reply, line: what is paid for survives a power failure); that wait is
the disk's, and shown apart. Exits with 3 where the rest is 5 ms or more at the median, in any dialect.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
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
"""First calls that do not count: they connect."""
PROMPT = "Write a kernel that is correct on every input. " * 200
REPLY = "v = tl.load(x + at, mask=at < n, other=0.0)\n" * 50
DIALECTS: dict[str, tuple[type, dict[str, Any], Callable[[Any], Callable[..., Awaitable[Any]]]]] = {
    "chat": (OpenAI, {}, lambda client: client.chat.completions.create),
    "responses": (OpenAI, {"api": "responses"}, lambda client: client.responses.create),
    "messages": (Anthropic, {}, lambda client: client.messages.create),
}


class Disk:
    """Seconds that this process has waited in fsync."""

    def __init__(self) -> None:
        self.waited = 0.0
        self.fsync = os.fsync

    def __call__(self, fd: int) -> None:
        start = time.perf_counter()
        self.fsync(fd)
        self.waited += time.perf_counter() - start


async def measure(dialect: str, server: WireServer, calls: int, folder: Path, disk: Disk) -> float:
    """Prints the medians and returns what a booked call takes beyond a bare one and the disk, in milliseconds."""
    kind, args, create = DIALECTS[dialect]
    name, url = ("anthropic/m", server.anthropic_url) if kind is Anthropic else ("openai/m", server.openai_url)
    model = kind(name, {"base_url": url, **args})
    store = RunStore.create(folder, "{}\n", {}, {})
    caller = Caller(model, store, Ledger(Limits(usd=1000.0), Prices.load({name: {"input": 1.0, "output": 1.0}})))
    ask = create(model.connect())
    bare: list[float] = []
    booked: list[float] = []
    waits: list[float] = []
    for number in range(calls + WARM):
        asked = request(f"{PROMPT}{number}", sample=number)
        start = time.perf_counter()
        await ask(**model.body(asked))
        middle, before = time.perf_counter(), disk.waited
        await caller.complete(asked)
        bare.append(middle - start)
        waits.append(disk.waited - before)
        booked.append(time.perf_counter() - middle)
    await caller.close()
    store.close()
    first, second, wait = (median(times[WARM:]) * 1e3 for times in (bare, booked, waits))
    ours = median(b - w - a for a, b, w in zip(bare[WARM:], booked[WARM:], waits[WARM:], strict=True)) * 1e3
    print(f"{dialect:10} bare SDK {first:6.2f} ms  booked {second:6.2f} ms  disk {wait:6.2f} ms  our layer {ours:5.2f} ms")
    return ours


async def compare(calls: int, folder: str | None) -> float:
    disk = Disk()
    os.fsync = disk
    with WireServer(lambda asked: REPLY) as server, tempfile.TemporaryDirectory(dir=folder) as made:
        return max([await measure(dialect, server, calls, Path(made) / dialect, disk) for dialect in DIALECTS])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--folder", help="where records are written; default: the system's place for temporary files")
    given = parser.parse_args()
    print(f"medians of {given.calls} calls")
    return 0 if asyncio.run(compare(given.calls, given.folder)) < LIMIT_MS else 3


if __name__ == "__main__":
    sys.exit(main())
