"""What a scaffold's graph costs by itself, and how large its state gets.

`python benchmarks/graph_step.py [--attempts 1000] [SCAFFOLD ...]`: each scaffold makes a trajectory with a scripted model whose texts are
as long as parsers let them be. Then it makes the same again with answers and verdicts at hand: no model, no executor, no prompt, no books;
LangGraph and the nodes' own code alone are timed, as CPU time of this process and, beside it, as wall time. A step is one run of a
node; a superstep has as many as work side by side. `in all` is a shorter trajectory with prompts, calls and records in memory.
Exits with 3 where a step takes 2 ms of CPU or more, or a state 64 KiB.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scaffolds import loader, trajectory
from tests.scaffolds.long import bare, options, walk, wordy
from tests.scaffolds.scripted import context

LIMIT_MS, LIMIT_BYTES = 2.0, 64 * 1024
BOOKED = 100
"""Attempts of the trajectory with prompts and books: the recorder in memory looks calls up in a list."""
COLUMNS = ("attempts", "steps", "CPU ms/step", "wall ms/step", "supersteps", "CPU ms/superstep", "largest state", "in all, CPU ms/attempt")
HEAD = ("scaffold".ljust(16), *COLUMNS)


def timed(work: Coroutine[Any, Any, Any]) -> tuple[float, float]:
    """CPU and wall milliseconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    asyncio.run(work)
    return 1e3 * (time.process_time() - cpu), 1e3 * (time.perf_counter() - wall)


def measure(name: str, attempts: int) -> tuple[list[str], bool]:
    """A row, and whether it keeps to the limits."""
    first = bare()
    walked = asyncio.run(walk(name, attempts, first))
    cpu, wall = timed(trajectory.run(name, loader.build_config(name, options(name, attempts)), bare(first)))
    booked = context(wordy)
    in_all, _ = timed(trajectory.run(name, loader.build_config(name, options(name, BOOKED)), booked))
    steps, largest = walked.nodes, max(walked.sizes)
    per_superstep, per_attempt = cpu / len(walked.sizes), in_all / len(booked.attempts)
    counts = [f"{walked.attempts:,}", f"{steps:,}", f"{cpu / steps:.2f}", f"{wall / steps:.2f}", f"{len(walked.sizes):,}"]
    row = [name.ljust(16), *counts, f"{per_superstep:.2f}", f"{largest / 1024:.1f} KiB", f"{per_attempt:.2f}"]
    return row, cpu / steps < LIMIT_MS and largest < LIMIT_BYTES


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scaffolds", nargs="*", default=loader.names(), help="all that are installed unless named")
    parser.add_argument("--attempts", type=int, default=1000)
    chosen = parser.parse_args()
    print("  ".join(HEAD), flush=True)
    kept = True
    for name in chosen.scaffolds:
        row, within = measure(name, chosen.attempts)
        kept &= within
        print("  ".join(cell.rjust(len(title)) for cell, title in zip(row, HEAD, strict=True)), flush=True)
    return 0 if kept else 3


if __name__ == "__main__":
    sys.exit(main())
