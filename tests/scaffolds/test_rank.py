"""The order of attempts: champions never get worse, pools keep the best."""

from collections import Counter
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from scaffolds.rank import better, ordered, pace, pooled, standing
from scaffolds.state import Attempt

speeds = st.none() | st.floats(0.1, 10)


@st.composite
def attempts(draw: st.DrawFn) -> list[Attempt]:
    made = draw(
        st.lists(st.tuples(st.sampled_from(["pass", "pass", "wrong_numeric", "no_code"]), speeds, speeds, st.integers(0, 6)), max_size=20)
    )
    return [
        Attempt(
            id=f"{n:03d}.00.00", round=n, lineage=0, sample=0, role="generator", kernel=f"k{kernel}", verdict=verdict,
            speedup=speedup if verdict == "pass" else None, modelled=modelled, strategy="", declined=False,
        )
        for n, (verdict, speedup, modelled, kernel) in enumerate(made)
    ]  # fmt: skip


def champion(made: list[Attempt]) -> Attempt | None:
    best = None
    for attempt in made:
        best = better(best, attempt)
    return best


@given(attempts(), st.randoms(use_true_random=False))
def test_the_champion_does_not_depend_on_the_order_of_arrival(made: list[Attempt], random: Random) -> None:
    shuffled = random.sample(made, len(made))
    assert champion(made) == champion(shuffled)


@given(attempts())
def test_the_champion_never_gets_worse_and_is_the_best_attempt(made: list[Attempt]) -> None:
    best = None
    for attempt in made:
        after = better(best, attempt)
        assert best is None or (after is not None and standing(after) >= standing(best))
        best = after
    passing = [a for a in made if a["verdict"] == "pass"]
    assert best == (ordered(passing)[0] if passing else None)


@given(attempts())
def test_without_a_measurement_the_first_pass_is_the_champion(made: list[Attempt]) -> None:
    unmeasured = [Attempt(**{**a, "speedup": None, "modelled": None}) for a in made]  # type: ignore[typeddict-item]
    passing = [a["id"] for a in unmeasured if a["verdict"] == "pass"]
    best = champion(unmeasured)
    assert (best["id"] if best else None) == min(passing, default=None)


@given(attempts(), st.integers(1, 5), st.integers(1, 20))
def test_the_pool_keeps_its_cap_its_order_and_the_best_whatever_the_batches(made: list[Attempt], capacity: int, batch: int) -> None:
    pool: list[Attempt] = []
    for start in range(0, len(made), batch):
        pool = pooled(pool, made[start : start + batch], capacity)
        assert len(pool) <= capacity
        assert pool == ordered(pool)
        assert len({a["kernel"] for a in pool}) == len(pool)
    best = champion(made)
    assert (pool[0] if pool else None) == best
    assert pool == pooled([], made, capacity)


def passing(number: int, speedup: float | None, kernel: str = "") -> Attempt:
    return Attempt(
        id=f"{number:03d}.00.00", round=number, lineage=0, sample=0, role="generator", kernel=kernel or f"k{number}", verdict="pass",
        speedup=speedup, modelled=None, strategy="", declined=False,
    )  # fmt: skip


def test_the_worst_leaves_a_full_pool() -> None:
    pool = pooled([], [passing(0, 1.0), passing(1, 3.0)], 2)
    assert [a["speedup"] for a in pooled(pool, [passing(2, 2.0)], 2)] == [3.0, 2.0]
    assert [a["speedup"] for a in pooled(pool, [passing(2, 0.5)], 2)] == [3.0, 1.0]


def test_one_kernel_is_kept_once_with_its_better_measurement() -> None:
    pool = pooled([], [passing(0, 1.0, "same"), passing(1, 1.1, "same")], 3)
    assert [(a["id"], a["speedup"]) for a in pool] == [("001.00.00", 1.1)]


@given(attempts(), st.integers(1, 5), st.integers(1, 20), st.integers(1, 3))
def test_a_diverse_pool_keeps_its_caps_and_the_best_whatever_the_batches(
    made: list[Attempt], capacity: int, batch: int, alike: int
) -> None:
    def family(attempt: Attempt) -> int:
        return int(str(attempt["kernel"])[1:]) % 3

    traits: dict[str, Any] = {"program": lambda a: a["kernel"], "family": family, "alike": alike}
    pool: list[Attempt] = []
    for start in range(0, len(made), batch):
        pool = pooled(pool, made[start : start + batch], capacity, **traits)
        assert len(pool) <= capacity
        assert max(Counter(map(family, pool)).values(), default=0) <= alike
        assert len({a["kernel"] for a in pool}) == len(pool)
    assert (pool[0] if pool else None) == champion(made)
    assert pool == pooled([], made, capacity, **traits)


def test_failing_attempts_never_enter_the_pool() -> None:
    assert pooled([], [Attempt(**{**passing(0, 1.0), "verdict": "timeout"})], 3) == []  # type: ignore[typeddict-item]


def test_pace_prefers_what_was_measured() -> None:
    assert pace(passing(0, 1.5)) == 1.5
    assert pace(Attempt(**{**passing(0, None), "modelled": 2.0})) == 2.0  # type: ignore[typeddict-item]
    assert pace(passing(0, None)) is None
