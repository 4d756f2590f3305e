"""Quantization of KernelBench-X: each operator's scheme is its contract's, and results without it are wrong."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import Grid, quantised
from benchmark.draw import Draw, offset, strided, transposed, without
from benchmark.task import Arguments, Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16


def matmul_w8a8(input: Tensor, weight: Tensor) -> Tensor:
    """`input (M, K) @ weight (K, N)` with both sides quantised to int8 on the way, symmetrically: one scale per row of `input`
    and one per column of `weight`, scale = max|values| / 127 (1 where all are zero); q = round_half_to_even(value / scale),
    clamped to -127 .. 127. The products are summed in int32, and the sum is multiplied by both scales in fp32; the result has
    the dtype of `input`."""
    scale, values = _quantised(input, -1)
    scale_w, values_w = _quantised(weight, -2)
    return (values @ values_w * (scale * scale_w)).to(input.dtype)


def bmm_w8a8(input: Tensor, mat2: Tensor) -> Tensor:
    """`input (B, M, K) @ mat2 (B, K, N)`, batch by batch, with both sides quantised to int8 on the way, symmetrically: one scale per row
    of each batch of `input` and one per column of each batch of `mat2`, scale = max|values| / 127 (1 where all are zero);
    q = round_half_to_even(value / scale), clamped to -127 .. 127. The products are summed in int32, and the sum is multiplied by
    both scales in fp32; the result has the dtype of `input`."""
    scale, values = _quantised(input, -1)
    scale_2, values_2 = _quantised(mat2, -2)
    return (values @ values_2 * (scale * scale_2)).to(input.dtype)


def conv2d_w8a8(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: int = 1, padding: int = 0) -> Tensor:
    """2D cross-correlation of `input` (N, C, H, W) with `weight` (O, C, KH, KW), both quantised to int8 on the way, symmetrically: one
    scale per image (over C, H and W) of `input` and one per output channel of `weight`, scale = max|values| / 127 (1 where all
    are zero); q = round_half_to_even(value / scale), clamped to -127 .. 127. `padding` zeros surround the image, `stride` and
    `padding` hold for both axes. The products are summed in int32; the sum is multiplied by both scales and `bias` (O) added in
    fp32; the result has the dtype of `input`."""
    scale, values = _quantised(input, (1, 2, 3))
    scale_w, values_w = _quantised(weight, (1, 2, 3))
    result = functional.conv2d(values, values_w, None, stride, padding) * (scale * scale_w.reshape(1, -1, 1, 1))
    return (result if bias is None else result + bias.reshape(-1, 1, 1)).to(input.dtype)


def linear_w4a16(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`input (..., K) @ weight.T + bias` for `weight` (N, K), which is quantised to int4 on the way, symmetrically, with one scale per
    output channel (row of `weight`): scale = max|values| / 7 (1 where all are zero); q = round_half_to_even(value / scale), clamped
    to -7 .. 7. `input` is not quantised. The products of `input` and `q * scale` are summed in fp32, `bias` (N) is added there, and
    the result has the dtype of `input`. The scale may be applied before or after the sum."""
    scale, values = _quantised(weight, -1, 7)
    result = functional.linear(input.to(scale.dtype), values) * scale[:, 0]
    return (result if bias is None else result + bias).to(input.dtype)


