"""Math of KernelBench-X."""

from benchmark.suites.kernelbench_x.math import arithmetic, composed, elementary, special

TASKS = (*arithmetic.TASKS, *composed.TASKS, *elementary.TASKS, *special.TASKS)
