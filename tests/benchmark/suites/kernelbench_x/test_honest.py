"""`rounded_once`: halves are computed in fp32 and rounded at the end, whatever the reference does in between."""

from typing import Any

import pytest
import torch
from torch import Tensor

from benchmark.suites.kernelbench_x._honest import rounded_once
from benchmark.suites.kernelbench_x._out import into

seen: list[torch.dtype] = []


def twice(input: Tensor, tensors: Any = (), dtype: torch.dtype | None = None, out: Tensor | None = None) -> Tensor:
    seen[:] = [input.dtype, *(tensor.dtype for tensor in tensors)]
    return into(input * (1 + 2**-9) * (1 - 2**-9), out)


def pair(input: Tensor) -> tuple[Tensor, Tensor]:
    return input * 2, input > 0


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves_are_computed_in_fp32_and_come_back_as_they_were(dtype: torch.dtype) -> None:
    x = torch.linspace(1, 2, 64).to(dtype)
    result = rounded_once(twice)(input=x, tensors=[x])
    assert seen == [torch.float32, torch.float32]
    assert result.dtype == dtype
    assert torch.equal(result, (x.float() * (1 + 2**-9) * (1 - 2**-9)).to(dtype))


def test_other_dtypes_and_calls_with_a_dtype_are_the_references() -> None:
    rounded_once(twice)(input=torch.ones(3, dtype=torch.float64))
    assert seen == [torch.float64]
    rounded_once(twice)(input=torch.ones(3, dtype=torch.float16), dtype=torch.float32)
    assert seen == [torch.float16]


def test_a_place_for_the_result_is_filled_and_returned() -> None:
    out = torch.zeros(3, dtype=torch.float16)
    assert rounded_once(twice)(input=torch.ones(3, dtype=torch.float16), out=out) is out
    assert torch.equal(out, torch.ones(3, dtype=torch.float16))


def test_booleans_beside_halves_stay_booleans() -> None:
    doubled, positive = rounded_once(pair)(input=torch.ones(3, dtype=torch.bfloat16))
    assert (doubled.dtype, positive.dtype) == (torch.bfloat16, torch.bool)
