"""Twelve operators that show whether everything works: pointwise, reductions, norms, a loss, matmul, a fusion, int8.

Correctness cases are small, since an interpreter may run them: a natural kernel needs 64 programs at most.
"""

import torch

from benchmark.checkers import close, quantised, ties
from benchmark.draw import offset, strided, transposed
from benchmark.suites.quick import operators
from benchmark.task import Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16
POINTS = ((1 << 12,), (1 << 18,), (1 << 22,), (1 << 25,))
"""Lengths from launch-bound to bandwidth-bound for pointwise operators."""
ROWS = ((64, 512), (1024, 1024), (4096, 4096), (8192, 8192))
"""Rows and columns likewise, for what is reduced along rows."""
LOGITS = ((256, 1000), (4096, 1000), (4096, 8192), (4096, 32000))
SQUARES = ((256,), (1024,), (2048,), (4096,))


def without(tensor: torch.Tensor, axis: int, *indices: int) -> torch.Tensor:
    """`tensor` with zeros at the indices of an axis."""
    return tensor.index_fill(axis, torch.tensor(indices, device=tensor.device), 0)


TASKS = (
    Task(
        "quick/add",
        "Math",
        "kernelbench_x",
        operators.add,
        shown({
            "fp32": lambda d: {"input": d.normal(4099), "other": d.normal(4099)},
            "fp16-alpha": lambda d: {"input": d.normal(37, 41, dtype=FP16), "other": d.normal(37, 41, dtype=FP16), "alpha": 2.5},
            "bf16": lambda d: {"input": d.normal(997, dtype=BF16), "other": d.normal(997, dtype=BF16), "alpha": -1},
            "broadcast": lambda d: {"input": d.normal(17, 31), "other": d.normal(31)},
            "number": lambda d: {"input": d.normal(1009), "other": 1.5, "alpha": 2},
            "transposed": lambda d: {"input": transposed(d.normal(29, 43)), "other": d.normal(29, 43)},
            "large": lambda d: {"input": d.normal(769, scale=1e6), "other": d.outliers(769), "alpha": 0.5},
            "int64": lambda d: {"input": d.integers(-9999, 9999, 1021), "other": d.integers(-9999, 9999, 1021), "alpha": 3},
            "empty": lambda d: {"input": d.normal(0, 5), "other": d.normal(0, 5)},
        }) + hidden({
            "broadcast-both": lambda d: {"input": d.normal(5, 1, 33), "other": d.normal(7, 1), "alpha": 0.25},
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 67, dtype=BF16)), "other": strided(d.normal(13, 67, dtype=BF16), 3)},
            "offset": lambda d: {"input": offset(d.normal(2, 3, 173)), "other": offset(d.outliers(2, 3, 173), 1), "alpha": -3},
        }),
        timed(lambda d, n: {"input": d.normal(n), "other": d.normal(n)}, POINTS),
        Contract(close()),
        honest=operators.rounded_add,
    ),
    Task(
        "quick/gelu",
        "Activation",
        "kernelbench_x",
        operators.gelu,
        shown({
            "fp32": lambda d: {"input": d.normal(4099)},
            "fp32-tanh": lambda d: {"input": d.normal(31, 67), "approximate": "tanh"},
            "fp16": lambda d: {"input": d.normal(1021, dtype=FP16)},
            "bf16-tanh": lambda d: {"input": d.normal(997, dtype=BF16), "approximate": "tanh"},
            "transposed": lambda d: {"input": transposed(d.normal(29, 43))},
            "large": lambda d: {"input": d.normal(769, scale=1e4), "approximate": "tanh"},
            "small": lambda d: {"input": d.normal(769, scale=1e-5)},
            "empty": lambda d: {"input": d.normal(0)},
        }) + hidden({
            "outliers-tanh": lambda d: {"input": d.outliers(5, 7, 31), "approximate": "tanh"},
            "strided-fp16": lambda d: {"input": strided(d.normal(13, 67, dtype=FP16))},
            "offset-tails": lambda d: {"input": offset(d.uniform(1511, low=-6, high=6))},
        }),
        timed(lambda d, n: {"input": d.normal(n)}, POINTS),
        Contract(close()),
        wrong={"the other form": operators.other_gelu},
    ),
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
    Task(
        "quick/sum",
        "Reduce",
        "kernelbench_x",
        operators.sum,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 129), "dim": -1},
            "fp16-keepdim": lambda d: {"input": d.normal(131, 23, dtype=FP16), "dim": 0, "keepdim": True},
            "bf16-axes": lambda d: {"input": d.normal(5, 19, 13, dtype=BF16, shift=0.5), "dim": [0, 2]},
            "all": lambda d: {"input": d.normal(13, 71, shift=1), "dim": None},
            "wider": lambda d: {"input": d.normal(11, 257, dtype=FP16), "dim": 1, "dtype": torch.float32},
            "transposed": lambda d: {"input": transposed(d.normal(19, 61)), "dim": 1},
            "large": lambda d: {"input": d.normal(7, 509, scale=1e6, shift=1e5), "dim": 1},
            "int32": lambda d: {"input": d.integers(-1000, 1000, 13, 101, dtype=torch.int32), "dim": 1},
            "empty": lambda d: {"input": d.normal(3, 0), "dim": 1},
        }) + hidden({
            "middle": lambda d: {"input": d.normal(2, 67, 11), "dim": 1, "keepdim": True},
            "outliers": lambda d: {"input": d.outliers(17, 211), "dim": 1},
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 97, dtype=BF16)), "dim": -1},
        }),
        timed(lambda d, *s: {"input": d.normal(*s), "dim": -1}, ROWS),
        Contract(close()),
        magnitude=lambda input, dim, keepdim=False, dtype=None: torch.sum(input.abs(), dim, keepdim=keepdim, dtype=dtype),
    ),
    Task(
        "quick/argmax",
        "Reduce",
        "kernelbench_x",
        operators.argmax,
        shown({
            "fp32": lambda d: {"input_tensor": d.normal(17, 129), "dim": 1},
            "keepdim-fp16": lambda d: {"input_tensor": d.normal(13, 67, dtype=FP16, shift=20), "dim": -1, "keepdim": True},
            "bf16-axis-0": lambda d: {"input_tensor": d.normal(113, 19, dtype=BF16), "dim": 0},
            "all": lambda d: {"input_tensor": d.normal(17, 53), "dim": None},
            "ties": lambda d: {"input_tensor": d.ties(19, 83), "dim": 1},
            "negative": lambda d: {"input_tensor": d.normal(11, 131, shift=-1e4), "dim": 1},
            "transposed": lambda d: {"input_tensor": transposed(d.normal(17, 61)), "dim": 1},
            "nan": lambda d: {"input_tensor": d.normal(11, 37).masked_fill(d.uniform(11, 37) < 0.02, float("nan")), "dim": 1},
            "one-column": lambda d: {"input_tensor": d.normal(7, 1), "dim": 1},
        }) + hidden({
            "middle": lambda d: {"input_tensor": d.outliers(2, 67, 11), "dim": 1},
            "strided-bf16": lambda d: {"input_tensor": strided(d.normal(13, 97, dtype=BF16)), "dim": -1, "keepdim": True},
            "infinite": lambda d: {"input_tensor": d.normal(7, 59).masked_fill(d.uniform(7, 59) < 0.8, float("-inf")), "dim": 1},
        }),
        timed(lambda d, *s: {"input_tensor": d.normal(*s, dtype=FP16), "dim": -1}, ROWS),
        Contract(ties("input_tensor")),
    ),
    Task(
        "quick/softmax",
        "Math",
        "kernelbench_x",
        operators.softmax,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 129), "dim": -1},
            "fp16": lambda d: {"input": d.normal(13, 67, dtype=FP16), "dim": 1},
            "bf16-axis-0": lambda d: {"input": d.normal(61, 19, dtype=BF16), "dim": 0},
            "wider": lambda d: {"input": d.normal(11, 257, dtype=FP16), "dim": -1, "dtype": torch.float32},
            "middle": lambda d: {"input": d.normal(2, 47, 7, scale=3), "dim": 1},
            "transposed": lambda d: {"input": transposed(d.normal(17, 61)), "dim": -1},
            "large": lambda d: {"input": d.normal(11, 101, scale=50, shift=1e4), "dim": -1},
            "masked": lambda d: {"input": d.normal(11, 37).masked_fill(d.uniform(11, 37) < 0.5, float("-inf")), "dim": -1},
            "empty": lambda d: {"input": d.normal(0, 5), "dim": -1},
        }) + hidden({
            "outliers": lambda d: {"input": d.outliers(13, 211), "dim": 1},
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 97, dtype=BF16)), "dim": -1},
            "cube": lambda d: {"input": offset(d.normal(2, 3, 2, 53, scale=10)), "dim": 3},
        }),
        timed(lambda d, *s: {"input": d.normal(*s), "dim": -1}, ROWS),
        Contract(close("dim")),
        wrong={"no maximum subtracted": operators.naive_softmax},
    ),
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
    Task(
        "quick/cross_entropy",
        "Loss",
        "kernelbench_x",
        operators.cross_entropy,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 113), "target": d.classes(113, 17)},
            "fp32-each": lambda d: {"input": d.normal(19, 67), "target": d.classes(67, 19), "reduction": "none"},
            "fp16-each": lambda d: {"input": d.normal(31, 43, dtype=FP16), "target": d.classes(43, 31), "reduction": "none"},
            "bf16-each": lambda d: {"input": d.normal(29, 31, dtype=BF16), "target": d.classes(31, 29, ignored=-100), "reduction": "none"},
            "ignored": lambda d: {"input": d.normal(17, 29), "target": d.classes(29, 17, ignored=7), "ignore_index": 7},
            "weighted": lambda d: {"input": d.normal(23, 19), "target": d.classes(19, 23), "weight": d.uniform(19, low=0.1, high=2.0)},
            "weighted-sum": lambda d: {
                "input": d.normal(19, 23), "target": d.classes(23, 19, ignored=-100), "weight": d.uniform(23), "reduction": "sum"
            },
            "large": lambda d: {"input": d.normal(13, 101, scale=100), "target": d.classes(101, 13), "reduction": "none"},
            "pixels": lambda d: {"input": d.normal(2, 11, 7), "target": d.classes(11, 2, 7)},
        }) + hidden({
            "all-ignored": lambda d: {"input": d.normal(5, 17), "target": d.integers(2, 3, 5), "ignore_index": 2},
            "outliers": lambda d: {"input": d.outliers(11, 211), "target": d.classes(211, 11), "reduction": "sum"},
            "strided-weighted": lambda d: {
                "input": strided(d.normal(13, 97)), "target": d.classes(97, 13, ignored=-1), "weight": d.uniform(97), "ignore_index": -1
            },
        }),
        timed(lambda d, m, n: {"input": d.normal(m, n), "target": d.classes(n, m)}, LOGITS),
        # Rows may be added up one after another: thousands of roundings, whose sum is some tens of one.
        Contract(close(terms=64.0)),
        magnitude=operators.loss_terms,
    ),
    Task(
        "quick/matmul",
        "MatrixMultiply",
        "kernelbench_x",
        operators.matmul,
        shown({
            "fp32": lambda d: {"tensor1": d.normal(33, 65), "tensor2": d.normal(65, 31)},
            "fp16": lambda d: {"tensor1": d.normal(32, 128, dtype=FP16), "tensor2": d.normal(128, 32, dtype=FP16)},
            "bf16": lambda d: {"tensor1": d.normal(31, 67, dtype=BF16), "tensor2": d.normal(67, 29, dtype=BF16)},
            "transposed": lambda d: {"tensor1": transposed(d.normal(37, 53)), "tensor2": transposed(d.normal(53, 29))},
            "large": lambda d: {"tensor1": d.normal(17, 127, scale=1e3, shift=500), "tensor2": d.outliers(127, 19)},
            "batch": lambda d: {"tensor1": d.normal(2, 13, 37), "tensor2": d.normal(2, 37, 11)},
            "broadcast": lambda d: {"tensor1": d.normal(2, 1, 7, 31), "tensor2": d.normal(31, 5)},
            "vector": lambda d: {"tensor1": d.normal(17, 71), "tensor2": d.normal(71)},
            "nothing-to-sum": lambda d: {"tensor1": d.normal(3, 0), "tensor2": d.normal(0, 5)},
        }) + hidden({
            "strided-bf16": lambda d: {"tensor1": strided(d.normal(19, 83, dtype=BF16)), "tensor2": strided(d.normal(83, 23, dtype=BF16))},
            "long": lambda d: {"tensor1": d.normal(5, 1021), "tensor2": offset(d.normal(1021, 3))},
            "dot": lambda d: {"tensor1": d.normal(307), "tensor2": d.normal(307)},
        }),
        timed(lambda d, n: {"tensor1": d.normal(n, n, dtype=FP16), "tensor2": d.normal(n, n, dtype=FP16)}, SQUARES),
        Contract(close()),
        honest=lambda tensor1, tensor2: torch.matmul(tensor1.float(), tensor2.float()).to(tensor1.dtype),
        magnitude=lambda tensor1, tensor2: torch.matmul(tensor1.abs(), tensor2.abs()),
    ),
    Task(
        "quick/fused_add_gelu",
        "Fusion",
        "kernelbench_x",
        operators.fused_add_gelu,
        shown({
            "fp32": lambda d: {"input": d.normal(4099), "other": d.normal(4099)},
            "fp16-alpha": lambda d: {"input": d.normal(37, 41, dtype=FP16), "other": d.normal(37, 41, dtype=FP16), "alpha": 0.5},
            "bf16-tanh": lambda d: {"input": d.normal(997, dtype=BF16), "other": d.normal(997, dtype=BF16), "approximate": "tanh"},
            "tanh-alpha": lambda d: {"input": d.normal(1009), "other": d.normal(1009), "alpha": -2, "approximate": "tanh"},
            "bias": lambda d: {"input": d.normal(17, 31), "other": d.normal(31)},
            "number": lambda d: {"input": d.normal(769), "other": -0.75, "alpha": 2},
            "transposed": lambda d: {"input": transposed(d.normal(29, 43)), "other": d.normal(29, 43)},
            "large": lambda d: {"input": d.normal(769, scale=1e4), "other": d.outliers(769), "alpha": 3},
            "empty": lambda d: {"input": d.normal(0, 5), "other": d.normal(0, 5)},
        }) + hidden({
            "broadcast-both": lambda d: {"input": d.normal(5, 1, 33), "other": d.normal(7, 1), "approximate": "tanh"},
            "strided-bf16": lambda d: {
                "input": strided(d.normal(13, 67, dtype=BF16)), "other": d.normal(13, 67, dtype=BF16), "alpha": 0.25
            },
            "offset": lambda d: {"input": offset(d.normal(2, 3, 173)), "other": offset(d.outliers(2, 3, 173), 1), "alpha": -3},
        }),
        timed(lambda d, n: {"input": d.normal(n, dtype=FP16), "other": d.normal(n, dtype=FP16)}, POINTS),
        Contract(close()),
        honest=operators.rounded_add_gelu,
    ),
    Task(
        "quick/matmul_w8a8",
        "Quantization",
        "kernelbench_x",
        operators.matmul_w8a8,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 65), "weight": d.normal(65, 13)},
            "fp16": lambda d: {"input": d.normal(16, 128, dtype=FP16), "weight": d.normal(128, 16, dtype=FP16)},
            "bf16": lambda d: {"input": d.normal(11, 67, dtype=BF16), "weight": d.normal(67, 13, dtype=BF16)},
            "zero-column": lambda d: {"input": d.normal(7, 37), "weight": without(d.normal(37, 11), 1, 3, 7)},
            "zero-row": lambda d: {"input": without(d.normal(7, 41), 0, 5), "weight": d.normal(41, 11)},
            "mixed-ranges": lambda d: {"input": d.normal(7, 61), "weight": d.normal(61, 13) * d.uniform(13, low=0.01, high=100)},
            "outliers": lambda d: {"input": d.outliers(13, 97, factor=10, share=0.01), "weight": d.outliers(97, 11, factor=10, share=0.01)},
            "transposed": lambda d: {"input": transposed(d.normal(13, 53)), "weight": transposed(d.normal(53, 17))},
            "one": lambda d: {"input": d.normal(1, 1), "weight": d.normal(1, 1)},
        }) + hidden({
            "long": lambda d: {"input": d.normal(7, 1031), "weight": d.normal(1031, 5)},
            "shifted": lambda d: {"input": d.normal(11, 83, shift=3), "weight": d.uniform(83, 17, low=-0.01, high=0.03)},
            "strided-large": lambda d: {"input": strided(d.normal(7, 71, scale=1e4)), "weight": offset(d.normal(71, 11, scale=1e-3))},
        }),
        timed(
            lambda d, m, k, n: {"input": d.normal(m, k), "weight": d.normal(k, n)},
            ((128, 256, 512), (512, 1024, 1024), (1024, 2048, 2048), (1024, 2048, 4096)),
        ),
        Contract(quantised(), accumulate="int32"),
        wrong={
            "no quantisation": lambda input, weight: (input.float() @ weight.float()).to(input.dtype),
            "one scale each": operators.int8_by_tensor,
        },
    ),
)  # fmt: skip
