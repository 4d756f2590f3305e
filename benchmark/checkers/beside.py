"""Several outputs that are judged by different rules."""

from dataclasses import dataclass

import torch

from benchmark.task import Arguments, Check, Checker, Oracle

Tensor = torch.Tensor


@dataclass(frozen=True)
class beside:
    """The first output by `first`, the others by `rest`, which may want several tensors of truth for each of them."""

    first: Checker
    rest: Checker

    def __call__(self, oracle: Oracle, actual: tuple[Tensor, ...], arguments: Arguments) -> Check:
        if len(actual) != len(oracle.honest):
            return Check(False, "wrong_shape", f"{len(actual)} outputs where {len(oracle.honest)} are expected")
        check = self.first(Oracle(oracle.expected[:1], oracle.honest[:1], oracle.magnitude[:1]), actual[:1], arguments)
        return check if not check.ok else self.rest(self._others(oracle), actual[1:], arguments)

    def fresh(self, oracle: Oracle, first: tuple[Tensor, ...], second: tuple[Tensor, ...], arguments: Arguments) -> Check:
        """Whether the other outputs of two calls were drawn independently."""
        return self.rest.fresh(self._others(oracle), first[1:], second[1:], arguments)  # type: ignore[attr-defined]

    def _others(self, oracle: Oracle) -> Oracle:
        return Oracle(oracle.expected[1:], oracle.honest[1:], oracle.magnitude[1:])

    @property
    def words(self) -> str:
        return f"the first result: {self.first.words}; the others: {self.rest.words}"
