"""The agents over a tree of attempts, with scripted replies: who is asked what, what is masked, what is dropped, and order."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents import rules
from agents.budget import Limits
from agents.models.base import CallError, Reply, Request, Usage
from agents.recorder import TrajectoryRecord
from agents.strategies import STRATEGIES
from benchmark.errors import UserError
from scaffolds import loader, multiagent, trajectory
from scaffolds.context import Context
from scaffolds.rank import better
from tests.scaffolds.scripted import FAILURES, Recorder, Script, chaotic, context, reply_for

Lines = list[dict[str, Any]]
JUDGED = "Bottleneck: occupancy\nEvidence: 12 % of the warps\n"


async def run(script: Script, *, jitter: int | None = None, limits: Limits | None = None, recorder: Recorder | None = None, seed: int = 0,
              **options: Any) -> tuple[TrajectoryRecord, Lines, Context]:  # fmt: skip
    ctx = context(script, recorder, limits=limits, jitter=jitter, seed=seed)
    record = await trajectory.run("multiagent", loader.build_config("multiagent", options), ctx)
    return record, ctx.recorder.lines(), ctx  # type: ignore[attr-defined]


Said = str | Reply | CallError | Callable[[Request], str | Reply | CallError]


def by_role(**said: Said) -> Script:
    """A label by role for authors, a whole reply for the others; what is not given is `reply_for`'s."""

    def script(request: Request) -> str | Reply | CallError:
        one = said.get(request.identity.role, "1.0")
        found = one(request) if callable(one) else one
        authors = request.identity.role in ("generator", "coder", "debugger")
        if isinstance(found, str) and (authors or request.identity.role not in said):
            return reply_for(request, found)
        return found

    return script


def faster(request: Request) -> str:
    return f"{1 + request.identity.round + request.identity.lineage / 10:.1f}"


def requests(ctx: Context, role: str) -> list[Request]:
    made = [r for r in ctx.caller.model.requests if r.identity.role == role]  # type: ignore[attr-defined]
    return sorted(made, key=lambda r: (r.identity.round, r.identity.lineage))


def prompt_of(ctx: Context, role: str, nth: int = 0) -> str:
    content = requests(ctx, role)[nth].messages[1]["content"]
    assert isinstance(content, str)
    return content


ONE: dict[str, Any] = {"seeds": 1, "width": 1, "epsilon": 0.0}


async def test_a_passing_node_is_judged_planned_coded_and_criticised() -> None:
    record, lines, ctx = await run(by_role(coder=faster), rounds=3, **ONE)
    asked = [r.identity.role for r in ctx.caller.model.requests]  # type: ignore[attr-defined]
    assert asked == ["generator", "judge", "planner", "coder", "critic", "judge", "planner", "coder"]
    assert [(a["attempt"], a["role"], a["parents"]) for a in lines] == [
        ("000.00.00", "generator", []),
        ("001.00.00", "coder", ["000.00.00"]),
        ("002.00.00", "coder", ["001.00.00"]),
    ]
    assert (record.end_reason, record.champion) == ("rounds", "002.00.00")


async def test_a_round_with_all_roles_takes_four_batches_and_the_last_has_no_critic() -> None:
    for rounds in (1, 2, 4):
        _, _, ctx = await run(by_role(coder=faster), rounds=rounds)
        waves = {(r.identity.round, r.identity.role) for r in ctx.caller.model.requests}  # type: ignore[attr-defined]
        assert len(waves) == multiagent.Config(rounds=rounds).batches


async def test_seeds_lean_on_differing_approaches() -> None:
    _, _, ctx = await run(by_role(), rounds=1, seeds=3)
    offered = [r.brief.strategies for r in requests(ctx, "generator")]
    assert len(set(offered)) == 3
    assert offered[0] == ()


async def test_the_planner_sees_the_bottleneck_the_leaders_and_what_was_tried() -> None:
    script = by_role(generator=lambda r: ["1.0", "1.1", "1.2", "3.0"][r.identity.lineage], coder="0.5", judge=JUDGED)
    _, _, ctx = await run(script, rounds=3, seeds=4, width=1, epsilon=0.0)
    prompt = prompt_of(ctx, "planner", 1)
    assert "occupancy: 12 % of the warps" in prompt
    assert "- tile: another one (3.00x before, 0.50x after)" in prompt
    leaders = [a.attempt for a in requests(ctx, "planner")[1].brief.ancestors]
    assert leaders == ["000.02.00", "000.01.00"]
    assert "   1| # 3.0" in prompt


