"""Whether a kernel can order its programs: what its source does with the old values that atomics return."""

import ast
import inspect
from functools import cache
from typing import Any

from triton.runtime.jit import JITFunction


def uses_old_values(jit: JITFunction) -> bool:
    """Whether the kernel, or a device function that it names, does anything with the result of an atomic."""
    return _uses(jit.fn, frozenset())


def _uses(fn: Any, above: frozenset[Any]) -> bool:
    used, names = _read(fn)
    scope = fn.__globals__ | inspect.getclosurevars(fn).nonlocals
    below = {callee.fn for name in names if isinstance(callee := scope.get(name), JITFunction)} - above - {fn}
    return used or any(_uses(callee, above | {fn}) for callee in below)


@cache
def _read(fn: Any) -> tuple[bool, frozenset[str]]:
    """Whether an atomic's result is used in the function itself, and all names in it."""
    tree = JITFunction(fn).parse()
    dropped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and id(node) not in dropped]
    used = any(_name(call.func).startswith("atomic_") for call in calls)
    return used, frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
