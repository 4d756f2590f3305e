"""Memory that nobody wrote, and how its use is reported."""

import pytest
import torch

from tools.executor.sandbox.watch import Record, Watch
from tools.executor.unwritten import Poison
from tools.executor.wire import DTYPES

HALF = """
import torch, triton, triton.language as tl
@triton.jit
def rows(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < n
    e = tl.exp(tl.load(x + at, mask=mask, other=-float("inf")).to(tl.float32))
    tl.store(y + at, (e / tl.sum(e, axis=0)).to(y.dtype.element_ty), mask=mask & (tl.arange(0, BLOCK) != 5))
def softmax(input, dim, dtype=None):
    x = input.to(dtype or input.dtype).movedim(dim, -1).contiguous()
    y = torch.empty_like(x)
    if x.numel():
        rows[(x.numel() // x.shape[-1],)](x, y, x.shape[-1], BLOCK=triton.next_power_of_2(x.shape[-1]))
    return y.movedim(-1, dim)
"""


class Host:
    interpreting = False


def poisoned(seed: int = 0) -> Watch:
    return Watch(Host(), Poison(seed), Record())


def floating(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=str)
def test_fresh_memory_holds_one_value_of_any_dtype(dtype):
    with poisoned():
        made = torch.empty(3, 5, dtype=dtype)
    first = made.reshape(-1)[:1].view(torch.uint8)
    assert (made.view(torch.uint8).reshape(-1, first.numel()) == first).all()
    assert bool(made.isnan().all()) if floating(dtype) else made.ne(0).all()


@pytest.mark.parametrize("dtype", [d for d in DTYPES.values() if floating(d)], ids=str)
@pytest.mark.parametrize("seed", [1, 3, 123457])
def test_odd_seeds_leave_finite_numbers(dtype, seed):
    with poisoned(seed):
        made = torch.empty(7, dtype=dtype).to(torch.complex128 if dtype.is_complex else torch.float64)
    assert bool(made.isfinite().all())
    assert bool(made.abs().gt(1).all())


def test_seeds_leave_different_integers():
    def made(seed):
        with poisoned(seed):
            return torch.empty(1, dtype=torch.int32).item()

    assert len({made(seed) for seed in range(8)}) == 8


@pytest.mark.parametrize(
    "make",
    [
        lambda x: torch.empty_like(x),
        lambda x: x.new_empty(7),
        lambda x: torch.empty_strided((2, 3), (3, 1)),
        lambda x: torch.empty_permuted((2, 3), (1, 0)),
        lambda x: torch.empty(2, requires_grad=True),
        lambda x: torch.Tensor(3, 4),
        lambda x: torch.empty((2, 3), memory_format=torch.contiguous_format),
    ],
)
def test_every_way_to_fresh_memory_is_poisoned(make):
    with poisoned():
        assert make(torch.ones(3)).isnan().all()


@pytest.mark.parametrize("options", [{"dtype": torch.float4_e2m1fn_x2}, {"device": "meta"}, {"layout": torch.sparse_coo}])
def test_memory_that_holds_no_result_is_left_alone(options):
    with poisoned():
        assert torch.empty(3, **options).shape == (3,)


def test_values_that_were_given_stay():
    with poisoned():
        assert torch.zeros(3).eq(0).all()
        assert torch.ones(3).clone().eq(1).all()


def test_output_with_holes_is_found_and_told_in_numbers(evaluate):
    found = evaluate(HALF)
    first = found.cases[0]
    assert (found.verdict, first.kind, first.first_index) == ("nonfinite", "nonfinite", [0, 5])
    assert first.matched == pytest.approx(1 - 1 / 129)
    assert first.worst_index[1] == 5
    assert "nan where" in first.message
    assert found.error.detail.items() >= {"case": first.case, "first_index": [0, 5], "matched": first.matched}.items()


def test_verdict_on_holes_has_the_same_words_each_time(evaluate):
    one, two = evaluate(HALF), evaluate(HALF)
    assert (one.error, one.cases) == (two.error, two.cases)
