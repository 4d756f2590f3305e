"""Which calls a kernel answers, and registration with torch. Every exported package has a copy of this module, which needs torch alone."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor

Arguments = dict[str, Any]
"""Of one call, by parameter, defaults filled in."""


def tensors(value: Any) -> Iterator[Tensor]:
    """The tensors in an argument, in order."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors(item)


def kind(dtype: torch.dtype) -> str:
    if dtype.is_complex:
        return "complex"
    return "floating" if dtype.is_floating_point else "boolean" if dtype == torch.bool else "integer"


def token(value: Any, number: bool) -> Any:
    """What of an argument must be as it was tried: kind and rank of a tensor, any option. A `number` is looked at by its range alone.
    JSON-like."""
    if isinstance(value, Tensor):
        return f"{kind(value.dtype)} {value.dim()}d"
    if isinstance(value, list | tuple):
        return [token(item, number) for item in value]
    if number and isinstance(value, int | float) and not isinstance(value, bool):
        return "number"
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def form(arguments: Arguments, row: Mapping[str, Any]) -> Arguments:
    """The tokens of a call. An argument that ever repeats the last sizes of another is no option: it must do so again."""
    follows = row["follows"]
    return {name: "sizes" if name in follows else token(value, name in row["numbers"]) for name, value in arguments.items()}


def sizes(arguments: Arguments) -> list[int]:
    """Of all dimensions of all tensors."""
    return [size for value in arguments.values() for tensor in tensors(value) for size in tensor.shape]


def dtypes(arguments: Arguments) -> dict[str, list[str]]:
    found = {name: [str(tensor.dtype).removeprefix("torch.") for tensor in tensors(value)] for name, value in arguments.items()}
    return {name: names for name, names in found.items() if names}


def trailing(value: Any, shape: torch.Size) -> bool:
    """Whether whole numbers are the last sizes of a tensor."""
    return isinstance(value, list | tuple) and 0 < len(value) <= len(shape) and tuple(value) == tuple(shape[-len(value) :])


class Domain:
    """The calls that were tried, from a row's `domain` (`experiments.export.domain` writes it, and says what each part means)."""

    def __init__(self, row: Mapping[str, Any]):
        self.row = row

    def outside(self, arguments: Arguments) -> str:
        """Why a call is none that was tried; empty where it is one."""
        every = [tensor for value in arguments.values() for tensor in tensors(value)]
        if len({tensor.device for tensor in every}) > 1 or any(tensor.device.type != self.row["device"] for tensor in every):
            return f"tensors on {', '.join(sorted({str(tensor.device) for tensor in every}))}, tried on {self.row['device']}"
        if dtypes(arguments) not in self.row["dtypes"]:
            return f"dtypes {dtypes(arguments)} were not tried together"
        alike = next((each for each in self.row["forms"] if each["form"] == form(arguments, self.row)), None)
        if alike is None:
            return f"ranks and options {form(arguments, self.row)} were not tried together"
        found = sizes(arguments)
        if any(len({found[place] for place in places}) > 1 for places in alike["equal"]):
            return "sizes differ that were equal in all that was tried"
        return next((reason for name, value in arguments.items() if (reason := self._beyond(name, value, arguments))), "")

    def _beyond(self, name: str, value: Any, arguments: Arguments) -> str:
        """What of one argument is larger, or otherwise laid out, than it ever was."""
        if name in self.row["follows"] and not trailing(value, arguments[self.row["follows"][name]].shape):
            return f"{name} is not the last sizes of {self.row['follows'][name]}"
        if name in self.row["numbers"] and isinstance(value, int | float) and not isinstance(value, bool):
            low, high = self.row["numbers"][name]
            return "" if low <= value <= high else f"{name}={value} is not between {low} and {high}"
        for tensor in tensors(value):
            tried = self.row["tensors"][name]
            if tensor.numel() > tried["elements"] or max(tensor.shape, default=0) > tried["longest"]:
                return (
                    f"{name} of {list(tensor.shape)} is larger than {tried['elements']} elements, or {tried['longest']} along a dimension"
                )
            if tensor.numel() < tried["least"]:
                return f"{name} is empty"
            if not tensor.is_contiguous() and not tried["strided"]:
                return f"{name} is not contiguous"
        return ""


