"""Dropout by its mask: honest masks of another generator pass, and every must-fail probe is refused."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import dropout, dropout_product
from benchmark.task import Check, Oracle

SHAPES = [(1031,), (32, 64), (7, 19, 11)]
RATES = [0.1, 0.25, 0.5, 0.8]


def numpy_mask(shape: tuple[int, ...], keep: float, seed: int) -> Tensor:
    """Of a generator that is not torch's."""
    return torch.from_numpy(np.random.Generator(np.random.Philox(seed)).random(shape) < keep)


def values(shape: tuple[int, ...], seed: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def dropped(x: Tensor, mask: Tensor, p: float) -> Tensor:
    return torch.where(mask, x / (1 - p), 0.0).to(x.dtype)


def oracle_for(x: Tensor, p: float, post: Callable[[Tensor], Tensor] = lambda x: x) -> Oracle:
    exact = x.double()
    kept = exact / (1 - p) if p < 1 else exact
    return Oracle((post(kept), post(torch.zeros_like(exact))), (post(functional.dropout(x, p)),))


def judge(x: Tensor, p: float, actual: Tensor) -> Check:
    return dropout()(oracle_for(x, p), (actual,), {"p": p})


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(SHAPES), st.sampled_from(RATES), st.integers(0, 10**6), st.sampled_from([torch.float32, torch.float16, torch.bfloat16])
)
def test_another_generators_mask_passes(shape, p, seed, dtype):
    x = values(shape, seed, dtype)
    check = judge(x, p, dropped(x, numpy_mask(shape, 1 - p, seed), p))
    assert check.ok, check.message


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(RATES), st.integers(0, 10**6))
def test_pointwise_steps_behind_it_may_hide_elements(p, seed):
    x, other = values((1031,), seed), values((1031,), seed + 1)

    def post(y: Tensor) -> Tensor:
        return functional.hardshrink(y, 0.5) - other.to(y.dtype)

    check = dropout()(oracle_for(x, p, post), (post(dropped(x, numpy_mask((1031,), 1 - p, seed), p)),), {"p": p})
    assert check.ok, check.message


