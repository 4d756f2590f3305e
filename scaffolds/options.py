"""A scaffold's options: plain values from a config or the command line, checked while its `Config` dataclass is built."""

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from itertools import pairwise
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from benchmark.errors import UserError, unknown

NAMES = {int: "a whole number", float: "a number", str: "text", bool: "true or false", NoneType: "null", list: "a list", dict: "a mapping"}


def fill(kind: type, values: Mapping[str, Any], prefix: str = "scaffold.") -> Any:
    """An instance of `kind`; an unknown key, a wrong type or a value outside a Literal is a UserError."""
    hints = get_type_hints(kind)
    known = [f.name for f in fields(kind)]
    for key in values:
        if key not in known:
            raise unknown("option", f"{prefix}{key}", [prefix + name for name in known])
    return kind(**{key: convert(value, hints[key], prefix + key) for key, value in values.items()})


def convert(value: Any, hint: Any, key: str) -> Any:
    """`value` if it fits the hint; a whole number serves as a float, and a sequence as list or tuple."""
    for choice in get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,):
        kind = get_origin(choice) or choice
        if kind is Literal and value in get_args(choice):
            return value
        if kind is Any or (kind is NoneType and value is None):
            return value
        if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        if kind in (list, tuple) and isinstance(value, list | tuple):
            inner = get_args(choice)[:1] or (Any,)
            return kind(convert(item, inner[0], key) for item in value)
        if isinstance(kind, type) and isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
            return value
    raise UserError(f"{key} must be {wanted(hint)}, not {value!r}.")


def wanted(hint: Any) -> str:
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(str(choice) for choice in get_args(hint))
    if get_origin(hint) in (Union, UnionType):
        return " or ".join(wanted(choice) for choice in get_args(hint))
    kind = get_origin(hint) or hint
    return NAMES.get(kind, str(kind))


def at_least(config: Any, least: float, *names: str) -> None:
    """For `__post_init__`: the named fields are no less than `least`."""
    for name in names:
        if getattr(config, name) < least:
            raise UserError(f"scaffold.{name} must be at least {least}, not {getattr(config, name)}.")


def default(field: Field[Any]) -> Any:
    """A field's default; `MISSING` where it must be given."""
    return field.default_factory() if field.default_factory is not MISSING else field.default


def documented(kind: type) -> dict[str, str]:
    """The strings that stand below the fields of a class, as single lines; read from its source, where there is one."""
    try:
        (body,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    except (OSError, TypeError):
        return {}
    assert isinstance(body, ast.ClassDef)
    return dict(_strings(body.body))


def _strings(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for pair in pairwise(body):
        match pair:
            case (ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text)))):
                yield name, " ".join(text.split())
