from itertools import pairwise

import pytest
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from tools.simulated import Session, Unsupported


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


@triton.jit
def as_bytes(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y.to(tl.pointer_type(tl.uint8)) + i, tl.load(x.to(tl.pointer_type(tl.uint8)) + i))


@triton.jit
def either(x, y, z, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(tl.where(i % 2 == 0, x + i, y + i)))


@triton.jit
def add_pair(pair, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(pair[0] + i) + tl.load(pair[1] + i))


@triton.jit
def by_descriptor(x, y, BLOCK: tl.constexpr):
    tl.store(y + tl.arange(0, BLOCK), x.load([0]))


@triton.jit
def swap_beyond(lock, BLOCK: tl.constexpr):
    tl.atomic_cas(lock + tl.arange(0, BLOCK), tl.zeros((BLOCK,), tl.int32), tl.full((BLOCK,), 7, tl.int32))


@triton.jit
def gather(x, at, y):
    i = tl.arange(0, 4)
    tl.store(y + i, tl.gather(tl.load(x + i), tl.load(at + i), 0))


@triton.jit
def gathered(table, like, y):
    row = tl.program_id(0)
    part = tl.load(table + row).to(tl.pointer_type(tl.float32))
    at = tl.arange(0, 4)
    tl.store(y + row * 4 + at, tl.load(part + at) + 0 * tl.load(like + at))


@triton.jit
def by_number(number, like, y):
    at = tl.arange(0, 4)
    tl.store(y + at, tl.load(number.to(tl.pointer_type(tl.float32)) + at) + 0 * tl.load(like + at))


@triton.jit
def address(x, y):
    tl.store(y, x.to(tl.int64))


@triton.jit
def detour(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    again = y.to(tl.int64).to(tl.pointer_type(tl.float32))
    tl.store(again + i, tl.load(x + i))


@triton.jit
def breaks_after(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i))
    tl.store(y + i, tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [tl.load(y + i)], tl.float32, True, 1))


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


def test_a_load_before_the_start_is_found_and_is_the_tensors_own_whatever_lies_there(session: Session) -> None:
    whole = torch.ones(1024, device="cuda")
    storages = [torch.empty(128, device="cuda") for _ in range(8)]
    shift[(1,)](whole[:128], storages[0], 128, -1, BLOCK=128)
    (found,) = session.out_of_bounds
    assert found.items() >= {"tensor": "x", "index": -1, "lanes": 1}.items()
    assert session.to_host(storages[0])[0].isnan()


def test_an_index_counts_from_the_first_element_of_a_view(session: Session) -> None:
    whole, y = session.to_device(torch.ones(200)), torch.empty(128, device="cuda")
    shift[(1,)](whole[100:], y, 128, -101, BLOCK=128)
    (found,) = session.out_of_bounds
    assert found.items() >= {"index": -101, "lanes": 1}.items()


def test_an_index_is_one_of_the_tensors_elements_whatever_the_kernel_reads(session: Session) -> None:
    x, y = session.to_device(torch.ones(60)), torch.empty(64, device="cuda")
    as_bytes[(1,)](x, y, BLOCK=256)
    (found,) = session.out_of_bounds
    assert found.items() >= {"tensor": "x", "index": 60, "lanes": 16}.items()


@pytest.mark.parametrize("size", [64, 40000])
def test_an_overrun_into_another_tensor_of_the_launch_is_found(size: int, session: Session) -> None:
    """However far it goes: the pointer knows where it comes from."""
    x, y = torch.ones(size, device="cuda"), torch.empty(size, device="cuda")
    by = (y.data_ptr() - x.data_ptr()) // 4
    shift[(1,)](x, y, 64, by, BLOCK=64)
    (found,) = session.out_of_bounds
    assert found.items() >= {"tensor": "x", "kind": "load", "index": by, "lanes": 64}.items()


