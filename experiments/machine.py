"""Where a run takes place: device, evaluation settings, and how much goes on at once."""

import os
from dataclasses import dataclass

from tools.executor.local import LocalExecutor

from benchmark.errors import UserError
from experiments.config import RunConfig
from tools import platforms
from tools.settings import Settings

PER_WORKER = 4
"""Trajectories for each evaluation at once: while one is judged, others wait for their model."""


@dataclass(frozen=True)
class Machine:
    device: platforms.Device
    settings: Settings
    workers: int
    """Evaluations at once."""
    concurrency: int
    """Trajectories at once."""
    gpus: tuple[int, ...] | None

    @classmethod
    def of(cls, config: RunConfig) -> "Machine":
        wanted = config.executor
        device = platforms.detect()
        gpus = (wanted.gpus,) if isinstance(wanted.gpus, int) else tuple(wanted.gpus) if wanted.gpus is not None else None
        settings = Settings(
            device=wanted.device,
            targets=tuple(wanted.targets) if wanted.targets is not None else platforms.default_targets(),
            sandbox=wanted.sandbox,
            timing=wanted.timing,
        )
        workers = wanted.workers or default_workers()
        return cls(device, settings, workers, config.concurrency or PER_WORKER * workers, gpus)

    @property
    def measured(self) -> bool:
        """Whether candidates are timed on a real device."""
        return not self.device.simulated and self.settings.timing != "off"

    @property
    def sheet(self) -> platforms.HardwareSheet:
        if self.device.sheet is None:
            raise UserError(f"There is no hardware sheet for {self.device.name}; known are {', '.join(platforms.names())}.")
        return self.device.sheet

    def executor(self) -> LocalExecutor:
        return LocalExecutor(workers=self.workers, gpus=self.gpus, sandbox=self.settings.sandbox)


def default_workers() -> int:
    """One evaluation for each core that this process may use."""
    return len(os.sched_getaffinity(0))
