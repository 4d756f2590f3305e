"""Quantization of KernelBench-X."""

import torch
from torch import Tensor

from benchmark.checkers import quantised
from benchmark.draw import offset, strided, transposed, without
from benchmark.task import Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16


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


def int8_by_tensor(input: Tensor, weight: Tensor) -> Tensor:
    scale, values = _int8(input.reshape(1, -1), 1)
    scale_w, values_w = _int8(weight.reshape(1, -1), 1)
    return (values.reshape(input.shape) @ values_w.reshape(weight.shape) * (scale * scale_w)).to(input.dtype)


TASKS = (
    Task(
        "kernelbench_x/matmul_w8a8",
        "Quantization",
        "quantised",
        matmul_w8a8,
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
            "one scale each": int8_by_tensor,
        },
    ),
)  # fmt: skip
