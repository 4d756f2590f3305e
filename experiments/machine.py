"""Where a run takes place: device, evaluation settings, and how much goes on at once."""

import os
from dataclasses import dataclass

from benchmark.errors import UserError, unknown
from experiments.config import RunConfig
from tools import platforms
from tools.executor.local import LocalExecutor
from tools.settings import Settings

CHOICES = {
    "sandbox": ("auto", "full", "landlock", "process"),
    "timing": ("short", "off"),
    "baselines": ("eager", "compile"),
    "profile": ("off", "roofline", "ncu"),
}
PER_GPU = 4
"""Evaluations at once on a real device: one is timed alone, the others compile."""
PER_WORKER = 4
"""Trajectories for each evaluation at once: while one is judged, others wait for their model."""


@dataclass(frozen=True)
class Machine:
    device: platforms.Device
    sheet: platforms.HardwareSheet
    settings: Settings
    workers: int
    """Evaluations at once."""
    concurrency: int
    """Trajectories at once."""
    gpus: tuple[int, ...] | None

    @classmethod
    def of(cls, config: RunConfig) -> "Machine":
        wanted = config.executor
        for key, choices in CHOICES.items():
            for value in _listed(getattr(wanted, key)):
                if value not in choices:
                    raise unknown(f"executor.{key}", value, choices)
        device = device_of(wanted.device)
        if device.sheet is None:
            raise UserError(f"There is no hardware sheet for {device.name}; known are {', '.join(platforms.names())}.")
        for target in wanted.targets or ():
            platforms.gpu_target(target)
        gpus = (wanted.gpus,) if isinstance(wanted.gpus, int) else tuple(wanted.gpus) if wanted.gpus is not None else None
        settings = Settings(
            device=wanted.device,
            targets=tuple(wanted.targets) if wanted.targets is not None else platforms.default_targets(),
            sandbox=wanted.sandbox,
            timing=wanted.timing,
            # Eager torch is what speedups are of, whatever stands beside it.
            baselines=tuple(dict.fromkeys(["eager", *_listed(wanted.baselines)])),
            profile=wanted.profile,
        )
        workers = wanted.workers or default_workers(device, gpus)
        return cls(device, device.sheet, settings, workers, config.concurrency or PER_WORKER * workers, gpus)

    @property
    def measured(self) -> bool:
        """Whether candidates are timed on a real device."""
        return not self.device.simulated and self.settings.timing != "off"

    def executor(self) -> LocalExecutor:
        return LocalExecutor(workers=self.workers, gpus=self.gpus, sandbox=self.settings.sandbox)


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def device_of(wanted: str) -> platforms.Device:
    """The device that candidates will run on."""
    found = platforms.detect()
    if wanted == "simulated":
        return platforms.simulated.device()
    kind = found.torch_device.partition(":")[0]
    here = [] if found.simulated else [kind, *(f"{kind}:{index}" for index in range(found.count))]
    if wanted not in ("auto", *here):
        raise unknown("executor.device", wanted, ("auto", "simulated", *here))
    return found


def default_workers(device: platforms.Device, gpus: tuple[int, ...] | None) -> int:
    """One evaluation for each core that this process may use; on real devices as many as keep each busy."""
    cores = len(os.sched_getaffinity(0))
    return cores if device.simulated else min(cores, PER_GPU * len(gpus or range(device.count)))
