"""Affine sampling by gathered taps with weights per axis."""

import torch
from torch import Tensor

from tests.benchmark.alternatives import Alternative


def lines(count: int, align: bool) -> Tensor:
    at = torch.arange(count, dtype=torch.float32)
    return (2 * at / max(1, count - 1) - (1 if count > 1 else 0)) if align else (2 * at + 1) / count - 1


def padded(index: Tensor, length: int, padding: str, align: bool) -> Tensor:
    if padding == "reflection":
        low, span = (0.0, length - 1.0) if align else (-0.5, float(length))
        if span == 0:
            return torch.zeros_like(index)
        rest = (index - low).abs().remainder(2 * span)
        index = torch.minimum(rest, 2 * span - rest) + low
    return index if padding == "zeros" else index.clamp(0, length - 1)


def cubic(t: Tensor) -> Tensor:
    d = t.abs()
    return torch.where(d <= 1, (1.25 * d - 2.25) * d * d + 1, torch.where(d < 2, ((-0.75 * d + 3.75) * d - 6) * d + 3, 0.0))


def taps(index: Tensor, length: int, mode: str, padding: str, align: bool) -> list[tuple[Tensor, Tensor]]:
    """Whole indices and weights along one axis."""
    if mode == "bicubic":
        below = index.floor()
        return [(padded(below + k, length, padding, align), cubic(index - below - k)) for k in range(-1, 3)]
    index = padded(index, length, padding, align)
    if mode == "nearest":
        return [(index.round(), torch.ones_like(index))]
    below = index.floor()
    return [(below, below + 1 - index), (below + 1, index - below)]


def grid_sample_with_affine(
    input: Tensor, theta: Tensor, size: tuple[int, ...], mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False
) -> Tensor:
    n, channels, height, width = input.shape
    x, y = lines(size[3], align_corners)[None, None, :], lines(size[2], align_corners)[None, :, None]
    rows = theta.float()[:, :, :, None, None]
    across, down = (rows[:, axis, 0] * x + rows[:, axis, 1] * y + rows[:, axis, 2] for axis in (0, 1))
    column = (across + 1) / 2 * (width - 1) if align_corners else ((across + 1) * width - 1) / 2
    row = (down + 1) / 2 * (height - 1) if align_corners else ((down + 1) * height - 1) / 2
    flat, total = input.float().reshape(n, channels, -1), torch.zeros(n, channels, *size[2:])
    for i, weight_i in taps(row, height, mode, padding_mode, align_corners):
        for j, weight_j in taps(column, width, mode, padding_mode, align_corners):
            there = (i >= 0) & (i < height) & (j >= 0) & (j < width)
            place = torch.where(there, i * width + j, 0.0).long().reshape(n, 1, -1).expand(n, channels, -1)
            total += (weight_i * weight_j * there)[:, None] * flat.gather(2, place).reshape(total.shape)
    return total.to(input.dtype)


ALTERNATIVES = {
    "grid_sample_with_affine": Alternative(grid_sample_with_affine, ("aten::grid_sampler_2d", "aten::affine_grid_generator")),
}
