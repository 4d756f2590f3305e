"""Modules whose parameters and buffers are given to them for one call: the reference's `Model`, and a candidate's `ModelNew`."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn


def tensors_of(module: nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and buffers by name, in the order of their registration; what is shared comes once."""
    return dict(module.named_parameters()) | dict(module.named_buffers())


def put(module: nn.Module, name: str, tensor: torch.Tensor) -> None:
    """The tensor itself, not a copy, as the parameter or buffer of that name."""
    path, _, leaf = name.rpartition(".")
    owner = module.get_submodule(path)
    # Recurrent layers keep a list of their weights, which they mend when an attribute is set.
    setattr(owner, leaf, nn.Parameter(tensor, requires_grad=False) if leaf in owner._parameters else tensor)


def names_for(module: nn.Module, given: dict[str, torch.Tensor]) -> dict[str, str]:
    """For each name of the reference's tensors that of the module's own: the same or, where it has others, the one in the same place.

    Raises `ValueError` in a sentence.
    """
    own = tensors_of(module)
    if given.keys() <= own.keys():
        return {name: name for name in given}
    shapes, others = ([tuple(tensor.shape) for tensor in of.values()] for of in (given, own))
    if shapes == others:
        return dict(zip(given, own, strict=True))
    missing = next(name for name in given if name not in own)
    raise ValueError(f"the module has no parameter or buffer {missing!r}, which the reference has; its own are {', '.join(own) or 'none'}")


def move_rest(module: nn.Module, moved: Iterable[str], to_device: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Everything but the named tensors to where the call runs."""
    done = set(moved)
    for name, tensor in tensors_of(module).items():
        if name not in done:
            put(module, name, to_device(tensor.detach()))


class ClassCandidate:
    """A candidate that is a class like the reference's, called like the function that the task asks for.

    `shape` says how: `inputs` are the parameters that `forward` takes, `init` those of the constructor, `state` the name of a tensor
    of the reference for each parameter that holds one; `order` are all parameters in the order of the signature.
    """

    def __init__(self, made: Callable[..., nn.Module], shape: dict[str, Any], to_device: Callable[[torch.Tensor], torch.Tensor]):
        self.made = made
        self.shape = shape
        self.to_device = to_device
        self.ready: nn.Module | None = None

    def prepare(self, init: list[Any]) -> None:
        """Makes the module for the next call. The constructor is not watched, so nothing of the call's inputs may be at hand yet."""
        torch.manual_seed(0)
        module = self.made(*init)
        move_rest(module, self.shape["state"].values(), self.to_device)
        self.ready = module

    def bound(self, *args: Any, **kwargs: Any) -> Callable[[], Any]:
        """A call on these arguments, by a module of its own that holds them."""
        given = dict(zip(self.shape["order"], args, strict=False)) | kwargs
        if self.ready is None:
            self.prepare([given[name] for name in self.shape["init"]])
        module, self.ready = self.ready, None
        assert module is not None
        state = {of: given[name] for name, of in self.shape["state"].items()}
        for name, own in names_for(module, state).items():
            put(module, own, state[name])
        inputs = [given[name] for name in self.shape["inputs"]]

        def call() -> Any:
            with torch.no_grad():
                return module(*inputs)

        return call
