from itertools import pairwise

import pytest
import torch
import triton
import triton.language as tl

from tools.simulated import Session


@triton.jit
def shift(x, y, n, by, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i + by), mask=i < n)


@triton.jit
def unmasked_store(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n))


@triton.jit
def through_integers(x, y):
    pointer = tl.load(x).to(tl.pointer_type(tl.float32))
    tl.store(y, tl.load(pointer))


@triton.jit
def add_beyond(y, BLOCK: tl.constexpr):
    tl.atomic_add(y + tl.arange(0, BLOCK), 1)


def test_a_load_past_the_end_is_found_poisoned_and_attributed(session: Session) -> None:
    x, y = session.to_device(torch.ones(200)), torch.empty(200, device="cuda")
    shift[(2,)](x, y, 200, 2, BLOCK=128)
    (found,) = session.out_of_bounds
    assert found == {"kernel": "shift", "kind": "load", "tensor": "x", "index": 200, "program": [1, 0, 0], "lanes": 58}
    got = session.to_host(y)
    assert (got[:198] == 1).all()
    assert got[198:].isnan().all()


def test_inputs_lie_so_far_apart_that_none_hides_an_access_beyond_another(session: Session) -> None:
    storages = [session.to_device(torch.ones(200)).untyped_storage() for _ in range(8)]
    spans = sorted((storage.data_ptr(), storage.data_ptr() + storage.nbytes()) for storage in storages)
    assert all(high - low == 800 for low, high in spans)
    assert all(low - high >= 2 * 65536 for (_, high), (low, _) in pairwise(spans))


def test_a_load_before_the_start_is_found(session: Session) -> None:
    x, y = session.to_device(torch.ones(128)), torch.empty(128, device="cuda")
    shift[(1,)](x, y, 128, -1, BLOCK=128)
    assert [f["lanes"] for f in session.out_of_bounds] == [1]
    assert session.to_host(y)[0].isnan()


def test_a_store_past_the_end_is_found_and_harms_nothing(session: Session) -> None:
    y = torch.zeros(100, device="cuda")
    unmasked_store[(1,)](session.to_device(torch.ones(100)), y, 100, BLOCK=128)
    (found,) = session.out_of_bounds
    assert (found["kind"], found["tensor"], found["lanes"]) == ("store", "y", 28)
    assert y.sum().item() == 100


def test_an_atomic_past_the_end_is_found(session: Session) -> None:
    y = torch.zeros(3, dtype=torch.int32, device="cuda")
    add_beyond[(1,)](y, BLOCK=4)
    assert session.out_of_bounds[0]["kind"] == "atomic"
    assert session.to_host(y).tolist() == [1, 1, 1]


@pytest.mark.parametrize("view", [lambda t: t[::2], lambda t: t[10:], lambda t: t.view(10, 20).t()])
def test_a_view_may_reach_all_memory_behind_it(view, session: Session) -> None:
    whole = session.to_device(torch.arange(200.0))
    x, y = view(whole), torch.empty(64, device="cuda")
    shift[(1,)](x, y, 64, 64, BLOCK=64)
    assert session.out_of_bounds == []


def test_pointers_kept_in_memory_are_not_judged(session: Session) -> None:
    x = session.to_device(torch.tensor([5.0]))
    table, y = torch.tensor([x.data_ptr()], device="cuda"), torch.empty(1, device="cuda")
    through_integers[(1,)](table, y)
    assert session.out_of_bounds == []
    assert y.item() == 5