async def test_the_coder_sees_one_node_and_the_anchors_alone() -> None:
    script = by_role(generator=lambda r: f"1.{r.identity.lineage}", critic="Lesson: never mind\n", coder=faster)
    _, _, ctx = await run(script, rounds=3, seeds=2, width=1, epsilon=0.0)
    request = requests(ctx, "coder")[1]
    prompt = prompt_of(ctx, "coder", 1)
    assert "1. Lines 1-2: make it 1.0" in prompt
    assert "   1| # 2.0" in prompt
    assert (request.brief.ancestors, request.brief.lessons) == ((), ())
    assert "never mind" not in prompt
    assert "never mind" in prompt_of(ctx, "planner", 1)


async def test_the_critic_sees_what_was_expected_and_what_came_of_it() -> None:
    plan = "Strategy: tile: wider\nEdit: line 1: widen\nExpected: 9 times the speed\nRisk: spills\n"
    _, _, ctx = await run(by_role(planner=plan, coder="0.5"), rounds=3, **ONE)
    prompt = prompt_of(ctx, "critic")
    assert "Expected: 9 times the speed" in prompt
    assert "\n-# 1.0\n" in prompt
    assert "\n+# 0.5\n" in prompt
    assert prompt.index("1.000x") < prompt.index("0.500x")
    assert "not followed" not in prompt


async def test_a_coder_that_changes_other_lines_did_not_follow_and_the_critic_is_told() -> None:
    plan = "Strategy: tile: wider\nEdit: line 6: return it twice\n"
    _, _, ctx = await run(by_role(planner=plan, coder="0.5"), rounds=3, **ONE)
    assert "was not followed" in prompt_of(ctx, "critic")
    events = ctx.recorder.events  # type: ignore[attr-defined]
    assert next(fields["followed"] for name, fields in events if name == "plan") is False


async def test_what_the_critic_says_to_avoid_and_to_try_reaches_the_next_planner() -> None:
    critic = "Actual: no gain\nAvoid: wider tiles, they spill\nTry: more warps\nLesson: registers are scarce\n"
    _, _, ctx = await run(by_role(critic=critic, coder="0.5"), rounds=3, **ONE)
    lessons = requests(ctx, "planner")[1].brief.lessons
    assert lessons == ("registers are scarce", "Avoid: wider tiles, they spill", "Try: more warps")


async def test_strategies_that_rules_mask_are_not_offered_and_not_carried_out() -> None:
    masked = rules.masked({"verdict": "pass", "traffic": None}, None)
    plan = "Strategy: fuse: all of it\nEdit: lines 1-2: fuse\n"
    _, lines, ctx = await run(by_role(planner=plan, judge=JUDGED), rounds=2, **ONE)
    offered = requests(ctx, "planner")[0].brief.strategies
    assert not masked
    assert set(offered) == {name for name in STRATEGIES if "occupancy" in STRATEGIES[name].serves}
    assert len(offered) > 2
    assert "fuse" not in prompt_of(ctx, "planner").partition("## Your plan")[2]
    assert lines[1]["strategy"].startswith(f"{offered[0]}: ")
    coder = requests(ctx, "coder")[0].brief.plan
    assert coder is not None
    assert [(e.first, e.last) for e in coder.edits] == [(1, 6)]


async def test_the_planner_is_told_what_rules_mask_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "RULES", {"tile": (lambda counts, hardware: "the device has no tiles",)})
    _, _, ctx = await run(by_role(judge=JUDGED), rounds=2, **ONE)
    assert "tile" not in requests(ctx, "planner")[0].brief.strategies
    assert "- `tile`: the device has no tiles" in prompt_of(ctx, "planner")


async def test_what_was_tried_in_vain_on_a_node_is_not_offered_again() -> None:
    _, _, ctx = await run(by_role(coder="0.5", judge=JUDGED), rounds=3, **ONE)
    first, second = (set(r.brief.strategies) for r in requests(ctx, "planner"))
    assert first - second == {"tile"}


