"""The user's own operators: a Python file with a `Task`, or with a plain function and an `inputs()` beside it.

`inputs()` returns the arguments of one call by name, or a list of such dicts; it is called with torch's generator seeded,
so `torch.randn` gives other values for each seed. `timing()`, where the file has it, returns the sizes to time likewise;
without it the inputs themselves are timed.
"""

import hashlib
import importlib.util
import inspect
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from benchmark import oracle
from benchmark.checkers import close
from benchmark.draw import Draw, move
from benchmark.errors import UserError, unknown
from benchmark.task import Arguments, Case, Contract, Task

OTHERS = {torch.float32: torch.bfloat16, torch.bfloat16: torch.float32, torch.float16: torch.float32}
"""The second dtype in which float inputs are tried."""


def own_task(task_id: str, path: str, function: str) -> Task:
    """The task `path:function`; its id is `task_id` as it was typed."""
    module = _module(path)
    declared = [value for name, value in vars(module).items() if isinstance(value, Task) and function in (name, value.name)]
    if declared:
        return replace(declared[0], id=task_id, entry=declared[0].entry_name)
    reference = _function(module, path, function)
    inputs = _maker(module, path, "inputs", reference)
    timing = _maker(module, path, "timing", reference) if hasattr(module, "timing") else inputs
    cases = (*_cases("inputs", inputs), *_cases("others", inputs, held_out=True))
    contract = Contract(close(), mutates=_written(path, reference, inputs(0)[0]))
    return Task(task_id, "Own", path, reference, cases, _timed(timing), contract, entry=function)


def _written(path: str, reference: Callable[..., Any], arguments: Arguments) -> tuple[str, ...]:
    """The arguments that the operator writes, found by calling it once."""
    before = oracle.copied(arguments)
    try:
        returned = oracle.flattened(reference(**arguments))
    except Exception as error:
        raise UserError(f"{reference.__name__} in {path} fails on its own inputs(): {type(error).__name__}: {error}.") from error
    tensors = [name for name, value in before.items() if isinstance(value, torch.Tensor)]
    written = tuple(name for name in tensors if not torch.equal(before[name].nan_to_num(), arguments[name].nan_to_num()))
    if not returned and not written:
        raise UserError(f"{reference.__name__} in {path} returns no tensor and writes no argument, so there is nothing to check.")
    return written


def _module(path: str) -> ModuleType:
    file = Path(path)
    if not file.is_file():
        raise UserError(f"There is no file {path!r}: name your own operator as ./file.py:function, relative to {Path.cwd()}.")
    name = f"own_{file.stem}_{hashlib.sha256(file.read_bytes()).hexdigest()[:8]}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            raise UserError(f"{path} cannot be imported: {type(error).__name__}: {error}; correct the file and start again.") from error
        sys.modules[name] = module
    return sys.modules[name]


def _function(module: ModuleType, path: str, name: str) -> Callable[..., Any]:
    functions = {key: value for key, value in vars(module).items() if inspect.isfunction(value) and value.__module__ == module.__name__}
    if name not in functions:
        raise unknown(f"function in {path}", name, set(functions) - {"inputs", "timing"})
    return functions[name]


Maker = Callable[[int], list[Arguments]]
"""All argument dicts for a seed."""


def _maker(module: ModuleType, path: str, name: str, reference: Callable[..., Any]) -> Maker:
    if not inspect.isfunction(getattr(module, name, None)):
        raise UserError(
            f"{path} has no {name}() function: add one that returns the arguments of {reference.__name__} by name, or a list of such dicts."
        )

    def make(seed: int) -> list[Arguments]:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            made = getattr(module, name)()
        return [made] if isinstance(made, dict) else made

    _check(make(0), path, name, reference)
    return make


def _check(made: Any, path: str, name: str, reference: Callable[..., Any]) -> None:
    if not isinstance(made, list) or not made or not all(isinstance(item, dict) for item in made):
        raise UserError(f"{name}() in {path} must return a dict of arguments or a list of such dicts, not {type(made).__name__}.")
    for item in made:
        try:
            inspect.signature(reference).bind(**item)
        except TypeError as error:
            raise UserError(f"{name}() in {path} does not fit {reference.__name__}{inspect.signature(reference)}: {error}.") from error


def _cases(prefix: str, make: Maker, held_out: bool = False) -> list[Case]:
    """Each input set in its own dtypes, and once more with its floats in another one."""
    cases = []
    for index, arguments in enumerate(make(0)):
        cases.append(Case(f"{prefix}-{index}", _nth(make, index), held_out))
        if other := _other_dtype(arguments):
            cases.append(Case(f"{prefix}-{index}-{str(other).removeprefix('torch.')}", _nth(make, index, other), held_out))
    return cases


def _timed(make: Maker) -> tuple[Case, ...]:
    return tuple(Case(f"time-{index}", _nth(make, index)) for index in range(len(make(0))))


def _nth(make: Maker, index: int, dtype: torch.dtype | None = None) -> Callable[[Draw], Arguments]:
    def arguments(draw: Draw) -> Arguments:
        chosen = make(draw.seed)[index]
        return move(_cast(chosen, dtype) if dtype else chosen, draw.device)

    return arguments


def _other_dtype(arguments: Arguments) -> torch.dtype | None:
    dtypes = {value.dtype for value in arguments.values() if isinstance(value, torch.Tensor) and value.dtype in OTHERS}
    return OTHERS[dtypes.pop()] if len(dtypes) == 1 else None


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, dict):
        return {name: _cast(item, dtype) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_cast(item, dtype) for item in value)
    return value.to(dtype) if isinstance(value, torch.Tensor) and value.is_floating_point() else value