def tile(mask: Tensor, shape: tuple[int, ...]) -> Tensor:
    count = int(np.prod(shape))
    return mask.repeat(count // mask.numel() + 1)[:count].reshape(shape)


PROBES: dict[str, Callable[[Tensor, float], Tensor]] = {
    "everything kept": lambda x, p: x / (1 - p),
    "everything dropped": lambda x, p: torch.zeros_like(x),
    "wrong p": lambda x, p: dropped(x, numpy_mask(x.shape, 1 - p / 3, 5), p),
    "p and 1 - p mixed up": lambda x, p: dropped(x, numpy_mask(x.shape, 1 - p if p > 0.6 else p / 2, 5), p),
    "no rescale": lambda x, p: dropped(x, numpy_mask(x.shape, 1 - p, 5), p) * (1 - p),
    "rescaled by 1 / p": lambda x, p: dropped(x, numpy_mask(x.shape, 1 - p, 5), p) * (1 - p) / (p + 0.01),
    "same mask per row": lambda x, p: dropped(x, numpy_mask(x.shape[1:], 1 - p, 5).expand(x.shape), p),
    "whole rows": lambda x, p: dropped(x, numpy_mask(x.shape[:1], 1 - p, 5)[:, None].expand(x.shape), p),
    "small period": lambda x, p: dropped(x, tile(numpy_mask((16,), 1 - p, 5), x.shape), p),
    "period of a block": lambda x, p: dropped(x, tile(numpy_mask((1024,), 1 - p, 5), x.shape), p),
    "constant": lambda x, p: torch.full_like(x, 0.3),
    "small values dropped": lambda x, p: dropped(x, x.abs() > x.abs().quantile(p), p),
    "negative values dropped more": lambda x, p: dropped(x, numpy_mask(x.shape, 1 - p, 5) & ((x > 0) | numpy_mask(x.shape, 0.5, 6)), p),
    "the last column kept": lambda x, p: dropped(x, numpy_mask(x.shape, 1 - p, 5) | (torch.arange(x.shape[1]) == x.shape[1] - 1), p),
    "a NaN": lambda x, p: dropped(x, numpy_mask(x.shape, 1 - p, 5), p).index_fill(0, torch.tensor([3]), float("nan")),
    "noise": lambda x, p: dropped(x, numpy_mask(x.shape, 1 - p, 5), p) * (1 + 1e-4 * values(x.shape, 8)),
}  # fmt: skip


@pytest.mark.parametrize("p", [0.25, 0.5])
@pytest.mark.parametrize("probe", PROBES)
def test_probe_is_refused(probe, p):
    x = values((256, 48), 3)
    assert not judge(x, p, PROBES[probe](x, p)).ok


def test_an_alternating_mask_is_refused():
    x = values((4096,), 3)
    check = judge(x, 0.5, dropped(x, torch.arange(4096) % 2 == 0, 0.5))
    assert "apart in row-major order" in check.message


@pytest.mark.parametrize("arguments", [{"p": 0.3, "training": False}, {"p": 0.0}])
def test_without_dropout_it_is_an_ordinary_comparison(arguments):
    x = values((5,), 1)
    truth = Oracle((x.double(), torch.zeros(5).double()), (x,))
    assert dropout()(truth, (x.clone(),), arguments).ok
    assert not dropout()(truth, (torch.where(torch.arange(5) == 2, 0.0, x),), arguments).ok
    assert dropout().fresh(truth, (x,), (x,), arguments).ok


def test_p_of_one_drops_everything():
    x = values((5,), 1)
    truth = Oracle((x.double(), torch.zeros(5).double()), (torch.zeros(5),))
    assert dropout()(truth, (torch.zeros(5),), {"p": 1.0}).ok
    assert not dropout()(truth, (x,), {"p": 1.0}).ok


@pytest.mark.parametrize("p", RATES)
def test_two_calls_must_not_share_their_mask(p):
    x = values((64, 48), 3)
    one, other = (dropped(x, numpy_mask(x.shape, 1 - p, seed), p) for seed in (1, 2))
    assert dropout().fresh(oracle_for(x, p), (one,), (other,), {"p": p}).ok
    assert not dropout().fresh(oracle_for(x, p), (one,), (one.clone(),), {"p": p}).ok
    mixed = torch.where(torch.arange(64)[:, None] < 40, one, other)
    assert not dropout().fresh(oracle_for(x, p), (one,), (mixed,), {"p": p}).ok


def product(left: Tensor, right: Tensor, mask: Tensor, p: float) -> Tensor:
    return dropped(left, mask, p) @ right


def factors(seed: int) -> tuple[Tensor, Tensor]:
    return torch.log_softmax(values((2, 24, 20), seed), -1), values((2, 20, 31), seed + 1)


def truth_of_product(left: Tensor, right: Tensor, p: float) -> Oracle:
    return Oracle((left.double(), right.double()), (functional.dropout(left, p) @ right,))


@settings(max_examples=30, deadline=None)
@given(st.sampled_from([0.2, 0.5]), st.integers(0, 10**6))
def test_product_of_a_dropped_matrix_passes(p, seed):
    left, right = factors(seed)
    actual = product(left, right, numpy_mask(left.shape, 1 - p, seed), p)
    check = dropout_product()(truth_of_product(left, right, p), (actual,), {"p": p})
    assert check.ok, check.message


@pytest.mark.parametrize("probe", sorted(PROBES.keys() - {"the last column kept", "period of a block", "a NaN", "constant"}))
def test_probe_before_a_product_is_refused(probe):
    left, right = factors(3)
    flat = PROBES[probe](left.reshape(48, 20), 0.5).reshape(left.shape)
    assert not dropout_product()(truth_of_product(left, right, 0.5), (flat @ right,), {"p": 0.5}).ok


def test_dropout_behind_the_product_is_no_dropout_before_it():
    left, right = factors(3)
    assert not dropout_product()(truth_of_product(left, right, 0.5), (functional.dropout(left @ right, 0.5),), {"p": 0.5}).ok


def test_two_products_must_not_share_their_mask():
    left, right = factors(3)
    one, other = (product(left, right, numpy_mask(left.shape, 0.5, seed), 0.5) for seed in (1, 2))
    truth = truth_of_product(left, right, 0.5)
    assert dropout_product().fresh(truth, (one,), (other,), {"p": 0.5}).ok
    assert not dropout_product().fresh(truth, (one,), (one,), {"p": 0.5}).ok


class TestBehindANorm:
    """softmax, dropout, product, layer norm, residual."""

    rule = dropout_product("dropout_p", 0.1, None)

    def setup_method(self) -> None:
        self.left = torch.softmax(values((96, 16), 1), -1)
        self.right, self.residual = values((16, 30), 2), values((96, 30), 3)

    def block(self, mask: Tensor, p: float) -> Tensor:
        return functional.layer_norm(product(self.left, self.right, mask, p), (30,)) + self.residual

    @property
    def truth(self) -> Oracle:
        exact = (self.left.double(), self.right.double(), self.residual.double(), torch.tensor([1e-5], dtype=torch.float64))
        return Oracle(exact, (self.block(torch.rand(96, 16) < 0.8, 0.2),))

    @pytest.mark.parametrize("seed", range(5))
    def test_honest_block_passes(self, seed):
        check = self.rule(self.truth, (self.block(numpy_mask((96, 16), 0.8, seed), 0.2),), {"dropout_p": 0.2})
        assert check.ok, check.message

    @pytest.mark.parametrize("keep", [1.0, 0.5, 0.95])
    def test_another_rate_is_refused(self, keep):
        actual = self.block(numpy_mask((96, 16), keep, 1), 0.2)
        assert "are kept where 80 %" in self.rule(self.truth, (actual,), {"dropout_p": 0.2}).message

    def test_same_mask_per_row_is_refused(self):
        actual = self.block(numpy_mask((1, 16), 0.8, 1).expand(96, 16), 0.2)
        assert not self.rule(self.truth, (actual,), {"dropout_p": 0.2}).ok
