"""Every scaffold of ours against every way in which a model, an executor, a budget and a prompt can fail, and in every order."""

import asyncio
import random
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jinja2 import ChoiceLoader, DictLoader

import prompts
from agents import roles
from agents.budget import Limits, TrajectoryLimits
from agents.caller import Diverged
from agents.models.base import OUTAGES, CallError, Reply, Request, Usage
from benchmark.task import Task
from scaffolds import loader, trajectory
from scaffolds.rank import ordered, standing
from tests.scaffolds.family import OPTIONS, PLAIN, run, start
from tests.scaffolds.scripted import FAILURES, Recorder, Script, ScriptedModel, TableExecutor, chaotic, context, reply_for
from tools.evaluation import Evaluation
from tools.settings import Settings

every = pytest.mark.parametrize("name", PLAIN)
every_way = pytest.mark.parametrize("name", OPTIONS)
VERDICTS = {"wrong": {"wrong_numeric"}, "crash": {"crash"}}
WHEN: dict[str, Callable[[Request], bool]] = {
    "always": lambda r: True,
    "once something passed": lambda r: r.identity.round > 0,
    "in roles that write no code": lambda r: not roles.find(r.identity.role).writes,
    "in roles that write from others": lambda r: roles.find(r.identity.role).writes and r.identity.role != "generator",
}
MOST = 100
"""Attempts in one trajectory."""


def sound(request: Request) -> str:
    """In the role's format; each candidate passes, with a speed of its own."""
    return reply_for(request, f"{1 + random.Random(request.identity.key).random():.4f}")


def test_all_scaffolds_of_ours_are_tried_here() -> None:
    assert set(PLAIN) == {path.stem for path in loader.built_in()}


def failing(way: str, when: Callable[[Request], bool]) -> Script:
    return lambda request: FAILURES[way] if when(request) else sound(request)


@pytest.mark.sampled(96)
@every
@pytest.mark.parametrize("way", FAILURES)
@pytest.mark.parametrize("when", WHEN)
async def test_a_model_that_fails_ends_with_a_verdict_for_every_attempt(name: str, way: str, when: str) -> None:
    ran = await run(name, failing(way, WHEN[when]))
    assert ran.record.end_reason in ("solved", "rounds", "stagnation", "declined")
    assert 0 < len(ran.lines) < MOST
    passed = [line for line in ran.lines if line["verdict"] == "pass"]
    assert {line["verdict"] for line in ran.lines} - {"pass"} <= VERDICTS.get(way, {"no_code"}) | {"no_code"}
    assert bool(ran.record.champion) == bool(passed)
    if when == "always":
        assert not passed
        assert (ran.record.end_reason == "declined") == (way == "declined")


@every
@pytest.mark.parametrize("outcome", sorted(OUTAGES))
async def test_a_model_that_goes_away_loses_nothing_and_comes_back_to_the_same_search(name: str, outcome: str) -> None:
    whole, recorder = await run(name, chaotic(3)), Recorder()
    down = CallError(outcome, "gone", usage=Usage(), usage_source="provider")
    asked = 0

    def script(request: Request) -> str | CallError | Reply:
        nonlocal asked
        asked += 1
        return down if asked > 3 else chaotic(3)(request)

    gone = await run(name, script, recorder)
    assert (gone.record.end_reason, gone.record.error) == ("error", f"scripted does not answer ({outcome}). gone")
    assert all(line in whole.lines for line in gone.lines)
    assert (await run(name, chaotic(3), recorder)).outcome == whole.outcome


@every
@pytest.mark.parametrize("outcome", ["429", "5xx", "connection"])
async def test_a_model_that_answers_at_the_second_try_changes_nothing(name: str, outcome: str) -> None:
    tried: set[str] = set()

    def script(request: Request) -> str | CallError | Reply:
        first = request.identity.key not in tried
        tried.add(request.identity.key)
        return CallError(outcome, "later", usage=Usage(), usage_source="provider") if first else sound(request)

    assert (await run(name, script)).outcome == (await run(name, sound)).outcome


def wordy(request: Request) -> Reply:
    """As `sound`, with an output that counts in a budget of tokens."""
    usage = Usage(input=100, output=5000)
    return Reply(sound(request), "m", usage=usage, usage_raw={"input": 100, "output": 5000})


LIMITS = {
    "evaluations": Limits(evaluations=3),
    "tokens": Limits(tokens=30_000),
    "hardly any": Limits(tokens=1),
    "evaluations of the trajectory": Limits(trajectory=TrajectoryLimits(evaluations=3)),
    "tokens of the trajectory": Limits(trajectory=TrajectoryLimits(tokens=30_000)),
}


@every
@pytest.mark.parametrize("kind", LIMITS)
@pytest.mark.parametrize("script", [wordy, chaotic(1), chaotic(2)], ids=["sound", "1", "2"])
async def test_a_budget_is_kept(name: str, kind: str, script: Script) -> None:
    limits = LIMITS[kind]
    ran = await run(name, script, limits=limits)
    spent, reserved = ran.context.ledger.spent, ran.context.ledger.reserved
    assert spent.evaluations <= min(limits.evaluations or 99, limits.trajectory.evaluations or 99)
    assert spent.tokens <= min(limits.tokens or 10**9, limits.trajectory.tokens or 10**9)
    assert (reserved.evaluations, reserved.tokens) == (0, 0)
    assert all(line["verdict"] for line in ran.lines)
    if script is wordy:
        assert ran.record.end_reason == "budget"
        assert bool(ran.record.champion) == bool(ran.lines)


