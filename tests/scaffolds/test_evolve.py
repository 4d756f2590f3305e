"""Evolution with scripted replies: operators and their parents, repairs, archive, migration, and a budget that is held exactly."""

import json
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.budget import Limits
from agents.models.base import CallError, Identity, Reply, Request
from agents.recorder import TrajectoryRecord
from agents.strategies import STRATEGIES
from benchmark.errors import UserError
from scaffolds import evolve, loader, trajectory
from scaffolds.context import Context
from scaffolds.rank import ordered
from tests.scaffolds.scripted import Recorder, Script, TableExecutor, chaotic, context, fenced
from tools.evaluation import Evaluation

Lines = list[dict[str, Any]]


async def run(script: Script, *, recorder: Recorder | None = None, executor: TableExecutor | None = None, limits: Limits | None = None,
              seed: int = 0, jitter: int | None = None, **options: Any) -> tuple[TrajectoryRecord, Lines, Context]:  # fmt: skip
    ctx = context(script, recorder, executor, limits, jitter, seed)
    record = await trajectory.run("evolve", loader.build_config("evolve", options), ctx)
    return record, ctx.recorder.lines(), ctx  # type: ignore[attr-defined]


def requests_of(ctx: Context, *roles: str) -> list[Request]:
    return [r for r in ctx.caller.model.requests if r.identity.role in roles]  # type: ignore[attr-defined]


def speed(request: Request) -> str:
    """One of its own for each request, in no order."""
    return f"{1 + random.Random(request.identity.key).random():.6f}"


def asked_for(request: Request) -> str:
    """The family that the author was given, else one by lineage."""
    return next(iter(request.brief.strategies), "tile" if request.identity.lineage % 2 else "access")


def sound(request: Request) -> str:
    return fenced(speed(request), asked_for(request))


def launching(label: str, strategy: str) -> str:
    """A candidate with launch parameters to tune."""
    kernel = "@triton.jit\ndef k(x, B: tl.constexpr):\n    tl.store(x + tl.arange(0, B), 1)\n"
    entry = "def double(x):\n    k[(1,)](x, B=64, num_warps=4)\n    return x\n"
    code = f"# {label}\nimport triton\nimport triton.language as tl\nLABEL = {label!r}\n\n{kernel}\n{entry}"
    return f"Strategy: {strategy}\n```python\n{code}```\n"


class Counting(TableExecutor):
    """Kernels have counts: an occupancy by their warps, and as many spills as it is told."""

    def __init__(self, spills: int = 0):
        super().__init__()
        self.spills = spills

    async def evaluate(self, candidate: str, task: Any, settings: Any) -> Evaluation:
        done = await super().evaluate(candidate, task, settings)
        occupancy = (1.0 if "num_warps=4" in candidate else 0.25) if "num_warps" in candidate else len(self.judged) % 3 / 2
        done.compile = [
            {"target": "t", "error": None, "seconds": 0.0,
             "kernels": [{"name": "k", "registers": 32, "spills": self.spills, "shared_bytes": 0, "occupancy": occupancy}]}
        ]  # fmt: skip
        return done


async def test_islands_begin_with_families_of_their_own() -> None:
    _, lines, ctx = await run(sound, queries=4)
    given = [r.brief.strategies for r in requests_of(ctx, "generator")]
    assert len(set(given)) == 4
    assert all(len(names) == 1 and names[0] in STRATEGIES and names != ("launch",) for names in given)
    assert [(a["attempt"], a["role"], a["parents"]) for a in lines] == [(f"000.{n:02d}.00", "generator", []) for n in range(4)]


async def test_seeds_begin_with_other_families() -> None:
    first = [[r.brief.strategies for r in requests_of((await run(sound, queries=4, seed=seed))[2], "generator")] for seed in range(3)]
    assert first[0] != first[1] or first[1] != first[2]


