"""The modelled time of eager torch: a launch for each operation that does something."""

from typing import Any

import pytest
import torch
from torch.nn import functional

from benchmark.suites import find
from tools import platforms
from tools.modelled.eager import Eager, eager
from tools.operations import trace

H200 = platforms.sheet("h200")


def modelled(reference: Any, **arguments: Any) -> Eager:
    return Eager.of(trace(reference, arguments)[1])


def meta(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.empty(*shape, dtype=dtype, device="meta")


def test_views_and_empty_tensors_cost_nothing() -> None:
    found = modelled(lambda x: torch.empty_like(x.view(8, 8).mT).copy_(x.view(8, 8)), x=meta(64))
    assert [operation["name"] for operation in found.operations] == ["copy_"]


def test_what_is_one_kernel_on_a_device_is_one_operation() -> None:
    found = modelled(lambda x: functional.rms_norm(x, [64], eps=1e-6), x=meta(64, 64))
    assert [operation["name"] for operation in found.operations] == ["rms_norm"]


def test_an_operation_more_takes_longer() -> None:
    one, two = modelled(lambda x: x.exp(), x=meta(4096)), modelled(lambda x: x.exp().sin(), x=meta(4096))
    assert eager(two, H200) == pytest.approx(2 * eager(one, H200))


def test_a_large_operation_takes_its_bytes_over_the_bandwidth() -> None:
    assert eager(modelled(lambda x: x.exp(), x=meta(1 << 28)), H200) == pytest.approx((2 << 30) / (0.9 * 4.8e12) * 1e6, rel=0.01)


def test_products_of_half_precision_are_faster() -> None:
    half, full = ({name: meta(4096, 4096, dtype=d) for name in ("tensor1", "tensor2")} for d in (torch.float16, torch.float32))
    assert eager(modelled(torch.matmul, input=half["tensor1"], other=half["tensor2"]), H200) * 8 < eager(
        modelled(torch.matmul, input=full["tensor1"], other=full["tensor2"]), H200
    )


MEASURED = {
    "add": 98.3, "gelu": 68.1, "silu": 38.8, "sum": 85.8, "argmax": 121.4, "softmax": 278.0, "layer_norm": 117.8, "rms_norm": 105.1,
    "matmul": 183.3, "fused_add_gelu": 96.8, "matmul_w8a8": 512.9, "cross_entropy": 440.4,
}  # fmt: skip
"""Microseconds of eager torch at the largest sizes, docs/results/quick_h200.md."""


@pytest.mark.parametrize("name", MEASURED)
def test_it_is_within_a_quarter_of_what_was_measured(name: str) -> None:
    task = find(f"quick/{name}")
    arguments = task.timing[-1].arguments(task.id, 0, "meta")
    assert eager(Eager.of(trace(task.reference, arguments)[1]), H200) == pytest.approx(MEASURED[name], rel=0.25)
