"""The statistics of timing, with sides that take the time that the test says."""

import math
import random
import time

import pytest

from tools.evaluation import TimedSize
from tools.executor.channel import Malformed
from tools.executor.timing import Contest, combined, interval


class Side:
    """Answers like the judge or a sandbox; `us` is the device time it reports, `real_us` what a call takes on the wall."""

    def __init__(self, us: float, real_us: float | None = None):
        self.us = us
        self.real_us = us if real_us is None else real_us
        self.rng = random.Random(1)

    def __call__(self, request):
        calls = len(request["order"])
        until = time.perf_counter() + calls * (self.real_us + 200.0) * 1e-6
        while time.perf_counter() < until:
            pass
        return {"us": [self.us * self.rng.uniform(0.98, 1.02) for _ in range(calls)]}


def contest(baseline: Side, candidate: Side) -> Contest:
    return Contest(baseline, candidate, lambda kept, values: None, random.Random(0))


def test_self_against_self_is_one():
    size = contest(Side(500.0), Side(500.0)).run("n", time.monotonic() + 30)
    assert 0.98 < size.speedup < 1.02
    assert size.ci[0] < 1 < size.ci[1] or abs(size.speedup - 1) < 0.01


def test_twice_as_fast_is_two_and_slower_is_below_one():
    assert contest(Side(1000.0), Side(500.0)).run("n", time.monotonic() + 30).speedup == pytest.approx(2.0, rel=0.03)
    assert contest(Side(500.0), Side(1000.0)).run("n", time.monotonic() + 30).speedup == pytest.approx(0.5, rel=0.03)


def test_honest_claim_is_believed_and_a_lie_is_not():
    honest, liar = contest(Side(800.0), Side(400.0)), contest(Side(800.0), Side(10.0, real_us=1500.0))
    honest.run("n", time.monotonic() + 30)
    liar.run("n", time.monotonic() + 30)
    assert honest.claim_ok()
    assert not honest.claim_absurd()
    assert not liar.claim_ok()
    assert liar.claim_absurd()


@pytest.mark.parametrize("us", [[], None, ["1"] * 8, [float("nan")], [0.0], [-5.0], [True]])
def test_times_that_are_no_times_are_the_candidates_doing(us):
    with pytest.raises(Malformed):
        contest(Side(50.0), lambda request: {"us": us}).run("n", time.monotonic() + 30)


def test_outputs_of_timed_calls_are_checked():
    checked = []
    made = Contest(Side(100.0), Side(100.0), lambda kept, values: checked.append((kept, values)), random.Random(0))
    made.run("n", time.monotonic() + 30)
    assert len(checked) == 3


def test_interval_covers_the_median_ratio():
    rng = random.Random(3)
    speedup, (low, high) = interval([math.log(2) + rng.gauss(0, 0.05) for _ in range(20)], rng)
    assert low < 2 < high
    assert low < speedup < high


def test_sizes_are_combined_by_their_geometric_mean():
    found = combined([TimedSize("a", 1, 1, 1.0, [0.9, 1.1]), TimedSize("b", 4, 1, 4.0, [3.9, 4.1])])
    assert found.speedup == pytest.approx(2.0)
    assert found.ci[0] < 2.0 < found.ci[1]
