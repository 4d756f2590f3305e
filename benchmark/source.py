"""A function's source together with the helpers it calls: what a digest and a prompt need to be complete."""

import dis
import hashlib
import inspect
import textwrap
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

JUDGES = ("checkers", "measured.py", "oracle.py", "precision.py")
"""What decides whether an output is right, beside the task itself."""


def complete(function: Callable[..., Any]) -> str:
    """Source of `function`, preceded by the functions of its module, and of our suites, that it calls."""
    found: list[Any] = []
    _collect(function, found)
    return "\n\n\n".join(textwrap.dedent(inspect.getsource(part)).rstrip() for part in reversed(found))


def held(function: Callable[..., Any]) -> str:
    """The plain values that a function has closed over: the same text with others is another function."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return "".join(f"{name}={cell.cell_contents!r}\n" for name, cell in cells if _plain(cell.cell_contents))


def _plain(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(_plain(item) for item in value)
    return value is None or isinstance(value, bool | int | float | str)


def _collect(function: Any, found: list[Any]) -> None:
    found.append(function)
    for name in sorted(_names(function.__code__)):
        helper = function.__globals__.get(name)
        if inspect.isfunction(helper) and (helper.__module__ == function.__module__ or _suites(helper)) and helper not in found:
            _collect(helper, found)


def _suites(function: Any) -> bool:
    return bool(function.__module__.startswith("benchmark.suites."))


def _names(code: CodeType) -> set[str]:
    """Names that are looked up in the module: not attributes, `min` of `torch.min`."""
    nested = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    own = {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}
    return own.union(*(_names(inner) for inner in nested))


@cache
def judges() -> str:
    """Digest of the checkers and the oracle."""
    here = Path(__file__).parent
    files = [path for name in JUDGES for path in ([here / name] if name.endswith(".py") else sorted((here / name).glob("*.py")))]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()
