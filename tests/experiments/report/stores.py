"""A run in which every text that a model or its kernel can choose tries to leave the page's text."""

import asyncio
from pathlib import Path
from typing import Any

from agents.models.base import Identity, Usage
from agents.prices import Prices
from experiments.runs import Run
from experiments.store import RunStore
from tests.experiments import records
from tools.evaluation import CaseResult, Evaluation, Failure, TimedSize, Timing

HOSTILE = '</script></pre><img src=x onerror="window.harmed=1"><script>window.harmed=1</script>\'"&{{ 7*7 }}\u2028'
MARK = "<img src=x"
TASKS = {"quick/add": "Math", "quick/gelu": f"Activation{HOSTILE}", "quick/sum": "Reduce"}
"""Of the last one nothing was ever recorded."""
FIRST = f'"""add {HOSTILE}"""\n\nimport triton\n\nBLOCK = 1024\n\n\n@triton.jit\ndef rows(x):  # {HOSTILE}\n    return x\n'
SECOND = FIRST.replace("1024", "2048")


def hostile(path: Path, **device: Any) -> Run:
    asked = {"tasks": {task: {"sha": "t", "category": category, "suite": "quick"} for task, category in TASKS.items()}, "seeds": [0]}
    known = {"platform": "cuda", "name": f"d{HOSTILE}", "count": 1, "simulated": False, **device}
    environment = {"created": 1.7e9, "asked": asked,
                   "scaffold": {"name": "geak", "rounds": 2}, "model": f"openai/x{HOSTILE}", "revision": HOSTILE,
                   "roles": {}, "device": known, "packages": {"torch": HOSTILE},
                   "machine": {"system": HOSTILE}, "python": "3.11"}  # fmt: skip
    store = RunStore.create(path, "seed: 0\n", environment, Prices.load({}).to_dict())
    asyncio.run(fill(store))
    store.close()
    return Run(path)


async def fill(store: RunStore) -> None:
    await attempt(store, "quick/add@0", 0, FIRST, "wrong_numeric")
    await attempt(store, "quick/add@0", 1, SECOND, "pass", parents=["000.00.00"], speedup=2.0, speedup_ci=[1.9, 2.1], no_speedup=None)
    await call(store, "quick/add@0", "reflector", 0)
    await store.write_trajectory(records.trajectory("quick/add@0", "001.00.00", kernel_sha=store.put_kernel(SECOND)))
    await attempt(store, "quick/gelu@0", 0, FIRST, "compile_error", compiled=False, correct=False)
    await store.write_trajectory(records.trajectory("quick/gelu@0", None, end_reason="error", error=HOSTILE))


async def attempt(store: RunStore, trajectory: str, round: int, source: str, verdict: str, **changes: Any) -> None:
    identity = Identity(trajectory, "generator", round)
    task, sha = trajectory.partition("@")[0], store.put_kernel(source)
    await call(store, trajectory, "generator", round, f"```python\n{source}```\n")
    await store.write_evaluation(Identity(trajectory, "evaluation", round), evaluation(sha, task, verdict))
    told = {"error": None, "error_kind": None} if verdict == "pass" else {"error": HOSTILE, "error_kind": verdict}
    await store.write_attempt(records.attempt(trajectory, identity.attempt, task=task, category=TASKS[task], strategy=HOSTILE,
                                              kernel_sha=sha, verdict=verdict, calls=[identity.key], parse=HOSTILE, device=HOSTILE,
                                              **{"correct": verdict == "pass", **told, **changes}))  # fmt: skip


async def call(store: RunStore, trajectory: str, role: str, round: int, reply: str = HOSTILE) -> None:
    asked = [{"role": "system", "content": "You write kernels."}, {"role": "user", "content": f"## The error\n{HOSTILE}"}]
    body = {"text": f"{HOSTILE}\n{reply}", "tool_calls": [{"name": HOSTILE}], "thinking": [{"text": HOSTILE}]}
    await store.write_call(records.call(trajectory, role, round, prompt_sha=store.put_prompt(asked, []), reply_sha=store.put_reply(body),
                                        model_served=HOSTILE, error=HOSTILE, parse=HOSTILE, usage=Usage(input=70, output=50)))  # fmt: skip


def evaluation(sha: str, task: str, verdict: str) -> Evaluation:
    good = verdict == "pass"
    built = {"name": HOSTILE, "registers": 32, "spills": 0, "shared_bytes": 1024, "occupancy": 0.5}
    size = TimedSize(HOSTILE, 20.0, 10.0, 2.0, [1.9, 2.1])
    return Evaluation(
        sha, task, mode="device", platform="cuda", device=HOSTILE, verdict=verdict, stage="timing" if good else "correctness",
        compiled=verdict != "compile_error", correct=good, error=None if good else Failure(verdict, HOSTILE, {"case": HOSTILE}),
        cases=[CaseResult("fp32", False, good, max_abs=0.5, kind=verdict, message=HOSTILE)],
        compile=[{"target": "cuda:90", "kernels": [built, built], "seconds": 0.5, "error": None if good else HOSTILE}],
        timing=Timing("eager", [size], 2.0, [1.9, 2.1], notes=[HOSTILE]) if good else None,
        resources={"wall_s": 1.0, "gpu_s": 0.5},
        versions={"torch": HOSTILE}, logs={"stdout": HOSTILE, "stderr": HOSTILE, "truncated": False},
    )  # fmt: skip
