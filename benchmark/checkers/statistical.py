"""Random results, judged by their distribution: never by torch's own stream of random numbers."""

from dataclasses import dataclass, field
from typing import Protocol

import torch

from benchmark.checkers.chance import mask_fault, tied
from benchmark.checkers.close import Budget, close
from benchmark.checkers.form import each
from benchmark.checkers.pieces import Part, compare
from benchmark.task import Arguments, Check, Checker, Oracle

Tensor = torch.Tensor
GOOD = Check(True, matched=1.0)
REPEATED = "two calls on the same inputs depend on each other: each call must draw anew (a fixed seed is no random number)"


class RandomChecker(Checker, Protocol):
    """The checker of a random contract."""

    def fresh(self, oracle: Oracle, first: tuple[Tensor, ...], second: tuple[Tensor, ...], arguments: Arguments) -> Check:
        """Whether two right results for the same arguments were drawn independently of each other."""
        ...


@dataclass(frozen=True)
class dropout:
    """Dropout as the last step, or with pointwise steps alone behind it.

    `Task.truth` returns two tensors for each output: its elements where all are kept (and rescaled), and where all are dropped.
    Each element must be one or the other within `rule`. Which one it is makes a mask, whose elements must be kept with the
    probability 1 - p, independently. Elements that are the same either way say nothing.
    """

    p: str = "p"
    """The argument that holds the probability of dropping."""
    default: float = 0.5
    training: str | None = "training"
    """The argument that switches dropout on, which it is by default; None where nothing switches it."""
    rule: close = field(default_factory=close)

    def __call__(self, oracle: Oracle, actual: tuple[Tensor, ...], arguments: Arguments) -> Check:
        def one(index: int) -> Check:
            kept, dropped, known, mask = self._read(oracle, actual[index], index, arguments)
            nearest = torch.where(mask, kept, dropped)
            budget = self._budget(oracle, index, arguments)
            check = compare(nearest.to(actual[index].dtype), actual[index], nearest, budget.tolerance)
            return check if not check.ok else _judged(mask, known, kept, _keep(self, arguments), check)

        return each(oracle, actual, one)

    def fresh(self, oracle: Oracle, first: tuple[Tensor, ...], second: tuple[Tensor, ...], arguments: Arguments) -> Check:
        """Whether two right results for the same arguments were drawn independently."""
        keep = _keep(self, arguments)

        def centred(outputs: tuple[Tensor, ...]) -> Tensor:
            read = [self._read(oracle, output, index, arguments) for index, output in enumerate(outputs)]
            return torch.cat([mask[known].double() - keep for _, _, known, mask in read])

        return independent(centred(first), centred(second), keep)

    def _read(self, oracle: Oracle, actual: Tensor, index: int, arguments: Arguments) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Values kept, values dropped, where these can be told apart, and which one each element is."""
        kept, dropped = oracle.expected[2 * index : 2 * index + 2]
        keep = _keep(self, arguments)
        if keep in (0.0, 1.0):
            kept = dropped = kept if keep else dropped
        budget = self._budget(oracle, index, arguments)
        allowed = budget.tolerance(*_whole(kept)) + budget.tolerance(*_whole(dropped))
        known = (kept - dropped).abs() > allowed.reshape(kept.shape)
        # An infinity is as far from itself as from anything.
        return kept, dropped, known | (kept.isfinite() != dropped.isfinite()), nearer(actual, kept, dropped)

    def _budget(self, oracle: Oracle, index: int, arguments: Arguments) -> Budget:
        """That of `rule` for the elements that the honest computation has kept."""
        kept, dropped = oracle.expected[2 * index : 2 * index + 2]
        honest = oracle.honest[index]
        own = torch.where(nearer(honest, kept, dropped), honest, kept.to(honest.dtype))
        axis = arguments[self.rule.axis] if isinstance(self.rule.axis, str) else self.rule.axis
        return Budget(kept, own, oracle.magnitude[index] if oracle.magnitude else None, axis, self.rule)

    @property
    def words(self) -> str:
        return (
            "each element is either dropped or kept and rescaled by 1 / (1 - p), within a few roundings in the output's dtype; elements "
            "are kept independently with probability 1 - p, anew in each call; torch's own random stream is not asked for"
        )


def _keep(rule: "dropout | dropout_product", arguments: Arguments) -> float:
    """The probability with which an element is kept."""
    on = rule.training is None or arguments.get(rule.training, True)
    return 1.0 - float(arguments.get(rule.p, rule.default)) if on else 1.0


def _judged(mask: Tensor, known: Tensor, values: Tensor, keep: float, check: Check) -> Check:
    fault = mask_fault(mask, known, keep, values) if 0 < keep < 1 else ""
    return Check(False, "wrong_numeric", fault) if fault else check


def independent(first: Tensor, second: Tensor, keep: float) -> Check:
    """The check of two calls by their centred masks."""
    random = 0 < keep < 1
    return Check(False, "wrong_numeric", REPEATED) if random and tied(first, second, keep * (1 - keep), max(keep, 1 - keep)) else GOOD


def nearer(actual: Tensor, kept: Tensor, dropped: Tensor) -> Tensor:
    """Where `actual` is nearer to `kept` than to `dropped`; both may be infinite or NaN."""
    own = actual.double()
    same = (actual == kept.to(actual.dtype)) | (own.isnan() & kept.isnan())
    return same | ((own - kept).abs() <= (own - dropped).abs())


def _whole(tensor: Tensor) -> tuple[Tensor, Part]:
    """All rows of a tensor as a piece."""
    rows = tensor if tensor.dim() else tensor.reshape(1)
    return rows, Part(rows.shape, 0, rows.shape[0])


@dataclass(frozen=True)
class dropout_product:
    """Dropout, then a matrix product, then perhaps a layer norm and a residual: the mask is read back out of the result.

    `Task.truth` returns `(left, right)` for `result = dropped(left) @ right`, or `(left, right, residual, eps)` for
    `result = layer_norm(dropped(left) @ right) + residual` (over the last axis, no weight, the biased variance; eps is a tensor
    of one element). `left` is what dropout is given, not rescaled, nowhere near zero. `right` has at least as many columns as
    rows (one more with the norm) and is well conditioned, so that `dropped(left)` is found by least squares. Each of its elements
    must be 0 or left / (1 - p); which one makes a mask, whose elements must be kept with the probability 1 - p, independently; and
    the result must be the product for that very mask, within `rule`.
    """

    p: str = "p"
    default: float = 0.5
    training: str | None = "training"
    rule: close = field(default_factory=close)

    def __call__(self, oracle: Oracle, actual: tuple[Tensor, ...], arguments: Arguments) -> Check:
        keep = _keep(self, arguments)

        def one(index: int) -> Check:
            mask = self._mask(oracle, actual[index], keep)
            expected = self._result(oracle, mask, keep)
            check = compare(expected.to(actual[index].dtype), actual[index], expected, self._budget(oracle, mask, keep).tolerance)
            return check if not check.ok else _judged(mask, torch.ones_like(mask), oracle.expected[0], keep, check)

        return each(oracle, actual, one)

    def fresh(self, oracle: Oracle, first: tuple[Tensor, ...], second: tuple[Tensor, ...], arguments: Arguments) -> Check:
        """Whether two right results for the same arguments were drawn independently."""
        keep = _keep(self, arguments)
        left, right = (self._mask(oracle, of[0], keep).double() - keep for of in (first, second))
        return independent(left, right, keep)

    def _budget(self, oracle: Oracle, mask: Tensor, keep: float) -> Budget:
        """By the error of the honest computation, for its own mask; without a norm the terms of the sum count as in `close`."""
        honest, (left, right, *norm) = oracle.honest[0], oracle.expected
        own = self._mask(oracle, honest, keep)
        terms = None if norm else (torch.where(mask | own, left, 0.0).abs() / (keep or 1.0)) @ right.abs()
        return Budget(self._result(oracle, own, keep), honest, terms, None, self.rule)

    def _result(self, oracle: Oracle, mask: Tensor, keep: float) -> Tensor:
        left, right, *norm = oracle.expected
        product = torch.where(mask, left / keep if keep else left, 0.0) @ right
        if not norm:
            return product
        residual, eps = norm
        centred = product - product.mean(-1, keepdim=True)
        return centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt() + residual

    def _mask(self, oracle: Oracle, actual: Tensor, keep: float) -> Tensor:
        left, right, *norm = oracle.expected
        if keep in (0.0, 1.0):
            return torch.full_like(left, keep, dtype=torch.bool)
        product = actual.double().nan_to_num(0.0, 0.0, 0.0)
        if norm:
            product, right = product - norm[0], right - right.mean(-1, keepdim=True)
        found = torch.linalg.solve(right @ right.mT, right @ product.mT).mT
        share = found * keep / left
        # A norm leaves the share unknown, but alike for all that are kept in a row.
        top = share.amax(-1, keepdim=True) if norm else 1.0
        return share > top / 2

    @property
    def words(self) -> str:
        return (
            "the mask of the inner dropout is read back from the result: elements must be kept and rescaled by 1 / (1 - p) "
            "independently with probability 1 - p, anew in each call, and the result must be right for that mask, within a few "
            "roundings in the output's dtype; torch's own random stream is not asked for"
        )
