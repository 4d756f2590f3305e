"""Whether a kernel can order its programs: what its source does with the old values that atomics return."""

import ast
from functools import cache
from typing import Any

from triton.runtime.jit import JITFunction

from tools.simulated.functions import calls, functions, tree


def uses_old_values(jit: JITFunction) -> bool:
    """Whether the kernel, or a device function that it names, does anything with the result of an atomic."""
    return any(_uses(fn) for fn in functions(jit))


@cache
def _uses(fn: Any) -> bool:
    dropped = {id(node.value) for node in ast.walk(tree(fn)) if isinstance(node, ast.Expr)}
    return any(name.startswith("atomic_") for name, call in calls(fn) if id(call) not in dropped)
