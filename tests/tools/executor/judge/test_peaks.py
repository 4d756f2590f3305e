"""A hardware sheet held against what a machine reaches."""

import pytest

from tools import platforms
from tools.executor.judge.peaks import doubt

SHEET = platforms.sheet("h200")
REACHED = {"memory": 4.3e12, "bfloat16": 7.9e14, "float32": 5.1e13}


def test_sheet_that_is_not_reached_is_believed():
    assert doubt(REACHED, SHEET) == ""


@pytest.mark.parametrize(("name", "rate"), [("memory", 5.2e12), ("bfloat16", 1.2e15), ("float32", 9e13)])
def test_sheet_that_is_exceeded_is_wrong(name, rate):
    reason = doubt(REACHED | {name: rate}, SHEET)
    assert "is exceeded" in reason
    assert f"{rate:.3g}" in reason


def test_rate_that_the_sheet_does_not_name_says_nothing():
    assert doubt(REACHED | {"float4": 1e18}, SHEET) == ""


def test_unknown_hardware_has_no_floor():
    assert doubt(REACHED, None) == "no vendor figures of this device are known"
