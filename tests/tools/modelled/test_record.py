"""The modelled record says what it is, of which hardware, and how it was counted."""

import json
import math

import torch

from tools.modelled import Eager, Launch, Size, record, speedup
from tools.operations import trace

MIB = 1 << 20


def size(case: str, mib: int) -> Size:
    elements = mib * MIB // 4
    operations = trace(lambda x: x.exp(), {"x": torch.empty(elements, device="meta")})[1]
    launch = Launch("k", elements // 1024, 4, mib * MIB, mib * MIB, mib * MIB, mib * MIB, 1, elements, {}, 32, 0, 0)
    return Size(case, (launch,), Eager.of(operations))


def test_it_is_labelled_with_hardware_bound_and_way_of_counting() -> None:
    found = record([size("small", 1), size("large", 256)], "h100", "cuda:90", 4)
    assert found["label"] == "modelled, not measured"
    assert found["hardware"] == "NVIDIA H100 80GB HBM3"
    assert (found["bound"], [s["case"] for s in found["sizes"]]) == ("memory", ["small", "large"])
    assert "4 programs at most" in found["extrapolation"]
    assert "cuda:90" in found["extrapolation"]
    assert json.loads(json.dumps(found)) == found


def test_the_speedup_is_the_geometric_mean_over_sizes() -> None:
    found = record([size("small", 1), size("large", 256)], "h100", "cuda:90", 4)
    assert found["speedup"] == round(math.sqrt(math.prod(s["speedup"] for s in found["sizes"])), 4)


def test_other_hardware_has_a_speedup_from_the_same_counts() -> None:
    sizes = [size("small", 1), size("large", 256)]
    found = record(sizes, "h100", "cuda:90", 4)
    assert found["others"]["h200"] == speedup(sizes, "h200")
    assert set(found["others"]) == {"a100", "h200", "mi300x"}


def test_the_counts_are_kept_and_give_the_launches_back() -> None:
    sizes = [size("small", 1)]
    (kept,) = record(sizes, "h100", "cuda:90", 4)["counts"]
    assert tuple(Launch(**launch) for launch in kept["launches"]) == sizes[0].launches