async def test_branches_on_one_node_are_offered_different_strategies() -> None:
    _, _, ctx = await run(by_role(coder=faster, judge=JUDGED), rounds=2, seeds=1, epsilon=0.0)
    one, other = (set(r.brief.strategies) for r in requests(ctx, "planner"))
    assert one
    assert other
    assert one & other == {"launch"}
    assert "planner 2 of 2" in prompt_of(ctx, "planner", 1)


@pytest.mark.parametrize("judge", ["Bottleneck: latency and spills\n", "I cannot tell.", "", CallError("timeout", "slow")])
async def test_where_the_judge_names_none_or_two_the_rule_stands(judge: Any) -> None:
    _, _, ctx = await run(by_role(judge=judge), rounds=2, **ONE)
    diagnosis = requests(ctx, "planner")[0].brief.diagnosis
    assert diagnosis is not None
    assert (diagnosis.bottleneck, diagnosis.evidence) == ("latency", "no count shows another bottleneck")


@pytest.mark.parametrize("planner", ["Just make it faster.", "", CallError("context_overflow", "long")])
async def test_without_a_plan_that_can_be_read_a_rule_plans(planner: Any) -> None:
    _, lines, ctx = await run(by_role(planner=planner, coder=faster), rounds=2, **ONE)
    assert [a["role"] for a in lines] == ["generator", "coder"]
    assert requests(ctx, "coder")[0].brief.plan is not None


async def test_a_planner_that_declines_ends_its_branch() -> None:
    declined = Reply("no more", "m", finish_reason="declined")
    record, lines, ctx = await run(by_role(planner=declined), rounds=9, patience=2, **ONE)
    assert [(a["role"], a["verdict"]) for a in lines] == [("generator", "pass"), ("planner", "no_code"), ("planner", "no_code")]
    assert requests(ctx, "coder") == requests(ctx, "critic") == []
    assert record.end_reason == "stagnation"


async def test_a_failing_node_is_debugged_with_the_change_that_broke_it() -> None:
    script = by_role(generator="1.0", coder="wrong_numeric", debugger="2.0")
    record, lines, ctx = await run(script, rounds=3, **ONE)
    assert [(a["role"], a["verdict"], a["parents"]) for a in lines] == [
        ("generator", "pass", []),
        ("coder", "wrong_numeric", ["000.00.00"]),
        ("debugger", "pass", ["001.00.00"]),
    ]
    prompt = prompt_of(ctx, "debugger")
    assert "\n-# 1.0\n" in prompt
    assert "\n+# wrong_numeric\n" in prompt
    assert "25 % of elements wrong" in prompt
    assert [a.attempt for a in requests(ctx, "debugger")[0].brief.ancestors] == ["000.00.00"]
    assert record.champion == "002.00.00"


async def test_a_failing_seed_is_debugged_without_a_change() -> None:
    _, _, ctx = await run(by_role(generator="crash", debugger="1.0"), rounds=2, **ONE)
    assert "The change that broke it" not in prompt_of(ctx, "debugger")


async def test_a_repair_that_worked_is_shown_to_the_next_debugger() -> None:
    labels = {1: "1.5", 3: "2.0"}
    script = by_role(generator="wrong_numeric", debugger=lambda r: labels[r.identity.round], coder="crash")
    _, _, ctx = await run(script, rounds=4, **ONE)
    assert [r.identity.round for r in requests(ctx, "debugger")] == [1, 3]
    prompt = prompt_of(ctx, "debugger", 1)
    assert "It failed with wrong_numeric" in prompt
    assert "\n-# wrong_numeric\n" in prompt
    assert "\n+# 1.5\n" in prompt


async def test_a_node_is_dropped_after_its_third_failed_repair() -> None:
    script = by_role(generator="crash", debugger=lambda r: f"crash {r.identity.round}")
    _, lines, _ = await run(script, rounds=6, **ONE)
    assert [a["role"] for a in lines] == ["generator", "debugger", "debugger", "debugger", "generator", "debugger"]
    assert [a["parents"] for a in lines[1:5]] == [["000.00.00"], ["001.00.00"], ["002.00.00"], []]


