"""Samples by their distribution: other generators pass, coarse, biased, repeated and dependent ones do not."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from benchmark.checkers import binomial, uniform
from benchmark.checkers.samples import spread
from benchmark.precision import cut
from benchmark.task import Check, Oracle

BITS = {torch.float16: 11, torch.bfloat16: 8, torch.float32: 24, torch.float64: 53}
any_dtype = pytest.mark.parametrize("dtype", BITS, ids=str)


def draw(count: int, dtype: torch.dtype, seed: int) -> Tensor:
    """Of numpy's generator, with as many bits as the dtype holds."""
    bits = np.random.Generator(np.random.Philox(seed)).integers(0, 2 ** BITS[dtype], count)
    return (torch.from_numpy(bits).double() / 2 ** BITS[dtype]).to(dtype)


def judge(samples: Tensor) -> Check:
    return uniform()(Oracle((samples.double(),), (samples,)), (samples,), {})


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(list(BITS)), st.integers(0, 10**6), st.sampled_from([0, 1, 2, 257, 4099]))
def test_another_generator_passes(dtype, seed, count):
    check = judge(draw(count, dtype, seed))
    assert check.ok, check.message


@any_dtype
def test_every_bit_that_torch_gives_is_enough(dtype):
    assert judge(torch.rand(1 << 16, dtype=dtype)).ok


PROBES: dict[str, Callable[[Tensor], Tensor]] = {
    "zeros": torch.zeros_like,
    "a half": lambda x: torch.full_like(x, 0.5),
    "one included": lambda x: torch.where(torch.arange(x.numel()) == 7, 1.0, x),
    "negative": lambda x: x * 2 - 1,
    "squares": lambda x: x * x,
    "triangle": lambda x: (x + x.flip(0)) / 2,
    "half the range": lambda x: x / 2,
    "nearly the range": lambda x: x * 0.9,
    "lower precision": lambda x: cut(x).clamp(max=0.9),
    "eight bits": lambda x: (x.double() * 16).floor().to(x.dtype) / 16,
    "sorted": lambda x: x.sort().values,
    "period of 64": lambda x: x[:64].repeat(65)[: x.numel()],
    "period of a block": lambda x: x[:1024].repeat(5)[: x.numel()],
    "each twice": lambda x: x.repeat_interleave(2)[: x.numel()],
    "even": lambda x: (torch.arange(x.numel()).double() / x.numel()).to(x.dtype),
    "complements": lambda x: torch.cat([x[:2049], (1 - x[:2049]).clamp(max=0.99)])[: x.numel()],
    "a NaN": lambda x: torch.where(torch.arange(x.numel()) == 7, float("nan"), x),
}


@any_dtype
@pytest.mark.parametrize("probe", PROBES)
def test_probe_is_refused(probe, dtype):
    assert not judge(PROBES[probe](draw(4098, dtype, 5))).ok


@any_dtype
def test_two_calls_must_not_give_the_same_numbers(dtype):
    one, other = draw(257, dtype, 1), draw(257, dtype, 2)
    truth = Oracle((one.double(),), (one,))
    assert uniform().fresh(truth, (one,), (other,), {}).ok
    assert not uniform().fresh(truth, (one,), (one,), {}).ok
    assert not uniform().fresh(truth, (one,), (1 - one,), {}).ok


def counts(seed: int, size: int = 1500) -> tuple[Tensor, Tensor]:
    rng = torch.Generator().manual_seed(seed)
    chance = torch.rand(size, generator=rng).double()
    chance[:20], chance[20:40] = 0.0, 1.0
    return torch.randint(0, 24, (size,), generator=rng).double(), chance


def binomial_draw(count: Tensor, chance: Tensor, seed: int) -> Tensor:
    return torch.from_numpy(np.random.default_rng(seed).binomial(count.numpy().astype(int), chance.numpy())).float()


def judged(samples: Tensor, count: Tensor, chance: Tensor) -> Check:
    return binomial()(Oracle((count, chance), (samples,)), (samples,), {})


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_another_binomial_generator_passes(seed):
    count, chance = counts(seed)
    check = judged(binomial_draw(count, chance, seed), count, chance)
    assert check.ok, check.message


BINOMIALS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "the mean": lambda n, p: (n * p).round().float(),
    "zeros": lambda n, p: torch.where(p == 1, n, 0.0).float(),
    "everything": lambda n, p: torch.where(p == 0, 0.0, n).float(),
    "p a little less": lambda n, p: binomial_draw(n, torch.where(p < 1, p * 0.9, p), 3),
    "one trial less": lambda n, p: binomial_draw(torch.where((p == 1) | (p == 0), n, (n - 1).clamp(min=0)), p, 3),
    "of a normal distribution with half the deviation": lambda n, p: (
        (n * p + 0.5 * (n * p * (1 - p)).sqrt() * torch.randn(n.shape)).round().clamp(min=0).minimum(n).float()
    ),
    "p of the neighbour": lambda n, p: binomial_draw(n, torch.where((p > 0) & (p < 1), p.roll(1).clamp(0.01, 0.99), p), 3),
    "not whole": lambda n, p: (n * p).float(),
    "above n": lambda n, p: (n + 1).float(),
}


@pytest.mark.parametrize("probe", BINOMIALS)
def test_binomial_probe_is_refused(probe):
    count, chance = counts(1)
    assert not judged(BINOMIALS[probe](count, chance), count, chance).ok


def test_binomial_calls_must_be_independent():
    count, chance = counts(1)
    one, other = (binomial_draw(count, chance, seed) for seed in (1, 2))
    truth = Oracle((count, chance), (one,))
    assert binomial().fresh(truth, (one,), (other,), {}).ok
    assert not binomial().fresh(truth, (one,), (one,), {}).ok


def test_spread_fills_the_steps_of_the_distribution_function():
    count, chance = torch.full((3,), 2.0, dtype=torch.float64), torch.full((3,), 0.5, dtype=torch.float64)
    filled = spread(torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64), count, chance)
    assert 0 <= filled[0] < 0.25 <= filled[1] < 0.75 <= filled[2] < 1
