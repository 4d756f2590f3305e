"""What others' harnesses got wrong, each with the right answer: the public bug reports of `reference/evaluation_harnesses.md`, section 3.

| # | report | here |
|---|---|---|
| 1 | zeros pass a correctness check | `test_01_zeros_pass` |
| 2 | five ways to fabricate a benchmark's time | `test_02_fabricated_results`, `test_02_geomean_of_a_time_near_zero` |
| 3 | a cast breaks integer targets | `test_03_integers_are_cast_to_float` |
| 4 | one crash poisons what follows | `test_04_crash_poisons_what_follows` |
| 5 | success is equality of printed text | `test_05_program_that_only_prints` |
| 6 | batch and skip | `test_06_batch_and_skip` |
| 7 | wildcards, gc copies, detected warm-up | `test_07_four_cheats` |
| 8 | forged signatures | `test_08_verdicts_on_every_descriptor` |
| 9 | stale replays of a kernel that was not captured | `test_09_stale_replay` |
| 10 | caches with a light fingerprint | `test_10_cached_by_fingerprint` |
| 11 | constant outputs of zero weights | `test_11_constant_outputs` |
| 12 | a gate refuses what is more accurate than the reference | `test_12_more_accurate_than_the_reference` |
| 13 | bf16 products of the interpreter | `test_13_interpreted_bf16_product` |
| 14 | speedup 0.0 for what was never timed | `test_14_untimed_is_null_with_a_reason` |
| 15 | baseline and candidate swapped | `test_15_swapped_sides` |
| 16 | a speedup diluted by the harness's own time | `test_16_diluted_speedup` |
| 17 | a stale lock after a killed build | `test_17_killed_while_compiling` |
| 18 | a hung kernel wedges the host | `test_18_hung_kernel` |
| 19 | a dead worker takes others' rows with it | `test_19_killed_worker` |
| 20 | unbounded waits | `test_20_unbounded_wait` |
| 21 | asynchronous faults, broken kernels that are timed | `test_21_broken_kernel_is_not_timed`; the rest needs a GPU |
| 22 | the same input in each timed iteration | `test_22_fresh_inputs_in_timed_calls` |
| 23 | right for ten calls, then wrong (the L2 half needs a GPU: row 34 of the hostile set) | `test_23_wrong_after_ten_calls` |
| 24 | a cold cache that is warm | `test_24_cold_and_warm_are_apart` |
| 25 | profilers that lose kernels | none: times are of events, which lose none; `executor/test_clock.py` |
| 26 | the flush counted as the kernel's time | `test_26_flush_is_no_part_of_the_time` |
| 27 | zero, negative and mistaken units | `test_27_zero_negative_or_wrong_unit` |
| 28 | weights that differ between reference and candidate | `test_28_parameters_are_handed_over` |
| 29 | a tolerance key that never matches | `test_29_tolerance_for_an_argument_that_is_not_there` |
| 30 | failures count 1.0, the geomean is nan | `test_30_failures_in_a_mean` |
| 31 | errors that waterfall, tensors that do not pickle | `test_31_exception_that_holds_a_tensor` |
| 32 | no memory in the checker | `test_32_checker_under_a_memory_cap` |
| 33 | tests that return only shapes | `test_33_answers_that_are_only_shapes` |
| 34 | the architecture missing from a cache's key | `test_34_architecture_is_in_the_keys` |
| 35 | token accounting | none here: no part of the executor; `agents/test_ledger.py`, `agents/test_caller.py` |
| 36 | a time that is not finite passes a gate | `test_36_time_that_is_not_finite` |
| 37 | operations: glued markers, locks of the dead | `test_37_marker_glued_to_output`, `test_37_lock_of_a_dead_process` |
"""

