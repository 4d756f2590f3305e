"""Operators that recorded kernels of language models implement, and that KernelBench-X does not list (any more).

Names and signatures are those of the recordings (`benchmarks/judge_corpus.py` judges them); references, cases and contracts are ours.
"""

import torch

from benchmark.checkers import close, exact
from benchmark.checkers.solutions import solution
from benchmark.draw import offset, strided, transposed
from benchmark.sizes import POINTS, ROWS, SQUARES
from benchmark.suites.corpus import operators
from benchmark.suites.kernelbench_x.convolution import LAYERS, drawn, layer
from benchmark.task import Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16
TASKS = (
    Task(
        "corpus/sqrt",
        "Math",
        "torch",
        operators.sqrt,
        shown({
            "fp32": lambda d: {"input": d.uniform(4099, high=10)},
            "fp16": lambda d: {"input": d.uniform(31, 67, high=4, dtype=FP16)},
            "bf16": lambda d: {"input": d.uniform(997, high=4, dtype=BF16)},
            "with-negative": lambda d: {"input": d.normal(769)},
            "edges": lambda d: {"input": d.uniform(256) * torch.tensor([0.0, -0.0, 1.0, float("inf")], device=d.device).repeat(64)},
            "transposed": lambda d: {"input": transposed(d.uniform(29, 43))},
            "large": lambda d: {"input": d.uniform(769, high=1e30)},
            "empty": lambda d: {"input": d.uniform(0)},
        }) + hidden({
            "tiny": lambda d: {"input": d.uniform(1021, high=1e-30)},
            "strided-bf16": lambda d: {"input": strided(d.uniform(13, 67, dtype=BF16))},
        }),
        timed(lambda d, n: {"input": d.uniform(n)}, POINTS),
        Contract(close()),
        wrong={"of the absolute value": lambda input: input.abs().sqrt()},
    ),
    Task(
        "corpus/scaled_add_norm",
        "MatrixMultiply",
        "fused",
        operators.scaled_add_norm,
        shown({
            "fp32": lambda d: {"y": d.normal(4099), "x": d.normal(4099), "alpha": 0.5},
            "fp16": lambda d: {"y": d.normal(2053, dtype=FP16), "x": d.normal(2053, dtype=FP16), "alpha": -1.5},
            "bf16": lambda d: {"y": d.normal(997, dtype=BF16), "x": d.normal(997, dtype=BF16), "alpha": 2.0},
            "large": lambda d: {"y": d.normal(769, scale=1e4), "x": d.normal(769, scale=1e3), "alpha": 3.0},
            "small": lambda d: {"y": d.normal(1021, scale=1e-5), "x": d.normal(1021, scale=1e-5), "alpha": 0.1},
            "one": lambda d: {"y": d.normal(1), "x": d.normal(1), "alpha": 1.0},
            "matrix": lambda d: {"y": d.normal(31, 43), "x": d.normal(31, 43), "alpha": 0.25},
        }) + hidden({
            "outliers": lambda d: {"y": d.outliers(1511), "x": d.normal(1511), "alpha": 0.7},
            "offset": lambda d: {"y": offset(d.normal(2053)), "x": offset(d.normal(2053)), "alpha": -0.3},
        }),
        timed(lambda d, n: {"y": d.normal(n), "x": d.normal(n), "alpha": 0.5}, POINTS),
        Contract(close(), mutates=("y",)),
        honest=operators.norm_in_fp32,
        wrong={"the old norm": operators.old_norm, "y is not written": lambda y, x, alpha: torch.linalg.vector_norm(y + alpha * x)},
    ),
    Task(
        "corpus/logsumexp",
        "Reduce",
        "torch",
        operators.logsumexp,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 129), "dim": 1},
            "keepdim-fp16": lambda d: {"input": d.normal(13, 67, dtype=FP16), "dim": -1, "keepdim": True},
            "bf16-axis-0": lambda d: {"input": d.normal(113, 19, dtype=BF16), "dim": 0},
            "large": lambda d: {"input": d.normal(11, 131, scale=100, shift=500), "dim": 1},
            "negative": lambda d: {"input": d.normal(11, 131, shift=-1e4), "dim": 1},
            "middle": lambda d: {"input": d.normal(3, 67, 11), "dim": 1},
            "transposed": lambda d: {"input": transposed(d.normal(17, 61)), "dim": 1},
            "some-infinite": lambda d: {"input": d.normal(7, 59).masked_fill(d.uniform(7, 59) < 0.3, float("-inf")), "dim": 1},
            "one-column": lambda d: {"input": d.normal(7, 1), "dim": 1},
        }) + hidden({
            "outliers": lambda d: {"input": d.outliers(13, 211), "dim": 1, "keepdim": True},
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 97, dtype=BF16)), "dim": -1},
        }),
        timed(lambda d, *s: {"input": d.normal(*s), "dim": -1}, ROWS),
        Contract(close()),
        wrong={"no maximum subtracted": operators.sum_without_maximum},
    ),
    Task(
        "corpus/gather",
        "Index",
        "torch",
        operators.gather,
        shown({
            "fp32": lambda d: {"input": d.normal(31, 43), "dim": 1, "index": d.classes(43, 31, 17)},
            "rows": lambda d: {"input": d.normal(31, 43), "dim": 0, "index": d.classes(31, 67, 43)},
            "fp16": lambda d: {"input": d.normal(29, 67, dtype=FP16), "dim": 1, "index": d.classes(67, 29, 67)},
            "bf16-line": lambda d: {"input": d.normal(997, dtype=BF16), "dim": 0, "index": d.classes(997, 1511)},
            "cube": lambda d: {"input": d.normal(5, 11, 13), "dim": 1, "index": d.classes(11, 5, 7, 13)},
            "smaller": lambda d: {"input": d.normal(19, 23), "dim": 1, "index": d.classes(23, 11, 31)},
            "int64": lambda d: {"input": d.integers(-1000, 1000, 17, 31), "dim": 0, "index": d.classes(17, 5, 31)},
            "transposed": lambda d: {"input": transposed(d.normal(17, 29)), "dim": 1, "index": transposed(d.classes(29, 17, 13))},
        }) + hidden({
            "last-axis": lambda d: {"input": d.outliers(3, 7, 31), "dim": 2, "index": d.classes(31, 3, 7, 17)},
            "strided": lambda d: {"input": strided(d.normal(13, 37)), "dim": 0, "index": d.classes(13, 29, 37)},
        }),
        timed(lambda d, m, n: {"input": d.normal(m, n), "dim": 1, "index": d.classes(n, m, n)}, ROWS),
        Contract(exact()),
        wrong={"the first ones": lambda input, dim, index: input.flatten()[index.flatten() % input.numel()].reshape(index.shape)},
    ),
    Task(
        "corpus/max_pool2d",
        "Pooling",
        "torch.nn.functional",
        operators.max_pool2d,
        shown({
            "fp32": lambda d: {"input": d.normal(2, 5, 17, 13), "kernel_size": 2},
            "fp16": lambda d: {"input": d.normal(2, 4, 16, 16, dtype=FP16), "kernel_size": 3, "stride": 2, "padding": 1},
            "bf16": lambda d: {"input": d.normal(2, 3, 11, 19, dtype=BF16), "kernel_size": (2, 3), "stride": 1},
            "pairs": lambda d: {
                "input": d.normal(1, 3, 19, 23), "kernel_size": (3, 2), "stride": (2, 3), "padding": (1, 0), "dilation": (1, 2)
            },
            "dilated": lambda d: {"input": d.normal(2, 3, 17, 15), "kernel_size": 3, "stride": 1, "padding": 1, "dilation": 2},
            "negative": lambda d: {"input": d.normal(1, 3, 13, 11, shift=-50), "kernel_size": 3, "stride": 2, "padding": 1},
            "transposed": lambda d: {"input": transposed(d.normal(2, 3, 12, 16)), "kernel_size": 2},
        }) + hidden({
            "outliers": lambda d: {"input": d.outliers(2, 3, 19, 23), "kernel_size": 4, "stride": 3, "padding": 2},
            "strided-bf16": lambda d: {"input": strided(d.normal(2, 3, 9, 13, dtype=BF16)), "kernel_size": 3},
        }),
        timed(
            lambda d, n, c, side: {"input": d.normal(n, c, side, side), "kernel_size": 2},
            ((1, 3, 64), (8, 64, 56), (16, 64, 112), (32, 128, 112)),
        ),
        Contract(exact()),
        wrong={"padded with zeros": operators.padded_with_zeros},
    ),
    Task(
        "corpus/tensordot",
        "MatrixMultiply",
        "torch",
        operators.tensordot,
        shown({
            "fp32": lambda d: {"a": d.normal(5, 7, 11), "b": d.normal(7, 11, 13), "dims": 2},
            "fp16": lambda d: {"a": d.normal(17, 64, dtype=FP16), "b": d.normal(64, 19, dtype=FP16), "dims": 1},
            "bf16": lambda d: {"a": d.normal(3, 5, 37, dtype=BF16), "b": d.normal(37, 11, dtype=BF16), "dims": 1},
            "axes": lambda d: {"a": d.normal(7, 13, 5), "b": d.normal(5, 11, 7), "dims": ([2, 0], [0, 2])},
            "outer": lambda d: {"a": d.normal(13, 3), "b": d.normal(17), "dims": 0},
            "large": lambda d: {"a": d.normal(11, 61, scale=1e3), "b": d.outliers(61, 7), "dims": 1},
            "transposed": lambda d: {"a": transposed(d.normal(19, 31)), "b": transposed(d.normal(31, 23)), "dims": 1},
        }) + hidden({
            "axes-of-four": lambda d: {"a": d.normal(3, 5, 7, 4), "b": d.normal(7, 6, 5), "dims": ([1, 2], [2, 0])},
            "strided": lambda d: {"a": strided(d.normal(17, 41)), "b": offset(d.normal(41, 13)), "dims": 1},
        }),
        timed(lambda d, n: {"a": d.normal(n, n, dtype=FP16), "b": d.normal(n, n, dtype=FP16), "dims": 1}, SQUARES),
        Contract(close()),
        honest=operators.tensordot_once,
        magnitude=operators.tensordot_terms,
    ),
    Task(
        "corpus/fused_sigmoid_conv2d",
        "Fusion",
        "fused",
        operators.fused_sigmoid_conv2d,
        shown({
            "fp32": lambda d: drawn(d, (2, 3, 13, 11), (7, 3, 3, 3), 7),
            "fp16": lambda d: drawn(d, (1, 8, 12, 12), (8, 8, 3, 3), 8, FP16) | {"padding": 1},
            "bf16": lambda d: drawn(d, (2, 5, 9, 14), (6, 5, 3, 3), 6, BF16) | {"padding": 1},
            "stride": lambda d: drawn(d, (2, 4, 17, 19), (8, 4, 3, 3)) | {"stride": 2, "padding": 1},
            "dilation": lambda d: drawn(d, (1, 3, 19, 17), (5, 3, 3, 3), 5) | {"dilation": 2, "padding": 2},
            "groups": lambda d: drawn(d, (2, 6, 11, 13), (9, 2, 3, 3), 9) | {"groups": 3},
            "pointwise": lambda d: drawn(d, (1, 13, 11, 17), (5, 13, 1, 1), 5),
            "large": lambda d: drawn(d, (1, 7, 13, 13), (3, 7, 3, 3), 3, scale=100.0),
        }) + hidden({
            "small": lambda d: drawn(d, (1, 7, 13, 13), (3, 7, 3, 3), scale=1e-3) | {"padding": 2},
            "strided": lambda d: {n: strided(t) for n, t in drawn(d, (2, 4, 9, 11), (6, 2, 3, 3), 6).items()} | {"groups": 2},
        }),
        timed(layer, LAYERS),
        Contract(close()),
        honest=operators.conv_once,
        magnitude=operators.conv_terms,
        wrong={"no bias": lambda bias=None, **a: operators.fused_sigmoid_conv2d(**a)},
    ),
    Task(
        "corpus/least_squares_qr",
        "LinearAlgebra",
        "torch.linalg",
        operators.least_squares_qr,
        shown({
            "fp32": lambda d: {"A": d.normal(17, 11), "b": d.normal(17)},
            "columns": lambda d: {"A": d.normal(31, 13), "b": d.normal(31, 5), "mode": "reduced"},
            "square": lambda d: {"A": d.normal(13, 13), "b": d.normal(13, 3)},
            "batch": lambda d: {"A": d.normal(3, 19, 7), "b": d.normal(3, 19, 2)},
            "large": lambda d: {"A": d.normal(23, 5, scale=1e3), "b": d.normal(23, 1, scale=1e-2)},
            "fp64": lambda d: {"A": d.normal(19, 7, dtype=torch.float64), "b": d.normal(19, dtype=torch.float64)},
            "one": lambda d: {"A": d.normal(1, 1, shift=3), "b": d.normal(1)},
        }) + hidden({
            "tall": lambda d: {"A": d.normal(101, 3), "b": d.normal(101, 2)},
            "transposed": lambda d: {"A": transposed(d.normal(29, 17)), "b": transposed(d.normal(29, 3))},
        }),
        timed(lambda d, m, n: {"A": d.normal(m, n), "b": d.normal(m, 8)}, ((64, 16), (256, 64), (1024, 128), (2048, 256))),
        Contract(solution()),
        truth=operators.system,
        wrong={"the normal equations without b": lambda A, b, **options: operators.least_squares_qr(A, b * 0 + 1)},
    ),
    Task(
        "corpus/autocast",
        "Math",
        "torch",
        operators.autocast,
        shown({
            "fp32": lambda d: {"a": d.normal(17, 61), "b": d.normal(61, 13)},
            "square": lambda d: {"a": d.normal(32, 32), "b": d.normal(32, 32)},
            "large": lambda d: {"a": d.normal(11, 43, scale=30), "b": d.normal(43, 7)},
            "transposed": lambda d: {"a": transposed(d.normal(19, 31)), "b": transposed(d.normal(31, 23))},
            "row": lambda d: {"a": d.normal(1, 31), "b": d.normal(31, 67)},
        }) + hidden({
            "long": lambda d: {"a": d.normal(17, 257), "b": d.normal(257, 13)},
            "strided": lambda d: {"a": strided(d.normal(7, 37)), "b": offset(d.normal(37, 11))},
        }),
        timed(lambda d, n: {"a": d.normal(n, n), "b": d.normal(n, n)}, SQUARES),
        Contract(close()),
        honest=operators.mixed,
        magnitude=operators.mixed_terms,
        wrong={"in bf16": lambda a, b: (a.bfloat16() @ b.bfloat16()).half()},
    ),
)  # fmt: skip
