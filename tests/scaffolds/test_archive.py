"""The archive: the best of every cell is never lost, caps hold, and what arrives together arrives in no order."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.counts import Counts
from scaffolds import archive
from scaffolds.archive import Archive
from scaffolds.rank import ordered
from scaffolds.state import Attempt

Arrivals = list[tuple[str, Attempt]]
speeds = st.floats(0.1, 10).map(lambda speed: round(speed, 1))


def passing(number: int, speedup: float | None, verdict: str = "pass") -> Attempt:
    return Attempt(
        id=f"{number:03d}.00.00", round=number, lineage=0, sample=0, fork=0, role="mutator", kernel=f"k{number}", verdict=verdict,
        speedup=speedup, modelled=None, strategy="", declined=False,
    )  # fmt: skip


@st.composite
def arrivals(draw: st.DrawFn) -> Arrivals:
    kinds = st.tuples(st.sampled_from("abcdef"), st.sampled_from(["pass", "pass", "timeout"]), speeds)
    return [(cell, passing(n, speed, verdict)) for n, (cell, verdict, speed) in enumerate(draw(st.lists(kinds, max_size=25)))]


def best(made: Arrivals) -> list[Attempt]:
    return ordered(a for _, a in made if a["verdict"] == "pass")[:1]


@given(arrivals(), st.integers(1, 4), st.integers(1, 25))
def test_the_best_is_never_lost_and_caps_hold_whatever_the_barriers(made: Arrivals, capacity: int, batch: int) -> None:
    kept: Archive = {}
    for start in range(0, len(made), batch):
        kept = archive.insert(kept, made[start : start + batch], capacity)
        assert len(kept) <= capacity
        assert archive.elites(kept)[:1] == best(made[: start + batch])
    assert kept == archive.insert({}, made, capacity)


@given(arrivals(), st.randoms(use_true_random=False))
def test_what_arrives_in_one_barrier_arrives_in_no_order(made: Arrivals, random: Random) -> None:
    shuffled = random.sample(made, len(made))
    assert list(archive.insert({}, made, 3).items()) == list(archive.insert({}, shuffled, 3).items())


@given(arrivals())
def test_each_cell_keeps_its_best_and_nothing_that_failed(made: Arrivals) -> None:
    kept = archive.insert({}, made, 99)
    for cell in "abcdef":
        assert [kept[cell]] if cell in kept else best([(place, a) for place, a in made if place == cell]) == []
    assert all(a["verdict"] == "pass" for a in kept.values())


@given(st.lists(arrivals(), min_size=1, max_size=4), st.integers(1, 3), st.sets(st.integers(0, 3)))
def test_migration_loses_no_islands_best_and_copies_one_step_only(made: list[Arrivals], capacity: int, leaving: set[int]) -> None:
    named = [[(cell, Attempt(**{**a, "id": f"{a['id']}.{n}"})) for cell, a in part] for n, part in enumerate(made)]
    islands = [archive.insert({}, part, capacity) for part in named]
    travellers = sorted(n for n in leaving if n < len(islands))
    after = archive.migrate(islands, travellers, capacity)
    for n, (old, new) in enumerate(zip(islands, after, strict=True)):
        came = archive.elites(islands[n - 1])[:1] if (n - 1) % len(islands) in travellers else []
        assert archive.elites(new)[:1] == ordered([*archive.elites(old)[:1], *came])[:1]
        assert {a["id"] for a in new.values()} <= {a["id"] for a in [*old.values(), *came]}
        assert len(new) <= capacity


def test_an_immigrant_lives_in_the_cell_that_it_came_from() -> None:
    islands: list[Archive] = [{"fuse/high": passing(1, 2.0), "tile/low": passing(2, 1.0)}, {"tile/low": passing(3, 1.5)}, {}]
    after = archive.migrate(islands, [0, 1, 2], 8)
    assert after[1] == {"fuse/high": passing(1, 2.0), "tile/low": passing(3, 1.5)}
    assert after[2] == {"tile/low": passing(3, 1.5)}
    assert after[0] == islands[0]


@pytest.mark.parametrize(
    ("counts", "found"),
    [
        (Counts(), "unknown"),
        (Counts(spills=0, occupancy=1.0, shared_bytes=0), "high"),
        (Counts(spills=0, occupancy=0.5), "middle"),
        (Counts(occupancy=0.25, shared_bytes=4096), "low+shared"),
        (Counts(occupancy=0.0), "low"),
        (Counts(spills=4, occupancy=1.0, shared_bytes=64), "spills"),
    ],
)
def test_a_cell_is_a_family_and_a_bin_of_resources(counts: Counts, found: str) -> None:
    assert archive.cell("tile", counts) == f"tile/{found}"


def test_a_bandit_tries_every_arm_and_stays_with_the_one_that_pays() -> None:
    arms: archive.Arms = {}
    pays = {"a": 0.4, "b": 0.6, "c": 0.1}
    for _ in range(60):
        arm = archive.choose(arms, "abc", lambda: 0.0)
        arms = archive.credited(archive.pulled(arms, [arm]), [arm], pays[arm])
    pulls = {arm: count for arm, (count, _) in arms.items()}
    assert set(pulls) == set("abc")
    assert pulls["b"] > 45


def test_what_is_chosen_at_the_same_time_differs_until_all_are_under_way() -> None:
    arms: archive.Arms = {}
    chosen = []
    for _ in range(4):
        chosen.append(archive.choose(arms, "abcd", Random(1).random))
        arms = archive.pulled(arms, chosen[-1:])
    assert sorted(chosen) == list("abcd")


def test_ties_of_a_bandit_are_the_callers() -> None:
    assert {archive.choose({}, "abcd", Random(seed).random) for seed in range(30)} == set("abcd")


@given(speeds, speeds)
def test_rewards_are_shares_that_grow_with_speed(speed: float, best: float) -> None:
    reward = archive.reward(speed, best)
    assert 0 <= reward <= 1
    assert archive.reward(speed * 1.1, best) >= reward
    assert archive.reward(None, best) == 0
    assert math.isclose(archive.reward(best, best), 0.5)
    assert archive.reward(2 * best, best) == 1.0


def test_only_the_newest_programs_are_remembered() -> None:
    seen: dict[str, str] = {}
    for n in range(archive.SEEN + 5):
        seen = archive.remembered(seen, {f"f{n}": f"{n}"})
    assert len(seen) == archive.SEEN
    assert next(iter(seen)) == "f5"
