"""Seconds per candidate on a warm executor, beside a new Python per candidate, in one run.

`python benchmarks/warm_executor.py [--candidates 20] [--cold 5]`: softmax candidates that are all correct and all different, so that
none finds a compiled kernel of another. Simulated mode; the cold way is `python -m tools.evaluate` on the same candidates.
"""

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmark.suites import find
from tools.executor.local import LocalExecutor
from tools.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
TASK = "quick/softmax"
SOURCE = """
import torch
import triton
import triton.language as tl


@triton.jit
def softmax_rows_{number}(x, y, rows, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    values = tl.load(x + row * columns + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    {body}
    tl.store(y + row * columns + offsets, (values / tl.sum(values, axis=0)).to(y.dtype.element_ty), mask=mask)


def softmax(input, dim, dtype=None):
    x = (input if dtype is None else input.to(dtype)).movedim(dim, -1).contiguous()
    y = torch.empty_like(x)
    columns = x.shape[-1]
    if x.numel():
        rows = x.numel() // columns
        softmax_rows_{number}[(rows,)](x, y, rows, columns, BLOCK=triton.next_power_of_2(columns) * {wide}, num_warps={warps})
    return y.movedim(-1, dim)
"""
BODIES = (
    "values = tl.exp(values - tl.max(values, axis=0))",
    "values = tl.exp2((values - tl.max(values, axis=0)) * 1.4426950408889634)",
)


def candidates(count: int) -> list[str]:
    """Different in block size, warps, formula and name."""
    return [
        SOURCE.format(number=number, body=BODIES[number % 2], wide=1 + number // 2 % 2, warps=(1, 2, 4, 8)[number // 4 % 4])
        for number in range(count)
    ]


async def warm(sources: list[str], warm_up: str) -> list[float]:
    executor, task, settings, seconds = LocalExecutor(workers=1), find(TASK), Settings(device="simulated"), []
    await executor.evaluate(warm_up, task, settings)
    for source in sources:
        start = time.perf_counter()
        evaluation = await executor.evaluate(source, task, settings)
        seconds.append(time.perf_counter() - start)
        assert evaluation.success, (evaluation.verdict, evaluation.error)
    await executor.close()
    return seconds


def cold(sources: list[str]) -> list[float]:
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        for source in sources:
            path = Path(folder) / "candidate.py"
            path.write_text(source)
            start = time.perf_counter()
            command = [sys.executable, "-m", "tools.evaluate", "--task", TASK, "--device", "simulated", "--candidate", str(path)]
            subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
            seconds.append(time.perf_counter() - start)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--candidates", type=int, default=20)
    parser.add_argument("--cold", type=int, default=5, help="how many of them are evaluated the cold way too")
    options = parser.parse_args()
    *sources, first = candidates(options.candidates + 1)
    warm_s, cold_s = asyncio.run(warm(sources, first)), cold(sources[: options.cold])
    for name, seconds in (("warm", warm_s), ("cold", cold_s)):
        print(f"{name}: median {statistics.median(seconds):.3f} s, {min(seconds):.3f} to {max(seconds):.3f}, {len(seconds)} candidates")
    print(f"ratio of medians: {statistics.median(cold_s) / statistics.median(warm_s):.1f}")


if __name__ == "__main__":
    main()
