"""Modelled time ranks kernels by what they do, and never touches a verdict."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tools.evaluation import Evaluation
from tools.executor.stages.modelling import LEAST_S
from tools.settings import Settings

KERNELS = Path(__file__).resolve().parents[4] / "benchmarks/calibration"
SETTINGS = Settings(device="simulated", import_s=5.0, case_s=5.0)


@pytest.fixture
def modelled(evaluate: Callable[..., Evaluation]) -> Callable[[str], dict]:
    def run(name: str) -> dict:
        found = evaluate((KERNELS / f"{name}.py").read_text(), f"quick/{name.partition('__')[0]}", SETTINGS)
        assert found.verdict == "pass"
        assert found.modelled is not None
        return found.modelled

    return run


def test_every_timing_size_is_modelled(modelled: Callable[[str], dict]) -> None:
    found = modelled("add__plain")
    assert [size["case"] for size in found["sizes"]] == ["time-4096", "time-262144", "time-4194304", "time-33554432"]
    assert found["sizes"][-1]["bound"] == "memory"
    assert found["sizes"][-1]["launches"] == 1
    assert 0.9 < found["sizes"][-1]["speedup"] < 1.1


def test_a_waste_of_memory_or_launches_shows(modelled: Callable[[str], dict]) -> None:
    plain, scattered, split = (modelled(f"add__{variant}")["speedup"] for variant in ("plain", "uncoalesced", "two_launches"))
    assert plain > split > 0
    assert plain > 1.5 * scattered


def test_it_is_no_measurement(evaluate: Callable[..., Evaluation]) -> None:
    found = evaluate((KERNELS / "add__plain.py").read_text(), "quick/add", SETTINGS)
    assert (found.timing, found.speedup) == (None, None)
    assert found.modelled is not None
    assert found.modelled["label"] == "modelled, not measured"


def test_a_candidate_that_fails_at_a_timing_size_keeps_its_verdict(evaluate: Callable[..., Evaluation]) -> None:
    source = (KERNELS / "add__plain.py").read_text()
    source = source.replace("    n = out.numel()\n", "    n = out.numel()\n    if n > 1 << 20:\n        raise ValueError('too large')\n")
    found = evaluate(source, "quick/add", SETTINGS)
    assert found.verdict == "pass"
    assert found.modelled is not None
    assert found.modelled["speedup"] is None
    assert found.modelled["error"] == "the candidate could not be counted at its timing sizes: ValueError: too large"


def test_a_candidate_that_hangs_at_a_timing_size_keeps_its_verdict(evaluate: Callable[..., Evaluation]) -> None:
    source = (KERNELS / "add__plain.py").read_text()
    source = source.replace("    n = out.numel()\n", "    n = out.numel()\n    while n > 1 << 20:\n        pass\n")
    found = evaluate(source, "quick/add", SETTINGS)
    assert (found.verdict, found.stage) == ("pass", "adversarial")
    assert found.modelled is not None
    assert "not within" in found.modelled["error"]
    assert found.resources["adversarial_s"] < LEAST_S <= found.resources["modelled_s"]


def test_kernels_that_take_the_compiler_long_are_not_waited_for(evaluate: Callable[..., Evaluation]) -> None:
    source = (KERNELS / "softmax__row.py").read_text()
    source = source.replace("num_warps=8", "num_warps=1 if columns > 4000 else 8").replace("(columns),", "(columns * 4),")
    assert "columns * 4" in source
    found = evaluate(source, "quick/softmax", SETTINGS)
    assert found.verdict == "pass"
    assert found.modelled is not None
    assert "not within" in found.modelled["error"]
    assert found.resources["modelled_s"] < max(2 * LEAST_S, 0.7 * found.resources["wall_s"])


def test_it_can_be_switched_off(evaluate: Callable[..., Evaluation]) -> None:
    found = evaluate((KERNELS / "add__plain.py").read_text(), "quick/add", replace(SETTINGS, profile="off"))
    assert (found.verdict, found.modelled) == ("pass", None)
