"""Who is trusted imports nothing of who is trusted less, and the other way round: the rooms of the executor."""

import ast
from pathlib import Path

import pytest

PACKAGE = "tools.executor"
FOLDER = Path(__file__).parents[3] / "tools/executor"
BELOW: dict[str, set[str]] = {
    "": set(),
    "sandbox": {""},
    "walls": {"", "sandbox"},
    "judge": {"", "walls"},
    "stages": {""},
}
"""Modules beside the rooms are for all of them. Walls fork sandboxes; the judge is a process that hides its memory."""
TOP = {"local.py"}
"""The executor itself, which runs the stages."""


def room_of(module: str) -> str:
    parts = module.removeprefix(PACKAGE).strip(".").split(".")
    return parts[0] if parts[0] in BELOW else ""


@pytest.mark.parametrize("room", BELOW)
def test_a_room_of_the_executor_imports_only_those_below_it(room: str) -> None:
    wrong = []
    for path in (FOLDER / room).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE) and path.name not in TOP:
                names = [f"{node.module}.{alias.name}" for alias in node.names]
                wrong += [(path.name, name) for name in names if room_of(name) not in BELOW[room] | {room}]
    assert wrong == []
