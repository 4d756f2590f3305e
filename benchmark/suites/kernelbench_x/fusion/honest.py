"""Honest computations of fusions: what a fused kernel does that keeps its intermediates in fp32."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

HALF = (torch.float16, torch.bfloat16)
TF32_NOTE = "On a GPU the timed eager baseline is as PyTorch comes, where cuDNN may use TF32 for fp32; what is compared with is not."


def rounded_once(reference: Callable[..., Any]) -> Callable[..., Any]:
    """`reference` with half-precision tensors widened to fp32 and the result rounded to the dtype of the first one; never in TF32."""

    def call(**arguments: Any) -> Any:
        out = arguments.pop("out", None)
        tensors = [value for value in arguments.values() if isinstance(value, Tensor)]
        wide = {name: value.float() if isinstance(value, Tensor) and value.dtype in HALF else value for name, value in arguments.items()}
        with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
            result = reference(**wide).to(tensors[0].dtype)
        return result if out is None else out.copy_(result)

    return call


def spread(values: Tensor, magnitude: Tensor, axes: tuple[int, ...], eps: float) -> Tensor:
    """Sums of absolute terms behind `(values - mean) / sqrt(variance + eps)`, given those behind the values."""
    centred = values - values.mean(axes, keepdim=True)
    scale = (centred.square().mean(axes, keepdim=True) + eps).rsqrt()
    off = (magnitude + magnitude.mean(axes, keepdim=True)) * scale
    return off + (centred * scale).abs() * ((centred * scale).abs() * off).mean(axes, keepdim=True)
