"""Nsight Compute: how it is called, and what its numbers mean.

Metric names: Nsight Compute documentation, "Metrics Reference" and the sections SpeedOfLight, WarpStateStats, Occupancy, LaunchStats.
"""

import csv
import shutil
from pathlib import Path

from tools.platforms.counters import Counters

_STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
_STALLS = {
    "long_scoreboard": "device memory", "short_scoreboard": "shared memory", "barrier": "barriers",
    "lg_throttle": "queue of global accesses", "mio_throttle": "queue of shared accesses", "math_pipe_throttle": "arithmetic pipes",
    "wait": "fixed latency", "no_instruction": "instruction fetch",
}  # fmt: skip
_PERCENT = {
    "memory": "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "l2": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "l1": "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "multiprocessor": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "matrix": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
}
_PLAIN = {
    "waves": ("launch__waves_per_multiprocessor", 1.0),
    "registers": ("launch__registers_per_thread", 1.0),
    "sectors_per_request": ("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", 1.0),
    "us": ("gpu__time_duration.sum", 1e-3),
    "memory_gb_s": ("dram__bytes.sum.per_second", 1e-9),
}
METRICS = (*_PERCENT.values(), *(name for name, _ in _PLAIN.values()), *(_STALL.format(name) for name in _STALLS))
TARGET = Path(__file__).parent / "ncu_target.py"
"""A program that calls a candidate once between the marks that `command` waits for; it needs nothing of ours."""


def path() -> str | None:
    return shutil.which("ncu")


def command(program: str, log: str, target: list[str], metrics: tuple[str, ...] = METRICS) -> list[str]:
    """Clocks are left alone; units are bytes, ns and percent; the numbers go to `log`."""
    return [
        program, "--csv", "--log-file", log, "--print-units", "base", "--clock-control", "none", "--cache-control", "all",
        "--replay-mode", "kernel", "--target-processes", "application-only", "--profile-from-start", "off", "--launch-count", "32",
        "--kernel-name-base", "function", "--metrics", ",".join(metrics), *target,
    ]  # fmt: skip


def parse(text: str) -> list[Counters]:
    """The launches of a CSV log, in order. Raises `ValueError` with the profiler's own words where it holds none."""
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise ValueError(complaint(text))
    launches: dict[str, tuple[str, dict[str, float]]] = {}
    for row in csv.DictReader(line for line in lines[start:] if line.startswith('"')):
        _, values = launches.setdefault(row["ID"], (row["Kernel Name"], {}))
        number = _number(row["Metric Value"])
        if number is not None:
            values[row["Metric Name"]] = number
    return [_counters(kernel, values) for kernel, values in launches.values()]


def complaint(text: str) -> str:
    """Why there are no numbers."""
    if "ERR_NVGPUCTRPERM" in text:
        return "this host does not let its hardware counters be read (ERR_NVGPUCTRPERM)"
    errors = [line.removeprefix("==ERROR==").strip() for line in text.splitlines() if line.startswith("==ERROR==")]
    return errors[0][:300] if errors else "Nsight Compute saw no kernel"


def unknown(text: str) -> tuple[str, ...]:
    """Metrics that this version or device does not have, by its own words."""
    return tuple(
        name for name in METRICS if any("metric" in line.lower() and name in line for line in text.splitlines() if "ERROR" in line)
    )


def _counters(kernel: str, values: dict[str, float]) -> Counters:
    made = Counters(kernel[:200])
    for name, metric in _PERCENT.items():
        if metric in values:
            setattr(made, name, round(values[metric] / 100, 4))
    for name, (metric, scale) in _PLAIN.items():
        if metric in values:
            setattr(made, name, round(values[metric] * scale, 3))
    stalls = {words: values[_STALL.format(name)] for name, words in _STALLS.items() if _STALL.format(name) in values}
    made.stalls = {words: round(value, 3) for words, value in sorted(stalls.items(), key=lambda item: -item[1]) if value > 0}
    return made


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None
