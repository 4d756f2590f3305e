"""Fusion of KernelBench-X: losses."""

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close
from benchmark.draw import Draw, offset, strided, transposed, without
from benchmark.sizes import LOGITS
from benchmark.suites.kernelbench_x._honest import ONCE, rounded_once
from benchmark.suites.kernelbench_x._out import into, nothing
from benchmark.task import Arguments, Contract, Task, hidden, shown, timed

FP16, BF16, FP32, FP64 = torch.float16, torch.bfloat16, torch.float32, torch.float64


def fused_cross_entropy_log_softmax(
    input: Tensor, target: Tensor, dim: int = 1, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """Cross entropy of `log_softmax(input, dim)` taken as logits, for `input` of shape (N, C) or (N, C, d1, ...).

    With `z = log_softmax(input, dim)` and `l = log_softmax(z, 1)` over the classes (which is z again where `dim` is 1), s the
    `label_smoothing` and t the class index in `target` (N, d1, ...), each position counts
    `-(1 - s) * weight[t] * l[t] - s / C * sum over all classes c of weight[c] * l[c]`, with weights of 1 where `weight` is None.

    Positions whose target is `ignore_index` count 0. `reduction` "none" gives each position, "sum" the sum, and "mean" the sum divided by
    the sum of `weight[t]` over the positions that are not ignored."""
    return functional.cross_entropy(
        torch.log_softmax(input, dim), target, weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing
    )


def loss_terms(
    input: Tensor, target: Tensor, dim: int = 1, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """As the loss, with `max|z| + |log(sum(exp(z)))|` in place of each -l."""
    size = input.abs().amax(1) + torch.logsumexp(input, 1).abs()
    weight = input.new_ones(input.shape[1]) if weight is None else weight
    share = torch.where(target == ignore_index, 0.0, weight[target.clamp(min=0)])
    terms = size * torch.where(target == ignore_index, 0.0, (1 - label_smoothing) * share + label_smoothing * weight.mean())
    return {"none": terms, "sum": terms.sum(), "mean": terms.sum() / share.sum()}[reduction]


def unweighted_mean(
    input: Tensor, target: Tensor, dim: int = 1, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """Divides by the number of positions, ignored ones among them."""
    total = fused_cross_entropy_log_softmax(
        input, target, dim, weight, ignore_index, "sum" if reduction == "mean" else reduction, label_smoothing
    )
    return total / target.numel() if reduction == "mean" else total


def fused_cross_entropy_softmax_layernorm(
    logits: Tensor, targets: Tensor, normalized_shape: int, weight: Tensor | None = None, ignore_index: int = -100,
    reduction: str = "mean", label_smoothing: float = 0.0, eps: float = 1e-5, *, out: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The pair (loss, normed) for `logits` of shape (N, C) and class indices `targets` (N): cross entropy, and the layer norm of softmax.

    With `l = log_softmax(logits, 1)`, s the `label_smoothing` and t the target, a row's loss is
    `-(1 - s) * weight[t] * l[t] - s / C * sum over all classes c of weight[c] * l[c]`, with weights of 1 where `weight` is None. Rows whose
    target is `ignore_index` count 0. `reduction` "none" gives each row, "sum" the sum, and "mean" the sum divided by the sum of
    `weight[t]` over the rows that are not ignored.

    `normed` is `(p - mean) / sqrt(variance + eps)` for `p = softmax(logits, -1)` over the last axis, whose length is `normalized_shape`,
    with the biased variance (the mean is subtracted before squaring). With `out` this is written there, and stands in the pair."""
    loss = functional.cross_entropy(
        logits, targets, weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing
    )
    normed = functional.layer_norm(torch.softmax(logits, -1), (normalized_shape,), eps=eps)
    return loss, into(normed, out)


def loss_and_norm_terms(
    logits: Tensor, targets: Tensor, normalized_shape: int, weight: Tensor | None = None, ignore_index: int = -100,
    reduction: str = "mean", label_smoothing: float = 0.0, eps: float = 1e-5, *, out: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    shares = torch.softmax(logits, -1)
    size = (shares + shares.mean(-1, keepdim=True)) / (shares.var(-1, correction=0, keepdim=True) + eps).sqrt()
    return loss_terms(logits, targets, 1, weight, ignore_index, reduction, label_smoothing), size


def normed_logits(
    logits: Tensor, targets: Tensor, normalized_shape: int, weight: Tensor | None = None, ignore_index: int = -100,
    reduction: str = "mean", label_smoothing: float = 0.0, eps: float = 1e-5, *, out: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    loss = fused_cross_entropy_softmax_layernorm(
        logits, targets, normalized_shape, weight, ignore_index, reduction, label_smoothing, eps
    )[0]  # fmt: skip
    return loss, into(functional.layer_norm(logits, (normalized_shape,), eps=eps), out)


def fused_cosine_embedding_loss_with_normalization(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, reduction: str = "mean"
) -> Tensor:
    """Cosine embedding loss of rows that are normalised first, for `input1`, `input2` of shape (N, D) and `target` (N) of 1 and -1.

    Each row is divided by its Euclidean norm, or by 1e-12 where that is larger, so that a row of zeros stays zero. With the cosine c, the
    sum of the products of two such rows, the loss is `1 - c` where the target is 1, and `max(0, c - margin)` where it is -1. `reduction`
    is "none" (N), "sum", or "mean"."""
    cosine = (functional.normalize(input1, dim=1) * functional.normalize(input2, dim=1)).sum(1)
    loss = torch.where(target > 0, 1 - cosine, (cosine - margin).clamp(min=0))
    return {"none": loss, "sum": loss.sum(), "mean": loss.mean()}[reduction]


def cosine_terms(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, reduction: str = "mean") -> Tensor:
    terms = 2 + (functional.normalize(input1, dim=1) * functional.normalize(input2, dim=1)).abs().sum(1)
    return {"none": terms, "sum": terms.sum(), "mean": terms.mean()}[reduction]


def margin_added(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, reduction: str = "mean") -> Tensor:
    return fused_cosine_embedding_loss_with_normalization(input1, input2, target, -margin, reduction)


def no_clamp(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, reduction: str = "mean") -> Tensor:
    cosine = (functional.normalize(input1, dim=1) * functional.normalize(input2, dim=1)).sum(1)
    loss = torch.where(target > 0, 1 - cosine, cosine - margin)
    return {"none": loss, "sum": loss.sum(), "mean": loss.mean()}[reduction]


def labels(draw: Draw, n: int) -> Tensor:
    """1 and -1."""
    return 2 * draw.integers(0, 2, n) - 1


def pair(draw: Draw, n: int, width: int, dtype: torch.dtype = FP32) -> Arguments:
    """Rows of all angles."""
    one = draw.normal(n, width)
    two = draw.normal(n, width) + one * draw.normal(n, 1, scale=2)
    return {"input1": one.to(dtype), "input2": two.to(dtype), "target": labels(draw, n)}


def logits(draw: Draw, n: int, classes: int, dtype: torch.dtype = FP32, ignored: int | None = None) -> Arguments:
    values, targets = draw.normal(n, classes, dtype=dtype), draw.classes(classes, n, ignored=ignored)
    return {"logits": values, "targets": targets, "normalized_shape": classes}


TASKS = (
    Task(
        "kernelbench_x/fused_cross_entropy_log_softmax",
        "Fusion",
        "fused",
        fused_cross_entropy_log_softmax,
        shown({
            "fp32": lambda d: {"input": d.normal(17, 113), "target": d.classes(113, 17)},
            "each": lambda d: {"input": d.normal(19, 67), "target": d.classes(67, 19), "reduction": "none"},
            "fp16-each": lambda d: {"input": d.normal(31, 43, dtype=FP16), "target": d.classes(43, 31), "reduction": "none"},
            "bf16-each": lambda d: {
                "input": d.normal(29, 31, dtype=BF16), "target": d.classes(31, 29, ignored=-100), "reduction": "none"
            },
            "axis-0": lambda d: {"input": d.normal(13, 23), "target": d.classes(23, 13), "dim": 0, "reduction": "none"},
            "ignored": lambda d: {"input": d.normal(17, 29), "target": d.classes(29, 17, ignored=7), "ignore_index": 7},
            "weighted-smooth": lambda d: {
                "input": d.normal(23, 19), "target": d.classes(19, 23, ignored=-100), "weight": d.uniform(19, low=0.1, high=2.0),
                "label_smoothing": 0.2,
            },
            "smooth-sum": lambda d: {"input": d.normal(19, 37), "target": d.classes(37, 19), "reduction": "sum", "label_smoothing": 0.1},
            "large": lambda d: {"input": d.normal(13, 101, scale=100), "target": d.classes(101, 13), "reduction": "none"},
            "transposed": lambda d: {"input": transposed(d.normal(21, 33)), "target": d.classes(33, 21), "reduction": "none"},
            "pixels": lambda d: {"input": d.normal(2, 11, 7), "target": d.classes(11, 2, 7), "dim": 2},
        }) + hidden({
            "all-ignored": lambda d: {"input": d.normal(5, 17), "target": d.integers(2, 3, 5), "ignore_index": 2, "reduction": "sum"},
            "outliers": lambda d: {"input": d.outliers(11, 211), "target": d.classes(211, 11), "reduction": "sum", "label_smoothing": 0.5},
            "strided-weighted": lambda d: {
                "input": strided(d.normal(13, 97)), "target": d.classes(97, 13, ignored=-1), "weight": d.uniform(97), "ignore_index": -1
            },
        }),
        timed(lambda d, m, n: {"input": d.normal(m, n), "target": d.classes(n, m)}, LOGITS),
        # As for cross_entropy: rows may be added up one after another.
        Contract(close(terms=32.0), notes=(ONCE,)),
        honest=rounded_once(fused_cross_entropy_log_softmax),
        magnitude=loss_terms,
        wrong={
            "divided by all positions": unweighted_mean,
            "no smoothing": lambda input, target, dim=1, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0: (
                fused_cross_entropy_log_softmax(input, target, dim, weight, ignore_index, reduction)
            ),
            "dim is the classes'": lambda input, target, dim=1, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0: (
                fused_cross_entropy_log_softmax(input, target, 1, weight, ignore_index, reduction, label_smoothing)
            ),
        },
    ),
    Task(
        "kernelbench_x/fused_cross_entropy_softmax_layernorm",
        "Fusion",
        "fused",
        fused_cross_entropy_softmax_layernorm,
        shown({
            "fp32": lambda d: logits(d, 17, 113),
            "each": lambda d: logits(d, 19, 67) | {"reduction": "none"},
            "fp16-each": lambda d: logits(d, 31, 43, FP16) | {"reduction": "none"},
            "bf16-each": lambda d: logits(d, 29, 31, BF16, ignored=-100) | {"reduction": "none"},
            "ignored": lambda d: logits(d, 17, 29, ignored=7) | {"ignore_index": 7},
            "weighted-smooth": lambda d: (
                logits(d, 23, 19, ignored=-100) | {"weight": d.uniform(19, low=0.1, high=2.0), "label_smoothing": 0.2}
            ),
            "smooth-sum": lambda d: logits(d, 13, 37) | {"reduction": "sum", "label_smoothing": 0.1},
            "small-eps": lambda d: logits(d, 11, 211) | {"eps": 1e-12},
            "large": lambda d: {
                "logits": d.normal(13, 101, scale=100), "targets": d.classes(101, 13), "normalized_shape": 101, "reduction": "none"
            },
            "transposed": lambda d: logits(d, 21, 33) | {"logits": transposed(d.normal(21, 33)), "reduction": "none", "eps": 0.1},
            "out": lambda d: logits(d, 7, 83) | {"out": nothing(d, 7, 83)},
        }) + hidden({
            "all-ignored": lambda d: logits(d, 5, 17) | {"targets": d.integers(2, 3, 5), "ignore_index": 2, "reduction": "sum"},
            "outliers": lambda d: logits(d, 11, 211) | {"logits": offset(d.outliers(11, 211)), "reduction": "sum", "label_smoothing": 0.5},
            "strided-weighted": lambda d: (
                logits(d, 13, 97, ignored=-1) | {"logits": strided(d.normal(13, 97)), "weight": d.uniform(97), "ignore_index": -1}
            ),
        }),
        timed(lambda d, m, n: logits(d, m, n), ((256, 1000), (4096, 1000), (4096, 8192), (8192, 8192))),
        Contract(close(-1, terms=32.0), mutates=("out",), notes=(ONCE,)),
        honest=rounded_once(fused_cross_entropy_softmax_layernorm),
        magnitude=loss_and_norm_terms,
        wrong={
            "layer norm of the logits": normed_logits,
            "no eps": lambda logits, targets, normalized_shape, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0,
            eps=1e-5, *, out=None: (
                fused_cross_entropy_softmax_layernorm(
                    logits, targets, normalized_shape, weight, ignore_index, reduction, label_smoothing, 0.0, out=out
                )
            ),
        },
    ),
    Task(
        "kernelbench_x/fused_cosine_embedding_loss_with_normalization",
        "Fusion",
        "fused",
        fused_cosine_embedding_loss_with_normalization,
        shown({
            "fp32": lambda d: pair(d, 17, 129),
            "each": lambda d: pair(d, 43, 67) | {"reduction": "none"},
            "margin": lambda d: pair(d, 31, 61) | {"margin": 0.3, "reduction": "none"},
            "negative-margin": lambda d: pair(d, 29, 37) | {"margin": -0.5, "reduction": "sum"},
            "fp16-each": lambda d: pair(d, 41, 53, FP16) | {"reduction": "none"},
            "bf16-each": lambda d: pair(d, 37, 47, BF16) | {"margin": 0.25, "reduction": "none"},
            "zero-rows": lambda d: pair(d, 23, 19) | {"input1": without(d.normal(23, 19), 0, 2, 11), "reduction": "none"},
            "large": lambda d: pair(d, 13, 101) | {"input1": d.normal(13, 101, scale=1e8), "reduction": "none"},
            "small": lambda d: pair(d, 13, 83) | {"input2": d.normal(13, 83, scale=1e-7), "margin": 0.1, "reduction": "none"},
            "transposed": lambda d: pair(d, 19, 61) | {"input1": transposed(d.normal(19, 61)), "reduction": "sum"},
        }) + hidden({
            "outliers": lambda d: pair(d, 11, 211) | {"input1": offset(d.outliers(11, 211)), "reduction": "none"},
            "strided-bf16": lambda d: pair(d, 13, 97, BF16) | {"input2": strided(d.normal(13, 97, dtype=BF16)), "reduction": "none"},
            "one": lambda d: pair(d, 1, 307) | {"target": d.integers(1, 2, 1)},
        }),
        timed(lambda d, m, n: pair(d, m, n), ((256, 256), (4096, 256), (65536, 256), (262144, 256))),
        Contract(close(), notes=(ONCE,)),
        honest=rounded_once(fused_cosine_embedding_loss_with_normalization),
        magnitude=cosine_terms,
        wrong={"the margin's sign": margin_added, "no clamp at zero": no_clamp},
    ),
)  # fmt: skip