async def test_a_repair_without_code_counts_and_the_code_stays() -> None:
    _, lines, _ = await run(by_role(generator="crash", debugger=CallError("refused", "no")), rounds=4, **ONE)
    assert [a["parents"] for a in lines] == [[], ["000.00.00"], ["000.00.00"], ["000.00.00"]]


async def test_a_failing_branch_is_debugged_while_another_is_improved() -> None:
    script = by_role(generator=lambda r: ["1.0", "crash"][r.identity.lineage], debugger="1.2", coder="1.1")
    _, lines, _ = await run(script, rounds=2, epsilon=1.0, seed=4)
    assert {(a["role"], a["parents"][0]) for a in lines[2:]} == {("coder", "000.00.00"), ("debugger", "000.01.00")}


async def test_a_different_seed_explores_differently_and_the_same_one_alike() -> None:
    def parents(lines: Lines) -> list[list[str]]:
        return [a["parents"] for a in lines]

    script = by_role(generator=lambda r: f"1.{r.identity.lineage}", coder="0.5")
    runs = [parents((await run(script, rounds=6, seeds=4, patience=9, epsilon=0.8, seed=seed))[1]) for seed in (1, 1, 2, 3)]
    assert runs[0] == runs[1]
    assert len({str(made) for made in runs}) > 1


async def test_without_exploration_the_search_stays_with_the_best() -> None:
    script = by_role(generator=lambda r: f"1.{r.identity.lineage}", coder=faster)
    _, lines, _ = await run(script, rounds=4, seeds=3, width=1, epsilon=0.0)
    assert [a["parents"] for a in lines[3:]] == [["000.02.00"], ["001.00.00"], ["002.00.00"]]


async def test_without_a_measurement_the_first_pass_solves_it() -> None:
    record, lines, _ = await run(by_role(generator="pass"))
    assert (record.end_reason, len(lines)) == ("solved", 2)


async def test_without_a_gain_above_noise_it_stagnates() -> None:
    record, lines, _ = await run(by_role(coder="1.001"), rounds=9, patience=2, **ONE)
    assert (record.end_reason, max(a["round"] for a in lines)) == ("stagnation", 2)


async def test_a_model_that_declines_ends_it_after_one_round() -> None:
    record, lines, _ = await run(lambda _: Reply("not mine", "m", finish_reason="declined"))
    assert (record.end_reason, len(lines)) == ("declined", 2)


async def test_a_broken_task_ends_it() -> None:
    record, lines, _ = await run(by_role(generator="task_invalid"))
    assert (record.end_reason, len(lines)) == ("error", 2)


@pytest.mark.parametrize("limits", [Limits(evaluations=4), Limits(tokens=60_000)])
async def test_a_used_up_budget_ends_it_with_the_champion(limits: Limits) -> None:
    record, lines, ctx = await run(by_role(coder=faster), rounds=50, patience=50, limits=limits)
    assert record.end_reason == "budget"
    assert record.kernel_sha == max(lines, key=lambda a: a["speedup"])["kernel_sha"]
    assert ctx.ledger.reserved.tokens == 0


@pytest.mark.parametrize("way", FAILURES)
async def test_a_model_that_fails_in_one_way_ends_with_a_verdict_for_every_attempt(way: str) -> None:
    record, lines, _ = await run(lambda _: FAILURES[way], rounds=3)
    assert record.end_reason == ("declined" if way == "declined" else "rounds")
    assert all(a["verdict"] for a in lines)


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
async def test_in_random_trajectories_the_champion_is_the_best_attempt(seed: int) -> None:
    record, lines, ctx = await run(chaotic(seed), rounds=4, width=3, seed=seed % 7)
    best = None
    for attempt in ctx.attempts.values():
        best = better(best, attempt)
    assert record.champion == (best["id"] if best else None)
    assert record.end_reason in ("rounds", "stagnation", "declined")
    assert len({a["attempt"] for a in lines}) == len(lines)


