"""Floating-point precisions in mantissa bits: a dtype's own, and the next lower one that must not pass for it."""

import torch

BITS = {torch.float64: 52, torch.float32: 23, torch.float16: 10, torch.bfloat16: 7}
LOWER = {torch.float64: 23, torch.float32: 10, torch.float16: 7, torch.bfloat16: 3}
"""fp64 -> fp32, fp32 -> TF32 (and fp16), fp16 -> bf16, bf16 -> fp8 (e4m3); the exponent's range is kept, so that nothing overflows."""


def eps(dtype: torch.dtype) -> float:
    """Distance from 1 to the next number; a rounded value is off by half of it at most."""
    return 2.0 ** -BITS[dtype]


def cut(tensor: torch.Tensor) -> torch.Tensor:
    """`tensor` rounded to the mantissa of the next lower precision, in its own dtype; integers as they are."""
    if tensor.is_complex():
        return torch.view_as_complex(cut(torch.view_as_real(tensor)))
    if tensor.dtype not in BITS:
        return tensor
    fraction, exponent = torch.frexp(tensor.double())
    step = 2.0 ** (LOWER[tensor.dtype] + 1)
    rounded = torch.ldexp(torch.round(fraction * step) / step, exponent)
    return torch.where(tensor.isfinite(), rounded, tensor.double()).to(tensor.dtype)
