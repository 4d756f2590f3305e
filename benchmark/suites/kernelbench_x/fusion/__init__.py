"""Fusion of KernelBench-X."""

from benchmark.suites.kernelbench_x.fusion import convolutions, normed_convolutions, pointwise

TASKS = (
    *convolutions.TASKS,
    *normed_convolutions.TASKS,
    *pointwise.TASKS,
)
