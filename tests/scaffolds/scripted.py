"""Deterministic parts for tests of scaffolds: a scripted model, an executor that judges by table, a recorder in memory."""

import asyncio
import json
import random
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import torch

from agents import roles
from agents.budget import Limits
from agents.caller import Caller
from agents.ledger import Ledger
from agents.models.base import CallError, Identity, Reply, Request, Usage
from benchmark.checkers import close
from benchmark.task import Case, Contract, Task
from scaffolds.context import Context
from tests.agents.memory import MemoryRecorder
from tools.evaluation import CaseResult, Evaluation, Failure, TimedSize, Timing
from tools.settings import Settings

Script = Callable[[Request], Reply | CallError | str]


def double(x: torch.Tensor) -> torch.Tensor:
    """Twice the input."""
    return x * 2


TASK = Task(
    id="tests/double",
    category="Pointwise",
    source="tests",
    reference=double,
    cases=(Case("nominal", lambda draw: {"x": draw.normal(7)}), Case("held", lambda draw: {"x": draw.normal(11)}, held_out=True)),
    timing=(Case("large", lambda draw: {"x": draw.normal(64)}),),
    contract=Contract(close()),
)


def module(label: str) -> str:
    """A candidate that the table executor judges by its label: a verdict, or a speedup such as 1.5."""
    return f"# {label}\nLABEL = {label!r}\n\n\ndef double(x):\n    return x\n"


def fenced(label: str, strategy: str = "simple") -> str:
    return f"Strategy: {strategy}\n```python\n{module(label)}```\n"


def reply_for(request: Request, label: str, strategy: str = "tile") -> str:
    """A reply as the request's role is read: an author's module is judged by `label`, a planner wants `strategy`."""
    who = request.identity
    reads = roles.find(who.role).reads
    if reads == "plan":
        return f"Strategy: {strategy}: another one\nEdit: lines 1-2: make it {label}\nExpected: {label} times the speed\nRisk: none known\n"
    if reads == "diagnosis":
        return "Bottleneck: occupancy\nEvidence: 12 % of the warps\n"
    if reads == "reflection":
        return f"Cause: a mask\nFix: add it\nLesson: lesson {who.round}.{who.lineage}\n"
    return fenced(label, strategy)


FAILURES: dict[str, str | CallError | Reply] = {
    "no code": "Sorry.",
    "garbage": "\udcff\x00``` ~~~ ```json\n{",
    "wrong": fenced("wrong_numeric"),
    "crash": fenced("crash"),
    "refuses": Reply("I cannot help with that.", "m", finish_reason="refusal"),
    "truncated": "```python\nimport tri",
    "empty": "",
    "declined": CallError("declined", "no"),
    **{outcome: CallError(outcome, outcome) for outcome in ("timeout", "cut_stream", "context_overflow", "refused")},
}
"""Every way in which a model can fail. Where it cannot be asked at all (`OUTAGES`), it has not failed."""


def chaotic(seed: int) -> Script:
    """Any failure, any speed, in the role's format, by the request's identity alone."""

    def script(request: Request) -> str | CallError | Reply:
        rng = random.Random(f"{seed}/{request.identity.key}")
        if rng.random() < 0.4:
            return FAILURES[rng.choice(list(FAILURES))]
        label = rng.choice(["wrong_numeric", "timeout", f"{rng.uniform(0.5, 3):.2f}"])
        return reply_for(request, label, rng.choice(["tile", "fuse"]))

    return script


class ScriptedModel:
    """Answers by a function of the request; `jitter` permutes the order in which concurrent calls finish."""

    name = "scripted"
    free = True
    sampling: dict[str, Any] = {}

    def __init__(self, script: Script, jitter: int | None = None):
        self.script = script
        self.rng = random.Random(jitter) if jitter is not None else None
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        if self.rng:
            await asyncio.sleep(self.rng.random() * 0.005)
        answer = self.script(request)
        if isinstance(answer, CallError):
            raise answer
        if isinstance(answer, Reply):
            return answer
        usage = Usage(input=100, output=10)
        return Reply(answer, self.name, usage=usage, usage_raw={"input": 100, "output": 10})

    async def close(self) -> None:
        return None


class TableExecutor:
    """Judges by a candidate's first line: `# 1.5` passes with that speedup, `# pass` without a measurement, else the verdict it names."""

    def __init__(self, jitter: int | None = None):
        self.rng = random.Random(jitter) if jitter is not None else None
        self.judged: list[str] = []

    async def evaluate(self, candidate: str, task: Task, settings: Settings) -> Evaluation:
        self.judged.append(candidate)
        if self.rng:
            await asyncio.sleep(self.rng.random() * 0.005)
        return verdict_of(candidate.split("\n")[0].removeprefix("# ").split(" ")[0], task)

    async def close(self) -> None:
        return None


def verdict_of(label: str, task: Task = TASK) -> Evaluation:
    done = Evaluation("", task.id, task.sha, mode="device", verdict=label, stage="timing", compiled=True)
    if label[0].isdigit():
        done.verdict, done.correct = "pass", True
        done.timing = Timing("eager", [TimedSize("large", 10.0, 10.0 / float(label), float(label), [1.0, 2.0])], float(label), [1.0, 2.0])
    elif label == "pass":
        done.correct, done.no_timing = True, "simulated"
    else:
        done.stage, done.error = "correctness", Failure(label, f"it is {label}")
        done.cases = [CaseResult("nominal", False, False, 0.5, 0.25, [3], 0.75, 1e-5, label)]
    return done


class Recorder(MemoryRecorder):
    """One object over two contexts is a resumed run."""

    async def write_evaluation(self, identity: Identity, evaluation: Evaluation) -> None:
        assert identity.key not in self.evaluations, "an identity is never reused"
        await super().write_evaluation(identity, Evaluation.from_dict(json.loads(json.dumps(evaluation.to_dict()))))

    def lines(self) -> list[dict[str, Any]]:
        """Attempts in the order of their ids, as records."""
        return [asdict(self.attempts[key]) for key in sorted(self.attempts)]


def context(
    script: Script,
    recorder: Any = None,
    executor: TableExecutor | None = None,
    limits: Limits | None = None,
    jitter: int | None = None,
    seed: int = 0,
) -> Context:
    store, trajectory = recorder or Recorder(), f"tests/double-{seed}"
    ledger = Ledger(limits)
    if isinstance(store, Recorder):
        ledger.restore(store.calls, [(trajectory, 0.0) for e in store.evaluations.values() if e.candidate_sha])
    model = ScriptedModel(script, jitter)
    return Context(
        task=TASK,
        trajectory=trajectory,
        scaffold="scripted",
        model_name="scripted",
        seed=seed,
        caller=Caller(model, store, ledger, tries=2, first_wait_s=0.0),
        executor=executor or TableExecutor(jitter),
        settings=Settings(),
        recorder=store,
        ledger=ledger,
        hardware=None,
        rng=random.Random(seed),
    )