import asyncio
import json
import math
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from benchmark import lint, oracle
from benchmark.checkers import close
from benchmark.suites import find, load
from benchmark.task import Case, Contract, Task, shown
from experiments import records
from tests.tools import bug_candidates as candidates
from tests.tools.executor.sides import Clock, Side
from tests.tools.executor.stages.test_timing import contest
from tools.evaluation import Evaluation
from tools.executor import compiled
from tools.executor.channel import Malformed
from tools.executor.local import LocalExecutor
from tools.executor.stages import ratios
from tools.executor.stages.lock import gpu_lock
from tools.executor.stages.timing import SETS, Contest, Untimed
from tools.executor.worker import Worker
from tools.settings import Settings

SILU = "quick/silu"
SETTINGS = Settings(device="simulated")
QUICK = load("quick").tasks
Evaluate = Callable[..., Evaluation]


def refused(found: Evaluation) -> None:
    assert not found.success, "a cheat passed"
    assert found.verdict not in ("timeout", "infra_error", "task_invalid", "unsupported"), found.error


def timed(baseline: Side, candidate: Side, **more: Side) -> tuple[Contest, Any]:
    made = contest(baseline, candidate, **more)
    return made, made.run("n", 30.0)


@pytest.mark.parametrize("task", QUICK, ids=lambda task: task.name)
def test_01_zeros_pass(task: Task) -> None:
    """1: github.com/ScalingIntelligence/KernelBench/issues/165. Outputs smaller than an absolute tolerance."""
    accepted = [case.name for case in task.cases if filled(task, case, 0)]
    assert accepted == []


def filled(task: Task, case: Case, value: float) -> bool:
    """Whether a constant passes a case that has elements."""
    arguments = case.arguments(task.id, 0)
    truth = oracle.compute(task, arguments)
    constant = tuple(torch.full_like(honest, value) for honest in truth.honest)
    differs = any(not torch.equal(c, h) for c, h in zip(constant, truth.honest, strict=True) if h.numel())
    return differs and task.contract.checker(truth, constant, arguments).ok


@pytest.mark.parametrize("name", ["LIGHT_FINGERPRINT", "LAZY_OUTPUT", "PATCHES_THE_CLOCK", "FORGED_OBJECT"])
def test_02_fabricated_results(evaluate: Evaluate, name: str) -> None:
    """2: github.com/gpu-mode/reference-kernels/issues/162. Replay, lazy output, patched timer, forged statistics."""
    refused(evaluate(getattr(candidates, name), SILU, SETTINGS))


def test_02_geomean_of_a_time_near_zero() -> None:
    """2: the fifth family: one time of almost nothing makes the mean of all sizes as good as one likes."""
    clock = Clock()
    made, size = timed(Side(clock, 500.0), Side(clock, 1e-6, real_us=500.0))
    assert made.agreement.far
    assert size.speedup < 1.3


INTEGERS = """
import torch

def picked(x, index, mask, small):
    return x[index] * mask + small

def inputs():
    return {"x": torch.randn(64), "index": torch.randint(0, 64, (33,)), "mask": torch.rand(33) < 0.5,
            "small": torch.randint(-9, 9, (33,), dtype=torch.int8)}
"""
PICKS = """
import torch, triton, triton.language as tl

@triton.jit
def kernel(x, index, mask, small, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    i = tl.load(index + at, mask=at < n, other=0)
    keep = tl.load(mask + at, mask=at < n, other=0).to(tl.float32)
    v = tl.load(x + i, mask=at < n, other=0.0).to(tl.float32) * keep + tl.load(small + at, mask=at < n, other=0).to(tl.float32)
    tl.store(out + at, v.to(out.dtype.element_ty), mask=at < n)

def picked(x, index, mask, small):
    assert (index.dtype, mask.dtype, small.dtype) == (torch.int64, torch.bool, torch.int8)
    out = torch.empty(index.shape, dtype=x.dtype, device=x.device)
    kernel[(1,)](x, index, mask, small, out, index.numel(), BLOCK=64)
    return out
"""


