"""KernelBench-X (arXiv 2605.04956): its 176 operators by name and signature, with references, cases and contracts of our own."""

from benchmark.suites.kernelbench_x import (
    activation,
    convolution,
    fusion,
    index,
    linear_algebra,
    loss,
    math,
    matrix_multiply,
    normalization,
    optimizer,
    pooling,
    quantization,
    random,
    reduce,
    spatial_ops,
)

TASKS = (
    *activation.TASKS,
    *convolution.TASKS,
    *fusion.TASKS,
    *index.TASKS,
    *linear_algebra.TASKS,
    *loss.TASKS,
    *math.TASKS,
    *matrix_multiply.TASKS,
    *normalization.TASKS,
    *optimizer.TASKS,
    *pooling.TASKS,
    *quantization.TASKS,
    *random.TASKS,
    *reduce.TASKS,
    *spatial_ops.TASKS,
)
