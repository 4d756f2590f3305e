"""The protocol and the rules of timing, with sides that take the time that the test says."""

import random

import pytest

from tests.tools.executor.sides import Clock, Side
from tools.executor.channel import Malformed
from tools.executor.stages.timing import EMPTY, FEWEST, MOST_CALLS, PAIRS, SEALED, SETS, Contest, Seal, Untimed, planned


def contest(baseline: Side, candidate: Side, checked: list | None = None, **more: Side) -> Contest:
    def check(call: int, values: int) -> None:
        if checked is not None:
            checked.append((call, values))

    def look(call: int, node: dict) -> None:
        assert node == {"result": call}
        if checked is not None:
            checked.append((call, -1))

    sides = {"baseline": baseline, "candidate": candidate} | more
    seal = Seal(lambda calls: [{} for _ in range(calls)], look, 1000, 1 << 30, instant=True)
    return Contest(sides, check, random.Random(0), 100.0, 64 << 30, seal, baseline.clock)


def run(baseline_us: float, candidate_us: float, **candidate: float) -> tuple[Contest, object]:
    clock = Clock()
    made = contest(Side(clock, baseline_us), Side(clock, candidate_us, rng=random.Random(2), **candidate))
    return made, made.run("n", 30.0)


def test_self_against_self_is_one():
    made, size = run(500.0, 500.0)
    assert 0.98 < size.speedup < 1.02
    assert 0.98 < made.self_ratio() < 1.02


@pytest.mark.parametrize(("baseline_us", "candidate_us"), [(8.0, 4.0), (1000.0, 500.0), (500.0, 1000.0), (90_000.0, 30_000.0)])
def test_speedup_is_the_ratio_of_times(baseline_us, candidate_us):
    made, size = run(baseline_us, candidate_us)
    assert size.speedup == pytest.approx(baseline_us / candidate_us, rel=0.03)
    assert size.ci[0] <= size.speedup <= size.ci[1]
    assert made.agreement.ok


@pytest.mark.parametrize("us", [5.0, 400.0, 30_000.0])
def test_slope_shows_an_honest_candidates_device_time(us):
    _, size = run(2 * us, us)
    assert size.slope_us == pytest.approx(us, rel=0.05, abs=2.0)


@pytest.mark.parametrize(("claim", "real"), [(10.0, 1500.0), (100.0, 400.0), (1000.0, 9000.0)])
def test_claim_far_below_the_brokers_clock_is_seen(claim, real):
    made, _ = run(800.0, claim, real_us=real)
    assert made.agreement.far


@pytest.mark.parametrize(("claim", "real"), [(300.0, 420.0), (40.0, 105.0)])
def test_speedup_is_never_better_than_the_brokers_clock_supports(claim, real):
    made, size = run(400.0, claim, real_us=real)
    assert not made.agreement.ok
    assert size.candidate_us == pytest.approx(made.agreement.least, rel=0.03)
    assert claim < size.candidate_us <= real * 1.01
    assert size.speedup == pytest.approx(400.0 / size.candidate_us, rel=0.03)


@pytest.mark.parametrize(("claim", "real"), [(20.0, 33.0), (6.0, 20.0)])
def test_small_difference_between_the_clocks_is_published_as_claimed_and_in_doubt(claim, real):
    made, size = run(400.0, claim, real_us=real)
    assert not made.agreement.ok
    assert size.candidate_us == pytest.approx(claim, rel=0.03)


def test_a_sandbox_whose_requests_take_longer_is_believed():
    for request_us in (60.0, 150.0, 200.0):
        assert run(10.0, 5.0, request_us=request_us)[0].agreement.ok


def test_requests_that_take_very_long_are_no_excuse():
    assert not run(10.0, 5.0, request_us=5000.0)[0].agreement.ok


def test_waiting_in_short_blocks_hides_nothing():
    made, size = run(800.0, 10.0, real_us=400.0, sleeps_us=15_000.0)
    assert made.agreement.far
    assert size.candidate_us > 300.0


def test_slow_warm_up_makes_no_short_blocks():
    made, size = run(100.0, 10.0, real_us=60.0, slow_first_us=20_000.0)
    assert made.plan.calls > 20
    assert size.candidate_us > 50.0


