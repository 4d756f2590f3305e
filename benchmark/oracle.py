"""The truth for a case: the reference in fp64, and an honest computation in the case's own dtypes."""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from benchmark import measured
from benchmark.task import Arguments, Contract, Oracle, Task


def compute(task: Task, arguments: Arguments) -> Oracle:
    """The oracle for `arguments`, which are left as they are. Runs where the arguments lie."""
    multiply_as(task.contract)
    exact, own = upcast(arguments) if task.exact else copied(arguments), copied(arguments)
    # Before the reference runs: it may write its arguments, and a second fp64 copy of large ones would not fit.
    magnitude = tuple(flattened(call(task.magnitude, exact))) if task.magnitude else ()
    expected = outputs(task, call(task.truth or task.reference, exact), exact)
    expected = expected if task.exact else upcast(expected)
    del exact
    if task.measured:
        magnitude = measured.magnitude(partial(_beside, task, arguments), expected)
    result = call(task.honest or task.reference, own)
    honest = outputs(task, result, own)
    return Oracle(expected, honest, magnitude, isinstance(result, list | tuple | dict))


def _beside(task: Task, arguments: Arguments, nudge: measured.Nudge) -> tuple[torch.Tensor, ...]:
    """The reference's outputs in fp64 for other arguments: a nudged copy."""
    other = upcast(arguments)
    nudge(other)
    return outputs(task, call(task.reference, other), other)


def multiply_as(contract: Contract) -> None:
    """From here on this process multiplies fp32 as fp32, unless the contract lets TF32 count. Torch's default for convolutions is TF32."""
    torch.set_float32_matmul_precision("high" if contract.tf32 else "highest")
    torch.backends.cudnn.allow_tf32 = contract.tf32


def call(function: Callable[..., Any], arguments: Arguments) -> Any:
    """What `function` returns for arguments by name; those for `*name` are a sequence."""
    for name, parameter in inspect.signature(function).parameters.items() if inspect.isfunction(function) else ():
        if parameter.kind is parameter.VAR_POSITIONAL and name in arguments:
            return function(*arguments[name], **{other: value for other, value in arguments.items() if other != name})
    return function(**arguments)


def outputs(task: Task, result: Any, arguments: Arguments) -> tuple[torch.Tensor, ...]:
    """What is compared: the returned tensors in order, then the arguments that the operator writes.

    A returned argument counts once, so that an in-place operator may return it or nothing. Raises TypeError for
    a return value that holds anything but tensors.
    """
    written = [arguments[name] for name in task.contract.written(arguments)]
    returned = [tensor for tensor in flattened(result) if not any(tensor is argument for argument in written)]
    return (*returned, *written)


def flattened(result: Any) -> list[torch.Tensor]:
    if isinstance(result, torch.Tensor):
        return [result]
    if result is None:
        return []
    if isinstance(result, list | tuple):
        return [tensor for item in result for tensor in flattened(item)]
    if isinstance(result, dict):
        return flattened(list(result.values()))
    raise TypeError(f"returned {type(result).__name__} where a tensor is expected")


def identical(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Equal in shape, dtype and every element, NaN equal to NaN."""
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    # Only NaN differs from itself.
    return bool(((left == right) | ((left != left) & (right != right))).all())


def upcast(value: Any) -> Any:
    """A copy in which floats are fp64 (complex128), tensors and dtypes alike; integers stay integers."""
    if isinstance(value, dict):
        return {name: upcast(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(upcast(item) for item in value)
    if isinstance(value, torch.dtype):
        return wide(value)
    return value.to(wide(value.dtype), copy=True) if isinstance(value, torch.Tensor) else value


def copied(value: Any) -> Any:
    """A copy that shares no memory with `value`."""
    if isinstance(value, dict):
        return {name: copied(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(copied(item) for item in value)
    return value.clone() if isinstance(value, torch.Tensor) else value


def wide(dtype: torch.dtype) -> torch.dtype:
    if dtype.is_floating_point:
        return torch.float64
    return torch.complex128 if dtype.is_complex else dtype
