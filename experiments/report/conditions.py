"""Under what a run was made: the machine, the versions, what was asked, and the command that makes it again."""

import json
import shlex
from dataclasses import dataclass
from typing import Any

from experiments.runs import Run


@dataclass(frozen=True)
class Conditions:
    run: str
    command: str
    """Runs the recorded configuration again."""
    facts: list[tuple[str, str]]
    config: str
    """`config.yaml` as it lies."""
    environment: str
    """`environment.json` without the tasks asked."""
    prices: str


def of(run: Run) -> Conditions:
    known = {key: value for key, value in run.environment.items() if key != "asked"}
    return Conditions(
        run.run_id,
        f"python -m experiments.run --config-path {shlex.quote(str(run.path.resolve()))} --config-name config",
        facts(run),
        (run.path / "config.yaml").read_text(encoding="utf-8", errors="replace"),
        json.dumps(known, indent=1),
        json.dumps(run.prices, indent=1),
    )


def facts(run: Run) -> list[tuple[str, str]]:
    known, asked = run.environment, run.environment["asked"]
    device = known.get("device") or {}
    told: list[tuple[str, Any]] = [
        ("scaffold", options(known.get("scaffold") or {})),
        ("model", known.get("model")),
        ("roles", options(known.get("roles") or {})),
        ("asked", f"{len(asked['tasks'])} tasks, seeds {', '.join(map(str, asked['seeds']))}"),
        ("device", device.get("name")),
        ("measured", "no: simulated, speed is modelled" if device.get("simulated") else "yes: on the device"),
        ("machine", options(known.get("machine") or {})),
        ("python", known.get("python")),
        ("packages", options(known.get("packages") or {})),
        ("revision", known.get("revision")),
        *(("note", note) for note in run.notes()),
    ]
    return [(name, str(value)) for name, value in told if value]


def options(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items() if value is not None)