def test_noisy_host_makes_the_broker_lenient_not_blind():
    clock = Clock()
    noisy = Side(clock, 400.0, jitter_us=2000.0)
    honest = contest(noisy, Side(clock, 200.0, jitter_us=2000.0, rng=random.Random(4)))
    honest.run("n", 30.0)
    assert not honest.agreement.far
    liar = contest(noisy, Side(clock, 20.0, real_us=2000.0, jitter_us=2000.0, rng=random.Random(4)))
    liar.run("n", 30.0)
    assert liar.agreement.far


@pytest.mark.parametrize("us", [[], None, ["1"] * 8, [float("nan")], [0.0], [-5.0], [True]])
def test_times_that_are_no_times_are_the_candidates_doing(us):
    with pytest.raises(Malformed):
        contest(Side(Clock(), 50.0), lambda request: {"us": us}).run("n", 30.0)


def test_baseline_without_a_time_is_not_the_candidates_doing():
    clock = Clock()
    with pytest.raises(Untimed):
        contest(Side(clock, 0.0), Side(clock, 50.0)).run("n", 30.0)


def test_outputs_of_timed_calls_are_checked_and_chosen_after_the_block():
    clock, checked = Clock(), []
    candidate = Side(clock, 100.0)
    contest(Side(clock, 100.0), candidate, checked).run("n", 30.0)
    assert len([values for _, values in checked if 0 <= values < SETS]) == 3
    assert len([values for _, values in checked if values == -1]) == SEALED
    assert not any("keep" in request for request in candidate.asked)


def test_results_are_forgotten_before_each_of_the_candidates_blocks():
    clock = Clock()
    candidate = Side(clock, 100.0)
    contest(Side(clock, 100.0), candidate).run("n", 30.0)
    cold = [request["op"] for request in candidate.asked if not request.get("warm")]
    begun = cold.index("clear") + 1 + EMPTY
    assert set(cold[begun : begun + 2 * PAIRS : 2]) == {"clear"}
    assert set(cold[begun + 1 : begun + 2 * PAIRS : 2]) == {"time"}


def test_warm_up_uses_every_input_set_and_a_block_of_full_length():
    clock = Clock()
    candidate = Side(clock, 100.0)
    contest(Side(clock, 100.0), candidate).run("n", 30.0)
    first = next(at for at, request in enumerate(candidate.asked) if request["op"] == "clear")
    orders = [request["order"] for request in candidate.asked[:first]]
    assert {values for order in orders for values in order} == set(range(SETS))
    assert max(map(len, orders)) == max(len(r["order"]) for r in candidate.asked if r["op"] == "time" and not r["warm"])


def test_warm_calls_are_reported_apart():
    _, size = run(20.0, 10.0, warm_us=4.0)
    assert size.speedup == pytest.approx(2.0, rel=0.03)
    assert size.warm["speedup"] == pytest.approx(5.0, rel=0.05)
    assert size.warm["candidate_us"] == pytest.approx(4.0, rel=0.05)


def test_long_calls_are_not_timed_warm():
    assert run(80_000.0, 40_000.0)[1].warm is None


def test_compiled_baseline_is_timed_in_the_same_window():
    clock = Clock()
    size = contest(Side(clock, 600.0), Side(clock, 200.0), compile=Side(clock, 300.0)).run("n", 30.0)
    assert size.speedup == pytest.approx(3.0, rel=0.03)
    assert size.compile["speedup"] == pytest.approx(1.5, rel=0.03)
    assert size.compile["baseline_us"] == pytest.approx(300.0, rel=0.03)


def test_baseline_that_is_faster_alone_is_seen():
    clock = Clock()
    baseline = Side(clock, 500.0)
    made = contest(baseline, Side(clock, 400.0))
    made.run("n", 30.0)
    assert made.slowed() < 1.05
    baseline.us = 400.0
    assert made.slowed() == pytest.approx(1.25, rel=0.03)


def test_baseline_whose_blocks_were_drawn_out_is_seen():
    clock = Clock()
    baseline = Side(clock, 20.0, real_us=120.0)
    made = contest(baseline, Side(clock, 20.0))
    made.run("n", 30.0)
    baseline.real_us = None
    assert made.slowed() > 1.3


