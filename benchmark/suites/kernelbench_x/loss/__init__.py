"""Loss of KernelBench-X."""

from benchmark.suites.kernelbench_x.loss import classes, pairs

TASKS = (*classes.TASKS, *pairs.TASKS)
