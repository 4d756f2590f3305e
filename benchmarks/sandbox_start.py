"""Milliseconds from the request for a sandbox to its "ready", with each isolation level that is to be had here.

`python benchmarks/sandbox_start.py [--starts 20]`: simulated mode, seen from the broker, one sandbox after another, nothing spare.
The kernel has to be idle for the numbers to mean something; the minimum is what the machine can do.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools import platforms
from tools.executor.compiled import CompileCache
from tools.executor.walls.isolation import LEVELS
from tools.executor.worker import Worker


def starts(level: str, count: int) -> list[float] | None:
    """Seconds of each start, the first one (which fills caches) left out; None where the level cannot be had."""
    worker, seconds = Worker(0, None, CompileCache(None)), []
    plan = {"mode": "simulated", "targets": list(platforms.default_targets()), "seed": 0, "index": 0}
    try:
        worker.ready("simulated", level)
        if worker.isolation["level"] is None:
            return None
        for _ in range(count + 1):
            start = time.perf_counter()
            sandbox = worker.sandbox(plan)
            seconds.append(time.perf_counter() - start)
            sandbox.close()
        return seconds[1:]
    finally:
        worker.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=20)
    count = parser.parse_args().starts
    for level in LEVELS:
        seconds = starts(level, count)
        if seconds is None:
            print(f"{level:9} not to be had here")
        else:
            low, middle, high = (1e3 * f(seconds) for f in (min, statistics.median, max))
            print(f"{level:9} min {low:5.1f} ms, median {middle:5.1f} ms, max {high:5.1f} ms over {count} starts")


if __name__ == "__main__":
    main()
