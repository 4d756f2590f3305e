"""`ask` and `evaluate`: everything on record, the journal first, and no champion lost."""

from dataclasses import replace

import pytest

from agents import feedback
from agents.budget import BudgetExhausted, Limits
from agents.caller import Diverged
from agents.models.base import OUTAGES, CallError, Reply, Request
from scaffolds.context import Context, Outage
from tests.scaffolds.scripted import Recorder, TableExecutor, context, fenced, module


async def generated(ctx: Context, lineage: int = 0, round: int = 0):  # type: ignore[no-untyped-def]
    answer = await ctx.ask("generator", ctx.brief("generator"), round=round, lineage=lineage, author=1, authors=1, rounds_left=0)
    return await ctx.evaluate(answer, round=round, lineage=lineage)


async def test_an_attempt_is_on_record_with_its_tokens_and_kernel() -> None:
    ctx = context(lambda _: fenced("1.5", "tile"))
    attempt = await generated(ctx)
    line = ctx.recorder.lines()[0]
    assert (attempt["id"], attempt["speedup"], attempt["strategy"]) == ("000.00.00", 1.5, "tile")
    assert (line["verdict"], line["tokens"], line["cost_usd"], line["parse"]) == ("pass", 110, 0.0, "ok")
    assert ctx.recorder.kernel(line["kernel_sha"]) == module("1.5")
    assert line["calls"] == ["tests/double-0/generator/0/0/0"]


async def test_a_reply_without_code_is_an_attempt_that_no_executor_saw() -> None:
    executor = TableExecutor()
    ctx = context(lambda _: "I would rather not.", executor=executor)
    attempt = await generated(ctx)
    line = ctx.recorder.lines()[0]
    assert (attempt["verdict"], line["parse"], line["error"]) == ("no_code", "no fenced code block", "no fenced code block")
    assert line["tokens"] == 110
    assert executor.judged == []


@pytest.mark.parametrize("outcome", ["timeout", "context_overflow", "refused", "cut_stream"])
async def test_a_failed_call_is_an_attempt_with_its_outcome(outcome: str) -> None:
    ctx = context(lambda _: CallError(outcome, "no luck"))
    attempt = await generated(ctx)
    assert attempt["verdict"] == "no_code"
    assert ctx.recorder.lines()[0]["parse"].startswith(f"{outcome}: no luck")


@pytest.mark.parametrize("outcome", sorted(OUTAGES))
async def test_an_outage_books_no_attempt_and_the_call_is_asked_again(outcome: str) -> None:
    recorder = Recorder()
    with pytest.raises(Outage, match=rf"scripted does not answer \({outcome}\)\. no luck"):
        await generated(context(lambda _: CallError(outcome, "no luck"), recorder))
    assert not recorder.attempts
    assert not recorder.evaluations
    assert (await generated(context(lambda _: fenced("1.5"), recorder)))["verdict"] == "pass"


async def test_a_candidate_that_could_not_be_judged_is_judged_again() -> None:
    recorder, limits = Recorder(), Limits(evaluations=1)
    ctx = context(lambda _: fenced("infra_error"), recorder, limits=limits)
    with pytest.raises(Outage, match="could not judge a candidate: it is infra_error"):
        await generated(ctx)
    assert not recorder.attempts
    assert not recorder.evaluations
    assert ctx.ledger.spent.evaluations == 0

    class Mended(TableExecutor):
        async def evaluate(self, candidate, task, settings):  # type: ignore[no-untyped-def]
            return await super().evaluate(module("1.5"), task, settings)

    again = await generated(context(lambda _: "not asked", recorder, Mended(), limits))
    assert again["verdict"] == "pass"


async def test_a_call_is_on_record_with_how_its_reply_was_read() -> None:
    replies: dict[str, str | Reply] = {"generator": "No.", "repairer": Reply("not mine", "m", finish_reason="declined"), "reflector": ""}
    ctx = context(lambda r: replies[r.identity.role])
    attempt = await generated(ctx)
    more = {"note": "", "author": 1, "authors": 1, "rounds_left": 0}
    for role in ("repairer", "reflector"):
        await ctx.ask(role, replace(ctx.brief(role, attempt), parent="# code"), round=1, **more)
    assert [call.parse for call in ctx.recorder.calls] == ["no fenced code block", "declined: not mine", "empty"]


