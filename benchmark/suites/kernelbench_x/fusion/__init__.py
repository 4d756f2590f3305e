"""Fusion of KernelBench-X."""

from benchmark.suites.kernelbench_x.fusion import (
    attention,
    convolutions,
    indexing,
    linears,
    losses,
    normed_convolutions,
    norms,
    pointwise,
    pooling,
    reductions,
    solvers,
    stacking,
)

TASKS = (
    *attention.TASKS,
    *convolutions.TASKS,
    *indexing.TASKS,
    *linears.TASKS,
    *losses.TASKS,
    *normed_convolutions.TASKS,
    *norms.TASKS,
    *pointwise.TASKS,
    *pooling.TASKS,
    *reductions.TASKS,
    *solvers.TASKS,
    *stacking.TASKS,
)
