"""The arguments of a call: in the order of the signature, their tensors, and the memory behind these."""

import inspect
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from benchmark.task import Arguments, Task
from tools.executor.wire import span


def bind(task: Task, arguments: Arguments) -> tuple[Arguments, Arguments]:
    """Positional arguments in the order of the task's signature, and keyword-only ones; defaults fill gaps between positional ones."""
    return bound(inspect.signature(task.reference), arguments)


def bound(signature: inspect.Signature, arguments: Arguments) -> tuple[Arguments, Arguments]:
    """The same for any signature."""
    positional: Arguments = {}
    keywords: Arguments = {}
    gap: Arguments = {}
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            if name in arguments:
                keywords[name] = arguments[name]
        elif parameter.kind is parameter.VAR_POSITIONAL:
            # Each by a name of its own that no parameter can have.
            positional |= {f"{name}[{number}]": value for number, value in enumerate(arguments.get(name, ()))}
        elif name in arguments:
            positional |= gap | {name: arguments[name]}
            gap = {}
        else:
            gap[name] = parameter.default
    return positional, keywords


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_in(item)


def memory_of(tensor: torch.Tensor) -> torch.Tensor:
    """The memory between the first and the last element."""
    return tensor.as_strided((span(list(tensor.shape), list(tensor.stride())),), (1,), tensor.storage_offset())


def nbytes(tensors: Iterable[torch.Tensor]) -> int:
    """Bytes of the elements of all of them together."""
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def same_bytes(old: torch.Tensor, new: torch.Tensor) -> bool:
    return torch.equal(old.contiguous().reshape(-1).view(torch.uint8), new.contiguous().reshape(-1).view(torch.uint8))