async def test_a_mutator_gets_one_parent_of_its_island_and_one_family() -> None:
    _, lines, ctx = await run(sound, queries=24, crossover=0, tune=0, patience=99, migrate=99)
    mutants = [a for a in lines if a["role"] == "mutator"]
    assert len(mutants) == 20
    by_id = {a["attempt"]: a for a in lines}
    for a in mutants:
        (parent,) = a["parents"]
        assert parent.split(".")[1] == a["attempt"].split(".")[1]
        assert by_id[parent]["verdict"] == "pass"
    assert all(len(r.brief.strategies) == 1 for r in requests_of(ctx, "mutator"))
    assert "Strategy:" in requests_of(ctx, "mutator")[0].messages[1]["content"]


async def test_a_mutator_gets_a_family_that_serves_what_the_counts_show() -> None:
    def script(request: Request) -> str:
        return launching(speed(request), "tile")

    _, _, ctx = await run(script, executor=Counting(spills=8), queries=12, crossover=0, tune=0, patience=99)
    briefs = [r.brief for r in requests_of(ctx, "mutator")]
    assert {brief.diagnosis.bottleneck for brief in briefs if brief.diagnosis} == {"spills"}
    assert all("spills" in STRATEGIES[name].serves for brief in briefs for name in brief.strategies)
    assert "## The bottleneck\nspills: 8 words" in requests_of(ctx, "mutator")[0].messages[1]["content"]


@pytest.mark.parametrize("tune", [0, 1])
async def test_launch_parameters_are_left_to_tuning_where_it_finds_some(tune: int) -> None:
    def script(request: Request) -> str:
        return launching(speed(request), "tile")

    _, _, ctx = await run(script, executor=Counting(spills=8), queries=20, islands=2, crossover=0, tune=tune, patience=99)
    given = {name for r in requests_of(ctx, "mutator") for name in r.brief.strategies}
    assert ("launch" in given) == (tune == 0)


async def test_parents_of_a_crossover_are_of_different_cells_the_faster_one_first() -> None:
    _, lines, ctx = await run(sound, queries=40, crossover=1, tune=0, patience=99)
    by_id = {a["attempt"]: a for a in lines}
    pairs = [a["parents"] for a in lines if a["role"] == "recombiner"]
    assert len(pairs) > 10
    for first, second in pairs:
        assert by_id[first]["strategy"] != by_id[second]["strategy"]
        assert by_id[first]["speedup"] >= by_id[second]["speedup"]
    assert [a.attempt for a in requests_of(ctx, "recombiner")[0].brief.ancestors] == pairs[0]


async def test_resources_tell_cells_of_one_family_apart() -> None:
    def script(request: Request) -> str:
        text = launching(speed(request), "reuse")
        return text.replace("num_warps=4", "num_warps=8") if request.identity.round % 2 else text

    _, lines, _ = await run(script, executor=Counting(), queries=12, islands=1, crossover=1, tune=0, patience=99)
    assert {a["role"] for a in lines[2:]} == {"recombiner"}


async def test_without_a_gain_the_next_child_is_of_another_algorithm() -> None:
    def script(request: Request) -> str:
        label = "2.0" if request.identity.role == "generator" else f"1.{request.identity.round:03d}{request.identity.lineage}"
        return fenced(label, asked_for(request))

    _, lines, ctx = await run(script, queries=9, islands=1, patience=3, tune=0, crossover=0)
    assert [a["role"] for a in lines] == [
        "generator", "mutator", "mutator", "mutator", "restructurer", "mutator", "mutator", "restructurer", "mutator",
    ]  # fmt: skip
    assert lines[4]["parents"] == ["000.00.00"]
    ((family,),) = [r.brief.strategies for r in requests_of(ctx, "restructurer")][:1]
    assert family not in {a["strategy"] for a in lines[:4]}


async def test_authors_are_told_what_was_tried() -> None:
    def script(request: Request) -> str:
        return fenced(["2.0", "1.5", "crash"][min(2, request.identity.round)], asked_for(request))

    _, lines, ctx = await run(script, queries=4, islands=1, tune=0, repairs=0, crossover=0)
    told = requests_of(ctx, "mutator")[2].messages[1]["content"]
    assert f"- `{lines[1]['strategy']}` gave 0.75 times the speed of the best module before it." in told
    assert f"- `{requests_of(ctx, 'mutator')[1].brief.strategies[0]}` ended with crash after one attempt: it is crash" in told


