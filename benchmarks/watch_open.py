"""Seconds until `experiments.watch` shows a store of 10,000 attempts and 40,000 calls: `python -m benchmarks.watch_open [times]`."""

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.experiments.watch import stores


async def seconds(path: Path) -> float:
    begun = time.perf_counter()
    async with stores.watched(path, (120, 40)):
        return time.perf_counter() - begun


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large"
        stores.large(path)
        took = [asyncio.run(seconds(path)) for _ in range(times)]
    print(f"{times} openings: median {statistics.median(took):.2f} s, slowest {max(took):.2f} s")


if __name__ == "__main__":
    main()
