"""References re-expressed without their main operator, in the task's dtype: what an honest kernel may do, task by task.

A module of this package has `ALTERNATIVES: dict[str, Alternative]`, by the task's name in kernelbench_x, or by its id elsewhere.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode


@dataclass(frozen=True)
class Alternative:
    """Called like the reference; `without` names what it must not run, as `aten::gelu` (in place and `out=` forms too)."""

    function: Callable[..., Any]
    without: tuple[str, ...]


def load() -> dict[str, Alternative]:
    """All alternatives by task id."""
    found: dict[str, Alternative] = {}
    for module in sorted(module.name for module in iter_modules(__path__)):
        for name, alternative in import_module(f"{__name__}.{module}").ALTERNATIVES.items():
            task_id = name if "/" in name else f"kernelbench_x/{name}"
            assert task_id not in found, f"{task_id} has two alternatives"
            found[task_id] = alternative
    return found


class Record(TorchDispatchMode):
    """Which operators ran while it was on. Compound ones (aten::matmul) are seen as what they consist of (aten::mm)."""

    def __init__(self) -> None:
        super().__init__()
        self.ran: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.ran.add(func._schema.name.removesuffix("_"))
        return func(*args, **(kwargs or {}))
