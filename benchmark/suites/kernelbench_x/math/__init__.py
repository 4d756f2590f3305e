"""Math of KernelBench-X."""

from benchmark.suites.kernelbench_x.math import arithmetic, bits, composed, elementary, fourier, special

TASKS = (*arithmetic.TASKS, *bits.TASKS, *composed.TASKS, *elementary.TASKS, *fourier.TASKS, *special.TASKS)
