"""`python -m agents.show --role optimiser --task SUITE/NAME`: a prompt as it would be sent, its length and its hashes.

Without a role: the roles. What a run would fill in and nobody gives here (a parent, its verdict, lessons, a plan) are examples.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import prompts
from agents import digest, examples, roles
from agents.prompt import Prompt, compose
from benchmark.console import show
from benchmark.errors import UserError, unknown
from benchmark.importers.options import typed
from tools.evaluation import Evaluation

EXAMPLE = """import torch
import triton
import triton.language as tl


def {signature}:
    ...  # an example: show yours with --parent FILE
"""
"""What stands where a run shows a module."""


def arguments(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m agents.show", description="A role's prompt on a task, as it would be sent.")
    parser.add_argument("--role", help="without it: all roles, and what each is given with --set")
    parser.add_argument("--task", help="suite/name, as benchmark.list shows them, or ./file.py:function")
    parser.add_argument("--parent", metavar="FILE", help="the module that the prompt is about")
    parser.add_argument("--evaluation", metavar="FILE", help="its verdict, as tools.evaluate --json prints it")
    parser.add_argument("--hardware", metavar="NAME", help="figures of other hardware than this machine's; none for no figures")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a variable of the role's; may be given several times"
    )
    parser.add_argument(
        "--import", dest="module", metavar="MODULE", help="a module that adds roles of its own, such as a plugin's scaffold"
    )
    parser.add_argument("--json", action="store_true", help="the messages as JSON, and nothing else")
    options = parser.parse_args(argv)
    if bool(options.role) != bool(options.task):
        parser.error("give --role and --task, or neither for the list of roles")
    return options


def listed() -> str:
    width = max(map(len, roles.ROLES))
    lines = ["Roles, how their replies are read, and what --set gives their templates:"]
    for role in roles.ROLES.values():
        lines.append(f"  {role.name:<{width}}  {role.reads:<10}  {', '.join(role.needs)}".rstrip())
    return "\n".join(lines)


def prompt(options: argparse.Namespace) -> Prompt:
    from benchmark.words import describe
    from tools import platforms
    from tools.tasks import find

    role = roles.find(options.role)
    task = find(options.task)
    if options.hardware is None:
        sheet = platforms.detect().sheet
    else:
        sheet = None if options.hardware == "none" else platforms.sheet(options.hardware)
    source = read(options.parent) if options.parent else EXAMPLE.format(signature=task.signature)
    brief = examples.brief(role.name, task.id, source)
    if options.evaluation:
        held_out = frozenset(case.name for case in task.cases if case.held_out)
        brief = replace(brief, digest=digest.digest(evaluation(options.evaluation), held_out))
    return compose(role.name, brief, describe(task), sheet, **{**role.needs, **chosen(role, options.set)})


def load(module: str) -> None:
    try:
        import_module(module)
    except ImportError as error:
        raise UserError(f"Cannot import {module!r}: {error}. Give a module that is installed or on PYTHONPATH.") from None


def chosen(role: roles.Role, pairs: Sequence[str]) -> dict[str, Any]:
    made = dict(typed(pair, "--set", "rounds_left=0") for pair in pairs)
    for name in made:
        if name not in role.needs:
            raise unknown(f"variable of {role.name}", name, role.needs)
    return made


def evaluation(name: str) -> Evaluation:
    try:
        return Evaluation.from_dict(json.loads(read(name)))
    except (ValueError, TypeError, AttributeError):
        raise UserError(f"{name} holds no evaluation: write one with python -m tools.evaluate --task ... --candidate ... --json.") from None


def read(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise UserError(f"Cannot read {name!r}: {why}. Give the path of a file.") from None


def text(options: argparse.Namespace, made: Prompt) -> str:
    parts = [f"----- {message['role']}\n{message['content']}" for message in made.messages]
    hashes = f"prompt {made.sha[:12]}, templates {prompts.sha(options.role)[:12]}"
    return "\n".join([*parts, f"----- {options.role} on {options.task}: about {made.about} tokens; {hashes}"])


def main(argv: Sequence[str] | None = None) -> int:
    options = arguments(argv)
    try:
        if options.module:
            load(options.module)
        if not options.role:
            show(listed())
            return 0
        made = prompt(options)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    show(json.dumps(list(made.messages), indent=1, ensure_ascii=False) if options.json else text(options, made))
    return 0


if __name__ == "__main__":
    sys.exit(main())
