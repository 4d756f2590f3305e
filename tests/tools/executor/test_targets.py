"""Several compilation targets in one evaluation."""

from collections.abc import Callable
from pathlib import Path

from tools.evaluation import Evaluation
from tools.settings import Settings

TARGETS = ("cuda:90", "cuda:120", "hip:gfx942")
HONEST = (Path(__file__).parents[1] / "candidates/honest/silu.py").read_text()
EIGHT_BITS = HONEST.replace("(v * tl.sigmoid(v))", "(v * tl.sigmoid(v)).to(tl.float8e4nv).to(tl.float32)")


def test_all_targets_are_compiled_and_reported(evaluate: Callable[..., Evaluation]) -> None:
    found = evaluate(HONEST, "quick/silu", Settings(device="simulated", targets=TARGETS))
    assert found.verdict == "pass", found.error
    assert [c["target"] for c in found.compile] == list(TARGETS)
    for compiled in found.compile:
        assert compiled["kernels"]
        assert all(k["registers"] > 0 and 0 < k["occupancy"] <= 1 for k in compiled["kernels"])


def test_a_target_that_cannot_be_compiled_for_is_named(evaluate: Callable[..., Evaluation]) -> None:
    found = evaluate(EIGHT_BITS, "quick/silu", Settings(device="simulated", targets=("cuda:90", "cuda:80")))
    assert (found.verdict, found.stage, found.compiled) == ("compile_error", "compile", False)
    assert "does not compile for cuda:80 at line" in found.error.message
    assert [bool(c["error"]) for c in found.compile] == [False, True]
    assert found.compile[0]["kernels"]
