"""Runs whose champions are kernels of ours, as the executor would have judged them, and packages of these."""

import asyncio
import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from agents.models.base import Identity
from experiments.export import kernels
from experiments.runs import Run
from experiments.store import RunStore
from tests.experiments import records
from tools.evaluation import CaseResult, Evaluation, TimedSize, Timing
from tools.tasks import find

GELU = (Path(kernels.__file__).parents[2] / "benchmark" / "kernels" / "kernelbench_x" / "gelu.py").read_text(encoding="utf-8")


def run(path: Path, sources: Mapping[str, str], speedup: float | None = None) -> Run:
    """Each task's champion by task id; measured on a device where a speedup is given."""
    environment = {"asked": {"tasks": {task: {} for task in sources}, "seeds": [0]}, "revision": "abc"}
    store = RunStore.create(path, "seed: 0\n", environment, {"models": {}})
    asyncio.run(fill(store, sources, speedup))
    store.close()
    return Run(path)


async def fill(store: RunStore, sources: Mapping[str, str], speedup: float | None) -> None:
    for task, source in sources.items():
        sha, trajectory = store.put_kernel(source), f"{task}@0"
        await store.write_evaluation(Identity(trajectory, "evaluation", 0), evaluation(task, sha, speedup))
        measured: dict[str, Any] = {} if speedup is None else {"speedup": speedup, "speedup_ci": [speedup, speedup], "no_speedup": None}
        await store.write_attempt(records.attempt(trajectory, kernel_sha=sha, **measured))
        await store.write_trajectory(records.trajectory(trajectory, kernel_sha=sha))


def evaluation(task_id: str, sha: str, speedup: float | None) -> Evaluation:
    task = find(task_id)
    timing = None
    if speedup is not None:
        sizes = [TimedSize(case.name, 10.0 * speedup, 10.0, speedup, [speedup, speedup]) for case in task.timing]
        timing = Timing("eager", sizes, speedup, [speedup, speedup], method="events")
    return Evaluation(
        sha, task_id, task_sha=task.sha, mode="simulated" if timing is None else "device", device="d", verdict="pass", stage="timing",
        compiled=True, correct=True, cases=[CaseResult(case.name, case.held_out, True) for case in task.cases if not case.device_only],
        timing=timing, no_timing="" if timing else "simulated device", versions={"python": "3", "torch": "2", "triton": "3", "driver": ""},
    )  # fmt: skip


def imported(out: Path, name: str) -> ModuleType:
    """The package, from its project folder. Names must differ: an operator of torch can be registered once in a process."""
    sys.path.insert(0, str(out))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(out))