def test_candidate_that_remembers_is_slower_on_new_values():
    assert run(800.0, 300.0)[0].fresh == pytest.approx(1.0, abs=0.05)
    assert run(800.0, 300.0, fresh_us=900.0)[0].fresh == pytest.approx(3.0, rel=0.05)


def test_work_that_is_done_outside_of_the_timed_span_is_missed_in_sealed_blocks():
    made, size = run(800.0, 100.0, sealed_us=700.0)
    assert made.sealed_agreement is not None
    assert made.sealed_agreement.far
    assert made.agreement.ok
    assert size.candidate_us == pytest.approx(100.0, rel=0.05)


def test_honest_candidates_are_not_held_back_by_sealed_blocks():
    for us in (4.0, 40.0, 4000.0):
        for theirs, ours in ((2 * us, us), (us, 2 * us)):
            made, _ = run(theirs, ours)
            assert made.agreement.ok
            assert made.sealed_agreement is not None
            assert not made.sealed_agreement.far


@pytest.mark.parametrize("given", [None, [], [{}] * 3, ["x"] * 24])
def test_results_that_are_none_are_the_candidates_doing(given):
    clock = Clock()
    side = Side(clock, 50.0)
    with pytest.raises(Malformed):
        contest(Side(clock, 50.0), lambda request: side(request) | {"given": given}).run("n", 30.0)


def test_tuning_is_what_the_candidates_process_says():
    assert run(100.0, 50.0)[0].tuning_s == 1.5


@pytest.mark.parametrize(
    ("us", "seconds"),
    [(5.0, 0.3), (100.0, 0.35), (1000.0, 0.7), (8000.0, 1.0), (50_000.0, 2.5)],
)
def test_a_size_takes_no_longer_than_its_budget(us, seconds):
    made, _ = run(us, us)
    assert made.clock() < seconds


def test_blocks_are_as_short_as_the_memory_for_results_demands():
    plan = planned([100.0, 100.0], 40.0, 100.0, most=10)
    assert plan.calls == 5
    assert planned([100.0, 100.0], 40.0, 100.0, most=1).calls == 1


def test_large_results_shorten_blocks():
    clock = Clock()
    baseline = Side(clock, 100.0, result_bytes=1 << 30)
    contest(baseline, Side(clock, 100.0)).run("n", 30.0)
    assert max(len(r["order"]) for r in baseline.asked if r["op"] == "time" and not r["warm"]) == 4


def test_plan_of_short_and_of_long_calls():
    short, long = planned([5.0, 5.0], 40.0, 100.0, most=1000), planned([50_000.0, 50_000.0], 60.0, 100.0, most=1000)
    assert (short.calls, short.pairs) == (MOST_CALLS, PAIRS)
    assert (long.calls, long.pairs) == (1, FEWEST)


def test_device_is_kept_busy_until_a_slow_host_has_enqueued_the_block():
    plan = planned([5.0, 5.0], 400.0, 100.0, most=1000)
    assert plan.stall * 100.0 >= 2 * plan.calls * (400.0 - 105.0)
    assert planned([500.0, 500.0], 40.0, 100.0, most=1000).stall * 100.0 < 500.0


def test_time_that_is_up_ends_a_size_early():
    clock = Clock()
    candidate = Side(clock, 2000.0)
    made = contest(Side(clock, 2000.0), candidate)
    made.run("n", 0.05)
    assert len(made.blocks["candidate"].us) == FEWEST


def test_first_calls_that_take_all_the_time_are_no_timing():
    clock = Clock()
    with pytest.raises(Untimed):
        contest(Side(clock, 2e6), Side(clock, 2e6)).run("n", 1.0)


def test_host_that_becomes_slower_gets_a_longer_stall_and_speaks_against_nobody():
    made, size = run(10.0, 10.0, later_loop_us=400.0)
    assert made.agreement.ok
    assert size.candidate_us == pytest.approx(10.0, rel=0.03)


def test_the_faster_side_says_how_long_the_device_is_kept_busy():
    assert planned([500.0, 5.0], 60.0, 100.0, most=1000, warm=True).stall > planned([500.0, 500.0], 60.0, 100.0, most=1000, warm=True).stall
