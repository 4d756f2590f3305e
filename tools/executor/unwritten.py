"""Memory that nobody has written yet holds a known value, so that an output with holes is found, with the same words each time."""

import hashlib

import torch

from tools.executor.wire import DTYPES

SENT = frozenset(DTYPES.values())
"""Dtypes that a result may have; the others have no fill."""
WORDS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
NANS = {
    torch.float64: 0x7FF8 << 48, torch.float32: 0x7FC0 << 16, torch.float16: 0x7E00, torch.bfloat16: 0x7FC0,
    torch.float8_e5m2: 0x7E, torch.float8_e4m3fn: 0x7F, torch.float8_e4m3fnuz: 0x80, torch.float8_e5m2fnuz: 0x80,
    torch.complex64: 0x7FC0 << 16, torch.complex128: 0x7FF8 << 48,
}  # fmt: skip
"""Quiet NaN of each dtype, as a word."""


class Poison:
    """What fresh memory holds during one call, by a seed: words that differ from one seed to the next. With an even seed floats are
    NaN (with a payload where the dtype has room for one), with an odd one they are finite: a kernel that keeps the larger of two
    numbers drops NaN.
    """

    def __init__(self, seed: int = 0) -> None:
        self.nan = seed % 2 == 0
        self.word = int.from_bytes(hashlib.sha256(f"poison/{seed}".encode()).digest()[:8])

    def fill(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.layout is not torch.strided or tensor.device.type == "meta" or tensor.dtype not in SENT or not tensor.numel():
            return tensor
        with torch.no_grad():
            if tensor.dtype is torch.bool:
                tensor.fill_(bool(self.nan))
            else:
                size = tensor.element_size() // (2 if tensor.dtype.is_complex else 1)
                (torch.view_as_real(tensor) if tensor.dtype.is_complex else tensor).view(WORDS[size]).fill_(self._word(tensor.dtype, size))
        return tensor

    def _word(self, dtype: torch.dtype, size: int) -> int:
        bits = 8 * size
        word = self.word >> (64 - bits) | 1 << (bits - 2)
        if dtype in NANS:
            # A payload fills the lower half; the exponents of finite poison are moderate.
            low = self.word & ((1 << bits // 2) - 1) if size > 1 else 0
            word = NANS[dtype] | low >> (2 if size == 2 else 0) if self.nan else 0x45 << (bits - 8) | low
        return word - (1 << bits) if word >> (bits - 1) else word
