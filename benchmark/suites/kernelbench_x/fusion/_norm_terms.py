"""Sums of absolute terms behind normalised values."""

from torch import Tensor


def through_norm(values: Tensor, magnitude: Tensor, axes: tuple[int, ...], eps: float) -> Tensor:
    """Those of `(values - mean) / sqrt(variance + eps)` over `axes`, given those of the values."""
    centred = values - values.mean(axes, keepdim=True)
    scale = (centred.square().mean(axes, keepdim=True) + eps).rsqrt()
    off = (magnitude + magnitude.mean(axes, keepdim=True)) * scale
    return off + (centred * scale).abs() * ((centred * scale).abs() * off).mean(axes, keepdim=True)
