"""The simulated device: candidates run unchanged where there is no GPU, each launch compiled and then interpreted."""

from tools.simulated.errors import CompileFailed, DeviceMismatch, LaunchFailed, Unsupported
from tools.simulated.session import Session
from tools.simulated.warmup import require, warm

__all__ = ["CompileFailed", "DeviceMismatch", "LaunchFailed", "Session", "Unsupported", "require", "warm"]
