import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.precision import BITS, LOWER, cut, eps

DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]


@pytest.mark.parametrize("dtype", DTYPES)
def test_eps_is_torchs(dtype: torch.dtype) -> None:
    assert eps(dtype) == torch.finfo(dtype).eps


@given(value=st.floats(-60000, 60000, width=16))
@settings(max_examples=100, deadline=None)
def test_fp16_is_cut_to_bf16s_mantissa(value: float) -> None:
    tensor = torch.tensor([value], dtype=torch.float16)
    if abs(value) >= 2**-14:
        assert torch.equal(cut(tensor).float(), tensor.bfloat16().float())


@pytest.mark.parametrize("dtype", DTYPES)
@given(value=st.floats(1, 2, exclude_max=True))
@settings(max_examples=30, deadline=None)
def test_the_error_is_at_most_half_a_step_of_the_lower_mantissa(dtype: torch.dtype, value: float) -> None:
    tensor = torch.tensor([value], dtype=dtype)
    assert float((cut(tensor).double() - tensor.double()).abs()) <= 2.0 ** -(LOWER[dtype] + 1)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_lower_precision_is_coarser_by_eight_at_least(dtype: torch.dtype) -> None:
    assert BITS[dtype] - LOWER[dtype] >= 3


def test_range_infinities_nan_and_integers_are_kept() -> None:
    assert cut(torch.tensor([1e30, -1e-30])).isfinite().all()
    assert cut(torch.tensor([float("inf"), float("-inf")])).tolist() == [float("inf"), float("-inf")]
    assert cut(torch.tensor([float("nan")])).isnan().all()
    assert torch.equal(cut(torch.tensor([123456789])), torch.tensor([123456789]))


def test_both_parts_of_complex_numbers_are_cut() -> None:
    real, imaginary = torch.tensor([1.0001, -3.1415926]), torch.tensor([2.7182817, 1e-9])
    assert torch.equal(cut(torch.complex(real, imaginary)), torch.complex(cut(real), cut(imaginary)))
