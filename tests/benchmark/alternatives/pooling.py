"""Adaptive pooling as sums of rows, then of columns, over the windows' own edges."""

import torch
from torch import Tensor

from tests.benchmark.alternatives import Alternative


def edges(length: int, count: int) -> list[tuple[int, int]]:
    return [(index * length // count, -(-(index + 1) * length // count)) for index in range(count)]


def adaptive_avg_pool2d(input: Tensor, output_size: int | tuple[int | None, int | None]) -> Tensor:
    wanted = (output_size,) * 2 if isinstance(output_size, int) else output_size
    height, width = (own if size is None else size for own, size in zip(input.shape[-2:], wanted, strict=True))
    rows = [input.float()[..., low:high, :].sum(-2) / (high - low) for low, high in edges(input.shape[-2], height)]
    tall = torch.stack(rows, -2)
    columns = [tall[..., low:high].sum(-1) / (high - low) for low, high in edges(input.shape[-1], width)]
    return torch.stack(columns, -1).to(input.dtype)


ALTERNATIVES = {"adaptive_avg_pool2d": Alternative(adaptive_avg_pool2d, ("aten::_adaptive_avg_pool2d",))}
