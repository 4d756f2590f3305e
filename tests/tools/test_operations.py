"""References are traced on meta tensors, one operation for each kernel of a device."""

import pytest
import torch
from torch.nn import functional

from tools.operations import size_of, trace


def meta(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.empty(*shape, dtype=dtype, device="meta")


def test_operations_come_in_order_with_their_bytes() -> None:
    _, (add, exp) = trace(lambda x, y: (x + y).exp(), {"x": meta(64, 64), "y": meta(64)})
    assert (add.name, add.read, add.written) == ("add", (64 * 64 + 64) * 4, 64 * 64 * 4)
    assert (exp.name, exp.read, exp.written) == ("exp", 64 * 64 * 4, 64 * 64 * 4)


def test_the_same_tensor_twice_is_read_once() -> None:
    _, (product,) = trace(lambda x: x * x, {"x": meta(100)})
    assert product.read == 400


def test_products_are_counted_as_two_for_each_pair() -> None:
    _, operations = trace(torch.matmul, {"input": meta(3, 8, 16), "other": meta(3, 16, 4)})
    assert sum(operation.products for operation in operations) == 2 * 3 * 8 * 16 * 4


def test_attention_is_one_operation_with_the_products_of_its_parts() -> None:
    heads = {name: meta(2, 4, 128, 64, dtype=torch.float16) for name in ("query", "key", "value")}
    _, (attention,) = trace(functional.scaled_dot_product_attention, heads)
    assert attention.products == 2 * 2 * 2 * 4 * 128 * 128 * 64
    assert attention.read == 3 * 2 * 4 * 128 * 64 * 2


def test_of_a_table_no_more_is_read_than_comes_out() -> None:
    _, (gather,) = trace(
        lambda weight, ids: functional.embedding(ids, weight), {"weight": meta(9999, 8), "ids": meta(5, dtype=torch.int64)}
    )
    assert gather.read == 5 * 8 * 4 + 5 * 8


def test_broadcast_axes_take_no_memory() -> None:
    assert size_of(meta(64, 1).expand(64, 32)) == 64 * 4


def test_a_reference_that_needs_values_raises() -> None:
    with pytest.raises(RuntimeError):
        trace(lambda x: x[: int(x.sum())], {"x": meta(4)})
