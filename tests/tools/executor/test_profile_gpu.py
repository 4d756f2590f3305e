"""The profile on a real device: `pytest -m gpu tests/tools/executor/test_profile_gpu.py`."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from benchmark.suites import find
from tools.executor.local import LocalExecutor
from tools.settings import Settings

pytestmark = pytest.mark.gpu
KERNELS = Path(__file__).resolve().parents[3] / "benchmarks/calibration"


@pytest.fixture(scope="module")
def profile() -> dict[str, Any]:
    async def run() -> dict[str, Any]:
        executor = LocalExecutor(workers=1, gpus=(0,))
        try:
            found = await executor.evaluate((KERNELS / "add__plain.py").read_text(), find("quick/add"), Settings(profile="ncu"))
        finally:
            await executor.close()
        assert (found.verdict, found.stage) == ("pass", "profile"), found.error
        assert found.profile is not None
        return found.profile

    made = asyncio.run(run())
    print(made)
    return made


def test_a_large_pointwise_kernel_is_near_the_bandwidth(profile: dict[str, Any]) -> None:
    assert profile["roofline"][-1]["bound"] == "memory"
    assert profile["roofline"][-1]["bandwidth_share"] > 0.7


def test_all_of_its_device_time_is_its_own(profile: dict[str, Any]) -> None:
    assert profile["kernels"]["own_share"] == 1.0


def test_counters_name_the_memory_or_say_why_there_are_none(profile: dict[str, Any]) -> None:
    found = profile["ncu"]
    if "error" in found:
        pytest.skip(found["error"])
    assert [launch["kernel"] for launch in found["launches"]] == ["add_kernel"]
    assert found["launches"][0]["bottleneck"] == "bandwidth of device memory"
