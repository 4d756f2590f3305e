"""The formats that numpy lacks: bf16 kept as uint16, fp8 kept as uint8, and their exact conversions."""

from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime.interpreter import TensorHandle, _get_np_dtype

_FP8 = {
    "fp8e4nv": torch.float8_e4m3fn,
    "fp8e5": torch.float8_e5m2,
    "fp8e4b8": torch.float8_e4m3fnuz,
    "fp8e5b16": torch.float8_e5m2fnuz,
}


def is_bf16(value: Any) -> bool:
    return isinstance(value, TensorHandle) and value.data.dtype == np.uint16 and value.dtype.scalar.name == "bf16"


def widen(bits: np.ndarray) -> np.ndarray:
    """bf16 bits as fp32 values."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def narrow(values: np.ndarray) -> np.ndarray:
    """fp32 values as bf16 bits, rounded to nearest even."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    rounded = ((bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded).reshape(values.shape)


def to_tf32(values: np.ndarray) -> np.ndarray:
    """fp32 values rounded to the 10 mantissa bits that a matrix unit reads in TF32 mode."""
    bits = np.ascontiguousarray(values).view(np.uint32)
    rounded = (bits + np.uint32(0x0FFF) + ((bits >> np.uint32(13)) & np.uint32(1))) & np.uint32(0xFFFFE000)
    return np.where(np.isfinite(values), rounded.view(np.float32), values)


def widened(value: Any) -> Any:
    """A bf16 handle as an fp32 one, anything else as it is."""
    return TensorHandle(widen(value.data), tl.float32) if is_bf16(value) else value


def as_float(handle: TensorHandle) -> np.ndarray:
    """The values of a handle of any type in a type that numpy calculates in."""
    kind = handle.dtype.scalar.name
    if kind == "bf16":
        return widen(handle.data)
    if kind in _FP8:
        return torch.from_numpy(np.ascontiguousarray(handle.data)).view(_FP8[kind]).float().numpy().reshape(handle.data.shape)
    return handle.data


def from_float(values: np.ndarray, to: tl.dtype) -> TensorHandle:
    """Values as a handle of type `to`, rounded to nearest even once (fp8 saturates, as GPUs do)."""
    to = to.scalar
    if to.name == "bf16":
        return TensorHandle(narrow(values.astype(np.float32)), to)
    if to.name in _FP8:
        kind = _FP8[to.name]
        limit = torch.finfo(kind).max
        given = torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32)).clamp(-limit, limit)
        return TensorHandle(given.to(kind).view(torch.uint8).numpy().reshape(values.shape), to)
    return TensorHandle(values.astype(_get_np_dtype(to)), to)
