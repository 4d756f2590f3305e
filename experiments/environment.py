"""`environment.json`: what a run was made with and what it was asked. No environment variable's value enters."""

import os
import platform
import subprocess
import time
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

import prompts
from agents.roles import ROLES
from experiments.machine import Machine
from experiments.plan import Plan

PACKAGES = (
    "kernelwright",
    "torch",
    "triton",
    "numpy",
    "langgraph",
    "openai",
    "anthropic",
    "litellm",
    "tenacity",
    "hydra-core",
    "omegaconf",
)


def describe(plan: Plan, machine: Machine) -> dict[str, Any]:
    device = machine.device
    return {
        "run_id": plan.path.name,
        "created": time.time(),
        "asked": {
            "tasks": {task.id: {"sha": task.sha, "category": task.category, "suite": task.suite} for task in plan.tasks},
            "seeds": plan.config.seeds,
        },
        "scaffold": {"name": plan.name, **asdict(plan.scaffold)},
        "model": plan.model.name,
        "roles": {role: model.name for role, model in plan.cast.items()},
        "device": {"platform": device.platform, "name": device.name, "count": device.count, "simulated": device.simulated},
        "workers": machine.workers,
        "concurrency": machine.concurrency,
        "machine": {
            "system": platform.platform(),
            "cpus": os.cpu_count(),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        },
        "python": platform.python_version(),
        "packages": {name: version for name in PACKAGES if (version := version_of(name))},
        "revision": revision(),
        "templates": templates(),
    }


def templates() -> dict[str, str]:
    """Of each role, the digest of all the templates that its prompts are made of."""
    return {role: prompts.sha(role) for role in ROLES}


def version_of(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def revision() -> str | None:
    """The commit that our code lies at, with `+` where it was changed since; None where it is installed and in no repository."""
    here = Path(__file__)
    if not git("ls-files", here.name, cwd=here.parent):
        return None
    return git("rev-parse", "HEAD", cwd=here.parent) + "+" * bool(git("status", "--porcelain", "-uno", ".", cwd=here.parent.parent))


def git(*words: str, cwd: Path) -> str:
    try:
        return subprocess.run(["git", *words], cwd=cwd, capture_output=True, text=True, timeout=10).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""