async def test_declining_is_told_apart_from_failing() -> None:
    by_error = context(lambda _: CallError("declined", "cannot write it"))
    by_reply = context(lambda _: Reply("cannot write it", "m", finish_reason="declined"))
    for ctx in (by_error, by_reply):
        attempt = await generated(ctx)
        assert (attempt["declined"], attempt["verdict"]) == (True, "no_code")
        assert ctx.recorder.lines()[0]["parse"] == "declined: cannot write it"


async def test_a_recorded_evaluation_is_not_made_again() -> None:
    recorder, executor = Recorder(), TableExecutor()
    first = await generated(context(lambda _: fenced("1.5"), recorder, executor))
    again = await generated(context(lambda _: fenced("9.9"), recorder, executor))
    assert first == again
    assert len(executor.judged) == 1
    assert len(recorder.calls) == 1


async def test_another_candidate_under_a_recorded_evaluation_is_divergence() -> None:
    recorder = Recorder()
    await generated(context(lambda _: fenced("1.5"), recorder))
    recorder.calls.clear()
    with pytest.raises(Diverged, match="evaluation/0"):
        await generated(context(lambda _: fenced("9.9"), recorder))


async def test_another_prompt_under_a_recorded_call_is_divergence() -> None:
    recorder = Recorder()
    await generated(context(lambda _: fenced("1.5"), recorder))
    ctx = context(lambda _: fenced("1.5"), recorder)
    with pytest.raises(Diverged, match="generator/0"):
        await ctx.ask("generator", ctx.brief("generator"), round=0, author=1, authors=1, rounds_left=7)


async def test_the_champion_is_the_fastest_pass_and_is_kept() -> None:
    labels = ["wrong_numeric", "1.1", "2.0", "1.5", "timeout"]
    ctx = context(lambda r: fenced(labels[r.identity.lineage]))
    for lineage in range(len(labels)):
        await generated(ctx, lineage)
    assert ctx.champion is not None
    assert ctx.champion["id"] == "000.02.00"


async def test_an_evaluation_beyond_the_budget_is_not_made() -> None:
    executor = TableExecutor()
    ctx = context(lambda _: fenced("1.5"), executor=executor, limits=Limits(evaluations=1))
    await generated(ctx)
    with pytest.raises(BudgetExhausted):
        await generated(ctx, round=1)
    assert len(executor.judged) == 1


async def test_a_crashing_executor_gives_its_reservation_back() -> None:
    class Broken(TableExecutor):
        async def evaluate(self, candidate, task, settings):  # type: ignore[no-untyped-def]
            raise RuntimeError("out of order")

    ctx = context(lambda _: fenced("1.5"), executor=Broken(), limits=Limits(evaluations=1))
    with pytest.raises(RuntimeError):
        await generated(ctx)
    assert ctx.ledger.reserved.evaluations == 0


async def test_a_brief_carries_source_and_public_digest_of_the_parent() -> None:
    ctx = context(lambda _: fenced("wrong_numeric"))
    attempt = await generated(ctx)
    brief = ctx.brief("repairer", attempt, lessons=["mask"])
    assert brief.parent == module("wrong_numeric")
    assert brief.digest is not None
    assert brief.digest["failing"][0]["wrong"] == 0.25
    assert brief.lessons == ("mask",)


async def test_the_prompt_holds_the_task_and_no_held_out_case() -> None:
    asked: list[Request] = []

    def script(request: Request) -> str:
        asked.append(request)
        return fenced("1.5")

    await generated(context(script))
    text = "".join(m["content"] for m in asked[0].messages)
    assert "Twice the input." in text
    assert "(7,)" in text
    assert "(11,)" not in text


async def test_what_a_prompt_says_of_an_evaluation_is_bounded() -> None:
    asked: list[str] = []

    def script(request: Request) -> str:
        asked.append(request.messages[-1]["content"])
        return fenced("wrong_numeric")

    ctx = context(script)
    attempt = await generated(ctx)
    for round, tokens in enumerate((feedback.MAX_TOKENS, feedback.MIN_TOKENS), 1):
        ctx.feedback_tokens = tokens
        await ctx.ask("repairer", ctx.brief("repairer", attempt), round=round, note="", rounds_left=0)
    assert [feedback.CUT in text for text in asked] == [False, False, True]
