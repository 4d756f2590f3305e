"""Sectors, bytes and FLOPs of a launch, exact where they can be counted by hand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from hypothesis import given, settings
from hypothesis import strategies as st

from tools import platforms
from tools.simulated import Session
from tools.simulated.access import make
from tools.simulated.memory import Place, Storage
from tools.simulated.traffic import SECTOR, Traffic


@triton.jit
def strided(x, y, n, stride, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i * stride, mask=i < n), mask=i < n)


@triton.jit
def broadcast(x, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x) + tl.zeros((BLOCK,), tl.float32))


@triton.jit
def column(x, y, N: tl.constexpr, BLOCK: tl.constexpr):
    i, j = tl.arange(0, BLOCK), tl.arange(0, BLOCK)
    tl.store(y + j[None, :] * N + i[:, None], tl.load(x + i[:, None] * N + j[None, :]))


@triton.jit
def read_twice(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i))
    tl.store(y + i, tl.load(x + i))


@triton.jit
def add_up(x, total, BLOCK: tl.constexpr):
    tl.atomic_add(total + tl.arange(0, BLOCK), tl.load(x + tl.arange(0, BLOCK)))


@triton.jit
def add(x, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i) + tl.load(y + i))


@triton.jit
def axpy(x, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.fma(tl.load(x + i), 2.0, tl.load(y + i)))


@triton.jit
def exponential(x, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.exp(tl.load(x + i)))


@triton.jit
def total(x, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + tl.program_id(0), tl.sum(tl.load(x + i)))


@triton.jit
def product(x, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + tl.program_id(0), tl.reduce(tl.load(x + i), 0, tl.standard._prod_combine))


@triton.jit
def running(x, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.cumsum(tl.load(x + i), 0))


@triton.jit
def select(x, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.where(tl.load(x + i) > 0.5, tl.load(x + i), 0.0))


@triton.jit
def matmul(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr):
    i, j, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    out = tl.dot(tl.load(a + i[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + j[None, :]), input_precision=PRECISION)
    tl.store(c + i[:, None] * N + j[None, :], out)


def traffic(session: Session, run: Callable[[], Any]) -> dict[str, Any]:
    run()
    (found,) = session.traffic
    return found


def test_neighbouring_lanes_share_sectors(session: Session) -> None:
    x, y = session.to_device(torch.rand(1024)), torch.empty(1024, device="cuda")
    found = traffic(session, lambda: strided[(4,)](x, y, 1000, 1, BLOCK=256, num_warps=2))
    assert found == found | {
        "kernel": "strided", "grid": [4, 1, 1], "num_warps": 2, "sectors_loaded": 4000, "sectors_stored": 4000, "sectors_atomic": 0,
        "bytes_loaded": 4000, "bytes_stored": 4000, "span_loaded": 4096, "loads": 4, "stores": 4, "flops": 0, "dot_flops": {},
    }  # fmt: skip


@pytest.mark.parametrize(("stride", "sectors"), [(2, 64), (8, 256), (32, 256)])
def test_strided_lanes_move_more_than_they_use(stride: int, sectors: int, session: Session) -> None:
    x, y = session.to_device(torch.rand(256 * stride)), torch.empty(256, device="cuda")
    found = traffic(session, lambda: strided[(1,)](x, y, 256, stride, BLOCK=256))
    assert (found["sectors_loaded"], found["bytes_loaded"]) == (sectors * SECTOR, 1024)


def test_one_value_for_a_block_is_one_sector_a_program(session: Session) -> None:
    found = traffic(session, lambda: broadcast[(3,)](session.to_device(torch.rand(1)), torch.empty(192, device="cuda"), BLOCK=64))
    assert (found["sectors_loaded"], found["bytes_loaded"], found["sectors_stored"]) == (3 * SECTOR, 4, 768)


def test_lanes_in_any_order_share_sectors(session: Session) -> None:
    found = traffic(session, lambda: column[(1,)](session.to_device(torch.rand(32, 64)), torch.empty(32, 64, device="cuda"), 64, BLOCK=32))
    assert (found["sectors_loaded"], found["sectors_stored"]) == (4096, 4096)


def test_what_is_read_again_moves_again_and_is_needed_once(session: Session) -> None:
    found = traffic(session, lambda: read_twice[(1,)](session.to_device(torch.rand(64)), torch.empty(64, device="cuda"), BLOCK=64))
    assert (found["sectors_loaded"], found["bytes_loaded"]) == (512, 256)
    assert (found["sectors_stored"], found["bytes_stored"]) == (512, 256)


def test_atomics_are_counted_apart(session: Session) -> None:
    found = traffic(session, lambda: add_up[(2,)](session.to_device(torch.rand(64)), torch.zeros(64, device="cuda"), BLOCK=64))
    assert (found["sectors_atomic"], found["sectors_stored"], found["bytes_stored"]) == (512, 0, 256)


def test_half_types_need_half_the_sectors(session: Session) -> None:
    x, y = session.to_device(torch.rand(256).half()), torch.empty(256, dtype=torch.float16, device="cuda")
    assert traffic(session, lambda: strided[(1,)](x, y, 256, 1, BLOCK=256))["sectors_loaded"] == 512


@settings(max_examples=150, deadline=None)
@given(
    cell=st.sampled_from([1, 2, 4, 8]),
    accesses=st.lists(
        st.tuples(st.sampled_from(["load", "store"]), st.sampled_from([1, 2]), st.lists(st.integers(0, 255), min_size=1, max_size=40)),
        min_size=1,
        max_size=5,
    ),
)
def test_counts_are_those_of_a_count_by_hand(cell: int, accesses: list[tuple[str, int, list[int]]]) -> None:
    storage, counted = Storage(0, 4096, cell), Traffic()
    sectors, touched = {"load": 0, "store": 0}, {"load": set(), "store": set()}
    for kind, cells, where in accesses:
        size = cell * cells
        offsets = np.array(where) * size
        counted.note(make(kind, Place("x", 0, cell, storage), offsets, size, None))
        spans = [set(range(offset, offset + size)) for offset in offsets.tolist()]
        touched[kind] |= set.union(*spans)
        sectors[kind] += len({byte // SECTOR for span in spans for byte in span})
    found = counted.report()
    assert (found["sectors_loaded"], found["sectors_stored"]) == (sectors["load"] * SECTOR, sectors["store"] * SECTOR)
    assert (found["bytes_loaded"], found["bytes_stored"]) == (len(touched["load"]), len(touched["store"]))


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 300), stride=st.integers(0, 40), offset=st.integers(0, 9), programs=st.integers(1, 3))
def test_strided_launches_move_what_a_count_by_hand_says(n: int, stride: int, offset: int, programs: int) -> None:
    with Session(platforms.default_targets(), platforms.sheet("h100")) as session:
        x, y = session.to_device(torch.ones(offset + 1 + 300 * stride)), session.to_device(torch.zeros(400))
        strided[(programs,)](x[offset:], y, n, stride, BLOCK=128)
    blocks = [range(128 * program, min(n, 128 * program + 128)) for program in range(programs)]
    loaded = sum(len({(offset + i * stride) * 4 // SECTOR for i in block}) for block in blocks)
    stored = sum(len({i * 4 // SECTOR for i in block}) for block in blocks)
    (found,) = session.traffic
    assert (found["sectors_loaded"], found["sectors_stored"]) == (loaded * SECTOR, stored * SECTOR)
    assert found["bytes_loaded"] == 4 * len({i * stride for block in blocks for i in block})
    assert (session.races, session.out_of_bounds) == ([], [])


@pytest.mark.parametrize(
    ("kernel", "flops"), [(add, 64), (axpy, 128), (exponential, 64), (total, 63), (product, 63), (running, 63), (select, 0)]
)
def test_operations_are_counted_lane_by_lane(kernel: Any, flops: int, session: Session) -> None:
    x, y = session.to_device(torch.rand(256)), torch.zeros(256, device="cuda")
    assert traffic(session, lambda: kernel[(4,)](x, y, BLOCK=64))["flops"] == 4 * flops


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types_count_as_others_do(dtype: torch.dtype, session: Session) -> None:
    x, y = session.to_device(torch.rand(256).to(dtype)), torch.zeros(256, dtype=dtype, device="cuda")
    assert traffic(session, lambda: add[(4,)](x, y, BLOCK=64))["flops"] == 256


def test_integers_are_no_floating_point_operations(session: Session) -> None:
    x, y = (session.to_device(torch.arange(256, dtype=torch.int32)) for _ in range(2))
    assert traffic(session, lambda: add[(4,)](x, y, BLOCK=64))["flops"] == 0


@pytest.mark.parametrize(
    ("dtype", "precision", "name"),
    [
        (torch.float16, "ieee", "float16"), (torch.bfloat16, "ieee", "bfloat16"), (torch.float32, "ieee", "float32"),
        (torch.float32, "tf32", "tensorfloat32"), (torch.int8, "ieee", "int8"),
    ],
)  # fmt: skip
def test_products_are_counted_by_dtype(dtype: torch.dtype, precision: str, name: str, session: Session) -> None:
    a, b = session.to_device(torch.ones(16, 64).to(dtype)), session.to_device(torch.ones(64, 32).to(dtype))
    c = torch.empty(16, 32, dtype=torch.int32 if dtype == torch.int8 else torch.float32, device="cuda")
    found = traffic(session, lambda: matmul[(1,)](a, b, c, M=16, N=32, K=64, PRECISION=precision))
    assert (found["dot_flops"], found["flops"]) == ({name: 2 * 16 * 32 * 64}, 0)
