"""Fusion of KernelBench-X."""

from benchmark.suites.kernelbench_x.fusion import pointwise

TASKS = (*pointwise.TASKS,)
