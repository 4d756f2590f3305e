"""Fusion of KernelBench-X."""

from benchmark.suites.kernelbench_x.fusion import (
    attention,
    convolutions,
    dropouts,
    fractional,
    indexing,
    linears,
    losses,
    normed_convolutions,
    norms,
    pointwise,
    pooling,
    products,
    reductions,
    solvers,
    stacking,
)

TASKS = (
    *attention.TASKS,
    *convolutions.TASKS,
    *dropouts.TASKS,
    *fractional.TASKS,
    *indexing.TASKS,
    *linears.TASKS,
    *losses.TASKS,
    *normed_convolutions.TASKS,
    *norms.TASKS,
    *pointwise.TASKS,
    *pooling.TASKS,
    *products.TASKS,
    *reductions.TASKS,
    *solvers.TASKS,
    *stacking.TASKS,
)
