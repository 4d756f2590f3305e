"""How a tensor is quantised, declared once: for the checker, which carries it out in fp64, and for prompts, in words."""

from dataclasses import dataclass

import torch

from benchmark.precision import eps

Tensor = torch.Tensor
NEAR = 8.0
"""Error of a quotient value / scale, in units of fp32's eps: scale and division, exact or approximate."""


@dataclass(frozen=True)
class Quantised:
    """Dequantised values of a tensor, and how far an honest fp32 kernel's may be from them."""

    values: Tensor
    reach: Tensor
    """One step of the grid, or more, where rounding may go otherwise; zero elsewhere."""
    slip: Tensor | float
    """Relative error of the scale that comes from errors of the quantised values themselves."""


@dataclass(frozen=True)
class Grid:
    """A tensor's levels are `q = clamp(round_half_to_even(value / scale) + zero)`, its values then `(q - zero) * scale`.

    Symmetric: levels -top .. top with top = 2**(bits - 1) - 1, scale = max|values| / top, zero = 0. Otherwise levels
    0 .. 2**bits - 1, scale = (max - min) / (2**bits - 1) with max >= 0 >= min, zero = round_half_to_even(-min / scale). The scale is 1
    where the values are all zero.
    """

    tensor: str
    """The argument, or what is computed on the way, by name."""
    axes: tuple[int, ...]
    """Values that differ in these axes only share a scale."""
    per: str
    """The same in words: `row`, `column of each batch`."""
    bits: int = 8
    symmetric: bool = True
    group: int = 0
    """So many neighbours along the axis share a scale, where it is not 0; `axes` is one axis then, which the group divides."""

    @property
    def words(self) -> str:
        each = f"per group of {self.group} along each {self.per}" if self.group else f"per {self.per}"
        if self.symmetric:
            rule = f"scale = max|values| / {self.top} (1 where all are zero), rounded half to even, clamped to -{self.top} .. {self.top}"
        else:
            rule = (
                f"scale = (max(values, 0) - min(values, 0)) / {self.levels} (1 where that is 0), zero point = round(-min / scale), rounded "
                f"half to even, clamped to 0 .. {self.levels}"
            )
        kind = "symmetric" if self.symmetric else "asymmetric"
        return f"`{self.tensor}` to {kind} int{self.bits}, one scale {each}: {rule}"

    @property
    def top(self) -> int:
        return 2 ** (self.bits - 1) - 1

    @property
    def levels(self) -> int:
        return 2**self.bits - 1

    def __call__(self, tensor: Tensor, error: Tensor | float = 0.0) -> Quantised:
        """`tensor` (fp64) quantised, where an honest kernel knows its values up to `error`."""
        if not self.group:
            return self._quantised(tensor, self.axes, error)
        axis = self.axes[0] % tensor.dim()
        split = [part.unflatten(axis, (-1, self.group)) for part in (tensor, tensor * 0 + error)]
        own = self._quantised(split[0], (axis + 1,), split[1])
        slip = torch.as_tensor(own.slip).expand_as(own.values).flatten(axis, axis + 1)
        return Quantised(own.values.flatten(axis, axis + 1), own.reach.flatten(axis, axis + 1), slip)

    def _quantised(self, tensor: Tensor, axes: tuple[int, ...], error: Tensor | float) -> Quantised:
        span, slip = self._span(tensor, axes, error)
        scale = torch.where(span > 0, span / (self.top if self.symmetric else self.levels), 1.0)
        quotient = tensor / scale
        known = error / scale + (NEAR * eps(torch.float32) + slip) * quotient.abs()
        q, steps = _rounded(quotient, known)
        if self.symmetric:
            return Quantised(q.clamp(-self.top, self.top) * scale, steps * scale, slip)
        least = -torch.minimum(tensor, tensor.new_zeros(())).amin(axes, keepdim=True) / scale
        zero, open_ = _rounded(least, (NEAR * eps(torch.float32) + slip) * least.abs())
        return Quantised(((q + zero).clamp(0, self.levels) - zero) * scale, (steps + open_) * scale, slip)

    def _span(self, tensor: Tensor, axes: tuple[int, ...], error: Tensor | float) -> tuple[Tensor, Tensor | float]:
        """What the scale is in proportion to, and its relative error."""
        none = tensor.new_zeros(())

        def span(by: Tensor | float) -> Tensor:
            if self.symmetric:
                return (tensor.abs() + by).amax(axes, keepdim=True)
            return torch.maximum(tensor + by, none).amax(axes, keepdim=True) - torch.minimum(tensor - by, none).amin(axes, keepdim=True)

        own = span(0.0)
        if isinstance(error, float):
            return own, 0.0
        return own, torch.where(own > 0, (span(error) - span(-error)) / own, 0.0)


def _rounded(quotient: Tensor, known: Tensor) -> tuple[Tensor, Tensor]:
    """The nearest whole number, and how many steps away that of a quotient with an error of `known` may lie."""
    q = quotient.round()
    away = torch.maximum((quotient + known + 0.5).floor() - q, q - (quotient - known - 0.5).ceil())
    return q, away.clamp(min=0)
