"""Twelve operators that show whether everything works: pointwise, reductions, norms, a loss, matmul, a fusion, int8.

Correctness cases are small, since an interpreter may run them: a natural kernel needs 64 programs at most.
"""

from dataclasses import replace

import torch

from benchmark.checkers import close
from benchmark.draw import offset, strided, transposed
from benchmark.sizes import POINTS, ROWS
from benchmark.suites import kernelbench_x
from benchmark.suites.quick import operators
from benchmark.task import Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16


def borrowed(name: str) -> Task:
    """A task of KernelBench-X under a name of this suite."""
    declared = next(task for task in kernelbench_x.TASKS if task.name == name)
    return replace(declared, id=f"quick/{name}")


TASKS = (
    borrowed("add"),
    borrowed("gelu"),
    Task(
        "quick/silu",
        "Activation",
        "torch.nn.functional",
        operators.silu,
        shown({
            "fp32": lambda d: {"input": d.normal(4099)},
            "fp16": lambda d: {"input": d.normal(31, 67, dtype=FP16)},
            "bf16": lambda d: {"input": d.normal(997, dtype=BF16)},
            "transposed": lambda d: {"input": transposed(d.normal(29, 43))},
            "large": lambda d: {"input": d.normal(769, scale=1e4)},
            "small": lambda d: {"input": d.normal(769, scale=1e-5)},
            "cube": lambda d: {"input": d.normal(3, 5, 7, 11, scale=3)},
            "empty": lambda d: {"input": d.normal(3, 0)},
        }) + hidden({
            "outliers": lambda d: {"input": d.outliers(5, 7, 31)},
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 67, dtype=BF16), 3)},
            "offset": lambda d: {"input": offset(d.uniform(1511, low=-20, high=20))},
        }),
        timed(lambda d, n: {"input": d.normal(n, dtype=BF16)}, POINTS),
        Contract(close()),
    ),
    borrowed("sum"),
    borrowed("argmax"),
    borrowed("softmax"),
    Task(
        "quick/layer_norm",
        "Normalization",
        "torch.nn.functional",
        operators.layer_norm,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 129), "normalized_shape": [129], "weight": d.normal(129), "bias": d.normal(129)},
            "fp16": lambda d: {
                "input": d.normal(17, 67, dtype=FP16), "normalized_shape": [67],
                "weight": d.normal(67, dtype=FP16, shift=1), "bias": d.normal(67, dtype=FP16),
            },
            "bf16-axes": lambda d: {
                "input": d.normal(11, 7, 33, dtype=BF16), "normalized_shape": [7, 33],
                "weight": d.normal(7, 33, dtype=BF16, shift=1), "bias": d.normal(7, 33, dtype=BF16),
            },
            "plain": lambda d: {"input": d.normal(2, 5, 64), "normalized_shape": [64]},
            "weight-only": lambda d: {"input": d.uniform(11, 257), "normalized_shape": [257], "weight": d.normal(257), "eps": 1e-3},
            "shifted": lambda d: {"input": d.normal(11, 101, scale=2, shift=50), "normalized_shape": [101], "bias": d.normal(101)},
            "small": lambda d: {"input": d.normal(11, 83, scale=1e-3), "normalized_shape": [83]},
            "transposed": lambda d: {"input": transposed(d.normal(17, 61)), "normalized_shape": [61], "weight": d.normal(61)},
            "empty": lambda d: {"input": d.normal(0, 5), "normalized_shape": [5]},
        }) + hidden({
            "outliers": lambda d: {"input": d.outliers(13, 211), "normalized_shape": [211], "weight": d.normal(211), "bias": d.normal(211)},
            "strided-bf16": lambda d: {
                "input": strided(d.normal(13, 97, dtype=BF16)), "normalized_shape": [97],
                "weight": offset(d.normal(97, dtype=BF16)), "bias": d.normal(97, dtype=BF16),
            },
            "large": lambda d: {"input": d.normal(2, 5, 53, scale=1e4), "normalized_shape": [53], "weight": d.normal(53), "eps": 1e-6},
        }),
        timed(
            lambda d, m, n: {
                "input": d.normal(m, n, dtype=FP16), "normalized_shape": [n],
                "weight": d.normal(n, dtype=FP16), "bias": d.normal(n, dtype=FP16),
            },
            ROWS,
        ),
        Contract(close(-1)),
        magnitude=operators.norm_terms,
    ),
    Task(
        "quick/rms_norm",
        "Normalization",
        "torch.nn.functional",
        operators.rms_norm,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 129), "normalized_shape": [129], "weight": d.normal(129)},
            "fp16": lambda d: {
                "input": d.normal(17, 67, dtype=FP16), "normalized_shape": [67], "weight": d.normal(67, dtype=FP16), "eps": 1e-5
            },
            "bf16-axes": lambda d: {
                "input": d.normal(11, 7, 33, dtype=BF16), "normalized_shape": [7, 33], "weight": d.normal(7, 33, dtype=BF16)
            },
            "plain": lambda d: {"input": d.normal(2, 5, 64), "normalized_shape": [64]},
            "shifted": lambda d: {"input": d.normal(11, 101, shift=5), "normalized_shape": [101], "weight": d.normal(101), "eps": 1e-2},
            "small": lambda d: {"input": d.normal(11, 83, scale=1e-3), "normalized_shape": [83], "eps": 1e-5},
            "large": lambda d: {"input": d.normal(11, 257, scale=1e4), "normalized_shape": [257], "eps": 1e-6},
            "transposed": lambda d: {"input": transposed(d.normal(17, 61)), "normalized_shape": [61], "weight": d.normal(61)},
            "empty": lambda d: {"input": d.normal(0, 5), "normalized_shape": [5]},
        }) + hidden({
            "outliers": lambda d: {"input": d.outliers(13, 211), "normalized_shape": [211], "weight": d.normal(211)},
            "strided-bf16": lambda d: {
                "input": strided(d.normal(13, 97, dtype=BF16)), "normalized_shape": [97],
                "weight": offset(d.normal(97, dtype=BF16)), "eps": 1e-5,
            },
            "cube": lambda d: {"input": offset(d.normal(2, 5, 53)), "normalized_shape": [53], "weight": d.outliers(53), "eps": 1e-1},
        }),
        timed(lambda d, m, n: {"input": d.normal(m, n, dtype=BF16), "normalized_shape": [n], "weight": d.normal(n, dtype=BF16)}, ROWS),
        Contract(close(-1)),
    ),
    borrowed("cross_entropy"),
    borrowed("matmul"),
    borrowed("fused_add_gelu"),
    borrowed("matmul_w8a8"),
)  # fmt: skip
