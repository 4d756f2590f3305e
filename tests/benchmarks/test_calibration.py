"""The calibration set and its rank correlation."""

import asyncio
import hashlib
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmark.suites import find
from tools.executor.local import LocalExecutor
from tools.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
MEASURED = ROOT / "benchmarks/calibration/h200.jsonl"
KERNELS = sorted((ROOT / "benchmarks/calibration").glob("*.py"))


@pytest.fixture(scope="module")
def calibrate() -> Any:
    spec = importlib.util.spec_from_file_location("calibrate_model", ROOT / "benchmarks/calibrate_model.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_there_are_enough_kernels_of_enough_operators(calibrate: Any) -> None:
    operators = {calibrate.operator(path.stem) for path in KERNELS}
    assert (len(KERNELS) >= 30, len(operators) >= 10) == (True, True)
    assert all(f"def {operator}(" in path.read_text() for path in KERNELS for operator in [calibrate.operator(path.stem)])


def test_jobs_have_a_line_for_each_kernel(calibrate: Any, tmp_path: Path) -> None:
    calibrate.write_jobs(tmp_path / "jobs.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "jobs.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == [path.stem for path in KERNELS]
    assert all(find(line["task"]).entry_name in line["candidate"] for line in lines)


@pytest.mark.parametrize(
    ("one", "other", "rho"),
    [([1, 2, 3, 4], [10, 20, 30, 1000], 1.0), ([1, 2, 3, 4], [4, 3, 2, 1], -1.0), ([1, 2, 3, 4, 5], [2, 1, 4, 3, 5], 0.8)],
)
def test_rank_correlation(calibrate: Any, one: list[float], other: list[float], rho: float) -> None:
    assert calibrate.spearman(one, other) == pytest.approx(rho)


def test_equal_values_share_their_ranks(calibrate: Any) -> None:
    assert calibrate.ranks([5.0, 1.0, 5.0, 3.0]).tolist() == [3.5, 1, 3.5, 2]


def test_the_plot_has_a_point_for_each_kernel(calibrate: Any) -> None:
    drawn = ElementTree.fromstring(calibrate.plot([("add__plain", 1.0, 1.1), ("gelu__plain", 0.5, 0.02)], "title"))
    titles = [title.text for title in drawn.iter("{http://www.w3.org/2000/svg}title")]
    assert titles == ["add__plain", "gelu__plain"]


def test_the_measured_figures_are_those_of_the_kernels_as_they_are(calibrate: Any) -> None:
    measured = calibrate.read(MEASURED)
    assert len(measured) >= 24
    assert len({calibrate.operator(name) for name in measured}) >= 8
    for name, found in measured.items():
        assert hashlib.sha256((ROOT / f"benchmarks/calibration/{name}.py").read_bytes()).hexdigest() == found.candidate_sha, name
        assert (found.verdict, calibrate.hardware_of(found)) == ("pass", "h200")


@pytest.mark.slow
def test_modelled_and_measured_speedups_rank_kernels_alike(calibrate: Any, tmp_path: Path) -> None:
    measured = calibrate.read(MEASURED)
    rows = calibrate.pairs(measured, asyncio.run(calibrate.count(sorted(measured), tmp_path / "counted.jsonl")))
    # On a busy machine some are not counted in time.
    assert len(rows) >= 24
    assert len({calibrate.operator(name) for name, _, _ in rows}) >= 8
    assert calibrate.spearman([row[1] for row in rows], [row[2] for row in rows]) >= 0.8


@pytest.mark.slow
def test_every_kernel_is_right_and_counted(calibrate: Any) -> None:
    async def run() -> list[str]:
        executor, wrong = LocalExecutor(workers=1), []
        for path in KERNELS:
            found = await executor.evaluate(path.read_text(), find(f"quick/{calibrate.operator(path.stem)}"), Settings(device="simulated"))
            if found.verdict != "pass" or not found.modelled or "error" in found.modelled:
                wrong.append(f"{path.stem}: {found.verdict} {found.error} {(found.modelled or {}).get('error')}")
        await executor.close()
        return wrong

    assert asyncio.run(run()) == []