def test_03_integers_are_cast_to_float(evaluate: Evaluate, tmp_path: Path) -> None:
    """3: KernelBench/issues/151. Indices, masks and small integers arrive as what they are, whatever the floats' dtype."""
    (tmp_path / "own.py").write_text(INTEGERS)
    found = evaluate(PICKS, f"{tmp_path}/own.py:picked")
    assert (found.verdict, found.error) == ("pass", None)


def test_04_crash_poisons_what_follows(evaluate: Evaluate) -> None:
    """4: KernelBench/issues/76."""
    crash = "import ctypes\nctypes.string_at(8)\n" + candidates.RIGHT
    late = candidates.RIGHT.replace("    x = input", "    __import__('ctypes').string_at(8)\n    x = input")
    found = [evaluate(source, SILU, SETTINGS).verdict for source in (crash, candidates.RIGHT, late, candidates.RIGHT)]
    assert found == ["crash", "pass", "crash", "pass"]


@pytest.mark.parametrize(("source", "verdict"), [("", "no_code"), (candidates.ONLY_PRINTS, "missing_entry")])
def test_05_program_that_only_prints(evaluate: Evaluate, source: str, verdict: str) -> None:
    """5: github.com/thunlp/TritonBench/issues/7. A program that prints nothing, or what is expected."""
    assert evaluate(source, SILU).verdict == verdict


def test_06_batch_and_skip(evaluate: Evaluate) -> None:
    """6: reference-kernels/pull/104. Most calls do nothing, a later one does their work."""
    refused(evaluate(candidates.SKIPS_AND_CATCHES_UP, SILU, SETTINGS))


@pytest.mark.parametrize(
    "source", [candidates.NAN_WILDCARD, candidates.COPIES_FROM_GC, candidates.COUNTS_CALLS.replace("{right}", "3"), candidates.WRONG]
)
def test_07_four_cheats(evaluate: Evaluate, source: str) -> None:
    """7: github.com/gpu-mode/pygpubench/pull/7. NaN as a wildcard, copies from gc, warm-up detection, errors that are only counted."""
    refused(evaluate(source, SILU, SETTINGS))


def test_08_verdicts_on_every_descriptor(evaluate: Evaluate) -> None:
    """8: pygpubench/issues/23."""
    refused(evaluate(candidates.FORGES_VERDICTS, SILU, SETTINGS))


def test_09_stale_replay(evaluate: Evaluate) -> None:
    """9: github.com/flashinfer-ai/flashinfer-bench/issues/414."""
    refused(evaluate(candidates.REPLAYS, SILU, SETTINGS))


def test_10_cached_by_fingerprint(evaluate: Evaluate) -> None:
    """10: flashinfer-bench-starter-kit/issues/21. Pointer, shape, strides and version stay, the values do not."""
    assert evaluate(candidates.LIGHT_FINGERPRINT, SILU, SETTINGS).verdict in ("wrong_numeric", "not_triton")


def test_11_constant_outputs() -> None:
    """11: github.com/AI-Hypercomputer/accelerator-agents/pull/50. Weights of zeros make the answer constant."""
    dead = Task(
        "t/dead", "c", "s", lambda x, weight: torch.tanh(x @ weight),
        shown({"a": lambda d: {"x": d.normal(5, 8), "weight": torch.zeros(8, 3)}}), (), Contract(close()),
    )  # fmt: skip
    faults = lint.lint(dead).faults
    assert "zeros fails on no case" in faults
    assert "the output does not vary with seed" in faults


@pytest.mark.parametrize("task", QUICK, ids=lambda task: task.name)
def test_12_more_accurate_than_the_reference(task: Task) -> None:
    """12: reference-kernels/issues/164. The truth itself, rounded once, is right."""
    for case in task.cases:
        arguments = case.arguments(task.id, 0)
        truth = oracle.compute(task, arguments)
        rounded = tuple(e.to(h.dtype) for e, h in zip(truth.expected, truth.honest, strict=True))
        check = task.contract.checker(truth, rounded, arguments)
        assert check.ok, f"{case.name}: {check.message}"


