"""Inside the sandbox: what the device's instruments saw of one call."""

from typing import Any, Protocol

from tools.executor.channel import Message

MOST = 16
"""Findings of each kind that are reported."""
_SUMS = ("sectors_loaded", "sectors_stored", "sectors_atomic", "flops")


class Instruments(Protocol):
    """Lists that grow with each launch, as `simulated.Session` describes them; empty on a device that sees nothing."""

    out_of_bounds: list[dict[str, Any]]
    races: list[dict[str, Any]]
    advisories: list[str]
    traffic: list[dict[str, Any]]


class Seen:
    def __init__(self, instruments: Instruments):
        self.instruments = instruments
        self.before = {name: len(getattr(instruments, name)) for name in ("out_of_bounds", "races", "advisories", "traffic")}

    def report(self) -> Message:
        """What came since: findings, and the sums of all launches' traffic (products of matrices among the FLOPs)."""
        new = {name: getattr(self.instruments, name)[count:] for name, count in self.before.items()}
        launches = new.pop("traffic")
        sums = {name: sum(launch[name] for launch in launches) for name in _SUMS}
        sums["flops"] += sum(sum(launch["dot_flops"].values()) for launch in launches)
        return {name: findings[:MOST] for name, findings in new.items()} | {"traffic": sums}
