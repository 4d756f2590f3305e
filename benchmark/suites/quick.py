"""Twelve operators that show whether everything works: pointwise, reductions, norms, a loss, matmul, a fusion, int8.

Signatures follow KernelBench-X; torch.nn.functional's for silu, layer_norm and rms_norm. `out` parameters are dropped:
every function returns new tensors. Correctness cases are small, since an interpreter may run them: a natural kernel
needs 64 programs at most.
"""

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close, quantised, ties
from benchmark.draw import offset, strided, transposed
from benchmark.task import Contract, Task, hidden, shown, timed

FP16, BF16, INT = torch.float16, torch.bfloat16, torch.int64
POINTS = ((1 << 12,), (1 << 18,), (1 << 22,), (1 << 25,))
"""Lengths from launch-bound to bandwidth-bound for pointwise operators and whole reductions."""
ROWS = ((64, 512), (1024, 1024), (4096, 4096), (8192, 8192))


def add(input: Tensor, other: Tensor | float, alpha: float = 1) -> Tensor:
    """`input + alpha * other`, element by element, with broadcasting; `other` is a tensor or a number. Integers stay integers."""
    return torch.add(input, other, alpha=alpha)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """GELU of each element: `x * Phi(x)` with the Gaussian distribution function (`approximate="none"`, through erf), or
    `0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))` (`approximate="tanh"`)."""
    return functional.gelu(input, approximate=approximate)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """`x * sigmoid(x)` of each element, as a new tensor; `inplace` is always False here."""
    return functional.silu(input, inplace=inplace)


def sum(input: Tensor, dim: int | list[int] | None, keepdim: bool = False, dtype: torch.dtype | None = None) -> Tensor:
    """Sum over `dim`: an axis, a list of axes, or None for all. With `dtype` the input is converted to it first, and the
    result has it; without, integers are summed in int64, and floats keep their dtype. The sum of nothing is 0."""
    return torch.sum(input, dim, keepdim=keepdim, dtype=dtype)


def argmax(input_tensor: Tensor, dim: int | None, keepdim: bool = False) -> Tensor:
    """Index (int64) of the largest value along `dim`, or of the flattened tensor for None. NaN counts as the largest; any
    index that attains the maximum is right."""
    return torch.argmax(input_tensor, dim, keepdim=keepdim)


def softmax(input: Tensor, dim: int, dtype: torch.dtype | None = None) -> Tensor:
    """Softmax along `dim`, stable for large values. With `dtype` the input is converted to it first, and the result has it."""
    return torch.softmax(input, dim, dtype=dtype)


def layer_norm(
    input: Tensor, normalized_shape: list[int], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """`(x - mean) / sqrt(variance + eps) * weight + bias` over the last `len(normalized_shape)` axes, with the biased variance
    (the mean is subtracted before squaring). `weight` and `bias` have the normalized shape, and may be None."""
    return functional.layer_norm(input, normalized_shape, weight, bias, eps)


def rms_norm(input: Tensor, normalized_shape: list[int], weight: Tensor | None = None, eps: float | None = None) -> Tensor:
    """`x / sqrt(mean(x**2) + eps) * weight` over the last `len(normalized_shape)` axes. `weight` has the normalized shape, and
    may be None; eps None stands for the machine epsilon of fp32, 2**-23."""
    return functional.rms_norm(input, normalized_shape, weight, 2**-23 if eps is None else eps)


def cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean"
) -> Tensor:
    """`-weight[t] * log_softmax(input, 1)[t]` at the class index t of `target`, for logits of shape (N, C) or (N, C, d1, ...).

    Positions whose target is `ignore_index` count nothing (0 for `reduction="none"`). "sum" adds up; "mean" divides the sum
    by the sum of the targets' weights (their number without `weight`), which is NaN where every position is ignored."""
    return functional.cross_entropy(input, target, weight, ignore_index=ignore_index, reduction=reduction)


def matmul(tensor1: Tensor, tensor2: Tensor) -> Tensor:
    """Matrix product by the rules of torch.matmul: vectors, matrices, and batches of matrices with broadcasting."""
    return torch.matmul(tensor1, tensor2)