async def test_a_failing_child_is_repaired_with_its_verdict_up_to_the_cap() -> None:
    def script(request: Request) -> str:
        who = request.identity
        return fenced("1.0", "tile") if who.round == 0 else fenced(f"crash of {who.round}.{who.sample}", "tile")

    _, lines, ctx = await run(script, queries=9, islands=1, repairs=2, tune=0)
    assert [(a["attempt"], a["role"], a["parents"]) for a in lines[1:7]] == [
        ("001.00.00", "mutator", ["000.00.00"]),
        ("001.00.01", "repairer", ["001.00.00"]),
        ("001.00.02", "repairer", ["001.00.01"]),
        ("002.00.00", "mutator", ["000.00.00"]),
        ("002.00.01", "repairer", ["002.00.00"]),
        ("002.00.02", "repairer", ["002.00.01"]),
    ]
    assert "it is crash" in requests_of(ctx, "repairer")[0].messages[1]["content"]


async def test_a_repaired_child_enters_the_archive_and_its_repairs_end() -> None:
    def script(request: Request) -> str:
        return fenced({"generator": "crash", "repairer": "1.5"}.get(request.identity.role, speed(request)), "tile")

    _, lines, _ = await run(script, queries=4, islands=1, tune=0, crossover=0)
    assert [(a["role"], a["parents"]) for a in lines[:3]] == [
        ("generator", []), ("repairer", ["000.00.00"]), ("mutator", ["000.00.01"]),
    ]  # fmt: skip


async def test_a_repair_without_code_leaves_the_code_to_repair() -> None:
    def script(request: Request) -> str:
        return "Sorry." if request.identity.sample == 1 else fenced("crash" if request.identity.sample == 0 else "1.5", "tile")

    _, lines, _ = await run(script, queries=3, islands=1)
    assert [(a["verdict"], a["parents"]) for a in lines] == [("crash", []), ("no_code", ["000.00.00"]), ("pass", ["000.00.00"])]


async def test_a_known_program_is_not_judged_again() -> None:
    executor = TableExecutor()
    same = fenced("1.5", "tile").replace("return x", "return x  # as before")
    _, lines, _ = await run(
        lambda r: fenced("1.5", "tile") if r.identity.round == 0 else same, executor=executor, queries=6, islands=2, tune=0
    )
    assert len(executor.judged) == 1
    assert [a["verdict"] for a in lines] == ["pass", *["no_code"] * 5], "of two islands in one step the first keeps it"
    assert {a["parse"] for a in lines[1:]} == {"the same program as 000.00.00"}


async def test_rejected_children_do_not_count_for_migration() -> None:
    def script(request: Request) -> str:
        who = request.identity
        if who.lineage == 0:
            return "Sorry." if who.round % 2 else sound(request)
        return fenced(f"0.{who.round:03d}{who.lineage}", "tile")

    _, lines, _ = await run(script, queries=24, islands=3, migrate=2, tune=0, crossover=0, patience=99, cells=1)
    borrowed = [a["attempt"] for a in lines if any(p[4:6] == "00" != a["attempt"][4:6] for p in a["parents"])]
    assert min(borrowed) == "003.01.00", "two children of island 0 have passed after its round 2"


async def test_migration_takes_the_best_to_the_next_island_only() -> None:
    def script(request: Request) -> str:
        who = request.identity
        base = {0: 5.0, 1: 1.0, 2: 2.0}[who.lineage]
        return fenced(f"{base - who.round / 100:.2f}", asked_for(request))

    _, lines, _ = await run(script, queries=12, islands=3, migrate=2, tune=0, crossover=0, patience=99, cells=1)
    parents = {a["attempt"]: a["parents"] for a in lines}
    assert parents["002.01.00"] == ["000.00.00"]
    assert parents["002.02.00"] == ["000.02.00"]
    assert parents["002.00.00"] == ["000.00.00"]


