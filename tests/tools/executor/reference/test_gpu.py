"""On a GPU: foreign tasks are described there, and their baseline is timed in the reference sandbox."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmark.task import Task
from tests.tools.executor.reference import test_hostile, test_models, test_recorded
from tools.executor.local import LocalExecutor
from tools.settings import Settings
from tools.tasks import Finder

pytestmark = pytest.mark.gpu
Find = Callable[..., Task]
SIZES = "\ndef timing():\n    return [{'x': torch.randn(n)} for n in (1 << 12, 1 << 24)]\n"
WIDE = test_hostile.DOUBLE.replace("tl.arange(0, BLOCK)", "tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)").replace(
    "kernel[(1,)](x, y, x.numel(), BLOCK=64)", "kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)"
)


def test_an_own_operator_is_timed_against_its_reference(own: Find, on_device: LocalExecutor) -> None:
    task = own(test_hostile.HEAD + test_hostile.INPUTS + SIZES + test_hostile.PLAIN)
    found = asyncio.run(on_device.evaluate(WIDE, task, Settings()))
    assert found.verdict == "pass", found.error
    assert found.timing is not None, found.no_timing
    assert found.timing.claim_ok
    assert 0.5 < found.timing.sizes[-1].speedup < 2.0


def test_a_class_is_right_at_the_sizes_that_are_timed(finder: Finder, on_device: LocalExecutor, tmp_path: Path) -> None:
    folder = tmp_path / "KernelBench" / "level2"
    folder.mkdir(parents=True)
    (folder / "7_Shifted.py").write_text(test_models.LINEAR.replace("2048", "128").replace("out = 1024", "out = 64"))
    task = finder.find(f"kernelbench:{tmp_path}/level2/7_Shifted")
    found = asyncio.run(on_device.evaluate(test_models.CLASS, task, Settings()))
    assert found.verdict == "pass", found.error
    assert found.timing is not None, found.no_timing


def test_recorded_calls_are_made_on_the_device(finder: Finder, on_device: LocalExecutor, tmp_path: Path) -> None:
    (tmp_path / "utils").mkdir()
    (tmp_path / "utils" / "helpers_of_ours.py").write_text(test_recorded.HELPERS)
    folder = tmp_path / "data" / "kernelbenchx" / "Math"
    folder.mkdir(parents=True)
    (folder / "scaled.py").write_text(test_recorded.SCALE + test_recorded.LINE + test_recorded.TESTS)
    task = finder.find(f"kernelbenchx:{tmp_path}/Math/scaled")
    found = asyncio.run(on_device.evaluate(test_recorded.KERNEL, task, Settings()))
    assert found.verdict == "pass", found.error
    assert found.timing is not None, found.no_timing
