"""What an adapter makes of a foreign file."""

import importlib.util
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from benchmark.errors import UserError
from benchmark.task import Arguments
from tools.executor.channel import Message
from tools.executor.reference.values import said, seeded


@dataclass
class Made:
    """A case: its name, and what the adapter needs to draw its inputs."""

    name: str
    recipe: dict[str, Any] = field(default_factory=dict)
    held_out: bool = False
    device_only: bool = False


@dataclass
class Plan:
    """The cases of a task. `tried` are those on which the reference is tried out when the task is described."""

    cases: list[Made]
    timing: list[Made]
    tried: list[Made]
    notes: list[str] = field(default_factory=list)
    model: dict[str, Any] | None = None
    """How a candidate's class takes the arguments."""
    varied: bool = True
    """Whether all cases must be right ones, and must change with the seed; otherwise those that are not good are left out."""


class Subject(Protocol):
    named: str
    """The file as the user named it."""

    @property
    def function(self) -> Any:
        """The reference, with the signature of the task."""

    def plan(self) -> Plan: ...

    def inputs(self, recipe: dict[str, Any], seed: int) -> Arguments: ...

    def layout(self, recipe: dict[str, Any]) -> Arguments:
        """Arguments of the same form, perhaps without memory."""


def load(folder: Path, request: Message) -> ModuleType:
    """The file as a module. Raises `UserError`."""
    path = folder / request["path"]
    # It may import what lies beside it, as a script may.
    sys.path += [str(folder / name) for name in request["search"]]
    spec = importlib.util.spec_from_file_location("task_file", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        with seeded(0):
            spec.loader.exec_module(module)
    except Exception as error:
        raise unimportable(request, error) from error
    return module


def unimportable(request: Message, error: BaseException) -> UserError:
    return UserError(f"{request['named']} cannot be imported: {said(error)}; correct the file and start again.")
