"""What is recorded and said of the GPU's state."""

import os
import subprocess
import sys
import time

import pytest

from tools.executor.stages.surroundings import PRESSURE, Surroundings, descends, waited


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


def test_busy_is_the_share_of_the_time_since_the_last_look_in_which_something_waited(monkeypatch):
    seconds, stalled = iter([10.0, 14.0, 14.0, 16.0, 16.0]), iter([3.0, 4.0, 4.0, 6.0, 6.0])
    monkeypatch.setattr("time.monotonic", lambda: next(seconds))
    made = Surroundings(lambda: {"throttle": [], "processes": []}, stalled=lambda: next(stalled))
    made.look("before")
    assert made.samples[0]["host_busy"] == 0.25
    assert made.busy() == 1.0


def test_busy_is_not_known_where_the_kernel_does_not_say(monkeypatch, tmp_path):
    monkeypatch.setattr("tools.executor.stages.surroundings.PRESSURE", tmp_path / "none")
    assert Surroundings(dict).busy() is None


@pytest.mark.skipif(not PRESSURE.exists(), reason="the kernel tells no pressure")
def test_what_the_kernel_says_of_pressure_grows_with_more_work_than_processors():
    before = waited()
    work = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1) + 1)]
    try:
        time.sleep(0.5)
    finally:
        for one in work:
            one.kill()
            one.wait()
    assert before is not None
    assert waited() - before > 0.2


def test_own_processes_are_known_by_descent():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert descends(os.getpid())
        assert descends(child.pid)
        assert descends(os.getppid()) is False
        assert descends(1 << 22 | 1) is None
    finally:
        child.communicate(b"\n")