PRODUCT = """
import torch, triton, triton.language as tl

@triton.jit
def kernel(a, b, c, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))

def product(a, b):
    c = torch.empty(a.shape, dtype=torch.float32, device=a.device)
    kernel[(1,)](a, b, c, N=16)
    return c
"""
PRODUCT_TASK = """
import torch

def product(a, b):
    return a.to(torch.promote_types(a.dtype, torch.float32)) @ b.to(torch.promote_types(b.dtype, torch.float32))

def inputs():
    return {name: torch.randint(-8, 8, (16, 16)).to(torch.bfloat16) for name in "ab"}
"""


def test_13_interpreted_bf16_product(evaluate: Evaluate, tmp_path: Path) -> None:
    """13: github.com/triton-lang/triton/issues/11584. A product of bf16 integers is exact, not of their bit patterns."""
    (tmp_path / "own.py").write_text(PRODUCT_TASK)
    found = evaluate(PRODUCT, f"{tmp_path}/own.py:product")
    assert (found.verdict, found.error) == ("pass", None)
    assert found.cases[0].max_abs == 0.0


@pytest.mark.parametrize("source", [candidates.RIGHT, candidates.WRONG])
def test_14_untimed_is_null_with_a_reason(evaluate: Evaluate, source: str) -> None:
    """14: github.com/AMD-AGI/GEAK/issues/418. Never 0, never 1."""
    found = evaluate(source, SILU, SETTINGS)
    line = json.loads(json.dumps(found.public(), allow_nan=False))
    assert (found.speedup, line["timing"]) == (None, None)
    assert line["no_timing"] or line["error"]


def test_15_swapped_sides() -> None:
    """15: GEAK/issues/389. Itself against itself is one, the slower one is below it, the faster one above."""
    ratio = {}
    for us in (400.0, 800.0, 200.0):
        clock = Clock()
        ratio[us] = timed(Side(clock, 400.0), Side(clock, us, rng=random.Random(2)))[1].speedup
    assert 0.98 < ratio[400.0] < 1.02
    assert ratio[800.0] == pytest.approx(0.5, rel=0.03)
    assert ratio[200.0] == pytest.approx(2.0, rel=0.03)


def test_16_diluted_speedup() -> None:
    """16: GEAK/issues/252. 1.28 times is 1.28 times, however long requests, copies and flushes take."""
    clock = Clock()
    slow_host = {"flush_us": 2000.0, "jitter_us": 50.0}
    _, size = timed(Side(clock, 128.0, **slow_host), Side(clock, 100.0, **slow_host))
    assert size.speedup == pytest.approx(1.28, rel=0.03)


def test_17_killed_while_compiling(evaluate: Evaluate) -> None:
    """17: github.com/pytorch/pytorch/issues/189245. What a killed build leaves behind stops nobody."""
    killed = evaluate(candidates.DIES_WHILE_COMPILING, SILU)
    assert (killed.verdict, killed.stage) == ("crash", "compile"), killed.error
    again = evaluate(candidates.RIGHT, SILU, SETTINGS)
    assert (again.verdict, again.error) == ("pass", None)


def test_18_hung_kernel(evaluate: Evaluate) -> None:
    """18: github.com/cloudrift-ai/emmy/pull/215. A hang costs its deadline, and the next candidate nothing."""
    start = time.monotonic()
    found = evaluate(candidates.HANGS_IN_THE_KERNEL, SILU, Settings(device="simulated", case_s=2.0))
    assert found.verdict == "timeout"
    assert time.monotonic() - start < 20.0
    assert evaluate(candidates.RIGHT, SILU, SETTINGS).verdict == "pass"


