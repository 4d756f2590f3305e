"""A trajectory always ends with a record, and says why."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents.models.base import Reply, Request
from benchmark.errors import UserError
from scaffolds import loader, trajectory
from scaffolds.context import Context
from tests.scaffolds.scripted import ScriptedModel, TableExecutor, context, fenced


def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, again: str = "not s['stop']") -> Callable[[Context], Any]:
    """Runs a scaffold of one node, which goes to itself while `again` holds of its state."""
    (tmp_path / "mine.py").write_text(
        "from dataclasses import dataclass\nfrom scaffolds.state import State\n"
        "@dataclass\nclass Config:\n    rounds: int = 2\n"
        f"async def step(state, runtime):\n    {body}\n"
        "def build(config):\n    from langgraph.graph import END, START, StateGraph\n"
        "    graph = StateGraph(State)\n    graph.add_node('step', step)\n    graph.add_edge(START, 'step')\n"
        f"    graph.add_conditional_edges('step', lambda s: 'step' if {again} else END, ['step', END])\n    return graph\n"
    )
    monkeypatch.setenv(loader.FILES, str(tmp_path / "mine.py"))
    return lambda ctx: trajectory.run("mine", loader.build_config("mine"), ctx)


async def test_an_endless_scaffold_stops_at_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = await plugin(tmp_path, monkeypatch, "return {'stop': ''}")(context(lambda _: ""))
    assert record.end_reason == "limit"


async def test_our_own_fault_is_a_traceback_on_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ctx = context(lambda _: "")
    with pytest.raises(KeyError):
        await plugin(tmp_path, monkeypatch, "raise KeyError('oops')")(ctx)
    (record,) = ctx.recorder.trajectories
    assert record.end_reason == "error"
    assert "KeyError: 'oops'" in record.error


async def test_a_champion_survives_a_fault_after_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = (
        "c = runtime.context\n"
        "    a = await c.ask('generator', c.brief('generator'), round=0, author=1, authors=1, rounds_left=0)\n"
        "    await c.evaluate(a, round=0)\n"
        "    raise RuntimeError"
    )
    ctx = context(lambda _: fenced("1.5"))
    with pytest.raises(RuntimeError):
        await plugin(tmp_path, monkeypatch, body)(ctx)
    (record,) = ctx.recorder.trajectories
    assert (record.end_reason, record.champion) == ("error", "000.00.00")


async def test_a_user_error_of_the_executor_passes_through(tmp_path: Path) -> None:
    class Unisolated(TableExecutor):
        async def evaluate(self, candidate, task, settings):  # type: ignore[no-untyped-def]
            raise UserError("cannot isolate")

    ctx = context(lambda _: fenced("1.5"), executor=Unisolated())
    with pytest.raises(UserError, match="cannot isolate"):
        await trajectory.run("oneshot", loader.build_config("oneshot"), ctx)
    assert ctx.recorder.trajectories == []


async def test_an_interruption_is_on_record_and_loses_no_reply() -> None:
    started = asyncio.Event()

    class Slow(TableExecutor):
        async def evaluate(self, candidate, task, settings):  # type: ignore[no-untyped-def]
            started.set()
            await asyncio.sleep(60)

    ctx = context(lambda _: fenced("1.5"), executor=Slow())
    running = asyncio.create_task(trajectory.run("oneshot", loader.build_config("oneshot"), ctx))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [t.end_reason for t in ctx.recorder.trajectories] == ["interrupted"]
    assert len(ctx.recorder.calls) == 1
    assert ctx.ledger.reserved.evaluations == 0


async def test_a_scaffold_that_gives_no_reason_ends_by_rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = plugin(tmp_path, monkeypatch, "return {'stop': ''}", again="False")
    assert (await run(context(lambda _: ""))).end_reason == "rounds"


async def test_totals_are_the_sum_of_all_calls_and_are_json() -> None:
    def script(request: Request) -> str:
        return "Lesson: mask" if request.identity.role == "reflector" else fenced("timeout")

    ctx = context(script)
    record = await trajectory.run("geak", loader.build_config("geak", {"rounds": 2}), ctx)
    roles = [call.identity.role for call in ctx.recorder.calls]
    assert sorted(roles) == ["generator", "generator", "reflector", "reflector", "repairer", "repairer"]
    assert record.totals["tokens"] == 6 * 110
    assert sum(line["tokens"] for line in ctx.recorder.lines()) == 4 * 110
    json.dumps(record.totals, allow_nan=False)


async def test_a_node_that_raises_in_a_fan_out_loses_no_siblings_reply() -> None:
    class Late(ScriptedModel):
        async def complete(self, request: Request) -> Reply:
            await asyncio.sleep(0.02 * request.identity.sample)
            return await super().complete(request)

    class Broken(TableExecutor):
        async def evaluate(self, candidate, task, settings):  # type: ignore[no-untyped-def]
            raise RuntimeError("out of order")

    ctx = context(lambda _: fenced("1.5"), executor=Broken())
    ctx.caller.model = Late(lambda _: fenced("1.5"))
    with pytest.raises(RuntimeError, match="out of order"):
        await trajectory.run("oneshot", loader.build_config("oneshot", {"samples": 4}), ctx)
    await ctx.caller.close()
    assert [t.end_reason for t in ctx.recorder.trajectories] == ["error"]
    assert [call.outcome for call in ctx.recorder.calls] == ["ok"] * 4
