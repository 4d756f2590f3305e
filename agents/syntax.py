"""Python source as a tree of scopes: calls, and the literals that a name may stand for."""

import ast
import threading
from collections.abc import Iterator

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Number = tuple[int, ast.Constant]
"""A whole number, and the literal that it is."""
PARSING = threading.Lock()
HOPS = 4
"""Names that are followed from an expression back to a literal."""


def parse(source: str | bytes) -> ast.Module:
    """`ast.parse`, by one thread at a time: the models' thread and the graphs' one at once make it fail up to Python 3.11.7 (CPython's
    issue 106905)."""
    with PARSING:
        return ast.parse(source)


def called(node: ast.expr) -> str:
    """The last name of what is called, or of a decorator."""
    target = node.func if isinstance(node, ast.Call) else node
    return target.attr if isinstance(target, ast.Attribute) else target.id if isinstance(target, ast.Name) else ""


def defaults(arguments: ast.arguments) -> dict[str, ast.expr]:
    positional = [*arguments.posonlyargs, *arguments.args]
    last = positional[len(positional) - len(arguments.defaults) :]
    own = {a.arg: value for a, value in zip(last, arguments.defaults, strict=True)}
    return own | {a.arg: value for a, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value is not None}


def calls(node: ast.AST, scopes: tuple[ast.AST, ...]) -> Iterator[tuple[ast.Call, tuple[ast.AST, ...]]]:
    """All calls below a node in the order of the text, each with the functions around it, the innermost first, and the module last."""
    if isinstance(node, ast.Call):
        yield node, scopes
    inner = (node, *scopes) if isinstance(node, Function | ast.Module) else scopes
    for child in ast.iter_child_nodes(node):
        yield from calls(child, inner)


def bindings(scope: ast.AST, name: str) -> list[ast.expr]:
    """What a scope assigns to a name, its parameters' defaults included."""
    found = [defaults(scope.args)[name]] if isinstance(scope, Function) and name in defaults(scope.args) else []
    for node in own(scope):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        found += [v for target in targets if value for v in assigned(target, value, name)]
    return found


def bound(name: str, scopes: tuple[ast.AST, ...]) -> list[ast.expr]:
    """What a name was given in the innermost scope that gives it anything."""
    return next(filter(None, (bindings(scope, name) for scope in scopes)), [])


def assigned(target: ast.expr, value: ast.expr, name: str) -> list[ast.expr]:
    """The part of an assigned value that goes to a name; of a choice between tuples, the part of each."""
    if isinstance(target, ast.Name):
        return [value] if target.id == name else []
    if isinstance(value, ast.IfExp):
        return assigned(target, value.body, name) + assigned(target, value.orelse, name)
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return [v for t, part in zip(target.elts, value.elts, strict=True) for v in assigned(t, part, name)]
    return []


def own(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope without those of functions and classes in it."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, Function | ast.ClassDef):
            yield child
            yield from own(child)


def values(node: ast.expr, scopes: tuple[ast.AST, ...], hops: int = HOPS) -> Iterator[Number]:
    """The whole numbers that an expression may be: a literal, either side of a choice, or what a name was given."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield node.value, node
    elif isinstance(node, ast.IfExp):
        yield from values(node.body, scopes, hops)
        yield from values(node.orelse, scopes, hops)
    elif isinstance(node, ast.Call) and called(node) == "constexpr" and node.args:
        yield from values(node.args[0], scopes, hops)
    elif isinstance(node, ast.Name) and hops:
        for value in bound(node.id, scopes):
            yield from values(value, scopes, hops - 1)
