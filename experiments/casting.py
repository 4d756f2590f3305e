"""Models of single roles: `roles.coder.model=...`, `roles.planner.model_args.temperature=0.8`. All other roles are the run's `model`'s."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from agents import roles
from agents.models.base import Model
from agents.models.make import make
from benchmark.errors import UserError, unknown
from benchmark.task import Task

KEYS = ("model", "model_args")
ALONE = ("batch", "replay")
"""Models that answer every role, or none."""


def cast(asked: Mapping[str, Any], name: str, args: Mapping[str, Any], tasks: Callable[[str], Task]) -> dict[str, Model]:
    """A model for each role of `asked`; roles that want the same one share it. Where a role keeps the run's model, its options hold too."""
    made: dict[str, Model] = {}
    found: dict[str, Model] = {}
    for role, wanted in asked.items():
        model, own = checked(role, wanted, name)
        options = {**args, **own} if model == name else own
        key = json.dumps([model, options], sort_keys=True, default=str)
        if key not in made:
            made[key] = make(model, options, tasks)
        found[roles.find(role).name] = made[key]
    return found


def checked(role: str, wanted: Any, name: str) -> tuple[str, Mapping[str, Any]]:
    """The model's name and options for one role. Raises `UserError`."""
    roles.find(role)
    if not isinstance(wanted, Mapping):
        raise UserError(
            f"roles.{role} is a group of keys; set roles.{role}.model=... or roles.{role}.model_args.temperature=..., not {wanted!r}."
        )
    for key in wanted:
        if key not in KEYS:
            raise unknown("key", f"roles.{role}.{key}", [f"roles.{role}.{known}" for known in KEYS])
    model, own = wanted.get("model") or name, wanted.get("model_args") or {}
    if not isinstance(model, str) or not isinstance(own, Mapping):
        raise UserError(f"roles.{role} needs a model's name and a group of options, as in roles.{role}.model=openai/NAME.")
    if {model, name} & set(ALONE):
        raise UserError(f"roles.{role} cannot be set with model={name if name in ALONE else model}: it answers all roles; leave roles out.")
    return model, own
