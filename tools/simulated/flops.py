"""Floating-point operations of a launch, whole blocks at a time: masked lanes calculate too."""

from typing import Any

import numpy as np
from triton._C.libtriton import ir
from triton.runtime.interpreter import TensorHandle

WEIGHTS = {"fneg": 0, "fma": 2, "clampf": 2}
"""Operations per lane where it is not one; a transcendental function counts as one."""
_TORCH_NAMES = {
    "fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "fp64": "float64", "fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2",
    "fp8e4b8": "float8_e4m3fnuz", "fp8e5b16": "float8_e5m2fnuz",
}  # fmt: skip
_FORMATS = {"E2M1": "float4_e2m1", "E4M3": "float8_e4m3fn", "E5M2": "float8_e5m2", "FP16": "float16", "BF16": "bfloat16"}


class Tally:
    """Counts of the launch that is being interpreted."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.flops = 0
        """Elementwise operations and reductions, without products of matrices."""
        self.dot_flops: dict[str, int] = {}
        """2 M N K per product, by the dtype of its operands: torch's names, and `tensorfloat32` for fp32 on matrix units."""

    def dot(self, left: TensorHandle, columns: int, precision: Any) -> None:
        kind = left.dtype.scalar.name
        name = _TORCH_NAMES.get(kind, kind)
        if kind == "fp32" and precision != ir.INPUT_PRECISION.IEEE:
            name = "tensorfloat32"
        self._product(name, left.data.size * columns)

    def scaled_dot(self, kind: Any, result: np.ndarray, inner: int) -> None:
        """A product of scaled blocks whose left operand has the format `kind`."""
        self._product(_FORMATS[kind.name], result.size * inner)

    def _product(self, name: str, multiplications: int) -> None:
        self.dot_flops[name] = self.dot_flops.get(name, 0) + 2 * multiplications


tally = Tally()
