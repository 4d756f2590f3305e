"""What the timing stage makes of what it sees, with sides that take the time that the test says."""

import os
import random
import re

import pytest

from tests.tools.executor.sides import Clock, Course, Side
from tools.evaluation import Timing
from tools.executor.stages.ladder import Ladder
from tools.executor.stages.verdicts import Stop


def course(baseline_us: float = 200.0, candidate_us: float = 100.0, compiled_us: float | None = None, **more: object) -> Course:
    clock = Clock()
    answers = {name: more.pop(name) for name in ("peaks", "floor", "clocks", "check", "compile", "sizes") if name in more}
    compiled = Side(clock, compiled_us) if compiled_us else None
    return Course(Side(clock, baseline_us), Side(clock, candidate_us, rng=random.Random(2), **more), compiled=compiled, **answers)


def run(made: Course) -> None:
    """With chances that are the same each time."""
    ladder = Ladder(made, made.clock)
    ladder.rng = random.Random(1)
    ladder.surroundings.busy = lambda: 0.25
    ladder.run()


def timed(made: Course) -> Timing:
    run(made)
    assert made.record.timing is not None, made.record.no_timing
    return made.record.timing


def verdict(made: Course) -> Stop:
    with pytest.raises(Stop) as stop:
        run(made)
    assert made.record.timing is None
    return stop.value


def test_sizes_are_in_the_tasks_order_and_combined_by_their_geometric_mean():
    found = timed(course())
    assert [size.case for size in found.sizes] == ["time-0", "time-1", "time-2", "time-3"]
    assert found.speedup == pytest.approx(2.0, rel=0.03)
    assert found.ci[0] < found.speedup < found.ci[1]
    assert (found.claim_ok, found.noisy, found.notes) == (True, False, [])
    assert found.self_ratio == pytest.approx(1.0, abs=0.02)
    assert found.warm_speedup == pytest.approx(2.0, rel=0.05)
    assert found.tuning_s == 1.5
    assert "events" in found.method


def test_every_size_has_its_floor_and_its_slope():
    found = timed(course())
    assert [size.floor_us for size in found.sizes] == [1.0] * 4
    assert all(size.slope_us == pytest.approx(100.0, rel=0.05) for size in found.sizes)


def test_claim_far_below_the_clock_is_a_hack():
    stop = verdict(course(800.0, 5.0, real_us=800.0))
    assert stop.failure.kind == "suspected_hack"
    assert "too short for the time that went by" in stop.failure.message


def test_claim_far_below_the_clock_tells_its_numbers() -> None:
    stop = verdict(course(800.0, 5.0, real_us=800.0))
    assert re.search(r"5\.\d us per call, and 7\d\d\.\d by the broker's clock", stop.failure.message)
    assert stop.failure.detail == {"case": stop.failure.detail["case"], "blocks": "cold", "host_busy": 0.25}


def test_a_process_that_others_slow_down_is_replaced_before_the_candidate_is_accused() -> None:
    made = course(200.0, 100.0, real_us=800.0)
    made.gone = lambda: setattr(made.candidate, "real_us", None)
    found = timed(made)
    assert found.claim_ok
    assert found.speedup == pytest.approx(2.0, rel=0.03)


def test_claim_somewhat_below_the_clock_is_corrected_and_said():
    found = timed(course(400.0, 200.0, real_us=300.0))
    assert not found.claim_ok
    assert found.speedup < 1.5
    assert "the broker's clock shows at least" in found.notes[0]


def test_below_the_floor_is_a_verdict_and_never_fast():
    stop = verdict(course(floor={"cold": 150.0, "warm": 10.0}))
    assert stop.failure.kind == "below_floor"
    assert "150.00 us" in stop.failure.message


def test_somewhat_below_the_floor_is_within_its_margin():
    assert timed(course(floor={"cold": 110.0, "warm": 10.0})).speedup == pytest.approx(2.0, rel=0.03)


def test_below_the_warm_floor_is_a_verdict_too():
    assert verdict(course(warm_us=2.0, floor={"cold": 50.0, "warm": 30.0})).failure.kind == "below_floor"


def test_floor_of_a_sheet_that_is_exceeded_is_held_against_nobody():
    found = timed(course(peaks={"doubt": "the sheet is exceeded"}, floor={"cold": 150.0, "warm": 10.0}))
    assert found.notes == ["no floor: the sheet is exceeded"]
    assert [size.floor_us for size in found.sizes] == [None] * 4


def test_floor_that_is_not_known_is_null():
    assert timed(course(floor={"cold": None, "warm": None})).sizes[0].floor_us is None


def test_baseline_that_was_slowed_down_is_a_hack():
    made = course()

    def gone() -> None:
        made.sides["eager"].us = 100.0

    def back() -> None:
        made.sides["eager"].us = 200.0

    made.gone, made.reopen = gone, back
    stop = verdict(made)
    assert stop.failure.kind == "suspected_hack"
    assert "as long beside the candidate as alone" in stop.failure.message


