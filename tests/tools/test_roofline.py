"""The least work of a task never counts what some kernel could do without."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.nn import functional

from benchmark.checkers import close
from benchmark.suites import find
from benchmark.task import Contract, Task
from tools import platforms
from tools.roofline import floor_us, minimal

H200 = platforms.sheet("h200")
F32 = 4


def task(reference: Callable[..., Any], **contract: Any) -> Task:
    return Task("own.py:fn", "Other", "own", reference, (), (), Contract(close(), **contract))


def test_inputs_and_outputs_count_once() -> None:
    work = minimal(task(lambda x: (x * 2).exp() + x), {"x": torch.empty(1000)})
    assert work is not None
    assert (work.read, work.written, work.sure_read) == (1000 * F32, 1000 * F32, 1000 * F32)
    assert work.plain == 3000


def test_a_broadcast_argument_is_as_large_as_its_memory() -> None:
    work = minimal(task(torch.add), {"input": torch.empty(64, 64), "other": torch.empty(64, 1).expand(64, 64)})
    assert work is not None
    assert work.read == (64 * 64 + 64) * F32


@pytest.mark.parametrize(
    ("reference", "sure"),
    [
        (lambda x: x.sum(1), 64 * 64),
        (lambda x: functional.softmax(x, -1), 64 * 64),
        (lambda x: functional.rms_norm(x, [64]), 64 * 64),
        (lambda x: x.mT.contiguous(), 64 * 64),
        (lambda x: x[:8].exp(), 8 * 64),
        (lambda x: x.exp()[:8], 0),
        (lambda x: x.tril(), 0),
        (lambda x: torch.where(x > 0, x, 0.0), 0),
        (lambda x: x.new_zeros(64, 64), 0),
        (lambda x: x[torch.zeros(5, dtype=torch.int64, device=x.device)], 0),
        (lambda x: functional.max_pool1d(x, 1, stride=4), 0),
    ],
)
def test_what_a_kernel_could_do_without_is_not_sure_to_be_read(reference: Callable[..., Any], sure: int) -> None:
    work = minimal(task(reference), {"x": torch.empty(64, 64)})
    assert work is not None
    assert work.sure_read == sure * F32


def test_of_a_table_as_much_is_read_as_comes_out() -> None:
    arguments = {"weight": torch.empty(10000, 32), "ids": torch.empty(7, dtype=torch.int64)}
    work = minimal(task(lambda weight, ids: functional.embedding(ids, weight)), arguments)
    assert work is not None
    assert work.read == 7 * 32 * F32 + 7 * 8
    assert work.notes


def test_an_argument_that_is_overwritten_is_written_and_need_not_be_read() -> None:
    def fill(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.copy_(y)

    work = minimal(task(fill, mutates=("x",)), {"x": torch.empty(100), "y": torch.empty(100)})
    assert work is not None
    assert (work.written, work.sure_read) == (100 * F32, 100 * F32)


def test_a_view_writes_nothing() -> None:
    work = minimal(task(lambda x: x.view(10, 10)), {"x": torch.empty(100)})
    assert work is not None
    assert (work.read, work.written) == (0, 0)


def test_products_are_counted_by_dtype() -> None:
    half = {"tensor1": torch.empty(64, 32, dtype=torch.float16), "tensor2": torch.empty(32, 16, dtype=torch.float16)}
    work = minimal(find("quick/matmul"), half)
    assert work is not None
    assert work.products == work.sure_products == {"float16": 2.0 * 64 * 32 * 16}
    whole = minimal(find("quick/matmul_w8a8"), {"input": torch.empty(64, 32), "weight": torch.empty(32, 16)})
    assert whole is not None
    assert whole.products == {"int8": 2.0 * 64 * 32 * 16}


def test_a_reference_that_needs_values_has_no_known_work() -> None:
    assert minimal(task(lambda x: x[: int(x.sum())]), {"x": torch.empty(10)}) is None


def test_small_outputs_may_stay_in_the_cache() -> None:
    work = minimal(task(torch.exp), {"input": torch.empty(1 << 20)})
    assert work is not None
    assert floor_us(work, H200, margin=1) == pytest.approx((4 << 20) / 4.8e12 * 1e6)
    assert floor_us(work, H200, warm=True) == 0


def test_products_may_be_split_into_narrower_ones() -> None:
    half = minimal(find("quick/matmul"), {name: torch.empty(4096, 4096, dtype=torch.float16) for name in ("tensor1", "tensor2")})
    full = minimal(find("quick/matmul"), {name: torch.empty(4096, 4096) for name in ("tensor1", "tensor2")})
    assert half is not None
    assert full is not None
    assert floor_us(half, H200) == pytest.approx(0.8 * 2 * 4096**3 / 989.4e12 * 1e6)
    assert floor_us(full, H200) == floor_us(half, H200)


def test_a_sheet_without_a_rate_gives_no_floor_for_products() -> None:
    work = minimal(find("quick/matmul"), {name: torch.empty(512, 512, dtype=torch.float16) for name in ("tensor1", "tensor2")})
    assert work is not None
    bare = replace(H200, peak_flops={})
    assert floor_us(work, bare) == pytest.approx(0.8 * 2 * 512 * 512 * 2 / 4.8e12 * 1e6)


MEASURED = {
    "add": 98.0, "gelu": 68.1, "silu": 36.5, "sum": 70.9, "argmax": 73.3, "softmax": 134.4, "layer_norm": 75.2, "rms_norm": 70.8,
    "matmul": 183.3, "fused_add_gelu": 60.4, "cross_entropy": 267.1,
}  # fmt: skip
"""Best microseconds of the largest sizes in docs/results/quick_h200.md."""


@pytest.mark.parametrize("name", MEASURED)
def test_the_floor_is_below_the_best_times_measured(name: str) -> None:
    quick = find(f"quick/{name}")
    work = minimal(quick, quick.timing[-1].arguments(quick.id, 0, "meta"))
    assert work is not None
    assert 0 < floor_us(work, H200) < MEASURED[name]
