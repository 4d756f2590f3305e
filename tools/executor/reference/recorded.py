"""A function and tests that call it by name (`benchmark.importers.recorded` has the format): the calls become the cases."""

import functools
import inspect
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from benchmark.errors import UserError
from benchmark.importers.recorded import SEPARATOR
from benchmark.task import Arguments
from tools.executor.aten import ALLOCATES
from tools.executor.channel import Message
from tools.executor.reference.subject import Made, Plan, unimportable
from tools.executor.reference.values import cast, elements, permuted, said, same, seeded, strange

MOST = 24
"""Calls of a test that become cases."""
TIMED = 3


class Recorded:
    def __init__(self, folder: Path, request: Message, place: Callable[[Arguments], Arguments]):
        self.named, self.entry, self.place = request["named"], request["entry"], place
        path = folder / request["path"]
        implementation, *_, tests = path.read_text(encoding="utf-8").split(SEPARATOR)
        sys.path += [str(folder / name) for name in request["search"]]
        # Lines keep their numbers, for tracebacks and for Triton, which reads a kernel's source from its file.
        skipped = path.read_text(encoding="utf-8").count("\n") - tests.count("\n")
        self.tests = compile("\n" * skipped + tests, str(path), "exec")
        self.module = types.ModuleType("task_file")
        self.module.__file__ = str(path)
        sys.modules["task_file"] = self.module
        try:
            with seeded(0):
                exec(compile(implementation, str(path), "exec"), self.module.__dict__)
            self.function = self._callable()
        except UserError:
            raise
        except Exception as error:
            raise unimportable(request, error) from error
        self.signature = inspect.signature(self.function)

    def _callable(self) -> Callable[..., Any]:
        found: Any = getattr(self.module, self.entry)
        if inspect.isfunction(found):
            return found
        # As `autograd.Function.apply` bound to a name is, and the like.
        inner = getattr(getattr(found, "__self__", None), "forward", None) if inspect.ismethod(found) else None
        if inner is None:
            raise UserError(f"{self.entry} in {self.named} is no function: choose another as task_args.entry.")
        parameters = list(inspect.signature(inner).parameters.values())[1:]

        def applied(*args: Any, **kwargs: Any) -> Any:
            return found(*applied.__signature__.bind(*args, **kwargs).arguments.values())  # type: ignore[attr-defined]

        applied.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        applied.__name__, applied.__doc__ = self.entry, inner.__doc__
        return applied

    def plan(self) -> Plan:
        calls, others = self._calls(0), self._calls(1)
        if not calls:
            raise UserError(
                f"The tests of {self.named} make no call of {self.entry} that can be tried: arguments are tensors, numbers, strings."
            )
        if not any(elements(call) for call in calls):
            raise UserError(f"The tests of {self.named} call {self.entry} without tensors, so that there is nothing to give a kernel.")
        shown = [Made(f"call-{i + 1}", {"call": i}) for i in range(len(calls))]
        varied = [i for i, (one, other) in enumerate(zip(calls, others, strict=False)) if not same(one, other)]
        # Constants of a test could be learnt by heart.
        hidden = [self._other(i, i in varied) for i in range(len(calls)) if i in varied or _permutable(calls[i])]
        largest = sorted(varied or range(len(calls)), key=lambda i: elements(calls[i]))[-TIMED:]
        timing = [Made(f"time-{i + 1}", {"call": i}) for i in largest if elements(calls[i])]
        return Plan([*shown, *hidden], timing, [*shown, *(made for made in hidden if "permuted" in made.recipe)], varied=False)

    def _other(self, call: int, varied: bool) -> Made:
        return Made(f"other-{call + 1}", {"call": call} | ({} if varied else {"permuted": True}), held_out=True)

    def inputs(self, recipe: dict[str, Any], seed: int) -> Arguments:
        calls = self._calls(seed)
        if recipe["call"] >= len(calls):
            raise UserError(f"The tests of {self.named} make fewer calls of {self.entry} with one seed than with another.")
        call = calls[recipe["call"]]
        return permuted(call, seed, _permutable(call)) if recipe.get("permuted") else call

    def layout(self, recipe: dict[str, Any]) -> Arguments:
        return self.inputs(recipe, 0)

    def _calls(self, seed: int) -> list[Arguments]:
        """The arguments of every call that the tests make, from a seed; of calls that raise nothing, and only where all can be sent."""
        found: list[Arguments] = []

        @functools.wraps(self.function)
        def recorder(*args: Any, **kwargs: Any) -> Any:
            given = cast(dict(self.signature.bind(*args, **kwargs).arguments))
            arguments = {name: _copied(value) for name, value in given.items()}
            result = self.function(*args, **kwargs)
            if len(found) < MOST and not strange(list(arguments.values())) and "kwargs" not in arguments:
                found.append(arguments)
            return result

        space = dict(self.module.__dict__) | {self.entry: recorder, "__name__": "__main__"}
        try:
            with seeded(seed), Blank():
                exec(self.tests, space)
        except Exception as error:
            raise UserError(f"The tests of {self.named} fail on its own function: {said(error)}.") from error
        return found


class Blank(TorchDispatchMode):
    """Fresh memory holds zeros: what nobody has written, as an `out` has it, is the same each time."""

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if func.overloadpacket.__name__ in ALLOCATES and isinstance(made, torch.Tensor):
            made.zero_()
        return made


def _permutable(arguments: Arguments) -> list[str]:
    """Tensors whose values may change places: those of floats, or of whole numbers where there are no floats."""
    many = {n: v for n, v in arguments.items() if isinstance(v, torch.Tensor) and v.numel() > 1}
    return [name for name, value in many.items() if value.is_floating_point()] or list(many)


def _copied(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_copied(item) for item in value)
    return value.clone() if isinstance(value, torch.Tensor) else value