def test_baseline_that_was_slow_once_is_timed_again():
    made = course()
    made.gone = lambda: setattr(made.sides["eager"], "us", 150.0)
    assert timed(made).speedup == pytest.approx(2.0, rel=0.2)


def test_candidate_that_knows_old_values_only_is_a_hack():
    stop = verdict(course(800.0, 200.0, fresh_us=700.0))
    assert stop.failure.kind == "suspected_hack"
    assert "never seen" in stop.failure.message


def test_host_on_which_the_baseline_differs_from_itself_is_noisy():
    found = []
    # One of nine such hosts has, by chance, a median ratio near one.
    for number in range(6):
        made = course()
        made.sides["eager"].spread, made.sides["eager"].rng = 0.4, random.Random(number)
        found.append(timed(made))
    assert all(timing.noisy is not (0.98 <= timing.self_ratio <= 1.02) for timing in found)
    assert any(timing.noisy for timing in found)


def test_compiled_baseline_has_a_speedup_of_its_own():
    found = timed(course(compiled_us=150.0))
    assert found.compile_speedup == pytest.approx(1.5, rel=0.03)
    assert found.speedup == pytest.approx(2.0, rel=0.03)


def test_compiled_baseline_that_fails_is_an_error_and_no_number():
    made = course(compiled_us=150.0, compile={"error": "torch.compile: no"})
    found = timed(made)
    assert found.compile_speedup is None
    assert [size.compile for size in found.sizes] == [{"error": "torch.compile: no"}] * 4
    assert [request["op"] for request in made.asked].count("compile") == 1


def test_one_size_that_fails_to_compile_leaves_no_compiled_baseline():
    def compiled(request: dict) -> dict:
        return {"error": "torch.compile: not done in 60 s"} if request["case"] == "time-2" else {}

    found = timed(course(compiled_us=150.0, compile=compiled))
    assert [size.compile for size in found.sizes] == [{"error": "torch.compile: not done in 60 s"}] * 4


def test_baseline_alone_needs_no_compiler():
    made = course()
    assert timed(made).sizes[0].compile is None
    assert "compile" not in {request["op"] for request in made.asked}


def test_wrong_output_of_a_timed_call_is_found():
    stop = verdict(course(check={"ok": False, "kind": "wrong_numeric", "message": "off"}))
    assert stop.failure.kind == "wrong_numeric"
    assert "wrong in a timed call" in stop.failure.message


def test_right_before_timing_and_wrong_after_it_is_found():
    def check(request: dict) -> dict:
        return {"ok": "case" in request, "kind": "wrong_numeric", "message": "off", "trivial": False}

    assert "not after it" in verdict(course(check=check)).failure.message


def test_case_after_timing_is_no_held_out_one():
    made = course()
    timed(made)
    assert "secret" not in {request.get("case") for request in made.asked}


def test_no_memory_for_timing_is_no_timing_and_no_verdict():
    made = course()
    made.error = Stop("oom", "out of memory")
    run(made)
    assert made.record.timing is None
    assert made.record.no_timing == "timing failed: out of memory"


def test_baseline_without_a_time_is_no_timing():
    made = course(baseline_us=0.0)
    run(made)
    assert made.record.timing is None
    assert "no time could be had" in made.record.no_timing


def test_task_without_timing_cases_says_so():
    made = course(sizes=0)
    run(made)
    assert made.record.no_timing == "the task has no timing cases"


def test_state_of_the_gpu_is_sampled_around_each_size():
    found = timed(course())
    assert found.clocks[0]["at"] == "before"
    assert len(found.clocks) == 5
    assert found.clocks[0]["sm_mhz"] == 1980


def test_clocks_that_are_held_down_and_other_processes_are_said():
    state = {"throttle": ["power cap", "hardware thermal"], "processes": [os.getpid(), 1], "missing": {}}
    found = timed(course(clocks=state))
    assert "before: the GPU's clocks were held down (hardware thermal)" in found.notes
    assert "1 other processes had the GPU open" in found.notes
    assert found.clocks[0]["other_processes"] == [1]


def test_input_values_differ_in_every_set_and_between_runs():
    seeds = []
    for _ in range(2):
        made = course()
        Ladder(made, made.clock).run()
        seeds += [request["seed"] for request in made.asked if request["op"] == "inputs"]
    assert len(set(seeds)) == len(seeds)


@pytest.mark.parametrize("us", [6.0, 60.0, 300.0, 1000.0])
def test_lock_is_held_less_than_five_seconds_for_four_sizes(us):
    made = course(2 * us, us)
    timed(made)
    assert 0 < made.record.resources["gpu_s"] < 5.0


def test_slow_kernels_take_no_minutes():
    made = course(50_000.0, 50_000.0)
    timed(made)
    assert made.record.resources["gpu_s"] < 15.0
