"""The GPU's state, where there is a GPU and where there is none."""

from tools.platforms import clocks


def test_reasons_have_names():
    assert clocks.reasons(0) == []
    assert clocks.reasons(0x1 | 0x4 | 0x40) == ["idle", "power cap", "hardware thermal"]


def test_a_reason_without_a_name_is_shown_as_its_bit():
    assert clocks.reasons(0x4000) == ["0x4000"]


def test_what_slows_a_timing_is_not_usual():
    assert {"hardware slowdown", "software thermal", "hardware thermal", "power brake"}.isdisjoint(clocks.USUAL)


def test_every_field_has_a_value_or_a_reason():
    found = clocks.sample(0)
    missing = found.pop("missing")
    assert set(found) == {"sm_mhz", "memory_mhz", "power_w", "temperature_c", "throttle", "processes"}
    assert {name for name, value in found.items() if value is None} == set(missing)
    assert all(missing.values())
