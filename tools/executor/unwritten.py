"""Memory that nobody has written yet holds one known value, so that an output with holes is found, with the same words each time."""

from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from tools.executor.wire import DTYPES

UNWRITTEN = {
    torch.empty, torch.empty_like, torch.empty_strided, torch.empty_permuted, torch.Tensor.new_empty, torch.Tensor.new_empty_strided,
}  # fmt: skip
SENT = frozenset(DTYPES.values())
"""Dtypes that a result may have; the others have no fill."""


class Poison(TorchFunctionMode):
    """Inside it fresh memory is NaN, the largest integer, or True. Not for timed calls: filling is work."""

    def __torch_function__(self, func: Callable[..., Any], types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        made = func(*args, **(kwargs or {}))
        return _filled(made) if func in UNWRITTEN and isinstance(made, torch.Tensor) else made


def _filled(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.layout is not torch.strided or tensor.device.type == "meta" or tensor.dtype not in SENT:
        return tensor
    with torch.no_grad():
        if tensor.dtype.is_floating_point or tensor.dtype.is_complex:
            return tensor.fill_(float("nan"))
        return tensor.fill_(True if tensor.dtype is torch.bool else torch.iinfo(tensor.dtype).max)
