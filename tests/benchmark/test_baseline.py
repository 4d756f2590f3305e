import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmark import baseline, suites
from benchmark.stopwatch import milliseconds
from benchmark.task import Task, timed


def add() -> Task:
    return replace(suites.find("quick/add"), timing=timed(lambda d, n: {"input": d.normal(n), "other": d.normal(n)}, ((64,), (1 << 22,))))


def test_a_larger_size_takes_longer() -> None:
    small, large = (baseline.measured(add(), case, "cpu", compiled=False)["eager_ms"] for case in add().timing)
    assert 0 < small < large


def test_what_cannot_run_is_null_with_a_reason() -> None:
    def broken(input: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        raise ValueError("not here\nnor there")

    found = baseline.measured(replace(add(), reference=broken), add().timing[0], "cpu", compiled=False)
    assert found == {"eager_ms": None, "no_eager": "ValueError: not here"}


def test_after_a_size_that_takes_seconds_larger_ones_are_left_out() -> None:
    def slow(input: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        time.sleep(1.01)
        return input

    small, large = baseline.ladder(replace(add(), reference=slow), "cpu", compiled=False).values()
    assert small["eager_ms"] >= 1010
    assert large == {"eager_ms": None, "no_eager": "a call at time-64 took 1.0 s"}


def test_a_call_that_waits_is_measured_by_what_it_waits() -> None:
    assert 10 <= milliseconds(lambda: time.sleep(0.01), "cpu", calls=3) < 100


@pytest.fixture
def report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    out = tmp_path / "ladder.json"
    assert baseline.main(["--task", "layer_norm", "--device", "cpu", "--out", str(out)]) == 0
    assert "quick/layer_norm: time-64x512 " in capsys.readouterr().out
    return json.loads(out.read_text())


def test_the_file_says_what_was_measured_where_and_that_nothing_is_claimed(report: dict[str, Any]) -> None:
    assert "no claim of speed" in report["what"]
    assert {"device": "cpu", "torch": torch.__version__}.items() <= report["environment"].items()
    assert report["environment"]["hardware"]
    sizes = report["tasks"]["quick/layer_norm"]
    assert list(sizes) == [case.name for case in suites.find("quick/layer_norm").timing]
    assert all(times["eager_ms"] > 0 for times in sizes.values())


@pytest.mark.slow
def test_compiled_references_are_timed_where_asked() -> None:
    found = baseline.measured(add(), add().timing[0], "cpu", compiled=True)
    assert found["eager_ms"] > 0
    assert (found["compile_ms"] or 0) > 0 or found["no_compile"]


@pytest.mark.gpu
def test_events_time_a_device() -> None:
    device = torch.accelerator.current_accelerator().type  # type: ignore[union-attr]
    small, large = (baseline.measured(add(), case, device, compiled=False)["eager_ms"] for case in add().timing)
    assert 0 < small < large < 5


@pytest.mark.parametrize("arguments", [["--suite", "quik"], ["--task", "gelo"], ["--device", "moon"], ["--out", "/nowhere/at/all.json"]])
def test_a_mistake_is_exit_code_2_and_one_line(arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert baseline.main(["--task", "add", "--device", "cpu", "--out", str(tmp_path / "f"), *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1
