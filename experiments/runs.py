"""A run directory as it is read: configuration and records, without torch and without writing anything."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from benchmark.errors import UserError
from tools import jsonl

PAUSED = frozenset({"interrupted", "waiting"})
"""End reasons of trajectories that are not over: a resumed run goes on with them."""
FILES = ("attempts", "calls", "choices", "evaluations", "trajectories")


def trajectory_id(task: str, seed: int) -> str:
    """A trajectory's name within its run, where scaffold and model are one."""
    return f"{task}@{seed}"


def task_of(trajectory: str) -> str:
    return trajectory.rpartition("@")[0]


@dataclass
class Run:
    """`runs/<run_id>/` at the time of reading. `torn` tells the bytes of last lines that a kill cut off, by file name."""

    path: Path

    def __post_init__(self) -> None:
        if not (self.path / "config.yaml").is_file():
            raise UserError(f"{self.path} is no run directory: it has no config.yaml. Runs lie in runs/<run_id>.")
        self.torn: dict[str, int] = {}

    @property
    def run_id(self) -> str:
        return self.path.resolve().name

    @cached_property
    def config(self) -> dict[str, Any]:
        try:
            body = OmegaConf.to_container(OmegaConf.load(self.path / "config.yaml"))
            return {str(key): value for key, value in dict(body).items()}  # type: ignore[arg-type]
        except Exception as error:  # Whatever a parser says of a file that was changed.
            raise UserError(f"{self.path / 'config.yaml'} cannot be read: {str(error).splitlines()[0]}.") from error

    def load(self, name: str) -> jsonl.Loaded:
        loaded = jsonl.read(self.path / f"{name}.jsonl")
        if loaded.torn:
            self.torn[f"{name}.jsonl"] = loaded.torn
        return loaded

    @cached_property
    def calls(self) -> list[dict[str, Any]]:
        """One record per HTTP try."""
        return self.load("calls").records

    @cached_property
    def attempts(self) -> list[dict[str, Any]]:
        return self.load("attempts").records

    @cached_property
    def evaluations(self) -> list[dict[str, Any]]:
        """Each attempt's whole evidence: by far the largest of the files."""
        return self.load("evaluations").records

    @cached_property
    def trajectories(self) -> list[dict[str, Any]]:
        """The last word on each trajectory, in order of first ending; a resumed one has several lines."""
        return list({r["trajectory"]: r for r in self.load("trajectories").records}.values())

    @cached_property
    def environment(self) -> dict[str, Any]:
        try:
            return dict(json.loads((self.path / "environment.json").read_text()))
        except (OSError, ValueError) as error:
            raise UserError(
                f"{self.path / 'environment.json'} cannot be read; the run was killed before it began, so start it anew."
            ) from error

    @cached_property
    def prices(self) -> dict[str, Any]:
        """The price rows that the run was valued with."""
        try:
            return dict(json.loads((self.path / "prices.json").read_text()))
        except (OSError, ValueError) as error:
            raise UserError(f"{self.path / 'prices.json'} cannot be read, so that nothing of the run can be valued.") from error

    def kernel(self, sha: str) -> str:
        """A candidate's source; lone surrogates stay as they were written."""
        return (self.path / "kernels" / f"{sha}.py").read_bytes().decode("utf-8", "surrogatepass")

    def prompt(self, sha: str) -> dict[str, Any]:
        """`{"messages": ..., "tools": ...}` as they were sent."""
        return dict(json.loads((self.path / "prompts" / f"{sha}.json").read_bytes()))

    def reply(self, sha: str) -> dict[str, Any]:
        return dict(json.loads((self.path / "replies" / f"{sha}.json").read_bytes()))

    @property
    def asked(self) -> list[tuple[str, int]]:
        """(task, seed) of every trajectory that the run was asked for: the denominator of every share."""
        asked = self.environment["asked"]
        return [(task, seed) for task in asked["tasks"] for seed in asked["seeds"]]

    @property
    def open(self) -> int:
        """How many trajectories that were asked for have not come to their end."""
        return len(self.asked) - sum(t["end_reason"] not in PAUSED for t in self.trajectories)

    def notes(self) -> Iterable[str]:
        """What a reader must be told about the files."""
        return (f"dropped a torn last line of {name} ({size} bytes)" for name, size in self.torn.items())