async def test_an_island_that_died_out_builds_on_its_neighbours_best() -> None:
    def script(request: Request) -> str:
        return "Sorry." if request.identity.role == "generator" and request.identity.lineage != 1 else sound(request)

    _, lines, _ = await run(script, queries=9, islands=3, migrate=99, tune=0)
    second = [a for a in lines if a["round"] == 1]
    assert [(a["role"], a["parents"]) for a in second] == [
        ("restructurer", ["000.01.00"]), ("mutator", ["000.01.00"]), ("restructurer", ["000.01.00"]),
    ]  # fmt: skip
    third = [a for a in lines if a["round"] == 2]
    assert third[0]["parents"] == ["001.00.00"], "it lives again"


async def test_where_nothing_lives_all_islands_begin_again_with_other_families() -> None:
    _, lines, ctx = await run(lambda _: "Sorry.", queries=8)
    assert {a["role"] for a in lines} == {"generator"}
    assert len({r.brief.strategies for r in requests_of(ctx, "generator")}) == 8


async def test_tuning_asks_no_model_and_is_no_part_of_a_cells_rivalry() -> None:
    def script(request: Request) -> str:
        return launching("2.0" if request.identity.round == 0 else f"1.{request.identity.round}", "reuse")

    _, lines, ctx = await run(script, executor=Counting(), queries=10, islands=1, tune=4, crossover=0)
    tuned = [a for a in lines if a["role"] == "tuner"]
    assert [a["attempt"] for a in tuned] == [f"002.00.{n:02d}" for n in range(4)]
    assert all(a["parents"] == ["000.00.00"] and a["calls"] == [] and a["tokens"] == 0 for a in tuned)
    assert len(ctx.caller.model.requests) == 6  # type: ignore[attr-defined]


async def test_a_best_is_tuned_once() -> None:
    def script(request: Request) -> str:
        return launching("2.0" if request.identity.round == 0 else f"1.{request.identity.round}", "reuse")

    _, lines, _ = await run(script, queries=30, islands=1, tune=4)
    assert Counter(a["role"] for a in lines)["tuner"] == 4


async def test_a_module_without_launch_parameters_is_not_tuned() -> None:
    _, lines, _ = await run(lambda r: fenced(f"{2 - r.identity.round / 100}", "reuse"), queries=12, islands=1, tune=4)
    assert "tuner" not in {a["role"] for a in lines}


@given(st.integers(0, 10**6), st.integers(1, 23), st.integers(1, 4), st.integers(0, 3), st.integers(0, 5))
@settings(max_examples=25, deadline=None)
async def test_the_queries_are_held_exactly(seed: int, queries: int, islands: int, repairs: int, tune: int) -> None:
    def script(request: Request) -> str:
        rng = random.Random(f"{seed}/{request.identity.key}")
        return (
            launching(rng.choice(["crash", f"{rng.uniform(0.5, 3):.4f}"]), rng.choice(["tile", "fuse"])) if rng.random() < 0.8 else "Sorry."
        )

    executor = TableExecutor()
    record, lines, ctx = await run(
        script, executor=executor, queries=queries, islands=islands, repairs=repairs, tune=tune, patience=2, seed=seed
    )
    assert len(lines) == queries
    assert record.end_reason == "rounds"
    asked = {r.identity for r in ctx.caller.model.requests}  # type: ignore[attr-defined]
    assert len(asked) + sum(a["role"] == "tuner" for a in lines) == queries
    assert len(executor.judged) == len(set(executor.judged)) == sum(a["kernel_sha"] is not None for a in lines)
    assert all(int(a["attempt"][-2:]) <= max(repairs, tune - 1, 0) for a in lines)


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
async def test_the_champion_is_the_best_attempt_and_batches_suffice(seed: int) -> None:
    record, lines, ctx = await run(chaotic(seed), queries=14, islands=3, seed=seed)
    passing = [a for a in ctx.attempts.values() if a["verdict"] == "pass"]
    assert record.champion == (ordered(passing)[0]["id"] if passing else None)
    assert {a["attempt"] for a in lines} == set(ctx.attempts)
    island = Counter(Identity("", "", *map(int, a["attempt"].split("."))).lineage for a in lines)
    assert max(island.values()) <= evolve.Config(queries=14, islands=3).batches


