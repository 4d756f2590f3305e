"""The tree of attempts: what is chosen, what is told upwards, what leaves."""

import copy
import random

from hypothesis import given
from hypothesis import strategies as st

from scaffolds.rank import ordered, pace
from scaffolds.state import Attempt
from scaffolds.tree import Tree, deal, developed, exploration, leaders, mended, passes, planted, pruned, select, worth


def attempt(number: int, speed: float | None = None, verdict: str = "", kernel: str | None = "", declined: bool = False) -> Attempt:
    return Attempt(
        id=f"{number:03d}.00.00",
        round=number,
        lineage=0,
        sample=0,
        fork=0,
        role="coder",
        kernel=f"k{number}" if kernel == "" else kernel,
        verdict=verdict or ("pass" if speed is not None else "wrong_numeric"),
        speedup=speed,
        modelled=None,
        strategy="tile: more",
        declined=declined,
    )


def key(number: int) -> str:
    return f"{number:03d}.00.00"


def seeded(*speeds: float | None) -> Tree:
    tree: Tree = {}
    for number, speed in enumerate(speeds):
        tree = planted(tree, attempt(number, speed))
    return tree


def greedy(tree: Tree, width: int = 1) -> list[str]:
    return select(tree, width, 0.0, random.Random(0))


def test_greed_takes_the_fastest() -> None:
    assert greedy(seeded(1.0, 2.0, None)) == [key(1)]


def test_without_greed_another_is_taken() -> None:
    assert {select(seeded(1.0, 2.0, 1.5), 1, 1.0, random.Random(seed))[0] for seed in range(20)} == {key(0), key(2)}


def test_the_same_seed_chooses_the_same() -> None:
    tree = seeded(1.0, 1.1, 1.2, None)
    assert select(tree, 3, 0.5, random.Random(7)) == select(tree, 3, 0.5, random.Random(7))


def test_branches_share_what_is_far_ahead_and_spread_over_what_is_alike() -> None:
    assert greedy(seeded(3.0, 1.0), 2) == [key(0), key(0)]
    assert greedy(seeded(1.0, 0.99), 2) == [key(0), key(1)]


def test_a_failing_node_is_taken_once_a_round() -> None:
    assert greedy(seeded(None), 3) == [key(0)]
    assert greedy({}, 3) == []


def test_a_broken_child_is_mended_before_its_parent_is_planned_on_again() -> None:
    tree = developed(seeded(2.0), key(0), attempt(1), "tile")
    assert greedy(tree) == [key(1)]
    assert tree[key(1)]["base"] == key(0)


def test_fruitless_plans_make_a_node_worth_less_and_a_gain_restores_it() -> None:
    tree = seeded(1.0, 0.95)
    for number in (2, 3):
        tree = developed(tree, key(0), attempt(number, 0.5), "tile")
    assert tree[key(0)]["fruitless"] == 2
    assert greedy(tree) == [key(1)]
    tree = developed(tree, key(0), attempt(4, 1.5), "fuse")
    assert (tree[key(0)]["fruitless"], tree[key(0)]["best"], tree[key(0)]["visits"]) == (0, 1.5, 3)
    assert greedy(tree) == [key(4)]


def test_what_was_tried_in_vain_is_told_with_its_numbers_until_it_works() -> None:
    tree = developed(seeded(1.0), key(0), attempt(1, 0.5), "tile")
    tree = developed(tree, key(0), attempt(2, verdict="timeout"), "fuse")
    assert tree[key(0)]["tried"] == {"tile": "tile: more (1.00x before, 0.50x after)", "fuse": "tile: more (timeout)"}
    assert list(developed(tree, key(0), attempt(3, 1.2), "tile")[key(0)]["tried"]) == ["fuse"]


def test_a_planner_that_had_no_plan_rules_no_family_out() -> None:
    tree = developed(seeded(1.0), key(0), attempt(1, kernel=None, verdict="no_code", declined=True), "")
    assert (tree[key(0)]["tried"], tree[key(0)]["fruitless"]) == ({}, 1)


def test_visits_and_the_best_descendant_go_up_to_the_root() -> None:
    tree = developed(seeded(1.0), key(0), attempt(1, 1.1), "tile")
    tree = developed(tree, key(1), attempt(2, 3.0), "tile")
    assert [(tree[key(n)]["visits"], tree[key(n)]["best"]) for n in range(3)] == [(2, 3.0), (1, 3.0), (0, 3.0)]


