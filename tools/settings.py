"""What an evaluation is asked to do; its digest enters the evaluation's key."""

import hashlib
import json
from dataclasses import asdict, dataclass, field

from tools.platforms import default_targets


@dataclass(frozen=True)
class Settings:
    """Names that end in `_s` are deadlines in seconds."""

    device: str = "auto"
    """`auto` (a GPU where there is one, else the simulated device), `simulated`, `cuda` or `cuda:N`."""
    targets: tuple[str, ...] = field(default_factory=default_targets)
    """Compilation targets in simulated mode."""
    sandbox: str = "auto"
    """Isolation level: `auto` (the strongest that works, but never `process`), `full`, `landlock` or `process`."""
    timing: str = "short"
    """`short` (the task's ladder), `off`."""
    baselines: tuple[str, ...] = ("eager",)
    """What the candidate is timed against: `eager` always, and `compile` (torch.compile of the reference) beside it on request."""
    profile: str = "roofline"
    """`off`, `roofline` (achieved rates, share of own kernels; simulated: the modelled time), `ncu` (Nsight Compute's metrics too)."""
    seed: int = 0
    """Of the inputs, and of what autotuning picks on the simulated device."""
    import_s: float = 20.0
    compile_s: float = 20.0
    """Per kernel and target."""
    case_s: float = 20.0
    """Per call, compilation excluded."""
    timing_s: float = 60.0
    """For all sizes together, and for one request; slow calls may take longer."""

    @property
    def sha(self) -> str:
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]
