"""The user's own operators: a Python file with a `Task`, or with a plain function and an `inputs()` beside it.

`inputs()` returns the arguments of one call by name, or a list of such dicts; it is called with the generators of torch,
numpy and Python seeded, so that what it draws depends on the seed and on nothing else. `timing()`, where the file has it,
returns the sizes to time likewise; without it the inputs themselves are timed.
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
from benchmark.inputs import Sets, cast, elements, follow_seed, said, same, seeded, sets
from benchmark.task import Arguments, Case, Contract, Task

OTHERS = {torch.float32: torch.bfloat16, torch.bfloat16: torch.float32, torch.float16: torch.float32}
"""The second dtype in which float inputs are tried."""
SMALL = 1 << 20
"""Elements of an input set up to which it is tried in the second dtype too: on one core that is slow."""


def own_task(task_id: str, path: str, function: str) -> Task:
    """The task `path:function`; its id is `task_id` as it was typed."""
    module = _module(path)
    declared = [value for name, value in vars(module).items() if isinstance(value, Task) and function in (name, value.name)]
    if declared:
        return replace(declared[0], id=task_id, entry=declared[0].entry_name)
    reference = _function(module, path, function)
    inputs = sets(module, path, "inputs", reference)
    timing = sets(module, path, "timing", reference) if hasattr(module, "timing") else inputs
    contract = Contract(close(), mutates=_written(path, reference, inputs))
    follow_seed(inputs, path, "inputs")
    cases = (*_cases("inputs", inputs, reference), *_cases("others", inputs, reference, held_out=True))
    return Task(task_id, "Own", path, reference, cases, _timed(timing), contract, entry=function)


def _written(path: str, reference: Callable[..., Any], inputs: Sets) -> tuple[str, ...]:
    """The arguments that the operator writes, found by calling it on its smallest inputs. Refuses what has no one answer."""
    given = min(inputs(0), key=elements)
    before, again, wide = oracle.copied(given), oracle.copied(given), oracle.upcast(given)
    name = f"{reference.__name__} in {path}"
    try:
        returned, repeated = (oracle.flattened(reference(**arguments)) for arguments in (given, again))
    except Exception as error:
        raise UserError(f"{name} fails on its own inputs(): {said(error)}.") from error
    try:
        reference(**wide)
    except Exception as error:
        raise UserError(f"{name} fails in float64, in which the truth is computed: {said(error)}; let it take any float dtype.") from error
    if not same(returned, repeated):
        raise UserError(f"{name} gives two answers for the same inputs, so that none is right: pass what is random as an argument.")
    tensors = [key for key, value in before.items() if isinstance(value, torch.Tensor)]
    written = tuple(key for key in tensors if not same(before[key], given[key]))
    if not returned and not written:
        raise UserError(f"{name} returns no tensor and writes no argument, so there is nothing to check.")
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
        if (folder := str(file.resolve().parent)) not in sys.path:
            # It may import what lies beside it, as a script may.
            sys.path.append(folder)
        try:
            with seeded(0):
                spec.loader.exec_module(module)
        except Exception as error:
            raise UserError(f"{path} cannot be imported: {said(error)}; correct the file and start again.") from error
        sys.modules[name] = module
    return sys.modules[name]


def _function(module: ModuleType, path: str, name: str) -> Callable[..., Any]:
    functions = {key: value for key, value in vars(module).items() if inspect.isfunction(value) and value.__module__ == module.__name__}
    if name not in functions:
        raise unknown(f"function in {path}", name, set(functions) - {"inputs", "timing"})
    return functions[name]


def _cases(prefix: str, inputs: Sets, reference: Callable[..., Any], held_out: bool = False) -> list[Case]:
    """Each input set in its own dtypes, and if it is small and the operator takes it, with its floats in another one."""
    cases = []
    for index, arguments in enumerate(inputs(0)):
        cases.append(Case(f"{prefix}-{index}", _nth(inputs, index), held_out))
        other = _other_dtype(arguments)
        if other and elements(arguments) <= SMALL and _takes(reference, cast(arguments, other)):
            cases.append(Case(f"{prefix}-{index}-{str(other).removeprefix('torch.')}", _nth(inputs, index, other), held_out))
    return cases


def _takes(reference: Callable[..., Any], arguments: Arguments) -> bool:
    try:
        reference(**oracle.copied(arguments))
    except Exception:
        return False
    return True


def _timed(timing: Sets) -> tuple[Case, ...]:
    return tuple(Case(f"time-{index}", _nth(timing, index)) for index in range(len(timing(0))))


def _nth(inputs: Sets, index: int, dtype: torch.dtype | None = None) -> Callable[[Draw], Arguments]:
    return lambda draw: move(cast(inputs(draw.seed)[index], dtype), draw.device)


def _other_dtype(arguments: Arguments) -> torch.dtype | None:
    dtypes = {value.dtype for value in arguments.values() if isinstance(value, torch.Tensor) and value.dtype in OTHERS}
    return OTHERS[dtypes.pop()] if len(dtypes) == 1 else None
