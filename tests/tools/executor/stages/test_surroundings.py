"""What is recorded and said of the GPU's state."""

import os
import subprocess
import sys

from tools.executor.stages.surroundings import Surroundings, descends


def looked(*states: dict) -> Surroundings:
    given = iter(states)
    made = Surroundings(lambda: {"sm_mhz": 1980, "missing": {}} | next(given), own=lambda pid: {7: True, 8: False}.get(pid))
    for number in range(len(states)):
        made.look(f"size-{number}")
    return made


def test_usual_reasons_are_recorded_and_not_said():
    made = looked({"throttle": ["idle", "power cap"], "processes": [7]})
    assert made.notes == []
    assert made.samples[0]["throttle"] == ["idle", "power cap"]
    assert made.samples[0]["other_processes"] == []


def test_a_throttle_reason_is_said_with_its_size_and_once():
    made = looked({"throttle": [], "processes": []}, *[{"throttle": ["hardware slowdown"], "processes": []}] * 2)
    assert made.notes == [
        "size-1: the GPU's clocks were held down (hardware slowdown)",
        "size-2: the GPU's clocks were held down (hardware slowdown)",
    ]


def test_others_processes_are_said_and_unseen_ones_are_not():
    made = looked(*[{"throttle": [], "processes": [7, 8, 9]}] * 2)
    assert made.notes == ["1 other processes had the GPU open"]
    assert made.samples[0]["other_processes"] == [8]


def test_what_is_not_known_stays_null():
    made = looked({"throttle": None, "processes": None, "missing": {"throttle": "NVML is not there"}})
    assert made.notes == []
    assert made.samples[0]["throttle"] is None
    assert made.samples[0]["missing"] == {"throttle": "NVML is not there"}


def test_own_processes_are_known_by_descent():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert descends(os.getpid())
        assert descends(child.pid)
        assert descends(os.getppid()) is False
        assert descends(1 << 22 | 1) is None
    finally:
        child.communicate(b"\n")