@pytest.mark.parametrize("seed", [1, 2])
async def test_the_order_of_completion_changes_nothing(seed: int) -> None:
    def told(result: tuple[TrajectoryRecord, Lines, Context]) -> Any:
        record, lines, ctx = result
        asked = {r.identity.key: r.sha for r in ctx.caller.model.requests}  # type: ignore[attr-defined]
        return record.champion, record.end_reason, lines, asked

    runs = [told(await run(chaotic(seed), jitter=jitter, width=4, seeds=3)) for jitter in range(4)]
    assert all(made == runs[0] for made in runs)


@pytest.mark.parametrize("evaluations", [1, 2, 4])
async def test_a_run_that_stops_anywhere_goes_on_as_if_it_had_not(evaluations: int) -> None:
    whole, expected, _ = await run(chaotic(3), rounds=5, seed=3)
    recorder = Recorder()
    stopped, _, _ = await run(chaotic(3), rounds=5, seed=3, recorder=recorder, limits=Limits(evaluations=evaluations))
    assert stopped.end_reason == "budget"
    again, lines, _ = await run(chaotic(3), rounds=5, seed=3, recorder=recorder)
    assert lines == expected
    assert (again.champion, again.end_reason) == (whole.champion, whole.end_reason)


async def test_the_best_kernel_is_tuned_at_the_end_without_the_model() -> None:
    module = "Strategy: tile\n```python\n# {label} BLOCK\nBLOCK = 64\ndef double(x):\n    k[(1,)](x, BLOCK=BLOCK, num_warps=4)\n```\n"
    record, lines, ctx = await run(lambda r: module.replace("{label}", "1.5") if r.identity.role == "generator" else "no", rounds=1, tune=4)
    tuned = [a for a in lines if a["role"] == "tuner"]
    assert 0 < len(tuned) <= 4
    assert {tuple(a["parents"]) for a in tuned} == {("000.00.00",)}
    assert {r.identity.role for r in ctx.caller.model.requests} == {"generator"}  # type: ignore[attr-defined]
    assert record.end_reason == "rounds"


@pytest.mark.parametrize("rounds", [50, pytest.param(500, marks=pytest.mark.slow)])
async def test_state_stays_small_over_a_thousand_attempts(rounds: int) -> None:
    def script(request: Request) -> str:
        who = request.identity
        label = f"{1 + who.round / 100:.2f} {who.lineage}" if who.round % 3 else "wrong_numeric"
        if who.role == "planner":
            names = list(STRATEGIES)
            long = "x" * 5000
            return f"Strategy: {names[who.round % len(names)]} {long}\n" + f"Edit: line 1: {long}\nExpected: {long}\nRisk: {long}\n" * 9
        return f"Lesson: {'y' * 500} {who.round}\nAvoid: {'y' * 900}\n" if who.role == "critic" else reply_for(request, label, "x" * 400)

    config = multiagent.Config(rounds=rounds, patience=rounds)
    ctx = context(script)
    largest = 0
    graph = multiagent.build(config).compile()
    async for state in graph.astream({"stop": ""}, {"recursion_limit": 9999}, context=ctx, stream_mode="values"):
        largest = max(largest, len(json.dumps(state)))
    assert len(ctx.attempts) > 1.9 * rounds
    assert largest < 64 * 1024


@pytest.mark.parametrize(
    ("options", "said"), [({"width": 0}, "width must be at least 1"), ({"epsilon": -0.1}, "epsilon must be at least 0")]
)
def test_options_out_of_range_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        multiagent.Config(**options)


@pytest.mark.parametrize("role", ["judge", "planner", "coder", "critic"])
async def test_a_model_that_goes_away_in_any_role_comes_back_to_the_same_search(role: str) -> None:
    script = by_role(coder=faster)
    whole, expected, _ = await run(script, rounds=4)
    recorder = Recorder()
    gone = CallError("5xx", "gone", usage=Usage(), usage_source="provider")
    stopped, lines, _ = await run(lambda r: gone if r.identity.role == role else script(r), rounds=4, recorder=recorder)
    assert stopped.end_reason == "error"
    assert lines == [line for line in expected if line["round"] <= (role == "critic")]
    back, lines, _ = await run(script, rounds=4, recorder=recorder)
    assert lines == expected
    assert (back.champion, back.end_reason) == (whole.champion, whole.end_reason)
    answered = [call.identity.key for call in recorder.calls if call.outcome == "ok"]
    assert len(answered) == len(set(answered))