def test_lanes_of_several_tensors_are_judged_apart(session: Session) -> None:
    x, y, z = session.to_device(torch.ones(60)), session.to_device(torch.full((64,), 2.0)), torch.empty(64, device="cuda")
    either[(1,)](x, y, z, BLOCK=64)
    (found,) = session.out_of_bounds
    assert found.items() >= {"tensor": "x", "index": 60, "lanes": 2}.items()
    assert session.to_host(z)[:60].tolist() == [1.0, 2.0] * 30


def test_tensors_in_tuples_are_watched(session: Session) -> None:
    pair = session.to_device(torch.ones(64)), session.to_device(torch.ones(60))
    add_pair[(1,)](pair, torch.empty(64, device="cuda"), BLOCK=64)
    assert [(f["tensor"], f["index"]) for f in session.out_of_bounds] == [("pair", 60)]


def test_a_descriptor_that_claims_more_than_its_tensor_is_found(session: Session) -> None:
    x, y = session.to_device(torch.ones(60)), torch.empty(64, device="cuda")
    by_descriptor[(1,)](TensorDescriptor(x, [64], [1], [64]), y, BLOCK=64)
    (found,) = session.out_of_bounds
    assert found.items() >= {"tensor": "x", "index": 60, "lanes": 4}.items()


def test_a_compare_and_swap_outside_is_found_and_harms_nothing(session: Session) -> None:
    lock = torch.zeros(3, dtype=torch.int32, device="cuda")
    swap_beyond[(1,)](lock, BLOCK=4)
    (found,) = session.out_of_bounds
    assert found.items() >= {"kind": "atomic", "tensor": "lock", "index": 3}.items()
    assert session.to_host(lock).tolist() == [7, 7, 7]


def test_a_gather_outside_its_block_is_found(session: Session) -> None:
    y = torch.empty(4, device="cuda")
    gather[(1,)](session.to_device(torch.arange(4.0)), session.to_device(torch.tensor([0, 3, -1, 4], dtype=torch.int32)), y)
    (found,) = session.out_of_bounds
    assert found.items() >= {"kind": "gather", "index": -1, "lanes": 2}.items()
    assert session.to_host(y)[:2].tolist() == [0.0, 3.0]


def test_a_kernel_sees_the_address_that_the_host_sees(session: Session) -> None:
    x, y = session.to_device(torch.ones(4)), torch.empty(1, dtype=torch.int64, device="cuda")
    address[(1,)](x, y)
    assert y.item() == x.data_ptr()


def test_a_kernel_follows_addresses_that_the_host_has_put_into_a_table(session: Session) -> None:
    parts = [session.to_device(torch.full((4,), float(number))) for number in range(3)]
    table, y = torch.tensor([part.data_ptr() for part in parts], device="cuda"), torch.empty(3, 4, device="cuda")
    gathered[(3,)](table, parts[0], y)
    assert session.to_host(y)[:, 1].tolist() == [0.0, 1.0, 2.0]
    assert not session.out_of_bounds


def test_an_address_given_as_a_number_is_the_tensors(session: Session) -> None:
    x, y = session.to_device(torch.arange(4.0)), torch.empty(4, device="cuda")
    by_number[(1,)](x.data_ptr(), x, y)
    assert session.to_host(y).tolist() == [0.0, 1.0, 2.0, 3.0]
    assert not session.out_of_bounds


def test_making_a_pointer_of_an_integer_excuses_no_other_access(session: Session) -> None:
    x, y = session.to_device(torch.ones(60)), torch.empty(64, device="cuda")
    detour[(1,)](x, y, BLOCK=64)
    assert [(f["tensor"], f["lanes"]) for f in session.out_of_bounds] == [("x", 4)]


def test_what_was_seen_before_a_kernel_traps_is_kept(session: Session) -> None:
    with pytest.raises(Unsupported):
        breaks_after[(1,)](session.to_device(torch.ones(60)), torch.empty(64, device="cuda"), BLOCK=64)
    assert [f["tensor"] for f in session.out_of_bounds] == ["x"]


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
