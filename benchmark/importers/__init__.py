"""Tasks read from files that are not ours, at run time and as text: nothing of them runs here, and nothing of them is copied.

| id | format |
|---|---|
| `./my_ops.py:function` | a Python function, its inputs beside it (`own`) |
| `kernelbench:CHECKOUT/level1/19_ReLU` | `Model`, `get_inputs`, `get_init_inputs` (`kernelbench`) |
| `kernelbenchx:CHECKOUT/Math/log1p` | a function, a line of 146 `#`, tests that call it (`recorded`) |
| `tritonbench_t:CHECKOUT/add`, `tritonbench_g:CHECKOUT/add_value` | the same, the latter with a Triton kernel as the reference |

The path of a task may also be that of its file. `read` gives an `Origin`; what only running the file can tell is found out by a
reference sandbox (`tools.tasks`).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.importers import kernelbench, own, recorded
from benchmark.importers.files import Listed
from benchmark.origin import Origin

FORMATS = ("kernelbench", *recorded.LAYOUTS)
"""Formats that a checkout is full of: each is a suite."""


def is_foreign(task_id: str) -> bool:
    return ":" in task_id


def read(task_id: str, args: Mapping[str, Any] | None = None) -> Origin:
    """The files and options of a foreign task. Raises `UserError` for everything that its text shows to be wrong."""
    head, _, rest = task_id.partition(":")
    args = dict(args or {})
    if head == "kernelbench":
        return kernelbench.read(rest, args)
    if head in recorded.LAYOUTS:
        return recorded.read(head, rest, args)
    path, _, function = task_id.rpartition(":")
    if not path.endswith(".py"):
        raise UserError(f"No task {task_id!r}: before the colon stands a Python file, as in ./my_ops.py:function, or one of {_listed()}.")
    return own.read(path, function, args)


def listed(suite: str, checkout: Path) -> list[Listed]:
    """The tasks of a checkout, in the order of their names."""
    found = kernelbench.listed(checkout) if suite == "kernelbench" else recorded.listed(suite, checkout)
    if not found:
        raise UserError(f"There are no tasks of {suite} in {str(checkout)!r}: give the folder of a checkout as benchmark.path.")
    return found


def _listed() -> str:
    return ", ".join(f"{name}:CHECKOUT/..." for name in FORMATS)
