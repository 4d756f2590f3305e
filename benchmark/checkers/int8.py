"""Products of tensors that are quantised to int8 on the way."""

from dataclasses import dataclass

import torch

from benchmark.checkers.form import each
from benchmark.checkers.pieces import compare
from benchmark.precision import BITS, eps
from benchmark.task import Arguments, Check, Oracle

Tensor = torch.Tensor


@dataclass(frozen=True)
class quantised:
    """`left @ right` by the scheme: symmetric int8, one scale per row of `left` and per column of `right`.

    A scale is max|values| / 127 (1 where all are zero); values are divided by it, rounded half to even and clamped to +-127;
    products are summed in int32 and scaled back in fp32. An honest kernel can round otherwise only where a quotient lies
    within the error of its fp32 scale of a half: there, and only there, one step of the grid is allowed, which makes
    `steps = s_l s_r (A_l |Q_r| + |Q_l| A_r + A_l A_r)` with A = 1 at such elements, and
    `tol = steps + (floats * eps(fp32) + eps(dtype)) * (|expected| + steps)`, where eps(dtype) counts for fp16 and bf16 results.
    A matmul without quantisation is off by many steps.
    """

    left: str = "input"
    right: str = "weight"
    levels: int = 127
    near: float = 8.0
    """Error of a quotient, in units of fp32's eps: scale and division, exact or approximate."""
    floats: float = 8.0
    """Error of scaling back, in the same units."""

    def __call__(self, oracle: Oracle, actual: tuple[Tensor, ...], arguments: Arguments) -> Check:
        def one(index: int) -> Check:
            expected, dtype = oracle.expected[index], oracle.honest[index].dtype
            own_rounding = eps(dtype) if BITS[dtype] < BITS[torch.float32] else 0.0
            steps = self._steps(arguments)
            allowed = steps + (self.floats * eps(torch.float32) + own_rounding) * (expected.abs() + steps)
            return compare(expected.to(dtype), actual[index], expected, lambda _, part: part(allowed))

        return each(oracle, actual, one)

    def _steps(self, arguments: Arguments) -> Tensor:
        scale, values, open_ = self._grid(arguments[self.left].double(), -1)
        scale_r, values_r, open_r = self._grid(arguments[self.right].double(), -2)
        # |q| + A counts the last two terms at once: A_l (|Q_r| + A_r) + |Q_l| A_r.
        return scale * scale_r * (open_ @ (values_r.abs() + open_r) + values.abs() @ open_r)

    def _grid(self, tensor: Tensor, axis: int) -> tuple[Tensor, Tensor, Tensor]:
        """Scales, quantised values, and 1.0 where the rounding is open, else 0.0."""
        top = tensor.abs().amax(axis, keepdim=True)
        scale = torch.where(top > 0, top / self.levels, 1.0)
        quotient = tensor / scale
        from_half = (quotient.abs() - quotient.abs().floor() - 0.5).abs()
        is_open = from_half <= self.near * eps(torch.float32) * quotient.abs()
        return scale, quotient.round().clamp(-self.levels, self.levels), is_open.double()

    @property
    def words(self) -> str:
        return (
            f"compared with the scheme carried out in fp64; one step of the int8 grid is allowed only where value / scale lies "
            f"within fp32's error of a half; the result without quantisation fails (levels -{self.levels} .. {self.levels})"
        )
