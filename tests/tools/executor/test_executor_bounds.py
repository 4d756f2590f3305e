"""Accesses outside a launch's tensors: found, attributed, and not shown for inputs that are not shown."""

from collections.abc import Callable
from pathlib import Path

from tools.evaluation import CaseResult, Evaluation
from tools.executor import claims

NO_MASK = Path(__file__).parents[1] / "candidates/hostile/no_mask.py"


def test_access_is_attributed_to_kernel_tensor_and_program(evaluate: Callable[..., Evaluation]) -> None:
    found = evaluate(NO_MASK.read_text())
    assert found.error is not None
    assert found.memory is not None
    assert found.error.detail.items() >= {"kernel": "rows", "kind": "load", "tensor": "x"}.items()
    assert {access["kind"] for access in found.memory["out_of_bounds"]} == {"load"}


def test_honest_candidate_leaves_an_empty_list(evaluate: Callable[..., Evaluation]) -> None:
    assert evaluate((NO_MASK.parents[1] / "honest/softmax.py").read_text()).memory == {"out_of_bounds": []}


def test_what_a_held_out_case_did_is_not_public() -> None:
    found = Evaluation("a", "quick/add", verdict="out_of_bounds", cases=[CaseResult("shown", False, True), CaseResult("held", True, False)])
    found.memory = {"out_of_bounds": [{"kernel": "k", "lanes": 3}]}
    assert found.public()["memory"] is None


def test_claimed_accesses_are_cut_to_form() -> None:
    assert claims.accesses([{"kernel": 1, "program": ["x", 2], "lanes": -5}, "no"]) == [
        {"kernel": "", "kind": "", "tensor": "", "index": 0, "program": [0, 2], "lanes": 0}
    ]
