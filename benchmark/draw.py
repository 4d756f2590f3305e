"""Seeded input generators: every tensor of every case comes from here, made by trusted code."""

from collections.abc import Callable
from typing import Any

import torch

Tensor = torch.Tensor


class Draw:
    """A seeded source of tensors, drawn on `device`: equal seeds give equal values on devices of one kind.

    On the device `meta` nothing is drawn and only shapes, dtypes and strides are known.
    """

    def __init__(self, seed: int, device: str = "cpu"):
        self.seed = seed
        self.device = device
        self.rng = torch.Generator("cpu" if device == "meta" else device).manual_seed(seed)

    def normal(self, *shape: int, dtype: torch.dtype = torch.float32, scale: float = 1.0, shift: float = 0.0) -> Tensor:
        """Gaussian values with the given standard deviation and mean; complex ones have half of the variance in each part."""
        return self._place(shape, dtype, lambda: self._gauss(shape, dtype) * scale + shift)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0, dtype: torch.dtype = torch.float32) -> Tensor:
        """Values spread evenly over [low, high)."""
        wide = _drawn_as(dtype)
        return self._place(shape, dtype, lambda: torch.rand(shape, generator=self.rng, dtype=wide, device=self.device) * (high - low) + low)

    def outliers(self, *shape: int, dtype: torch.dtype = torch.float32, factor: float = 1000.0, share: float = 0.005) -> Tensor:
        """Gaussian values of which a small share, and one at least, is `factor` times as large."""

        def values() -> Tensor:
            values = self._gauss(shape, dtype)
            count = max(1, round(values.numel() * share))
            values.view(-1)[torch.randperm(values.numel(), generator=self.rng, device=self.device)[:count]] *= factor
            return values

        return self._place(shape, dtype, values)

    def ties(self, *shape: int, dtype: torch.dtype = torch.float32, levels: int = 4) -> Tensor:
        """Whole numbers 0 .. levels - 1, so that extremes occur many times."""
        return self._place(shape, dtype, lambda: torch.randint(levels, shape, generator=self.rng, device=self.device))

    def integers(self, low: int, high: int, *shape: int, dtype: torch.dtype = torch.int64) -> Tensor:
        """Whole numbers in [low, high)."""
        return self._place(shape, dtype, lambda: torch.randint(low, high, shape, generator=self.rng, device=self.device))

    def classes(self, count: int, *shape: int, ignored: int | None = None, share: float = 0.2) -> Tensor:
        """Class indices below `count`; a `share` of them is `ignored`, where that is given."""

        def values() -> Tensor:
            values = torch.randint(count, shape, generator=self.rng, device=self.device)
            if ignored is not None:
                values[torch.rand(shape, generator=self.rng, device=self.device) < share] = ignored
            return values

        return self._place(shape, torch.int64, values)

    def _gauss(self, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        return torch.randn(shape, generator=self.rng, dtype=_drawn_as(dtype), device=self.device)

    def _place(self, shape: tuple[int, ...], dtype: torch.dtype, values: Callable[[], Tensor]) -> Tensor:
        if self.device == "meta":
            return torch.empty(shape, dtype=dtype, device="meta")
        return values().to(dtype)


def transposed(tensor: Tensor) -> Tensor:
    """The same values with the last two axes swapped in memory."""
    return tensor.mT.contiguous().mT


def strided(tensor: Tensor, step: int = 2) -> Tensor:
    """The same values, `step` elements apart along the last axis; the gaps are NaN (or the largest integer)."""
    *rows, columns = tensor.shape
    buffer = tensor.new_full((*rows, columns * step), _poison(tensor.dtype))
    buffer[..., ::step] = tensor
    return buffer[..., ::step]


def offset(tensor: Tensor, by: int = 3) -> Tensor:
    """The same values, `by` elements into their storage, so that the address is not aligned."""
    buffer = tensor.new_full((by + tensor.numel(),), _poison(tensor.dtype))
    buffer[by:] = tensor.reshape(-1)
    return buffer[by:].view(tensor.shape)


def without(tensor: Tensor, axis: int, *indices: int) -> Tensor:
    """`tensor` with zeros at the indices of an axis."""
    return tensor.index_fill(axis, torch.tensor(indices, device=tensor.device), 0)


def move(value: Any, device: str) -> Any:
    """`value` (arguments, a list or a tensor) on `device`; views keep strides, offset and gaps. A device becomes this one."""
    if isinstance(value, dict):
        return {name: move(item, device) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(move(item, device) for item in value)
    if isinstance(value, torch.device):
        return torch.device(device)
    if not isinstance(value, torch.Tensor):
        return value
    size = value.untyped_storage().nbytes() // value.element_size()
    flat = value.as_strided((size,), (1,), 0)
    copy = flat.to(device, copy=True)
    return copy.as_strided(value.shape, value.stride(), value.storage_offset())


def _drawn_as(dtype: torch.dtype) -> torch.dtype:
    return dtype if dtype == torch.float64 or dtype.is_complex else torch.float32


def _poison(dtype: torch.dtype) -> float | int:
    if dtype.is_floating_point or dtype.is_complex:
        return float("nan")
    return True if dtype == torch.bool else torch.iinfo(dtype).max
