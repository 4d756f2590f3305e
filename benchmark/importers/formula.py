"""A foreign function that is nothing but a formula, as a function of ours: read as text, and refused unless every name in it is one of
torch's own operators, a method or a field of a tensor, a number, or a function of the same file that is a formula too.

So it can be called where the file must not run: by an author that derives kernels from what the reference computes.
"""

import ast
import builtins
import functools
import math
from collections.abc import Callable
from typing import Any

import torch

from benchmark.errors import UserError
from benchmark.importers import files
from benchmark.origin import Origin

PLAIN = (
    ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AugAssign, ast.Expr, ast.If, ast.IfExp, ast.Compare, ast.BoolOp,
    ast.UnaryOp, ast.BinOp, ast.Call, ast.Attribute, ast.Name, ast.Constant, ast.Tuple, ast.List, ast.Subscript, ast.Slice, ast.keyword,
    ast.Starred, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip
"""What a formula is written in."""
BUILTINS = ("len", "min", "max", "abs", "float", "int", "bool", "tuple", "list", "sum")
FIELDS = frozenset({"shape", "dtype", "device", "ndim", "T", "mT", "real", "imag"})
MAKERS = ("zeros", "ones", "full", "empty", "arange", "zeros_like", "ones_like", "full_like", "empty_like", "eye", "linspace", "tensor")
UNFIT = frozenset(
    {"numpy", "tolist", "data_ptr", "storage", "untyped_storage", "apply_", "map_", "map2_", "register_hook", "backward", "set_"}
)


class NoFormula(Exception):
    """Why a function is more than a formula."""


def formula(origin: Origin) -> Callable[..., Any]:
    """The reference of a foreign task. Raises `NoFormula`."""
    try:
        tree = files.parsed(origin.files[origin.path].decode(), origin.named)
    except (UserError, KeyError, UnicodeDecodeError):
        raise NoFormula("its file cannot be read as text") from None
    defined = files.functions(tree)
    if not isinstance(defined.get(origin.entry), ast.FunctionDef):
        raise NoFormula(f"{origin.entry} is no plain function")
    reader = _Reader(_modules(tree), defined)
    reader.read(origin.entry)
    space: dict[str, Any] = {"__builtins__": {name: getattr(builtins, name) for name in BUILTINS}} | reader.named
    body: list[ast.stmt] = list(reader.found.values())
    exec(compile(ast.fix_missing_locations(ast.Module(body, [])), origin.named, "exec"), space)
    found: Callable[..., Any] = space[origin.entry]
    return found


class _Reader:
    """Collects functions that are formulas, from one to those that it calls."""

    def __init__(self, modules: dict[str, Any], defined: dict[str, Any]):
        self.modules = modules
        self.defined = defined
        self.found: dict[str, ast.FunctionDef] = {}
        self.named: dict[str, Any] = {}
        """Modules and functions of torch that are named."""

    def read(self, name: str) -> None:
        node = self.defined[name]
        self.found[name] = node
        node.decorator_list, node.returns = [*node.decorator_list], None
        for argument in (*node.args.args, *node.args.kwonlyargs, *node.args.posonlyargs):
            argument.annotation = None
        if node.decorator_list or node.args.vararg or node.args.kwarg:
            raise NoFormula(f"{name} is decorated, or takes any number of arguments")
        local = {n.arg for n in ast.walk(node.args) if isinstance(n, ast.arg)}
        local |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self._look(node, local)

    def _look(self, node: ast.AST, local: set[str]) -> None:
        if not isinstance(node, PLAIN):
            raise NoFormula(f"it has {type(node).__name__}")
        if isinstance(node, ast.Attribute | ast.Name) and (path := _path(node)) and path[0] in self.modules and path[0] not in local:
            self._allowed(path)
            return
        if isinstance(node, ast.Attribute) and not _of_tensors(node.attr):
            raise NoFormula(f"it has .{node.attr}")
        if isinstance(node, ast.Name):
            self._name(node.id, local)
        for child in ast.iter_child_nodes(node):
            self._look(child, local)

    def _name(self, name: str, local: set[str]) -> None:
        if name in local or name in BUILTINS or name in self.found:
            return
        if name not in self.defined:
            raise NoFormula(f"it names {name}")
        self.read(name)

    def _allowed(self, path: list[str]) -> None:
        """Refuses what is not an operator, a maker of tensors, a dtype or a number."""
        value: Any = self.modules[path[0]]
        for name in path[1:]:
            value = getattr(value, name, None)
        number = isinstance(value, int | float | torch.dtype) or (path[1:] and getattr(math, path[-1], None) is value)
        if not (number or value in _operators()):
            raise NoFormula(f"it has {'.'.join(path)}")
        self.named[path[0]] = self.modules[path[0]]


@functools.cache
def _operators() -> frozenset[Any]:
    """Functions that torch itself calls by their arguments' types: operators on tensors; and makers of tensors."""
    known = torch.overrides.get_testing_overrides()
    return frozenset([*(function for function in known if callable(function)), *(getattr(torch, name) for name in MAKERS)])


def _of_tensors(name: str) -> bool:
    """Whether it is a field or a method of tensors that computes."""
    return name in FIELDS or (not name.startswith("_") and name not in UNFIT and callable(getattr(torch.Tensor, name, None)))


def _path(node: ast.expr) -> list[str] | None:
    if isinstance(node, ast.Name):
        return [node.id]
    inner = _path(node.value) if isinstance(node, ast.Attribute) else None
    return [*inner, node.attr] if inner and isinstance(node, ast.Attribute) else None


def _modules(tree: ast.Module) -> dict[str, Any]:
    """What the file's imports of torch and math are called in it."""
    found: dict[str, Any] = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.partition(".")[0] in ("torch", "math"):
                    whole = _of(alias.name if alias.asname else alias.name.partition(".")[0])
                    found[alias.asname or alias.name.partition(".")[0]] = whole
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level and node.module.partition(".")[0] in ("torch", "math"):
            for alias in node.names:
                found[alias.asname or alias.name] = getattr(_of(node.module), alias.name, None)
    return {name: value for name, value in found.items() if value is not None}


def _of(path: str) -> Any:
    """A module of torch or math that is loaded, by its name."""
    value: Any = {"torch": torch, "math": math}[path.partition(".")[0]]
    for name in path.split(".")[1:]:
        value = getattr(value, name, None)
    return value
