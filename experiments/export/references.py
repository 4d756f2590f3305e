"""A task's reference as a module that stands alone, and as a schema of `torch.library`."""

import ast
import inspect
import logging
import re
import types
import typing
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.types import Number

from benchmark import contracts
from benchmark.importers.own import EXAMPLES
from benchmark.origin import Origin
from benchmark.task import Arguments, Task


class Unfit(Exception):
    """Why a task cannot be exported, in a sentence's end."""


def module(task: Task) -> str:
    """Source of a module that defines the task's reference under its own name, with torch alone. Raises `Unfit`."""
    if task.origin:
        return own(task.origin)
    if task.reference.__code__.co_freevars:
        raise Unfit("its reference is made by another function")
    tree = ast.parse(task.text)
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    names = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - defined - local(tree))
    spaces = [task.reference.__globals__]
    spaces += [helper.__globals__ for name in defined if inspect.isfunction(helper := spaces[0].get(name))]
    lines = {"import torch"}
    for name in names:
        found = [space[name] for space in spaces if name in space]
        if found:
            lines.add(binding(name, found[0]))
    imports = sorted(line for line in lines if line.startswith(("import ", "from ")))
    constants = sorted(lines - set(imports))
    head = f'"""The reference of {task.id}: what the operator computes, in torch."""'
    return "\n".join([head, "", *imports, *(["", *constants] if constants else []), "", "", task.text]) + "\n"


def own(origin: Origin) -> str:
    """The user's file, as it is."""
    if origin.kind != "own":
        raise Unfit("of files that are not ours functions named ./file.py:function alone can be exported")
    if set(origin.files) > {origin.path, EXAMPLES}:
        raise Unfit(f"{origin.named} imports files beside it")
    return origin.files[origin.path].decode("utf-8")


def local(tree: ast.AST) -> set[str]:
    """Names that functions bind themselves."""
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return stored | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


def binding(name: str, value: Any) -> str:
    """The line that gives a module's name its value."""
    if isinstance(value, types.ModuleType):
        package, _, last = value.__name__.rpartition(".")
        return f"import {value.__name__}" if name == value.__name__ else f"from {package} import {last}" + renamed(last, name)
    if isinstance(value, torch.dtype | types.UnionType | types.GenericAlias | bool | int | float | str) or value is None:
        return f"{name} = {value!r}"
    origin = getattr(value, "__module__", None)
    if origin and hasattr(value, "__name__") and not origin.startswith("benchmark"):
        return f"from {'typing' if origin == 'typing' else origin} import {value.__name__}" + renamed(value.__name__, name)
    raise Unfit(f"its reference uses {name}, which is no part of torch")


def renamed(found: str, name: str) -> str:
    return "" if found == name else f" as {name}"


@dataclass(frozen=True)
class Signature:
    """How a task is registered: `schema` is None where torch has no types for it, and `why` says so."""

    schema: str | None
    why: str
    registered: tuple[str, ...]
    """Parameters that the schema has: those that a case gave, in order."""
    fits: tuple[str, ...]
    """Conditions, as Python, under which a call can go by the schema."""


CHECKS = {
    torch.Tensor: "Tensor",
    int: "int",
    float: "(int, float)",
    bool: "bool",
    str: "str",
    list[int]: "list",
    torch.dtype: "torch.dtype",
}


def schema(task: Task, calls: Sequence[Arguments]) -> Signature:
    """Of the parameters that a case gives; a union that torch has no type for goes by its first member that it has one for. `calls` are
    those that were tried."""
    signature = inspect.signature(task.reference)
    unused = contracts.never_given(task)
    kept = [p for name, p in signature.parameters.items() if name not in unused]
    fits = [unchanged(name, signature.parameters[name].default) for name in unused]
    narrowed = []
    for parameter in kept:
        values = [call[parameter.name] for call in calls]
        annotation = narrow(given(values) if task.origin else parameter.annotation)
        if annotation is None:
            return Signature(None, f"torch.library has no type for {parameter}", (), ())
        if task.origin or annotation != parameter.annotation:
            fits.append(check(parameter.name, annotation))
        # By position, for torch takes no tensors by keyword alone.
        narrowed.append(parameter.replace(annotation=numeric(annotation, values), kind=parameter.POSITIONAL_OR_KEYWORD))
    result = returned(task.origin) if task.origin else signature.return_annotation
    written = [clause.partition(" if ")[0] for clause in task.contract.mutates]
    try:
        text = infer(inspect.Signature(narrowed, return_annotation=result), written)
    except (ValueError, RuntimeError):
        return Signature(None, f"torch.library has no type for a result that is {result}", (), ())
    return Signature(text, "", tuple(p.name for p in kept), tuple(fits))


def given(values: Sequence[Any]) -> Any:
    """The type of an argument whose annotation is not known, from all that was tried; None where it has several."""
    kinds = {torch.Tensor if isinstance(value, torch.Tensor) else type(value) for value in values}
    if list in kinds and {type(item) for value in values if isinstance(value, list) for item in value} == {int}:
        kinds = kinds - {list} | {list[int]}
    known = kinds - {type(None)} - ({int} if float in kinds else set())
    found = known.pop() if len(known) == 1 else None
    return found | None if found is not None and type(None) in kinds else found


def returned(origin: Origin) -> Any:
    """What the user's function says that it returns: a tensor, or a tuple of so many; else the annotation's text."""
    functions = [node for node in ast.parse(origin.text).body if isinstance(node, ast.FunctionDef) and node.name == origin.entry]
    text = ast.unparse(functions[-1].returns).replace("torch.", "") if functions and functions[-1].returns else "not annotated"
    many = len(re.findall("Tensor", text))
    tensors = {"Tensor": torch.Tensor, f"tuple[{', '.join(['Tensor'] * many)}]": tuple[(torch.Tensor,) * many]}  # type: ignore[misc]
    return tensors.get(text, text)


QUIET = logging.getLogger("torch._library.opaque_object")
"""Torch warns of each type that it is asked about and does not know."""


def infer(signature: inspect.Signature, written: Sequence[str]) -> str:
    def prototype() -> None: ...

    prototype.__signature__ = signature  # type: ignore[attr-defined]
    level, QUIET.level = QUIET.level, logging.ERROR
    try:
        return str(torch.library.infer_schema(prototype, mutates_args=written))
    finally:
        QUIET.level = level


def numeric(annotation: Any, values: Sequence[Any]) -> Any:
    """A float that is ever given as a whole number is to arrive as one: integers times 3.0 are no integers."""
    if annotation in (float, float | None) and any(type(value) is int for value in values):
        return Number if annotation is float else Number | None
    return annotation


def narrow(annotation: Any) -> Any:
    """The annotation, or a part of it, that torch has a type for; else None."""
    members = (
        typing.get_args(annotation) if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union else ()
    )
    optional = type(None) in members
    plain = [member for member in members if member is not type(None)] or [annotation]
    for member in plain:
        member = member | None if optional else member
        parameter = inspect.Parameter("x", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=member)
        try:
            infer(inspect.Signature([parameter], return_annotation=torch.Tensor), ())
        except (ValueError, RuntimeError):
            continue
        return member
    return None


def check(name: str, annotation: Any) -> str:
    members = [member for member in typing.get_args(annotation) if member in CHECKS] or [annotation]
    condition = f"isinstance({name}, {CHECKS[members[0]]})"
    return f"({name} is None or {condition})" if type(None) in typing.get_args(annotation) else condition


def unchanged(name: str, default: Any) -> str:
    return f"{name} is {default}" if default is None or isinstance(default, bool) else f"{name} == {default!r}"
