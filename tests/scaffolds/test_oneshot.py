"""One-shot: best of k, or of what a budget of tokens pays for."""

import asyncio
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.budget import Limits
from agents.ledger import prompt_bound
from agents.models.base import CallError, Reply, Request, Usage
from scaffolds import trajectory
from scaffolds.oneshot import Config
from tests.scaffolds.scripted import context, fenced
from tests.scaffolds.test_tuning import SOURCE, tuning


def by_sample(*labels: str):  # type: ignore[no-untyped-def]
    return lambda request: fenced(labels[request.identity.sample])


async def test_the_best_of_k_is_the_champion() -> None:
    ctx = context(by_sample("1.5", "wrong_numeric", "2.5", "1.0"))
    record = await trajectory.run("oneshot", Config(samples=4), ctx)
    assert (record.champion, record.end_reason) == ("000.00.02", "solved")
    assert (record.totals["attempts"], record.totals["calls"], record.totals["tokens"]) == (4, 4, 440)


async def test_rounds_ask_for_so_many_samples_again() -> None:
    ctx = context(lambda request: fenced(f"{1 + request.identity.lineage / 10}"))
    record = await trajectory.run("oneshot", Config(samples=2, rounds=3), ctx)
    assert sorted(ctx.attempts) == ["000.00.00", "000.00.01", "000.01.00", "000.01.01", "000.02.00", "000.02.01"]
    assert (record.champion, record.end_reason) == ("000.02.00", "solved")


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


def costs(*tokens: int):  # type: ignore[no-untyped-def]
    """Samples of these costs, in the order in which they are asked for; the last one's for all that follow."""

    def script(request: Request) -> Reply:
        author = int(re.search(r"author (\d+)", request.messages[-1]["content"] + "author 1")[1])  # type: ignore[index]
        spent = tokens[min(author, len(tokens)) - 1]
        usage = Usage(input=spent - 10, output=10)
        return Reply(fenced("1.5"), "m", usage=usage, usage_raw={"input": spent - 10})

    return script


@pytest.mark.parametrize(("budget", "expected"), [(1000, 10), (1099, 10), (100, 1), (50, 1), (250, 2)])
async def test_a_budget_of_tokens_is_spent_as_far_as_whole_samples_go(budget: int, expected: int) -> None:
    record = await trajectory.run("oneshot", Config(tokens=budget), context(costs(100)))
    assert (record.totals["attempts"], record.totals["tokens"], record.end_reason) == (expected, expected * 100, "solved")


@given(budget=st.integers(1, 3000), tokens=st.lists(st.integers(40, 900), min_size=1, max_size=8), samples=st.integers(1, 4))
@settings(max_examples=20, deadline=None)
def test_it_goes_on_until_the_dearest_sample_would_not_fit(budget: int, tokens: list[int], samples: int) -> None:
    still, stirred = context(costs(*tokens)), context(costs(*tokens), jitter=budget)
    records = [asyncio.run(trajectory.run("oneshot", Config(samples, budget), ctx)) for ctx in (still, stirred)]
    spent = [sum(c.usage.total for c in ctx.recorder.calls) for ctx in (still, stirred)]
    dearest = max(c.usage.total for c in still.recorder.calls)
    assert spent[0] > budget - dearest, "what is left would hold another one"
    if tokens == sorted(tokens, reverse=True):
        first = sum(tokens[min(n, len(tokens) - 1)] for n in range(samples))
        assert spent[0] <= max(budget, first), "nothing was dearer than expected"
    assert still.recorder.lines() == stirred.recorder.lines()
    assert records[0].champion == records[1].champion


async def test_a_sample_of_unknown_usage_counts_by_its_upper_bound() -> None:
    def script(request: Request) -> Reply:
        return Reply(fenced("1.5"), "m")

    ctx = context(script)
    bound = prompt_bound(await first_request(script)) + ctx.sampling.max_tokens
    record = await trajectory.run("oneshot", Config(tokens=3 * bound - 1), ctx)
    assert record.totals["attempts"] == 2


async def first_request(script) -> Request:  # type: ignore[no-untyped-def]
    ctx = context(script)
    await trajectory.run("oneshot", Config(), ctx)
    return ctx.caller.model.requests[0]


async def test_samples_that_cost_nothing_do_not_go_on_for_ever() -> None:
    record = await trajectory.run("oneshot", Config(tokens=1000), context(lambda _: CallError("refused", "no")))
    assert (record.totals["attempts"], record.end_reason) == (1, "rounds")


async def test_without_a_speed_the_first_pass_ends_it() -> None:
    record = await trajectory.run("oneshot", Config(tokens=10_000), context(lambda _: fenced("pass")))
    assert (record.totals["attempts"], record.end_reason) == (1, "solved")


async def test_the_best_sample_is_tuned_at_the_end() -> None:
    ctx = tuning(by_number(SOURCE.replace("BLOCK = 64", "BLOCK = 32"), SOURCE))
    record = await trajectory.run("oneshot", Config(samples=2, tune=5), ctx)
    lines = ctx.recorder.lines()
    assert [(a["role"], a["parents"]) for a in lines] == [("generator", [])] * 2 + [("tuner", ["000.00.01"])] * 5
    assert (record.champion[:3], record.end_reason, record.totals["calls"]) == ("001", "solved", 2)


async def test_a_budget_that_ends_while_tuning_is_the_end_reason() -> None:
    ctx = tuning(by_number(SOURCE), limits=Limits(evaluations=3))
    record = await trajectory.run("oneshot", Config(tune=5), ctx)
    assert (record.end_reason, record.totals["attempts"]) == ("budget", 3)


def by_number(*sources: str):  # type: ignore[no-untyped-def]
    return lambda request: f"```python\n{sources[request.identity.sample]}```\n"
