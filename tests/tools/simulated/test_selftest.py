"""The self-test finds what a Triton release gets wrong, and only that is refused."""

import time
from collections.abc import Iterator

import pytest
import torch
import triton
import triton.language as tl
from triton.runtime.interpreter import InterpreterBuilder

from tools.simulated import Session, Unsupported, reduce
from tools.simulated.builder import Builder
from tools.simulated.patches import Patches
from tools.simulated.selftest import Fault, examine, forbid


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def total(x, out, BLOCK: tl.constexpr):
    tl.store(out, tl.sum(tl.load(x + tl.arange(0, BLOCK))))


@pytest.fixture
def patches() -> Iterator[Patches]:
    with Patches() as patches:
        yield patches


def test_nothing_is_wrong_here() -> None:
    assert examine() == []


def test_it_costs_less_than_a_third_of_a_second() -> None:
    start = time.process_time()
    examine()
    assert time.process_time() - start < 0.3


@pytest.mark.parametrize("operation", ["create_fadd", "create_fmul", "create_maxnumf", "create_fcmpOLT", "create_floor"])
def test_what_the_release_gets_wrong_without_our_repair_is_found(operation: str, patches: Patches) -> None:
    patches.set(Builder, operation, vars(InterpreterBuilder)[operation])
    found = examine()
    assert {fault.operation for fault in found} == {operation}
    assert any(set(fault.types) == {"bf16"} for fault in found)


def test_a_fault_in_memory_is_found(patches: Patches) -> None:
    patches.set(Builder, "create_atomic_rmw", vars(InterpreterBuilder)["create_atomic_rmw"])
    assert [(f.operation, f.types) for f in examine()] == [("create_atomic_rmw", ("ATOMIC_OP.FADD", "pointer<bf16>"))]


def test_a_fault_in_a_reduction_is_found(patches: Patches) -> None:
    patches.set(reduce, "known", lambda parts, axis, combine: [parts[0][0][0]])
    assert ("_sum_combine", "int8") in {tuple(sorted(f.types)) for f in examine()}


def test_what_fails_is_unsupported_and_what_does_not_goes_on(session: Session, patches: Patches) -> None:
    patches.set(Builder, "create_fadd", vars(InterpreterBuilder)["create_fadd"])
    forbid(examine(), patches)
    ones = {dtype: session.to_device(torch.ones(8, dtype=dtype)) for dtype in (torch.float32, torch.bfloat16)}
    out = torch.empty(8, device="cuda")
    add[(1,)](ones[torch.float32], ones[torch.float32], out, 8, BLOCK=8)
    assert out.sum().item() == 16
    with pytest.raises(Unsupported, match=r"self-test here in fadd \(bf16, bf16\)"):
        add[(1,)](ones[torch.bfloat16], ones[torch.bfloat16], out, 8, BLOCK=8)


def test_a_reduction_that_fails_is_unsupported(session: Session, patches: Patches) -> None:
    forbid([Fault("known", ("int32", "_sum_combine"), "a wrong value")], patches)
    with pytest.raises(Unsupported, match="_sum_combine"):
        total[(1,)](session.to_device(torch.ones(8, dtype=torch.int32)), torch.empty(1, dtype=torch.int32, device="cuda"), BLOCK=8)
    out = torch.empty(1, device="cuda")
    total[(1,)](session.to_device(torch.ones(8)), out, BLOCK=8)
    assert out.item() == 8


def test_memory_that_fails_is_unsupported_with_any_hint(session: Session, patches: Patches) -> None:
    forbid([Fault("create_masked_load", ("pointer<fp32>",), "a wrong value")], patches)
    with pytest.raises(Unsupported, match="pointer<fp32>"):
        total[(1,)](session.to_device(torch.ones(8)), torch.empty(1, device="cuda"), BLOCK=8)
