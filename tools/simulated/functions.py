"""What a kernel's source names: the device functions that it calls, each read once."""

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from typing import Any

from triton.runtime.jit import JITFunction


def functions(jit: JITFunction) -> Iterator[Any]:
    """The kernel's function and those of all device functions that it names, themselves or by others."""
    seen, left = set(), [jit.fn]
    while left:
        fn = left.pop()
        if fn in seen:
            continue
        seen.add(fn)
        yield fn
        scope = fn.__globals__ | inspect.getclosurevars(fn).nonlocals
        names = {node.id for node in ast.walk(tree(fn)) if isinstance(node, ast.Name)}
        left += [callee.fn for name in names if isinstance(callee := scope.get(name), JITFunction)]


@cache
def tree(fn: Any) -> ast.AST:
    return JITFunction(fn).parse()


def calls(fn: Any) -> Iterator[tuple[str, ast.Call]]:
    """Calls in the function itself, by the last part of what is called."""
    for node in ast.walk(tree(fn)):
        if isinstance(node, ast.Call):
            yield node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", ""), node
