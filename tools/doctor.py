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
from tools.executor import syscalls, witness

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
    walls, tried = witness.strongest("auto", platforms.nodes())
    level = walls.level if walls else None
    yield f"isolation: {level or 'none; only with sandbox=process'} (Landlock ABI {syscalls.landlock_abi()}, uid {os.getuid()})"
    for name, found in tried.items():
        if isinstance(found, dict):
            yield f"  {name}: " + ", ".join(f"{action} {'denied' if denied else 'NOT denied'}" for action, denied in found.items())
        else:
            yield f"  {name}: {found}"
        if name != level:
            yield f"  to have {name}: {REMEDIES[name]}"


def main(argv: list[str] | None = None) -> int:
    argparse.ArgumentParser("python -m tools.doctor", description="What this machine can do for the executor.").parse_args(argv)
    for fact in facts():
        show(fact)
    return 0


if __name__ == "__main__":
    sys.exit(main())
