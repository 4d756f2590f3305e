"""Fusion of KernelBench-X."""

from benchmark.suites.kernelbench_x.fusion import convolutions, linears, normed_convolutions, norms, pointwise, pooling, reductions

TASKS = (
    *convolutions.TASKS,
    *linears.TASKS,
    *normed_convolutions.TASKS,
    *norms.TASKS,
    *pointwise.TASKS,
    *pooling.TASKS,
    *reductions.TASKS,
)
