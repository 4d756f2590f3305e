"""The modelled time of a launch follows from what bounds it."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools import platforms
from tools.modelled.launch import L2_BYTES, REACHED, START_US, Launch, bounds, resident, took

H200, A100 = platforms.sheet("h200"), platforms.sheet("a100")
MIB = 1 << 20
PLAIN = Launch("k", 32768, 4, 128 * MIB, 128 * MIB, 128 * MIB, 128 * MIB, 1, 1e8, {}, 32, 0, 0)
PRODUCT = replace(PLAIN, programs=1024, warps=8, loaded=2 * 4096**3 / 64, stored=32 * MIB, dot_flops={"float16": 2.0 * 4096**3}, loads=128)


def report(**changes: Any) -> dict[str, Any]:
    return {
        "kernel": "k", "grid": [100, 2, 1], "num_warps": 4, "programs_run": 4, "sectors_loaded": 4096, "sectors_stored": 2048,
        "sectors_atomic": 0, "span_loaded": 10**6, "span_stored": 50000, "loads": 8, "flops": 400, "dot_flops": {"float16": 4000},
        "registers": 32, "spills": 0, "shared_bytes": 0,
    } | changes  # fmt: skip


def test_a_sample_stands_for_the_whole_grid() -> None:
    launch = Launch.counted(report())
    assert (launch.programs, launch.loaded, launch.stored, launch.flops) == (200, 4096 * 50, 2048 * 50, 20000)
    assert launch.dot_flops == {"float16": 200000}
    assert launch.loads == 2


def test_no_more_must_be_moved_than_the_tensors_hold() -> None:
    launch = Launch.counted(report())
    assert (launch.span_loaded, launch.span_stored) == (4096 * 50, 50000)


def test_atomics_are_loaded_and_stored() -> None:
    launch = Launch.counted(report(sectors_atomic=4096))
    assert (launch.loaded, launch.stored) == (8192 * 50, 6144 * 50)


def test_a_large_pointwise_kernel_takes_its_bytes_over_the_bandwidth() -> None:
    found = took(PLAIN, H200)
    assert found.bound == "memory"
    assert found.us == pytest.approx(START_US + 256 * MIB / (REACHED * 4.8e12) * 1e6)


def test_sectors_of_which_little_is_used_load_the_cache() -> None:
    found = took(replace(PLAIN, loaded=8 * 128 * MIB, stored=8 * 128 * MIB), H200)
    assert found.bound == "cache"
    assert found.us > 2 * took(PLAIN, H200).us


def test_spilled_registers_load_the_cache_too() -> None:
    assert bounds(replace(PLAIN, spills=100), H200).cache > bounds(PLAIN, H200).cache


def test_very_many_programs_are_bound_by_their_dispatch() -> None:
    assert took(replace(PLAIN, programs=1 << 20, warps=1), H200).bound == "dispatch"


def test_few_programs_with_many_loads_are_bound_by_latency() -> None:
    assert took(replace(PLAIN, programs=16, loads=4096), H200).bound == "latency"


def test_loads_of_what_was_loaded_before_are_waited_for_less() -> None:
    once = replace(PLAIN, programs=132, loads=100)
    again = replace(once, loaded=3 * once.loaded, loads=300)
    assert bounds(once, H200).latency < bounds(again, H200).latency < 2.5 * bounds(once, H200).latency


def test_data_that_is_read_again_and_fits_the_cache_is_fetched_once() -> None:
    small = replace(PLAIN, loaded=3 * 8 * MIB, span_loaded=8 * MIB)
    large = replace(PLAIN, programs=132, loaded=3 * 512 * MIB, span_loaded=512 * MIB)
    assert bounds(small, H200).memory == pytest.approx((8 + 128) * MIB / (REACHED * 4.8e12) * 1e6)
    assert bounds(large, H200).memory > 2 * (512 + 128) * MIB / (REACHED * 4.8e12) * 1e6


def test_a_product_with_larger_tiles_is_faster_until_the_peak() -> None:
    times = [bounds(replace(PRODUCT, loaded=2 * 4096**3 * 2 / tile), H200).products for tile in (16, 32, 64, 128)]
    assert times == sorted(times, reverse=True)
    assert times[-1] >= 2 * 4096**3 / H200.peak_flops["float16"] * 1e6


def test_programs_that_do_not_fill_the_last_round_cost_a_whole_one() -> None:
    whole, more = (bounds(replace(PRODUCT, programs=n), H200).products for n in (132, 133))
    assert more == pytest.approx(whole * 2 * 132 / 133)


@pytest.mark.parametrize(
    ("changes", "programs"),
    [({}, 16), ({"warps": 1}, 32), ({"registers": 255}, 2), ({"shared_bytes": 100 << 10}, 2), ({"warps": 32, "registers": 64}, 1)],
)
def test_residency_follows_the_scarcest_resource(changes: dict[str, Any], programs: int) -> None:
    assert resident(replace(PLAIN, **changes), H200) == programs


def test_an_empty_grid_takes_its_start_alone() -> None:
    assert took(replace(PLAIN, programs=0), H200).us == START_US


@given(st.floats(1, 8), st.sampled_from(["loaded", "stored", "flops", "loads", "programs"]))
def test_more_work_never_takes_less_time(factor: float, what: str) -> None:
    more = replace(PLAIN, **{what: type(getattr(PLAIN, what))(getattr(PLAIN, what) * factor)})
    if what == "programs":
        # The same work in more programs may fill the device better; what it never does is dispatch faster.
        assert bounds(more, H200).dispatch >= bounds(PLAIN, H200).dispatch
    else:
        assert took(more, H200).us >= took(PLAIN, H200).us


def test_a_slower_device_takes_longer() -> None:
    for launch in (PLAIN, PRODUCT):
        assert took(launch, A100).us > took(launch, H200).us


def test_few_programs_have_a_part_of_the_cache_bandwidth() -> None:
    assert bounds(replace(PLAIN, programs=1), H200).cache == pytest.approx(256 * MIB / (L2_BYTES * H200.clock_hz) * 1e6)
