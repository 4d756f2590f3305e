"""The simulated device: the machine that stands in where there is no GPU."""

from tools.platforms.nvidia import H100
from tools.platforms.sheet import Device

NAME, SHEET = "h100", H100
"""The hardware whose limits and properties the simulated device has."""


def device() -> Device:
    return Device("simulated", f"{SHEET.name} (simulated)", 1, "cuda:0", SHEET, simulated=True)
