"""One-shot: best of k."""

import pytest

from agents.budget import Limits
from agents.models.base import CallError, Reply, Request
from scaffolds import trajectory
from scaffolds.oneshot import Config
from tests.scaffolds.scripted import context, fenced


def by_sample(*labels: str):  # type: ignore[no-untyped-def]
    return lambda request: fenced(labels[request.identity.sample])


async def test_the_best_of_k_is_the_champion() -> None:
    ctx = context(by_sample("1.5", "wrong_numeric", "2.5", "1.0"))
    record = await trajectory.run("oneshot", Config(samples=4), ctx)
    assert (record.champion, record.end_reason) == ("000.00.02", "solved")
    assert (record.totals["attempts"], record.totals["calls"], record.totals["tokens"]) == (4, 4, 440)


async def test_without_a_pass_it_ends_by_rounds() -> None:
    record = await trajectory.run("oneshot", Config(samples=2), context(by_sample("timeout", "crash")))
    assert (record.champion, record.kernel_sha, record.end_reason) == (None, None, "rounds")


async def test_a_model_that_declines_ends_it_so() -> None:
    record = await trajectory.run("oneshot", Config(samples=2), context(lambda _: CallError("declined", "no")))
    assert record.end_reason == "declined"


async def test_a_broken_task_ends_it_with_its_reason() -> None:
    record = await trajectory.run("oneshot", Config(samples=2), context(by_sample("task_invalid", "task_invalid")))
    assert (record.end_reason, record.error, record.totals["attempts"]) == ("error", "it is task_invalid", 2)


async def test_a_failing_call_loses_no_sibling() -> None:
    def script(request: Request) -> str | CallError:
        return CallError("context_overflow", "no") if request.identity.sample == 1 else fenced("1.5")

    ctx = context(script, jitter=1)
    await trajectory.run("oneshot", Config(samples=3), ctx)
    assert [line["verdict"] for line in ctx.recorder.lines()] == ["pass", "no_code", "pass"]


async def test_a_used_up_budget_loses_no_sibling_and_keeps_the_champion() -> None:
    ctx = context(by_sample("1.5", "1.6", "1.7"), limits=Limits(evaluations=2))
    record = await trajectory.run("oneshot", Config(samples=3), ctx)
    assert record.end_reason == "budget"
    assert len(ctx.recorder.lines()) == 2
    assert record.champion == ctx.recorder.lines()[-1]["attempt"]
    assert record.totals["calls"] == 3


@pytest.mark.parametrize("text", ["", "\udcff```python\n", "x" * 2_000_000, '{"code": "def double(x): return x"}'])
async def test_garbage_is_a_verdict(text: str) -> None:
    ctx = context(lambda _: Reply(text, "m"))
    record = await trajectory.run("oneshot", Config(), ctx)
    assert record.end_reason == "rounds"
    assert [line["verdict"] for line in ctx.recorder.lines()] == ["no_code"]
