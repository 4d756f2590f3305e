"""How a candidate can fail on the simulated device."""

from typing import Any


class _Explained(BaseException):
    """One sentence (`message`) with what a model can use (`detail`)."""

    def __init__(self, message: str, **detail: Any) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail


class CompileFailed(_Explained, Exception):
    """The real compiler refused a kernel. `detail`: target, kernel, line, source, rule, type."""


class LaunchFailed(_Explained, RuntimeError):
    """The kernel compiled and could not be launched, or trapped. `detail`: kernel, type."""


class DeviceMismatch(_Explained, Exception):
    """Host and device memory mixed, in CUDA's own words. Each kind is also the exception that a GPU machine would raise."""


class MixedDevices(DeviceMismatch, RuntimeError):
    """A torch call got host and device tensors."""


class HostPointer(DeviceMismatch, ValueError):
    """A kernel got a host tensor."""


class NotOnHost(DeviceMismatch, TypeError):
    """numpy was given a device tensor."""


class Unsupported(_Explained):
    """The simulated device cannot do this; a GPU might. No `Exception`, so that a candidate's fallback does not hide it."""
