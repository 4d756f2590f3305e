"""MatrixMultiply of KernelBench-X."""

from benchmark.suites.kernelbench_x.matrix_multiply import followed, products

TASKS = (*products.TASKS, *followed.TASKS)