def layernorm_w8a8(
    input: Tensor, normalized_shape: int | list[int], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Layer norm over the last axes, which have the `normalized_shape`: y = (x - mean) / sqrt(variance + eps) * weight + bias in fp32
    with the biased variance; `weight` and `bias` have the normalized shape, and may be None. Then y is quantised to int8 and
    back, symmetrically, with one scale per normalised row (over all normalised axes): scale = max|y| / 127 (1 where all are zero),
    q = round_half_to_even(y / scale), clamped to -127 .. 127. The result is q * scale in the dtype of `input`."""
    shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    wide = torch.promote_types(input.dtype, torch.float32)
    gain, shift = (None if given is None else given.to(wide) for given in (weight, bias))
    scale, values = _quantised(functional.layer_norm(input.to(wide), shape, gain, shift, eps), tuple(range(-len(shape), 0)))
    return (values * scale).to(input.dtype)


def attention_w8a8(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """`softmax(query @ key.T / sqrt(D)) @ value`, batch by batch, for `query` (B, S, D), `key` and `value` (B, T, D), with four tensors
    quantised to int8 on the way, symmetrically: `query` and `key` with one scale per row (token), `value` with one per column of each
    batch (over the tokens), and the probabilities p with one per row; scale = max|values| / 127 (1 where all are zero),
    q = round_half_to_even(value / scale), clamped to -127 .. 127. Products of levels are summed in int32; scores (scaled
    back, and divided by sqrt(D)), softmax over all T keys, and the scaling of the result are fp32; the result has the dtype of
    `query`. As max(p) is 1 / sum(exp(s - max(s))), the levels of p are round_half_to_even(127 * exp(s - max(s))), with the maximum of the
    whole row, and their scale is 1 / (127 * sum(exp(s - max(s))))."""
    scale_q, query_levels = _quantised(query, -1)
    scale_k, key_levels = _quantised(key, -1)
    scale_v, value_levels = _quantised(value, -2)
    scores = query_levels @ key_levels.mT * (scale_q * scale_k.mT) / query.shape[-1] ** 0.5
    scale_p, p_levels = _quantised(scores.softmax(-1), -1)
    return (p_levels @ value_levels * (scale_p * scale_v)).to(query.dtype)


def _quantised(tensor: Tensor, axes: int | tuple[int, ...], top: int = 127) -> tuple[Tensor, Tensor]:
    """Scales over `axes` and levels; these as floats, whose sums of products are exact up to 2**24 and need no int8 matmul."""
    tensor = tensor.to(torch.promote_types(tensor.dtype, torch.float32))
    most = tensor.abs().amax(axes, keepdim=True)
    scale = torch.where(most > 0, most / top, 1.0)
    return scale, (tensor / scale).round().clamp(-top, top)


def by_tensor(tensor: Tensor, top: int = 127) -> Tensor:
    """Quantised and back with a single scale."""
    scale, values = _quantised(tensor, tuple(range(tensor.dim())), top)
    return scale * values


def conv_by_tensor(input: Tensor, weight: Tensor, bias: Tensor | None = None, **options: int) -> Tensor:
    wide = None if bias is None else bias.float()
    return functional.conv2d(by_tensor(input), by_tensor(weight), wide, **options).to(input.dtype)


def plain_attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return (query.float() @ key.float().mT / query.shape[-1] ** 0.5).softmax(-1).matmul(value.float()).to(query.dtype)


def probabilities_as_they_are(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Everything but p is quantised."""
    (scale_q, q), (scale_k, k), (scale_v, v) = _quantised(query, -1), _quantised(key, -1), _quantised(value, -2)
    return ((q * scale_q @ (k * scale_k).mT / query.shape[-1] ** 0.5).softmax(-1) @ v * scale_v).to(query.dtype)


def plain_norm(input: Tensor, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    shape = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    return functional.layer_norm(input, shape, weight, bias, eps)


def norm_by_tensor(input: Tensor, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Tensor:
    return by_tensor(plain_norm(input, normalized_shape, weight, bias, eps)).to(input.dtype)


def image(
    d: Draw, shape: tuple[int, ...], kernel: tuple[int, ...], bias: float = 0, dtype: torch.dtype = torch.float32, **options: int
) -> Arguments:
    arguments = {"input": d.normal(*shape, dtype=dtype), "weight": d.normal(*kernel, dtype=dtype), **options}
    return arguments | ({"bias": d.normal(kernel[0], dtype=dtype, scale=bias)} if bias else {})


def layer(d: Draw, rows: tuple[int, ...], inner: int, outer: int, bias: bool = False, dtype: torch.dtype = FP16) -> Arguments:
    arguments = {"input": d.normal(*rows, inner, dtype=dtype), "weight": d.normal(outer, inner, dtype=dtype, scale=0.1)}
    return arguments | ({"bias": d.normal(outer, dtype=dtype)} if bias else {})


def affine(d: Draw, *shape: int, dtype: torch.dtype = torch.float32) -> Arguments:
    return {"weight": d.normal(*shape, dtype=dtype, shift=1), "bias": d.normal(*shape, dtype=dtype)}


def heads(d: Draw, batch: int, tokens: int, keys: int, width: int, dtype: torch.dtype = torch.float32, scale: float = 1.0) -> Arguments:
    return {
        "query": d.normal(batch, tokens, width, dtype=dtype, scale=scale), "key": d.normal(batch, keys, width, dtype=dtype),
        "value": d.normal(batch, keys, width, dtype=dtype),
    }  # fmt: skip


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
        Contract(quantised((Grid("input", (-1,), "row"), Grid("weight", (-2,), "column"))), accumulate="int32"),
        wrong={
            "no quantisation": lambda input, weight: (input.float() @ weight.float()).to(input.dtype),
            "one scale each": lambda input, weight: (by_tensor(input) @ by_tensor(weight)).to(input.dtype),
        },
    ),
    Task(
        "kernelbench_x/bmm_w8a8",
        "Quantization",
        "quantised",
        bmm_w8a8,
        shown({
            "fp32": lambda d: {"input": d.normal(2, 17, 65), "mat2": d.normal(2, 65, 13)},
            "fp16": lambda d: {"input": d.normal(3, 16, 64, dtype=FP16), "mat2": d.normal(3, 64, 16, dtype=FP16)},
            "bf16": lambda d: {"input": d.normal(2, 11, 67, dtype=BF16), "mat2": d.normal(2, 67, 13, dtype=BF16)},
            "single-batch": lambda d: {"input": d.normal(1, 19, 37), "mat2": d.normal(1, 37, 23)},
            "zero-batch": lambda d: {"input": without(d.normal(3, 7, 41), 0, 1), "mat2": without(d.normal(3, 41, 11), 2, 5)},
            "mixed-ranges": lambda d: {"input": d.normal(3, 7, 61) * d.uniform(3, 1, 1, low=0.1, high=50), "mat2": d.normal(3, 61, 9)},
            "outliers": lambda d: {"input": d.outliers(2, 13, 53, factor=10, share=0.01), "mat2": d.outliers(2, 53, 11, factor=10)},
            "transposed": lambda d: {"input": transposed(d.normal(2, 13, 53)), "mat2": transposed(d.normal(2, 53, 17))},
            "vectors": lambda d: {"input": d.normal(5, 1, 31), "mat2": d.normal(5, 31, 1)},
        }) + hidden({
            "long": lambda d: {"input": d.normal(2, 3, 1031), "mat2": d.normal(2, 1031, 5)},
            "shifted": lambda d: {"input": d.normal(2, 11, 83, shift=3), "mat2": d.uniform(2, 83, 17, low=-0.01, high=0.03)},
            "strided-large": lambda d: {"input": strided(d.normal(2, 7, 71, scale=1e4)), "mat2": offset(d.normal(2, 71, 11, scale=1e-3))},
        }),
        timed(
            lambda d, b, m, k, n: {"input": d.normal(b, m, k), "mat2": d.normal(b, k, n)},
            ((2, 64, 128, 256), (4, 256, 512, 512), (8, 512, 1024, 1024), (16, 512, 1024, 2048)),
        ),
        Contract(
            quantised((Grid("input", (-1,), "row of each batch"), Grid("mat2", (-2,), "column of each batch")), right="mat2"),
            accumulate="int32",
        ),
        wrong={
            "no quantisation": lambda input, mat2: (input.float() @ mat2.float()).to(input.dtype),
            "one scale each": lambda input, mat2: (by_tensor(input) @ by_tensor(mat2)).to(input.dtype),
        },
    ),
    Task(
        "kernelbench_x/conv2d_w8a8",
        "Quantization",
        "quantised",
        conv2d_w8a8,
        shown({
            "fp32": lambda d: image(d, (2, 3, 11, 13), (5, 3, 3, 3)),
            "fp16": lambda d: image(d, (1, 16, 8, 8), (8, 16, 3, 3), 1, FP16, padding=1),
            "bf16": lambda d: image(d, (2, 5, 7, 9), (4, 5, 3, 3), 1, BF16, padding=1),
            "stride": lambda d: image(d, (2, 4, 15, 17), (6, 4, 3, 3), 1, stride=2, padding=1),
            "pointwise": lambda d: image(d, (2, 13, 9, 7), (7, 13, 1, 1), 1),
            "zero-channel": lambda d: (a := image(d, (1, 3, 11, 11), (5, 3, 3, 3), 1)) | {"weight": without(a["weight"], 0, 2)},
            "large-bias": lambda d: image(d, (1, 2, 9, 9), (3, 2, 3, 3), 100, padding=1),
            "images-apart": lambda d: (a := image(d, (3, 3, 8, 9), (4, 3, 3, 3)))
            | {"input": a["input"] * d.uniform(3, 1, 1, 1, low=0.1, high=50)},
            "transposed": lambda d: {n: transposed(t) for n, t in image(d, (1, 4, 9, 12), (5, 4, 3, 2)).items()},
        }) + hidden({
            "outliers": lambda d: image(d, (2, 3, 9, 9), (4, 3, 5, 5), 1, padding=3)
            | {"input": d.outliers(2, 3, 9, 9, factor=10, share=0.01)},
            "strided-large": lambda d: {
                "input": strided(d.normal(1, 5, 9, 7, scale=1e4)), "weight": offset(d.normal(3, 5, 3, 3, scale=1e-3)), "stride": 2
            },
            "zero-image": lambda d: (a := image(d, (2, 3, 7, 7), (4, 3, 3, 3), 1)) | {"input": without(a["input"], 0, 1)},
        }),
        timed(
            lambda d, n, c, side, o, k: image(d, (n, c, side, side), (o, c, k, k), 1, padding=k // 2),
            ((1, 3, 64, 16, 3), (1, 3, 224, 64, 7), (4, 128, 28, 256, 3), (16, 128, 56, 256, 3)),
        ),
        Contract(
            quantised((Grid("input", (1, 2, 3), "image"), Grid("weight", (1, 2, 3), "output channel")), form="conv2d"), accumulate="int32"
        ),
        wrong={
            "no quantisation": functional.conv2d,
            "one scale each": conv_by_tensor,
        },
    ),
    Task(
        "kernelbench_x/linear_w4a16",
        "Quantization",
        "quantised",
        linear_w4a16,
        shown({
            "fp16": lambda d: layer(d, (17,), 64, 31, bias=True),
            "bf16": lambda d: layer(d, (11,), 67, 19, dtype=BF16),
            "fp32": lambda d: layer(d, (13,), 65, 23, bias=True, dtype=torch.float32),
            "batch": lambda d: layer(d, (2, 5, 7), 37, 11),
            "vector": lambda d: layer(d, (), 61, 17, bias=True),
            "limits": lambda d: layer(d, (5,), 31, 7) | {"weight": d.integers(-7, 8, 7, 31).to(FP16)},
            "one-large": lambda d: (a := layer(d, (7,), 53, 9)) | {"weight": lead(a["weight"], 10.0)},
            "zero-row": lambda d: (a := layer(d, (7,), 41, 11, bias=True)) | {"weight": without(a["weight"], 0, 4)},
            "transposed": lambda d: {n: transposed(t) if t.dim() > 1 else t for n, t in layer(d, (13,), 53, 17, True).items()},
            "one-output": lambda d: layer(d, (61,), 71, 1, bias=True),
        }) + hidden({
            "long": lambda d: layer(d, (3,), 1031, 7, bias=True),
            "strided-fp32": lambda d: {n: strided(t) for n, t in layer(d, (7,), 71, 13, True, torch.float32).items()},
            "outliers": lambda d: layer(d, (5,), 83, 13) | {"weight": d.outliers(13, 83, dtype=FP16, factor=10, share=0.01)},
        }),
        timed(lambda d, m, k, n: layer(d, (m,), k, n, True), ((4, 512, 512), (1, 4096, 4096), (32, 4096, 4096), (32, 4096, 16384))),
        Contract(
            quantised((Grid("weight", (-1,), "output channel (row)", bits=4),), form="linear"),
            notes=("The dequantised weight may be rounded to the dtype of `input` before it is multiplied.",),
        ),
        wrong={
            "no quantisation": functional.linear,
            "one scale": lambda input, weight, bias=None: functional.linear(input, by_tensor(weight, 7).to(input.dtype), bias),
        },
    ),
    Task(
        "kernelbench_x/layernorm_w8a8",
        "Quantization",
        "quantised",
        layernorm_w8a8,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 129), "normalized_shape": [129], **affine(d, 129)},
            "fp16": lambda d: {"input": d.normal(13, 67, dtype=FP16), "normalized_shape": [67], **affine(d, 67, dtype=FP16)},
            "bf16": lambda d: {"input": d.normal(11, 97, dtype=BF16), "normalized_shape": [97], **affine(d, 97, dtype=BF16)},
            "plain-number": lambda d: {"input": d.normal(2, 5, 61), "normalized_shape": 61},
            "axes": lambda d: {"input": d.normal(5, 7, 13), "normalized_shape": [7, 13], **affine(d, 7, 13)},
            "constant-rows": lambda d: {
                "input": d.normal(7, 1).expand(7, 41).contiguous(), "normalized_shape": [41], **affine(d, 41), "eps": 1e-2
            },
            "bold-weight": lambda d: {
                "input": d.normal(7, 83), "normalized_shape": [83], "weight": d.normal(83) * d.uniform(83, low=0.01, high=100),
                "bias": d.normal(83, scale=50),
            },
            "eps": lambda d: {"input": d.normal(9, 71, scale=1e-3), "normalized_shape": [71], "bias": d.normal(71, scale=0.1), "eps": 1e-4},
            "transposed": lambda d: {"input": transposed(d.normal(17, 53)), "normalized_shape": [53], **affine(d, 53)},
            "single": lambda d: {"input": d.normal(5, 1), "normalized_shape": [1], **affine(d, 1), "eps": 0.1},
        }) + hidden({
            "outliers": lambda d: {"input": d.outliers(7, 211, factor=10, share=0.01), "normalized_shape": [211], **affine(d, 211)},
            "shifted-large": lambda d: {"input": offset(d.normal(7, 113, scale=1e3, shift=1e3)), "normalized_shape": [113]},
            "strided": lambda d: {"input": strided(d.normal(11, 59)), "normalized_shape": [59], "weight": strided(d.normal(59))},
        }),
        timed(
            lambda d, m, n: {"input": d.normal(m, n), "normalized_shape": [n], **affine(d, n)},
            ((32, 2048), (512, 4096), (4096, 4096), (4096, 8192)),
        ),
        Contract(quantised((Grid("y", (-1,), "normalised row"),), form="layer_norm")),
        wrong={"no quantisation": plain_norm, "one scale": norm_by_tensor},
    ),
    Task(
        "kernelbench_x/attention_w8a8",
        "Quantization",
        "quantised",
        attention_w8a8,
        shown({
            "fp32": lambda d: heads(d, 2, 17, 29, 16),
            "fp16": lambda d: heads(d, 1, 16, 32, 32, FP16),
            "bf16": lambda d: heads(d, 2, 13, 19, 16, BF16),
            "self": lambda d: heads(d, 1, 37, 37, 64),
            "sharp": lambda d: heads(d, 1, 19, 23, 32, scale=8),
            "one-key": lambda d: heads(d, 2, 3, 1, 32),
            "zero-queries": lambda d: (a := heads(d, 1, 11, 31, 16))
            | {"query": without(a["query"], 1, 2, 5), "key": without(a["key"], 1, 0)},
            "zero-channel": lambda d: (a := heads(d, 2, 7, 17, 16))
            | {"value": without(a["value"], 2, 3) * d.uniform(16, low=0.01, high=30)},
            "transposed": lambda d: {n: transposed(t) for n, t in heads(d, 2, 11, 13, 32).items()},
        }) + hidden({
            "long": lambda d: heads(d, 1, 7, 257, 16),
            "outliers": lambda d: {n: d.outliers(1, 19, 24, factor=10, share=0.01) for n in ("query", "key", "value")},
            "strided-fp16": lambda d: {n: strided(t) for n, t in heads(d, 2, 9, 21, 48, FP16).items()},
        }),
        timed(lambda d, b, s: heads(d, b, s, s, 64), ((1, 128), (2, 512), (1, 2048), (2, 4096))),
        Contract(
            quantised(
                (
                    Grid("query", (-1,), "row"), Grid("key", (-1,), "row"), Grid("value", (-2,), "column of each batch"),
                    Grid("p", (-1,), "row"),
                ),
                form="attention",
            ),
            accumulate="int32",
            notes=("Levels of p refer to the maximum of the whole row of scores; a running maximum gives other levels.",),
        ),
        wrong={"no quantisation": plain_attention, "p as it is": probabilities_as_they_are},
    ),
)  # fmt: skip


def lead(tensor: Tensor, value: float) -> Tensor:
    """`tensor` with `value` at the head of each row."""
    return torch.cat([torch.full_like(tensor[:, :1], value), tensor[:, 1:]], 1)
