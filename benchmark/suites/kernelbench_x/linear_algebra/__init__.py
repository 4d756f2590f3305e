"""LinearAlgebra of KernelBench-X."""

from benchmark.suites.kernelbench_x.linear_algebra import determinants, factorisations, solvers, spectral

TASKS = (*factorisations.TASKS, *solvers.TASKS, *determinants.TASKS, *spectral.TASKS)
