"""How a candidate can fail on the simulated device."""

from typing import Any


class _Explained:
    """An exception of one sentence (`message`) with what a model can use (`detail`)."""

    def __init__(self, message: str, **detail: Any) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail


class CompileFailed(_Explained, Exception):
    """The real compiler refused a kernel. `detail`: target, kernel, line, source, rule, type."""


class LaunchFailed(_Explained, RuntimeError):
    """The kernel compiled and could not be launched, or trapped. `detail`: kernel, type."""


class DeviceMismatch(_Explained, RuntimeError, ValueError, TypeError):
    """Host and device memory mixed, in CUDA's own words. Caught by whatever would catch torch's or Triton's own error."""


class Unsupported(_Explained, BaseException):
    """The simulated device cannot do this; a GPU might. No `Exception`, so that a candidate's fallback does not hide it."""
