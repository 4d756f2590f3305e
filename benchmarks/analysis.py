"""Seconds and memory of the figures over a drawn store: `python -m benchmarks.analysis [tasks=400] [figures=all|overview] [out=DIR]`.

Five scaffolds, five rounds, an attempt and four calls each: 400 tasks are 10,000 attempts and 40,000 calls, 40,000 tasks a hundredfold.
`out` keeps the store and reads it again if it is there; otherwise it is removed. Peak memory is the process's own, writing apart.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import polars as pl

from experiments.analysis import anytime, cost, deviance, pairs, rates, speed, transitions
from experiments.analysis.frames import Frames, load
from experiments.runs import Run

FIGURES: dict[str, Callable[[Frames], object]] = {
    **{f.__name__: f for f in (rates.overview, rates.by_round, rates.verdicts, rates.failures, rates.matrix)},
    **{f.__name__: f for f in (speed.fast, speed.geomeans, speed.slower, speed.hardware, transitions.transitions, transitions.deltas)},
    **{f"curves {axis}": partial(anytime.curves, axis=axis) for axis in anytime.AXES},
    "per_success": cost.per_success,
    "explained": deviance.across,
    "paired": pairs.everyone,
}

DRAW = "import sys, pathlib; from tests.experiments import synthetic; synthetic.write(pathlib.Path(sys.argv[1]), int(sys.argv[2]))"
"""In a process of its own, whose memory is not counted."""


def main() -> int:
    told = dict(word.split("=", 1) for word in sys.argv[1:])
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(told.get("out", scratch)) / "store"
        if not out.exists():
            subprocess.run([sys.executable, "-c", DRAW, str(out), told.get("tasks", "400")], check=True)
        names = list(FIGURES) if told.get("figures", "all") == "all" else ["overview"]
        measure([Run(path) for path in sorted(out.iterdir())], names)
    return 0


def measure(runs: list[Run], names: list[str]) -> None:
    begin = time.monotonic()
    frames = load(runs)
    print(f"{'load':14} {time.monotonic() - begin:7.2f} s  {frames.attempts.height:,} attempts, {frames.calls.height:,} calls")
    for name in names:
        start = time.monotonic()
        FIGURES[name](frames)
        print(f"{name:14} {time.monotonic() - start:7.2f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{'all':14} {time.monotonic() - begin:7.2f} s, {peak:.0f} MiB at most; polars {pl.__version__}")


if __name__ == "__main__":
    sys.exit(main())
