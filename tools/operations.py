"""The aten operations of a reference, traced on meta tensors: no memory is touched, so any size will do."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from benchmark import oracle

_FREE = frozenset(
    {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "_unsafe_view", "lift_fresh", "alias", "detach"}
)
GATHERS = frozenset({"index", "index_select", "gather", "embedding", "take", "nll_loss_forward"})
"""Operations that look at some elements of their first input."""
_FUSED = frozenset({torch.rms_norm, functional.rms_norm, functional.scaled_dot_product_attention})
"""Functions that are one kernel on a device, though meta tensors take them apart."""


@dataclass(frozen=True, eq=False)
class Operation:
    """One call of an aten operator. Tensors are meta tensors; a view has no cost."""

    name: str
    inputs: tuple[torch.Tensor, ...]
    outputs: tuple[torch.Tensor, ...]
    tags: frozenset[str]
    view: bool
    products: float
    """FLOPs of matrix products and convolutions, a multiplication and an addition counted as two."""

    @property
    def read(self) -> int:
        """Bytes, each tensor once; of a table that is gathered from, as much as comes out or as the indices are."""
        first, *others = unique(self.inputs) or (torch.empty(0),)
        rest = sum(size_of(tensor) for tensor in others)
        return rest + (min(size_of(first), max(self.written, rest)) if self.name in GATHERS else size_of(first))

    @property
    def written(self) -> int:
        return sum(size_of(tensor) for tensor in unique(self.outputs))

    @property
    def elements(self) -> int:
        """Elements of the largest tensor: about one elementary operation each."""
        return max((tensor.numel() for tensor in (*self.inputs, *self.outputs)), default=0)


class Trace(TorchDispatchMode):
    """Records what runs inside it."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[Operation] = []
        self._functions = _Fused(self)

    def __enter__(self) -> "Trace":
        self._functions.__enter__()
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self._functions.__exit__(*error)

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        name = func.overloadpacket.__name__
        formula = flop_registry.get(func.overloadpacket)
        products = float(formula(*args, **kwargs, out_val=out)) if formula else 0.0
        view = func.is_view or name in _FREE
        tags = frozenset(tag.name for tag in func.tags)
        self.note(Operation(name, tuple(tensors([args, kwargs])), tuple(tensors(out)), tags, view, products))
        return out

    def note(self, operation: Operation) -> None:
        if operation.outputs:
            self.operations.append(operation)


class _Fused(TorchFunctionMode):
    """Puts one operation in the place of those that a fused function is taken apart into."""

    def __init__(self, trace: Trace) -> None:
        super().__init__()
        self._trace = trace

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        before = len(self._trace.operations)
        out = func(*args, **(kwargs or {}))
        if func in _FUSED:
            parts = self._trace.operations[before:]
            del self._trace.operations[before:]
            products = sum(part.products for part in parts)
            whole = (tuple(tensors([args, kwargs])), tuple(tensors(out)))
            self._trace.note(Operation(func.__name__, *whole, frozenset(), False, products))
        return out


def trace(function: Callable[..., Any], arguments: dict[str, Any]) -> tuple[Any, list[Operation]]:
    """What `function` returns for meta tensors, and the operations that it ran; raises what it raises for want of values."""
    with Trace() as recorded:
        result = oracle.call(function, arguments)
    return result, recorded.operations


def tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from tensors(list(value.values()))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors(item)


def unique(values: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
    return list({id(tensor): tensor for tensor in values}.values())


def distinct(tensor: torch.Tensor) -> int:
    """Elements that lie in memory of their own: a broadcast axis counts once."""
    count = 1
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        count *= size if stride or size == 0 else 1
    return count


def size_of(tensor: torch.Tensor) -> int:
    return distinct(tensor) * tensor.element_size()


def dtype_name(dtype: torch.dtype) -> str:
    """As hardware sheets write it."""
    return str(dtype).removeprefix("torch.")