async def test_the_first_islands_use_what_the_last_step_has_left() -> None:
    _, lines, _ = await run(sound, queries=6, islands=4, tune=0)
    assert [a["attempt"] for a in lines if a["round"] == 1] == ["001.00.00", "001.01.00"]


async def test_without_a_measurement_the_first_pass_solves_it() -> None:
    record, lines, _ = await run(lambda r: fenced("pass" if r.identity.lineage == 2 else "crash"), repairs=0)
    assert (record.end_reason, record.champion, len(lines)) == ("solved", "000.02.00", 4)


async def test_a_model_that_declines_ends_it_after_one_step() -> None:
    record, lines, _ = await run(lambda _: Reply("not mine", "m", finish_reason="declined"))
    assert (record.end_reason, len(lines)) == ("declined", 4)


async def test_a_repair_that_is_declined_is_not_asked_for_again() -> None:
    def script(request: Request) -> str | CallError:
        return CallError("declined", "no") if request.identity.role == "repairer" else fenced(f"crash {request.identity.round}")

    _, lines, _ = await run(script, queries=4, islands=1)
    assert [a["role"] for a in lines] == ["generator", "repairer", "generator", "repairer"]


async def test_a_broken_task_ends_it_with_its_reason() -> None:
    record, _, _ = await run(lambda _: fenced("task_invalid"))
    assert (record.end_reason, record.error) == ("error", "it is task_invalid")


async def test_a_used_up_budget_of_evaluations_ends_it_with_the_champion() -> None:
    record, lines, _ = await run(sound, queries=50, limits=Limits(evaluations=6))
    assert record.end_reason == "budget"
    assert len(lines) == 6
    assert record.kernel_sha == max(lines, key=lambda a: a["speedup"])["kernel_sha"]


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_seed_and_replies_alone_decide_whatever_the_order_of_completion(seed: int) -> None:
    async def told(jitter: int | None) -> Any:
        record, lines, ctx = await run(chaotic(seed), jitter=jitter, queries=24, seed=seed)
        return record.champion, lines, {r.identity.key: r.sha for r in ctx.caller.model.requests}  # type: ignore[attr-defined]

    runs = [await told(jitter) for jitter in (None, 1, 2, 3)]
    assert all(told == runs[0] for told in runs)


async def test_what_is_on_record_is_neither_asked_nor_judged_again() -> None:
    whole, recorder = await run(chaotic(4), queries=24), Recorder()
    stopped = await run(chaotic(4), recorder=recorder, queries=24, limits=Limits(evaluations=5))
    executor = TableExecutor()
    resumed = await run(chaotic(4), recorder=recorder, executor=executor, queries=24)
    assert (resumed[0].champion, resumed[1]) == (whole[0].champion, whole[1])
    before = {r.identity for r in stopped[2].caller.model.requests}  # type: ignore[attr-defined]
    assert not before & {r.identity for r in resumed[2].caller.model.requests}  # type: ignore[attr-defined]


@pytest.mark.slow
async def test_state_stays_small_over_a_thousand_attempts() -> None:
    def script(request: Request) -> str:
        rng = random.Random(request.identity.key)
        family = asked_for(request) if rng.random() < 0.7 else rng.choice(list(STRATEGIES))
        return fenced("crash " + speed(request) if rng.random() < 0.3 else speed(request), f"{family}: {'long ' * 60}")

    config = evolve.Config(queries=1000)
    ctx = context(script, executor=Counting())
    limit = trajectory.steps(len(evolve.build(config).nodes), config)
    largest = 0
    async for state in evolve.build(config).compile().astream(
        {"stop": ""}, {"recursion_limit": limit}, context=ctx, stream_mode="values"
    ):  # fmt: skip
        largest = max(largest, len(json.dumps(state)))
    assert len(ctx.attempts) == 1000
    assert max(len(island["archive"]) for island in state["islands"]) == config.cells
    assert largest < 64 * 1024


async def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(UserError, match="islands must be at least 1"):
        evolve.Config(islands=0)
