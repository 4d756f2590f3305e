"""The machine at hand, in words that a user or a file needs."""

import os
import platform
from pathlib import Path

import torch

from benchmark.errors import UserError


def accelerator() -> str:
    """The device that torch finds, else the CPU."""
    found = torch.accelerator.current_accelerator()
    return found.type if found and torch.accelerator.is_available() else "cpu"


def usable(device: str) -> str:
    """`device`, if anything can be computed there."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        why = str(error).splitlines()[0].rstrip(".")
        raise UserError(f"Nothing can be computed on the device {device!r} here ({why}); cpu always works.") from error
    return device


def hardware(device: str) -> str:
    """The name of a device's hardware."""
    if torch.device(device).type != "cpu":
        return str(torch.get_device_module(device).get_device_name(torch.device(device).index or 0))
    facts = Path("/proc/cpuinfo")
    names = [line.partition(": ")[2] for line in facts.read_text().splitlines() if line.startswith("model name")] if facts.exists() else []
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores"
