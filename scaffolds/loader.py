"""Finds scaffolds without importing them: modules of this package, entry points, single files. Only the chosen one is imported."""

import ast
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache, partial
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from benchmark.errors import UserError, unknown
from scaffolds.options import fill

if TYPE_CHECKING:
    from langgraph.graph import StateGraph

GROUP = "kernelwright.scaffolds"
"""Entry points of third parties: the scaffold's name, and the module that holds it."""
FILES = "KERNELWRIGHT_PLUGINS"
"""Environment variable: paths of single-file scaffolds, separated like PATH; each is named after its file."""


@dataclass(frozen=True)
class Origin:
    where: str
    load: Callable[[], ModuleType]


def names() -> list[str]:
    return sorted(origins())


def origins() -> dict[str, Origin]:
    """Where each scaffold comes from. A name that is taken stays with the first: ours, then entry points, then files."""
    found = {path.stem: Origin(str(path), partial(import_module, f"scaffolds.{path.stem}")) for path in built_in()}
    for point in entry_points(group=GROUP):
        found.setdefault(point.name, Origin(f"entry point {point.value}", point.load))
    for path in plugin_files():
        found.setdefault(path.stem, Origin(str(path), partial(load_file, path)))
    return found


def built_in() -> list[Path]:
    return [path for path in sorted(Path(__file__).parent.glob("*.py")) if is_scaffold(path.read_text(encoding="utf-8"))]


@cache
def is_scaffold(source: str) -> bool:
    """Whether a module defines `Config` and `build`, as read from its text."""
    body = ast.parse(source).body if "class Config" in source and "def build(" in source else []
    return {"Config", "build"} <= {node.name for node in body if isinstance(node, ast.ClassDef | ast.FunctionDef)}


def plugin_files() -> list[Path]:
    return [Path(part) for part in os.environ.get(FILES, "").split(os.pathsep) if part]


def load_file(path: Path) -> ModuleType:
    """Runs the file once: a second look must find the same `Config`, and the same code however long the run takes."""
    name = f"kernelwright_plugins.{path.stem}"
    if (loaded := sys.modules.get(name)) and loaded.__file__ == str(path):
        return loaded
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("it is no Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def module(name: str) -> ModuleType:
    """Imports scaffold `name`; a broken one is a sentence that names it."""
    found = origins()
    if name not in found:
        raise unknown("scaffold", name, found)
    origin = found[name]
    try:
        loaded = origin.load()
    except (Exception, SystemExit) as error:
        raise UserError(f"Scaffold {name!r} ({origin.where}) cannot be loaded: {type(error).__name__}: {error}.") from error
    missing = [part for part in ("Config", "build") if not hasattr(loaded, part)]
    if missing:
        raise UserError(f"Scaffold {name!r} ({origin.where}) defines no {' and no '.join(missing)}; it needs both.")
    return loaded


def config_of(name: str) -> type:
    kind = module(name).Config
    assert isinstance(kind, type)
    return kind


def build_config(name: str, options: Mapping[str, Any] | None = None, rounds: int | None = None) -> Any:
    """Scaffold `name`'s `Config`. The `rounds` of `options` wins over the run's, which wins over the default.

    A scaffold without rounds ignores the run's.
    """
    kind = config_of(name)
    values = {key: value for key, value in (options or {}).items() if not (key == "rounds" and value is None)}
    if rounds is not None and "rounds" in {f.name for f in fields(kind)}:
        values.setdefault("rounds", rounds)
    return fill(kind, values)


def build(name: str, config: Any) -> "StateGraph[Any, Any, Any, Any]":
    """The scaffold's graph, not compiled."""
    graph: StateGraph[Any, Any, Any, Any] = module(name).build(config)
    return graph


def register() -> None:
    """Gives Hydra the group `scaffold`. To be called before `@hydra.main` composes."""
    from hydra.core.plugins import Plugins

    from scaffolds.hydra_source import ScaffoldPath, ScaffoldSource

    Plugins.instance().register(ScaffoldSource)
    Plugins.instance().register(ScaffoldPath)
