"""Floating-point results within a relative error that the user has set."""

from dataclasses import dataclass

import torch

from benchmark.checkers.close import typical
from benchmark.checkers.form import each
from benchmark.checkers.pieces import Part, compare
from benchmark.checkers.same import equal
from benchmark.precision import BITS, eps
from benchmark.task import Arguments, Check, Oracle


@dataclass(frozen=True)
class within:
    """All elements within `(tolerance + eps(dtype)) * max(|expected|, mean|expected|)` of the oracle; integers and booleans are equal."""

    tolerance: float

    def __call__(self, oracle: Oracle, actual: tuple[torch.Tensor, ...], arguments: Arguments) -> Check:
        def one(index: int) -> Check:
            honest, expected = oracle.honest[index], oracle.expected[index]
            if honest.dtype not in BITS:
                return equal(expected, actual[index])
            mean = typical(expected, None, honest.dtype)

            def allowed(truth: torch.Tensor, part: Part) -> torch.Tensor:
                return (self.tolerance + eps(honest.dtype)) * torch.maximum(truth.abs(), part(mean))

            return compare(expected.to(honest.dtype), actual[index], expected, allowed)

        return each(oracle, actual, one)

    @property
    def words(self) -> str:
        return (
            f"compared element by element: the error, beyond one rounding to the result's dtype, is at most {self.tolerance:g} times the "
            "element's own magnitude or the mean magnitude of the result, whichever is larger"
        )
