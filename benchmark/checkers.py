"""Right or wrong: small frozen objects that compare a candidate's outputs with the oracle (see `task.Checker`).

All of them look at the type, the shape and the dtype first, so that nothing is ever broadcast or converted, and ask
`all(err <= tol)`, which NaN cannot pass.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

from benchmark.precision import BITS, LOWER, eps
from benchmark.task import Arguments, Check, Oracle

Tensor = torch.Tensor
CHUNK = 1 << 22
"""Elements that are compared at a time, so that the fp64 temporaries stay near 100 MiB."""


@dataclass(frozen=True)
class close:  # noqa: N801  (declarations read as sentences)
    """Within the rounding of an honest computation in the output's dtype.

    Per element `tol = m * eps(dtype) * max(|expected|, mean|expected|) + terms * eps32 * magnitude`, with the mean over
    `axis` (a number, or the name of the argument that holds it; the whole tensor without) and `magnitude` the sum of the
    absolute terms, where the task gives it. `m` is `slack` times the error of the honest computation in units of eps, at
    least `slack`, and never more than 3/8 of the step of the next lower precision: that one must fail.
    Outputs of integers and booleans must be equal. NaN and infinities must be where the oracle, rounded to the dtype, has them.
    """

    axis: int | str | None = None
    slack_wide: float = 16.0
    """For fp64 and fp32, whose next lower precision is thousands of steps away."""
    slack_half: float = 2.0
    """For fp16 and bf16: 8 and 16 steps."""
    terms: float = 4.0

    def __call__(self, oracle: Oracle, actual: tuple[Tensor, ...], arguments: Arguments) -> Check:
        axis = arguments[self.axis] if isinstance(self.axis, str) else self.axis

        def one(index: int) -> Check:
            honest, expected = oracle.honest[index], oracle.expected[index]
            if honest.dtype not in BITS:
                return _equal(expected, actual[index])
            magnitude = oracle.magnitude[index] if oracle.magnitude else None
            budget = Budget(expected, honest, magnitude, axis, self)
            return _compare(expected.to(honest.dtype).double(), actual[index], expected, budget.tolerance)

        return _each(oracle, actual, one)

    @property
    def words(self) -> str:
        return (
            "compared with an fp64 oracle, element by element, within a few roundings of an honest computation that keeps "
            "intermediate results in fp32; fp32 results from TF32 or half-precision arithmetic fail"
        )


class Budget:
    """The tolerance of `close` for one output, piece by piece."""

    def __init__(self, expected: Tensor, honest: Tensor, magnitude: Tensor | None, axis: int | None, rule: close):
        self.dtype = honest.dtype
        self.typical = _typical(expected, axis)
        self.magnitude = None if magnitude is None else magnitude.expand(expected.shape)
        self.accumulate = rule.terms * min(eps(self.dtype), eps(torch.float32))
        slack = rule.slack_wide if BITS[self.dtype] >= BITS[torch.float32] else rule.slack_half
        ceiling = 0.375 * 2 ** (BITS[self.dtype] - LOWER[self.dtype])
        self.multiple = min(slack * max(1.0, self._honest_units(expected, honest)), ceiling)

    def _honest_units(self, expected: Tensor, honest: Tensor) -> float:
        """The largest error of the honest computation in units of eps."""
        worst = 0.0
        for truth, own, part in _pieces(expected, honest):
            units = (own.double() - truth).abs() / self._unit(truth, part)
            worst = max(worst, _largest(torch.where(units.isfinite(), units, 0.0)))
        return worst

    def _unit(self, truth: Tensor, part: "Part") -> Tensor:
        return torch.maximum(truth.abs(), part(self.typical)) * eps(self.dtype)

    def tolerance(self, truth: Tensor, part: "Part") -> Tensor:
        allowed = self.multiple * self._unit(truth, part)
        return allowed if self.magnitude is None else allowed + self.accumulate * part(self.magnitude)


@dataclass(frozen=True)
class exact:  # noqa: N801
    """Every element equal (NaN equals NaN)."""

    def __call__(self, oracle: Oracle, actual: tuple[Tensor, ...], arguments: Arguments) -> Check:
        return _each(oracle, actual, lambda index: _equal(oracle.honest[index], actual[index]))

    @property
    def words(self) -> str:
        return "every element must be equal to the reference's"


@dataclass(frozen=True)
class ties:  # noqa: N801
    """Indices of an extremum: any index that attains it along the axis. NaN counts as the extremum, as in torch."""

    values: str = "input"
    """The argument that is searched."""
    axis: str = "dim"
    """The argument that holds the axis, None for the flattened tensor."""
    keepdim: str = "keepdim"
    largest: bool = True

    def __call__(self, oracle: Oracle, actual: tuple[Tensor, ...], arguments: Arguments) -> Check:
        values, dim = arguments[self.values], arguments.get(self.axis)
        if dim is None:
            values, dim = values.reshape(-1), 0
        keep = bool(arguments.get(self.keepdim, False)) and arguments.get(self.axis) is not None

        def one(index: int) -> Check:
            found = actual[index].reshape(_reduced(values.shape, dim)) if not keep else actual[index]
            inside = (found >= 0) & (found < max(values.shape[dim], 1))
            picked = values.gather(dim, torch.where(inside, found, 0))
            best = values.amax(dim, keepdim=True) if self.largest else values.amin(dim, keepdim=True)
            right = inside & ((picked == best) | (picked.isnan() & best.isnan()))
            return _shares(right.reshape(actual[index].shape), "is no index of the extremum")

        return _each(oracle, actual, one)

    @property
    def words(self) -> str:
        extreme = "largest" if self.largest else "smallest"
        return f"any index at which the {extreme} value stands is right; NaN counts as the {extreme}"


def _reduced(shape: torch.Size, dim: int) -> list[int]:
    sizes = list(shape)
    sizes[dim] = 1
    return sizes


@dataclass(frozen=True)
class Part:
    """A slice of rows; called on anything that expands to the whole shape."""

    shape: torch.Size
    start: int
    count: int

    def __call__(self, tensor: Tensor) -> Tensor:
        if tensor.numel() == 1:
            return tensor
        return tensor.expand(self.shape).narrow(0, self.start, self.count)


def _each(oracle: Oracle, actual: tuple[Tensor, ...], one: Callable[[int], Check]) -> Check:
    """The first output that is wrong, or else the check with the largest error."""
    if len(actual) != len(oracle.honest):
        return Check(False, "wrong_shape", f"{len(actual)} outputs where {len(oracle.honest)} are expected")
    checks = []
    for index, honest in enumerate(oracle.honest):
        check = _form(honest, actual[index]) or one(index)
        if not check.ok:
            where = f"output {index}: " if len(oracle.honest) > 1 else ""
            return replace(check, message=where + check.message)
        checks.append(check)
    return max(checks, key=lambda check: check.max_abs or 0.0)


def _form(honest: Tensor, actual: Any) -> Check | None:
    if type(actual) is not torch.Tensor:
        return Check(False, "wrong_dtype", f"{type(actual).__name__} where a tensor is expected")
    if actual.shape != honest.shape:
        return Check(False, "wrong_shape", f"shape {tuple(actual.shape)} where {tuple(honest.shape)} is expected")
    if actual.dtype != honest.dtype:
        return Check(False, "wrong_dtype", f"dtype {_name(actual.dtype)} where {_name(honest.dtype)} is expected")
    return None


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _pieces(*tensors: Tensor) -> Iterator[tuple[Any, ...]]:
    """Row by row pieces of about CHUNK elements of tensors of one shape, with the `Part` that cuts others alike."""
    if tensors[0].numel() == 0:
        return
    if tensors[0].dim() == 0:
        tensors = tuple(tensor.reshape(1) for tensor in tensors)
    shape = tensors[0].shape
    rows = max(1, CHUNK * shape[0] // tensors[0].numel())
    for start in range(0, shape[0], rows):
        part = Part(shape, start, min(rows, shape[0] - start))
        yield (*(part(tensor) if tensor.numel() > 1 else tensor for tensor in tensors), part)


def _typical(expected: Tensor, axis: int | None) -> Tensor:
    """mean|expected| over `axis`, or over everything; infinities and NaN count as zero."""
    if expected.numel() == 0:
        return expected.new_zeros(1)
    if not bool(expected.isfinite().all()):
        expected = expected.nan_to_num(0.0, 0.0, 0.0)
    if axis is None or expected.dim() == 0:
        return (torch.linalg.vector_norm(expected, ord=1) / expected.numel()).reshape(1)
    return torch.linalg.vector_norm(expected, ord=1, dim=axis, keepdim=True) / expected.shape[axis]


def _largest(tensor: Tensor) -> float:
    return float(tensor.max()) if tensor.numel() else 0.0


def _equal(expected: Tensor, actual: Tensor) -> Check:
    same = actual == expected
    if expected.dtype.is_floating_point:
        same = same | (actual.isnan() & expected.isnan())
    return _shares(same, "differs from the reference")


def _shares(right: Tensor, what: str) -> Check:
    if bool(right.all()):
        return Check(True, matched=1.0)
    share = float(right.double().mean())
    first = tuple(int(position) for position in (~right).nonzero()[0])
    return Check(False, "wrong_numeric", f"{_percent(1 - share)} of the elements: {what}, first at {first}", worst_index=first, matched=share)


@dataclass
class Tally:
    """What is gathered over the pieces of one comparison."""

    right: int = 0
    total: int = 0
    astray: bool = False
    """Not finite where the oracle is."""
    error_squares: float = 0.0
    truth_squares: float = 0.0
    max_abs: float = 0.0
    worst: float = -1.0
    worst_at: int = 0
    tolerance: float = 0.0

    def add(self, rounded: Tensor, actual: Tensor, truth: Tensor, tolerance: Tensor) -> None:
        """One piece; `rounded` is the truth in the dtype of `actual`, where it may be infinite."""
        same = (actual == rounded) | (actual.isnan() & rounded.isnan())
        finite = rounded.isfinite() & actual.isfinite()
        error = torch.where(finite, (actual - truth).abs(), 0.0)
        right = torch.where(finite, error <= tolerance, same)
        self.astray |= bool((rounded.isfinite() & ~actual.isfinite()).any())
        self.error_squares += float((error * error).sum())
        self.truth_squares += float(torch.where(finite, truth * truth, 0.0).sum())
        self.max_abs = max(self.max_abs, float(error.max()))
        ratio = torch.where(right, torch.where(tolerance > 0, error / tolerance, 0.0), error / tolerance)
        ratio = torch.where(right | finite, ratio, math.inf).nan_to_num(0.0, math.inf).expand(right.shape).reshape(-1)
        at = int(ratio.argmax())
        if float(ratio[at]) > self.worst:
            self.worst, self.worst_at = float(ratio[at]), self.total + at
            self.tolerance = float(tolerance.expand(right.shape).reshape(-1)[at])
        self.right += int(right.sum())
        self.total += right.numel()


def _compare(rounded: Tensor, actual: Tensor, truth: Tensor, tolerance: Callable[[Tensor, Part], Tensor]) -> Check:
    """`all(|actual - truth| <= tolerance)` where `rounded` is finite; the same infinity, or NaN, elsewhere."""
    tally = Tally()
    for expected, own, exactly, part in _pieces(rounded, actual, truth):
        tally.add(expected, own.double(), exactly, tolerance(exactly, part))
    if tally.total == 0:
        return Check(True, matched=1.0)
    ok = tally.right == tally.total
    at = tuple(int(position) for position in torch.unravel_index(torch.tensor(tally.worst_at), truth.shape))
    matched = tally.right / tally.total
    kind = "pass" if ok else "nonfinite" if tally.astray else "wrong_numeric"
    rms = math.sqrt(tally.error_squares / tally.truth_squares) if tally.truth_squares else None
    what = "not finite where the result is" if tally.astray else f"off by {tally.max_abs:.3g} at most"
    message = "" if ok else f"{_percent(1 - matched)} of the elements are wrong, {what}; the worst at {at}"
    numbers = [value if value is not None and math.isfinite(value) else None for value in (tally.max_abs, rms, tally.tolerance)]
    return Check(ok, kind, message, numbers[0], numbers[1], at, matched, numbers[2])


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
