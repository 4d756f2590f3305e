"""The tuner: variants of a settled kernel without a model, each an attempt of its own."""

import re

import pytest

from agents.budget import BudgetExhausted, Limits
from scaffolds.context import Answer, Context
from scaffolds.state import Attempt
from scaffolds.tuning import tune
from tests.scaffolds.scripted import Recorder, Script, TableExecutor, context, verdict_of
from tools.evaluation import Evaluation

SOURCE = """# 1.0
import triton
import triton.language as tl

BLOCK = 64

@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)

def double(x):
    kernel[(triton.cdiv(x.numel(), BLOCK),)](x, x, x.numel(), BLOCK=BLOCK, num_warps=4)
"""


class Hill(TableExecutor):
    """The speed rises up to a block of 512 and to 8 warps, and falls beyond; a block of 2048 does not compile."""

    async def evaluate(self, candidate, task, settings):  # type: ignore[no-untyped-def]
        await super().evaluate(candidate, task, settings)
        return verdict(candidate)


def verdict(candidate: str) -> Evaluation:
    block, warps = (int(re.search(rf"{name} ?= ?(\d+)", candidate)[1]) for name in ("BLOCK", "num_warps"))  # type: ignore[index]
    speed = 4.0 - abs(block.bit_length() - 10) / 4 - abs(warps.bit_length() - 4) / 4
    return verdict_of("compile_error" if block >= 2048 else f"{speed:.3f}")


async def settle(ctx: Context, source: str = SOURCE) -> Attempt:
    return await ctx.evaluate(Answer.made("generator", ctx.recorder.put_kernel(source), "simple"), round=0)


def tuning(script: Script = lambda _: "", recorder: Recorder | None = None, **options) -> Context:  # type: ignore[no-untyped-def]
    return context(script, recorder, Hill(options.get("jitter")), **options)


async def test_it_finds_what_is_faster_and_the_champion_is_its() -> None:
    ctx = tuning()
    settled = await settle(ctx)
    found = await tune(ctx, settled, 24, round=1)
    best = max(found, key=lambda a: a["speedup"] or 0.0)
    assert (best["speedup"], ctx.champion) == (4.0, best)
    assert best["strategy"] == "simple; launch: BLOCK 64 -> 512, kernel.num_warps 4 -> 8"


async def test_each_variant_is_an_attempt_of_the_tuner_at_no_cost() -> None:
    ctx = tuning()
    settled = await settle(ctx)
    found = await tune(ctx, settled, 6, round=1, lineage=2)
    assert [(a["round"], a["lineage"], a["sample"]) for a in found] == [(1, 2, n) for n in range(1, 7)]
    lines = ctx.recorder.lines()[1:]
    assert {(a["role"], a["tokens"], a["cost_usd"], *a["calls"], *a["parents"]) for a in lines} == {("tuner", 0, 0.0, settled["id"])}
    assert ctx.caller.model.requests == []


async def test_it_never_judges_a_kernel_twice() -> None:
    ctx = tuning()
    await tune(ctx, await settle(ctx), 200, round=1)
    assert len(set(ctx.executor.judged)) == len(ctx.executor.judged) > 15


@pytest.mark.parametrize("seed", range(3))
async def test_the_order_in_which_evaluations_end_changes_nothing(seed: int) -> None:
    still, stirred = tuning(), tuning(jitter=seed)
    assert await tune(still, await settle(still), 20, round=1) == await tune(stirred, await settle(stirred), 20, round=1)


async def test_resumed_it_judges_only_what_is_missing() -> None:
    whole, store = tuning(), Recorder()
    expected = await tune(whole, await settle(whole), 18, round=1)
    first = tuning(recorder=store, limits=Limits(evaluations=8))
    with pytest.raises(BudgetExhausted):
        await tune(first, await settle(first), 18, round=1)
    second = tuning(recorder=store)
    assert await tune(second, await settle(second), 18, round=1) == expected
    assert (len(first.executor.judged), len(second.executor.judged)) == (8, len(expected) + 1 - 8)


@pytest.mark.parametrize("label", ["pass", "wrong_numeric"])
async def test_without_a_speed_there_is_nothing_to_tune(label: str) -> None:
    ctx = context(lambda _: "")
    settled = await settle(ctx, SOURCE.replace("# 1.0", f"# {label}"))
    assert await tune(ctx, settled, 10, round=1) == []


async def test_a_source_without_parameters_is_left_as_it_is() -> None:
    ctx = context(lambda _: "")
    assert await tune(ctx, await settle(ctx, "# 1.5\ndef double(x):\n    return x\n"), 10, round=1) == []
