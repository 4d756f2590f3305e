"""Samples of a distribution, judged by what is known of it: never by torch's own stream of random numbers."""

from dataclasses import dataclass

import torch

from benchmark.checkers.chance import surprising, tied, uniform_fault
from benchmark.checkers.form import each
from benchmark.checkers.statistical import GOOD, REPEATED
from benchmark.precision import BITS, LOWER, eps
from benchmark.task import Arguments, Check, Oracle

Tensor = torch.Tensor


@dataclass(frozen=True)
class uniform:
    """Independent samples, uniform on [0, 1): range, mean, distribution function, correlation at every lag, and fine steps.

    A sample that the next lower precision could hold is rare (below 2% for fp32 and fp64, 35% for fp16 and bf16, whose few bits make
    it commoner), so a generator whose steps are coarser than the dtype's fails.
    """

    def __call__(self, oracle: Oracle, actual: tuple[Tensor, ...], arguments: Arguments) -> Check:
        return each(oracle, actual, lambda index: self._one(actual[index]))

    def _one(self, samples: Tensor) -> Check:
        inside = (samples >= 0) & (samples < 1)
        if not bool(inside.all()):
            return _outside(samples, inside, "not in [0, 1)")
        fault = uniform_fault(samples, 2 * eps(samples.dtype)) or _coarse(samples)
        return Check(False, "wrong_numeric", fault) if fault else GOOD

    def fresh(self, oracle: Oracle, first: tuple[Tensor, ...], second: tuple[Tensor, ...], arguments: Arguments) -> Check:
        """Whether two right results for the same arguments were drawn independently."""
        pairs = zip(first, second, strict=True)
        again = any(tied(one.double().reshape(-1) - 0.5, other.double().reshape(-1) - 0.5, 1 / 12, 0.5) for one, other in pairs)
        return Check(False, "wrong_numeric", REPEATED) if again else GOOD

    @property
    def words(self) -> str:
        return (
            "samples must be in [0, 1) (never 1, after rounding to the dtype neither), uniform, independent of each other, drawn anew in "
            "each call, and use the mantissa of the dtype: mean, distribution function, correlations and steps are tested; torch's own "
            "random stream is not asked for"
        )


def _outside(samples: Tensor, right: Tensor, what: str) -> Check:
    first = tuple(int(position) for position in (~right).nonzero()[0])
    kind = "wrong_numeric" if bool(samples.isfinite().all()) else "nonfinite"
    return Check(False, kind, f"the sample at {first} is {what}", matched=float(right.double().mean()), first_index=first)


def _coarse(samples: Tensor) -> str:
    """Says so where too many samples have a mantissa of the next lower precision."""
    if not samples.numel():
        return ""
    usual = 0.02 if BITS[samples.dtype] >= BITS[torch.float32] else 0.35
    fraction, _ = torch.frexp(samples.double())
    places = fraction * 2.0 ** (LOWER[samples.dtype] + 1)
    short = (places == places.round()).sum().double()
    if float(short) > usual * samples.numel() and bool(surprising(short, torch.tensor(float(samples.numel())), usual)):
        return f"{100 * float(short) / samples.numel():.3g} % of the samples fit into the next lower precision: the steps are too coarse"
    return ""


@dataclass(frozen=True)
class binomial:
    """Independent samples of Binomial(n, p), n and p element by element: `Task.truth` returns the two tensors for each output.

    By the probabilities of each element, a sample becomes a uniform number (the steps of the distribution function are filled evenly
    by the judge's own numbers), and these are judged: range, mean, distribution, correlation.
    """

    def __call__(self, oracle: Oracle, actual: tuple[Tensor, ...], arguments: Arguments) -> Check:
        def one(index: int) -> Check:
            count, chance = oracle.expected[2 * index : 2 * index + 2]
            samples = actual[index].double()
            possible = (samples >= 0) & (samples <= count) & (samples == samples.round())
            possible &= torch.where(chance == 0, samples == 0, True) & torch.where(chance == 1, samples == count, True)
            if not bool(possible.all()):
                return _outside(samples, possible, "impossible")
            fault = uniform_fault(spread(samples, count, chance), 1e-9)
            return Check(False, "wrong_numeric", f"by the distribution function of each sample: {fault}") if fault else GOOD

        return each(oracle, actual, one)

    def fresh(self, oracle: Oracle, first: tuple[Tensor, ...], second: tuple[Tensor, ...], arguments: Arguments) -> Check:
        """Whether two right results for the same arguments were drawn independently."""
        for index, (one, other) in enumerate(zip(first, second, strict=True)):
            count, chance = oracle.expected[2 * index : 2 * index + 2]
            # Other seeds on both sides: what fills the steps must not be alike.
            left, right = (spread(of.double(), count, chance, seed).reshape(-1) - 0.5 for seed, of in enumerate((one, other)))
            if tied(left, right, 1 / 12, 0.5):
                return Check(False, "wrong_numeric", REPEATED)
        return GOOD

    @property
    def words(self) -> str:
        return (
            "samples must be whole numbers drawn from Binomial(n, p) of each element, independent of each other, anew in each call; range, "
            "mean, distribution and correlations are tested; torch's own random stream is not asked for"
        )


def spread(samples: Tensor, count: Tensor, chance: Tensor, seed: int = 0) -> Tensor:
    """F(samples - 1) + v P(samples) with uniform v: uniform on [0, 1) if the samples are Binomial(count, chance)."""
    below, own = torch.zeros_like(samples), torch.zeros_like(samples)
    for value in range(int(count.max()) + 1 if count.numel() else 0):
        ways = torch.lgamma(count + 1) - torch.lgamma(torch.tensor(value + 1.0)) - torch.lgamma((count - value).clamp(min=0) + 1)
        logarithm = ways + torch.special.xlogy(value, chance) + torch.special.xlogy((count - value).clamp(min=0), 1 - chance)
        weight = torch.where(count >= value, logarithm.exp(), 0.0)
        below += torch.where(samples > value, weight, 0.0)
        own += torch.where(samples == value, weight, 0.0)
    filling = torch.rand(samples.shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(samples.device)
    return below + filling * own
