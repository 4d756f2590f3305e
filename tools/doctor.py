"""`python -m tools.doctor`: what this machine can do for the executor; each line a fact."""

import argparse
import importlib.metadata
import os
import platform
import re
import sys
from collections.abc import Iterator

from benchmark.console import show
from benchmark.errors import UserError
from tools import platforms
from tools.executor.compiled import CompileCache
from tools.executor.peer import WorkerLost
from tools.executor.walls import seccomp, syscalls, witness
from tools.executor.walls.isolation import LEVELS
from tools.executor.worker import Worker

PACKAGES = ("torch", "triton", "numpy", "langgraph", "openai", "anthropic", "litellm")
KEY = re.compile(r"(^|_)(API_KEY|KEY|TOKEN|SECRET)$")
REMEDIES = {
    "full": "allow user namespaces to this user (sysctl kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns, "
    "user.max_user_namespaces; in a container a seccomp profile that lets unshare and mount through)",
    "landlock": "Linux 6.12 or newer with landlock among the kernel's security modules",
}


def facts() -> Iterator[str]:
    yield f"python {platform.python_version()} at {sys.executable}, {platform.system()} {platform.release()}, {os.cpu_count()} cores"
    for name in PACKAGES:
        yield f"{name} {_version(name)}"
    device = platforms.detect()
    yield f"device: {device.name}" + (
        f", {device.count} of them, driver {platforms.driver()}" if not device.simulated else "; torch sees no GPU"
    )
    yield f"simulated device: {_simulated()}"
    yield from _isolation()
    if not device.simulated:
        yield from _device()
    keys = sorted(name for name in os.environ if KEY.search(name))
    yield f"keys in the environment (names only): {', '.join(keys) or 'none'}"


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "is not installed"


def _simulated() -> str:
    try:
        from tools.simulated import require

        require()
    except UserError as error:
        return str(error)
    return f"ready, for {', '.join(platforms.default_targets())}"


def _isolation() -> Iterator[str]:
    user = "yes" if witness.user_namespaces() else "no"
    filters = "yes" if seccomp.supported() else f"not for {platform.machine()}"
    yield f"walls: Landlock ABI {syscalls.landlock_abi()}, user namespaces {user}, seccomp {filters}, uid {os.getuid()}"
    best = None
    for level in LEVELS[:2]:
        walls, tried = witness.strongest(level, platforms.nodes())
        best = best or walls
        yield f"  {level}: {_found(tried[level])}"
        yield f"    layers: {', '.join(walls.layers())}" if walls else f"    to have it: {REMEDIES[level]}"
    yield f"isolation: {best.level if best else 'none; candidates run with sandbox=process only'}"


def _found(found: witness.Found) -> str:
    if isinstance(found, str):
        return found
    return ", ".join(f"{action} {'denied' if denied else 'NOT denied'}" for action, denied in found.items())


def _device() -> Iterator[str]:
    """What a sandbox with the real device comes to: some drivers need more than the strictest walls let through."""
    worker = Worker(0, None, CompileCache(None))
    try:
        worker.ready("auto", "auto")
        worker.sandbox({"mode": "device", "targets": [worker.device["target"]], "seed": 0, "index": worker.gpu}).close()
        yield f"sandbox with the device: {worker.isolation['level']}, layers: {', '.join(worker.isolation['layers'])}"
        yield f"data path: {worker.data_path()}"
    except WorkerLost as lost:
        yield f"sandbox with the device: {lost}"
    finally:
        worker.stop()


def main(argv: list[str] | None = None) -> int:
    argparse.ArgumentParser("python -m tools.doctor", description="What this machine can do for the executor.").parse_args(argv)
    for fact in facts():
        show(fact)
    return 0


if __name__ == "__main__":
    sys.exit(main())