def fused_add_gelu(input: Tensor, other: Tensor | float, alpha: float = 1, approximate: str = "none") -> Tensor:
    """`gelu(input + alpha * other)` in one pass; `other` broadcasts, or is a number; `approximate` is "none" (erf) or "tanh"."""
    return functional.gelu(torch.add(input, other, alpha=alpha), approximate=approximate)


def matmul_w8a8(input: Tensor, weight: Tensor) -> Tensor:
    """`input (M, K) @ weight (K, N)` with both sides quantised to int8 on the way, symmetrically: one scale per row of `input`
    and one per column of `weight`, scale = max|values| / 127 (1 where all are zero); q = round_half_to_even(value / scale),
    clamped to -127 .. 127. The products are summed in int32, and the sum is multiplied by both scales in fp32; the result has
    the dtype of `input`."""
    scale, values = _int8(input, 1)
    scale_w, values_w = _int8(weight, 0)
    return (values @ values_w * (scale * scale_w)).to(input.dtype)


def _int8(tensor: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Scales and quantised values; these as floats, whose sums of products are exact up to 2**24 and need no int8 matmul."""
    tensor = tensor.to(torch.promote_types(tensor.dtype, torch.float32))
    top = tensor.abs().amax(axis, keepdim=True)
    scale = torch.where(top > 0, top / 127, 1.0)
    return scale, (tensor / scale).round().clamp(-127, 127)


def _int8_by_tensor(input: Tensor, weight: Tensor) -> Tensor:
    scale, values = _int8(input.reshape(1, -1), 1)
    scale_w, values_w = _int8(weight.reshape(1, -1), 1)
    return (values.reshape(input.shape) @ values_w.reshape(weight.shape) * (scale * scale_w)).to(input.dtype)


def _other_gelu(input: Tensor, approximate: str = "none") -> Tensor:
    return functional.gelu(input, approximate="tanh" if approximate == "none" else "none")


def _naive_softmax(input: Tensor, dim: int, dtype: torch.dtype | None = None) -> Tensor:
    powers = input.to(dtype or input.dtype).exp()
    return powers / powers.sum(dim, keepdim=True)


def _norm_terms(
    input: Tensor, normalized_shape: list[int], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    axes = tuple(range(-len(normalized_shape), 0))
    mean = input.mean(axes, keepdim=True)
    terms = (input.abs() + mean.abs()) / ((input - mean).square().mean(axes, keepdim=True) + eps).sqrt()
    terms = terms if weight is None else terms * weight.abs()
    return terms if bias is None else terms + bias.abs()


def _loss_terms(input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean") -> Tensor:
    terms = input.abs().amax(1) * (1.0 if weight is None else weight.max())
    return {"none": terms, "sum": terms.sum(), "mean": terms.max()}[reduction]


def _rounded_add(input: Tensor, other: Tensor | float, alpha: float = 1) -> Tensor:
    """Both steps in the input's dtype: what `x + alpha * y` of half-precision tensors does in a kernel."""
    return input + other * alpha


TASKS = (
    Task(
        "quick/add",
        "Math",
        "kernelbench_x",
        add,
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
        honest=_rounded_add,
    ),
    Task(
        "quick/gelu",
        "Activation",
        "kernelbench_x",
        gelu,
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
        wrong={"the other form": _other_gelu},
    ),
    Task(
        "quick/silu",
        "Activation",
        "torch.nn.functional",
        silu,
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
        sum,
        shown({
            "fp32": lambda d: {"input": d.normal(37, 129), "dim": -1},
            "fp16-keepdim": lambda d: {"input": d.normal(131, 47, dtype=FP16), "dim": 0, "keepdim": True},
            "bf16-axes": lambda d: {"input": d.normal(5, 41, 13, dtype=BF16, shift=0.5), "dim": [0, 2]},
            "all": lambda d: {"input": d.normal(13, 71, shift=1), "dim": None},
            "wider": lambda d: {"input": d.normal(19, 257, dtype=FP16), "dim": 1, "dtype": torch.float32},
            "transposed": lambda d: {"input": transposed(d.normal(43, 61)), "dim": 1},
            "large": lambda d: {"input": d.normal(11, 509, scale=1e6, shift=1e5), "dim": 1},
            "int32": lambda d: {"input": d.integers(-1000, 1000, 23, 101, dtype=torch.int32), "dim": 1},
            "empty": lambda d: {"input": d.normal(3, 0), "dim": 1},
        }) + hidden({
            "middle": lambda d: {"input": d.normal(3, 67, 17), "dim": 1, "keepdim": True},
            "outliers": lambda d: {"input": d.outliers(31, 211), "dim": 1},
            "strided-bf16": lambda d: {"input": strided(d.normal(29, 97, dtype=BF16)), "dim": -1},
        }),
        timed(lambda d, *s: {"input": d.normal(*s), "dim": -1}, ROWS),
        Contract(close()),
        magnitude=lambda input, dim, keepdim=False, dtype=None: torch.sum(input.abs(), dim, keepdim=keepdim, dtype=dtype),
    ),
    Task(
        "quick/argmax",
        "Reduce",
        "kernelbench_x",
        argmax,
        shown({
            "fp32": lambda d: {"input_tensor": d.normal(37, 129), "dim": 1},
            "keepdim-fp16": lambda d: {"input_tensor": d.normal(31, 67, dtype=FP16, shift=20), "dim": -1, "keepdim": True},
            "bf16-axis-0": lambda d: {"input_tensor": d.normal(113, 29, dtype=BF16), "dim": 0},
            "all": lambda d: {"input_tensor": d.normal(17, 53), "dim": None},
            "ties": lambda d: {"input_tensor": d.ties(41, 83), "dim": 1},
            "negative": lambda d: {"input_tensor": d.normal(19, 131, shift=-1e4), "dim": 1},
            "transposed": lambda d: {"input_tensor": transposed(d.normal(43, 61)), "dim": 1},
            "nan": lambda d: {"input_tensor": d.normal(13, 37).masked_fill(d.uniform(13, 37) < 0.02, float("nan")), "dim": 1},
            "one-column": lambda d: {"input_tensor": d.normal(7, 1), "dim": 1},
        }) + hidden({
            "middle": lambda d: {"input_tensor": d.outliers(3, 67, 17), "dim": 1},
            "strided-bf16": lambda d: {"input_tensor": strided(d.normal(29, 97, dtype=BF16)), "dim": -1, "keepdim": True},
            "infinite": lambda d: {"input_tensor": d.normal(11, 59).masked_fill(d.uniform(11, 59) < 0.8, float("-inf")), "dim": 1},
        }),
        timed(lambda d, *s: {"input_tensor": d.normal(*s, dtype=FP16), "dim": -1}, ROWS),
        Contract(ties("input_tensor")),
    ),
    Task(
        "quick/softmax",
        "Math",
        "kernelbench_x",
        softmax,
        shown({
            "fp32": lambda d: {"input": d.normal(37, 129), "dim": -1},
            "fp16": lambda d: {"input": d.normal(31, 67, dtype=FP16), "dim": 1},
            "bf16-axis-0": lambda d: {"input": d.normal(61, 29, dtype=BF16), "dim": 0},
            "wider": lambda d: {"input": d.normal(19, 257, dtype=FP16), "dim": -1, "dtype": torch.float32},
            "middle": lambda d: {"input": d.normal(3, 47, 11, scale=3), "dim": 1},
            "transposed": lambda d: {"input": transposed(d.normal(43, 61)), "dim": -1},
            "large": lambda d: {"input": d.normal(17, 101, scale=50, shift=1e4), "dim": -1},
            "masked": lambda d: {"input": d.normal(13, 37).masked_fill(d.uniform(13, 37) < 0.5, float("-inf")), "dim": -1},
            "empty": lambda d: {"input": d.normal(0, 5), "dim": -1},
        }) + hidden({
            "outliers": lambda d: {"input": d.outliers(23, 211), "dim": 1},
            "strided-bf16": lambda d: {"input": strided(d.normal(29, 97, dtype=BF16)), "dim": -1},
            "cube": lambda d: {"input": offset(d.normal(2, 3, 5, 53, scale=10)), "dim": 3},
        }),
        timed(lambda d, *s: {"input": d.normal(*s), "dim": -1}, ROWS),
        Contract(close("dim")),
        wrong={"no maximum subtracted": _naive_softmax},
    ),
    Task(
        "quick/layer_norm",
        "Normalization",
        "torch.nn.functional",
        layer_norm,
        shown({
            "fp32": lambda d: {"input": d.normal(37, 129), "normalized_shape": [129], "weight": d.normal(129), "bias": d.normal(129)},
            "fp16": lambda d: {
                "input": d.normal(31, 67, dtype=FP16), "normalized_shape": [67],
                "weight": d.normal(67, dtype=FP16, shift=1), "bias": d.normal(67, dtype=FP16),
            },
            "bf16-axes": lambda d: {
                "input": d.normal(11, 7, 33, dtype=BF16), "normalized_shape": [7, 33],
                "weight": d.normal(7, 33, dtype=BF16, shift=1), "bias": d.normal(7, 33, dtype=BF16),
            },
            "plain": lambda d: {"input": d.normal(3, 13, 64), "normalized_shape": [64]},
            "weight-only": lambda d: {"input": d.uniform(19, 257), "normalized_shape": [257], "weight": d.normal(257), "eps": 1e-3},
            "shifted": lambda d: {"input": d.normal(23, 101, scale=2, shift=50), "normalized_shape": [101], "bias": d.normal(101)},
            "small": lambda d: {"input": d.normal(17, 83, scale=1e-3), "normalized_shape": [83]},
            "transposed": lambda d: {"input": transposed(d.normal(43, 61)), "normalized_shape": [61], "weight": d.normal(61)},
            "empty": lambda d: {"input": d.normal(0, 5), "normalized_shape": [5]},
        }) + hidden({
            "outliers": lambda d: {"input": d.outliers(29, 211), "normalized_shape": [211], "weight": d.normal(211), "bias": d.normal(211)},
            "strided-bf16": lambda d: {
                "input": strided(d.normal(29, 97, dtype=BF16)), "normalized_shape": [97],
                "weight": offset(d.normal(97, dtype=BF16)), "bias": d.normal(97, dtype=BF16),
            },
            "large": lambda d: {"input": d.normal(2, 9, 53, scale=1e4), "normalized_shape": [53], "weight": d.normal(53), "eps": 1e-6},
        }),
        timed(
            lambda d, m, n: {
                "input": d.normal(m, n, dtype=FP16), "normalized_shape": [n], "weight": d.normal(n, dtype=FP16), "bias": d.normal(n, dtype=FP16)
            },
            ROWS,
        ),
        Contract(close(-1)),
        magnitude=_norm_terms,
    ),
    Task(
        "quick/rms_norm",
        "Normalization",
        "torch.nn.functional",
        rms_norm,
        shown({
            "fp32": lambda d: {"input": d.normal(37, 129), "normalized_shape": [129], "weight": d.normal(129)},
            "fp16": lambda d: {"input": d.normal(31, 67, dtype=FP16), "normalized_shape": [67], "weight": d.normal(67, dtype=FP16), "eps": 1e-5},
            "bf16-axes": lambda d: {"input": d.normal(11, 7, 33, dtype=BF16), "normalized_shape": [7, 33], "weight": d.normal(7, 33, dtype=BF16)},
            "plain": lambda d: {"input": d.normal(3, 13, 64), "normalized_shape": [64]},
            "shifted": lambda d: {"input": d.normal(23, 101, shift=5), "normalized_shape": [101], "weight": d.normal(101), "eps": 1e-2},
            "small": lambda d: {"input": d.normal(17, 83, scale=1e-3), "normalized_shape": [83], "eps": 1e-5},
            "large": lambda d: {"input": d.normal(19, 257, scale=1e4), "normalized_shape": [257], "eps": 1e-6},
            "transposed": lambda d: {"input": transposed(d.normal(43, 61)), "normalized_shape": [61], "weight": d.normal(61)},
            "empty": lambda d: {"input": d.normal(0, 5), "normalized_shape": [5]},
        }) + hidden({
            "outliers": lambda d: {"input": d.outliers(29, 211), "normalized_shape": [211], "weight": d.normal(211)},
            "strided-bf16": lambda d: {
                "input": strided(d.normal(29, 97, dtype=BF16)), "normalized_shape": [97], "weight": offset(d.normal(97, dtype=BF16)), "eps": 1e-5
            },
            "cube": lambda d: {"input": offset(d.normal(2, 9, 53)), "normalized_shape": [53], "weight": d.outliers(53), "eps": 1e-1},
        }),
        timed(lambda d, m, n: {"input": d.normal(m, n, dtype=BF16), "normalized_shape": [n], "weight": d.normal(n, dtype=BF16)}, ROWS),
        Contract(close(-1)),
    ),
    Task(
        "quick/cross_entropy",
        "Loss",
        "kernelbench_x",
        cross_entropy,
        shown({
            "fp32": lambda d: {"input": d.normal(37, 113), "target": d.classes(113, 37)},
            "fp32-each": lambda d: {"input": d.normal(41, 67), "target": d.classes(67, 41), "reduction": "none"},
            "fp16-each": lambda d: {"input": d.normal(61, 43, dtype=FP16), "target": d.classes(43, 61), "reduction": "none"},
            "bf16-each": lambda d: {"input": d.normal(59, 31, dtype=BF16), "target": d.classes(31, 59, ignored=-100), "reduction": "none"},
            "ignored": lambda d: {"input": d.normal(53, 29), "target": d.classes(29, 53, ignored=7), "ignore_index": 7},
            "weighted": lambda d: {"input": d.normal(47, 19), "target": d.classes(19, 47), "weight": d.uniform(19, low=0.1, high=2.0)},
            "weighted-sum": lambda d: {
                "input": d.normal(43, 23), "target": d.classes(23, 43, ignored=-100), "weight": d.uniform(23), "reduction": "sum"
            },
            "large": lambda d: {"input": d.normal(31, 101, scale=100), "target": d.classes(101, 31), "reduction": "none"},
            "pixels": lambda d: {"input": d.normal(3, 11, 13), "target": d.classes(11, 3, 13)},
        }) + hidden({
            "all-ignored": lambda d: {"input": d.normal(5, 17), "target": d.integers(2, 3, 5), "ignore_index": 2},
            "outliers": lambda d: {"input": d.outliers(29, 211), "target": d.classes(211, 29), "reduction": "sum"},
            "strided-weighted": lambda d: {
                "input": strided(d.normal(29, 97)), "target": d.classes(97, 29, ignored=-1), "weight": d.uniform(97), "ignore_index": -1
            },
        }),
        timed(lambda d, m, n: {"input": d.normal(m, n), "target": d.classes(n, m)}, ((256, 1000), (4096, 1000), (4096, 8192), (8192, 32000))),
        Contract(close()),
        magnitude=_loss_terms,
    ),
    Task(
        "quick/matmul",
        "MatrixMultiply",
        "kernelbench_x",
        matmul,
        shown({
            "fp32": lambda d: {"tensor1": d.normal(33, 65), "tensor2": d.normal(65, 47)},
            "fp16": lambda d: {"tensor1": d.normal(64, 128, dtype=FP16), "tensor2": d.normal(128, 32, dtype=FP16)},
            "bf16": lambda d: {"tensor1": d.normal(31, 67, dtype=BF16), "tensor2": d.normal(67, 29, dtype=BF16)},
            "transposed": lambda d: {"tensor1": transposed(d.normal(37, 53)), "tensor2": transposed(d.normal(53, 41))},
            "large": lambda d: {"tensor1": d.normal(17, 127, scale=1e3, shift=500), "tensor2": d.outliers(127, 19)},
            "batch": lambda d: {"tensor1": d.normal(3, 13, 37), "tensor2": d.normal(3, 37, 11)},
            "broadcast": lambda d: {"tensor1": d.normal(2, 2, 7, 31), "tensor2": d.normal(31, 5)},
            "vector": lambda d: {"tensor1": d.normal(29, 71), "tensor2": d.normal(71)},
            "nothing-to-sum": lambda d: {"tensor1": d.normal(3, 0), "tensor2": d.normal(0, 5)},
        }) + hidden({
            "strided-bf16": lambda d: {"tensor1": strided(d.normal(19, 83, dtype=BF16)), "tensor2": strided(d.normal(83, 23, dtype=BF16))},
            "long": lambda d: {"tensor1": d.normal(5, 1021), "tensor2": offset(d.normal(1021, 3))},
            "dot": lambda d: {"tensor1": d.normal(307), "tensor2": d.normal(307)},
        }),
        timed(lambda d, n: {"tensor1": d.normal(n, n, dtype=FP16), "tensor2": d.normal(n, n, dtype=FP16)}, ((256,), (1024,), (2048,), (4096,))),
        Contract(close()),
        honest=lambda tensor1, tensor2: torch.matmul(tensor1.float(), tensor2.float()).to(tensor1.dtype),
        magnitude=lambda tensor1, tensor2: torch.matmul(tensor1.abs(), tensor2.abs()),
    ),
    Task(
        "quick/fused_add_gelu",
        "Fusion",
        "kernelbench_x",
        fused_add_gelu,
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
            "strided-bf16": lambda d: {"input": strided(d.normal(13, 67, dtype=BF16)), "other": d.normal(13, 67, dtype=BF16), "alpha": 0.25},
            "offset": lambda d: {"input": offset(d.normal(2, 3, 173)), "other": offset(d.outliers(2, 3, 173), 1), "alpha": -3},
        }),
        timed(lambda d, n: {"input": d.normal(n, dtype=FP16), "other": d.normal(n, dtype=FP16)}, POINTS),
        Contract(close()),
        honest=lambda input, other, alpha=1, approximate="none": functional.gelu(_rounded_add(input, other, alpha), approximate=approximate),
    ),
    Task(
        "quick/matmul_w8a8",
        "Quantization",
        "kernelbench_x",
        matmul_w8a8,
        shown({
            "fp32": lambda d: {"input": d.normal(33, 65), "weight": d.normal(65, 47)},
            "fp16": lambda d: {"input": d.normal(32, 128, dtype=FP16), "weight": d.normal(128, 32, dtype=FP16)},
            "bf16": lambda d: {"input": d.normal(31, 67, dtype=BF16), "weight": d.normal(67, 29, dtype=BF16)},
            "zero-column": lambda d: {"input": d.normal(17, 37), "weight": d.normal(37, 19).index_fill(1, torch.tensor([3, 7], device=d.device), 0)},
            "zero-row": lambda d: {"input": d.normal(13, 41).index_fill(0, torch.tensor([5], device=d.device), 0), "weight": d.normal(41, 17)},
            "mixed-ranges": lambda d: {"input": d.normal(16, 64), "weight": d.normal(64, 16) * d.uniform(16, low=0.01, high=100)},
            "outliers": lambda d: {"input": d.outliers(23, 97, factor=10, share=0.01), "weight": d.outliers(97, 29, factor=10, share=0.01)},
            "transposed": lambda d: {"input": transposed(d.normal(37, 53)), "weight": transposed(d.normal(53, 41))},
            "one": lambda d: {"input": d.normal(1, 1), "weight": d.normal(1, 1)},
        }) + hidden({
            "long": lambda d: {"input": d.normal(7, 1031), "weight": offset(d.normal(1031, 5))},
            "shifted": lambda d: {"input": d.normal(29, 83, shift=3), "weight": d.uniform(83, 31, low=-0.01, high=0.03)},
            "strided-large": lambda d: {"input": strided(d.normal(19, 71, scale=1e4)), "weight": d.normal(71, 23, scale=1e-3)},
        }),
        timed(
            lambda d, m, k, n: {"input": d.normal(m, k), "weight": d.normal(k, n)},
            ((128, 256, 512), (512, 1024, 1024), (1024, 2048, 2048), (1024, 2048, 4096)),
        ),
        Contract(quantised(), accumulate="int32"),
        wrong={
            "no quantisation": lambda input, weight: (input.float() @ weight.float()).to(input.dtype),
            "one scale each": _int8_by_tensor,
        },
    ),
)  # fmt: skip
