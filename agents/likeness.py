"""Whether two candidates are the same program but for comments, layout and the names of their own."""

import ast
import hashlib

from agents.syntax import parse


def fingerprint(source: str) -> str:
    """Digest of a module without comments, docstrings and layout, and with its own names numbered in the order of appearance.

    Names that it does not define (`torch`, `tl`, builtins), attributes and keywords of calls stay. What does not parse is told by its text.
    """
    try:
        tree = parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return digest(source)
    own = defined(tree)
    numbers: dict[str, str] = {}
    for node in ast.walk(tree):
        bare(node)
        for field in ("id", "name", "arg"):
            name = getattr(node, field, None)
            if isinstance(name, str) and name in own:
                setattr(node, field, numbers.setdefault(name, f"_{len(numbers)}"))
    return digest(ast.dump(tree))


def defined(tree: ast.AST) -> set[str]:
    """Functions, classes, parameters and variables of a module."""
    nodes = list(ast.walk(tree))
    assigned = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    named = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    return assigned | named | {node.arg for node in nodes if isinstance(node, ast.arg)}


def bare(node: ast.AST) -> None:
    """Takes a docstring, and other strings that are statements, out of a body."""
    body = getattr(node, "body", None)
    if isinstance(body, list):
        node.body = [part for part in body if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))]  # type: ignore[attr-defined]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
