"""What counts and hardware rule out, and what they point to."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents import examples, feedback, rules
from agents.counts import Counts
from agents.strategies import BOTTLENECKS, STRATEGIES
from tools import platforms

SHEET = platforms.sheet(platforms.names()[0])
TRAFFIC = {"sectors_loaded": 100, "sectors_stored": 100, "minimal_bytes": 200, "flops": 100, "launches": 1}


def digest(traffic: dict[str, Any] | None = None, **parts: Any) -> dict[str, Any]:
    bare: dict[str, Any] = {"kernels": [], "roofline": [], "ncu": None, "modelled": None, "profile": None}
    return {**feedback.digest(examples.passing()), **bare, "traffic": {**TRAFFIC, **(traffic or {})}, **parts}


def kernel(**counts: Any) -> dict[str, Any]:
    return digest(kernels=[{"name": "k", "registers": 32, "spills": 0, "shared_bytes": 0, "occupancy": 1.0, **counts}])


@pytest.mark.parametrize(
    ("strategy", "masking", "freeing"),
    [
        ("fuse", digest(), digest({"launches": 3})),
        ("fuse", digest(), digest(torch_work=[{"op": "mul", "calls": 1, "elements": 8, "compute": True}])),
        ("reuse", digest(), digest({"sectors_loaded": 400})),
        ("reuse", kernel(spills=8), digest({"sectors_loaded": 400})),
        ("access", digest(), digest({"sectors_stored": 400})),
        ("order", digest(), digest({"sectors_loaded": 400})),
        ("pipeline", kernel(spills=8), kernel()),
        ("pipeline", kernel(shared_bytes=SHEET.shared_per_block), kernel(shared_bytes=SHEET.shared_per_block // 2)),
        ("tensor_core", digest({"flops": 10}), digest({"flops": 200_000})),
        ("algebra", digest(roofline=[{"bandwidth_share": 0.9}]), digest(roofline=[{"bandwidth_share": 0.5}])),
    ],
)
def test_a_rule_masks_a_strategy_with_its_reason(strategy: str, masking: dict[str, Any], freeing: dict[str, Any]) -> None:
    assert rules.masked(masking, SHEET)[strategy]
    assert strategy not in rules.masked(freeing, SHEET)
    assert strategy not in rules.allowed(masking, SHEET)


def test_hardware_without_matrix_units_masks_them() -> None:
    plain = replace(SHEET, peak_flops={"float64": 1e12, "float32": 2e12, "float16": 2e12})
    assert "no matrix units" in rules.masked(digest({"flops": 200_000}), plain)["tensor_core"]


def test_a_reason_says_its_number() -> None:
    assert rules.masked(kernel(spills=8), SHEET)["pipeline"].startswith("8 words per thread spill")


def test_what_is_unknown_masks_nothing() -> None:
    assert rules.masked({"verdict": "pass"}, None) == {}
    assert Counts.of({"verdict": "pass"}) == Counts()


def test_a_bottleneck_leaves_what_serves_it() -> None:
    left = rules.allowed(digest({"launches": 3, "sectors_loaded": 400}), SHEET, "launch_overhead")
    assert left == ["persistent", "fuse"]


def test_where_all_that_serves_is_masked_the_rest_is_left() -> None:
    assert rules.allowed(digest(), SHEET, "memory_access") == ["tile"]
    left = rules.allowed(digest(), SHEET, "no such thing")
    assert left == [name for name in STRATEGIES if name not in rules.masked(digest(), SHEET)]


@pytest.mark.parametrize(
    ("counted", "bottleneck", "number"),
    [
        (kernel(spills=8), "spills", "8 words"),
        (digest({"launches": 3}), "launch_overhead", "3 launches"),
        (digest(profile={"times": [{"name": "a"}, {"name": "b"}]}), "launch_overhead", "2 launches"),
        (digest(modelled={"bound": "dispatch", "sizes": [{"bound": "dispatch", "launches": 1}]}), "launch_overhead", "100 % of the sizes"),
        (digest(ncu="latency: warps wait for a barrier"), "latency", "barrier"),
        (digest(ncu="bandwidth of device memory"), "memory_traffic", "profiler"),
        (digest({"sectors_loaded": 400}), "memory_traffic", "2.50 times"),
        (kernel(occupancy=0.125), "occupancy", "12 % of the warps that a multiprocessor can hold; it takes 32 registers"),
        (digest(roofline=[{"roofline_share": 0.9}, {"roofline_share": 0.2}]), "latency", "20 % of the roofline"),
        (digest(), "latency", "no count"),
    ],
)
def test_the_surest_bottleneck_is_named_with_its_number(counted: dict[str, Any], bottleneck: str, number: str) -> None:
    found = rules.diagnosis(counted, SHEET)
    assert found.bottleneck == bottleneck
    assert number in found.evidence


def test_spills_are_surer_than_traffic() -> None:
    both = {**kernel(spills=8), "traffic": {**TRAFFIC, "sectors_loaded": 400}}
    assert [d.bottleneck for d in rules.readings(both)] == ["spills", "memory_traffic"]


def test_rules_know_all_names_that_they_use() -> None:
    assert {*rules.NCU.values(), *rules.MODELLED.values()} <= set(BOTTLENECKS)
    assert set(rules.RULES) <= set(STRATEGIES)


numbers = st.none() | st.floats(0, 1e6) | st.integers(0, 10**6)


@given(numbers, numbers, numbers, st.sampled_from([None, *BOTTLENECKS]))
def test_some_strategy_is_always_left(spills: Any, shared: Any, share: Any, bottleneck: str | None) -> None:
    made = digest(kernels=[{"spills": spills, "shared_bytes": shared, "occupancy": share}], roofline=[{"bandwidth_share": share}])
    left = rules.allowed(made, SHEET, bottleneck)
    assert left
    assert set(left) <= set(STRATEGIES)
    assert rules.diagnosis(made).bottleneck in BOTTLENECKS


MODELLED_BY_MEMORY = {"hardware": "h", "speedup": 1.5, "bound": "memory", "sizes": []}


@pytest.mark.parametrize("says", ["latency", "latency: warps wait for barriers"])
def test_what_the_profiler_says_is_told_as_the_profilers_and_before_the_models(says: str) -> None:
    read = rules.readings(digest(ncu=says, modelled=MODELLED_BY_MEMORY), SHEET)
    assert [(found.bottleneck, found.evidence) for found in read] == [("latency", f"the profiler says: {says}")]


def test_the_model_is_heard_where_the_profiler_saw_nothing() -> None:
    read = rules.readings(digest(ncu="unknown", modelled=MODELLED_BY_MEMORY), SHEET)
    assert [found.bottleneck for found in read] == ["memory_traffic"]