@pytest.mark.slow
def test_19_killed_worker() -> None:
    """19: github.com/ROCm/aiter/pull/4413. One worker is killed; every row is what it would have been."""
    sources = {"a": candidates.RIGHT, "b": candidates.WRONG, "c": "x = (", "d": "import time; time.sleep(1.5)\n" + candidates.RIGHT}
    made = LocalExecutor(workers=2)

    def kill() -> None:
        judge = made.workers[0].judge
        assert judge is not None
        judge.process.kill()

    async def all_rows() -> list[Evaluation]:
        await made.evaluate("x = (", find(SILU), SETTINGS)
        threading.Timer(0.7, kill).start()
        rows = await asyncio.gather(*(made.evaluate(source, find(SILU), SETTINGS) for source in sources.values()))
        await made.close()
        return rows

    rows = dict(zip(sources, asyncio.run(all_rows()), strict=True))
    assert {name: row.verdict for name, row in rows.items()} == {"a": "pass", "b": "wrong_numeric", "c": "syntax_error", "d": "pass"}


def test_20_unbounded_wait(evaluate: Evaluate) -> None:
    """20: github.com/NousResearch/atropos/pull/289."""
    start = time.monotonic()
    assert evaluate(candidates.WAITS_FOR_EVER, SILU, Settings(device="simulated", case_s=1.5)).verdict == "timeout"
    assert time.monotonic() - start < 20.0


def test_21_broken_kernel_is_not_timed(evaluate: Evaluate) -> None:
    """21: KernelBench/pull/164. No stage after the one that failed is entered."""
    found = evaluate(candidates.WRONG, SILU, SETTINGS)
    assert found.stage == "correctness"
    assert not {"adversarial_s", "timing_s", "profile_s"} & set(found.resources)


def test_22_fresh_inputs_in_timed_calls() -> None:
    """22: github.com/gpu-mode/kernelbot/pull/501. Sets of values in an order that nobody can foresee."""
    clock = Clock()
    candidate = Side(clock, 300.0)
    timed(Side(clock, 300.0), candidate)
    orders = [request["order"] for request in candidate.asked if request["op"] == "time"]
    assert {number for order in orders for number in order} == set(range(SETS))
    assert all(len(set(order)) > 1 for order in orders if len(order) > 8)
    assert len({tuple(order) for order in orders if len(order) == len(orders[-1])}) > 1


def test_23_wrong_after_ten_calls(evaluate: Evaluate) -> None:
    """23: github.com/karpathy/llm.c/pull/851, pygpubench/pull/49. Right for ten calls and wrong later."""
    refused(evaluate(candidates.COUNTS_CALLS.replace("{right}", "10"), SILU, SETTINGS))


def test_24_cold_and_warm_are_apart() -> None:
    """24: github.com/flashinfer-ai/flashinfer/issues/4468. A cold time is cold on every size, and the warm one stands beside it."""
    for us in (5.0, 50.0, 800.0):
        clock = Clock()
        _, size = timed(Side(clock, us, warm_us=us / 2), Side(clock, us, warm_us=us / 4))
        assert size.candidate_us == pytest.approx(us, rel=0.05)
        assert size.speedup == pytest.approx(1.0, rel=0.05)
        assert size.warm["speedup"] == pytest.approx(2.0, rel=0.1)


def test_26_flush_is_no_part_of_the_time() -> None:
    """26: github.com/tile-ai/TileOPs/pull/1725. A flush of 58 us beside a kernel of 5 us."""
    clock = Clock()
    _, size = timed(Side(clock, 10.0, flush_us=58.0), Side(clock, 5.0, flush_us=58.0))
    assert size.candidate_us == pytest.approx(5.0, rel=0.05)
    assert size.slope_us == pytest.approx(5.0, abs=3.0)


@pytest.mark.parametrize("us", [0.0, -3.0])
def test_27_zero_negative_or_wrong_unit(us: float) -> None:
    """27: triton/pull/6868, intel-xpu-backend-for-triton/issues/1563."""
    clock = Clock()
    with pytest.raises(Malformed):
        timed(Side(clock, 100.0), Side(clock, us))
    with pytest.raises(Untimed):
        timed(Side(clock, us), Side(clock, 100.0))
    made, _ = timed(Side(clock, 500.0), Side(clock, 0.5, real_us=500.0))
    assert made.agreement.far, "milliseconds that are given as microseconds"