def test_a_repair_that_works_takes_the_place_of_what_failed() -> None:
    tree = developed(seeded(1.0), key(0), attempt(1), "tile")
    tree = mended(tree, key(1), attempt(2, 1.5), 3)
    assert sorted(tree) == [key(0), key(2)]
    assert (tree[key(2)]["base"], tree[key(2)]["family"], tree[key(0)]["best"], tree[key(0)]["tried"]) == (key(0), "tile", 1.5, {})


def test_a_repaired_plan_that_gained_nothing_is_told_as_the_plan() -> None:
    tree = developed(seeded(1.0), key(0), attempt(1), "fuse")
    tree = mended(tree, key(1), {**attempt(2, 0.7), "strategy": "repair: the mask"}, 3)
    assert tree[key(0)]["tried"] == {"fuse": "tile: more (1.00x before, 0.70x after)"}


def test_a_repair_that_fails_is_repaired_in_its_turn_and_the_third_is_dropped() -> None:
    tree = developed(seeded(1.0), key(0), attempt(1), "tile")
    tree = mended(tree, key(1), attempt(2), 3)
    assert tree[key(2)]["repairs"] == 1
    tree = mended(tree, key(2), attempt(3, kernel=None, verdict="no_code"), 3)
    assert tree[key(2)]["repairs"] == 2
    assert sorted(mended(tree, key(2), attempt(4), 3)) == [key(0)]


def test_a_repair_that_is_declined_drops_the_node() -> None:
    assert mended(seeded(None), key(0), attempt(1, kernel=None, verdict="no_code", declined=True), 3) == {}


def test_the_same_kernel_is_one_node() -> None:
    assert sorted(developed(seeded(1.0), key(0), attempt(1, 1.0, kernel="k0"), "tile")) == [key(0)]


def test_what_has_no_code_or_no_verdict_is_no_node() -> None:
    for other in (attempt(1, kernel=None, verdict="no_code"), attempt(1, verdict="task_invalid"), attempt(1, verdict="unsupported")):
        assert planted({}, other) == {}


def test_the_chance_of_leaving_falls_with_rounds_and_rises_without_gains() -> None:
    fresh = [exploration(0.4, 0.8, round, 0) for round in range(1, 9)]
    assert fresh[0] == 0.4
    assert fresh == sorted(fresh, reverse=True)
    assert fresh[-1] < 0.1
    stale = [exploration(0.4, 0.8, 8, n) for n in range(5)]
    assert stale == sorted(stale)
    assert stale[-1] == 0.4


def test_branches_on_one_node_know_of_each_other() -> None:
    assert [deal(["a", "b", "a"], n) for n in range(3)] == [(0, 2), (0, 1), (1, 2)]


speeds = st.none() | st.floats(0.1, 10, allow_nan=False)
steps = st.lists(st.tuples(speeds, st.sampled_from(["wrong_numeric", "no_code"]), st.sampled_from(["tile", "fuse", "split"])), max_size=40)


@given(steps, st.integers(1, 8), st.integers(1, 3), st.floats(0, 1), st.integers(0, 99))
def test_in_random_searches_the_best_stays_and_the_bounds_hold(
    made: list[tuple[float | None, str, str]], capacity: int, limit: int, epsilon: float, seed: int
) -> None:
    rng, tree, all_made = random.Random(seed), Tree(), list[Attempt]()
    for number, (speed, verdict, family) in enumerate(made):
        kernel = "" if speed is not None or verdict != "no_code" else None
        one = attempt(number, speed, "pass" if speed is not None else verdict, kernel)
        all_made.append(one)
        chosen, before = select(tree, 1, epsilon, rng), copy.deepcopy(tree)
        if not chosen:
            after = planted(tree, one)
        elif passes(tree[chosen[0]]):
            after = developed(tree, chosen[0], one, family)
        else:
            after = mended(tree, chosen[0], one, limit)
        assert tree == before, "changed in place"
        tree = pruned(after, capacity)
        assert len(tree) <= capacity
        assert leaders(tree, 1) == ordered(a for a in all_made if a["verdict"] == "pass")[:1]
        for node in tree.values():
            assert passes(node) or node["repairs"] < limit
            assert node["base"] is None or passes(tree[node["base"]])
            assert not passes(node) or (node["best"] or 0) >= (pace(node["attempt"]) or 0)
            assert worth(tree, node) >= 0
            assert len(node["tried"]) <= 3
