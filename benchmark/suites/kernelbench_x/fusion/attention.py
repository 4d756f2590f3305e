"""Fusion of KernelBench-X: attention, and a block around a softmax."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close, dropout_product
from benchmark.draw import Draw, offset, strided
from benchmark.suites.kernelbench_x._honest import rounded_once
from benchmark.suites.kernelbench_x._out import into, nothing
from benchmark.task import Arguments, Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16


def attention(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, softmax_scale: float | None = None, *, out: Tensor | None = None
) -> Tensor:
    """`softmax(q @ k^T * softmax_scale) @ v` for each batch and head: `q` (B, H, S, D), `k` (B, H, T, D), `v` (B, H, T, E), the
    softmax over T. `softmax_scale` None is `D ** -0.5`. With `causal`, query i attends to keys 0 .. i only. The result
    (B, H, S, E) has the dtype of `q`. With `out` it is written there, and `out` is returned."""
    return into(functional.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=softmax_scale), out)


def weights(q: Tensor, k: Tensor, causal: bool, softmax_scale: float | None) -> tuple[Tensor, Tensor]:
    """The softmax, and the sums of the absolute terms of its scores."""
    scale = q.shape[-1] ** -0.5 if softmax_scale is None else softmax_scale
    scores = q @ k.mT * scale
    if causal:
        scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).triu(1), float("-inf"))
    return torch.softmax(scores, -1), q.abs() @ k.abs().mT * abs(scale)


def tiled(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, softmax_scale: float | None = None, *, out: Tensor | None = None
) -> Tensor:
    """In fp32, with the softmax rounded to the dtype of `v`, as matrix units take it."""
    attended, _ = weights(q.float(), k.float(), causal, softmax_scale)
    return into((attended.to(v.dtype).float() @ v.float()).to(q.dtype), out)


def attention_terms(
    q: Tensor, k: Tensor, v: Tensor, causal: bool = False, softmax_scale: float | None = None, *, out: Tensor | None = None
) -> Tensor:
    """An error of a score changes all the weights of its row."""
    attended, of_scores = weights(q, k, causal, softmax_scale)
    return (attended * (1 + of_scores + (attended * of_scores).sum(-1, keepdim=True))) @ v.abs()


def unscaled(softmax_scale: float | None = None, **rest: Any) -> Tensor:
    return attention(**rest, softmax_scale=1.0 if softmax_scale is None else softmax_scale)


def aligned_at_the_end(causal: bool = False, **rest: Any) -> Tensor:
    """The last query sees all keys."""
    mask = torch.ones(rest["q"].shape[2], rest["k"].shape[2], dtype=torch.bool, device=rest["q"].device)
    late = mask.tril(mask.shape[1] - mask.shape[0])
    result = functional.scaled_dot_product_attention(
        rest["q"], rest["k"], rest["v"], late if causal else None, scale=rest.get("softmax_scale")
    )
    return into(result, rest.get("out"))


def heads(d: Draw, batch: int, count: int, queries: int, size: int, dtype: torch.dtype = torch.float32, **options: Any) -> Arguments:
    """Queries, keys and values of one length and size, unless `keys` or `width` are given."""
    keys, width, scale = options.pop("keys", queries), options.pop("width", size), options.pop("scale", 1.0)
    return {
        "q": d.normal(batch, count, queries, size, dtype=dtype, scale=scale),
        "k": d.normal(batch, count, keys, size, dtype=dtype),
        "v": d.normal(batch, count, keys, width, dtype=dtype),
    } | options  # fmt: skip


def swapped(d: Draw, batch: int, count: int, length: int, size: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Heads that lie inside the sequence in memory: (B, S, H, D) seen as (B, H, S, D)."""
    return d.normal(batch, length, count, size, dtype=dtype).transpose(1, 2)


