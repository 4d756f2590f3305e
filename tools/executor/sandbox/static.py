"""Parse, and facts about the source for reports. They decide nothing: behaviour does."""

import ast
from typing import Any

MOST = 64
"""Names of one kind that are kept."""


def parse(source: bytes | str) -> ast.Module | dict[str, Any]:
    """The tree, or a `syntax_error` with its line."""
    try:
        return ast.parse(source)
    except SyntaxError as error:
        line = error.lineno or 0
        text = (error.text or "").strip()[:200]
        message = f"line {line}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        line, text, message = 0, "", f"{type(error).__name__}: {error}"[:200]
    return {"kind": "syntax_error", "message": message, "detail": {"line": line, "text": text}}


def facts(tree: ast.Module) -> dict[str, list[str]]:
    """Imported modules, functions under `triton.jit`, functions defined, and calls below `torch`."""
    found: dict[str, list[str]] = {"imports": [], "kernels": [], "functions": [], "torch_calls": []}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found["imports"] += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found["imports"].append(node.module or ".")
        elif isinstance(node, ast.FunctionDef):
            jitted = any(_dotted(d).split(".")[-1] == "jit" for d in node.decorator_list)
            found["kernels" if jitted else "functions"].append(node.name)
        elif isinstance(node, ast.Call) and _dotted(node.func).split(".")[0] in ("torch", "F"):
            found["torch_calls"].append(_dotted(node.func))
    return {name: sorted({value[:100] for value in values})[:MOST] for name, values in found.items()}


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        return _dotted(node.func)
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""
