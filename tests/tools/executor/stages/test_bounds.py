"""Accesses outside a launch's tensors: found, attributed, and not shown for inputs that are not shown."""

from collections.abc import Callable
from pathlib import Path

from tools.evaluation import CaseResult, Evaluation
from tools.executor.stages import claims

RACING = """
import torch
import triton
import triton.language as tl


@triton.jit
def rows(x, y, columns, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    values = tl.load(x + tl.program_id(0) * columns + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    values = tl.exp(values - tl.max(values, axis=0))
    tl.store(y + offsets, (values / tl.sum(values, axis=0)).to(y.dtype.element_ty), mask=mask)


def softmax(input, dim, dtype=None):
    x = (input if dtype is None else input.to(dtype)).movedim(dim, -1).contiguous()
    y = torch.empty_like(x)
    if x.numel():
        rows[(x.numel() // x.shape[-1],)](x, y, x.shape[-1], BLOCK=triton.next_power_of_2(x.shape[-1]))
    return y.movedim(-1, dim)
"""
NO_MASK = Path(__file__).parents[2] / "candidates/hostile/no_mask.py"


def test_access_is_attributed_to_kernel_tensor_and_program(evaluate: Callable[..., Evaluation]) -> None:
    found = evaluate(NO_MASK.read_text())
    assert found.error is not None
    assert found.memory is not None
    assert found.error.detail.items() >= {"kernel": "rows", "kind": "load", "tensor": "x"}.items()
    assert {access["kind"] for access in found.memory["out_of_bounds"]} == {"load"}


def test_honest_candidate_leaves_empty_lists_beside_what_it_moved(evaluate: Callable[..., Evaluation]) -> None:
    memory = evaluate((NO_MASK.parents[1] / "honest/softmax.py").read_text()).memory
    assert memory is not None
    assert (memory["out_of_bounds"], memory["races"], memory["advisories"]) == ([], [], [])
    assert memory["launches"] == 1
    assert memory["minimal_bytes"] <= memory["sectors_loaded"] + memory["sectors_stored"] < 2 * memory["minimal_bytes"]
    assert memory["flops"] > memory["minimal_bytes"] / 8


def test_a_race_is_a_verdict_of_its_own(evaluate: Callable[..., Evaluation]) -> None:
    found = evaluate(RACING)
    assert (found.verdict, found.stage) == ("data_race", "correctness")
    assert found.error is not None
    assert found.error.detail.items() >= {"kernel": "rows", "kind": "write_write", "tensor": "y", "index": 0}.items()
    assert "programs [0, 0, 0] and [1, 0, 0] store different values to y[0]" in found.error.message


def test_what_a_held_out_case_did_is_not_public() -> None:
    found = Evaluation("a", "quick/add", verdict="out_of_bounds", cases=[CaseResult("shown", False, True), CaseResult("held", True, False)])
    found.memory = {"out_of_bounds": [{"kernel": "k", "lanes": 3}]}
    assert found.public()["memory"] is None


def test_claimed_accesses_are_cut_to_form() -> None:
    assert claims.accesses([{"kernel": 1, "program": ["x", 2], "lanes": -5}, "no"]) == [
        {"kernel": "", "kind": "", "tensor": "", "index": 0, "program": [0, 2], "lanes": 0}
    ]
