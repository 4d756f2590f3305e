"""The parts of the timing loop that need no device."""

import math

import pytest
import torch

from tools.executor.clock import PLACES, Place, bringing, places_for, settled
from tools.executor.wire import Region


def test_a_block_is_its_median():
    assert settled([3.0, 1.0, 2.0]) == 2.0
    assert settled([4.0, 1.0, 2.0, 3.0]) == 2.5


@pytest.mark.parametrize("times", [[], [0.0], [1.0, -1.0], [math.inf, 1.0], [math.nan]])
def test_a_block_with_what_is_no_time_is_none(times):
    assert math.isnan(settled(times))


@pytest.mark.parametrize(("megabytes", "places"), [(1, PLACES), (16, 16), (100, 3), (300, 1)])
def test_arguments_are_copied_until_they_are_more_than_what_is_flushed(megabytes, places):
    assert places_for([torch.empty(megabytes << 20, dtype=torch.uint8)], 256 << 20) == places


def test_a_call_without_tensors_has_one_place():
    assert places_for([], 256 << 20) == 1
    assert places_for([torch.empty(0)], 256 << 20) == 1


def test_values_in_shared_memory_come_into_a_place_in_the_order_of_the_arguments():
    region = Region(torch.zeros(4096, dtype=torch.uint8))
    x, y, z = (torch.randn(6) for _ in range(3))
    sent = {"args": [region.write(x), region.write(3), region.write([y])], "kwargs": {"z": region.write(z)}}
    place = Place(lambda: None, [torch.empty(6) for _ in range(3)])
    bringing(region, sent)(place)
    assert all(torch.equal(one, other) for one, other in zip(place.buffers, (x, y, z), strict=True))
