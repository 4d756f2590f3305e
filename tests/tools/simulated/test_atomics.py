"""Atomics, histograms and descriptors that combine, when lanes meet."""

import pytest
import torch
import triton
import triton.language as tl

from tools.simulated import Session

AT = [0, 1, 1, 2, 2, 2, 3, 3]
GIVEN = [1, 2, 3, 4, 5, 6, 7, 8]


@triton.jit
def combine(x, at, y, old, OP: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    pointers, values = y + tl.load(at + i), tl.load(x + i)
    if OP == "add":
        before = tl.atomic_add(pointers, values)
    elif OP == "max":
        before = tl.atomic_max(pointers, values)
    elif OP == "min":
        before = tl.atomic_min(pointers, values)
    else:
        before = tl.atomic_xchg(pointers, values)
    tl.store(old + i, before)


@triton.jit
def bins(x, y, N: tl.constexpr, B: tl.constexpr):
    tl.store(y + tl.arange(0, B), tl.histogram(tl.load(x + tl.arange(0, N)), B))


@triton.jit
def by_descriptor(x, y, n, B: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [n], [1], [B])
    target = tl.make_tensor_descriptor(y, [n], [1], [B])
    target.atomic_add([0], source.load([0]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.int64, torch.uint32], ids=str)
@pytest.mark.parametrize(
    ("operation", "after", "before"),
    [
        ("add", [3, 7, 17, 24], [2, 2, 4, 2, 6, 11, 9, 16]),
        ("max", [2, 3, 6, 9], [2, 2, 2, 2, 4, 5, 9, 9]),
        ("min", [1, 2, 2, 7], [2, 2, 2, 2, 2, 2, 9, 7]),
        ("xchg", [1, 3, 6, 8], [2, 2, 2, 2, 4, 5, 9, 7]),
    ],
)
def test_lanes_that_meet_come_one_after_another(
    dtype: torch.dtype, operation: str, after: list[int], before: list[int], session: Session
) -> None:
    at = session.to_device(torch.tensor(AT, dtype=torch.int32))
    x, y = session.to_device(torch.tensor(GIVEN).to(dtype)), session.to_device(torch.tensor([2, 2, 2, 9]).to(dtype))
    old = torch.empty_like(x)
    combine[(1,)](x, at, y, old, OP=operation, N=8)
    assert session.to_host(y).tolist() == after
    if (operation, dtype) != ("min", torch.float64):
        # There triton 3.7 returns bits.
        assert session.to_host(old).tolist() == before
    assert session.races == []


def test_a_histogram_drops_what_is_in_no_bin(session: Session) -> None:
    y = torch.full((6,), 7, dtype=torch.int32, device="cuda")
    bins[(1,)](session.to_device(torch.tensor([0, 1, 1, 5, -3, 3, 3, 3], dtype=torch.int32)), y, N=8, B=4)
    assert session.to_host(y).tolist() == [1, 2, 0, 3, 7, 7]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32], ids=str)
def test_a_descriptor_adds_what_lies_in_its_tensor(dtype: torch.dtype, session: Session) -> None:
    x, y = session.to_device(torch.arange(64).to(dtype)), torch.ones(60, dtype=dtype, device="cuda")
    by_descriptor[(2,)](x, y, 60, B=64)
    assert torch.equal(session.to_host(y), 2 * torch.arange(60).to(dtype) + 1)
    assert (session.races, session.out_of_bounds) == ([], [])
    assert session.traffic[0]["sectors_atomic"] > 0