class Op:
    """An operator: the kernel for a call inside its domain, else the reference."""

    def __init__(self, name: str, row: Mapping[str, Any], reference: Callable[..., Any], load: Callable[[], Callable[..., Any]]):
        """`row` is of the package's table; `load` imports the kernel, when it is first needed."""
        self.name, self.row, self.reference, self.load = name, row, reference, load
        self.domain = Domain(row["domain"])
        self.signature = inspect.signature(reference)
        self.kernel: Callable[..., Any] | None = None

    def arguments(self, *args: Any, **kwargs: Any) -> Arguments:
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return dict(bound.arguments)

    def outside(self, arguments: Arguments) -> str:
        """Why the reference answers a call; empty where the kernel does."""
        if differentiated(*arguments.values()):
            return "a gradient is asked for, and the kernel has none"
        return self.domain.outside(arguments)

    def run(self, arguments: Arguments) -> Any:
        if self.domain.outside(arguments):
            return self.reference(**arguments)
        self.kernel = self.kernel or self.load()
        positional, keywords = self._bound(arguments)
        with on_device_of(arguments):
            return self.kernel(*positional, **keywords)

    def _bound(self, arguments: Arguments) -> tuple[list[Any], Arguments]:
        """As the checks call a kernel: positions in order, and nothing beyond the last that is not at its default."""
        rows = self.row["parameters"]
        given = [not at_default(arguments[row["name"]], row) for row in rows]
        positional = [row["name"] for row in rows if not row["keyword_only"]]
        while positional and not given[len(positional) - 1]:
            positional.pop()
        keywords = [row["name"] for row, wanted in zip(rows, given, strict=True) if row["keyword_only"] and wanted]
        return [arguments[name] for name in positional], {name: arguments[name] for name in keywords}

    def register(self, namespace: str) -> None:
        """Registers the row's schema as an operator of torch, if it has one. Parameters that it leaves out are at their defaults.

        Results are contiguous and share no memory with an argument, as the operator of torch says it does.
        """
        if self.row["schema"] is None:
            return

        def run(*args: Any, **kwargs: Any) -> Any:
            arguments = self.arguments(**dict(zip(self.row["registered"], args, strict=False)), **kwargs)
            return mapped(self.run(arguments), lambda result: apart(result, arguments))

        def fake(*args: Any, **kwargs: Any) -> Any:
            arguments = self.arguments(**dict(zip(self.row["registered"], args, strict=False)), **kwargs)
            return mapped(self.reference(**arguments), lambda r: torch.empty(r.shape, dtype=r.dtype, device=r.device))

        tags = [torch.Tag.nondeterministic_seeded] if self.row["random"] else []
        written = [name for name in self.row["mutates"] if name in self.row["registered"]]
        named = f"{namespace}::{self.name}"
        operator = torch.library.custom_op(named, run, mutates_args=written, schema=self.row["schema"], tags=tags)
        operator.register_fake(fake)


def differentiated(*values: Any) -> bool:
    """Whether torch is to remember the call for gradients."""
    return torch.is_grad_enabled() and any(tensor.requires_grad for value in values for tensor in tensors(value))


def at_default(value: Any, row: Mapping[str, Any]) -> bool:
    """Whether an argument is its parameter's default, which the row has as text."""
    return not isinstance(value, Tensor) and "default" in row and repr(value) == row["default"]


def mapped(result: Any, change: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(result, list | tuple):
        return type(result)(change(item) for item in result)
    return change(result)


def apart(result: Tensor, arguments: Arguments) -> Tensor:
    """The result, contiguous; a copy of it where it lies in an argument's memory."""
    given = {tensor.untyped_storage().data_ptr() for value in arguments.values() for tensor in tensors(value)}
    return result.contiguous().clone() if result.untyped_storage().data_ptr() in given else result.contiguous()


def on_device_of(arguments: Arguments) -> AbstractContextManager[Any]:
    """A launch goes to the current device: the arguments' becomes it meanwhile."""
    first = next(tensor for value in arguments.values() for tensor in tensors(value))
    if first.device.type == "cpu":
        return nullcontext()
    return torch.get_device_module(first.device).device(first.device)