PARAMETERS = """
import torch

def scaled(x, weight, bias):
    return x * weight + bias

def inputs():
    return {"bias": torch.randn(16), "weight": torch.randn(16), "x": torch.randn(4, 16)}
"""
SCALES = """
import torch, triton, triton.language as tl

@triton.jit
def kernel(x, weight, bias, out, N: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, N)
    v = tl.load(x + row * N + at).to(tl.float32) * tl.load(weight + at).to(tl.float32) + tl.load(bias + at).to(tl.float32)
    tl.store(out + row * N + at, v.to(out.dtype.element_ty))

def scaled(x, weight, bias):
    torch.manual_seed(1)
    out = torch.empty_like(x)
    kernel[(4,)](x, weight, bias, out, N=16)
    return out
"""


def test_28_parameters_are_handed_over(evaluate: Evaluate, tmp_path: Path) -> None:
    """28: KernelBench/issues/88. Weights come as values by name; their order of making and the seeds in the candidate do not matter."""
    (tmp_path / "own.py").write_text(PARAMETERS)
    found = evaluate(SCALES, f"{tmp_path}/own.py:scaled")
    assert (found.verdict, found.error) == ("pass", None)


def test_29_tolerance_for_an_argument_that_is_not_there() -> None:
    """29: flashinfer-bench/pull/178. A rule that can never apply is an error, not a silent default."""
    task = replace(find("quick/softmax"), contract=Contract(close("dmi")))
    arguments = task.cases[0].arguments(task.id, 0)
    truth = oracle.compute(task, arguments)
    with pytest.raises(KeyError):
        task.contract.checker(truth, truth.honest, arguments)
    with pytest.raises(TypeError):
        Settings(tolerance={"float8": 0.1})  # type: ignore[call-arg]


def test_30_failures_in_a_mean(evaluate: Evaluate) -> None:
    """30: github.com/meta-pytorch/BackendBench/issues/97. A failure has no speedup; a mean over nothing is unknown, not nan or 1."""
    assert evaluate(candidates.WRONG, SILU, SETTINGS).speedup is None
    assert records.speedups([], 3) == (None, None)
    over_solved, over_all = records.speedups([4.0], 2)
    assert (over_solved, over_all) == (pytest.approx(4.0), pytest.approx(2.0))
    assert records.speedups([4.0, None], 2)[1] is None


def test_31_exception_that_holds_a_tensor(evaluate: Evaluate) -> None:
    """31: BackendBench/issues/45, /100. What cannot be pickled crosses no process; the next candidate sees nothing of it."""
    found = evaluate(candidates.RAISES_A_TENSOR, SILU, SETTINGS)
    assert found.verdict == "runtime_error"
    assert "Sticky" in found.error.message
    assert evaluate(candidates.RIGHT, SILU, SETTINGS).verdict == "pass"


CAPPED = """
import resource, sys, torch
torch.set_num_threads(1)
from benchmark.checkers import close
from benchmark.task import Oracle
N = 1 << 24
expected = torch.rand(N, dtype=torch.float64)
honest = expected.to(torch.float32)
actual = honest.clone()
used = int(next(line for line in open("/proc/self/status") if line.startswith("VmData")).split()[1]) << 10
cap = used + (440 << 20)
resource.setrlimit(resource.RLIMIT_DATA, (cap, cap))
try:
    torch.allclose(actual.double(), expected)
    print("naive fits")
except RuntimeError:
    print("naive does not fit")
print(close()(Oracle((expected,), (honest,)), (actual,), {}).kind)
actual[12345] += 1
print(close()(Oracle((expected,), (honest,)), (actual,), {}).kind)
"""


