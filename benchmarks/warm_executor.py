"""Seconds per candidate on a warm executor, beside a new Python per candidate, in one run.

`python benchmarks/warm_executor.py [--candidates 20] [--cold 5]`: a pointwise operator and softmax; candidates that are all correct and
all different, with nothing compiled before. Simulated mode, one target, the strongest isolation. The cold way is
`python -m tools.evaluate` on the same candidates. Of each way: from parsing to correctness, with the adversarial stage, and the whole
evaluation with the modelled time; for a new process, all its seconds less those of the later stages.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmark.suites import find
from tools.executor.compiled import CompileCache
from tools.executor.local import LocalExecutor
from tools.settings import Settings

ROOT = Path(__file__).resolve().parents[1]
HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n"
SOFTMAX = """
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
SILU = """
@triton.jit
def silu_{number}(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + offsets, mask=offsets < n).to(tl.float32)
    {body}
    tl.store(y + offsets, v.to(y.dtype.element_ty), mask=offsets < n)


def silu(input, inplace=False):
    x = input.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        silu_{number}[(triton.cdiv(x.numel(), 512 * {wide}),)](x, y, x.numel(), BLOCK=512 * {wide}, num_warps={warps})
    return input.copy_(y) if inplace else y
"""
BODIES = {
    "quick/silu": (SILU, "v = v * tl.sigmoid(v)", "v = v / (1 + tl.exp(-v))"),
    "quick/softmax": (
        SOFTMAX,
        "values = tl.exp(values - tl.max(values, axis=0))",
        "values = tl.exp2((values - tl.max(values, axis=0)) * 1.4426950408889634)",
    ),
}
WAYS = ("parse to correctness", "with the adversarial stage", "whole")


def candidates(task: str, count: int) -> list[str]:
    """Different in block size, warps, formula and name."""
    source, *bodies = BODIES[task]
    return [
        HEAD + source.format(number=number, body=bodies[number % 2], wide=1 + number // 2 % 2, warps=(1, 2, 4, 8)[number // 4 % 4])
        for number in range(count)
    ]


def parts(whole: float, resources: dict[str, float]) -> tuple[float, float, float]:
    """Seconds as in `WAYS`."""
    modelled = resources.get("modelled_s", 0.0)
    return whole - modelled - resources["adversarial_s"], whole - modelled, whole


async def warm(task: str, sources: list[str], warm_up: str) -> list[tuple[float, float, float]]:
    executor, settings, seconds = LocalExecutor(workers=1, cache=CompileCache(None)), Settings(device="simulated"), []
    await executor.evaluate(warm_up, find(task), settings)
    for source in sources:
        start = time.perf_counter()
        evaluation = await executor.evaluate(source, find(task), settings)
        seconds.append(parts(time.perf_counter() - start, evaluation.resources))
        assert evaluation.success, (evaluation.verdict, evaluation.error)
        assert evaluation.isolation["level"] == "full", evaluation.isolation
    await executor.close()
    return seconds


def cold(task: str, sources: list[str]) -> list[tuple[float, float, float]]:
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "candidate.py"
        command = [sys.executable, "-m", "tools.evaluate", "--task", task, "--device", "simulated", "--candidate", str(path), "--json"]
        for source in sources:
            path.write_text(source)
            start = time.perf_counter()
            run = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, env=os.environ | {"KERNELWRIGHT_CACHE": "off"})
            seconds.append(parts(time.perf_counter() - start, json.loads(run.stdout)["resources"]))
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=20)
    parser.add_argument("--cold", type=int, default=5, help="how many of them are evaluated the cold way too")
    options = parser.parse_args()
    for task in BODIES:
        *sources, first = candidates(task, options.candidates + 1)
        warm_s, cold_s = asyncio.run(warm(task, sources, first)), cold(task, sources[: options.cold])
        print(f"{task}: {len(warm_s)} candidates warm, {len(cold_s)} in a process each; median, least and most in seconds")
        for way, ours, theirs in zip(WAYS, zip(*warm_s, strict=True), zip(*cold_s, strict=True), strict=True):
            ours_s, theirs_s = (f"{statistics.median(s):6.3f} ({min(s):.3f} to {max(s):.3f})" for s in (ours, theirs))
            print(f"  {way:27} warm {ours_s}  new process {theirs_s}  ratio {statistics.median(theirs) / statistics.median(ours):.1f}")


if __name__ == "__main__":
    main()
