"""Races between the programs of a launch: those that are there are found and attributed, those that are not are not."""

from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.simulated import Session
from tools.simulated.access import make
from tools.simulated.memory import Place, Storage
from tools.simulated.ordering import uses_old_values
from tools.simulated.races import Races


@triton.jit
def accumulate(x, total, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(total, tl.load(total) + tl.sum(tl.load(x + i, mask=i < n, other=0.0)))


@triton.jit
def overlapping(x, y, step, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * step + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i) + pid)


@triton.jit
def flip(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + n - 1 - i, tl.load(x + i))


@triton.jit
def blur(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    left = tl.load(x + i, mask=i < n)
    right = tl.load(x + i + 1, mask=i + 1 < n, other=0.0)
    tl.store(x + i, left + right, mask=i < n)


@triton.jit
def zero_then_add(x, total, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    if pid == 0:
        tl.store(total, 0.0)
    tl.atomic_add(total, tl.sum(tl.load(x + pid * BLOCK + tl.arange(0, BLOCK))))


@triton.jit
def add_then_scale(x, total, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    tl.atomic_add(total, tl.sum(tl.load(x + pid * BLOCK + tl.arange(0, BLOCK))))
    if pid == tl.num_programs(0) - 1:
        tl.store(total, 0.5)


@triton.jit
def scatter(x, at, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + tl.load(at + i), tl.load(x + i))


@triton.jit
def through_descriptors(x, y, n, step, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    source = tl.make_tensor_descriptor(x, [n], [1], [BLOCK])
    target = tl.make_tensor_descriptor(y, [n], [1], [BLOCK])
    target.store([pid * step], source.load([pid * step]) + pid)


@triton.jit
def dummy_lock(x, total, lock, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    if pid == 0:
        tl.atomic_cas(lock, 0, 1)
    tl.store(total, tl.load(total) + tl.sum(tl.load(x + i, mask=i < n, other=0.0)))


def kinds(session: Session) -> set[tuple[str, str]]:
    return {(race["kind"], race["tensor"]) for race in session.races}


def test_an_accumulation_without_lock_is_found(session: Session) -> None:
    total = torch.zeros(1, device="cuda")
    accumulate[(4,)](session.to_device(torch.rand(256)), total, 256, BLOCK=64)
    assert ("read_after_write", "total") in kinds(session)
    race = next(race for race in session.races if race["kind"] == "write_write")
    assert race == {
        "kernel": "accumulate", "kind": "write_write", "tensor": "total", "index": 0, "programs": [[0, 0, 0], [1, 0, 0]], "lanes": 3,
    }  # fmt: skip


def test_overlapping_stores_of_different_values_are_found(session: Session) -> None:
    y = torch.empty(256, device="cuda")
    overlapping[(3,)](session.to_device(torch.rand(256)), y, 48, BLOCK=64)
    (race,) = session.races
    assert race.items() >= {"kind": "write_write", "tensor": "y", "index": 48, "programs": [[0, 0, 0], [1, 0, 0]], "lanes": 32}.items()


def test_a_flip_in_place_is_found(session: Session) -> None:
    flip[(4,)](session.to_device(torch.rand(256)), 256, BLOCK=64)
    (race,) = session.races
    assert (
        race.items() >= {"kind": "read_after_write", "tensor": "x", "index": 128, "programs": [[1, 0, 0], [2, 0, 0]], "lanes": 128}.items()
    )


def test_reading_a_neighbour_that_another_program_overwrites_is_found(session: Session) -> None:
    x = session.to_device(torch.rand(256))
    blur[(4,)](x, 256, BLOCK=64)
    (race,) = session.races
    assert race.items() >= {"kind": "write_after_read", "index": 64, "programs": [[0, 0, 0], [1, 0, 0]], "lanes": 3}.items()


def test_the_index_counts_from_the_view_that_the_kernel_got(session: Session) -> None:
    whole = session.to_device(torch.rand(300))
    blur[(2,)](whole[44:172], 128, BLOCK=64)
    assert session.races[0]["index"] == 64


def test_an_atomic_after_the_plain_store_of_another_program_is_found(session: Session) -> None:
    total = torch.full((1,), 3.0, device="cuda")
    zero_then_add[(4,)](session.to_device(torch.rand(256)), total, BLOCK=64)
    assert kinds(session) == {("atomic_store", "total")}


def test_a_plain_store_after_the_atomic_of_another_program_is_found(session: Session) -> None:
    add_then_scale[(4,)](session.to_device(torch.rand(256)), torch.zeros(1, device="cuda"), BLOCK=64)
    assert kinds(session) == {("atomic_store", "total")}


def test_a_total_that_is_read_while_others_add_gets_an_advisory(session: Session) -> None:
    @triton.jit
    def last_one_reads(x, total, y, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr):
        tl.atomic_add(total, tl.sum(tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK))))
        if tl.program_id(0) == PROGRAMS - 1:
            tl.store(y, tl.load(total))

    last_one_reads[(3,)](session.to_device(X), torch.zeros(1, device="cuda"), torch.empty(1, device="cuda"), BLOCK=64, PROGRAMS=3)
    assert session.races == []
    assert ["last_one_reads load from total" in advisory for advisory in session.advisories] == [True]


def test_lanes_of_one_store_that_disagree_are_found(session: Session) -> None:
    at = session.to_device(torch.tensor([0, 1, 2, 1]))
    scatter[(1,)](session.to_device(torch.tensor([0.0, 1.0, 2.0, 3.0])), at, torch.empty(4, device="cuda"), BLOCK=4)
    (race,) = session.races
    assert race.items() >= {"kind": "within_store", "tensor": "y", "index": 1, "lanes": 1, "programs": [[0, 0, 0], [0, 0, 0]]}.items()


def test_stores_by_descriptors_are_watched(session: Session) -> None:
    y = torch.empty(256, device="cuda")
    through_descriptors[(3,)](session.to_device(torch.rand(256)), y, 256, 32, BLOCK=64)
    assert kinds(session) == {("write_write", "y")}


def test_a_lock_that_only_one_program_takes_orders_nothing(session: Session) -> None:
    x, lock = session.to_device(torch.rand(256)), torch.zeros(1, dtype=torch.int32, device="cuda")
    dummy_lock[(4,)](x, torch.zeros(1, device="cuda"), lock, 256, BLOCK=64)
    assert ("write_write", "total") in kinds(session)
    assert session.advisories == []


def test_programs_of_a_grid_with_three_axes_are_named(session: Session) -> None:
    @triton.jit
    def all_write(y):
        tl.store(y, tl.program_id(0) * 100 + tl.program_id(1) * 10 + tl.program_id(2))

    all_write[(2, 3, 2)](torch.full((1,), -1, dtype=torch.int32, device="cuda"))
    (race,) = session.races
    assert (race["programs"], race["lanes"]) == ([[0, 0, 0], [0, 0, 1]], 11)


def test_nothing_is_recorded_that_is_not_watched(session: Session) -> None:
    session.watching = {"traffic"}
    overlapping[(3,)](session.to_device(torch.rand(256)), torch.empty(256, device="cuda"), 48, BLOCK=64)
    assert session.races == []
    assert len(session.traffic) == 1


@triton.jit
def padded_copy(x, y, n, BLOCK: tl.constexpr):
    start = tl.minimum(tl.program_id(0) * BLOCK, n - BLOCK)
    i = start + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i) * 2)


@triton.jit
def add_all(x, total, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total, tl.sum(tl.load(x + i, mask=i < n, other=0.0)))


@triton.jit
def split_k(a, b, c, K: tl.constexpr, BLOCK: tl.constexpr):
    i, k = tl.arange(0, BLOCK), tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    left = tl.load(a + i[:, None] * K + k[None, :])
    right = tl.load(b + k[:, None] * BLOCK + i[None, :])
    tl.atomic_add(c + i[:, None] * BLOCK + i[None, :], tl.dot(left, right))


@triton.jit
def stride_loop(x, y, n, BLOCK: tl.constexpr):
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = start + tl.arange(0, BLOCK)
        tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@triton.jit
def in_place(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


@triton.jit
def partial_sums(x, partial, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(partial + tl.program_id(0), tl.sum(tl.load(x + i, mask=i < n, other=0.0)))


@triton.jit
def transpose(x, y, N: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + j[None, :] * N + i[:, None], tl.load(x + i[:, None] * N + j[None, :]))


@triton.jit
def locked_sum(x, total, lock, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x + i, mask=i < n, other=0.0))
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total, tl.load(total) + part)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def last_one_sums(x, partial, count, total, n, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    tl.store(partial + pid, tl.sum(tl.load(x + i, mask=i < n, other=0.0)))
    tl.debug_barrier()
    if tl.atomic_add(count, 1) == PROGRAMS - 1:
        tl.store(total, tl.sum(tl.load(partial + tl.arange(0, PROGRAMS))))


@triton.jit
def write_then_reread(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)
    tl.debug_barrier()
    tl.store(y + i, tl.load(y + i, mask=i < n) + 1, mask=i < n)


@triton.jit
def take_slots(x, y, count, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    slot = tl.atomic_add(count, BLOCK)
    tl.store(y + slot + tl.arange(0, BLOCK), tl.load(x + i))


@triton.jit
def all_say_so(x, seen, BLOCK: tl.constexpr):
    bad = tl.max(tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)), axis=0) >= 0
    tl.store(seen, 1, mask=bad)


@triton.jit
def bytes_of(x, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y.to(tl.pointer_type(tl.uint8)) + i, tl.load(x.to(tl.pointer_type(tl.uint8)) + i))


X = torch.rand(250)
HONEST = {
    "stores that overlap with equal values": lambda s, x: padded_copy[(4,)](x, torch.empty_like(x), 250, BLOCK=64),
    "atomic adds": lambda s, x: add_all[(4,)](x, torch.zeros(1, device="cuda"), 250, BLOCK=64),
    "a split product with atomics": lambda s, x: split_k[(4,)](
        s.to_device(torch.rand(16, 64)), s.to_device(torch.rand(64, 16)), torch.zeros(16, 16, device="cuda"), K=64, BLOCK=16
    ),
    "a grid-stride loop": lambda s, x: stride_loop[(2,)](x, torch.empty_like(x), 250, BLOCK=32),
    "in-place elementwise": lambda s, x: in_place[(4,)](x, 250, BLOCK=64),
    "the same argument twice": lambda s, x: stride_loop[(2,)](x, x, 250, BLOCK=32),
    "padding lanes masked": lambda s, x: stride_loop[(8,)](x, torch.empty_like(x), 250, BLOCK=64),
    "a transposed store": lambda s, x: transpose[(2, 2)](s.to_device(torch.rand(32, 32)), torch.empty(32, 32, device="cuda"), 32, BLOCK=16),
    "a program that reads its own stores": lambda s, x: write_then_reread[(4,)](x, torch.empty_like(x), 250, BLOCK=64),
    "slots handed out by an atomic": lambda s, x: take_slots[(3,)](
        x, torch.empty_like(x), torch.zeros(1, dtype=torch.int32, device="cuda"), 192, BLOCK=64
    ),
    "all programs set one flag": lambda s, x: all_say_so[(3,)](x, torch.zeros(1, dtype=torch.int32, device="cuda"), BLOCK=64),
    "memory seen as bytes": lambda s, x: bytes_of[(4,)](x, torch.empty_like(x), BLOCK=250 // 4 // 32 * 32),
    "halves of one allocation": lambda s, x: stride_loop[(2,)](x[:125], x[125:], 125, BLOCK=32),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_patterns_raise_no_alarm(name: str, session: Session) -> None:
    HONEST[name](session, session.to_device(X))
    assert (session.races, session.out_of_bounds, session.advisories) == ([], [], [])


def test_passes_in_two_launches_are_ordered(session: Session) -> None:
    x, partial, total = session.to_device(X), torch.empty(4, device="cuda"), torch.empty(1, device="cuda")
    partial_sums[(4,)](x, partial, 250, BLOCK=64)
    partial_sums[(1,)](partial, total, 4, BLOCK=4)
    partial_sums[(4,)](x, partial, 250, BLOCK=64)
    assert session.races == []
    assert torch.isclose(session.to_host(total), X.sum()).item()


def test_a_reduction_under_a_lock_gets_an_advisory(session: Session) -> None:
    total, lock = torch.zeros(1, device="cuda"), torch.zeros(1, dtype=torch.int32, device="cuda")
    locked_sum[(4,)](session.to_device(X), total, lock, 250, BLOCK=64)
    assert session.races == []
    assert ["locked_sum share total" in advisory for advisory in session.advisories] == [True]


def test_the_last_program_to_arrive_gets_an_advisory(session: Session) -> None:
    count, partial, total = torch.zeros(1, dtype=torch.int32, device="cuda"), torch.empty(4, device="cuda"), torch.empty(1, device="cuda")
    last_one_sums[(4,)](session.to_device(X), partial, count, total, 250, BLOCK=64, PROGRAMS=4)
    assert session.races == []
    assert ["share partial" in advisory for advisory in session.advisories] == [True]


@triton.jit
def arrive(count):
    return tl.atomic_add(count, 1)


@triton.jit
def says_hello(count):
    tl.atomic_add(count, 1)


@triton.jit
def calls_arrive(count, y):
    tl.store(y + tl.program_id(0), arrive(count))


@triton.jit
def calls_hello(count, y):
    says_hello(count)
    tl.store(y + tl.program_id(0), 1)


@pytest.mark.parametrize(
    ("kernel", "used"), [(take_slots, True), (last_one_sums, True), (calls_arrive, True), (calls_hello, False), (add_all, False)]
)
def test_whether_old_values_are_used_is_read_from_the_source(kernel: Any, used: bool) -> None:
    assert uses_old_values(kernel) is used


def _by_hand(steps: list[tuple[int, str, list[int], list[int]]], memory: np.ndarray) -> set[str]:
    """Cell by cell, with all that went before: which kinds of conflict there are."""
    found: set[str] = set()
    readers, writers, changers, updaters = ({cell: set() for cell in range(memory.size)} for _ in range(4))
    for program, kind, cells, values in steps:
        before = memory.copy()
        for lane, (cell, value) in enumerate(zip(cells, values, strict=True)):
            others = {name: past[cell] - {program} for name, past in (("r", readers), ("c", changers), ("a", updaters))}
            last_is_own = writers[cell] and max(writers[cell]) == program
            if kind == "load":
                found |= {"read_after_write"} if others["c"] and not last_is_own else set()
            elif kind == "atomic":
                found |= {"atomic_store"} if others["c"] and not last_is_own else set()
            else:
                different = before[cell] != value
                found |= {"write_write"} if different and writers[cell] and not last_is_own else set()
                found |= {"write_after_read"} if different and others["r"] else set()
                found |= {"atomic_store"} if different and others["a"] else set()
                found |= (
                    {"within_store"} if any(c == cell and v != value for c, v in zip(cells[:lane], values[:lane], strict=True)) else set()
                )
        for cell, value in zip(cells, values, strict=True):
            if kind == "load":
                readers[cell].add(program)
            elif kind == "atomic":
                updaters[cell].add(program)
            else:
                if before[cell] != value:
                    changers[cell].add(program)
                writers[cell].add(program)
                memory[cell] = value
    return found


lanes = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 2)), min_size=1, max_size=6)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["load", "store", "atomic"]), lanes), max_size=8))
def test_what_is_found_is_what_a_count_by_hand_finds(steps: list[tuple[int, str, list[tuple[int, int]]]]) -> None:
    steps = sorted(steps, key=lambda step: step[0])
    memory = np.zeros(8, np.uint32)
    place = Place("x", memory.ctypes.data, 4, Storage(memory.ctypes.data, memory.ctypes.data + memory.nbytes, 4))
    races = Races("k", (3, 1, 1))
    for program, kind, pairs in steps:
        cells, values = np.array(pairs).T
        races.begin(program)
        races.note(make(kind, place, cells * 4, 4, values.astype(np.uint32) if kind == "store" else None))
        if kind == "store":
            memory[cells] = values
    by_hand = _by_hand([(p, k, [c for c, _ in pairs], [v for _, v in pairs]) for p, k, pairs in steps], np.zeros(8, np.uint32))
    assert {race["kind"] for race in races.report()} == by_hand
