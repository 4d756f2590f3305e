"""Seconds per stage and speedup per size, for a folder of candidates named after tasks of a suite, on one warm worker.

`python benchmarks/stage_seconds.py tests/tools/candidates/honest [--suite quick]`: on a GPU with all stages, elsewhere simulated.
"""

import argparse
import asyncio
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # Runs from a checkout that is not installed.

from benchmark.suites import find
from tools.evaluation import Evaluation
from tools.executor.local import LocalExecutor
from tools.settings import Settings

STAGES = ("parse", "import", "compile", "correctness", "adversarial", "timing")


def show(name: str, found: Evaluation, seconds: float) -> None:
    stages = "  ".join(f"{stage} {found.resources.get(f'{stage}_s', 0.0):.2f}" for stage in STAGES)
    print(f"{name:24} {found.verdict:12} {seconds:6.2f} s  {stages}  GPU lock {found.resources['gpu_s']:.2f}", flush=True)
    if found.timing:
        sizes = "; ".join(f"{s.case} {s.baseline_us:.1f}/{s.candidate_us:.1f} us = {s.speedup:.2f}" for s in found.timing.sizes)
        print(f"{'':24} {found.timing.speedup:.3f} [{found.timing.ci[0]:.3f}, {found.timing.ci[1]:.3f}]  {sizes}", flush=True)


async def run(folder: Path, suite: str) -> None:
    executor = LocalExecutor(workers=1)
    try:
        for path in sorted(folder.glob("*.py")):
            start = time.perf_counter()
            found = await executor.evaluate(path.read_text(), find(f"{suite}/{path.stem}"), Settings())
            show(path.stem, found, time.perf_counter() - start)
    finally:
        await executor.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--suite", default="quick")
    arguments = parser.parse_args()
    asyncio.run(run(arguments.folder, arguments.suite))
