"""The simulated device: candidates run unchanged where there is no GPU, each launch compiled and then interpreted."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tools.simulated.errors import CompileFailed, DeviceMismatch, LaunchFailed, Unsupported
from tools.simulated.support import require

if TYPE_CHECKING:
    from tools.simulated.session import Session
    from tools.simulated.warmup import warm

__all__ = ["CompileFailed", "DeviceMismatch", "LaunchFailed", "Session", "Unsupported", "require", "warm"]

_LATER = {"Session": "tools.simulated.session", "warm": "tools.simulated.warmup"}


def __getattr__(name: str) -> Any:
    """Parts that reach into Triton are imported when asked for, so that another Triton is refused in a sentence."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require()
    return getattr(import_module(_LATER[name]), name)