def test_32_checker_under_a_memory_cap() -> None:
    """32: KernelBench/issues/146. 16 Mi elements and their truth are compared within 440 MiB, where the plain way runs out."""
    done = subprocess.run([sys.executable, "-c", CAPPED], capture_output=True, text=True, cwd=Path(__file__).parents[2], timeout=100)
    assert done.stdout.split("\n")[:3] == ["naive does not fit", "pass", "wrong_numeric"], done.stderr


def test_33_answers_that_are_only_shapes() -> None:
    """33: github.com/AMD-AGI/GEAK-eval/issues/13. A task whose answer is the shape, or whether something holds, judges nothing."""
    for answer in (lambda x: torch.tensor(x.shape), lambda x: (x.exp() > 0).all()):
        shapes = Task("t/shape", "c", "s", answer, shown({"a": lambda d: {"x": d.normal(5, 8)}}), (), Contract(close()))
        assert "the output does not vary with x" in lint.lint(shapes).faults


def test_34_architecture_is_in_the_keys() -> None:
    """34: github.com/vllm-project/vllm/issues/41871, and the environment in the key: intel-xpu-backend-for-triton/issues/7338."""
    one, other = compiled.key(b"x", [{"triton": "3.9"}, ["a:90"]]), compiled.key(b"x", [{"triton": "3.9"}, ["a:121"]])
    assert one != other != compiled.key(b"x", [{"triton": "3.8"}, ["a:121"]])
    assert Settings(targets=("a:90",)).sha != Settings(targets=("a:121",)).sha

    def digest(name: str = "GB10", mode: str = "device", **versions: str) -> str:
        worker = Worker(0, None, compiled.CompileCache(None))
        worker.device = {"platform": "p", "name": name, "stand_in": {"platform": "p", "name": name}}
        worker.versions = {"triton": "3.9", "driver": "570"} | versions
        return worker.environment(mode)

    assert len({digest(), digest("H200"), digest(mode="simulated"), digest(driver="580"), digest(triton="3.8")}) == 5
    assert digest() == digest()


@pytest.mark.parametrize("us", [math.nan, math.inf, -math.inf])
def test_36_time_that_is_not_finite(us: float) -> None:
    """36: lightseekorg/tokenspeed PR 1671. A comparison with NaN is false, which is no gate passed."""
    clock = Clock()
    with pytest.raises(Malformed):
        timed(Side(clock, 100.0), Side(clock, us, real_us=100.0))
    with pytest.raises(Untimed):
        timed(Side(clock, us, real_us=100.0), Side(clock, 100.0))
    assert math.isfinite(ratios.geometric([0.5, 2.0]))


def test_37_marker_glued_to_output(evaluate: Evaluate) -> None:
    """37: github.com/Infatoshi/kernelbench.com, benchmarks/hard/DEVLOG.md. Nothing that is printed is parsed."""
    found = evaluate(candidates.PRINTS_AND_IS_WRONG, SILU, SETTINGS)
    assert found.verdict == "wrong_numeric"
    assert found.logs["stdout"].startswith("PASS{")


HOLDS = """
import sys
from types import SimpleNamespace
from tools.executor.stages.lock import gpu_lock
with gpu_lock(0, SimpleNamespace(device={"uuids": [sys.argv[1]]}, cancelled=0)):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_37_lock_of_a_dead_process() -> None:
    """37: a GPU's lock outlives nobody: who is killed while holding it keeps no other waiting."""
    name = f"test-{os.getpid()}"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDS, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2], text=True
    )
    assert holder.stdout.readline() == "held\n"
    holder.kill()
    holder.wait()
    never, _ = os.pipe()
    start = time.monotonic()
    with gpu_lock(0, SimpleNamespace(device={"uuids": [name]}, cancelled=never), seconds=5.0):  # type: ignore[arg-type]
        assert time.monotonic() - start < 1.0
    os.close(never)
    os.close(_)