def fused_transformer_block(
    input: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    residual: Tensor,
    dropout_p: float = 0.1,
    eps: float = 1e-5,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """`layer_norm(dropout(softmax(input @ weight1)) @ weight2) + residual`: `input` (..., D), `weight1` (D, K), `weight2` (K, N),
    `residual` (..., N). The softmax is over K. Dropout always takes place: each element is 0 with probability `dropout_p`, anew in
    each call, else it is divided by `1 - dropout_p`. The layer norm is over N, `(z - mean) / sqrt(var + eps)` with the biased
    variance, without scale and shift. `out` is always None here."""
    dropped = functional.dropout(torch.softmax(input @ weight1, -1), dropout_p)
    product = dropped @ weight2
    return into(functional.layer_norm(product, product.shape[-1:], eps=eps) + residual, out)


def factors(
    input: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    residual: Tensor,
    dropout_p: float = 0.1,
    eps: float = 1e-5,
    *,
    out: Tensor | None = None,
) -> tuple[Tensor, ...]:
    left = torch.softmax(input @ weight1, -1)
    return left, weight2.expand(*left.shape[:-2], *weight2.shape), residual, torch.tensor([eps], dtype=left.dtype, device=left.device)


def everything_kept(dropout_p: float = 0.1, **rest: Any) -> Tensor:
    return fused_transformer_block(dropout_p=0.0, **rest)


def dropped_afterwards(
    input: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    residual: Tensor,
    dropout_p: float = 0.1,
    eps: float = 1e-5,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Dropout of the second product."""
    product = functional.dropout(torch.softmax(input @ weight1, -1) @ weight2, dropout_p)
    return into(functional.layer_norm(product, product.shape[-1:], eps=eps) + residual, out)


def residual_inside(
    input: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    residual: Tensor,
    dropout_p: float = 0.1,
    eps: float = 1e-5,
    *,
    out: Tensor | None = None,
) -> Tensor:
    product = functional.dropout(torch.softmax(input @ weight1, -1), dropout_p) @ weight2 + residual
    return into(functional.layer_norm(product, product.shape[-1:], eps=eps), out)


def block(
    d: Draw, shape: tuple[int, ...], inner: int, width: int, dtype: torch.dtype = torch.float32, residual: float = 1.0, **options: Any
) -> Arguments:
    """Logits of about 1, so that no weight of the softmax is nearly 0, and more columns than rows in `weight2`."""
    return {
        "input": d.normal(*shape, dtype=dtype),
        "weight1": d.normal(shape[-1], inner, dtype=dtype, scale=0.7 * shape[-1] ** -0.5),
        "weight2": d.normal(inner, width, dtype=dtype),
        "residual": d.normal(*shape[:-1], width, dtype=dtype, scale=residual),
    } | options  # fmt: skip


TASKS = (
    Task(
        "kernelbench_x/attention",
        "Fusion",
        "fused",
        attention,
        shown({
            "fp32": lambda d: heads(d, 1, 2, 33, 16),
            "fp16": lambda d: heads(d, 2, 1, 64, 32, dtype=FP16),
            "fp16-causal": lambda d: heads(d, 1, 2, 47, 16, dtype=FP16, causal=True),
            "bf16": lambda d: heads(d, 1, 1, 61, 32, dtype=BF16, softmax_scale=0.3),
            "causal": lambda d: heads(d, 1, 2, 61, 16, causal=True, softmax_scale=0.5),
            "more-keys": lambda d: heads(d, 1, 2, 7, 16, keys=67),
            "more-keys-causal": lambda d: heads(d, 1, 1, 19, 16, keys=31, causal=True),
            "wide-values": lambda d: heads(d, 1, 2, 17, 16, width=32),
            "swapped": lambda d: {name: swapped(d, 1, 3, 29, 16) for name in "qkv"},
            "sharp": lambda d: heads(d, 1, 2, 31, 32, scale=8.0),
            "one-key": lambda d: heads(d, 2, 1, 3, 8, keys=1),
            "out": lambda d: heads(d, 1, 2, 13, 16, causal=True, out=nothing(d, 1, 2, 13, 16)),
        }) + hidden({
            "strided-bf16": lambda d: heads(d, 1, 2, 23, 16, dtype=BF16, causal=True)
            | {"v": strided(d.normal(1, 2, 23, 16, dtype=BF16))},
            "offset-outliers": lambda d: heads(d, 1, 2, 37, 16) | {"k": offset(d.outliers(1, 2, 37, 16, factor=20))},
            "negative-scale": lambda d: heads(d, 1, 1, 41, 32, keys=37, softmax_scale=-0.2),
        }),
        timed(lambda d, b, h, n, size: heads(d, b, h, n, size, dtype=FP16, causal=True),
              ((2, 8, 64, 64), (2, 8, 512, 64), (2, 8, 1024, 64), (2, 8, 2048, 64))),
        Contract(close(-1), mutates=("out",), notes=(
            "Scores and sums are kept in float32; the softmax may be rounded to the dtype of `v` before it is multiplied with it.",
        )),
        honest=tiled,
        magnitude=attention_terms,
        wrong={"no scale": unscaled, "causal from the end": aligned_at_the_end},
    ),
    Task(
        "kernelbench_x/fused_transformer_block",
        "Fusion",
        "fused",
        fused_transformer_block,
        shown({
            "fp32": lambda d: block(d, (2, 17, 24), 32, 49),
            "half": lambda d: block(d, (31, 16), 24, 37, dropout_p=0.5),
            "fp16": lambda d: block(d, (64, 16), 16, 32, dtype=FP16, dropout_p=0.3),
            "bf16-kept": lambda d: block(d, (37, 24), 16, 29, dtype=BF16, dropout_p=0.0),
            "kept": lambda d: block(d, (2, 3, 11, 19), 23, 37, dropout_p=0.0, eps=1e-3),
            "eps": lambda d: block(d, (53, 16), 24, 41, dropout_p=0.25, eps=0.02),
            "all-dropped": lambda d: block(d, (13, 16), 8, 17, dropout_p=1.0),
            "large-residual": lambda d: block(d, (2, 29, 16), 24, 43, residual=30.0, dropout_p=0.4),
        }) + hidden({
            "strided": lambda d: block(d, (2, 23, 16), 24, 43) | {"input": strided(d.normal(2, 23, 16))},
            "offset-kept": lambda d: block(d, (17, 31), 29, 47, dropout_p=0.0) | {"weight2": offset(d.normal(29, 47))},
            "mostly-dropped": lambda d: block(d, (67, 16), 24, 37, dropout_p=0.75),
        }),
        timed(lambda d, batch, rows, inner, width: block(d, (batch, rows, width), inner, width),
              ((4, 64, 64, 128), (8, 512, 256, 512), (8, 1024, 512, 1024), (8, 2048, 1024, 1536))),
        Contract(dropout_product(p="dropout_p", default=0.1, training=None), random=True),
        honest=rounded_once(fused_transformer_block),
        truth=factors,
        wrong={"everything kept": everything_kept, "dropped afterwards": dropped_afterwards, "residual inside": residual_inside},
    ),
)  # fmt: skip