@every
@pytest.mark.parametrize("jitter", range(3))
async def test_tokens_that_end_for_one_branch_leave_no_siblings_reply_without_a_verdict(name: str, jitter: int) -> None:
    ran = await run(name, wordy, jitter=jitter, limits=Limits(tokens=30_000))
    answered = {call.identity.key for call in ran.context.recorder.calls if roles.find(call.identity.role).writes}  # type: ignore[attr-defined]
    assert answered
    assert {key for line in ran.lines for key in line["calls"]} >= answered
    assert ran.record.end_reason == "budget"


@every_way
@pytest.mark.parametrize("seed", [2])
async def test_the_order_of_completion_changes_nothing(name: str, seed: int) -> None:
    runs = [await run(name, chaotic(seed), seed=seed, jitter=jitter) for jitter in (None, *range(10))]
    assert all(ran.asked == runs[0].asked for ran in runs)
    assert all(ran.outcome == runs[0].outcome for ran in runs)


@every_way
async def test_the_same_seed_is_the_same_trajectory_and_seeds_matter_to_nothing_else(name: str) -> None:
    first, second = await run(name, chaotic(5), seed=5), await run(name, chaotic(5), seed=5)
    assert first.outcome == second.outcome
    assert first.asked == second.asked


@every
async def test_an_edited_prompt_says_where_it_diverged_and_spends_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    whole = await run(name, chaotic(4), recorder)
    environment = prompts.environment()
    for role in sorted(whole.roles):
        first = min(r.identity.round for r in whole.requests if r.identity.role == role)
        text = environment.loader.get_source(environment, f"{role}/system.j2")[0] + "Be quick.\n"  # type: ignore[union-attr]
        with monkeypatch.context() as edit:
            edit.setattr(environment, "loader", ChoiceLoader([DictLoader({f"{role}/system.j2": text}), environment.loader]))  # type: ignore[list-item]
            edit.setattr(environment, "cache", None)
            again = context(chaotic(4), recorder)
            with pytest.raises(Diverged, match=rf"{role}/{first}"):
                await start(name, again)
        assert again.caller.model.requests == []  # type: ignore[attr-defined]
        assert again.executor.judged == []  # type: ignore[attr-defined]
    assert (await run(name, chaotic(4), recorder)).outcome == whole.outcome


@every
@pytest.mark.parametrize("broken", [1, 2, 4])
async def test_a_node_that_raises_loses_no_siblings_reply(name: str, broken: int) -> None:
    class Broken(TableExecutor):
        async def evaluate(self, candidate: str, task: Task, settings: Settings) -> Evaluation:
            if len(self.judged) + 1 == broken:
                raise RuntimeError("out of order")
            return await super().evaluate(candidate, task, settings)

    class Late(ScriptedModel):
        async def complete(self, request: Request) -> Reply:
            await asyncio.sleep(0.005 * (request.identity.sample + request.identity.lineage))
            return await super().complete(request)

    recorder = Recorder()
    ctx = context(sound, recorder, Broken())
    ctx.caller.model = model = Late(sound)
    with pytest.raises(RuntimeError, match="out of order"):
        await start(name, ctx)
    assert [t.end_reason for t in recorder.trajectories] == ["error"]
    assert {call.identity for call in recorder.calls} == {request.identity for request in model.requests}
    assert {call.outcome for call in recorder.calls} == {"ok"}
    assert (await run(name, sound, recorder)).outcome == (await run(name, sound)).outcome


@every
async def test_a_trajectory_without_end_stops_at_its_limit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trajectory, "steps", lambda nodes, config: 1)
    ran = await run(name, sound)
    assert ran.record.end_reason == "limit"
    assert all(line["verdict"] == "pass" for line in ran.lines)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(OPTIONS)), st.integers(0, 10**6))
@example("geak", 0)
async def test_in_random_trajectories_the_champion_only_gets_better_and_is_the_best_attempt(name: str, seed: int) -> None:
    ran = await run(name, chaotic(seed), seed=seed)
    attempts = ran.context.attempts
    crowned = [attempts[fields["attempt"]] for event, fields in ran.context.recorder.events if event == "champion"]  # type: ignore[attr-defined]
    passing = [a for a in attempts.values() if a["verdict"] == "pass"]
    assert [standing(a) for a in crowned] == sorted(standing(a) for a in crowned)
    assert ran.record.champion == (ordered(passing)[0]["id"] if passing else None)
    assert ran.record.champion == (crowned[-1]["id"] if crowned else None)
    assert sorted(a["attempt"] for a in ran.lines) == sorted(attempts)
    assert ran.record.end_reason in ("solved", "rounds", "stagnation", "declined")
