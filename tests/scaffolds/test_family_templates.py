"""The embedded author in every scaffold: repairs from parent and digest alone, what it cannot write, and how searches differ."""

import random
from pathlib import Path
from typing import Any

import pytest
import torch

from agents.models.base import Reply, Request
from agents.models.templates import Templates, search
from agents.models.templates.author import Author
from agents.models.templates.flaws import FLAWS
from benchmark import suites
from benchmark.task import Task
from experiments import closing
from experiments.store import RunStore
from scaffolds.context import Context
from tests.agents.templates.operators import task as operator
from tests.scaffolds.family import PLAIN, Ran, start
from tests.scaffolds.scripted import ScriptedModel, TableExecutor, context, module
from tools.evaluation import Evaluation
from tools.executor import Executor
from tools.settings import Settings

SILU = next(t for t in suites.load("quick").tasks if t.name == "silu")
SORT = operator(lambda x: torch.sort(x).values, lambda d: {"x": d.normal(5)})
REPAIRS = {"repairer", "debugger"}
every = pytest.mark.parametrize("name", PLAIN)


class Graded(TableExecutor):
    """Judges the embedded author's modules without running them: what it would write by the same parameters passes, a defect fails."""

    async def evaluate(self, candidate: str, task: Task, settings: Settings) -> Evaluation:
        return await super().evaluate(module(self.label(candidate, task)), task, settings)

    def label(self, candidate: str, task: Task) -> str:
        parameters = search.read(candidate)
        assert parameters is not None
        clean = Author(task, 0.0, 0).write(parameters)
        if candidate.strip() == clean.strip():
            return f"{1 + random.Random(parameters.text()).random():.4f}"
        shown = next(flaw for flaw in FLAWS if flaw.mend(candidate, clean) is not None)
        return sorted(shown.verdicts)[-1]


def written(task: Task, flaws: float, seed: int = 0, recorder: RunStore | None = None) -> Context:
    """A context with an author who remembers nothing: each request is answered by a new one."""

    class Forgetful(ScriptedModel):
        async def complete(self, request: Request) -> Reply:
            self.requests.append(request)
            return await Templates({"flaws": flaws, "seed": seed}, lambda _: task).complete(request)

    ctx = context(lambda _: "", recorder, Graded(), seed=seed)
    ctx.task, ctx.caller.model = task, Forgetful(lambda _: "")
    return ctx


async def run(name: str, flaws: float = 0.0, seed: int = 0) -> Ran:
    ctx = written(SILU, flaws, seed)
    return Ran(await start(name, ctx), ctx)


@every
async def test_a_task_that_it_cannot_write_ends_declined_and_counts(name: str, tmp_path: Path) -> None:
    store = RunStore.create(tmp_path / "r", "{}", {}, {})
    ctx = written(SORT, 0.0, recorder=store)
    assert (await start(name, ctx)).end_reason == "declined"
    await store.saved()
    assert {(line["verdict"], line["parse"].partition(" I ")[0]) for line in store.attempts.values()} == {("no_code", "declined:")}
    assert any("correct 0/1" in line for line in closing.lines(store, [(ctx.trajectory, SORT.id, 0)]))
    store.close()


@every
async def test_it_writes_a_task_and_the_same_seed_writes_the_same(name: str) -> None:
    first, second = await run(name), await run(name)
    assert first.record.champion
    assert first.outcome == second.outcome


@pytest.mark.parametrize("name", [name for name in PLAIN if name != "oneshot"])
async def test_a_planted_defect_is_repaired_from_parent_and_digest_alone(name: str) -> None:
    repaired = 0
    for seed in (1, 2, 3):
        lines = {line["attempt"]: line for line in (await run(name, flaws=0.5, seed=seed)).lines}
        for line in lines.values():
            if line["role"] in REPAIRS and line["verdict"] == "pass":
                assert line["strategy"].startswith("repair: ")
                assert lines[line["parents"][0]]["verdict"] not in ("pass", "no_code")
                repaired += 1
    assert repaired


async def test_scaffolds_differ_in_who_writes_and_from_whom() -> None:
    ran = {name: (await run(name, flaws=0.5, seed=1)).lines for name in PLAIN}
    kinds = {name: frozenset((line["role"], len(line["parents"])) for line in lines) for name, lines in ran.items()}
    assert len(set(kinds.values())) == len(PLAIN), kinds
    assert kinds["oneshot"] == {("generator", 0)}
    depths = {name: max(depth(lines).values()) for name, lines in ran.items()}
    assert depths["oneshot"] == 0
    assert all(depths[name] > 1 for name in PLAIN if name != "oneshot"), depths


def depth(lines: list[dict[str, Any]]) -> dict[str, int]:
    """Of each attempt, how many generations led to it."""
    found: dict[str, int] = {}
    for line in lines:
        found[line["attempt"]] = max((found[parent] + 1 for parent in line["parents"]), default=0)
    return found


@pytest.mark.slow
@every
async def test_on_the_simulated_device_a_repair_passes_and_a_champion_is_found(name: str, executor: Executor) -> None:
    ctx = written(SILU, 0.5, 1)
    ctx.executor = executor
    ran = Ran(await start(name, ctx), ctx)
    assert ran.record.champion
    assert name == "oneshot" or any(line["role"] in REPAIRS and line["verdict"] == "pass" for line in ran.lines)
