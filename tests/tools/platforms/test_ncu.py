"""Nsight Compute's own output becomes counters, or one sentence."""

import pytest

from tools.platforms import ncu

HEAD = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC",'
    '"Section Name","Metric Name","Metric Unit","Metric Value"'
)
VALUES = {
    "dram__bytes.sum.per_second": ("byte/second", "4,021,337,912,004.32"),
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed": ("%", "83.79"),
    "gpu__time_duration.sum": ("ns", "66,752"),
    "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio": ("sector/request", "16"),
    "l1tex__throughput.avg.pct_of_peak_sustained_active": ("%", "31.2"),
    "launch__registers_per_thread": ("register/thread", "32"),
    "launch__waves_per_multiprocessor": ("", "15.52"),
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": ("%", "44.10"),
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active": ("%", "0"),
    "sm__throughput.avg.pct_of_peak_sustained_elapsed": ("%", "22.87"),
    "sm__warps_active.avg.pct_of_peak_sustained_active": ("%", "78.40"),
    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio": ("inst", "0"),
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": ("inst", "41.06"),
    "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio": ("inst", "2.31"),
}


def log(*kernels: str, values: dict[str, tuple[str, str]] = VALUES) -> str:
    """As version 2025.3 writes it: a row for each metric of each launch, numbers with commas."""
    rows = [
        f'"{number}","4242","python3.12","127.0.0.1","{kernel}","1","7","(128, 1, 1)","(32768, 1, 1)","0","9.0",'
        f'"Command line profiler metrics","{name}","{unit}","{value}"'
        for number, kernel in enumerate(kernels)
        for name, (unit, value) in values.items()
    ]
    chatter = ["==PROF== Connected to process 4242 (/usr/bin/python3.12)", '==PROF== Profiling "add_kernel" - 0: 0%....100% - 3 passes']
    return "\n".join([*chatter, HEAD, *rows, "==PROF== Disconnected from process 4242", ""])


def test_a_launch_has_its_numbers_in_our_words() -> None:
    (found,) = ncu.parse(log("add_kernel"))
    assert (found.kernel, found.us, found.memory_gb_s, found.memory) == ("add_kernel", 66.752, 4021.338, 0.8379)
    assert (found.l2, found.l1, found.multiprocessor, found.matrix, found.occupancy) == (0.441, 0.312, 0.2287, 0, 0.784)
    assert (found.waves, found.registers, found.sectors_per_request) == (15.52, 32, 16)


def test_stalls_are_named_the_longest_first() -> None:
    (found,) = ncu.parse(log("add_kernel"))
    assert list(found.stalls.items()) == [("device memory", 41.06), ("fixed latency", 2.31)]


def test_launches_come_in_order() -> None:
    assert [launch.kernel for launch in ncu.parse(log("scale_kernel", "add_kernel"))] == ["scale_kernel", "add_kernel"]


def test_what_has_no_value_is_unknown() -> None:
    (found,) = ncu.parse(log("k", values={"gpu__time_duration.sum": ("ns", "1,000"), "launch__registers_per_thread": ("", "n/a")}))
    assert (found.us, found.registers, found.memory) == (1.0, None, None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters", "hardware counters"),
        ("==ERROR== Failed to initialize the profiler: LibraryNotLoaded\n", "Failed to initialize the profiler: LibraryNotLoaded"),
        ("==WARNING== No kernels were profiled.\n", "saw no kernel"),
    ],
)
def test_a_log_without_numbers_says_why(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ncu.parse(text)


def test_metrics_that_a_device_lacks_are_found_in_its_complaint() -> None:
    missing = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"
    assert ncu.unknown(f"==ERROR== Failed to find metric {missing}\n") == (missing,)
    assert ncu.unknown(log("k")) == ()


def test_clocks_are_left_alone() -> None:
    command = ncu.command("ncu", "log.csv", ["python3", "target.py"])
    assert command[command.index("--clock-control") + 1] == "none"
    assert command[-2:] == ["python3", "target.py"]
