"""Math of KernelBench-X."""

from benchmark.suites.kernelbench_x.math import arithmetic

TASKS = (*arithmetic.TASKS,)
