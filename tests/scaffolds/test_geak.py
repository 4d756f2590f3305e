"""GEAK's graph with scripted replies: repair, restart with lessons, pool, stops, and order."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.budget import Limits, TrajectoryLimits
from agents.likeness import fingerprint
from agents.models.base import OUTAGES, CallError, Reply, Request, Usage
from agents.recorder import TrajectoryRecord
from benchmark.task import Task
from scaffolds import geak, loader, trajectory
from scaffolds.context import Context
from scaffolds.rank import better, standing
from tests.scaffolds.scripted import FAILURES, Recorder, Script, TableExecutor, chaotic, context, fenced
from tools.evaluation import Evaluation
from tools.settings import Settings

Lines = list[dict[str, Any]]
LAUNCHED = """import triton


@triton.jit
def kernel(x, BLOCK: tl.constexpr):
    pass


def double(x):
    kernel[(triton.cdiv(x.numel(), 256),)](x, BLOCK=256, num_warps=4)
    return x
"""


async def run(script: Script, *, jitter: int | None = None, limits: Limits | None = None, recorder: Recorder | None = None,
              **options: Any) -> tuple[TrajectoryRecord, Lines, Context]:  # fmt: skip
    ctx = context(script, recorder, limits=limits, jitter=jitter)
    record = await trajectory.run("geak", loader.build_config("geak", options), ctx)
    return record, ctx.recorder.lines(), ctx


def by_role(**labels: Callable[[Request], str]) -> Script:
    """Replies by role; a reflector that numbers its lessons by round and lineage."""

    def script(request: Request) -> str:
        who = request.identity
        if who.role == "reflector":
            return f"Cause: a mask\nFix: add it\nLesson: lesson {who.round}.{who.lineage}"
        return fenced(labels[who.role](request))

    return script


def prompts_of(ctx: Context, role: str) -> dict[tuple[int, int], str]:
    requests = ctx.caller.model.requests  # type: ignore[attr-defined]
    return {(r.identity.round, r.identity.lineage): r.messages[1]["content"] for r in requests if r.identity.role == role}


async def test_a_failing_candidate_is_reflected_on_and_repaired() -> None:
    script = by_role(generator=lambda _: "wrong_numeric", repairer=lambda _: "pass")
    record, lines, ctx = await run(script, descendants=1)
    assert [(a["attempt"], a["role"], a["verdict"], a["parents"]) for a in lines] == [
        ("000.00.00", "generator", "wrong_numeric", []),
        ("001.00.00", "repairer", "pass", ["000.00.00"]),
    ]
    assert (record.end_reason, record.champion) == ("solved", "001.00.00")
    prompt = prompts_of(ctx, "repairer")[1, 0]
    assert "# wrong_numeric" in prompt
    assert "25 % of elements wrong" in prompt
    assert "Cause: a mask" in prompt


async def test_after_the_debug_cap_a_lineage_restarts_with_its_lessons() -> None:
    script = by_role(generator=lambda r: f"timeout {r.identity.round}", repairer=lambda r: f"timeout {r.identity.round}")
    record, lines, ctx = await run(script, rounds=7, descendants=1, debug=2, correctness=1.0)
    assert [a["role"] for a in lines] == ["generator", "repairer", "repairer", "generator", "repairer", "repairer", "generator"]
    assert lines[3]["parents"] == []
    assert record.end_reason == "rounds"
    restart = prompts_of(ctx, "generator")[3, 0]
    assert all(f"- lesson {n}.0" in restart for n in range(3))


async def test_only_the_newest_lessons_are_kept() -> None:
    script = by_role(generator=lambda _: "timeout", repairer=lambda r: f"timeout {r.identity.round}")
    _, _, ctx = await run(script, rounds=6, descendants=1, debug=0, lessons=2, correctness=1.0)
    assert "- lesson 2.0" not in prompts_of(ctx, "generator")[5, 0]
    assert "- lesson 3.0\n- lesson 4.0" in prompts_of(ctx, "generator")[5, 0]


async def test_a_reply_without_code_is_not_repaired_but_asked_again() -> None:
    _, lines, ctx = await run(lambda _: "no code here", rounds=2, descendants=1)
    assert [(a["role"], a["verdict"]) for a in lines] == [("generator", "no_code")] * 2
    assert prompts_of(ctx, "reflector") == {}


async def test_a_repair_without_code_keeps_the_code_to_repair_and_its_note() -> None:
    def script(request: Request) -> str:
        who = request.identity
        if who.role == "repairer":
            return "Sorry." if who.round == 1 else fenced("pass")
        return "Cause: a mask" if who.role == "reflector" else fenced("crash")

    record, lines, ctx = await run(script, descendants=1)
    assert [(a["role"], a["verdict"], a["parents"]) for a in lines] == [
        ("generator", "crash", []),
        ("repairer", "no_code", ["000.00.00"]),
        ("repairer", "pass", ["000.00.00"]),
    ]
    assert list(prompts_of(ctx, "reflector")) == [(0, 0)]
    assert "Cause: a mask" in prompts_of(ctx, "repairer")[2, 0]
    assert record.end_reason == "solved"


async def test_passing_candidates_go_on_from_the_pool_best_first() -> None:
    speeds = {"generator": lambda r: ["1.0", "1.5"][r.identity.lineage], "optimiser": lambda r: f"{2 + r.identity.round * 0.5:.1f}"}
    record, lines, ctx = await run(by_role(**speeds), rounds=3)
    assert [a["parents"] for a in lines[2:4]] == [["000.01.00", "000.00.00"]] * 2
    assert record.champion == "002.00.00"
    prompt = prompts_of(ctx, "optimiser")[1, 0]
    assert prompt.index("# 1.5") < prompt.index("# 1.0")
    assert "bottleneck" in prompts_of(ctx, "reflector")[0, 0]


async def test_a_failing_lineage_is_repaired_while_another_is_optimised() -> None:
    script = by_role(generator=lambda r: ["1.0", "crash"][r.identity.lineage], optimiser=lambda _: "1.5", repairer=lambda _: "1.2")
    _, lines, _ = await run(script, rounds=2)
    assert [(a["role"], a["parents"]) for a in lines[2:]] == [("optimiser", ["000.00.00"]), ("repairer", ["000.01.00"])]


async def test_the_note_on_a_failing_candidate_does_not_reach_the_optimiser() -> None:
    script = by_role(generator=lambda r: ["1.0", "crash"][r.identity.lineage], optimiser=lambda r: f"1.{r.identity.round}")
    _, lines, ctx = await run(script, rounds=2, debug=0)
    assert [a["role"] for a in lines[2:]] == ["optimiser", "optimiser"]
    assert "What a reviewer says" in prompts_of(ctx, "optimiser")[1, 0]
    assert "What a reviewer says" not in prompts_of(ctx, "optimiser")[1, 1]


async def test_the_same_kernel_twice_is_one_ancestor() -> None:
    _, lines, _ = await run(by_role(generator=lambda _: "1.5", optimiser=lambda _: "1.5"), rounds=3, patience=9)
    assert all(a["parents"] == ["000.00.00"] for a in lines[2:])


async def test_without_a_gain_above_noise_it_stagnates() -> None:
    script = by_role(generator=lambda _: "1.500", optimiser=lambda r: f"1.50{r.identity.round}")
    record, lines, _ = await run(script, rounds=9, patience=2)
    assert (record.end_reason, max(a["round"] for a in lines)) == ("stagnation", 2)
    assert record.champion == "002.00.00"


async def test_small_gains_that_add_up_are_gains() -> None:
    script = by_role(generator=lambda _: "1.00", optimiser=lambda r: f"{1 + 0.015 * r.identity.round:.3f}")
    record, _, _ = await run(script, rounds=7, patience=2)
    assert record.end_reason == "rounds"


@pytest.mark.parametrize(("rounds", "debug", "asked"), [(10, 1, 4), (5, 1, 2), (5, 3, 4), (3, 3, 3), (20, 3, 8)])
async def test_rounds_for_correctness_end_and_speed_keeps_its_own(rounds: int, debug: int, asked: int) -> None:
    script = by_role(generator=lambda r: f"timeout {r.identity.round}", repairer=lambda r: f"timeout {r.identity.round}")
    record, lines, _ = await run(script, rounds=rounds, debug=debug, descendants=1)
    assert (record.end_reason, len(lines)) == ("rounds", asked)


async def test_what_correctness_leaves_is_for_speed() -> None:
    script = by_role(generator=lambda _: "crash", repairer=lambda _: "1.0", optimiser=lambda r: f"{1 + r.identity.round / 5}")
    _, lines, _ = await run(script, rounds=10, descendants=1)
    assert [a["role"] for a in lines] == ["generator", "repairer"] + ["optimiser"] * 8


async def test_a_lineage_that_never_passes_goes_on_from_the_pool_once_its_share_is_spent() -> None:
    def repaired(request: Request) -> str:
        return f"timeout {request.identity.round}"

    script = by_role(
        generator=lambda r: ["1.0", "crash"][r.identity.lineage], repairer=repaired, optimiser=lambda r: f"1.{r.identity.round}"
    )
    _, lines, _ = await run(script, rounds=6, debug=2, correctness=0.4)
    assert [a["role"] for a in lines if ".01." in a["attempt"]] == ["generator", "repairer", "repairer"] + ["optimiser"] * 3
    _, lines, _ = await run(script, rounds=6, debug=9, correctness=0.2)
    assert [a["role"] for a in lines if ".01." in a["attempt"]] == ["generator"] + ["repairer"] * 5, "one candidate and its repairs"


async def test_a_failed_step_from_the_pool_is_repaired_out_of_the_budget_for_speed() -> None:
    script = by_role(generator=lambda _: "1.0", optimiser=lambda _: "crash", repairer=lambda r: f"1.{r.identity.round}")
    _, lines, _ = await run(script, rounds=6, debug=1, descendants=1, correctness=0.1)
    assert [a["role"] for a in lines] == ["generator", "optimiser", "repairer", "optimiser", "repairer", "optimiser"]


def program(speedup: str, name: str = "x") -> str:
    """The same program whatever its comments and names are."""
    return f"```python\n# {speedup}\ndef double({name}):\n    return {name}\n```"


async def test_a_program_under_other_names_is_one_ancestor_and_its_best_time_stays() -> None:
    def script(request: Request) -> str:
        if request.identity.role == "reflector":
            return "Lesson: none"
        return program(f"1.{request.identity.round}", "xyz"[request.identity.round])

    _, lines, _ = await run(script, rounds=3, descendants=1, patience=9)
    assert [a["parents"] for a in lines] == [[], ["000.00.00"], ["001.00.00"]]
    _, lines, _ = await run(script, rounds=3, descendants=1, variant="v1")
    assert lines[2]["parents"] == ["001.00.00", "000.00.00"]


async def test_of_one_family_so_many_stay_and_the_best_always() -> None:
    def script(request: Request) -> str:
        who = request.identity
        said = "fuse: all in one kernel" if (who.role, who.lineage) == ("generator", 0) else "launch: more warps"
        return "Lesson: none" if who.role == "reflector" else fenced(f"{1 + who.round + who.lineage / 10}", said)

    _, lines, _ = await run(script, rounds=4, ancestors=4, alike=2, patience=9)
    assert lines[-1]["parents"] == ["002.01.00", "002.00.00", "000.00.00"]


async def test_authors_are_shown_different_directions_that_the_pool_has_not_taken() -> None:
    script = by_role(generator=lambda _: "1.0", optimiser=lambda r: f"1.{r.identity.round}")
    _, _, ctx = await run(script, rounds=2)
    first, second = (prompts_of(ctx, "optimiser")[1, lineage] for lineage in range(2))
    shown = [set(re.findall(r"^- `(\w+)`: ", text.partition("Directions that are open")[2], re.MULTILINE)) for text in (first, second)]
    assert shown[0]
    assert shown[1]
    assert not shown[0] & shown[1]
    assert "launch" not in shown[0] | shown[1], "the pool's own family"


async def test_steps_from_the_pool_that_led_to_nothing_are_told_the_newest_ones() -> None:
    speeds = ["3.0", "crash", "2.0", "1.5", "1.2", "1.8", "1.1", "1.7", "1.6"]

    def script(request: Request) -> str:
        who = request.identity
        return "Lesson: none" if who.role == "reflector" else fenced(speeds[who.round], f"tile: step {who.round}")

    _, _, ctx = await run(script, rounds=9, descendants=1, ancestors=1, alike=1, debug=0, patience=99)
    told = prompts_of(ctx, "optimiser")[8, 0].partition("no faster\n")[2].partition("\n\n")[0].split("\n")
    assert told[0] == "- tile: step 2: 0.67 times the speed of 000.00.00"
    assert len(told) == 6
    assert "- tile: step 1: crash" in prompts_of(ctx, "optimiser")[2, 0]
    _, _, ctx = await run(script, rounds=4, descendants=1, ancestors=1, variant="v1")
    assert not [text for text in prompts_of(ctx, "optimiser").values() if "no faster" in text]


class Roofed(TableExecutor):
    """Times whose floor says that a candidate of 2.0 reaches the peaks."""

    async def evaluate(self, candidate: str, task: Task, settings: Settings) -> Evaluation:
        done = await super().evaluate(candidate, task, settings)
        for size in done.timing.sizes if done.timing else []:
            size.floor_us = 5.0
        return done


@pytest.mark.parametrize(("roofline", "rounds"), [(0.95, 3), (0.7, 2), (9.0, 5)])
async def test_it_ends_where_the_best_reaches_the_share_of_the_roofline(roofline: float, rounds: int) -> None:
    script = by_role(generator=lambda _: "1.0", optimiser=lambda r: f"{1 + r.identity.round / 2}")
    ctx = context(script, executor=Roofed())
    config = loader.build_config("geak", {"descendants": 1, "roofline": roofline})
    record = await trajectory.run("geak", config, ctx)
    assert (record.end_reason, len(ctx.recorder.lines())) == ("solved" if rounds < 5 else "rounds", rounds)


def structure(lines: Lines) -> list[tuple[str, str, list[str]]]:
    return [(a["attempt"], a["role"], a["parents"]) for a in lines]


FIRST_PASSES_IN_THE_SECOND_LINEAGE = by_role(
    generator=lambda r: ["crash", "1.0"][r.identity.lineage],
    repairer=lambda r: f"timeout {r.identity.round}",
    optimiser=lambda r: f"{1 + r.identity.round / 10 + r.identity.lineage / 100:.2f}",
)


async def test_ours_repairs_each_lineage_beside_the_pool() -> None:
    _, lines, _ = await run(FIRST_PASSES_IN_THE_SECOND_LINEAGE, rounds=3, debug=1)
    assert structure(lines)[2:] == [
        ("001.00.00", "repairer", ["000.00.00"]),
        ("001.01.00", "optimiser", ["000.01.00"]),
        ("002.00.00", "optimiser", ["001.01.00", "000.01.00"]),
        ("002.01.00", "optimiser", ["001.01.00", "000.01.00"]),
    ]


async def test_the_second_published_version_drops_all_descendants_once_one_passes() -> None:
    _, lines, _ = await run(FIRST_PASSES_IN_THE_SECOND_LINEAGE, rounds=3, debug=5, variant="v2")
    assert structure(lines)[2:4] == [("001.00.00", "optimiser", ["000.01.00"]), ("001.01.00", "optimiser", ["000.01.00"])]
    assert lines[4]["parents"] == ["001.01.00", "001.00.00", "000.01.00"]


async def test_the_second_published_version_drops_all_descendants_at_the_debug_cap() -> None:
    script = by_role(generator=lambda r: f"crash {r.identity.round}", repairer=lambda r: f"timeout {r.identity.round}")
    _, lines, ctx = await run(script, rounds=5, debug=2, variant="v2")
    assert [a["role"] for a in lines if ".00.00" in a["attempt"]] == ["generator", "repairer", "repairer", "generator", "repairer"]
    assert "Lessons" not in prompts_of(ctx, "generator")[3, 0]


async def test_the_first_published_version_repairs_without_a_cap_until_it_has_a_pool() -> None:
    passes_at_four = by_role(
        generator=lambda _: "crash",
        repairer=lambda r: "1.0" if r.identity.round == 4 else f"timeout {r.identity.round}",
        optimiser=lambda r: f"crash {r.identity.round}",
    )
    _, lines, ctx = await run(passes_at_four, rounds=10, descendants=1, debug=2, variant="v1")
    roles = [a["role"] for a in lines]
    assert roles == ["generator"] + ["repairer"] * 4 + ["optimiser", "repairer", "repairer", "optimiser", "repairer"]
    assert all("Lessons" not in text for text in prompts_of(ctx, "repairer").values())


async def test_reflexion_has_no_pool_and_ends_at_the_first_pass() -> None:
    script = by_role(generator=lambda _: "crash", repairer=lambda r: "1.0" if r.identity.round == 6 else f"timeout {r.identity.round}")
    record, lines, _ = await run(script, rounds=10, descendants=1, debug=2, variant="reflexion")
    assert structure(lines) == [
        ("000.00.00", "generator", []),
        *((f"00{n}.00.00", "repairer", [f"00{n - 1}.00.00"]) for n in range(1, 7)),
    ]
    assert record.end_reason == "solved"


async def test_published_versions_do_not_stop_early() -> None:
    script = by_role(generator=lambda _: "1.0", optimiser=lambda r: f"1.000{r.identity.round}")
    for variant, rounds in (("full", 4), ("v1", 9), ("v2", 9)):
        _, lines, _ = await run(script, rounds=9, descendants=1, variant=variant)
        assert len(lines) == rounds


async def test_the_champion_is_tuned_at_the_end_and_its_variants_are_attempts_of_the_tuner() -> None:
    def script(request: Request) -> str:
        if request.identity.role == "reflector":
            return "Lesson: none"
        return f"```python\n# 1.{request.identity.round}\n{LAUNCHED}```"

    record, lines, ctx = await run(script, rounds=2, descendants=1, tune=3)
    tuned = [a for a in lines if a["role"] == "tuner"]
    assert [(a["attempt"], a["parents"]) for a in tuned] == [(f"001.00.0{n}", ["001.00.00"]) for n in (1, 2, 3)]
    assert record.end_reason == "rounds"
    assert len(ctx.caller.model.requests) == 3, "two authors and a reflector"  # type: ignore[attr-defined]


async def test_no_variant_is_a_program_of_the_pool() -> None:
    def script(request: Request) -> str:
        wider = LAUNCHED.replace("256", "512")
        return f"```python\n{('# 1.5', '# 1.0')[request.identity.lineage]}\n{(LAUNCHED, wider)[request.identity.lineage]}```"

    _, lines, ctx = await run(script, rounds=1, descendants=2, tune=8)
    programs = [fingerprint(ctx.recorder.kernel(a["kernel_sha"])) for a in lines]
    assert len(set(programs)) == len(programs) == 10


async def test_a_used_up_budget_leaves_nothing_for_tuning() -> None:
    def script(request: Request) -> str:
        return "Lesson: none" if request.identity.role == "reflector" else f"```python\n# 1.{request.identity.round}\n{LAUNCHED}```"

    record, lines, _ = await run(script, rounds=50, patience=50, tune=3, limits=Limits(tokens=30_000))
    assert record.end_reason == "budget"
    assert lines
    assert "tuner" not in {a["role"] for a in lines}


async def test_without_a_measurement_the_first_pass_solves_it() -> None:
    record, lines, _ = await run(by_role(generator=lambda r: ["crash", "pass"][r.identity.lineage]))
    assert (record.end_reason, record.champion, len(lines)) == ("solved", "000.01.00", 2)


async def test_a_model_that_declines_ends_it_after_one_round() -> None:
    record, lines, _ = await run(lambda _: Reply("not mine", "m", finish_reason="declined"))
    assert (record.end_reason, len(lines)) == ("declined", 2)


async def test_a_repair_that_is_declined_is_not_asked_for_again() -> None:
    def script(request: Request) -> str | Reply:
        if request.identity.role == "repairer" and request.identity.lineage == 0:
            return Reply("not mine", "m", finish_reason="declined")
        return "Lesson: none" if request.identity.role == "reflector" else fenced("timeout")

    _, lines, _ = await run(script, rounds=3)
    assert [a["role"] for a in lines if a["attempt"].endswith("00.00")] == ["generator", "repairer", "generator"]


async def test_a_broken_task_ends_it_with_its_reason() -> None:
    record, lines, _ = await run(by_role(generator=lambda _: "task_invalid"))
    assert (record.end_reason, record.error, len(lines)) == ("error", "it is task_invalid", 2)


async def test_an_executor_at_fault_ends_it_with_its_reason_and_no_attempt() -> None:
    record, lines, _ = await run(by_role(generator=lambda _: "infra_error"), rounds=2)
    assert (record.end_reason, record.error, lines) == ("error", "The executor could not judge a candidate: it is infra_error.", [])


@pytest.mark.parametrize("outcome", sorted(OUTAGES))
async def test_a_model_that_goes_away_ends_it_and_comes_back_to_the_same_search(outcome: str) -> None:
    whole, expected, _ = await run(chaotic(3), rounds=4)
    recorder, script = Recorder(), chaotic(3)
    down = CallError(outcome, "gone", usage=Usage(), usage_source="provider")
    gone = await run(lambda r: script(r) if r.identity.round == 0 else down, rounds=4, recorder=recorder)
    assert (gone[0].end_reason, gone[0].error) == ("error", f"scripted does not answer ({outcome}). gone")
    assert gone[1] == [line for line in expected if line["round"] == 0]
    back, lines, _ = await run(script, rounds=4, recorder=recorder)
    assert lines == expected
    assert (back.champion, back.end_reason) == (whole.champion, whole.end_reason)


@pytest.mark.parametrize("limits", [Limits(evaluations=3), Limits(tokens=30_000), Limits(trajectory=TrajectoryLimits(evaluations=3))])
async def test_a_used_up_budget_ends_it_with_the_champion(limits: Limits) -> None:
    script = by_role(generator=lambda _: "1.5", optimiser=lambda r: f"2.{r.identity.round}")
    record, lines, ctx = await run(script, rounds=50, patience=50, limits=limits)
    assert record.end_reason == "budget"
    assert " is used up: " in str(record.error)
    best = max(lines, key=lambda a: a["speedup"])
    assert lines == sorted(lines, key=lambda a: a["attempt"])
    assert record.kernel_sha == best["kernel_sha"]
    assert ctx.ledger.reserved.tokens == 0


@pytest.mark.parametrize("way", FAILURES)
async def test_a_model_that_fails_in_one_way_ends_with_a_verdict_for_every_attempt(way: str) -> None:
    record, lines, _ = await run(lambda _: FAILURES[way], rounds=3)
    assert record.end_reason == ("declined" if way == "declined" else "rounds")
    assert [a["verdict"] for a in lines] == [("wrong_numeric" if way == "wrong" else "crash" if way == "crash" else "no_code")] * len(lines)


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
async def test_in_random_trajectories_the_champion_is_the_best_attempt(seed: int) -> None:
    record, lines, ctx = await run(chaotic(seed), rounds=4, descendants=3, patience=2)
    best = None
    for attempt in ctx.attempts.values():
        after = better(best, attempt)
        assert best is None or (after is not None and standing(after) >= standing(best))
        best = after
    assert record.champion == (best["id"] if best else None)
    assert all(a["verdict"] for a in lines)
    assert record.end_reason in ("rounds", "stagnation", "declined")


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_the_order_of_completion_changes_nothing(seed: int) -> None:
    def told(result: tuple[TrajectoryRecord, Lines, Context]) -> Any:
        record, lines, ctx = result
        requests = {r.identity.key: r.sha for r in ctx.caller.model.requests}  # type: ignore[attr-defined]
        return record.champion, record.end_reason, lines, requests

    runs = [told(await run(chaotic(seed), jitter=jitter, descendants=4)) for jitter in range(5)]
    assert all(run == runs[0] for run in runs)


async def test_state_stays_small_over_a_thousand_attempts() -> None:
    config = geak.Config(rounds=500, descendants=2, patience=500)
    ctx = context(by_role(generator=lambda _: "1.0", optimiser=lambda r: f"{1 + r.identity.round / 100:.2f}"))
    graph = geak.build(config).compile()
    state = await graph.ainvoke({"stop": ""}, {"recursion_limit": 2100}, context=ctx)
    assert len(ctx.attempts) == 1000
    assert len(json.dumps(state)) < 16 * 1024


async def test_options_out_of_range_are_refused() -> None:
    from benchmark.errors import UserError

    with pytest.raises(UserError, match="descendants must be at least 1"):
        geak.Config(descendants=0)
    with pytest.raises(UserError, match="correctness is a share of the rounds, at most 1, not 40"):
        geak.Config(correctness=40)
    with pytest.raises(UserError, match=r"scaffold\.variant must be one of full, reflexion, v1, v2, not 'v3'"):
        loader.build_config("geak", {"variant": "v3"})
