"""What chance allows: bounds that an honest random kernel breaks with a probability below 1e-6 in a whole check.

None of them is an approximation for many samples: the Chernoff bound for counts, Bernstein's inequality for sums of independent
terms, Freedman's for sums over pairs (where the later of two samples is independent of all before it), and Dvoretzky, Kiefer,
Wolfowitz with Massart's constant for distribution functions. Each group of tests has the level `ALPHA`, divided among its members,
and no check has more than eight groups.
"""

import math

import torch

Tensor = torch.Tensor
ALPHA = 1e-7
WINDOW = 1 << 20
"""Samples in which correlations are looked for."""


def odds(tests: int = 1) -> float:
    """The exponent L at which a two-sided bound `2 exp(-L)` is ALPHA for all `tests` together."""
    return math.log(2 * tests / ALPHA)


def surprising(counts: Tensor, totals: Tensor, share: float | Tensor) -> Tensor:
    """Where a number of hits cannot come from `totals` tries at `share` each: totals * KL(counts / totals || share) > L."""
    found = counts / totals.clamp(min=1)
    distance = torch.special.xlogy(found, found / share) + torch.special.xlogy(1 - found, (1 - found) / (1 - share))
    return totals * distance > odds(counts.numel())


def reach(variance: Tensor, bound: Tensor | float, tests: int = 1) -> Tensor:
    """How far from 0 a sum of centred terms may be: the t at which t^2 = 2 L (variance + bound t / 3)."""
    third = bound * odds(tests) / 3
    return third + (third * third + 2 * odds(tests) * variance).sqrt()


def correlated(samples: Tensor, known: Tensor, variance: float, bound: float) -> int | None:
    """A lag at which samples depend on one another, if there is one; all lags of the flattened tensor are tried at once.

    `samples` are centred, independent, within +-bound; where not `known` they are 0.
    """
    x, there = (of.reshape(-1)[:WINDOW].double() for of in (samples, known))
    if x.numel() < 2:
        return None
    sums, pairs = _products(x), _products(there).round()
    square, spread = bound * bound, odds(pairs.numel())
    # The squares' sum itself is random, and no more than so (Bernstein).
    squares = torch.minimum(pairs * square, pairs * variance + (2 * spread * pairs * square * variance).sqrt() + square * spread / 3)
    excess = sums.abs() - reach(variance * squares, square, pairs.numel())
    worst = int(excess.argmax())
    return worst + 1 if float(excess[worst]) > 1e-6 else None


def _products(x: Tensor) -> Tensor:
    """Sums of x[i] x[i + lag] for the lags 1, 2, ..."""
    spectrum = torch.fft.rfft(x, 2 * x.numel())
    return torch.fft.irfft(spectrum.abs().square(), 2 * x.numel())[1 : x.numel()]


def tied(first: Tensor, second: Tensor, variance: float, bound: float) -> bool:
    """Whether centred samples of two calls depend on each other. Given the first, each term of the sum is independent."""
    products = float((first * second).sum().abs())
    largest = first.abs().max() if first.numel() else 0.0
    return products > float(reach(variance * first.square().sum(), bound * largest)) + 1e-6


def mask_fault(mask: Tensor, known: Tensor, keep: float, values: Tensor) -> str:
    """What is wrong with a mask of independent elements, True with the probability `keep`; "" where nothing is.

    Only `known` elements count. `values` must not decide who is kept.
    """
    mask = mask & known
    kept, total = mask.sum().double(), known.sum().double()
    if bool(surprising(kept, total, keep)):
        return f"{100 * float(kept / total):.3g} % of the elements are kept where {100 * keep:.3g} % are expected"
    for axis in range(mask.dim()) if mask.dim() > 1 else ():
        others = [other for other in range(mask.dim()) if other != axis]
        odd = surprising(mask.sum(others).double(), known.sum(others).double(), keep)
        if bool(odd.any()):
            return f"elements are not kept alike: index {int(odd.byte().argmax())} of axis {axis} is kept too often or too seldom"
    centred = torch.where(known, mask.double() - keep, 0.0)
    lag = correlated(centred, known, keep * (1 - keep), max(keep, 1 - keep))
    if lag is not None:
        return f"elements are not dropped independently: those {lag} apart in row-major order go together"
    if any(_sided(centred, by, known, keep * (1 - keep)) for by in (values, values.abs())):
        return "which elements are kept depends on their values"
    return ""


def _sided(centred: Tensor, values: Tensor, known: Tensor, variance: float) -> bool:
    """Whether centred samples go together with `values` being large."""
    if not bool(known.any()):
        return False
    side = torch.where(values > values[known].median(), 1.0, -1.0).to(centred.dtype)
    return bool((centred * side).sum().abs() > reach(variance * known.sum().double(), 1.0))


def uniform_fault(samples: Tensor, step: float) -> str:
    """What is wrong with independent samples that are uniform on [0, 1) in steps of `step`; "" where nothing is."""
    x = samples.reshape(-1).double()
    count = x.numel()
    if not count:
        return ""
    centred = x - 0.5
    if bool(centred.sum().abs() > reach(torch.tensor(count / 12.0), 0.5) + count * step):
        return f"the mean is {float(x.mean()):.4g} where 0.5 is expected"
    lag = correlated(centred, torch.ones_like(centred), 1 / 12, 0.5)
    if lag is not None:
        return f"samples are not independent: those {lag} apart in row-major order go together"
    ranks = torch.arange(1, count + 1, dtype=torch.float64, device=x.device) / count
    sorted_x = x.sort().values
    distance = float(torch.maximum((ranks - sorted_x).abs(), (sorted_x - ranks + 1 / count).abs()).max())
    if distance > math.sqrt(odds() / (2 * count)) + step:
        return f"the distribution function is off by {distance:.3g}"
    return ""
